// Package serving says which benchmarks of serving engines were under the same load, and so can be compared.
package serving

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// Load is what a benchmark asked of an engine. Runs with the same arguments may differ a little in lengths, as engines end their answers themselves.
type Load struct {
	Rate        string   // requests per second; "inf" without waiting; "" when unknown
	Concurrency string   // requests at once at most; "" without a limit, and when unknown
	Requests    string   // requests in all, where none waits for another and so their number is the load; else ""
	Input       *float64 // mean tokens of a prompt; nil when unknown
	Output      *float64 // mean tokens generated for a request, likewise
	Scenario    string   // of MLPerf's LoadGen; "" of others
	Model       string   // "" when unknown
}

// Row is what tells a benchmark's load, of a row of serving, serving-noise or trend-serving.
type Row struct {
	Rate        *float64 `col:"target_requests_per_s"`
	IsUnlimited *bool    `col:"is_rate_unlimited"`
	Concurrency *float64 `col:"concurrency_limit_count"`
	Completed   *float64 `col:"completed_count"`
	Failed      *float64 `col:"failed_count"`
	Input       *float64 `col:"input_token_count"`
	Output      *float64 `col:"output_token_count"`
	Tool        string   `col:"tool"`
	Label       string   `col:"label"`
	Model       string   `col:"model"`
}

// Benchmark is a row of serving.
type Benchmark struct {
	Row
	Number           int64    `col:"benchmark"`
	RequestsPerS     *float64 `col:"requests_per_s"`
	OutputTokensPerS *float64 `col:"output_tokens_per_s"`
}

// Latency is a row of serving-latency: one latency of a benchmark.
type Latency struct {
	Benchmark int64    `col:"benchmark"`
	Metric    string   `col:"metric"`
	Mean      *float64 `col:"mean_ns"`
	P50       *float64 `col:"p50_ns"`
	P99       *float64 `col:"p99_ns"`
}

// Measured is a benchmark with its latencies.
type Measured struct {
	Benchmark
	Latencies []Latency
}

// MeasuredOf puts benchmarks and latencies together.
func MeasuredOf(list []Benchmark, times []Latency) []Measured {
	var out []Measured
	for _, b := range list {
		m := Measured{Benchmark: b}
		for _, l := range times {
			if l.Benchmark == b.Number {
				m.Latencies = append(m.Latencies, l)
			}
		}
		out = append(out, m)
	}
	return out
}

// Cause is a part of the time between two decode steps of an engine.
type Cause struct {
	Kind        string   `col:"kind"`
	Cause       string   `col:"cause"`
	Ns          int64    `col:"time_ns"`
	PerStep     float64  `col:"per_step_ns"`
	PerToken    *float64 `col:"per_token_ns"`
	Iterations  *int64   `col:"iteration_count"` // of the kind; nil between iterations
	Step        float64  `col:"step_mean_ns"`
	Token       *float64 `col:"token_mean_ns"`
	AllTokens   *float64 `col:"all_token_mean_ns"`
	Client      *float64 `col:"client_tpot_ns"`
	Window      *float64 `col:"window_tpot_ns"` // of the client, within the recorded window
	FirstWindow *float64 `col:"window_ttft_ns"` // likewise, to the first token
	Source      int64    `col:"source_id"`
	PID         *int64   `col:"pid"`
	Device      int64    `col:"device"`
}

// Causes are what the time per token is made of, on each GPU.
var Causes = frame.RowsOf[Cause]("tpot-causes")

// What load generators measured: the benchmarks, and their latencies.
var (
	Benchmarks = frame.RowsOf[Benchmark]("serving")
	Latencies  = frame.RowsOf[Latency]("serving-latency")
)

// Load is the load of the benchmark.
func (r Row) Load() Load {
	l := Load{Model: r.Model}
	if r.Rate != nil {
		l.Rate = number(*r.Rate)
	} else if frame.Or(r.IsUnlimited, false) {
		l.Rate = "inf"
	}
	if r.Concurrency != nil {
		l.Concurrency = number(*r.Concurrency)
	}
	if l.Rate == "inf" && l.Concurrency == "" && r.Completed != nil {
		l.Requests = number(*r.Completed + float64(r.Sent().Failed))
	}
	if r.Completed != nil && *r.Completed > 0 {
		mean := func(tokens *float64) *float64 {
			if tokens == nil {
				return nil
			}
			return new(*tokens / *r.Completed)
		}
		l.Input, l.Output = mean(r.Input), mean(r.Output)
	}
	if r.Tool == "mlperf-loadgen" {
		l.Scenario = r.Label
	}
	return l
}

// Sent is what became of the requests of benchmarks.
type Sent struct {
	Completed, Failed int64
	Known             bool // the load generator counted both
}

// Sent is what became of the benchmark's requests.
func (r Row) Sent() Sent {
	if r.Completed == nil || r.Failed == nil {
		return Sent{}
	}
	return Sent{int64(*r.Completed), int64(*r.Failed), true}
}

// Add is both together, known where both are.
func (s Sent) Add(o Sent) Sent {
	return Sent{s.Completed + o.Completed, s.Failed + o.Failed, s.Known && o.Known}
}

// FailedRatio is the share of requests that failed; 0 without requests.
func (s Sent) FailedRatio() float64 {
	if s.Failed == 0 {
		return 0
	}
	return float64(s.Failed) / float64(s.Failed+s.Completed)
}

// FailedMore reports whether a larger share of requests failed after than before, so that figures of those that succeeded are of an easier load.
func FailedMore(before, after Sent) bool {
	return before.Known && after.Known && after.FailedRatio() > before.FailedRatio()
}

