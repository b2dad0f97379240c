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

// StoreAccount stores where the time of GPUs went, as device_time, gap_sum and gap. It is to be called before Store.
func (i IDs) StoreAccount(ctx context.Context, t *load.Target, a *Account, s Source, threads ThreadID) error {
	if err := i.storeTimes(ctx, t, a); err != nil {
		return err
	}
	if err := a.storePatterns(ctx, t, s.Labels); err != nil {
		return err
	}
	if err := i.storeUnseen(ctx, t, a, s, threads); err != nil {
		return err
	}
	_, err := t.Append(ctx, "gap", func(add rows.Add) error {
		for _, device := range slices.Sorted(maps.Keys(a.longest)) {
			gaps := *a.longest[device]
			slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.start, b.start) })
			for k := range gaps {
				g := &gaps[k]
				row := []any{t.RunID, int32(t.SourceID), device, g.start, g.end - g.start, nil, nil, nil, nil}
				if g.launch != NoLaunch {
					pid, tid := threads(g.thread)
					row = append(row[:5], pid, tid, i.ContextID(g.node), s.Lines.Path(g.node))
				}
				row = append(append(row, s.Labels.values(g.before)...), s.Labels.values(g.after)...)
				if err := add(append(append(row, g.parts.values()...), g.parts[Latency])...); err != nil {
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

var timeColumns = []rows.Column{{Name: "device_id", Type: rows.Integer}, {Name: "range_id", Type: rows.Integer}, {Name: "start_ns"}, {Name: "end_ns"}, {Name: "kernel_ns"}, {Name: "graph_ns"},
	{Name: "copy_ns"}, {Name: "other_ns"}, {Name: "launch_ns"}, {Name: "launch_delay_ns"}, {Name: "wait_ns"}, {Name: "call_ns"}, {Name: "host_ns"}, {Name: "profiler_ns"}, {Name: "queued_ns"},
	{Name: "unknown_ns"}, {Name: "launch_latency_ns"}, {Name: "gap_count"}}

func (i IDs) storeTimes(ctx context.Context, t *load.Target, a *Account) error {
	_, err := t.Insert(ctx, "device_time", rows.Listed(len(a.sums.rows), timeColumns, func() rows.RowFunc {
		return func(c *rows.Chunk, n int, k int32) {
			r, idle := &a.sums.rows[k], &a.idle[k]
			c.Int32(0)[n], c.Int32(1)[n] = r.device, i.RangeID(r.span)
			if a.sums.isWhole(r) {
				c.SetNull(1, n)
			}
			p := &idle.parts
			for col, v := range [...]int64{r.first, r.last, r.kernel.ns, r.traced.ns - r.kernel.ns, r.busy - r.traced.ns, r.last - r.first - r.busy - p.Sum(),
				p[InLaunch], p[Late], p[InWait], p[InCall], p[OnHost], p[InProfiler], p[Queued], p[Unknown], p[Latency], idle.gaps} {
				c.Int64(2 + col)[n] = v
			}
		}
	}))
	return err
}

func (a *Account) storePatterns(ctx context.Context, t *load.Target, labels *Labels) error {
	sums := slices.SortedFunc(maps.Values(a.patterns), func(x, y *gapSum) int {
		return cmp.Or(cmp.Compare(x.device, y.device), cmp.Compare(x.path, y.path), labels.compare(x.before, y.before), labels.compare(x.after, y.after))
	})
	_, err := t.Append(ctx, "gap_sum", func(add rows.Add) error {
		for _, s := range sums {
			var path any
			if s.path != noPath {
				path = s.path
			}
			row := append([]any{t.RunID, int32(t.SourceID), s.device, path}, labels.values(s.before)...)
			row = append(append(row, labels.values(s.after)...), s.count, s.parts.Sum(), s.max)
			if err := add(append(append(row, s.parts.values()...), s.parts[Latency])...); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// values returns the parts but Latency in the order of the tables' columns.
func (p *Parts) values() []any {
	return []any{p[InLaunch], p[Late], p[InWait], p[InCall], p[OnHost], p[InProfiler], p[Queued], p[Unknown]}
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

func (l *Labels) compare(a, b int32) int {
	if a == anyLabel || b == anyLabel {
		return cmp.Compare(b, a)
	}
	x, y := l.All()[a], l.All()[b]
	return cmp.Or(cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.KernelName, y.KernelName))
}
