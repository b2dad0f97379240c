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
	frame *frame.Frame
	rows  [][]any
	table table.Table
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
	t := &ranking{frame: f, rows: f.Rows[:len(rows)], table: table.Table{OneLine: true}}
	names, values, top := make([]string, len(rows)), make([]float64, len(rows)), 0.0
	for i, r := range rows {
		names[i] = typeset.Neutral(r.Text(name))
		values[i], _ = r.Finite(by)
		top = max(top, values[i])
	}
	t.table.Add(table.Column{Title: title, Least: nameWidth, Keep: 9, Kernels: name == "kernel"}, names)
	if top > 0 {
		t.table.Add(table.Column{Draw: func(row, to int) string { return blocks(values[row]/top, to) }, Least: 6, Most: 40, Keep: 3}, nil)
	}
	return t, nil
}

// add appends a column, unless the query has none of that name or nothing in it.
func (t *ranking) add(title, column string, keep int) {
	at := t.frame.Index(column)
	if at < 0 {
		return
	}
	cells := make([]string, len(t.rows))
	some := false
	for i, row := range t.rows {
		switch v := row[at].(type) {
		case nil:
			continue
		case string:
			cells[i] = typeset.Neutral(v)
		default:
			cells[i] = typeset.Value(t.frame.Columns[at], v)
		}
		some = true
	}
	if some {
		t.table.Add(table.Column{Title: title, Right: t.frame.Columns[at].Type != frame.Text, Keep: keep}, cells)
	}
}

func (t *ranking) write(out *bytes.Buffer, o typeset.Options) {
	out.WriteByte('\n')
	t.table.Write(out, o)
}
