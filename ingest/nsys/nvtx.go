package nsys

import (
	"context"
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
	firsts   []int32 // first span of each morsel of the table, and the number of all
	names    []attribute.Name
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

// isRange reports whether an event type is a range, and whether it is a start/end one.
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
	r := &ranges{domains: map[domainKey]string{}, finish: attribute.Forever}
	if l.info.DurationNs != nil {
		r.finish = *l.info.DurationNs
	}
	l.ranges = r
	name := l.table(nvtxTable)
	if name != "" {
		if err := l.readSpans(ctx, name); err != nil {
			return err
		}
	}
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

// nvtxName returns an event's own text, or the registered string it names, as far as load.RangeName goes.
func (l *loader) nvtxName(b *table.Batch, i int) (string, error) {
	if !b.Cols[nvText].Null(i) {
		return load.RangeName(b.Cols[nvText].Texts[i]), nil
	}
	if b.Cols[nvTextID].Null(i) {
		return "", nil
	}
	text, err := l.strings.get(b.Cols[nvTextID].Ints[i])
	return load.RangeName(text), err
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

// spanOf returns the times of a range row; ok is false when it is not a range that can be placed.
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

func isMark(eventType int64) bool { return eventType == nvtxMark || eventType == nvtxtMark }
