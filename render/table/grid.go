package table

import (
	"fmt"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// grid is a Frame as people read it: scaled and rounded, with nothing in a cell that could move a cursor, but not yet
// shortened or escaped. The table and Markdown forms both paint it.
type grid struct {
	columns []head
	rows    [][]string
	nulls   [][]bool
}

// head is the header of one column of a grid.
type head struct {
	frame.Column
	words []string // of the title, the unit in parentheses last: gpu span (ms)
	right bool     // aligned right
}

func (h head) title() string { return strings.Join(h.words, " ") }

// newGrid scales and rounds a copy of the Frame's values.
func NewGrid(f *frame.Frame) (*grid, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	g := &grid{rows: make([][]string, len(f.Rows)), nulls: make([][]bool, len(f.Rows))}
	for i := range f.Rows {
		g.rows[i] = make([]string, len(f.Columns))
		g.nulls[i] = make([]bool, len(f.Columns))
	}
	for j, c := range f.Columns {
		s := typeset.ScaleOf(c, numbers(f, j))
		numeric := c.Type == frame.Int || c.Type == frame.Float
		g.columns = append(g.columns, head{c, words(c, s.Name), numeric})
		for i, row := range f.Rows {
			g.rows[i][j], g.nulls[i][j] = cell(row[j], s), row[j] == nil
		}
	}
	g.scaleRows(f)
	return g, nil
}

// numbers gives the numeric values of a column.
func numbers(f *frame.Frame, column int) []float64 {
	values := make([]float64, 0, len(f.Rows))
	for _, row := range f.Rows {
		switch v := row[column].(type) {
		case int64:
			values = append(values, float64(v))
		case float64:
			values = append(values, v)
		}
	}
	return values
}

func cell(v any, s typeset.Scale) string {
	switch v := v.(type) {
	case nil:
		return typeset.Null
	case string:
		return typeset.Neutral(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int64, float64:
		return s.Number(v)
	}
	return typeset.Neutral(fmt.Sprint(v))
}

// words splits a column's name into the words of its title and puts the unit it is shown in last: total_ns shown in ms is
// "total (ms)". An expression is one word, as typed.
func words(c frame.Column, unit string) []string {
	name := typeset.Neutral(c.Name)
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' || r != '_' && !typeset.IsWord(byte(r)) }) {
		return withUnit([]string{name}, unit)
	}
	if c.Unit != frame.Count && c.Unit != frame.None {
		name = strings.TrimSuffix(name, "_"+string(c.Unit))
	}
	return withUnit(strings.FieldsFunc(name, func(r rune) bool { return r == '_' }), unit)
}

func withUnit(words []string, unit string) []string {
	if unit == "" || len(words) == 1 && strings.EqualFold(words[0], unit) {
		return words
	}
	return append(words, "("+unit+")")
}
