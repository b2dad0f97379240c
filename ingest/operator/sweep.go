// Package operator puts calls of operators, as the PyTorch profiler or emit_nvtx records them, into each other: which one
// called which, what time and device work is each one's own, and what PyTorch would count of it.
package operator

// Call is one interval of a thread that others may nest in. Of is what else its kind has.
type Call[Of any] struct {
	Start, End int64 // ns
	Name       int32 // the source's number of the name

	// Push sets these.
	ID     int32 // 1, 2, ... in the order of Push
	Parent int32 // ID of the innermost call around it; 0 none
	Depth  int32 // calls around it, and itself
	Nested bool  // a call of the same name is open around it

	Folded      bool  // it is all that a call of the same name calls
	Work        int32 // pieces of device work of its own
	Inside      int64 // time of what is directly inside it
	SelfDevice  int64 // device work of its own, ns
	TotalDevice int64 // and that of the calls inside it
	Of          Of

	children int32 // calls directly inside it, API calls included
	hasAPI   bool
	apiEnd   int64     // end of the last API call directly inside it
	overhead int64     // part of Inside that the profiler took
	hidden   int64     // time directly inside it that is not in Inside, for it is inside the profiler's
	held     *Call[Of] // the first call inside it, while it may be all there is
}

// Duration is the time in the call.
func (c *Call[Of]) Duration() int64 { return c.End - c.Start }

// SelfCPU is the time in the call less that of what is directly inside it.
func (c *Call[Of]) SelfCPU() int64 { return c.End - c.Start - c.Inside }

// AddAPI notes an API call inside the call, and inside no call in it. API calls come in the order of their starts; what is
// inside another, as a driver call inside a runtime call, is part of that one.
func (c *Call[Of]) AddAPI(start, end int64) {
	if c.hasAPI && end <= c.apiEnd {
		return
	}
	if c.hasAPI {
		start = max(start, c.apiEnd)
	}
	c.AddInside(end - start)
	c.hasAPI, c.apiEnd = true, end
}

// AddInside notes time directly inside the call that is not its own.
func (c *Call[Of]) AddInside(duration int64) {
	c.children++
	c.Inside += duration
}

// AddDevice notes a piece of device work that the call launched itself.
func (c *Call[Of]) AddDevice(duration int64) {
	c.SelfDevice += duration
	c.Work++
}

// Sweep goes along the calls of one thread after the other and finds which is inside which: a call is inside another that
// begins no later and ends no earlier; calls that overlap only in part are not in each other. This, and which calls count as
// one, is what EventList._populate_cpu_children and _remove_dup_nodes do in PyTorch's profiler_util.py.
type Sweep[Of any] struct {
	// Emit takes each call when nothing can be added to it any more: after the calls inside it, but for one that may be folded.
	Emit func(*Call[Of]) error

	lastID    int32
	overStart int64 // the profiler's last own time; it ends at 0 where a call that goes on behind it began
	overEnd   int64
	stack     []Call[Of]
	open      map[int32]int32 // open calls by name
	spare     []*Call[Of]
}

// Push begins a call. Calls of a thread come in the order of their starts, of those that start together the longer first.
// It gives the call, good until the next Push or Holding.
func (s *Sweep[Of]) Push(c Call[Of]) (*Call[Of], error) {
	// An empty call where another ends is not in it: intervals are half-open here.
	for n := len(s.stack); n > 0 && (s.stack[n-1].End <= c.Start || s.stack[n-1].End < c.End); n-- {
		if err := s.pop(); err != nil {
			return nil, err
		}
	}
	s.lastID++
	c.ID, c.Parent, c.Depth = s.lastID, 0, 1
	if n := len(s.stack); n > 0 {
		p := &s.stack[n-1]
		c.Parent, c.Depth = p.ID, p.Depth+1
		if !s.isHidden(p, c.Start, c.End) {
			p.AddInside(c.Duration())
		}
	} else {
		s.isHidden(&c, c.Start, c.End)
	}
	if s.open == nil {
		s.open = map[int32]int32{}
	}
	c.Nested = s.open[c.Name] > 0
	s.open[c.Name]++
	s.stack = append(s.stack, c)
	return &s.stack[len(s.stack)-1], nil
}

