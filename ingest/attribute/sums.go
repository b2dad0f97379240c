package attribute

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

// Sums are the sums of device work by range, nested ranges included.
type Sums struct {
	rows  []rangeDevice
	first []int32 // by span: its first row, -1 none
}

// SumRanges visits the work of all lists in the order of its start and adds each piece to all ranges open at its launch. spans
// counts the ranges that t was built from. Time already covered by earlier work of the same range and device is not added to
// busy again.
func SumRanges(lists []*WorkList, t *Timelines, spans int) *Sums {
	s := &Sums{first: make([]int32, spans)}
	for i := range s.first {
		s.first[i] = -1
	}
	m := newMerge(lists)
	for o := m.next(); o != nil; o = m.next() {
		for n := o.Node; n != NoNode; n = t.nodes[n].parent {
			s.row(t.nodes[n].span, o.Device).add(o)
		}
	}
	return s
}

func (s *Sums) row(span int32, device int16) *rangeDevice {
	for i := s.first[span]; i >= 0; i = s.rows[i].next {
		if s.rows[i].device == device {
			return &s.rows[i]
		}
	}
	s.rows = append(s.rows, rangeDevice{span: span, next: s.first[span], device: device, first: Forever, last: -Forever})
	s.first[span] = int32(len(s.rows) - 1)
	return &s.rows[len(s.rows)-1]
}

func (r *rangeDevice) add(o *Work) {
	if o.Start < r.first {
		r.first = o.Start
	}
	if o.Start >= r.last {
		r.busy += o.End - o.Start
	} else if o.End > r.last {
		r.busy += o.End - r.last
	}
	if o.End > r.last {
		r.last = o.End
	}
	r.sum += o.End - o.Start
	switch o.Kind {
	case Kernel:
		r.kernelSum += o.End - o.Start
		r.kernels++
	case Memop:
		r.mems++
	case Graph:
		r.reps++
	}
}
