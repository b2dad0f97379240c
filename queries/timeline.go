package queries

import (
	"context"
	"slices"
	"strconv"

	"prof/schema"
)

// Timeline is what a picture of a run's devices over time is drawn from.
type Timeline struct {
	Blocks *Frame // timeline-blocks: work by GPU and kind
	Passes *Frame // timeline-passes: passes of stages by GPU
	Gaps   *Frame // longest-gaps
	Clocks *Frame // clock-offsets; nil for a single source
	Parts  int64  // equal parts of the time of the capture: what begins in the same one is drawn as one
}

// The detail of a timeline: a part is about a quarter of a pixel of most screens, so that a picture can be enlarged a few times. Of more
// GPUs the parts are longer, so that the page stays small.
const (
	timelineParts = 4000
	fullDetail    = 2 // GPUs that get so many parts
	leastParts    = 500
	timelineGaps  = 200
)

// ReportTimeline asks for the timeline that a report of a run shows.
func ReportTimeline(ctx context.Context, w *schema.Warehouse, run string) (*Timeline, error) {
	devices, err := ask(ctx, w, "devices", Args{"run": run})
	if err != nil {
		return nil, err
	}
	t := &Timeline{Parts: max(leastParts, timelineParts*fullDetail/int64(max(fullDetail, len(devices.Rows))))}
	parts := strconv.FormatInt(t.Parts, 10)
	for _, q := range []struct {
		name string
		args Args
		into **Frame
	}{
		{"timeline-blocks", Args{"run": run, "blocks": parts}, &t.Blocks},
		{"timeline-passes", Args{"run": run, "blocks": parts}, &t.Passes},
		{"longest-gaps", Args{"run": run, "top": strconv.Itoa(timelineGaps)}, &t.Gaps},
	} {
		if *q.into, err = ask(ctx, w, q.name, q.args); err != nil {
			return nil, err
		}
	}
	if t.Blocks.isConstant("source_id") {
		return t, nil
	}
	t.Clocks, err = ask(ctx, w, "clock-offsets", Args{"run": run})
	return t, err
}

// isConstant says whether a column has no two values.
func (f *Frame) isConstant(column string) bool {
	at := f.Index(column)
	return !slices.ContainsFunc(f.Rows, func(r []any) bool { return r[at] != f.Rows[0][at] })
}
