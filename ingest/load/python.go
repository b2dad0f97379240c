package load

import (
	"bytes"
	"io"
)

// FiniteJSON reads what Python's json module writes as JSON: Infinity and NaN, which JSON has no words for, become texts of the same length
// ("Infin.", "N"), so that places in errors stay right.
func FiniteJSON(in io.Reader) io.Reader { return &finite{in: in} }

type finite struct {
	in              io.Reader
	buf             []byte
	from, done      int // what is ready: buf[from:done]; what follows may begin a word
	inText, escaped bool
	err             error // why there is no more to read
}

var notFinite = []struct{ word, text []byte }{{[]byte("-Infinity"), []byte(`"-Infin."`)}, {[]byte("Infinity"), []byte(`"Infin."`)}, {[]byte("NaN"), []byte(`"N"`)}}

// longestWord is how many bytes tell whether a word begins.
const longestWord = len("-Infinity")

// finiteBlock is how much is read at once.
const finiteBlock = 64 << 10

func (f *finite) Read(p []byte) (int, error) {
	for empty := 0; f.from == f.done && f.err == nil; empty++ {
		if f.buf == nil {
			f.buf = make([]byte, 0, finiteBlock)
		}
		f.buf = append(f.buf[:0], f.buf[f.done:]...)
		n, err := f.in.Read(f.buf[len(f.buf):cap(f.buf)])
		if n == 0 && err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
		f.buf, f.err, f.from, f.done = f.buf[:len(f.buf)+n], err, 0, 0
		f.replace()
	}
	n := copy(p, f.buf[f.from:f.done])
	if f.from += n; n == 0 && len(p) > 0 {
		return 0, f.err
	}
	return n, nil
}

// replace puts texts in the place of words, as far as it can tell them.
func (f *finite) replace() {
	for i := 0; i < len(f.buf); i++ {
		switch c := f.buf[i]; {
		case f.inText:
			i = f.endOfText(i)
		case c == '"':
			f.inText = true
		case c == '-' || c == 'I' || c == 'N':
			if len(f.buf)-i < longestWord && f.err == nil {
				f.done = i
				return
			}
			for _, w := range notFinite {
				if bytes.HasPrefix(f.buf[i:], w.word) {
					i += copy(f.buf[i:], w.text) - 1
					break
				}
			}
		}
	}
	f.done = len(f.buf)
}

// endOfText goes on in a text, to the quote that ends it or the end of what was read.
func (f *finite) endOfText(i int) int {
	if f.escaped {
		f.escaped = false
		i++
	}
	for buf := f.buf; i < len(buf); i++ {
		switch buf[i] {
		case '\\':
			i++
			f.escaped = i == len(buf)
		case '"':
			f.inText = false
			return i
		}
	}
	return i
}
