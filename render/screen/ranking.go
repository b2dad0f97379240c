package screen

import (
	"slices"

	"prof/queries/frame"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
)

// nameWidth is what a name is shortened to at most while other columns can go.
const nameWidth = 26

// ranking is a table of what takes most: names, a bar each, and figures.
type ranking[T any] struct {
	rows []T
	table.Table
}

// rank begins the table of some rows, with bars as long as one of their values, the longest a whole bar.
func rank[T any](rows []T, name table.Column, of func(T) string, by func(T) *float64) *ranking[T] {
	t := &ranking[T]{rows, table.Table{OneLine: true}}
	name.Least, name.Keep, name.Code = nameWidth, 9, name.Kernels
	t.Add(name, typeset.Each(rows, func(r T) string { return typeset.Neutral(of(r)) }))
	values := typeset.Each(rows, func(r T) float64 { v, _ := frame.Finite(by(r)); return v })
	if top := slices.Max(append(values, 0)); top > 0 {
		draw := func(row, to int) string { return blocks(values[row]/top, to) }
		t.Add(table.Column{Draw: draw, Least: 6, Most: 40, Keep: 3, Full: true}, doc.DrawnCells(len(rows), draw))
	}
	return t
}

// add appends a column, unless no row has anything in it.
func (t *ranking[T]) add(title string, isNumber bool, keep int, cell func(T) string) {
	cells := typeset.Each(t.rows, cell)
	if slices.ContainsFunc(cells, func(text string) bool { return text != "" }) {
		t.Add(table.Column{Title: title, Right: isNumber, Keep: keep}, cells)
	}
}

// percent and nanoseconds show a value, "" where it is not known.
func percent(v *float64) string     { return shown(v, typeset.Percent) }
func nanoseconds(v *float64) string { return shown(v, typeset.Nanoseconds) }

// shown shows a value, "" where it is not known.
func shown[T any](v *T, show func(T) string) string {
	if v == nil {
		return ""
	}
	return show(*v)
}
