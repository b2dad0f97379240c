package attribute

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/schema/terms"
)

// Stream is where a process's device work runs one piece after the other.
type Stream struct {
	PID                 int32 // noPID where device work does not say whose it is
	Device, Context, ID int32
}

// NoPID stands for the process of work that does not say it.
const NoPID = int32(-1)

// NoStream is the stream of work that may run beside other work of the same number, as in the queues of AMD's GPUs.
const NoStream = int32(-1)

// Streams numbers the streams of a source. Safe for concurrent use.
type Streams struct{ load.Shared[Stream] }

// Fault is what cannot be true of a piece of device work as it was recorded, or that its launch is missing.
type Fault uint8

const (
	NoFault           Fault = iota
	RepeatedRecord          // it is recorded twice
	NoTime                  // a kernel that took no time
	WorkBeforeLaunch        // it began before the call that launched it
	WorkAfterWait           // it ended after a wait for it had returned
	StreamOverlap           // it ran while what its stream was given before still ran. A kernel may begin early, by programmatic dependent launch, but not end early
	StreamOrder             // it ran after what its stream was given later
	NextToStreamOrder       // it was launched after that work and ran before it; either may have the wrong time. Not counted
	NoLaunchCaptured        // its launch is not in the capture, although those of earlier work are
	LaunchedBefore          // it was launched before the capture began: no launch of earlier work is in it
	EarlyStart              // no fault, but noted with them: a kernel began before what its stream was given before had ended. Its time has that in which it may only have waited
)

// faultKinds are their names, as they are stored.
var faultKinds = append([]string{""}, terms.WorkFaults()...)

// Wait is a call that returned when all work was done that its process had launched before: on its GPU, or on one stream.
type Wait struct {
	PID        int32
	ofStream   bool
	Start, End int64
}

// waitSlack is by how much work may end after a wait for it has returned: clocks of CPU and GPU are only so well aligned.
const waitSlack = int64(20_000)

// faultKey is a place of faults of one kind.
type faultKey struct {
	fault       Fault
	pid, device int32
	node        int32 // of the launch; noLaunchNode where that is not captured
}

const noLaunchNode = int32(-2)

// faultSum are the faults of one place.
type faultSum struct {
	count       int64
	first, last int64 // starts
	ns          int64 // their durations; of early starts the time before the work before had ended
}

// streamWalk is where the check of a stream is.
type streamWalk struct {
	start, end int64 // of the work before
	label      int32
	launch     int32
	until      int64 // when all work so far has ended
	launched   int64 // start of the latest launch so far
	latest     int32 // that launch
	latestAt   faultKey
	waits      []Wait // for its work
	isMet      bool   // a launch of its work is known, and that of its process and GPU
}

// checks looks at the work of a source in the order of its start.
type checks struct {
	streams []Stream
	walks   []streamWalk
	last    map[int32]Work    // of a GPU, where streams are not told apart
	met     map[[2]int32]bool // processes and GPUs of which a launch was captured
	faults  map[faultKey]*faultSum
}

func newChecks(s *Source) *checks {
	c := &checks{faults: map[faultKey]*faultSum{}, met: map[[2]int32]bool{}, last: map[int32]Work{}}
	if s.Streams == nil {
		return c
	}
	c.streams = s.Streams.All()
	devices, streams := map[int32]map[int32]bool{}, map[int32]int{}
	for _, m := range c.streams {
		if devices[m.PID] == nil {
			devices[m.PID] = map[int32]bool{}
		}
		devices[m.PID][m.Device] = true
		streams[m.PID]++
	}
	waits := map[int32][]Wait{}
	for _, w := range s.Waits { // which GPU or stream a call waits for is not said: where there is one, it is that
		if len(devices[w.PID]) == 1 && (!w.ofStream || streams[w.PID] == 1) {
			waits[w.PID] = append(waits[w.PID], w)
		}
	}
	for _, m := range c.streams {
		c.walks = append(c.walks, streamWalk{start: -Forever, end: -Forever, until: -Forever, launched: -Forever, launch: NoLaunch, latest: NoLaunch, label: anyLabel, waits: waits[m.PID]})
	}
	return c
}

