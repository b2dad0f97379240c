package compare

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/judge/diff"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/typeset"
)

// samplesView are what a stage took on both sides, of which a judgement says more than it looks like: a line a side.
type samplesView struct {
	Title string     `json:"title"`
	Low   string     `json:"low"` // what stands at the left edge
	High  string     `json:"high"`
	Sides []sideView `json:"sides"`
}

type sideView struct {
	Name    string       `json:"name"`
	Class   string       `json:"class"`
	Centre  string       `json:"centre"`
	Top     int          `json:"top"`
	Middle  int          `json:"middle"`
	Text    int          `json:"text"`
	Base    int          `json:"base"`
	Samples []sampleView `json:"samples"`
}

type sampleView struct {
	X     string `json:"x"`
	Title string `json:"title"`
}

// samplesFigure draws the samples of the stages that have several.
func samplesFigure(r *diff.Result) doc.Figure {
	views := []samplesView{}
	for _, s := range judgedStages(r) {
		all := slices.Concat(s.A.Samples, s.B.Samples)
		if len(s.A.Samples) == 0 || len(s.B.Samples) == 0 || len(all) < 3 {
			continue
		}
		low, high := slices.Min(all), slices.Max(all)
		x := func(v float64) string { return chart.Length((v - low) / cmp.Or(high-low, 1)) }
		v := samplesView{Title: sampledStage(s), Low: typeset.Nanoseconds(low), High: typeset.Nanoseconds(high)}
		for i, side := range []struct {
			name   string
			centre float64
			list   []float64
		}{{"A", s.Comparison.A, s.A.Samples}, {"B", s.Comparison.B, s.B.Samples}} {
			middle := 12 + 24*i
			of := sideView{Name: side.name, Class: fmt.Sprintf("series-%d", i), Centre: x(side.centre), Top: middle - 8, Middle: middle, Text: middle + 4, Base: middle + 8}
			for n, ns := range side.list {
				of.Samples = append(of.Samples, sampleView{x(ns), fmt.Sprintf("%s, sample %d: %s", side.name, n+1, typeset.Nanoseconds(ns))})
			}
			v.Sides = append(v.Sides, of)
		}
		views = append(views, v)
	}
	return doc.Figure{Template: "samples-of-sides", Of: views}
}
