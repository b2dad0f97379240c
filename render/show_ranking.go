package render

import (
	"bytes"
	"math"

	"prof/queries/frame"
)

// nameWidth is what a name is shortened to at most while other columns can go.
const nameWidth = 26

// ranking is a table of the first rows of a ranked query: names, a bar each, and figures.
type ranking struct {
	frame   *frame.Frame
	rows    [][]any
	columns []screenColumn
}

// newRanking begins a table of the first rows with names and with bars as long as the values of a column, the longest a whole bar.
func newRanking(f *frame.Frame, title, name, by string, most int, o Options) (*ranking, error) {
	if err := check(f); err != nil {
		return nil, err
	}
	at, err := columnsOf(f, name, by)
	if err != nil {
		return nil, err
	}
	t := &ranking{frame: f, rows: f.Rows[:min(most, len(f.Rows))]}
	names, values, top := make([]string, len(t.rows)), make([]float64, len(t.rows)), 0.0
	for i, row := range t.rows {
		text, _ := row[at[name]].(string)
		names[i] = neutral(text)
		values[i] = barLength(row[at[by]])
		top = max(top, values[i])
	}
	if !o.Wide {
		names = plainNames(names)
	}
	t.columns = []screenColumn{{title: title, cells: names, least: nameWidth, keep: 9}}
	if top > 0 {
		t.columns = append(t.columns, screenColumn{draw: func(row, to int) string { return blocks(values[row]/top, to) }, least: 6, most: 40, keep: 3})
	}
	return t, nil
}

// barLength is a number as such; 0 for NULL and for what no bar can be as long as.
func barLength(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case float64:
		if !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n
		}
	}
	return 0
}

// add appends a column, unless the query has none of that name or nothing in it.
func (t *ranking) add(title, column string, keep int) {
	at := t.frame.Index(column)
	if at < 0 {
		return
	}
	c := screenColumn{title: title, right: t.frame.Columns[at].Type != frame.Text, keep: keep}
	some := false
	for _, row := range t.rows {
		cell := null
		switch v := row[at].(type) {
		case nil:
		case string:
			cell = neutral(v)
		default:
			cell = alone(t.frame.Columns[at], v)
		}
		some = some || cell != null
		c.cells = append(c.cells, cell)
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

func (t *ranking) write(out *bytes.Buffer, o Options) {
	out.WriteByte('\n')
	writeScreenTable(out, t.columns, len(t.rows), o)
}
