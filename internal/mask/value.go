package mask

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// value returns the value at a place: what quotes enclose, with them, a list, a block of YAML, or all up to a stop.
func (f *finder) value(at int, stops string) (from, to int) {
	s := f.text
	f.unclosed = rest{}
	if at == len(s) || strings.HasPrefix(s[at:], masked) { // masked before
		return at, at
	}
	switch s[at] {
	case '[', '(', '{':
		to, depth := enclosed(s, at)
		f.unclosed.depth = uint8(min(depth, math.MaxUint8))
		if strings.ContainsFunc(s[at:to], unicode.IsLetter) { // numbers alone are tokens of text
			return at, to
		}
		return at, at
	case '|', '>':
		if from, to := block(s, at); to > from {
			return from, to
		}
	case '"', '\'':
		if (at+1 == len(s) || strings.IndexByte(" \t\r\n),;]}+", s[at+1]) >= 0) && !isOpening(s, at) {
			return at, at
		}
		return at, f.quoted(at)
	case '\\', '&':
		if n := escapedQuote(s[at:]); n > 0 {
			end := upTo(s, at+n, "\r\n")
			for from := at + n; ; {
				i := strings.Index(s[from:], s[at:at+n])
				if i < 0 {
					return at, end
				}
				if from += i + n; s[from-n-1] != '\\' { // one of more of them is of what is within
					return at, from
				}
			}
		}
	}
	to = upTo(s, at, stops)
	for to > at && to < len(s) && s[to-1] == '\\' && (s[to] == '\n' || s[to] == '\r') { // the word goes on in the next line
		to = upTo(s, upTo(s, to, "\n")+1, stops)
	}
	if to > at && to < len(s) && isQuote(s[to]) && s[to-1] != '\\' && isOpening(s, to) { // b'...', $'...', Secret('...')
		if n := closes(s[:upTo(s, to, "\r\n")], to+1, s[to]); n > 0 {
			return at, n
		}
	}
	return at, to
}

// mark is a quote, or three of them, that nothing closes; 0 none.
type mark byte

const three mark = 1 << 7

// closes is behind what closes it in a text from its begin on; 0 where nothing does.
func (m mark) closes(s string) int {
	if m&three == 0 {
		return closes(s, 0, byte(m))
	}
	marks := strings.Repeat(string(rune(m&^three)), 3)
	if n := strings.Index(s, marks); n >= 0 {
		return n + len(marks)
	}
	return 0
}

// rest is what a value lacks at the end of its line: a quote, or so many brackets.
type rest struct {
	quote mark
	depth uint8
}

// closes returns where a value ends in a line of it, behind its quote or before its bracket; false where it goes on.
func (r *rest) closes(s string) (end int, isClosed bool) {
	if r.quote == 0 {
		end, left := brackets(s, int(r.depth))
		r.depth = uint8(min(left, math.MaxUint8))
		return end, left == 0
	}
	if end = r.quote.closes(s); end == 0 {
		return len(s), false
	}
	return end, true
}

// quotes are how HTML writes a quote.
var quotes = strings.Fields("&quot; &#34; &apos; &#39; &#x27;")

