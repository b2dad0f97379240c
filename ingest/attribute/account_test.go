package attribute

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// apiCall is one call of a random host.
type apiCall struct {
	thread     int32
	start, end int64
	kind       CallKind
}

// world is a random source and what its threads and GPUs do at each nanosecond, told by looking at all of it.
type world struct {
	*made
	calls    []apiCall
	owner    [2][worldEnd]Part // of a thread: what its outermost call is for; outside is none
	outer    [2][worldEnd]apiCall
	profiled [2][worldEnd]bool // whether the profiler was at work on it
}

// partOf tells a call that launches nothing of what is next.
func partOf(kind CallKind, duration int64) Part {
	switch kind {
	case LaunchCall:
		if duration < testStretch {
			return InLaunch
		}
	case GraphCall:
		return InLaunch
	case CopyCall, WaitCall:
		return InWait
	}
	return InCall
}

const (
	worldEnd    = 400
	outside     = parts
	testStretch = 7
)

func newWorld(random *rand.Rand, lines *Timelines) *world {
	w := &world{made: newMade(lines)}
	for thread := range int32(2) {
		for at := random.Int64N(30); at < 150; at += random.Int64N(15) {
			c := apiCall{thread, at, at + 1 + random.Int64N(9), CallKind(random.IntN(int(QueryCall)))}
			w.calls = append(w.calls, c)
			if random.IntN(3) == 0 { // one inside it, or over its end
				w.calls = append(w.calls, apiCall{thread, at + 1, at + 2 + random.Int64N(9), CallKind(random.IntN(int(QueryCall)))})
			}
			if random.IntN(3) > 0 {
				at = c.end
			}
		}
	}
	w.hand(random)
	for t := range w.owner {
		for at := range w.owner[t] {
			w.owner[t][at] = outside
		}
	}
	for _, c := range w.calls {
		from := c.start // a call that begins in another one begins when that ends
		for from < c.end && w.owner[c.thread][from] != outside {
			from++
		}
		for at := from; at < c.end; at++ {
			w.owner[c.thread][at], w.outer[c.thread][at] = partOf(c.kind, c.end-from), apiCall{c.thread, from, c.end, c.kind}
		}
	}
	for range random.IntN(5) {
		thread, at, length := random.Int32N(2), random.Int64N(150), random.Int64N(12)
		w.Overhead.Add(thread, at, at+length)
		for i := at; i < at+length; i++ {
			w.profiled[thread][i] = true
		}
	}
	return w
}

// hand gives the calls to two workers in batches, as an export in the order of starts has them, or in no order.
func (w *world) hand(random *rand.Rand) {
	slices.SortFunc(w.calls, func(a, b apiCall) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.kind, b.kind))
	})
	handed := slices.Clone(w.calls)
	if random.IntN(4) == 0 {
		random.Shuffle(len(handed), func(i, k int) { handed[i], handed[k] = handed[k], handed[i] })
	}
	workers := []*CallList{w.Calls.List(), w.Calls.List()}
	for batch := range slices.Chunk(handed, 1+random.IntN(20)) {
		l := workers[random.IntN(2)]
		l.Break()
		for _, c := range batch {
			l.Add(c.thread, c.start, c.end-c.start, c.kind)
		}
	}
}

// at returns what the thread of a launch was doing at a moment before the work that it launched began, of a gap from ran to the start of that work;
// hasBegun says that it had launched the work before it, too.
func (w *world) at(t, ran, start int64, c Caller, hasBegun bool) Part {
	switch {
	case t >= c.End && c.Start >= ran && start-max(ran, c.End) < testStretch:
		return Latency
	case t >= c.End:
		return Queued
	case w.profiled[c.Thread][t]:
		return InProfiler
	case t >= c.Start:
		if o := w.outer[c.Thread][c.Start]; hasBegun && o.end > c.Start && o.start == c.Start && o.kind == GraphCall {
			return Queued
		}
		if o := w.outer[c.Thread][c.Start]; o.end > c.Start && o.start == c.Start && o.kind != CopyCall && o.kind != WaitCall {
			return partOf(o.kind, o.end-o.start)
		}
		return InLaunch
	case w.owner[c.Thread][t] != outside:
		return w.owner[c.Thread][t]
	}
	length, i := 0, t
	for ; i >= 0 && w.owner[c.Thread][i] == outside; i-- {
		if !w.profiled[c.Thread][i] {
			length++
		}
	}
	for k := t + 1; k < c.Start && w.owner[c.Thread][k] == outside; k++ {
		if !w.profiled[c.Thread][k] {
			length++
		}
	}
	if i < 0 || length >= testStretch {
		return OnHost
	}
	return Late
}

