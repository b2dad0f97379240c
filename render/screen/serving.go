package screen

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/render/doc"
	"prof/render/typeset"
)

// screenBenchmarks is how many benchmarks of a serving engine a screen has room for.
const screenBenchmarks = 4

// benchmarks says what load generators measured at the client, up to three lines a benchmark.
func benchmarks(s Screen) ([]doc.Block, error) {
	list, err := rowsOf(s, serving.Benchmarks)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	times, err := rowsOf(s, serving.Latencies)
	if err != nil {
		return nil, err
	}
	var facts doc.Facts
	for i, b := range list {
		if i == screenBenchmarks {
			facts = append(facts, [2]string{"more", fmt.Sprintf("%d benchmarks: prof query serving", len(list)-i)})
			break
		}
		load := loadText(b)
		for _, text := range []string{throughput(b), latencies(b.Number, times, "ttft", "tpot"), latencies(b.Number, times, "itl", "e2e")} {
			if text != "" {
				facts, load = append(facts, [2]string{load, text}), ""
			}
		}
	}
	return []doc.Block{doc.Section{Title: "serving, measured by the client", Blocks: []doc.Block{facts}}}, nil
}

// loadText names a benchmark by the load that was asked for.
func loadText(b serving.Benchmark) string {
	var out []string
	if b.Rate != nil {
		out = append(out, "rate "+typeset.Digits(*b.Rate)+"/s")
	}
	if b.Concurrency != nil {
		out = append(out, typeset.Digits(*b.Concurrency)+" at once")
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, ", ")
	case frame.Or(b.IsUnlimited, false):
		return "all at once"
	}
	return typeset.Neutral(b.Tool)
}

func throughput(b serving.Benchmark) string {
	var out []string
	add := func(v *float64, what string) {
		if v != nil {
			out = append(out, amount(*v)+what)
		}
	}
	add(b.RequestsPerS, " requests/s")
	add(b.OutputTokensPerS, " output tokens/s")
	if frame.Or(b.Failed, 0) > 0 {
		add(b.Failed, " failed")
	}
	return strings.Join(out, ", ")
}

func amount(v float64) string {
	if v < 10_000 {
		return typeset.Digits(v)
	}
	return typeset.Scaled(v)
}

// latencies has the median and the 99th percentile of some latencies, or the mean where the file has no median.
func latencies(benchmark int64, times []serving.Latency, metrics ...string) string {
	var out []string
	for _, l := range times {
		if l.Benchmark != benchmark || !slices.Contains(metrics, l.Metric) {
			continue
		}
		text := nanoseconds(l.P50)
		if l.P50 == nil && l.Mean != nil {
			text = "mean " + nanoseconds(l.Mean)
		}
		if l.P99 != nil {
			text = strings.TrimSpace(text + " (p99 " + nanoseconds(l.P99) + ")")
		}
		if text != "" {
			out = append(out, strings.ToUpper(l.Metric)+" "+text)
		}
	}
	return strings.Join(out, ", ")
}
