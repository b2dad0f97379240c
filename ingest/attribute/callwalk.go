package attribute

import "slices"

// callWalk goes along the calls of one thread. They are in the order of time and do not overlap.
type callWalk struct {
	blocks []callBlock
	b      int
	i      int32
	busy   overlaps // the profiler on this thread
}

// seek goes to the first call that ends after t.
func (w *callWalk) seek(t int64) {
	if w.ends(t) { // the mark may be too far
		w.back(t)
	}
	for w.b < len(w.blocks) {
		b := &w.blocks[w.b]
		if _, end, _ := b.at(b.n - 1); end <= t {
			w.b, w.i = w.b+1, 0
			continue
		}
		for ; w.i < b.n; w.i++ {
			if _, end, _ := b.at(w.i); end > t {
				return
			}
		}
	}
}

// ends says whether the call before the mark ends after t, so that the mark has to go back.
func (w *callWalk) ends(t int64) bool {
	end, ok := w.before()
	return ok && end > t
}

// back goes to a block that begins before t for sure: of the last whose base does the first calls may have been left out.
func (w *callWalk) back(t int64) {
	b, _ := slices.BinarySearchFunc(w.blocks, t, func(b callBlock, t int64) int {
		if b.base <= t {
			return -1
		}
		return 1
	})
	w.b, w.i = max(b-2, 0), 0
}

// before gives the end of the call before the mark.
func (w *callWalk) before() (int64, bool) {
	b, i := w.b, w.i-1
	if i < 0 {
		if b--; b < 0 {
			return 0, false
		}
		i = w.blocks[b].n - 1
	}
	_, end, _ := w.blocks[b].at(i)
	return end, true
}

// next gives the call at the mark.
func (w *callWalk) next() (start, end int64, kind CallKind, ok bool) {
	if w.b == len(w.blocks) {
		return Forever, Forever, OtherCall, false
	}
	start, end, kind = w.blocks[w.b].at(w.i)
	return start, end, kind, true
}

func (w *callWalk) step() {
	if w.i++; w.i == w.blocks[w.b].n {
		w.b, w.i = w.b+1, 0
	}
}

// interval is a stretch of time.
type interval struct{ start, end int64 }

// overlaps tells how much of a stretch of time lies in some intervals, which are in order and apart.
type overlaps struct {
	list []interval
	at   int
}

// joined puts intervals in order and joins those that overlap or touch.
func joined(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	out := list[:0]
	for _, v := range list {
		if n := len(out); n > 0 && v.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, v.end)
			continue
		}
		out = append(out, v)
	}
	return out
}

// with gives the time of [from, to) inside the intervals.
func (o *overlaps) with(from, to int64) int64 {
	if len(o.list) == 0 || from >= to {
		return 0
	}
	if o.at > 0 && o.list[o.at-1].end > from {
		o.at, _ = slices.BinarySearchFunc(o.list, from, func(v interval, t int64) int {
			if v.end <= t {
				return -1
			}
			return 1
		})
	}
	for o.at < len(o.list) && o.list[o.at].end <= from {
		o.at++
	}
	sum := int64(0)
	for i := o.at; i < len(o.list) && o.list[i].start < to; i++ {
		sum += min(to, o.list[i].end) - max(from, o.list[i].start)
	}
	return sum
}
