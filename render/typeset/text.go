package typeset

import (
	"fmt"
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestText is how many bytes of one text people are shown: names of kernels that real templates give take up to some 10 KB. What is made
// of a text for people, which looks at it dozens of times, need not be made for longer ones.
const LongestText = 16 << 10

// Neutral returns s as people may see it: like Whole, but with the middle of a very long text cut out. The mark in its place has the length and a
// checksum of the whole, so that different texts stay different.
func Neutral(s string) string {
	if len(s) > LongestText {
		return cutMiddle(s)
	}
	if s = Whole(s); len(s) > LongestText {
		return cutMiddle(s)
	}
	return s
}

// cutMiddle cuts the middle out of a text so that LongestText bytes stay, at most, with its length and a sum of it.
func cutMiddle(s string) string {
	mark := fmt.Sprintf("%s[%d bytes, %08x]%s", Ellipsis, len(s), crc32.ChecksumIEEE([]byte(s)), Ellipsis)
	part := (LongestText - len(mark)) / 2
	front, back := Whole(start(s, part)), Whole(end(s, part))
	return start(front, part) + mark + end(back, part)
}

// start returns the first n bytes of s, or a few less so that no character is split.
func start(s string, n int) string {
	n = min(n, len(s))
	for cut := n; n < len(s) && cut > max(0, n-utf8.UTFMax); cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:n]
}

// end returns the last n bytes of s, or a few less so that no character is split.
func end(s string, n int) string {
	from := len(s) - min(n, len(s))
	for cut := from; cut < min(len(s), from+utf8.UTFMax); cut++ {
		if utf8.RuneStart(s[cut]) {
			return s[cut:]
		}
	}
	return s[from:]
}

// Whole returns s with everything that could move a cursor, change a colour or reorder a line written out: control and
// format characters become escapes such as \n, \x1b and \u202e. Variation selectors, on whose width terminals disagree,
// are left out.
func Whole(s string) string {
	if isPlain(s) {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case unicode.Is(unicode.Variation_Selector, r):
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out.WriteString(escape(r))
		default:
			out.WriteRune(r)
		}
		s = s[size:]
	}
	return out.String()
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// isPlain reports whether s is printable ASCII: as wide as it is long.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Width returns the terminal columns that s takes.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Pad fills s with spaces to the given width, on the left if right-aligned.
func Pad(s string, to int, right bool) string {
	fill := strings.Repeat(" ", max(0, to-Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// Prefix returns the longest start of s that takes at most the given width.
func Prefix(s string, to int) string {
	for i, r := range s {
		if to -= runeWidth(r); to < 0 {
			return s[:i]
		}
	}
	return s
}

// suffix returns the longest end of s that takes at most the given width and does not start with a combining mark.
func suffix(s string, to int) string {
	start := len(s)
	for end := len(s); end > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
		w := runeWidth(r)
		if to -= w; to < 0 {
			break
		}
		if w > 0 {
			start = end
		}
	}
	return s[start:]
}

// Wrap breaks s at spaces into lines of at most the given width, and a longer word where it must; 0 means no limit.
func Wrap(s string, to int) []string {
	fields := strings.Fields(s)
	if to <= 0 {
		return []string{strings.Join(fields, " ")}
	}
	lines, line := []string{}, ""
	for _, word := range fields {
		if line != "" && Width(line)+1+Width(word) <= to {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for {
			part := Prefix(word, to)
			if part == word {
				break
			}
			if part == "" { // a character wider than the line
				_, size := utf8.DecodeRuneInString(word)
				lines, word = append(lines, Ellipsis), word[size:]
				continue
			}
			lines, word = append(lines, part), word[len(part):]
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
