package compare

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/judge/diff"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// samples are what a stage took on both sides, of which a judgement says more than it looks like. Places are from 0 to 1.
type samples struct {
	Title string       `json:"title"`
	Low   string       `json:"low"` // what stands at 0
	High  string       `json:"high"`
	Sides []sampleSide `json:"sides"`
}

type sampleSide struct {
	Name   string   `json:"name"`
	Centre float64  `json:"centre"`
	List   []sample `json:"list"`
}

type sample struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// stageSamples are the samples of the stages that have several.
func stageSamples(r *diff.Result) []samples {
	out := []samples{}
	for _, s := range judgedStages(r) {
		all := slices.Concat(s.A.Samples, s.B.Samples)
		if len(s.A.Samples) == 0 || len(s.B.Samples) == 0 || len(all) < 3 {
			continue
		}
		low, high := slices.Min(all), slices.Max(all)
		at := func(v float64) float64 { return (v - low) / cmp.Or(high-low, 1) }
		side := func(name string, centre float64, list []float64) sampleSide {
			return sampleSide{name, at(centre), typeset.Each(list, func(v float64) sample { return sample{at(v), typeset.Nanoseconds(v)} })}
		}
		out = append(out, samples{words.DiffStage(s.Name), typeset.Nanoseconds(low), typeset.Nanoseconds(high), []sampleSide{side("A", s.Comparison.A, s.A.Samples), side("B", s.Comparison.B, s.B.Samples)}})
	}
	return out
}

// samplesView are samples as a page draws them, a line a side.
type samplesView struct {
	Title, Low, High string
	Sides            []sideView
}

type sideView struct {
	Name, Class, Centre     string
	Top, Middle, Text, Base int
	Samples                 []sampleView
}

type sampleView struct{ X, Title string }

// samplesFigure draws samples.
func samplesFigure(list []samples) doc.Figure {
	return doc.Figure{Template: "samples-of-sides", Of: typeset.Each(list, func(s samples) samplesView {
		v := samplesView{Title: s.Title, Low: s.Low, High: s.High}
		for i, side := range s.Sides {
			middle := 12 + 24*i
			of := sideView{Name: side.Name, Class: fmt.Sprintf("series-%d", i), Centre: chart.Length(side.Centre), Top: middle - 8, Middle: middle, Text: middle + 4, Base: middle + 8}
			for n, x := range side.List {
				of.Samples = append(of.Samples, sampleView{chart.Length(x.At), fmt.Sprintf("%s, sample %d: %s", side.Name, n+1, x.Text)})
			}
			v.Sides = append(v.Sides, of)
		}
		return v
	})}
}
