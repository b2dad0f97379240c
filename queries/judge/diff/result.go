// Package diff compares runs: how long each stage takes on either side, whether that is a change or noise, and which kernels, copies and
// gaps it comes from, to the nanosecond.
package diff

import (
	"time"

	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
)

// Dimension is what the work of runs is compared by.
type Dimension string

// What work can be compared by. The parts of time (kernel, family, grid) add up to the time of their stage; the others stand by themselves.
const (
	ByKernel   Dimension = "kernel"
	ByFamily   Dimension = "family"
	ByGrid     Dimension = "grid"
	ByStage    Dimension = "stage"
	ByOperator Dimension = "operator"
	ByRange    Dimension = "range"
	ByMetric   Dimension = "metric"
	ByTree     Dimension = "tree" // modules and operators, each where it is called
)

// Options say what is compared and what counts as a change.
type Options struct {
	By          Dimension // ByKernel when empty
	Stage       string    // only this stage; "" for all
	Metric      string    // what stages are judged by: gpu_span_ns, gpu_busy_ns, gpu_sum_ns, cpu_ns, interval_ns. When empty, gpu_span_ns, but interval_ns where the CPU paces them
	Unfold      bool      // ByTree: what is the same in several instances of modules, such as the layers of a model, is a row each, not one
	Top         int       // items shown; 0 for all. What is left out is added up in a last item, so that totals hold
	Stats       stats.Options
	paced       bool     // the caller left Metric open
	AssumeNoise *float64 // changes between runs up to this count as noise: 0.02 is 2 %; nil: what the warehouse's history says
}

// Run is a run of a side, as the warehouse has it.
type Run struct {
	ID          string // UUIDv7 in text form
	Name        string
	CreatedAt   time.Time
	StartedAt   *time.Time // nil when unknown
	Command     string     // "" when unknown
	Host        string     // "" when unknown
	ProfVersion string
}

// Side is one side of a comparison: a run, or several runs of the same thing.
type Side struct {
	Label string // as it was asked for
	Runs  []Run  // oldest first
}

func (s Side) ids() (out []string) {
	for _, r := range s.Runs {
		out = append(out, r.ID)
	}
	return out
}

// Verdict is what a comparison says of a stage or of the whole.
type Verdict string

// What a comparison can say.
const (
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	NoChange   Verdict = "no change"
	CannotTell Verdict = "cannot tell"
)

// Result is a comparison of two sides.
type Result struct {
	A, B        Side
	Options     Options
	Verdict     Verdict                 // of the whole: worse if a stage is worse and none better, and so on; Words says which is which where they differ
	Words       string                  // one line: "decode 12.4 % faster: attention -31 %, launch-bound idle -8 %; prefill unchanged"
	Stages      []Stage                 // by the time they take in A, those only in B last
	Items       []Item                  // by Options.By, largest change first within each stage
	Operators   []Item                  // compared by kernel, the operators that changed most, where both sides have some with inputs; those of all layers are one
	Serving     []ServingLoad           // what load generators measured, by load; none where no run has such results
	Differences []conditions.Difference // what else differs between the sides
	Notes       []string                // what a reader must know of the figures
	Next        []string                // commands that would tell what cannot be told
	Queries     []Source                // what the figures are from
	Same        bool                    // both sides are the same captures

	processes [2][]int // of the runs of each side, see processesOf
}

// Source is a query that figures are from.
type Source struct {
	Run, Query string // Query as name.vN
	SQL        string
}

// Unit is what a stage's times are for.
type Unit string

// What times can be for.
const (
	PerPass  Unit = "pass"
	PerToken Unit = "token" // where the sides' passes work on different numbers of tokens: prompt tokens of prefill, decoded tokens of decode
	PerStep  Unit = "step"  // of runs without stages whose steps are compared
	PerRun   Unit = "run"   // of work outside stages
)

// Stage compares one stage, or of runs without stages (Name "steps") their steps or (Name "") all device work, or (Name "(none)") the work
// outside stages.
type Stage struct {
	Name string
	Unit Unit
	A, B StageSide
	// Delta is that of the ledger's time, hence of means; nil when one side has none. Its parts are the sums of those of the items (of
	// kernels, where items are no parts of time).
	Delta         *Delta
	Metric        string           // what it is judged by: Options.Metric, or interval_ns where the CPU paces its passes
	Comparison    stats.Comparison // of Metric for one Unit; work outside stages is not judged
	NotWhole      bool             // a side did not record all of it: nothing is said of what changed; Comparison.Why has the reason
	Level         string           // what the samples are: passes, steps, repeats or runs
	Verdict       Verdict
	Words         string        // one sentence with the figures, the largest contributors, and what would be needed to tell more
	Contributors  []Contributor // the three largest by the size of their change, and all others of a tenth of all that changed
	Ledger        []Item        // parts of the GPUs' time that add up to Delta: kernels (or families), copies, overlap, idle by cause; by gpu_busy_ns or gpu_sum_ns none that are no work
	More          []Metric      // other figures of the stage, each with its own comparison: gpu_busy_ns, gpu_idle_ns, gpu_sum_ns, cpu_ns, tokens_per_s
	sure          string        // which kernels are certain to change where passes do not tell; "" where they do
	StageExpected string        // what differences between the sides explain, in words: "twice the tokens", "half the clock"; "" for nothing
}

