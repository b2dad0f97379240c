package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// listed joins words: a, b and c.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// aPass words how many of something a pass has on the mean; how many there are where that is less than one.
func (x Finding) aPass(n int64, one, several string) string {
	if x.Stage == "" || n < x.Passes {
		return many(n, one, several)
	}
	return manyText(float64(n)/float64(x.Passes), one, several) + " per pass"
}

func (x Finding) saved() string { return timeText(float64(x.SavingNs)) }

func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

// timeText returns a time with two decimals in the unit that suits it: 12.84 ms.
func timeText(ns float64) string {
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

// many words a number of things: 1 pass, 49,711 gaps.
func many(n int64, one, several string) string { return manyText(float64(n), one, several) }

// manyText words a mean number of things.
func manyText(n float64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(math.RoundToEven(n))) + " " + several
}

// grouped writes a whole number with its thousands apart: 49,711.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
