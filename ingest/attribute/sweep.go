package attribute

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"prof/ingest/load"
)

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
	b := &builder{Timelines: t, spans: spans, names: names, paths: paths, most: maxExtra, limit: len(spans) + maxExtra}
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
	most  int // sets beyond one for each range
	limit int
	cross int // pairs of ranges found to cross, each of which makes such a set
}

// full reports whether the sets are more than memory should hold: ranges that all cross make as many as their square.
func (b *builder) full() bool { return len(b.nodes) > b.limit || b.cross > b.most }

// sweep walks the begins and ends in time. thread is nil for the sweep of a process's start/end ranges alone.
func (b *builder) sweep(own []int32, thread *int64) *Timeline {
	// Captures have the ranges of a thread in this order, so that looking is nearly always all; sorting begins and ends took most of the sweep.
	if !slices.IsSortedFunc(own, b.begins) {
		slices.SortFunc(own, b.begins)
	}
	l := &Timeline{times: make([]int64, 0, 2*len(own)), nodes: make([]int32, 0, 2*len(own))}
	top := NoNode
	note := func(at int64) {
		if n := len(l.times); n > 0 && l.times[n-1] == at {
			l.nodes[n-1] = top
			return
		}
		l.times, l.nodes = append(l.times, at), append(l.nodes, top)
	}
	var open []int32 // that end, the one that ends next at the end
	end := func(until int64) {
		for n := len(open); n > 0 && b.spans[open[n-1]].End <= until && !b.full(); n-- {
			top = b.remove(top, open[n-1])
			note(b.spans[open[n-1]].End)
			open = open[:n-1]
		}
	}
	for _, i := range own {
		s := &b.spans[i]
		if end(s.Start); b.full() {
			break
		}
		top = b.push(top, i)
		if thread != nil && s.Thread == *thread {
			b.place(top)
		}
		switch {
		case s.End <= s.Start: // it holds no moment, but has a parent and a path
			top = b.remove(top, i)
		case s.End != Forever:
			at := len(open)
			for at > 0 && b.ends(open[at-1], i) < 0 {
				at--
			}
			b.cross += len(open) - at
			open = slices.Insert(open, at, i)
		}
		note(s.Start)
	}
	end(Forever)
	return l
}

// begins orders ranges by their begins: of those beginning together the longer is the outer one.
func (b *builder) begins(x, y int32) int {
	xs, ys := &b.spans[x], &b.spans[y]
	return cmp.Or(cmp.Compare(xs.Start, ys.Start), cmp.Compare(ys.End, xs.End), cmp.Compare(x, y))
}

// ends orders ranges by their ends: of those ending together the one begun last ends first.
func (b *builder) ends(x, y int32) int {
	xs, ys := &b.spans[x], &b.spans[y]
	return cmp.Or(cmp.Compare(xs.End, ys.End), cmp.Compare(ys.Start, xs.Start), cmp.Compare(y, x))
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
