// Package judge says what the answers about a run come to: what bounds each of its stages, what costs most and what to try. It is the one
// judgement that every form of output shows; the packages below it compare runs, follow them and hold them to rules. It knows frames, and
// no warehouse.
package judge

import (
	"cmp"

	"prof/queries/judge/serving"
)

// Summary is what is said of a run first. Each figure names the query that it is from.
type Summary struct {
	Stages     []StageSummary     // those with measured passes, by time
	All        *StageSummary      // all device work, of a run whose timeline has no measured passes; nil otherwise
	Profiled   string             // what Nsight Compute says of its kernels, of a run without a timeline; "" otherwise
	Replayed   []ReplayedKernel   // those kernels
	Served     *serving.Token     // what a token took of an engine under load; nil of other runs
	Benchmarks []serving.Measured // what load generators measured at the client
	Rest       string             // what a run has that has none of the above; "" otherwise
	Ranks      []SlowRank         // for whom ranks wait, by stage; nil without ranks that exchange data
	Breakdown  []TimeCategory     // the three that cost most
	Kernels    []TopKernel        // the three that take most of the kernels' time, in measured passes where there are any
	Large      []LargeKernel      // those that take a tenth or more of the GPU time of a stage's median pass, by stage
	Findings   []Finding          // what rules found, by what it could save
	Advice     []Advice           // up to five things to try; where findings give fewer than two, what to capture next too
	Doubts     []string           // what the figures are to be read with (throttling, overhead, warm-up, partial sources, too little data)
	NotWhole   string             // what the captures did not record, and of what figures are all the same; "" when nothing is known to be missing
	Lacking    string             // that the run has no facts, so that nearly nothing is known of it; "" where it has
	Timeless   string             // stages whose kernels are known, and whose passes have no times; "" where none is
	WarmOnly   []string           // stages of which all passes count as warm-up, so that nothing of them was measured
}

// StageSummary says of one stage how long it takes, how much of the hardware it uses and what bounds it.
type StageSummary struct {
	Stage      string // "" for all device work
	Passes     int64  // measured, steady ones, those of several processes at once together; 0 for all device work
	Ranks      int64  // processes that do a pass together; 0 where that is not known
	Workless   int64  // measured ones beside these, without device work
	MedianNs   float64
	MinNs      float64
	MaxNs      float64
	MeanNs     float64
	StdNs      *float64 // sample standard deviation; nil for a single pass
	IsCPU      bool     // these times are of the range on its thread, since its passes have no device work
	ShareRatio float64  // of the measured time of all stages, its median pass times its passes of the sum of these; 0 without any
	Device     int64    // the GPU that is judged: that with the most measured time, but not one that the others wait for
	GPUs       int      // that worked in it; 0 when none is known to
	BusyRatio  *float64 // of the median pass; of several GPUs of that on each, together. nil when there is none
	MFU, MBU   *float64 // nil when not known, see Unknown
	IsLeast    bool     // they are at least that: not all of the work could be counted
	TokensPerS *float64
	Token      *TokenTime // nil where it is not decode, or its passes do not say how many steps they have
	Graphs     string     // that it replays CUDA graphs, in words: a CUDA graph of 827 kernels; "" where it replays none
	Alone      Alone      // the same without a profiler
	Unknown    string     // why MFU is nil; "" when it is not
	Bound      Bound
	Label      string // of Bound, in a cell: waits for GPU 1
	Meaning    string // of Bound, in plain words
	Next       Bound  // what takes the most time beside it; "" where that is not worth a word
	Why        string // a sentence with the figures it follows from
	But        string // why Why may be no picture of a usual pass; "" when nothing speaks against it
	Query      string // the query behind it, as a command
}

// Alone is what a stage does in recordings without a profiler: the figures to quote. Nil is what was not measured on the GPU.
type Alone struct {
	MedianNs   *float64 // of its steady passes, from the opening of the range to the end of its work on the GPU
	MFU, MBU   *float64
	TokensPerS *float64
}

// TimeCategory is one of the things that the time of the measured passes goes to.
type TimeCategory struct {
	Stage      string // "" for all device work
	Name, Kind string // as time-breakdown gives them
	Words      string // what it is, in plain words
	GPUs       int    // that TotalNs is added up over
	TotalNs    int64
	StageRatio float64 // of the time of the stage's measured passes
	Query      string
}

// TopKernel is a kernel that takes much of the kernels' time.
type TopKernel struct {
	Name, Role string // Role is "" where no rule tells it
	Stage      string // in which most of its time is; "" outside every stage, and where no stage is known
	TotalNs    int64
	MeanNs     float64
	Calls      int64
	ShareRatio float64 // of all kernel time; of that in measured passes where IsMeasured
	IsMeasured bool    // whether its figures are of measured passes alone
	Bound      string  // what bounds it by Nsight Compute: memory, compute or latency; "" when it was not profiled
	Limiter    string  // what sets that bound; "" likewise
	IsForeign  bool    // of a GPU that tools of NVIDIA do not profile
	Query      string
}

// Advice is one thing to try, or to capture next.
type Advice struct {
	Finding        // what is to be tried; without ID, and only with Advice and Command, where something is to be captured
	Number  string // what it could save, in words; "" where something is to be captured
	Why     string // Number and what it follows from; or why something is to be captured
}

// Summarise returns what the answers of a report come to. Any of them may be missing: what follows from it is then not known.
func Summarise(r *Report) (Summary, error) {
	s := newSummariser(r)
	err := s.summarise()
	return s.out, err
}

func newSummariser(r *Report) *summariser { return &summariser{r: r, name: r.Name} }

func (s *summariser) summarise() error {
	s.out.Lacking = s.r.Lacking()
	for _, step := range []func() error{s.readSources, s.readParts, s.readFindings, s.readUtilisation, s.readProfiled, s.readPasses, s.readLost, s.readLate, s.readServed, s.addStages, s.addAll, s.addRest, s.wordRanks, s.refineFindings, s.addBreakdown, s.addKernels, s.addLarge, s.addAdvice, s.addDoubts} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// summariser makes a Summary from a report's answers.
type summariser struct {
	r    *Report
	name string // the run's
	out  Summary

	kinds     map[string]bool                    // kinds of sources
	isForeign bool                               // tools of NVIDIA are no help
	parts     map[string][]deviceParts           // by stage
	use       map[string]utilisation             // by stage
	bounds    map[string]map[kernelBound]float64 // ns of the timeline in grids that Nsight Compute profiled, by kernel
	passes    map[string][]passTime              // measured passes by stage, in order of time
	waits     map[string]SlowRank                // for whom ranks wait by range, over all recordings
	lost      lostWork
	noUsage   string // why there is no utilisation at all
}

// utilisation is what mfu says of a stage.
type utilisation struct {
	mfu, mbu   *float64
	aloneMFU   *float64 // without a profiler, as aloneMBU
	aloneMBU   *float64
	precision  string
	convention string
	fault      string
	isLeast    bool     // it is at least that
	uncounted  []string // parts of it whose operations are not counted
}

func byKey[K cmp.Ordered, V any](of func(V) K) func(x, y V) int {
	return func(x, y V) int { return cmp.Compare(of(x), of(y)) }
}

// Says is what the stage does or is, in a sentence: is launch-bound, waits for GPU 1.
func (s StageSummary) Says() string {
	if s.Bound == LateBound {
		return s.Label
	}
	return s.Bound.Says()
}
