package chart

import (
	"fmt"
	"math"
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema/terms"
)

// layTimeline puts device work, passes and gaps in the lines of GPUs.
func layTimeline(of timelineRows) (*TimelineData, error) {
	d := &TimelineData{Parts: map[string]string{}, Works: [][2]int64{}, names: timelineNames{at: map[string]int64{}}, workAt: map[[2]int64]int64{}, callAt: map[callKey]int64{}, sources: map[int64]bool{}, ranks: ranksOf(of)}
	d.clocks = clocksOf(of.clocks, of.blocks)
	from, until := edges(of.blocks, nil)
	d.Part = (until-from)/of.parts + 1 // as the queries cut it
	d.From, d.Until = edges(of.blocks, d.clocks)
	d.Begin = d.From
	rows := d.rowsOf(of.blocks)
	for _, b := range of.blocks {
		row := rows[b.place]
		line(&row.Lanes, b.Lane).put(d.start(b.SourceID, b.StartNs), b.EndNs-b.StartNs, b.BusyNs, b.WorkCount, d.name(b.Longest), b.LongestNs)
	}
	for _, p := range of.passes {
		if row := rows[p.place]; row != nil {
			line(&row.Stages, p.Stage).put(d.start(p.SourceID, p.StartNs), p.EndNs-p.StartNs, p.Passes, p.Pass, p.BusyNs, p.LaunchBoundNs, p.SpanNs, bit(p.IsWarmup))
		}
	}
	for _, g := range of.gaps {
		if row := rows[g.place]; row != nil {
			if at := slices.IndexFunc(terms.Parts, func(p terms.Part) bool { return p.Name == g.Cause }); at >= 0 {
				d.Parts[g.Cause] = terms.Parts[at].Label
			}
			row.Gaps = append(row.Gaps, []int64{d.start(g.SourceID, g.StartNs), g.DurationNs, d.name(g.Cause), d.name(g.Before), d.name(g.After), d.name(g.Stage)})
		}
	}
	d.layKnown(of.windows, rows)
	return d, d.layStreams(of.works, rows)
}

// edges returns the start of the first work by the given clocks and the end of the last, at least a nanosecond later.
func edges(blocks []blockRow, clocks map[int64]int64) (from, until int64) {
	for i, b := range blocks {
		offset := clocks[b.SourceID]
		start, end := b.StartNs-offset, b.EndNs-offset
		if i == 0 {
			from, until = start, end
		}
		from, until = min(from, start), max(until, end)
	}
	return from, max(until, from+1)
}

// span is the time from the first work to the end of the last.
func (d *TimelineData) span() int64 { return d.Until - d.From }

// start is a moment by the clock of a source, from the start of the capture.
func (d *TimelineData) start(source, ns int64) int64 { return ns - d.clocks[source] }

// clocksOf reads the clocks that can be put together: those of ranks whose collectives tell how. Other sources keep a clock of their own, since
// captures taken one after the other would be far apart. The clocks of two machines drift by some millionths, so that those of a source agree in the
// middle of its work.
func clocksOf(offsets []clockRow, blocks []blockRow) map[int64]int64 {
	clocks := map[int64]int64{}
	for _, o := range offsets {
		if o.Basis != "collectives" && o.Basis != "bounds" {
			continue
		}
		drift := math.Round(frame.Or(o.DriftRatio, 0) * middleOf(blocks, o.SourceID))
		clocks[o.SourceID], clocks[o.ReferenceID] = -frame.Or(o.OffsetNs, 0)-int64(drift), 0
	}
	return clocks
}

// middleOf is the middle of a source's work, by its own clock.
func middleOf(blocks []blockRow, source int64) float64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, b := range blocks {
		if b.SourceID == source {
			first, last = min(first, b.StartNs), max(last, b.EndNs)
		}
	}
	if first > last {
		return 0
	}
	return float64(first) + float64(last-first)/2
}

// rowsOf makes a row for each GPU of each source, in the order of the blocks. Several sources are told apart.
func (d *TimelineData) rowsOf(blocks []blockRow) map[place]*timelineRow {
	rows := map[place]*timelineRow{}
	for _, b := range blocks {
		d.sources[b.SourceID] = true
	}
	for _, b := range blocks {
		at := b.place
		if rows[at] != nil {
			continue
		}
		rows[at] = &timelineRow{Label: fmt.Sprintf("GPU %d", at.Device), Zero: d.clocks[at.SourceID], Known: [][2]int64{}, Streams: []*timelineStream{}, Stages: []*timelineRun{}, Lanes: []*timelineRun{}, Gaps: [][]int64{}}
		if len(d.sources) > 1 {
			rows[at].Label += fmt.Sprintf(", source %d", at.SourceID)
			if _, common := d.clocks[at.SourceID]; !common {
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
