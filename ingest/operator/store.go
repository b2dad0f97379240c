package operator

import (
	"context"

	"prof/ingest/attribute"
	"prof/ingest/cost"
	"prof/ingest/load"
	"prof/ingest/rows"
)

// Thread names a thread of the source. Key is what attribute knows it by.
type Thread struct {
	PID, TID int32
	Key      int64
}

// Inputs are an operator's inputs.
type Inputs = cost.Inputs

// Op is what a call of an operator has beside its times.
type Op struct {
	Thread   int32 // the source's number of the thread
	Inputs   int32 // the source's number of its inputs; -1 when not recorded
	Stack    int32 // stack_id; 0 when not recorded
	Forward  int32 // ID of the forward operator of a backward one; 0 none
	Sequence int64 // autograd's sequence number; -1 none
	External int64 // the id by which device work names it
	Memory   Memory
}

// Memory is what was allocated and freed in a call but not in a call inside it, in bytes, none negative.
type Memory struct{ DeviceAlloc, DeviceFree, HostAlloc, HostFree int64 }

// Add notes an allocation, or with negative bytes a release.
func (m *Memory) Add(onDevice bool, bytes int64) {
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

// Source is what belongs to the operators of one source.
type Source struct {
	Names     []string // by Call.Name
	Inputs    []Inputs // by Op.Inputs
	Threads   []Thread // by Op.Thread
	Lines     *attribute.Timelines
	IDs       attribute.IDs
	HasMemory bool
	NoDevice  bool  // no device work was recorded, so that the times of it are unknown
	Origin    int64 // the moment from which stored times count
	FirstOp   int32 // last op_id given before this source
	// Within makes, for one goroutine, the function that gives the set of ranges a call was made in and marks it; nil: that
	// open when it began, which is not so where operators are ranges themselves.
	Within func() func(*Call[Op]) int32

	nameID, inputID []int32 // by number, once StoreNames has run
}

// StoreNames stores the names and the inputs of the operators, before Store.
func (s *Source) StoreNames(ctx context.Context, t *load.Target) error {
	for _, n := range s.Names {
		s.nameID = append(s.nameID, t.Run.Operators.Add(n))
	}
	return s.storeInputs(ctx, t)
}

// Store stores the operators that run emits, and gives their number. run works in a goroutine of its own.
func (s *Source) Store(ctx context.Context, t *load.Target, run func(emit func(*Call[Op]) error) error) (int64, error) {
	made := newStream(run)
	defer made.stop()
	n, err := t.Insert(ctx, "op", rows.Pulled(1, columns, func() rows.PullFunc { return s.worker(made) }))
	t.Run.OpID += int32(n)
	return n, err
}

func (s *Source) storeInputs(ctx context.Context, t *load.Target) error {
	_, err := t.Append(ctx, "op_input", func(add rows.Add) error {
		for _, in := range s.Inputs {
			known := len(t.Run.Inputs.All())
			id := t.Run.Inputs.Add(load.InputKey(in.Shapes, in.Types, in.Strides, in.Concrete))
			s.inputID = append(s.inputID, id)
			if int(id) <= known {
				continue
			}
			if err := add(t.RunID, id, text(in.Shapes), text(in.Types), text(in.Strides), text(in.Concrete)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

const (
	colOp = iota
	colParent
	colForward
	colDepth
	colPID
	colTID
	colName
	colInput
	colStack
	colSequence
	colFolded
	colNested
	colStart
	colDuration
	colSelfCPU
	colSelfDevice
	colTotalDevice
	colWork
	colFLOP
	colMemory  // four columns
	colContext = colMemory + 4
	colPath    = colContext + 1
)

var columns = []rows.Column{{Name: "op_id", Type: rows.Integer}, {Name: "parent_op_id", Type: rows.Integer}, {Name: "forward_op_id", Type: rows.Integer},
	{Name: "depth", Type: rows.Integer}, {Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "op_name_id", Type: rows.Integer}, {Name: "op_input_id", Type: rows.Integer},
	{Name: "stack_id", Type: rows.Integer}, {Name: "sequence_id"}, {Name: "is_folded", Type: rows.Integer}, {Name: "is_nested", Type: rows.Integer},
	{Name: "start_ns"}, {Name: "duration_ns"}, {Name: "self_cpu_ns"}, {Name: "self_device_ns"}, {Name: "total_device_ns"},
	{Name: "self_work_count", Type: rows.Integer}, {Name: "flop_count"},
	{Name: "device_alloc_bytes"}, {Name: "device_free_bytes"}, {Name: "host_alloc_bytes"}, {Name: "host_free_bytes"},
	{Name: "range_context_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer}}

// worker returns one thread's function that fills chunks from the stream.
func (s *Source) worker(made *stream) rows.PullFunc {
	w := &worker{Source: s, flops: map[[2]int32]flopCount{}}
	if w.within = s.atStart(); s.Within != nil {
		w.within = s.Within()
	}
	return func(c *rows.Chunk) (int, error) {
		calls, err := made.next()
		for n := range calls {
			w.row(c, n, &calls[n])
		}
		made.giveBack(calls)
		return len(calls), err
	}
}

type flopCount struct {
	n  int64
	ok bool
}

type worker struct {
	*Source
	within func(*Call[Op]) int32
	flops  map[[2]int32]flopCount
}

// atStart returns the ranges open when a call began.
func (s *Source) atStart() func(*Call[Op]) int32 {
	placer := s.Lines.Placer()
	return func(call *Call[Op]) int32 { return placer.Node(s.Threads[call.Of.Thread].Key, call.Start) }
}

func (w *worker) row(c *rows.Chunk, n int, call *Call[Op]) {
	op := &call.Of
	thread := &w.Threads[op.Thread]
	c.Int32(colOp)[n] = w.FirstOp + call.ID
	w.optional(c, colParent, n, call.Parent, w.FirstOp)
	w.optional(c, colForward, n, op.Forward, w.FirstOp)
	c.Int32(colDepth)[n], c.Int32(colPID)[n], c.Int32(colTID)[n] = call.Depth, thread.PID, thread.TID
	c.Int32(colName)[n] = w.nameID[call.Name]
	if op.Inputs >= 0 {
		c.Int32(colInput)[n] = w.inputID[op.Inputs]
	} else {
		c.SetNull(colInput, n)
	}
	w.optional(c, colStack, n, op.Stack, 0)
	if c.Int64(colSequence)[n] = op.Sequence; op.Sequence < 0 {
		c.SetNull(colSequence, n)
	}
	c.Int32(colFolded)[n], c.Int32(colNested)[n] = flag(call.Folded), flag(call.Nested)
	c.Int64(colStart)[n], c.Int64(colDuration)[n], c.Int64(colSelfCPU)[n] = call.Start-w.Origin, call.Duration(), call.SelfCPU()
	c.Int64(colSelfDevice)[n], c.Int64(colTotalDevice)[n], c.Int32(colWork)[n] = call.SelfDevice, call.TotalDevice, call.Work
	if w.NoDevice {
		c.SetNull(colSelfDevice, n)
		c.SetNull(colTotalDevice, n)
		c.SetNull(colWork, n)
	}
	w.flop(c, n, call)
	for k, v := range [4]int64{op.Memory.DeviceAlloc, op.Memory.DeviceFree, op.Memory.HostAlloc, op.Memory.HostFree} {
		if c.Int64(colMemory + k)[n] = v; !w.HasMemory {
			c.SetNull(colMemory+k, n)
		}
	}
	node := w.within(call)
	c.Int32(colContext)[n], c.Int32(colPath)[n] = w.IDs.ContextID(node), w.Lines.Path(node)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// optional writes an id that is NULL when 0, and otherwise goes on after first.
func (w *worker) optional(c *rows.Chunk, col, n int, id, first int32) {
	if id == 0 {
		c.SetNull(col, n)
		return
	}
	c.Int32(col)[n] = first + id
}

// flop writes the operations of a call, once for a folded pair.
func (w *worker) flop(c *rows.Chunk, n int, call *Call[Op]) {
	if call.Of.Inputs < 0 || call.Folded || !cost.HasFLOP(w.Names[call.Name]) {
		c.SetNull(colFLOP, n)
		return
	}
	key := [2]int32{call.Name, call.Of.Inputs}
	f, known := w.flops[key]
	if !known {
		in := &w.Inputs[call.Of.Inputs]
		f.n, f.ok = cost.FLOP(w.Names[call.Name], in.Shapes, in.Types, in.Concrete)
		w.flops[key] = f
	}
	if c.Int64(colFLOP)[n] = f.n; !f.ok {
		c.SetNull(colFLOP, n)
	}
}
