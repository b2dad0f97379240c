package chart

import (
	"fmt"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// timelineLink has the timeline show a stretch.
type timelineLink struct{ Label, Jump string }

// tonesDoc says what the colours of single pieces of work mean.
const tonesDoc = " Kernels have a tone of blue, green or grey by name, those that take most time the most different ones; collectives are orange, graph replays light green, copies pink."

// mostLinks is how many stretches the page names.
const mostLinks = 24

// windows says which work is drawn piece by piece, with a link to each stretch of it.
func (d *TimelineData) windows(f *frame.Frame) (string, []timelineLink, error) {
	if f == nil || len(f.Rows) == 0 {
		return "", nil, nil
	}
	windows, err := f.Records("source_id", "device", "stage", "pass", "start_ns", "end_ns", "work_count", "shown_count", "is_whole")
	if err != nil {
		return "", nil, err
	}
	all := true
	var said []string
	var links []timelineLink
	for _, w := range windows {
		all = all && w.Is("is_whole")
		label := d.windowName(w)
		links = append(links, timelineLink{label, jumpTo(d.start(w), d.start(w)+w.Count("end_ns")-w.Count("start_ns"))})
		if shown, work := w.Count("shown_count"), w.Count("work_count"); shown < work {
			label = fmt.Sprintf("the first %s of %s of %s", typeset.Int(shown), typeset.Int(work), label)
		}
		said = append(said, label)
	}
	if all {
		return "Zoom in to see every kernel, copy and graph replay by itself, in lines by stream." + tonesDoc, nil, nil
	}
	more := ""
	if len(links) > mostLinks {
		more = " and " + typeset.Int(int64(len(links)-mostLinks)) + " more"
		said, links = said[:mostLinks], links[:mostLinks]
	}
	return "Zoom in to see kernels, copies and graph replays one by one, in lines by stream: those of " + strings.Join(said, ", ") + more +
		" are in the page. Elsewhere work is drawn as blocks only." + tonesDoc, links, nil
}

// windowName says what a stretch is, and where it is if there are several GPUs.
func (d *TimelineData) windowName(w frame.Record) string {
	name := "the capture"
	if w.Value("stage") != nil {
		name = fmt.Sprintf("%s pass %d", typeset.Neutral(w.Text("stage")), w.Count("pass"))
	}
	if len(d.Rows) > 1 {
		name += fmt.Sprintf(" on GPU %d", w.Count("device"))
	}
	if len(d.sources) > 1 {
		name += fmt.Sprintf(" of source %d", w.Count("source_id"))
	}
	return name
}

// layKnown marks the stretches of each GPU whose work is in its streams.
func (d *TimelineData) layKnown(f *frame.Frame, rows map[[2]int64]*timelineRow) error {
	if f == nil {
		return nil
	}
	windows, err := f.Records("source_id", "device", "start_ns", "end_ns")
	if err != nil {
		return err
	}
	for _, w := range windows {
		if row := rows[placeOf(w)]; row != nil {
			row.Known = append(row.Known, [2]int64{d.start(w), d.start(w) + w.Count("end_ns") - w.Count("start_ns")})
		}
	}
	return nil
}

// placeOf is the source and GPU of a row.
func placeOf(r frame.Record) [2]int64 { return [2]int64{r.Count("source_id"), r.Count("device")} }

// bit is a flag as the page's script reads it.
func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
