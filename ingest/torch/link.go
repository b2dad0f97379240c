package torch

import (
	"cmp"
	"fmt"
	"slices"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/operator"
)

// linked are a trace's records after everything has found its place: calls nest, launches have their ranges and operators,
// device work its launch.
type linked struct {
	*collector
	target *load.Target
	spans  []attribute.Span
	domain []attribute.Name
	lines  *attribute.Timelines
	ids    attribute.IDs
	byTime []int32 // API calls by thread and time
	byCorr []int32 // API calls by correlation id
	ops    attribute.WorkList
	stack  []int32 // stack_id by Python call
	module []int32 // by Python call: the innermost nn.Module that it is or is in, -1 none
	inside []int64 // by Python call: of an nn.Module, time of those next inside it
	device []int64 // by Python call: of an nn.Module, device work not in those inside it
	origin int64   // the moment from which stored times count
	astray int64   // device work whose External id contradicts its launch
}

// link puts the records together.
func link(c *collector, t *load.Target) (*linked, error) {
	l := &linked{collector: c, target: t, ids: attribute.NextIDs(t.Run), origin: min(c.first, c.span[0])}
	c.calls.Nest(len(c.threads.list))
	c.python.Nest(len(c.threads.list))
	if err := l.placeRanges(); err != nil {
		return nil, err
	}
	if err := l.placePython(); err != nil {
		return nil, err
	}
	l.placeAPIs()
	l.placeWork(&c.kernels, attribute.Kernel)
	l.placeWork(&c.memops, attribute.Memop)
	l.placeMemory()
	c.calls.Finish()
	c.python.Finish()
	return l, nil
}

// placeRanges sweeps the record_function ranges into timelines, as NVTX ranges are.
func (l *linked) placeRanges() error {
	for _, name := range l.rgNames.list {
		l.domain = append(l.domain, attribute.Name{Norm: load.Normalise(valid(name))})
	}
	for i := range int32(l.ranges.Len()) {
		r := l.ranges.At(i)
		l.spans = append(l.spans, attribute.Span{Start: r.start, End: r.end, Thread: l.threads.list[r.thread].Key, Name: r.name})
	}
	var err error
	if l.lines, err = attribute.Build(l.spans, l.domain, &l.target.Run.Paths, attribute.MaxCrossings); err != nil {
		return err
	}
	return attribute.CheckDepth(l.target.Run.Paths.All(), attribute.MaxSteps)
}

// placeAPIs finds the ranges, operators and Python functions around each API call.
func (l *linked) placeAPIs() {
	l.byTime = ordered(l.apis.Len(), func(a, b int32) int {
		x, y := l.apis.At(a), l.apis.At(b)
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end), cmp.Compare(a, b))
	})
	l.byCorr = ordered(l.apis.Len(), func(a, b int32) int {
		x, y := l.apis.At(a), l.apis.At(b)
		return cmp.Or(cmp.Compare(x.correlation, y.correlation), cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end), cmp.Compare(a, b))
	})
	place := l.lines.Placer()
	var calls, python *operator.Finder
	thread := int32(-1)
	for _, i := range l.byTime {
		a := l.apis.At(i)
		if a.thread != thread {
			thread = a.thread
			calls, python = l.calls.Finder(thread), l.python.Finder(thread)
		}
		a.node = place.Node(l.threads.list[thread].Key, a.start)
		a.call, a.python = calls.At(a.start, a.end), python.At(a.start, a.end)
		if a.call >= 0 {
			l.calls.AddAPI(a.call, a.end-a.start)
		}
	}
}

// ordered gives the numbers 0 to n-1 in an order; the file is mostly in it already.
func ordered(n int, order func(a, b int32) int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	if !slices.IsSortedFunc(out, order) {
		slices.SortFunc(out, order)
	}
	return out
}

// launch gives the API call of a correlation id, of several the one that began first; -1 when there is none.
func (l *linked) launch(correlation int64) int32 {
	if correlation == absent {
		return -1
	}
	k, ok := slices.BinarySearchFunc(l.byCorr, correlation, func(i int32, c int64) int { return cmp.Compare(l.apis.At(i).correlation, c) })
	if !ok {
		return -1
	}
	return l.byCorr[k]
}

