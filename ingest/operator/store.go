package operator

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"prof/ingest/attribute"
	"prof/ingest/load"
)

// Thread names a thread of the source. Key is what attribute knows it by.
type Thread struct {
	PID, TID int32
	Key      int64
}

// Inputs are an operator's inputs, each text JSON; "" is not recorded.
type Inputs struct{ Shapes, Types, Strides, Concrete string }

// Source is what belongs to the calls of one source.
type Source struct {
	Calls     *Calls
	Names     []string // by Call.Name
	Inputs    []Inputs // by Call.Inputs
	Threads   []Thread // by Call.Thread
	Lines     *attribute.Timelines
	IDs       attribute.IDs
	HasMemory bool
	Origin    int64             // the moment from which stored times count
	Sequence  func(int32) int64 // autograd's sequence number of a call, -1 none; nil: none at all
	Forward   map[int32]int32   // forward operator of a backward one
	FirstOp   int32             // last op_id given before this source
}

// OpID is the op_id of the innermost operator that is, or is around, a call; 0 when there is none.
func (s *Source) OpID(call int32) int32 {
	if call = s.Calls.Operator(call); call < 0 {
		return 0
	}
	return s.FirstOp + call + 1
}

// Store stores the operators, their names and their inputs, and gives the number of operators.
func (s *Source) Store(ctx context.Context, t *load.Target) (int64, error) {
	r := &rows{Source: s}
	for _, n := range s.Names {
		id, err := t.Run.Operators.Add(n, "")
		if err != nil {
			return 0, err
		}
		r.nameID = append(r.nameID, id)
	}
	if err := s.storeInputs(ctx, t, r); err != nil {
		return 0, err
	}
	n, err := t.Insert(ctx, "op", load.Listed(s.Calls.Len(), columns, r.worker))
	t.Run.OpID += int32(s.Calls.Len())
	return n, err
}

func (s *Source) storeInputs(ctx context.Context, t *load.Target, r *rows) error {
	_, err := t.Append(ctx, "op_input", func(add func(...driver.Value) error) error {
		for _, in := range s.Inputs {
			id := load.ContentID(strings.Join([]string{in.Shapes, in.Types, in.Strides, in.Concrete}, "\n"))
			r.inputID = append(r.inputID, id)
			if !t.Run.First("op_input", strconv.FormatInt(id, 16)) {
				continue
			}
			if err := add(t.UUID(), id, text(in.Shapes), text(in.Types), text(in.Strides), text(in.Concrete)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func text(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// rows are the operators on their way into the table op.
type rows struct {
	*Source
	nameID, inputID []int64
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

var columns = []load.Column{{Name: "op_id", Type: load.Integer}, {Name: "parent_op_id", Type: load.Integer}, {Name: "forward_op_id", Type: load.Integer},
	{Name: "depth", Type: load.Integer}, {Name: "pid", Type: load.Integer}, {Name: "tid", Type: load.Integer}, {Name: "op_name_id"}, {Name: "op_input_id"},
	{Name: "stack_id", Type: load.Integer}, {Name: "sequence_id"}, {Name: "is_folded", Type: load.Integer}, {Name: "is_nested", Type: load.Integer},
	{Name: "start_ns"}, {Name: "duration_ns"}, {Name: "self_cpu_ns"}, {Name: "self_device_ns"}, {Name: "total_device_ns"},
	{Name: "self_work_count", Type: load.Integer}, {Name: "flop_count"},
	{Name: "device_alloc_bytes"}, {Name: "device_free_bytes"}, {Name: "host_alloc_bytes"}, {Name: "host_free_bytes"},
	{Name: "range_context_id", Type: load.Integer}, {Name: "path_id", Type: load.Integer}}

func (r *rows) worker() load.RowFunc {
	w := &worker{rows: r, placer: r.Lines.Placer(), flops: map[[2]int32]flopCount{}}
	return w.row
}

type flopCount struct {
	n  int64
	ok bool
}

type worker struct {
	*rows
	placer *attribute.Placer
	flops  map[[2]int32]flopCount
}

func (w *worker) row(c *load.Chunk, n int, i int32) bool {
	call := w.Calls.At(i)
	if call.Range {
		return false
	}
	thread := &w.Threads[call.Thread]
	c.Int32(colOp)[n] = w.FirstOp + i + 1
	optional(c, colParent, n, w.OpID(call.Parent))
	forward := int32(0)
	if f, ok := w.Forward[i]; ok {
		forward = w.OpID(f)
	}
	optional(c, colForward, n, forward)
	c.Int32(colDepth)[n], c.Int32(colPID)[n], c.Int32(colTID)[n] = call.Depth, thread.PID, thread.TID
	c.Int64(colName)[n] = w.nameID[call.Name]
	if call.Inputs >= 0 {
		c.Int64(colInput)[n] = w.inputID[call.Inputs]
	} else {
		c.SetNull(colInput, n)
	}
	optional(c, colStack, n, call.Stack)
	if w.Sequence == nil || w.Sequence(i) < 0 {
		c.SetNull(colSequence, n)
	} else {
		c.Int64(colSequence)[n] = w.Sequence(i)
	}
	c.Int32(colFolded)[n], c.Int32(colNested)[n] = flag(call.Folded), flag(call.Nested)
	c.Int64(colStart)[n], c.Int64(colDuration)[n], c.Int64(colSelfCPU)[n] = call.Start-w.Origin, call.Duration(), call.SelfCPU()
	c.Int64(colSelfDevice)[n], c.Int64(colTotalDevice)[n], c.Int32(colWork)[n] = call.SelfDevice, call.TotalDevice, call.Work
	w.flop(c, n, call)
	w.memory(c, n, i)
	node := w.placer.Node(thread.Key, call.Start)
	c.Int32(colContext)[n], c.Int32(colPath)[n] = w.IDs.ContextID(node), w.Lines.Path(node)
	return true
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// optional writes an id that is NULL when 0.
func optional(c *load.Chunk, col, n int, v int32) {
	if v == 0 {
		c.SetNull(col, n)
		return
	}
	c.Int32(col)[n] = v
}

// flop writes the operations of a call, once for a folded pair.
func (w *worker) flop(c *load.Chunk, n int, call *Call) {
	if call.Inputs < 0 || call.Folded || !HasFLOP(w.Names[call.Name]) {
		c.SetNull(colFLOP, n)
		return
	}
	key := [2]int32{call.Name, call.Inputs}
	f, known := w.flops[key]
	if !known {
		in := &w.Inputs[call.Inputs]
		f.n, f.ok = FLOP(w.Names[call.Name], in.Shapes, in.Types, in.Concrete)
		w.flops[key] = f
	}
	if c.Int64(colFLOP)[n] = f.n; !f.ok {
		c.SetNull(colFLOP, n)
	}
}

func (w *worker) memory(c *load.Chunk, n int, i int32) {
	m := w.Calls.Memory(i)
	for k, v := range [4]int64{m.DeviceAlloc, m.DeviceFree, m.HostAlloc, m.HostFree} {
		if c.Int64(colMemory + k)[n] = v; !w.HasMemory {
			c.SetNull(colMemory+k, n)
		}
	}
}
