package nsys

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

const (
	kernelTable = "CUPTI_ACTIVITY_KIND_KERNEL"
	memcpyTable = "CUPTI_ACTIVITY_KIND_MEMCPY"
	memsetTable = "CUPTI_ACTIVITY_KIND_MEMSET"
	graphTable  = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
)

// Every table of device work begins with these columns, both in the export and in the warehouse.
const (
	deviceWants   = "start end deviceId contextId? streamId correlationId? globalPid? "
	deviceColumns = "pid:int tid:int device_id:int context_id:int stream_id:int start_ns duration_ns correlation_id " +
		"launch_start_ns launch_duration_ns launch_name_id:int range_context_id:int path_id:int "
)

// Places of these columns.
const (
	inStart = iota
	inEnd
	inDevice
	inContext
	inStream
	inCorrelation
	inPid
	inMore // the first column of the table's own
)

const (
	outPid = iota
	outTid
	outDevice
	outContext
	outStream
	outStart
	outDuration
	outCorrelation
	outLaunchStart
	outLaunchDuration
	outLaunchName
	outRangeContext
	outPath
	outMore
)

// deviceWork stores the rows of one table of device work.
type deviceWork struct {
	l        *loader
	kind     attribute.WorkKind
	graph    int // column of graphNodeId, -1 none
	op       int // column of op_id, -1 none
	stack    int // column of stack_id, -1 none
	backward atomic.Int64
	odd      atomic.Int64 // rows whose context or stream cannot be
	bodies   atomic.Int64 // rows of conditional nodes whose launch is not known
	mu       sync.Mutex
	graphs   []*replays
}

// deviceFill is one worker's part of it.
type deviceFill struct {
	*deviceWork
	calls   *attribute.Finder
	work    *attribute.WorkList
	labels  *attribute.Labeller
	replays *replays

	lastKey     deviceKey
	lastDevice  int32
	lastContext int64
	known       bool
	lastThread  int32 // number of the thread that lastTid is of, -1 at first
	lastTid     int32
	lastStream  attribute.Stream
	streamAt    int32 // number of lastStream, -1 at first

	// the memory of the shared columns of one chunk
	pid, tid, device, context, stream, launchName, rangeContext, path []int32
	start, duration, correlation, launchStart, launchDuration         []int64
}

// begin takes the memory of a chunk's shared columns once, not for each value.
func (f *deviceFill) begin(c *rows.Chunk) {
	f.pid, f.tid, f.device, f.context = c.Int32(outPid), c.Int32(outTid), c.Int32(outDevice), c.Int32(outContext)
	f.stream, f.start, f.duration = c.Int32(outStream), c.Int64(outStart), c.Int64(outDuration)
	f.correlation, f.launchStart, f.launchDuration = c.Int64(outCorrelation), c.Int64(outLaunchStart), c.Int64(outLaunchDuration)
	f.launchName, f.rangeContext, f.path = c.Int32(outLaunchName), c.Int32(outRangeContext), c.Int32(outPath)
}

func (d *deviceWork) worker() *deviceFill {
	f := &deviceFill{deviceWork: d, calls: d.l.launches.Finder(), work: attribute.NewWorkList(d.l.target.Room), labels: d.l.workNames.Labeller(), lastThread: -1, streamAt: -1}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.l.work = append(d.l.work, f.work)
	if d.graph >= 0 {
		f.replays = &replays{rows: map[replayKey]*replay{}}
		d.graphs = append(d.graphs, f.replays)
	}
	return f
}

