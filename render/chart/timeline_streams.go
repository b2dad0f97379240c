package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

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
func (d *TimelineData) layStreams(works []workRow, rows map[place]*timelineRow) error {
	type (
		piece struct {
			on         streamKey
			lane, name string
			start, ns  int64
		}
		line struct {
			place
			name string
		}
	)
	names := d.streamNames(works)
	first := map[piece]int64{} // window that showed a piece of work first
	lines := map[line]*timelineStream{}
	for i, w := range works {
		row := rows[w.place]
		if row == nil {
			return fmt.Errorf("query timeline-kernels: row %d is of GPU %d of source %d, which has no blocks", i+1, w.Device, w.SourceID)
		}
		own := piece{w.stream(), w.Lane, w.Name, w.StartNs, w.DurationNs}
		if at, known := first[own]; known && at != w.Window {
			continue
		}
		first[own] = w.Window
		key := line{w.place, names[i]}
		if lines[key] == nil {
			lines[key] = &timelineStream{Name: names[i]}
			row.Streams = append(row.Streams, lines[key])
		}
		stage := int64(-1)
		if w.Stage != "" {
			stage = d.name(w.Stage)
		}
		lines[key].pieces = append(lines[key].pieces, timelinePiece{d.start(w.SourceID, w.StartNs), w.DurationNs, d.work(w.Name, w.Lane), stage, d.name(names[i]), w.launch()})
	}
	for _, row := range d.Rows {
		row.Streams = shareLine(row.Streams)
		for _, s := range row.Streams {
			s.encode()
		}
	}
	return nil
}

// streamKey is a stream of a GPU, in words: what is not known is one too.
type streamKey struct {
	place
	process, context, stream string
}

func (w workRow) stream() streamKey {
	return streamKey{w.place, numberOr(w.PID, "unknown"), numberOr(w.Context, "unknown"), numberOr(w.Stream, "unknown")}
}

// streamNames calls the stream of each piece of work what tells it from the others of its GPU.
func (d *TimelineData) streamNames(works []workRow) []string {
	type seen struct{ processes, contexts map[streamKey]bool }
	at := map[place]seen{}
	for _, w := range works {
		s, known := at[w.place]
		if !known {
			s = seen{map[streamKey]bool{}, map[streamKey]bool{}}
			at[w.place] = s
		}
		on := w.stream()
		s.processes[streamKey{process: on.process}] = true
		s.contexts[streamKey{process: on.process, context: on.context}] = true
	}
	names := make([]string, len(works))
	for i, w := range works {
		on, s := w.stream(), at[w.place]
		names[i] = "stream " + on.stream
		if len(s.contexts) > len(s.processes) {
			names[i] += ", context " + on.context
		}
		if len(s.processes) > 1 {
			names[i] += ", " + d.ranks.member(w.SourceID, w.PID)
		}
	}
	return names
}

func numberOr(value *int64, missing string) string {
	if value == nil {
		return missing
	}
	return strconv.FormatInt(*value, 10)
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
