package torch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"prof/ingest/attribute"
	"prof/ingest/rows"
)

// capture is one stream capture: what a process launches meanwhile becomes nodes of a CUDA graph, unless it runs at once on another stream.
type capture struct {
	from, to int64
	last     int64 // when it and all before it had ended
	process  int32 // pid
	forked   bool  // a stream waited for an event
	launches []captured
}

// captured is one launch of a capture.
type captured struct {
	start, end   int64
	thread       int32
	name, kernel int32 // numbers of the function and of the kernel's name, -1 unknown
	op           int32 // ID of the operator, 0 none
	stack        int32
}

// findCaptures looks for the stream captures: each from the call that begins it to the one that ends it, on one thread.
func (l *linked) findCaptures() {
	begins, ends := make([]bool, len(l.apiNames.List)), make([]bool, len(l.apiNames.List))
	any := false
	for i, name := range l.apiNames.List {
		effect := attribute.EffectOf(name)
		begins[i], ends[i] = effect == attribute.BeginsCapture, effect == attribute.EndsCapture
		any = any || begins[i]
	}
	if !any {
		return
	}
	for k, th := range l.of {
		open := absent
		for r := th.apis.rows(); r.next(); {
			switch name := r.row[colName]; {
			case begins[name]:
				open = r.row[0] + r.row[1]
			case ends[name] && open != absent:
				l.captures = append(l.captures, capture{from: open, to: r.row[0], process: l.threads.list[k].PID})
				open = absent
			}
		}
	}
	slices.SortFunc(l.captures, func(a, b capture) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.process, b.process))
	})
	last := absent
	for i := range l.captures {
		last = max(last, l.captures[i].to)
		l.captures[i].last = last
	}
}

// capture takes a call that launched no work that ran: if its process captures a stream just then, it adds to a graph. Where several threads
// capture at once, it is not known to which, and each has it.
func (s *sweeper) capture(row []int64, op *opCall, stack int32) {
	if len(s.captures) == 0 {
		return
	}
	begun, _ := slices.BinarySearchFunc(s.captures, row[0]+1, func(c capture, at int64) int { return cmp.Compare(c.from, at) })
	for i := begun - 1; i >= 0 && s.captures[i].last > row[0]; i-- {
		if c := &s.captures[i]; c.to > row[0] && c.process == s.threads.list[s.thread].PID {
			s.add(c, row, op, stack)
		}
	}
}

// add adds a call to a capture.
func (s *sweeper) add(c *capture, row []int64, op *opCall, stack int32) {
	name, end := int32(row[colName]), row[0]+row[1]
	c.forked = c.forked || strings.Contains(s.apiNames.List[name], "StreamWaitEvent")
	if attribute.WorkOfCall(s.apiNames.List[name]) == "" {
		return
	}
	if n := len(c.launches); n > 0 && c.launches[n-1].thread == s.thread && end <= c.launches[n-1].end {
		return // a call of the driver within one of the runtime
	}
	launch := captured{start: row[0], end: end, thread: s.thread, name: name, kernel: int32(row[colKernel]), stack: stack}
	if op != nil {
		launch.op = op.ID
	}
	c.launches = append(c.launches, launch)
}

// storeCaptured stores the launches of stream captures.
func (l *loader) storeCaptured(ctx context.Context) error {
	if len(l.captures) == 0 {
		return nil
	}
	kernels := map[int32]int32{}
	_, err := l.target.Append(ctx, "captured_launch", func(add rows.Add) error {
		for i := range l.captures {
			c := &l.captures[i]
			slices.SortStableFunc(c.launches, func(a, b captured) int { return cmp.Compare(a.start, b.start) }) // of several threads
			for n, a := range c.launches {
				var kernel, op, stack any
				if a.kernel >= 0 {
					if _, ok := kernels[a.kernel]; !ok {
						kernels[a.kernel] = l.addKernel(l.launchName.List[a.kernel])
					}
					kernel = kernels[a.kernel]
				}
				if l.hasOperator {
					if op = int32(0); a.op != 0 {
						op = a.op + l.source.FirstOp
					}
				}
				if l.hasStacks() {
					stack = a.stack
				}
				if err := add(l.target.RunID, l.sourceID(), int32(i+1), int32(n+1), c.forked, c.to-l.origin, c.process, l.threads.list[a.thread].TID, a.start-l.origin, l.apiID[a.name],
					attribute.WorkOfCall(l.apiNames.List[a.name]), kernel, op, stack); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}
