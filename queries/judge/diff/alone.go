package diff

import (
	"fmt"
	"math"

	"prof/queries/judge/stats"
)

// figureKind is what a figure depends on: it says how much processes that do the same may differ in it.
type figureKind int

const (
	countFigure figureKind = iota // launches: what a process does, not how long it takes
	rateFigure                    // tokens a second of such a time
	spanFigure                    // time in which the GPU works and idles, or the thread runs
	workFigure                    // time of all GPU work
	itemFigure                    // time of a kernel, family or copy
)

// What the passes of one process do not tell: how much processes of the same code differ. They share the state of the host, the placement
// of memory and the clocks of one start, so that they differ less among each other than processes do. Where nothing tells how much (no
// repeats, and no history of the workload), two processes may differ by this before it counts. Measured on an H200 in a virtual machine,
// nine processes of one code: idle time of decode from 7.5 to 16 ms, GPU work from 1.611 to 1.615 ms, single kernels by up to 2.3 % (standard
// deviation). testdata/capture/llama holds six of them.
const (
	idleFactor = 3    // idle time, by which a span differs; by its causes it is not judged at all
	workNoise  = 0.02 // GPU work of a stage
	itemNoise  = 0.05 // single kernels
)

// alone is the noise to be allowed for where each side is one process of which nothing else is known; nil where samples tell of noise
// themselves.
func (s *stagePair) alone(what figureKind, a, b []float64) *stats.Noise {
	if s.level != byPass {
		return nil
	}
	switch what {
	case spanFigure, rateFigure:
		work := s.quicker((stats.Centre(b) < stats.Centre(a)) == (what == spanFigure)).workShare()
		return &stats.Noise{Floor: work*workNoise + (1-work)*(idleFactor-1), Unknown: true}
	case workFigure:
		return &stats.Noise{Floor: workNoise, Unknown: true}
	case itemFigure:
		return &stats.Noise{Floor: itemNoise, Unknown: true}
	}
	return nil
}

// quicker gives the side that takes less time: what is counted from it mirrors when the sides are swapped.
func (s *stagePair) quicker(isB bool) *stageSide {
	if isB {
		return s.b
	}
	return s.a
}

// kindOf says what a stage's metric depends on.
func kindOf(metric string) figureKind {
	switch metric {
	case "gpu_busy_ns", "gpu_sum_ns":
		return workFigure
	case "launches":
		return countFigure
	case tokenRateName:
		return rateFigure
	}
	return spanFigure
}

// workShare is the part of a stage's time on its GPUs in which they worked.
func (x *stageSide) workShare() float64 {
	var work, time int64
	for _, g := range x.groups {
		work += g.parts.work + g.parts.other
		time += g.time
	}
	if time <= 0 {
		return 0
	}
	return float64(work) / float64(time)
}

// leastBusy is the part of a stage's time from which on more GPU work makes the stage longer: where the GPU mostly waits, work fills gaps.
const leastBusy = 0.5

// byWork judges stages whose change is sure but may be the host's noise, each side being one process: where the GPU works most of the time,
// and its work alone has surely changed the same way by enough to count, so has the stage.
func (c *comparer) byWork(out []Stage) {
	for i, s := range c.stages {
		st := &out[i]
		x := st.Comparison
		c.byUnchangedWork(s, st)
		if st.Verdict == NoChange || st.Verdict == Better || st.Verdict == Worse || !x.FloorUnknown || !x.Sure || x.Effect == nil || math.Abs(*x.Effect) < c.options.Stats.MinEffect || s.a.workShare() < leastBusy || s.b.workShare() < leastBusy {
			continue
		}
		for _, m := range st.More {
			work := m.Comparison
			if m.Name != "gpu_busy_ns" || m.Verdict != Better && m.Verdict != Worse || (work.B > work.A) != (x.B > x.A) {
				continue
			}
			if math.Abs(math.Log(work.B/work.A))*s.quicker(x.B < x.A).workShare() < math.Log1p(c.options.Stats.MinEffect) {
				continue
			}
			part := func(change *float64) *float64 {
				if change == nil {
					return nil
				}
				return new(*change * s.a.workShare())
			}
			st.Verdict, st.Comparison.Verdict = m.Verdict, stats.Changed
			st.WorkEffect, st.WorkLow, st.WorkHigh = part(work.Effect), part(work.Low), part(work.High)
			st.Contributors = s.contributors(m.Name)
			st.Comparison.Low, st.Comparison.High = nil, nil // of the span, which the verdict is not by
			c.rateFollows(st)
			st.Comparison.Why = fmt.Sprintf("differs by %s; GPU busy time differs by %s, which is %s of the stage and more than two processes of the same code differ", percentText(*x.Effect), percentText(*work.Effect), percentText(*st.WorkEffect))
		}
	}
}

