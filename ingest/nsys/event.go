package nsys

import (
	"cmp"
	"context"
	"slices"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

const eventTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"

// eventKey names one recording of an event: CUPTI numbers them within a process, from 1 on.
type eventKey struct{ proc, sync int64 }

func (k eventKey) compare(o eventKey) int {
	return cmp.Or(cmp.Compare(k.proc, o.proc), cmp.Compare(k.sync, o.sync))
}

// recorded is where an event was recorded: the stream, and the start of the call.
type recorded struct {
	eventKey
	start          int64
	device, stream int32
}

// records are the recordings of events, in the order of their keys.
type records []recorded

// of returns a recording; ok is false where the capture does not have it, or several by that number.
func (r records) of(k eventKey) (event recorded, ok bool) {
	n, found := slices.BinarySearchFunc(r, k, func(x recorded, k eventKey) int { return x.compare(k) })
	if !found || n+1 < len(r) && r[n+1].eventKey == k {
		return recorded{}, false
	}
	return r[n], true
}

// readEvents reads the calls that recorded events, for the waits that refer to them. Exports from before 2023 do not number recordings: their waits refer to none.
func (l *loader) readEvents(ctx context.Context) (records, error) {
	name := l.table(eventTable)
	if name == "" || !slices.Contains(l.export.Columns(name), "eventSyncId") {
		l.skip(eventTable, "which waits refer to an event is not said")
		return nil, nil
	}
	list, read := load.Blocks[recorded]{Room: l.target.Room}, int64(0)
	calls := l.launches.Finder()
	err := eachBatch(ctx, l.export, name, want("deviceId streamId correlationId? globalPid? eventSyncId?"), func(b *table.Batch) error {
		read += int64(b.N)
		for i := range b.N {
			in := func(col int) int64 { return b.Cols[col].Ints[i] }
			if b.Cols[2].Null(i) || b.Cols[3].Null(i) || b.Cols[4].Null(i) {
				continue
			}
			if call, ok := l.launches.Get(calls.Row(procOf(in(3)), in(2))); ok && has32(in(1)) {
				list.Add(recorded{eventKey{procOf(in(3)), in(4)}, call.Start, l.device(in(3), in(0)), int32(in(1))})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.part(eventTable, read, 0, "stored with the waits for them")
	out := load.Reserve[recorded](l.target.Room, list.Len())[:0]
	for _, p := range list.Pieces() {
		out = append(out, p...)
	}
	slices.SortFunc(out, func(a, b recorded) int { return cmp.Or(a.compare(b.eventKey), cmp.Compare(a.start, b.start)) })
	return out, nil
}
