package attribute

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
)

const (
	// LongestGaps is how many single gaps of each GPU of a source are kept, the longest.
	LongestGaps = 10_000
	// maxPatterns is how many patterns of gaps are told apart by what ran before and after. Names of ranges that differ each time, as those
	// with a request's id, make patterns without end.
	maxPatterns = 200_000
	// apartPatterns is how many are told apart by the set of ranges of their launches too, so that the gaps of a pass are known. Those of later sets are
	// known by the names of the ranges only: warm-up comes first.
	apartPatterns = 20_000
)

// Source is what device work is added up from, and the idle time of GPUs told.
type Source struct {
	Work     []*WorkList
	Lines    *Timelines
	Labels   *Labels
	Streams  *Streams // nil when they are not told apart
	Waits    []Wait   // in the order of their starts
	Calls    *Calls
	Overhead *Overhead
	Caller   func(launch int32) Caller // of a Work's Launch
}

// node returns the ranges open at the launch of a piece of work.
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
	thread        int32 // of the launch
	path          int32 // of the node; noPath when the launch was not captured
	device        int32
	opens         int64 // see gapKey
	hasBegun      bool  // the work that began last before it is of the same launch
	parts         Parts
}

// gapKey tells patterns of gaps apart.
type gapKey struct {
	device        int32
	path          int32 // noPath when the launch was not captured
	node          int32 // laterNode beyond apartPatterns
	opens         int64 // ranges of the node whose work on the device begins at the end of the gap, see Sums.opens
	before, after int32
}

// laterNode stands for any of the sets of ranges that are not told apart any more.
const laterNode = NoNode - 1

const noPath = int32(-1)

// anyLabel stands for what is not told apart any more.
const anyLabel = int32(-1)

// gapSum are the gaps of one pattern.
type gapSum struct {
	gapKey
	nth        int // among the patterns, as the gaps come: numbers of names and paths depend on what else is read meanwhile
	count, max int64
	start      int64 // of the first
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
	idle     []idle // by row of sums
	patterns map[gapKey]*gapSum
	apart    int // see apartPatterns
	lines    *Timelines
	recent   [1 << 10]*gapSum // patterns by a hash, see pattern
	longest  map[int32]*gapHeap
	devices  map[int32]*deviceWalk
	unseen   map[int32]Unseen // by device
}

// AccountFor adds up the work of a source by range, see SumRanges, and classifies idle time by what threads did: it visits the work in the order of
// its start, finds the gaps in which nothing runs on a GPU, and classifies each by what the thread did that launched the work after it. A
// range's span begins and ends with work, so that each gap is inside it or outside. spans counts the ranges.
func AccountFor(s Source, spans int) (*Sums, *Account) {
	for _, l := range s.Work {
		l.byStart() // before two goroutines want it
	}
	done := make(chan *Sums, 1)
	go func() { done <- SumRanges(s, spans) }()
	a := accountIdle(s, done, HostStretch, gapBatch)
	return a.sums, a
}

// gapBatch is how many gaps are classified at a time; most of their threads' calls lie close together.
const gapBatch = 1 << 12

// gapBatches bounds how many batches wait to be classified or counted.
const gapBatches = 32

// classified are gaps whose parts are known once done is closed.
type classified struct {
	gaps []gap
	done chan struct{}
}

// accountIdle finds gaps in one goroutine, classifies them in some, and counts them in the order of time in this one.
func accountIdle(s Source, sums <-chan *Sums, stretch int64, batch int) *Account {
	found, order := make(chan *classified, gapBatches), make(chan *classified, gapBatches)
	go func() {
		defer close(found)
		defer close(order)
		findGaps(&s, batch, func(gaps []gap) {
			b := &classified{gaps, make(chan struct{})}
			order <- b
			found <- b
		})
	}()
	calls, busy := s.Calls.settle(), s.Overhead.settle()
	for range min(runtime.NumCPU(), gapBatches) {
		h := newHost(calls, busy, stretch)
		go func() {
			for b := range found {
				for i := range b.gaps {
					b.gaps[i].classify(&s, h)
				}
				close(b.done)
				s.Calls.Room.LetGo()
			}
		}()
	}
	unseen, known := s.unseen(newHost(calls, busy, stretch)), <-sums
	known.begin(s, unseen)
	a := newAccount(known, s.Lines)
	a.unseen = unseen
	for b := range order {
		<-b.done
		for i := range b.gaps {
			a.count(&b.gaps[i])
		}
	}
	for _, d := range a.devices {
		a.pass(d, Forever)
	}
	return a
}

