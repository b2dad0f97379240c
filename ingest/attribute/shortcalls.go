package attribute

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// shortCall is the duration below which an API call that succeeded is added up instead of stored. Most calls of a capture that launch
// nothing take less than 1 us (attributes, names, capture states); calls that explain a slow pass or idle time take longer.
const shortCall = int64(5 * time.Microsecond)

// IsShort reports whether an API call is too short for a row of its own; the capture's result is 0 where the call succeeded or none is recorded.
func IsShort(duration, result int64) bool {
	return duration >= 0 && duration < shortCall && result == 0
}

// ShortCalls add up the short API calls of a source: by thread, set of ranges and function, and by path, function and exact duration.
type ShortCalls struct {
	Room  *load.Room // where the sums lie
	mu    sync.Mutex
	lists []*ShortCallList
}

// List makes a list of one's own for one goroutine.
func (s *ShortCalls) List() *ShortCallList {
	l := &ShortCallList{at: place{node: -2}, sums: load.Blocks[placeSum]{Room: s.Room}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, l)
	return l
}

// ShortCallList are the calls that one goroutine saw. Calls come in runs from one place, so they are counted there in an array first.
type ShortCallList struct {
	at       place
	here     []callSum // of this place, by function
	met      []int32   // functions with calls here
	sums     load.Blocks[placeSum]
	path     int32
	slotHere []int32 // slot of a function on this path, plus 1
	slots    load.Distinct[pathCall]
	tally    tally
}

type place struct{ thread, node int32 }

type callSum struct{ count, ns int64 }

type placeSum struct {
	place
	name int32
	callSum
}

// pathCall is a function, called in ranges of one path.
type pathCall struct {
	path, name int32
	hasResult  bool
}

// Add counts a call. path is the node's, name the number of its function.
func (l *ShortCallList) Add(thread, node, path, name int32, duration int64, hasResult bool) {
	if at := (place{thread, node}); at != l.at {
		l.leave()
		l.at = at
		if path != l.path {
			clear(l.slotHere)
			l.path = path
		}
	}
	for int(name) >= len(l.here) {
		l.here, l.slotHere = append(l.here, callSum{}), append(l.slotHere, 0)
	}
	sum := &l.here[name]
	if sum.count == 0 {
		l.met = append(l.met, name)
	}
	sum.count++
	sum.ns += duration
	slot := l.slotHere[name] - 1
	if slot < 0 || l.slots.List[slot].hasResult != hasResult {
		slot = l.slots.Of(pathCall{path, name, hasResult})
		l.slotHere[name] = slot + 1
	}
	l.tally.add(uint64(slot)<<durationBits | uint64(duration))
}

// durationBits hold every short duration.
const durationBits = 13

// leave notes the sums of the place.
func (l *ShortCallList) leave() {
	for _, name := range l.met {
		l.sums.Add(placeSum{l.at, name, l.here[name]})
		l.here[name] = callSum{}
	}
	l.met = l.met[:0]
}

// sums returns one sum for each thread, node and function, in this order.
func (s *ShortCalls) sums() []placeSum {
	n := 0
	for _, l := range s.lists {
		l.leave()
		n += l.sums.Len()
	}
	all := load.Reserve[placeSum](s.Room, n)[:0]
	for _, l := range s.lists {
		for _, b := range l.sums.Pieces() {
			s.Room.LetGo()
			all = append(all, b...)
		}
		l.sums = load.Blocks[placeSum]{}
	}
	slices.SortFunc(all, func(a, b placeSum) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.node, b.node), cmp.Compare(a.name, b.name))
	})
	out := all[:0]
	for i, p := range all {
		if i%recordsAtOnce == 0 {
			s.Room.LetGo()
		}
		if n := len(out); n > 0 && out[n-1].place == p.place && out[n-1].name == p.name {
			out[n-1].count += p.count
			out[n-1].ns += p.ns
			continue
		}
		out = append(out, p)
	}
	return out
}

// recordsAtOnce is how many records are gone through before their pages are let go of.
const recordsAtOnce = 1 << 12

type durationCount struct {
	pathCall
	duration int32
	count    int64
}

// durations returns one count for each path, function and duration, in this order.
func (s *ShortCalls) durations() []durationCount {
	whole := &ShortCallList{}
	for _, l := range s.lists {
		for _, e := range l.tally.entries {
			if e.count > 0 {
				slot := whole.slots.Of(l.slots.List[e.key>>durationBits])
				whole.tally.addN(uint64(slot)<<durationBits|e.key&(1<<durationBits-1), e.count)
			}
		}
	}
	s.lists = nil
	out := make([]durationCount, 0, whole.tally.n)
	for _, e := range whole.tally.entries {
		if e.count > 0 {
			out = append(out, durationCount{whole.slots.List[e.key>>durationBits], int32(e.key & (1<<durationBits - 1)), e.count})
		}
	}
	slices.SortFunc(out, func(a, b durationCount) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.name, b.name), cmp.Compare(a.duration, b.duration))
	})
	return out
}

var (
	apiSumColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "range_context_id", Type: rows.Integer}, {Name: "api_name_id", Type: rows.Integer},
		{Name: "call_count"}, {Name: "sum_ns"}}
	apiDurationColumns = []rows.Column{{Name: "path_id", Type: rows.Integer}, {Name: "api_name_id", Type: rows.Integer}, {Name: "duration_ns", Type: rows.Integer}, {Name: "has_result", Type: rows.Integer}, {Name: "call_count"}}
)

// StoreShortCalls stores the sums of short API calls, as api_sum and api_duration, and gives the number of calls in them. The sums are used up.
func (i IDs) StoreShortCalls(ctx context.Context, t *load.Target, s *ShortCalls, threads ThreadID) (calls int64, err error) {
	sums := s.sums()
	for _, sum := range sums {
		calls += sum.count
	}
	if calls == 0 {
		return 0, nil
	}
	_, err = t.Insert(ctx, "api_sum", rows.Listed(len(sums), apiSumColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			sum := &sums[k]
			c.Int32(0)[n], c.Int32(1)[n] = threads(sum.thread)
			c.Int32(2)[n], c.Int32(3)[n], c.Int64(4)[n], c.Int64(5)[n] = i.ContextID(sum.node), sum.name, sum.count, sum.ns
		}
	}))
	if err != nil {
		return 0, err
	}
	durations := s.durations()
	_, err = t.Insert(ctx, "api_duration", rows.Listed(len(durations), apiDurationColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			d := &durations[k]
			c.Int32(0)[n], c.Int32(1)[n], c.Int32(2)[n], c.Int64(4)[n] = d.path, d.name, d.duration, d.count
			c.Int32(3)[n] = 0
			if d.hasResult {
				c.Int32(3)[n] = 1
			}
		}
	}))
	return calls, err
}
