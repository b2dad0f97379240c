package sqlfile

import (
	"iter"
	"strings"
)

// Uses returns the names of relations that a text uses and does not define in a WITH: what stands behind FROM or JOIN, and what begins with _.
func Uses(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var used, outer []string // outer: the words in front of the open parentheses
		own := map[string]bool{}
		last, defined := "", ""
		for t := range tokens(text) {
			switch {
			case t == "(":
				if last == "AS" || last == "MATERIALIZED" {
					own[defined] = true
				}
				outer = append(outer, last)
			case t == ")" && len(outer) > 0:
				if t = outer[len(outer)-1]; t == "FROM" || t == "JOIN" {
					t = ")"
				}
				outer = outer[:len(outer)-1]
			case t == "AS":
				defined = last
			case last == "FROM", last == "JOIN", t[0] == '_':
				used = append(used, t)
			}
			last = t
		}
		for _, name := range used {
			if !own[name] && !yield(name) {
				return
			}
		}
	}
}

// tokens returns the words and signs of a text, without comments and literals.
func tokens(text string) iter.Seq[string] {
	isWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			n := 1
			switch c := text[i]; {
			case c == ' ' || c == '\n':
				i++
				continue
			case strings.HasPrefix(text[i:], "--"):
				line, _, _ := strings.Cut(text[i:], "\n")
				i += len(line)
				continue
			case c == '\'':
				literal, _, _ := strings.Cut(text[i+1:], "'")
				i += len(literal) + 2
				continue
			case isWord(c):
				for i+n < len(text) && isWord(text[i+n]) {
					n++
				}
			}
			if !yield(text[i : i+n]) {
				return
			}
			i += n
		}
	}
}
