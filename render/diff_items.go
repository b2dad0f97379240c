package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/diff"
)

// ofKernels says whether an item's name is one that a machine knows it by, and not words.
func ofKernels(i diff.Item) bool {
	return slices.Contains([]string{"kernel", "grid", "operator", "range", "metric"}, i.Kind)
}

// itemName is the name of an item, with grid and block where it is compared by these.
func itemName(i diff.Item) string {
	name := neutral(i.Name)
	if words := partNames[i.Kind+" "+i.Name]; words != "" {
		return words
	}
	if i.Grid != "" {
		name += " grid " + neutral(i.Grid)
	}
	if i.Block != "" {
		name += " block " + neutral(i.Block)
	}
	return name
}

// partNames say in words what the parts of a stage's time are that are no work of its own, by kind and name.
var partNames = map[string]string{
	"overlap overlap":   "overlap: work at the same time",
	"idle launch-bound": "idle: launching",
	"idle waiting":      "idle: CPU waits for the GPU",
	"idle CUDA calls":   "idle: in other CUDA calls",
	"idle host":         "idle: CPU outside CUDA",
	"idle between":      "idle: between steps",
	"idle profiler":     "idle: profiler at work",
	"idle queued":       "idle: launched, not started",
	"idle unknown":      "idle: launch not captured",
}

// isTime says whether an item is a time, and not the value of a metric.
func isTime(i diff.Item) bool { return i.Unit == "" || i.Unit == "ns" }

// leastOfScale is the share of the longest time of a table below which a time does not decide how all of them are shown.
const leastOfScale = 0.01

// itemScale is the one unit that the times of a table are shown in, and their decimals: those that the times that matter need.
func itemScale(items []diff.Item) scale {
	var values []float64
	for _, i := range items {
		values = append(values, float64(i.A.PerUnitNs), float64(i.B.PerUnitNs))
		if i.Delta != nil {
			values = append(values, float64(i.Delta.Ns))
		}
	}
	_, high := extent(values)
	values = slices.DeleteFunc(values, func(v float64) bool { return math.Abs(v) < high*leastOfScale })
	return scaleOf(frame.Column{Name: "total_ns", Type: frame.Int, Unit: frame.Ns}, values)
}

// title names a group: its stage, or the whole run.
func (g itemGroup) title() string {
	switch {
	case g.stage != nil:
		return diffStage(g.name)
	case g.name == "":
		return "whole run, warm-up included"
	}
	return diffStage(g.name) + " of the whole run, warm-up included"
}

// heading says what a table of items is of.
func (g itemGroup) heading(r *diff.Result) string {
	what := map[diff.Dimension]string{diff.ByFamily: "families of kernels", diff.ByGrid: "kernels by grid", diff.ByStage: "parts of GPU time", diff.ByOperator: "operators", diff.ByRange: "ranges", diff.ByMetric: "metrics"}[r.Options.By]
	if what == "" {
		what = "kernels and other parts of GPU time"
	}
	if r.Options.By == diff.ByMetric {
		return fmt.Sprintf("%s: metrics", g.title())
	}
	return fmt.Sprintf("%s: %s, %s, largest change first", g.title(), what, g.meanOf())
}

// unit is what the times of a group are for.
func (g itemGroup) unit() diff.Unit {
	if g.stage == nil {
		return diff.PerRun
	}
	return g.stage.Unit
}

// meanOf says that parts of a stage make up its mean, where stages themselves are judged by medians.
func (g itemGroup) meanOf() string {
	if g.stage == nil || g.name == outsideStages {
		return perUnit(g.unit())
	}
	return "mean of a " + string(g.unit())
}

// becameTitle is the title of the last column of items.
const becameTitle = "became"

// table is the table of the items of a group.
func (g itemGroup) table(r *diff.Result) diffTable {
	if slices.ContainsFunc(g.items, func(i diff.Item) bool { return !isTime(i) }) {
		return g.values(r)
	}
	s := itemScale(g.items)
	unit := " (" + s.name + ")"
	t := diffTable{caption: g.heading(r), columns: []diffColumn{
		{name: "name", title: string(cmp.Or(r.Options.By, diff.ByKernel)), doc: "what is compared", least: 24, keep: 12},
		{name: "a_per_unit_ns", pair: "sides", title: "A" + unit, doc: "time in A", right: true, keep: 10},
		{name: "b_per_unit_ns", pair: "sides", title: "B" + unit, doc: "time in B", right: true, keep: 10},
		{name: "delta_ns", title: "change" + unit, doc: "B less A", right: true, keep: 11},
		{name: "effect_ratio", title: "%", doc: "the change in percent of the time in A", right: true, keep: 9},
		{name: "stage_share_ratio", title: "of stage", doc: "the change in percent of the stage's time in A: these add up to the stage's change", right: true, keep: 5},
		{name: "calls", title: "calls", doc: "launches, in A and in B where they differ", right: true, keep: 7},
		{name: "count_ns", title: "by count", doc: "of the change: other number of calls, at the mean duration of A", right: true, keep: 4},
		{name: "duration_ns", title: "by duration", doc: "of the change: other mean duration, at the number of calls of A", right: true, keep: 4},
		{name: "interaction_ns", title: "by both", doc: "of the change: what number and duration make together", right: true, keep: 3},
		{name: "new_ns", title: "new or gone", doc: "of the change: what only one side has", right: true, keep: 3},
		{name: "a_mean_ns", pair: "call", title: "a call in A", doc: "mean duration of a call in A ± standard deviation", right: true, keep: 2},
		{name: "b_mean_ns", pair: "call", title: "a call in B", doc: "mean duration of a call in B ± standard deviation", right: true, keep: 2},
		{name: "p", title: "p", doc: "chance of a difference like this or larger without a change", right: true, keep: 1},
		{name: "verdict", title: "verdict", doc: "better, worse, no change or cannot tell", keep: 8},
		{name: "became", title: becameTitle, doc: "what took its place, or what it took the place of", least: 16, keep: 6},
	}}
	names := g.plain(itemName)
	for _, item := range g.items {
		t.rows = append(t.rows, itemRow(g, item, names[itemName(item)], s))
	}
	return t.known()
}

func itemRow(g itemGroup, i diff.Item, name string, s scale) []diffCell {
	d := i.Delta
	split := func(of func(d diff.Delta) int64) diffCell {
		if d == nil || of(*d) == 0 {
			return diffCell{}
		}
		return changeCell(of(*d), s)
	}
	change, percent := diffCell{}, statusCell(i)
	if d != nil {
		change = changeCell(d.Ns, s)
		change.tone = toneOf(i.Verdict)
	}
	share := diffCell{}
	if ratio := shareOfStage(g, i); ratio != nil {
		share = numberCell(signedShare(*ratio), *ratio)
	}
	return []diffCell{
		{text: name, code: ofKernels(i)},
		timeCell(i.A, absent(i, i.A), s), timeCell(i.B, absent(i, i.B), s),
		change, percent, share, callsCell(i),
		split(func(d diff.Delta) int64 { return d.CountNs }), split(func(d diff.Delta) int64 { return d.DurationNs }),
		split(func(d diff.Delta) int64 { return d.InteractionNs }), split(func(d diff.Delta) int64 { return d.NewNs + d.RemovedNs }),
		meanCell(i.A), meanCell(i.B), chanceCell(i.Comparison), verdictCell(i.Verdict), {text: becameText(g, i), code: true},
	}
}
