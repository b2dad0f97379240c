package nsys

import (
	"context"
	"database/sql/driver"
	"fmt"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
)

// NVTX event types, from ENUM_NSYS_EVENT_TYPE. The Nvtxt ones are the same events read from a file instead of the program.
const (
	nvtxMark, nvtxtMark         = 34, 65
	nvtxPushPop, nvtxtPushPop   = 59, 70
	nvtxStartEnd, nvtxtStartEnd = 60, 71
	nvtxDomainCreate            = 75
)

const nvtxTable = "NVTX_EVENTS"

var nvtxWants = want("start end? eventType? globalTid? domainId? text?:text textId? endGlobalTid? category?")

const (
	nvStart = iota
	nvEnd
	nvType
	nvThread
	nvDomain
	nvText
	nvTextID
	nvEndThread
	nvCategory
)

// rangeName is a domain and a normalised name.
type rangeName struct{ domain, norm string }

// ranges holds a capture's NVTX ranges between their first reading, which the attribution needs, and their storing.
type ranges struct {
	spans    []span
	names    []rangeName
	ids      map[rangeName]int32
	domains  map[domainKey]string
	lines    *timelines
	read     int64 // rows of the table
	orphans  int64 // push/pop or start/end rows without a thread, which cannot be placed
	backward int64 // rows that end before they start
	finish   int64 // the capture's length, which nsys gives as the end of a range that never ended
}

type domainKey struct{ proc, id int64 }

// isRange says whether an event type is a range, and whether it is a start/end one.
func isRange(eventType int64) (is, process bool) {
	switch eventType {
	case nvtxPushPop, nvtxtPushPop:
		return true, false
	case nvtxStartEnd, nvtxtStartEnd:
		return true, true
	}
	return false, false
}

// readRanges reads the ranges' times and names and sweeps them.
func (l *loader) readRanges(ctx context.Context) error {
	r := &ranges{ids: map[rangeName]int32{}, domains: map[domainKey]string{}, finish: forever}
	if l.info.DurationNs != nil {
		r.finish = *l.info.DurationNs
	}
	l.ranges = r
	name := l.table(nvtxTable)
	if name != "" {
		if err := l.readDomains(ctx, name); err != nil {
			return err
		}
		if err := eachBatch(ctx, l.export, name, nvtxWants, l.addSpans); err != nil {
			return err
		}
	}
	var err error
	if r.lines, err = buildTimelines(r.spans, r.names, &l.target.Run.Paths, maxCrossings); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	if err := checkDepth(l.target.Run.Paths.All(), maxSteps); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// maxSteps bounds the names in all paths together: a few ranges are enough unless thousands are pushed and never popped.
const maxSteps = 20_000_000

// checkDepth refuses ranges that nest within each other without end: each stores the whole path down to it.
func checkDepth(paths []load.Path, limit int) error {
	steps, deepest := 0, load.Path{}
	for _, p := range paths {
		steps += int(p.Depth)
		if p.Depth > deepest.Depth {
			deepest = p
		}
	}
	if steps > limit {
		return fmt.Errorf("its NVTX ranges nest %d deep, down to one named %q: are they pushed and never popped?", deepest.Depth, deepest.Name)
	}
	return nil
}

// readDomains reads the names of NVTX domains. An id names a domain within its process.
func (l *loader) readDomains(ctx context.Context, name string) error {
	return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
		for i := range b.N {
			if b.Cols[nvType].Ints[i] != nvtxDomainCreate || b.Cols[nvThread].Null(i) {
				continue
			}
			text, err := l.nvtxName(b, i)
			if err != nil {
				return err
			}
			l.ranges.domains[domainKey{procOf(b.Cols[nvThread].Ints[i]), b.Cols[nvDomain].Ints[i]}] = text
		}
		return nil
	})
}

// nvtxName gives an event's own text, or the registered string it names.
func (l *loader) nvtxName(b *table.Batch, i int) (string, error) {
	if !b.Cols[nvText].Null(i) {
		return b.Cols[nvText].Texts[i], nil
	}
	if b.Cols[nvTextID].Null(i) {
		return "", nil
	}
	return l.strings.get(b.Cols[nvTextID].Ints[i])
}

// domainOf names an event's domain: "" for the default one, the number for one whose creation was not captured.
func (r *ranges) domainOf(proc int64, b *table.Batch, i int) string {
	id := b.Cols[nvDomain].Ints[i]
	if id == 0 {
		return ""
	}
	if name, ok := r.domains[domainKey{proc, id}]; ok {
		return name
	}
	return fmt.Sprintf("domain %d", id)
}

// spanOf gives the times of a range row; ok is false when it is not a range that can be placed.
func (r *ranges) spanOf(b *table.Batch, i int) (s span, ok bool) {
	is, process := isRange(b.Cols[nvType].Ints[i])
	if !is || b.Cols[nvThread].Null(i) {
		return s, false
	}
	s = span{start: b.Cols[nvStart].Ints[i], end: forever, thread: b.Cols[nvThread].Ints[i], process: process}
	if end := &b.Cols[nvEnd]; !end.Null(i) && end.Ints[i] != r.finish {
		s.end = end.Ints[i]
	}
	return s, s.end >= s.start
}

func (l *loader) addSpans(b *table.Batch) error {
	r := l.ranges
	r.read += int64(b.N)
	for i := range b.N {
		s, ok := r.spanOf(b, i)
		if !ok {
			r.countOther(b, i)
			continue
		}
		text, err := l.nvtxName(b, i)
		if err != nil {
			return err
		}
		name := rangeName{r.domainOf(procOf(s.thread), b, i), load.Normalise(text)}
		id, known := r.ids[name]
		if !known {
			id = int32(len(r.names))
			r.ids[name] = id
			r.names = append(r.names, name)
		}
		s.name = id
		r.spans = append(r.spans, s)
	}
	return nil
}

