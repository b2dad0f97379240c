// Package typeset sets values, names and texts for people: the unit and digits of a number, the width of a text on a
// terminal, long names in short, and what Markdown, JSON and a terminal must have escaped. It knows no table.
package typeset

import (
	"math"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// The limits of a readable number.
const (
	maxDecimals = 3    // more digits than this after the point are noise
	maxScaled   = 1e5  // a smaller unit is no help once the largest value has six digits before the point
	plainDigits = 6    // significant digits of a number without a unit, which no scale has made short
	maxPlain    = 1e15 // from here on digits become scientific
)

// step is one unit that a column can be shown in.
type step struct {
	Div  float64 // base units in one of these
	Name string  // what the header shows; "" for a plain number
}

// Ladder returns the units of a base unit, smallest first. Bytes are binary, rates and frequencies are decimal.
func Ladder(u frame.Unit) []step {
	switch u {
	case frame.Ns:
		return []step{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}
	case frame.Bytes:
		return []step{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}}
	case frame.BytesPerSec:
		return []step{{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}
	case frame.Flop:
		return []step{{1, "FLOP"}, {1e3, "kFLOP"}, {1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}}
	case frame.FlopPerSec:
		return []step{{1, "FLOP/s"}, {1e3, "kFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}}
	case frame.Hz:
		return []step{{1, "Hz"}, {1e3, "kHz"}, {1e6, "MHz"}, {1e9, "GHz"}}
	case frame.Ratio:
		return []step{{0.01, "%"}}
	case frame.Watt:
		return []step{{1, "W"}}
	case frame.Celsius:
		return []step{{1, "°C"}}
	}
	return []step{{1, ""}}
}

// Scale says how every number of one column is shown.
type Scale struct {
	step
	Decimals int
	mixed    bool // plain numbers of such different size that each cell chooses its own decimals
	group    bool // thousands separators
}

// ScaleOf chooses the scale of a column from the values in it: the largest unit in which its smallest value still has three
// significant digits, or the nearest to that, and as many decimals as that value needs.
func ScaleOf(c frame.Column, values []float64) Scale {
	low, high := Extent(values)
	return scaleIn(Pick(Ladder(c.Unit), low, high), c, values)
}

// In returns the scale of a column in the unit of another.
func (s Scale) In(c frame.Column, values []float64) Scale { return scaleIn(s.step, c, values) }

func scaleIn(unit step, c frame.Column, values []float64) Scale {
	low, high := Extent(values)
	s := Scale{step: unit, group: grouped(c)}
	switch {
	case high == 0:
	case c.Unit == frame.Ratio:
		s.Decimals = max(1, decimalsFor(s.Smallest(values), 1))
	case s.Name == "":
		s.mixed = low < 0.1 || high >= maxScaled
		s.Decimals = min(decimalsFor(low, plainDigits), s.Exact(values))
	default:
		s.Decimals = min(s.Needed(s.Smallest(values), high/s.Div), s.Exact(values))
	}
	return s
}

// Extent returns the smallest and the largest magnitude among the finite non-zero values, or zeros.
func Extent(values []float64) (low, high float64) {
	for _, v := range values {
		v = math.Abs(v)
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		if low == 0 || v < low {
			low = v
		}
		high = max(high, v)
	}
	return low, high
}

func Pick(steps []step, low, high float64) step {
	best := -1
	for i := len(steps) - 1; i >= 0; i-- {
		if high/steps[i].Div < 0.9995 && i > 0 {
			continue
		}
		if best >= 0 && high/steps[i].Div >= maxScaled {
			break
		}
		best = i
		if low/steps[i].Div >= 0.1 {
			break
		}
	}
	return steps[best]
}

// Smallest returns the smallest scaled magnitude that decimals can show; what is smaller goes scientific, and one such cell
// does not widen its column.
func (s Scale) Smallest(values []float64) float64 {
	smallest := math.Inf(1)
	for _, v := range values {
		if v = math.Abs(v) / s.Div; Visible(v, maxDecimals) {
			smallest = min(smallest, v)
		}
	}
	return smallest
}

// Exact returns the decimals beyond which every value that decimals can show has only zeros.
func (s Scale) Exact(values []float64) int {
	most := 0
	for _, v := range values {
		if v = math.Abs(v) / s.Div; Visible(v, maxDecimals) {
			most = max(most, exactDecimals(v))
		}
	}
	return most
}

// Needed returns the decimals with which low has three significant digits, or fewer where high would get more than seven, but
// always enough to see low.
func (s Scale) Needed(low, high float64) int {
	decimals := decimalsFor(low, 3)
	for decimals > 0 && high*math.Pow10(decimals) >= 1e7 && Visible(low, decimals-1) {
		decimals--
	}
	return decimals
}

// decimalsFor returns the decimals that show v with so many significant digits, at most maxDecimals.
func decimalsFor(v float64, significant int) int {
	enough := math.Pow10(significant-1) * 0.99995
	for d := range maxDecimals {
		if v*math.Pow10(d) >= enough {
			return d
		}
	}
	return maxDecimals
}

// ownDecimals returns the decimals of one cell of a mixed column: three or fewer, more for a small fraction.
func ownDecimals(v float64) int {
	decimals := decimalsFor(v, plainDigits)
	for decimals < 6 && v*math.Pow10(decimals) < 99.995 && v >= 0.95e-4 {
		decimals++
	}
	return min(decimals, exactDecimals(v))
}

// Visible reports whether a magnitude, shown with so many decimals, is more than a rounding artefact.
func Visible(v float64, decimals int) bool {
	return v >= 0.95*math.Pow10(-decimals) && !math.IsInf(v, 0)
}

// exactDecimals counts the decimals of the shortest text that gives v back.
func exactDecimals(v float64) int {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	return len(fraction)
}
