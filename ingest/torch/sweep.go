package torch

import (
	"cmp"
	"math"
	"slices"

	"prof/ingest/attribute"
	"prof/ingest/operator"
)

// opSweep and pySweep put operators, and Python functions, into each other.
type (
	opCall  = operator.Call[operator.Op]
	opSweep = operator.Sweep[operator.Op]
	pyCall  = operator.Call[pythonOf]
	pySweep = operator.Sweep[pythonOf]
)

// sweeper goes along what happened on each thread in the order of time, once, and gives each thing its place: operators in
// each other, API calls, memory and device work in operators, all of them in Python functions.
type sweeper struct {
	*loader
	ops     opSweep
	python  pySweep
	place   *attribute.Placer
	without *attribute.UnmetList
	thread  int32
	th      *thread

	nextOp, nextAPI, nextPython, nextMemory *packedReader
	opAt, apiAt, pythonAt, memoryAt         int64      // when the next one is; never at the end
	memory                                  int        // number of the next memory event
	overhead                                []overhead // of the thread, what is to come
	overheadAt                              int64
}

const never = int64(math.MaxInt64)

// sweep places everything and emits the operators.
func (l *loader) sweep(emit func(*opCall) error) error {
	s := &sweeper{loader: l, ops: opSweep{Emit: emit}, place: l.lines.Placer(), without: l.unmet.List()}
	s.python.Emit = l.emitPython
	overheadThread := l.overheadThread()
	for i, th := range l.of {
		s.thread, s.th, s.memory = int32(i), th, 0
		s.nextOp, s.nextAPI, s.nextPython, s.nextMemory = th.ops.rows(), th.apis.rows(), th.python.rows(), th.memory.rows()
		s.overhead = nil
		if th == overheadThread {
			s.overhead = slices.SortedFunc(slices.Values(l.overhead), func(a, b overhead) int {
				return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.duration, a.duration))
			})
		}
		s.overheadAt = s.nextOverhead()
		s.opAt, s.apiAt, s.pythonAt, s.memoryAt = at(s.nextOp), at(s.nextAPI), at(s.nextPython), at(s.nextMemory)
		if err := s.walk(); err != nil {
			return err
		}
		th.ops = packed{} // stored by now
	}
	return nil
}

// overheadThread is the thread whose operators the profiler's own time lies in; nil where that is not known. Kineto does not say whose it was; PyTorch
// takes the thread that ended the profile, which is a process's first one, or its only one.
func (l *loader) overheadThread() *thread {
	if _, only := l.threads.only(); !only || len(l.overhead) == 0 {
		return nil
	}
	var found *thread
	for i, th := range l.of {
		if th.ops.n == 0 {
			continue
		}
		if t := l.threads.list[i]; t.PID == t.TID {
			return th
		}
		if found != nil {
			return nil
		}
		found = th
	}
	return found
}

// nextOverhead returns when the profiler's own time begins next.
func (s *sweeper) nextOverhead() int64 {
	if len(s.overhead) == 0 {
		return never
	}
	return s.overhead[0].start
}

// at goes to the next row and gives its time.
func at(r *packedReader) int64 {
	if !r.next() {
		return never
	}
	return r.row[0]
}

// walk goes along one thread. Of what happens together the outer comes first.
func (s *sweeper) walk() error {
	for {
		var err error
		switch first := min(s.opAt, s.apiAt, s.pythonAt, s.memoryAt, s.overheadAt); {
		case first == never:
			if err := s.ops.End(); err != nil {
				return err
			}
			return s.python.End()
		case s.pythonAt == first:
			err = s.pushPython(s.nextPython.row)
			s.pythonAt = at(s.nextPython)
		case s.opAt == first:
			err = s.pushOp(s.nextOp.row)
			s.opAt = at(s.nextOp)
		case s.overheadAt == first:
			err = s.pushOverhead()
		case s.apiAt == first:
			err = s.api(s.nextAPI.row)
			s.apiAt = at(s.nextAPI)
		default:
			err = s.remember(s.nextMemory.row)
			s.memoryAt = at(s.nextMemory)
		}
		if err != nil {
			return err
		}
	}
}

func (s *sweeper) pushOp(row []int64) error {
	start, end := row[0], row[0]+row[1]
	op := operator.Op{Thread: s.thread, Inputs: int32(row[colInputs]), Sequence: row[colSequence], External: row[colExternal]}
	in, err := s.python.Holding(start, end)
	if err != nil {
		return err
	}
	switch {
	case in != nil:
		op.Stack = in.Of.stack
	case row[colStack] >= 0:
		op.Stack = s.textStack[row[colStack]]
	}
	call, err := s.ops.Push(opCall{Start: start, End: end, Name: int32(row[colName]), Of: op})
	if err != nil {
		return err
	}
	call.Of.Forward = s.gradient[call.ID]
	if n := s.named[op.External]; n != nil && n.op == unknownOp && start <= n.start {
		n.op = call.ID
		call.SelfDevice, call.Work = n.sum, n.count
	}
	return nil
}

