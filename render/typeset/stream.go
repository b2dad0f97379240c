package typeset

import (
	"bytes"
	"crypto/rand"
	"io"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Stream writes texts for people: what Whole writes out is written out, but for line feeds and tabs. So no path, name or message, wherever
// it comes from, reaches a terminal raw. It is safe for concurrent use.
type Stream struct {
	W     io.Writer
	Mark  Mark // styles of this package that have it stay; "": none do
	mu    sync.Mutex
	begun []byte // of a character or a style whose other bytes are to come
}

// Mark is a number within prof's own styles, by which a stream tells them from those in the texts of others.
type Mark string

// NewMark returns one that nobody knows. It begins with 8 (concealed), as few styles of others do: what may be the beginning of a style of our own waits for
// the rest of it.
func NewMark() Mark {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	return Mark("8" + new(big.Int).SetBytes(b[:]).String())
}

// in is a style with the mark.
func (m Mark) in(code string) string {
	if m == "" || code == "" {
		return code
	}
	return escapeBegins + string(m) + ";" + strings.TrimPrefix(code, escapeBegins)
}

const escapeBegins = "\x1b["

// Write writes all of p, changed; the error is that of the stream beneath.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := p
	if len(s.begun) > 0 {
		text = slices.Concat(s.begun, p)
		s.begun = nil
	}
	if n := len(text) - s.cut(text); n > 0 {
		s.begun, text = slices.Clone(text[len(text)-n:]), text[:len(text)-n]
	}
	if _, err := s.W.Write(s.visible(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cut returns the length of a text without a last character, or style, that lacks bytes.
func (s *Stream) cut(text []byte) int {
	if at := bytes.LastIndexByte(text, '\x1b'); at >= 0 && s.Mark != "" {
		if rest, own := string(text[at:]), escapeBegins+string(s.Mark)+";"; strings.HasPrefix(own, rest) || strings.HasPrefix(rest, own) && !strings.HasSuffix(rest, "m") && len(rest) < len(own)+len("00m") {
			return at
		}
	}
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

func (s *Stream) visible(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r > '~') }) {
		return text
	}
	var out strings.Builder
	rest := string(text)
	for rest != "" {
		n := strings.IndexAny(rest, "\n\t\x1b")
		if n < 0 {
			out.WriteString(Whole(rest))
			break
		}
		out.WriteString(Whole(rest[:n]))
		kept, shown := 1, rest[n:n+1]
		if rest[n] == '\x1b' {
			kept, shown = s.style(rest[n:])
		}
		out.WriteString(shown)
		rest = rest[n+kept:]
	}
	return []byte(out.String())
}

// style returns the length of the style that a text begins with, and what is written for it; of an escape that is none, that it is one.
func (s *Stream) style(text string) (n int, shown string) {
	if s.Mark != "" {
		for _, code := range []string{Bold, Dim, plain, ToneBetter.ansi(), ToneWorse.ansi(), ToneUnsure.ansi()} {
			if own := s.Mark.in(code); strings.HasPrefix(text, own) {
				return len(own), code
			}
		}
	}
	return 1, escape('\x1b')
}
