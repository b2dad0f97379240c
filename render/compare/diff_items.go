package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
	"prof/schema/terms"
)

// ofKernels reports whether an item's name is one that a machine knows it by, and not words.
func ofKernels(i diff.Item) bool {
	return slices.Contains([]string{"kernel", "grid", "operator", "range", "metric", "node"}, i.Kind)
}

// itemName is the name of an item, with grid and block where it is compared by these.
func itemName(i diff.Item) string {
	name := typeset.Neutral(i.Name)
	switch cause, ok := terms.CauseNamed(i.Name); {
	case i.Kind == "overlap":
		return "overlap: concurrent work"
	case i.Kind == "idle" && ok:
		return "idle: " + cause.Label
	}
	if i.Grid != "" {
		name += " grid " + typeset.Neutral(i.Grid)
	}
	if i.Block != "" {
		name += " block " + typeset.Neutral(i.Block)
	}
	return name
}

// shapesText is the sizes of the inputs of a node, on both sides where they differ.
func shapesText(i diff.Item) string {
	shapes := cmp.Or(i.A.Shapes, i.B.Shapes)
	if i.B.Shapes != "" && i.B.Shapes != shapes {
		shapes += " → " + i.B.Shapes
	}
	return typeset.Neutral(shapes)
}

// isTime reports whether an item is a time, and not the value of a metric.
func isTime(i diff.Item) bool { return i.Unit == "" || i.Unit == "ns" }

// leastOfScale is the share of the longest time of a table below which a time does not decide how all of them are shown.
const leastOfScale = 0.01

// itemScale is the one unit that the times of a table are shown in, and their decimals: those that the times that matter need.
func itemScale(items []diff.Item) typeset.Scale {
	var values []float64
	for _, i := range items {
		values = append(values, float64(i.A.ShownNs()), float64(i.B.ShownNs()))
		if i.Delta != nil {
			values = append(values, float64(i.Shown().Ns))
		}
	}
	_, high := typeset.Extent(values)
	values = slices.DeleteFunc(values, func(v float64) bool { return math.Abs(v) < high*leastOfScale })
	return typeset.ScaleOf(frame.Column{Name: "total_ns", Type: frame.Int, Unit: frame.Ns}, values)
}

// title names a group: its stage, or the whole run.
func (g itemGroup) title() string {
	switch {
	case g.stage != nil, g.isTree() && g.name != "":
		return words.DiffStage(g.name)
	case g.isTree():
		return "whole run"
	case g.name == "":
		return "whole run, warm-up included"
	}
	return words.DiffStage(g.name) + " of the whole run, warm-up included"
}

// wholes say what the parts of a stage add up to, by the metric that it is judged by, and the title of the column of their shares.
var wholes = map[string]struct{ of, share string }{
	"gpu_span_ns": {"GPU time", "of stage"}, "cpu_ns": {"GPU time", "of stage"}, "interval_ns": {"GPU time", "of stage"}, "gpu_busy_ns": {"GPU busy time", "of busy time"}, "gpu_sum_ns": {"the sum of device work", "of sum"},
}

// heading returns what a table of items is of.
func (g itemGroup) heading(r *diff.Result) string {
	what := map[diff.Dimension]string{diff.ByKernel: "kernels and other ", diff.ByFamily: "kernel families and other ", diff.ByGrid: "kernels by grid and other ", diff.ByStage: "", diff.ByOperator: "operators", diff.ByRange: "ranges", diff.ByTree: "modules and operators"}[cmp.Or(r.Options.By, diff.ByKernel)]
	if g.isExcerpt {
		what = "operators that changed most"
	} else if addsUp(r.Options.By) {
		what += "parts of " + wholes[words.JudgedBy(r.Options)].of
	}
	if r.Options.By == diff.ByMetric {
		return fmt.Sprintf("%s: metrics", g.title())
	}
	if within := g.within(); within != "" {
		what += " in " + typeset.Neutral(strings.TrimSuffix(within, table.PathMark))
	}
	last := ", largest change first"
	switch {
	case g.isExcerpt:
		last = " (--by tree shows all)"
	case slices.ContainsFunc(g.items, func(i diff.Item) bool { return i.Places > 1 }):
		last += " (--unfold shows each place)"
	}
	return fmt.Sprintf("%s: %s, %s%s", g.title(), what, g.meanOf()+g.overGPUs(), last)
}

