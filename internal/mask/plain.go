package mask

import "bytes"

// What a byte can be to Plain.
const (
	ofText = iota
	ofEnd  // of a line
	ofDash
	ofSign
	ofBlock
	ofBracket // that opens
	ofQuote   // or of a control character
)

var plainBytes = func() (t [256]uint8) {
	for c := range 0x20 {
		t[c] = ofQuote
	}
	t['\t'], t['\n'], t['-'], t[':'], t['='], t['|'], t['>'], t['"'], t['\''] = ofText, ofEnd, ofDash, ofSign, ofSign, ofBlock, ofBlock, ofQuote, ofQuote
	t['['], t['('], t['{'] = ofBracket, ofBracket, ofBracket
	return t
}()

// Plain returns how many bytes of a text are whole lines that Line would give back as they are, and of which none below depends, nor that any above
// changes. What that takes goes by bytes, not by lines, so that it does not hold up who writes many short ones.
func (l *Lines) Plain(text []byte) (n int) {
	if len(l.open) > 0 || l.block > 0 || l.key != outside || l.before != "" && (hasNeedle(l.before) || isLoginLine(l.before)) {
		return 0
	}
	opened := l.before != "" // the line before may have a value on the next, if that is a random one
	defer func() {
		if n > 0 {
			l.before = ""
		}
	}()
	begin, dash, sign, bar, bracket := 0, -1, -1, -1, -1 // of a line, and the last of it
	for i, c := range text {
		switch plainBytes[c] {
		case ofText:
		case ofQuote:
			return n
		case ofDash:
			if bytes.HasSuffix(text[begin:i+1], []byte("----")) {
				return n
			}
			if i == begin || isBlank(text[i-1]) {
				dash = i
			}
		case ofSign:
			if i > begin && text[i-1] == 's' && bytes.HasPrefix(text[begin:], []byte("Private-Lines")) {
				return n
			}
			if name := bytes.TrimRight(text[begin:i], " \t\\"); len(name) > 0 && bytes.IndexByte([]byte("eEyYvV"), name[len(name)-1]) >= 0 { // as called has it
				sign = i
			}
		case ofBlock:
			bar = i
		case ofBracket:
			bracket = i
		case ofEnd:
			line := text[begin:i]
			if opened && len(line) >= leastRandom || len(line) > 0 && isBlank(line[len(line)-1]) ||
				dash >= begin && bytes.IndexAny(text[dash:i], " \t") < 0 ||
				sign >= begin && bytes.IndexAny(bytes.TrimLeft(text[sign+1:i], " \t"), " \t") < 0 && called.Match(text[begin:sign+1]) ||
				bracket >= begin && bracket == i-1 && hasNeedle(line) || len(line) > len("login x") && isLoginLine(line) ||
				bar >= begin && bytes.IndexFunc(text[bar+1:i], func(r rune) bool { return r != '+' && r != '-' && (r < '0' || r > '9') && r != ' ' && r != '\t' }) < 0 {
				return n
			}
			if opened = len(line) > 0 && bytes.IndexByte([]byte("=:\\,"), line[len(line)-1]) >= 0; !opened {
				n = i + 1
			} else if hasNeedle(line) {
				return n
			} else {
				n = begin
			}
			begin = i + 1
		}
	}
	return n
}
