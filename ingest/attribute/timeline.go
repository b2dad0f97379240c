package attribute

import (
	"slices"
	"sync/atomic"
)

// node is a set of open ranges: the parent's set and one more, the innermost. Sets that recur while ranges nest properly
// share nodes; ranges that cross get nodes of their own, so that every set is exact.
type node struct {
	parent int32 // NoNode: the empty set
	span   int32
	path   int32
}

// Timelines tell which ranges are open at a moment of a thread. A set of open ranges is a number from 0 on, its node; NoNode
// is the empty set. Immutable once built, but for the marks of use, and safe for concurrent use.
type Timelines struct {
	nodes   []node
	threads map[int64]*Timeline // by thread
	procs   map[int64]*Timeline // of threads without ranges of their own, by process
	used    []atomic.Uint32     // a bit a node: some call was made in it
}

// Of returns the timeline of a thread, nil when it never has an open range.
func (t *Timelines) Of(thread int64) *Timeline {
	if l, ok := t.threads[thread]; ok {
		return l
	}
	return t.procs[procOf(thread)]
}

// Len counts the sets.
func (t *Timelines) Len() int { return len(t.nodes) }

// Span returns the innermost range of a set, as an index of the spans given to Build.
func (t *Timelines) Span(n int32) int32 { return t.nodes[n].span }

// Parent returns the set without its innermost range; NoNode when that was the only one.
func (t *Timelines) Parent(n int32) int32 { return t.nodes[n].parent }

// Path returns the path of names of a set; 0 for NoNode.
func (t *Timelines) Path(n int32) int32 {
	if n == NoNode {
		return 0
	}
	return t.nodes[n].path
}

// Mark notes that a call was made in a set, so that Store stores it.
func (t *Timelines) Mark(n int32) {
	w, bit := &t.used[n>>5], uint32(1)<<(n&31)
	if w.Load()&bit == 0 {
		w.Or(bit)
	}
}

// IsUsed reports whether a set was marked.
func (t *Timelines) IsUsed(n int32) bool { return t.used[n>>5].Load()&(1<<(n&31)) != 0 }

// Timeline is the open set of one thread over time: from times[i] on it is nodes[i]. Before times[0] nothing is open.
type Timeline struct {
	times []int64
	nodes []int32
}

// At returns the open set at t; hint is the caller's, any number from 0 on, so that a walk in time costs no search.
func (l *Timeline) At(t int64, hint *int) int32 {
	if l == nil || len(l.times) == 0 || t < l.times[0] {
		return NoNode
	}
	i := *hint
	switch {
	case i >= len(l.times) || l.times[i] > t:
		i = l.search(t, i)
	case i+1 < len(l.times) && l.times[i+1] <= t:
		if i++; i+1 < len(l.times) && l.times[i+1] <= t { // more than a step ahead
			i = l.search(t, i)
		}
	}
	*hint = i
	return l.nodes[i]
}

// search returns the hint for a moment. It looks around the hint before, in steps that double: what is asked for next is mostly near.
func (l *Timeline) search(t int64, hint int) int {
	low := min(hint, len(l.times)-1)
	high := low + 1
	for step := 1; low > 0 && l.times[low] > t; step *= 2 {
		low, high = max(0, low-step), low
	}
	for step := 1; high < len(l.times) && l.times[high] <= t; step *= 2 {
		low, high = high, min(len(l.times), high+step)
	}
	i, found := slices.BinarySearch(l.times[low:high], t)
	if !found && i > 0 {
		i--
	}
	return low + i
}

// Placer finds the ranges open at a moment of a thread, for one goroutine whose rows come roughly in time, those of several threads mixed.
type Placer struct {
	lines  *Timelines
	thread int64
	at     *walk // of the thread; nil at first
	places map[int64]*walk
}

// walk is how far a placer is on a thread.
type walk struct {
	line *Timeline
	hint int
}

// Placer makes a placer of one's own.
func (t *Timelines) Placer() *Placer { return &Placer{lines: t, places: map[int64]*walk{}} }

// Node returns the set open on a thread at a moment and marks it; NoNode when nothing is open.
func (p *Placer) Node(thread, t int64) int32 {
	if p.at == nil || thread != p.thread {
		p.thread, p.at = thread, p.places[thread]
		if p.at == nil {
			p.at = &walk{line: p.lines.Of(thread)}
			p.places[thread] = p.at
		}
	}
	n := p.at.line.At(t, &p.at.hint)
	if n != NoNode {
		p.lines.Mark(n)
	}
	return n
}
