package chart

import (
	"fmt"
	"math"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// layTimeline puts device work, passes and gaps in the lines of GPUs.
func layTimeline(t *judge.Timeline) (*TimelineData, error) {
	blocks, err := t.Blocks.Records("source_id", "device", "lane", "start_ns", "end_ns", "busy_ns", "work_count", "longest", "longest_ns")
	if err != nil {
		return nil, err
	}
	passes, err := t.Passes.Records("source_id", "device", "stage", "start_ns", "end_ns", "passes", "pass", "busy_ns", "launch_bound_ns", "span_ns", "is_warmup")
	if err != nil {
		return nil, err
	}
	gaps, err := t.Gaps.Records("source_id", "device", "start_ns", "duration_ns", "cause", "before", "after", "stage")
	if err != nil {
		return nil, err
	}
	d := &TimelineData{Works: [][2]int64{}, names: timelineNames{at: map[string]int64{}}, workAt: map[[2]int64]int64{}, callAt: map[callKey]int64{}, sources: map[int64]bool{}}
	if d.clocks, err = clocksOf(t.Clocks, blocks); err != nil {
		return nil, err
	}
	d.Part = d.measure(blocks, map[int64]int64{})/max(t.Parts, 1) + 1 // as the queries cut it
	d.Span = d.measure(blocks, d.clocks)
	rows := d.rowsOf(blocks)
	for _, b := range blocks {
		row := rows[placeOf(b)]
		line(&row.Lanes, b.Text("lane")).put(d.start(b), b.Count("end_ns")-b.Count("start_ns"), b.Count("busy_ns"), b.Count("work_count"), d.name(b.Text("longest")), b.Count("longest_ns"))
	}
	for _, p := range passes {
		if row := rows[placeOf(p)]; row != nil {
			line(&row.Stages, p.Text("stage")).put(d.start(p), p.Count("end_ns")-p.Count("start_ns"), p.Count("passes"), p.Count("pass"), p.Count("busy_ns"), p.Count("launch_bound_ns"), p.Count("span_ns"), bit(p.Is("is_warmup")))
		}
	}
	for _, g := range gaps {
		if row := rows[placeOf(g)]; row != nil {
			row.Gaps = append(row.Gaps, []int64{d.start(g), g.Count("duration_ns"), d.name(g.Text("cause")), d.name(g.Text("before")), d.name(g.Text("after")), d.name(g.Text("stage"))})
		}
	}
	if err := d.layKnown(t.Windows, rows); err != nil {
		return nil, err
	}
	return d, d.layStreams(t.Kernels, rows)
}

// measure finds the first work by the given clocks and gives the time from there to the end of the last.
func (d *TimelineData) measure(blocks []frame.Record, clocks map[int64]int64) int64 {
	var until int64
	for i, b := range blocks {
		offset := clocks[b.Count("source_id")]
		start, end := b.Count("start_ns")-offset, b.Count("end_ns")-offset
		if i == 0 {
			d.from, until = start, end
		}
		d.from, until = min(d.from, start), max(until, end)
	}
	return max(until-d.from, 1)
}

// start is when a row's work began, from the first work drawn.
func (d *TimelineData) start(r frame.Record) int64 {
	return r.Count("start_ns") - d.clocks[r.Count("source_id")] - d.from
}

// clocksOf reads the clocks that can be put together: those of ranks whose collectives tell how. Other sources keep a clock of their own, since
// captures taken one after the other would be far apart. The clocks of two machines drift by some millionths, so that those of a source agree in the
// middle of its work.
func clocksOf(f *frame.Frame, blocks []frame.Record) (map[int64]int64, error) {
	clocks := map[int64]int64{}
	if f == nil {
		return clocks, nil
	}
	offsets, err := f.Records("source_id", "reference_id", "offset_ns", "basis", "drift_ratio")
	if err != nil {
		return nil, err
	}
	for _, o := range offsets {
		if basis := o.Text("basis"); basis != "collectives" && basis != "bounds" {
			continue
		}
		source := o.Count("source_id")
		drift := math.Round(o.Amount("drift_ratio") * middleOf(blocks, source))
		clocks[source], clocks[o.Count("reference_id")] = -o.Count("offset_ns")-int64(drift), 0
	}
	return clocks, nil
}

// middleOf is the middle of a source's work, by its own clock.
func middleOf(blocks []frame.Record, source int64) float64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, b := range blocks {
		if b.Count("source_id") == source {
			first, last = min(first, b.Count("start_ns")), max(last, b.Count("end_ns"))
		}
	}
	if first > last {
		return 0
	}
	return float64(first) + float64(last-first)/2
}

// rowsOf makes a row for each GPU of each source, in the order of the blocks. Several sources are told apart.
func (d *TimelineData) rowsOf(blocks []frame.Record) map[[2]int64]*timelineRow {
	rows := map[[2]int64]*timelineRow{}
	for _, b := range blocks {
		d.sources[b.Count("source_id")] = true
	}
	for _, b := range blocks {
		at := placeOf(b)
		if rows[at] != nil {
			continue
		}
		rows[at] = &timelineRow{Label: fmt.Sprintf("GPU %d", at[1]), Zero: d.from + d.clocks[at[0]], Known: [][2]int64{}, Streams: []*timelineStream{}, Stages: []*timelineRun{}, Lanes: []*timelineRun{}, Gaps: [][]int64{}}
		if len(d.sources) > 1 {
			rows[at].Label += fmt.Sprintf(", source %d", at[0])
			if _, common := d.clocks[at[0]]; !common {
				rows[at].Label += " by its own clock"
			}
		}
		d.Rows = append(d.Rows, rows[at])
	}
	return rows
}

// line returns the line of that name, made where there is none yet.
func line(lines *[]*timelineRun, name string) *timelineRun {
	name = typeset.Neutral(name)
	for _, l := range *lines {
		if l.Name == name {
			return l
		}
	}
	l := &timelineRun{Name: name}
	*lines = append(*lines, l)
	return l
}

// put adds an item that starts at the given time.
func (l *timelineRun) put(start int64, more ...int64) {
	l.Items = append(l.Items, append([]int64{start - l.last}, more...))
	l.last = start
}
