// Package diagnosis puts one known cause of lost time into a real capture, so that what a profiler says of it can be held to what was put in.
//
// A Capture is a timeline of a PyTorch trace or of an export of Nsight Systems. A cause says what is different about some of its events: the host
// pauses before a call, a call or a kernel takes longer, a call or a kernel is there that was not. Replay then moves everything else to where it
// would have been: later calls, kernels that waited for their launch or for the work before them, calls that wait for the GPU, ranks that wait for
// each other in a collective. Nothing else is changed. Cases lists the causes with what an engineer should see of each.
package diagnosis

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kind is what an event is.
type Kind uint8

// Kinds of events.
const (
	Range Kind = iota // a range or operator on a thread
	Call              // a CUDA call on a thread
	Work              // a kernel, copy or fill on a GPU
	Mark              // anything else that has a time on the host
)

// Event is something in a capture that has a time. Times are in ns.
type Event struct {
	Kind             Kind
	Name             string
	Process          int64 // of the thread, or of the thread that launched the work
	Thread           int64
	Table            string // of the file, or category, that it is a row of
	Device           int64  // GPU of work
	Stream           int64  // of work
	Correlation      int64  // of calls and the work that they launch; 0 for none
	Start, End       int64
	Pause            int64 // the thread pauses so long before it
	Longer           int64 // it lasts so much longer
	isMade           bool  // a cause put it in
	isBlocking       bool  // a call that lasts until work has ended
	row              row
	launch           *Event // the call that launched the work; nil when it was not captured
	newStart, newEnd int64
	hasBegun         bool // newStart is known
}

// row is an event as the file has it.
type row interface {
	clone() row
	setTimes(e *Event)
	setName(name string)
	setBlocks(n int64)
	setPageable()
	setCorrelation(id int64)
	setThread(id int64)
	blocks() int64
}

// Capture is the events of a file, and the file that they are of.
type Capture struct {
	Events []*Event
	file   file
}

// file writes the events in its form.
type file interface {
	clone() file
	// write returns the paths of the files that it wrote; id is the capture's own.
	write(dir, id string, events []*Event) ([]string, error)
}

// Write writes the capture's files into a folder and gives their paths. An id, which may be any text, makes it a capture of its own.
func (c *Capture) Write(dir, id string) ([]string, error) { return c.file.write(dir, id, c.Events) }

// Clone returns a copy that can be changed.
func (c *Capture) Clone() *Capture {
	out := &Capture{file: c.file.clone()}
	for _, e := range c.Events {
		x := *e
		x.row = e.row.clone()
		out.Events = append(out.Events, &x)
	}
	out.link()
	return out
}

// link finds the call that launched each piece of work, and the calls that wait for work.
func (c *Capture) link() {
	type key struct{ process, correlation int64 }
	calls := map[key]*Event{}
	for _, e := range c.Events {
		if e.Kind == Call && e.Correlation != 0 {
			calls[key{e.Process, e.Correlation}] = e
		}
		e.isBlocking = e.isBlocking || e.Kind == Call && strings.Contains(e.Name, "Synchronize")
	}
	for _, e := range c.Events {
		if e.Kind != Work {
			continue
		}
		e.launch = calls[key{e.Process, e.Correlation}]
		if e.launch != nil && strings.Contains(e.launch.Name, "Memcpy") && e.End <= e.launch.End {
			e.launch.isBlocking = true
		}
	}
}

// Launch is the call that launched work; nil when it was not captured.
func (e *Event) Launch() *Event { return e.launch }

// Place gives an event other times, and moves nothing else.
func (e *Event) Place(start, end int64) {
	e.Start, e.End = start, end
	e.row.setTimes(e)
}

// Double puts a second record of an event into the capture.
func (c *Capture) Double(e *Event) {
	x := *e
	x.row = e.row.clone()
	c.Events = append(c.Events, &x)
}

// Only leaves out what was not done within ranges of a name, and the work that was launched outside.
func (c *Capture) Only(name string) {
	list := c.Ranges(name)
	c.Events = slices.DeleteFunc(c.Events, func(e *Event) bool {
		if e.Kind == Work && e.launch != nil {
			e = e.launch
		}
		return !slices.ContainsFunc(list, func(r *Event) bool { return e.Start >= r.Start && e.End <= r.End })
	})
}

