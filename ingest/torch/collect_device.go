package torch

import (
	"fmt"
	"math"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// small takes a whole number that must fit a column of 32 bits.
func small(e *trace.Event, f trace.Field, name string, to *int32) (found bool, err error) {
	v, ok := e.Int(f)
	if !ok {
		return false, nil
	}
	if int64(int32(v)) != v {
		return false, fmt.Errorf("%w (%s)", errOdd, name)
	}
	*to = int32(v)
	return true, nil
}

// fields reads whole numbers, each with what notes that it is there.
type fields struct {
	e   *trace.Event
	has uint32
	err error
}

func (f *fields) take(field trace.Field, name string, to *int32, bit uint32) {
	found, err := small(f.e, field, name, to)
	if f.err == nil {
		f.err = err
	}
	if found {
		f.has |= bit
	}
}

func (f *fields) three(from [3]int64, field trace.Field, name string, to *[3]int32, bit uint32) {
	if f.e.Has&field == 0 {
		return
	}
	for i, v := range from {
		if to[i] = int32(v); int64(to[i]) != v && f.err == nil {
			f.err = fmt.Errorf("%w (%s)", errOdd, name)
		}
	}
	f.has |= bit
}

// work takes a kernel, a copy or a fill. Old traces say the device and the stream only as process and thread.
func (c *collector) work(e *trace.Event) error {
	w := work{start: e.Start, duration: e.Duration, correlation: integer(e, trace.Correlation), external: integer(e, trace.ExternalID), launch: -1, op: unknownOp}
	device, has, err := c.device(e)
	if _, ok := e.Int(trace.Device); err != nil && !ok {
		return err
	}
	k := config{device: device, stream: int32(e.TID)}
	f := fields{e: e, has: has}
	f.take(trace.Device, "device", &k.device, hasDevice)
	f.take(trace.Context, "context", &k.context, hasContext)
	f.take(trace.Stream, "stream", &k.stream, hasStream)
	if k.device < -1 || k.device >= load.MaxDevices {
		return fmt.Errorf("%w (device)", errOdd)
	}
	if v, ok := e.Int(trace.Device); ok && v == -1 {
		c.odd.Add("devices of kernels, copies and fills", v)
	}
	k.device = c.parts.gpu(e, k.device)
	if f.has&hasStream == 0 && int64(k.stream) != e.TID {
		return fmt.Errorf("%w (stream)", errOdd)
	}
	if e.Category == trace.Kernel {
		f.take(trace.Path, "path", &k.path, hasPath)
		f.take(trace.Registers, "registers per thread", &k.registers, hasRegisters)
		f.three(e.Grid, trace.GridSize, "grid", &k.grid, hasGrid)
		f.three(e.Block, trace.BlockSize, "block", &k.block, hasBlock)
		if f.err == nil {
			k.name, k.has = c.kernName.Of(e.Name), f.has
			w.config = c.configs.Of(k)
			c.graphed(e, &w, false, c.kernels.Len())
			c.kernels.Add(w)
			c.collective(e, &k)
		}
		return f.err
	}
	if v, ok := e.Int(trace.Bytes); ok && v >= 0 && v < load.Farthest {
		w.bytes = v
		f.has |= hasBytes
	} else if ok {
		c.odd.Add("bytes of copies and fills", v)
	}
	if f.err == nil {
		k.name, k.has = c.opName.Of(e.Name), f.has
		w.config = c.configs.Of(k)
		c.graphed(e, &w, true, c.memops.Len())
		c.memops.Add(w)
	}
	return f.err
}

// wait takes a synchronisation.
func (c *collector) wait(e *trace.Event) error {
	w := wait{start: e.Start, duration: e.Duration, correlation: integer(e, trace.Correlation), kind: string(e.SyncKind), launch: -1,
		event: integer(e, trace.EventID), recordCall: integer(e, trace.RecordCorrelation), recordStart: absent}
	if w.kind == "" {
		w.kind = string(e.Name)
	}
	f := fields{e: e}
	w.device, f.has, _ = c.device(e)
	f.take(trace.Device, "device", &w.device, 0)
	w.device = c.parts.gpu(e, w.device)
	f.take(trace.Context, "context", &w.context, hasContext)
	if v, _ := e.Int(trace.Stream); v != math.MaxUint32 { // CUPTI's all streams, which some versions write as -1
		f.take(trace.Stream, "stream", &w.stream, hasStream)
	}
	if v, _ := e.Int(trace.RecordStream); v >= 0 && v != math.MaxUint32 { // Kineto writes -1 where it does not know
		f.take(trace.RecordStream, "wait_on_stream", &w.recordStream, hasRecordStream)
	}
	if w.has = f.has; f.err == nil {
		c.waits = append(c.waits, w)
	}
	return f.err
}

// size returns a size of memory, absent where it cannot be.
func (c *collector) size(e *trace.Event, f trace.Field) int64 {
	v := integer(e, f)
	if v != absent && (v <= -load.Farthest || v >= load.Farthest) {
		c.odd.Add("totals of memory events", v)
		return absent
	}
	return v
}

const memoryName = "[memory]"

// instant takes a memory event.
func (c *collector) instant(e *trace.Event, p *part) error {
	if string(e.Name) != memoryName {
		p.reason = "only " + memoryName + " events are stored"
		return nil
	}
	bytes, ok := e.Int(trace.Bytes)
	kind, ok2 := e.Int(trace.DeviceType)
	if !ok || !ok2 || e.Has&trace.StartTime == 0 || e.Start > maxTime || e.Start < -maxTime {
		p.leave("lack the amount of memory or its device")
		return nil
	}
	if why := c.base.leaves(e); why != "" {
		p.leave(why)
		return nil
	}
	thread, err := c.thread(e)
	if err != nil {
		return err
	}
	device, _ := e.Int(trace.DeviceID)
	if int64(int16(kind)) != kind || int64(int16(device)) != device || bytes <= -load.Farthest || bytes >= load.Farthest {
		p.leave(errOdd.Error())
		return nil
	}
	c.first, c.end = min(c.first, e.Start), max(c.end, e.Start)
	c.hasMemory = true
	p.stored++
	c.of[thread].memory.add(e.Start, integer(e, trace.Address), bytes, kind, int64(c.parts.gpu(e, int32(device))), c.size(e, trace.TotalAllocated), c.size(e, trace.TotalReserved))
	return nil
}