// byUnchangedWork says that a stage does not change where the GPU works nearly all of its time, that work does not change, and nor does the span but
// for what idle time, which is little of it, may differ by from process to process.
func (c *comparer) byUnchangedWork(s *stagePair, st *Stage) {
	o := c.options.Stats
	share := min(s.a.workShare(), s.b.workShare())
	if st.Verdict != CannotTell || !st.Comparison.FloorUnknown || 1-share > o.Margin {
		return
	}
	passes := stats.Compare(st.A.Samples, st.B.Samples, stats.Options{Alpha: o.Alpha, Margin: o.Margin})
	for _, m := range st.More {
		if work := m.Comparison; m.Name == "gpu_busy_ns" && m.Verdict == NoChange && passes.Inside(o) {
			x := &st.Comparison
			x.Low, x.High = new(min(*passes.Low, *work.Low)), new(max(*passes.High, *work.High))
			x.Why = fmt.Sprintf("differs by %s; the GPU is busy %s of the time, and busy time differs by %s: %s, within the margin of %s",
				percentText(*x.Effect), percentText(share), percentText(*work.Effect), x.Interval(), percentText(o.Margin))
			st.Verdict, x.Verdict = NoChange, stats.NoChange
			c.rateFollows(st)
		}
	}
}

// WorkKeepsTo says whether a stage that is judged by its GPU work alone is slower by no more than a limit; nil where idle time, which may be noise,
// decides.
func (st *Stage) WorkKeepsTo(limit float64) *bool {
	switch over := *st.WorkEffect > limit; {
	case st.Verdict == Better:
		return new(true)
	case over == (*st.Comparison.Effect > limit):
		return new(!over)
	}
	return nil
}

// WorkWords says how much slower it is.
func (st *Stage) WorkWords() string {
	return fmt.Sprintf("slower by %s by GPU busy time; by %s in total, where the idle part may be noise", percentText(*st.WorkEffect), percentText(*st.Comparison.Effect))
}

// BusyWords says that a stage keeps to a limit by its GPU busy time alone, for a caller who takes that where one process per side leaves idle time too
// noisy to judge and the stage does not seem to be beyond it; "" where it is not known to.
func (st *Stage) BusyWords(limit float64) string {
	for _, m := range st.More {
		if x := m.Comparison; m.Name == "gpu_busy_ns" && x.High != nil && *x.High <= limit {
			return fmt.Sprintf("by GPU busy time alone, %s: with one process per side idle time is too noisy to judge; capture with --repeats", x.Interval())
		}
	}
	return ""
}

// rateFollows gives the tokens a second of a stage that is judged by its span the verdict of that span, which they follow from.
func (c *comparer) rateFollows(st *Stage) {
	for k := range st.More {
		if m := &st.More[k]; m.Name == tokenRateName && c.options.Metric == spanMetric {
			m.Verdict, m.Comparison.Verdict, m.Comparison.Why = st.Verdict, st.Comparison.Verdict, "follows from the GPU span"
		}
	}
}
