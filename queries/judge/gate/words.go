package gate

import (
	"fmt"
	"strconv"
	"strings"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
)

// signed writes a change: 0.0312 is "+3.1 %".
func signed(ratio float64) string {
	if ratio < 0 {
		return "-" + percent(-ratio)
	}
	return "+" + percent(ratio)
}

// percent writes a ratio with two digits that matter, as the sentences of diff do.
func percent(ratio float64) string { return digits(ratio*100) + " %" }

// digits writes v with two digits that matter, or as a whole number from 100 up.
func digits(v float64) string {
	if v >= 100 && v < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// words sums the result up in a line.
func (r *Result) words() string {
	broken, unjudged, all := r.Count(Broken), r.Count(CannotTell), len(r.Checks)
	var text, rest string
	switch {
	case broken > 0 && unjudged > 0:
		text = fmt.Sprintf("regression: %d of %d rules broken, %d cannot be told", broken, all, unjudged)
	case broken > 0:
		text = fmt.Sprintf("regression: %d of %d rules broken", broken, all)
	case unjudged > 0:
		text, rest = fmt.Sprintf("cannot tell: %d of %d rules", unjudged, all), "; none broken"
	default:
		text = fmt.Sprintf("passed: %d of %d rules hold", all, all)
	}
	if r.Baseline == nil {
		return text + rest
	}
	text += " against " + sideName(*r.Baseline) + rest
	if other := r.decisive(); other != "" {
		text += "; conditions differ: " + other
	}
	return text
}

// decisive names what else differs so much that figures compare that too; "" when nothing does.
func (r *Result) decisive() string {
	var out []string
	for _, d := range r.Differences {
		if d.Weight == conditions.Decides {
			out = append(out, d.Aspect)
		}
	}
	return strings.Join(out, ", ")
}

// sideName is a side as it was asked for, with its run where that is another name.
func sideName(s diff.Side) string {
	if len(s.Runs) == 1 && s.Runs[0].Name != s.Label {
		return s.Runs[0].Name + " (" + s.Label + ")"
	}
	return s.Label
}
