package chart

import (
	"math"
	"slices"
	"strconv"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Tick is a mark of an axis.
type Tick struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

// logAxis lays positive values between two bounds so that equal ratios are equally far apart.
type logAxis struct{ from, to float64 }

// at is the share of the axis at which a value lies: 0 at its start, 1 at its end.
func (a logAxis) at(v float64) float64 {
	return math.Log(v/a.from) / math.Log(a.to/a.from)
}

// steps returns round values on the axis, at most so many: powers of ten, with 2 and 5 times these where few lie on it, or each second,
// third and so on where many do.
func (a logAxis) steps(most int) []float64 {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if out := a.multiples(factors, 1); len(out) <= most {
			return out
		}
	}
	for every := 2; ; every++ {
		if out := a.multiples([]float64{1}, every); len(out) <= max(most, 1) {
			return out
		}
	}
}

// multiples returns the products of the factors with every first, second, third ... power of ten, as every says, that lie on the axis.
func (a logAxis) multiples(factors []float64, every int) []float64 {
	const tolerance = 1e-9 // a bound that is itself a power of ten lies on the axis
	var out []float64
	for power := int(math.Floor(math.Log10(a.from))); power <= int(math.Ceil(math.Log10(a.to))); power++ {
		if power%every != 0 {
			continue
		}
		for _, factor := range factors {
			if v := factor * math.Pow10(power); v >= a.from*(1-tolerance) && v <= a.to*(1+tolerance) {
				out = append(out, v)
			}
		}
	}
	return out
}

// decades returns the axis that begins and ends at powers of ten and holds all values, of which there must be one above 0.
func decades(values ...float64) logAxis {
	low, high := typeset.Extent(values)
	a := logAxis{math.Pow10(int(math.Floor(math.Log10(low)))), math.Pow10(int(math.Ceil(math.Log10(high))))}
	if a.from == a.to {
		a.to *= 10
	}
	return a
}

// RoundStep returns the least of 1, 2, 2.5 and 5 times a power of ten that is at least v.
func RoundStep(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	at := slices.IndexFunc([]float64{1, 2, 2.5, 5}, func(factor float64) bool { return factor*power >= v*(1-1e-9) })
	if at < 0 {
		return 10 * power
	}
	return []float64{1, 2, 2.5, 5}[at] * power
}

// roundTop returns the top of an axis from 0 that holds v: a round number in the unit in which v is shown.
func roundTop(unit frame.Unit, v float64) float64 {
	if v <= 0 {
		return 1
	}
	div := typeset.Pick(typeset.Ladder(unit), v, v).Div
	if unit == frame.Ratio {
		div = 1
	}
	return RoundStep(v/div) * div
}

// timeTicks returns round times of an axis between two, from three to six where there is room.
func timeTicks(from, to float64) []Tick {
	step := RoundStep((to - from) / 5)
	var out []Tick
	for at := math.Ceil(from/step) * step; at <= to; at += step {
		out = append(out, Tick{Length((at - from) / (to - from)), typeset.Nanoseconds(at)})
	}
	return out
}

// clockTicks returns round times of an axis between two moments of a clock, with as many digits as distinguish one from the next.
func clockTicks(from, to float64) []Tick {
	step := RoundStep((to - from) / 5)
	moment := moments(to, step)
	var out []Tick
	for i := int64(math.Ceil(from / step)); float64(i)*step <= to; i++ {
		out = append(out, Tick{Length((float64(i)*step - from) / (to - from)), moment(float64(i) * step)})
	}
	return out
}

// moments writes times up to one, all in its unit, with as many digits as show two of a part of that length.
func moments(to, part float64) func(ns float64) string {
	unit := typeset.Pick(typeset.Ladder(frame.Ns), to, to)
	digits := 1 - int(math.Floor(math.Log10(part/unit.Div)))
	digits = max(0, min(digits, int(math.Round(math.Log10(unit.Div)))))
	return func(ns float64) string { return strconv.FormatFloat(ns/unit.Div, 'f', digits, 64) + " " + unit.Name }
}

// Length returns a share of the bar as SVG takes it.
func Length(share float64) string { return strconv.FormatFloat(share*100, 'f', 3, 64) + "%" }
