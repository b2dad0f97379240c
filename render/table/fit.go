package table

import (
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// layout says how a table is fitted to a width: the places of the columns that stay, how wide they are and the lines of their titles,
// and the titles of the hidden ones.
type layout struct {
	columns []int
	widths  []int
	titles  [][]string
	hidden  []string
}

// fit lays a table out in a width, 0 meaning no limit: as it is if there is room, else with titles on several lines, then with texts cut
// down to what each column bears, then without the columns that are worth least. What is left goes to the narrowest that can use it.
func (t Table) fit(limit int) layout {
	l := layout{}
	whole, full, least := make([]int, len(t.Columns)), make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for j, c := range t.Columns {
		if limit == 0 || limit >= c.From {
			l.columns = append(l.columns, j)
		} else {
			l.hidden = append(l.hidden, c.Title)
		}
		data, word := t.dataWidth(j), 0
		for _, w := range strings.Fields(c.Title) {
			word = max(word, min(typeset.Width(w), typeset.ClearText))
		}
		if t.OneLine {
			word = typeset.Width(c.Title)
		}
		whole[j], full[j], least[j] = max(data, typeset.Width(c.Title)), max(data, word), max(data, word)
		if c.Least > 0 {
			least[j] = max(min(data, c.Least), word)
		}
		if c.Kernels { // spread of times is worth less than knowing of what
			least[j] = max(least[j], min(data, limit*3/8))
		}
	}
	l.widths = pick(whole, l.columns)
	if limit > 0 && sum(l.widths) > limit {
		l.hide(t, least, limit)
		l.grow(t, least, full, limit)
		l.relax(t, limit)
	}
	for i, j := range l.columns {
		l.titles = append(l.titles, titleLines(t.Columns[j].Title, l.widths[i]))
	}
	return l
}

func (t Table) dataWidth(column int) int {
	if c := t.Columns[column]; c.Draw != nil {
		return c.Most
	}
	widest := 0
	for _, row := range t.Rows {
		widest = max(widest, typeset.Width(row[column].Shown()))
	}
	return widest
}

// hide takes columns away, those worth least first and of equal ones the last, until the narrowest of the others fit.
func (l *layout) hide(t Table, least []int, limit int) {
	shown := slices.Clone(l.columns)
	for len(l.columns) > 1 && sum(pick(least, l.columns)) > limit {
		gone := l.columns[0]
		for _, j := range l.columns {
			if t.Columns[j].Keep <= t.Columns[gone].Keep {
				gone = j
			}
		}
		l.columns = slices.DeleteFunc(l.columns, func(j int) bool {
			pair := t.Columns[gone].Pair
			return j == gone || pair != "" && t.Columns[j].Pair == pair
		})
	}
	for _, j := range shown {
		if !slices.Contains(l.columns, j) {
			l.hidden = append(l.hidden, t.Columns[j].Title)
		}
	}
}

// grow gives the width that is left to the narrowest columns that can use it; a drawing waits until texts have three times its width.
func (l *layout) grow(t Table, least, full []int, limit int) {
	l.widths = pick(least, l.columns)
	if len(l.columns) == 1 {
		l.widths[0] = min(l.widths[0], limit)
	}
	need := func(i int) int {
		if t.Columns[l.columns[i]].Draw != nil {
			return 3 * l.widths[i]
		}
		return l.widths[i]
	}
	for left := limit - sum(l.widths); left > 0; left-- {
		narrow := -1
		for i, j := range l.columns {
			if l.widths[i] < full[j] && (narrow < 0 || need(i) < need(narrow)) {
				narrow = i
			}
		}
		if narrow < 0 {
			break
		}
		l.widths[narrow]++
	}
}

// relax spends what is still left on titles of fewer lines, where it is enough for all of them.
func (l *layout) relax(t Table, limit int) {
	for lines := 1; lines < 4; lines++ {
		widths := slices.Clone(l.widths)
		for i, j := range l.columns {
			for len(titleLines(t.Columns[j].Title, widths[i])) > lines {
				widths[i]++
			}
		}
		if sum(widths) <= limit {
			l.widths = widths
			return
		}
	}
}

// titleLines breaks a title into the lines that fit its column.
func titleLines(title string, to int) []string {
	if typeset.Width(title) <= to {
		return []string{title}
	}
	words := strings.Fields(title)
	for i, word := range words {
		words[i] = typeset.Shorten(word, to, 60)
	}
	return typeset.Wrap(strings.Join(words, " "), to)
}

// headlines are the columns that tables of queries are read for.
var headlines = []string{"flop", "share_ratio", "busy_ratio", "mfu_ratio", "mbu_ratio", "measured_ratio", "device_peak_ratio", "metric", "value", "live_bytes", "self_device_ns", "self_cpu_ns"}

// verdicts are the columns that say in a word what the figures come to.
var verdicts = []string{"bound", "limiter", "verdict", "cause", "stall"}

// What columns of queries are worth: identity stays longest, then what the figures come to, then what they are read for; spread, ids and what is the same in
// every row go first.
const (
	worthIdentity = 9
	worthVerdict  = 5
	worthFirst    = 4
	worthAnswer   = 3
	worthFigure   = 2
	worthMedian   = 1 // and a mean beside its median
	worthSpread   = 0
)

// rank says of the columns of a query's answer how long a narrow table keeps them.
func (t *Table) rank() {
	key := max(0, slices.IndexFunc(t.Columns, func(c Column) bool { return !c.Right }))
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	for j := range t.Columns {
		c := &t.Columns[j]
		words := strings.Split(c.Name, "_")
		has := func(any ...string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
		}
		switch {
		case j == key:
			c.Keep = worthIdentity
		case slices.Contains(verdicts, c.Name) && slices.ContainsFunc(t.Rows, func(row []Cell) bool { return !row[j].Null }):
			c.Keep = worthVerdict // the same in every row it is still the answer
		case len(t.Rows) > 3 && t.isConstant(j): // of a few rows that may be chance
			c.Keep = worthSpread
		case j < key:
			c.Keep = worthFirst
		case has("std", "min", "max", "pid", "tid", "source", "context"):
			c.Keep = worthSpread
		case has("alone") && !t.isEmpty(j):
			c.Keep = worthAnswer
		case twin(names, c.Name, "median", "mean") >= 0:
			c.Keep = worthFigure
		case has("median"), twin(names, c.Name, "mean", "median") >= 0:
			c.Keep = worthMedian
		case has("total") || slices.Contains(headlines, c.Name):
			c.Keep = worthAnswer
		default:
			c.Keep = worthFigure
		}
	}
}

// isEmpty reports whether a column is NULL in every row.
func (t Table) isEmpty(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []Cell) bool { return !row[column].Null })
}

func (t Table) isConstant(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[column].Text != t.Rows[0][column].Text })
}

// sum returns the width of a line of columns so wide.
func sum(widths []int) int {
	total := typeset.Gap * max(0, len(widths)-1)
	for _, w := range widths {
		total += w
	}
	return total
}

func pick(from, at []int) []int {
	out := make([]int, len(at))
	for i, j := range at {
		out[i] = from[j]
	}
	return out
}

// Fits reports whether a frame has room in a width with no column hidden and none cut.
func Fits(f *frame.Frame, limit int) bool {
	t, err := Of(f)
	if err != nil {
		return true // writing it says why
	}
	l := t.fit(limit)
	for i, j := range l.columns {
		if l.widths[i] < t.dataWidth(j) {
			return false
		}
	}
	return len(l.hidden) == 0
}

// Drawn is how wide the drawn column is in a width; 0 where it is hidden or there is none.
func (t Table) Drawn(limit int) int {
	l := t.fit(limit)
	for i, j := range l.columns {
		if t.Columns[j].Draw != nil {
			return l.widths[i]
		}
	}
	return 0
}
