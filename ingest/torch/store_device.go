package torch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// Every table of device work begins with these columns.
var workColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "device_id", Type: rows.Integer},
	{Name: "context_id", Type: rows.Integer}, {Name: "stream_id", Type: rows.Integer}, {Name: "start_ns"}, {Name: "duration_ns"}, {Name: "correlation_id"},
	{Name: "launch_start_ns"}, {Name: "launch_duration_ns"}, {Name: "launch_name_id", Type: rows.Integer},
	{Name: "range_context_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer}, {Name: "op_id", Type: rows.Integer},
	{Name: "stack_id", Type: rows.Integer}}

const (
	atPID = iota
	atTID
	atDevice
	atContext
	atStream
	atStart
	atDuration
	atCorrelation
	atLaunchStart
	atLaunchDuration
	atLaunchName
	atRangeContext
	atPath
	atOp
	atStack
	atMore
)

// workRow fills the columns that all device work has.
func (l *loader) workRow(c *rows.Chunk, n int, w *work) *config {
	k := &l.configs.List[w.config]
	c.Int32(atDevice)[n], c.Int32(atStream)[n] = k.device, k.stream
	c.Int64(atStart)[n], c.Int64(atDuration)[n] = w.start-l.origin, w.duration
	setInt(c, atContext, n, k.context, k.has&hasContext != 0)
	if c.Int64(atCorrelation)[n] = w.correlation; w.correlation == absent {
		c.SetNull(atCorrelation, n)
	}
	op := w.op
	if named := l.named[w.external]; w.launch < 0 && named != nil && w.external != w.correlation { // see findNamed
		op = named.op
	}
	known := l.hasOperator && op != unknownOp
	if op > 0 {
		op += l.source.FirstOp
	}
	setInt(c, atOp, n, op, known)
	if w.launch < 0 {
		pid, ok := l.threads.only()
		setInt(c, atPID, n, pid, ok)
		for _, col := range []int{atTID, atLaunchStart, atLaunchDuration, atLaunchName, atRangeContext, atStack} {
			c.SetNull(col, n)
		}
		setInt(c, atPath, n, k.path, k.has&hasPath != 0)
		return k
	}
	a := &l.launches[w.launch]
	thread := l.threads.list[a.thread]
	c.Int32(atPID)[n], c.Int32(atTID)[n] = thread.PID, thread.TID
	c.Int64(atLaunchStart)[n], c.Int64(atLaunchDuration)[n], c.Int32(atLaunchName)[n] = a.start-l.origin, a.duration, l.apiID[a.name]
	c.Int32(atRangeContext)[n], c.Int32(atPath)[n] = l.ids.ContextID(a.node), l.lines.Path(a.node)
	setInt(c, atStack, n, a.stack, l.hasStacks())
	return k
}

// hasStacks reports whether the trace records Python functions.
func (l *loader) hasStacks() bool { return len(l.pyNames.List)+len(l.stackID.List) > 0 }

func setInt(c *rows.Chunk, col, n int, v int32, ok bool) {
	if c.Int32(col)[n] = v; !ok {
		c.SetNull(col, n)
	}
}

// storeKernels stores the kernels.
func (l *loader) storeKernels(ctx context.Context) error {
	names := make([]int64, len(l.kernName.List))
	l.kernID = names
	for i, raw := range l.kernName.List {
		names[i] = int64(l.addKernel(raw))
	}
	columns := append(slices.Clone(workColumns), rows.Column{Name: "kernel_name_id"}, rows.Column{Name: "kernel_shape_id", Type: rows.Integer})
	_, err := l.target.Insert(ctx, "kernel", rows.Listed(l.kernels.Len(), columns, func() rows.RowFunc {
		shapes := make([]int32, len(l.configs.List)) // 0 before a kernel of the configuration comes
		return func(c *rows.Chunk, n int, i int32) {
			w := l.kernels.At(i)
			k := l.workRow(c, n, w)
			if shapes[w.config] == 0 {
				shapes[w.config] = l.target.Run.ShapeID(k.shape())
			}
			c.Int64(atMore)[n], c.Int32(atMore + 1)[n] = names[k.name], shapes[w.config]
		}
	}))
	return err
}

// addKernel returns the number of a kernel's name within the run.
func (l *loader) addKernel(raw string) int32 {
	name := demangle.Filter(valid(raw)) // Kineto leaves names that are long for a symbol mangled
	short := load.ShortName(name)
	return l.target.Run.Kernels.Add(name, &short)
}

// shape returns the launch shape of kernels of a configuration.
func (k *config) shape() (s load.Shape) {
	for d := range 3 {
		if k.has&hasGrid != 0 {
			s.Set(d, k.grid[d])
		}
		if k.has&hasBlock != 0 {
			s.Set(3+d, k.block[d])
		}
	}
	if k.has&hasRegisters != 0 {
		s.Set(6, k.registers)
	}
	return s
}

