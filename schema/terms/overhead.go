package terms

// MuchOverhead is by which share of its time alone a stage may take longer under a profiler: beyond it times mislead, and another recording is made.
const MuchOverhead = 0.25

// ReasonNoise is why an overhead has no ratio that was measured on both sides: it is less than what recordings differ by chance.
const ReasonNoise = "noise"

// overheadReasons are the words of the reasons for which the overhead of profiling is unknown, beside ReasonNoise.
var overheadReasons = map[string]string{
	"not-timed-alone": "no recording without a profiler timed it",
	"not-recorded":    "no recording under the profiler went well",
	"cold":            "on one side there is only the first recording of the capture, which loads and compiles what later ones find in caches",
	"one-recording":   "there is one recording of each, which do not show how much they differ by chance",
	"other-work":      "its executions differ in sequences or tokens from recording to recording",
	"window":          "the timeline does not have all of its executions",
	"unseen-work":     "part of its GPU work is on streams that the events around it do not see",
	"warm-up":         "no steady execution was timed both with and without a profiler",
}

// OverheadReason returns why an overhead is unknown, as the end of a sentence; "" for none and for ReasonNoise, which is said with its size.
func OverheadReason(reason string) string { return overheadReasons[reason] }
