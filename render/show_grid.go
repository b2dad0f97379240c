package render

import (
	"bytes"
	"slices"
	"strings"
)

// screenColumn is one column of a table on the screen of a run.
type screenColumn struct {
	title string
	right bool
	cells []string                 // of each row; nil where draw is not
	draw  func(row, to int) string // draws a cell exactly as wide as there is room
	least int                      // how narrow its cells may become; 0: never narrower than they are
	most  int                      // how wide draw makes sense
	keep  int                      // the lower, the sooner a narrow terminal loses it
}

// natural is the width that the cells and the title would take.
func (c screenColumn) natural() int {
	if c.draw != nil {
		return max(c.most, width(c.title))
	}
	widest := width(c.title)
	for _, cell := range c.cells {
		widest = max(widest, width(cell))
	}
	return widest
}

// lowest is the least width that the column can have.
func (c screenColumn) lowest() int {
	if c.least == 0 {
		return c.natural()
	}
	return min(c.natural(), max(c.least, width(c.title)))
}

// fitScreen gives the columns that a width has room for and how wide each is; 0 means no limit. Columns go by keep until the least of
// all that stay fits; what is left then goes to the narrowest of those that can use it.
func fitScreen(columns []screenColumn, limit int) ([]screenColumn, []int) {
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
			if c.keep < columns[first].keep {
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
func (c screenColumn) need(have int) int {
	if c.draw != nil {
		return 3 * have
	}
	return have
}

// writeScreenTable writes columns under their titles.
func writeScreenTable(out *bytes.Buffer, columns []screenColumn, rows int, o Options) {
	columns, widths := fitScreen(columns, o.limit())
	line := func(cell func(i int) string) string {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = pad(cell(i), widths[i], c.right)
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ")
	}
	out.WriteString(style(o, bold)(line(func(i int) string { return shorten(columns[i].title, widths[i], 60) })) + "\n")
	short := make([]func(string) string, len(columns))
	for i, c := range columns {
		short[i] = startsOf(c.cells, widths[i])
	}
	for row := range rows {
		out.WriteString(line(func(i int) string {
			switch c := columns[i]; {
			case c.draw != nil:
				return c.draw(row, widths[i])
			case width(c.cells[row]) <= widths[i]:
				return c.cells[row]
			}
			return short[i](columns[i].cells[row])
		}) + "\n")
	}
}

// startsOf shortens texts to their starts, which is where a kernel's name is read; those that look alike then are shown where they
// differ.
func startsOf(texts []string, to int) func(string) string {
	groups := map[string][]string{}
	for _, text := range unique(texts) {
		short := shorten(text, to, 100)
		groups[short] = append(groups[short], text)
	}
	return func(text string) string {
		short := shorten(text, to, 100)
		if group := groups[short]; len(group) > 1 {
			return differing(text, to, commonPrefix(group))
		}
		return short
	}
}

// differing shortens s to its start and its end from the word that the byte at stands in; where that end is long, to as much of it as
// window shows.
func differing(s string, to, at int) string {
	for at > 0 && isWord(s[at-1]) {
		at--
	}
	if end := width(s[at:]); end < to/2 {
		return prefix(s, to-1-end) + ellipsis + s[at:]
	}
	return window(s, to, at)
}
