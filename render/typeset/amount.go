package typeset

import (
	"math"
	"prof/queries/frame"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Percent shows a share as it stands in a sentence.
func Percent(share float64) string {
	return Value(frame.Column{Name: "share_ratio", Type: frame.Float, Unit: frame.Ratio}, share)
}

// Duration shows a time as it stands in a sentence.
func Duration(ns int64) string {
	return Value(frame.Column{Name: "total_ns", Type: frame.Int, Unit: frame.Ns}, ns)
}

// SignedAs shows a change by its size, with its sign.
func SignedAs(v float64, size func(v float64) string) string {
	switch {
	case v > 0:
		return "+" + size(v)
	case v < 0:
		return "-" + size(-v)
	}
	return size(0)
}

// SignedPercent shows a change: +12.4 %; or 34.6x.
func SignedPercent(ratio float64) string {
	if ratio >= ManyTimes-1 {
		return changeSize(ratio)
	}
	return SignedAs(ratio, changeSize)
}

// SignedShare shows a change as a share of something else.
func SignedShare(ratio float64) string {
	if size := math.Abs(ratio); size > 0 && size < 0.001 {
		return "<0.1 %"
	}
	return SignedAs(ratio, Percent)
}

// SignedTime shows a change of a time: -1.25 ms.
func SignedTime(ns float64) string { return SignedAs(ns, Nanoseconds) }

// Amount shows a number in its base unit as it stands in a sentence.
func Amount(unit frame.Unit, v float64) string {
	switch {
	case v == 0:
		return "0"
	case unit == frame.Ratio && v*100 == math.Trunc(v*100):
		return strconv.FormatFloat(v*100, 'f', 0, 64) + " %"
	}
	return Value(frame.Column{Name: "value", Type: frame.Float, Unit: unit}, v)
}

// ThreeDigits shows a number without a unit, with as many digits as tell it from others.
func ThreeDigits(v float64) string {
	if v < 0.001 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return Scale{step: step{Div: 1}, Decimals: decimalsFor(v, 3), group: true}.Number(v)
}

// Nanoseconds shows a time that need not be whole.
func Nanoseconds(ns float64) string { return Amount(frame.Ns, ns) }

// Plural is a number of things in words: 1 pass, 3 passes.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Int(n) + " " + many
}

// FirstOf returns at most so many of a list, and how many are left.
func FirstOf[T any](list []T, most int) (first []T, left int) {
	if len(list) <= most {
		return list, 0
	}
	return list[:most], len(list) - most
}

// Value shows one value with its unit, as it stands in a sentence.
func Value(c frame.Column, v any) string {
	var x float64
	switch n := v.(type) {
	case int64:
		x = float64(n)
	case float64:
		x = n
	default:
		return Null
	}
	s := ScaleOf(c, []float64{x})
	if s.Name != "" && s.Name != "%" && s.Decimals > 0 { // three digits are enough of one number
		s.Decimals = decimalsFor(x/s.Div, 3)
	}
	if s.Name == "" {
		return s.Number(v)
	}
	return s.Number(v) + " " + s.Name
}

// Sentence begins with a capital letter.
func Sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

func Unique(texts []string) []string {
	seen, kept := map[string]bool{}, []string{}
	for _, text := range texts {
		if !seen[text] {
			seen[text], kept = true, append(kept, text)
		}
	}
	return kept
}

// Digits writes a number with three digits, or as many as its whole part has.
func Digits(x float64) string {
	return Scale{step: step{Div: 1}, Decimals: min(decimalsFor(x, 3), exactDecimals(x)), group: true}.float(x)
}

// CountOf writes a number of things.
func CountOf(n int64, what string) string {
	return Plural(n, what, what+"s")
}

// Scaled writes a count of parameters as people say it: 2.93 B.
func Scaled(v float64) string {
	for _, u := range []struct {
		div  float64
		name string
	}{{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= u.div {
			return strconv.FormatFloat(v/u.div, 'f', 2, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Binary writes bytes in the largest binary unit below them.
func Binary(v float64) string {
	best := step{1, "B"}
	for _, u := range Ladder(frame.Bytes) {
		if v >= u.Div {
			best = u
		}
	}
	decimals := 2
	if best.Div == 1 {
		decimals = 0
	}
	return strconv.FormatFloat(v/best.Div, 'f', decimals, 64) + " " + best.Name
}

// Int writes a whole number with separators.
func Int(n int64) string { return Scale{group: true}.grouping(strconv.FormatInt(n, 10)) }

// Minute cuts a time to the minute: 2026-01-31 14:05.
func Minute(at string) string {
	if len(at) > len("2006-01-02 15:04") {
		return at[:len("2006-01-02 15:04")]
	}
	return at
}

// changeSize shows the size of a change in percent, and from ten times on how many times as long the later one is.
func changeSize(ratio float64) string {
	if ratio < ManyTimes-1 {
		return Percent(ratio)
	}
	return ThreeDigits(ratio+1) + "x"
}

// ManyTimes is from where on percentages are hard to read.
const ManyTimes = 10
