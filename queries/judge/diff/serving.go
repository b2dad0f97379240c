package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
)

// ServingLoad compares what load generators measured under one load.
type ServingLoad struct {
	Load, Tool string
	A, B       int             // benchmarks under it
	Figures    []ServingFigure // none where a side has no benchmark
}

// ServingFigure is one latency or throughput of a load, compared.
type ServingFigure struct {
	Name, Unit   string   // as the columns of trend-serving; ns, or the name of a rate
	A, B         *float64 // as the tool has it, or the median over the side's benchmarks; nil when not known
	LessIsBetter bool
	Comparison   stats.Comparison
	Basis        string // what the comparison is of: requests, benchmarks, or why it has no interval
	Verdict      Verdict
}

// What serving figures rest on.
const (
	ofRequests   = "requests"
	ofBenchmarks = "benchmarks"
	ofOne        = "one measurement each: no interval"
)

// benchmark is what a run has of one.
type benchmark struct {
	load    serving.Load
	tool    string
	figures map[string]float64
	samples map[string][]float64 // of requests, by latency
}

// servingRates are the throughputs that are compared, servingStatistics what is compared of each latency. Requests bear on the centre alone.
var (
	servingRates      = []string{"requests_per_s", "output_tokens_per_s"}
	servingLatencies  = []string{"ttft", "tpot", "itl", "e2e"}
	servingStatistics = []string{"mean", "p50", "p99"}
)

// centreOf is the statistic that the centre of so many requests is.
const centreOf = "p50"

