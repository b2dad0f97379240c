package page

import (
	"prof/ingest/ncu"
	"strings"
)

// pageUnit is a unit as a page prints it: a number in it times ten to the exponent is the number in the base unit.
type pageUnit struct {
	base     string
	exponent int
}

var unknownUnit = &pageUnit{base: ncu.UnknownUnit}

// unitOfText returns the unit of that text, parsed once.
func (p *pageReader) unitOfText(text []byte) *pageUnit {
	u := p.units[string(text)]
	if u == nil {
		parsed := parseUnit(cleanText(text))
		u = &parsed
		if len(text) < 64 && len(p.units) < 1<<12 { // more than ncu has
			p.units[string(text)] = u
		}
	}
	return u
}

// parseUnit reads a unit. ncu scales bytes, hertz and times by powers of ten (Gbyte/s, Ghz, us, sector/ns) and leaves all else
// as it is. A time is base as ns, as a divisor as s. Checked against pages of the same reports printed both ways.
func parseUnit(text string) pageUnit {
	top, bottom, divided := strings.Cut(text, "/")
	top, exponent := scaledWord(top, timesOfValue)
	if !divided {
		return pageUnit{top, exponent}
	}
	bottom, more := scaledWord(bottom, timesOfDivisor)
	// A prefix below the line multiplies too: where the scaled page has 8.297 %/Kbyte, the base page has 8,297 %/byte.
	exponent += more
	if top == "cycle" && bottom == "s" { // versions before 2023 name hertz so
		return pageUnit{"hz", exponent}
	}
	return pageUnit{top + "/" + bottom, exponent}
}

// scaledTime is a unit of time, with the base that it belongs to and the power of ten between them.
type scaledTime struct {
	base     string
	exponent int
}

// Units of time as values and as divisors, as ncu names them now and as versions before 2023 did.
var (
	timesOfValue = map[string]scaledTime{
		"ns": {"ns", 0}, "us": {"ns", 3}, "ms": {"ns", 6}, "s": {"ns", 9},
		"nsecond": {"ns", 0}, "usecond": {"ns", 3}, "msecond": {"ns", 6}, "second": {"ns", 9},
	}
	timesOfDivisor = map[string]scaledTime{
		"s": {"s", 0}, "ms": {"s", 3}, "us": {"s", 6}, "ns": {"s", 9},
		"second": {"s", 0}, "msecond": {"s", 3}, "usecond": {"s", 6}, "nsecond": {"s", 9},
	}
)

var prefixes = map[byte]int{'K': 3, 'M': 6, 'G': 9, 'T': 12, 'P': 15}

func scaledWord(word string, times map[string]scaledTime) (base string, exponent int) {
	if t, ok := times[word]; ok {
		return t.base, t.exponent
	}
	if word != "" && prefixes[word[0]] > 0 {
		if base := word[1:]; base == "byte" || base == "hz" {
			return base, prefixes[word[0]]
		}
	}
	return word, 0
}
