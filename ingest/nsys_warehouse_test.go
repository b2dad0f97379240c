package ingest_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// newWarehouse opens an empty warehouse in a folder of the test's own, in which no facts are derived: most of what is tested here is what
// was read.
func newWarehouse(t testing.TB) *schema.Warehouse {
	t.Helper()
	return warehouseWith(t, derive.Facts{Only: []string{}})
}

// warehouseWith is newWarehouse with facts.
func warehouseWith(t testing.TB, facts derive.Facts) *schema.Warehouse {
	t.Helper()
	w, err := openWarehouse(t, t.TempDir(), facts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func openWarehouse(t testing.TB, dir string, facts derive.Facts) (*schema.Warehouse, error) {
	testkit.CopyHome(t, dir)
	return schema.Open(t.Context(), schema.Home{Dir: dir}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: facts, MemoryLimit: "1GB"})
}

func tryIngest(t testing.TB, w *schema.Warehouse, o load.Options, run string, paths ...string) (*ingest.Result, error) {
	t.Helper()
	o.Threads = 2
	return ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Load: o})
}

func mustIngest(t testing.TB, w *schema.Warehouse, run string, paths ...string) *ingest.Result {
	t.Helper()
	res, err := tryIngest(t, w, load.Options{APIRows: true}, run, paths...)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Made {
		t.Fatalf("%v: no run was made: %+v", paths, res)
	}
	return res
}

// kept is a warehouse with runs of exports, each with a row for each API call, stored once for all processes: for tests that only read.
func kept(t testing.TB, runs ...testkit.Run) *schema.Warehouse {
	t.Helper()
	for i := range runs {
		runs[i].Options.Load.APIRows = true
	}
	return testkit.Warehouse(t, runs...)
}

// madeUp is kept of one of the small exports that are made up.
func madeUp(t testing.TB, run, name string) *schema.Warehouse {
	t.Helper()
	return kept(t, testkit.Run{Name: run, Files: []string{"../ingest/nsys/testdata/" + name}})
}

// expectNone fails with the rows of a query that looks for faults.
func expectNone(t testing.TB, w *schema.Warehouse, what, sql string, args ...any) {
	t.Helper()
	if got := testkit.Rows(t, w, sql, args...); len(got) > 0 {
		t.Errorf("%s: %d rows, the first of them %s", what, len(got), strings.Join(got[:min(len(got), 3)], "; "))
	}
}

// tables lists the tables of a warehouse that hold rows of runs.
func tables(t testing.TB, w *schema.Warehouse) []string {
	t.Helper()
	return testkit.Rows(t, w, `SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id'
		AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY table_name`)
}

// capture is a real export; its name is that of the run made of it.
type capture struct{ name, path string }

// captures lists those in testdata and the larger set where it is there, each once.
func captures(t testing.TB) []capture {
	t.Helper()
	var out []capture
	seen := map[string]bool{}
	for _, pattern := range []string{"../testdata/nsys/*/*.sqlite*", "../../shared/captures/nsys/*/*.sqlite*", "../../shared/captures/others/h100_2gpu_1s.sqlite.gz"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Logf("%s: absent, not looked at", pattern)
		}
		for _, f := range found {
			name, _, _ := strings.Cut(filepath.Base(f), ".")
			if !seen[name] {
				seen[name] = true
				out = append(out, capture{name, f})
			}
		}
	}
	if len(out) < 5 {
		t.Fatalf("only %d captures found", len(out))
	}
	return out
}

// sharedWarehouse is one warehouse with a run for each capture, for tests that only read.
func sharedWarehouse(t testing.TB) (*schema.Warehouse, []capture) {
	t.Helper()
	runs := captures(t)
	return testkit.Warehouse(t, storedWith(runs, load.Options{WithOSRT: true, APIRows: true})...), runs
}

// storedWith are captures as runs of the kit; testdata is beside this folder.
func storedWith(captures []capture, o load.Options) (out []testkit.Run) {
	for _, c := range captures {
		out = append(out, testkit.Run{Name: c.name, Files: []string{c.path}, Options: ingest.Options{Load: o}})
	}
	return out
}
