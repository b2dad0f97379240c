package nsys

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"prof/ingest/attribute"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// storeRanges reads the events again, now to store them: names need not be held in memory meanwhile.
func (l *loader) storeRanges(ctx context.Context) error {
	name := l.table(nvtxTable)
	if name == "" {
		return nil
	}
	scan, err := l.export.Scan(ctx, name, nvtxWants)
	if err != nil {
		return err
	}
	if scan.Morsels() != len(l.ranges.firsts)-1 {
		return fmt.Errorf("%s: %s changed while it was read", l.name, name)
	}
	var next atomic.Int64
	n, err := l.target.Insert(ctx, "nvtx_range", rows.Pulled(l.target.Options.Threads, rangeColumns, func() rows.PullFunc {
		w := &rangeWriter{loader: l, scan: scan, next: &next}
		return w.fill
	}))
	if err != nil {
		return err
	}
	marks, err := l.storeMarks(ctx, name)
	if err != nil {
		return err
	}
	reason := l.nvtxReason()
	if stacks := l.ranges.marks - marks; stacks > 0 {
		reason += fmt.Sprintf("; %d marks are Python stacks", stacks)
	}
	l.part(nvtxTable, l.ranges.read, n+marks, reason)
	return nil
}

// rangeWriter writes ranges for one worker, morsel by morsel.
type rangeWriter struct {
	*loader
	scan   table.Scan
	next   *atomic.Int64 // morsel to hand out
	cursor table.Cursor
	batch  table.Batch
	row    int   // of the batch, next to write
	span   int32 // of the next range
	end    int32 // behind the morsel's last one; equal to span before the first morsel
	open   bool
}

func (w *rangeWriter) fill(c *rows.Chunk) (int, error) {
	n, err := w.write(c)
	if w.cursor != nil && (n == 0 || err != nil) {
		err = errors.Join(err, w.cursor.Close())
	}
	return n, err
}

// write fills a chunk from a batch that holds ranges.
func (w *rangeWriter) write(c *rows.Chunk) (n int, err error) {
	if w.cursor == nil {
		w.cursor = w.scan.Open()
	}
	for n == 0 {
		if !w.open {
			m := int(w.next.Add(1) - 1)
			if m >= w.scan.Morsels() {
				return 0, nil
			}
			if err := w.cursor.Seek(m); err != nil {
				return 0, err
			}
			w.open, w.span, w.end = true, w.ranges.firsts[m], w.ranges.firsts[m+1]
		}
		if w.row == w.batch.N {
			more, err := w.cursor.Next(&w.batch)
			if err != nil {
				return 0, err
			}
			if w.row = 0; !more {
				if w.batch.N, w.open = 0, false; w.span != w.end {
					return 0, fmt.Errorf("%s: %s changed while it was read", w.name, nvtxTable)
				}
				continue
			}
		}
		for ; w.row < w.batch.N && !c.Full(); w.row++ {
			if _, ok := w.ranges.spanOf(&w.batch, w.row); !ok {
				continue
			}
			if w.span == w.end {
				return 0, fmt.Errorf("%s: %s changed while it was read", w.name, nvtxTable)
			}
			if err := w.writeRange(c, n, &w.batch, w.row, int(w.span)); err != nil {
				return 0, err
			}
			w.span++
			n++
		}
	}
	return n, nil
}

func (l *loader) nvtxReason() string {
	r := l.ranges
	switch {
	case r.orphans > 0 && r.backward > 0:
		return fmt.Sprintf("%d ranges have no thread, %d end before they start; the other rows create domains", r.orphans, r.backward)
	case r.orphans > 0:
		return fmt.Sprintf("%d ranges have no thread; the other rows create domains", r.orphans)
	case r.backward > 0:
		return fmt.Sprintf("%d ranges end before they start; the other rows create domains", r.backward)
	}
	if o := r.operators; o != nil {
		return fmt.Sprintf("domain and category names are stored with the ranges; %d ranges are also operators", o.stored)
	}
	return "domain and category names are stored with the ranges"
}

// Columns of nvtx_range.
const (
	rgID = iota
	rgParent
	rgPath
	rgPID
	rgTID
	rgEndTID
	rgStyle
	rgDomain
	rgName
	rgCategory
	rgStart
	rgDuration
)

var rangeColumns = []rows.Column{{Name: "range_id", Type: rows.Integer}, {Name: "parent_range_id", Type: rows.Integer}, {Name: "path_id", Type: rows.Integer}, {Name: "pid", Type: rows.Integer},
	{Name: "tid", Type: rows.Integer}, {Name: "end_tid", Type: rows.Integer}, {Name: "style", Type: rows.Varchar}, {Name: "domain", Type: rows.Varchar}, {Name: "name", Type: rows.Varchar},
	{Name: "category"}, {Name: "start_ns"}, {Name: "duration_ns"}}

// writeRange writes span k as row n of nvtx_range.
func (l *loader) writeRange(c *rows.Chunk, n int, b *table.Batch, i, k int) error {
	s := &l.ranges.spans[k]
	text, err := l.nvtxName(b, i)
	if err != nil {
		return err
	}
	c.Int32(rgID)[n], c.Int32(rgPath)[n] = l.ids.RangeID(int32(k)), s.Path
	c.Int32(rgPID)[n], c.Int32(rgTID)[n] = pidOf(s.Thread), tidOf(s.Thread)
	if s.Parent >= 0 {
		c.Int32(rgParent)[n] = l.ids.RangeID(s.Parent)
	} else {
		c.SetNull(rgParent, n)
	}
	if end := &b.Cols[nvEndThread]; !end.Null(i) && end.Ints[i] != s.Thread && s.Process {
		c.Int32(rgEndTID)[n] = tidOf(end.Ints[i])
	} else {
		c.SetNull(rgEndTID, n)
	}
	style := "push_pop"
	if s.Process {
		style = "start_end"
	}
	c.SetText(rgStyle, n, style)
	c.SetText(rgDomain, n, l.ranges.names[s.Name].Domain)
	c.SetText(rgName, n, text)
	if b.Cols[nvCategory].Null(i) {
		c.SetNull(rgCategory, n)
	} else {
		c.Int64(rgCategory)[n] = b.Cols[nvCategory].Ints[i]
	}
	c.Int64(rgStart)[n] = s.Start
	if s.End == attribute.Forever {
		c.SetNull(rgDuration, n)
	} else {
		c.Int64(rgDuration)[n] = s.End - s.Start
	}
	return nil
}

// storeMarks stores the marks but those that are Python stacks.
func (l *loader) storeMarks(ctx context.Context, name string) (int64, error) {
	if l.ranges.marks == 0 {
		return 0, nil
	}
	return l.target.Append(ctx, "nvtx_mark", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
			for i := range b.N {
				typ, thread := b.Cols[nvType].Ints[i], b.Cols[nvThread].Ints[i]
				if !isMark(typ) || b.Cols[nvThread].Null(i) {
					continue
				}
				domain := l.ranges.domain(domainKey{procOf(thread), b.Cols[nvDomain].Ints[i]})
				if domain == backtraceDomain || domain == sampleDomain {
					continue
				}
				text, err := l.nvtxName(b, i)
				if err != nil {
					return err
				}
				if err := add(l.target.RunID, l.sourceID(), pidOf(thread), tidOf(thread), domain, text, b.Cols[nvStart].Ints[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
