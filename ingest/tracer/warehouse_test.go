package tracer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/queries"
	"prof/schema"
	"prof/testdata/exports"
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
	"run": "name created_at", "source": "path form kind size_bytes sha256", "run_trait": "sha256 origin", "caveat": "subject object",
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
