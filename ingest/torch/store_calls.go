package torch

import (
	"context"
	"fmt"
	"math"

	"prof/ingest/attribute"
	"prof/ingest/rows"
)

var apiColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "start_ns"}, {Name: "duration_ns"},
	{Name: "api_name_id", Type: rows.Integer}, {Name: "correlation_id"}, {Name: "range_context_id", Type: rows.Integer}}

// storeAPIs stores the calls of the CUDA runtime and driver.
func (l *loader) storeAPIs(ctx context.Context) error {
	var short attribute.ShortCalls
	isKept := make([]bool, len(l.apiNames.List))
	for i, name := range l.apiNames.List {
		isKept[i] = attribute.OrdersStreams(name)
	}
	_, err := l.target.Insert(ctx, "api_call", l.unpacked(l.columnOf(func(t *thread) *packed { return &t.apis }), apiColumns, func() unpackFunc {
		place, list := l.lines.Placer(), short.List()
		return func(c *rows.Chunk, n int, k, _ int, row []int64) bool {
			thread := l.threads.list[k]
			at := place.Node(thread.Key, row[0])
			if !l.target.Options.APIRows && !isKept[row[colName]] && attribute.IsShort(row[1], 0) {
				list.Add(int32(k), at, l.lines.Path(at), l.apiID[row[colName]], row[1], false)
				return false
			}
			c.Int32(0)[n], c.Int32(1)[n], c.Int64(2)[n], c.Int64(3)[n] = thread.PID, thread.TID, row[0]-l.origin, row[1]
			c.Int32(4)[n], c.Int64(5)[n] = l.apiID[row[colName]], row[colCorrelation]
			c.Int32(6)[n] = l.ids.ContextID(at)
			if row[colCorrelation] == absent {
				c.SetNull(5, n)
			}
			return true
		}
	}))
	if err == nil {
		_, err = l.ids.StoreShortCalls(ctx, l.target, &short, func(k int32) (pid, tid int32) { return l.threads.list[k].PID, l.threads.list[k].TID })
	}
	for _, th := range l.of {
		th.apis = packed{}
	}
	return err
}

// deviceTypes are the names of c10's DeviceType, in lower case as torch.device writes them: c10/core/DeviceType.h.
var deviceTypes = []string{"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal", "xpu", "mps", "meta",
	"hpu", "ve", "lazy", "ipu", "mtia", "privateuseone"}

func deviceType(n int64) string {
	if n >= 0 && n < int64(len(deviceTypes)) {
		return deviceTypes[n]
	}
	return fmt.Sprintf("device type %d", n)
}

// onHost reports whether memory is the CPU's: PyTorch's own tables count these three as such.
func onHost(deviceType int64) bool { return deviceType == 0 || deviceType == 2 || deviceType == 5 }

var memoryColumns = []rows.Column{{Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer}, {Name: "time_ns"}, {Name: "device_type", Type: rows.Varchar},
	{Name: "device_id", Type: rows.Integer}, {Name: "address"}, {Name: "size_bytes"}, {Name: "allocated_bytes"}, {Name: "reserved_bytes"},
	{Name: "op_id", Type: rows.Integer}, {Name: "range_context_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer}}

// storeMemory stores allocations and releases.
func (l *loader) storeMemory(ctx context.Context) error {
	_, err := l.target.Insert(ctx, "memory_event", l.unpacked(l.columnOf(func(t *thread) *packed { return &t.memory }), memoryColumns, func() unpackFunc {
		place := l.lines.Placer()
		return func(c *rows.Chunk, n int, k, i int, row []int64) bool {
			thread, kind := l.threads.list[k], row[memDeviceType]
			c.Int32(0)[n], c.Int32(1)[n], c.Int64(2)[n] = thread.PID, thread.TID, row[0]-l.origin
			c.SetText(3, n, deviceType(kind))
			setInt(c, 4, n, l.parts.numberOf(int32(row[memDevice])), !onHost(kind))
			for _, to := range [3][2]int{{5, memAddress}, {7, memAllocated}, {8, memReserved}} {
				col, from := to[0], to[1]
				v := row[from]
				// Of the CPU's memory the profiler knows no totals and writes 0.
				if c.Int64(col)[n] = v; v == absent || from != memAddress && v == 0 && onHost(kind) {
					c.SetNull(col, n)
				}
			}
			c.Int64(6)[n] = row[memBytes]
			op := l.of[k].memOp[i]
			if op != 0 {
				op += l.source.FirstOp
			}
			setInt(c, 9, n, op, l.hasOperator)
			node := place.Node(thread.Key, row[0])
			c.Int32(10)[n], c.Int32(11)[n] = l.ids.ContextID(node), l.lines.Path(node)
			return true
		}
	}))
	for _, th := range l.of {
		th.memory, th.memOp = packed{}, nil
	}
	return err
}

// waitKinds are Kineto's names of synchronisations (syncTypeString in its CuptiActivity.cpp) in the words of Nsight Systems.
var waitKinds = map[string]string{"Event Sync": "Event sync", "Stream Wait Event": "Stream wait sync", "Stream Sync": "Stream sync", "Context Sync": "Context sync"}

// storeWaits stores synchronisations.
func (l *loader) storeWaits(ctx context.Context) error {
	_, err := l.target.Append(ctx, "sync", func(add rows.Add) error {
		for i := range l.waits {
			w := &l.waits[i]
			kind := waitKinds[w.kind]
			if kind == "" {
				kind = valid(w.kind)
			}
			var pid, tid, context, stream, correlation, rangeContext, path, event, recordDevice, recordStream, recordStart any
			if p, ok := l.threads.only(); ok {
				pid = p
			}
			if w.correlation != absent {
				correlation = w.correlation
			}
			if w.launch >= 0 {
				a := &l.launches[w.launch]
				pid, tid = l.threads.list[a.thread].PID, l.threads.list[a.thread].TID
				rangeContext, path = l.ids.ContextID(a.node), l.lines.Path(a.node)
			}
			if w.has&hasContext != 0 {
				context = w.context
			}
			if w.has&hasStream != 0 && w.stream >= 0 {
				stream = w.stream
			}
			if w.event != absent && w.event != math.MaxUint32 {
				event = w.event
			}
			if w.has&hasRecordStream != 0 {
				recordDevice, recordStream = w.device, w.recordStream // events of other contexts are not said
				if w.recordStart != absent && w.recordStart <= w.start {
					recordStart = w.recordStart - l.origin
				}
			}
			if err := add(l.target.RunID, l.sourceID(), pid, tid, w.device, context, stream, kind, w.start-l.origin, w.duration, event, correlation,
				rangeContext, path, recordDevice, recordStream, recordStart); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// storeOverhead stores the profiler's own time. Kineto does not say whose thread it was.
func (l *loader) storeOverhead(ctx context.Context) error {
	pid, ok := l.threads.only()
	if !ok {
		if len(l.overhead) > 0 {
			p := l.part("overhead")
			p.stored, p.reason = 0, "which operator the overhead belongs to is unknown"
		}
		return nil
	}
	_, err := l.target.Append(ctx, "profiler_overhead", func(add rows.Add) error {
		for _, o := range l.overhead {
			if err := add(l.target.RunID, l.sourceID(), pid, nil, o.start-l.origin, o.duration, valid(o.name)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
