package terms

import (
	"slices"
	"strings"
)

// Source is a kind of source: what one tool writes. Where a run has the same work from several, the first of these is counted.
type Source struct {
	Name  string // in SQL and JSON, and what --source takes
	Label string // in a sentence
	Knows Knows
	// Operators is the place among kinds with operators, of which the first is counted; 0 without operators.
	Operators int
}

// Knows is what files of a kind tell.
type Knows uint8

// What a file tells of a program, bit by bit.
const (
	Work     Knows = 1 << iota // kernels and copies of GPUs, each with its time
	Sums                       // sums of them alone
	Calls                      // every call of the CUDA API, and the time of day
	Ranges                     // ranges, of which operators may be some
	GPUs                       // which GPUs did it, and what they are
	Counters                   // counters of single kernels, executed again and again
)

// Sources are the kinds of sources.
var Sources = []Source{
	{"nsys", "Nsight Systems", Work | Calls | Ranges | GPUs, 2},
	{"prof", "prof's tracer", Work | Calls | Ranges | GPUs, 3},
	{"rocprof", "rocprof", Work | GPUs, 0},
	{"torch", "the PyTorch profiler", Work | GPUs, 1},
	{"xla", "XLA's profiler", Work | GPUs, 0},
	{NsysStats, "nsys stats (sums)", Sums, 0},
	{"ncu", "Nsight Compute", Counters | GPUs, 0},
	{"capture", "prof capture", 0, 0},
	{"model", "a model's configuration", 0, 0},
	{"workload", "a workload file", 0, 0},
	{"serving", "a load generator", 0, 0},
	{"reported", "another tool's report", 0, 0},
}

// KeyAverages stands for the operators of PyTorch's key_averages() tables, whose source is of the kind torch.
const KeyAverages = "key_averages"

// NsysStats is the kind of the sums that nsys stats prints.
const NsysStats = "nsys-stats"

// IsTimeline reports whether GPU work is counted from such a source: one at a time, or in sums.
func (s Source) IsTimeline() bool { return s.Knows&(Work|Sums) != 0 }

// IsTraced reports whether it has the time of each kernel.
func (s Source) IsTraced() bool { return s.Knows&Work != 0 }

// IsProfiler reports whether a profiler wrote it.
func (s Source) IsProfiler() bool { return s.Knows&(Work|Sums|Counters) != 0 }

// HasCalls reports whether it has every CUDA call.
func (s Source) HasCalls() bool { return s.Knows&Calls != 0 }

// HasRanges reports whether its operators are among its ranges.
func (s Source) HasRanges() bool { return s.Knows&Ranges != 0 }

// HasGPUs reports whether it describes the GPUs.
func (s Source) HasGPUs() bool { return s.Knows&GPUs != 0 }

// Kinds returns the names of the kinds of which something holds.
func Kinds(is func(Source) bool) []string {
	var out []string
	for _, s := range Sources {
		if is(s) {
			out = append(out, s.Name)
		}
	}
	return out
}

// Timelines are the kinds of sources of which GPU work is counted.
func Timelines() []string { return Kinds(Source.IsTimeline) }

// OperatorKinds are what operators come from, the one that is counted before others.
func OperatorKinds() []string {
	list := slices.DeleteFunc(slices.Clone(Sources), func(s Source) bool { return s.Operators == 0 })
	slices.SortFunc(list, func(a, b Source) int { return a.Operators - b.Operators })
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return append(out, KeyAverages)
}

// SourceLabel is what a sentence calls sources of a kind.
func SourceLabel(kind string) string {
	for _, s := range Sources {
		if s.Name == kind {
			return s.Label
		}
	}
	return kind
}

// Quoted is a list of SQL.
func Quoted(words []string) string { return "'" + strings.Join(words, "', '") + "'" }

// Or lists words as a sentence does: a, b or c.
func Or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// TimelineDoc describes an option that chooses among timelines.
func TimelineDoc() string {
	return "only this kind of capture: " + Or(Timelines()) + "; default: the first of these that the run has"
}

// Lists are lists that files of SQL have by name: {timelines} is "a, b or c", and {'timelines'} is 'a', 'b', 'c'.
func Lists() map[string][]string {
	var idle, causes []string
	for _, p := range IdleParts() {
		idle = append(idle, p.Name)
	}
	for _, c := range IdleCauses() {
		causes = append(causes, c.Name)
	}
	return map[string][]string{
		"sources": Kinds(func(Source) bool { return true }), "timelines": Timelines(), "traced": Kinds(Source.IsTraced), "profilers": Kinds(Source.IsProfiler), "callers": Kinds(Source.HasCalls),
		"rangers": Kinds(Source.HasRanges), "gpus": Kinds(Source.HasGPUs), "operators": OperatorKinds(), "causes": causes, "idle parts": idle,
		"trend measures": NamesOf(MeasuresIn(Measures, Trend)), "serving measures": NamesOf(ServingIn(Trend)),
	}
}

// Options are parameters that files of SQL declare by name alone: {source}.
func Options() map[string]string {
	return map[string]string{
		"source":          "source VARCHAR = NULL: " + TimelineDoc(),
		"operator source": "source VARCHAR = NULL: only operators of this source: " + Or(OperatorKinds()) + " (sums only); default: the first of these that the run has",
	}
}
