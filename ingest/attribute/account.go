package attribute

import (
	"cmp"
	"container/heap"
	"slices"
)

const (
	// LongestGaps is how many single gaps of each GPU of a source are kept, the longest.
	LongestGaps = 10_000
	// maxPatterns is how many patterns of gaps are told apart by what ran before and after. Names of ranges that differ each time, as those
	// with a request's id, make patterns without end.
	maxPatterns = 200_000
)

// Source is what device work is added up from, and the idle time of GPUs told.
type Source struct {
	Work     []*WorkList
	Lines    *Timelines
	Labels   *Labels
	Calls    *Calls
	Overhead *Overhead
	Caller   func(launch int32) Caller // of a Work's Launch
}

// node gives the ranges open at the launch of a piece of work.
func (s *Source) node(o *Work) int32 {
	if o.Launch == NoLaunch {
		return NoNode
	}
	return s.Caller(o.Launch).Node
}

// gap is one idle gap of a GPU.
type gap struct {
	start, end    int64
	before, after int32 // labels
	launch, node  int32 // of the work after
	device        int32
	parts         Parts
}

// gapKey tells patterns of gaps apart.
type gapKey struct {
	device        int32
	path          int32 // noPath when the launch was not captured
	before, after int32
}

const noPath = int32(-1)

// anyLabel stands for what is not told apart any more.
const anyLabel = int32(-1)

// gapSum are the gaps of one pattern.
type gapSum struct {
	gapKey
	count, max int64
	parts      Parts
}

// idle is the idle time of a range's span on a GPU.
type idle struct {
	parts Parts
	gaps  int64
}

// Account is where the time of GPUs went while nothing ran on them.
type Account struct {
	sums     *Sums
	idle     []idle            // by row of sums
	rowsOf   map[int32][]int32 // rows of sums by device
	patterns map[gapKey]*gapSum
	longest  map[int32]*gapHeap
}

// TellIdle visits the work of a source in the order of its start, finds the gaps in which nothing runs on a GPU, and tells each by what the
// thread did that launched the work after it. A range's span begins and ends with work, so that each gap is inside it or outside.
// sums are those of the same work.
func TellIdle(s Source, sums *Sums) *Account { return tellIdle(s, sums, HostStretch) }

func tellIdle(s Source, sums *Sums, stretch int64) *Account {
	a := &Account{sums: sums, idle: make([]idle, len(sums.rows)), rowsOf: map[int32][]int32{}, patterns: map[gapKey]*gapSum{}, longest: map[int32]*gapHeap{}}
	for i := range sums.rows {
		d := sums.rows[i].device
		a.rowsOf[d] = append(a.rowsOf[d], int32(i))
	}
	h, m := newHost(s.Calls, s.Overhead, stretch), newMerge(s.Work)
	devices := map[int32]*deviceWalk{}
	var d *deviceWalk
	device, labels := int32(0), s.Labels.all()
	for o := m.next(); o != nil; o = m.next() {
		if at := labels[o.Label].Device; d == nil || at != device {
			if device, d = at, devices[at]; d == nil {
				d = a.deviceWalk(device)
				devices[device] = d
			}
		}
		if o.Start > d.end && d.end != -Forever {
			a.gap(d, o, device, &s, h)
		}
		if o.End > d.end || d.end == -Forever {
			d.end, d.last = o.End, o.Label
		}
	}
	for _, d := range devices {
		a.pass(d, Forever)
	}
	return a
}

// deviceWalk is where the walk along a GPU's work is.
type deviceWalk struct {
	end            int64 // to where work has run
	last           int32 // label of what ran to there
	so             idle  // idle time so far
	starts, ends   []int32
	nextIn, nextUp int // rows whose span has begun, rows whose span has ended
}

func (a *Account) deviceWalk(device int32) *deviceWalk {
	d := &deviceWalk{end: -Forever, starts: a.rowsOf[device]}
	d.ends = slices.Clone(d.starts)
	rows := a.sums.rows
	slices.SortFunc(d.starts, func(i, k int32) int { return cmp.Compare(rows[i].first, rows[k].first) })
	slices.SortFunc(d.ends, func(i, k int32) int { return cmp.Compare(rows[i].last, rows[k].last) })
	return d
}

// pass notes the idle time so far of ranges whose span begins or ends up to t. A span has the idle time to its end less that to its start.
func (a *Account) pass(d *deviceWalk, t int64) {
	for ; d.nextIn < len(d.starts) && a.sums.rows[d.starts[d.nextIn]].first <= t; d.nextIn++ {
		r := &a.idle[d.starts[d.nextIn]]
		r.parts.sub(&d.so.parts)
		r.gaps -= d.so.gaps
	}
	for ; d.nextUp < len(d.ends) && a.sums.rows[d.ends[d.nextUp]].last <= t; d.nextUp++ {
		r := &a.idle[d.ends[d.nextUp]]
		r.parts.add(&d.so.parts)
		r.gaps += d.so.gaps
	}
}

// gap takes the gap before a piece of work.
func (a *Account) gap(d *deviceWalk, o *Work, device int32, s *Source, h *host) {
	a.pass(d, d.end)
	g := gap{start: d.end, end: o.Start, before: d.last, after: o.Label, launch: o.Launch, node: NoNode, device: device}
	path := noPath
	if o.Launch == NoLaunch {
		g.parts[Unknown] = g.end - g.start
	} else {
		c := s.Caller(o.Launch)
		g.parts, g.node = h.split(g.start, g.end, c), c.Node
		path = s.Lines.Path(c.Node)
	}
	d.so.parts.add(&g.parts)
	d.so.gaps++
	k := gapKey{device, path, d.last, o.Label}
	p := a.patterns[k]
	if p == nil && len(a.patterns) >= maxPatterns {
		k.before, k.after = anyLabel, anyLabel
		p = a.patterns[k]
	}
	if p == nil {
		p = &gapSum{gapKey: k}
		a.patterns[k] = p
	}
	p.count++
	p.max = max(p.max, g.end-g.start)
	p.parts.add(&g.parts)
	a.keep(g)
}

func (a *Account) keep(g gap) {
	l := a.longest[g.device]
	if l == nil {
		l = &gapHeap{}
		a.longest[g.device] = l
	}
	if len(*l) < LongestGaps {
		heap.Push(l, g)
		return
	}
	if g.end-g.start > (*l)[0].end-(*l)[0].start { // of gaps of one length the earlier are kept
		(*l)[0] = g
		heap.Fix(l, 0)
	}
}

// gapHeap has the shortest gap first, of those the last.
type gapHeap []gap

func (h gapHeap) Len() int { return len(h) }
func (h gapHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(h[i].end-h[i].start, h[k].end-h[k].start), cmp.Compare(h[k].start, h[i].start)) < 0
}
func (h gapHeap) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *gapHeap) Push(g any)   { *h = append(*h, g.(gap)) }
func (h *gapHeap) Pop() any {
	old := *h
	g := old[len(old)-1]
	*h = old[:len(old)-1]
	return g
}
