package diff

import (
	"fmt"
	"math"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/stats"
)

// verdictOf tells from the direction of a change whether it is one to the better.
func verdictOf(c stats.Comparison, lessIsBetter bool) Verdict {
	switch {
	case c.Verdict == stats.NoChange:
		return NoChange
	case c.Verdict == stats.CannotTell:
		return CannotTell
	case (c.B < c.A) == lessIsBetter:
		return Better
	}
	return Worse
}

// judged is one of the comparisons that are judged together, so that the chance to call any noise among them a change is Alpha.
type judged struct {
	at      *stats.Comparison
	options stats.Options
	verdict *Verdict
	less    bool
}

func judgeAll(list []judged) {
	p := make([]*float64, len(list))
	for i, j := range list {
		p[i] = j.at.P
	}
	for i, adjusted := range stats.Holm(p) {
		*list[i].at = stats.Judge(*list[i].at, adjusted, list[i].options)
		*list[i].verdict = verdictOf(*list[i].at, list[i].less)
	}
}

// judgeStages compares the stages by the metric that they are judged by, and by the others.
func (c *comparer) judgeStages(out []Stage, noise func(stage, metric string) *stats.Noise) {
	// What is certain of GPU work, and without a profiler, is a question of its own each: other figures must not make it less so.
	var main, paces, works, unprofiled, more []judged
	measured := 0
	for _, s := range c.stages {
		if s.compares() {
			measured++
		}
	}
	for i, s := range c.stages {
		st, by := &out[i], s.judgedBy(c.options)
		st.Metric = by
		st.A.Samples, st.B.Samples = s.metricOf(by, s.a), s.metricOf(by, s.b)
		st.A.Std, st.B.Std = std(st.A.Samples), std(st.B.Samples)
		if !s.compares() {
			a, b := st.A.Samples, st.B.Samples
			st.Comparison = stats.Comparison{NA: len(a), NB: len(b), A: stats.Centre(a), B: stats.Centre(b), Verdict: stats.CannotTell, Why: s.whyNot()}
			st.Verdict = CannotTell
			continue
		}
		o := c.statsFor(s, by, noise)
		st.Comparison = s.compare(kindOf(by), st.A.Samples, st.B.Samples, o, measured)
		main = append(main, judged{&st.Comparison, o, &st.Verdict, true})
		st.More = s.more(by)
		if m := s.judgeUnprofiled(c.options.Stats, measured); m != nil {
			st.More = append(st.More, *m)
		}
		for k := range st.More {
			m := &st.More[k]
			o := c.statsFor(s, m.Name, noise)
			if m.Name == aloneMetric {
				unprofiled = append(unprofiled, judged{&m.Comparison, o, &m.Verdict, true})
				continue
			}
			a, b := s.figure(m.Name, s.a), s.figure(m.Name, s.b)
			if m.Name == busyMetric {
				m.Comparison = s.compare(workFigure, a, b, o, measured)
				works = append(works, judged{&m.Comparison, o, &m.Verdict, true})
				continue
			}
			if s.paced && (m.Name == spanMetric || m.Name == intervalMetric) {
				m.Comparison = s.compare(kindOf(m.Name), a, b, o, measured)
				paces = append(paces, judged{&m.Comparison, o, &m.Verdict, true})
				continue
			}
			m.Comparison = s.compare(kindOf(m.Name), a, b, o, measured*(len(StageMeasures)-3))
			more = append(more, judged{&m.Comparison, o, &m.Verdict, m.LessIsBetter})
		}
	}
	judgeAll(main)
	judgeAll(paces)
	judgeAll(works)
	judgeAll(unprofiled)
	judgeAll(more)
	for i := range out {
		out[i].rateFollows()
	}
}

func (s *stagePair) whyNot() string {
	switch {
	case s.notWhole() != "":
		return s.notWhole()
	case len(s.a.groups) == 0 && len(s.b.groups) == 0:
		return "neither side has a measured pass"
	case len(s.a.groups) == 0:
		return "only in B"
	case len(s.b.groups) == 0:
		return "only in A"
	case s.unlike != 0:
		return noMeasure(s.unlike)
	}
	return "not judged: it may be different work"
}

