package diff

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
	"prof/schema/say"
	"prof/schema/terms"
)

// ServingLoad compares what load generators measured under one load.
type ServingLoad struct {
	Load, Tool string
	A, B       int             // benchmarks under it
	SentA      serving.Sent    // requests of them
	SentB      serving.Sent    // likewise
	Figures    []ServingFigure // none where a side has no benchmark
}

// ServingFigure is one latency or throughput of a load, compared.
type ServingFigure struct {
	Name, Unit   string   // as the columns of trend-serving; ns, or the name of a rate
	A, B         *float64 // as the tool has it, or the median over the side's benchmarks; nil when not known
	LessIsBetter bool
	Comparison   stats.Comparison // of requests, Effect is the typical change from one of A to one of B, which the interval is of
	Basis        string           // what the comparison is of: requests, benchmarks, or why it has no interval
	Verdict      Verdict
	History      History // of benchmarks under the load, where each side has one; empty without any, and where the user assumes a noise

	options stats.Options
}

// What serving figures rest on.
const (
	ofRequests   = "requests"
	ofBenchmarks = "benchmarks"
	ofHistory    = "one measurement each, and the noise between benchmarks"
	ofOne        = "one measurement each: no interval"
)

// benchmark is what a run has of one.
type benchmark struct {
	run     Run
	number  int64 // in the run
	load    serving.Load
	tool    string
	sent    serving.Sent
	figures map[string]float64
	samples map[string][]float64 // of requests, by latency
}

// servingRates are the throughputs that are compared, servingStatistics what is compared of each latency. Requests bear on the centre alone.
var (
	servingRates      = terms.NamesOf(terms.MeasuresIn(terms.ServingMeasures, terms.Diff))
	servingStatistics = terms.StatisticsIn(terms.Diff)
)

// centreOf is the statistic that the centre of so many requests is.
const centreOf = "p50"

// loadServing reads the benchmarks of runs, by side. Requests are read only where they are used.
func loadServing(ctx context.Context, asker frame.Asker, a, b []Run) (sides [2][]benchmark, past []pastBenchmark, sources []Source, err error) {
	frames, err := askOf(ctx, asker, slices.Concat(a, b), "serving", "serving-latency")
	if err != nil {
		return sides, nil, nil, err
	}
	note := func(r Run, used ...*frame.Frame) {
		for _, f := range used {
			if len(f.Rows) > 0 {
				sources = append(sources, sourceOf(r.Name, f))
			}
		}
	}
	for i, runs := range [][]Run{a, b} {
		for _, r := range runs {
			used := frames[:2]
			frames = frames[2:]
			list, err := benchmarksOf(r, used[0], used[1])
			if err != nil {
				return sides, nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
			}
			note(r, used...)
			sides[i] = append(sides[i], list...)
		}
	}
	var runs []Run
	var wanted []benchmark
	for _, p := range pairServing(sides[0], sides[1]) {
		if len(p.a) == 1 && len(p.b) == 1 {
			wanted = append(wanted, p.a[0], p.b[0])
		}
	}
	for _, x := range wanted {
		if !slices.ContainsFunc(runs, func(r Run) bool { return r.ID == x.run.ID }) {
			runs = append(runs, x.run)
		}
	}
	var asked []frame.Question
	for _, r := range runs {
		asked = append(asked, frame.Question{Query: "serving-requests", Args: frame.Args{"run": r.ID, "top": "0"}, Notes: frame.RowsOnly}, frame.Question{Query: "serving-noise", Args: frame.Args{"run": r.ID}, Notes: frame.RowsOnly})
	}
	if frames, err = asker.AskAll(ctx, asked); err != nil {
		return sides, nil, nil, err
	}
	for i, r := range runs {
		requests, noise := frames[2*i], frames[2*i+1]
		note(r, requests, noise)
		if err = addRequests(r, wanted, requests); err == nil {
			past, err = addPast(past, noise)
		}
		if err != nil {
			return sides, nil, nil, fmt.Errorf("run %s: %w", r.Name, err)
		}
	}
	return sides, past, sources, nil
}

