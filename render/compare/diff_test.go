package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"prof/queries/judge/diff"
	"prof/render/chart"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// diffText returns comparisons in a form.
func diffText(t *testing.T, form string, o typeset.Options, list ...*diff.Result) string {
	t.Helper()
	f, err := DiffForms().Named(form)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(&out, list, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestDiffForms holds every form of a comparison that has all there is, and of one that has next to nothing.
func TestDiffForms(t *testing.T) {
	used := map[string]bool{}
	hold := func(name, text string) {
		used[name] = true
		t.Run(name, func(t *testing.T) { rendertest.Compare(t, filepath.Join("testdata", "diff", name), []byte(text)) })
	}
	for name, r := range map[string]*diff.Result{"example": exampleDiff(), "unsure": unsureDiff()} {
		for _, columns := range []int{40, 80, 120, 200} {
			hold(fmt.Sprintf("%s.%d.txt", name, columns), diffText(t, "table", typeset.Options{Width: columns}, r))
		}
		for _, form := range []string{"md", "csv", "json"} {
			hold(name+"."+form, diffText(t, form, typeset.Options{}, r))
		}
		hold(name+".html", rendertest.WithoutStyle(diffText(t, "html", typeset.Options{}, r)))
	}
	hold("example.color.txt", diffText(t, "table", typeset.Options{Width: 100, Color: true}, exampleDiff()))
	hold("example.wide.txt", diffText(t, "table", typeset.Options{Width: 80, Wide: true}, exampleDiff()))
	hold("several.80.txt", diffText(t, "table", typeset.Options{Width: 80}, exampleDiff(), unsureDiff()))
	entries, err := os.ReadDir(filepath.Join("testdata", "diff"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !used[e.Name()] {
			t.Errorf("testdata/diff/%s belongs to no test", e.Name())
		}
	}
}

// TestDiffFits holds that no line is wider than the terminal, and that nothing moves its cursor.
func TestDiffFits(t *testing.T) {
	for _, r := range []*diff.Result{exampleDiff(), unsureDiff()} {
		for _, columns := range []int{30, 40, 60, 80, 100, 140, 200} {
			for line := range strings.Lines(diffText(t, "table", typeset.Options{Width: columns}, r)) {
				if line = strings.TrimSuffix(line, "\n"); typeset.Width(line) > columns || line != typeset.Neutral(line) {
					t.Errorf("%d columns: %q takes %d", columns, line, typeset.Width(line))
				}
			}
		}
	}
}

// TestDiffCSVAddsUp holds that the parts of a stage add up to its row.
func TestDiffCSVAddsUp(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(diffText(t, "csv", typeset.Options{}, exampleDiff()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	number := func(row []string, name string) int64 {
		n, err := strconv.ParseInt(row[at[name]], 10, 64)
		if err != nil {
			t.Fatalf("%s of %s: %v", name, row[at["name"]], err)
		}
		return n
	}
	for _, column := range []string{"a_per_unit_ns", "b_per_unit_ns", "delta_ns"} {
		stages, parts := map[string]int64{}, map[string]int64{}
		for _, row := range rows[1:] {
			to := parts
			if row[at["kind"]] == "stage" {
				to = stages
			}
			to[row[at["stage"]]] += number(row, column)
		}
		if fmt.Sprint(stages) != fmt.Sprint(parts) || len(stages) != 2 || stages["decode"] == 0 {
			t.Errorf("%s: stages have %v, their parts %v", column, stages, parts)
		}
	}
	for _, row := range rows[1:] {
		split := number(row, "count_ns") + number(row, "duration_ns") + number(row, "interaction_ns") + number(row, "new_ns") + number(row, "removed_ns")
		if got := number(row, "delta_ns"); got != split || got != number(row, "b_per_unit_ns")-number(row, "a_per_unit_ns") {
			t.Errorf("%s: %d is split into %d", row[at["name"]], got, split)
		}
	}
}

// TestDiffJSON holds that what is not known is null, and names are as they are.
func TestDiffJSON(t *testing.T) {
	var got struct {
		Comparisons []struct {
			A       struct{ Label string }
			Stages  []map[string]any
			Items   []map[string]any
			Queries []map[string]any
		}
	}
	text := diffText(t, "json", typeset.Options{}, exampleDiff(), unsureDiff())
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Comparisons) != 2 {
		t.Fatalf("%d comparisons", len(got.Comparisons))
	}
	first, second := got.Comparisons[0], got.Comparisons[1]
	if name := first.Items[4]["name"]; name != "k<"+rendertest.Breakout {
		t.Errorf("a name is %q", name)
	}
	if c, isMap := second.Stages[1]["comparison"].(map[string]any); !isMap || c["a"] != nil || c["p"] != nil || c["b"] != 7e6 {
		t.Errorf("a stage without A is compared as %v", second.Stages[1]["comparison"])
	}
	if v := second.Stages[1]["delta"]; v != nil {
		t.Errorf("a stage without A has the delta %v", v)
	}
	if strings.Contains(text, `\u003c`) {
		t.Error("JSON is escaped as for HTML")
	}
}

// TestDiffNames holds that hostile names stay where they belong, and are there as they are.
func TestDiffNames(t *testing.T) {
	page := diffText(t, "html", typeset.Options{}, exampleDiff(), unsureDiff())
	if strings.Contains(page, "<script>alert") || strings.Count(page, "<script") != 1 || strings.Contains(page, "\x1b") || strings.Contains(page, "‮") {
		t.Error("a name gets out of its place on the page")
	}
	if n := strings.Count(html.UnescapeString(page), rendertest.Breakout); n < 3 {
		t.Errorf("the page has the name %d times", n)
	}
	for _, bad := range []string{"http:", "https:", " src=", "@import", "<link", "<iframe", "<img", "fetch("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	md := diffText(t, "md", typeset.Options{}, exampleDiff(), unsureDiff())
	if strings.Contains(md, "\x1b") || !strings.Contains(md, typeset.MarkdownCode(typeset.Kernels(nil, typeset.LongName)("k<"+rendertest.Breakout))) {
		t.Error("Markdown lacks the name as code, or holds control characters")
	}
}

// TestDiffFigure holds the picture: bars to the left and right of one line, as long as their parts changed, of the families together.
func TestDiffFigure(t *testing.T) {
	f := newDiffFigure(exampleDiff().Stages[0], "gpu_span_ns")
	if f == nil || len(f.Rows) != 7 || f.Height != 7*chart.KernelBarRow {
		t.Fatalf("the figure is %+v", f)
	}
	// Softmax shrank by most, attention grew by most: they reach the ends of the room for bars.
	if r := f.Rows[0]; r.Class != "less" || r.X != "0.000%" || r.Short != "softmax kernels" || r.Text != "-31.0 ms (gone)" {
		t.Errorf("the first bar is %+v", r)
	}
	if r := f.Rows[1]; r.Class != "more" || r.X != f.Zero || r.Text != "+24.5 ms (new)" {
		t.Errorf("the second bar is %+v", r)
	}
	if f := newDiffFigure(diff.Stage{Delta: &diff.Delta{}, Ledger: []diff.Item{partOf("s", "kernel", "k", "", 1, 5, 1, 5)}}, "gpu_span_ns"); f != nil {
		t.Errorf("no change is drawn as %+v", f)
	}
	if f := newDiffFigure(unsureDiff().Stages[1], "gpu_span_ns"); f != nil {
		t.Errorf("a stage of one side is drawn as %+v", f)
	}
}
