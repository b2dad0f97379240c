package render

import (
	"bytes"
	"slices"
	"strings"
)

// diffTable is a table of a comparison, which all forms for people show: cells are scaled and rounded, and neither cut nor escaped.
type diffTable struct {
	caption string
	columns []diffColumn
	rows    [][]diffCell
}

// diffColumn is one column of it.
type diffColumn struct {
	name  string // in base units, for who copies the table
	title string // tells it from the other columns
	doc   string
	right bool
	least int    // how narrow a terminal may make its texts; 0: no narrower than they are
	keep  int    // the lower, the sooner a narrow terminal loses it
	pair  string // columns of the same pair go together; "" for none
}

// diffCell is one cell of it.
type diffCell struct {
	text  string // "" where there is nothing to say
	value string // a number in base units, for sorting and copying; "" of texts and of what is not known
	tone  tone
	code  bool // a name as a machine knows it
}

// textCell is a cell of words.
func textCell(text string) diffCell { return diffCell{text: neutral(text)} }

// numberCell is a cell of a number, shown as text.
func numberCell(text string, v float64) diffCell { return diffCell{text: text, value: exactFloat(v)} }

// shown is what a cell says.
func (c diffCell) shown() string { return orNull(c.text) }

// known gives the table without the columns in which no row says anything.
func (t diffTable) known() diffTable {
	out := diffTable{caption: t.caption, rows: make([][]diffCell, len(t.rows))}
	for j, c := range t.columns {
		if !slices.ContainsFunc(t.rows, func(row []diffCell) bool { return row[j].text != "" }) {
			continue
		}
		out.columns = append(out.columns, c)
		for i, row := range t.rows {
			out.rows[i] = append(out.rows[i], row[j])
		}
	}
	return out
}

// writeDiffTable writes a table to a terminal, and gives the titles of the columns that it had no room for.
func writeDiffTable(out *bytes.Buffer, t diffTable, o Options) (dropped []string) {
	if len(t.columns) == 0 {
		return nil
	}
	kept, widths, dropped := t.fit(o.limit())
	place := map[string]int{} // of columns, by their titles
	for j, c := range t.columns {
		place[c.title] = j
	}
	line := func(cell func(i int) (string, tone)) string {
		cells := make([]string, len(kept))
		for i, c := range kept {
			text, tone := cell(i)
			cells[i] = paintWith(o, tone, pad(text, widths[i], c.right), i == len(kept)-1)
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ")
	}
	out.WriteString(style(o, bold)(line(func(i int) (string, tone) { return shorten(kept[i].title, widths[i], 60), "" })) + "\n")
	short := make([]func(string) string, len(kept))
	for i, c := range kept {
		short[i] = startsOf(c.cells, widths[i])
	}
	for row := range t.rows {
		out.WriteString(line(func(i int) (string, tone) {
			text := kept[i].cells[row]
			if width(text) > widths[i] {
				text = short[i](text)
			}
			return text, t.rows[row][place[kept[i].title]].tone
		}) + "\n")
	}
	return dropped
}

// fit gives the columns that a width has room for, how wide they are, and the titles of the others, in their order.
func (t diffTable) fit(limit int) (kept []screenColumn, widths []int, dropped []string) {
	gone := map[string]bool{} // titles of columns whose pair has no room
	for {
		var columns []screenColumn
		for j, c := range t.columns {
			if gone[c.title] {
				continue
			}
			cells := make([]string, len(t.rows))
			for i, row := range t.rows {
				cells[i] = row[j].shown()
			}
			columns = append(columns, screenColumn{title: c.title, right: c.right, cells: cells, least: c.least, keep: c.keep})
		}
		kept, widths = fitScreen(columns, limit)
		lost := map[string]bool{}
		for _, c := range t.columns {
			if !slices.ContainsFunc(kept, func(k screenColumn) bool { return k.title == c.title }) {
				lost[c.pair] = true
				gone[c.title] = true
			}
		}
		if !slices.ContainsFunc(t.columns, func(c diffColumn) bool { return c.pair != "" && lost[c.pair] && !gone[c.title] }) {
			break
		}
		for _, c := range t.columns {
			gone[c.title] = gone[c.title] || c.pair != "" && lost[c.pair]
		}
	}
	for _, c := range t.columns {
		if gone[c.title] {
			dropped = append(dropped, c.title)
		}
	}
	return kept, widths, dropped
}

// paintWith colours a padded cell; the last of a line needs no spaces behind it.
func paintWith(o Options, t tone, text string, last bool) string {
	if last {
		text = strings.TrimRight(text, " ")
	}
	if t == "" {
		return text
	}
	return style(o, t.ansi())(text)
}
