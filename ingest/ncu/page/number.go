package page

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// parseNumber reads a number as ncu prints it: with separators of thousands, or as --print-fp does without; nan and inf. The
// result is the number times ten to the exponent, rounded once, so that "276.512" us is 276512 ns exactly.
func parseNumber(b []byte, exponent int, decimal byte) (float64, bool) {
	d, ok := scanNumber(b, decimal)
	if !ok {
		return parseSpecial(b)
	}
	d.exponent += exponent
	v := float64(d.digits)
	switch {
	case !d.exact: // out of range gives inf
		v, _ = strconv.ParseFloat(withoutGroups(b, decimal), 64)
		v *= math.Pow10(exponent)
	case d.digits > 1<<53 || d.exponent < -22 || d.exponent > 22:
		v, _ = strconv.ParseFloat(strconv.FormatUint(d.digits, 10)+"e"+strconv.Itoa(d.exponent), 64)
	case d.exponent < 0:
		v /= pow10[-d.exponent]
	default:
		v *= pow10[d.exponent]
	}
	if d.negative && v > 0 { // no -0
		v = -v
	}
	return v, true
}

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scannedNumber is digits times ten to the exponent.
type scannedNumber struct {
	digits   uint64
	exponent int
	exact    bool // false when there were more digits than fit
	negative bool
}

// scanNumber takes a number apart: digits in groups of three or without groups, a fraction, an exponent.
func scanNumber(b []byte, decimal byte) (d scannedNumber, ok bool) {
	b, d.negative = cutSign(b)
	d.exact = true
	group, groups, any, fraction := 0, 0, false, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			any = true
			group++
			if d.digits > (math.MaxUint64-uint64(c-'0'))/10 {
				d.exact = false
				continue
			}
			d.digits = d.digits*10 + uint64(c-'0')
			if fraction {
				d.exponent--
			}
		case fraction || !any:
			if c == decimal && !fraction {
				fraction = true
				continue
			}
			return scanExponent(d, b[i:], any)
		case c == decimal:
			if groups > 0 && group != 3 {
				return d, false
			}
			fraction = true
		case groupSign(b[i:], decimal) > 0:
			if group > 3 || group == 0 || groups > 0 && group != 3 {
				return d, false
			}
			groups, group = groups+1, 0
			i += groupSign(b[i:], decimal) - 1
		default:
			return scanExponent(d, b[i:], any && groups == 0)
		}
	}
	return d, any && (fraction || groups == 0 || group == 3)
}

func cutSign(b []byte) (rest []byte, negative bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[1:], b[0] == '-'
	}
	return b, false
}

// groupSign is the length of a separator of thousands at the beginning of b, 0 where there is none. ncu formats numbers as the
// system's language does: comma, point, apostrophe or a blank that does not break.
func groupSign(b []byte, decimal byte) int {
	switch {
	case b[0] == ',' && decimal == '.', b[0] == '.' && decimal == ',', b[0] == '\'':
		return 1
	case bytes.HasPrefix(b, []byte("\u00a0")):
		return 2
	case bytes.HasPrefix(b, []byte("\u202f")), bytes.HasPrefix(b, []byte("\u2019")):
		return 3
	}
	return 0
}

func scanExponent(d scannedNumber, b []byte, ok bool) (scannedNumber, bool) {
	if !ok || len(b) < 2 || b[0] != 'e' && b[0] != 'E' {
		return d, false
	}
	n, err := strconv.Atoi(string(b[1:]))
	if err != nil || n < -400 || n > 400 {
		return d, false
	}
	d.exponent += n
	return d, true
}

// withoutGroups returns a number without its sign in the form that strconv reads.
func withoutGroups(b []byte, decimal byte) string {
	b, _ = cutSign(b)
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch n := groupSign(b[i:], decimal); {
		case n > 0:
			i += n - 1
		case b[i] == decimal:
			out = append(out, '.')
		default:
			out = append(out, b[i])
		}
	}
	return string(out)
}

func parseSpecial(b []byte) (float64, bool) {
	b, negative := cutSign(b)
	switch string(bytes.ToLower(b[:min(len(b), 9)])) {
	case "nan", "nan(ind)", "nan(snan)":
		return math.NaN(), true
	case "inf", "infinity":
		if negative {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	return 0, false
}

// exactInteger returns the digits of a whole number that a float64 cannot hold; "" for every other.
func exactInteger(b []byte, exponent int, decimal byte) string {
	if len(b) < 16 || exponent != 0 {
		return ""
	}
	d, ok := scanNumber(b, decimal)
	if !ok || !d.exact || d.exponent != 0 || d.negative || bits.Len64(d.digits)-bits.TrailingZeros64(d.digits) <= 53 {
		return ""
	}
	return strconv.FormatUint(d.digits, 10)
}

// decimalSign finds which sign the values of a page use before their fractions; 0 when they do not tell: "1,234" can be read
// both ways. A comma counts only in a value with a unit, since texts can be lists of numbers, and only where no point contradicts.
func decimalSign(cells []pageCell) byte {
	var found byte
	for _, c := range cells {
		switch s := decimalSignOf(withoutInstances(c.text)); {
		case s == '.':
			return s
		case s == ',' && c.unit.base != "":
			found = s
		}
	}
	return found
}

// decimalSignOf is what one value tells.
func decimalSignOf(b []byte) byte {
	b, _ = cutSign(b)
	if len(bytes.Trim(b, "0123456789.,")) > 0 {
		return 0
	}
	point, comma := bytes.LastIndexByte(b, '.'), bytes.LastIndexByte(b, ',')
	last := max(point, comma)
	switch {
	case last < 0:
	case point >= 0 && comma >= 0:
		return b[last]
	case bytes.Count(b, b[last:last+1]) > 1: // groups of thousands
		return '.' + ',' - b[last]
	case len(b)-last != 4 || last > 3 || last == 0 || b[0] == '0':
		return b[last]
	}
	return 0
}

// withoutInstances cuts off the values of single instances that --print-metric-instances and the bodies of sections add in
// brackets: "12,288 (4,096; 8,192)".
func withoutInstances(b []byte) []byte {
	if len(b) == 0 || b[len(b)-1] != ')' {
		return b
	}
	at := bytes.Index(b, []byte(" ("))
	if at < 1 || b[0] != '-' && (b[0] < '0' || b[0] > '9') {
		return b
	}
	return b[:at]
}
