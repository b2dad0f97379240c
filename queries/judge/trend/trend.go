// Package trend follows the stages of one workload from run to run: how long each took, where it changed its level, which kernels moved
// there, and what else was new in the first run of the new level.
package trend

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/internal/suggest"
	"prof/queries/frame"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

// Metric is what a stage is followed by.
type Metric string

// Metrics of stages that are told by name: times of a pass in ns, and figures of all measured passes.
const (
	GPUSpan   Metric = "gpu_span_ns"
	GPUBusy   Metric = "gpu_busy_ns"
	GPUSum    Metric = "gpu_sum_ns"
	CPU       Metric = "cpu_ns"
	MFU       Metric = "mfu_ratio"
	MBU       Metric = "mbu_ratio"
	TokenRate Metric = "tokens_per_s"
)

// Metrics are those of stages, the default one first.
func Metrics() []Metric { return metricsOf(terms.MeasuresIn(terms.Measures, terms.Trend)) }

func metricsOf(list []terms.Measure) []Metric {
	var out []Metric
	for _, m := range list {
		out = append(out, Metric(m.Name))
	}
	return out
}

// short is how a metric may be written too: mfu, tpot_p99.
func (m Metric) short() string {
	if m.IsServing() {
		return strings.TrimSuffix(string(m), "_ns")
	}
	return strings.TrimSuffix(string(m), "_ratio")
}

// ParseMetric reads a metric's name, or its short form.
func ParseMetric(text string) (Metric, error) {
	var names, short []string
	for _, m := range slices.Concat(Metrics(), ServingMetrics()) {
		if text == string(m) || text == m.short() {
			return m, nil
		}
		if short = append(short, m.short()); !m.IsServing() {
			names = append(names, string(m))
		}
	}
	near := ""
	if len(suggest.Nearest(text, short)) > 0 { // else DidYouMean would list all of them too
		near = suggest.DidYouMean(text, short)
	}
	return "", fmt.Errorf("%w: there is no metric %q: it is one of %s, or of serving %s%s", frame.ErrBadArgument, text, strings.Join(names, ", "), ServingNames(), near)
}

// Unit is that of the metric's values.
func (m Metric) Unit() frame.Unit { return frame.UnitOf(string(m)) }

// LessIsBetter reports whether a change to smaller values is an improvement.
func (m Metric) LessIsBetter() bool {
	return slices.ContainsFunc(slices.Concat(terms.Measures, terms.ServingIn(terms.Trend)), func(x terms.Measure) bool { return x.Name == string(m) && x.LessIsBetter })
}

// Options say what is followed and what counts as a change.
type Options struct {
	Workload string   // key, unique prefix of one, command, or a run of it; "": that of the latest run that has one
	Tags     []string // key=value that each run must have
	Stage    string   // only this stage; "" for all
	Load     string   // of a metric of serving: only loads with these parts, as serving.Parse reads them; "" for the load that most runs share
	Metric   Metric   // GPUSpan when empty
	// Kernels is how many kernels, copies and graphs of each stage are looked at, those that take most in any run; 0 for none. One that is
	// not among them takes less than each of them, and so has changed by less too.
	Kernels int
	// KernelRuns is in how many runs they are looked at, the latest of the workload; 0 is DefaultKernelRuns.
	KernelRuns int
	// Alpha is the chance to find a change among stages that have none, and likewise among their kernels; 0 is stats.DefaultAlpha.
	Alpha     float64
	MinEffect float64 // smaller relative changes are none; 0 is stats.DefaultMinEffect
}

// What is looked at unless the caller says otherwise.
const (
	DefaultKernels    = 20
	DefaultKernelRuns = 1000 // a trend of 10,000 takes as long as one of 1,000 then, but for its stages
)

// Result is the trend of one workload.
type Result struct {
	Workload string // its key, or the command of runs that prof did not capture
	Options  Options
	Runs     []Run    // oldest first
	Series   []Series // by stage, that of the latest run first
	Changes  []Change // of stages, and of kernels where no stage moved with them, by the first run of the new level
	Notes    []string // what a reader must know of the figures
	Queries  []Source // what they are from
}

// Source is a query that figures are from.
type Source struct{ Query, SQL string } // Query as name.vN

// Run is one run of the workload. What is not known is "".
type Run struct {
	ID, Name                 string
	At                       string // UTC start of the capture; if unknown, of the ingest
	Commit, Branch           string
	Dirty                    *bool // changes that were not committed; nil when not known
	Driver, Host             string
	ToolVersion, ProfVersion string // versions of what captured and of what ingested it
}

