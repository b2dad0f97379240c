package nsys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"prof/ingest/load"
)

// forever is the end of a range that never ended in the capture.
const forever = int64(1<<63 - 1)

// span is one NVTX range as the sweep needs it.
type span struct {
	start, end int64 // end is forever when it never ended
	thread     int64 // globalTid that began it
	process    bool  // a start/end range: it holds for all threads of the process
	name       int32 // index of its (domain, normalised name)
	parent     int32 // out: index of the innermost range open on its thread when it began; -1 none
	path       int32 // out: path of names down to it
}

// node is a set of open ranges: the parent's set and one more, the innermost. Sets that recur while ranges nest properly
// share nodes; ranges that cross get nodes of their own, so that every set is exact.
type node struct {
	parent int32 // -1: the empty set
	span   int32
	path   int32
}

// timelines tell which ranges are open at a moment of a thread. Immutable once built, but for the marks of use.
type timelines struct {
	nodes   []node
	threads map[int64]*timeline // by globalTid
	procs   map[int64]*timeline // of threads without ranges of their own, by process
	used    []atomic.Uint32     // a bit a node: some call was made in it
}

// timeline is the open set of one thread over time: from times[i] on it is nodes[i]. Before times[0] nothing is open.
type timeline struct {
	times []int64
	nodes []int32
}

// noNode stands for no open range.
const noNode = int32(-1)

// at gives the open set at t; hint is the caller's, so that a walk in time costs no search.
func (l *timeline) at(t int64, hint *int) int32 {
	if l == nil || len(l.times) == 0 || t < l.times[0] {
		return noNode
	}
	i := *hint
	switch {
	case i >= len(l.times) || l.times[i] > t:
		i = l.search(t)
	case i+1 < len(l.times) && l.times[i+1] <= t:
		if i++; i+1 < len(l.times) && l.times[i+1] <= t { // more than a step ahead
			i = l.search(t)
		}
	}
	*hint = i
	return l.nodes[i]
}

// search gives the hint for a moment.
func (l *timeline) search(t int64) int {
	i, found := slices.BinarySearch(l.times, t)
	if !found && i > 0 {
		i--
	}
	return i
}

// of gives the timeline of a thread, nil when it never has an open range.
func (t *timelines) of(globalTid int64) *timeline {
	if l, ok := t.threads[globalTid]; ok {
		return l
	}
	return t.procs[procOf(globalTid)]
}

// mark notes that work was launched in a node's set.
func (t *timelines) mark(n int32) {
	w, bit := &t.used[n>>5], uint32(1)<<(n&31)
	if w.Load()&bit == 0 {
		w.Or(bit)
	}
}

func (t *timelines) isUsed(n int32) bool { return t.used[n>>5].Load()&(1<<(n&31)) != 0 }

// maxCrossings is more sets of crossing ranges than any sensible capture has; they take 12 bytes each.
const maxCrossings = 20_000_000

// event is the begin or the end of a range.
type event struct {
	at    int64
	span  int32
	begin bool
}

// buildTimelines sweeps every thread's ranges once. It fills in parent and path of the spans. A range holds from its start
// up to but not including its end. Sets beyond one for each range, more than maxExtra of them, are an error.
func buildTimelines(spans []span, names []rangeName, paths *load.Paths, maxExtra int) (*timelines, error) {
	t := &timelines{threads: map[int64]*timeline{}, procs: map[int64]*timeline{}}
	byThread, byProc := map[int64][]int32{}, map[int64][]int32{}
	for i := range spans {
		s := &spans[i]
		s.parent = -1
		if s.process {
			byProc[procOf(s.thread)] = append(byProc[procOf(s.thread)], int32(i))
		}
		// A start/end range is swept on the thread that began it too, to learn its parent there.
		byThread[s.thread] = append(byThread[s.thread], int32(i))
	}
	b := &builder{timelines: t, spans: spans, names: names, paths: paths, limit: len(spans) + maxExtra}
	for _, p := range slices.Sorted(maps.Keys(byProc)) {
		t.procs[p] = b.sweep(byProc[p], nil)
	}
	for _, th := range slices.Sorted(maps.Keys(byThread)) {
		own := byThread[th]
		for _, i := range byProc[procOf(th)] {
			if spans[i].thread != th {
				own = append(own, i)
			}
		}
		t.threads[th] = b.sweep(own, &th)
	}
	if b.full() {
		return nil, fmt.Errorf("its NVTX ranges cross each other in more than %d combinations", maxExtra)
	}
	t.used = make([]atomic.Uint32, len(t.nodes)/32+1)
	return t, nil
}

