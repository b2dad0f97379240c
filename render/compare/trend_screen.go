package compare

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries/judge/trend"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// How much of a trend a terminal shows.
const (
	sparkCells   = 48
	seriesSaid   = 8  // series with a line each
	changesSaid  = 12 // changes, the latest
	stateColumns = 44 // what stands beside a line of text, about
	otherLabel   = 20 // columns of the label of a series that is not the latest
)

// TrendTable writes a trend for a terminal: what is followed, a line for each stage, what changed, and the latest runs as rows, newest last.
// Lines are fitted to o.Width; with o.Wide nothing is shortened.
func TrendTable(w io.Writer, r *trend.Result, o TrendOptions) error {
	var out bytes.Buffer
	table.WriteFacts(&out, trendFacts(r, o), o.Options)
	out.WriteString("\n")
	writeSparklines(&out, r, o)
	out.WriteString("\n")
	writeTrendChanges(&out, r, o)
	f, left := trendFrame(r, o.Last)
	f.Notes = words.TrendNotes(r, left)
	out.WriteString("\n")
	if err := table.Terminal(&out, f, o.Options); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeSparklines writes a line for each series, below a line that says what its parts are.
func writeSparklines(out *bytes.Buffer, r *trend.Result, o TrendOptions) {
	list, left := typeset.FirstOf(r.Series, seriesSaid)
	labels, values, most := make([]string, len(list)), make([]string, len(list)), [2]int{typeset.Width(seriesHead(r)), typeset.Width(levelHead)}
	for i := range list {
		labels[i], values[i] = words.SeriesLabel(r, i), words.LevelNow(r, i)
		if !list[i].Latest {
			labels[i] = typeset.Shorten(labels[i], max(otherLabel, o.Limit()/4), 60)
		}
		most[0], most[1] = max(most[0], typeset.Width(labels[i])), max(most[1], typeset.Width(values[i]))
	}
	cells := sparkCells
	if room := o.Limit(); room > 0 {
		cells = max(12, min(cells, room-most[0]-stateColumns))
	}
	points := min(cells, mostPoints(list))
	head := typeset.Pad(seriesHead(r), most[0], false) + "  " + typeset.Pad(typeset.Shorten(sparkHead, points, 60), points, false) + "  " + typeset.Pad(levelHead, most[1], true)
	out.WriteString(typeset.Style(o.Options, typeset.Dim)(head) + "\n")
	for i, s := range list {
		line := sparkline(pointValues(s), cells)
		fmt.Fprintf(out, "%s  %s  %s  ", typeset.Pad(labels[i], most[0], false), typeset.Pad(line, points, false), typeset.Pad(values[i], most[1], true))
		text := words.StateWords(r, i)
		if room := o.Limit(); room > 0 {
			text = typeset.Shorten(text, max(12, room-most[0]-most[1]-points-6), 60)
		}
		out.WriteString(text + "\n")
	}
	if left > 0 {
		typeset.Wrapped(out, "", fmt.Sprintf("and %s more: --format json or html has them", typeset.Plural(int64(left), "series", "series")), o.Limit(), typeset.Style(o.Options, typeset.Dim))
	}
}

// What the parts of a series' line are.
const (
	sparkHead = "oldest first"
	levelHead = "level now"
)

// seriesHead says what series are of.
func seriesHead(r *trend.Result) string {
	if r.Options.Metric.IsServing() {
		return "load"
	}
	return "stage"
}

// mostPoints is how many points the longest series has.
func mostPoints(list []trend.Series) int {
	most := 0
	for _, s := range list {
		most = max(most, len(s.Points))
	}
	return most
}

// writeTrendChanges writes what changed, oldest first.
func writeTrendChanges(out *bytes.Buffer, r *trend.Result, o TrendOptions) {
	if len(r.Changes) == 0 {
		typeset.Wrapped(out, "", words.NoChanges(r), o.Limit(), plainly)
		return
	}
	from := 0
	if len(r.Changes) > changesSaid && !o.Wide {
		from = len(r.Changes) - changesSaid
		typeset.Wrapped(out, "", fmt.Sprintf("%s not shown: --wide shows them", typeset.Plural(int64(from), "earlier change", "earlier changes")), o.Limit(), typeset.Style(o.Options, typeset.Dim))
	}
	for i, c := range r.Changes[from:] {
		lead := fmt.Sprintf("%2d  ", from+i+1)
		typeset.Wrapped(out, lead, words.ChangeHeadline(r, c), o.Limit(), typeset.Style(o.Options, typeset.Bold))
		for _, text := range []string{words.ChangeMoved(r, c), words.ChangeDiffers(c)} {
			if text != "" {
				typeset.Wrapped(out, "    ", text, o.Limit(), plainly)
			}
		}
	}
}