// findGaps gives the gaps of all GPUs in batches, in the order of their ends.
func findGaps(s *Source, batch int, give func([]gap)) {
	type walk struct {
		end    int64 // to where work has run
		last   int32 // label of what ran to there
		launch int32 // of what began last
	}
	m, labels, devices := newMerge(s.Work), s.Labels.All(), map[int32]*walk{}
	var d *walk
	var gaps []gap
	device := int32(0)
	for o := m.next(); o != nil; o = m.next() {
		if at := labels[o.Label].Device; d == nil || at != device {
			if device, d = at, devices[at]; d == nil {
				d = &walk{end: -Forever}
				devices[device] = d
			}
		}
		if o.Start > d.end && d.end != -Forever {
			gaps = append(gaps, gap{start: d.end, end: o.Start, before: d.last, after: o.Label, launch: o.Launch, node: NoNode, path: noPath, device: device, hasBegun: o.Launch == d.launch})
			if len(gaps) == batch {
				give(gaps)
				gaps = make([]gap, 0, batch) // the first grows: few sources have a second
			}
		}
		if o.End > d.end || d.end == -Forever {
			d.end, d.last = o.End, o.Label
		}
		d.launch = o.Launch
	}
	if len(gaps) > 0 {
		give(gaps)
	}
}

// classify splits a gap by what the launching thread did.
func (g *gap) classify(s *Source, h *host) {
	if g.launch == NoLaunch {
		g.parts[Unknown] = g.end - g.start
		return
	}
	c := s.Caller(g.launch)
	g.parts, g.thread, g.node, g.path = h.split(g.start, g.end, c, g.hasBegun), c.Thread, c.Node, s.Lines.Path(c.Node)
}

func newAccount(sums *Sums, lines *Timelines) *Account {
	a := &Account{sums: sums, idle: make([]idle, len(sums.rows)), patterns: map[gapKey]*gapSum{}, apart: apartPatterns, lines: lines, longest: map[int32]*gapHeap{}, devices: map[int32]*deviceWalk{}}
	rowsOf := map[int32][]int32{}
	for i := range sums.rows {
		d := sums.rows[i].device
		rowsOf[d] = append(rowsOf[d], int32(i))
	}
	for device, rows := range rowsOf {
		a.devices[device] = sums.walk(rows)
	}
	return a
}

// deviceWalk is where the count of a GPU's gaps is.
type deviceWalk struct {
	so             idle    // idle time so far
	starts, ends   []int32 // rows of sums by the start and by the end of their span
	nextIn, nextUp int     // rows whose span has begun, rows whose span has ended
}

func (s *Sums) walk(rows []int32) *deviceWalk {
	d := &deviceWalk{starts: rows, ends: slices.Clone(rows)}
	slices.SortFunc(d.starts, func(i, k int32) int { return cmp.Compare(s.rows[i].first, s.rows[k].first) })
	slices.SortFunc(d.ends, func(i, k int32) int { return cmp.Compare(s.rows[i].last, s.rows[k].last) })
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

// count takes a gap, which comes after those that end before it.
func (a *Account) count(g *gap) {
	d := a.devices[g.device]
	a.pass(d, g.start)
	d.so.parts.add(&g.parts)
	d.so.gaps++
	if u, ok := a.unseen[g.device]; ok && g.end <= u.End {
		return // spans begin behind it
	}
	g.opens = a.sums.opens(g, a.lines)
	p := a.pattern(gapKey{g.device, g.path, g.node, g.opens, g.before, g.after})
	if p.count == 0 {
		p.start = g.start
	}
	p.count++
	p.max = max(p.max, g.end-g.start)
	p.parts.add(&g.parts)
	a.keep(g)
}

// pattern returns the sums of a pattern, in most cases without a look at the map: the same patterns recur.
func (a *Account) pattern(k gapKey) *gapSum {
	slot := &a.recent[uint32(k.before*31+k.after*17+k.path*7+k.node)%uint32(len(a.recent))]
	if p := *slot; p != nil && p.gapKey == k {
		return p
	}
	p := a.patterns[k]
	if p == nil && len(a.patterns) >= a.apart && k.path != noPath {
		k.node = laterNode
		if p = *slot; p != nil && p.gapKey == k {
			return p
		}
		p = a.patterns[k]
	}
	if p == nil && len(a.patterns) >= maxPatterns {
		k.before, k.after = anyLabel, anyLabel
		p = a.patterns[k]
	}
	if p == nil {
		p = &gapSum{gapKey: k, nth: len(a.patterns)}
		a.patterns[k] = p
	}
	*slot = p
	return p
}

func (a *Account) keep(g *gap) {
	l := a.longest[g.device]
	if l == nil {
		l = &gapHeap{}
		a.longest[g.device] = l
	}
	if len(*l) < LongestGaps {
		heap.Push(l, *g)
		return
	}
	if g.end-g.start > (*l)[0].end-(*l)[0].start { // of gaps of one length the earlier are kept
		(*l)[0] = *g
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