// isTree reports whether the items are modules and operators where they are called, of the measured passes of a stage.
func (g itemGroup) isTree() bool { return len(g.items) > 0 && g.items[0].Kind == "node" }

// unit is what the times of a group are for.
func (g itemGroup) unit() diff.Unit {
	switch {
	case g.isTree() && g.name == "steps":
		return diff.PerStep
	case g.isTree() && g.name != "" && g.name != outsideStages:
		return diff.PerPass
	case g.stage == nil:
		return diff.PerRun
	}
	return g.stage.Unit
}

// meanOf returns which unit the times of parts are of: medians, as stages are judged by, where there are three samples a side and more.
func (g itemGroup) meanOf() string {
	switch {
	case g.stage == nil && !g.isTree() || g.unit() == diff.PerRun:
		return perUnit(g.unit())
	case g.isMedian():
		return "median of a " + string(g.unit())
	case g.hasTypical() && max(g.stage.Comparison.NA, g.stage.Comparison.NB) >= 3 && !g.stage.Comparison.Paired:
		return "typical " + string(g.unit())
	}
	return "mean of a " + string(g.unit())
}

// overGPUs says of how many GPUs the times are added up; "" of one.
func (g itemGroup) overGPUs() string {
	if g.stage == nil || g.isTree() || g.stage.OverGPUs() == "" {
		return ""
	}
	return ", " + g.stage.OverGPUs()
}

// hasTypical reports whether times are of the centres of samples.
func (g itemGroup) hasTypical() bool {
	return g.stage != nil && g.stage.A.TypicalNs != nil && g.stage.B.TypicalNs != nil
}

// isMedian reports whether these are medians on both sides.
func (g itemGroup) isMedian() bool {
	return g.hasTypical() && min(g.stage.Comparison.NA, g.stage.Comparison.NB) >= 3 && !g.stage.Comparison.Paired
}

// within is the path that all items of a tree are inside of, with the mark behind it; "" for none.
func (g itemGroup) within() string {
	if !g.isTree() {
		return ""
	}
	shared := g.items[0].Name
	for _, i := range g.items {
		if i.Kind != "node" { // all others together
			continue
		}
		at := 0
		for {
			end := at + strings.Index(shared[at:], table.PathMark) + len(table.PathMark)
			if end < at+len(table.PathMark) || !strings.HasPrefix(i.Name, shared[:end]) {
				break
			}
			at = end
		}
		shared = shared[:at]
	}
	return shared
}

// leastOperator is how narrow the column of operators in their modules gets, at least.
const leastOperator = 38

// becameTitle is the title of the last column of items.
const becameTitle = "became"

