package xla

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/torch/trace"
)

// event is one XEvent of a line.
type event struct {
	name                 string
	offset, length       int64 // ps
	correlation          int64 // 0: none
	copied, set, details string
}

// line is an XLine without its events.
type line struct {
	message
	id        int64
	name      string
	timestamp int64
}

// line reads what a line says beside its events.
func (s *space) line(m message) (l line, err error) {
	l.message = m
	err = s.in.each(m, func(num protowire.Number, v value) (err error) {
		switch {
		case v.is(num, lineID, number):
			l.id = int64(v.n)
		case v.is(num, lineName, bytes):
			l.name, err = s.in.text(v.message, mostLabel)
		case v.is(num, lineTimestamp, number):
			l.timestamp = int64(v.n)
		}
		return err
	})
	return l, err
}

// eachLine calls f for the lines of a plane.
func (s *space) eachLine(p *plane, f func(line) error) error {
	return s.in.each(p.message, func(num protowire.Number, v value) error {
		if !v.is(num, planeLines, bytes) {
			return nil
		}
		l, err := s.line(v.message)
		if err != nil {
			return err
		}
		return f(l)
	})
}

func (p *plane) event(m field) (e event, err error) {
	err = m.each(func(num protowire.Number, v part) error {
		switch {
		case v.is(num, eventMetadata, number):
			e.name = p.events[v.n]
		case v.is(num, eventOffset, number):
			e.offset = int64(v.n)
		case v.is(num, eventDuration, number):
			e.length = int64(v.n)
		case v.is(num, eventStats, bytes):
			s, err := p.stat(v.field)
			switch s.name {
			case "correlation_id":
				e.correlation = s.n
			case "memcpy_details":
				e.copied = s.text
			case "memset_details":
				e.set = s.text
			case "kernel_details":
				e.details = s.text
			}
			return err
		}
		return nil
	})
	return e, err
}

// maxTime is more than any time counts, and sums of it fit 64 bits.
const maxTime = math.MaxInt64 / 4

// errDone ends a walk that found what it was for.
var errDone = errors.New("done")

// base is the moment from which times count, where they do not count from 1970: that of the profile's start.
func (s *space) base() int64 {
	for i := range s.planes {
		err := s.eachLine(&s.planes[i], func(l line) error {
			if l.timestamp > 1e17 {
				return errDone
			}
			return nil
		})
		if errors.Is(err, errDone) {
			return 0
		}
	}
	return s.started
}

// events returns all events of the space in the order of the file.
func (s *space) events() iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		s.texts = 0
		give := func(e *trace.Event) error {
			if !yield(e, nil) {
				return errDone
			}
			return nil
		}
		for i := range s.planes {
			err := s.eachLine(&s.planes[i], func(l line) error { return s.lineEvents(&s.planes[i], &l, give) })
			if errors.Is(err, errDone) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// lineEvents gives the events of a line.
func (s *space) lineEvents(p *plane, l *line, give func(*trace.Event) error) error {
	gpu, isGPU := p.gpu()
	stream, isStream := streamOf(l.name)
	tid, open, label := threadOf(l), []int64(nil), p.name+" "+kindOf(l.name)
	return s.in.each(l.message, func(num protowire.Number, v value) error {
		if !v.is(num, lineEvents, bytes) || v.at == v.end { // one without a byte says nothing
			return nil
		}
		m, err := s.in.field(v.message)
		if err != nil {
			return err
		}
		e, err := p.event(m)
		if err != nil {
			return err
		}
		if s.texts += len(e.name) + len(e.copied) + len(e.set) + len(e.details); s.texts > mostTexts {
			return many(v.at, mostTexts>>30, "GiB of names in its events")
		}
		out := trace.Event{Phase: 'X', Offset: m.at, Name: []byte(e.name), TID: tid, Label: []byte(label)}
		setTime(&out, l, &e)
		switch {
		case isGPU && isStream:
			deviceWork(&out, &e, gpu, stream)
		case p.name == host:
			open = hostCall(&out, &e, open)
		case strings.HasPrefix(p.name, "/device:") && !isGPU: // as TPUs, whose lines hold operations in each other: counted, with a warning
		default: // XLA Modules, XLA Ops and the like, which XLA's tools derive from the streams
			out.Phase = 'i'
		}
		return give(&out)
	})
}

// setTime sets an event's time in whole nanoseconds, so that what follows without a gap still does.
func setTime(out *trace.Event, l *line, e *event) {
	if l.timestamp < 0 || l.timestamp > maxTime || e.offset < 0 || e.length < 0 || e.offset > maxTime || e.length > maxTime {
		return // it has none that can be
	}
	out.Has = trace.StartTime | trace.DurationTime
	out.Start = l.timestamp + e.offset/1000
	out.Duration = l.timestamp + (e.offset+e.length)/1000 - out.Start
}

var streamName = regexp.MustCompile(`^Stream #(\d+)(\(.*\))?$`)

// streamOf returns the stream whose work a line of a GPU has. Lines of other names are derived from these: XLA Ops, XLA Modules, Steps.
func streamOf(name string) (int64, bool) {
	m := streamName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	return n, err == nil
}

// kindOf is a line's name without the number of a stream or thread.
func kindOf(name string) string {
	if streamName.MatchString(name) {
		return "streams"
	}
	head, _, _ := strings.Cut(name, "/")
	return head
}

// threadOf returns the thread of a line: the number in its name where it has one, else its id.
func threadOf(l *line) int64 {
	if _, text, ok := strings.Cut(l.name, "/"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n & math.MaxInt64
		}
	}
	return l.id & math.MaxInt64
}

