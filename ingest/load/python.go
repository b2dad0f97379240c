package load

import (
	"bufio"
	"bytes"
	"io"
)

// FiniteJSON reads what Python's json module writes as JSON: Infinity and NaN, which JSON has no words for, become texts of the same length
// ("Infin.", "N"), so that places in errors stay right.
func FiniteJSON(in io.Reader) io.Reader { return &finite{in: bufio.NewReader(in)} }

type finite struct {
	in      *bufio.Reader
	inText  bool
	escaped bool
	rest    []byte // of a word that was replaced
}

var notFinite = []struct{ word, text []byte }{{[]byte("-Infinity"), []byte(`"-Infin."`)}, {[]byte("Infinity"), []byte(`"Infin."`)}, {[]byte("NaN"), []byte(`"N"`)}}

func (f *finite) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(f.rest) > 0 {
			k := copy(p[n:], f.rest)
			f.rest, n = f.rest[k:], n+k
			continue
		}
		if _, err := f.in.Peek(1); err != nil {
			return n, err
		}
		ahead, err := f.in.Peek(min(f.in.Buffered(), len(p)-n))
		if err != nil {
			return n, err
		}
		if plain := copy(p[n:], ahead[:f.plain(ahead)]); plain > 0 {
			n += plain
			if _, err := f.in.Discard(plain); err != nil {
				return n, err
			}
			continue
		}
		c, err := f.in.ReadByte()
		if err != nil {
			return n, err
		}
		switch {
		case f.escaped:
			f.escaped = false
		case f.inText && c == '\\':
			f.escaped = true
		case c == '"':
			f.inText = !f.inText
		case f.replace(c):
			continue
		}
		p[n] = c
		n++
	}
	return n, nil
}

// plain is how many bytes at the front change nothing and stay as they are.
func (f *finite) plain(text []byte) int {
	special := `"-IN`
	switch {
	case f.escaped:
		return 0
	case f.inText:
		special = `"\`
	}
	if i := bytes.IndexAny(text, special); i >= 0 {
		return i
	}
	return len(text)
}

// replace puts a text in the place of a word that begins with c.
func (f *finite) replace(c byte) bool {
	for _, w := range notFinite {
		if w.word[0] != c {
			continue
		}
		if ahead, _ := f.in.Peek(len(w.word) - 1); bytes.Equal(ahead, w.word[1:]) {
			if _, err := f.in.Discard(len(ahead)); err == nil {
				f.rest = w.text
				return true
			}
		}
	}
	return false
}
