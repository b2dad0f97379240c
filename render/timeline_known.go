package render

import (
	"fmt"
	"strings"

	"prof/queries/frame"
)

// timelineLink has the timeline show a stretch.
type timelineLink struct{ Label, Jump string }

// tonesDoc says what the colours of single pieces of work mean.
const tonesDoc = " Kernels have a tone of blue, green or grey by name, those that take most time the most different ones; collectives are orange, graph replays light green, copies pink."

// mostLinks is how many stretches the page names.
const mostLinks = 24

// windows says which work is drawn piece by piece, with a link to each stretch of it.
func (d *timelineData) windows(f *frame.Frame) (string, []timelineLink, error) {
	if f == nil || len(f.Rows) == 0 {
		return "", nil, nil
	}
	windows, err := recordsOf(f, "source_id", "device", "stage", "pass", "start_ns", "end_ns", "work_count", "shown_count", "is_whole")
	if err != nil {
		return "", nil, err
	}
	all := true
	var said []string
	var links []timelineLink
	for _, w := range windows {
		all = all && w.flag("is_whole") == 1
		label := d.windowName(w)
		links = append(links, timelineLink{label, jumpTo(d.start(w), d.start(w)+w.int("end_ns")-w.int("start_ns"))})
		if shown, work := w.int("shown_count"), w.int("work_count"); shown < work {
			label = fmt.Sprintf("the first %s of %s of %s", groupedInt(shown), groupedInt(work), label)
		}
		said = append(said, label)
	}
	if all {
		return "Zoom in to see every kernel, copy and graph replay by itself, in lines by stream." + tonesDoc, nil, nil
	}
	more := ""
	if len(links) > mostLinks {
		more = " and " + groupedInt(int64(len(links)-mostLinks)) + " more"
		said, links = said[:mostLinks], links[:mostLinks]
	}
	return "Zoom in to see kernels, copies and graph replays one by one, in lines by stream: those of " + strings.Join(said, ", ") + more +
		" are in the page. Elsewhere work is drawn as blocks only." + tonesDoc, links, nil
}

// windowName says what a stretch is, and where it is if there are several GPUs.
func (d *timelineData) windowName(w record) string {
	name := "the capture"
	if w.value("stage") != nil {
		name = fmt.Sprintf("%s pass %d", neutral(w.text("stage")), w.int("pass"))
	}
	if len(d.Rows) > 1 {
		name += fmt.Sprintf(" on GPU %d", w.int("device"))
	}
	if len(d.sources) > 1 {
		name += fmt.Sprintf(" of source %d", w.int("source_id"))
	}
	return name
}

// layKnown marks the stretches of each GPU whose work is in its streams.
func (d *timelineData) layKnown(f *frame.Frame, rows map[[2]int64]*timelineRow) error {
	if f == nil {
		return nil
	}
	windows, err := recordsOf(f, "source_id", "device", "start_ns", "end_ns")
	if err != nil {
		return err
	}
	for _, w := range windows {
		if row := rows[w.place()]; row != nil {
			row.Known = append(row.Known, [2]int64{d.start(w), d.start(w) + w.int("end_ns") - w.int("start_ns")})
		}
	}
	return nil
}
