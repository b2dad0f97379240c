package words

import (
	"cmp"
	"strings"

	"prof/queries/judge/diff"
	"prof/render/typeset"
)

func ToneOf(v diff.Verdict) typeset.Tone {
	switch v {
	case diff.Better:
		return typeset.ToneBetter
	case diff.Worse:
		return typeset.ToneWorse
	case diff.CannotTell:
		return typeset.ToneUnsure
	}
	return ""
}

// diffMetrics say in words what stages are judged by.
var diffMetrics = map[string]string{
	"gpu_span_ns":  "GPU span (first start to last end of device work)",
	"gpu_busy_ns":  "GPU busy time (device work running)",
	"gpu_idle_ns":  "GPU idle time",
	"gpu_sum_ns":   "sum of device work",
	"ns_per_token": "time per token",
	"cpu_ns":       "CPU time (of the range)",
	"interval_ns":  "time from pass to pass (start of a pass to the start of the next)",
	"alone_ns":     "time without a profiler",
	"tokens_per_s": "tokens/s",
}

// JudgedBy is the figure that stages are judged by.
func JudgedBy(o diff.Options) string { return cmp.Or(o.Metric, "gpu_span_ns") }

// MetricWords names a figure of a stage; one that has no words as it is.
func MetricWords(metric string) string { return cmp.Or(diffMetrics[metric], typeset.Neutral(metric)) }

// MetricShort is metricWords without the explanation.
func MetricShort(metric string) string {
	short, _, _ := strings.Cut(MetricWords(metric), " (")
	return short
}

// DiffStage names a stage of a comparison.
func DiffStage(name string) string {
	if name == "" {
		return AllWork
	}
	return KernelStageLabel(name)
}

// VerdictLine is what a comparison comes to, in one line; the bare verdict where nothing more is known.
func VerdictLine(r *diff.Result) string {
	return typeset.Sentence(cmp.Or(typeset.Neutral(r.Words), string(r.Verdict)))
}
