package critical

import (
	"cmp"
	"slices"

	"prof/ingest/attribute"
)

// Device work that starts within nearGap of the end of other work may have waited for it; after that it waited for something else. Captures seldom say which work
// an event was recorded behind, so that this stands for it between streams.
const nearGap = int64(4_000)

// share is a part of an edge's lag.
type share struct {
	Label
	ns int64
}

// edge is what a node waits for: node from, and a lag after it. The lag's shares are in the order of time.
type edge struct {
	from   int32
	lag    int64
	shares []share
}

// node is a moment that depends on others. Without edges it is fixed.
type node struct {
	at    int64
	edges []edge
	ready *arrival // of the end of a collective that waited for another rank
}

// arena makes many short lists of few pieces of memory: a step of 10,000 pieces of work has 100,000 lists, which took a third of the time to make.
type arena[T any] struct{ free []T }

const arenaPiece = 512

// add appends to a list, which nobody else appends to.
func (a *arena[T]) add(list []T, x T) []T {
	if len(list) == cap(list) {
		n := 2*len(list) + 1
		if n > len(a.free) {
			a.free = make([]T, max(n, arenaPiece))
		}
		list, a.free = append(a.free[:0:n], list...), a.free[n:]
	}
	return append(list, x)
}

// arrival is a moment that another rank decides, and the start of the work that waited for it.
type arrival struct {
	at    int64
	start int32
	Label
}

// Graph is a step's nodes and what each waits for.
type Graph struct {
	t      *Timeline
	lines  []line
	works  []int32 // indices of Timeline.Works, in the order of their starts
	nodes  []node
	end    int32
	ends   []int32 // places of all work, in the order of its ends
	order  []int32 // nodes that the end depends on, each behind those that it depends on itself
	replay replay
	edges  arena[edge]
	shares arena[share]
	usual  map[int32]int64       // how long work takes from the start of its call to its own, by API function
	since  []int64               // when the work before on the stream was launched, by the place of work; never where that is not known
	queues map[int32][]int32     // places of the work of each stream, in the order of its launches
	graphs map[int32][]int32     // places of the work of each replay of a graph, by the node of its call
	waits  map[int32][]EventWait // by stream, in the order of time
	calls  map[int32][]EventWait // by calling thread, of streams that the capture does not name, in the order of time
}

// root is the node of the step's start.
const root = int32(0)

// line is a thread: its outermost calls, in the order of time.
type line struct {
	calls  []APICall
	first  int32 // node of the first call's start; a call has two
	away   int64 // the least time between two calls in which the thread is at something else than launching
	inside []change
	busy   []Span
}

// Build makes the graph of a step.
func Build(t *Timeline) *Graph {
	g := &Graph{t: t, lines: make([]line, len(t.Threads)), works: make([]int32, len(t.Works)), ends: make([]int32, 0, len(t.Works)), since: make([]int64, 0, len(t.Works))}
	size := 2 + 2*len(t.Works)
	for i := range t.Threads {
		th := &t.Threads[i]
		g.lines[i] = line{calls: outermost(th.Calls), inside: innermost(th.Frames), busy: joined(th.Busy)}
		g.lines[i].setPace()
		size += 2 * len(g.lines[i].calls)
	}
	g.nodes = append(make([]node, 0, size), node{at: t.Start})
	for i := range g.lines {
		l := &g.lines[i]
		l.first = int32(len(g.nodes))
		for _, c := range l.calls {
			g.nodes = append(g.nodes, node{at: c.Start}, node{at: c.End})
		}
	}
	for i := range g.works {
		g.works[i] = int32(i)
	}
	slices.SortStableFunc(g.works, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Works[a].Start, t.Works[b].Start), cmp.Compare(t.Works[a].End, t.Works[b].End))
	})
	first := int32(len(g.nodes))
	for at, i := range g.works {
		g.ends = append(g.ends, int32(at))
		g.nodes = append(g.nodes, node{at: t.Works[i].Start}, node{at: t.Works[i].End})
	}
	slices.SortStableFunc(g.ends, func(a, b int32) int { return cmp.Compare(g.work(a).End, g.work(b).End) })
	g.queue()
	g.usual = g.latencies()
	g.linkWork(first)
	for i := range g.lines {
		g.linkThread(int32(i), first)
	}
	g.linkEnd(first)
	g.sort()
	g.replay = g.flat()
	return g
}

