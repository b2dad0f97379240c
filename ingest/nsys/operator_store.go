package nsys

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/operator"
)

// opAPI is an API call made in an operator.
type opAPI struct {
	start, end int64
	op         int32
}

// newAPIs returns one worker's list of API calls.
func (o *operators) newAPIs() *load.Blocks[opAPI] {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := &load.Blocks[opAPI]{}
	o.apis = append(o.apis, list)
	return list
}

// sumAPIs adds up the API calls by operator: those directly in it, not the driver's calls that a call of the runtime makes.
func (o *operators) sumAPIs(r *ranges) {
	var all []opAPI
	for _, list := range o.apis {
		for i := range int32(list.Len()) {
			all = append(all, *list.At(i))
		}
	}
	o.apis = nil
	slices.SortFunc(all, func(a, b opAPI) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var op int32
	var until int64
	for _, a := range all {
		if a.op != op {
			op, until = a.op, -attribute.Forever
		}
		c := &o.calls[op-1]
		from, to := max(a.start, until), min(a.end, o.end(&r.spans[c.span]))
		if to < from {
			continue
		}
		c.api, c.hasAPI, until = c.api+to-from, true, to
	}
}

// addDevice notes a piece of device work launched in a set of ranges and gives its op_id, 0 outside every operator. Several
// goroutines may call it at once.
func (o *operators) addDevice(node int32, duration int64) int32 {
	if node == attribute.NoNode || o.at[node] == 0 {
		return 0
	}
	c := &o.calls[o.at[node]-1]
	atomic.AddInt64(&c.device, duration)
	atomic.AddInt32(&c.work, 1)
	return o.firstOp + o.at[node]
}

// storeOperators stores the operators, after all API calls and device work.
func (l *loader) storeOperators(ctx context.Context) error {
	r, o := l.ranges, l.ranges.operators
	if o == nil {
		return nil
	}
	inputs := make([]operator.Inputs, len(o.sizes.List))
	for i, s := range o.sizes.List {
		inputs[i].Shapes = s
	}
	source := &operator.Source{Names: o.names.List, Inputs: inputs, Threads: o.threads, Lines: r.lines, IDs: l.ids, FirstOp: o.firstOp,
		Within: func() func(*operator.Call[operator.Op]) int32 { return o.within(r) }}
	if err := source.StoreNames(ctx, l.target); err != nil {
		return err
	}
	if _, err := source.Store(ctx, l.target, func(emit func(*operator.Call[operator.Op]) error) error { return o.sweep(r, emit) }); err != nil {
		return err
	}
	l.warnOfOperators(o)
	o.stored, o.calls, o.at, o.apis = len(o.calls), nil, nil, nil
	return nil
}

// sweep puts the operators into each other.
func (o *operators) sweep(r *ranges, emit func(*operator.Call[operator.Op]) error) error {
	s := operator.Sweep[operator.Op]{Emit: emit}
	for i := range o.calls {
		c := &o.calls[i]
		if i > 0 && c.thread != o.calls[i-1].thread {
			if err := s.End(); err != nil {
				return err
			}
		}
		span := &r.spans[c.span]
		call, err := s.Push(operator.Call[operator.Op]{Start: span.Start, End: o.end(span), Name: c.name, SelfDevice: c.device, Work: c.work,
			Of: operator.Op{Thread: c.thread, Inputs: c.sizes, Forward: c.forward, Sequence: c.sequence}})
		if err != nil {
			return err
		}
		if c.hasAPI {
			call.AddInside(c.api)
		}
	}
	return s.End()
}

// within gives, for one goroutine, the ranges that an operator was called in. Its own range is none of them.
func (o *operators) within(r *ranges) func(*operator.Call[operator.Op]) int32 {
	var line *attribute.Timeline
	thread, hint := int32(-1), 0
	return func(call *operator.Call[operator.Op]) int32 {
		if call.Of.Thread != thread {
			thread = call.Of.Thread
			line, hint = r.lines.Of(o.threads[thread].Key), 0
		}
		own, node := o.calls[call.ID-1].span, line.At(call.Start, &hint)
		for n := node; n != attribute.NoNode; n = r.lines.Parent(n) {
			if r.lines.Span(n) == own {
				node = r.lines.Parent(n)
				break
			}
		}
		if node != attribute.NoNode {
			r.lines.Mark(node)
		}
		return node
	}
}

// maxRangeText is the longest text of a range that Nsight Systems 2025.3 was seen to keep; it lost one of 65,500 bytes, and
// with its end ended the range around it.
const maxRangeText = 65000

func (l *loader) warnOfOperators(o *operators) {
	for _, proc := range slices.Sorted(maps.Keys(o.ids)) {
		if ids := o.ids[proc]; ids.sizes && ids.missing() > 0 { // without sizes no text is long
			l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: process %d lacks %d of its operators with op_id %d to %d: they began or ended outside the capture, "+
				"or their text is longer than %d bytes because they list many tensors: then Nsight Systems loses the range and ends those around it too early (capture without record_shapes)",
				l.table(nvtxTable), pidOf(proc<<24), ids.missing(), ids.first, ids.last, maxRangeText))
		}
	}
	if o.unended > 0 {
		l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: %d operators were still running at the end of the capture; their times are cut there", l.table(nvtxTable), o.unended))
	}
}
