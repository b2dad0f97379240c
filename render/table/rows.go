package table

import (
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
)

// rowNumbers are the columns of figures whose unit stands in the row.
var rowNumbers = []string{"value", "mean", "median", "std", "min", "max"}

// scaleRows scales the rows of a frame of figures, each of a unit of its own: one that has a value, its mean, and a unit among the base
// units, which then says what the row is shown in. Metrics of other tools, which have a value alone, stay as they are.
func (t *Table) scaleRows(f *frame.Frame) {
	unit := f.Index("unit")
	if unit < 0 || f.Index("value") < 0 || f.Index("mean") < 0 {
		return
	}
	for i, row := range f.Rows {
		name, _ := row[unit].(string)
		base := frame.Unit(name)
		if len(typeset.Ladder(base)) < 2 {
			continue
		}
		var at []int
		var values []float64
		for j, c := range f.Columns {
			if v, ok := row[j].(float64); ok && c.Unit == frame.None && slices.Contains(rowNumbers, c.Name) {
				at, values = append(at, j), append(values, v)
			}
		}
		// The value decides the unit: a small deviation needs none of its own, but digits.
		s := typeset.ScaleOf(frame.Column{Type: frame.Float, Unit: base}, values[:min(1, len(values))])
		if _, high := typeset.Extent(values); high > 0 && s.Name != "" {
			s.Decimals = min(s.Needed(s.Smallest(values), high/s.Div), s.Exact(values))
		}
		for k, j := range at {
			t.Rows[i][j].Text = s.Number(values[k])
		}
		if len(at) > 0 {
			t.Rows[i][unit].Text = s.Name
		}
	}
}
