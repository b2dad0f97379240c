package render

import (
	"cmp"
	"strings"

	"prof/queries/judge/diff"
)

// tone is what a figure means, for colour; the words beside it say the same.
type tone string

// What a figure can mean.
const (
	toneBetter tone = "better"
	toneWorse  tone = "worse"
	toneUnsure tone = "unsure"
)

func toneOf(v diff.Verdict) tone {
	switch v {
	case diff.Better:
		return toneBetter
	case diff.Worse:
		return toneWorse
	case diff.CannotTell:
		return toneUnsure
	}
	return ""
}

// ansi is the colour of a tone on a terminal: green, red and yellow.
func (t tone) ansi() string {
	return map[tone]string{toneBetter: "\x1b[32m", toneWorse: "\x1b[31m", toneUnsure: "\x1b[33m"}[t]
}

// diffMetrics say in words what stages are judged by.
var diffMetrics = map[string]string{
	"gpu_span_ns":  "GPU span (first start to last end of device work)",
	"gpu_busy_ns":  "GPU busy time (device work running)",
	"gpu_sum_ns":   "sum of device work",
	"cpu_ns":       "CPU time (of the range)",
	"tokens_per_s": "tokens/s",
}

// judgedBy is the figure that stages are judged by.
func judgedBy(o diff.Options) string { return cmp.Or(o.Metric, "gpu_span_ns") }

// metricWords names a figure of a stage; one that has no words as it is.
func metricWords(metric string) string { return cmp.Or(diffMetrics[metric], neutral(metric)) }

// metricShort is metricWords without the explanation.
func metricShort(metric string) string {
	short, _, _ := strings.Cut(metricWords(metric), " (")
	return short
}

// diffStage names a stage of a comparison.
func diffStage(name string) string {
	if name == "" {
		return allWork
	}
	return kernelStageLabel(name)
}

// verdictLine is what a comparison comes to, in one line.
func verdictLine(r *diff.Result) string {
	words := neutral(r.Words)
	if words == "" || words == string(r.Verdict) {
		return string(r.Verdict)
	}
	if strings.HasPrefix(words, string(r.Verdict)) {
		return words
	}
	return string(r.Verdict) + ": " + words
}