// StageSide is what one side has of a stage.
type StageSide struct {
	Passes, Warmups int64
	Units           int64     // passes, tokens or runs that times are divided by
	Tokens          *int64    // tokens of all passes; nil when not known
	TimeNs          int64     // what the ledger divides, added up over passes and GPUs: first start to last end of device work, or by gpu_busy_ns or gpu_sum_ns that; 0 without
	GPUs            int64     // that times of one pass are added up over, at most; 0 where that is not told
	PerUnitNs       int64     // TimeNs / Units, rounded
	TypicalNs       *int64    // the centre of that over the samples, which one stall does not move, as Contributors and Measure.TypicalNs are; nil without samples
	Samples         []float64 // Stage.Metric for one unit: of passes, or the median passes of repeats or runs
	Std             *float64  // sample standard deviation of Samples
	Launches        *int64    // kernels; nil where graphs were traced as a whole: theirs are not seen
}

// Metric is one more figure of a stage, compared.
type Metric struct {
	Name, Unit   string
	LessIsBetter bool
	Comparison   stats.Comparison
	Verdict      Verdict
}

// Contributor is one part of a stage's change.
type Contributor struct {
	Name       string
	Words      string   // "attention kernels -31 %"
	DeltaNs    int64    // for one unit, between the centres of the samples, as the verdict is: the ledger adds up, these need not
	Effect     *float64 // of its own time; nil when it is new
	ShareRatio *float64 // of the stage's time on side A that the change comes to
}

// Status is what became of an item between the sides.
type Status string

// What can become of an item.
const (
	Both    Status = "both"
	New     Status = "new"
	Removed Status = "removed"
	Moved   Status = "moved" // its work is done under another name or grid, see Item.Partner
)

// Item is one thing that is compared: a kernel, family, operator, range, part of idle time, or value of a metric.
type Item struct {
	Stage, Name string
	Kind        string // kernel, family, grid, moved (several kernels and what took their place), copy, fill, graph, overlap, other, idle, stage, operator, range, metric, node, rest
	Family      string // of kernels; "" when not known
	Grid, Block string // of kernels by grid
	Unit        string // ns, or that of a metric
	A, B        Measure
	Status      Status
	Delta       *Delta
	Typical     *Delta // how TypicalNs changed; nil where it is not known
	// Comparison is that of the samples for one unit; nil where none are compared: items that one side lacks, those that take less than
	// 0.5 % of their stage, and those that are told of whole runs.
	Comparison *stats.Comparison
	Verdict    Verdict // "" where nothing is judged
	Places     int     // of a node: in how many instances of modules it is; 0 of others, and where each is an item
	Partner    string  // what took its place, or what it took the place of: names joined by " + "; of several moved both
	How        string  // renamed, other grid, same family, fused, split, in a graph, replaced: how that is known; "" for none
	Members    []Item  // of kernels and what took their place: each of them, those of A first
	role       string  // what kernels do; "" when not known
	group      int     // the same for all that belong together; 0 for none
}

// Measure is what one side has of an item.
type Measure struct {
	Calls         int64  // of all passes; 0 for parts of idle time
	TotalNs       int64  // of all passes, as captured
	PerUnitNs     int64  // rounded so that items add up to their stage exactly
	TypicalNs     *int64 // for one unit, of the centre of the samples of its stage, as verdicts are: these do not add up; nil where no samples are known
	PerUnitCalls  float64
	MeanNs, StdNs *float64 // of a launch; Std is the sample's
	MinNs, MaxNs  *int64   // of a launch
	Value         *float64 // of a metric
	Kernels       []string // of a node: names of kernels, copies and fills, sorted
	Shapes        string   // of a node: sizes of the inputs of its operator, as JSON; "" when not recorded, or of several
}

// ShownNs is the time of a typical unit where that is known, else of the mean one.
func (m Measure) ShownNs() int64 {
	if m.TypicalNs != nil {
		return *m.TypicalNs
	}
	return m.PerUnitNs
}

// Shown is how that time changed; nil where Delta is.
func (it Item) Shown() *Delta {
	if it.Typical != nil {
		return it.Typical
	}
	return it.Delta
}

// Delta is how a time for one unit changed, in ns, in whole numbers that add up exactly: Ns = CountNs + DurationNs + InteractionNs +
// NewNs + RemovedNs, and the Ns of items to that of their stage.
type Delta struct {
	Ns            int64
	CountNs       int64 // other number of calls at the mean duration of A
	DurationNs    int64 // other mean duration at the number of calls of A
	InteractionNs int64 // both together
	NewNs         int64 // only B has it
	RemovedNs     int64 // only A has it
}