// requestRow is one request of a benchmark.
type requestRow struct {
	Benchmark int64    `col:"benchmark"`
	TTFT      *float64 `col:"ttft_ns"`
	TPOT      *float64 `col:"tpot_ns"`
	E2E       *float64 `col:"e2e_ns"`
}

// pastRow is a benchmark of an earlier run.
type pastRow struct {
	serving.Row
	Code  string `col:"group_name"`
	RunID string `col:"run_id"`
}

var (
	requestRows = frame.RowsOf[requestRow]("serving-requests")
	pastRows    = frame.RowsOf[pastRow]("serving-noise")
)

// namedFigures are figures of each row by name: which there are, terms say.
func namedFigures(f *frame.Frame, names []string) ([]map[string]*float64, error) {
	out := make([]map[string]*float64, len(f.Rows))
	for _, name := range names {
		values, err := f.Numbers(name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if out[i] == nil {
				out[i] = map[string]*float64{}
			}
			out[i][name] = v
		}
	}
	return out, nil
}

// pastBenchmark is one that shows how much benchmarks vary: of a run whose code has a known state.
type pastBenchmark struct {
	code, run string // state of the code, and the run's id
	load      serving.Load
	tool      string
	figures   map[string]*float64
}

// addPast adds an answer of serving-noise: of each run, which several answers may hold, all that it has.
func addPast(past []pastBenchmark, noise *frame.Frame) ([]pastBenchmark, error) {
	if len(noise.Rows) == 0 {
		return past, nil
	}
	rows, err := pastRows.Of(noise)
	if err != nil {
		return nil, err
	}
	figures, err := namedFigures(noise, slices.Concat(servingRates, latencyFigures()))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, p := range past {
		known[p.run] = true
	}
	for i, x := range rows {
		if !known[x.RunID] {
			past = append(past, pastBenchmark{x.Code, x.RunID, x.Load(), x.Tool, figures[i]})
		}
	}
	return past, nil
}

// latencyFigures names the statistics of latencies that are compared.
func latencyFigures() (out []string) {
	for _, latency := range terms.LatencyNames() {
		for _, statistic := range servingStatistics {
			out = append(out, latency+"_"+statistic+"_ns")
		}
	}
	return out
}

// learnServing finds how much a figure varies between runs of the same code under a load, but those compared. The first benchmark of each run counts: those of one run may be of one process of the engine.
func learnServing(past []pastBenchmark, load serving.Load, tool, figure string, alpha float64, without ...string) History {
	took := map[string]map[string][]float64{}
	for _, p := range past {
		v := p.figures[figure]
		if p.tool != tool || !p.load.Same(load) || v == nil || *v <= 0 || len(took[p.code][p.run]) > 0 {
			continue
		}
		if took[p.code] == nil {
			took[p.code] = map[string][]float64{}
		}
		took[p.code][p.run] = []float64{*v}
	}
	h := learn(took, alpha, without...)
	if h.Noise != nil && h.Noise.SD == 0 { // of copies, or as the tool rounds
		return History{}
	}
	return h
}

// askOf asks queries of runs for all of their rows: the answers of a run follow each other.
func askOf(ctx context.Context, asker frame.Asker, runs []Run, names ...string) ([]*frame.Frame, error) {
	var asked []frame.Question
	for _, r := range runs {
		for _, query := range names {
			asked = append(asked, frame.Question{Query: query, Args: frame.Args{"run": r.ID, "top": "0"}, Notes: frame.RowsOnly})
		}
	}
	return asker.AskAll(ctx, asked)
}

// benchmarksOf reads answers of serving and serving-latency of a run.
func benchmarksOf(run Run, loads, latencies *frame.Frame) ([]benchmark, error) {
	if len(loads.Rows) == 0 {
		return nil, nil
	}
	rows, err := serving.Benchmarks.Of(loads)
	if err != nil {
		return nil, err
	}
	rates, err := namedFigures(loads, servingRates)
	if err != nil {
		return nil, err
	}
	var out []benchmark
	place := map[int64]int{}
	for i, x := range rows {
		b := benchmark{run, x.Number, x.Load(), x.Tool, x.Sent(), map[string]float64{}, map[string][]float64{}}
		for rate, v := range rates[i] {
			if v != nil {
				b.figures[rate] = *v
			}
		}
		place[b.number] = len(out)
		out = append(out, b)
	}
	each, err := serving.Latencies.Of(latencies)
	if err != nil {
		return nil, err
	}
	for _, x := range each {
		for statistic, v := range map[string]*float64{"mean": x.Mean, "p50": x.P50, "p99": x.P99} {
			if v != nil {
				out[place[x.Benchmark]].figures[x.Metric+"_"+statistic+"_ns"] = *v
			}
		}
	}
	return out, nil
}

