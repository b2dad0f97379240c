package compare

import (
	"cmp"
	"slices"

	"prof/queries/judge/diff"
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