func (s *stagePair) figure(name string, x *stageSide) []float64 {
	switch name {
	case tokenRateName:
		return s.tokenRate(x)
	case tokenTimeName:
		return s.tokenTime(x)
	case launchesName:
		return s.launches(x)
	}
	return s.metricOf(name, x)
}

// more lists the other figures that both sides have of a stage.
func (s *stagePair) more(but string) []Metric {
	var out []Metric
	for _, m := range StageMeasures {
		if m.Name != but && (m.Name != intervalMetric || s.paced) && m.kind != countFigure && len(s.figure(m.Name, s.a)) > 0 && len(s.figure(m.Name, s.b)) > 0 {
			out = append(out, Metric{Name: m.Name, Unit: m.Unit, LessIsBetter: m.LessIsBetter})
		}
	}
	return out
}

// spanOf is what a measure varies as: what is counted in tokens as the span that it is from.
func spanOf(metric string) string {
	if m := Canonical(metric); kindOf(m) != rateFigure {
		return m
	}
	return spanMetric
}

// statsFor returns what counts as a change of a stage's metric.
func (c *comparer) statsFor(s *stagePair, metric string, noise func(stage, metric string) *stats.Noise) stats.Options {
	o := c.options.Stats
	o.Noise = o.Noise.Over(s.usable(noise(s.name, spanOf(metric))))
	return o
}

// leastFreedom are the degrees of freedom that the noise between runs must be known with to be a floor for passes: at two, as of three
// runs, a difference of up to 14 of its standard deviations would count as none.
const leastFreedom = 3

// usable returns the noise between runs where it is known well enough for what the samples are. Samples that are runs themselves take any.
func (s *stagePair) usable(n *stats.Noise) *stats.Noise {
	if n != nil && !n.Assumed && n.DF < leastFreedom && s.level == byPass {
		return nil
	}
	return n
}

// leastJudged is the share of a stage's work on both sides below which an item is not judged, of idle time its share of all time: every item that is
// takes some of the certainty of all the others.
const leastJudged = 0.005

// judges returns the places of the items that are judged: those that both sides have. How much of something ran at the same time has no
// better or worse of its own.
func (s *stagePair) judges(list []Item) []int {
	if !s.compares() {
		return nil
	}
	var whole, work int64
	for _, it := range list {
		whole += it.A.PerUnitNs + it.B.PerUnitNs
		if it.Kind != "idle" && it.Kind != "other" {
			work += it.A.PerUnitNs + it.B.PerUnitNs
		}
	}
	var out []int
	for i, it := range list {
		if it.Kind == "idle" && s.level == byPass {
			continue // of one process it tells nothing: a cause that one has and another of the same code has not is common
		}
		of := work
		if it.Kind == "idle" || it.Kind == "other" {
			of = whole
		}
		if (it.Status == Both || len(it.Members) > 0) && it.Kind != "overlap" && float64(it.A.PerUnitNs+it.B.PerUnitNs) >= leastJudged*float64(of) {
			out = append(out, i)
		}
	}
	return out
}

// judgeItems compares items by what each takes of the samples of its stage, those of all stages together: parts are what the items are of.
func (c *comparer) judgeItems(lists [][]Item, parts [][]pair) {
	var open []judged
	tested := 0
	for i, s := range c.stages {
		tested += len(s.judges(lists[i]))
	}
	for i, s := range c.stages {
		var byGrid []pair
		if s.isLone() {
			byGrid = pairs(s.a, s.b, ByGrid)
		}
		for _, k := range s.judges(lists[i]) {
			it, part := &lists[i][k], parts[i][k]
			it.Comparison = new(s.compareItem(gridsOf(byGrid, part.key), s.samples(s.a, part.a), s.samples(s.b, part.b), c.options.Stats, tested))
			open = append(open, judged{it.Comparison, c.options.Stats, &it.Verdict, true})
		}
	}
	judgeAll(open)
}

// std is the sample standard deviation; nil of less than two.
func std(list []float64) *float64 {
	if len(list) < 2 {
		return nil
	}
	mean := 0.0
	for _, v := range list {
		mean += v / float64(len(list))
	}
	squares := 0.0
	for _, v := range list {
		squares += (v - mean) * (v - mean)
	}
	return new(math.Sqrt(squares / float64(len(list)-1)))
}

