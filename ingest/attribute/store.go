package attribute

import (
	"context"
	"fmt"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// IDs turns a source's ranges and sets into ids of the run, which go on after those of the sources before it.
type IDs struct {
	lastRange, lastContext int32 // last range_id and range_context_id given to the sources before
}

// NextIDs returns the ids for a source that begins now. Until Store has taken them no other source may ask.
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
	if err := i.storeFaults(ctx, t, sums.faults, lines); err != nil {
		return err
	}
	t.Run.RangeID += sums.spans
	t.Run.ContextID += int32(lines.Len())
	return nil
}

var contextColumns = []rows.Column{{Name: "range_context_id", Type: rows.Integer}, {Name: "range_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer}, {Name: "is_innermost", Type: rows.Integer}}

func (i IDs) storeContexts(ctx context.Context, t *load.Target, lines *Timelines) error {
	pushed := rows.NewPushed(contextColumns, func(next rows.Push) error {
		for n := range int32(lines.Len()) {
			if !lines.IsUsed(n) {
				continue
			}
			path := lines.Path(n)
			for m := n; m != NoNode; m = lines.Parent(m) {
				c, at, err := next()
				if err != nil {
					return err
				}
				c.Int32(0)[at], c.Int32(1)[at], c.Int32(2)[at], c.Int32(3)[at] = i.ContextID(n), i.RangeID(lines.Span(m)), path, 0
				if m == n {
					c.Int32(3)[at] = 1
				}
			}
		}
		return nil
	})
	defer pushed.Stop()
	_, err := t.Insert(ctx, "range_context", pushed)
	return err
}

var sumColumns = []rows.Column{{Name: "range_id", Type: rows.Integer}, {Name: "device_id", Type: rows.Integer}, {Name: "first_start_ns"}, {Name: "last_end_ns"}, {Name: "busy_ns"}, {Name: "sum_ns"},
	{Name: "kernel_sum_ns"}, {Name: "kernel_count"}, {Name: "memop_count"}, {Name: "graph_count"}}

func (i IDs) storeSums(ctx context.Context, t *load.Target, sums *Sums) error {
	pushed := rows.NewPushed(sumColumns, func(next rows.Push) error {
		for k := range sums.rows {
			r := &sums.rows[k]
			if sums.isWhole(r) {
				continue
			}
			c, n, err := next()
			if err != nil {
				return err
			}
			c.Int32(0)[n], c.Int32(1)[n] = i.RangeID(r.span), r.device
			for col, v := range [...]int64{r.first, r.last, r.busy, r.sum, r.kernelSum, r.kernels, r.mems, r.reps} {
				c.Int64(2 + col)[n] = v
			}
		}
		return nil
	})
	defer pushed.Stop()
	_, err := t.Insert(ctx, "range_device", pushed)
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
		return fmt.Errorf("%s: so many ranges are open at once that mapping calls to ranges takes %d rows: are they pushed and never popped?", name, rows)
	}
	return nil
}
