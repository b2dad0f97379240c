package nsys

import (
	"context"
	"fmt"
	"sync/atomic"

	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// plainRow writes row i of a batch as row n of a chunk; false leaves it out as ending before it starts.
type plainRow func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error)

// storePlain stores a table that needs no launch: newRow makes each worker's row function.
func (l *loader) storePlain(ctx context.Context, base, into, wants, cols string, newRow func(names *apiNames) plainRow) error {
	name := l.table(base)
	if name == "" {
		return nil
	}
	scanned, err := l.scanInto(ctx, name, want(wants), columns(cols))
	if err != nil {
		return err
	}
	var backward atomic.Int64
	scanned.newFill = func() fillFunc {
		row := newRow(l.apiNames())
		return func(b *table.Batch, c *rows.Chunk) (int, error) {
			n := 0
			for i := range b.N {
				ok, err := row(b, i, c, n)
				if err != nil {
					return 0, err
				}
				if ok {
					n++
				} else {
					backward.Add(1)
				}
			}
			return n, nil
		}
	}
	n, err := l.target.Insert(ctx, into, scanned)
	if err != nil {
		return err
	}
	reason := backwardReason(backward.Load())
	if base == osrtTable && reason != "" {
		reason = fmt.Sprintf("%d rows only mark the start or end of tracing", backward.Load())
	}
	l.part(base, scanned.read.Load(), n, reason)
	return nil
}

// fillCall writes pid, tid, start_ns, duration_ns and api_name_id from start, end, globalTid and nameId.
func fillCall(names *apiNames, b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
	start, end, tid := b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Cols[2].Ints[i]
	if !isInterval(start, end) {
		return false, nil
	}
	name, err := names.Of(b.Cols[3].Ints[i])
	if err != nil {
		return false, err
	}
	c.Int32(0)[n], c.Int32(1)[n], c.Int64(2)[n], c.Int64(3)[n], c.Int32(4)[n] = pidOf(tid), tidOf(tid), start, end-start, name.id
	return true, nil
}

const (
	callWants   = "start end globalTid nameId"
	callColumns = "pid:int tid:int start_ns duration_ns api_name_id:int"
)

// storeLibraries stores the calls of traced libraries. Newer versions of the profiler record cuBLAS as NVTX ranges instead.
func (l *loader) storeLibraries(ctx context.Context) error {
	for _, lib := range [][2]string{{"CUDNN_EVENTS", "cuDNN"}, {"CUBLAS_EVENTS", "cuBLAS"}} {
		err := l.storePlain(ctx, lib[0], "library_call", callWants, callColumns+" library:text range_context_id:int",
			func(names *apiNames) plainRow {
				place := l.placer()
				return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
					c.SetText(5, n, lib[1])
					c.Int32(6)[n] = l.ids.ContextID(place.Node(b.Cols[2].Ints[i], b.Cols[0].Ints[i]))
					return fillCall(names, b, i, c, n)
				}
			})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	osrtTable   = "OSRT_API"
	osrtSkipped = "stored only with --with-osrt"
)

// storeOSRT stores the calls into the operating system's libraries when asked to.
func (l *loader) storeOSRT(ctx context.Context) error {
	if !l.target.Options.WithOSRT {
		l.skip(osrtTable, osrtSkipped)
		return nil
	}
	const osRuntime = 27 // of ENUM_NSYS_EVENT_CLASS; other rows mark the start and the end of tracing
	return l.storePlain(ctx, osrtTable, "osrt_call", callWants+" eventClass?", callColumns, func(names *apiNames) plainRow {
		return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
			if !b.Cols[4].Null(i) && b.Cols[4].Ints[i] != osRuntime {
				return false, nil
			}
			return fillCall(names, b, i, c, n)
		}
	})
}

// storeOverhead stores the profiler's own time.
func (l *loader) storeOverhead(ctx context.Context) error {
	return l.storePlain(ctx, "PROFILER_OVERHEAD", "profiler_overhead", "start end globalTid nameId?",
		"pid:int tid:int start_ns duration_ns name:text", func(*apiNames) plainRow {
			return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
				start, end, tid := b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Cols[2].Ints[i]
				name := "overhead"
				if !b.Cols[3].Null(i) {
					var err error
					if name, err = l.strings.get(b.Cols[3].Ints[i]); err != nil {
						return false, err
					}
				}
				c.Int32(0)[n], c.Int32(1)[n], c.Int64(2)[n], c.Int64(3)[n] = pidOf(tid), tidOf(tid), start, end-start
				c.SetText(4, n, name)
				ok := isInterval(start, end)
				if ok && !b.Cols[2].Null(i) {
					l.overhead.Add(l.launches.Threads.Of(tid), start, end)
				}
				return ok, nil
			}
		})
}

const syncTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"

// CUPTI's ids for a synchronisation that concerns no event and one whose stream it does not say.
const noEvent, noStream = 0xFFFFFFFF, 0xFFFFFFFF

// storeSync stores the synchronisations.
func (l *loader) storeSync(ctx context.Context) error {
	events, err := l.readEvents(ctx)
	if err != nil {
		return err
	}
	return l.storePlain(ctx, syncTable, "sync", "start end deviceId contextId streamId syncType eventId? correlationId? globalPid? eventSyncId?",
		"start_ns duration_ns device_id:int context_id:int stream_id:int kind:text event_id correlation_id pid:int tid:int range_context_id:int path_id:int record_device_id:int record_stream_id:int record_start_ns",
		func(*apiNames) plainRow {
			calls := l.launches.Finder()
			return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
				in := func(col int) int64 { return b.Cols[col].Ints[i] }
				if !isInterval(in(0), in(1)) { // before anything is written: a NULL set for a row left out would stay for the next one
					return false, nil
				}
				event, corr, pid := &b.Cols[6], &b.Cols[7], &b.Cols[8]
				device := int32(0)
				c.Int64(0)[n], c.Int64(1)[n] = in(0), in(1)-in(0)
				l.setID(c, 3, n, "contexts of synchronisations", in(3))
				if in(4) == noStream {
					c.SetNull(4, n)
				} else {
					l.setID(c, 4, n, "streams of synchronisations", in(4))
				}
				c.SetText(5, n, l.syncKind(b, i))
				setOpt64(c, 6, n, event, i)
				if event.Ints[i] == noEvent {
					c.SetNull(6, n)
				}
				setOpt64(c, 7, n, corr, i)
				row := int32(-1)
				if pid.Null(i) {
					c.SetNull(8, n)
					device = l.numbered(in(2))
				} else {
					c.Int32(8)[n] = pidOf(pid.Ints[i])
					device = l.device(pid.Ints[i], in(2))
					if gpu, ok := l.contexts.device[contextKey{pidOf(pid.Ints[i]), in(3)}]; ok {
						device = gpu
					}
					if !corr.Null(i) {
						row = calls.Row(procOf(pid.Ints[i]), corr.Ints[i])
					}
				}
				c.Int32(2)[n] = device
				record, ok := recorded{}, false
				if sync := &b.Cols[9]; !pid.Null(i) && !sync.Null(i) {
					record, ok = events.of(eventKey{procOf(pid.Ints[i]), sync.Ints[i]})
				}
				if c.Int32(12)[n], c.Int32(13)[n], c.Int64(14)[n] = record.device, record.stream, record.start; !ok || record.start > in(0) {
					c.SetNull(12, n)
					c.SetNull(13, n)
					c.SetNull(14, n)
				}
				call, ok := l.launches.Get(row)
				if !ok {
					c.SetNull(9, n)
					c.SetNull(10, n)
					c.SetNull(11, n)
					return true, nil
				}
				c.Int32(9)[n], c.Int32(10)[n], c.Int32(11)[n] = l.tidOf(call), l.ids.ContextID(call.Node), l.ranges.lines.Path(call.Node)
				return true, nil
			}
		})
}

// setID writes a number that CUDA gave; one that it cannot give is unknown.
func (l *loader) setID(c *rows.Chunk, col, n int, what string, id int64) {
	if !has32(id) {
		l.odd.Add(what, id)
		c.SetNull(col, n)
		return
	}
	c.Int32(col)[n] = int32(id)
}

// syncKind names what was waited for. nsys 2025 files cudaStreamSynchronize as a wait for an event, without an event.
func (l *loader) syncKind(b *table.Batch, i int) string {
	const streamWaitEvent = 2
	if b.Cols[5].Ints[i] == streamWaitEvent && !b.Cols[6].Null(i) && b.Cols[6].Ints[i] == noEvent {
		return "Stream sync"
	}
	return l.enum("ENUM_CUPTI_SYNC_TYPE", &b.Cols[5], i)
}