// look checks the next piece of work, and notes what is wrong with it: one fault at most.
func (c *checks) look(o *Work, l *Label, by Caller) {
	launched := o.Launch != NoLaunch
	at := faultKey{pid: NoPID, device: l.Device, node: noLaunchNode}
	if launched {
		at.node = by.Node
	}
	var w *streamWalk
	if o.Stream != NoStream && len(c.streams) > 0 && (l.Kind == Kernel || !strings.Contains(l.Operation, "Host-to-Host")) { // the CPU makes such a copy, in the time of its call
		w, at.pid = &c.walks[o.Stream], c.streams[o.Stream].PID
	}
	fault := NoFault
	switch {
	case l.Kind == Kernel && o.End == o.Start:
		fault = NoTime
	case launched && o.Start < by.Start:
		fault = WorkBeforeLaunch
	case w == nil && c.isLast(o, l.Device), w != nil && w.start == o.Start && w.end == o.End && w.label == o.Label && w.launch == o.Launch:
		fault = RepeatedRecord
	case !launched && (l.Kind == Kernel || l.Kind == Graph):
		fault = LaunchedBefore
		if c.met[[2]int32{at.pid, l.Device}] {
			fault = NoLaunchCaptured
		}
	case w == nil:
	case o.End <= w.until && o.End > o.Start && (w.launch != o.Launch || !launched):
		fault = StreamOverlap
	case launched && by.End <= w.launched && w.latest != o.Launch:
		fault = StreamOrder
	case launched && c.isAfterWait(w, o, by):
		fault = WorkAfterWait
	}
	if launched && (w == nil || !w.isMet) {
		c.met[[2]int32{at.pid, l.Device}] = true
		if w != nil {
			w.isMet = true
		}
	}
	if fault != NoFault {
		if fault == StreamOrder {
			beside := w.latestAt
			beside.fault = NextToStreamOrder
			if c.faults[beside] == nil {
				c.note(beside, o, o.End-o.Start)
			}
		}
		at.fault = fault
		c.note(at, o, o.End-o.Start)
	} else if w != nil && l.Kind == Kernel && o.Start < w.until {
		early := at
		early.fault = EarlyStart
		c.note(early, o, min(w.until, o.End)-o.Start)
	}
	if w == nil {
		c.last[l.Device] = *o
		return
	}
	w.start, w.end, w.label, w.launch, w.until = o.Start, o.End, o.Label, o.Launch, max(w.until, o.End)
	if launched && by.Start > w.launched {
		w.launched, w.latest, w.latestAt = by.Start, o.Launch, at
	}
}

// isLast reports whether work is that before it on its GPU over again.
func (c *checks) isLast(o *Work, device int32) bool {
	last, ok := c.last[device]
	return ok && last.Start == o.Start && last.End == o.End && last.Label == o.Label && last.Launch == o.Launch
}

// isAfterWait reports whether work ended after the first wait that began once it was launched had returned.
func (c *checks) isAfterWait(w *streamWalk, o *Work, by Caller) bool {
	for len(w.waits) > 0 && w.waits[0].Start < by.End {
		w.waits = w.waits[1:]
	}
	return len(w.waits) > 0 && o.End > w.waits[0].End+waitSlack
}

// note adds a piece of work to the faults of a place, and of its time that which is at fault.
func (c *checks) note(at faultKey, o *Work, ns int64) {
	sum := c.faults[at]
	if sum == nil {
		sum = &faultSum{first: o.Start}
		c.faults[at] = sum
	}
	sum.count++
	sum.last = o.Start
	sum.ns += ns
}

// settle tells the work of processes of which no launch is known at all from what was launched before the capture.
func (c *checks) settle() map[faultKey]*faultSum {
	for at, sum := range maps.Clone(c.faults) {
		if at.fault == LaunchedBefore && !c.met[[2]int32{at.pid, at.device}] {
			delete(c.faults, at)
			at.fault = NoLaunchCaptured
			c.faults[at] = sum
		}
	}
	return c.faults
}

var faultColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "device_id", Type: rows.Integer}, {Name: "kind", Type: rows.Varchar}, {Name: "range_context_id", Type: rows.Integer},
	{Name: "path_id", Type: rows.Integer}, {Name: "work_count"}, {Name: "first_start_ns"}, {Name: "last_start_ns"}, {Name: "sum_ns"}}

// storeFaults stores what is wrong with device work as work_fault, added up.
func (i IDs) storeFaults(ctx context.Context, t *load.Target, faults map[faultKey]*faultSum, lines *Timelines) error {
	if len(faults) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(faults), func(a, b faultKey) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.device, b.device), cmp.Compare(a.fault, b.fault), cmp.Compare(a.node, b.node))
	})
	_, err := t.Insert(ctx, "work_fault", rows.Listed(len(keys), faultColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			at, sum := keys[k], faults[keys[k]]
			c.Int32(0)[n], c.Int32(1)[n] = at.pid, at.device
			if at.pid == NoPID {
				c.SetNull(0, n)
			}
			c.SetText(2, n, faultKinds[at.fault])
			if at.node == noLaunchNode {
				c.SetNull(3, n)
				c.SetNull(4, n)
			} else {
				c.Int32(3)[n], c.Int32(4)[n] = i.ContextID(at.node), lines.Path(at.node)
			}
			c.Int64(5)[n], c.Int64(6)[n], c.Int64(7)[n], c.Int64(8)[n] = sum.count, sum.first, sum.last, sum.ns
		}
	}))
	return err
}