type builder struct {
	*timelines
	spans []span
	names []rangeName
	paths *load.Paths
	limit int
}

// full says whether the sets are more than memory should hold: ranges that all cross make as many as their square.
func (b *builder) full() bool { return len(b.nodes) > b.limit }

// sweep walks the begins and ends in time. thread is nil for the sweep of a process's start/end ranges alone.
func (b *builder) sweep(own []int32, thread *int64) *timeline {
	events := make([]event, 0, 2*len(own))
	for _, i := range own {
		s := &b.spans[i]
		if s.end <= s.start { // it holds no moment, but has a parent and a path
			events = append(events, event{s.start, i, true}, event{s.start, i, false})
			continue
		}
		events = append(events, event{s.start, i, true})
		if s.end != forever {
			events = append(events, event{s.end, i, false})
		}
	}
	slices.SortFunc(events, b.order)
	l := &timeline{}
	top := noNode
	for _, e := range events {
		if b.full() {
			break
		}
		if e.begin {
			top = b.push(top, e.span)
			if thread != nil && b.spans[e.span].thread == *thread {
				b.place(top)
			}
		} else {
			top = b.remove(top, e.span)
		}
		if n := len(l.times); n > 0 && l.times[n-1] == e.at {
			l.nodes[n-1] = top
		} else {
			l.times = append(l.times, e.at)
			l.nodes = append(l.nodes, top)
		}
	}
	return l
}

// order sorts events by time. At one moment, ends of earlier ranges come before begins; of ranges beginning together the
// longer is the outer one; an empty range begins and ends in place.
func (b *builder) order(x, y event) int {
	if c := cmp.Compare(x.at, y.at); c != 0 {
		return c
	}
	xs, ys := &b.spans[x.span], &b.spans[y.span]
	xEnd, yEnd := !x.begin && xs.start < x.at, !y.begin && ys.start < y.at
	if xEnd != yEnd {
		if xEnd {
			return -1
		}
		return 1
	}
	if xEnd { // both end here: the one begun last ends first
		if c := cmp.Compare(ys.start, xs.start); c != 0 {
			return c
		}
		return cmp.Compare(y.span, x.span)
	}
	if c := cmp.Compare(ys.end, xs.end); c != 0 { // both begin here
		return c
	}
	if c := cmp.Compare(x.span, y.span); c != 0 {
		return c
	}
	if x.begin == y.begin {
		return 0
	}
	if x.begin {
		return -1
	}
	return 1
}

func (b *builder) push(top, s int32) int32 {
	parentPath := int32(0)
	if top != noNode {
		parentPath = b.nodes[top].path
	}
	name := b.names[b.spans[s].name]
	b.nodes = append(b.nodes, node{top, s, b.paths.Add(parentPath, name.domain, name.norm)})
	return int32(len(b.nodes) - 1)
}

// place notes parent and path of the range that was just put on, on the thread that began it.
func (b *builder) place(top int32) {
	n := b.nodes[top]
	s := &b.spans[n.span]
	s.path = n.path
	if n.parent != noNode {
		s.parent = b.nodes[n.parent].span
	}
}

// remove takes a range out of the open set. The innermost one gives back the very set from before it; a range further out
// leaves a set that was never open before, so the ones inside it are put on anew.
func (b *builder) remove(top, s int32) int32 {
	if top == noNode {
		return top
	}
	n := b.nodes[top]
	if n.span == s {
		return n.parent
	}
	below := b.remove(n.parent, s)
	if below == n.parent {
		return top
	}
	return b.push(below, n.span)
}
