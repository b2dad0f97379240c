package trend

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

// ServingNames returns what metrics of serving are called.
func ServingNames() string { return terms.ServingText(terms.Trend) }

// ServingMetrics are those that load generators measure at the client.
func ServingMetrics() []Metric { return metricsOf(terms.ServingIn(terms.Trend)) }

// IsServing reports whether load generators measure it, instead of profilers.
func (m Metric) IsServing() bool { return slices.Contains(ServingMetrics(), m) }

// newServing follows a metric of serving under the loads that are wanted.
func newServing(ctx context.Context, a frame.Asker, o Options) (*Result, error) {
	if o.Stage != "" {
		return nil, fmt.Errorf("%w: a load generator does not see stages: leave out --stage, or choose another metric than %s", frame.ErrBadArgument, o.Metric)
	}
	args := frame.Args{"metric": string(o.Metric)}
	for name, v := range map[string]string{"workload": o.Workload, "tag": strings.Join(o.Tags, "\n")} {
		if v != "" {
			args[name] = v
		}
	}
	f, err := a.Ask(ctx, "trend-serving", args)
	if err != nil {
		return nil, err
	}
	o.Kernels = 0 // a benchmark says nothing of them
	r := &Result{Options: o, Queries: []Source{{fmt.Sprintf("%s.v%d", f.Query, f.Version), f.SQL}}}
	if err := r.addLoads(f); err != nil {
		return nil, err
	}
	r.findChanges()
	r.takeBack()
	if err := r.addProvenance(ctx, a); err != nil {
		return nil, err
	}
	r.addNotes()
	return r, nil
}

// benchmarkRow is a benchmark of a run.
type benchmarkRow struct {
	runRow
	serving.Row
	Value *float64 `col:"value"`
}

var benchmarkRows = frame.RowsOf[benchmarkRow]("trend-serving")

// addLoads makes series of the benchmarks under the loads that are wanted.
func (r *Result) addLoads(f *frame.Frame) error {
	if len(f.Rows) == 0 {
		return fmt.Errorf("%w: none of the runs%s has a result of a load generator: prof ingest --run RUN --add FILE adds one", ErrNoWorkload, r.Options.ofWorkload())
	}
	rows, err := benchmarkRows.Of(f)
	if err != nil {
		return err
	}
	loads := make([]serving.Load, len(rows))
	for i, x := range rows {
		loads[i] = x.Load()
	}
	groups, of := serving.Group(loads)
	names := serving.Names(groups)
	wanted, err := r.wanted(rows, groups, of, names)
	if err != nil {
		return err
	}
	type place struct {
		load      int
		gpu, tool string
	}
	series, values := map[place]int{}, map[place][]float64{}
	for i, x := range rows {
		if !wanted[of[i]] {
			continue
		}
		at, p := r.run(x.runRow, ""), place{of[i], x.GPU, x.Tool}
		if _, seen := series[p]; !seen {
			series[p] = len(r.Series)
			r.Series = append(r.Series, Series{Stage: names[of[i]], Same: Same{GPU: p.gpu, Tool: p.tool}})
		}
		s := &r.Series[series[p]]
		if n := len(s.Points); n == 0 || s.Points[n-1].Run != at {
			s.Points, values[p] = append(s.Points, Point{Run: at, Sent: serving.Sent{Known: true}}), nil
		}
		last := &s.Points[len(s.Points)-1]
		last.Sent = last.Sent.Add(x.Sent())
		if x.Value != nil {
			values[p] = append(values[p], *x.Value)
			last.set(values[p])
		}
	}
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return groups[a].Compare(groups[b]) })
	sorted := make([]string, 0, len(order))
	for _, i := range order {
		sorted = append(sorted, names[i])
	}
	r.orderSeries(sorted)
	return nil
}

// takeBack leaves out improvements since which a larger share of requests fails, and notes them: those that succeed have the engine to themselves.
func (r *Result) takeBack() {
	r.Changes = slices.DeleteFunc(r.Changes, func(c Change) bool {
		before, after := r.Series[c.Series].sentAround(c.Point)
		failed := serving.FailedText(before, after)
		if failed == "" || !serving.FailedMore(before, after) {
			return false
		}
		text := fmt.Sprintf("more requests fail from %s on: %s (%s)", r.Runs[c.First].Name, failed, r.Series[c.Series].Stage)
		if c.Verdict == Better {
			text += "; the better figures since then are of those that succeeded, and no improvement"
		}
		r.Notes = append(r.Notes, text)
		return c.Verdict == Better
	})
}

// sentAround adds up the requests of the points from one level change to the next, before a point and from it on.
func (s *Series) sentAround(point int) (before, after serving.Sent) {
	from, to := 0, len(s.Points)
	for _, l := range s.Levels {
		switch {
		case l.From == point:
			to = l.To + 1
		case l.From < point:
			from = l.From
		}
	}
	sum := func(points []Point) serving.Sent {
		out := serving.Sent{Known: len(points) > 0}
		for _, p := range points {
			out = out.Add(p.Sent)
		}
		return out
	}
	return sum(s.Points[from:point]), sum(s.Points[point:to])
}

// set makes a point of the benchmarks that a run has under one load: their median, mean and spread.
func (p *Point) set(values []float64) {
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	for _, v := range values {
		squares += (v - sum/n) * (v - sum/n)
	}
	p.Value, p.Mean, p.Passes = new(stats.Centre(values)), new(sum/n), int64(len(values))
	if n > 1 {
		p.Std = new(math.Sqrt(squares / (n - 1)))
	}
}

// wanted returns which loads are followed: those that were asked for, or the one that most runs share, of several such that of the latest run. It notes the others.
func (r *Result) wanted(rows []benchmarkRow, groups []serving.Load, of []int, names []string) ([]bool, error) {
	out := make([]bool, len(groups))
	if r.Options.Load != "" {
		pick, err := serving.Parse(r.Options.Load)
		if err != nil {
			return nil, err
		}
		for i, l := range groups {
			out[i] = pick.Has(l)
		}
		if !slices.Contains(out, true) {
			return nil, fmt.Errorf("%w: no benchmark of this workload was under the load %q; there are %s", ErrNoWorkload, r.Options.Load, listed(names))
		}
		return out, nil
	}
	runs, latest := make([]map[string]bool, len(groups)), make([]int, len(groups))
	for i, x := range rows {
		if runs[of[i]] == nil {
			runs[of[i]] = map[string]bool{}
		}
		runs[of[i]][x.ID], latest[of[i]] = true, i
	}
	best := 0
	for i := range groups {
		if cmp.Or(cmp.Compare(len(runs[i]), len(runs[best])), cmp.Compare(latest[i], latest[best])) > 0 {
			best = i
		}
	}
	out[best] = true
	if len(groups) > 1 {
		others := slices.Delete(slices.Clone(names), best, best+1)
		r.Notes = append(r.Notes, fmt.Sprintf("the load is the one that most runs share (%d); --load shows others: %s", len(runs[best]), listed(others)))
	}
	return out, nil
}

// mostListed is how many loads are named at most.
const mostListed = 8

func listed(names []string) string {
	if len(names) > mostListed {
		return fmt.Sprintf("%s; and %d more", strings.Join(names[:mostListed], "; "), len(names)-mostListed)
	}
	return strings.Join(names, "; ")
}
