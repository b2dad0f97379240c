// Package operator puts calls of operators, as the PyTorch profiler or emit_nvtx records them, into each other: which one
// called which, what time and device work is each one's own, and what PyTorch would count of it.
package operator

import (
	"cmp"

	"prof/ingest/load"
)

// Call is one interval of a thread that others may nest in: a call of an operator, or of a Python function.
type Call struct {
	Start, End int64 // ns
	Thread     int32 // the source's number of the thread, 0, 1, ...
	Name       int32 // the source's number of the name
	Inputs     int32 // the source's number of an operator's inputs; -1 when not recorded
	Stack      int32 // stack_id; 0 when not recorded
	Range      bool  // a range: it takes no part, whatever is in it belongs to the operator around it

	// The following are for Nest and what comes after it.
	Parent      int32 // innermost call around it; -1 none
	Depth       int32 // calls around it, and itself
	Folded      bool  // it is all that an operator of the same name calls
	Nested      bool  // an operator of the same name is open around it
	memory      int32 // place in Calls.memory plus 1; 0 without
	Work        int32 // pieces of device work of its own
	children    int32 // calls directly inside it, API calls included
	Inside      int64 // time of what is directly inside it
	SelfDevice  int64 // device work of its own, ns
	TotalDevice int64 // and that of the calls inside it
}

// Duration is the time in the call.
func (c *Call) Duration() int64 { return c.End - c.Start }

// SelfCPU is the time in the call less that of what is directly inside it.
func (c *Call) SelfCPU() int64 { return c.End - c.Start - c.Inside }

// Calls are the calls of one source, in the order in which they were added.
type Calls struct {
	load.Blocks[Call]
	memory []Memory
	byTime [][]int32 // by thread: calls in the order of their starts, outer ones first
}

// Add puts a call at the end and gives its number.
func (c *Calls) Add(call Call) int32 {
	call.Parent = -1
	return c.Blocks.Add(call)
}

// order compares calls as they nest: by start, of those that start together the longer first, then in the order of the file.
func (c *Calls) order(x, y int32) int {
	a, b := c.At(x), c.At(y)
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(x, y))
}

// Operator gives the innermost operator that is, or is around, a call; -1 when there is none.
func (c *Calls) Operator(i int32) int32 {
	for i >= 0 && c.At(i).Range {
		i = c.At(i).Parent
	}
	return i
}

// Memory is what was allocated and freed in a call but not in a call inside it, in bytes, none negative.
type Memory struct{ DeviceAlloc, DeviceFree, HostAlloc, HostFree int64 }

// AddMemory notes an allocation, or with negative bytes a release, that happened directly in a call.
func (c *Calls) AddMemory(i int32, onDevice bool, bytes int64) {
	call := c.At(i)
	if call.memory == 0 {
		c.memory = append(c.memory, Memory{})
		call.memory = int32(len(c.memory))
	}
	m := &c.memory[call.memory-1]
	alloc, free := &m.HostAlloc, &m.HostFree
	if onDevice {
		alloc, free = &m.DeviceAlloc, &m.DeviceFree
	}
	if bytes >= 0 {
		*alloc += bytes
	} else {
		*free -= bytes
	}
}

// Memory gives what a call allocated and freed.
func (c *Calls) Memory(i int32) Memory {
	if m := c.At(i).memory; m > 0 {
		return c.memory[m-1]
	}
	return Memory{}
}
