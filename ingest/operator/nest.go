package operator

import "slices"

// Nest finds which call is inside which, on each of the threads, by time: a call is inside another that begins no later and
// ends no earlier. Calls that overlap only in part are not in each other. It is what EventList._populate_cpu_children does in
// PyTorch's profiler_util.py.
func (c *Calls) Nest(threads int) {
	c.byTime = make([][]int32, threads)
	names := int32(0)
	for i := range int32(c.Len()) {
		call := c.At(i)
		if call.Range {
			continue
		}
		c.byTime[call.Thread] = append(c.byTime[call.Thread], i)
		names = max(names, call.Name+1)
	}
	open := make([]int32, names) // open operators by name
	var stack []int32
	for _, calls := range c.byTime {
		if !slices.IsSortedFunc(calls, c.order) {
			slices.SortFunc(calls, c.order)
		}
		for _, i := range calls {
			call := c.At(i)
			// An empty call where another ends is not in it: intervals are half-open there.
			for len(stack) > 0 && c.excludes(stack[len(stack)-1], call) {
				open[c.At(stack[len(stack)-1]).Name]--
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				c.put(call, stack[len(stack)-1])
			}
			call.Depth++
			call.Nested = open[call.Name] > 0
			open[call.Name]++
			stack = append(stack, i)
		}
		for _, i := range stack {
			open[c.At(i).Name]--
		}
		stack = stack[:0]
	}
}

func (c *Calls) excludes(outer int32, call *Call) bool {
	end := c.At(outer).End
	return end <= call.Start || end < call.End
}

func (c *Calls) put(call *Call, parent int32) {
	p := c.At(parent)
	call.Parent, call.Depth = parent, p.Depth
	p.children++
	p.Inside += call.Duration()
}

// Finder finds the calls of one thread that hold given intervals. Asked in the order of time it walks along.
type Finder struct {
	calls *Calls
	order []int32
	next  int
	last  int64
	stack []int32
}

// Finder gives a finder for a thread.
func (c *Calls) Finder(thread int32) *Finder {
	return &Finder{calls: c, order: c.byTime[thread], last: -1 << 63}
}

// At gives the innermost call that holds the interval, both ends included; -1 when there is none.
func (f *Finder) At(start, end int64) int32 {
	if start < f.last { // back to the beginning
		f.next, f.stack = 0, f.stack[:0]
	}
	f.last = start
	for ; f.next < len(f.order); f.next++ {
		call := f.calls.At(f.order[f.next])
		if call.Start > start {
			break
		}
		f.drop(call.Start)
		f.stack = append(f.stack, f.order[f.next])
	}
	f.drop(start)
	for k := len(f.stack) - 1; k >= 0; k-- {
		if f.calls.At(f.stack[k]).End >= end {
			return f.stack[k]
		}
	}
	return -1
}

// drop leaves calls that ended before t. One that ended lies beneath one that did not only where they overlap in part.
func (f *Finder) drop(t int64) {
	for n := len(f.stack); n > 0 && f.calls.At(f.stack[n-1]).End < t; n-- {
		f.stack = f.stack[:n-1]
	}
}

// AddAPI notes that an API call of that length was made directly in a call.
func (c *Calls) AddAPI(call int32, duration int64) {
	p := c.At(call)
	p.children++
	p.Inside += duration
}

// AddDevice notes a piece of device work that a call launched itself.
func (c *Calls) AddDevice(call int32, duration int64) {
	p := c.At(call)
	p.SelfDevice += duration
	p.Work++
}

// Finish adds device work up to the calls around, and finds the calls that PyTorch folds into one: see
// EventList._remove_dup_nodes in profiler_util.py.
func (c *Calls) Finish() {
	for _, calls := range c.byTime {
		for _, i := range slices.Backward(calls) {
			call := c.At(i)
			call.TotalDevice += call.SelfDevice
			if call.Parent < 0 {
				continue
			}
			p := c.At(call.Parent)
			p.TotalDevice += call.TotalDevice
			call.Folded = p.Name == call.Name && p.children == 1
		}
	}
}

// InOrder gives the calls of a thread in the order of their starts, a call before those inside it.
func (c *Calls) InOrder(thread int32) []int32 { return c.byTime[thread] }