// placeWork finds launch and operator of device work.
func (l *linked) placeWork(list *load.Blocks[work], kind attribute.WorkKind) {
	for i := range int32(list.Len()) {
		w := list.At(i)
		w.api = l.launch(w.correlation)
		w.call = l.launcher(w)
		if w.call >= 0 {
			l.calls.AddDevice(w.call, w.duration)
		}
		if w.call >= 0 || w.api >= 0 {
			w.has |= hasOperator
		}
		if w.api < 0 {
			continue
		}
		a := l.apis.At(w.api)
		if a.python >= 0 {
			l.python.AddDevice(a.python, w.duration)
			if m := l.module[a.python]; m >= 0 {
				l.device[m] += w.duration
			}
		}
		if a.node != attribute.NoNode {
			l.ops.Add(attribute.Work{Start: w.start - l.origin, End: w.start - l.origin + w.duration, Node: a.node, Device: int16(w.device), Kind: kind})
		}
	}
}

// launcher gives the operator that launched a piece of work. The External id names it; but old versions of Kineto gave
// work outside every operator its correlation id for one, which another operator may have, so it must hold the launch.
func (l *linked) launcher(w *work) int32 {
	named := int32(-1)
	if w.external != absent {
		named = l.identified(w.external)
	}
	if w.api < 0 {
		if named >= 0 && w.external != w.correlation && l.calls.At(named).Start <= w.start {
			return named
		}
		return -1
	}
	a := l.apis.At(w.api)
	if named >= 0 && named != a.call {
		c := l.calls.At(named)
		if c.Thread == a.thread && c.Start <= a.start && a.end <= c.End {
			return named
		}
		l.astray++
	}
	return a.call
}

// placeMemory finds the operator of each memory event.
func (l *linked) placeMemory() {
	order := ordered(l.memory.Len(), func(a, b int32) int {
		x, y := l.memory.At(a), l.memory.At(b)
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.time, y.time), cmp.Compare(a, b))
	})
	var calls *operator.Finder
	thread := int32(-1)
	for _, i := range order {
		m := l.memory.At(i)
		if m.thread != thread {
			thread = m.thread
			calls = l.calls.Finder(thread)
		}
		if m.call = calls.At(m.time, m.time); m.call >= 0 {
			l.calls.AddMemory(m.call, !onHost(m.deviceType), m.bytes)
		}
	}
}

// placePython numbers the stacks of Python functions and finds those of the operators.
func (l *linked) placePython() error {
	n := l.python.Len()
	l.stack, l.module = make([]int32, n), make([]int32, n)
	l.inside, l.device = make([]int64, n), make([]int64, n)
	stacks := &l.target.Run.Stacks
	for thread := range int32(len(l.threads.list)) {
		for _, i := range l.python.InOrder(thread) {
			call := l.python.At(i)
			parent, module := int32(0), int32(-1)
			if call.Parent >= 0 {
				parent, module = l.stack[call.Parent], l.module[call.Parent]
			}
			name := valid(l.pyNames.list[call.Name])
			l.stack[i], l.module[i] = stacks.Add(parent, "", name), module
			if isModule(name) {
				if module >= 0 {
					l.inside[module] += call.Duration()
				}
				l.module[i] = i
			}
		}
	}
	if err := attribute.CheckDepth(stacks.All(), attribute.MaxSteps); err != nil {
		return fmt.Errorf("Python functions: %w", err)
	}
	if n == 0 {
		l.textStacks(stacks)
		return nil
	}
	for thread := range int32(len(l.threads.list)) {
		find := l.python.Finder(thread)
		for _, i := range l.calls.InOrder(thread) {
			call := l.calls.At(i)
			if p := find.At(call.Start, call.End); p >= 0 {
				call.Stack = l.stack[p]
			}
		}
	}
	return nil
}

// textStacks takes the stacks that traces of PyTorch 1.8 to 1.12 have as texts: functions from the innermost one, parted by ;.
func (l *linked) textStacks(stacks *load.Paths) {
	ids := make([]int32, len(l.stackIDs.list))
	for i, text := range l.stackIDs.list {
		ids[i] = textStack(stacks, text)
	}
	for call, n := range l.stacks {
		l.calls.At(call).Stack = ids[n]
	}
}