// addRequests gives benchmarks of a run their requests: an answer of serving-requests.
func addRequests(run Run, list []benchmark, requests *frame.Frame) error {
	rows, err := requestRows.Of(requests)
	if err != nil {
		return err
	}
	of := map[int64][]benchmark{} // two of a run that is on both sides
	for _, b := range list {
		if b.run.ID == run.ID {
			of[b.number] = append(of[b.number], b)
		}
	}
	for _, x := range rows {
		for latency, v := range map[string]*float64{"ttft": x.TTFT, "tpot": x.TPOT, "e2e": x.E2E} {
			if v != nil {
				for _, b := range of[x.Benchmark] {
					b.samples[latency] = append(b.samples[latency], *v)
				}
			}
		}
	}
	return nil
}

// servingPair is what both sides have of a load by one load generator.
type servingPair struct {
	name, tool string
	a, b       []benchmark
}

// pairServing puts benchmarks together that were under the same load, by the same load generator.
func pairServing(a, b []benchmark) []servingPair {
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
	pairs := map[place]*servingPair{}
	for i, x := range all {
		p := place{of[i], x.tool}
		if pairs[p] == nil {
			order, pairs[p] = append(order, p), &servingPair{name: names[p.load], tool: p.tool}
		}
		side := &pairs[p].a
		if i >= len(a) {
			side = &pairs[p].b
		}
		*side = append(*side, x)
	}
	slices.SortStableFunc(order, func(x, y place) int { return groups[x.load].Compare(groups[y.load]) })
	var out []servingPair
	for _, p := range order {
		out = append(out, *pairs[p])
	}
	return out
}

func sentOf(list []benchmark) serving.Sent {
	out := serving.Sent{Known: len(list) > 0}
	for _, b := range list {
		out = out.Add(b.sent)
	}
	return out
}