// wait makes a node wait for another. What was before the step is over: nothing then depends on anything, and of an edge that begins then only the rest counts.
func (g *Graph) wait(n, from int32, lag int64, shares []share) {
	if g.nodes[n].at <= g.t.Start {
		return
	}
	if over := g.t.Start - g.nodes[from].at; over > 0 {
		if from, lag = root, lag-over; lag < 0 {
			return
		}
		shares = slices.Clone(shares)
		for over > 0 && len(shares) > 0 {
			gone := min(over, shares[0].ns)
			over -= gone
			if shares[0].ns -= gone; shares[0].ns == 0 {
				shares = shares[1:]
			}
		}
	}
	g.nodes[n].edges = g.edges.add(g.nodes[n].edges, edge{from, lag, shares})
}

// linkEnd makes the last node, which the step ends with: when its thread is done with it and all work that was launched in it has ended.
func (g *Graph) linkEnd(first int32) {
	t := g.t
	g.end = int32(len(g.nodes))
	g.nodes = append(g.nodes, node{at: t.End})
	for at := range int32(len(g.works)) {
		w := g.work(at)
		if t.Ending == OnNext {
			if w.Start == t.End {
				g.end = first + 2*at
				break
			}
		} else if w.Thread != None && w.LaunchStart >= t.Start && w.LaunchStart <= t.Returned && w.End <= t.End {
			g.wait(g.end, first+2*at+1, 0, nil)
		}
	}
	if t.Ending != OnNext {
		from := g.lastOn(t.Thread, t.Returned, true)
		at := g.nodes[from].at
		g.wait(g.end, from, t.Returned-at, g.cpu(t.Thread, at, t.Returned))
		g.reach(&g.nodes[g.end])
	}
}

// lastOn is what a thread came to last by a time, or before it; root where that was before the step.
func (g *Graph) lastOn(thread int32, at int64, by bool) int32 {
	l := &g.lines[thread]
	is := func(t int64) bool { return t > g.t.Start && (t < at || by && t == at) }
	n := upTo(l.calls, at, func(c APICall) int64 { return c.Start })
	if n > 0 && !is(l.calls[n-1].Start) && l.calls[n-1].Start == at {
		n--
	}
	switch node := l.first + 2*int32(n-1); {
	case n > 0 && is(l.calls[n-1].End):
		return node + 1
	case n > 0 && is(l.calls[n-1].Start):
		return node
	}
	return root
}

// upTo is how many of a list, which is in the order of a time, have it at the latest at a moment.
func upTo[T any](list []T, at int64, of func(T) int64) int {
	n, _ := slices.BinarySearchFunc(list, at, func(x T, at int64) int {
		if of(x) <= at {
			return -1
		}
		return 1
	})
	return n
}

// linkThread makes calls wait for those before them on their thread, and those that wait for the device for its work.
func (g *Graph) linkThread(thread, first int32) {
	l := &g.lines[thread]
	for i, c := range l.calls {
		start := l.first + 2*int32(i)
		gap := c.Start
		if i > 0 {
			gap = c.Start - l.calls[i-1].End
		}
		switch {
		case i > 0 && g.nodes[start-1].at > g.t.Start && (thread == g.t.Thread || gap < l.away):
			g.wait(start, start-1, gap, g.cpu(thread, l.calls[i-1].End, c.Start))
		case thread == g.t.Thread:
			g.wait(start, root, c.Start-g.t.Start, g.cpu(thread, g.t.Start, c.Start))
		default: // what another thread does after a pause it was given to do
			from := g.lastOn(g.t.Thread, c.Start, false)
			at := g.nodes[from].at
			g.wait(start, from, c.Start-at, g.cpu(g.t.Thread, at, c.Start))
		}
		works := g.awaited(thread, c)
		own := c.End - c.Start
		for _, w := range works {
			own = min(own, c.End-g.work(w).End)
		}
		shares := g.cpu(thread, c.End-own, c.End)
		if len(works) > 0 { // of a copy too
			renamed(shares, Launch, Wait)
		}
		for _, w := range works {
			g.wait(start+1, first+2*w+1, own, shares)
		}
		g.wait(start+1, start, own, shares)
	}
}

