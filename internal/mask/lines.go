package mask

import (
	"regexp"
	"strings"
)

// Lines takes out of a text that comes line by line what only earlier lines say is secret: the rest of a key that is written out, and a value
// below its name. What a line says by itself is for Text, after it. It keeps no more than the end of one line.
type Lines struct {
	before string // the line before, where its value may follow
	key    armor
	indent string // what stands before the first line of the key
	left   int    // lines in which the key may go on
}

// armor says where a line stands to a key that is written out.
type armor int

const (
	outside armor = iota
	within        // the line before belongs to it
	between       // others write too, or the beginning was not seen
)

const (
	mostBetween = 200 // lines of others within a key
	leastOfKey  = 32  // bytes of a line that is known as one of a key by itself
)

// Line is the next line, without its end.
func (l *Lines) Line(s string) string {
	out := l.armored(s)
	if l.before != "" {
		out = l.below(out)
	} else if opens(out) {
		l.before = tail(out)
	}
	return out
}

// Lost says that a part of the text was not seen: a key may have begun in it.
func (l *Lines) Lost() {
	if l.key == outside {
		l.key, l.indent, l.left = between, "", mostBetween
	}
}

var (
	armorBegins = regexp.MustCompile(`(?i:---- ?BEGIN )|^Private-Lines: `)
	armorEnds   = regexp.MustCompile(`(?i)-?---- ?END [^-]*-----?`)
	armorHeader = regexp.MustCompile(`^(?:Proc-Type|DEK-Info|Key-Info|Version|Comment|Hash|Charset|MessageID|Content-Domain|Subject|x-[\w-]+): `)
	armorBody   = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,3}\\?$|^=[A-Za-z0-9+/]{4}$`) // the second is the checksum of PGP
)

// armored masks a line of a key.
func (l *Lines) armored(s string) string {
	if l.key == outside {
		l.begins(s, 0)
		return s
	}
	if end := armorEnds.FindStringIndex(s); end != nil {
		from := 0
		if _, ok := after(l.indent, s); ok {
			from = len(l.indent)
		}
		l.key = outside
		l.begins(s, end[1])
		return s[:min(from, end[0])] + masked + s[end[1]:]
	}
	if l.begins(s, 0) {
		return s
	}
	rest, ok := after(l.indent, s)
	if !ok {
		rest = s
	}
	body := bare(rest)
	switch {
	case l.key == within && (body == "" || armorHeader.MatchString(body)):
		return s
	case l.key == within && armorBody.MatchString(body):
		return s[:len(s)-len(rest)] + masked
	}
	if at := strings.LastIndexAny(strings.TrimRight(s, unimportant), " \t:|>,\"'\\") + 1; isOfKey(bare(s[at:])) {
		l.key, l.left = within, mostBetween
		return s[:at] + masked
	}
	if l.key = between; l.left == 0 {
		l.key = outside
	}
	l.left--
	return s
}

// begins looks for a key that begins in a line, from a place on, and does not end there.
func (l *Lines) begins(s string, from int) bool {
	if !strings.Contains(s, "----") && !strings.Contains(s, "Lines: ") { // all output of a workload goes through here
		return false
	}
	at := armorBegins.FindAllStringIndex(s[from:], -1)
	if at == nil {
		return false
	}
	last := at[len(at)-1]
	if armorEnds.MatchString(s[from+last[1]:]) {
		l.key = outside
		return true
	}
	l.key, l.indent, l.left = within, strings.TrimSuffix(s[:from+last[0]], "-"), mostBetween
	return true
}

// unimportant stands around the lines of a key in the source of a program.
const unimportant = " \t\r\"'`,;+()[]"

// bare is a line of a key without what stands around it in the source of a program.
func bare(s string) string {
	s = strings.Trim(s, unimportant)
	for _, end := range []string{`\n`, `\r`} {
		s = strings.TrimSuffix(s, end)
	}
	return s
}

// isOfKey reports whether a word alone looks like a line of a key: the hash of a commit and the name of a kernel do not.
func isOfKey(word string) bool {
	return len(word) >= leastOfKey && armorBody.MatchString(word) && strings.ContainsAny(word, "0123456789+/") &&
		strings.ToLower(word) != word && strings.ToUpper(word) != word
}

// after is what follows in a line what stood before the first of its kind: the same but for digits, as of a clock or of numbers of lines.
func after(indent, s string) (rest string, ok bool) {
	rest = s
	for len(indent) > 0 {
		if rest == "" {
			return s, false
		}
		class := ""
		switch c := indent[0]; {
		case c >= '0' && c <= '9':
			class = "0123456789"
		case c == ' ' || c == '\t':
			class = " \t"
		case c != rest[0]:
			return s, false
		default:
			indent, rest = indent[1:], rest[1:]
			continue
		}
		less := strings.TrimLeft(rest, class)
		if less == rest {
			return s, false
		}
		indent, rest = strings.TrimLeft(indent, class), less
	}
	return rest, true
}

// opens reports whether the value of what a line ends with may stand on the next.
func opens(s string) bool {
	s = strings.TrimRight(s, " \t\r")
	if s == "" {
		return false
	}
	return strings.IndexByte(`=:\,`, s[len(s)-1]) >= 0 || strings.HasPrefix(s[strings.LastIndexAny(s, " \t\"'")+1:], "-")
}

// below masks what the line before says is secret.
func (l *Lines) below(s string) string {
	f := finder{text: l.before + "\n" + s}
	f.find()
	n := len(l.before) + 1
	below := finder{text: s}
	goesOn := false
	for _, sp := range f.spans {
		if sp.to > n {
			below.add(max(0, sp.from-n), sp.to-n)
			goesOn = goesOn || sp.from < n && sp.to == len(f.text)
		}
	}
	switch {
	case !opens(s):
		l.before = ""
	case !goesOn:
		l.before = tail(s)
	}
	return below.masked()
}