// pushOverhead takes the profiler's own time out of the operator that it lies in.
func (s *sweeper) pushOverhead() error {
	o := s.overhead[0]
	s.overhead = s.overhead[1:]
	s.overheadAt = s.nextOverhead()
	return s.ops.AddOverhead(o.start, o.start+o.duration)
}

// remember takes a memory event.
func (s *sweeper) remember(row []int64) error {
	op, err := s.ops.Holding(row[0], row[0])
	if err != nil {
		return err
	}
	if op != nil {
		s.th.memOp[s.memory] = op.ID
		op.Of.Memory.Add(!onHost(row[memDeviceType]), row[memBytes])
	}
	s.memory++
	return nil
}

// api takes an API call and the device work that it launched.
func (s *sweeper) api(row []int64) error {
	start, end := row[0], row[0]+row[1]
	op, err := s.ops.Holding(start, end)
	if err != nil {
		return err
	}
	in, err := s.python.Holding(start, end)
	if err != nil {
		return err
	}
	if op != nil {
		s.ops.AddAPI(op, start, end)
	}
	s.called.Add(s.thread, start-s.origin, row[1], s.callKind[row[colName]])
	if s.isRecord[row[colName]] {
		for _, i := range s.recordsOf[row[colCorrelation]] {
			switch w := &s.waits[i]; {
			case w.recordStart == absent:
				w.recordStart, w.recordThread = start, s.thread
			case w.recordThread != s.thread: // traces of several processes were merged
				w.recordStart = unclear
			}
		}
	}
	work := s.launched(row[colCorrelation])
	if effect := s.effect[row[colName]]; effect != attribute.NoEffect && (effect != attribute.LaunchesWork || len(work) == 0) { // Kineto does not record whether a call failed
		s.without.Add(effect, s.thread, s.place.Node(s.threads.list[s.thread].Key, start), s.apiID[row[colName]], start-s.origin, end-s.origin)
	}
	waits := s.waitsOf[row[colCorrelation]]
	// Of several calls with one id, the first is the outermost; where they are not in each other, the id says nothing.
	if len(work) > 0 && (s.work(work[0]).launch >= 0 || s.clashing[row[colCorrelation]]) {
		work = nil
	}
	if len(work) == 0 {
		s.capture(row, op, stackOf(op, in))
	}
	if len(work)+len(waits) == 0 {
		return nil
	}
	node := s.place.Node(s.threads.list[s.thread].Key, start)
	s.launches = append(s.launches, launch{start: start, duration: row[1], thread: s.thread, name: int32(row[colName]), node: node, stack: stackOf(op, in)})
	for _, i := range waits {
		if s.waits[i].launch < 0 {
			s.waits[i].launch = int32(len(s.launches) - 1)
		}
	}
	for _, i := range work {
		w := s.work(i)
		w.launch = int32(len(s.launches) - 1)
		s.launch(w, op, in, end)
	}
	return nil
}

// stackOf is the stack of Python functions that an API call was made in. Traces of before PyTorch 1.13 have stacks of operators alone.
func stackOf(op *opCall, in *pyCall) int32 {
	switch {
	case in != nil:
		return in.Of.stack
	case op != nil:
		return op.Of.Stack
	}
	return 0
}

// launch gives device work to the operator and the Python function that launched it.
func (s *sweeper) launch(w *work, op *opCall, in *pyCall, end int64) {
	if op = s.launcher(w, op, end); op != nil {
		op.AddDevice(w.duration)
		w.op = op.ID
	} else {
		w.op = 0
	}
	if in != nil {
		in.AddDevice(w.duration)
		s.addToModule(in, w.duration)
	}
}

// launcher returns the operator that launched a piece of work: the one that its External id names where that one holds the
// launch, else the one around the launch. Old versions of Kineto gave work outside every operator its correlation id for an
// External id, which another operator may have.
func (s *sweeper) launcher(w *work, around *opCall, end int64) *opCall {
	if w.external == absent || around != nil && around.Of.External == w.external {
		return around
	}
	named := s.ops.Find(func(c *opCall) bool { return c.Of.External == w.external && c.End >= end })
	if named != nil {
		return named
	}
	if w.external != w.correlation && !s.rangeIDs[w.external] {
		s.astray++ // it overlaps in part with a later one, or is on another thread
	}
	return around
}