// table is the table of the items of a group.
func (g itemGroup) table(r *diff.Result) table.Table {
	if slices.ContainsFunc(g.items, func(i diff.Item) bool { return !isTime(i) }) {
		return g.values(r)
	}
	s := itemScale(g.items)
	unit := " (" + s.Name + ")"
	t := table.Table{Caption: g.heading(r), Columns: []table.Column{
		{Name: "name", Title: string(cmp.Or(r.Options.By, diff.ByKernel)), Doc: "what is compared", Least: 24, Keep: 13, Kernels: slices.Contains([]diff.Dimension{"", diff.ByKernel, diff.ByGrid}, r.Options.By)},
		{Name: "a_per_unit_ns", Pair: "sides", Title: "A" + unit, Doc: "time in A", Right: true, Keep: 10},
		{Name: "b_per_unit_ns", Pair: "sides", Title: "B" + unit, Doc: "time in B", Right: true, Keep: 10},
		{Name: "delta_ns", Title: "change" + unit, Doc: "B less A", Right: true, Keep: 11},
		{Name: "effect_ratio", Title: "%", Doc: "the change in percent of the time in A", Right: true, Keep: 9},
		{Name: "stage_share_ratio", Title: wholes[words.JudgedBy(r.Options)].share, Doc: "the change in percent of the stage's time in A (of its " + wholes[words.JudgedBy(r.Options)].of + ")", Right: true, Keep: 5},
		{Name: "places", Title: "places", Doc: "in how many instances of the modules", Right: true, Keep: 10},
		{Name: "calls", Title: "calls", Doc: "launches, in A and in B where they differ", Right: true, Keep: 7},
		{Name: "count_ns", Title: "by count", Doc: "of the change: other number of calls, at the mean duration of A", Right: true, Keep: 4},
		{Name: "duration_ns", Title: "by duration", Doc: "of the change: other mean duration, at the number of calls of A", Right: true, Keep: 4},
		{Name: "interaction_ns", Title: "by both", Doc: "of the change: what number and duration make together", Right: true, Keep: 3},
		{Name: "new_ns", Title: "new or gone", Doc: "of the change: what only one side has", Right: true, Keep: 3},
		{Name: "a_mean_ns", Pair: "call", Title: "a call in A", Doc: "mean duration of a call in A ± standard deviation", Right: true, Keep: 2},
		{Name: "b_mean_ns", Pair: "call", Title: "a call in B", Doc: "mean duration of a call in B ± standard deviation", Right: true, Keep: 2},
		{Name: "p", Title: "p", Doc: "chance of a difference like this or larger without a change", Right: true, Keep: 1},
		{Name: "verdict", Title: "verdict", Doc: "better, worse, no change or cannot tell", Keep: 8},
		{Name: "how", Title: "how", Doc: "how it differs", Keep: 12},
		{Name: "became", Title: becameTitle, Doc: "what took its place, or what it took the place of", Least: 16, Keep: 6, Full: true},
		{Name: "shapes", Title: "shapes", Doc: "sizes of the inputs of the operator, where they differ of A and of B", Least: 16, Full: true},
	}}
	if g.isTree() {
		t.Columns[0].Title, t.Columns[0].Path, t.Columns[0].Full, t.Columns[0].Kernels = "operator", true, true, false
		t.Columns[0].Least = leastOperator
		became := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Title == becameTitle })
		t.Columns[became].Path = true
	}
	within := g.within()
	for _, item := range g.items {
		row := itemRow(g, item, s)
		row[0].Text = strings.TrimPrefix(row[0].Text, typeset.Neutral(within))
		for j, c := range t.Columns {
			if g.isExcerpt && !slices.Contains(excerptColumns, c.Name) {
				row[j] = table.Cell{}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	known, _ := t.Known()
	return known
}

// excerptColumns are those of the operators that changed most; the whole tree has more.
var excerptColumns = []string{"name", "a_per_unit_ns", "b_per_unit_ns", "delta_ns", "effect_ratio", "places", "calls", "verdict", "how", "became"}

// placesCell is in how many instances of modules a node is, where it is of several.
func placesCell(i diff.Item) table.Cell {
	if i.Places < 2 {
		return table.Cell{}
	}
	return table.Number(typeset.Int(int64(i.Places)), float64(i.Places))
}

func itemRow(g itemGroup, i diff.Item, s typeset.Scale) []table.Cell {
	d := i.Shown()
	split := func(of func(d diff.Delta) int64) table.Cell {
		if d == nil || of(*d) == 0 {
			return table.Cell{}
		}
		return changeCell(of(*d), s)
	}
	how := table.Cell{} // elsewhere with what it became
	if g.isTree() {
		how.Text = i.How
	}
	change, percent := table.Cell{}, statusCell(i)
	if d != nil {
		change = changeCell(d.Ns, s)
		change.Tone = words.ToneOf(i.Verdict)
	}
	share := table.Cell{}
	if ratio := shareOfStage(g, i); ratio != nil {
		share = table.Number(typeset.SignedShare(*ratio), *ratio)
	}
	return []table.Cell{
		{Text: itemName(i), Code: ofKernels(i)},
		timeCell(i.A, absent(i, i.A), s), timeCell(i.B, absent(i, i.B), s),
		change, percent, share, placesCell(i), callsCell(i),
		split(func(d diff.Delta) int64 { return d.CountNs }), split(func(d diff.Delta) int64 { return d.DurationNs }),
		split(func(d diff.Delta) int64 { return d.InteractionNs }), split(func(d diff.Delta) int64 { return d.NewNs + d.RemovedNs }),
		meanCell(i.A), meanCell(i.B), chanceCell(i.Comparison), verdictCell(i.Verdict), how, {Text: becameText(g, i), Code: true}, {Text: shapesText(i), Code: true},
	}
}
