package attribute

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"prof/ingest/load"
)

// event is the begin or the end of a range.
type event struct {
	at    int64
	span  int32
	begin bool
}

// Build sweeps every thread's ranges once. It fills in parent and path of the spans. A range holds from its start
// up to but not including its end. Sets beyond one for each range, more than maxExtra of them, are an error.
func Build(spans []Span, names []Name, paths *load.Paths, maxExtra int) (*Timelines, error) {
	t := &Timelines{threads: map[int64]*Timeline{}, procs: map[int64]*Timeline{}}
	byThread, byProc := map[int64][]int32{}, map[int64][]int32{}
	for i := range spans {
		s := &spans[i]
		s.Parent = -1
		if s.Process {
			byProc[procOf(s.Thread)] = append(byProc[procOf(s.Thread)], int32(i))
		}
		// A start/end range is swept on the thread that began it too, to learn its parent there.
		byThread[s.Thread] = append(byThread[s.Thread], int32(i))
	}
	b := &builder{Timelines: t, spans: spans, names: names, paths: paths, limit: len(spans) + maxExtra}
	for _, p := range slices.Sorted(maps.Keys(byProc)) {
		t.procs[p] = b.sweep(byProc[p], nil)
	}
	for _, th := range slices.Sorted(maps.Keys(byThread)) {
		own := byThread[th]
		for _, i := range byProc[procOf(th)] {
			if spans[i].Thread != th {
				own = append(own, i)
			}
		}
		t.threads[th] = b.sweep(own, &th)
	}
	if b.full() {
		return nil, fmt.Errorf("its ranges overlap in more than %d combinations", maxExtra)
	}
	t.used = make([]atomic.Uint32, len(t.nodes)/32+1)
	return t, nil
}

type builder struct {
	*Timelines
	spans []Span
	names []Name
	paths *load.Paths
	limit int
}

// full reports whether the sets are more than memory should hold: ranges that all cross make as many as their square.
func (b *builder) full() bool { return len(b.nodes) > b.limit }

// sweep walks the begins and ends in time. thread is nil for the sweep of a process's start/end ranges alone.
func (b *builder) sweep(own []int32, thread *int64) *Timeline {
	events := make([]event, 0, 2*len(own))
	for _, i := range own {
		s := &b.spans[i]
		if s.End <= s.Start { // it holds no moment, but has a parent and a path
			events = append(events, event{s.Start, i, true}, event{s.Start, i, false})
			continue
		}
		events = append(events, event{s.Start, i, true})
		if s.End != Forever {
			events = append(events, event{s.End, i, false})
		}
	}
	slices.SortFunc(events, b.order)
	l := &Timeline{}
	top := NoNode
	for _, e := range events {
		if b.full() {
			break
		}
		if e.begin {
			top = b.push(top, e.span)
			if thread != nil && b.spans[e.span].Thread == *thread {
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
	xEnd, yEnd := !x.begin && xs.Start < x.at, !y.begin && ys.Start < y.at
	if xEnd != yEnd {
		if xEnd {
			return -1
		}
		return 1
	}
	if xEnd { // both end here: the one begun last ends first
		if c := cmp.Compare(ys.Start, xs.Start); c != 0 {
			return c
		}
		return cmp.Compare(y.span, x.span)
	}
	if c := cmp.Compare(ys.End, xs.End); c != 0 { // both begin here
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
	if top != NoNode {
		parentPath = b.nodes[top].path
	}
	name := b.names[b.spans[s].Name]
	b.nodes = append(b.nodes, node{top, s, b.paths.Add(parentPath, name.Domain, name.Norm)})
	return int32(len(b.nodes) - 1)
}

// place notes parent and path of the range that was just put on, on the thread that began it.
func (b *builder) place(top int32) {
	n := b.nodes[top]
	s := &b.spans[n.span]
	s.Path = n.path
	if n.parent != NoNode {
		s.Parent = b.nodes[n.parent].span
	}
}

// remove takes a range out of the open set. The innermost one gives back the very set from before it; a range further out
// leaves a set that was never open before, so the ones inside it are put on anew.
func (b *builder) remove(top, s int32) int32 {
	if top == NoNode {
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

// CheckDepth refuses ranges that nest within each other without end: each stores the whole path down to it. paths are
// all of the run; limit is MaxSteps, but in tests.
func CheckDepth(paths []load.Path, limit int) error {
	steps, deepest := 0, load.Path{}
	for _, p := range paths {
		steps += int(p.Depth)
		if p.Depth > deepest.Depth {
			deepest = p
		}
	}
	if steps > limit {
		return fmt.Errorf("its ranges nest %d deep, down to one named %q: are they pushed and never popped?", deepest.Depth, deepest.Name)
	}
	return nil
}
