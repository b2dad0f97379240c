package table

import (
	"slices"
	"strings"

	"prof/render/typeset"
)

// layout says how a grid is fitted to a width: the columns that stay, how wide they are, and the lines of their headers.
type layout struct {
	keep    []int
	Dropped []int
	Widths  []int      // of each column in keep
	headers [][]string // of each column in keep, one line or more
	total   int
}

// fit lays a grid out in the given width, 0 meaning no limit. It tries, in this order, everything as it is; headers on
// several lines; the widest texts shortened; the last columns dropped.
func Fit(g *grid, limit int) layout {
	l := layout{Widths: make([]int, len(g.columns))}
	for j, h := range g.columns {
		l.keep = append(l.keep, j)
		l.Widths[j] = max(DataWidth(g, j), typeset.Width(h.title()))
	}
	if limit > 0 && sum(l.Widths) > limit {
		l = squeeze(g, limit)
	}
	for i, j := range l.keep {
		l.headers = append(l.headers, headerLines(g.columns[j], l.Widths[i]))
	}
	l.total = sum(l.Widths)
	return l
}

func squeeze(g *grid, limit int) layout {
	l := layout{}
	full, least := make([]int, len(g.columns)), make([]int, len(g.columns))
	for j, h := range g.columns {
		l.keep = append(l.keep, j)
		full[j] = DataWidth(g, j)
		least[j] = full[j]
		if !h.right {
			least[j] = min(full[j], max(typeset.ShortText, min(full[j]/4, typeset.ClearText)))
		}
		for _, word := range h.words {
			full[j] = max(full[j], min(typeset.Width(word), typeset.ClearText))
			least[j] = max(least[j], min(typeset.Width(word), typeset.ClearText))
		}
	}
	for _, j := range dropOrder(g) {
		if sum(pickInts(least, l.keep)) <= limit {
			break
		}
		l.keep = slices.DeleteFunc(l.keep, func(k int) bool { return k == j })
		l.Dropped = append(l.Dropped, j)
	}
	slices.Sort(l.Dropped)
	l.Widths = level(pickInts(full, l.keep), pickInts(least, l.keep), limit)
	l.Widths = relax(g, l, limit)
	return l
}

// relax spends the width that is left on headers of fewer lines, where it is enough for all of them.
func relax(g *grid, l layout, limit int) []int {
	for lines := 1; lines < 4; lines++ {
		widths := slices.Clone(l.Widths)
		for i, j := range l.keep {
			for len(headerLines(g.columns[j], widths[i])) > lines {
				widths[i]++
			}
		}
		if sum(widths) <= limit {
			return widths
		}
	}
	return l.Widths
}

// dropOrder lists the columns that a narrow table may lose, the first to go first: spread, ids and what is the same in all of many rows,
// then medians, then the rest from the right; totals and shares stay longest, and what stands before the first text goes last of all. The first
// text never goes.
func dropOrder(g *grid) []int {
	key := max(0, slices.IndexFunc(g.columns, func(h head) bool { return !h.right }))
	var out []int
	for j := len(g.columns) - 1; j >= 0; j-- {
		if j != key {
			out = append(out, j)
		}
	}
	rank := func(j int) int {
		if constant(g, j) {
			return 0
		}
		return worth(g.columns[j], j < key)
	}
	slices.SortStableFunc(out, func(a, b int) int { return rank(a) - rank(b) })
	return out
}

// constant says whether a column tells no row from another. In a table of a few rows that may be chance.
func constant(g *grid, column int) bool {
	for _, row := range g.rows {
		if row[column] != g.rows[0][column] {
			return false
		}
	}
	return len(g.rows) > 3
}

// headlines are the columns that tables are read for.
var headlines = []string{"flop", "share_ratio", "busy_ratio", "mfu_ratio", "mbu_ratio", "measured_ratio", "device_peak_ratio", "metric", "value", "live_bytes", "self_device_ns", "self_cpu_ns"}

// worth ranks a column by how long a narrow table keeps it.
func worth(h head, first bool) int {
	words := strings.Split(h.Name, "_")
	has := func(any ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
	}
	switch {
	case first:
		return 4
	case has("std", "min", "max", "pid", "tid", "source", "context"):
		return 0
	case has("median"):
		return 1
	case has("total") || slices.Contains(headlines, h.Name):
		return 3
	}
	return 2
}

// level takes width from the widest columns first until they all fit, but no column below its least. When that is not
// enough, a single column is left and takes the whole line.
func level(full, least []int, limit int) []int {
	widths := slices.Clone(full)
	for top := slices.Max(widths); sum(widths) > limit && top > 0; top-- {
		for i := range widths {
			widths[i] = min(widths[i], max(top, least[i]))
		}
	}
	if sum(widths) > limit {
		widths[0] = limit
	}
	return widths
}

// headerLines breaks a header into the lines that fit its column.
func headerLines(h head, to int) []string {
	if typeset.Width(h.title()) <= to {
		return []string{h.title()}
	}
	var lines []string
	line := ""
	for _, word := range h.words {
		word = typeset.Shorten(word, to, 60)
		if line != "" && typeset.Width(line)+1+typeset.Width(word) <= to {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
	}
	return append(lines, line)
}

func DataWidth(g *grid, column int) int {
	widest := 0
	for _, row := range g.rows {
		widest = max(widest, typeset.Width(row[column]))
	}
	return widest
}

// sum gives the width of a line of columns so wide.
func sum(widths []int) int {
	total := typeset.Gap * max(0, len(widths)-1)
	for _, w := range widths {
		total += w
	}
	return total
}

func pickInts(from, indexes []int) []int {
	picked := make([]int, len(indexes))
	for i, j := range indexes {
		picked[i] = from[j]
	}
	return picked
}
