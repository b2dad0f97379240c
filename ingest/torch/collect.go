package torch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// collector takes a trace's events into records.
type collector struct {
	records
	lastLabel   string
	lastPart    *part
	start       string // what the first event is: another process's trace begins otherwise
	hasMemory   bool
	hasOperator bool
	texted      int64 // events of known categories whose thread is a text without a number
	textPIDs    map[string]int64
	parts       parts
	lastRuntime string                      // the last category of API calls
	begun       map[[2]int64][]*trace.Event // by process and thread: those whose end is not yet read
	open        int                         // their number
	merged      int64                       // events whose process is a text
}

func newCollector(b base) *collector {
	return &collector{records: records{rangeIDs: map[int64]bool{}, forward: map[int64]flow{}, grads: map[int64]flow{},
		processNames: map[int64]string{}, threadNames: map[[2]int64]string{}, first: math.MaxInt64, end: math.MinInt64, span: [2]int64{math.MaxInt64, math.MinInt64}, counts: map[string]*part{}, base: b}}
}

// read takes all events. A trace that ends too early gives what it holds, and truncated says why.
func (c *collector) read(r Events, each func(events int64) error) (truncated error, err error) {
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			c.neverEnded()
			return nil, nil
		case errors.Is(err, trace.ErrTruncated):
			c.neverEnded()
			return err, nil
		case err != nil:
			return nil, err
		}
		if c.start == "" && !IsUndated(e) {
			c.start = beginning(e)
		}
		if r.Events()&0xFFFF == 0 {
			if err := each(r.Events()); err != nil {
				return nil, err
			}
		}
		if err := c.event(e); err != nil {
			return nil, fmt.Errorf("at byte %d: %w: %w", e.Offset, trace.ErrSyntax, err)
		}
	}
}

// event takes one event.
func (c *collector) event(e *trace.Event) error {
	switch e.Phase {
	case 'M':
		return c.metadata(e)
	case 'B':
		c.begin(e)
		return nil
	case 'E':
		if e = c.ended(e); e == nil {
			return nil
		}
	}
	if string(e.Label) != c.lastLabel || c.lastPart == nil {
		c.lastLabel = string(e.Label)
		c.lastPart = c.part(strings.ToValidUTF8(c.lastLabel, "\uFFFD"))
	}
	p := c.lastPart
	p.read++
	if e.Category == trace.Span {
		if timed(e) && !IsUndated(e) {
			c.span = [2]int64{min(c.span[0], e.Start), max(c.span[1], e.Start+e.Duration)}
		}
		p.reason = "the profiler's own track: start and length of the capture"
		return nil
	}
	if why, ok := unread[e.Category]; ok {
		p.reason = why
		if e.Category == trace.Other && e.Phase == 'X' && len(e.Label) > 0 {
			p.unknown++
		}
		return nil
	}
	isText := e.NoPID
	if err := c.textPID(e); err != nil {
		return err
	}
	if isText && !e.NoPID {
		c.merged++
		c.parts.tell(e)
	}
	if e.NoPID || e.NoTID {
		c.texted++
		p.reason = "events whose process or thread is text cannot be placed"
		return nil
	}
	switch e.Category {
	case trace.ForwardBackward:
		p.reason = "stored with the operators"
		return c.flow(e)
	case trace.CPUInstant:
		return c.instant(e, p)
	}
	if e.Odd {
		p.leave(errOdd.Error())
		return nil
	}
	if !timed(e) {
		p.leave("have no start, or an impossible duration")
		return nil
	}
	if why := c.base.leaves(e); why != "" {
		p.leave(why)
		return nil
	}
	if err := c.interval(e); errors.Is(err, errOdd) {
		p.leave(err.Error())
		return nil
	} else if err != nil {
		return err
	}
	if e.Category != trace.Overhead { // which Kineto sometimes dates before everything
		c.first, c.end = min(c.first, e.Start), max(c.end, e.Start+e.Duration)
	}
	p.stored++
	return nil
}

// errOdd is wrapped by errors for numbers that are out of the range of what they stand for. One such event is left out; it is
// no reason to refuse the others.
var errOdd = errors.New("have numbers out of range")

// timed reports whether an event has a start and a length that can be.
func timed(e *trace.Event) bool {
	return e.Has&trace.StartTime != 0 && e.Has&trace.DurationTime != 0 && e.Duration >= 0 && e.Duration <= maxDuration && e.Start <= maxTime && e.Start >= -maxTime
}

// maxDuration is 104 days and maxTime 146 years, so that sums stay within 64 bits.
const (
	maxDuration = 1 << 53
	maxTime     = 1 << 62
)

