package typeset

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Stream writes texts for people: what Whole writes out is written out, but for line feeds and tabs. So no path, name or message, wherever
// it comes from, reaches a terminal raw. It is safe for concurrent use.
type Stream struct {
	W      io.Writer
	Styled bool // the styles of this package stay
	mu     sync.Mutex
	begun  []byte // of a character whose other bytes are to come
}

// Write writes all of p, changed; the error is that of the stream beneath.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := p
	if len(s.begun) > 0 {
		text = slices.Concat(s.begun, p)
		s.begun = nil
	}
	if n := len(text) - cut(text); n > 0 {
		s.begun, text = slices.Clone(text[len(text)-n:]), text[:len(text)-n]
	}
	if _, err := s.W.Write(s.visible(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cut returns the length of a text without a last character that lacks bytes.
func cut(text []byte) int {
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
		kept := 1
		if rest[n] == '\x1b' {
			kept = s.style(rest[n:])
		}
		out.WriteString(rest[n : n+kept])
		if rest = rest[n+kept:]; kept == 0 {
			out.WriteString(escape('\x1b'))
			rest = rest[1:]
		}
	}
	return []byte(out.String())
}

// style returns the length of the style that a text begins with.
func (s *Stream) style(text string) int {
	if s.Styled {
		for _, code := range []string{Bold, Dim, "\x1b[0m", ToneBetter.ansi(), ToneWorse.ansi(), ToneUnsure.ansi()} {
			if code != "" && strings.HasPrefix(text, code) {
				return len(code)
			}
		}
	}
	return 0
}