// work adds kernels, copies and replays, each launched by a call that was captured, by one that was not, or by none that is known.
func (w *world) work(random *rand.Rand, lines *Timelines) {
	for range 1 + random.IntN(3) {
		list := &WorkList{}
		w.Work = append(w.Work, list)
		at := random.Int64N(20)
		for range random.IntN(25) {
			if random.IntN(6) == 0 {
				at = random.Int64N(150)
			}
			at = min(at+random.Int64N(12), 300)
			label, length := Label{Device: random.Int32N(2), Kind: WorkKind(random.IntN(3)), KernelName: random.Int64N(3)}, random.Int64N(9)
			if label.Kind != Kernel {
				label.Operation = GraphReplay
			}
			switch random.IntN(6) {
			case 0:
				list.Add(Work{Start: at, End: at + length, Launch: NoLaunch, Label: w.Labels.Of(label)})
				continue
			case 1:
				start := max(0, at-random.Int64N(20))
				w.add(list, label, at, at+length, Caller{random.Int32N(2), lines.Placer().Node(thread(1, 1), start), start, start + random.Int64N(8)})
				continue
			}
			c := w.calls[random.IntN(len(w.calls))]
			w.add(list, label, at, at+length, Caller{c.thread, lines.Placer().Node(thread(1, 1), c.start), c.start, c.end})
			for random.IntN(3) == 0 { // more nodes of its graph
				at += length + random.Int64N(6)
				list.Add(Work{Start: at, End: at + length, Launch: int32(len(w.callers) - 1), Label: w.Labels.Of(label)})
			}
		}
	}
}

// Every nanosecond of idle time of random work is told as a look at everything tells it, and busy time, the work of others and idle time add
// up to the span, for each range and for the whole.
func TestTellIdle(t *testing.T) {
	told := Parts{}
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 11))
		c := &sweepCase{}
		for range 1 + random.IntN(6) {
			start := random.Int64N(100)
			c.add("r", thread(1, 1), start, start+random.Int64N(60), random.IntN(3) == 0)
		}
		c.build(t)
		w := newWorld(random, c.lines)
		w.work(random, c.lines)
		sums := SumRanges(w.Source, len(c.spans))
		ready := make(chan *Sums, 1)
		ready <- sums
		a := accountIdle(w.Source, ready, testStretch, 1+random.IntN(5))
		for i := range sums.rows {
			if got, want := a.idle[i], w.idleOf(&sums.rows[i]); got != want {
				t.Fatalf("seed %d: row %d (range %d on device %d) is idle\n%+v, want\n%+v", seed, i, sums.rows[i].span, sums.rows[i].device, got, want)
			}
			told.add(&a.idle[i].parts)
		}
		w.checkPatterns(t, seed, sums, a)
	}
	for p, ns := range told {
		if ns == 0 {
			t.Errorf("nothing was told as part %d", p)
		}
	}
}

// idleOf returns the idle time of a range's span on its GPU.
func (w *world) idleOf(r *rangeDevice) (out idle) {
	pieces := w.pieces()
	for t := r.first; t < r.last; t++ {
		if slices.ContainsFunc(pieces, func(o piece) bool { return o.device == r.device && o.Start <= t && t < o.End }) {
			continue
		}
		next := w.next(pieces, t, r.device)
		if next.Launch == NoLaunch {
			out.parts[Unknown]++
		} else {
			ran := -Forever // to where work has run before
			for _, o := range pieces {
				if o.device == r.device && o.Start <= t {
					ran = max(ran, o.End)
				}
			}
			last := w.last(pieces, next, r.device)
			out.parts[w.at(t, ran, next.Start, w.callers[next.Launch], last != nil && last.Launch == next.Launch)]++
		}
		if slices.ContainsFunc(pieces, func(o piece) bool { return o.device == r.device && o.End == t }) {
			out.gaps++ // all begin with the end of work
		}
	}
	return out
}

// next returns the work that begins next on a GPU, of what begins together the first in the order of work.
func (w *world) next(pieces []piece, t int64, device int32) (next *Work) {
	for i := range pieces {
		if o := &pieces[i]; o.device == device && o.Start > t && (next == nil || o.before(next) < 0) {
			next = &o.Work
		}
	}
	return next
}