// common fills the shared columns of row n from row i, which is of what label says; false means that the row is no interval and is left out.
func (f *deviceFill) common(b *table.Batch, i int, c *rows.Chunk, n int, label attribute.Label) bool {
	start, end := b.Cols[inStart].Ints[i], b.Cols[inEnd].Ints[i]
	if !isInterval(start, end) {
		f.backward.Add(1)
		return false
	}
	context, stream := b.Cols[inContext].Ints[i], b.Cols[inStream].Ints[i]
	byDevice := f.kind == attribute.Graph && isByDevice(&b.Cols[inCorrelation], i)
	if byDevice { // nsys numbers its stream as no stream can be, CUPTI gives 0
		stream = 0
	}
	if !has32(context) || !has32(stream) {
		f.odd.Add(1)
		return false
	}
	device := int32(0)
	if pid, ok := f.l.processOf(&b.Cols[inPid], i); !ok {
		c.SetNull(outPid, n)
		device = f.l.numbered(b.Cols[inDevice].Ints[i])
	} else {
		f.pid[n] = pidOf(pid)
		if k := (deviceKey{pidOf(pid), b.Cols[inDevice].Ints[i]}); !f.known || k != f.lastKey || context != f.lastContext {
			f.lastKey, f.lastDevice, f.lastContext, f.known = k, f.l.device(pid, k.cuda), context, true
			f.l.contexts.put(contextKey{k.pid, context}, f.lastDevice)
		}
		device = f.lastDevice
	}
	f.device[n], f.context[n], f.stream[n] = device, int32(context), int32(stream)
	if byDevice {
		c.SetNull(outStream, n)
	}
	if b.Cols[inContext].Null(i) {
		c.SetNull(outContext, n)
	}
	f.start[n], f.duration[n] = start, end-start
	row, correlation := f.launch(b, i, c, n)
	node := attribute.NoNode
	call, launched := f.l.launches.Get(row)
	if launched {
		node = call.Node
	}
	label.Device, label.Kind = device, f.kind
	f.work.Add(attribute.Work{Start: start, End: end, Launch: row, Label: f.labels.Of(label), Stream: f.streamOf(b, i, device, int32(context), int32(stream))})
	if f.graph >= 0 && !b.Cols[f.graph].Null(i) {
		f.replays.add(b, i, device, row, correlation, b.Cols[f.graph].Ints[i], isByDevice(&b.Cols[inCorrelation], i), f.kind)
	}
	if f.stack >= 0 {
		if id, ok := f.l.stacks.of(row).(int32); ok {
			c.Int32(f.stack)[n] = id
		} else {
			c.SetNull(f.stack, n)
		}
	}
	if f.op >= 0 {
		if c.Int32(f.op)[n] = f.l.ranges.operators.addDevice(node, end-start); !launched {
			c.SetNull(f.op, n)
		}
	}
	return true
}

// streamOf numbers the stream of row i: work comes in runs of one.
func (f *deviceFill) streamOf(b *table.Batch, i int, device, context, stream int32) int32 {
	pid := attribute.NoPID
	if global, ok := f.l.processOf(&b.Cols[inPid], i); ok {
		pid = pidOf(global)
	}
	if s := (attribute.Stream{PID: pid, Device: device, Context: context, ID: stream}); f.streamAt < 0 || s != f.lastStream {
		f.lastStream, f.streamAt = s, f.l.streams.Of(s)
	}
	return f.streamAt
}

// launch fills in the launching call and gives its row in the launch table, -1 when none is known, and its correlation id, noCall when it has none.
func (f *deviceFill) launch(b *table.Batch, i int, c *rows.Chunk, n int) (row int32, correlation int64) {
	if f.kind == attribute.Graph && isByDevice(&b.Cols[inCorrelation], i) {
		return f.byDevice(b, i, c, n), noCall
	}
	row = -1
	pid, ok := f.l.processOf(&b.Cols[inPid], i)
	if corr := &b.Cols[inCorrelation]; !corr.Null(i) {
		correlation = corr.Ints[i]
	}
	if ok && correlation != noCall {
		row = f.calls.Row(procOf(pid), correlation)
	} else if ok && f.l.execs != nil && f.graph >= 0 && !b.Cols[f.graph].Null(i) {
		if of := f.l.execs.Of(attribute.Exec{Process: procOf(pid), ID: graphOf(b.Cols[f.graph].Ints[i])}, b.Cols[inStart].Ints[i]); of != nil {
			row, correlation = of.Row, of.Correlation
		} else {
			f.bodies.Add(1)
		}
	}
	if f.correlation[n] = correlation; correlation == noCall {
		c.SetNull(outCorrelation, n)
	}
	call, ok := f.l.launches.Get(row)
	if !ok {
		for _, col := range []int{outTid, outLaunchStart, outLaunchDuration, outLaunchName, outRangeContext, outPath} {
			c.SetNull(col, n)
		}
		return -1, correlation
	}
	f.place(call, n)
	f.launchStart[n], f.launchDuration[n], f.launchName[n] = call.Start, f.l.launches.DurationOf(row), call.Name
	return row, correlation
}

