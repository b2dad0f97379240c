package torch

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"prof/ingest/torch/trace"
)

// collector takes a trace's events into records.
type collector struct {
	records
	lastLabel   string
	lastPart    *part
	key         []byte
	hasMemory   bool
	hasOperator bool
	texted      int64 // events of known categories whose process is a text
}

func newCollector() *collector {
	return &collector{records: records{configs: map[config]int32{}, rangeIDs: map[int64]bool{}, forward: map[int64]flow{}, grads: map[int64]flow{},
		processNames: map[int64]string{}, threadNames: map[[2]int64]string{}, first: math.MaxInt64, end: math.MinInt64, span: [2]int64{math.MaxInt64, math.MinInt64}, counts: map[string]*part{}}}
}

// read takes all events. A trace that ends too early gives what it holds, and truncated says why.
func (c *collector) read(r *trace.Reader, each func(events int64) error) (truncated error, err error) {
	var e trace.Event
	for {
		switch err := r.Next(&e); {
		case err == io.EOF:
			return nil, nil
		case errors.Is(err, trace.ErrTruncated):
			return err, nil
		case err != nil:
			return nil, err
		}
		if r.Events()&0xFFFF == 0 {
			if err := each(r.Events()); err != nil {
				return nil, err
			}
		}
		if err := c.event(&e); err != nil {
			return nil, fmt.Errorf("at byte %d: %w: %w", e.Offset, trace.ErrSyntax, err)
		}
	}
}

// event takes one event.
func (c *collector) event(e *trace.Event) error {
	if e.Phase == 'M' {
		return c.metadata(e)
	}
	if string(e.Label) != c.lastLabel || c.lastPart == nil {
		c.lastLabel = string(e.Label)
		c.lastPart = c.part(strings.ToValidUTF8(c.lastLabel, "\uFFFD"))
	}
	p := c.lastPart
	p.read++
	if e.Category == trace.Span {
		c.span = [2]int64{min(c.span[0], e.Start), max(c.span[1], e.Start+e.Duration)}
		p.reason = "the profiler's own track gives the capture's start and length"
		return nil
	}
	if e.Category == trace.Other || e.Category == trace.AsyncCPUGPU || e.Category == trace.GPUUserAnnotation {
		p.reason = unread[e.Category]
		return nil
	}
	if e.NoPID {
		c.texted++
		p.reason = "events whose process is a text cannot be placed"
		return nil
	}
	switch e.Category {
	case trace.ForwardBackward:
		p.reason = "kept with the operators"
		return c.flow(e)
	case trace.CPUInstant:
		return c.instant(e, p)
	}
	if e.Has&trace.StartTime == 0 || e.Has&trace.DurationTime == 0 || e.Duration < 0 || e.Duration > maxDuration || e.Start > maxTime || e.Start < -maxTime {
		p.reason = "some events have no start, or no duration that can be"
		return nil
	}
	c.first, c.end = min(c.first, e.Start), max(c.end, e.Start+e.Duration)
	p.stored++
	return c.interval(e)
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
}

func (c *collector) interval(e *trace.Event) error {
	switch e.Category {
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
		c.operator(e, c.of[thread])
	case trace.UserAnnotation:
		if id, ok := e.Int(trace.ExternalID); ok {
			c.rangeIDs[id] = true
		}
		c.ranges = append(c.ranges, annotation{start: e.Start, end: e.Start + e.Duration, thread: thread, name: c.rgNames.of(e.Name)})
	case trace.PythonFunction:
		c.of[thread].python.add(e.Start, e.Duration, int64(c.pyNames.of(e.Name)))
	case trace.Runtime, trace.Driver:
		c.of[thread].apis.add(e.Start, e.Duration, int64(c.apiNames.of(e.Name)), integer(e, trace.Correlation))
	}
	return nil
}

// thread numbers the event's thread.
func (c *collector) thread(e *trace.Event) (int32, error) {
	if len(c.threads.list) == maxThreads {
		return 0, fmt.Errorf("it has more than %d threads", maxThreads)
	}
	if int64(int32(e.PID)) != e.PID || int64(int32(e.TID)) != e.TID {
		return 0, fmt.Errorf("pid %d and tid %d are out of range", e.PID, e.TID)
	}
	id := c.threads.of(e.PID, e.TID)
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
		c.key = c.key[:0]
		for _, part := range [][]byte{e.Shapes, e.Types, e.Strides, e.Concrete} {
			c.key = append(append(c.key, part...), 0)
		}
		inputs = int64(c.inputs.of(c.key))
	}
	if len(e.Stack) > 0 {
		stack = int64(c.stackID.of(e.Stack))
	}
	if s, ok := e.Int(trace.Sequence); ok && s >= 0 {
		sequence = s
	}
	t.ops.add(e.Start, e.Duration, int64(c.names.of(e.Name)), inputs, integer(e, trace.ExternalID), sequence, stack)
}

// integer gives a whole number of an event's args, absent when it has none.
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
	if e.NoPID || len(e.ArgName) == 0 {
		return nil
	}
	switch string(e.Name) {
	case "process_name":
		c.processNames[e.PID] = string(e.ArgName)
	case "thread_name":
		c.threadNames[[2]int64{e.PID, e.TID}] = string(e.ArgName)
	}
	return nil
}
