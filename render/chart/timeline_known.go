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

// windows returns which work is drawn piece by piece, with a link to each stretch of it.
func (d *TimelineData) windows(windows []windowRow) (string, []timelineLink) {
	if len(windows) == 0 {
		return "", nil
	}
	all := true
	type stretch struct {
		windowRow
		start, end int64
		gpus       int
	}
	var list []*stretch // of several GPUs one for each pass
	type passOf struct {
		source, pass int64
		stage        string
	}
	known := map[passOf]*stretch{}
	for _, w := range windows {
		all = all && w.IsWhole
		key := passOf{w.SourceID, frame.Or(w.Pass, -1), w.Stage}
		start, end := d.start(w.SourceID, w.StartNs), d.start(w.SourceID, w.EndNs)
		x := known[key]
		if x == nil {
			list = append(list, &stretch{windowRow: w, start: start, end: end, gpus: 1})
			known[key] = list[len(list)-1]
			continue
		}
		x.start, x.end, x.gpus = min(x.start, start), max(x.end, end), x.gpus+1
		x.WorkCount, x.ShownCount = x.WorkCount+w.WorkCount, x.ShownCount+w.ShownCount
	}
	var said []string
	var links []timelineLink
	for _, x := range list {
		label := d.windowName(x.windowRow, x.gpus)
		links = append(links, timelineLink{label, jumpTo(x.start, x.end)})
		if shown, work := x.ShownCount, x.WorkCount; shown < work {
			label = fmt.Sprintf("the first %s of %s of %s", typeset.Int(shown), typeset.Int(work), label)
		}
		said = append(said, label)
	}
	if all {
		return "Zoom in to see every kernel, copy and graph replay by itself, in lines by stream." + tonesDoc, nil
	}
	more := ""
	if len(links) > mostLinks {
		more = " and " + typeset.Int(int64(len(links)-mostLinks)) + " more"
		said, links = said[:mostLinks], links[:mostLinks]
	}
	return "Zoom in to see kernels, copies and graph replays one by one, in lines by stream: those of " + strings.Join(said, ", ") + more +
		" are in the page. Elsewhere work is drawn as blocks only." + tonesDoc, links
}

// windowName returns what a stretch is, and on which of several GPUs if it is not on all of them.
func (d *TimelineData) windowName(w windowRow, gpus int) string {
	name := "the capture"
	if w.Stage != "" {
		name = fmt.Sprintf("%s pass %d", typeset.Neutral(w.Stage), frame.Or(w.Pass, 0))
	}
	switch {
	case gpus > 1 && gpus < len(d.Rows):
		name += fmt.Sprintf(" on %d GPUs", gpus)
	case gpus < len(d.Rows):
		name += fmt.Sprintf(" on GPU %d", w.Device)
	}
	if len(d.sources) > 1 {
		name += fmt.Sprintf(" of source %d", w.SourceID)
	}
	return name
}

// layKnown marks the stretches of each GPU whose work is in its streams.
func (d *TimelineData) layKnown(windows []windowRow, rows map[place]*timelineRow) {
	for _, w := range windows {
		if row := rows[w.place]; row != nil {
			row.Known = append(row.Known, [2]int64{d.start(w.SourceID, w.StartNs), d.start(w.SourceID, w.EndNs)})
		}
	}
}

// bit is a flag as the page's script reads it.
func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
