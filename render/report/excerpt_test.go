package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/rendertest"
	"prof/render/table"
)

// TestExcerpt holds how much of a table is taken, that its first row always is, and what is said of the others.
func TestExcerpt(t *testing.T) {
	var rows [][]any
	for i := range int64(1200) {
		rows = append(rows, []any{fmt.Sprintf("kernel %04d", i), i})
	}
	f := rendertest.FrameOf("q", "kernel calls", rows...)
	for _, c := range []struct {
		e    table.Excerpt
		rows int
		left string
	}{
		{table.Excerpt{Rows: 2000, Bytes: 1_000_000, Cell: 0}, 1200, ""},
		{table.Excerpt{Rows: 1200, Bytes: 1200 * 23, Cell: 0}, 1200, ""},
		{table.Excerpt{Rows: 500, Bytes: 1_000_000, Cell: 0}, 500, "The first 500 of 1,200 rows are here; the query gives all."},
		{table.Excerpt{Rows: 500, Bytes: 23 * 10, Cell: 0}, 10, "The first 10 of 1,200 rows are here; the query gives all."},
		{table.Excerpt{Rows: 500, Bytes: 27 * 10, Cell: 2}, 10, "The first 10 of 1,200 rows are here; the query gives all."},
		{table.Excerpt{Rows: 500, Bytes: 1, Cell: 0}, 1, "The first 1 of 1,200 rows are here; the query gives all."},
	} {
		first, left := c.e.Of(f)
		if len(first.Rows) != c.rows || left != c.left {
			t.Errorf("%+v takes %d rows and says %q, not %d and %q", c.e, len(first.Rows), left, c.rows, c.left)
		}
	}
	if len(f.Rows) != 1200 {
		t.Error("the frame itself has lost rows")
	}
}

// TestPageIsNeverLarge holds that long tables of long names make no large page, that small tables stay whole beside them, and that what is
// left out is said on the page and in report.md.
func TestPageIsNeverLarge(t *testing.T) {
	r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{}}
	long := strings.Repeat("Shape<int, _64>, ", 120)
	for i := range 15 {
		var rows [][]any
		for j := range int64(400) {
			rows = append(rows, []any{fmt.Sprintf("%d %d %s", i, j, long), j})
		}
		if i == 0 {
			rows = [][]any{{"a small table", int64(1)}, {"of two rows", int64(2)}}
		}
		name := fmt.Sprintf("q%d", i)
		r.Sections = append(r.Sections, judge.Section{ID: name, Title: name, Frame: rendertest.FrameOf(name, "kernel calls", rows...)})
	}
	var large bytes.Buffer // once: it takes seconds
	if err := file(writeHTML)(&large, r); err != nil {
		t.Fatal(err)
	}
	page := large.String()
	text := fileText(t, r, markdown(reportFile))
	if len(page) > 3_000_000 || len(page) < 1_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, written := range []string{page, text} {
		if n := strings.Count(written, " of 400 rows are here; the query gives all."); n != 14 {
			t.Errorf("%d of 14 tables say that they are cut", n)
		}
		if !strings.Contains(written, "of two rows") {
			t.Error("a small table is cut")
		}
	}
}
