package stats

import (
	"fmt"
	"math"
	"strconv"
)

// Judge sets the verdict of c and why, by adjustedP (see Holm) or, where that is nil, by its own P. A change is one that is sure (its p
// is at most Alpha), at least MinEffect and, where Floor is due, beyond it. No change is a claim too: it takes an interval of the ratio that lies
// within the margin (or MinEffect, where that is more), which is an equivalence test by two one-sided tests (Schuirmann 1987, "A comparison of the
// two one-sided tests procedure and the power approach for assessing the equivalence of average bioavailability"). Else nothing can be told.
// Changes are measured by their ratio, so that verdicts stay when the sides are swapped: 1 / 1.05 is as much as 1.05.
func Judge(c Comparison, adjustedP *float64, o Options) Comparison {
	p := c.P
	if adjustedP != nil {
		p = adjustedP
	}
	c.Adjusted = adjustedP
	c.Sure = p != nil && *p <= o.alpha()
	c.Verdict, c.Why = judge(c, p, o)
	return c
}

// JudgedP is the p that the verdict is by: as one of several where c was judged with others; nil where no test was possible.
func (c Comparison) JudgedP() *float64 {
	if c.Adjusted != nil {
		return c.Adjusted
	}
	return c.P
}

func judge(c Comparison, p *float64, o Options) (Verdict, string) {
	switch {
	case c.equal:
		return NoChange, "all values are equal"
	case c.alike:
		return NoChange, "both sides have the same values"
	case c.fault != "":
		return CannotTell, c.fault
	case c.Effect == nil:
		return judgeFromNothing(c, p, o)
	case c.lone:
		return CannotTell, "differs by " + percent(*c.Effect) + ", but one side has a single sample, which may be a stall" + missing(c, o)
	}
	size := math.Abs(math.Log1p(*c.Effect))
	differs := "differs by " + percent(*c.Effect)
	within := c.Floor != nil && size <= math.Log1p(*c.Floor)
	sure := p != nil && *p <= o.alpha() || p == nil && c.Floor != nil && !within
	differs += evidence(c, p)
	switch {
	case sure && !within && size >= math.Log1p(o.MinEffect):
		return Changed, differs
	case c.Inside(o) && sure && size < math.Log1p(o.MinEffect):
		return NoChange, fmt.Sprintf("%s, below the threshold of %s", differs, percent(o.MinEffect))
	case c.Inside(o):
		return NoChange, fmt.Sprintf("%s; %s, within the margin of %s", differs, c.Interval(), percent(o.margin()))
	case within && c.FloorAssumed:
		return CannotTell, fmt.Sprintf("%s, within the assumed noise of %s%s", differs, percent(*c.Floor), c.between())
	case within && c.NoiseFrom != "":
		return CannotTell, fmt.Sprintf("%s; run-to-run noise of up to %s is assumed (%s)%s", differs, percent(*c.Floor), c.NoiseFrom, c.moreProcesses(o))
	case within && (sure || *c.Floor > o.margin()):
		return CannotTell, fmt.Sprintf("%s, but identical runs differ by up to %s: compare several runs per side", differs, percent(*c.Floor))
	}
	if c.isLikely() {
		return CannotTell, fmt.Sprintf("%s; likely, but not sure: p must be at most %s%s%s", differs, digits(o.alpha()), c.between(), missing(c, o))
	}
	return CannotTell, differs + c.between() + c.sight() + missing(c, o)
}

// isLikely reports whether the interval leaves out that nothing changed, although p is too large to be sure: each end of the interval is at Alpha, of one
// comparison; p is of both directions, and of several comparisons together.
func (c Comparison) isLikely() bool {
	return !c.Sure && c.P != nil && c.Low != nil && c.High != nil && (*c.Low > 0 || *c.High < 0)
}

// Doubt returns how near a change that is likely is to being sure; "" for others.
func (c Comparison) Doubt() string {
	if !c.isLikely() {
		return ""
	}
	return fmt.Sprintf("likely, but not sure: p = %s", digits(*c.JudgedP()))
}

// mostTold is the largest change that is worth a figure: ten times as long.
const mostTold = 9

// sight returns which change the comparison could have found; "" where none could be.
func (c Comparison) sight() string {
	hidden := c.Hidden()
	switch {
	case c.Smallest == nil:
		return ""
	case hidden == "":
		return "; the samples differ too much to tell any change"
	case c.NoiseFrom != "":
		return fmt.Sprintf("; run-to-run noise of up to %s is assumed (%s)", SizeText(*c.Smallest), c.NoiseFrom)
	}
	return "; " + hidden
}

// Hidden returns which changes the comparison could not have found; "" where it could have found none that is worth a figure.
func (c Comparison) Hidden() string {
	if c.Smallest == nil || *c.Smallest > mostTold {
		return ""
	}
	return fmt.Sprintf("changes below %s cannot be told from noise", SizeText(*c.Smallest))
}

