package attribute

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"prof/ingest/load"
)

// CallKind says what an API call does to the thread that makes it, as idle time of a GPU is told by it.
type CallKind uint8

const (
	OtherCall  CallKind = iota // memory, modules, streams, ...
	LaunchCall                 // hands work over: kernels, fills
	GraphCall                  // hands a graph over, which takes the longer the more nodes it has
	CopyCall                   // hands a copy over, and may wait for it
	WaitCall                   // waits for the device
	QueryCall                  // asks whether something is done, as often as a thread likes; such calls are left out
)

// KindOfCall returns the kind of a function of the CUDA runtime or driver, or of HIP, by its name. Functions that build graphs launch nothing.
func KindOfCall(name string) CallKind {
	switch {
	case strings.Contains(name, "GraphLaunch"):
		return GraphCall
	case strings.Contains(name, "Graph"):
		return OtherCall
	case strings.Contains(name, "EventQuery"), strings.Contains(name, "StreamQuery"):
		return QueryCall
	case strings.Contains(name, "Synchronize"):
		return WaitCall
	case strings.Contains(name, "Memcpy"):
		return CopyCall
	case strings.Contains(name, "Launch"), strings.Contains(name, "Memset"):
		return LaunchCall
	}
	return OtherCall
}

// What is in the names of functions that record an event, and that make a stream wait for one.
const (
	EventRecordCall = "EventRecord"
	StreamWaitCall  = "StreamWaitEvent"
)

// OrdersStreams reports whether a function records events or makes streams wait for them.
func OrdersStreams(name string) bool {
	return strings.Contains(name, EventRecordCall) || strings.Contains(name, StreamWaitCall)
}

// call is an API call of a thread: where it starts from its block's base on, and its duration with the kind in the lowest bits.
type call struct{ start, length uint32 }

const (
	kindBits = 3
	maxStart = int64(1)<<32 - 1
	longCall = int64(1)<<(32-kindBits) - 1 // this and more is in callBlock.long
)

// callBlock are calls of one thread that came one after the other, in the order of their starts.
type callBlock struct {
	base    int64
	first   int64 // start of the first one
	last    int64 // start of the last one
	rows    *load.Blocks[call]
	long    map[int64]int64 // durations that do not fit, by start
	from, n int32
}

func (b *callBlock) at(i int32) (start, end int64, kind CallKind) {
	c := *b.rows.At(b.from + i)
	start = b.base + int64(c.start)
	duration := int64(c.length >> kindBits)
	if duration == longCall {
		duration = b.long[start]
	}
	return start, start + duration, CallKind(c.length & (1<<kindBits - 1))
}

// pack makes the record of a call, which begins no earlier than the block's base and no later than maxStart after it.
func (b *callBlock) pack(start, duration int64, kind CallKind) call {
	if duration >= longCall {
		b.long[start] = duration
		duration = longCall
	}
	return call{uint32(start - b.base), uint32(duration)<<kindBits | uint32(kind)}
}

// Calls are the API calls of a source's threads, for what the threads were doing while a GPU was idle. They take 8 bytes each.
type Calls struct {
	Room  *load.Room // where they lie
	mu    sync.Mutex
	lists []*CallList
}

// List makes a list of one's own for one worker.
func (c *Calls) List() *CallList {
	l := &CallList{room: c.Room}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists = append(c.lists, l)
	return l
}

// CallList keeps the calls that one worker saw, by thread.
type CallList struct {
	room  *load.Room
	lines []*callLine // by number of the thread
	batch int
}

type callLine struct {
	rows   load.Blocks[call]
	long   map[int64]int64
	blocks []callBlock
	batch  int
	outer  int64 // end of the call that holds those to come
}

// Break says that what comes now did not follow what came before: another worker has the calls in between.
func (l *CallList) Break() { l.batch++ }

// Add takes a call. Of those inside the call before, as the driver's inside the runtime's, the outer one tells what the thread does.
func (l *CallList) Add(thread int32, start, duration int64, kind CallKind) {
	if kind == QueryCall {
		return
	}
	for int(thread) >= len(l.lines) {
		l.lines = append(l.lines, nil)
	}
	line := l.lines[thread]
	if line == nil {
		line = newCallLine(l.room)
		l.lines[thread] = line
	}
	fresh := len(line.blocks) == 0 || line.batch != l.batch
	if !fresh {
		b := &line.blocks[len(line.blocks)-1]
		if start >= b.last && start+duration <= line.outer {
			return
		}
		fresh = start <= b.last
	}
	line.batch = l.batch
	line.outer = start + duration
	line.add(start, duration, kind, fresh)
}

func newCallLine(room *load.Room) *callLine {
	return &callLine{rows: load.Blocks[call]{Room: room}, long: map[int64]int64{}}
}

func (l *callLine) add(start, duration int64, kind CallKind, fresh bool) {
	if fresh || start-l.blocks[len(l.blocks)-1].base > maxStart {
		l.blocks = append(l.blocks, callBlock{base: start, first: start, rows: &l.rows, long: l.long, from: int32(l.rows.Len())})
	}
	b := &l.blocks[len(l.blocks)-1]
	l.rows.Add(b.pack(start, duration, kind))
	b.last = start
	b.n++
}

// threadCalls are the calls of one thread in the order of time, none inside another.
type threadCalls struct {
	blocks []callBlock
	pace   Pace
}

// settle returns the calls of each thread. The lists are used up.
func (c *Calls) settle() []threadCalls {
	var out []threadCalls
	for _, l := range c.lists {
		for t, line := range l.lines {
			for t >= len(out) {
				out = append(out, threadCalls{})
			}
			if line != nil {
				out[t].blocks = append(out[t].blocks, line.blocks...)
			}
		}
	}
	for t := range out {
		blocks := out[t].blocks
		slices.SortStableFunc(blocks, func(a, b callBlock) int { return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.last, b.last)) })
		for i := 1; i < len(blocks); i++ {
			if blocks[i-1].last >= blocks[i].base {
				blocks = sorted(blocks, c.Room)
				break
			}
		}
		out[t].outermost(blocks)
	}
	c.lists = nil
	return out
}

// sorted puts calls into order that came in none.
func sorted(blocks []callBlock, room *load.Room) []callBlock {
	type row struct {
		start, end int64
		kind       CallKind
	}
	n := int32(0)
	for _, b := range blocks {
		n += b.n
	}
	rows := load.Reserve[row](room, int(n))[:0]
	for k := range blocks {
		for i := range blocks[k].n {
			start, end, kind := blocks[k].at(i)
			rows = append(rows, row{start, end, kind})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.kind, b.kind))
	})
	line := newCallLine(room)
	for i, r := range rows {
		line.add(r.start, r.end-r.start, r.kind, i == 0)
	}
	return line.blocks
}

// outermost takes calls, of which it leaves out, in place, those inside others; of two that overlap in part the later one begins where the earlier ends.
func (c *threadCalls) outermost(blocks []callBlock) {
	end := -Forever
	out := blocks[:0]
	for _, b := range blocks {
		b.rows.Room.LetGo()
		n := int32(0)
		for i := range b.n {
			start, stop, kind := b.at(i)
			if stop <= end && (stop > start || start < end) {
				continue
			}
			start = max(start, end)
			if start-b.base > maxStart {
				continue // four seconds inside another call
			}
			*b.rows.At(b.from + n) = b.pack(start, stop-start, kind)
			c.pace.Add(start, stop, kind)
			if n == 0 {
				b.first = start
			}
			end, b.last = stop, start
			n++
		}
		if b.n = n; n > 0 {
			out = append(out, b)
		}
	}
	c.blocks = out
}
