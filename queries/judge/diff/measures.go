package diff

import "slices"

// StageMeasure is a figure of stages that verdicts are about: those of diff, and rules of check.
type StageMeasure struct {
	Name, Unit   string // Unit: ns, per_s or count
	Also         string // another name of it in rules; "" for none
	LessIsBetter bool
	kind         figureKind
}

// The names of measures that others are told by.
const (
	spanMetric    = "gpu_span_ns" // what stages are judged by unless the caller says otherwise
	busyMetric    = "gpu_busy_ns"
	idleMetric    = "gpu_idle_ns"
	aloneMetric   = "alone_ns" // without a profiler: of recordings, not of what they hold
	tokenRateName = "tokens_per_s"
	tokenTimeName = "ns_per_token"
	launchesName  = "launches"
)

// StageMeasures are all of them, in the order in which they are told.
var StageMeasures = []StageMeasure{
	{Name: spanMetric, Unit: "ns", LessIsBetter: true, kind: spanFigure},                             // first start to last end of its device work
	{Name: busyMetric, Unit: "ns", Also: "gpu_work", LessIsBetter: true, kind: workFigure},           // time in which its GPUs work
	{Name: idleMetric, Unit: "ns", LessIsBetter: true, kind: idleFigure},                             // time in which they idle within the span
	{Name: "gpu_sum_ns", Unit: "ns", LessIsBetter: true, kind: workFigure},                           // durations of its device work, added up
	{Name: "cpu_ns", Unit: "ns", LessIsBetter: true, kind: spanFigure},                               // time of its range on the CPU
	{Name: tokenRateName, Unit: tokenRateName, kind: rateFigure},                                     // tokens a second of its span
	{Name: tokenTimeName, Unit: "ns", Also: "ms_per_token", LessIsBetter: true, kind: rateFigure},    // its span for one token of each sequence
	{Name: launchesName, Unit: "count", Also: "kernel_count", LessIsBetter: true, kind: countFigure}, // kernels
}

// measureOf finds a measure by its name, or the other one.
func measureOf(name string) (StageMeasure, bool) {
	i := slices.IndexFunc(StageMeasures, func(m StageMeasure) bool { return m.Name == name || m.Also != "" && m.Also == name })
	if i < 0 {
		return StageMeasure{}, false
	}
	return StageMeasures[i], true
}

// Canonical is the first name of a measure of stages, by either; the name as it is of what is none.
func Canonical(name string) string {
	if m, known := measureOf(name); known {
		return m.Name
	}
	return name
}

// wholeTimes are the measures that stages can be judged by as a whole, and that are told beside it.
func wholeTimes() (out []string) {
	for _, m := range StageMeasures {
		if m.kind != countFigure && m.kind != rateFigure {
			out = append(out, m.Name)
		}
	}
	return out
}
