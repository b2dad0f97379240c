package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// parser reads JSON values from a window of the file. The window ends with a 0 byte, which no value holds, so that loops over
// bytes need not look for the end.
type parser struct {
	b     []byte
	i     int
	short bool   // the window ended inside the value
	err   string // what is wrong, at b[i]
	torn  bool   // it is no JSON there
	odd   bool   // a value was passed over that is no number of JSON: see isOdd
}

// maxDepth bounds nested arrays and objects; shapes of lists of tensors nest four deep.
const maxDepth = 64

// class of a byte outside strings.
const (
	classOther = iota
	classSpace
	classNumber
)

var class = func() (t [256]uint8) {
	for _, c := range " \t\r\n" {
		t[c] = classSpace
	}
	for _, c := range "0123456789+-.eE" {
		t[c] = classNumber
	}
	return t
}()

// fail notes what is wrong here, or that the window ended here. It gives false for the caller to return.
func (p *parser) fail(what string) bool {
	if p.i >= len(p.b)-1 {
		p.short = true
	} else {
		p.err = what
	}
	return false
}

// tear does the same where what stands here is no JSON at all.
func (p *parser) tear(what string) bool {
	p.torn = true
	return p.fail(what)
}

// space goes to the next byte that is no blank and gives it.
func (p *parser) space() byte {
	i := p.i
	for class[p.b[i]] == classSpace {
		i++
	}
	p.i = i
	return p.b[i]
}

// member reads what stands before the next value of an object that is open: its key, and the colon. more is false at the end.
func (p *parser) member(first bool) (key []byte, more, ok bool) {
	c := p.space()
	if c == '}' {
		p.i++
		return nil, false, true
	}
	if !first {
		if c != ',' {
			return nil, false, p.tear("expected , or } in an object")
		}
		p.i++
		c = p.space()
	}
	if c != '"' {
		return nil, false, p.tear("expected a member name")
	}
	if key, ok = p.text(); !ok {
		return nil, false, false
	}
	if p.space() != ':' {
		return nil, false, p.tear("expected : after a member name")
	}
	p.i++
	p.space()
	return key, true, true
}

// element goes to the next value of an array that is open. more is false at the end. A comma before the end is let pass, as
// Chrome does.
func (p *parser) element(first bool) (more, ok bool) {
	c := p.space()
	if !first {
		if c != ',' && c != ']' {
			return false, p.tear("expected , or ] in an array")
		}
		if c == ',' {
			p.i++
			c = p.space()
		}
	}
	if c == ']' {
		p.i++
		return false, true
	}
	if p.i >= len(p.b)-1 {
		return false, p.fail("")
	}
	return true, true
}

// rawText reads a string and gives what stands between its quotes.
func (p *parser) rawText() (raw []byte, escaped, ok bool) {
	if p.b[p.i] != '"' {
		return nil, false, p.fail("expected text")
	}
	start, end := p.i+1, len(p.b)-1
	from := start
	for short := min(start+32, end); from < short; from++ { // most texts are keys
		if c := p.b[from]; c == '"' {
			p.i = from + 1
			return p.b[start:from], false, true
		} else if c == '\\' {
			break
		}
	}
	for {
		j := bytes.IndexByte(p.b[from:end], '"')
		if j < 0 {
			p.i = end
			return nil, false, p.fail("")
		}
		last := from + j
		escaped = escaped || bytes.IndexByte(p.b[from:last], '\\') >= 0
		slashes := 0
		for last-slashes > start && p.b[last-slashes-1] == '\\' {
			slashes++
		}
		from = last + 1
		if slashes%2 == 0 {
			p.i = from
			return p.b[start:last], escaped, true
		}
	}
}

// text reads a string.
func (p *parser) text() ([]byte, bool) {
	start := p.i
	raw, escaped, ok := p.rawText()
	if !ok || !escaped {
		return raw, ok
	}
	var s string
	if json.Unmarshal(p.b[start:p.i], &s) != nil {
		return raw, true // a path of Windows, say, whose backslashes nobody escaped
	}
	return []byte(s), true
}

// number reads a number as it is written.
func (p *parser) number() ([]byte, bool) {
	start := p.i
	for class[p.b[p.i]] == classNumber {
		p.i++
	}
	if p.i >= len(p.b)-1 {
		return nil, p.fail("")
	}
	raw := p.b[start:p.i]
	if !isNumber(raw) {
		p.i = start
		return nil, p.tear("expected a number")
	}
	return raw, true
}