// place fills in the thread and the ranges of a launch.
func (f *deviceFill) place(call attribute.Launch, n int) {
	if call.Thread != f.lastThread { // looking a thread up takes a lock
		f.lastThread, f.lastTid = call.Thread, f.l.tidOf(call)
	}
	f.tid[n], f.rangeContext[n], f.path[n] = f.lastTid, f.l.ids.ContextID(call.Node), f.l.ranges.lines.Path(call.Node)
}

// processOf returns the globalPid of device work. In an export that lacks the column it is the only process that made API calls.
func (l *loader) processOf(pid *table.Vector, i int) (int64, bool) {
	if pid.Missing && l.only != nil {
		return *l.only, true
	}
	return pid.Ints[i], !pid.Null(i)
}

// tidOf returns the calling thread of a launch, as it is stored.
func (l *loader) tidOf(c attribute.Launch) int32 { return tidOf(l.launches.Threads.Key(c.Thread)) }

// device returns the machine's number of a GPU from the number that the process knows it by (CUDA_VISIBLE_DEVICES renumbers).
func (l *loader) device(globalPid, cudaID int64) int32 {
	if gpu, ok := l.deviceOf[deviceKey{pidOf(globalPid), cudaID}]; ok {
		return gpu
	}
	return l.numbered(cudaID)
}

type contextKey struct {
	pid     int32
	context int64
}

// contexts are the GPUs of CUDA contexts, by the work that ran in them: of synchronisations nsys says the context, and of all of them that they were on the first GPU.
type contexts struct {
	mu     sync.Mutex
	device map[contextKey]int32
}

func (c *contexts) put(k contextKey, device int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.device == nil {
		c.device = map[contextKey]int32{}
	}
	c.device[k] = device
}

// unknownDevice is the number of a GPU that the capture numbers as none can be: such rows are not taken for another GPU's.
const unknownDevice = int32(-1)

// has32 reports whether a number has 32 bits, with a sign or as the profiler writes negative ones, without.
func has32(v int64) bool { return v == int64(int32(v)) || v == int64(uint32(v)) }

// numbered returns the number of a GPU, unknownDevice for what is above or below all that one machine has.
func (l *loader) numbered(gpu int64) int32 {
	if gpu >= 0 && gpu < load.MaxDevices {
		return int32(gpu)
	}
	l.odd.Add("numbers of GPUs", gpu)
	return unknownDevice
}

type deviceKey struct {
	pid  int32
	cuda int64
}

// setOpt64 copies a nullable integer into a BigInt column.
func setOpt64(c *rows.Chunk, col, n int, v *table.Vector, i int) {
	if v.Null(i) {
		c.SetNull(col, n)
		return
	}
	c.Int64(col)[n] = v.Ints[i]
}

// storeKernels stores the kernel executions.
func (l *loader) storeKernels(ctx context.Context) error {
	const names, grid = inMore, inMore + 2
	const graph, mangled = grid + 9, grid + 10
	wants := want(deviceWants + "demangledName shortName gridX gridY gridZ blockX blockY blockZ " +
		"registersPerThread? staticSharedMemory? dynamicSharedMemory? graphNodeId? mangledName?")
	cols := columns(deviceColumns + "kernel_name_id kernel_shape_id:int graph_node_id")
	return l.storeDevice(ctx, kernelTable, "kernel", wants, cols, attribute.Kernel, graph, func(d *deviceWork) fillFunc {
		f := d.worker()
		kinds := l.kernelKinds()
		return func(b *table.Batch, c *rows.Chunk) (int, error) {
			f.begin(c)
			nameID, shapeID, n := c.Int64(outMore), c.Int32(outMore+1), 0
			for i := range b.N {
				kind := kernelKind{b.Cols[names].Ints[i], noSymbol, b.Cols[names+1].Ints[i], d.l.shapeOf(b.Cols[grid:grid+load.ShapeColumns], i)}
				if !b.Cols[mangled].Null(i) {
					kind.mangled = b.Cols[mangled].Ints[i]
				}
				id, err := kinds.Of(kind)
				if err != nil {
					return 0, err
				}
				if !f.common(b, i, c, n, attribute.Label{KernelName: id.name}) {
					continue
				}
				nameID[n], shapeID[n] = id.name, id.shape
				setOpt64(c, outMore+2, n, &b.Cols[graph], i)
				n++
			}
			return n, nil
		}
	})
}