// copies are the words for XLA's names of copies.
var copies = map[string]string{"MemcpyH2D": "Memcpy HtoD", "MemcpyD2H": "Memcpy DtoH", "MemcpyD2D": "Memcpy DtoD", "MemcpyP2P": "Memcpy PtoP", "MemcpyH2H": "Memcpy HtoH",
	"CopyHostToDevice": "Memcpy HtoD", "CopyDeviceToHost": "Memcpy DtoH", "CopyDeviceToDevice": "Memcpy DtoD"}

// numbers in the texts of memcpy_details, memset_details and kernel_details.
var (
	copied  = regexp.MustCompile(`\b(?:num_bytes|size):(\d+)`)
	launchd = regexp.MustCompile(`\bgrid:(\d+),(\d+),(\d+) block:(\d+),(\d+),(\d+)`)
)

func deviceWork(out *trace.Event, e *event, gpu int32, stream int64) {
	out.SetInt(trace.Device, int64(gpu))
	out.SetInt(trace.Stream, stream)
	if e.correlation > 0 {
		out.SetInt(trace.Correlation, e.correlation)
	}
	details := e.copied + e.set
	switch text := copies[e.name]; {
	case text != "":
		out.Category, out.Name = trace.Memcpy, []byte(text)
	case e.copied != "" && !strings.HasSuffix(e.name, ".kd"):
		out.Category = trace.Memcpy
	case e.set != "", e.name == "Memset":
		out.Category, out.Name = trace.Memset, []byte("Memset (Device)")
	default:
		out.Category, out.Name = trace.Kernel, []byte(strings.TrimSuffix(strings.TrimSuffix(e.name, " [clone .kd]"), ".kd"))
		if m := launchd.FindStringSubmatch(e.details); m != nil {
			for d := range 3 {
				out.Grid[d], _ = strconv.ParseInt(m[1+d], 10, 64)
				out.Block[d], _ = strconv.ParseInt(m[4+d], 10, 64)
			}
			out.Has |= trace.GridSize | trace.BlockSize
		}
		return
	}
	if m := copied.FindStringSubmatch(details); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			out.SetInt(trace.Bytes, n)
		}
	}
}

// moduleMark ends the name of a call that runs an HLO module, in which those of its operations lie.
const moduleMark = ":XLA GPU module"

// operation is the name of an HLO instruction. What else XLA annotates in a module has capitals, colons or brackets.
var operation = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*$`)

// slack is how much later than the operation that makes it an API call may end: CUPTI's clock and XLA's differ by up to 0.2 us on an H200.
const slack = 1_000_000

// hostCall is what a thread did: an API call, which has a correlation id, an HLO module or operation, a function of Python, or what XLA and the program
// annotate. open has where the module that is open ends, and the operations in it, in ps; it returns those open then.
func hostCall(out *trace.Event, e *event, open []int64) []int64 {
	for len(open) > 0 && open[len(open)-1] <= e.offset {
		open = open[:len(open)-1]
	}
	isTimed := out.Has&trace.DurationTime != 0 && e.length > 0
	name, isModule := strings.CutSuffix(e.name, moduleMark)
	switch {
	case e.correlation > 0:
		out.Category = trace.Runtime
		out.SetInt(trace.Correlation, e.correlation)
		if len(open) > 0 && isTimed {
			if late := e.offset + e.length - open[len(open)-1]; late > 0 && late <= slack {
				out.Duration = max(0, out.Duration-(late+999)/1000)
			}
		}
	case isTimed && (isModule || len(open) > 0 && operation.MatchString(e.name)):
		out.Category, out.Name = trace.CPUOp, []byte(name)
		open = append(open, e.offset+e.length)
	case strings.HasPrefix(e.name, "$"):
		out.Category = trace.PythonFunction
		if place, name, ok := strings.Cut(e.name[1:], " "); ok { // $file.py:101 name, which Kineto writes file.py(101): name
			if at := strings.LastIndexByte(place, ':'); at >= 0 {
				out.Name = fmt.Appendf(nil, "%s(%s): %s", place[:at], place[at+1:], name)
			}
		}
	case e.length > 0:
		out.Category = trace.UserAnnotation
	default:
		out.Phase = 'i'
	}
	return open
}