// awaited returns the work, by its place, whose ends a call waited for, the last first: the last to end of each stream that it waits for.
func (g *Graph) awaited(thread int32, c APICall) (out []int32) {
	switch c.Kind {
	case attribute.WaitCall:
		if c.For.Stream != None {
			return g.before([]Mark{c.For}, c.End)
		}
		n := upTo(g.ends, c.End, g.endOf)
		for k := n - 1; k >= 0 && k >= n-mostBack; k-- {
			w := g.work(g.ends[k])
			isKnown := func(at int32) bool { return g.work(at).Stream == w.Stream }
			if w.launched() < c.For.At && !slices.ContainsFunc(out, isKnown) {
				out = append(out, g.ends[k])
			}
		}
	case attribute.CopyCall:
		if at := g.ownCopy(thread, c); at != None {
			out = append(out, at)
		}
	}
	return out
}

// launched is when work was launched, by its start at the latest.
func (w *Work) launched() int64 {
	if w.Thread == None {
		return w.Start
	}
	return w.LaunchStart
}

// queue puts the work of each stream, and its waits, into the order of their calls.
func (g *Graph) queue() {
	g.queues, g.graphs, g.waits, g.calls = map[int32][]int32{}, map[int32][]int32{}, map[int32][]EventWait{}, map[int32][]EventWait{}
	for at := range int32(len(g.works)) {
		w, since := g.work(at), never
		queue := g.queues[w.Stream]
		if n := len(queue); n > 0 && g.work(queue[n-1]).Thread != None {
			since = g.work(queue[n-1]).LaunchStart
		}
		g.since, g.queues[w.Stream] = append(g.since, since), append(queue, at)
		if w.Thread != None {
			if from, c := g.callOf(w); from != root && c.Kind == attribute.GraphCall {
				g.graphs[from] = append(g.graphs[from], at)
			}
		}
	}
	for _, list := range g.queues {
		slices.SortStableFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(g.work(a).launched(), g.work(b).launched()), cmp.Compare(g.work(a).End, g.work(b).End))
		})
	}
	for _, w := range g.t.Waits {
		if w.Stream == None {
			g.calls[w.Thread] = append(g.calls[w.Thread], w)
		} else {
			g.waits[w.Stream] = append(g.waits[w.Stream], w)
		}
	}
	for _, lists := range []map[int32][]EventWait{g.waits, g.calls} {
		for _, list := range lists {
			slices.SortStableFunc(list, func(a, b EventWait) int { return cmp.Compare(a.At, b.At) })
		}
	}
}

