package diff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"prof/queries/frame"
	"prof/queries/judge/diff/conditions"
)

// ErrNothing is wrapped by errors of sides that hold nothing to compare.
var ErrNothing = errors.New("nothing to compare")

// LackingError is an ErrNothing: a run has no facts, so that what it is made of would be taken for gone.
type LackingError struct{ Run, Text string }

func (e *LackingError) Error() string { return fmt.Sprintf("run %s: %s", e.Run, e.Text) }

func (e *LackingError) Unwrap() error { return ErrNothing }

// Runs compares two sides.
func Runs(ctx context.Context, asker frame.Asker, a, b Side, o Options) (*Result, error) {
	o, err := o.whole()
	if err != nil {
		return nil, err
	}
	if len(a.Runs) == 0 || len(b.Runs) == 0 {
		return nil, fmt.Errorf("%w: %s is not a run", ErrNothing, sideText(a, b))
	}
	var loaded []runData
	var sources []Source
	var known surroundings
	var served [2][]benchmark
	var past []pastBenchmark
	var servedBy []Source
	var operators nodes
	var errs [4]error
	var wait sync.WaitGroup
	wait.Go(func() {
		if loaded, sources, errs[0] = load(ctx, asker, slices.Concat(a.Runs, b.Runs), o.Stage); errs[0] == nil {
			var more []Source
			more, errs[0] = loadOrders(ctx, asker, loaded[:len(a.Runs)], loaded[len(a.Runs):], o.Stage)
			sources = append(sources, more...)
			errs[0] = errors.Join(errs[0], loadSessions(ctx, asker, loaded[:len(a.Runs)]), loadSessions(ctx, asker, loaded[len(a.Runs):]))
		}
	})
	wait.Go(func() { known, errs[1] = surround(ctx, asker, a, b, o) })
	if o.Stage == "" { // a client does not see stages
		wait.Go(func() { served, past, servedBy, errs[2] = loadServing(ctx, asker, a.Runs, b.Runs) })
	}
	if o.By == ByTree || o.By == ByKernel {
		wait.Go(func() {
			operators, errs[3] = loadNodes(ctx, asker, a.Runs, b.Runs, o)
		})
	}
	wait.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Label, b.Label, err)
	}
	dataA, dataB := loaded[:len(a.Runs)], loaded[len(a.Runs):]
	r := &Result{A: a, B: b, Options: o, Differences: known.differences, Queries: distinctSources(slices.Concat(sources, known.sources, servedBy)), Same: same(dataA, dataB)}
	if o.Stage == "" {
		r.compareServing(served[0], served[1], past)
	}
	if err := r.compare(dataA, dataB, known); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Label, b.Label, err)
	}
	switch {
	case o.By == ByTree:
		err = r.byTree(operators)
	case o.By == ByKernel:
		err = r.byOperators(operators)
	case !o.By.adds() && o.By != ByStage:
		err = r.askItems(ctx, asker)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s by %s: %w", a.Label, b.Label, o.By, err)
	}
	return r, nil
}

func sideText(a, b Side) string {
	if len(a.Runs) == 0 {
		return a.Label
	}
	return b.Label
}