// launchVaries is what a kernel of a single pass differs by between processes, as a standard deviation of logarithms. Of 2,800 kernels with two launches
// and more in measured passes of testdata it was 0.9 % within a process and 2.6 % between processes, 30 % at most; but a single pass may be cold, and clocks
// that still rise make all its launches longer: by up to 55 % in the first step of one capture.
const launchVaries = 0.1

var loneNoise = stats.Noise{SD: launchVaries, DF: noiseDF, From: "a single pass may be cold"}

// isLone reports whether a side has one pass only, so that passes show no spread, and both do the same work.
func (s *stagePair) isLone() bool {
	return s.level == byPass && s.tokens == nil && min(len(s.a.groups), len(s.b.groups)) == 1
}

// compareItem compares what kernels, or another part of a stage, take for one unit: lines are the kernels by grid. Where a side has one pass, launches of
// the same grid tell how much a kernel varies.
func (s *stagePair) compareItem(lines []pair, a, b []float64, o stats.Options, among int) stats.Comparison {
	se, df, told := s.launchError(lines)
	if !told || o.Noise != nil || !s.isLone() {
		return s.compare(itemFigure, a, b, o, among)
	}
	o.Comparisons, o.Noise = among, &loneNoise
	return stats.CompareLaunches(stats.Centre(a), stats.Centre(b), se, df, o)
}

// launchError is how far the launches of kernels leave open how their time changed. Both sides must have as many launches of each grid, else it is other
// work. Launches in one place of the model do the same on both sides, in another place other work, so what is compared is the shortest launch of each grid
// with the shortest, and the longest with the longest: where all change alike, the change is sure. Launches share what slows a process down, so that many
// tell no more than one. It is not told of collectives, which last as long as they wait, and of a single launch.
func (s *stagePair) launchError(lines []pair) (se, df float64, told bool) {
	var changes, weights []float64
	var totalA, totalB, sum float64
	for _, l := range lines {
		a, b := l.a, l.b
		if a == nil || b == nil || l.key.grid == "" || a.role == "collective" || a.tally.calls*int64(len(s.b.groups)) != b.tally.calls*int64(len(s.a.groups)) || min(a.tally.min, b.tally.min) <= 0 {
			return 0, 0, false
		}
		totalA, totalB = totalA+float64(a.tally.total), totalB+float64(b.tally.total)
		weight := float64(a.tally.total)/float64(len(s.a.groups)) + float64(b.tally.total)/float64(len(s.b.groups))
		changes = append(changes, math.Log(float64(b.tally.min)/float64(a.tally.min)))
		weights, sum = append(weights, weight), sum+weight
		if max(a.tally.calls, b.tally.calls) > 1 {
			changes = append(changes, math.Log(float64(b.tally.max)/float64(a.tally.max)))
			weights, sum = append(weights, weight), sum+weight
		}
	}
	if len(changes) < 2 {
		return 0, 0, false
	}
	whole := math.Log(totalB / float64(len(s.b.groups)) / (totalA / float64(len(s.a.groups))))
	for i, c := range changes {
		se += weights[i] / sum * (c - whole) * (c - whole)
	}
	return 2 * math.Sqrt(se), float64(len(changes) - 1), true
}

// sureKernels names the kernels that are certain to change, those that change most.
func sureKernels(list []Item) string {
	var sure []Item
	for _, it := range list {
		if it.Kind == "kernel" && (it.Verdict == Better || it.Verdict == Worse) {
			sure = append(sure, it)
		}
	}
	byChange(sure)
	var texts []string
	for _, it := range sure[:min(mostNamed, len(sure))] {
		c := it.Comparison
		texts = append(texts, fmt.Sprintf("kernel %s takes %s (%s -> %s)", shortName(it.Name), longerText(*c.Effect), judge.DurationText(c.A), judge.DurationText(c.B)))
	}
	if len(texts) == 0 {
		return ""
	}
	return "launches show that " + strings.Join(texts, ", ")
}

// gridsOf are those of a stage's kernels by grid that an item is made of.
func gridsOf(byGrid []pair, of lineKey) (out []pair) {
	for _, l := range byGrid {
		if of.kind == "kernel" && l.key.kind == of.kind && l.key.class == of.class && (of.name == "" || l.key.name == of.name) && (of.grid == "" || l.key.grid == of.grid && l.key.block == of.block) {
			out = append(out, l)
		}
	}
	return out
}
