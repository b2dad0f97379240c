package table

import (
	"bytes"
	"strings"
	"testing"

	"prof/render/rendertest"
	"prof/render/typeset"
)

// TestRealMarkdown holds that the cells and notes of a table read as typed, as told by a renderer that is not ours.
func TestRealMarkdown(t *testing.T) {
	names := []string{rendertest.Hostile, rendertest.Flash, rendertest.Breakout, "a|b", `a\|b`, `\`, "`", "``a`", "*x* _y_ __z__ ~~w~~", "[a](b)", "![a](b)", "<b>&amp;", "$x$", "http://a.b/c_d", "[^1]", "- a", "# a", "1. a", "line\nbreak"}
	f := rendertest.FrameOf("top-kernels", "command reason", []any{"first", "first"})
	for _, name := range names {
		f.Rows = append(f.Rows, []any{name, name})
		f.Notes = append(f.Notes, name)
	}
	var out bytes.Buffer
	if err := Markdown(&out, f, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	page := rendertest.AsHTML(t, out.String())
	rendertest.OnlyOurs(t, page)
	cells, items := rendertest.TableCells(page), rendertest.ListItems(page)
	if len(cells) != len(names)+2 || len(items) != len(names) {
		t.Fatalf("%d rows and %d items of %d names:\n%s", len(cells), len(items), len(names), page)
	}
	for i, name := range names {
		for j, got := range cells[i+2] {
			if got != typeset.Neutral(name) {
				t.Errorf("cell %d of %q reads as %q", j, name, got)
			}
		}
		if items[i] != strings.TrimSpace(typeset.Neutral(name)) {
			t.Errorf("note %q reads as %q", name, items[i])
		}
	}
}
