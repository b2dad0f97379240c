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
