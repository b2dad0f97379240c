package diff

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/schema/terms"
)

// stepStage begins the names of what runs without stages are compared by: their steps. Steps of several kinds have their own names behind it.
const stepStage = "steps"

// stepData are the steps of a run without stages, and its device work by step.
type stepData struct {
	passes []pass
	work   []work  // of the stage outside where it is in no step whose time is known
	share  float64 // of the device work that is in steps
	judged float64 // that is in steps whose time is known
}

// loadSteps reads the steps of the runs that have no stages.
func loadSteps(ctx context.Context, asker frame.Asker, runs []runData) ([]Source, error) {
	var asked []frame.Question
	var of []*runData
	for i := range runs {
		if r := &runs[i]; len(r.passes) > 0 && !slices.ContainsFunc(r.passes, func(p pass) bool { return p.stage != "" }) {
			of = append(of, r)
			asked = append(asked, frame.Question{Query: "steps", Args: frame.Args{"run": r.run.ID, "by": "time", "top": "0"}, Notes: frame.RowsOnly},
				frame.Question{Query: "step-work", Args: frame.Args{"run": r.run.ID}, Notes: frame.RowsOnly})
		}
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, err
	}
	var sources []Source
	for i, r := range of {
		steps, work := frames[2*i], frames[2*i+1]
		if err := r.readSteps(steps, work); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.run.Name, err)
		}
		if r.steps != nil {
			sources = append(sources, sourceOf(r.run.Name, steps), sourceOf(r.run.Name, work))
		}
	}
	return sources, nil
}

// stepRow is one row of steps, but for its idle times, which have a column each.
type stepRow struct {
	Nth       int64  `col:"nth"`
	Name      string `col:"name"`
	Time      *int64 `col:"time_ns"`
	TimeBasis string `col:"time_basis"`
	Basis     string `col:"basis"`
	Busy      *int64 `col:"busy_ns"`
	Span      *int64 `col:"gpu_span_ns"`
	Other     *int64 `col:"other_ns"`
	Kernels   *int64 `col:"kernel_count"`
	IsWarmup  bool   `col:"is_warmup"`
	SourceID  int64  `col:"source_id"`
	PID       *int64 `col:"pid"`
	Device    *int64 `col:"device"`
}

type stepWorkRow struct {
	workRow
	Nth    *int64 `col:"nth"`
	PID    *int64 `col:"pid"`
	Device int64  `col:"device"`
	Kernel string `col:"kernel"`
}

var (
	stepRows     = frame.RowsOf[stepRow]("steps")
	stepWorkRows = frame.RowsOf[stepWorkRow]("step-work")
)

// gpuPlace is a GPU of a process, where steps have their numbers; -1 stands for a process or GPU that is not known.
type gpuPlace struct{ source, pid, device int64 }

func placeOf(source int64, pid, device *int64) gpuPlace {
	return gpuPlace{source, frame.Or(pid, -1), frame.Or(device, -1)}
}

// stepKey is a step on one GPU.
type stepKey struct {
	gpuPlace
	nth int64
}

