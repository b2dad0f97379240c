package table

import (
	"bytes"
	"prof/render/typeset"
	"slices"
	"strings"
)

// asideKeep is up to which keep a column of a table with many is left out on paper.
const asideKeep = 2

// View gives the table as the page shows it, as many rows as an excerpt has.
func (t Sheet) View() *View {
	rows, left := t.excerpt(PageExcerpt)
	v := &View{Caption: t.Caption, Class: "few", LeftOut: left}
	switch n := len(t.Columns); {
	case n > 12:
		v.Class = "many"
	case n > 7:
		v.Class = "some"
	}
	var off []string
	for _, c := range t.Columns {
		aside := c.Keep <= asideKeep && len(t.Columns) > 10
		if aside {
			off = append(off, c.Title)
		}
		v.Columns = append(v.Columns, ColumnView{Name: c.Name, Title: c.Title, Doc: c.Doc, Class: CellClass(c.Right, aside, "")})
	}
	v.OffPaper = Listed("Hidden in print: ", off)
	short := map[string]string{}
	if names := longNames(rows); len(names) > 0 {
		typeset.Apart(short, names)
	}
	for _, row := range rows {
		v.Rows = append(v.Rows, t.viewRow(row, short, off))
	}
	return v
}

func (t Sheet) viewRow(row []SheetCell, short map[string]string, off []string) []CellView {
	out := make([]CellView, len(row))
	for j, c := range row {
		column := t.Columns[j]
		cell := CellView{Text: c.Shown(), Right: column.Right, Sort: c.Value, Null: c.Text == "", Code: c.Code}
		long := ""
		switch {
		case column.Right:
		case c.Code && short[c.Text] != "" && short[c.Text] != c.Text:
			cell.Short, long = short[c.Text], "name"
		case typeset.Width(c.Text) > typeset.LongText:
			long = "long"
		}
		cell.Class = CellClass(column.Right, slices.Contains(off, column.Title), long)
		if c.Tone != "" {
			cell.Class = strings.TrimSpace(cell.Class + " " + string(c.Tone))
		}
		out[j] = cell
	}
	return out
}

// longNames are the names in a table that are shown in short, each once.
func longNames(rows [][]SheetCell) []string {
	var out []string
	for _, row := range rows {
		for _, c := range row {
			if c.Code && typeset.Width(c.Text) > typeset.LongName {
				out = append(out, c.Text)
			}
		}
	}
	return typeset.Unique(out)
}

// excerpt gives the first rows, at least one, and says how many are left out; "" for none.
func (t Sheet) excerpt(e Excerpt) ([][]SheetCell, string) {
	size := 0
	for i, row := range t.Rows {
		for _, c := range row {
			size += e.Cell + len(c.Text)
		}
		if i > 0 && (size > e.Bytes || i == e.Rows) {
			return t.Rows[:i], "The first " + typeset.Int(int64(i)) + " of " + typeset.Int(int64(len(t.Rows))) + " rows are here; --format csv gives all."
		}
	}
	return t.Rows, ""
}

// markdownName is how long a name in a cell of Markdown gets, so that a row stays one that can be read.
const markdownName = 80

// shortNames gives how the names in a table that a machine knows things by are shortened, so that different ones stay different.
func (t Sheet) shortNames(to int) func(string) string {
	var names []string
	for _, row := range t.Rows {
		for j, c := range row {
			if c.Code && !t.Columns[j].Full {
				names = append(names, c.Text)
			}
		}
	}
	return typeset.Shortener(names, to)
}

// SheetMarkdown writes a table as Markdown: what got better or worse stands out.
func SheetMarkdown(out *bytes.Buffer, t Sheet) {
	titles, rule := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for j, c := range t.Columns {
		titles[j], rule[j] = typeset.MarkdownText(c.Title), "---"
		if c.Right {
			rule[j] = "---:"
		}
	}
	typeset.MarkdownRow(out, titles)
	typeset.MarkdownRow(out, rule)
	cells, short := make([]string, len(t.Columns)), t.shortNames(markdownName)
	for _, row := range t.Rows {
		for j, c := range row {
			switch {
			case c.Text == "":
				cells[j] = ""
			case c.Code && t.Columns[j].Full:
				cells[j] = typeset.MarkdownCode(c.Text)
			case c.Code:
				cells[j] = typeset.MarkdownCode(short(c.Text))
			case c.Tone == typeset.ToneBetter || c.Tone == typeset.ToneWorse:
				cells[j] = "**" + typeset.MarkdownText(c.Text) + "**"
			default:
				cells[j] = typeset.MarkdownText(c.Text)
			}
		}
		typeset.MarkdownRow(out, cells)
	}
}
