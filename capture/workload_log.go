package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"prof/internal/file"
	"prof/internal/mask"
)

// Bounds of a workload's log, in bytes.
const (
	maxLogEnd  = 512 << 10 // of its beginning, and of its end
	maxLogLine = 64 << 10  // of a line that is looked at
	maxLogShow = 8 << 10   // of a line that is kept
)

// workloadLog keeps what a workload writes in a pass, line by line, secrets masked: the beginning as it comes, so that it is there when prof is
// killed, and the end when the pass is over.
type workloadLog struct {
	path string
	mask func(string) string

	mu        sync.Mutex
	file      *os.File
	written   int       // bytes of the beginning
	tail      []rawLine // lines behind it, which are masked when it is known which are kept
	tailBytes int
	cutLines  int // between the two
	cutBytes  int
	closed    bool
	err       error
}

// rawLine is a line without what only earlier ones say is secret, of which more bytes were dropped.
type rawLine struct {
	text    string
	more    int
	written int  // bytes, with its end
	many    bool // it is several lines, each with its end, that are as they were written
}

// size is what it counts for of the end that is kept.
func (r rawLine) size() int {
	if r.many {
		return len(r.text)
	}
	return len(r.text) + len("\n")
}

func newWorkloadLog(path string, masking func(string) string) (*workloadLog, error) {
	f, err := file.Create(path)
	if err != nil {
		return nil, err
	}
	return &workloadLog{path: path, mask: masking, file: f}, nil
}

// escapeSequence moves the cursor of a terminal or changes a colour.
var escapeSequence = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]`)

// shown is a line as it is kept.
func (l *workloadLog) shown(raw rawLine) string {
	if raw.many {
		var out strings.Builder
		for line := range strings.Lines(raw.text) {
			out.WriteString(l.shown(rawLine{text: strings.TrimSuffix(line, "\n")}))
		}
		return out.String()
	}
	line := harmless(l.mask(raw.text))
	if len(line) > maxLogShow || raw.more > 0 {
		begin := strings.ToValidUTF8(line[:min(len(line), maxLogShow)], "")
		line = fmt.Sprintf("%s [... %d bytes more]", begin, len(line)-len(begin)+raw.more)
	}
	return line + "\n"
}

// add adds a line.
func (l *workloadLog) add(raw rawLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if len(l.tail) == 0 && l.cutLines == 0 {
		if line := l.shown(raw); l.written+len(line) <= maxLogEnd {
			l.written += len(line)
			l.write(line)
			return
		}
	}
	l.keepEnd(raw)
}

// addLines adds lines that are as they were written.
func (l *workloadLog) addLines(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	var begin strings.Builder
	for len(text) > 0 && len(l.tail) == 0 && l.cutLines == 0 {
		at := strings.IndexByte(text, '\n')
		line := l.shown(rawLine{text: text[:at]})
		if l.written+len(line) > maxLogEnd {
			break
		}
		l.written += len(line)
		begin.WriteString(line)
		text = text[at+1:]
	}
	l.write(begin.String())
	if text != "" {
		l.keepEnd(rawLine{text: text, many: true})
	}
}

// keepEnd adds to the end, and drops the first lines of what is too much.
func (l *workloadLog) keepEnd(raw rawLine) {
	l.tail, l.tailBytes = append(l.tail, raw), l.tailBytes+raw.size()
	for l.tailBytes > maxLogEnd {
		first := &l.tail[0]
		lines, size, written := 1, first.size(), first.written
		if first.many {
			if beyond := l.tailBytes - maxLogEnd; beyond < size { // so many whole lines
				size = beyond + strings.IndexByte(first.text[beyond-1:], '\n')
			}
			lines, written = strings.Count(first.text[:size], "\n"), size
		}
		l.cutLines, l.cutBytes, l.tailBytes = l.cutLines+lines, l.cutBytes+written, l.tailBytes-size
		if size < first.size() {
			first.text = first.text[size:]
		} else {
			l.tail = l.tail[1:]
		}
	}
}

func (l *workloadLog) write(text string) {
	if l.err == nil && text != "" {
		_, l.err = l.file.WriteString(text)
	}
}

// close writes the end. Lines that come later are dropped. isEmpty says that there were none; then there is no file.
func (l *workloadLog) close() (isEmpty bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.cutLines > 0 {
		l.write(fmt.Sprintf("[... %d lines with %d bytes are not kept ...]\n", l.cutLines, l.cutBytes))
	}
	for _, raw := range l.tail {
		l.write(l.shown(raw))
	}
	err = errors.Join(l.err, l.file.Close())
	if l.written == 0 && len(l.tail) == 0 {
		return true, errors.Join(err, os.Remove(l.path))
	}
	return false, err
}

// harmless writes out what could move a cursor or reorder a line.
func harmless(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, s[0])
		case r == '\t' || unicode.IsGraphic(r):
			out.WriteString(s[:size])
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		s = s[size:]
	}
	return out.String()
}

// logLines makes lines for a log out of what comes from one stream. Of a line that is written over and over, as by a progress bar, the last state
// counts.
type logLines struct {
	log      *workloadLog
	masking  mask.Lines
	line     []byte
	more     int  // bytes of the line beyond maxLogLine
	returned bool // to the beginning of the line
}

func (l *logLines) add(text []byte) {
	for len(text) > 0 {
		if len(l.line) == 0 && l.more == 0 && !l.returned {
			if n := l.masking.Plain(text[:min(len(text), maxLogLine)]); n > 0 {
				l.log.addLines(string(text[:n]))
				text = text[n:]
				continue
			}
		}
		at := bytes.IndexAny(text, "\r\n")
		part := text
		if at >= 0 {
			part = text[:at]
		}
		if len(part) > 0 && l.returned {
			l.masked() // it is not kept, but a key may begin in it
			l.line, l.more, l.returned = l.line[:0], 0, false
		}
		room := min(maxLogLine-len(l.line), len(part))
		l.line, l.more = append(l.line, part[:room]...), l.more+len(part)-room
		switch {
		case at < 0:
			return
		case text[at] == '\n':
			l.end()
		default:
			l.returned = true
		}
		text = text[at+1:]
	}
}

// end ends a line.
func (l *logLines) end() {
	l.log.add(rawLine{text: l.masked(), more: l.more, written: len(l.line) + l.more + 1})
	l.line, l.more, l.returned = l.line[:0], 0, false
}

// masked is the line, colours left out, without what only earlier ones say is secret.
func (l *logLines) masked() string {
	line := string(l.line)
	if strings.Contains(line, "\x1b") {
		line = escapeSequence.ReplaceAllString(line, "")
	}
	line = l.masking.Line(line)
	if l.more > 0 {
		l.masking.Lost()
	}
	return line
}

// close ends a line without an end.
func (l *logLines) close() {
	if len(l.line) > 0 {
		l.end()
	}
}