// FailedText returns how many requests failed before and after: 0 → 50 of 100; with both totals where they differ, and "" where none failed or that is not known.
func FailedText(before, after Sent) string {
	of := before.Completed + before.Failed
	switch {
	case !before.Known || !after.Known || before.Failed+after.Failed == 0:
		return ""
	case of == after.Completed+after.Failed:
		return fmt.Sprintf("%d → %d of %d", before.Failed, after.Failed, of)
	}
	return fmt.Sprintf("%d of %d → %d of %d", before.Failed, of, after.Failed, after.Completed+after.Failed)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// lengthMargin is by how much mean lengths of prompts and answers may differ under the same load.
const lengthMargin = 0.05

// Same reports whether figures under both loads can be compared: the same in all, lengths to 5 %. What is unknown is only like what is unknown.
func (l Load) Same(o Load) bool {
	return l.Rate == o.Rate && l.Concurrency == o.Concurrency && l.Requests == o.Requests && l.Scenario == o.Scenario && l.Model == o.Model && near(l.Input, o.Input) && near(l.Output, o.Output)
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= lengthMargin*max(*a, *b)
}

// Group puts loads together that are the same as the first of their group: of gives the group of each. Lengths that creep up over many
// benchmarks so end up in different groups.
func Group(loads []Load) (groups []Load, of []int) {
	for _, l := range loads {
		at := slices.IndexFunc(groups, l.Same)
		if at < 0 {
			at = len(groups)
			groups = append(groups, l)
		}
		of = append(of, at)
	}
	return groups, of
}

// Compare orders loads: without a limit last, the smaller first.
func (l Load) Compare(o Load) int {
	size := func(text string) float64 {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
		return math.Inf(1)
	}
	length := func(n *float64) float64 {
		if n == nil {
			return math.Inf(1)
		}
		return *n
	}
	return cmp.Or(cmp.Compare(size(l.Rate), size(o.Rate)), cmp.Compare(size(l.Concurrency), size(o.Concurrency)), cmp.Compare(size(l.Requests), size(o.Requests)), cmp.Compare(length(l.Input), length(o.Input)), cmp.Compare(length(l.Output), length(o.Output)),
		cmp.Compare(l.Scenario, o.Scenario), cmp.Compare(l.Model, o.Model))
}

// part is one thing that a load is named by.
type part struct{ name, value string }

func (l Load) parts() []part {
	var out []part
	for _, p := range []part{{"scenario", l.Scenario}, {"rate", l.Rate}, {"concurrency", l.Concurrency}, {"requests", l.Requests}, {"in", tokens(l.Input)}, {"out", tokens(l.Output)}} {
		if p.value != "" {
			out = append(out, p)
		}
	}
	return out
}

func tokens(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(math.Round(*n), 'f', 0, 64)
}

// String names a load without its model, as Parse reads it: rate=4 concurrency=32 in=1024 out=128.
func (l Load) String() string {
	var out []string
	for _, p := range l.parts() {
		out = append(out, p.name+"="+p.value)
	}
	return cmp.Or(strings.Join(out, " "), "unknown load")
}

// Names are those of groups, all different: with the model where loads differ in nothing else that a name has, and numbered where they do not differ in that either.
func Names(groups []Load) []string {
	out := make([]string, len(groups))
	times := map[string]int{}
	for _, l := range groups {
		times[l.String()]++
	}
	for i, l := range groups {
		if out[i] = l.String(); times[out[i]] > 1 && l.Model != "" {
			out[i] += " model=" + l.Model
		}
	}
	seen := map[string]int{}
	for i, name := range out { // of lengths that round to the same
		if seen[name]++; seen[name] > 1 {
			out[i] = fmt.Sprintf("%s (%d)", name, seen[name])
		}
	}
	return out
}

// Pick is which loads are wanted: those that have all of its parts.
type Pick []part

// Parse reads parts of a load, separated by spaces or commas: concurrency=32, in=1024.
func Parse(text string) (Pick, error) {
	var out Pick
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, value, ok := strings.Cut(field, "=")
		if !ok || value == "" || !slices.Contains([]string{"rate", "concurrency", "requests", "in", "out", "scenario", "model"}, name) {
			return nil, fmt.Errorf("%w: load %q: write it as parts such as rate=4, rate=inf, concurrency=32, requests=1000, in=1024, out=128, scenario=Server or model=NAME", frame.ErrBadArgument, field)
		}
		if name != "scenario" && name != "model" && value != "inf" {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
				return nil, fmt.Errorf("%w: load %q: %s is not a number of 0 or more", frame.ErrBadArgument, field, value)
			}
			value = number(v)
		}
		out = append(out, part{name, value})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the load is empty", frame.ErrBadArgument)
	}
	return out, nil
}

// String writes the parts as Parse reads them.
func (p Pick) String() string {
	out := make([]string, len(p))
	for i, part := range p {
		out[i] = part.name + "=" + part.value
	}
	return strings.Join(out, ",")
}

// Has reports whether a load is wanted: lengths to 5 %, all else exactly.
func (p Pick) Has(l Load) bool {
	length := func(want string, mean *float64) bool {
		v, err := strconv.ParseFloat(want, 64)
		return err == nil && mean != nil && near(&v, mean)
	}
	for _, want := range p {
		ok := false
		switch want.name {
		case "in":
			ok = length(want.value, l.Input)
		case "out":
			ok = length(want.value, l.Output)
		case "model":
			ok = want.value == l.Model
		default:
			ok = slices.Contains(l.parts(), want)
		}
		if !ok {
			return false
		}
	}
	return true
}
