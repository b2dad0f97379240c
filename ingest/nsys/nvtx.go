package nsys

import (
	"context"
	"database/sql/driver"
	"fmt"

	"prof/ingest/attribute"
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

// ranges holds a capture's NVTX ranges between their first reading, which the attribution needs, and their storing.
type ranges struct {
	spans    []attribute.Span
	names    []attribute.Name
	texts    []textKey // names until all domains are known, by number
	ids      map[textKey]int32
	domains  map[domainKey]string
	lines    *attribute.Timelines
	read     int64 // rows of the table
	orphans  int64 // push/pop or start/end rows without a thread, which cannot be placed
	backward int64 // rows that end before they start
	marks    int64
	finish   int64 // the capture's length, which nsys gives as the end of a range that never ended

	operators *operators
}

// domainKey names a domain; proc is 0 for the default one, which all processes share.
type domainKey struct{ proc, id int64 }

// textKey is a normalised name in a domain.
type textKey struct {
	domain domainKey
	norm   string
}

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
	r := &ranges{ids: map[textKey]int32{}, domains: map[domainKey]string{}, finish: attribute.Forever}
	if l.info.DurationNs != nil {
		r.finish = *l.info.DurationNs
	}
	l.ranges = r
	name := l.table(nvtxTable)
	if name != "" {
		if err := eachBatch(ctx, l.export, name, nvtxWants, l.addSpans); err != nil {
			return err
		}
	}
	r.nameSpans()
	var err error
	if r.lines, err = attribute.Build(r.spans, r.names, &l.target.Run.Paths, attribute.MaxCrossings); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	if err := attribute.CheckDepth(l.target.Run.Paths.All(), attribute.MaxSteps); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	l.orderOperators()
	return nil
}

