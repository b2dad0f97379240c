package jobs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"prof/internal/file"
	"prof/internal/mask"
)

const (
	maxLine = 16 << 10 // of the log, in bytes; more of a line is dropped
	maxKept = 60 << 10 // the same where signs that are no UTF-8 make it longer; see sendLog
	logTail = 64 << 10 // of a log that is full: so much of the end is kept too
)

// jobLog is what a job writes, line by line, without secrets: the beginning as it comes, and of what does not fit the end, when it is over.
type jobLog struct {
	mu      sync.Mutex
	file    *os.File
	size    int64 // written
	limit   int64
	tail    []string
	tailed  int // bytes of tail
	dropped int // lines
	err     error
	changed func()
}

func newLog(path string, limit int64, changed func()) (*jobLog, error) {
	f, err := file.Append(path)
	if err != nil {
		return nil, err
	}
	return &jobLog{file: f, limit: limit, changed: changed}, nil
}

// line adds a line.
func (l *jobLog) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text = text[:min(len(text), maxKept)] + "\n"
	if l.tail == nil && l.size+int64(len(text)) <= l.limit-logTail {
		l.write(text)
		return
	}
	l.tail = append(l.tail, text)
	for l.tailed += len(text); l.tailed > logTail/2; l.dropped++ {
		l.tailed -= len(l.tail[0])
		l.tail = l.tail[1:]
	}
}

// write appends to the file. That the disk is full must not stop the job: the log is cut then, and close says why.
func (l *jobLog) write(text string) {
	if l.err != nil {
		return
	}
	n, err := io.WriteString(l.file, text)
	l.size, l.err = l.size+int64(n), err
	l.changed()
}

// close writes the end.
func (l *jobLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped > 0 {
		l.write(fmt.Sprintf("[%d lines omitted: the log is full]\n", l.dropped))
	}
	for _, line := range l.tail {
		l.write(line)
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}

// lines makes lines of what is written to it.
type lines struct {
	text []byte
	more int // bytes of the line that were dropped
	mask mask.Lines
	each func(line string)
}

func (w *lines) Write(text []byte) (int, error) {
	n := len(text)
	for len(text) > 0 {
		part, rest, whole := bytes.Cut(text, []byte("\n"))
		room := min(len(part), maxLine-len(w.text))
		w.text, w.more = append(w.text, part[:room]...), w.more+len(part)-room
		if text = rest; whole {
			w.flush()
		}
	}
	return n, nil
}

// flush ends a line.
func (w *lines) flush() {
	// Of a line that was written over, as bars of progress are, the last is seen.
	var line string
	for shown := range strings.SplitSeq(strings.TrimRight(string(w.text), "\r"), "\r") {
		line = w.mask.Line(harmless(shown)) // all of them: a key may begin in one that is not seen
	}
	if w.more > 0 {
		w.mask.Lost()
		line += fmt.Sprintf(" [%d more bytes omitted]", w.more)
	}
	w.text, w.more = w.text[:0], 0
	w.each(line)
}

// end ends the last line, if it has no end.
func (w *lines) end() {
	if len(w.text) > 0 || w.more > 0 {
		w.flush()
	}
}

// escapeSequence moves the cursor of a terminal or changes a colour.
var escapeSequence = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]`)

// harmless is a line without what moves a cursor or reorders text.
func harmless(line string) string {
	line = strings.ToValidUTF8(escapeSequence.ReplaceAllString(line, ""), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			return -1
		}
		return r
	}, line)
}