// isNumber reports whether s is a number by JSON's grammar.
func isNumber(s []byte) bool {
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if len(s) > 0 && s[0] == '.' {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return len(s) == 0
}

func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

// whole reads an integer. What is not one is left unread, with found false.
func (p *parser) whole() (v int64, found, ok bool) {
	start := p.i
	if v, end := plain(p.b, start, 0); end > start {
		p.i = end
		return v, true, true
	}
	raw, ok := p.number()
	if !ok {
		if p.err != "" {
			p.err, p.torn, p.i = "", false, start
			return 0, false, true
		}
		return 0, false, false
	}
	v, exact := scaled(raw, 0)
	if !exact {
		p.i = start
	}
	return v, exact, true
}

// plain reads the form in which nearly all numbers are written: up to 18 digits and, with places, a point and just so many more.
// It gives where it ends, 0 for any other form.
func plain(b []byte, i, places int) (v int64, end int) {
	start := i
	for b[i]-'0' <= 9 {
		v = v*10 + int64(b[i]-'0')
		i++
	}
	whole := i - start
	if places > 0 && b[i] == '.' {
		for i++; b[i]-'0' <= 9; i++ {
			v = v*10 + int64(b[i]-'0')
		}
		if i != start+whole+1+places {
			return 0, 0
		}
	} else if places > 0 {
		return 0, 0
	}
	if whole == 0 || whole+places > 18 || whole > 1 && b[start] == '0' || class[b[i]] == classNumber || b[i] == 0 {
		return 0, 0
	}
	return v, i
}

// scaled returns a number times ten to the power of places, and whether that is a whole number of 64 bits. Digits beyond the
// places round to nearest.
func scaled(raw []byte, places int) (v int64, ok bool) {
	i, negative := 0, raw[0] == '-'
	if negative {
		i = 1
	}
	point := -1
	digits := 0
	for ; i < len(raw); i++ {
		c := raw[i]
		if c == '.' {
			point = 0
			continue
		}
		if c-'0' > 9 || digits == 18 || point == places && point >= 0 {
			return scaledSlow(raw, places)
		}
		v = v*10 + int64(c-'0')
		digits++
		if point >= 0 {
			point++
		}
	}
	for max(point, 0) < places {
		if point, digits = max(point, 0)+1, digits+1; digits > 18 {
			return scaledSlow(raw, places)
		}
		v *= 10
	}
	if negative {
		v = -v
	}
	return v, true
}

// scaledSlow does the same for numbers with exponents, with many digits and with more decimals than places.
func scaledSlow(raw []byte, places int) (int64, bool) {
	if i := bytes.IndexAny(raw, "eE"); len(raw) > 400 || i >= 0 && len(raw)-i > 5 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(raw))
	if !ok {
		return 0, false
	}
	exact := places == 0 // an integer must be one
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	if !r.IsInt() {
		if exact {
			return 0, false
		}
		half := big.NewRat(1, 2)
		if r.Sign() < 0 {
			half.Neg(half)
		}
		r.Add(r, half)
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return n.Int64(), n.IsInt64()
}

// goesOn reports whether a word does not end before these bytes; the end of the window may be inside it.
func goesOn(rest []byte) bool {
	return len(rest) == 0 || rest[0] >= 'a' && rest[0] <= 'z' || rest[0] >= 'A' && rest[0] <= 'Z'
}

// skip reads any value and gives its text.
func (p *parser) skip() ([]byte, bool) {
	start := p.i
	if !p.value(0) {
		return nil, false
	}
	return p.b[start:p.i], true
}

func (p *parser) value(depth int) bool {
	switch c := p.b[p.i]; {
	case c == '"':
		_, _, ok := p.rawText()
		return ok
	case c == '{', c == '[':
		if depth == maxDepth {
			p.err = fmt.Sprintf("arrays and objects nest more than %d deep", maxDepth)
			return false
		}
		if p.i++; c == '[' {
			return p.skipArray(depth + 1)
		}
		return p.skipObject(depth + 1)
	case c-'0' <= 9 || c == '-' && !p.isOdd():
		if _, end := plain(p.b, p.i, 0); end > 0 {
			p.i = end
			return true
		}
		_, ok := p.number()
		return ok
	}
	return p.literal()
}

func (p *parser) skipObject(depth int) bool {
	for first := true; ; first = false {
		_, more, ok := p.member(first)
		if !ok || !more {
			return ok
		}
		if !p.value(depth) {
			return false
		}
	}
}

func (p *parser) skipArray(depth int) bool {
	for first := true; ; first = false {
		more, ok := p.element(first)
		if !ok || !more {
			return ok
		}
		if !p.value(depth) {
			return false
		}
	}
}

// oddNumbers are what C++ and Python write where a number is none, though JSON has no such numbers.
var oddNumbers = []string{"NaN", "nan", "-NaN", "-nan", "Infinity", "-Infinity", "inf", "-inf"}

// isOdd reports whether one of these stands here, or begins here at the end of the window.
func (p *parser) isOdd() bool {
	c := p.b[p.i]
	if c == '-' {
		c = p.b[p.i+1]
	}
	return c == 'N' || c == 'n' && p.b[p.i+1] != 'u' || c == 'I' || c == 'i'
}

// literal reads true, false or null, or an odd number.
func (p *parser) literal() bool {
	if p.isOdd() {
		for _, w := range oddNumbers {
			if rest := p.b[p.i : len(p.b)-1]; bytes.HasPrefix(rest, []byte(w)) && !goesOn(rest[len(w):]) {
				p.i += len(w)
				p.odd = true
				return true
			}
		}
		for _, w := range oddNumbers {
			if rest := p.b[p.i : len(p.b)-1]; strings.HasPrefix(w, string(rest)) {
				p.i = len(p.b) - 1
				return p.fail("")
			}
		}
		return p.tear("expected a value")
	}
	for _, w := range []string{"null", "true", "false"} {
		if rest := p.b[p.i : len(p.b)-1]; len(rest) < len(w) && strings.HasPrefix(w, string(rest)) {
			p.i = len(p.b) - 1
			return p.fail("")
		} else if bytes.HasPrefix(rest, []byte(w)) {
			p.i += len(w)
			return true
		}
	}
	return p.tear("expected a value")
}