// before returns the work, by its place, that had to end for streams to come to marks: what was launched on each last, and what the stream was made to wait for after that.
// What ended later than a moment is passed over.
func (g *Graph) before(marks []Mark, by int64) (out []int32) {
	for i := 0; i < len(marks) && i < mostBack; i++ {
		m, since := marks[i], never
		queue := g.queues[m.Stream]
		n, _ := slices.BinarySearchFunc(queue, m.At, func(at int32, t int64) int { return cmp.Compare(g.work(at).launched(), t) })
		least := max(0, n-mostBack)
		for n--; n >= least && g.work(queue[n]).End > by; n-- {
		}
		if n >= least {
			x := g.work(queue[n])
			since, out = x.launched(), append(out, queue[n])
			if x.Thread != None { // a replay of a graph is over when its last branch is
				if from, _ := g.callOf(x); from != root {
					out = append(out, g.lasts(g.graphs[from], by)...)
				}
			}
		}
		known, _ := g.held(m.Stream, since, m.At)
		for _, k := range known { // a stream that came to a mark has come to all before
			if !slices.ContainsFunc(marks, func(m Mark) bool { return m.Stream == k.Stream && m.At >= k.At }) {
				marks = append(marks, k)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lasts returns of some work, by its place, what ended last of each stream, by a moment.
func (g *Graph) lasts(places []int32, by int64) (out []int32) {
	for _, at := range places {
		x := g.work(at)
		if x.End > by {
			continue
		}
		if i := slices.IndexFunc(out, func(at int32) bool { return g.work(at).Stream == x.Stream }); i < 0 {
			out = append(out, at)
		} else if x.End > g.work(out[i]).End {
			out[i] = at
		}
	}
	return out
}

// held returns what a stream was made to wait for between two moments: of each other stream the last mark, and the latest moment of a mark whose stream is not known, never where there is none.
func (g *Graph) held(stream int32, after, by int64) (known []Mark, unknown int64) {
	unknown = never
	list := g.waits[stream]
	n := upTo(list, by, func(w EventWait) int64 { return w.At })
	for k := n - 1; k >= 0 && k >= n-mostBack && list[k].At > after; k-- {
		w := &list[k]
		if w.For.Stream == None {
			unknown = max(unknown, w.For.At)
			continue
		}
		if i := slices.IndexFunc(known, func(m Mark) bool { return m.Stream == w.For.Stream }); i < 0 {
			known = append(known, w.For)
		} else {
			known[i].At = max(known[i].At, w.For.At)
		}
	}
	return known, unknown
}

// ownCopy returns the copy that a call waits for: to have it on the host, or until pageable memory has been read. None where it does not.
func (g *Graph) ownCopy(thread int32, c APICall) int32 {
	n := upTo(g.works, c.Start-1, func(i int32) int64 { return g.t.Works[i].Start })
	for ; n < len(g.works); n++ {
		switch w := g.work(int32(n)); {
		case w.Start > c.End:
			return None
		case (w.IsBack || c.End-c.Start >= attribute.HostStretch) && w.Cause == Copy && w.Thread == thread && w.LaunchStart >= c.Start && w.End <= c.End:
			return int32(n)
		}
	}
	return None
}

func (g *Graph) work(place int32) *Work { return &g.t.Works[g.works[place]] }

func (g *Graph) endOf(place int32) int64 { return g.work(place).End }

// callOf returns the node at the start of the call that launched work; root when it is not in the timeline.
func (g *Graph) callOf(w *Work) (start int32, c APICall) {
	l := &g.lines[w.Thread]
	n, found := slices.BinarySearchFunc(l.calls, w.LaunchStart, func(c APICall, at int64) int { return cmp.Compare(c.Start, at) })
	if !found {
		n--
	}
	if n < 0 || l.calls[n].End < w.LaunchStart {
		return root, APICall{}
	}
	return l.first + 2*int32(n), l.calls[n]
}

// choice is something that work may have waited for.
type choice struct {
	from   int32
	ready  int64   // when it would have let the work start
	label  Label   // of the time between
	call   APICall // of a launch
	isHeld bool    // the capture says that an event held the work back
}

// never is before all moments.
const never = -attribute.Forever

// linkWork makes device work wait for its launch, the work before it on its stream, and work of other streams.
func (g *Graph) linkWork(first int32) {
	last := map[int32]int32{}
	for at := range int32(len(g.works)) {
		w := g.work(at)
		queued := Label{Queued, w.Name, None, None, w.Stream}
		var all []choice
		if before, has := last[w.Stream]; has {
			x := g.work(before)
			c := choice{from: first + 2*before + 1, ready: x.End, label: queued}
			if x.End > w.Start { // a part of it had to run, and that part is its own time
				c = choice{from: first + 2*before, ready: w.Start, label: g.ran(x)}
			}
			all = append(all, c)
		}
		last[w.Stream] = at
		if w.Thread != None && w.LaunchStart <= w.Start {
			all = append(all, g.launched(w))
		}
		ready := never
		add := func(c choice) {
			all, ready = append(all, c), max(ready, c.ready)
		}
		for _, c := range all {
			ready = max(ready, c.ready)
		}
		other := func(from int32, isHeld bool) choice {
			x := g.work(from)
			c := choice{from: first + 2*from + 1, ready: x.End, label: queued, isHeld: isHeld}
			if w.Start-x.End < attribute.HostStretch {
				c.label = Label{StreamWait, x.Name, None, None, x.Stream}
			}
			return c
		}
		marks, unknown := g.held(w.Stream, g.since[at], w.LaunchStart)
		for _, from := range g.before(marks, w.Start) {
			add(other(from, true))
		}
		for _, from := range g.across(at, unknown) {
			add(other(from, false))
		}
		if isHeld := func(c choice) bool { return c.isHeld && c.label.Cause == StreamWait }; ready < w.Start-nearGap && !slices.ContainsFunc(all, isHeld) {
			mark := g.lastCall(at)
			if from := g.near(at, mark); from != None && g.work(from).launched() < mark {
				add(other(from, true))
			} else if from != None {
				add(choice{from: first + 2*from + 1, ready: g.work(from).End, label: queued})
			}
		}
		isOn := func(c choice) bool { // to a device that has work it takes some us at most from one piece to the next
			return c.label.Cause != LaunchLatency && (c.isHeld && c.label.Cause == StreamWait || c.ready >= w.Start-nearGap)
		}
		for i := range all { // else it was launched late
			if l := &all[i]; l.label.Cause == LaunchLatency && w.Start-w.LaunchStart < attribute.HostStretch && !slices.ContainsFunc(all, isOn) {
				l.ready = w.Start
			}
		}
		g.choose(first+2*at, all, w.Thread)
		g.runs(first+2*at, w)
	}
}

// launched is the launch of work as something that it waited for.
func (g *Graph) launched(w *Work) choice {
	from, call := g.callOf(w)
	if from == root { // it was before the step
		return choice{from: root, ready: g.t.Start, label: Label{Queued, w.Name, None, None, w.Stream}}
	}
	took := min(g.usual[call.API], max(fewLatency, call.End-call.Start)) // what is usual may be that of long calls
	return choice{from: from, ready: min(w.Start, w.LaunchStart+took), label: Label{LaunchLatency, w.Name, None, None, w.Stream}, call: call}
}

// choose makes work wait for each of what it may have waited for, as long after each as usual, and after the one that was ready last as long as it did.
func (g *Graph) choose(start int32, all []choice, thread int32) {
	at := g.nodes[start].at
	all = slices.DeleteFunc(all, func(c choice) bool { return g.nodes[c.from].at > at }) // clocks differ
	if len(all) == 0 {
		return
	}
	latest := 0
	for i := range all {
		c := &all[i]
		c.ready = max(c.ready, g.nodes[c.from].at)
		if c.ready > all[latest].ready {
			latest = i
		}
	}
	for i, c := range all {
		until := c.ready
		if i == latest {
			until = at
		}
		from := g.nodes[c.from].at
		g.wait(start, c.from, until-from, g.after(c, thread, until))
	}
}

// after splits the time from what work waited for to a moment. A device takes some us to start work; what takes far longer waits for something else.
func (g *Graph) after(c choice, thread int32, until int64) (out []share) {
	from := g.nodes[c.from].at
	if c.label.Cause == LaunchLatency {
		returned := max(from, min(c.call.End, until))
		out, from = g.cpu(thread, from, returned), returned
		renamed(out, Wait, Launch) // the call of a copy that is waited for later
		if usual := max(from, min(c.ready, until)); until-from >= attribute.HostStretch {
			if usual > from {
				out = g.shares.add(out, share{Label: c.label, ns: usual - from})
			}
			c.label.Cause, from = Queued, usual
		}
	}
	if until > from {
		out = g.shares.add(out, share{Label: c.label, ns: until - from})
	}
	return out
}

func renamed(shares []share, was, now Cause) {
	for i := range shares {
		if shares[i].Cause == was {
			shares[i].Cause = now
		}
	}
}

// ran labels the time of a piece of work. A step that ends with the next one's work begins with its own.
func (g *Graph) ran(w *Work) Label {
	l, began := Label{w.Cause, w.Name, None, None, w.Stream}, w.Start
	if w.Thread != None && g.t.Ending != OnNext {
		began = w.LaunchStart
	}
	if began < g.t.Start {
		l.Cause = Earlier
	}
	return l
}

// runs makes the end of work wait for its start, and of a collective for the last rank.
func (g *Graph) runs(start int32, w *Work) {
	label, began := g.ran(w), w.Start
	if label.Cause == Collective && w.Came > w.Start && w.Came <= w.End && w.Came > g.t.Start {
		began = w.Came
		wait := label
		wait.Cause = CollectiveWait
		g.nodes[start+1].ready = &arrival{at: w.Came, start: start, Label: wait}
	}
	g.wait(start+1, start, w.End-began, g.shares.add(nil, share{Label: label, ns: w.End - began}))
}

// fewLatency is how long work takes to start on a recent GPU, for timelines that do not show it.
const fewLatency = int64(6_000)

// latencies are how long work takes from the start of its call to its own, by API function: the lower median of work that found its stream empty and waiting for nothing. Where a function has no
// such work, it is the least of that of others and of all that it has.
func (g *Graph) latencies() map[int32]int64 {
	free, dry, least := map[int32]int64{}, map[int32][]int64{}, map[int32]int64{}
	for at := range int32(len(g.works)) {
		w := g.work(at)
		before, busy := free[w.Stream]
		free[w.Stream] = max(before, w.End)
		if w.Thread == None || w.LaunchStart > w.Start {
			continue
		}
		from, c := g.callOf(w)
		if from == root {
			continue
		}
		took := w.Start - w.LaunchStart
		if old, has := least[c.API]; !has || took < old {
			least[c.API] = took
		}
		known, unknown := g.held(w.Stream, g.since[at], w.LaunchStart)
		if isHeld := len(known) > 0 || max(unknown, g.lastCall(at)) > never; took < attribute.HostStretch && (!busy || before <= w.LaunchStart) && !isHeld {
			dry[c.API] = append(dry[c.API], took)
		}
	}
	out, usual := map[int32]int64{}, attribute.Forever
	for api, list := range dry {
		slices.Sort(list)
		out[api] = list[(len(list)-1)/2]
		usual = min(usual, out[api])
	}
	if len(out) == 0 {
		usual = fewLatency
	}
	for api, took := range least {
		if _, has := out[api]; !has {
			out[api] = min(took, usual)
		}
	}
	return out
}

// mostBack bounds how many pieces of work, and waits, are looked at for what something waited for.
const mostBack = 1000

// across gives, where a stream was made to wait for a mark of an unknown stream, the work of other streams that may have been waited for: what was launched before its latest moment
// and ended last on each.
func (g *Graph) across(at int32, mark int64) (out []int32) {
	if mark == never {
		return nil
	}
	w := g.work(at)
	n := upTo(g.ends, w.Start, g.endOf)
	for i := n - 1; i >= 0 && i >= n-mostBack; i-- {
		x := g.work(g.ends[i])
		isKnown := func(at int32) bool { return g.work(at).Stream == x.Stream }
		if g.ends[i] < at && x.Stream != w.Stream && x.launched() < mark && !slices.ContainsFunc(out, isKnown) {
			out = append(out, g.ends[i])
		}
	}
	return out
}

// lastCall is the latest moment of the mark that some stream was last made to wait for by the thread that launched work, since the launch before on its stream; never where none was.
func (g *Graph) lastCall(at int32) int64 {
	w := g.work(at)
	if w.Thread == None {
		return never
	}
	list := g.calls[w.Thread]
	n := upTo(list, w.LaunchStart, func(w EventWait) int64 { return w.At })
	if n == 0 || list[n-1].At <= g.since[at] {
		return never
	}
	return list[n-1].For.At
}

// near returns the work of another stream that work may have waited for without being said to: what ended within nearGap before it, or, of what was launched before
// the latest moment of a mark, within attribute.HostStretch. None without such work.
func (g *Graph) near(at int32, mark int64) int32 {
	w := g.work(at)
	n := upTo(g.ends, w.Start, g.endOf)
	for i := n - 1; i >= 0 && i >= n-mostBack; i-- {
		x := g.work(g.ends[i])
		gap := w.Start - x.End
		if gap > nearGap && (mark == never || gap >= attribute.HostStretch) {
			break
		}
		if g.ends[i] < at && x.Stream != w.Stream && (gap <= nearGap || x.launched() < mark) {
			return g.ends[i]
		}
	}
	return None
}

// sort puts the nodes that the end depends on behind what they depend on. Edges that close a circle, which only moments of the same time can, are left out.
func (g *Graph) sort() {
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(g.nodes))
	g.order = make([]int32, 0, len(g.nodes))
	type visit struct {
		node int32
		next int
	}
	stack := []visit{{node: g.end}}
	state[g.end] = open
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		edges := g.nodes[v.node].edges
		if v.next == len(edges) {
			state[v.node] = done
			g.order = append(g.order, v.node)
			stack = stack[:len(stack)-1]
			continue
		}
		switch to := edges[v.next].from; state[to] {
		case open:
			g.nodes[v.node].edges = slices.Delete(edges, v.next, v.next+1)
			g.reach(&g.nodes[v.node])
		case fresh:
			v.next++
			state[to] = open
			stack = append(stack, visit{node: to})
		default:
			v.next++
		}
	}
}

// reach puts what is left of a node's time behind the latest of its edges.
func (g *Graph) reach(x *node) {
	if len(x.edges) == 0 {
		return
	}
	e := g.latest(x)
	if left := x.at - g.nodes[e.from].at - e.lag; left > 0 && x.ready == nil {
		e.lag += left
		e.shares = append(slices.Clip(e.shares), share{Label: Label{Unknown, None, None, None, None}, ns: left}) // other edges have the same ones
	}
}
