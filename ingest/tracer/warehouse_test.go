package tracer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
	"prof/ingest/tracer"
	"prof/internal/exports"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

func newWarehouse(t testing.TB, facts derive.Facts) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: facts, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func tryIngest(t testing.TB, w *schema.Warehouse, run string, paths ...string) (*ingest.Result, error) {
	t.Helper()
	return ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Load: load.Options{Threads: 2, APIRows: true}})
}

func mustIngest(t testing.TB, w *schema.Warehouse, run string, paths ...string) {
	t.Helper()
	if _, err := tryIngest(t, w, run, paths...); err != nil {
		t.Fatal(err)
	}
}

// rows gives a result as texts: values of a row joined by bars, NULL as ~.
func rows(t testing.TB, w *schema.Warehouse, sql string, args ...any) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r.Next() {
		v, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range v {
			into[i] = &v[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		parts := make([]string, len(columns))
		for i := range v {
			if parts[i] = fmt.Sprint(v[i]); v[i] == nil {
				parts[i] = "~"
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// pair writes what a trace can have of an export as an export of its own and as a folder of traces.
func pair(t testing.TB, path string) (sqlite, traces string) {
	t.Helper()
	tables, err := exports.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables = exports.Traced(tables)
	dir := t.TempDir()
	sqlite, traces = filepath.Join(dir, "a.sqlite"), filepath.Join(dir, "traces")
	if err := exports.Repeat(sqlite, tables, 1); err != nil {
		t.Fatal(err)
	}
	if err := exports.WriteTraces(traces, tables); err != nil {
		t.Fatal(err)
	}
	return sqlite, traces
}

// TestEqualsExport: the same records as an export and as traces give the same rows in every table.
func TestEqualsExport(t *testing.T) {
	for _, c := range []struct {
		path   string
		traces int
		facts  derive.Facts
	}{
		{"../nsys/testdata/processes.sqlite", 2, derive.Facts{}},
		{"../../testdata/nsys/kernels/kernels.sqlite.gz", 1, derive.Facts{}},
		{"../../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz", 1, derive.Facts{Only: []string{}}},
		{"../../testdata/graph/node.sqlite.gz", 1, derive.Facts{Only: []string{}}},
		{"../../testdata/graph/whole.sqlite.gz", 1, derive.Facts{Only: []string{}}},
		{"../../../shared/captures/others/h100_2gpu_1s.sqlite.gz", 2, derive.Facts{Only: []string{}}},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil {
				t.Skip(err)
			}
			export, folder := pair(t, c.path)
			if found, err := filepath.Glob(filepath.Join(folder, "*")); len(found) != c.traces {
				t.Errorf("%d traces, want %d: %v", len(found), c.traces, err)
			}
			w := newWarehouse(t, c.facts)
			mustIngest(t, w, "sqlite", export)
			mustIngest(t, w, "traces", folder)
			compared := 0
			for _, table := range rows(t, w, `SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY table_name`) {
				compared += compareRuns(t, w, table)
			}
			if compared < 100 {
				t.Errorf("only %d rows were compared", compared)
			}
			if got := rows(t, w, `SELECT kind, form, status FROM source ORDER BY run_id`); strings.Join(got, " ") != "nsys|sqlite|ok prof|prof-trace|ok" {
				t.Error(got)
			}
			conserved := func(run string) string {
				return strings.Join(rows(t, w, `SELECT is_exact, * EXCLUDE (capture, is_exact) FROM conservation(?)`, run), "; ")
			}
			if a, b := conserved("sqlite"), conserved("traces"); a != b || !strings.HasPrefix(b, "true|") {
				t.Errorf("conservation: %q of the export, %q of the traces", a, b)
			}
		})
	}
}

// names are columns that number names in the order in which goroutines met them, with the name of each.
var names = map[string]string{
	"api_name_id": "api_name", "launch_name_id": "api_name", "kernel_name_id": "kernel_name", "before_kernel_name_id": "kernel_name", "after_kernel_name_id": "kernel_name", "op_name_id": "op_name",
}

// differs are columns that say what was ingested, or of which tool.
var differs = map[string]string{
	"run": "name created_at", "source": "path form kind size_bytes sha256 added_at", "run_trait": "sha256 origin", "caveat": "subject object",
}

// compareRuns compares a table's rows of two runs both ways and gives how many there are.
func compareRuns(t *testing.T, w *schema.Warehouse, table string) int {
	t.Helper()
	if table == "run_condition" {
		return 0
	}
	var list []string
	for _, c := range rows(t, w, `SELECT column_name FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index`, table) {
		switch named := names[c]; {
		case c == "run_id" || strings.Contains(" "+differs[table]+" ", " "+c+" "):
		case named != "" && named != table:
			list = append(list, fmt.Sprintf("(SELECT a.name FROM %s a WHERE a.%s_id = x.%s)", named, named, c))
		case named != "":
		case c == "kind" || c == "capture" || c == "tool":
			list = append(list, fmt.Sprintf("CASE x.%s WHEN 'prof' THEN 'nsys' ELSE x.%s END", c, c))
		case c == "lineage" || c == "op_name_ids":
			list = append(list, fmt.Sprintf("list_transform(x.%s, lambda id: id & %d)", c, schema.MaxIDs))
		case schema.IsID(table, c):
			list = append(list, fmt.Sprintf("x.%s & %d", c, schema.MaxIDs))
		default:
			list = append(list, "x."+c)
		}
	}
	side := func(run string) string {
		return fmt.Sprintf("SELECT %s FROM %s x WHERE x.run_id = (SELECT run_id FROM run WHERE name = '%s')", strings.Join(list, ", "), table, run)
	}
	for _, order := range [][2]string{{"sqlite", "traces"}, {"traces", "sqlite"}} {
		if got := rows(t, w, side(order[0])+" EXCEPT ALL "+side(order[1])); len(got) > 0 {
			t.Errorf("%d rows of %s that are in %s are not in %s, such as %s", len(got), table, order[0], order[1], strings.Join(got[:min(len(got), 3)], "; "))
		}
	}
	return len(rows(t, w, side("sqlite")))
}

// TestKilled: of a process that was killed what it wrote is stored, and messages say what may be missing.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prof", "trace-1", "5.proftrace")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole(), "blk\n\x02"...), 0o644); err != nil {
		t.Fatal(err)
	}
	const manifest = `{"version": 1, "prof_version": "9", "run": "killed", "mode": "light", "argv": ["python3"], "workload_key": "k", "folder": "/", "started_at": "2026-01-02T03:04:05Z", "status": "partial",
		"passes": [{"pass": 1, "name": "prof-1", "tool": "prof", "mode": "light", "repeat": 1, "argv": ["python3"], "started_at": "2026-01-02T03:04:05Z", "status": "failed", "artifacts": ["prof/trace-1"]}]}`
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWarehouse(t, derive.Facts{})
	mustIngest(t, w, "", dir)
	for sql, want := range map[string]string{
		`SELECT kind, form FROM source ORDER BY kind`:                                                      "capture|prof-run prof|prof-trace",
		`SELECT pass_id, s.kind FROM capture_source c JOIN source s ON s.source_id = c.captured_source_id`: "1|prof",
		`SELECT k.name, k.short_name FROM kernel_name k`:                                                   "k()|k",
		`SELECT symbol FROM kernel_symbol`:                                                                 "",
		`SELECT start_ns, h.path FROM kernel k LEFT JOIN range_path h USING (run_id, path_id) ORDER BY 1`:  "10|decode > decode 30|~",
		`SELECT start_ns, duration_ns FROM nvtx_range ORDER BY 1`:                                          "1|49 2|~",
		`SELECT is_exact, attributed_count, unlaunched_count FROM conservation('killed')`:                  "true|1|1",
		`SELECT kind, is_counted FROM timeline`:                                                            "prof|true",
	} {
		if got := strings.Join(rows(t, w, sql), " "); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	said := strings.Join(rows(t, w, `SELECT severity, message FROM diagnostic WHERE origin = 'ingest' AND message LIKE '%proftrace%' ORDER BY message`), "\n")
	for _, want := range []string{"warning|1 of 1 traces do not end in order (5.proftrace): the process was killed or left by _exit", "warning|the last block of 5.proftrace is cut and was left out (5 bytes)"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s", said)
		}
	}
}

// TestRefused: what cannot be read is refused in words, and so is a recording of no GPU.
func TestRefused(t *testing.T) {
	w := newWarehouse(t, derive.Facts{Only: []string{}})
	damaged := whole()
	damaged[len(damaged)/2] ^= 1
	for want, f := range map[string]*file{
		"no CUDA activity was recorded in 1 processes": begin().table(1, "i", "NVTX_EVENTS", "start").end(),
		"1.proftrace: table ":                          {damaged},
	} {
		if _, err := tryIngest(t, w, "x", folder(t, f)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got := rows(t, w, `SELECT count(*) FROM kernel`); got[0] != "0" {
		t.Error(got)
	}
	session := func(pid string) *file {
		f := &file{whole()}
		return f.table(50, "tt", "META_DATA_CAPTURE", "name", "value").rows(50, []any{"PROFILING_SESSION_UUID", "u"}, []any{"pid", pid})
	}
	two := folder(t, session("1"), session("2"))
	mustIngest(t, w, "files", filepath.Join(two, "1.proftrace"), filepath.Join(two, "2.proftrace"))
	if got := rows(t, w, `SELECT count(*), count(DISTINCT source_id) FROM kernel`); got[0] != "4|2" {
		t.Error(got)
	}
}

// BenchmarkRead reads the kernels of a recording, as traces and as an export.
func BenchmarkRead(b *testing.B) {
	export, folder := pair(b, "../../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz")
	const columns = "start end deviceId contextId streamId correlationId globalPid demangledName shortName gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory graphNodeId mangledName"
	var wants []table.Want
	for _, c := range strings.Fields(columns) {
		wants = append(wants, table.Want{Name: c})
	}
	for name, open := range map[string]func() (table.Export, error){
		"sqlite": func() (table.Export, error) { return sqlite.Open(export) },
		"traces": func() (table.Export, error) { return tracer.Open(folder, folder) },
	} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				e, err := open()
				if err != nil {
					b.Fatal(err)
				}
				s, err := e.Scan(b.Context(), "CUPTI_ACTIVITY_KIND_KERNEL", wants)
				if err != nil {
					b.Fatal(err)
				}
				if err := table.Each(s, func(batch *table.Batch) error { rows += batch.N; return nil }); err != nil {
					b.Fatal(err)
				}
				e.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}

// TestTwoKinds: of an export and traces in one run the export counts, and --source prof chooses the traces. Queries say the same of both.
func TestTwoKinds(t *testing.T) {
	w := newWarehouse(t, derive.Facts{})
	const path = "../../testdata/nsys/kernels/kernels.sqlite.gz"
	tables, err := exports.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	isNamed := func(x *exports.Table) bool { return x.Name == "META_DATA_CAPTURE" } // else it is the same capture
	if err := exports.WriteTraces(folder, exports.Traced(slices.DeleteFunc(tables, isNamed))); err != nil {
		t.Fatal(err)
	}
	mustIngest(t, w, "both", path, folder)
	if got := strings.Join(rows(t, w, `SELECT kind, is_counted FROM timeline ORDER BY kind`), " "); got != "nsys|true prof|false" {
		t.Error(got)
	}
	if got := strings.Join(rows(t, w, `SELECT capture, is_counted, object, detail FROM caveat WHERE kind = 'two-timelines' ORDER BY capture`), " "); got != "nsys|true|nsys|prof prof|false|prof|nsys" {
		t.Error(got)
	}
	ask := func(name string, args queries.Args) *frame.Frame {
		q, err := queries.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		args["run"] = "both"
		f, err := queries.Run(t.Context(), w, q, args)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, name := range []string{"top-kernels", "stages", "memops", "api-calls", "ranges", "steps", "findings", "kernel-grids", "gaps"} {
		if a, b := ask(name, queries.Args{}), ask(name, queries.Args{"source": "prof"}); len(a.Rows) != len(b.Rows) || len(a.Rows) == 0 {
			t.Errorf("%s: %d rows of the export, %d of the traces", name, len(a.Rows), len(b.Rows))
		}
	}
	if n := len(ask("ncu-plan", queries.Args{}).Rows); n == 0 {
		t.Error("nothing to profile")
	}
}