// compareServing compares benchmarks under the same load, by the same load generator.
func (r *Result) compareServing(a, b []benchmark, past []pastBenchmark) {
	for _, p := range pairServing(a, b) {
		l := ServingLoad{Load: p.name, Tool: p.tool, A: len(p.a), B: len(p.b), SentA: sentOf(p.a), SentB: sentOf(p.b)}
		if l.A > 0 && l.B > 0 {
			l.Figures = r.servingFigures(p.a, p.b, past)
		}
		r.Serving = append(r.Serving, l)
	}
	var list []judged
	for i := range r.Serving {
		for k := range r.Serving[i].Figures {
			f := &r.Serving[i].Figures[k]
			list = append(list, judged{&f.Comparison, f.options, &f.Verdict, f.LessIsBetter})
		}
	}
	judgeAll(list)
	if r.Same {
		return
	}
	for i := range r.Serving {
		for k := range r.Serving[i].Figures {
			r.Serving[i].Figures[k].temper(r.Serving[i].failedMore())
		}
		if note := r.Serving[i].noiseNote(); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
}

// servingFigures are those that both sides have of a load.
func (r *Result) servingFigures(a, b []benchmark, past []pastBenchmark) []ServingFigure {
	var out []ServingFigure
	add := func(name, unit, latency string, less bool) {
		va, vb := figuresOf(a, name), figuresOf(b, name)
		if len(va) == 0 || len(vb) == 0 {
			return
		}
		f := ServingFigure{Name: name, Unit: unit, A: new(stats.Centre(va)), B: new(stats.Centre(vb)), LessIsBetter: less, Basis: ofBenchmarks}
		o := r.Options.Stats
		single := len(va) == 1 && len(vb) == 1
		if single && o.Noise == nil {
			f.History = learnServing(past, a[0].load, a[0].tool, name, o.Alpha, a[0].run.ID, b[0].run.ID)
			o.Noise = f.History.Noise
		}
		f.options = o
		if f.Comparison = stats.CompareRuns(va, vb, o); single {
			f.Basis = ofOne
			if f.History.Noise != nil {
				f.Basis = ofHistory
			}
			if latency != "" && len(a[0].samples[latency]) > 1 && len(b[0].samples[latency]) > 1 {
				f.Basis, f.Comparison = ofRequests, stats.Compare(a[0].samples[latency], b[0].samples[latency], o)
				if f.Comparison.Method == stats.MethodU {
					f.Comparison.Effect = stats.Shift(a[0].samples[latency], b[0].samples[latency])
				}
			}
		}
		out = append(out, f)
	}
	for _, latency := range terms.LatencyNames() {
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

// noiseNote returns what shows how much benchmarks under a load vary, by the figure that varies most; "" where nothing does.
func (l ServingLoad) noiseNote() string {
	var most *ServingFigure
	for i := range l.Figures {
		if f := &l.Figures[i]; f.History.Noise != nil && (most == nil || f.History.Noise.Floor > most.History.Noise.Floor) {
			most = f
		}
	}
	if most == nil {
		return ""
	}
	h := most.History
	return fmt.Sprintf("noise between benchmarks of this workload on this machine under %s: up to %s, of %s (from %s of %s)", l.Load, h.floor(), most.Words(), say.Count(int64(h.Processes), "run", "runs"), say.Count(int64(h.Commits), "commit", "commits"))
}

// temper takes back what requests of one benchmark a side cannot show: how much two benchmarks of the same code differ. Equal sides, and a noise that the user assumes or that is known of earlier benchmarks,
// stand. Where more requests failed, nothing is better: those that succeeded had the engine to themselves.
func (f *ServingFigure) temper(failedMore bool) {
	c, o := &f.Comparison, f.options
	take := func(why string) { c.Verdict, f.Verdict, c.Why = stats.CannotTell, CannotTell, why }
	switch {
	case f.Basis == ofOne && o.Noise == nil: // equal by chance, or as the tool rounds
		take(ofOne)
	case f.Basis == ofRequests && o.Noise == nil && c.P != nil && *c.P < 1 && f.Verdict != CannotTell:
		take(fmt.Sprintf("the requests of the two benchmarks: %s; benchmarks of the same code may differ as well: repeat them, or write --assume-noise 3%%", c.Why))
	case f.Verdict == Better && failedMore:
		take("more requests failed in B, and the figure is of those that succeeded")
	}
	if (f.Basis == ofOne || f.Basis == ofRequests) && o.Noise == nil { // nothing is judged by it
		c.P, c.Adjusted = nil, nil
	}
}

func (l ServingLoad) failedMore() bool { return serving.FailedMore(l.SentA, l.SentB) }

// FailedWords say how many requests failed on each side, and what that means for the figures; "" where none did.
func (l ServingLoad) FailedWords() string {
	text := serving.FailedText(l.SentA, l.SentB)
	switch {
	case l.A == 0 || l.B == 0 || text == "":
		return ""
	case l.failedMore():
		return "more requests failed: " + text
	}
	return "requests failed: " + text
}

// FailsMoreThan reports whether the share of requests that succeed is lower in B than in A by more than a limit of A's.
func (l ServingLoad) FailsMoreThan(limit float64) bool {
	return l.failedMore() && (1-l.SentB.FailedRatio()) < (1-limit)*(1-l.SentA.FailedRatio())
}

// Words name the figure: TTFT p99, output tokens/s.
func (f ServingFigure) Words() string {
	if rate, ok := strings.CutSuffix(f.Name, "_per_s"); ok {
		return strings.ReplaceAll(rate, "_", " ") + "/s"
	}
	latency, statistic, _ := strings.Cut(strings.TrimSuffix(f.Name, "_ns"), "_")
	return strings.ToUpper(latency) + " " + statistic
}

// Slowdown is by how much B is worse than A, as a share of A, and at most; nil where that is not known. Below 0 it is better.
func (f ServingFigure) Slowdown() (effect, most *float64) {
	c := f.Comparison
	if f.LessIsBetter {
		return c.Effect, c.High
	}
	minus := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(-*v)
	}
	return minus(c.Effect), minus(c.Low)
}

// What the line of a comparison has room for.
const (
	mostFigures = 3 // of a load, those that changed most
	mostLoads   = 3
)

// changedFigures names the figures with a verdict, by load; "" where there are none.
func (r *Result) changedFigures(v Verdict) string {
	var out []string
	for _, l := range r.Serving {
		var changed []ServingFigure
		for _, f := range l.Figures {
			if f.Verdict == v && f.Comparison.Effect != nil {
				changed = append(changed, f)
			}
		}
		size := func(f ServingFigure) float64 { return math.Abs(math.Log1p(*f.Comparison.Effect)) }
		slices.SortStableFunc(changed, func(x, y ServingFigure) int { return cmp.Compare(size(y), size(x)) })
		var said []string
		for _, f := range changed[:min(len(changed), mostFigures)] {
			said = append(said, f.Words()+" "+signedPercent(*f.Comparison.Effect))
		}
		text := strings.Join(said, ", ")
		if n := len(changed) - mostFigures; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		if text != "" {
			out = append(out, fmt.Sprintf("%s (%s)", text, l.Load))
		}
	}
	if n := len(out) - mostLoads; n > 0 {
		out = append(out[:mostLoads], "and under "+say.Count(int64(n), "other load", "other loads"))
	}
	return strings.Join(out, ", ")
}

// servingVerdict is that of the benchmarks together: compared is false where both sides have none in common.
func (r *Result) servingVerdict() (v Verdict, words string, compared bool) {
	count := map[Verdict]int{}
	figures, single := 0, true
	var failed []string
	for _, l := range r.Serving {
		for _, f := range l.Figures {
			figures++
			count[f.Verdict]++
			single = single && f.Basis != ofBenchmarks && f.History.Noise == nil
		}
		if len(l.Figures) > 0 && l.failedMore() {
			failed = append(failed, fmt.Sprintf("%s (%s)", serving.FailedText(l.SentA, l.SentB), l.Load))
		}
	}
	if figures == 0 {
		return CannotTell, "no load that both sides were benchmarked under", false
	}
	var said []string
	for _, v := range []Verdict{Worse, Better} {
		if text := r.changedFigures(v); text != "" {
			said = append(said, string(v)+": "+text)
		}
	}
	failedText := "more requests failed: " + strings.Join(failed, ", ")
	if len(failed) > 0 {
		said = append(said, failedText)
	}
	words = "serving " + strings.Join(said, "; ")
	if count[Worse]+count[Better] == 0 {
		words = "serving: " + strings.Join(said, "; ")
	}
	switch {
	case count[Worse] > 0 && count[Better] == 0:
		return Worse, words, true
	case count[Worse] > 0 || len(failed) > 0:
		return CannotTell, words, true
	case count[Better] > 0:
		return Better, words, true
	case count[NoChange] == figures:
		return NoChange, "serving unchanged", true
	case count[CannotTell] == figures && single: // several benchmarks have an interval, and no change beyond it
		return CannotTell, "serving: cannot tell, one benchmark on each side does not show how much benchmarks vary", true
	}
	return CannotTell, "serving: no significant change", true
}

// addServing adds what benchmarks say to the verdict of the stages, or is the verdict where there are none.
func (r *Result) addServing() {
	if len(r.Serving) == 0 {
		return
	}
	v, words, compared := r.servingVerdict()
	switch {
	case len(r.judgedStages()) == 0:
		r.Verdict, r.Words = v, words
	case compared && !r.Same:
		r.Verdict, r.Words = both(r.Verdict, v), r.Words+"; "+words
	}
}

// both is the verdict of two things together: contrary ones cancel, and a change goes before none.
func both(a, b Verdict) Verdict {
	changed := func(v Verdict) bool { return v == Better || v == Worse }
	switch {
	case a == b || changed(a) && !changed(b):
		return a
	case changed(b) && !changed(a):
		return b
	}
	return CannotTell
}
