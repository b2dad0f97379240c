package gate

import (
	"fmt"
	"math"

	"prof/queries/judge/stats"
)

// blindAt is how many times its limit a regression may have to be to show before a rule that seems to hold tells nothing.
const blindAt = 10

// isBlind says whether only a regression of many times the limit could have shown. A limit of 0 is any change at all, which no number of
// samples shows; what the user takes for noise is none of the samples' fault; and numbers of launches that never differ within a side need not be many.
func (c *Check) isBlind(limit *float64) bool {
	x := c.Comparison
	if c.same || limit == nil || *limit == 0 || x.A == 0 || x.FloorAssumed && c.byFloor() || c.Unit == Count && x.Method == stats.MethodExact {
		return false
	}
	if x.Smallest == nil {
		return x.Method != stats.MethodExact // values that are equal by one sample are told to be so
	}
	allowed := *limit
	if !c.Rule.AtMost { // as the factor that the figure may fall by, which Smallest is
		if allowed <= -1 {
			return false
		}
		allowed = -allowed / (1 + allowed)
	}
	return *x.Smallest > blindAt*allowed+rounding
}

// byFloor says whether it is the noise between runs that hides changes, and not that of the samples.
func (c *Check) byFloor() bool {
	x := c.Comparison
	return x.Floor != nil && x.Smallest != nil && *x.Smallest <= *x.Floor
}

// unseen warns where a change as large as the limit would not have been sure. What could be shown is a factor: of a rule on the least that
// a figure may come to, one that it is divided by.
func (c *Check) unseen(limit *float64) string {
	if c.same {
		return ""
	}
	if c.Comparison.Smallest == nil {
		return "; whether a regression would have shown is not known"
	}
	smallest, most, words := *c.Comparison.Smallest, 1.0, "twice as much"
	if !c.Rule.AtMost {
		smallest, most, words = smallest/(1+smallest), 0.5, "half as much"
	}
	switch {
	case limit == nil || smallest <= math.Abs(*limit)+rounding:
		return ""
	case smallest >= most:
		return "; samples vary so much that not even " + words + " would have shown"
	}
	return fmt.Sprintf("; a regression below %s would not have shown", percent(smallest))
}

// sight says why a rule is blind, and what would help.
func (c *Check) sight() string {
	if c.byFloor() {
		return ", since " + floorText(c.Comparison)
	}
	return fmt.Sprintf(", more than %d times the limit: more passes, repeats or runs would tell", blindAt)
}
