package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
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

func query(t testing.TB, w *schema.Warehouse, name string, args queries.Args) *frame.Frame {
	t.Helper()
	q, err := queries.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := queries.Run(t.Context(), w, q, args)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rows gives a result as texts: values of a row joined by bars, NULL as ~.
func rows(t testing.TB, w *schema.Warehouse, sql string, args ...any) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), sql, args...)
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
		parts := make([]string, len(cols))
		for i := range v {
			if parts[i] = fmt.Sprint(v[i]); v[i] == nil {
				parts[i] = "~"
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	if err := r.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// expect compares a result with texts.
func expect(t testing.TB, w *schema.Warehouse, sql string, want ...string) {
	t.Helper()
	got := rows(t, w, sql)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s gives\n  %s\nwant\n  %s", sql, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// expectNone fails with the rows of a query that looks for faults.
func expectNone(t testing.TB, w *schema.Warehouse, what, sql string, args ...any) {
	t.Helper()
	if got := rows(t, w, sql, args...); len(got) > 0 {
		t.Errorf("%s: %d rows, the first of them %s", what, len(got), strings.Join(got[:min(len(got), 3)], "; "))
	}
}

// tables lists the tables of a warehouse that hold rows of runs.
func tables(t testing.TB, w *schema.Warehouse) []string {
	t.Helper()
	return rows(t, w, `SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id'
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
	var of []testkit.Run
	for _, c := range runs { // testdata is beside this folder
		of = append(of, testkit.Run{Name: c.name, Files: []string{c.path}, Options: ingest.Options{Load: load.Options{WithOSRT: true, APIRows: true}}})
	}
	return testkit.Warehouse(t, of...), runs
}
