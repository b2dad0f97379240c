package attribute

import (
	"cmp"
	"maps"
	"slices"
)

// Unseen is time at the beginning of a capture in which a GPU did work that the capture does not have, between the little that it has from
// before and the work that waited for it.
type Unseen struct {
	Device     int32
	Start, End int64
	launch     int32 // of the work that waited
}

// unseen finds such time. Work was launched, its stream has nothing before it, and no GPU runs anything, yet it does not start for HostStretch
// and longer: it is behind work from before the capture. That is so at the beginning alone: the thread has not waited for its GPU yet,
// and the wait is longer than all that the GPU is known to have done before. Where nothing is known before it, spans begin behind it anyway.
func (s *Source) unseen(h *host) map[int32]Unseen {
	heads := map[int]Work{}
	for _, l := range s.Work {
		for stream, w := range l.heads {
			if o, known := heads[stream]; w.Start < Forever && (!known || w.before(&o) < 0) {
				heads[stream] = w
			}
		}
	}
	waiting := map[Work]bool{}
	last := -Forever
	for _, w := range heads {
		if w.Launch == NoLaunch {
			continue
		}
		if c := s.Caller(w.Launch); w.Start-c.End >= h.stretch && !h.walk(c.Thread).hasWaited(c.Start) {
			waiting[w] = true
			last = max(last, w.Start)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	type walk struct{ first, end int64 }
	out, devices, labels, everywhere := map[int32]Unseen{}, map[int32]walk{}, s.Labels.All(), -Forever
	m := newMerge(s.Work)
	for o := m.next(); o != nil && o.Start <= last; o = m.next() {
		device := labels[o.Label].Device
		d, known := devices[device]
		if !known {
			d = walk{o.Start, -Forever}
		}
		if known && waiting[*o] {
			from := max(everywhere, s.Caller(o.Launch).End)
			if o.Start-from >= h.stretch && o.Start-from > d.end-d.first {
				out[device] = Unseen{device, d.end, o.Start, o.Launch}
			}
		}
		d.end, everywhere = max(d.end, o.End), max(everywhere, o.End)
		devices[device] = d
	}
	return out
}

// hasWaited reports whether a call that waits for the device has returned by t.
func (w *callWalk) hasWaited(t int64) bool {
	for _, b := range w.blocks {
		for i := range b.n {
			start, end, kind := b.at(i)
			if start >= t {
				return false
			}
			if kind == WaitCall && end <= t {
				return true
			}
		}
	}
	return false
}

// begin lets the spans that hold unseen work begin behind it. Their sums and counts still are of all work.
func (s *Sums) begin(source Source, unseen map[int32]Unseen) {
	if len(unseen) == 0 {
		return
	}
	until := slices.MaxFunc(slices.Collect(maps.Values(unseen)), func(a, b Unseen) int { return cmp.Compare(a.End, b.End) }).End
	before := sumRanges(source, int(s.spans), until, func(device int32, start int64) bool {
		u, known := unseen[device]
		return known && start < u.End
	})
	for i := range before.rows {
		b := &before.rows[i]
		r := s.find(b)
		if cut := unseen[b.device].End; r.last > cut {
			r.first = cut
			r.busy -= b.busy
			r.kernel.ns -= b.kernel.ns
			r.traced.ns -= b.traced.ns
		}
	}
}

// find returns the row of the same range and device.
func (s *Sums) find(r *rangeDevice) *rangeDevice {
	if s.isWhole(r) {
		return s.all(r.device)
	}
	return s.row(r.span, r.device)
}
