package attribute

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// WorkOfCall is the device work that a function launches, by its name: kernel, copy, fill or graph; empty for one that launches none.
func WorkOfCall(name string) string {
	switch kind := KindOfCall(name); {
	case kind == GraphCall:
		return "graph"
	case kind == CopyCall:
		return "copy"
	case kind == LaunchCall && strings.Contains(name, "Memset"):
		return "fill"
	case kind == LaunchCall && strings.Contains(name, "Kernel"):
		return "kernel"
	}
	return ""
}

// Effect is what a call that no device work refers to tells of lost work.
type Effect uint8

const (
	NoEffect       Effect = iota
	LaunchesWork          // something that should have run
	WaitsForDevice        // for all work of its GPU
	WaitsForStream
	BeginsCapture // of a stream
	EndsCapture
)

// EffectOf tells it by the function's name.
func EffectOf(name string) Effect {
	switch {
	case strings.Contains(name, "StreamBeginCapture"):
		return BeginsCapture
	case strings.Contains(name, "StreamEndCapture"):
		return EndsCapture
	case WorkOfCall(name) != "":
		return LaunchesWork
	case strings.Contains(name, "DeviceSynchronize"), strings.Contains(name, "CtxSynchronize"):
		return WaitsForDevice
	case strings.Contains(name, "StreamSynchronize"):
		return WaitsForStream
	}
	return NoEffect
}

// Unmet collects the launches of a source that no device work refers to, and its stream captures: what they record launches nothing.
type Unmet struct {
	Room     *load.Room // where the calls lie
	mu       sync.Mutex
	lists    []*UnmetList
	captures map[int32][]interval // of a process, joined
	waits    []Wait               // in the order of their starts
}

// UnmetList are those that one goroutine saw.
type UnmetList struct {
	calls load.Blocks[unmetCall]
	marks []captureMark
	waits load.Blocks[waitCall]
}

type unmetCall struct {
	start, end         int64
	thread, node, name int32
}

type waitCall struct {
	start, end int64
	thread     int32
	ofStream   bool
}

// captureMark is a call that begins a stream capture, at its end, or that ends one, at its start.
type captureMark struct {
	at     int64
	thread int32
	begins bool
}

// List makes a list of one's own for one goroutine.
func (u *Unmet) List() *UnmetList {
	l := &UnmetList{calls: load.Blocks[unmetCall]{Room: u.Room}, waits: load.Blocks[waitCall]{Room: u.Room}}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lists = append(u.lists, l)
	return l
}

// Add notes a call that succeeded; one that launches work only where no device work refers to it. node are the ranges that it was made in.
func (l *UnmetList) Add(what Effect, thread, node, name int32, start, end int64) {
	switch what {
	case LaunchesWork:
		l.calls.Add(unmetCall{start, end, thread, node, name})
	case WaitsForDevice, WaitsForStream:
		l.waits.Add(waitCall{start, end, thread, what == WaitsForStream})
	case BeginsCapture:
		l.marks = append(l.marks, captureMark{end, thread, true})
	case EndsCapture:
		l.marks = append(l.marks, captureMark{start, thread, false})
	}
}

// findCaptures pairs begins and ends by thread. A capture that does not end lasts to the end; one that began before the recording lasts from its beginning.
func (u *Unmet) findCaptures(process func(thread int32) int32) {
	var marks []captureMark
	for _, l := range u.lists {
		marks = append(marks, l.marks...)
	}
	slices.SortFunc(marks, func(a, b captureMark) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.at, b.at))
	})
	u.captures = map[int32][]interval{}
	add := func(thread int32, from, to int64) {
		p := process(thread)
		u.captures[p] = append(u.captures[p], interval{from, to})
	}
	for i := 0; i < len(marks); {
		thread, open, isOpen := marks[i].thread, -Forever, true
		for ; i < len(marks) && marks[i].thread == thread; i++ {
			switch m := marks[i]; {
			case m.begins && (!isOpen || open == -Forever):
				open, isOpen = m.at, true
			case !m.begins && isOpen:
				add(thread, open, m.at)
				isOpen = false
			}
		}
		if isOpen && open != -Forever {
			add(thread, open, Forever)
		}
	}
	for p, list := range u.captures {
		u.captures[p] = joined(list)
	}
}

