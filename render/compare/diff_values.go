package compare

import (
	"prof/queries/judge/diff"
	"prof/render/table"
	"prof/render/typeset"
)

// values is the table of items that are no times: metrics of tools, each in a unit of its own.
func (g itemGroup) values(r *diff.Result) table.Table {
	t := table.Table{Caption: g.heading(r), Columns: []table.Column{
		{Name: "metric", Title: "metric", Doc: "as the tool names it", Least: 30, Keep: 9},
		{Name: "a_value", Pair: "sides", Title: "A", Doc: "value in A", Right: true, Keep: 8},
		{Name: "b_value", Pair: "sides", Title: "B", Doc: "value in B", Right: true, Keep: 8},
		{Name: "unit", Title: "unit", Doc: "of values whose unit is the tool's own", Least: 8, Keep: 5},
		{Name: "effect_ratio", Title: "%", Doc: "B over A less 1", Right: true, Keep: 7},
		{Name: "p", Title: "p", Doc: "chance of a difference like this or larger without a change", Right: true, Keep: 2},
		{Name: "verdict", Title: "verdict", Doc: "better, worse, no change or cannot tell", Keep: 6},
	}}
	for _, i := range g.items {
		effect := table.Cell{}
		if ratio := valueEffect(i); ratio != nil {
			effect = table.Number(typeset.SignedPercent(*ratio), *ratio)
		}
		_, toolUnit := unitAmount(i.Unit, 0)
		t.Rows = append(t.Rows, []table.Cell{
			{Text: itemName(i), Code: ofKernels(i)}, valueCell(i, i.A), valueCell(i, i.B), table.Text(toolUnit), effect, chanceCell(i.Comparison), verdictCell(i.Verdict),
		})
	}
	known, _ := t.Known()
	return known
}

func valueCell(i diff.Item, m diff.Measure) table.Cell {
	switch {
	case m.Value != nil:
		text, _ := unitAmount(i.Unit, *m.Value)
		return table.Number(text, *m.Value)
	case isTime(i) && m.PerUnitNs != 0:
		return table.Number(typeset.Nanoseconds(float64(m.PerUnitNs)), float64(m.PerUnitNs))
	}
	return table.Cell{}
}

// valueEffect is the relative change of a value; nil where a side has none, or A has 0.
func valueEffect(i diff.Item) *float64 {
	if i.A.Value == nil || i.B.Value == nil {
		return itemEffect(i)
	}
	if *i.A.Value == 0 {
		return nil
	}
	ratio := *i.B.Value / *i.A.Value - 1
	return &ratio
}