// Ranges returns the ranges whose names match, in order of time.
func (c *Capture) Ranges(name string) []*Event {
	like := regexp.MustCompile(name)
	return c.find(func(e *Event) bool { return e.Kind == Range && e.End > e.Start && like.MatchString(e.Name) })
}

func (c *Capture) find(is func(*Event) bool) []*Event {
	var out []*Event
	for _, e := range c.Events {
		if is(e) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *Event) int { return int(min(max(a.Start-b.Start, -1), 1)) })
	return out
}

// Launches returns the calls that launched work, begun in a range by its process, in order of time.
func (c *Capture) Launches(in *Event) []*Event {
	seen := map[*Event]bool{}
	for _, e := range c.Events {
		if e.Kind == Work && e.launch != nil && in.has(e.launch) {
			seen[e.launch] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b *Event) int { return int(a.Start - b.Start) })
}

// Kernels returns the work launched in a range whose names match, in order of time.
func (c *Capture) Kernels(in *Event, name string) []*Event {
	like := regexp.MustCompile(name)
	return c.find(func(e *Event) bool {
		return e.Kind == Work && e.launch != nil && in.has(e.launch) && like.MatchString(e.Name)
	})
}

// isCopy reports whether work is a copy: it has no blocks, and a copy launched it.
func (e *Event) isCopy() bool {
	return e.row.blocks() == 0 && strings.Contains(e.launch.Name, "Memcpy")
}

// Holds reports whether a call begins within a range of the same process.
func (e *Event) Holds(call *Event) bool { return e.has(call) }

// has reports whether a call begins within a range of the same process.
func (e *Event) has(call *Event) bool {
	return call.Process == e.Process && call.Start >= e.Start && call.Start < e.End
}

// insert puts a copy of an event into the capture, at a time at which it takes none yet: Longer says how long it lasts.
func (c *Capture) insert(like *Event, at, lasts int64) *Event {
	x := *like
	x.row, x.isMade, x.Start, x.End, x.Pause, x.Longer = like.row.clone(), true, at, at, 0, lasts
	c.Events = append(c.Events, &x)
	return &x
}

// Call puts a CUDA call before another one.
func (c *Capture) Call(before *Event, name string, lasts int64) *Event {
	x := c.insert(before, before.Start, lasts)
	x.Correlation, x.isBlocking = c.nextCorrelation(), strings.Contains(name, "Synchronize")
	x.row.setCorrelation(x.Correlation)
	x.rename(name)
	return x
}

// Launch puts the launch of another piece of work before a call: of the kind of one that is there, of a name, a length and a number of blocks.
// The call itself lasts as long as usual.
func (c *Capture) Launch(before, like *Event, name string, lasts, blocks int64) *Event {
	call := c.insert(before, before.Start, launchNs)
	call.Correlation, call.isBlocking = c.nextCorrelation(), false
	call.row.setCorrelation(call.Correlation)
	call.rename(like.launch.Name)
	work := c.insert(like, c.workOf(before), lasts)
	work.Correlation, work.launch = call.Correlation, call
	work.row.setCorrelation(work.Correlation)
	work.rename(name)
	if blocks > 0 {
		work.row.setBlocks(blocks)
	}
	return work
}

// workOf is when the first work that a call launched began.
func (c *Capture) workOf(call *Event) int64 {
	at := call.End
	for _, e := range c.Events {
		if e.Kind == Work && e.launch == call && !e.isMade {
			return e.Start
		}
	}
	return at
}

// Node puts a piece of work behind another one that the same call launched, as one more node of a CUDA graph.
func (c *Capture) Node(after *Event, name string, lasts int64) *Event {
	work := c.insert(after, after.End, lasts)
	work.rename(name)
	return work
}

// processes returns the processes that launched work, in order of their numbers.
func (c *Capture) processes() []int64 {
	seen := map[int64]bool{}
	for _, e := range c.Events {
		if e.Kind == Work {
			seen[e.Process] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (e *Event) rename(name string) {
	e.Name = name
	e.row.setName(name)
}

// nextCorrelation is an id that no event has.
func (c *Capture) nextCorrelation() int64 {
	most := int64(0)
	for _, e := range c.Events {
		most = max(most, e.Correlation)
	}
	return most + 1
}
