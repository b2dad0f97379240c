package screen

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

// FindingSpans writes what findings are about, from the rows of the query accounting: the run's name, and a line for each stage on each
// GPU with its span and how much of that the GPU was busy; of a run without stages a line for each GPU. stage picks one as it does in
// findings; "" is all of them. Notes that the lines are to be read with follow.
func FindingSpans(w io.Writer, run, stage string, accounting *frame.Frame, notes []string, o typeset.Options) error {
	if err := accounting.Check(); err != nil {
		return err
	}
	spans, err := spansOf(accounting)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	typeset.Wrapped(&out, "", "run "+typeset.Neutral(run), o.Limit(), typeset.Style(o, typeset.Bold))
	share := frame.Column{Name: "busy_ratio", Type: frame.Float, Unit: frame.Ratio}
	for _, s := range spans {
		if stage != "" && stage != s.asked() || s.ns <= 0 {
			continue
		}
		line := fmt.Sprintf("%s: %s on GPU %d, busy %s", words.Stage(s.stage), words.Span(typeset.Value(frame.Column{Name: "span_ns", Type: frame.Int, Unit: frame.Ns}, s.ns), s.stage, s.passes), s.device,
			typeset.Value(share, float64(s.busy)/float64(s.ns)))
		typeset.Wrapped(&out, "", line, o.Limit(), typeset.Style(typeset.Options{}, typeset.Dim))
	}
	for _, note := range notes {
		typeset.Wrapped(&out, "note: ", typeset.Neutral(note), o.Limit(), typeset.Style(o, typeset.Dim))
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// span is the time that findings of a stage on a GPU are shares of.
type span struct {
	stage            string // "" is all device work
	device           int64
	passes, ns, busy int64
}

// asked is how findings are asked for the stage.
func (s span) asked() string {
	return cmp.Or(s.stage, "(none)")
}

// spansOf adds up the parts of each stage on each GPU: of stages where the run has any, else of the whole run.
func spansOf(f *frame.Frame) ([]span, error) {
	records, err := f.Records("stage", "device", "kind", "total_ns", "passes", "span_total_ns")
	if err != nil {
		return nil, err
	}
	var stages, whole []span
	for _, r := range records {
		list, s := &stages, span{stage: r.Text("stage"), device: r.Count("device"), passes: r.Count("passes"), ns: r.Count("span_total_ns")}
		if s.stage == words.WholeRun {
			list, s.stage = &whole, ""
		}
		last := len(*list) - 1
		if last < 0 || (*list)[last].stage != s.stage || (*list)[last].device != s.device { // rows are in this order
			*list = append(*list, s)
			last++
		}
		if r.Text("kind") == "busy" {
			(*list)[last].busy += r.Count("total_ns")
		}
	}
	if len(stages) > 0 {
		return stages, nil
	}
	return whole, nil
}

// Findings writes findings for people: ranked, each with what it could save, the numbers it follows from, what
// to do about it and the commands that show more. Text wraps to o.Width; commands do not, so that they can be copied. The notes
// of their answer follow.
func Findings(w io.Writer, findings []judge.Finding, f *frame.Frame, o typeset.Options) error {
	list := words.Findings(findings)
	var out bytes.Buffer
	for i, x := range list {
		if i > 0 {
			out.WriteByte('\n')
		}
		writeFinding(&out, x, o)
	}
	if len(list) == 0 {
		typeset.Wrapped(&out, "", words.NoFindings(f), o.Limit(), typeset.Style(o, typeset.Dim))
	}
	for i, note := range f.Notes {
		if i == 0 {
			out.WriteByte('\n')
		}
		typeset.Wrapped(&out, "note: ", typeset.Neutral(note), o.Limit(), typeset.Style(o, typeset.Dim))
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeFinding writes one finding: a headline and lines indented under it.
func writeFinding(out *bytes.Buffer, x words.Finding, o typeset.Options) {
	lead := fmt.Sprintf("%2s  ", x.Rank)
	typeset.Wrapped(out, lead, x.Headline, o.Limit(), typeset.Style(o, typeset.Bold))
	indent := strings.Repeat(" ", len(lead))
	plain := typeset.Style(typeset.Options{}, typeset.Dim)
	typeset.Wrapped(out, indent, fmt.Sprintf("%s (%s)", x.Title, x.Rule), o.Limit(), plain)
	if x.Subject != "" {
		typeset.Wrapped(out, indent, x.Subject, o.Limit(), plain)
	}
	typeset.Wrapped(out, indent, x.Evidence, o.Limit(), plain)
	typeset.Wrapped(out, indent+"try: ", x.Advice, o.Limit(), plain)
	out.WriteString(indent + "see: " + x.Command + "\n")
	if x.Detail != "" {
		out.WriteString(indent + "     " + x.Detail + "\n")
	}
}
