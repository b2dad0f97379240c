package render

import (
	"slices"
	"strings"
)

// asideKeep is up to which keep a column of a table with many is left out on paper.
const asideKeep = 2

// view gives the table as the page shows it, as many rows as an excerpt has.
func (t diffTable) view() *tableView {
	rows, left := t.excerpt(pageExcerpt)
	v := &tableView{Caption: t.caption, Class: "few", LeftOut: left}
	switch n := len(t.columns); {
	case n > 12:
		v.Class = "many"
	case n > 7:
		v.Class = "some"
	}
	var off []string
	for _, c := range t.columns {
		aside := c.keep <= asideKeep && len(t.columns) > 10
		if aside {
			off = append(off, c.title)
		}
		v.Columns = append(v.Columns, columnView{Name: c.name, Title: c.title, Doc: c.doc, Class: cellClass(c.right, aside, "")})
	}
	v.OffPaper = listed("Hidden in print: ", off)
	short := map[string]string{}
	if names := longNames(rows); len(names) > 0 {
		tellApart(short, names)
	}
	for _, row := range rows {
		v.Rows = append(v.Rows, t.viewRow(row, short, off))
	}
	return v
}

func (t diffTable) viewRow(row []diffCell, short map[string]string, off []string) []cellView {
	out := make([]cellView, len(row))
	for j, c := range row {
		column := t.columns[j]
		cell := cellView{Text: c.shown(), Right: column.right, Sort: c.value, Null: c.text == "", Code: c.code}
		long := ""
		switch {
		case column.right:
		case c.code && short[c.text] != "" && short[c.text] != c.text:
			cell.Short, long = short[c.text], "name"
		case width(c.text) > longText:
			long = "long"
		}
		cell.Class = cellClass(column.right, slices.Contains(off, column.title), long)
		if c.tone != "" {
			cell.Class = strings.TrimSpace(cell.Class + " " + string(c.tone))
		}
		out[j] = cell
	}
	return out
}

// longNames are the names in a table that are shown in short, each once.
func longNames(rows [][]diffCell) []string {
	var out []string
	for _, row := range rows {
		for _, c := range row {
			if c.code && width(c.text) > longName {
				out = append(out, c.text)
			}
		}
	}
	return unique(out)
}

// excerpt gives the first rows, at least one, and says how many are left out; "" for none.
func (t diffTable) excerpt(e excerpt) ([][]diffCell, string) {
	size := 0
	for i, row := range t.rows {
		for _, c := range row {
			size += e.cell + len(c.text)
		}
		if i > 0 && (size > e.bytes || i == e.rows) {
			return t.rows[:i], "The first " + groupedInt(int64(i)) + " of " + groupedInt(int64(len(t.rows))) + " rows are here; --format csv gives all."
		}
	}
	return t.rows, ""
}
