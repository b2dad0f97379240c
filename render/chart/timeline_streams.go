package chart

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
)

// timelineStream is the work of one stream of a GPU, piece by piece. The streams beyond the busiest share one.
type timelineStream struct {
	Name string `json:"name"`
	// Items are the work in order of start, three numbers each: its start from the end of the one before, its length, its place in works.
	Items Packed `json:"items"`
	// Stages are names' places, each with the number of items in a row that have it; -1 where a launch was not captured.
	Stages []int64 `json:"stages"`
	// Streams are such runs of the names of streams, of a line that several share.
	Streams []int64 `json:"streams,omitempty"`
	// Launches are such runs of differences between the numbers of the calls that launched an item and the item before. The calls of all
	// threads are numbered from 1, in the threads' order; 0 stands for a call that is not in the page.
	Launches Packed `json:"launches,omitempty"`

	pieces []timelinePiece
}

// timelinePiece is a kernel, copy, fill or graph replay. Names are places in the list of names.
type timelinePiece struct {
	start, length, work, stage, stream int64
	launch                             callKey
}

// mostStreams is how many lines of streams a GPU has.
const mostStreams = 12

// layStreams puts the single pieces of work in the lines of their streams. Windows may overlap, and what is in two is drawn once.
func (d *TimelineData) layStreams(f *frame.Frame, rows map[[2]int64]*timelineRow) error {
	if f == nil {
		return nil
	}
	works, err := f.Records("window", "source_id", "device", "pid", "stream", "context", "lane", "start_ns", "duration_ns", "name", "stage", "tid", "launch_start_ns")
	if err != nil {
		return err
	}
	names := streamNames(works)
	first := map[[9]any]int64{} // window that showed a piece of work first
	lines := map[[2]any]*timelineStream{}
	for i, w := range works {
		row := rows[placeOf(w)]
		if row == nil {
			return fmt.Errorf("query %s: row %d is of GPU %d of source %d, which has no blocks", f.Query, i+1, w.Count("device"), w.Count("source_id"))
		}
		piece := [9]any{placeOf(w), w.Value("pid"), w.Value("context"), w.Value("stream"), w.Text("lane"), w.Count("start_ns"), w.Count("duration_ns"), w.Text("name")}
		if at, known := first[piece]; known && at != w.Count("window") {
			continue
		}
		first[piece] = w.Count("window")
		key := [2]any{placeOf(w), names[i]}
		if lines[key] == nil {
			lines[key] = &timelineStream{Name: names[i]}
			row.Streams = append(row.Streams, lines[key])
		}
		stage := int64(-1)
		if w.Value("stage") != nil {
			stage = d.name(w.Text("stage"))
		}
		lines[key].pieces = append(lines[key].pieces, timelinePiece{d.start(w), w.Count("duration_ns"), d.work(w.Text("name"), w.Text("lane")), stage, d.name(names[i]), launchOf(w)})
	}
	for _, row := range d.Rows {
		row.Streams = shareLine(row.Streams)
		for _, s := range row.Streams {
			s.encode()
		}
	}
	return nil
}

// streamNames calls the stream of each piece of work what tells it from the others of its GPU.
func streamNames(works []frame.Record) []string {
	type seen struct{ processes, contexts map[any]bool }
	at := map[[2]int64]seen{}
	for _, w := range works {
		s, known := at[placeOf(w)]
		if !known {
			s = seen{map[any]bool{}, map[any]bool{}}
			at[placeOf(w)] = s
		}
		s.processes[w.Value("pid")] = true
		s.contexts[[2]any{w.Value("pid"), w.Value("context")}] = true
	}
	names := make([]string, len(works))
	for i, w := range works {
		names[i] = "stream " + numberOr(w.Value("stream"), "unknown")
		s := at[placeOf(w)]
		if len(s.contexts) > len(s.processes) {
			names[i] += ", context " + numberOr(w.Value("context"), "unknown")
		}
		if len(s.processes) > 1 {
			names[i] += ", process " + numberOr(w.Value("pid"), "unknown")
		}
	}
	return names
}

func numberOr(value any, missing string) string {
	if n, is := value.(int64); is {
		return fmt.Sprint(n)
	}
	return missing
}

// shareLine puts the streams with the fewest pieces of work together where there are more than there are lines.
func shareLine(streams []*timelineStream) []*timelineStream {
	if len(streams) <= mostStreams {
		return streams
	}
	order := slices.Clone(streams)
	slices.SortStableFunc(order, func(a, b *timelineStream) int { return cmp.Compare(len(b.pieces), len(a.pieces)) })
	rest := &timelineStream{Name: typeset.Int(int64(len(streams)-mostStreams+1)) + " other streams", Streams: []int64{}}
	for _, s := range order[mostStreams-1:] {
		rest.pieces = append(rest.pieces, s.pieces...)
	}
	kept := slices.DeleteFunc(streams, func(s *timelineStream) bool { return slices.Contains(order[mostStreams-1:], s) })
	return append(kept, rest)
}

// encode writes the pieces in small numbers.
func (s *timelineStream) encode() {
	slices.SortStableFunc(s.pieces, func(a, b timelinePiece) int { return cmp.Compare(a.start, b.start) })
	end := int64(0)
	for _, p := range s.pieces {
		s.Items = append(s.Items, p.start-end, p.length, p.work)
		s.Stages = repeat(s.Stages, p.stage)
		if s.Streams != nil {
			s.Streams = repeat(s.Streams, p.stream)
		}
		end = p.start + p.length
	}
}

// repeat adds a value to runs of equal values.
func repeat(runs []int64, value int64) []int64 {
	if n := len(runs); n > 0 && runs[n-2] == value {
		runs[n-1]++
		return runs
	}
	return append(runs, value, 1)
}