// storeMemops stores copies and fills.
func (l *loader) storeMemops(ctx context.Context) error {
	cols := columns(deviceColumns + "operation:text size_bytes graph_node_id src_memory:text dst_memory:text")
	copies := want(deviceWants + "bytes graphNodeId? srcKind? dstKind? copyKind")
	fills := want(deviceWants + "bytes graphNodeId? memKind?")
	direction, memory := l.labels("ENUM_CUDA_MEMCPY_OPER", "memcpy "), l.labels("ENUM_CUDA_MEM_KIND", "")
	err := l.storeDevice(ctx, memcpyTable, "memop", copies, cols, attribute.Memop, inMore+1, func(d *deviceWork) fillFunc {
		return l.fillMemop(d, func(b *table.Batch, i int) (operation, src, dst string) {
			return direction(&b.Cols[inMore+4], i), memory(&b.Cols[inMore+2], i), memory(&b.Cols[inMore+3], i)
		})
	})
	if err != nil {
		return err
	}
	return l.storeDevice(ctx, memsetTable, "memop", fills, cols, attribute.Memop, inMore+1, func(d *deviceWork) fillFunc {
		return l.fillMemop(d, func(b *table.Batch, i int) (operation, src, dst string) {
			return "memset", "", memory(&b.Cols[inMore+2], i)
		})
	})
}

func (l *loader) fillMemop(d *deviceWork, kinds func(b *table.Batch, i int) (operation, src, dst string)) fillFunc {
	f := d.worker()
	return func(b *table.Batch, c *rows.Chunk) (int, error) {
		f.begin(c)
		n := 0
		for i := range b.N {
			operation, src, dst := kinds(b, i)
			if !f.common(b, i, c, n, attribute.Label{Operation: operation}) {
				continue
			}
			c.SetText(outMore, n, operation)
			c.Int64(outMore + 1)[n] = b.Cols[inMore].Ints[i]
			if size := b.Cols[inMore].Ints[i]; b.Cols[inMore].Null(i) || size < 0 || size >= farthest {
				c.SetNull(outMore+1, n)
				if !b.Cols[inMore].Null(i) {
					f.l.odd.Add("bytes of copies and fills", size)
				}
			}
			setOpt64(c, outMore+2, n, &b.Cols[inMore+1], i)
			for k, text := range []string{src, dst} {
				if text == "" {
					c.SetNull(outMore+3+k, n)
				} else {
					c.SetText(outMore+3+k, n, text)
				}
			}
			n++
		}
		return n, nil
	}
}

// storeDevice stores one table of device work through the fill functions that newFill makes for each worker.
func (l *loader) storeDevice(ctx context.Context, base, into string, wants []table.Want, cols []rows.Column, kind attribute.WorkKind,
	graph int, newFill func(d *deviceWork) fillFunc) error {
	name := l.table(base)
	if name == "" {
		return nil
	}
	op := -1
	if l.ranges.operators != nil && kind != attribute.Graph { // operators launch kernels, copies and fills
		op, cols = len(cols), append(slices.Clip(cols), columns("op_id:int")...)
	}
	stack := -1
	if l.stacks != nil {
		stack, cols = len(cols), append(slices.Clip(cols), columns("stack_id:int")...)
	}
	rows, err := l.scanInto(ctx, name, wants, cols)
	if err != nil {
		return err
	}
	d := &deviceWork{l: l, kind: kind, graph: graph, op: op, stack: stack}
	rows.newFill = func() fillFunc { return newFill(d) }
	n, err := l.target.Insert(ctx, into, rows)
	if err != nil {
		return err
	}
	l.replays = append(l.replays, d.graphs...)
	l.part(base, rows.read.Load(), n, bodyReason(oddReason(backwardReason(d.backward.Load()), d.odd.Load()), d.bodies.Load()))
	return nil
}
