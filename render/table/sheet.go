package table

import (
	"bytes"
	"slices"
	"strings"

	"prof/render/typeset"
)

// diffTable is a table of a comparison, which all forms for people show: cells are scaled and rounded, and neither cut nor escaped.
type Sheet struct {
	Caption string
	Columns []SheetColumn
	Rows    [][]SheetCell
}

// diffColumn is one column of it.
type SheetColumn struct {
	Name  string // in base units, for who copies the table
	Title string // tells it from the other columns
	Doc   string
	Right bool
	Least int    // how narrow a terminal may make its texts; 0: no narrower than they are
	Keep  int    // the lower, the sooner a narrow terminal loses it
	Pair  string // columns of the same pair go together; "" for none
	Full  bool   // its names are short already
}

// diffCell is one cell of it.
type SheetCell struct {
	Text  string // "" where there is nothing to say
	Value string // a number in base units, for sorting and copying; "" of texts and of what is not known
	Tone  typeset.Tone
	Code  bool // a name as a machine knows it
}

// textCell is a cell of words.
func TextCell(text string) SheetCell { return SheetCell{Text: typeset.Neutral(text)} }

// numberCell is a cell of a number, shown as text.
func NumberCell(text string, v float64) SheetCell {
	return SheetCell{Text: text, Value: typeset.Exact(v)}
}

// shown is what a cell says.
func (c SheetCell) Shown() string { return typeset.OrNull(c.Text) }

// known gives the table without the columns in which no row says anything.
func (t Sheet) Known() Sheet {
	out := Sheet{Caption: t.Caption, Rows: make([][]SheetCell, len(t.Rows))}
	for j, c := range t.Columns {
		if !slices.ContainsFunc(t.Rows, func(row []SheetCell) bool { return row[j].Text != "" }) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for i, row := range t.Rows {
			out.Rows[i] = append(out.Rows[i], row[j])
		}
	}
	return out
}

// writeDiffTable writes a table to a terminal, and gives the titles of the columns that it had no room for.
func WriteSheet(out *bytes.Buffer, t Sheet, o typeset.Options) (dropped []string) {
	if len(t.Columns) == 0 {
		return nil
	}
	kept, widths, dropped := t.fit(o.Limit())
	place := map[string]int{} // of columns, by their titles
	for j, c := range t.Columns {
		place[c.Title] = j
	}
	line := func(cell func(i int) (string, typeset.Tone)) string {
		cells := make([]string, len(kept))
		for i, c := range kept {
			text, tone := cell(i)
			cells[i] = typeset.PaintWith(o, tone, typeset.Pad(text, widths[i], c.Right), i == len(kept)-1)
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", typeset.Gap)), " ")
	}
	out.WriteString(typeset.Style(o, typeset.Bold)(line(func(i int) (string, typeset.Tone) { return typeset.Shorten(kept[i].Title, widths[i], 60), "" })) + "\n")
	short := make([]func(string) string, len(kept))
	for i, c := range kept {
		short[i] = startsOf(c.Cells, widths[i])
	}
	for row := range t.Rows {
		out.WriteString(line(func(i int) (string, typeset.Tone) {
			text := kept[i].Cells[row]
			if typeset.Width(text) > widths[i] {
				text = short[i](text)
			}
			return text, t.Rows[row][place[kept[i].Title]].Tone
		}) + "\n")
	}
	return dropped
}

// fit gives the columns that a width has room for, how wide they are, and the titles of the others, in their order.
func (t Sheet) fit(limit int) (kept []FitColumn, widths []int, dropped []string) {
	gone := map[string]bool{} // titles of columns whose pair has no room
	for {
		var columns []FitColumn
		for j, c := range t.Columns {
			if gone[c.Title] {
				continue
			}
			cells := make([]string, len(t.Rows))
			for i, row := range t.Rows {
				cells[i] = row[j].Shown()
			}
			columns = append(columns, FitColumn{Title: c.Title, Right: c.Right, Cells: cells, Least: c.Least, Keep: c.Keep})
		}
		kept, widths = FitColumns(columns, limit)
		lost := map[string]bool{}
		for _, c := range t.Columns {
			if !slices.ContainsFunc(kept, func(k FitColumn) bool { return k.Title == c.Title }) {
				lost[c.Pair] = true
				gone[c.Title] = true
			}
		}
		if !slices.ContainsFunc(t.Columns, func(c SheetColumn) bool { return c.Pair != "" && lost[c.Pair] && !gone[c.Title] }) {
			break
		}
		for _, c := range t.Columns {
			gone[c.Title] = gone[c.Title] || c.Pair != "" && lost[c.Pair]
		}
	}
	for _, c := range t.Columns {
		if gone[c.Title] {
			dropped = append(dropped, c.Title)
		}
	}
	return kept, widths, dropped
}
