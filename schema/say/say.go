// Package say writes amounts as they stand in sentences.
package say

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Duration returns a time with three digits in the unit that suits it: 631 ms.
func Duration(ns float64) string {
	units := []string{"ns", "us", "ms", "s"}
	at := 0
	for at < len(units)-1 && math.Abs(ns) >= 999.5 {
		ns, at = ns/1e3, at+1
	}
	decimals := 0
	switch size := math.Abs(ns); {
	case at == 0: // no parts of a nanosecond
	case size < 9.995:
		decimals = 2
	case size < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(ns, 'f', decimals, 64) + " " + units[at]
}

// Time returns a time with two decimals in the unit that suits it: 12.84 ms.
func Time(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.2f s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f us", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// Bytes returns a size with three digits in decimal units: 51.0 GB.
func Bytes(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	at := 0
	for at < len(units)-1 && n >= 999.5 {
		n, at = n/1e3, at+1
	}
	switch {
	case at == 0 || n >= 99.95:
		return fmt.Sprintf("%.0f %s", n, units[at])
	case n >= 9.995:
		return fmt.Sprintf("%.1f %s", n, units[at])
	}
	return fmt.Sprintf("%.2f %s", n, units[at])
}

// Whole returns a number with its thousands apart: 49,711.
func Whole(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Count returns a number of things: 1 pass, 49,711 gaps.
func Count(n int64, one, several string) string { return Mean(float64(n), one, several) }

// Mean returns a mean number of things, to the nearest whole one.
func Mean(n float64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return Whole(int64(math.RoundToEven(n))) + " " + several
}

// List joins words: a, b and c.
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Clauses joins those parts of a sentence that say something.
func Clauses(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}
