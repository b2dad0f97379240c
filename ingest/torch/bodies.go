package torch

import (
	"prof/ingest/attribute"
	"prof/ingest/torch/trace"
)

// body is device work of a graph that names no launch: of a conditional node.
type body struct {
	exec  attribute.Exec
	memop bool
	at    int32 // among the kernels, or the copies and fills
}

// execOf returns the executable graph of device work. Kineto writes CUPTI's number of the node, whose upper half it is; PyTorch's own exporter writes the
// lower half alone, and the graph beside it.
func execOf(e *trace.Event) (exec attribute.Exec, ok bool) {
	node, _ := e.Int(trace.GraphNodeID)
	id := node >> 32
	if id == 0 {
		if id, ok = e.Int(trace.GraphID); !ok {
			return exec, false
		}
	}
	return attribute.Exec{Process: e.PID, ID: id}, id > 0
}

// graphed notes device work of a graph, the at-th of its kind.
func (c *collector) graphed(e *trace.Event, w *work, memop bool, at int) {
	if e.Has&(trace.GraphID|trace.GraphNodeID) == 0 {
		return
	}
	exec, ok := execOf(e)
	switch {
	case !ok:
	case w.correlation > 0:
		c.execs.Add(exec, w.correlation, w.start, w.start+w.duration)
	case w.correlation == 0:
		c.bodies = append(c.bodies, body{exec, memop, int32(at)})
	}
}

// placeBodies gives bodies of conditional nodes the correlation id of the launch of their graph that they run in, and none where that is not known.
func (l *linked) placeBodies() {
	if len(l.bodies) == 0 {
		return
	}
	called := map[int64]int64{}
	for _, th := range l.of {
		for r := th.apis.rows(); r.next(); {
			if id := r.row[colCorrelation]; id > 0 {
				if at, ok := called[id]; !ok || r.row[0] < at {
					called[id] = r.row[0]
				}
			}
		}
	}
	l.execs.Settle(func(_ attribute.Exec, correlation int64) (int32, int64, bool) {
		at, ok := called[correlation]
		return attribute.NoLaunch, at, ok
	})
	for _, b := range l.bodies {
		of := &l.kernels
		if b.memop {
			of = &l.memops
		}
		w := of.At(b.at)
		if launch := l.execs.Of(b.exec, w.start); launch != nil {
			w.correlation = launch.Correlation
		} else {
			w.correlation = absent
			l.unplaced++
		}
	}
	l.bodies = nil
}