// last returns the work that began last on a GPU before that which began next.
func (w *world) last(pieces []piece, next *Work, device int32) (last *Work) {
	for i := range pieces {
		if o := &pieces[i]; o.device == device && o.before(next) < 0 && (last == nil || o.before(last) > 0) {
			last = &o.Work
		}
	}
	return last
}

// checkPatterns holds the sums by pattern and the single gaps to the idle time of the whole.
func (w *world) checkPatterns(t *testing.T, seed uint64, sums *Sums, a *Account) {
	t.Helper()
	var whole, byPattern, single idle
	for i := range sums.rows {
		if sums.isWhole(&sums.rows[i]) {
			whole.parts.add(&a.idle[i].parts)
			whole.gaps += a.idle[i].gaps
		}
	}
	for _, p := range a.patterns {
		byPattern.parts.add(&p.parts)
		byPattern.gaps += p.count
		if p.max > p.parts.Sum() || p.max*p.count < p.parts.Sum() {
			t.Fatalf("seed %d: %d gaps of %d ns together, the longest of %d", seed, p.count, p.parts.Sum(), p.max)
		}
	}
	for _, l := range a.longest {
		for _, g := range *l {
			single.parts.add(&g.parts)
			single.gaps++
			if g.parts.Sum() != g.end-g.start {
				t.Fatalf("seed %d: a gap of %d ns has parts %v", seed, g.end-g.start, g.parts)
			}
		}
	}
	if whole != byPattern || whole != single {
		t.Fatalf("seed %d: idle %+v, by pattern %+v, single gaps %+v", seed, whole, byPattern, single)
	}
	checkOpens(t, seed, sums, a)
}

// checkOpens holds that gaps are told apart by the sets of ranges of their launches, and by whether they lie before the work of one of these ranges.
func checkOpens(t *testing.T, seed uint64, sums *Sums, a *Account) {
	t.Helper()
	type place struct {
		node, path, device int32
		opens              int64
	}
	single, byPattern := map[place]int64{}, map[place]int64{}
	for _, l := range a.longest {
		for _, g := range *l {
			single[place{g.node, g.path, g.device, g.opens}]++
			chain := []int32{}
			for n := g.node; n != NoNode; n = a.lines.Parent(n) {
				chain = append(chain, a.lines.Span(n))
			}
			slices.Reverse(chain) // outermost first
			for depth, span := range chain {
				if is, want := g.opens>>depth&1 == 1, sums.row(span, g.device).first == g.end; is != want {
					t.Fatalf("seed %d: a gap to %d opens %b of %v: of range %d it should be %t", seed, g.end, g.opens, chain, span, want)
				}
			}
		}
	}
	for _, p := range a.patterns {
		if p.node == laterNode {
			t.Fatalf("seed %d: %d patterns, and some are not told apart", seed, len(a.patterns))
		}
		byPattern[place{p.node, p.path, p.device, p.opens}] += p.count
	}
	if !maps.Equal(single, byPattern) {
		t.Fatalf("seed %d: gaps by set of ranges %v, by pattern %v", seed, single, byPattern)
	}
}

