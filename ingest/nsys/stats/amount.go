package stats

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// unit is a unit of a column in base units.
type unit int64

// Units as the headers of nsys write them. Those of bytes are of 1000, but for KiB and its like.
var timeUnits = map[string]unit{"ns": 1, "nsec": 1, "nanoseconds": 1, "us": 1e3, "usec": 1e3, "µs": 1e3, "μs": 1e3, "microseconds": 1e3, "ms": 1e6, "msec": 1e6, "milliseconds": 1e6, "s": 1e9, "sec": 1e9, "seconds": 1e9}

var sizeUnits = map[string]unit{"b": 1, "bytes": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}

// mostAmount bounds an amount: 36 years, 1 EiB. More is a mistake in the file.
const mostAmount = 1 << 60

// amount is a decimal number of a column in base units, exactly: number / 10^places.
type amount struct {
	number uint64
	places int
	// step is how far apart amounts lie that the column can tell apart, in base units: 1 or less for exact ones.
	step float64
}

// amountOf reads a number.
func amountOf(text string, u unit) (amount, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	if whole == "" || len(digits) > 24 || strings.Trim(digits, "0123456789") != "" {
		return amount{}, fmt.Errorf("%q is not a number", shorten(text))
	}
	fraction = strings.TrimRight(fraction, "0")
	step := float64(u) / math.Pow10(len(digits)-len(whole))
	if len(fraction) > 18 {
		return amount{}, fmt.Errorf("%q is not a number", shorten(text))
	}
	out := amount{places: len(fraction), step: step}
	for _, c := range []byte(whole + fraction) {
		high, low := bits.Mul64(out.number, 10)
		sum, carry := bits.Add64(low, uint64(c-'0'), 0)
		if high+carry > 0 {
			return amount{}, fmt.Errorf("%q is out of range", shorten(text))
		}
		out.number = sum
	}
	high, low := bits.Mul64(out.number, uint64(u))
	if out.number = low; high > 0 {
		return amount{}, fmt.Errorf("%q is out of range", shorten(text))
	}
	if out.float() > mostAmount {
		return amount{}, fmt.Errorf("%q is out of range", shorten(text))
	}
	return out, nil
}

// isUnknown reports whether the amount is rounded to nothing: it is less than half of the last place and not known to be 0.
func (a amount) isUnknown() bool { return a.number == 0 && a.step > 1 }

func (a amount) float() float64 { return float64(a.number) / math.Pow10(a.places) }

// whole returns the nearest whole number.
func (a amount) whole() int64 {
	power := uint64(1)
	for range a.places {
		power *= 10
	}
	n := a.number / power
	if rest := a.number % power; rest >= power-rest {
		n++
	}
	return int64(n)
}

// maxShown bounds what a message repeats of a file.
const maxShown = 60

func shorten(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return s
}
