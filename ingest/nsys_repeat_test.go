package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/schema"
)

const windows = "../testdata/repeat/rep.%d.sqlite.gz"

// TestWindowsOfOneSession: the reports of one session of nsys --capture-range-end=repeat are one run, in whatever order they come, and its passes
// count on from window to window.
func TestWindowsOfOneSession(t *testing.T) {
	facts, err := derive.Behind("stage_pass", "caveat")
	if err != nil {
		t.Fatal(err)
	}
	w := warehouseWith(t, facts)
	now := time.Now()
	give := func(run string, add bool, windowsOf ...int) {
		t.Helper()
		var paths []string
		for _, n := range windowsOf {
			paths = append(paths, fmt.Sprintf(windows, n))
		}
		o := ingest.Options{Name: run, Now: now, Add: add, Warn: func(text string) {
			if strings.Contains(text, "another form") {
				t.Error(text)
			}
		}}
		if _, err := ingest.Run(t.Context(), w, paths, o); err != nil {
			t.Fatal(err)
		}
	}
	const earlier = `SELECT count(*) FROM caveat WHERE kind = 'earlier-window'`
	for run, order := range map[string][][]int{"at once": {{1, 2, 3}}, "added": {{3}, {1}, {2}}} {
		for i, some := range order {
			give(run, i > 0, some...)
			if i == 0 && len(some) == 1 {
				testkit.Expect(t, w, earlier, "1")
			}
		}
		testkit.Expect(t, w, `SELECT count(*), count(DISTINCT source_id) FROM kernel`, "45|3")
		testkit.Expect(t, w, `SELECT count(*), count(DISTINCT pass_id), max(pass_id), count(*) FILTER (is_cold) FROM stage_pass WHERE stage = 'decode'`, "15|15|15|3")
		testkit.Expect(t, w, `SELECT right(s.path, 15), min(p.pass_id), max(p.pass_id) FROM stage_pass p JOIN source s USING (run_id, source_id) GROUP BY ALL ORDER BY 1`,
			"rep.1.sqlite.gz|1|4", "rep.2.sqlite.gz|5|9", "rep.3.sqlite.gz|10|15")
		testkit.Expect(t, w, earlier, "0")
		var id string
		if err := w.DB.QueryRowContext(t.Context(), `SELECT run_id::VARCHAR FROM run`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		if err := w.Remove(t.Context(), schema.Run{ID: id, Name: run}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSameCapture: of two files that name one session and one start, those that hold the same work are one capture, and those that do not are two.
func TestSameCapture(t *testing.T) {
	tables, err := exports.ReadFile(fmt.Sprintf(windows, 1))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, keeps func(i int) bool) string {
		path := filepath.Join(dir, name)
		var out []*exports.Table
		for _, x := range tables {
			if strings.HasPrefix(x.Name, "CUPTI_ACTIVITY_KIND_") {
				some := *x
				some.Rows = nil
				for i, row := range x.Rows {
					if keeps(i * 2 / len(x.Rows)) {
						some.Rows = append(some.Rows, row)
					}
				}
				x = &some
			}
			out = append(out, x)
		}
		if err := exports.Repeat(path, out, 1); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := write("whole.sqlite", func(int) bool { return true })
	first, last := write("first.sqlite", func(half int) bool { return half == 0 }), write("last.sqlite", func(half int) bool { return half == 1 })
	for _, c := range []struct {
		what    string
		files   []string
		sources int
	}{
		{"another form of one report", []string{fmt.Sprintf(windows, 1), whole}, 1},
		{"halves of one report", []string{first, last}, 2},
		{"a half and the whole", []string{whole, last}, 1},
	} {
		w := newWarehouse(t)
		if res := mustIngest(t, w, "r", c.files...); len(res.Sources) != c.sources {
			t.Errorf("%s: %d sources, want %d", c.what, len(res.Sources), c.sources)
		}
	}
}