// addDomain takes the name of an NVTX domain, whose id names it within its process.
func (l *loader) addDomain(b *table.Batch, i int) error {
	text, err := l.nvtxName(b, i)
	if err == nil {
		l.ranges.domains[domainKey{procOf(b.Cols[nvThread].Ints[i]), b.Cols[nvDomain].Ints[i]}] = text
	}
	return err
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

// domain names a domain: "" for the default one, the number for one whose creation was not captured.
func (r *ranges) domain(k domainKey) string {
	if k.id == 0 {
		return ""
	}
	if name, ok := r.domains[k]; ok {
		return name
	}
	return fmt.Sprintf("domain %d", k.id)
}

// spanOf gives the times of a range row; ok is false when it is not a range that can be placed.
func (r *ranges) spanOf(b *table.Batch, i int) (s attribute.Span, ok bool) {
	is, process := isRange(b.Cols[nvType].Ints[i])
	if !is || b.Cols[nvThread].Null(i) {
		return s, false
	}
	s = attribute.Span{Start: b.Cols[nvStart].Ints[i], End: attribute.Forever, Thread: b.Cols[nvThread].Ints[i], Process: process}
	if end := &b.Cols[nvEnd]; !end.Null(i) && end.Ints[i] != r.finish {
		s.End = end.Ints[i]
	}
	return s, isInterval(s.Start, min(s.End, farthest-1)) && (s.End < farthest || s.End == attribute.Forever)
}

func (l *loader) addSpans(b *table.Batch) error {
	r := l.ranges
	r.read += int64(b.N)
	for i := range b.N {
		s, ok := r.spanOf(b, i)
		if !ok {
			if err := l.addOther(b, i); err != nil {
				return err
			}
			continue
		}
		text, err := l.nvtxName(b, i)
		if err != nil {
			return err
		}
		domain := domainKey{id: b.Cols[nvDomain].Ints[i]}
		if domain.id != 0 {
			domain.proc = procOf(s.Thread)
		}
		s.Name = r.text(domain, load.Normalise(text))
		if domain.id == 0 && !s.Process {
			if e, ok := parseEmitted(text); ok {
				r.addOperator(e, s.Thread)
			}
		}
		r.spans = append(r.spans, s)
	}
	return nil
}

// text numbers a name in a domain, whose own name may come later in the table.
func (r *ranges) text(domain domainKey, norm string) int32 {
	k := textKey{domain, norm}
	id, known := r.ids[k]
	if !known {
		id = int32(len(r.texts))
		r.ids[k] = id
		r.texts = append(r.texts, k)
	}
	return id
}

// nameSpans gives spans the numbers of their names, once all domains are known.
func (r *ranges) nameSpans() {
	ids, nameOf := map[attribute.Name]int32{}, make([]int32, len(r.texts))
	for i, k := range r.texts {
		name := attribute.Name{Domain: r.domain(k.domain), Norm: k.norm}
		id, known := ids[name]
		if !known {
			id = int32(len(r.names))
			ids[name] = id
			r.names = append(r.names, name)
		}
		nameOf[i] = id
	}
	for i := range r.spans {
		r.spans[i].Name = nameOf[r.spans[i].Name]
	}
	r.ids, r.texts = nil, nil
}

// addOther takes a row that is no range which can be placed.
func (l *loader) addOther(b *table.Batch, i int) error {
	r, eventType, hasThread := l.ranges, b.Cols[nvType].Ints[i], !b.Cols[nvThread].Null(i)
	is, _ := isRange(eventType)
	switch {
	case is && hasThread:
		r.backward++
	case is:
		r.orphans++
	case hasThread && eventType == nvtxDomainCreate:
		return l.addDomain(b, i)
	case hasThread && isMark(eventType):
		r.marks++
	}
	return nil
}

func isMark(eventType int64) bool { return eventType == nvtxMark || eventType == nvtxtMark }

// storeRanges reads the events again, now to store them: names need not be held in memory meanwhile.
func (l *loader) storeRanges(ctx context.Context) error {
	name := l.table(nvtxTable)
	if name == "" {
		return nil
	}
	r, stored := l.ranges, 0
	rows := load.NewPushed(rangeColumns, func(next load.Push) error {
		return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
			for i := range b.N {
				if _, ok := r.spanOf(b, i); !ok {
					continue
				}
				if stored == len(r.spans) {
					return fmt.Errorf("%s: %s grew while it was read", l.name, name)
				}
				c, n, err := next()
				if err == nil {
					err = l.writeRange(c, n, b, i, stored)
				}
				if err != nil {
					return err
				}
				stored++
			}
			return nil
		})
	})
	n, err := l.target.Insert(ctx, "nvtx_range", rows)
	rows.Stop()
	if err != nil {
		return err
	}
	if stored != len(r.spans) {
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

var rangeColumns = []load.Column{{Name: "range_id", Type: load.Integer}, {Name: "parent_range_id", Type: load.Integer}, {Name: "path_id", Type: load.Integer}, {Name: "pid", Type: load.Integer},
	{Name: "tid", Type: load.Integer}, {Name: "end_tid", Type: load.Integer}, {Name: "style", Type: load.Varchar}, {Name: "domain", Type: load.Varchar}, {Name: "name", Type: load.Varchar},
	{Name: "category"}, {Name: "start_ns"}, {Name: "duration_ns"}}

// writeRange writes span k as row n of nvtx_range.
func (l *loader) writeRange(c *load.Chunk, n int, b *table.Batch, i, k int) error {
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

func (l *loader) storeMarks(ctx context.Context, name string) (int64, error) {
	if l.ranges.marks == 0 {
		return 0, nil
	}
	return l.target.Append(ctx, "nvtx_mark", func(add func(...driver.Value) error) error {
		return eachBatch(ctx, l.export, name, nvtxWants, func(b *table.Batch) error {
			for i := range b.N {
				typ, thread := b.Cols[nvType].Ints[i], b.Cols[nvThread].Ints[i]
				if !isMark(typ) || b.Cols[nvThread].Null(i) {
					continue
				}
				text, err := l.nvtxName(b, i)
				if err != nil {
					return err
				}
				if err := add(l.target.UUID(), l.sourceID(), pidOf(thread), tidOf(thread), l.ranges.domain(domainKey{procOf(thread), b.Cols[nvDomain].Ints[i]}),
					text, b.Cols[nvStart].Ints[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
