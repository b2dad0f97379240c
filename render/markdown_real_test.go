package render

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// asHTML renders Markdown as GitHub does: its tables, autolinks, strikethrough and footnotes.
func asHTML(t *testing.T, markdown string) string {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	htmlRow   = regexp.MustCompile(`(?s)<tr>(.*?)</tr>`)
	htmlCell  = regexp.MustCompile(`(?s)<t[dh][^>]*>(.*?)</t[dh]>`)
	htmlItem  = regexp.MustCompile(`(?s)<li>(.*?)</li>`)
	htmlTag   = regexp.MustCompile(`<[^>]*>`)
	plainTags = regexp.MustCompile(`</?(?:h[1-6]|p|ul|ol|li|table|thead|tbody|tr|t[dh]|code|pre|a|hr|strong|br)(?: (?:style="text-align:(?:left|right|center)"|align="\w+"|start="\d+"|href="[^"<>]*"))*(?: /)?>`)
)

// shownText is what a reader sees of a piece of HTML.
func shownText(piece string) string { return html.UnescapeString(htmlTag.ReplaceAllString(piece, "")) }

// tableCells gives the text of the cells of all tables, row by row, headings included.
func tableCells(page string) [][]string {
	var out [][]string
	for _, row := range htmlRow.FindAllStringSubmatch(page, -1) {
		var cells []string
		for _, cell := range htmlCell.FindAllStringSubmatch(row[1], -1) {
			cells = append(cells, shownText(cell[1]))
		}
		out = append(out, cells)
	}
	return out
}

// listItems gives the text of the items of all lists, which are not nested.
func listItems(page string) []string {
	var out []string
	for _, item := range htmlItem.FindAllStringSubmatch(page, -1) {
		out = append(out, shownText(item[1]))
	}
	return out
}

// onlyOurs holds that a page has no elements but those that a report is made of: names bring none in.
func onlyOurs(t *testing.T, page string) {
	t.Helper()
	rest := plainTags.ReplaceAllString(page, "")
	if at := strings.IndexByte(rest, '<'); at >= 0 {
		t.Errorf("an element that no report has: %.80q", rest[at:])
	}
}

// TestRealMarkdown holds that the cells and notes of a table read as typed, as told by a renderer that is not ours.
func TestRealMarkdown(t *testing.T) {
	names := []string{hostile, flash, breakout, "a|b", `a\|b`, `\`, "`", "``a`", "*x* _y_ __z__ ~~w~~", "[a](b)", "![a](b)", "<b>&amp;", "$x$", "http://a.b/c_d", "[^1]", "- a", "# a", "1. a", "line\nbreak"}
	f := frameOf("top-kernels", "kernel reason", []any{"first", "first"})
	for _, name := range names {
		f.Rows = append(f.Rows, []any{name, name})
		f.Notes = append(f.Notes, name)
	}
	var out bytes.Buffer
	if err := Markdown(&out, f, Options{}); err != nil {
		t.Fatal(err)
	}
	page := asHTML(t, out.String())
	onlyOurs(t, page)
	cells, items := tableCells(page), listItems(page)
	if len(cells) != len(names)+2 || len(items) != len(names) {
		t.Fatalf("%d rows and %d items of %d names:\n%s", len(cells), len(items), len(names), page)
	}
	for i, name := range names {
		for j, got := range cells[i+2] {
			if got != neutral(name) {
				t.Errorf("cell %d of %q reads as %q", j, name, got)
			}
		}
		if items[i] != strings.TrimSpace(neutral(name)) {
			t.Errorf("note %q reads as %q", name, items[i])
		}
	}
}
