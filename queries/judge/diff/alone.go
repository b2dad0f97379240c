package diff

import (
	"math"
	"slices"

	"prof/queries/judge/stats"
)

// figureKind is what a figure depends on: it says how much processes that do the same may differ in it.
type figureKind int

const (
	countFigure figureKind = iota // launches: what a process does, not how long it takes
	rateFigure                    // tokens a second of such a time
	spanFigure                    // time in which the GPU works and idles
	cpuFigure                     // time in which the thread runs
	paceFigure                    // time between the starts of passes that the CPU paces
	idleFigure                    // time in which the GPU idles
	workFigure                    // time of all GPU work
	itemFigure                    // time of a kernel, family or copy
)

// What the passes of one process do not tell: how much processes of the same code differ. They share the state of the host, the placement of memory and
// the clocks of one start. Where neither the workload's history nor repeats tell it, these standard deviations of logarithms are assumed. They were
// measured on 79 processes of one program, in turns with and without prof's tracer, on two GPUs of a machine of H200 and one of an H100, both virtual
// (testdata/noise; TestAssumedNoise holds them to it).
const (
	workVaries  = 0.005 // GPU work of a stage: 0.04 to 0.21 % were seen; clocks at the limit of power may add as much
	graphVaries = 0.04  // the same where graphs were traced as a whole, with the gaps inside: of 39 processes one replayed 11 % faster
	itemVaries  = 0.015 // single kernels of at least leastJudged: 0.1 to 0.7 % were seen, up to 2.3 % elsewhere
	passVaries  = 0.003 // GPU work of the passes of a process: 0.03 to 0.3 % were seen
	hostVaries  = 0.19  // a stage in which the GPU waits for each launch: prefill and eager decode
	idleVaries  = 0.25  // idle time of one in which it waits now and then: between replays of graphs
	noiseFrom   = "H100 and H200 virtual machines"
	noiseDF     = 72 // processes less groups, of the stages that the host bounds
)

// assumedHost is the noise of a stage that the host bounds, where nothing on the machine tells it.
var assumedHost = stats.Noise{SD: hostVaries, DF: noiseDF, From: noiseFrom}

// shortNoise is that of the CPU time of passes below shortPass, far from those that were measured: the median passes of three recordings of one process
// took 120, 88 and 42 us.
var shortNoise = stats.Noise{SD: 0.53, DF: 2, From: "an H100 virtual machine, passes below 1 ms"}

const shortPass = 1e6 // ns

// isShort reports whether the CPU times of the passes of a side are below those that noise was measured of.
func (s *stagePair) isShort() bool {
	return slices.ContainsFunc([]*stageSide{s.a, s.b}, func(x *stageSide) bool {
		return slices.ContainsFunc(x.groups, func(g group) bool { return g.cpu != nil && *g.cpu < shortPass })
	})
}

// How long the GPU idles per kernel, ns: between kernels that were launched in time, at most; and where the host cannot keep up, at the least, since no
// call that launches takes less. The time in which kernels run hides no part of the host's then.
const (
	gpuGap     = 1000
	launchCost = 4000
)

// alone is the noise between processes that is assumed; nil for what does not vary.
func (s *stagePair) alone(what figureKind) *stats.Noise {
	work := workVaries
	if s.a.wholeGraphs() || s.b.wholeGraphs() {
		work = graphVaries
	}
	idle, hosted := s.idleShare()
	host := s.host.SD * hostShare(idle, hosted)
	n := stats.Noise{DF: noiseDF, From: noiseFrom}
	if (what == cpuFigure || what == paceFigure) && s.isShort() {
		return &shortNoise
	}
	switch what {
	case spanFigure, rateFigure, cpuFigure:
		n.SD, n.DF, n.From = math.Hypot((1-idle)*work, host), s.host.DF, s.host.From
	case paceFigure:
		return &s.host
	case idleFigure:
		if idle == 0 {
			return nil
		}
		n.SD, n.DF, n.From = math.Hypot(s.host.SD*idleVaries/hostVaries, host/idle), s.host.DF, s.host.From
	case workFigure:
		n.SD, n.PassSD, n.PassDF = work, passVaries, noiseDF
	case itemFigure:
		n.SD, n.PassSD, n.PassDF = max(itemVaries, work), itemVaries, noiseDF
	default:
		return nil
	}
	return &n
}

// idleShare is the part of a stage's time on its GPUs in which they idle, of both sides together so that swapping them changes nothing; and the part in
// which the host, which launches, says how long it takes.
func (s *stagePair) idleShare() (idle, hosted float64) {
	var idleNs, time, kernels int64
	for _, x := range []*stageSide{s.a, s.b} {
		for _, g := range x.groups {
			time += g.time
			idleNs += g.time - g.parts.work - g.parts.other
			if g.kernels != nil {
				kernels += *g.kernels
			}
		}
	}
	if time <= 0 {
		return 0, 0
	}
	idle = float64(idleNs) / float64(time)
	return idle, hostedShare(float64(idleNs), float64(kernels))
}

// hostedShare is the part of a time in which the host says how long it takes, by how long the GPU idles per kernel.
func hostedShare(idleNs, kernels float64) float64 {
	if kernels <= 0 {
		return 0
	}
	return min(1, max(0, (idleNs/kernels-gpuGap)/(launchCost-gpuGap)))
}

// hostShare is how much of what processes differ by where the host bounds a stage one differs by that idles so much: 1 where it is such a stage.
func hostShare(idle, hosted float64) float64 {
	return max(min(1, idleVaries/hostVaries*idle), hosted)
}

// kindOf returns what a stage's measure depends on.
func kindOf(name string) figureKind {
	m, _ := measureOf(name)
	return m.kind
}

// rateFollows gives what is counted in tokens the verdict of the span, which it follows from, where that is judged.
func (st *Stage) rateFollows() {
	c, verdict := st.of(spanMetric)
	for k := range st.More {
		if m := &st.More[k]; kindOf(m.Name) == rateFigure && c != nil && (st.Metric == spanMetric || st.Metric == intervalMetric) {
			m.Verdict, m.Comparison.Verdict, m.Comparison.Why = verdict, c.Verdict, "follows from the GPU span"
		}
	}
}

// ofParts is the comparison of the time that the parts of the stage add up to.
func (st *Stage) ofParts() (*stats.Comparison, Verdict) {
	if st.Metric == intervalMetric {
		return st.of(spanMetric)
	}
	return &st.Comparison, st.Verdict
}

// of is the comparison of a figure of the stage, and its verdict; nil where it is not known of both sides.
func (st *Stage) of(metric string) (*stats.Comparison, Verdict) {
	if st.Metric == metric {
		return &st.Comparison, st.Verdict
	}
	if m := st.figure(metric); m != nil {
		return &m.Comparison, m.Verdict
	}
	return nil, ""
}
