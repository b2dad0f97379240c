package attribute

import "math"

// rangeDevice is the work of one range on one device; see the table range_device.
type rangeDevice struct {
	span                int32
	next                int32 // the same range on another device; -1 none
	device              int32
	first, last         int64
	busy, sum           int64
	kernelSum           int64
	kernel, traced      union // while kernels ran; while kernels or replays traced as a whole did
	kernels, mems, reps int64
}

// union is the time that some intervals cover, which come in the order of their starts.
type union struct{ ns, end int64 }

func (u *union) add(start, end int64) {
	if start = max(start, u.end); end > start {
		u.ns += end - start
		u.end = end
	}
}

// Sums are the sums of device work by range, nested ranges included, and those of all device work.
type Sums struct {
	rows   []rangeDevice
	first  []int32         // by span: its first row, -1 none
	whole  map[int32]int32 // by device: the row of all work of the source
	spans  int32
	faults map[faultKey]*faultSum
}

// SumRanges visits the work of a source in the order of its start and adds each piece to all ranges open at its launch, and to the whole. spans
// counts the ranges that its timelines were built from. Time already covered by earlier work of the same range and device is not added to
// busy again.
func SumRanges(s Source, spans int) *Sums {
	return sumRanges(s, spans, Forever, nil)
}

// sumRanges is SumRanges for work that starts before a time, and of that what counts says; nil for all.
func sumRanges(s Source, spans int, until int64, counts func(device int32, start int64) bool) *Sums {
	sums := &Sums{first: make([]int32, spans), whole: map[int32]int32{}, spans: int32(spans)}
	for i := range sums.first {
		sums.first[i] = -1
	}
	m, labels, nodes := newMerge(s.Work), s.Labels.All(), s.Lines.nodes
	var checks *checks
	if counts == nil {
		checks = newChecks(&s)
	}
	for o := m.next(); o != nil && o.Start < until; o = m.next() {
		l := &labels[o.Label]
		if counts != nil && !counts(l.Device, o.Start) {
			continue
		}
		sums.all(l.Device).add(o, l.Kind)
		by := Caller{Node: NoNode}
		if o.Launch != NoLaunch {
			by = s.Caller(o.Launch)
		}
		for n := by.Node; n != NoNode; n = nodes[n].parent {
			sums.row(nodes[n].span, l.Device).add(o, l.Kind)
		}
		if checks != nil {
			checks.look(o, l, by)
		}
	}
	if checks != nil {
		sums.faults = checks.settle()
	}
	return sums
}

func (s *Sums) row(span int32, device int32) *rangeDevice {
	for i := s.first[span]; i >= 0; i = s.rows[i].next {
		if s.rows[i].device == device {
			return &s.rows[i]
		}
	}
	s.first[span] = s.make(span, s.first[span], device)
	return &s.rows[s.first[span]]
}

// opens are those of the ranges that the work after a gap was launched in whose work on the device begins with it: the gap lies before their span. Bit 0 is
// the outermost of them; those at a depth beyond 63 are left out.
func (s *Sums) opens(g *gap, lines *Timelines) (mask int64) {
	for n := g.node; n != NoNode; n = lines.Parent(n) {
		if mask = mask << 1 & math.MaxInt64; s.row(lines.Span(n), g.device).first == g.end {
			mask |= 1
		}
	}
	return mask
}

// all returns the row of all work of the source on a device.
func (s *Sums) all(device int32) *rangeDevice {
	i, ok := s.whole[device]
	if !ok {
		i = s.make(s.spans, -1, device)
		s.whole[device] = i
	}
	return &s.rows[i]
}

func (s *Sums) make(span, next, device int32) int32 {
	s.rows = append(s.rows, rangeDevice{span: span, next: next, device: device, first: Forever, last: -Forever,
		kernel: union{end: -Forever}, traced: union{end: -Forever}})
	return int32(len(s.rows) - 1)
}

func (r *rangeDevice) add(o *Work, kind WorkKind) {
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
	switch kind {
	case Kernel:
		r.kernel.add(o.Start, o.End)
		r.traced.add(o.Start, o.End)
		r.kernelSum += o.End - o.Start
		r.kernels++
	case Memop:
		r.mems++
	case Graph:
		r.traced.add(o.Start, o.End)
		r.reps++
	}
}

// isWhole reports whether a row is of all work of the source.
func (s *Sums) isWhole(r *rangeDevice) bool { return r.span == s.spans }
