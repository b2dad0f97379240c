package nsys

import (
	"context"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

// Work returns the device work of each process, to tell whether two captures of one session hold the same.
func (open Opener) Work(ctx context.Context, path, name string) (map[int32]load.Work, error) {
	work, err := with(open, path, name, func(e table.Export) (*map[int32]load.Work, error) { return Work(ctx, e, name) })
	if err != nil {
		return nil, err
	}
	return *work, nil
}

// Work returns the device work of each process of an export.
func Work(ctx context.Context, e table.Export, name string) (*map[int32]load.Work, error) {
	l, out := newLoader(e, name, nil), map[int32]load.Work{}
	if err := l.findOnly(ctx); err != nil {
		return nil, err
	}
	for _, base := range []string{kernelTable, memcpyTable, memsetTable, graphTable} {
		name := l.table(base)
		if name == "" {
			continue
		}
		err := eachBatch(ctx, e, name, want("start end globalPid?"), func(b *table.Batch) error {
			for i := range b.N {
				start, end := b.Cols[0].Ints[i], b.Cols[1].Ints[i]
				if !isInterval(start, end) {
					continue
				}
				pid, _ := l.processOf(&b.Cols[2], i)
				w, ok := out[pidOf(pid)]
				if !ok {
					w.Start, w.End = start, end
				}
				out[pidOf(pid)] = load.Work{Start: min(w.Start, start), End: max(w.End, end), Count: w.Count + 1, Sum: w.Sum + end - start}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &out, nil
}
