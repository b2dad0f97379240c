package attribute

import (
	"context"
	"database/sql/driver"
	"fmt"

	"prof/ingest/load"
)

// IDs turns a source's ranges and sets into ids of the run, which go on after those of the sources before it.
type IDs struct {
	lastRange, lastContext int32 // last range_id and range_context_id given to the sources before
}

// NextIDs gives the ids for a source that begins now. Until Store has taken them no other source may ask.
func NextIDs(run *load.Run) IDs { return IDs{lastRange: run.RangeID, lastContext: run.ContextID} }

// RangeID is the range_id of a span.
func (i IDs) RangeID(span int32) int32 { return i.lastRange + span + 1 }

// ContextID is the range_context_id of a node; 0 stands for no open range.
func (i IDs) ContextID(n int32) int32 {
	if n == NoNode {
		return 0
	}
	return i.lastContext + n + 1
}

// Store stores the open sets that calls were made in, as range_context, and the device work of each range, as range_device,
// and takes the ids of all spans and sets from the run. sums is what SumRanges gave for lines; name is the source's, for
// errors. The ranges themselves (nvtx_range) are the caller's to store.
func (i IDs) Store(ctx context.Context, t *load.Target, name string, lines *Timelines, sums *Sums) error {
	if err := lines.checkContexts(name, t.Run.Paths.All(), maxContextRows); err != nil {
		return err
	}
	if err := i.storeContexts(ctx, t, lines); err != nil {
		return err
	}
	if err := i.storeSums(ctx, t, sums); err != nil {
		return err
	}
	t.Run.RangeID += sums.spans
	t.Run.ContextID += int32(lines.Len())
	return nil
}

func (i IDs) storeContexts(ctx context.Context, t *load.Target, lines *Timelines) error {
	_, err := t.Append(ctx, "range_context", func(add func(...driver.Value) error) error {
		for n := range int32(lines.Len()) {
			if !lines.IsUsed(n) {
				continue
			}
			path := lines.Path(n)
			for m := n; m != NoNode; m = lines.Parent(m) {
				if err := add(t.UUID(), i.ContextID(n), i.RangeID(lines.Span(m)), path, m == n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

func (i IDs) storeSums(ctx context.Context, t *load.Target, sums *Sums) error {
	_, err := t.Append(ctx, "range_device", func(add func(...driver.Value) error) error {
		for k := range sums.rows {
			r := &sums.rows[k]
			if sums.isWhole(r) {
				continue
			}
			if err := add(t.UUID(), i.RangeID(r.span), r.device, r.first, r.last, r.busy, r.sum, r.kernelSum,
				r.kernels, r.mems, r.reps); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// checkContexts refuses marked sets that take more rows than limit.
func (t *Timelines) checkContexts(name string, paths []load.Path, limit int) error {
	rows := 0
	for n := range int32(t.Len()) {
		if t.IsUsed(n) {
			rows += int(paths[t.Path(n)-1].Depth)
		}
	}
	if rows > limit {
		return fmt.Errorf("%s: so many ranges are open at once that telling which hold which call takes %d rows: are they pushed and never popped?", name, rows)
	}
	return nil
}