func (r *ranges) countOther(b *table.Batch, i int) {
	switch is, _ := isRange(b.Cols[nvType].Ints[i]); {
	case is && b.Cols[nvThread].Null(i):
		r.orphans++
	case is:
		r.backward++
	}
}

// storeRanges reads the events again, now to store them: names need not be held in memory meanwhile.
func (l *loader) storeRanges(ctx context.Context) error {
	name := l.table(nvtxTable)
	if name == "" {
		return nil
	}
	t, r, next := l.target, l.ranges, 0
	n, err := t.Append(ctx, "nvtx_range", func(add func(...driver.Value) error) error {
		return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
			for i := range b.N {
				if _, ok := r.spanOf(b, i); !ok {
					continue
				}
				if next == len(r.spans) {
					return fmt.Errorf("%s: %s grew while it was read", l.name, name)
				}
				row, err := l.rangeRow(b, i, next)
				if err == nil {
					err = add(row...)
				}
				if err != nil {
					return err
				}
				next++
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if next != len(r.spans) {
		return fmt.Errorf("%s: %s shrank while it was read", l.name, name)
	}
	marks, err := l.storeMarks(ctx, name)
	if err != nil {
		return err
	}
	l.part(nvtxTable, l.ranges.read, n+marks, l.nvtxReason())
	return nil
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
	return "domain and category names are kept with the ranges"
}

// rangeRow is the row of nvtx_range for span k.
func (l *loader) rangeRow(b *table.Batch, i, k int) ([]driver.Value, error) {
	s := &l.ranges.spans[k]
	text, err := l.nvtxName(b, i)
	if err != nil {
		return nil, err
	}
	var parent, endTid, category, duration driver.Value
	if s.parent >= 0 {
		parent = l.rangeID(s.parent)
	}
	if end := &b.Cols[nvEndThread]; !end.Null(i) && end.Ints[i] != s.thread && s.process {
		endTid = tidOf(end.Ints[i])
	}
	if !b.Cols[nvCategory].Null(i) {
		category = b.Cols[nvCategory].Ints[i]
	}
	if s.end != forever {
		duration = s.end - s.start
	}
	style := "push_pop"
	if s.process {
		style = "start_end"
	}
	return []driver.Value{l.target.UUID(), l.sourceID(), l.rangeID(int32(k)), parent, s.path, pidOf(s.thread), tidOf(s.thread),
		endTid, style, l.ranges.names[s.name].domain, text, category, s.start, duration}, nil
}

func (l *loader) rangeID(span int32) int32 { return l.firstRange + span + 1 }

func (l *loader) storeMarks(ctx context.Context, name string) (int64, error) {
	return l.target.Append(ctx, "nvtx_mark", func(add func(...driver.Value) error) error {
		return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
			for i := range b.N {
				typ, thread := b.Cols[nvType].Ints[i], b.Cols[nvThread].Ints[i]
				if typ != nvtxMark && typ != nvtxtMark || b.Cols[nvThread].Null(i) {
					continue
				}
				text, err := l.nvtxName(b, i)
				if err != nil {
					return err
				}
				if err := add(l.target.UUID(), l.sourceID(), pidOf(thread), tidOf(thread), l.ranges.domainOf(procOf(thread), b, i),
					text, b.Cols[nvStart].Ints[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// storeContexts stores the open sets that calls were made in, and the device work of each range.
func (l *loader) storeContexts(ctx context.Context, sums *rangeSums) error {
	t, lines := l.target, l.ranges.lines
	if err := l.checkContexts(maxContextRows); err != nil {
		return err
	}
	_, err := t.Append(ctx, "range_context", func(add func(...driver.Value) error) error {
		for n := range int32(len(lines.nodes)) {
			if !lines.isUsed(n) {
				continue
			}
			path := lines.nodes[n].path
			for m := n; m != noNode; m = lines.nodes[m].parent {
				if err := add(t.UUID(), l.contextID(n), l.rangeID(lines.nodes[m].span), path, m == n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "range_device", func(add func(...driver.Value) error) error {
		for i := range sums.rows {
			r := &sums.rows[i]
			if err := add(t.UUID(), l.rangeID(r.span), int32(r.device), r.first, r.last, r.busy, r.sum, r.kernelSum,
				r.kernels, r.mems, r.reps); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// maxContextRows bounds the rows of range_context, one for each open range of each set that calls were made in.
const maxContextRows = 100_000_000

func (l *loader) checkContexts(limit int) error {
	lines, paths, n := l.ranges.lines, l.target.Run.Paths.All(), 0
	for i := range int32(len(lines.nodes)) {
		if lines.isUsed(i) {
			n += int(paths[lines.nodes[i].path-1].Depth)
		}
	}
	if n > limit {
		return fmt.Errorf("%s: so many NVTX ranges are open at once that telling which hold which call takes %d rows: are they pushed and never popped?", l.name, n)
	}
	return nil
}

// contextID is the range_context_id of a node; 0 stands for no open range.
func (l *loader) contextID(n int32) int32 {
	if n == noNode {
		return 0
	}
	return l.firstContext + n + 1
}

// pathOf is the path of a node; 0 for no open range.
func (l *loader) pathOf(n int32) int32 {
	if n == noNode {
		return 0
	}
	return l.ranges.lines.nodes[n].path
}
