package gate

import (
	"fmt"
	"math"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// judgeValue judges a rule by the figure itself.
func (c *Check) judgeValue() {
	limit := c.Rule.Value
	c.Limit = &limit
	switch {
	case c.Value == nil:
		c.Outcome = CannotTell // Reason says why the figure is not known
	case c.isLeast && (*c.Value < limit || c.Rule.AtMost && *c.Value == limit):
		c.Outcome, c.Reason = CannotTell, "this is a lower bound: not all of its work could be counted"
	case c.Rule.AtMost && *c.Value <= limit, !c.Rule.AtMost && *c.Value >= limit:
		c.Outcome = Holds
	default:
		c.Outcome = Broken
		if c.Reason == "" {
			c.Reason = c.overLimit(limit)
		}
	}
}

// overLimit says by how much of the limit a figure is beyond it.
func (c *Check) overLimit(limit float64) string {
	side := "above"
	if !c.Rule.AtMost {
		side = "below"
	}
	if limit == 0 || c.Unit == Count {
		return side + " the limit"
	}
	return fmt.Sprintf("%s %s the limit", percent(math.Abs(*c.Value/limit-1)), side)
}

// judgeChange judges a rule by the change from the baseline, by the verdict that stats give with the limit as the margin: broken when there is a
// change beyond the limit, held when there is none, one within it or none that could be beyond it, and not to be judged when that cannot be told.
func (c *Check) judgeChange(adjusted *float64, o stats.Options) {
	x := *c.Comparison
	c.P = x.P
	if c.Per == string(diff.PerToken) && !c.Rule.Limit.Percent {
		c.Outcome, c.Reason = CannotTell, "the passes of the two sides have different numbers of tokens, so figures are per token: write the limit in percent"
		return
	}
	if adjusted != nil {
		c.P = adjusted
	}
	limit := c.relativeLimit()
	told := stats.Judge(x, adjusted, o.Within(c.allowed(limit)))
	beyond := c.beyond(limit)
	switch noTest := x.P == nil && x.Floor == nil; {
	case c.same:
		c.Outcome, c.Reason = Holds, c.change()
	case told.Verdict == stats.CannotTell && c.keeps(limit):
		c.Outcome, c.Reason = Holds, c.change()+"; "+x.Interval()
	case told.Verdict == stats.CannotTell && noTest:
		c.Outcome, c.Reason = CannotTell, c.untested(told.Why)
	case told.Verdict == stats.CannotTell && beyond:
		c.Outcome, c.Reason = CannotTell, c.change()+c.doubt(o)
	case told.Verdict == stats.CannotTell:
		c.Outcome, c.Reason = CannotTell, c.change()+c.sight()
	case beyond && told.Verdict == stats.NoChange: // within what the user assumed to be noise, or less than counts
		c.Outcome, c.Reason = Holds, c.change()+", which counts as noise"
	case beyond:
		c.Outcome, c.Reason = Broken, c.change()
	default:
		c.Outcome, c.Reason = Holds, c.change()
	}
}

// keeps reports whether the interval of the change lies on the good side of the limit.
func (c *Check) keeps(limit *float64) bool {
	x := c.Comparison
	if limit == nil || x.Low == nil || x.High == nil {
		return false
	}
	if c.Rule.AtMost {
		return *x.High <= *limit
	}
	return *x.Low >= *limit
}

// allowed is the change in the direction of the rule that its limit lets pass, as the factor that a change is measured by; 0 where it asks for one.
func (c *Check) allowed(limit *float64) float64 {
	switch {
	case limit == nil:
		return 0
	case c.Rule.AtMost:
		return max(0, *limit)
	case *limit <= -1:
		return math.Inf(1)
	}
	return max(0, -*limit/(1+*limit))
}

// doubt returns why a change that looks beyond the limit may be noise.
func (c *Check) doubt(o stats.Options) string {
	if x := c.Comparison; x.Floor != nil && c.P != nil && *c.P <= o.Alpha {
		return " is beyond the limit, but " + floorText(x)
	}
	return " is beyond the limit, but may be noise" + c.noiseText()
}

// noiseText returns which change the comparison could have found, and what would tell more.
func (c *Check) noiseText() string {
	x := c.Comparison
	switch {
	case x.NoiseFrom != "" && x.Smallest != nil:
		noise := "of up to " + stats.SizeText(*x.Smallest)
		if x.Hidden() == "" {
			noise = "of more than any change worth a figure"
		}
		return fmt.Sprintf(": with one process a side, run-to-run noise %s is assumed (%s). Capture again with --repeats 3, or pass --assume-noise 3%%", noise, x.NoiseFrom)
	case x.Hidden() != "":
		return ": " + x.Hidden() + ". Compare more repeats or runs"
	}
	return ""
}

// floorText returns how much runs of the same thing may differ, and what would tell more.
func floorText(x *stats.Comparison) string {
	return fmt.Sprintf("identical runs differ by up to %s: compare several runs per side", percent(*x.Floor))
}

// untested returns why no test is possible, and how one gets more samples.
func (c *Check) untested(why string) string {
	const hint = "; capture with --repeats, or give the noise between identical runs with --assume-noise P%"
	x := c.Comparison
	text := c.size() + " from one sample "
	switch {
	case x.NA == 1 && x.NB == 1:
		return text + "per side, which gives no spread" + hint
	case x.NA == 1 || x.NB == 1:
		return text + "on one side, which may be a single stall" + hint
	}
	return why
}

// relativeLimit is the change that the limit allows, as a part of the baseline's figure; nil where that figure is 0.
func (c *Check) relativeLimit() *float64 {
	l := c.Rule.Limit
	if l.Percent {
		return &l.Value
	}
	if c.Comparison.A == 0 {
		return nil
	}
	ratio := l.Value / c.Comparison.A
	return &ratio
}

// rounding is what a change may be off by, since figures and limits are binary fractions.
const rounding = 1e-9

// beyond reports whether the change is larger than the limit allows, sure or not.
func (c *Check) beyond(limit *float64) bool {
	x := c.Comparison
	if c.Rule.Percent && limit != nil && x.Effect != nil {
		return c.Rule.AtMost && *x.Effect > *limit+rounding || !c.Rule.AtMost && *x.Effect < *limit-rounding
	}
	allowed := c.Rule.Value
	if c.Rule.Percent { // of nothing
		allowed = 0
	}
	difference, off := x.B-x.A, rounding*math.Max(x.A, x.B)
	return c.Rule.AtMost && difference > allowed+off || !c.Rule.AtMost && difference < allowed-off
}

// size words the change.
func (c *Check) size() string {
	switch x := c.Comparison; {
	case x.Effect == nil && x.B == x.A:
		return "0 on both sides"
	case x.Effect == nil:
		return "up from 0"
	case *x.Effect == 0:
		return "no difference"
	default:
		return signed(*x.Effect)
	}
}

// change words the change and how sure it is.
func (c *Check) change() string {
	x := c.Comparison
	switch {
	case c.P == nil && x.Floor != nil:
		return fmt.Sprintf("%s (noise: %s)", c.size(), percent(*x.Floor))
	case c.P == nil || x.Method == stats.MethodExact:
		return fmt.Sprintf("%s (no spread in %d and %d %s)", c.size(), x.NA, x.NB, c.Level)
	}
	corrected := ""
	if c.tested > 1 {
		corrected = fmt.Sprintf(", corrected for %d rules (Holm)", c.tested)
	}
	method := ", " + x.Method
	if x.Method == stats.MethodProcess {
		method = "" // a name that tells nobody anything
	}
	return fmt.Sprintf("%s (p = %s%s%s, %d and %d %s)", c.size(), digits(*c.P), corrected, method, x.NA, x.NB, c.Level)
}

// outcomeOf is that of all checks.
func outcomeOf(checks []Check) Outcome {
	out := Holds
	for _, c := range checks {
		switch {
		case c.Outcome == Broken:
			return Broken
		case c.Outcome == CannotTell:
			out = CannotTell
		}
	}
	return out
}
