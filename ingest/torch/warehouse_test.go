package torch_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// captures is where traces lie that are shipped with the sources.
const captures = "../../testdata/torch/"

func newWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// tryStore ingests files as one run and gives the warnings.
func tryStore(t *testing.T, w *schema.Warehouse, run string, paths ...string) ([]string, error) {
	t.Helper()
	return storeIn(t, w, 2, run, paths...)
}

// storeIn does so in a number of goroutines.
func storeIn(t *testing.T, w *schema.Warehouse, threads int, run string, paths ...string) ([]string, error) {
	t.Helper()
	var warnings []string
	o := ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Warn: func(m string) { warnings = append(warnings, m) }}
	o.Load.Threads = threads
	_, err := ingest.Run(t.Context(), w, paths, o)
	return warnings, err
}

// store ingests files that must be read without an error.
func store(t *testing.T, w *schema.Warehouse, run string, paths ...string) []string {
	t.Helper()
	warnings, err := tryStore(t, w, run, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return warnings
}

// rows gives a result as texts: values of a row joined by bars, NULL as ~.
func rows(t *testing.T, w *schema.Warehouse, sql string) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r.Next() {
		v, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range v {
			into[i] = &v[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text := make([]string, len(v))
		for i, x := range v {
			if text[i] = fmt.Sprint(x); x == nil {
				text[i] = "~"
			}
		}
		out = append(out, strings.Join(text, "|"))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// unpack opens a file that may be gzip.
func unpack(tb testing.TB, path string) io.ReadCloser {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	tb.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// write makes a trace file of the given text.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeviceNumbers: where one GPU is described and all work ran on one of another number, as under ROCm, these are the same; of several none is guessed.
func TestDeviceNumbers(t *testing.T) {
	w := newWarehouse(t)
	const one = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 7, "ts": 20, "dur": 3, "args": {"correlation": 9, "device": 9, "stream": 7}}]}`
	same := strings.NewReplacer(`"pid": 9,`, `"pid": 0,`, `"device": 9`, `"device": 0`).Replace(one)
	two := strings.Replace(one, `{"id": 0, "name": "GPU"}`, `{"id": 0, "name": "GPU"}, {"id": 1, "name": "GPU"}`, 1)
	for run, c := range map[string]struct{ text, want string }{"one": {one, "[9|AMD GPU]"}, "two": {two, "[0|AMD GPU 1|AMD GPU]"}, "same": {same, "[0|AMD GPU]"}} {
		store(t, w, run, write(t, run+".json", c.text))
		if got := fmt.Sprint(rows(t, w, "SELECT d.device_id, d.name FROM device d JOIN run r USING (run_id) WHERE r.name = '"+run+"' ORDER BY 1")); got != c.want {
			t.Errorf("%s: %s, want %s", run, got, c.want)
		}
	}
}

// TestThreads: all that is stored is the same, in however many goroutines a trace is parsed.
func TestThreads(t *testing.T) {
	var want []string
	for _, threads := range []int{1, 2, 5} {
		w := newWarehouse(t)
		if _, err := storeIn(t, w, threads, "x", captures+"llama-stack.trace.json.gz", captures+"train.trace.json.gz"); err != nil {
			t.Fatal(err)
		}
		got := contents(t, w)
		if len(got) < 15 {
			t.Fatalf("few tables are filled: %q", got)
		}
		if want == nil {
			want = got
		}
		for i, table := range got {
			if table != want[i] {
				t.Errorf("%d goroutines give %s, one gives %s", threads, table, want[i])
			}
		}
	}
}

// contents sums up the rows of every table that a trace fills, ids as numbers within their run.
func contents(t *testing.T, w *schema.Warehouse) []string {
	t.Helper()
	var out []string
	for _, table := range rows(t, w, `SELECT table_name FROM duckdb_tables() WHERE NOT internal AND estimated_size > 0 AND table_name IN ('api_call', 'api_name', 'device', 'diagnostic', 'graph_launch', 'kernel', 'kernel_name',
		'memop', 'memory_event', 'nvtx_range', 'op', 'op_input', 'op_name', 'process', 'profiler_overhead', 'python_call', 'python_stack', 'range_path', 'source', 'source_fact', 'source_part', 'sync', 'thread') ORDER BY 1`) {
		var columns []string
		for _, name := range rows(t, w, `SELECT name FROM pragma_table_info('`+table+`') WHERE name NOT IN ('run_id', 'added_at')`) {
			switch {
			case name == "lineage":
				name = "list_transform(lineage, lambda id: id & 134217727)"
			case schema.IsID(table, name):
				name += " & 134217727"
			}
			columns = append(columns, name)
		}
		out = append(out, rows(t, w, fmt.Sprintf(`SELECT '%s', count(*), sum(hash(%s))::VARCHAR FROM %[1]s`, table, strings.Join(columns, ", ")))...)
	}
	return out
}
