package diff

import (
	"fmt"
	"slices"

	"prof/queries/judge"
)

// outside is the stage of the device work that belongs to no pass of a stage.
const outside = "(none)"

// group is one measured pass of a stage with all processes that take part in it: rank by rank they do the same pass together. Of work
// outside stages it is one run of the workload.
type group struct {
	run            int // place among the runs of its side
	repeat, number int64
	prompt, decode *int64   // tokens; nil when not known. Ranks work on the same ones
	steps          *int64   // forward passes that decode; nil when not known
	cpu, span      *float64 // ns, of the process that takes longest: a pass lasts until the last one is done; nil when one is not known
	interval       *float64 // ns from its start to that of the next pass, likewise
	busy, sum      int64    // ns, added up over GPUs
	gpus           int64    // of each process, together
	time           int64
	parts          parts
	kernels        *int64 // nil where graphs were traced as a whole: their kernels are not seen
	isSum          bool   // of some work only the sum of its durations is known
	isUntimed      bool   // idle time is not known
}

type groupKey struct {
	run            int
	repeat, number int64
}

// stageSide is what the runs of a side have of one stage.
type stageSide struct {
	groups   []group
	oneOf    []int // by run: the first run of the same process; nil where each is of its own
	index    map[groupKey]int
	warmups  map[groupKey]bool
	lines    map[lineKey]*amount
	lost     map[groupKey]bool // passes of which some process lost GPU work: they are no samples
	notWhole string            // what was not recorded of its measured passes; "" when nothing is known to be missing
	untimed  int               // passes whose idle time was not told
	basis    string            // of steps: what their times are, see pass; "" of others
	kernels  []string          // kernels of one pass in turn; none where that is not known
}

// mostCut is how many passes the two ends of a capture may cut off: the others are whole, and compared.
const mostCut = 2

func newStageSide() *stageSide {
	return &stageSide{index: map[groupKey]int{}, warmups: map[groupKey]bool{}, lost: map[groupKey]bool{}, lines: map[lineKey]*amount{}}
}

// gather puts the passes and work of the runs of a side together by stage.
func gather(runs []runData, only string) (map[string]*stageSide, error) {
	stages := map[string]*stageSide{}
	of := func(stage string) *stageSide {
		if stages[stage] == nil {
			stages[stage] = newStageSide()
		}
		return stages[stage]
	}
	for i, r := range runs {
		for _, p := range r.passes {
			if (only == "" || p.stage == only) && p.lost > 0 && !p.isWarmup {
				of(p.stage).lost[groupKey{i, p.repeat, p.number}] = true
			}
		}
		for _, p := range r.passes {
			if only == "" || p.stage == only {
				of(p.stage).addPass(i, p)
			}
		}
		for _, w := range r.work {
			if only != "" && w.stage != only {
				continue
			}
			if err := of(w.stage).addWork(i, w); err != nil {
				return nil, fmt.Errorf("run %s: %w", r.run.Name, err)
			}
		}
	}
	processes := processesOf(runs)
	for name, s := range stages {
		s.oneOf = processes
		s.kernels = runs[0].order[name]
		if len(s.lost) > mostCut*len(runs) {
			s.notWhole = fmt.Sprintf("%d passes of %s lost GPU work", len(s.lost), stageName(name))
		}
		for _, r := range runs {
			if k := slices.IndexFunc(r.losses, func(l judge.Loss) bool { return concerns(l, name) }); k >= 0 && s.notWhole == "" {
				s.notWhole = fmt.Sprintf("%s is not whole: %s", r.run.Name, r.losses[k].Text)
			}
		}
		s.addParts()
	}
	return stages, nil
}

func (s *stageSide) addPass(run int, p pass) {
	key := groupKey{run, p.repeat, p.number}
	s.basis = p.basis
	if p.isWarmup {
		s.warmups[key] = true
		return
	}
	if s.lost[key] {
		return
	}
	i, known := s.index[key]
	if !known {
		i = len(s.groups)
		s.index[key] = i
		s.groups = append(s.groups, group{run: run, repeat: p.repeat, number: p.number, cpu: new(float64), interval: new(float64), span: new(float64), kernels: new(int64)})
	}
	g := &s.groups[i]
	g.prompt, g.decode = larger(g.prompt, p.prompt), larger(g.decode, p.decode)
	g.steps = larger(g.steps, p.steps)
	g.cpu, g.span, g.interval = longest(g.cpu, p.cpu), longest(g.span, p.span), longest(g.interval, p.interval)
	g.busy += p.busy
	g.sum += p.sum
	g.gpus += p.gpus
	g.kernels = plus(g.kernels, p.kernels)
	if p.isSum {
		g.isSum = true
		g.time += p.sum
		g.parts.work += p.sum
		return
	}
	if p.time == nil {
		// The union of its work is what is known of its time.
		g.time += p.busy
		g.parts.work += p.busy
		g.isUntimed = true
		if p.busy > 0 {
			s.untimed++
		}
		return
	}
	g.time += *p.time
	g.parts.work += p.parts.work
	g.parts.other += p.parts.other
	for cause, ns := range p.parts.idle {
		g.parts.idle[cause] += ns
	}
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// plus adds counts; one that is not known makes the sum unknown.
func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// longest keeps the longer time; one that is not known makes the whole unknown.
func longest(a *float64, b *int64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(max(*a, float64(*b)))
}

func (s *stageSide) addWork(run int, w work) error {
	key := groupKey{run, w.repeat, w.number}
	if w.isWarmup || s.lost[key] {
		return nil
	}
	i, known := s.index[key]
	if !known {
		if w.stage != outside {
			return fmt.Errorf("pass-work has pass %d of %s, which stage-samples lacks; ingest the run again", w.number, stageName(w.stage))
		}
		i = len(s.groups)
		s.index[key] = i
		s.groups = append(s.groups, group{run: run, repeat: w.repeat, number: w.number, kernels: new(int64)})
	}
	g := &s.groups[i]
	if w.stage == outside {
		// Nothing tells its idle time: its time is that of its work.
		g.time += w.tally.total
		g.sum += w.tally.total
		g.parts.work += w.tally.total
		switch w.kind {
		case "kernel":
			g.kernels = plus(g.kernels, &w.tally.calls)
		case "graph":
			g.kernels = nil
		}
	}
	s.line(w.lineKey()).add(i, w)
	return nil
}
