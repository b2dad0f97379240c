package compare

import (
	"math"

	"prof/queries/judge/diff"
	"prof/render/table"
	"prof/render/typeset"
)

// absent reports whether that side has no such work.
func absent(i diff.Item, m diff.Measure) bool {
	return i.Status != diff.Both && m.Calls == 0 && m.PerUnitNs == 0
}

// timeCell is the time of one side; nothing where that side has no such work.
func timeCell(m diff.Measure, absent bool, s typeset.Scale) table.Cell {
	if absent {
		return table.Cell{}
	}
	return table.Number(timeIn(s, float64(m.ShownNs())), float64(m.ShownNs()))
}

func changeCell(ns int64, s typeset.Scale) table.Cell {
	if tooShort(s, float64(ns)) {
		return table.Number(timeIn(s, float64(ns)), float64(ns))
	}
	return table.Number(typeset.SignedAs(float64(ns), func(size float64) string { return s.Number(size) }), float64(ns))
}

// tooShort reports whether a time that is not 0 would be shown as 0 in the unit of a table.
func tooShort(s typeset.Scale, ns float64) bool {
	return ns != 0 && !typeset.Visible(math.Abs(ns)/s.Div, s.Decimals)
}

// timeIn shows a time in the unit of a table, and one that is too short for that by the shortest that can be shown.
func timeIn(s typeset.Scale, ns float64) string {
	if tooShort(s, ns) {
		return "<" + s.Number(s.Div*math.Pow10(-s.Decimals))
	}
	return s.Number(ns)
}

// statusCell is the change in percent, or in a word where one side has nothing.
func statusCell(i diff.Item) table.Cell {
	switch ratio := itemEffect(i); {
	case i.Status == diff.New, i.A.ShownNs() == 0 && i.B.ShownNs() != 0:
		return table.Cell{Text: "new"}
	case i.Status == diff.Removed, i.B.ShownNs() == 0 && i.A.ShownNs() != 0:
		return table.Cell{Text: "gone"}
	case ratio != nil:
		return table.Number(typeset.SignedPercent(*ratio), *ratio)
	}
	return table.Cell{}
}

// itemEffect is the change of an item as a share of its time in A; nil where A has none, or less than none, as what kernels share.
func itemEffect(i diff.Item) *float64 {
	if i.Delta == nil || i.A.ShownNs() == 0 || i.B.ShownNs() == 0 {
		return effectOf(i.Comparison)
	}
	if i.A.ShownNs() < 0 {
		return nil
	}
	ratio := float64(i.Shown().Ns) / float64(i.A.ShownNs())
	return &ratio
}

// shareOfStage is the change of an item as a share of its stage's time in A; nil where there is none.
func shareOfStage(g itemGroup, i diff.Item) *float64 {
	if g.stage == nil || i.Delta == nil {
		return nil
	}
	whole := g.stage.A.PerUnitNs
	if g.stage.A.TypicalNs != nil && i.A.TypicalNs != nil {
		whole = *g.stage.A.TypicalNs
	}
	if whole == 0 {
		return nil
	}
	ratio := float64(i.Shown().Ns) / float64(whole)
	return &ratio
}

func callsCell(i diff.Item) table.Cell {
	if i.A.Calls == 0 && i.B.Calls == 0 {
		return table.Cell{}
	}
	return table.Cell{Text: callsText(i.A, i.B)}
}

// meanCell is the duration of a call: mean and standard deviation.
func meanCell(m diff.Measure) table.Cell {
	if m.MeanNs == nil {
		return table.Cell{}
	}
	text := typeset.Nanoseconds(*m.MeanNs)
	if m.StdNs != nil {
		text += " ± " + typeset.Nanoseconds(*m.StdNs)
	}
	return table.Number(text, *m.MeanNs)
}

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