// readSteps puts the steps of a run together. Steps of which a rank has none are left out: the others would be compared with whole ones.
func (d *runData) readSteps(steps, done *frame.Frame) error {
	repeats := map[int64]int64{} // of each source
	for _, p := range d.passes {
		repeats[p.source] = p.repeat
	}
	rows, err := stepRows.Of(steps)
	if err != nil {
		return err
	}
	idle, err := idleTimes(steps, func(c terms.Cause) []string { return []string{c.Column()} })
	if err != nil {
		return err
	}
	works, err := stepWorkRows.Of(done)
	if err != nil {
		return err
	}
	found, order := map[stepKey]pass{}, []stepKey(nil)
	kinds, members := map[string]bool{}, map[int64]map[gpuPlace]bool{} // by repeat
	type number struct{ repeat, nth int64 }
	ranks := map[number]int{}
	for i, x := range rows {
		p, ok := x.pass(idle[i])
		if !ok {
			continue
		}
		key := stepKey{placeOf(p.source, x.PID, x.Device), p.number}
		p.repeat = repeats[p.source]
		if members[p.repeat] == nil {
			members[p.repeat] = map[gpuPlace]bool{}
		}
		members[p.repeat][key.gpuPlace] = true
		kinds[p.stage] = true
		found[key] = p
		order = append(order, key)
		ranks[number{p.repeat, p.number}]++
	}
	s := &stepData{}
	sums := map[stepKey]int64{}
	var inside, judged, all int64
	for _, x := range works {
		w := x.work(x.Kernel)
		w.stage, w.repeat = outside, repeats[x.SourceID]
		key := stepKey{placeOf(x.SourceID, x.PID, &x.Device), frame.Or(x.Nth, 0)} // steps have numbers from 1
		all += w.tally.total
		p, known := found[key]
		if known && ranks[number{p.repeat, p.number}] == len(members[p.repeat]) {
			w.stage, w.number = stepName(p.stage, kinds), p.number
			sums[key] += w.tally.total
		}
		if w.stage != outside || w.isWarmup {
			judged += w.tally.total
		}
		if key.nth > 0 {
			inside += w.tally.total
		}
		s.work = append(s.work, w)
	}
	for _, key := range order {
		p := found[key]
		if ranks[number{p.repeat, p.number}] < len(members[p.repeat]) {
			continue
		}
		p.sum, p.stage = sums[key], stepName(p.stage, kinds)
		s.passes = append(s.passes, p)
	}
	if len(s.passes) > 0 && all > 0 {
		s.share, s.judged = float64(inside)/float64(all), float64(judged)/float64(all)
		d.steps = s
	}
	return nil
}

// stepName names a kind of step: nothing of its name is said where there is only one, since runs may call the same step otherwise.
func stepName(kind string, kinds map[string]bool) string {
	if len(kinds) == 1 {
		return stepStage
	}
	return stepStage + " " + kind
}

// pass returns a step as a pass; not ok where its time is not known. What a step has behind the start of the next one is not of its time.
func (x stepRow) pass(idle [len(terms.Causes)]int64) (pass, bool) {
	if x.Time == nil || x.Busy == nil || x.TimeBasis == "cpu" {
		return pass{}, false
	}
	p := pass{stage: x.Name, basis: x.TimeBasis, number: x.Nth, source: x.SourceID, isWarmup: x.IsWarmup, span: x.Time, time: x.Time, busy: *x.Busy, kernels: x.Kernels,
		parts: parts{*x.Busy, frame.Or(x.Other, 0), idle}}
	if x.Basis == "period" {
		p.stage = ""
	}
	isPeriod := p.basis == "gpu_period"
	if isPeriod && x.Span != nil {
		p.parts.work -= max(*x.Span-*x.Time, 0)
	}
	for i, cause := range terms.Causes {
		if cause.Name == terms.Between && !isPeriod {
			p.parts.idle[i] = 0
		}
	}
	unknown := slices.IndexFunc(terms.Causes[:], func(c terms.Cause) bool { return c.Name == "unknown" })
	p.parts.idle[unknown] += *x.Time - p.parts.sum() // where causes are not known
	return p, true
}

// Shares of the device work from which on steps stand for a run: without asking more, and where its whole time is no measure.
const (
	mostInSteps = 0.8
	halfInSteps = 0.5
)

// isSteps reports whether a stage's name is that of steps.
func isSteps(stage string) bool { return stage == stepStage || strings.HasPrefix(stage, stepStage+" ") }

// gatherSides puts the passes and work of both sides together by stage, or without stages by step where steps stand for the runs.
func gatherSides(a, b []runData, only string) (x, y map[string]*stageSide, err error) {
	first := only
	if isSteps(only) {
		first = ""
	}
	if x, err = gather(a, first); err == nil {
		y, err = gather(b, first)
	}
	if err != nil {
		return nil, nil, err
	}
	if x[""] != nil && y[""] != nil && bySteps(slices.Concat(a, b), unlike(x[""], y[""])) {
		for _, runs := range [][]runData{a, b} {
			for i := range runs {
				runs[i].passes, runs[i].work = runs[i].steps.passes, runs[i].steps.work
			}
		}
	} else if first == only {
		return x, y, nil
	}
	if x, err = gather(a, only); err == nil {
		y, err = gather(b, only)
	}
	return x, y, err
}

