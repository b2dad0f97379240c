package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// Sampled is what two sides have of each stage, for callers that compare figures of their own choice by the samples, units and tests that
// Runs uses.
type Sampled struct {
	c     *comparer
	index map[string]*stagePair
	known surroundings
}

// Sample reads the facts of the runs of both sides. Of the options it takes those of statistics.
func Sample(ctx context.Context, asker frame.Asker, a, b Side, o Options) (*Sampled, error) {
	o, err := o.whole()
	if err != nil {
		return nil, err
	}
	known, err := surround(ctx, asker, a, b, o)
	if err != nil {
		return nil, err
	}
	return sample(ctx, asker, a, b, known)
}

// SampleOne is Sample of one side alone, which stands on both: what its figures are for does not depend on another.
func SampleOne(ctx context.Context, asker frame.Asker, side Side) (*Sampled, error) {
	return sample(ctx, asker, side, side, surroundings{})
}

func sample(ctx context.Context, asker frame.Asker, a, b Side, known surroundings) (*Sampled, error) {
	runs, _, err := load(ctx, asker, slices.Concat(a.Runs, b.Runs), "") // together: they share names
	if err != nil {
		return nil, err
	}
	foldSums(runs[:len(a.Runs)], runs[len(a.Runs):])
	sideA, sideB, err := gatherSides(runs[:len(a.Runs)], runs[len(a.Runs):], "")
	if err != nil {
		return nil, err
	}
	s := &Sampled{c: newComparer(sideA, sideB, Options{}), index: map[string]*stagePair{}, known: known}
	s.c.learn(known)
	for _, stage := range s.c.stages {
		s.index[stage.name] = stage
	}
	return s, nil
}

// Stages names the stages of either side, in the order of a Result: "" is all device work of runs without stages, and "(none)" the work
// outside of stages.
func (s *Sampled) Stages() []string {
	var out []string
	for _, stage := range s.c.stages {
		out = append(out, stage.name)
	}
	return out
}

// Has reports which of the sides have measured passes of a stage.
func (s *Sampled) Has(stage string) (a, b bool) {
	p := s.index[stage]
	if p == nil {
		return false, false
	}
	return len(p.a.groups) > 0, len(p.b.groups) > 0
}

// NotWhole returns what a side did not record of any of the stages; "" when nothing is known to be missing.
func (s *Sampled) NotWhole(stages ...string) (a, b string) {
	for _, stage := range stages {
		if p := s.index[stage]; p != nil {
			a, b = cmp.Or(a, p.a.notWhole), cmp.Or(b, p.b.notWhole)
		}
	}
	return a, b
}

// WholeGraphs reports which of the sides have CUDA graphs among the measured work of any of the stages that were traced as a whole: which kernels ran
// in them, and how many, nobody knows.
func (s *Sampled) WholeGraphs(stages ...string) (a, b bool) {
	for _, stage := range stages {
		if p := s.index[stage]; p != nil {
			a, b = a || p.a.wholeGraphs(), b || p.b.wholeGraphs()
		}
	}
	return a, b
}

// Noise is how much runs of the same thing vary in a metric of a stage; nil when nothing tells.
func (s *Sampled) Noise(stage, metric string) *stats.Noise {
	n := s.known.noise(stage, spanOf(metric))
	if p := s.index[stage]; p != nil {
		return p.usable(n)
	}
	return n
}

// Figure is a figure of a stage on both sides: one value a sample.
type Figure struct {
	Unit  Unit   // what values are for
	Level string // what samples are: passes, steps, repeats or runs
	A, B  []float64
	// NoMeasure says why the sides' values are not to be compared; "" where they are.
	NoMeasure string
	pair      *stagePair
	kind      figureKind
	lines     []pair // of kernels: what they are by grid
}

// Compare compares the sides by the test that fits what the samples are.
func (f Figure) Compare(o stats.Options) stats.Comparison {
	if f.kind == itemFigure {
		return f.pair.compareItem(f.lines, f.A, f.B, o, max(1, o.Comparisons))
	}
	return f.pair.compare(f.kind, f.A, f.B, o, max(1, o.Comparisons))
}

// Metric returns a figure of a stage that one of the sides has, by the name of its measure (see StageMeasures). Passes of which it is not known have no
// value. Rates are for no unit.
func (s *Sampled) Metric(stage, metric string) Figure {
	p := s.index[stage]
	m, _ := measureOf(metric)
	f := p.sampled()
	f.kind = m.kind
	f.A, f.B = p.figure(m.Name, p.a), p.figure(m.Name, p.b)
	if m.kind == rateFigure {
		f.Unit = ""
	}
	return f
}

func (s *stagePair) sampled() Figure {
	f := Figure{Unit: s.unit, Level: s.samplesText(), pair: s}
	if s.unlike != 0 {
		f.NoMeasure = noMeasure(s.unlike)
	}
	return f
}