// TestLaterPatterns holds that patterns beyond the most that are told apart by sets of ranges are those of a path, from the first gap on, and that nothing is lost.
func TestLaterPatterns(t *testing.T) {
	a := &Account{patterns: map[gapKey]*gapSum{}, apart: 3}
	for i := range int32(10) {
		a.pattern(gapKey{path: 1, node: i, before: 1, after: 2}).count++
	}
	a.pattern(gapKey{path: noPath, node: NoNode, before: 1, after: 2}).count++
	a.pattern(gapKey{path: 1, node: 2, before: 1, after: 2}).count++
	got := map[int32]int64{}
	for k, p := range a.patterns {
		got[k.node] = p.count
	}
	if want := map[int32]int64{0: 1, 1: 1, 2: 2, laterNode: 7, NoNode: 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The longest gaps are kept, of those of one length the first.
func TestLongestGaps(t *testing.T) {
	c := &sweepCase{}
	c.build(t)
	m, list := newMade(c.lines), &WorkList{}
	m.Work = []*WorkList{list}
	at := int64(0)
	for i := range int64(LongestGaps + 500) {
		list.Add(Work{Start: at, End: at + 1, Launch: NoLaunch, Label: m.Labels.Of(Label{KernelName: 1})})
		at += 1 + 10 + i%2
	}
	list.Add(Work{Start: at, End: at + 1, Launch: NoLaunch, Label: m.Labels.Of(Label{KernelName: 1})})
	_, a := AccountFor(m.Source, 0)
	gaps := *a.longest[0]
	long, last := 0, int64(0)
	for _, g := range gaps {
		if g.end-g.start == 11 {
			long++
		} else {
			last = max(last, g.start)
		}
	}
	if len(gaps) != LongestGaps || long != (LongestGaps+500)/2 || last > at*19/20 {
		t.Errorf("%d gaps, %d of the longer, the last short one at %d of %d", len(gaps), long, last, at)
	}
}

// Calls longer than what a record holds, and far from each other, are kept whole.
func TestLongCalls(t *testing.T) {
	c := &Calls{}
	l := c.List()
	l.Add(0, 5, 3_000_000_000, WaitCall)
	l.Add(0, 9_000_000_000, 7, LaunchCall)
	l.Add(0, 9_000_000_100, 20_000_000_000, OtherCall)
	l.Add(0, 10_000_000_000, 1_000_000_000, WaitCall) // inside it, over every border of what a record holds
	l.Break()
	l.Add(0, 12_000_000_000, 9_000_000_000, LaunchCall)
	h := newHost(c.settle(), nil, HostStretch)
	got := h.split(0, 30_000_000_000, Caller{Start: 29_000_000_200, End: 29_000_000_300}, false)
	want := Parts{InWait: 3_000_000_000, InLaunch: 7 + 100, Late: 93 + 100, InCall: 20_000_000_000, OnHost: 5 + 9_000_000_000 - 3_000_000_005}
	if want[Queued] = 30_000_000_000 - want.Sum(); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A call of years takes one record.
func TestEndlessCall(t *testing.T) {
	c := &Calls{}
	c.List().Add(0, -1<<55, 1<<56, WaitCall)
	if n := c.lists[0].lines[0].rows.Len(); n != 1 {
		t.Errorf("%d records", n)
	}
	h := newHost(c.settle(), nil, HostStretch)
	if got, want := h.split(0, 100, Caller{Start: 90, End: 95}, false), (Parts{InWait: 90, InLaunch: 5, Latency: 5}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// Going back and forth between calls that are far apart finds the same as going along them.
func TestSeek(t *testing.T) {
	c := &Calls{}
	l := c.List()
	for i := range int64(5000) {
		if i%700 == 0 {
			l.Break()
		}
		l.Add(0, 10*i, 1+i%7, OtherCall)
	}
	w := callWalk{blocks: c.settle()[0].blocks}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		at := random.Int64N(51_000) - 500
		w.seek(at)
		want := max(0, at/10)
		if at >= 0 && at%10 >= 1+want%7 {
			want++
		}
		start, _, _, ok := w.next()
		if ok != (want < 5000) || ok && start != 10*want {
			t.Fatalf("after %d comes the call at %d (%v), want that at %d", at, start, ok, 10*want)
		}
	}
}

func TestKindOfCall(t *testing.T) {
	for name, want := range map[string]CallKind{
		"cudaLaunchKernel": LaunchCall, "cuLaunchKernelEx": LaunchCall, "cudaGraphLaunch_v10000": GraphCall, "cuGraphLaunch": GraphCall, "hipModuleLaunchKernel": LaunchCall,
		"cudaLaunchCooperativeKernel": LaunchCall, "cudaMemsetAsync": LaunchCall, "cuMemsetD32Async": LaunchCall,
		"cudaMemcpyAsync": CopyCall, "cuMemcpyHtoDAsync_v2": CopyCall, "hipMemcpyWithStream": CopyCall,
		"cudaStreamSynchronize": WaitCall, "cudaEventSynchronize": WaitCall, "cudaDeviceSynchronize": WaitCall, "cuCtxSynchronize": WaitCall,
		"cudaMalloc": OtherCall, "cudaFree": OtherCall, "cuModuleLoadData": OtherCall, "cudaStreamWaitEvent": OtherCall, "cudaEventQuery": QueryCall, "cuStreamQuery": QueryCall,
		"cudaGraphInstantiate_v12000": OtherCall, "cudaGraphAddMemcpyNode": OtherCall, "cudaGraphAddKernelNode": OtherCall,
	} {
		if got := KindOfCall(name); got != want {
			t.Errorf("%s is of kind %d, want %d", name, got, want)
		}
	}
}