// Series is one stage in the runs that can be compared: on the same GPU, with the same tokens, captured by the same tool. Of a metric of
// serving it is one load, on the same GPU and by the same load generator.
type Series struct {
	Stage  string // or the load
	Same   Same
	Latest bool // it holds the stage's latest run
	Points []Point
	Levels []Level
	Items  []Item // kernels, copies, graphs and idle time of its passes, those that take most first
}

// Same is what the runs of a series have in common. Numbers are of each pass; nil when not known, or when they differ between passes.
type Same struct {
	GPU, Tool                 string
	Prompt, Decode, Sequences *int64
	Varying                   bool // tokens or sequences differ between the passes of a run
}

// Point is a stage in one run. Value is nil when it is not known: a gap, not a zero.
type Point struct {
	Run              int // index into Result.Runs
	Value, Mean, Std *float64
	Passes           int64        // of serving: benchmarks
	Sent             serving.Sent // of serving: requests of its benchmarks
}

// Level is a stretch of points between two changes, both inclusive, and the median of their values.
type Level struct {
	From, To int // index into Points
	Median   float64
}

// Item is a kernel, copy operation, graph replay or the idle time of a stage over the points of its series.
type Item struct {
	Kind, Name, Family string
	Values             []*float64 // ns of a pass, one for each point; 0 where the pass had none of it, nil when not known
	Calls              []*float64 // executions in a pass, one for each point; likewise, nil of idle time
	changes            []stats.Change
}

// Verdict says what a change is to the reader.
type Verdict string

// What a change can be.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
)

// Change is where a stage, or one of its kernels, changes its level.
type Change struct {
	Series      int     // index into Result.Series
	Item        *Item   // what moved within the stage; nil: the stage itself
	First, Last int     // index into Result.Runs: the first run at the new level, and the last at the old one
	Point       int     // index of First into the series' Points
	Before      float64 // median of the level before, in the metric's unit or, of an item, ns of a pass
	After       float64
	Effect      *float64 // After / Before - 1; nil where Before is 0
	P           float64  // chance of such a change somewhere in a series of noise; of Moved, adjusted for the items looked at, NaN without a test
	Suspect     bool     // only the last runs are off: too few to tell a new level from outliers
	Verdict     Verdict
	CallsBefore *float64 // of an item: executions in a pass of the runs Last and First; nil when not known
	CallsAfter  *float64
	Moved       []Change     // of a stage's change: items that surely moved at the same run or beside it, the largest in ns first
	Largest     *Change      // of a stage's change: the item that changed most of those of which that is not sure; nil where there is none
	Around      [2]int       // of a stage's change: runs of which the level before is known, and of the level since
	Provenance  []Difference // what differs between Last and First beside
	Asked       bool         // whether what differs was looked up
}

// Difference is one thing that two runs do not have in common; "" is not known.
type Difference struct{ Aspect, Before, After, Weight string }

// New follows the workload that the options name.
func New(ctx context.Context, a frame.Asker, o Options) (*Result, error) {
	o = o.withDefaults()
	if o.Metric.IsServing() {
		return newServing(ctx, a, o)
	}
	if o.Load != "" {
		return nil, fmt.Errorf("%w: stages have no load: %s are those of serving", frame.ErrBadArgument, ServingNames())
	}
	r := &Result{Options: o}
	items, err := r.load(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(r.Runs) == 0 {
		err := noStage(ctx, a, o)
		if len(r.Notes) > 0 {
			err = fmt.Errorf("%w; %s", err, strings.Join(r.Notes, "; "))
		}
		return nil, err
	}
	if err := r.addItems(items); err != nil {
		return nil, err
	}
	r.findChanges()
	if err := r.addProvenance(ctx, a); err != nil {
		return nil, err
	}
	r.addNotes()
	return r, nil
}

// ofWorkload names the workload behind a noun; "" where none was named.
func (o Options) ofWorkload() string {
	if o.Workload == "" {
		return ""
	}
	return fmt.Sprintf(" of the workload %q", o.Workload)
}

func (o Options) withDefaults() Options {
	if o.Metric == "" {
		o.Metric = GPUSpan
	}
	if o.KernelRuns == 0 {
		o.KernelRuns = DefaultKernelRuns
	}
	if o.Alpha == 0 {
		o.Alpha = stats.DefaultAlpha
	}
	if o.MinEffect == 0 {
		o.MinEffect = stats.DefaultMinEffect
	}
	o.Tags = slices.Clone(o.Tags)
	return o
}

// Main returns the series of each stage that holds its latest run: what a table of stages shows.
func (r *Result) Main() []int {
	var out []int
	for i, s := range r.Series {
		if s.Latest {
			out = append(out, i)
		}
	}
	return out
}