// margin is the change up to which there is none: one that does not count is none in any case.
func (o Options) margin() float64 { return max(o.Margin, o.MinEffect) }

// Inside reports whether the interval of the ratio lies within the margin, which is what no change means.
func (c Comparison) Inside(o Options) bool {
	if c.Low == nil || c.High == nil {
		return false
	}
	most := math.Log1p(o.margin())
	return math.Log1p(*c.Low) >= -most && math.Log1p(*c.High) <= most
}

// Interval returns between which changes the true one is; "" where nothing bounds it.
func (c Comparison) Interval() string {
	if c.Low == nil || c.High == nil {
		return ""
	}
	return fmt.Sprintf("between %s and %s", signed(*c.Low), signed(*c.High))
}

// between is Interval behind a semicolon.
func (c Comparison) between() string {
	if text := c.Interval(); text != "" {
		return "; " + text
	}
	return ""
}

// judgeFromNothing judges a change from a centre of 0, which has no ratio.
func judgeFromNothing(c Comparison, p *float64, o Options) (Verdict, string) {
	switch {
	case c.B == 0:
		return CannotTell, "most values of both sides are 0"
	case p != nil && *p <= o.alpha() && c.NoiseFrom == "":
		return Changed, "up from 0" + evidence(c, p)
	}
	return CannotTell, "up from 0" + evidence(c, p) + missing(c, o)
}

func evidence(c Comparison, p *float64) string {
	switch {
	case p == nil && c.Floor != nil:
		return fmt.Sprintf(" (noise: %s)", percent(*c.Floor))
	case p == nil:
		return ""
	case c.Method == MethodProcess && c.NA == 1 && c.NB == 1:
		return fmt.Sprintf(" (p = %s, by its launches)", digits(*p))
	case c.Method == MethodProcess:
		return fmt.Sprintf(" (p = %s, %d and %d samples)", digits(*p), c.NA, c.NB)
	case c.Method == MethodExact:
		return fmt.Sprintf(" (no spread in %d and %d samples)", c.NA, c.NB)
	}
	return fmt.Sprintf(" (p = %s, %s, %d and %d samples)", digits(*p), c.Method, c.NA, c.NB)
}

// How many processes a side at least show how much they differ, and how many are worth advising.
const (
	FewProcesses  = 3
	mostProcesses = 20
)

// Processes is how many processes a side would tell a change of this size in nine of ten cases, by Student's t and what processes are known or seen to
// differ by; 0 where more than mostProcesses would, or that is not known.
func (c Comparison) Processes(o Options) int {
	if c.Effect == nil || *c.Effect <= -1 || *c.Effect == 0 || c.processSD <= 0 {
		return 0
	}
	for n := FewProcesses; n <= mostProcesses; n++ {
		df := float64(2*n - 2)
		if (quantileT(o.strictest(), df)+quantileT(0.2, df))*c.processSD*math.Sqrt(2/float64(n)) <= math.Abs(math.Log1p(*c.Effect)) {
			return n
		}
	}
	return 0
}

// moreProcesses is what tells by how much processes of the same code differ.
func (c Comparison) moreProcesses(o Options) string {
	text := fmt.Sprintf(": capture each side with prof capture --repeats %d", max(FewProcesses, c.Processes(o)))
	if c.FloorAssumed {
		return text
	}
	return text + ", or give the noise with --assume-noise 3%"
}

// missing returns what would tell more.
func missing(c Comparison, o Options) string {
	switch n := c.Processes(o); {
	case c.Method == MethodFloor:
		return ": compare several runs per side"
	case c.Method == MethodProcess:
		return c.moreProcesses(o)
	case n > 0 && n > max(c.NA, c.NB):
		return fmt.Sprintf(": compare %d repeats or runs a side", n)
	}
	return ": compare more repeats or runs"
}

// signed writes a relative change with the digits that matter: 0.0312 is "+3.1 %", 3 is "a factor of 4".
func signed(effect float64) string {
	switch {
	case effect > 1:
		return "a factor of " + digits(1+effect)
	case effect < 0:
		return "-" + percent(effect)
	}
	return "+" + percent(effect)
}

// SizeText writes how large a change is: 0.0312 is "3.1 %", 3 is "a factor of 4".
func SizeText(ratio float64) string {
	if ratio > 1 {
		return "a factor of " + digits(1+ratio)
	}
	return percent(ratio)
}

// percent writes a ratio with the digits that matter, without its sign: 0.0312 is "3.1 %".
func percent(ratio float64) string { return digits(math.Abs(ratio)*100) + " %" }

// digits writes v with two significant digits, or as a whole number from 100 up.
func digits(v float64) string {
	if v >= 99.5 && v < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
