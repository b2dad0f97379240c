package gate

import (
	"fmt"
	"math"
)

// byFloor says whether it is the noise between runs that hides changes, and not that of the samples.
func (c *Check) byFloor() bool {
	x := c.Comparison
	return x.Floor != nil && x.Smallest != nil && *x.Smallest <= *x.Floor
}

// unseen warns where a change as large as the limit would not have been sure. What could be shown is a factor: of a rule on the least that
// a figure may come to, one that it is divided by.
func (c *Check) unseen(limit *float64) string {
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

// sight says why that is, and what would help.
func (c *Check) sight() string {
	if c.byFloor() {
		return ", since " + floorText(c.Comparison)
	}
	return ": more passes, repeats or runs would tell"
}
