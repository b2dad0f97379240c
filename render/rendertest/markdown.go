package rendertest

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// AsHTML renders Markdown as GitHub does: its tables, autolinks, strikethrough and footnotes.
func AsHTML(t *testing.T, markdown string) string {
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

// ShownText is what a reader sees of a piece of HTML.
func ShownText(piece string) string { return html.UnescapeString(htmlTag.ReplaceAllString(piece, "")) }

// TableCells returns the text of the cells of all tables, row by row, headings included.
func TableCells(page string) [][]string {
	var out [][]string
	for _, row := range htmlRow.FindAllStringSubmatch(page, -1) {
		var cells []string
		for _, cell := range htmlCell.FindAllStringSubmatch(row[1], -1) {
			cells = append(cells, ShownText(cell[1]))
		}
		out = append(out, cells)
	}
	return out
}

// ListItems returns the text of the items of all lists, which are not nested.
func ListItems(page string) []string {
	var out []string
	for _, item := range htmlItem.FindAllStringSubmatch(page, -1) {
		out = append(out, ShownText(item[1]))
	}
	return out
}

// OnlyOurs holds that a page has no elements but those that a report is made of: names bring none in.
func OnlyOurs(t *testing.T, page string) {
	t.Helper()
	rest := plainTags.ReplaceAllString(page, "")
	if at := strings.IndexByte(rest, '<'); at >= 0 {
		t.Errorf("an element that no report has: %.80q", rest[at:])
	}
}
