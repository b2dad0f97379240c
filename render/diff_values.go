package render

import (
	"prof/queries/judge/diff"
)

// values is the table of items that are no times: metrics of tools, each in a unit of its own.
func (g itemGroup) values(r *diff.Result) diffTable {
	t := diffTable{caption: g.heading(r), columns: []diffColumn{
		{name: "metric", title: "metric", doc: "as the tool names it", least: 30, keep: 9},
		{name: "a_value", pair: "sides", title: "A", doc: "value in A", right: true, keep: 8},
		{name: "b_value", pair: "sides", title: "B", doc: "value in B", right: true, keep: 8},
		{name: "unit", title: "unit", doc: "of values whose unit is the tool's own", least: 8, keep: 5},
		{name: "effect_ratio", title: "%", doc: "B over A less 1", right: true, keep: 7},
		{name: "p", title: "p", doc: "chance of a difference like this or larger without a change", right: true, keep: 2},
		{name: "verdict", title: "verdict", doc: "better, worse, no change or cannot tell", keep: 6},
	}}
	for _, i := range g.items {
		effect := diffCell{}
		if ratio := valueEffect(i); ratio != nil {
			effect = numberCell(signedPercent(*ratio), *ratio)
		}
		_, toolUnit := unitAmount(i.Unit, 0)
		t.rows = append(t.rows, []diffCell{
			{text: itemName(i), code: ofKernels(i)}, valueCell(i, i.A), valueCell(i, i.B), textCell(toolUnit), effect, chanceCell(i.Comparison), verdictCell(i.Verdict),
		})
	}
	return t.known()
}

func valueCell(i diff.Item, m diff.Measure) diffCell {
	switch {
	case m.Value != nil:
		text, _ := unitAmount(i.Unit, *m.Value)
		return numberCell(text, *m.Value)
	case isTime(i) && m.PerUnitNs != 0:
		return numberCell(nanoseconds(float64(m.PerUnitNs)), float64(m.PerUnitNs))
	}
	return diffCell{}
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