func (s *stagePair) launches(x *stageSide) []float64 {
	return x.values(s.level, func(i int) *float64 {
		if x.groups[i].kernels == nil {
			return nil
		}
		return new(float64(*x.groups[i].kernels) / float64(unitsIn(x.groups[i], s.tokens)))
	})
}

// KernelFigures are the figures of kernels taken together. Passes in which none of them ran have no mean.
type KernelFigures struct{ Mean, Total, Calls Figure }

// Kernels returns the figures of those kernels of a stage whose name matches: ns of a launch, ns and launches for one unit.
func (s *Sampled) Kernels(stage string, match func(name string) bool) KernelFigures {
	p := s.index[stage]
	out := KernelFigures{p.sampled(), p.sampled(), p.sampled()}
	out.Mean.Unit, out.Mean.NoMeasure = "", ""
	out.Mean.kind, out.Total.kind = itemFigure, itemFigure
	lines := slices.DeleteFunc(pairs(p.a, p.b, ByGrid), func(l pair) bool { return l.key.kind != "kernel" || !match(l.key.name) })
	out.Mean.lines, out.Total.lines = lines, lines
	out.Mean.A, out.Total.A, out.Calls.A = p.kernels(p.a, func(l pair) *amount { return l.a }, match)
	out.Mean.B, out.Total.B, out.Calls.B = p.kernels(p.b, func(l pair) *amount { return l.b }, match)
	return out
}

func (s *stagePair) kernels(x *stageSide, side func(pair) *amount, match func(name string) bool) (mean, total, calls []float64) {
	ns, launches := make([]int64, len(x.groups)), make([]int64, len(x.groups))
	for _, l := range s.fine {
		a := side(l)
		if a == nil || l.key.kind != "kernel" || !match(l.key.name) {
			continue
		}
		for i := range a.groups {
			ns[i] += a.groups[i]
			launches[i] += a.calls[i]
		}
	}
	mean = x.values(s.level, func(i int) *float64 {
		if launches[i] == 0 {
			return nil
		}
		return new(float64(ns[i]) / float64(launches[i]))
	})
	perUnit := func(of []int64) []float64 {
		return x.values(s.level, func(i int) *float64 { return new(float64(of[i]) / float64(unitsIn(x.groups[i], s.tokens))) })
	}
	return mean, perUnit(ns), perUnit(launches)
}

// KernelNames names the kernels of some stages by side, those that take most time first.
func (s *Sampled) KernelNames(stages ...string) (a, b []string) {
	inA, inB := map[string]int64{}, map[string]int64{}
	for _, stage := range stages {
		if s.index[stage] == nil {
			continue
		}
		for _, l := range s.index[stage].fine {
			if l.key.kind != "kernel" {
				continue
			}
			for side, at := range map[*amount]map[string]int64{l.a: inA, l.b: inB} {
				if side != nil {
					at[l.key.name] += side.tally.total
				}
			}
		}
	}
	return byTime(inA), byTime(inB)
}

func byTime(ns map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(ns), func(x, y string) int { return cmp.Or(cmp.Compare(ns[y], ns[x]), cmp.Compare(x, y)) })
}

// sumMetric is what runs without a timeline are judged by: nothing else is known of their time.
const sumMetric = "gpu_sum_ns"

// bySums compares all device work of the runs as one sum each, where one of them has nothing else: what a stage or a warm-up has of that is not
// known.
func (r *Result) bySums(a, b []runData) {
	if r.Options.Stage != "" {
		return
	}
	named := foldSums(a, b)
	if len(named) == 0 {
		return
	}
	if r.Options.Metric == spanMetric {
		r.Options.Metric = sumMetric
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s: a tool added up all GPU work, so the sides are compared by the sum of all GPU work, warm-up included; stages and idle time are unknown, and a single sum shows no noise", strings.Join(named, ", ")))
}

// foldSums makes one sum of all that each run has, where one of them has nothing else, and names those.
func foldSums(a, b []runData) (named []string) {
	for _, d := range slices.Concat(a, b) {
		if d.isSum && !slices.Contains(named, d.run.Name) {
			named = append(named, d.run.Name)
		}
	}
	for _, runs := range [][]runData{a, b} {
		for i := range runs {
			if len(named) > 0 {
				runs[i].fold()
			}
		}
	}
	return named
}

// fold makes one sum of all that a run has.
func (d *runData) fold() {
	whole := pass{number: 1, repeat: 1, isSum: true, kernels: new(int64)}
	if len(d.passes) > 0 {
		whole.source = d.passes[0].source
	}
	for i := range d.work {
		w := &d.work[i]
		w.stage, w.number, w.repeat, w.isWarmup = "", 1, 1, false
		whole.sum += w.tally.total
		switch w.kind {
		case "kernel":
			whole.kernels = plus(whole.kernels, &w.tally.calls)
		case "graph":
			whole.kernels = nil
		}
	}
	d.steps, d.passes = nil, []pass{whole}
}
