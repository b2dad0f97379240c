package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Lines takes out of a text that comes line by line what only earlier lines say is secret: the rest of a key that is written out, a value below
// its name, and one that goes over lines. What a line says by itself is for Text, after it. It keeps no more than the end of one line.
type Lines struct {
	before string // the line before, where its value may follow
	open   []open // values that go on
	block  int    // by how many blanks a value of YAML is farther in; 0 none
	key    armor
	indent string // what stands before the first line of the key
	left   int    // lines in which the key may go on
}

// open is a value that a line begins and does not end.
type open struct {
	rest rest
	line string // the begin of that line
	most int    // lines that the value may have more
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
	mostOfValue = 16  // lines of a value in quotes: they may not be meant as such
	leastOfKey  = 32  // bytes of a line that is known as one of a key by itself
)

// Line is the next line, without its end.
func (l *Lines) Line(s string) string {
	out := l.armored(s)
	if l.block > 0 {
		in := indent(out)
		if in >= l.block || in == len(out) {
			return out[:in] + hidden(out[in:])
		}
		l.block = 0
	}
	text := out
	if len(l.open) > 0 || l.before != "" {
		f := finder{text: text}
		if len(l.open) > 0 {
			l.goOn(&f)
		}
		if l.before != "" {
			l.below(&f)
		}
		out = f.masked()
	}
	if l.before == "" && opens(text) {
		l.before = tail(text)
	}
	if l.key == outside {
		l.longer(text)
	}
	return out
}

// longer looks for a secret that a line begins and does not end. Where no value can be open it costs no more than to count quotes.
func (l *Lines) longer(s string) {
	if n := blockSign(s); n >= 2 && (s[n-1] == '|' || s[n-1] == '>') && isBlank(s[n-2]) {
		in := keyIndent(s) + 1
		f := finder{text: s + "\n" + strings.Repeat(" ", in) + "x"}
		f.find()
		if slices.ContainsFunc(f.spans, func(sp span) bool { return sp.to == len(f.text) }) {
			l.block = in
		}
		return
	}
	if strings.Count(s, `"`)%2 == 0 && strings.Count(s, `'`)%2 == 0 && !goesOver(s) {
		return
	}
	f := finder{text: s}
	f.find()
	if f.open != (rest{}) && !slices.ContainsFunc(l.open, func(o open) bool { return o.rest == f.open }) {
		l.open = append(l.open, open{f.open, s[:min(len(s), lookBack)], mostOfValue})
	}
}

// blockSign is behind what may be the sign of a text of YAML at the end of a line.
func blockSign(s string) int {
	n := len(s)
	for n > 0 && strings.IndexByte(" \t\r+-0123456789", s[n-1]) >= 0 {
		n--
	}
	return n
}

// goOn masks in a line the values that go on, and what the line says by itself: it may be no part of them, where the line before was cut.
func (l *Lines) goOn(f *finder) {
	s := f.text
	before := l.open
	l.open = nil
	for _, o := range before {
		from := indent(s)
		if o.rest.quote == 0 {
			from = shared(o.line, s)
			first := o.line[shared(s, o.line):]
			in := indent(s[from:])
			if from += in; from < len(s) && in <= indent(first) && strings.IndexByte("])}", s[from]) < 0 { // it was cut: what is within is farther in
				continue
			}
		}
		end, isClosed := o.rest.closes(s[from:])
		if end += from; o.rest.quote != 0 {
			f.add(from, end)
		} else if to := from + len(strings.TrimRight(s[from:end], " \t\r,")); strings.ContainsFunc(s[from:to], unicode.IsLetter) {
			f.add(from, to)
		}
		if isClosed {
			l.longer(s[end:])
		} else if o.most--; o.most > 0 {
			l.open = append(l.open, o)
		}
	}
	f.find()
}

// shared is behind what a line begins with as another does, up to a blank, as lines of loggers do: the same but for digits.
func shared(other, s string) int {
	at, last, i := 0, 0, 0
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i < len(other) && at < len(s) {
		if isDigit(other[i]) && isDigit(s[at]) {
			for ; i < len(other) && isDigit(other[i]); i++ {
			}
			for ; at < len(s) && isDigit(s[at]); at++ {
			}
			continue
		}
		if other[i] != s[at] {
			break
		}
		i++
		at++
		if isBlank(s[at-1]) {
			last = at
		}
	}
	return last
}

// hidden is what is shown of a secret; of none, nothing.
func hidden(s string) string {
	if s == "" {
		return s
	}
	return masked
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
	if !strings.Contains(s, "----") && !strings.HasPrefix(s[from:], "Private-Lines: ") { // all output of a workload goes through here
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
	for s != "" && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if s == "" {
		return false
	}
	if strings.IndexByte(`=:\,`, s[len(s)-1]) >= 0 {
		return true
	}
	if isLoginLine(s) {
		return true
	}
	last := len(s)
	for last > 0 && !isBlank(s[last-1]) && !isQuote(s[last-1]) {
		last--
	}
	return strings.HasPrefix(s[last:], "-") || isCalled(s)
}

// isLoginLine reports whether a line is one of a .netrc, below which the password may stand.
func isLoginLine[T string | []byte](s T) bool {
	at := 0
	for at < len(s) && isBlank(s[at]) {
		at++
	}
	switch {
	case at == len(s):
		return false
	case s[at] == 'l':
		return strings.HasPrefix(string(s[at:min(len(s), at+len("login "))]), "login ")
	case s[at] == 'm':
		return strings.HasPrefix(string(s[at:min(len(s), at+len("machine "))]), "machine ")
	}
	return false
}

// isCalled reports whether a line ends with the name of a value that may stand below: name: HF_TOKEN.
func isCalled(s string) bool {
	at := len(s)
	for at > 0 && (isNameByte(s[at-1]) || isQuote(s[at-1]) || s[at-1] == '\\') {
		at--
	}
	sign := at
	for sign > 0 && s[sign-1] == ' ' {
		sign--
	}
	return sign > 0 && (s[sign-1] == ':' || s[sign-1] == '=') && called.MatchString(tail(s[:at]))
}

// below masks what the line before says is secret, also where a logger writes the same before both.
func (l *Lines) below(f *finder) {
	s := f.text
	if len(s) < leastRandom && !hasNeedle(l.before) && !isLoginLine(l.before) {
		l.before = ""
		return
	}
	goesOn := false
	for _, from := range slices.Compact([]int{0, shared(l.before, s)}) {
		if from > 0 && strings.TrimLeft(s[:from], " \t") == "" {
			continue
		}
		both := finder{text: l.before + "\n" + s[from:]}
		both.find()
		n := len(l.before) + 1
		for _, sp := range both.spans {
			if sp.to > n {
				f.add(from+max(min(indent(s[from:]), sp.to-n), sp.from-n), from+sp.to-n)
				goesOn = goesOn || sp.from < n && sp.to == len(both.text)
			}
		}
	}
	if !goesOn || !opens(s) {
		l.before = ""
	}
}