// loadServing reads the benchmarks of runs, by side.
func loadServing(ctx context.Context, asker frame.Asker, sides ...[]Run) ([][]benchmark, []Source, error) {
	var asked []frame.Question
	for _, r := range slices.Concat(sides...) {
		for _, query := range []string{"serving", "serving-latency", "serving-requests"} {
			asked = append(asked, frame.Question{Query: query, Args: frame.Args{"run": r.ID, "top": "0"}, Notes: frame.RowsOnly})
		}
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	out := make([][]benchmark, len(sides))
	var sources []Source
	at := 0
	for i, side := range sides {
		for _, r := range side {
			used := frames[3*at : 3*at+3]
			at++
			list, err := benchmarksOf(used)
			if err != nil {
				return nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
			}
			for _, f := range used {
				if len(f.Rows) > 0 {
					sources = append(sources, sourceOf(r.Name, f))
				}
			}
			out[i] = append(out[i], list...)
		}
	}
	return out, sources, nil
}

// benchmarksOf reads answers of serving, serving-latency and serving-requests of a run.
func benchmarksOf(frames []*frame.Frame) ([]benchmark, error) {
	if len(frames[0].Rows) == 0 {
		return nil, nil
	}
	rows, err := frames[0].Records(append(serving.Columns(), append(servingRates, "benchmark")...)...)
	if err != nil {
		return nil, err
	}
	var out []benchmark
	place := map[int64]int{}
	for _, x := range rows {
		b := benchmark{serving.Of(x), x.Text("tool"), map[string]float64{}, map[string][]float64{}}
		for _, rate := range servingRates {
			if v := x.Number(rate); v != nil {
				b.figures[rate] = *v
			}
		}
		place[x.Count("benchmark")] = len(out)
		out = append(out, b)
	}
	if rows, err = frames[1].Records("benchmark", "metric", "mean_ns", "p50_ns", "p99_ns"); err != nil {
		return nil, err
	}
	for _, x := range rows {
		for _, statistic := range servingStatistics {
			if v := x.Number(statistic + "_ns"); v != nil {
				out[place[x.Count("benchmark")]].figures[x.Text("metric")+"_"+statistic+"_ns"] = *v
			}
		}
	}
	if rows, err = frames[2].Records("benchmark", "ttft_ns", "tpot_ns", "e2e_ns"); err != nil {
		return nil, err
	}
	for _, x := range rows {
		for _, latency := range []string{"ttft", "tpot", "e2e"} {
			if v := x.Number(latency + "_ns"); v != nil {
				samples := out[place[x.Count("benchmark")]].samples
				samples[latency] = append(samples[latency], *v)
			}
		}
	}
	return out, nil
}

// compareServing compares benchmarks under the same load, by the same load generator.
func (r *Result) compareServing(a, b []benchmark) {
	all := slices.Concat(a, b)
	loads := make([]serving.Load, len(all))
	for i, x := range all {
		loads[i] = x.load
	}
	groups, of := serving.Group(loads)
	names := serving.Names(groups)
	type place struct {
		load int
		tool string
	}
	var order []place
	sides := map[place][2][]benchmark{}
	for i, x := range all {
		p := place{of[i], x.tool}
		pair, seen := sides[p]
		if !seen {
			order = append(order, p)
		}
		side := 0
		if i >= len(a) {
			side = 1
		}
		pair[side] = append(pair[side], x)
		sides[p] = pair
	}
	slices.SortStableFunc(order, func(x, y place) int { return groups[x.load].Compare(groups[y.load]) })
	for _, p := range order {
		pair := sides[p]
		l := ServingLoad{Load: names[p.load], Tool: p.tool, A: len(pair[0]), B: len(pair[1])}
		if l.A > 0 && l.B > 0 {
			l.Figures = r.servingFigures(pair[0], pair[1])
		}
		r.Serving = append(r.Serving, l)
	}
	var list []judged
	for i := range r.Serving {
		for k := range r.Serving[i].Figures {
			f := &r.Serving[i].Figures[k]
			list = append(list, judged{&f.Comparison, r.Options.Stats, &f.Verdict, f.LessIsBetter})
		}
	}
	judgeAll(list)
	if r.Same {
		return
	}
	for i := range r.Serving {
		for k := range r.Serving[i].Figures {
			r.Serving[i].Figures[k].temper(r.Options.Stats)
		}
	}
}

// servingFigures are those that both sides have of a load.
func (r *Result) servingFigures(a, b []benchmark) []ServingFigure {
	var out []ServingFigure
	add := func(name, unit, latency string, less bool) {
		va, vb := figuresOf(a, name), figuresOf(b, name)
		if len(va) == 0 || len(vb) == 0 {
			return
		}
		f := ServingFigure{Name: name, Unit: unit, A: new(stats.Centre(va)), B: new(stats.Centre(vb)), LessIsBetter: less, Basis: ofBenchmarks}
		o := r.Options.Stats
		if f.Comparison = stats.CompareRuns(va, vb, o); len(va) == 1 && len(vb) == 1 {
			f.Basis = ofOne
			if latency != "" && len(a[0].samples[latency]) > 1 && len(b[0].samples[latency]) > 1 {
				f.Basis, f.Comparison = ofRequests, stats.Compare(a[0].samples[latency], b[0].samples[latency], o)
			}
		}
		out = append(out, f)
	}
	for _, latency := range servingLatencies {
		for _, statistic := range servingStatistics {
			of := ""
			if statistic == centreOf {
				of = latency
			}
			add(latency+"_"+statistic+"_ns", "ns", of, true)
		}
	}
	for _, rate := range servingRates {
		add(rate, rate, "", false)
	}
	return out
}

func figuresOf(list []benchmark, name string) []float64 {
	var out []float64
	for _, b := range list {
		if v, known := b.figures[name]; known {
			out = append(out, v)
		}
	}
	return out
}

// temper takes back what requests of one benchmark a side cannot show: how much two benchmarks of the same code differ. Equal sides, and a noise that the user assumes, stand.
func (f *ServingFigure) temper(o stats.Options) {
	c := &f.Comparison
	switch {
	case f.Basis == ofOne && o.Noise == nil: // equal by chance, or as the tool rounds
		c.Verdict, f.Verdict, c.Why = stats.CannotTell, CannotTell, ofOne
	case f.Basis == ofRequests && o.Noise == nil && c.P != nil && *c.P < 1 && f.Verdict != CannotTell:
		c.Why = fmt.Sprintf("the requests of the two benchmarks: %s; benchmarks of the same code may differ as well: repeat them, or write --assume-noise 3%%", c.Why)
		c.Verdict, f.Verdict = stats.CannotTell, CannotTell
	}
}

// servingVerdict is that of runs without device work.
func (r *Result) servingVerdict() (Verdict, string) {
	count := map[Verdict]int{}
	var said []string
	figures := 0
	for _, l := range r.Serving {
		for _, f := range l.Figures {
			figures++
			count[f.Verdict]++
			if c := f.Comparison; (f.Verdict == Better || f.Verdict == Worse) && c.Effect != nil {
				said = append(said, fmt.Sprintf("%s %s %s", l.Load, f.Name, signedPercent(*c.Effect)))
			}
		}
	}
	switch {
	case figures == 0:
		return CannotTell, "no load that both sides were benchmarked under"
	case count[NoChange] == figures:
		return NoChange, "serving unchanged"
	case count[Better] > 0 && count[Worse] == 0:
		return Better, "serving better: " + strings.Join(said, ", ")
	case count[Worse] > 0 && count[Better] == 0:
		return Worse, "serving worse: " + strings.Join(said, ", ")
	case count[Better] > 0:
		return CannotTell, "serving better in some, worse in others: " + strings.Join(said, ", ")
	}
	return CannotTell, "serving: no figure changed for sure"
}