// same reports whether both sides are the same runs, or hold the same captures.
func same(a, b []runData) bool {
	ids := func(list []runData) (out []string) {
		for _, r := range list {
			out = append(out, r.run.ID)
		}
		slices.Sort(out)
		return out
	}
	hashes := func(list []runData) (out []string) {
		for _, r := range list {
			out = append(out, r.hashes...)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(ids(a), ids(b)) || len(hashes(a)) > 0 && slices.Equal(hashes(a), hashes(b))
}

// compare fills in stages, items by the parts of time, and verdicts.
func (r *Result) compare(a, b []runData, known surroundings) error {
	r.bySums(a, b)
	sideA, sideB, err := gatherSides(a, b, r.Options.Stage)
	if err != nil {
		return err
	}
	r.noteRuns(a, b)
	r.processes = [2][]int{r.noteSessions(a), r.noteSessions(b)}
	c := newComparer(sideA, sideB, r.Options)
	c.learn(known)
	if len(c.stages) == 0 && !r.Options.By.adds() && r.Options.By != ByStage {
		r.conclude(c) // operators, ranges and metrics stand by themselves
		return nil
	}
	if len(c.stages) == 0 && len(r.Serving) > 0 {
		r.conclude(c)
		return nil
	}
	if len(c.stages) == 0 {
		return fmt.Errorf("%w: %s", ErrNothing, nothingText(r.Options.Stage))
	}
	r.Stages = make([]Stage, len(c.stages))
	lists, parts := make([][]Item, len(c.stages)), make([][]pair, len(c.stages))
	by := r.Options.By
	if !by.adds() {
		by = ByKernel
	}
	for i, s := range c.stages {
		if s.notWhole() != "" { // what it is made of would be taken for what changed
			r.Stages[i] = Stage{Name: s.name, Unit: s.unit, A: s.side(s.a), B: s.side(s.b), Level: s.samplesText(), NotWhole: true}
			continue
		}
		lists[i], parts[i] = s.items(by)
		ledger, _ := s.items(ByFamily)
		r.Stages[i] = Stage{Name: s.name, Unit: s.unit, A: s.side(s.a), B: s.side(s.b), Level: s.samplesText(), Ledger: ledger}
		if s.both() {
			r.Stages[i].Contributors = s.contributors(r.Options.Metric)
			r.Stages[i].Delta = &Delta{}
			all := lists[i]
			if r.Options.By == ByStage { // whose items are those of the ledger
				all = r.Stages[i].Ledger
			}
			for _, it := range all {
				r.Stages[i].Delta.add(it.Delta)
			}
		}
		byChange(r.Stages[i].Ledger)
		r.Stages[i].StageExpected = conditions.Expected(known.differences, s.name)
	}
	c.judgeStages(r.Stages, known.noise)
	if r.Options.By.adds() {
		c.judgeItems(lists, parts)
		for i, s := range c.stages {
			if s.isLone() {
				r.Stages[i].sure = sureKernels(lists[i])
			}
		}
	}
	r.conclude(c)
	for i, st := range r.Stages {
		if note := known.noiseNote(c.stages[i], st.Metric); note != "" && r.Options.AssumeNoise == nil && !r.Same && st.Name != outside {
			r.Notes = append(r.Notes, note)
		}
	}
	r.noteSteps(a, b, c)
	if r.Options.By.adds() {
		for _, list := range lists {
			byChange(list)
			r.Items = append(r.Items, Cut(list, r.Options.Top)...)
		}
	} else if r.Options.By == ByStage {
		r.stageItems()
	}
	return nil
}

// noteRuns tells of runs that are not what a reader must take them for.
func (r *Result) noteRuns(a, b []runData) {
	var without []string
	all := slices.Concat(a, b)
	for _, d := range all {
		if len(d.passes) == 0 && len(d.work) == 0 && !slices.Contains(without, d.run.Name) {
			without = append(without, d.run.Name)
		}
	}
	anyWork := slices.ContainsFunc(all, func(d runData) bool { return len(d.passes)+len(d.work) > 0 })
	switch n := len(without); {
	case len(r.Serving) > 0 && !anyWork: // nobody expects any of benchmarks alone
	case n == 1:
		r.Notes = append(r.Notes, fmt.Sprintf("run %s has no device work to compare", without[0]))
	case n > 1:
		r.Notes = append(r.Notes, fmt.Sprintf("runs without device work to compare: %s", strings.Join(without, ", ")))
	}
	for _, x := range a {
		if !r.Same && slices.ContainsFunc(b, func(y runData) bool { return x.run.ID == y.run.ID }) {
			r.Notes = append(r.Notes, fmt.Sprintf("run %s is on both sides", x.run.Name))
		}
	}
}

func nothingText(stage string) string {
	if stage != "" {
		return fmt.Sprintf("neither side has a stage %q", stage)
	}
	return "neither side has device work"
}

// stageItems tells the stages as items.
func (r *Result) stageItems() {
	for _, st := range r.Stages {
		it := Item{Stage: st.Name, Name: st.Name, Kind: "stage", Unit: "ns", Status: Both, Delta: st.Delta}
		it.Comparison, it.Verdict = st.ofParts()
		for side, to := range map[*StageSide]*Measure{&st.A: &it.A, &st.B: &it.B} {
			*to = Measure{Calls: side.Passes, TotalNs: side.TimeNs, PerUnitNs: side.PerUnitNs}
			if side.Units > 0 {
				to.PerUnitCalls = float64(side.Passes) / float64(side.Units)
			}
			if side.Passes > 0 {
				to.MeanNs = new(float64(side.TimeNs) / float64(side.Passes))
			}
		}
		switch {
		case st.A.Passes == 0:
			it.Status, it.Delta = New, &Delta{Ns: st.B.PerUnitNs, NewNs: st.B.PerUnitNs}
		case st.B.Passes == 0:
			it.Status, it.Delta = Removed, &Delta{Ns: -st.A.PerUnitNs, RemovedNs: -st.A.PerUnitNs}
		}
		r.Items = append(r.Items, it)
	}
}
