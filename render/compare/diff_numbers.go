package compare

import (
	"math"
	"strconv"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/typeset"
)

// probability shows a chance with two digits, and a very small one by its bound.
func probability(p float64) string {
	if p > 0 && p < 0.0001 {
		return "<0.0001"
	}
	if p >= 0.1 {
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// perUnit returns what a time is for.
func perUnit(u diff.Unit) string { return "per " + typeset.OrNull(string(u)) }

// toolUnits are base units by what tools call them.
var toolUnits = map[string]frame.Unit{"byte": frame.Bytes, "byte/second": frame.BytesPerSec, "nsecond": frame.Ns, "hz": frame.Hz, "value": frame.None, "count": frame.None, "ns": frame.Ns}

// unitAmount shows a value in its unit. One that is none of ours is given as the tool names it, and the value is shown without.
func unitAmount(unit string, v float64) (text, toolUnit string) {
	base, known := toolUnits[unit]
	if !known {
		base = frame.Unit(unit)
	}
	if base != frame.None && len(typeset.Ladder(base)) == 1 && typeset.Ladder(base)[0].Name == "" {
		base, toolUnit = frame.None, typeset.Neutral(unit)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", toolUnit
	}
	return typeset.Amount(base, v), toolUnit
}

// sampleText is one side of a comparison: its centre, its spread in percent of that where that can be read, and the number of samples.
func sampleText(unit frame.Unit, n int, centre float64, std *float64) string {
	if n == 0 {
		return typeset.Null
	}
	text := typeset.Amount(unit, centre)
	switch {
	case std == nil:
	case centre > 0 && *std < typeset.ManyTimes*centre:
		text += " ± " + typeset.Percent(*std/centre)
	default:
		text += " ± " + typeset.Amount(unit, *std)
	}
	return text + " (" + strconv.Itoa(n) + ")"
}

// intervalText is the interval of a centre; "" where the samples allow none.
func intervalText(unit frame.Unit, low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return typeset.Amount(unit, *low) + " to " + typeset.Amount(unit, *high)
}

// effectOf is the relative change of a comparison; nil where there is none.
func effectOf(c *stats.Comparison) *float64 {
	if c == nil {
		return nil
	}
	return c.Effect
}

// callsText shows the calls for one unit on both sides, once where they are the same.
func callsText(a, b diff.Measure) string {
	before, after := callCount(a.PerUnitCalls), callCount(b.PerUnitCalls)
	if before == after {
		return before
	}
	return before + " → " + after
}

func callCount(n float64) string {
	switch {
	case n == math.Trunc(n):
		return typeset.Int(int64(n))
	case n >= 1000:
		return typeset.Int(int64(math.Round(n)))
	}
	return typeset.ThreeDigits(n)
}
