package attribute

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// ThreadID tells the process and the thread, as they are stored, from a Caller's thread.
type ThreadID func(thread int32) (pid, tid int32)

// StoreAccount stores where the time of GPUs went, as device_time, gap_sum and gap, each with its parts. It is to be called before Store.
func (i IDs) StoreAccount(ctx context.Context, t *load.Target, a *Account, s Source, threads ThreadID) error {
	if err := i.storeTimes(ctx, t, a); err != nil {
		return err
	}
	if err := i.storePatterns(ctx, t, a, s.Labels); err != nil {
		return err
	}
	if err := i.storeUnseen(ctx, t, a, s, threads); err != nil {
		return err
	}
	return i.storeGaps(ctx, t, a, s, threads)
}

// storeGaps stores the longest gaps.
func (i IDs) storeGaps(ctx context.Context, t *load.Target, a *Account, s Source, threads ThreadID) error {
	var gaps []gap
	for _, device := range slices.Sorted(maps.Keys(a.longest)) {
		of := *a.longest[device]
		slices.SortFunc(of, func(a, b gap) int { return cmp.Compare(a.start, b.start) })
		gaps = append(gaps, of...)
	}
	_, err := t.Append(ctx, "gap", func(add rows.Add) error {
		for k := range gaps {
			g := &gaps[k]
			row := []any{t.RunID, int32(t.SourceID), g.device, g.start, g.end - g.start, partNames[g.parts.largest()], nil, nil, nil, nil, g.opens}
			if g.launch != NoLaunch {
				pid, tid := threads(g.thread)
				row = append(row[:6], pid, tid, i.ContextID(g.node), s.Lines.Path(g.node), g.opens)
			}
			if err := add(append(append(row, s.Labels.values(g.before)...), s.Labels.values(g.after)...)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "gap_part", func(add rows.Add) error {
		for k := range gaps {
			g := &gaps[k]
			for part, ns := range g.parts.each {
				if err := add(t.RunID, int32(t.SourceID), g.device, g.start, partNames[part], ns); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

func (i IDs) storeUnseen(ctx context.Context, t *load.Target, a *Account, s Source, threads ThreadID) error {
	_, err := t.Append(ctx, "unseen_work", func(add rows.Add) error {
		for _, device := range slices.Sorted(maps.Keys(a.unseen)) {
			u := a.unseen[device]
			c := s.Caller(u.launch)
			pid, tid := threads(c.Thread)
			if err := add(t.RunID, int32(t.SourceID), device, pid, tid, u.Start, u.End-u.Start, i.ContextID(c.Node), s.Lines.Path(c.Node)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

var (
	timeColumns = []rows.Column{{Name: "device_id", Type: rows.Integer}, {Name: "range_id", Type: rows.Integer}, {Name: "start_ns"}, {Name: "end_ns"}, {Name: "kernel_ns"}, {Name: "graph_ns"}, {Name: "copy_ns"}, {Name: "other_ns"}, {Name: "gap_count"}}
	partColumns = []rows.Column{{Name: "device_id", Type: rows.Integer}, {Name: "range_id", Type: rows.Integer}, {Name: "part", Type: rows.Varchar}, {Name: "ns"}}
)

func (i IDs) storeTimes(ctx context.Context, t *load.Target, a *Account) error {
	key := func(c *rows.Chunk, n int, r *rangeDevice) {
		c.Int32(0)[n], c.Int32(1)[n] = r.device, i.RangeID(r.span)
		if a.sums.isWhole(r) {
			c.SetNull(1, n)
		}
	}
	_, err := t.Insert(ctx, "device_time", rows.Listed(len(a.sums.rows), timeColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			r, idle := &a.sums.rows[k], &a.idle[k]
			key(c, n, r)
			for col, v := range [...]int64{r.first, r.last, r.kernel.ns, r.traced.ns - r.kernel.ns, r.busy - r.traced.ns, r.last - r.first - r.busy - idle.parts.Sum(), idle.gaps} {
				c.Int64(2 + col)[n] = v
			}
		}
	}))
	if err != nil {
		return err
	}
	var list []rowPart // by part: columns of one value compress best
	for part := range parts {
		for k := range a.idle {
			if a.idle[k].parts[part] > 0 {
				list = append(list, rowPart{int32(k), part})
			}
		}
	}
	_, err = t.Insert(ctx, "idle_part", rows.Listed(len(list), partColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			of := list[k]
			key(c, n, &a.sums.rows[of.row])
			c.SetText(2, n, partNames[of.part])
			c.Int64(3)[n] = a.idle[of.row].parts[of.part]
		}
	}))
	return err
}

// rowPart is a part of the idle time of a row of sums.
type rowPart struct {
	row  int32
	part Part
}

func (i IDs) storePatterns(ctx context.Context, t *load.Target, a *Account, labels *Labels) error {
	sums := slices.SortedFunc(maps.Values(a.patterns), func(x, y *gapSum) int { return cmp.Or(cmp.Compare(x.device, y.device), cmp.Compare(x.nth, y.nth)) })
	_, err := t.Append(ctx, "gap_sum", func(add rows.Add) error {
		for k, s := range sums {
			var path, context any
			if s.path != noPath {
				path = s.path
				if s.node != laterNode {
					context = i.ContextID(s.node)
				}
			}
			row := append([]any{t.RunID, int32(t.SourceID), int32(k + 1), s.device, context, path, s.opens}, labels.values(s.before)...)
			if err := add(append(append(row, labels.values(s.after)...), s.count, s.parts.Sum(), s.max, s.start)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "gap_sum_part", func(add rows.Add) error {
		for k, s := range sums {
			for part, ns := range s.parts.each {
				if err := add(t.RunID, int32(t.SourceID), int32(k+1), partNames[part], ns); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// values returns a label's columns: kernel_name_id and operation.
func (l *Labels) values(id int32) []any {
	if id == anyLabel {
		return []any{nil, "(any)"}
	}
	label := l.All()[id]
	if label.Kind != Kernel {
		return []any{nil, cmp.Or(label.Operation, "copy")}
	}
	return []any{label.KernelName, nil}
}