// Holding returns the innermost open call that holds an interval, both ends included; nil when none does. Calls that ended
// before it are done with.
func (s *Sweep[Of]) Holding(start, end int64) (*Call[Of], error) {
	for n := len(s.stack); n > 0 && s.stack[n-1].End < start; n-- {
		if err := s.pop(); err != nil {
			return nil, err
		}
	}
	for k := len(s.stack) - 1; k >= 0; k-- {
		if s.stack[k].End >= end {
			return &s.stack[k], nil
		}
	}
	return nil, nil
}

// AddAPI notes an API call inside a call that is open, and inside no call in it.
func (s *Sweep[Of]) AddAPI(c *Call[Of], start, end int64) {
	if !s.isHidden(c, start, end) {
		c.AddAPI(start, end)
	}
}

// AddOverhead notes time that the profiler took, in the order of time with all else. PyTorch takes it for a call: it is no time of the operator that it is
// inside, and what is inside it is no part of what the operator calls, for both are counted once.
func (s *Sweep[Of]) AddOverhead(start, end int64) error {
	if start >= s.overStart && end <= s.overEnd {
		return nil
	}
	c, err := s.Holding(start, end)
	s.overStart, s.overEnd = start, end
	if c == nil || c.hasAPI && end <= c.apiEnd {
		return err
	}
	c.overhead += end - start
	c.AddInside(end - start)
	return err
}

// isHidden reports whether what is directly inside a call is inside the profiler's own time in that.
func (s *Sweep[Of]) isHidden(c *Call[Of], start, end int64) bool {
	if s.overEnd == 0 {
		return false
	}
	if end > s.overEnd {
		s.overEnd = 0
		return false
	}
	if c.Start >= s.overStart || start < s.overStart {
		return false
	}
	c.hidden += end - start
	return true
}

// Find returns the innermost open call for which f is true; nil when there is none.
func (s *Sweep[Of]) Find(f func(*Call[Of]) bool) *Call[Of] {
	for k := len(s.stack) - 1; k >= 0; k-- {
		if f(&s.stack[k]) {
			return &s.stack[k]
		}
	}
	return nil
}

// End ends the thread: all open calls end.
func (s *Sweep[Of]) End() error {
	s.overEnd = 0
	for len(s.stack) > 0 {
		if err := s.pop(); err != nil {
			return err
		}
	}
	return nil
}

// pop ends the innermost call.
func (s *Sweep[Of]) pop() error {
	n := len(s.stack) - 1
	c := &s.stack[n]
	c.TotalDevice += c.SelfDevice
	if c.overhead > 0 && c.Inside > c.Duration() { // the profiler was at work on another thread meanwhile
		c.Inside += c.hidden - c.overhead
	}
	if err := s.release(c, true); err != nil {
		return err
	}
	if s.open[c.Name]--; s.open[c.Name] == 0 {
		delete(s.open, c.Name)
	}
	err := s.give(c, n)
	s.stack = s.stack[:n]
	return err
}

// give hands a call that ended to the one around it, or on.
func (s *Sweep[Of]) give(c *Call[Of], n int) error {
	if n == 0 {
		return s.Emit(c)
	}
	p := &s.stack[n-1]
	p.TotalDevice += c.TotalDevice
	if p.Name == c.Name && p.children == 1 {
		p.held = s.hold(c)
		return nil
	}
	if err := s.release(p, false); err != nil {
		return err
	}
	return s.Emit(c)
}

// release emits the call that was held back until it was known whether it is all that c calls.
func (s *Sweep[Of]) release(c *Call[Of], ended bool) error {
	h := c.held
	if h == nil {
		return nil
	}
	c.held = nil
	h.Folded = ended && c.children == 1
	s.spare = append(s.spare, h)
	return s.Emit(h)
}

func (s *Sweep[Of]) hold(c *Call[Of]) *Call[Of] {
	h := new(Call[Of])
	if n := len(s.spare); n > 0 {
		h, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	*h = *c
	return h
}
