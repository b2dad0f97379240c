package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/render/doc"
	"prof/render/typeset"
)

// ServingTitle is above what Serving returns.
const ServingTitle = "serving, measured by the client"

// Serving says what load generators measured, up to three lines for each of the first benchmarks.
func Serving(list []serving.Measured, most int) (facts doc.Facts) {
	for i, b := range list {
		if i == most {
			return append(facts, [2]string{"more", fmt.Sprintf("%d benchmarks: prof query serving", len(list)-i)})
		}
		load := loadText(b.Benchmark)
		for _, text := range []string{listed(Throughput(b.Benchmark), failedText(b.Benchmark)), latencies(b, "ttft", "tpot"), latencies(b, "itl", "e2e")} {
			if text != "" {
				facts, load = append(facts, [2]string{load, text}), ""
			}
		}
	}
	return facts
}

// clientLead is what one would tell of a run of which only the client of an engine measured: its throughput, how long a request waits for its first token and
// then for each; of several benchmarks those of the one with the highest throughput.
func clientLead(list []serving.Measured) string {
	rate := func(b serving.Measured) float64 {
		return cmp.Or(frame.Or(b.OutputTokensPerS, 0), frame.Or(b.RequestsPerS, 0))
	}
	best := list[0]
	for _, b := range list[1:] {
		if rate(b) > rate(best) {
			best = b
		}
	}
	text := listed(Throughput(best.Benchmark), cmp.Or(latencies(best, "ttft", "tpot"), latencies(best, "itl", "e2e")))
	load := loadText(best.Benchmark)
	switch {
	case len(list) > 1 && rate(best) > 0:
		text = fmt.Sprintf("%d benchmarks; the highest throughput (%s): %s", len(list), load, text)
	case len(list) > 1:
		text = fmt.Sprintf("%d benchmarks; the first (%s): %s", len(list), load, text)
	case load != typeset.Neutral(best.Tool):
		text = typeset.Sentence(load) + ": " + text
	}
	text += ", as the client measured it"
	if failed := failedText(best.Benchmark); failed != "" {
		text += "; " + failed
	}
	return text + ". What the GPU did meanwhile is unknown."
}

func listed(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
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

// Throughput is what an engine did in a second.
func Throughput(b serving.Benchmark) string {
	var out []string
	add := func(v *float64, what string) {
		if v != nil {
			out = append(out, amount(*v)+what)
		}
	}
	add(b.RequestsPerS, " requests/s")
	add(b.OutputTokensPerS, " output tokens/s")
	return strings.Join(out, ", ")
}

// failedText says how many requests failed; "" where none did.
func failedText(b serving.Benchmark) string {
	sent := b.Sent()
	switch {
	case frame.Or(b.Failed, 0) == 0:
		return ""
	case !sent.Known:
		return amount(*b.Failed) + " failed"
	}
	return fmt.Sprintf("%s of %s requests failed", typeset.Int(sent.Failed), typeset.Int(sent.Failed+sent.Completed))
}

func amount(v float64) string {
	if v < 10_000 {
		return typeset.Digits(v)
	}
	return typeset.Scaled(v)
}

// latencies has the median and the 99th percentile of some latencies, or the mean where the file has no median.
func latencies(b serving.Measured, metrics ...string) string {
	var out []string
	for _, l := range b.Latencies {
		if !slices.Contains(metrics, l.Metric) {
			continue
		}
		text := ""
		switch {
		case l.P50 != nil:
			text = typeset.Nanoseconds(*l.P50)
		case l.Mean != nil:
			text = "mean " + typeset.Nanoseconds(*l.Mean)
		}
		if l.P99 != nil {
			text = strings.TrimSpace(text + " (p99 " + typeset.Nanoseconds(*l.P99) + ")")
		}
		if text != "" {
			out = append(out, strings.ToUpper(l.Metric)+" "+text)
		}
	}
	return strings.Join(out, ", ")
}
