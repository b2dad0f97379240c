// Package stats holds the statistics of runs: whether two sets of samples differ, how sure that is, how small a difference they could
// show, how much runs of the same thing vary, and where a series of runs changes its level. It knows nothing of GPUs and holds no SQL.
package stats

// Options say what counts as a difference.
type Options struct {
	Alpha     float64 // error rate of the whole comparison: the chance to call noise a change; 0 is DefaultAlpha
	MinEffect float64 // smaller relative changes are none, even where they are sure; 0.01 is 1 %
	Margin    float64 // there is no change only where the interval of the ratio lies within this margin; 0.05 is from 1 / 1.05 to 1.05
	Exact     bool    // the values are counts: without spread they are certain, while times may just be too coarse to show any
	Noise     *Noise  // how much runs of the same thing vary; nil when that is not known
	Paired    bool    // sample i of one side does the same work as sample i of the other, and other samples other work

	// Comparisons is how many comparisons the P of this one will be adjusted with (see Holm); 0 is 1. A test is chosen that can be sure
	// even so: the smallest p that a rank test of 5 and 5 samples can reach is 0.008, which two comparisons at 0.01 would never take.
	Comparisons int
}

// DefaultOptions are those of a caller with no wishes. In Options a MinEffect or Margin of 0 is 0.
func DefaultOptions() Options {
	return Options{Alpha: DefaultAlpha, MinEffect: DefaultMinEffect, Margin: DefaultMargin}
}

// Within are the options of a question for a limit: there is no change where the samples rule out any beyond it, and one counts from it on. A limit
// below the least effect that counts is taken as that, since no samples could rule out every change.
func (o Options) Within(limit float64) Options {
	o.Margin, o.MinEffect = max(limit, DefaultMinEffect), min(limit, DefaultMinEffect)
	return o
}

// alpha is the error rate of the whole comparison.
func (o Options) alpha() float64 {
	if o.Alpha > 0 && o.Alpha < 1 {
		return o.Alpha
	}
	return DefaultAlpha
}

// strictest is the error rate of the first step of Holm's procedure, that of Bonferroni.
func (o Options) strictest() float64 { return o.alpha() / float64(max(1, o.Comparisons)) }

// What counts as a difference unless the caller says otherwise.
const (
	DefaultAlpha     = 0.01
	DefaultMinEffect = 0.01
	DefaultMargin    = 0.05
)

// Noise is how much runs of the same thing vary.
type Noise struct {
	Floor   float64 // the largest relative change between two runs of the same thing that counts as noise at Alpha
	SD      float64 // standard deviation of the logarithm of a run's value; 0 where only Floor was assumed
	DF      int     // degrees of freedom of SD: runs less groups; 0 where only Floor was assumed
	PassSD  float64 // the same of the passes within a process, with PassDF; 0 where only the samples tell
	PassDF  int
	Assumed bool   // the user said so
	From    string // what it was measured on, where that is not the workload on its machine: "H200 virtual machines"; "" else
}

// Verdict is what a comparison comes to. Better and worse are the caller's to tell from the direction of the change.
type Verdict string

// What a comparison can come to.
const (
	Changed    Verdict = "changed"
	NoChange   Verdict = "no-change"
	CannotTell Verdict = "cannot-tell"
)

// Comparison is what samples of two sides tell.
type Comparison struct {
	NA, NB   int
	A, B     float64  // centre of each side: median of three samples or more, else mean, as of pairs; NaN where NA or NB is 0
	Paired   bool     // they are of pairs
	LoA, HiA *float64 // interval of the centre at 1 - Alpha where the samples allow one
	LoB, HiB *float64
	Effect   *float64 // B / A - 1; nil where A is 0
	P        *float64 // chance of a difference like this or larger without a change; nil where no test is possible
	Method   string   // one of the Method constants; "" for none
	Smallest *float64 // the smallest relative change that this many samples with this spread could show; nil when none could
	Low      *float64 // the interval of Effect, each end at Alpha, with what processes or runs differ by; nil where nothing bounds it
	High     *float64
	Verdict  Verdict
	Why      string // one sentence: what the verdict follows from, or what is missing for one

	Floor        *float64 // changes up to this ratio are noise between runs, however sure they are; nil where none is known or none is due
	FloorAssumed bool     // Floor is what the user said
	processSD    float64  // what processes differ by, known or seen; 0 where that is not known
	NoiseSD      *float64 // standard deviation of the logarithm between processes that P, Low and High allow for; nil where the samples show it themselves
	NoiseFrom    string   // what that was measured on, where it is assumed; "" where it is learned, or none is needed
	Sure         bool     // set by Judge: p is at most Alpha
	Adjusted     *float64 // set by Judge: P as one of several; nil for a comparison alone

	lone  bool   // one sample on one side, several on the other, and no noise known: no change can be sure
	equal bool   // every value of both sides is the same
	alike bool   // both sides have the same values
	fault string // what is wrong with the values, or why no test is possible
}

// What a P or a verdict without one can come from.
const (
	MethodU       = "Mann-Whitney U"
	MethodWelch   = "Welch's t"
	MethodStudent = "Student's t"
	MethodFloor   = "noise floor"
	MethodProcess = "t with the noise between processes"
	MethodExact   = "no spread" // both sides are without any spread, so that every difference is one
)
