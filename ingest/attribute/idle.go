package attribute

import "sync"

// HostStretch is the least time between two CUDA calls in which a thread is not on the way from one launch to the next, but does something else. Pace
// raises it for threads that take long for each launch.
const HostStretch = int64(100_000)

// Part is what the thread that launches the next work was doing while a GPU was idle; in the order of terms.Parts.
type Part uint8

const (
	InLaunch   Part = iota // inside a call that launches work and is shorter than HostStretch, or launches a graph that has not begun
	Late                   // between two calls, on the way to the launch
	Latency                // nothing: the launch, which began after the GPU had run dry, had returned less than HostStretch before
	InWait                 // inside a call that waits for the device, or copies
	InCall                 // inside another call, or one that launches and takes HostStretch or longer: it loads the kernel's code first
	OnHost                 // outside CUDA for longer than launches take, HostStretch at least
	InProfiler             // the profiler was at work on the thread
	Queued                 // nothing: the launch had returned, having begun before the GPU ran dry, or HostStretch or longer before its work; or its graph had begun
	Unknown                // the launch was not captured
	parts
)

// partNames are the names of the parts in terms.Parts, under which they are stored.
var partNames = [parts]string{InLaunch: "launch", Late: "launch-delay", Latency: "launch-latency", InWait: "wait", InCall: "call", OnHost: "host", InProfiler: "profiler", Queued: "queued", Unknown: "unknown"}

// Parts are times in ns by Part.
type Parts [parts]int64

// each yields the parts that are not empty.
func (p *Parts) each(yield func(Part, int64) bool) {
	for part, ns := range p {
		if ns > 0 && !yield(Part(part), ns) {
			return
		}
	}
}

// largest is the first of those with the most time.
func (p *Parts) largest() (most Part) {
	for part, ns := range p.each {
		if ns > p[most] {
			most = part
		}
	}
	return most
}

// Sum is the idle time of all parts.
func (p *Parts) Sum() (sum int64) {
	for _, ns := range p {
		sum += ns
	}
	return sum
}

func (p *Parts) add(o *Parts) {
	for i, ns := range o {
		p[i] += ns
	}
}

func (p *Parts) sub(o *Parts) {
	for i, ns := range o {
		p[i] -= ns
	}
}

// Caller is the call that launched a piece of device work.
type Caller struct {
	Thread     int32 // number of the calling thread, as in Calls
	Node       int32 // ranges open when it began; NoNode outside every range
	Start, End int64
}

// Overhead is time that the profiler took on threads. Where a capture does not say whose thread it was, it is not known to have kept any
// from its work.
type Overhead struct {
	mu sync.Mutex
	of map[int32][]interval
}

// Add takes a stretch of time in which the profiler was at work on a thread.
func (o *Overhead) Add(thread int32, start, end int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[int32][]interval{}
	}
	o.of[thread] = append(o.of[thread], interval{start, end})
}

// settle returns each thread's stretches in the order of time, joined.
func (o *Overhead) settle() map[int32][]interval {
	for thread, list := range o.of {
		o.of[thread] = joined(list)
	}
	return o.of
}

// host tells idle time by what threads were doing.
type host struct {
	stretch int64 // HostStretch, but for tests
	walks   []callWalk
	busy    map[int32][]interval
}

// newHost makes a host for one goroutine. calls are by thread, busy is the profiler at work; both are only read.
func newHost(calls []threadCalls, busy map[int32][]interval, stretch int64) *host {
	h := &host{stretch: stretch, busy: busy}
	for thread, c := range calls {
		h.walks = append(h.walks, callWalk{blocks: c.blocks, stretch: c.pace.Stretch(stretch), busy: overlaps{list: busy[int32(thread)]}})
	}
	return h
}

func (h *host) walk(thread int32) *callWalk {
	for int(thread) >= len(h.walks) {
		h.walks = append(h.walks, callWalk{stretch: h.stretch, busy: overlaps{list: h.busy[int32(len(h.walks))]}})
	}
	return &h.walks[thread]
}

// split cuts the idle time [from, to) before the work that c launched into its parts. hasBegun says that the work before it is of the same call.
func (h *host) split(from, to int64, c Caller, hasBegun bool) (p Parts) {
	w := h.walk(c.Thread)
	returned := min(to, c.End)
	if stop := min(returned, c.Start); from < stop {
		h.ahead(w, from, stop, c.Start, &p)
	}
	if at := max(from, min(c.Start, to)); at < returned {
		w.piece(at, returned, h.ownPart(w, c, hasBegun), &p)
	}
	if at := max(from, returned); at < to {
		part := Queued
		if c.Start >= from && to-at < h.stretch { // a device takes some us to start work; what takes far longer waits for something else
			part = Latency
		}
		p[part] += to - at
	}
	return p
}

// ahead tells [from, stop), which is ahead of the launch that begins at launch.
func (h *host) ahead(w *callWalk, from, stop, launch int64, p *Parts) {
	w.seek(from)
	last, ok := w.before()
	if !ok {
		last = -Forever
	}
	for from < stop {
		start, end, kind, ok := w.next()
		if !ok {
			start = Forever
		}
		if start > from {
			h.outside(w, interval{from, min(start, stop)}, interval{last, min(start, launch)}, p)
			from = start
			continue
		}
		w.piece(from, min(end, stop), h.part(kind, end-start), p)
		from, last = end, end
		w.step()
	}
}

// outside is time outside all calls: a piece of the stretch from the end of one call to the start of the next.
func (h *host) outside(w *callWalk, piece, stretch interval, p *Parts) {
	part, length := Late, stretch.end-stretch.start
	if stretch.start == -Forever || length >= w.stretch && length-w.busy.with(stretch.start, stretch.end) >= w.stretch {
		part = OnHost
	}
	w.piece(piece.start, piece.end, part, p)
}

// part tells a call that launched nothing of what is next.
func (h *host) part(kind CallKind, duration int64) Part {
	switch {
	case kind == GraphCall, kind == LaunchCall && duration < h.stretch:
		return InLaunch
	case kind == CopyCall, kind == WaitCall:
		return InWait
	}
	return InCall
}

// ownPart returns what the time in the call that launches the next work counts as. A copy's is its launch, however long it takes: it may be what moves
// the bytes. A graph whose first node has begun was handed over: what lies between its nodes during the call lies there after it too.
func (h *host) ownPart(w *callWalk, c Caller, hasBegun bool) Part {
	w.seek(c.Start)
	start, end, kind, ok := w.next()
	switch {
	case !ok || start != c.Start || kind == CopyCall || kind == WaitCall:
		return InLaunch
	case kind == GraphCall && hasBegun:
		return Queued
	}
	return h.part(kind, end-start)
}

// piece adds [from, to) to a part, less what the profiler took of it.
func (w *callWalk) piece(from, to int64, part Part, p *Parts) {
	if from >= to {
		return
	}
	took := w.busy.with(from, to)
	p[InProfiler] += took
	p[part] += to - from - took
}
