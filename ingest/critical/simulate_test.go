package critical

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"prof/ingest/attribute"
)

// program is what a process does, for a simulator that knows nothing of graphs: it keeps the time of each thread and stream.
type program []act

// act is one thing that a thread does: after a pause a call, and what the call hands over.
type act struct {
	kind   byte // k: launch of a kernel, c: blocking copy, s: wait for a stream, d: wait for the device, r: record an event on a stream, w: make a stream wait for the event, v: wait for the event, e: make a stream wait for all others without saying so, o: another call
	pause  int64
	call   int64 // time in the call, of a wait after its work has ended
	stream int32
	name   int32
	work   int64
	frame  int32
}

// latency is less than fewLatency, so that what a timeline shows counts: in one program of 12,000 no launch shows it, and what is taken away then is 1 us off.
const latency = 5_000

// simulate runs a program, and gives what a profiler would record of it. free are kernels that take no time, idle frames outside calls of which none.
func (p program) simulate(start int64, free, idle int32) *Timeline {
	t := &Timeline{Start: start, Threads: make([]Thread, 1)}
	th := &t.Threads[0]
	now, streams, after := start, [3]int64{}, [3]int64{}
	event, behind := int64(0), Mark{Stream: None}
	run := func(a act, from int64) int64 {
		began := max(from+latency, streams[a.stream], after[a.stream])
		after[a.stream] = 0
		took := a.work
		if a.name == free {
			took = 0
		}
		streams[a.stream] = began + took
		w := Work{Start: began, End: began + took, LaunchStart: from, Stream: a.stream, Name: a.name, Cause: Kernel}
		if a.kind == 'c' {
			w.Cause, w.IsBack = Copy, true
		}
		t.Works = append(t.Works, w)
		return began + took
	}
	for _, a := range p {
		if began := now; a.frame != idle {
			now += a.pause
			th.Frames = append(th.Frames, Frame{began, now, a.frame})
		}
		c := APICall{Start: now, API: int32(a.kind), For: Mark{None, now}, Kind: attribute.OtherCall}
		end := now
		switch a.kind {
		case 'k':
			c.Kind = attribute.LaunchCall
			run(a, now)
		case 'c':
			c.Kind = attribute.CopyCall
			end = max(end, run(a, now))
		case 's':
			c.Kind, c.For = attribute.WaitCall, Mark{a.stream, now}
			end = max(end, streams[a.stream], after[a.stream])
		case 'd':
			c.Kind = attribute.WaitCall
			end = max(end, slices.Max(streams[:]))
		case 'r':
			event, behind = max(streams[a.stream], after[a.stream]), Mark{a.stream, now}
		case 'w':
			if behind.Stream != None {
				t.Waits = append(t.Waits, EventWait{a.stream, None, now, behind})
				after[a.stream] = max(after[a.stream], event)
			}
		case 'v':
			if behind.Stream != None {
				c.Kind, c.For = attribute.WaitCall, behind
				end = max(end, event)
			}
		case 'e':
			t.Waits = append(t.Waits, EventWait{a.stream, None, now, Mark{None, now}})
			after[a.stream] = max(after[a.stream], streams[(a.stream+1)%3], streams[(a.stream+2)%3])
		}
		now = end + a.call
		c.End = now
		th.Calls = append(th.Calls, c)
	}
	if t.End, t.Returned = now, now; slices.Max(streams[:]) > now {
		t.End, t.Ending = slices.Max(streams[:]), OnWork
	}
	return t
}

// written writes a program at random: short and long pauses and kernels, so that sometimes the thread is ahead and sometimes the GPU.
func written(r *rand.Rand) program {
	var p program
	scale := int64(1) << r.IntN(8)
	for range 3 + r.IntN(40) {
		a := act{kind: "kkkkkkkkccsdrrwwveo"[r.IntN(19)], pause: 1 + r.Int64N(30_000), call: 1_000 + r.Int64N(6_000), name: r.Int32N(5), stream: r.Int32N(3), work: 1 + r.Int64N(1_000*scale), frame: 100 + r.Int32N(3)}
		if a.kind == 'e' { // of waits that do not say for what, two with no work between are one
			p = append(p, a)
			a.kind = 'k'
		}
		p = append(p, a)
	}
	return p
}

// TestSimulated compares with a simulator: of the steps that it makes, the length without a kernel or without the pauses of a frame is what it gives for the program without them.
func TestSimulated(t *testing.T) {
	for seed := range uint64(3000) {
		p := written(rand.New(rand.NewPCG(seed, 1)))
		line := p.simulate(1_000_000, None, None)
		g := check(t, line, fmt.Sprint("seed ", seed))
		for name := range int32(5) {
			want := p.simulate(1_000_000, name, None)
			if got := g.Length(func(l Label) bool { return l.Work == name && (l.Cause == Kernel || l.Cause == Copy) }); got != want.End-want.Start {
				t.Fatalf("seed %d: without kernel %d the step takes %d ns, by the simulator %d, with it %d", seed, name, got, want.End-want.Start, line.End-line.Start)
			}
		}
		for frame := int32(100); frame < 103; frame++ {
			want := p.simulate(1_000_000, None, frame)
			if got := g.Length(func(l Label) bool { return l.Frame == frame && (l.Cause == Host || l.Cause == LaunchDelay) }); got != want.End-want.Start {
				t.Fatalf("seed %d: without pauses in %d the step takes %d ns, by the simulator %d, with it %d", seed, frame, got, want.End-want.Start, line.End-line.Start)
			}
		}
	}
}

// check proves what holds for every timeline: the path is whole, nothing taken away changes nothing, and a saving is at most the time on the path.
func check(t testing.TB, line *Timeline, what string) *Graph {
	t.Helper()
	g := Build(line)
	length := line.End - line.Start
	at, on := line.Start, map[Label]int64{}
	for _, p := range g.Path() {
		if p.Start != at || p.End <= p.Start {
			t.Fatalf("%s: the piece %v does not follow %d", what, p, at)
		}
		at = p.End
		on[p.Label] += p.End - p.Start
	}
	if at != line.End && length > 0 {
		t.Fatalf("%s: the path ends at %d, the step at %d", what, at, line.End)
	}
	if same := g.Length(func(Label) bool { return false }); same != length {
		t.Fatalf("%s: with nothing taken away the step takes %d ns, it took %d", what, same, length)
	}
	for l, ns := range on {
		if saved := length - g.Length(func(x Label) bool { return x == l }); saved < 0 || saved > ns {
			t.Fatalf("%s: without %v, which takes %d ns of the path, the step is %d ns shorter", what, l, ns, saved)
		}
	}
	return g
}
