package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
	"prof/schema/terms"
)

// TimelineFigure is the picture of the devices over time, which the page's script draws.
type TimelineFigure struct {
	Data    template.JS
	Merged  string // what is drawn as one
	Singly  string // which work is drawn piece by piece
	Links   []timelineLink
	Unseen  string // ranges and threads that are left out
	Spoken  string
	Still   []stillLine  // what is drawn without the script
	Legend  []terms.Part // causes of the gaps drawn
	Calls   []callKind   // kinds of the calls drawn
	Gaps    *table.View
	Queries [][2]string // name and version, SQL
	Notes   []string
	Others  string // which of the notes on several tables hold here; "" for none
	Warm    bool   // a pass drawn is one of warm-up

	data *TimelineData
	gaps *frame.Frame
}

// TimelineData is what the script reads. Times are nanoseconds from the start of the capture.
type TimelineData struct {
	Begin   int64             `json:"begin"` // of the first call that is drawn, where that is earlier than the work
	From    int64             `json:"from"`  // of the first work
	Until   int64             `json:"until"` // end of the last work, after From
	Part    int64             `json:"part"`  // what begins in the same one is one block
	Names   []string          `json:"names"`
	Parts   map[string]string `json:"parts"` // what causes of gaps are called
	Works   [][2]int64        `json:"works"` // what single pieces of work are: name, lane's name
	Rows    []*timelineRow    `json:"rows"`
	Threads []*timelineThread `json:"threads"`

	names   timelineNames
	workAt  map[[2]int64]int64
	callAt  map[callKey]int64 // place among the calls of its thread
	sources map[int64]bool
	ranks   rankMap
	clocks  map[int64]int64 // by source: what its clock shows more than the reference's
}

// timelineRow is one GPU of one source.
type timelineRow struct {
	Label   string            `json:"label"`
	Zero    int64             `json:"zero"`    // what the source's clock shows at 0
	Stages  []*timelineRun    `json:"stages"`  // [start, length, passes, first pass, busy, launch-bound, span, is warm-up]
	Lanes   []*timelineRun    `json:"lanes"`   // [start, length, busy, works, longest's name, its length]
	Gaps    [][]int64         `json:"gaps"`    // [start, length, cause's name, before's, after's, stage's]
	Known   [][2]int64        `json:"known"`   // [start, end] of the stretches whose work is in the streams
	Streams []*timelineStream `json:"streams"` // work piece by piece
}

// timelineRun is one line of a row; a start counts from the start before it.
type timelineRun struct {
	Name  string    `json:"name"`
	Items [][]int64 `json:"items"`

	last int64
}

// NewTimeline makes the picture; names are names of kernels in short.
func NewTimeline(t *judge.Timeline, names map[string]string) (*TimelineFigure, error) {
	if t == nil || len(t.Blocks.Rows) == 0 {
		return nil, nil
	}
	rows, err := readTimeline(t)
	if err != nil {
		return nil, err
	}
	d, err := layTimeline(rows)
	if err != nil {
		return nil, err
	}
	figure := &TimelineFigure{Warm: d.hasWarmup(), Spoken: fmt.Sprintf("%d GPUs over %s", len(d.Rows), typeset.Duration(d.span()))}
	if len(d.Rows) == 1 {
		figure.Spoken = "1 GPU over " + typeset.Duration(d.span())
	}
	figure.Merged = fmt.Sprintf("Work of one kind that begins within the same %s (1/%d of the capture) is drawn as one block, whose height is the share of its time in which it ran; passes shorter than that are drawn together likewise. "+
		"No gap longer than that is inside a block. The line of gaps shows the %d longest.", typeset.Duration(d.Part), t.Parts, len(rows.gaps))
	if len(d.clocks) > 0 {
		figure.Merged += " Clocks of ranks are put together by their collectives: clock-offsets says how well."
	}
	figure.Singly, figure.Links = d.windows(rows.windows)
	figure.Unseen = d.layThreads(rows)
	if figure.Data, err = d.script(); err != nil {
		return nil, err
	}
	figure.data, figure.Calls, figure.Still = d, d.callKinds(), d.still()
	figure.gaps = t.Gaps
	if err := figure.Fit(table.PageExcerpt, names); err != nil {
		return nil, err
	}
	figure.addQueries(t.Blocks, t.Passes, t.Gaps, t.Windows, t.Kernels, t.Calls, t.Ranges, t.Clocks)
	return figure, nil
}