// escapedQuote is how long the quote is that a text begins with as JSON within JSON writes it, or HTML; 0 without one.
func escapedQuote(s string) int {
	if n := past(s, 0, `\`); n > 0 && n < len(s) && isQuote(s[n]) {
		return n + 1
	}
	for _, q := range quotes {
		if strings.HasPrefix(s, q) {
			return len(q)
		}
	}
	return 0
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// isOpening reports whether a quote opens something, and does not close what was open on its line.
func isOpening(s string, at int) bool { return strings.Count(line(tail(s[:at])), s[at:at+1])%2 == 0 }

// line is the last line of a text.
func line(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// quoted is behind what the quote at a place opens, or the end of the line: then f.unclosed is what would close it.
func (f *finder) quoted(at int) int {
	s, quote := f.text, f.text[at]
	if len(s) > at+2 && s[at+1] == quote { // "", """text""" of Python, or ""text"" in a quoted cell of CSV
		marks := s[at : at+2]
		if s[at+2] == quote {
			marks = s[at : at+3]
		} else if !isNameByte(s[at+2]) || !strings.Contains(s[at+2:upTo(s, at+2, "\r\n")], marks) {
			return at + 2
		}
		if n := strings.Index(s[at+len(marks):], marks); n >= 0 {
			return at + len(marks) + n + len(marks)
		}
		f.unclosed.quote = mark(quote) | three
		return len(s)
	}
	if to := closes(s, at+1, quote); to > 0 {
		return to
	}
	f.unclosed.quote = mark(quote)
	return upTo(s, at+1, "\r\n")
}

// closes is behind the quote that closes what is open from a place on; 0 where none does. Escaped and doubled ones do not, nor does one that a shell's
// '\” goes on from.
func closes(s string, at int, quote byte) int {
	for i := at; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (quote == '"' || s[i+1] == '\\' || s[i+1] == quote && strings.IndexByte(s[i+2:upTo(s, i+2, "\r\n")], quote) >= 0):
			i++
		case s[i] != quote:
		case i+2 < len(s) && s[i+1] == quote && isNameByte(s[i+2]):
			i++
		case quote == '\'' && strings.HasPrefix(s[i+1:], `\''`):
			i += len(`\''`)
		default:
			return i + 1
		}
	}
	return 0
}

// enclosed is behind the bracket that closes the one at a place, or the end of the line; depth is how many brackets lines below may close.
func enclosed(s string, at int) (to, depth int) {
	to = upTo(s, at, "\r\n")
	n, left := brackets(s[at:to], 0)
	if left == 0 {
		return at + n + 1, 0
	}
	if !goesOver(s[at:to]) {
		return to, 0
	}
	depth = left
	for end, lines := to, 0; lines < mostOfValue && end < len(s); lines++ {
		from := upTo(s, end, "\n") + 1
		if from >= len(s) {
			break
		}
		end = upTo(s, from, "\r\n")
		if n, left = brackets(s[from:end], left); left == 0 {
			return from + n + 1, 0
		}
	}
	return to, depth
}

// goesOver reports whether a line may end within brackets that it opens.
func goesOver(s string) bool {
	n := len(s)
	for n > 0 && isBlank(s[n-1]) {
		n--
	}
	if n == 0 || strings.IndexByte("[({,", s[n-1]) < 0 {
		return false
	}
	open := 0
	for i := range n {
		switch s[i] {
		case '[', '(', '{':
			open++
		case ']', ')', '}':
			open--
		}
	}
	return open > 0
}

// brackets is the place of the bracket with which none of so many, and of those that a line opens, is open; else the line's end, and how many are.
func brackets(s string, depth int) (at, left int) {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case isQuote(c):
			quote = c
		case strings.IndexByte("[({", c) >= 0:
			depth++
		case strings.IndexByte("])}", c) >= 0:
			if depth--; depth == 0 {
				return i, 0
			}
		}
	}
	return len(s), depth
}

// blockBegins stands before a text of YAML that goes over lines.
var blockBegins = regexp.MustCompile(`^[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?\r?\n`)

// block returns the text of YAML whose sign is at a place: the lines that are farther in than that of its name.
func block(s string, at int) (from, to int) {
	n := len(blockBegins.FindString(s[at:]))
	if n == 0 {
		return at, at
	}
	in := keyIndent(line(s[:at]))
	for next := at + n; next < len(s); next = upTo(s, next, "\n") + 1 {
		text := s[next:upTo(s, next, "\n")]
		if strings.TrimSpace(text) == "" {
			continue
		}
		if indent(text) <= in {
			break
		}
		if to = next + len(strings.TrimRight(text, "\r")); from == 0 {
			from = next + indent(text)
		}
	}
	return from, to
}

// indent is how many blanks a line begins with.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// keyIndent is indent for a line of a list of YAML too.
func keyIndent(s string) int {
	in := indent(s)
	for strings.HasPrefix(s[in:], "- ") {
		in += len("-") + indent(s[in+len("-"):])
	}
	return in
}

// What stands between a tag and its end, and before the text of an element of XML.
var (
	inElement = regexp.MustCompile(`^["']?(?:\s[^<>\n]*[^<>\n/])?>\s*(?:<!\[CDATA\[)?([^<]*?)(?:\]\]>)?\s*</`)
	behindKey = regexp.MustCompile(`^</[\w:.-]+>\s*<[\w:.-]+>\s*([^<]*?)\s*</`)
)

// element returns the text of an element of XML whose name, or the name that an attribute gives it, is at a place, or that follows an element with
// the name, as in property lists.
func element(s string, from, to int) (begin, end int, ok bool) {
	if to == len(s) || strings.IndexByte("<> \"'", s[to]) < 0 {
		return 0, 0, false
	}
	before := tail(s[:from])
	var m []int
	if s[to] == '<' && strings.HasSuffix(before, ">") {
		m = behindKey.FindStringSubmatchIndex(s[to:])
	} else if tag := strings.LastIndexByte(before, '<'); s[to] != '<' && tag >= 0 && tag > strings.LastIndexByte(before, '>') {
		m = inElement.FindStringSubmatchIndex(s[to:])
	}
	if m == nil || strings.HasPrefix(s[to+m[2]:], "::") { // a template of C++
		return 0, 0, false
	}
	return to + m[2], to + m[3], true
}

// tokens masks a list of tokens that are no words of a text: several letters and digits by turns.
func (f *finder) tokens(name string, at int) {
	if s := f.text; at == len(s) || strings.IndexByte(`["'`, s[at]) < 0 || slices.Contains(tokenKinds, lastWord(strings.ToLower(trimSeparators(name[:len(name)-len("tokens")])))) {
		return
	}
	from, to := f.value(at, "")
	for word := range strings.FieldsFuncSeq(f.text[from:to], func(r rune) bool { return strings.ContainsRune("[](),\"' \n", r) }) {
		turns := 0
		for i := 1; i < len(word); i++ {
			if (kindOf(word[i]) == 2) != (kindOf(word[i-1]) == 2) {
				turns++
			}
		}
		if len(word) >= 8 && turns >= 2 && run(word, 0, "_-.+/=") == len(word) && strings.ContainsFunc(word, unicode.IsLetter) {
			f.add(from, to)
			return
		}
	}
}
