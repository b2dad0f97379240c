// Package trace reads the Chrome-trace JSON that the PyTorch profiler writes (torch.profiler's export_chrome_trace, through
// Kineto) as a stream of events. It holds one window of the file, whatever the file's size.
//
// The format is Chrome's Trace Event Format with Kineto's categories and args: see ChromeTraceLogger in Kineto's
// output_json.cpp. Times in it are microseconds with three decimals, which are kept exactly.
package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"prof/internal/file"
)

// ErrTruncated is wrapped by Next's error where the file ends before the trace does.
var ErrTruncated = errors.New("the trace ends before it is complete")

// ErrSyntax is wrapped by Next's error for what is no JSON or no trace.
var ErrSyntax = errors.New("not a trace")

const (
	windowSize = 1 << 16  // at first; it grows with what must fit
	maxValue   = 64 << 20 // a single event or member that needs more is refused
)

// Reader reads a trace.
type Reader struct {
	// Several reports whether more documents may follow the first, as in traces of Proton: the events of all are one trace.
	Several bool

	src    io.Reader
	ahead  *blocks // src, where its events are parsed ahead; else nil
	parsed []Event // of these, what was not yet given
	buf    []byte
	r, w   int   // what is not yet read is buf[r:w]
	base   int64 // offset of buf[0] in the file
	eof    bool
	srcErr error // why src ended, unless well

	p      parser
	state  state
	event  Event
	first  bool // no element or member was read yet
	array  bool // the file is an array of events
	events int64
	torn   Torn
	mended bool // the piece just read was no event
	header Header
}

// Torn are events that are no JSON, as where PyTorch does not escape a quote in a name (pytorch#113001). They are left out.
type Torn struct {
	Events int64  // at least: where it is no JSON, there may be more
	Bytes  int64  // of all of them
	Offset int64  // of the first of them
	Why    string // what is wrong with it
}

type state uint8

const (
	atStart state = iota
	inObject
	inEvents
	atEnd
)

// NewReader reads a trace from unpacked JSON.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, windowSize+1)}
}

// NewParallel does the same, but parses the events in so many goroutines, which Close ends, in blocks of so many bytes. What it gives
// does not depend on either.
func NewParallel(src io.Reader, workers, size int) *Reader {
	b := newBlocks(src, workers, size)
	return &Reader{src: b, ahead: b, buf: make([]byte, min(size, windowSize)+1)}
}

// Close ends the reading. It does not close the source.
func (r *Reader) Close() {
	if r.ahead != nil {
		r.ahead.stop()
	}
}

// Header is what the trace says outside its events. It is complete after Next's end.
func (r *Reader) Header() *Header { return &r.header }

// Torn is what was left out up to now for being no JSON.
func (r *Reader) Torn() Torn { return r.torn }

// Events is how many events were read.
func (r *Reader) Events() int64 { return r.events }

