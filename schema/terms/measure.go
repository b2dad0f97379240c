package terms

import (
	"slices"
	"strings"
)

// Measure is a figure that runs are compared by.
type Measure struct {
	Name         string // in SQL and JSON, of --metric and in rules
	Also         string // another name in rules; "" for none
	Unit         string // ns, ratio, count, or of a rate its own name
	LessIsBetter bool
	In           Verb
	Meaning      string
}

// Verb is what compares by a measure.
type Verb uint8

// Verbs that compare, bit by bit.
const (
	Diff Verb = 1 << iota
	Trend
	Check
)

// Measures of stages, in the order in which they are shown.
var Measures = []Measure{
	{"gpu_span_ns", "", "ns", true, Diff | Trend | Check, "first start to last end of its GPU work"},
	{"gpu_busy_ns", "gpu_work", "ns", true, Diff | Trend | Check, "time in which its GPUs work"},
	{"gpu_idle_ns", "", "ns", true, Diff | Check, "time in which they idle within the span"},
	{"gpu_sum_ns", "", "ns", true, Diff | Trend | Check, "durations of its GPU work, added up"},
	{"cpu_ns", "", "ns", true, Diff | Trend | Check, "time of its range on the CPU"},
	{"interval_ns", "", "ns", true, Diff | Check, "time from the start of a pass to that of the next, where that follows directly"},
	{"mfu_ratio", "", "ratio", false, Trend, "model FLOPs utilisation; mfu.STAGE in rules"},
	{"mbu_ratio", "", "ratio", false, Trend, "memory bandwidth utilisation; mbu.STAGE in rules"},
	{"tokens_per_s", "", "tokens_per_s", false, Diff | Trend | Check, "tokens a second of its span"},
	{"ns_per_token", "ms_per_token", "ns", true, Diff | Check, "its span for one token of each sequence"},
	{"launches", "kernel_count", "count", true, Diff | Check, "kernels"},
}

// KernelMeasures are those of kernels.
var KernelMeasures = []Measure{
	{"mean_ns", "", "ns", true, Check, "mean time of a call"},
	{"total_ns", "", "ns", true, Check, "time of all calls of a pass"},
	{"calls", "", "count", true, Check, "calls of a pass"},
}

// Latency is a time of requests that load generators measure at the client.
type Latency struct{ Name, Label, Meaning string }

// Latencies of requests.
var Latencies = []Latency{
	{"ttft", "TTFT (time to the first token)", "time to the first token"},
	{"tpot", "TPOT (time per output token)", "time per output token after the first, one value a request"},
	{"itl", "ITL (time between tokens)", "time between tokens or chunks, one value each"},
	{"e2e", "whole requests", "time of the whole request"},
}

// Statistic is what is compared of a latency.
type Statistic struct {
	Name string
	In   Verb
}

// Statistics of latencies.
var Statistics = []Statistic{{"mean", Diff | Trend | Check}, {"min", Check}, {"p50", Diff | Trend | Check}, {"p90", Trend | Check}, {"p95", Check}, {"p99", Diff | Trend | Check}, {"p999", Check}, {"max", Check}}

// ServingMeasures are the other figures that load generators measure.
var ServingMeasures = []Measure{
	{"requests_per_s", "", "requests_per_s", false, Diff | Trend | Check, "requests a second that succeeded"},
	{"output_tokens_per_s", "", "output_tokens_per_s", false, Diff | Trend | Check, "generated tokens a second"},
	{"total_tokens_per_s", "", "total_tokens_per_s", false, Trend | Check, "tokens of prompts and answers a second"},
	{"completed", "", "count", false, Check, "requests that succeeded"},
	{"failed", "", "count", true, Check, "requests that failed"},
}

// IsRate reports whether it is a number of things a second.
func (m Measure) IsRate() bool { return strings.HasSuffix(m.Unit, "_per_s") }

// MeasuresIn returns the measures of a list that a verb compares by.
func MeasuresIn(list []Measure, verb Verb) []Measure {
	var out []Measure
	for _, m := range list {
		if m.In&verb != 0 {
			out = append(out, m)
		}
	}
	return out
}

// StageTimes are the measures that a whole stage can be judged by.
func StageTimes() []string {
	return slices.DeleteFunc(NamesOf(MeasuresIn(Measures, Diff)), func(name string) bool { return !strings.HasSuffix(name, "_ns") })
}

// StatisticsIn returns the statistics of latencies that a verb compares by.
func StatisticsIn(verb Verb) []string {
	var out []string
	for _, s := range Statistics {
		if s.In&verb != 0 {
			out = append(out, s.Name)
		}
	}
	return out
}

// ServingIn returns all figures of load generators that a verb compares by: each latency with each statistic, and the others.
func ServingIn(verb Verb) []Measure {
	var out []Measure
	for _, l := range Latencies {
		for _, s := range StatisticsIn(verb) {
			out = append(out, Measure{l.Name + "_" + s + "_ns", l.Name + "_" + s, "ns", true, verb, s + " of " + l.Meaning})
		}
	}
	return append(out, MeasuresIn(ServingMeasures, verb)...)
}

// LatencyNames are the names of latencies.
func LatencyNames() []string {
	var out []string
	for _, l := range Latencies {
		out = append(out, l.Name)
	}
	return out
}

// NamesOf returns the names of measures.
func NamesOf(list []Measure) []string {
	return each(list, func(m Measure) string { return m.Name })
}

func each[T any](list []T, text func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, text(x))
	}
	return out
}

// ServingText returns what the figures of load generators are called that a verb compares by: ttft or tpot with _mean or _p99, requests_per_s.
func ServingText(verb Verb) string {
	statistics := StatisticsIn(verb)
	for i := range statistics {
		statistics[i] = "_" + statistics[i]
	}
	return strings.Join(append([]string{Or(LatencyNames()) + " with " + Or(statistics)}, NamesOf(MeasuresIn(ServingMeasures, verb))...), ", ")
}
