package trend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
)

// mostAsked is of how many pairs of runs it is asked at most what differs between them, the latest first.
const mostAsked = 12

// conditionRow is one condition of a run.
type conditionRow struct {
	RunID  string `col:"run_id"`
	Aspect string `col:"aspect"`
	Value  string `col:"value"`
	Weight string `col:"weight"`
}

var conditionRows = frame.RowsOf[conditionRow]("run-conditions")

// addProvenance asks of the two runs on either side of each change what they do not have in common.
func (r *Result) addProvenance(ctx context.Context, a frame.Asker) error {
	pairs := r.pairs()
	if len(pairs) == 0 {
		return nil
	}
	var ids []string
	for _, pair := range pairs {
		for _, run := range pair {
			if id := r.Runs[run].ID; !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	f, err := a.Ask(ctx, "run-conditions", frame.Args{"run": ids[0], "others": strings.Join(ids[1:], ",")})
	if err != nil {
		return fmt.Errorf("compare the conditions of runs: %w", err)
	}
	rows, err := conditionRows.Of(f)
	if err != nil {
		return err
	}
	r.Queries = append(r.Queries, Source{fmt.Sprintf("%s.v%d", f.Query, f.Version), f.SQL})
	said := map[string][]conditionRow{}
	for _, x := range rows {
		said[x.RunID] = append(said[x.RunID], x)
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Asked = slices.Contains(pairs, [2]int{c.Last, c.First}); c.Asked {
			c.Provenance = differences(said[r.Runs[c.Last].ID], said[r.Runs[c.First].ID])
		}
	}
	return nil
}

// pairs are the last run at the old level and the first at the new one of the latest changes, without repeats.
func (r *Result) pairs() [][2]int {
	var out [][2]int
	for _, c := range slices.Backward(r.Changes) {
		if p := [2]int{c.Last, c.First}; len(out) < mostAsked && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// weights are those of run-conditions, the one that matters most first; the commit goes before all.
var weights = []string{"decides", "clouds", "tells"}

// differences lists what two runs do not have in common.
func differences(before, after []conditionRow) []Difference {
	said := map[string]*Difference{}
	var out []*Difference
	at := func(x conditionRow) *Difference {
		d := said[x.Aspect]
		if d == nil {
			d = &Difference{Aspect: x.Aspect, Weight: x.Weight}
			said[d.Aspect] = d
			out = append(out, d)
		}
		return d
	}
	for _, x := range before {
		at(x).Before = x.Value
	}
	for _, x := range after {
		at(x).After = x.Value
	}
	place := func(d Difference) int {
		if d.Aspect == "commit" {
			return -1
		}
		return slices.Index(weights, d.Weight)
	}
	var differ []Difference
	for _, d := range out {
		if d.Before != d.After {
			differ = append(differ, *d)
		}
	}
	slices.SortStableFunc(differ, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Aspect, b.Aspect))
	})
	return differ
}

// addNotes says what the figures leave out.
func (r *Result) addNotes() {
	gaps, points, varying := 0, 0, false
	for _, s := range r.Series {
		points += len(s.Points)
		for _, p := range s.Points {
			if p.Value == nil {
				gaps++
			}
		}
		varying = varying || s.Same.Varying
	}
	switch {
	case r.Options.Metric.IsServing() && gaps == points:
		r.Notes = append(r.Notes, fmt.Sprintf("%s is unknown for all of these runs: their load generators did not report it, see prof query serving-latency of one of them", r.Options.Metric))
	case gaps == points:
		r.Notes = append(r.Notes, fmt.Sprintf("%s is unknown for all of these runs; prof query mfu and prof query stages of one of them say why", r.Options.Metric))
	case gaps > 0:
		of := "stage"
		if r.Options.Metric.IsServing() {
			of = "load"
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s is unknown at %d of %d points (a run and %s each): these are gaps, not zeros", r.Options.Metric, gaps, points, of))
	}
	if n := len(r.Runs); r.Options.Kernels > 0 && n > r.Options.KernelRuns {
		r.Notes = append(r.Notes, fmt.Sprintf("only the latest %d of %d runs are searched for kernels that moved: for an older change, use prof diff on the runs on either side of it", r.Options.KernelRuns, n))
	}
	if varying {
		r.Notes = append(r.Notes, "runs whose passes differ in tokens among themselves form one series, whatever their tokens: its times reflect the tokens too")
	}
	asked := 0
	for _, c := range r.Changes {
		if c.Asked {
			asked++
		}
	}
	if n := len(r.Changes); asked < n {
		r.Notes = append(r.Notes, fmt.Sprintf("other differences are listed only for the latest %d of %d changes", asked, n))
	}
}