// Next returns the next event, good until the next call; io.EOF ends the trace. Other errors wrap ErrTruncated, ErrSyntax or what the
// source gave, and name the byte.
func (r *Reader) Next() (*Event, error) {
	for {
		if len(r.parsed) > 0 {
			e := &r.parsed[0]
			r.parsed = r.parsed[1:]
			r.events++
			return e, nil
		}
		r.buf[r.w] = 0
		p := &r.p
		*p = parser{b: r.buf[:r.w+1], i: r.r}
		was := r.state
		if r.piece(p) {
			r.r = p.i
			if was == atEnd && r.state == atEnd {
				return nil, io.EOF
			}
			if was == inEvents && r.state == inEvents && !r.mended {
				return &r.event, nil
			}
			r.mended = false
			continue
		}
		if !p.short {
			return nil, fmt.Errorf("at byte %d: %w: %s", r.base+int64(p.i), ErrSyntax, p.err)
		}
		// The window ended inside the piece: once more with more of the file.
		if r.eof {
			return nil, r.ended()
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// piece reads what comes next: an event, or what stands around them.
func (r *Reader) piece(p *parser) bool {
	switch r.state {
	case atStart:
		return r.start(p)
	case inObject:
		return r.objectMember(p)
	case inEvents:
		return r.element(p)
	}
	return r.rest(p)
}

// ended is the error for a file that ends inside a value.
func (r *Reader) ended() error {
	at := r.base + int64(r.w)
	switch {
	case r.srcErr != nil && !errors.Is(r.srcErr, io.ErrUnexpectedEOF): // that one is a packed file which was cut
		return fmt.Errorf("at byte %d: %w", at, r.srcErr)
	case r.state == atStart:
		return fmt.Errorf("at byte %d: %w: it is empty", at, ErrSyntax)
	}
	return fmt.Errorf("at byte %d: %w", at, ErrTruncated)
}

// fill moves what is not yet read to the window's start and reads more behind it. What has no end in the whole window is read again from its start after
// that: the window must double each time.
func (r *Reader) fill() error {
	endless := r.r == 0 && r.w > 0
	if r.r > 0 {
		copy(r.buf, r.buf[r.r:r.w])
		r.base, r.w, r.r = r.base+int64(r.r), r.w-r.r, 0
	}
	if r.ahead != nil && r.ahead.now == nil {
		r.ahead.advance()
		if now := r.ahead.now; r.state != inEvents || r.first || r.w > 0 {
			now.used = 0 // it does not begin behind an event, or it is the first one
		} else {
			r.parsed = now.events
			r.base += int64(now.used)
		}
		if !endless {
			return nil
		}
	}
	if r.w == len(r.buf)-1 {
		if len(r.buf) > maxValue {
			return fmt.Errorf("at byte %d: %w: a single value takes more than %d MiB", r.base, ErrSyntax, maxValue>>20)
		}
		bigger := make([]byte, 2*(len(r.buf)-1)+1)
		copy(bigger, r.buf[:r.w])
		r.buf = bigger
	}
	for r.w < len(r.buf)-1 {
		n, err := r.src.Read(r.buf[r.w : len(r.buf)-1])
		r.w += n
		if err != nil {
			r.eof = true
			if err != io.EOF {
				r.srcErr = err
			}
			break
		}
		if r.ahead != nil && r.ahead.now == nil {
			if !endless {
				break // what was parsed of the next block is good where the window ends with this one
			}
			r.ahead.advance()
			r.ahead.now.used = 0
		}
	}
	return nil
}

func (r *Reader) start(p *parser) bool {
	if r.base == 0 && p.i == 0 && bytes.HasPrefix(p.b, []byte(file.Mark)) {
		p.i = len(file.Mark)
	}
	switch p.space() {
	case '{':
		r.state = inObject
	case '[':
		r.state, r.array = inEvents, true
	default:
		return p.fail("a trace begins with { or [")
	}
	p.i++
	r.first = true
	return true
}

func (r *Reader) element(p *parser) bool {
	more, ok := p.element(r.first)
	if !ok {
		return false
	}
	if !more {
		r.first = false
		r.state = inObject
		if r.array {
			r.state = atEnd
		}
		return true
	}
	at := r.base + int64(p.i)
	if !p.event(&r.event, r.base) {
		return r.mend(p, at)
	}
	r.first = false
	r.events++
	return true
}

// mend goes on behind an event that is no JSON: where the next one seems to begin.
func (r *Reader) mend(p *parser, at int64) bool {
	if p.short || !p.torn {
		return false
	}
	end := nextBorder(p.b[p.i : len(p.b)-1])
	if end < 0 {
		p.short = !r.eof
		return false
	}
	if r.torn.Events++; r.torn.Events == 1 {
		r.torn.Offset, r.torn.Why = at, fmt.Sprintf("%s, at byte %d", p.err, r.base+int64(p.i))
	}
	p.i += end
	r.torn.Bytes += r.base + int64(p.i) - at
	p.err, p.torn, r.first, r.mended = "", false, false, true
	return true
}

// eventKeys begin events, by the tools that write them.
var eventKeys = [][]byte{[]byte(`"ph"`), []byte(`"name"`), []byte(`"cat"`), []byte(`"pid"`), []byte(`"tid"`), []byte(`"ts"`)}

// nextBorder returns the place behind the first object that another one follows which looks like an event; -1 for none.
func nextBorder(b []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '}')
		if i < 0 {
			return -1
		}
		end := from + i + 1
		next, isComma := bytes.CutPrefix(bytes.TrimLeft(b[end:], " \t\r\n"), []byte(","))
		next, isObject := bytes.CutPrefix(bytes.TrimLeft(next, " \t\r\n"), []byte("{"))
		next = bytes.TrimLeft(next, " \t\r\n")
		if isComma && isObject && slices.ContainsFunc(eventKeys, func(key []byte) bool { return bytes.HasPrefix(next, key) }) {
			return end
		}
		from = end
	}
}

func (r *Reader) objectMember(p *parser) bool {
	key, more, ok := p.member(r.first)
	if !ok {
		return false
	}
	if !more {
		r.state = atEnd
		return true
	}
	if string(key) == "traceEvents" {
		if p.b[p.i] != '[' {
			return p.fail("traceEvents must be an array")
		}
		p.i++
		r.state, r.first = inEvents, true
		r.header.HasEvents = true
		return true
	}
	name := string(key)
	at := p.i
	p.odd = false
	raw, ok := p.skip()
	if !ok {
		return false
	}
	if p.i >= len(p.b)-1 && !r.eof { // a number may go on
		p.short = true
		return false
	}
	if p.odd {
		r.header.Odd = append(r.header.Odd, name)
	} else if what := r.header.set(name, raw); what != "" {
		p.i = at
		return p.fail(what)
	}
	r.first = false
	return true
}

// rest sees that nothing follows, but for another document where several may.
func (r *Reader) rest(p *parser) bool {
	if next := p.space(); r.Several && next == '{' {
		r.state = atStart
		return true
	}
	if p.i < len(p.b)-1 {
		return p.fail("more data follows the end of the trace")
	}
	if !r.eof {
		p.short = true
		return false
	}
	if r.srcErr != nil {
		p.short = true
		return false
	}
	return true
}
