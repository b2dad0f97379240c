package gate

import (
	"context"
	"fmt"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
)

// servingStatistics are what rules call the statistics of serving-latency.
var servingStatistics = []string{"mean", "min", "p50", "p90", "p95", "p99", "p999", "max"}

// servingColumns are the other figures that rules may be about, by their columns in serving.
var servingColumns = map[string]string{"requests_per_s": "requests_per_s", "output_tokens_per_s": "output_tokens_per_s", "total_tokens_per_s": "total_tokens_per_s", "completed": "completed_count", "failed": "failed_count"}

func makeServingFigures() map[string]figure {
	out := map[string]figure{}
	for _, latency := range serving.Latencies {
		for _, statistic := range servingStatistics {
			out[latency+"_"+statistic] = figure{Ns, false}
		}
	}
	for name, column := range servingColumns {
		out[name] = figure{PerSec, false}
		if strings.HasSuffix(column, "_count") {
			out[name] = figure{Count, false}
		}
	}
	return out
}

// serving reads the figure of a load generator that a rule is about.
func (s *scanner) serving(begin int, metric string) (Subject, error) {
	if _, known := servingFigures[metric]; !known {
		return Subject{}, s.errorf(begin, "load generators have no figure %q%s; write %s with _mean, _min, _p50, _p90, _p95, _p99, _p999 or _max, such as serving.ttft_p99, or serving.%s",
			metric, near(metric, names(servingFigures)...), strings.Join(serving.Latencies, ", "), strings.Join(names(servingColumns), ", serving."))
	}
	return Subject{Kind: Serving, Metric: metric}, nil
}

// expandServing makes a check of each load that the run was benchmarked under, as the client measured it.
func (j *judging) expandServing(ctx context.Context, r Rule) error {
	loads, err := j.ask(ctx, "serving")
	if err != nil {
		return err
	}
	latency, statistic, _ := strings.Cut(r.Metric, "_")
	column, isPlain := servingColumns[r.Metric]
	figures := loads
	if !isPlain {
		column = statistic + "_ns"
		if figures, err = j.ask(ctx, "serving-latency"); err != nil {
			return err
		}
	}
	var order []string
	values, missing := map[string][]float64{}, map[string]bool{}
	for i, f := range loads {
		rows, err := f.Records("benchmark", "target_requests_per_s", "concurrency_limit_count")
		if err != nil {
			return err
		}
		found := map[string]*float64{}
		if err := each(figures[i], column, !isPlain, latency, found); err != nil {
			return err
		}
		times := map[string]int{}
		for _, row := range rows {
			load := loadWords(row.Number("target_requests_per_s"), row.Number("concurrency_limit_count"))
			if times[load]++; times[load] > 1 { // a repeat
				load = fmt.Sprintf("%s, repeat %d", load, times[load])
			}
			if _, seen := values[load]; !seen {
				order, values[load] = append(order, load), nil
			}
			if v := found[fmt.Sprint(row.Amount("benchmark"))]; v != nil {
				values[load] = append(values[load], *v)
			} else {
				missing[load] = true
			}
		}
	}
	for _, load := range order {
		c := Check{Rule: r, Subject: r.On(""), Unit: r.Unit}
		if len(order) > 1 {
			c.Subject += " (" + load + ")"
		}
		switch {
		case missing[load]:
			c.Outcome, c.Reason = CannotJudge, "the load generator did not report this figure: see prof query serving-latency --run "+shellRun(j.out.Run)
		case len(values[load]) < len(loads):
			c.Outcome, c.Reason = CannotJudge, fmt.Sprintf("%d of %d runs were benchmarked under this load", len(values[load]), len(loads))
		default:
			c.Value = new(stats.Centre(values[load]))
		}
		j.add(c)
	}
	if len(order) == 0 {
		j.add(Check{Rule: r, Subject: r.On(""), Unit: r.Unit, Outcome: CannotJudge, Reason: fmt.Sprintf("%s has no result of a load generator: prof ingest --run %s --add FILE", sideName(j.out.Run), shellRun(j.out.Run))})
	}
	return nil
}

// each notes a column's value by benchmark, of one latency where the frame has several.
func each(f *frame.Frame, column string, ofLatency bool, latency string, found map[string]*float64) error {
	columns := []string{"benchmark", column}
	if ofLatency {
		columns = append(columns, "metric")
	}
	rows, err := f.Records(columns...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if !ofLatency || row.Text("metric") == latency {
			found[fmt.Sprint(row.Amount("benchmark"))] = row.Number(column)
		}
	}
	return nil
}

// loadWords names the load that was asked for.
func loadWords(rate, limit *float64) string {
	var out []string
	if rate != nil {
		out = append(out, fmt.Sprintf("%s requests/s", decimal(*rate)))
	}
	if limit != nil {
		out = append(out, fmt.Sprintf("%s at once", decimal(*limit)))
	}
	if len(out) == 0 {
		return "no limit"
	}
	return strings.Join(out, ", ")
}
