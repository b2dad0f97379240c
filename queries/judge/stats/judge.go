package stats

import (
	"fmt"
	"math"
	"strconv"
)

// Judge sets the verdict of c and why, by adjustedP (see Holm) or, where that is nil, by its own P. A change is one that is sure (its p
// is at most Alpha), at least MinEffect and, where Floor is due, beyond it. There is none where the samples rule out any beyond Tolerance
// (or MinEffect, where that is more): two one-sided tests. Else nothing can be told. Changes are measured by their ratio, so that verdicts stay when the sides are swapped: 1 / 1.05 is as much as 1.05.
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

// worstCase is how many times the margin the noise between processes may be allowed for, where nothing tells of it, for samples that agree to tell
// that there is no change: what is allowed for is the worst case.
const worstCase = 10

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
		return CannotTell, "differs by " + percent(*c.Effect) + couldShow(c) + missing(c)
	}
	size := math.Abs(math.Log1p(*c.Effect))
	differs := "differs by " + percent(*c.Effect)
	within := c.Floor != nil && size <= math.Log1p(*c.Floor)
	sure := p != nil && *p <= o.alpha() || p == nil && c.Floor != nil && !within
	margin := max(o.Tolerance, o.MinEffect)
	blind := c.FloorUnknown && *c.Floor > worstCase*margin
	near := c.Reach != nil && max(*c.Reach, math.Expm1(size)) <= margin && !blind
	switch {
	case sure && !within && size >= math.Log1p(o.MinEffect):
		return Changed, differs + evidence(c, p)
	case within && c.FloorAssumed:
		return NoChange, fmt.Sprintf("%s, within the %s assumed to be noise", differs, percent(*c.Floor))
	case near && sure && size < math.Log1p(o.MinEffect):
		return NoChange, fmt.Sprintf("%s, less than the %s that counts", differs, percent(o.MinEffect))
	case near:
		return NoChange, differs + evidence(c, p) + couldShow(c)
	case within && c.FloorUnknown && (sure || blind):
		return CannotTell, fmt.Sprintf("%s%s, but two processes of the same code may differ by up to %s: --repeats would tell", differs, evidence(c, p), percent(*c.Floor))
	case within && (sure || *c.Floor > margin) && !c.FloorUnknown:
		return CannotTell, fmt.Sprintf("%s, but runs of the same thing differ by up to %s: several runs a side would tell", differs, percent(*c.Floor))
	}
	return CannotTell, differs + evidence(c, p) + couldShow(c) + missing(c)
}

// judgeFromNothing judges a change from a centre of 0, which has no ratio.
func judgeFromNothing(c Comparison, p *float64, o Options) (Verdict, string) {
	switch {
	case c.B == 0:
		return NoChange, "most values of both sides are 0"
	case p != nil && *p <= o.alpha() && !c.FloorUnknown:
		return Changed, "from nothing" + evidence(c, p)
	}
	return CannotTell, "from nothing" + evidence(c, p) + missing(c)
}

func evidence(c Comparison, p *float64) string {
	switch {
	case p == nil && c.Floor != nil:
		return fmt.Sprintf(" (noise: %s)", percent(*c.Floor))
	case p == nil:
		return ""
	case c.Method == MethodExact:
		return fmt.Sprintf(" (no spread in %d and %d samples)", c.NA, c.NB)
	}
	return fmt.Sprintf(" (p = %s, %s, %d and %d samples)", digits(*p), c.Method, c.NA, c.NB)
}

func couldShow(c Comparison) string {
	switch {
	case c.lone:
		return "; one sample on a side may be a single stall"
	case c.Smallest == nil:
		return ""
	case *c.Smallest > 99:
		return "; the samples vary too much for any change to show"
	case *c.Smallest > 1:
		return fmt.Sprintf("; only a change by a factor of %s or more would have shown", digits(1+*c.Smallest))
	}
	return fmt.Sprintf("; a change of %s or more would have shown", percent(*c.Smallest))
}

// missing says what would tell more.
func missing(c Comparison) string {
	if c.Method == MethodFloor {
		return ": several runs a side would tell"
	}
	return ": more repeats or runs would tell"
}

// percent writes a ratio with the digits that matter, without its sign: 0.0312 is "3.1 %".
func percent(ratio float64) string { return digits(math.Abs(ratio)*100) + " %" }

// digits writes v with two significant digits, or as a whole number from 100 up.
func digits(v float64) string {
	if v >= 100 && v < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
