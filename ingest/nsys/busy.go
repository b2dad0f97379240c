package nsys

import (
	"cmp"
	"slices"
)

// opKind tells device work apart in the sums of a range.
type opKind uint8

const (
	kernelOp opKind = iota
	memOp
	graphOp
)

// op is one piece of device work launched inside a range, as the range sums need it.
type op struct {
	start, end int64
	node       int32
	device     int16
	kind       opKind
}

// opList keeps the work that one worker saw, in blocks so that growing copies nothing.
type opList struct{ blocks [][]op }

const opBlock = 1 << 15

func (l *opList) add(o op) {
	n := len(l.blocks)
	if n == 0 || len(l.blocks[n-1]) == opBlock {
		l.blocks = append(l.blocks, make([]op, 0, opBlock))
		n++
	}
	l.blocks[n-1] = append(l.blocks[n-1], o)
}

// sortByStart orders the list; exports are in this order already, so it mostly only looks.
func (l *opList) sortByStart() {
	sorted, last := true, -forever
	for _, b := range l.blocks {
		for i := range b {
			if b[i].start < last {
				sorted = false
			}
			last = b[i].start
		}
	}
	if sorted {
		return
	}
	all := slices.Concat(l.blocks...)
	slices.SortStableFunc(all, func(a, b op) int { return cmp.Compare(a.start, b.start) })
	l.blocks = [][]op{all}
}

// rangeDevice is the work of one range on one device; see the table range_device.
type rangeDevice struct {
	span                int32
	next                int32 // the same range on another device; -1 none
	device              int16
	first, last         int64
	busy, sum           int64
	kernelSum           int64
	kernels, mems, reps int64
}

// rangeSums adds up device work by range, nested ranges included.
type rangeSums struct {
	rows  []rangeDevice
	first []int32 // by span: its first row, -1 none
}

// sumRanges visits the work of all lists in the order of its start and adds each piece to all ranges open at its launch.
// Time already covered by earlier work of the same range and device is not added to busy again.
func sumRanges(lists []*opList, t *timelines, spans int) *rangeSums {
	s := &rangeSums{first: make([]int32, spans)}
	for i := range s.first {
		s.first[i] = -1
	}
	m := newMerge(lists)
	for o := m.next(); o != nil; o = m.next() {
		for n := o.node; n != noNode; n = t.nodes[n].parent {
			s.row(t.nodes[n].span, o.device).add(o)
		}
	}
	return s
}

func (s *rangeSums) row(span int32, device int16) *rangeDevice {
	for i := s.first[span]; i >= 0; i = s.rows[i].next {
		if s.rows[i].device == device {
			return &s.rows[i]
		}
	}
	s.rows = append(s.rows, rangeDevice{span: span, next: s.first[span], device: device, first: forever, last: -forever})
	s.first[span] = int32(len(s.rows) - 1)
	return &s.rows[len(s.rows)-1]
}

func (r *rangeDevice) add(o *op) {
	if o.start < r.first {
		r.first = o.start
	}
	if o.start >= r.last {
		r.busy += o.end - o.start
	} else if o.end > r.last {
		r.busy += o.end - r.last
	}
	if o.end > r.last {
		r.last = o.end
	}
	r.sum += o.end - o.start
	switch o.kind {
	case kernelOp:
		r.kernelSum += o.end - o.start
		r.kernels++
	case memOp:
		r.mems++
	case graphOp:
		r.reps++
	}
}

// merge reads several sorted lists as one.
type merge struct{ heads []*opCursor }

type opCursor struct {
	blocks [][]op
	b, i   int
}

func (c *opCursor) head() *op {
	if c.b == len(c.blocks) {
		return nil
	}
	return &c.blocks[c.b][c.i]
}

func (c *opCursor) step() {
	if c.i++; c.i == len(c.blocks[c.b]) {
		c.b, c.i = c.b+1, 0
	}
}

func newMerge(lists []*opList) *merge {
	m := &merge{}
	for _, l := range lists {
		if l.sortByStart(); len(l.blocks) > 0 {
			m.heads = append(m.heads, &opCursor{blocks: l.blocks})
		}
	}
	return m
}

func (m *merge) next() *op {
	var best *opCursor
	var o *op
	for _, c := range m.heads {
		if h := c.head(); h != nil && (o == nil || h.start < o.start) {
			best, o = c, h
		}
	}
	if best != nil {
		best.step()
	}
	return o
}
