package terms

import (
	"slices"
	"strings"
)

// Source is a kind of source: what one tool writes. Where a run has the same work from several, the first of these is counted. The order is fixed, the tool
// that slows a workload least first, and not what a run measured: medians of noisy processes would have figures of one run rest on one tool and those of
// the next on another.
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
	{"prof", "prof's tracer", Work | Calls | Ranges | GPUs, 2},
	{"nsys", "Nsight Systems", Work | Calls | Ranges | GPUs, 3},
	{"rocprof", "rocprof", Work | GPUs, 0},
	{"torch", "the PyTorch profiler", Work | GPUs, 1},
	{"xla", "XLA's profiler", Work | GPUs, 4},
	{"proton", "Proton", Work, 0},
	{NsysStats, "nsys stats (sums)", Sums, 0},
	{ProtonTree, "Proton (sums)", Sums | GPUs, 0},
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

// ProtonTree is the kind of the sums in a tree of Proton.
const ProtonTree = "proton-tree"

// IsTimeline reports whether GPU work is counted from such a source: one at a time, or in sums.
func (s Source) IsTimeline() bool { return s.Knows&(Work|Sums) != 0 }

// IsSummed reports whether it has sums alone.
func (s Source) IsSummed() bool { return s.Knows&(Work|Sums) == Sums }

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

// Summed are the kinds of sources of sums alone.
func Summed() []string { return Kinds(Source.IsSummed) }

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

// lists are those that files of SQL have by name: {timelines} is "a, b or c", and {'timelines'} is 'a', 'b', 'c'.
var lists = map[string]func() []string{
	"sources":          func() []string { return Kinds(func(Source) bool { return true }) },
	"timelines":        Timelines,
	"summed":           Summed,
	"traced":           func() []string { return Kinds(Source.IsTraced) },
	"profilers":        func() []string { return Kinds(Source.IsProfiler) },
	"callers":          func() []string { return Kinds(Source.HasCalls) },
	"rangers":          func() []string { return Kinds(Source.HasRanges) },
	"gpus":             func() []string { return Kinds(Source.HasGPUs) },
	"operators":        OperatorKinds,
	"causes":           func() []string { return each(IdleCauses(), func(c Cause) string { return c.Name }) },
	"idle parts":       func() []string { return each(IdleParts(), func(p Part) string { return p.Name }) },
	"trend measures":   func() []string { return NamesOf(MeasuresIn(Measures, Trend)) },
	"serving measures": func() []string { return NamesOf(ServingIn(Trend)) },
}

// parameters are those that files of SQL declare by name alone: {source}.
var parameters = map[string]func() string{
	"source": func() string { return "source VARCHAR = NULL: " + TimelineDoc() },
	"operator source": func() string {
		return "source VARCHAR = NULL: only operators of this source: " + Or(OperatorKinds()) + " (sums only); default: the first of these that the run has"
	},
}

// InBraces returns what stands in a file of SQL for a name in braces, with quotes or without: a list, or a parameter; ok reports whether there is such a name.
func InBraces(name string) (text string, ok bool) {
	if declared, is := parameters[name]; is {
		return declared(), true
	}
	bare, isQuoted := strings.CutPrefix(strings.TrimSuffix(name, "'"), "'")
	list, ok := lists[bare]
	switch {
	case !ok:
		return "", false
	case isQuoted:
		return Quoted(list()), true
	}
	return Or(list()), true
}
