package diff

import (
	"cmp"
	"maps"
	"slices"

	"prof/queries/judge"
	"prof/queries/judge/stats"
)

// comparer compares what two sides have of each stage.
type comparer struct {
	options Options
	stages  []*stagePair // in the order of Result.Stages
}

// stagePair is a stage on both sides; a side that has none of it has no groups.
type stagePair struct {
	name       string
	metric     string // what its parts add up to, and it is judged by unless the CPU paces it
	paced      bool   // passes begin further apart than their work on the GPU takes, on either side
	a, b       *stageSide
	unit       Unit
	tokens     func(group) *int64 // nil unless unit is PerToken
	level      level
	fine       []pair // by kernel
	moves      map[lineKey]move
	host       stats.Noise  // how much a stage differs between processes that the host bounds
	unprofiled [2][]float64 // times without a profiler of both sides, one of a recording, ns
	paired     bool         // pass i of one side does the work of pass i of the other, and other passes do other work
	unlike     float64      // of all device work: how many times the work of A is that of B, where their times compare nothing; else 0
}

func newComparer(a, b map[string]*stageSide, o Options) *comparer {
	c := &comparer{options: o}
	for _, name := range namesIn(a, b) {
		s := &stagePair{name: name, metric: o.Metric, a: cmp.Or(a[name], newStageSide()), b: cmp.Or(b[name], newStageSide())}
		s.unit, s.tokens = unitOf(name, s.a, s.b)
		if name == "" && s.both() {
			s.unlike = unlike(s.a, s.b)
		}
		s.level = levelOf(s.a, s.b)
		s.paired = pairedPasses(s.a, s.b)
		s.paced = s.isPaced()
		s.host = assumedHost
		s.fine = pairs(s.a, s.b, ByKernel)
		s.moves = s.match(s.fine)
		c.stages = append(c.stages, s)
	}
	slices.SortFunc(c.stages, func(x, y *stagePair) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(y.a.total(spanMetric), x.a.total(spanMetric)), cmp.Compare(y.b.total(spanMetric), x.b.total(spanMetric)), cmp.Compare(x.name, y.name))
	})
	return c
}

// namesIn returns the names of either side, sorted.
func namesIn[T any](a, b map[string]T) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// rank puts stages of both sides first, then those of one; work outside stages comes last.
func (s *stagePair) rank() int {
	switch {
	case s.name == outside:
		return 2
	case !s.both():
		return 1
	}
	return 0
}

// samplesText names what the samples are.
func (s *stagePair) samplesText() string {
	if s.level == byPass && s.unit == PerStep {
		return "steps"
	}
	return string(s.level)
}

// compares reports whether the times of the sides compare the same work.
func (s *stagePair) compares() bool {
	return s.both() && s.name != outside && s.unlike == 0 && s.notWhole() == ""
}

// notWhole returns what either side did not record; "" when nothing is known to be missing.
func (s *stagePair) notWhole() string { return cmp.Or(s.a.notWhole, s.b.notWhole) }

func (s *stagePair) both() bool { return len(s.a.groups) > 0 && len(s.b.groups) > 0 }

// compare is the comparison of samples that fits what they are, as one of so many.
func (s *stagePair) compare(what figureKind, a, b []float64, o stats.Options, among int) stats.Comparison {
	o.Comparisons, o.Exact = among, what == countFigure
	if o.Noise == nil || o.Noise.DF == 0 { // the user said how much, and nothing else is known of the workload
		o.Noise = o.Noise.Over(s.alone(what))
	}
	if s.level == byPass {
		o.Paired = s.paired && len(a) == len(s.a.groups) && len(b) == len(s.b.groups)
		return stats.Compare(a, b, o)
	}
	return stats.CompareRuns(a, b, o)
}

// side returns what a side has of the stage, but for samples.
func (s *stagePair) side(x *stageSide) StageSide {
	out := StageSide{Passes: int64(len(x.groups)), Warmups: int64(len(x.warmups)), Units: x.units(s.tokens), TimeNs: x.total(s.metric), Launches: new(int64)}
	if out.Units > 0 {
		out.PerUnitNs = divided(out.TimeNs, out.Units)
	}
	out.TypicalNs = s.whole(x, s.metric)
	tokens := s.tokens
	if tokens == nil {
		tokens = tokensOf(s.name, x)
	}
	if tokens != nil {
		out.Tokens = new(x.units(tokens))
	}
	for _, g := range x.groups {
		out.GPUs = max(out.GPUs, g.gpus)
		out.Launches = plus(out.Launches, g.kernels)
	}
	return out
}

// metricOf returns a stage's metric for one unit, by name.
func (s *stagePair) metricOf(name string, x *stageSide) []float64 {
	return x.values(s.level, func(i int) *float64 {
		g := x.groups[i]
		value := g.metric(name)
		if value == nil {
			return nil
		}
		return new(*value / float64(unitsIn(g, s.tokens)))
	})
}

func (g group) metric(name string) *float64 {
	switch name {
	case "gpu_busy_ns":
		if g.isSum {
			return nil
		}
		return new(float64(g.busy))
	case idleMetric:
		if g.isSum || g.isUntimed || g.span == nil {
			return nil
		}
		return new(float64(g.time - g.parts.work - g.parts.other))
	case "gpu_sum_ns":
		return new(float64(g.sum))
	case "cpu_ns":
		return g.cpu
	case intervalMetric:
		return g.interval
	}
	return g.span
}

// isPaced reports whether the passes of both sides follow each other and those of one begin further apart than their work on the GPU takes: how fast they
// follow is what users see then, and the GPU does not say it.
func (s *stagePair) isPaced() bool {
	paces := false
	for _, x := range []*stageSide{s.a, s.b} {
		intervals := s.metricOf(intervalMetric, x)
		if len(intervals) < 2 && s.level == byPass || len(intervals) == 0 {
			return false
		}
		paces = paces || stats.Centre(intervals) > (1+judge.Repeatability)*stats.Centre(s.metricOf(spanMetric, x))
	}
	return paces
}

// judgedBy is what the stage is judged by.
func (s *stagePair) judgedBy(o Options) string {
	if s.paced && o.paced {
		return intervalMetric
	}
	return o.Metric
}

// tokenTime returns the time for one token of each sequence: of a stage that decodes, by its steps.
func (s *stagePair) tokenTime(x *stageSide) []float64 {
	if s.name == "prefill" || slices.ContainsFunc(x.groups, func(g group) bool { return g.steps == nil || *g.steps <= 0 }) {
		return nil
	}
	return x.values(s.level, func(i int) *float64 {
		g := x.groups[i]
		if g.span == nil {
			return nil
		}
		return new(*g.span / float64(*g.steps))
	})
}

// tokenRate returns tokens a second of GPU span.
func (s *stagePair) tokenRate(x *stageSide) []float64 {
	tokens := tokensOf(s.name, x)
	if tokens == nil {
		return nil
	}
	return x.values(s.level, func(i int) *float64 {
		g := x.groups[i]
		if g.span == nil || *g.span <= 0 {
			return nil
		}
		return new(1e9 * float64(*tokens(g)) / *g.span)
	})
}