var unread = map[trace.Category]string{
	trace.Other:             "not stored",
	trace.AsyncCPUGPU:       "the same as the correlation ids",
	trace.GPUUserAnnotation: "computed from the launches in each range instead",
	trace.CUDAEvent:         "records of CUDA events take no time of the GPU",
}

func (c *collector) interval(e *trace.Event) error {
	c.common(e)
	switch e.Category {
	case trace.ProfilerRange:
		return c.counters(e)
	case trace.Kernel, trace.Memcpy, trace.Memset:
		return c.work(e)
	case trace.Sync:
		return c.wait(e)
	case trace.Overhead:
		c.overhead = append(c.overhead, overhead{e.Start, e.Duration, string(e.Name)})
		return nil
	}
	thread, err := c.thread(e)
	if err != nil {
		return err
	}
	switch e.Category {
	case trace.CPUOp:
		if bytes.HasPrefix(e.Name, []byte(stepPrefix)) { // until PyTorch 1.9 steps were among the operators
			return c.annotation(e, thread)
		}
		c.operator(e, c.of[thread])
	case trace.UserAnnotation:
		return c.annotation(e, thread)
	case trace.PythonFunction:
		c.of[thread].python.add(e.Start, e.Duration, int64(c.pyNames.Of(e.Name)))
	case trace.Runtime, trace.Driver:
		kernel := int64(-1)
		if len(e.Launches) > 0 {
			kernel = int64(c.launchName.Of(e.Launches))
		}
		c.of[thread].apis.add(e.Start, e.Duration, int64(c.apiNames.Of(e.Name)), integer(e, trace.Correlation), kernel)
	}
	return nil
}

// stepPrefix begins the names of the ranges that torch.profiler's step makes.
const stepPrefix = "ProfilerStep#"

// annotation takes a record_function range.
func (c *collector) annotation(e *trace.Event, thread int32) error {
	if id, ok := e.Int(trace.ExternalID); ok {
		c.rangeIDs[id] = true
	}
	c.ranges = append(c.ranges, annotation{start: e.Start, end: e.Start + e.Duration, thread: thread, name: c.rgNames.Of(load.RangeName(e.Name))})
	return nil
}

// thread numbers the event's thread.
func (c *collector) thread(e *trace.Event) (int32, error) {
	id := c.threads.of(e.PID, e.TID)
	if id > maxThreads {
		return 0, fmt.Errorf("it has more than %d threads", maxThreads)
	}
	if int(id) == len(c.of) {
		c.of = append(c.of, &thread{memory: packed{moments: true}})
	}
	return id, nil
}

// operator takes a call of an operator.
func (c *collector) operator(e *trace.Event, t *thread) {
	c.hasOperator = true
	inputs, stack, sequence := int64(-1), int64(-1), int64(-1)
	if e.Has&trace.InputShapes != 0 {
		inputs = int64(c.inputs.of(&c.texts, e.Shapes, e.Types, e.Strides, e.Concrete))
	}
	if len(e.Stack) > 0 {
		stack = int64(c.stackID.Of(e.Stack))
	}
	if s, ok := e.Int(trace.Sequence); ok && s >= 0 {
		sequence = s
	}
	t.ops.add(e.Start, e.Duration, int64(c.names.Of(e.Name)), inputs, integer(e, trace.ExternalID), sequence, stack)
}

// integer returns a whole number of an event's args, absent when it has none.
func integer(e *trace.Event, f trace.Field) int64 {
	if v, ok := e.Int(f); ok {
		return v
	}
	return absent
}

// flow takes one end of what ties a forward operator to its backward.
func (c *collector) flow(e *trace.Event) error {
	id, ok := e.Int(trace.FlowID)
	if !ok || e.Has&trace.StartTime == 0 {
		return nil
	}
	thread, err := c.thread(e)
	if err != nil {
		return err
	}
	if e.Phase == 's' {
		c.forward[id] = flow{thread, e.Start}
	} else {
		c.grads[id] = flow{thread, e.Start}
	}
	return nil
}

// metadata takes the names of processes and threads.
func (c *collector) metadata(e *trace.Event) error {
	if err := c.textPID(e); err != nil {
		return err
	}
	if string(e.Name) == "process_labels" {
		c.labelled(e)
	}
	if e.NoPID || len(e.ArgName) == 0 {
		return nil
	}
	switch string(e.Name) {
	case "process_name":
		if len(e.PIDText) > 0 && e.PID >= firstTextPID {
			return nil // its id says more
		}
		c.processNames[e.PID] = string(e.ArgName)
	case "thread_name":
		c.threadNames[[2]int64{e.PID, e.TID}] = string(e.ArgName)
	}
	return nil
}
