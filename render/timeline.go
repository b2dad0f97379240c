package render

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"

	"prof/queries"
)

// timelineFigure is the picture of the devices over time, which the page's script draws.
type timelineFigure struct {
	Data    template.JS
	Merged  string // what is drawn as one
	Spoken  string
	Legend  []part // causes of the gaps drawn
	Gaps    *tableView
	Queries [][2]string // name and version, SQL
	Notes   []string
}

// timelineData is what the script reads. Times are nanoseconds from the first work drawn.
type timelineData struct {
	Span  int64          `json:"span"`
	Part  int64          `json:"part"` // what begins in the same one is one block
	Names []string       `json:"names"`
	Rows  []*timelineRow `json:"rows"`

	from   int64
	nameAt map[string]int
	clocks map[int64]int64 // by source: what its clock shows more than the reference's
}

// timelineRow is one GPU of one source.
type timelineRow struct {
	Label  string         `json:"label"`
	Stages []*timelineRun `json:"stages"` // [start, length, passes, first pass, busy, launch-bound, span, is warm-up]
	Lanes  []*timelineRun `json:"lanes"`  // [start, length, busy, works, longest's name, its length]
	Gaps   [][]int64      `json:"gaps"`   // [start, length, cause's name, before's, after's, stage's]
}

// timelineRun is one line of a row; a start counts from the start before it.
type timelineRun struct {
	Name  string    `json:"name"`
	Items [][]int64 `json:"items"`

	last int64
}

// nameWidth is how much of a kernel's name the timeline shows.
const nameWidth = 110

func newTimelineFigure(t *queries.Timeline) (*timelineFigure, error) {
	if t == nil || len(t.Blocks.Rows) == 0 {
		return nil, nil
	}
	d, err := layTimeline(t)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(d) // escapes what could end the script
	if err != nil {
		return nil, err
	}
	figure := &timelineFigure{Data: template.JS(text), Spoken: fmt.Sprintf("%d GPUs over %s", len(d.Rows), duration(d.Span))}
	if len(d.Rows) == 1 {
		figure.Spoken = "1 GPU over " + duration(d.Span)
	}
	figure.Merged = fmt.Sprintf("Work of one kind that begins within the same %s (1/%d of the capture) is drawn as one block, whose height is the share of its time in which it ran; passes shorter than that are drawn together likewise. "+
		"No gap longer than that is inside a block. The line of gaps shows the %d longest.", duration(d.Part), t.Parts, len(t.Gaps.Rows))
	if len(d.clocks) > 0 {
		figure.Merged += " Clocks of ranks are put together by their collectives: clock-offsets says how well."
	}
	if len(t.Gaps.Rows) > 0 {
		if figure.Gaps, err = newTableView(t.Gaps, "Longest idle gaps"); err != nil {
			return nil, err
		}
		figure.Legend = slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
			return !slices.ContainsFunc(t.Gaps.Rows, func(r []any) bool { return r[t.Gaps.Index("cause")] == p.name })
		})
	}
	for _, f := range []*queries.Frame{t.Blocks, t.Passes, t.Gaps, t.Clocks} {
		if f == nil {
			continue
		}
		figure.Queries = append(figure.Queries, [2]string{fmt.Sprintf("%s v%d", f.Query, f.Version), neutral(f.SQL)})
		for _, note := range f.Notes {
			if note = neutral(note); !slices.Contains(figure.Notes, note) {
				figure.Notes = append(figure.Notes, note)
			}
		}
	}
	return figure, nil
}