// hasWarmup reports whether a pass drawn is one of warm-up.
func (d *TimelineData) hasWarmup() bool {
	return slices.ContainsFunc(d.Rows, func(row *timelineRow) bool {
		return slices.ContainsFunc(row.Stages, func(stage *timelineRun) bool {
			return slices.ContainsFunc(stage.Items, func(item []int64) bool { return item[7] == 1 })
		})
	})
}

// script writes the data for an element of the page. Only < can end the element; other signs of HTML stay, since names are full of them.
func (d *TimelineData) script() (template.JS, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return "", err
	}
	return template.JS(strings.ReplaceAll(text.String(), "<", `\u003c`)), nil
}

// Fit makes the table of gaps, as long as e says, each with where the timeline shows it, and the legend of their causes.
func (figure *TimelineFigure) Fit(e table.Excerpt, names map[string]string) error {
	f := figure.gaps
	gaps, err := gapRows.Of(f)
	if err != nil || len(gaps) == 0 {
		return err
	}
	if figure.Gaps, err = table.NewView(f, "Longest idle gaps", e, names); err != nil {
		return err
	}
	causes := map[string]bool{}
	for i, g := range gaps {
		causes[g.Cause] = true
		start, long := figure.data.start(g.SourceID, g.StartNs), g.DurationNs
		if i < len(figure.Gaps.Rows) {
			figure.Gaps.Rows[i][0].Jump = jumpTo(start-long, start+2*long)
		}
	}
	figure.Legend = slices.DeleteFunc(slices.Clone(terms.Parts), func(p terms.Part) bool { return !causes[p.Name] })
	return nil
}

func (figure *TimelineFigure) addQueries(frames ...*frame.Frame) {
	for _, f := range frames {
		if f == nil {
			continue
		}
		figure.Queries = append(figure.Queries, [2]string{fmt.Sprintf("%s v%d", f.Query, f.Version), typeset.Whole(f.SQL)})
		for _, note := range f.Notes {
			if note = typeset.Neutral(note); !slices.Contains(figure.Notes, note) {
				figure.Notes = append(figure.Notes, note)
			}
		}
	}
}

// jumpTo is the part of an address that has the timeline show these nanoseconds, which may lie beside it.
func jumpTo(from, to int64) string { return fmt.Sprintf("#timeline=%d,%d", from, to) }

// timelineNames numbers the names of a timeline, so that each is in the page once.
type timelineNames struct {
	at    map[string]int64 // by whole name
	bytes int              // of the names so far
}

// How wide the names of a timeline are: whole up to wholeName columns, which most names of templates in C++ have not, as long as they take no
// more than wholeNames bytes together, then in short, then in brief, and after briefNames bytes only to be told apart. So a run with a new name
// for each kernel has no page of another size.
const (
	wholeName  = 1200
	wholeNames = 150_000
	shortName  = 110
	shortNames = 250_000
	briefName  = 40
	briefNames = 500_000
	leastName  = 12
)

// name returns the place of a name in the list of names.
func (d *TimelineData) name(text string) int64 {
	text = typeset.Neutral(text)
	at, known := d.names.at[text]
	if known {
		return at
	}
	most := wholeName
	switch {
	case d.names.bytes > briefNames:
		most = leastName
	case d.names.bytes > shortNames:
		most = briefName
	case d.names.bytes > wholeNames:
		most = shortName
	}
	short := typeset.Shorten(text, most, 60)
	at = int64(len(d.Names))
	d.names.at[text] = at
	d.names.bytes += len(short)
	d.Names = append(d.Names, short)
	return at
}

// work returns the place of a kind of work, which is a name in a lane: a kernel can be called like a copy.
func (d *TimelineData) work(name, lane string) int64 {
	key := [2]int64{d.name(name), d.name(lane)}
	at, known := d.workAt[key]
	if !known {
		at = int64(len(d.Works))
		d.workAt[key] = at
		d.Works = append(d.Works, key)
	}
	return at
}