// findWaits puts the waits of all threads in order.
func (u *Unmet) findWaits(process func(thread int32) int32) {
	for _, l := range u.lists {
		for _, b := range l.waits.Pieces() {
			for _, w := range b {
				u.waits = append(u.waits, Wait{process(w.thread), w.ofStream, w.start, w.end})
			}
		}
	}
	slices.SortFunc(u.waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.PID, b.PID))
	})
}

// Waits are the calls that waited, once StoreUnmet was called.
func (u *Unmet) Waits() []Wait { return u.waits }

// isCaptured reports whether a process was capturing a stream at a time.
func (u *Unmet) isCaptured(process int32, at int64) bool {
	list := u.captures[process]
	i, found := slices.BinarySearchFunc(list, at, func(v interval, t int64) int { return cmp.Compare(v.start, t) })
	return found || i > 0 && list[i-1].end > at
}

// unmetSum are the launches of one function from one place.
type unmetSum struct {
	place
	name        int32
	count       int64
	first, last int64
}

// sums adds them up by thread, node and function, in this order. A call inside another of its thread is the driver's half of it.
func (u *Unmet) sums(process func(thread int32) int32) []unmetSum {
	u.findCaptures(process)
	u.findWaits(process)
	n := 0
	for _, l := range u.lists {
		n += l.calls.Len()
	}
	if n == 0 {
		return nil
	}
	all := load.Reserve[unmetCall](u.Room, n)[:0]
	for _, l := range u.lists {
		for _, b := range l.calls.Pieces() {
			all = append(all, b...)
		}
	}
	u.lists = nil
	slices.SortFunc(all, func(a, b unmetCall) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.name, b.name))
	})
	at := map[unmetSum]int{}
	var out []unmetSum
	for i := range all {
		c := &all[i]
		if i > 0 && all[i-1].thread == c.thread && c.end <= all[i-1].end {
			c.end = all[i-1].end
			continue
		}
		if u.isCaptured(process(c.thread), c.start) {
			continue
		}
		key := unmetSum{place: place{c.thread, c.node}, name: c.name}
		k, known := at[key]
		if !known {
			k = len(out)
			at[key] = k
			key.first = c.start
			out = append(out, key)
		}
		out[k].count++
		out[k].last = c.start
	}
	slices.SortFunc(out, func(a, b unmetSum) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.node, b.node), cmp.Compare(a.name, b.name))
	})
	return out
}

var unmetColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "range_context_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer},
	{Name: "api_name_id", Type: rows.Integer}, {Name: "kind", Type: rows.Varchar}, {Name: "call_count"}, {Name: "first_start_ns"}, {Name: "last_start_ns"}}

// StoreUnmet stores launches without device work as unmet_launch, added up. What was collected is used up.
func (i IDs) StoreUnmet(ctx context.Context, t *load.Target, u *Unmet, lines *Timelines, threads ThreadID) error {
	sums := u.sums(func(thread int32) int32 {
		pid, _ := threads(thread)
		return pid
	})
	if len(sums) == 0 {
		return nil
	}
	work, names := map[int32]string{}, t.Run.APIs.All()
	for _, s := range sums {
		if work[s.name] == "" {
			work[s.name] = WorkOfCall(names[s.name-1])
		}
	}
	_, err := t.Insert(ctx, "unmet_launch", rows.Listed(len(sums), unmetColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			s := &sums[k]
			c.Int32(0)[n], c.Int32(1)[n] = threads(s.thread)
			c.Int32(2)[n], c.Int32(3)[n], c.Int32(4)[n] = i.ContextID(s.node), lines.Path(s.node), s.name
			c.SetText(5, n, work[s.name])
			c.Int64(6)[n], c.Int64(7)[n], c.Int64(8)[n] = s.count, s.first, s.last
		}
	}))
	return err
}