// storeMemops stores copies and fills.
func (l *loader) storeMemops(ctx context.Context) error {
	kinds := make([][3]string, len(l.opName.List))
	for i, name := range l.opName.List {
		kinds[i] = memopKind(valid(name))
	}
	columns := append(slices.Clone(workColumns), rows.Column{Name: "operation", Type: rows.Varchar}, rows.Column{Name: "size_bytes"},
		rows.Column{Name: "src_memory", Type: rows.Varchar}, rows.Column{Name: "dst_memory", Type: rows.Varchar})
	_, err := l.target.Insert(ctx, "memop", rows.Listed(l.memops.Len(), columns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, i int32) {
			w := l.memops.At(i)
			k := l.workRow(c, n, w)
			c.SetText(atMore, n, kinds[k.name][0])
			if c.Int64(atMore + 1)[n] = w.bytes; k.has&hasBytes == 0 {
				c.SetNull(atMore+1, n)
			}
			for d, text := range kinds[k.name][1:] {
				if text == "" {
					c.SetNull(atMore+2+d, n)
				} else {
					c.SetText(atMore+2+d, n, text)
				}
			}
		}
	}))
	return err
}

// directions are Kineto's short forms of CUPTI's copy kinds (memcpyKindString in its CuptiActivity.cpp), in the words that
// Nsight Systems uses.
var directions = map[string]string{"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "HtoA": "Host-to-Array", "AtoH": "Array-to-Host",
	"AtoA": "Array-to-Array", "AtoD": "Array-to-Device", "DtoA": "Device-to-Array", "DtoD": "Device-to-Device", "HtoH": "Host-to-Host", "PtoP": "Peer-to-Peer"}

// memopKind reads `Memcpy HtoD (Pageable -> Device)` and `Memset (Device)` into the operation and the kinds of memory. A name
// of another form is the operation itself.
func memopKind(name string) [3]string {
	head, memory, _ := strings.Cut(strings.TrimSuffix(name, ")"), " (")
	tool, direction, _ := strings.Cut(head, " ")
	switch {
	case tool == "Memset" && direction == "":
		if i := strings.LastIndex(memory, "-> "); i >= 0 { // XPU writes what it is filled with too
			memory = memory[i+len("-> "):]
		}
		return [3]string{"memset", "", memoryKind(memory)}
	case tool == "Memcpy" && directions[direction] != "":
		src, dst, _ := strings.Cut(memory, " -> ")
		return [3]string{"memcpy " + directions[direction], memoryKind(src), memoryKind(dst)}
	}
	return [3]string{name}
}

func memoryKind(s string) string {
	if s == "Unknown" || s == "Host" { // says no more than the direction
		return ""
	}
	return s
}

// replay is one launch of a CUDA graph on one device, from its nodes.
type replay struct {
	config          *config
	first, last     int64
	busy            int64
	kernels, memops int64
	correlation     int64
}

type replayKey struct{ launch, device int32 }

// storeReplays stores the launches of CUDA graphs.
func (l *loader) storeReplays(ctx context.Context) error {
	isGraph := make([]bool, len(l.apiNames.List))
	for i, name := range l.apiNames.List {
		isGraph[i] = strings.Contains(name, "GraphLaunch")
	}
	replays := map[replayKey]*replay{}
	for i := range int32(l.works()) {
		w := l.work(i)
		if w.launch < 0 || !isGraph[l.launches[w.launch].name] {
			continue
		}
		k := replayKey{w.launch, l.configs.List[w.config].device}
		r := replays[k]
		if r == nil {
			r = &replay{config: &l.configs.List[w.config], first: w.start, last: w.start, correlation: w.correlation}
			replays[k] = r
		}
		r.first, r.last, r.busy = min(r.first, w.start), max(r.last, w.start+w.duration), r.busy+w.duration
		if i < int32(l.kernels.Len()) {
			r.kernels++
		} else {
			r.memops++
		}
	}
	keys := slices.SortedFunc(maps.Keys(replays), func(a, b replayKey) int {
		return cmp.Or(cmp.Compare(replays[a].first, replays[b].first), cmp.Compare(a.launch, b.launch), cmp.Compare(a.device, b.device))
	})
	_, err := l.target.Append(ctx, "graph_launch", func(add rows.Add) error {
		for _, k := range keys {
			r, a := replays[k], &l.launches[k.launch]
			thread := l.threads.list[a.thread]
			var context, stack any
			if r.config.has&hasContext != 0 {
				context = r.config.context
			}
			if l.hasStacks() {
				stack = a.stack
			}
			if err := add(l.target.RunID, l.sourceID(), thread.PID, thread.TID, k.device, context, nil, "node", nil, r.first-l.origin, r.last-r.first, r.busy,
				r.kernels, r.memops, r.correlation, a.start-l.origin, a.duration, l.apiID[a.name], l.ids.ContextID(a.node), l.lines.Path(a.node), stack, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// storeRanges stores the record_function ranges and the device work of each.
func (l *loader) storeRanges(ctx context.Context) error {
	_, err := l.target.Append(ctx, "nvtx_range", func(add rows.Add) error {
		for i, s := range l.spans {
			r := &l.ranges[i]
			thread := l.threads.list[r.thread]
			var parent any
			if s.Parent >= 0 {
				parent = l.ids.RangeID(s.Parent)
			}
			if err := add(l.target.RunID, l.sourceID(), l.ids.RangeID(int32(i)), parent, s.Path, thread.PID, thread.TID, nil, l.style, "",
				valid(l.rgNames.List[r.name]), nil, s.Start-l.origin, s.End-s.Start); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.storeAccount(ctx)
}
