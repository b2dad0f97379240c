package screen

import (
	"bytes"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// nameWidth is what a name is shortened to at most while other columns can go.
const nameWidth = 26

// ranking is a table of the first rows of a ranked query: names, a bar each, and figures.
type ranking struct {
	frame   *frame.Frame
	rows    [][]any
	columns []table.FitColumn
}

// newRanking begins a table of the first rows with names and with bars as long as the values of a column, the longest a whole bar.
func newRanking(f *frame.Frame, title, name, by string, most int, o typeset.Options) (*ranking, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	rows, err := f.Records(name, by)
	if err != nil {
		return nil, err
	}
	rows = rows[:min(most, len(rows))]
	t := &ranking{frame: f, rows: f.Rows[:len(rows)]}
	names, values, top := make([]string, len(rows)), make([]float64, len(rows)), 0.0
	for i, r := range rows {
		names[i] = typeset.Neutral(r.Text(name))
		values[i], _ = r.Finite(by)
		top = max(top, values[i])
	}
	if !o.Wide {
		names = typeset.PlainNames(names)
	}
	t.columns = []table.FitColumn{{Title: title, Cells: names, Least: nameWidth, Keep: 9}}
	if top > 0 {
		t.columns = append(t.columns, table.FitColumn{Draw: func(row, to int) string { return blocks(values[row]/top, to) }, Least: 6, Most: 40, Keep: 3})
	}
	return t, nil
}

// add appends a column, unless the query has none of that name or nothing in it.
func (t *ranking) add(title, column string, keep int) {
	at := t.frame.Index(column)
	if at < 0 {
		return
	}
	c := table.FitColumn{Title: title, Right: t.frame.Columns[at].Type != frame.Text, Keep: keep}
	some := false
	for _, row := range t.rows {
		cell := typeset.Null
		switch v := row[at].(type) {
		case nil:
		case string:
			cell = typeset.Neutral(v)
		default:
			cell = typeset.Value(t.frame.Columns[at], v)
		}
		some = some || cell != typeset.Null
		c.Cells = append(c.Cells, cell)
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

func (t *ranking) write(out *bytes.Buffer, o typeset.Options) {
	out.WriteByte('\n')
	table.WriteColumns(out, t.columns, len(t.rows), o)
}