// bySteps reports whether runs are compared by their steps: where none has stages, and steps hold their work and have times of one kind. ratio is
// that of unlike.
func bySteps(runs []runData, ratio float64) bool {
	least, basis := 1.0, ""
	for _, d := range runs {
		if d.steps == nil {
			return false
		}
		for _, p := range d.steps.passes {
			if basis != "" && p.basis != basis {
				return false
			}
			basis = p.basis
		}
		least = min(least, d.steps.share)
	}
	return least >= mostInSteps || ratio != 0 && least >= halfInSteps
}

// kernelCalls is how often a kernel ran in a run of the workload, and for how long in all.
type kernelCalls struct{ calls, ns float64 }

func (s *stageSide) kernelCalls() map[string]kernelCalls {
	out := map[string]kernelCalls{}
	for key, a := range s.lines {
		if key.kind == "kernel" {
			c := out[key.name]
			out[key.name] = kernelCalls{c.calls + float64(a.tally.calls)/float64(len(s.groups)), c.ns + float64(a.tally.total)}
		}
	}
	return out
}

// By how much the launches of the same kernels may differ between runs of the same work, and by how much from those of the others in other amounts
// of it: captures begin and end inside a step.
const (
	likeCalls  = 0.01
	alikeCalls = 0.05
)

// unlike is how many times the launches that A has of the same kernels B has, where they are other amounts of the same work: by the median of
// these kernels, weighted with their time. It is 0 where they are about as many; where the kernels that both sides have take less than half
// of their time; and where fewer than four fifths of these differ alike, since then the work itself is another.
func unlike(sideA, sideB *stageSide) float64 {
	a, b := sideA.kernelCalls(), sideB.kernelCalls()
	type common struct{ ratio, weight float64 }
	var list []common
	var both, all float64
	for name, x := range a {
		all += x.ns
		if y, known := b[name]; known {
			list = append(list, common{y.calls / x.calls, x.ns + y.ns})
			both += x.ns + y.ns
		}
	}
	for _, y := range b {
		all += y.ns
	}
	slices.SortFunc(list, func(x, y common) int { return cmp.Compare(x.ratio, y.ratio) })
	middle, upto := 0.0, 0.0
	for _, c := range list {
		if upto += c.weight; middle == 0 && upto >= both/2 {
			middle = c.ratio
		}
	}
	alike := 0.0
	for _, c := range list {
		if math.Abs(math.Log(c.ratio/middle)) <= math.Log1p(alikeCalls) {
			alike += c.weight
		}
	}
	if both < all/2 || middle == 0 || math.Abs(math.Log(middle)) <= math.Log1p(likeCalls) || alike < 0.8*both {
		return 0
	}
	return middle
}

// noMeasure returns why the time of all device work compares nothing, where ratio is that of unlike: as of captures of a fixed length.
func noMeasure(ratio float64) string {
	return fmt.Sprintf("the captures have different amounts of the same work (B has %.3g times the launches of their common kernels), so their total spans cannot be compared: capture whole runs, or mark passes or steps", ratio)
}

// noteSteps says that steps are compared, how many, and what is not in them.
func (r *Result) noteSteps(a, b []runData, c *comparer) {
	at := slices.IndexFunc(c.stages, func(s *stagePair) bool { return s.unit == PerStep })
	if at < 0 {
		return
	}
	out := "neither side has stages: steps are compared (prof query steps), not whole captures; a step lasts from its first device work to that of the next"
	if cmp.Or(c.stages[at].a.basis, c.stages[at].b.basis) == "gpu_span" {
		out = "neither side has stages: steps are compared (prof query steps), not whole captures; a step lasts from its first to its last device work"
	}
	share := func(runs []runData) float64 {
		least := 1.0
		for _, d := range runs {
			least = min(least, d.steps.judged)
		}
		return 1 - least
	}
	if x, y := share(a), share(b); max(x, y) > 0 {
		out += fmt.Sprintf("; %s of the device work of A and %s of that of B lie outside whole steps and are not judged", percentText(x), percentText(y))
	}
	r.Notes = append(r.Notes, out)
}
