package table

import (
	"bytes"
	"slices"
	"strings"

	"prof/render/typeset"
)

// screenColumn is one column of a table on the screen of a run.
type FitColumn struct {
	Title string
	Right bool
	Cells []string                 // of each row; nil where draw is not
	Draw  func(row, to int) string // draws a cell exactly as wide as there is room
	Least int                      // how narrow its cells may become; 0: never narrower than they are
	Most  int                      // how wide draw makes sense
	Keep  int                      // the lower, the sooner a narrow terminal loses it
}

// natural is the width that the cells and the title would take.
func (c FitColumn) natural() int {
	if c.Draw != nil {
		return max(c.Most, typeset.Width(c.Title))
	}
	widest := typeset.Width(c.Title)
	for _, cell := range c.Cells {
		widest = max(widest, typeset.Width(cell))
	}
	return widest
}

// lowest is the least width that the column can have.
func (c FitColumn) lowest() int {
	if c.Least == 0 {
		return c.natural()
	}
	return min(c.natural(), max(c.Least, typeset.Width(c.Title)))
}

// fitScreen gives the columns that a width has room for and how wide each is; 0 means no limit. Columns go by keep until the least of
// all that stay fits; what is left then goes to the narrowest of those that can use it.
func FitColumns(columns []FitColumn, limit int) ([]FitColumn, []int) {
	columns = slices.Clone(columns)
	lows := func() []int {
		out := make([]int, len(columns))
		for i, c := range columns {
			out[i] = c.lowest()
		}
		return out
	}
	if limit <= 0 {
		out := make([]int, len(columns))
		for i, c := range columns {
			out[i] = c.natural()
		}
		return columns, out
	}
	for len(columns) > 1 && sum(lows()) > limit {
		first := 0
		for i, c := range columns {
			if c.Keep < columns[first].Keep {
				first = i
			}
		}
		columns = slices.Delete(columns, first, first+1)
	}
	widths := lows()
	if len(columns) == 1 {
		widths[0] = min(widths[0], limit)
	}
	for left := limit - sum(widths); left > 0; left-- {
		narrow := -1
		for i, c := range columns {
			if widths[i] < c.natural() && (narrow < 0 || c.need(widths[i]) < columns[narrow].need(widths[narrow])) {
				narrow = i
			}
		}
		if narrow < 0 {
			break
		}
		widths[narrow]++
	}
	return columns, widths
}

// need ranks columns by who gets the next cell: text needs three times as many as a bar, to be told apart.
func (c FitColumn) need(have int) int {
	if c.Draw != nil {
		return 3 * have
	}
	return have
}

// writeScreenTable writes columns under their titles.
func WriteColumns(out *bytes.Buffer, columns []FitColumn, rows int, o typeset.Options) {
	columns, widths := FitColumns(columns, o.Limit())
	line := func(cell func(i int) string) string {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = typeset.Pad(cell(i), widths[i], c.Right)
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", typeset.Gap)), " ")
	}
	out.WriteString(typeset.Style(o, typeset.Bold)(line(func(i int) string { return typeset.Shorten(columns[i].Title, widths[i], 60) })) + "\n")
	short := make([]func(string) string, len(columns))
	for i, c := range columns {
		short[i] = startsOf(c.Cells, widths[i])
	}
	for row := range rows {
		out.WriteString(line(func(i int) string {
			switch c := columns[i]; {
			case c.Draw != nil:
				return c.Draw(row, widths[i])
			case typeset.Width(c.Cells[row]) <= widths[i]:
				return c.Cells[row]
			}
			return short[i](columns[i].Cells[row])
		}) + "\n")
	}
}

// startsOf shortens texts to their starts, which is where a kernel's name is read; those that look alike then are shown where they
// differ.
func startsOf(texts []string, to int) func(string) string {
	groups := map[string][]string{}
	for _, text := range typeset.Unique(texts) {
		short := typeset.Shorten(text, to, 100)
		groups[short] = append(groups[short], text)
	}
	return func(text string) string {
		short := typeset.Shorten(text, to, 100)
		if group := groups[short]; len(group) > 1 {
			return differing(text, to, typeset.CommonPrefix(group))
		}
		return short
	}
}

// differing shortens s to its start and its end from the word that the byte at stands in; where that end is long, to as much of it as
// window shows.
func differing(s string, to, at int) string {
	for at > 0 && typeset.IsWord(s[at-1]) {
		at--
	}
	if end := typeset.Width(s[at:]); end < to/2 {
		return typeset.Prefix(s, to-1-end) + typeset.Ellipsis + s[at:]
	}
	return typeset.Window(s, to, at)
}
