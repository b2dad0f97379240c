package typeset

import "strings"

// MarkdownSpan returns s as a code span outside of tables, where a pipe is a pipe.
func MarkdownSpan(s string) string {
	if strings.Contains(s, `\|`) {
		return MarkdownText(s)
	}
	return strings.ReplaceAll(MarkdownCode(s), `\|`, "|")
}

// MarkdownCode returns s as a code span in a table cell: a fence longer than any backticks inside, pipes escaped for the
// table. A backslash before a pipe has no spelling in a code span that all readers share, so such text is escaped instead.
func MarkdownCode(s string) string {
	if strings.TrimSpace(s) == "" || strings.Contains(s, `\|`) {
		return MarkdownText(s)
	}
	fence, room := fenceFor(s, 1), ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		room = " " // one space on each side is not part of the code
	}
	return fence + room + strings.ReplaceAll(s, "|", `\|`) + room + fence
}

// MarkdownText escapes s so that it reads as typed: no emphasis, links, HTML, entities, mathematics or table cells.
func MarkdownText(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '&', '$':
			out.WriteByte('\\')
		case '_':
			if i == 0 || i+1 == len(s) || !IsWord(s[i-1]) || !IsWord(s[i+1]) {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// MarkdownLine escapes the text of one list item, which must not start a heading, a list or a rule of its own.
func MarkdownLine(s string) string {
	s = strings.TrimSpace(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	isNumbered := digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') && (digits+1 == len(s) || s[digits+1] == ' ')
	if isNumbered || strings.IndexAny(s, "#+-=") == 0 {
		return MarkdownText(s[:digits]) + `\` + s[digits:digits+1] + MarkdownText(s[digits+1:])
	}
	return MarkdownText(s)
}

func IsWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// MarkdownBlock returns text as a block of code, within a fence longer than any backticks in it.
func MarkdownBlock(text string) string {
	fence := fenceFor(text, 3)
	return fence + "text\n" + text + fence + "\n"
}

// fenceFor is a run of backticks, at least so many, that is longer than any in a text.
func fenceFor(text string, least int) string {
	run := 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		least = max(least, run+1)
	}
	return strings.Repeat("`", least)
}
