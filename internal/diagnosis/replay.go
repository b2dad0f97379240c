package diagnosis

import (
	"cmp"
	"slices"
	"strings"
)

// What is usual for an eager launch on a recent GPU, in ns: for events that a cause puts in, and to tell what a piece of work waited for. Work that
// begins within latencyNs of its launch may have waited for it, and within gapNs of the end of other work for that. The starts and ends of work are
// known to some grainNs.
const (
	launchNs    = 5_000
	madeLatency = 6_000
	madeGap     = 1_000
	madeTail    = 3_000
	latencyNs   = 60_000
	gapNs       = 4_000
	grainNs     = 300
)

// point is a start or an end, at the time that the capture has it, or when the work's turn comes.
type point struct {
	at    int64
	phase int // ends of what came before, what takes no time yet, starts
	isEnd bool
	e     *Event
}

// gpu is how far the work of a device has come: the end of what ended last, as captured and as replayed.
type gpu struct{ end, newEnd int64 }

// host is how far a process has come.
type host struct {
	later int64    // by how much its threads are behind what was captured
	ended []*Event // its work that has ended
}

// Replay moves every event to when it would have been with the pauses, lengths and events that causes put in. A capture without any stays as it is.
func (c *Capture) Replay() {
	groups := collectives(c.Events)
	points := make([]point, 0, 2*len(c.Events))
	turns := c.turns()
	for _, e := range c.Events {
		start, first, last := max(e.Start, turns[e]), 3, 0
		end := max(e.End, start)
		if start == end {
			first, last = 1, 2
		}
		points = append(points, point{start, first, false, e}, point{end, last, true, e})
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.phase/3, b.phase/3)) })
	hosts, gpus, shortest := map[int64]*host{}, map[[2]int64]*gpu{}, map[string]int64{}
	for _, e := range c.Events {
		if length, has := shortest[e.Name]; e.Kind == Call && !e.isMade && (!has || e.End-e.Start < length) {
			shortest[e.Name] = e.End - e.Start
		}
		hosts[e.Process], gpus[[2]int64{e.Process, e.Device}] = &host{}, &gpu{}
	}
	step := func(p point) {
		e, h := p.e, hosts[p.e.Process]
		switch g := gpus[[2]int64{e.Process, e.Device}]; {
		case e.Kind == Work && !p.isEnd:
			e.newStart = e.begins(g, shortest)
		case e.Kind == Work:
			e.newEnd = e.ends(groups[e])
			g.end, g.newEnd = max(g.end, e.End), max(g.newEnd, e.newEnd)
			h.ended = append(h.ended, e)
		case !p.isEnd:
			h.later += e.Pause
			e.newStart, e.hasBegun = e.Start+h.later, true
		default:
			h.finish(e)
		}
	}
	done := make([]bool, len(points))
	for i, p := range points {
		if p.isEnd && p.e.isMade && p.e.isBlocking { // it waits for work that the capture has later
			for j, q := range points[i:] {
				if w := q.e; !done[i+j] && w.Kind == Work && w.Process == p.e.Process && w.launch != nil && w.launch.hasBegun {
					step(q)
					done[i+j] = true
				}
			}
		}
		if !done[i] {
			step(p)
		}
	}
	for _, e := range c.Events {
		e.Start, e.End, e.Pause, e.Longer, e.isMade, e.hasBegun = e.newStart, e.newEnd, 0, 0, false, false
		e.row.setTimes(e)
	}
}

// turns returns when the work before in its stream ends, of work that begins earlier by the grain of the GPU's clock: its turn comes then.
func (c *Capture) turns() map[*Event]int64 {
	type stream struct{ process, device, stream int64 }
	out, ends := map[*Event]int64{}, map[stream]int64{}
	for _, e := range c.find(func(e *Event) bool { return e.Kind == Work && !e.isMade }) {
		s := stream{e.Process, e.Device, e.Stream}
		if end := ends[s]; e.Start < end && end-e.Start <= grainNs {
			out[e] = end
		}
		ends[s] = max(ends[s], e.End)
	}
	return out
}

// begins is when a piece of work begins: after its launch, and after the work before it, as far behind each as it was. What stood in the queue could
// have begun when a call of its kind returns that need not wait for room there: the launch of a graph takes long.
func (e *Event) begins(g *gpu, shortest map[string]int64) int64 {
	launched, latency := int64(0), int64(0)
	if e.launch != nil {
		launched, latency = e.launch.newStart, e.Start-e.launch.Start
	}
	gap := e.Start - g.end
	switch {
	case e.isMade:
		return max(launched+madeLatency, g.newEnd+madeGap)
	case e.launch == nil:
		return e.Start + max(g.newEnd-g.end, 0)
	case latency > latencyNs || gap <= gapNs:
		return max(launched+min(latency, max(madeLatency, shortest[e.launch.Name])), g.newEnd+gap)
	}
	return max(launched+latency, g.newEnd+min(gap, gapNs))
}

// ends is when it ends; a collective ends as long after the last rank has come to it as it did.
func (e *Event) ends(group []*Event) int64 {
	start, newStart := e.Start, e.newStart
	for _, other := range group {
		if other.Start <= e.End { // clocks of ranks differ by some us
			start, newStart = max(start, other.Start), max(newStart, other.newStart)
		}
	}
	return newStart + e.End - start + e.Longer
}

// finish ends what a thread does. A call that waits for the GPU ends as long after its work as it did.
func (h *host) finish(e *Event) {
	end := e.End + h.later + e.Longer
	if e.isBlocking {
		last, newLast := int64(0), int64(0)
		for _, w := range h.ended {
			if w.launch == nil || w.launch.Start <= e.Start {
				last, newLast = max(last, w.End), max(newLast, w.newEnd)
			}
		}
		tail := e.End - max(last, e.Start)
		if e.isMade {
			tail = madeTail
		}
		end = max(newLast, e.newStart) + tail + e.Longer
	}
	e.newEnd = max(end, e.newStart)
	if e.Kind == Call {
		h.later = e.newEnd - e.End
	}
}

// collectives returns the events of all ranks that are one collective: the first of each name, the second, ...
func collectives(events []*Event) map[*Event][]*Event {
	type key struct {
		name string
		nth  int
	}
	type member struct {
		process int64
		name    string
	}
	groups, count := map[key][]*Event{}, map[member]int{}
	for _, e := range (&Capture{Events: events}).find(func(e *Event) bool { return e.Kind == Work && strings.HasPrefix(e.Name, "nccl") && !e.isMade }) {
		m := member{e.Process, e.Name}
		count[m]++
		k := key{e.Name, count[m]}
		groups[k] = append(groups[k], e)
	}
	out := map[*Event][]*Event{}
	for _, g := range groups {
		for _, e := range g {
			if len(g) > 1 {
				out[e] = g
			}
		}
	}
	return out
}
