package attribute

import (
	"slices"
	"sort"
)

// callWalk goes along the calls of one thread. They are in the order of time and do not overlap.
type callWalk struct {
	blocks  []callBlock
	b       int
	i       int32
	stretch int64    // the least time outside calls in which the thread is at something else
	busy    overlaps // the profiler on this thread
}

// nearby is how many calls are looked at one by one before a search.
const nearby = 8

// seek goes to the first call that ends after t, which is mostly near.
func (w *callWalk) seek(t int64) {
	if end, ok := w.before(); !ok || end <= t {
		for range nearby {
			if _, end, _, ok := w.next(); !ok || end > t {
				return
			}
			w.step()
		}
	}
	b := sort.Search(len(w.blocks), func(k int) bool { return w.blocks[k].first > t }) - 1 // the last that begins by then
	if b < 0 {
		w.b, w.i = 0, 0
		return
	}
	block := &w.blocks[b]
	w.b, w.i = b, int32(sort.Search(int(block.n), func(i int) bool { _, end, _ := block.at(int32(i)); return end > t }))
	if w.i == block.n {
		w.b, w.i = b+1, 0
	}
}

// before returns the end of the call before the mark.
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

// next returns the call at the mark.
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

// with returns the time of [from, to) inside the intervals.
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
