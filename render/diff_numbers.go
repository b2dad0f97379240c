package render

import (
	"math"
	"strconv"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// signedAs shows a change by its size, with its sign.
func signedAs(v float64, size func(v float64) string) string {
	switch {
	case v > 0:
		return "+" + size(v)
	case v < 0:
		return "-" + size(-v)
	}
	return size(0)
}

// signedPercent shows a change: +12.4 %; or 34.6x.
func signedPercent(ratio float64) string {
	if ratio >= manyTimes-1 {
		return changeSize(ratio)
	}
	return signedAs(ratio, changeSize)
}

// signedShare shows a change as a share of something else.
func signedShare(ratio float64) string {
	if size := math.Abs(ratio); size > 0 && size < 0.001 {
		return "<0.1 %"
	}
	return signedAs(ratio, percent)
}

// changeSize shows the size of a change in percent, and from ten times on how many times as long the later one is.
func changeSize(ratio float64) string {
	if ratio < manyTimes-1 {
		return percent(ratio)
	}
	return threeDigits(ratio+1) + "x"
}

// manyTimes is from where on percentages are hard to read.
const manyTimes = 10

// signedTime shows a change of a time: -1.25 ms.
func signedTime(ns float64) string { return signedAs(ns, nanoseconds) }

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

// perUnit says what a time is for.
func perUnit(u diff.Unit) string { return "per " + orNull(string(u)) }

// toolUnits are base units by what tools call them.
var toolUnits = map[string]frame.Unit{"byte": frame.Bytes, "byte/second": frame.BytesPerSec, "nsecond": frame.Ns, "hz": frame.Hz, "value": frame.None, "count": frame.None, "ns": frame.Ns}

// unitAmount shows a value in its unit. One that is none of ours is given as the tool names it, and the value is shown without.
func unitAmount(unit string, v float64) (text, toolUnit string) {
	base, known := toolUnits[unit]
	if !known {
		base = frame.Unit(unit)
	}
	if base != frame.None && len(ladder(base)) == 1 && ladder(base)[0].name == "" {
		base, toolUnit = frame.None, neutral(unit)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", toolUnit
	}
	return amount(base, v), toolUnit
}

// sampleText is one side of a comparison: its centre, its spread in percent of that where that can be read, and the number of samples.
func sampleText(unit frame.Unit, n int, centre float64, std *float64) string {
	if n == 0 {
		return null
	}
	text := amount(unit, centre)
	switch {
	case std == nil:
	case centre > 0 && *std < manyTimes*centre:
		text += " ± " + percent(*std/centre)
	default:
		text += " ± " + amount(unit, *std)
	}
	return text + " (" + strconv.Itoa(n) + ")"
}

// intervalText is the interval of a centre; "" where the samples allow none.
func intervalText(unit frame.Unit, low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return amount(unit, *low) + " to " + amount(unit, *high)
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
		return groupedInt(int64(n))
	case n >= 1000:
		return groupedInt(int64(math.Round(n)))
	}
	return threeDigits(n)
}