// layTimeline puts the rows of the three queries in the lines of GPUs.
func layTimeline(t *queries.Timeline) (*timelineData, error) {
	blocks, err := recordsOf(t.Blocks, "source_id", "device", "lane", "start_ns", "end_ns", "busy_ns", "work_count", "longest", "longest_ns")
	if err != nil {
		return nil, err
	}
	passes, err := recordsOf(t.Passes, "source_id", "device", "stage", "start_ns", "end_ns", "passes", "pass", "busy_ns", "launch_bound_ns", "span_ns", "is_warmup")
	if err != nil {
		return nil, err
	}
	gaps, err := recordsOf(t.Gaps, "source_id", "device", "start_ns", "duration_ns", "cause", "before", "after", "stage")
	if err != nil {
		return nil, err
	}
	d := &timelineData{nameAt: map[string]int{}}
	if d.clocks, err = clocksOf(t.Clocks); err != nil {
		return nil, err
	}
	d.Part = d.measure(blocks, map[int64]int64{})/max(t.Parts, 1) + 1 // as the queries cut it
	d.Span = d.measure(blocks, d.clocks)
	rows := d.rowsOf(blocks)
	for _, b := range blocks {
		row := rows[b.place()]
		line(&row.Lanes, b.text("lane")).put(d.start(b), b.int("end_ns")-b.int("start_ns"), b.int("busy_ns"), b.int("work_count"), d.name(b.text("longest")), b.int("longest_ns"))
	}
	for _, p := range passes {
		if row := rows[p.place()]; row != nil {
			line(&row.Stages, p.text("stage")).put(d.start(p), p.int("end_ns")-p.int("start_ns"), p.int("passes"), p.int("pass"), p.int("busy_ns"), p.int("launch_bound_ns"), p.int("span_ns"), p.flag("is_warmup"))
		}
	}
	for _, g := range gaps {
		if row := rows[g.place()]; row != nil {
			row.Gaps = append(row.Gaps, []int64{d.start(g), g.int("duration_ns"), d.name(g.text("cause")), d.name(g.text("before")), d.name(g.text("after")), d.name(g.text("stage"))})
		}
	}
	return d, nil
}

// measure finds the first work by the given clocks and gives the time from there to the end of the last.
func (d *timelineData) measure(blocks []record, clocks map[int64]int64) int64 {
	var until int64
	for i, b := range blocks {
		offset := clocks[b.int("source_id")]
		start, end := b.int("start_ns")-offset, b.int("end_ns")-offset
		if i == 0 {
			d.from, until = start, end
		}
		d.from, until = min(d.from, start), max(until, end)
	}
	return max(until-d.from, 1)
}

// start is when a row's work began, from the first work drawn.
func (d *timelineData) start(r record) int64 {
	return r.int("start_ns") - d.clocks[r.int("source_id")] - d.from
}

// clocksOf reads the clocks that can be put together: those of ranks whose collectives tell how. Other sources keep a clock of their own, since
// captures taken one after the other would be far apart.
func clocksOf(f *queries.Frame) (map[int64]int64, error) {
	clocks := map[int64]int64{}
	if f == nil {
		return clocks, nil
	}
	offsets, err := recordsOf(f, "source_id", "reference_id", "offset_ns", "basis")
	if err != nil {
		return nil, err
	}
	for _, o := range offsets {
		if o.text("basis") == "collectives" {
			clocks[o.int("source_id")], clocks[o.int("reference_id")] = o.int("offset_ns"), 0
		}
	}
	return clocks, nil
}

// rowsOf makes a row for each GPU of each source, in the order of the blocks. Several sources are told apart.
func (d *timelineData) rowsOf(blocks []record) map[[2]int64]*timelineRow {
	rows, sources := map[[2]int64]*timelineRow{}, map[int64]bool{}
	for _, b := range blocks {
		sources[b.int("source_id")] = true
	}
	for _, b := range blocks {
		at := b.place()
		if rows[at] != nil {
			continue
		}
		rows[at] = &timelineRow{Label: fmt.Sprintf("GPU %d", at[1]), Stages: []*timelineRun{}, Lanes: []*timelineRun{}, Gaps: [][]int64{}}
		if len(sources) > 1 {
			rows[at].Label += fmt.Sprintf(", source %d", at[0])
			if _, common := d.clocks[at[0]]; !common {
				rows[at].Label += " by its own clock"
			}
		}
		d.Rows = append(d.Rows, rows[at])
	}
	return rows
}

// name gives the place of a name in the list of names, shortened.
func (d *timelineData) name(text string) int64 {
	text = shorten(neutral(text), nameWidth, 60)
	at, known := d.nameAt[text]
	if !known {
		at = len(d.Names)
		d.nameAt[text] = at
		d.Names = append(d.Names, text)
	}
	return int64(at)
}

// line gives the line of that name, made where there is none yet.
func line(lines *[]*timelineRun, name string) *timelineRun {
	name = neutral(name)
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
