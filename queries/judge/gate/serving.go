package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

// figureRow is a row with a figure of a benchmark: of serving, or of one latency in serving-latency.
type figureRow struct {
	Benchmark int64  `col:"benchmark"`
	Metric    string `col:"metric,optional"`
}

// makeServingFigures are the figures of load generators: times by their names without unit.
func makeServingFigures() map[string]figure {
	out := map[string]figure{}
	for _, m := range terms.ServingIn(terms.Check) {
		out[strings.TrimSuffix(m.Name, "_ns")] = figure{unitOf(m), false}
	}
	return out
}

// servingColumn is the column in serving of a figure that is no latency.
func servingColumn(name string) (column string, is bool) {
	for _, m := range terms.ServingMeasures {
		if m.Name == name && m.Unit == string(Count) {
			return name + "_count", true
		} else if m.Name == name {
			return name, true
		}
	}
	return "", false
}

// loadMark begins a subject that names loads.
const loadMark = "serving{"

// servingUnder reads serving{LOAD}.FIGURE.
func (s *scanner) servingUnder() (Subject, error) {
	begin := s.at
	s.at += len(loadMark)
	at := s.at
	text, _, closed := strings.Cut(s.rest(), "}")
	if !closed {
		return Subject{}, s.errorf(at, "the load has no closing brace: write serving{concurrency=32,in=1024}.ttft_p99")
	}
	pick, err := serving.Parse(text)
	if err != nil {
		return Subject{}, s.errorf(at, "%s", strings.TrimPrefix(err.Error(), frame.ErrBadArgument.Error()+": "))
	}
	s.at += len(text) + 1
	metric, dotted := strings.CutPrefix(s.word(), ".")
	if !dotted {
		return Subject{}, s.errorf(begin, "which figure of the load? write serving{%s}.ttft_p99", pick)
	}
	return s.serving(begin, metric, pick)
}

// serving reads the figure of a load generator that a rule is about.
func (s *scanner) serving(begin int, metric string, load serving.Pick) (Subject, error) {
	if _, known := servingFigures[metric]; !known {
		return Subject{}, s.errorf(begin, "load generators have no figure %q%s; write %s with _%s, such as serving.ttft_p99, or serving.%s",
			metric, near(metric, names(servingFigures)...), strings.Join(terms.LatencyNames(), ", "), strings.ReplaceAll(strings.ReplaceAll(terms.Or(terms.StatisticsIn(terms.Check)), ", ", ", _"), " or ", " or _"), strings.Join(slices.Sorted(slices.Values(terms.NamesOf(terms.ServingMeasures))), ", serving."))
	}
	return Subject{Kind: Serving, Load: load, Metric: metric}, nil
}

// expandServing makes a check of each load that the run was benchmarked under, as the client measured it.
func (j *judging) expandServing(ctx context.Context, r Rule) error {
	loads, err := j.ask(ctx, "serving")
	if err != nil {
		return err
	}
	latency, statistic, _ := strings.Cut(r.Metric, "_")
	column, isPlain := servingColumn(r.Metric)
	figures := loads
	if !isPlain {
		column = statistic + "_ns"
		if figures, err = j.ask(ctx, "serving-latency"); err != nil {
			return err
		}
	}
	type measured struct {
		run int
		row serving.Benchmark
	}
	var all []measured
	var found []map[int64]*float64 // by run
	var asked []serving.Load
	for i, f := range loads {
		rows, err := serving.Benchmarks.Of(f)
		if err != nil {
			return err
		}
		found = append(found, map[int64]*float64{})
		if err := each(figures[i], column, !isPlain, latency, found[i]); err != nil {
			return err
		}
		for _, row := range rows {
			all, asked = append(all, measured{i, row}), append(asked, row.Load())
		}
	}
	groups, of := serving.Group(asked)
	loadNames := serving.Names(groups)
	type place struct {
		load, repeat int
	}
	var order []place
	values, missing, times := map[place][]float64{}, map[place]bool{}, map[[2]int]int{}
	for i, m := range all {
		if !r.Load.Has(groups[of[i]]) {
			continue
		}
		times[[2]int{m.run, of[i]}]++
		p := place{of[i], times[[2]int{m.run, of[i]}]} // a repeat within a run is a check of its own
		if _, seen := values[p]; !seen {
			order, values[p] = append(order, p), nil
		}
		if v := found[m.run][m.row.Number]; v != nil {
			values[p] = append(values[p], *v)
		} else {
			missing[p] = true
		}
	}
	for _, p := range order {
		c := Check{Rule: r, Subject: r.On(""), Unit: r.Unit}
		if len(order) > 1 {
			name := loadNames[p.load]
			if p.repeat > 1 {
				name += fmt.Sprintf(", repeat %d", p.repeat)
			}
			c.Subject += " (" + name + ")"
		}
		switch {
		case missing[p]:
			c.Outcome, c.Reason = CannotTell, "the load generator did not report this figure: see prof query serving-latency --run "+shellRun(j.out.Run)
		case len(values[p]) < len(loads):
			c.Outcome, c.Reason = CannotTell, fmt.Sprintf("%d of %d runs were benchmarked under this load", len(values[p]), len(loads))
		default:
			c.Value = new(stats.Centre(values[p]))
		}
		j.add(c)
	}
	switch {
	case len(order) > 0:
	case len(all) > 0:
		j.add(Check{Rule: r, Subject: r.On(""), Unit: r.Unit, Outcome: CannotTell, Reason: "no benchmark was under this load; there are " + strings.Join(loadNames, "; ")})
	default:
		j.add(Check{Rule: r, Subject: r.On(""), Unit: r.Unit, Outcome: CannotTell, Reason: fmt.Sprintf("%s has no result of a load generator: prof ingest --run %s --add FILE", sideName(j.out.Run), shellRun(j.out.Run))})
	}
	return nil
}

// each notes a column's value by benchmark, of one latency where the frame has several.
func each(f *frame.Frame, column string, ofLatency bool, latency string, found map[int64]*float64) error {
	rows, err := frame.Into[figureRow](f)
	if err != nil {
		return err
	}
	values, err := f.Numbers(column)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if !ofLatency || row.Metric == latency {
			found[row.Benchmark] = values[i]
		}
	}
	return nil
}
