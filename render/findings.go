package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
)

// Findings writes the rows of the query findings for people: ranked, each with what it could save, the numbers it follows from, what
// to do about it and the commands that show more. Text wraps to o.Width; commands do not, so that they can be copied. Notes follow.
func Findings(w io.Writer, f *frame.Frame, o Options) error {
	if err := check(f); err != nil {
		return err
	}
	list, err := findingsOf(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, x := range list {
		if i > 0 {
			out.WriteByte('\n')
		}
		writeFinding(&out, x, o)
	}
	if len(list) == 0 {
		writeWrapped(&out, "", noFindings, o.Width, style(o, dim))
	}
	for i, note := range f.Notes {
		if i == 0 {
			out.WriteByte('\n')
		}
		writeWrapped(&out, "note: ", neutral(note), o.Width, style(o, dim))
	}
	_, err = w.Write(out.Bytes())
	return err
}

// findingColumns gives the places of the columns that findings are worded from.
func findingColumns(f *frame.Frame) (map[string]int, error) {
	return columnsOf(f, "rank", "finding", "stage", "saving_ns", "share_ratio", "bound", "title", "evidence", "subject", "advice", "device", "device_count", "run_device_count", "passes", "span_ns", "command", "detail_command")
}

// writeFinding writes one finding: a headline and lines indented under it.
func writeFinding(out *bytes.Buffer, x finding, o Options) {
	lead := fmt.Sprintf("%2s  ", x.Rank)
	writeWrapped(out, lead, x.Headline, o.Width, style(o, bold))
	indent := strings.Repeat(" ", len(lead))
	plain := style(Options{}, dim)
	writeWrapped(out, indent, fmt.Sprintf("%s (%s)", x.Title, x.Rule), o.Width, plain)
	if x.Subject != "" {
		writeWrapped(out, indent, x.Subject, o.Width, plain)
	}
	writeWrapped(out, indent, x.Evidence, o.Width, plain)
	writeWrapped(out, indent+"try: ", x.Advice, o.Width, plain)
	out.WriteString(indent + "see: " + x.Command + "\n")
	if x.Detail != "" {
		out.WriteString(indent + "     " + x.Detail + "\n")
	}
}

// alone shows one value with its unit, as it stands in a sentence.
func alone(c frame.Column, v any) string {
	var x float64
	switch n := v.(type) {
	case int64:
		x = float64(n)
	case float64:
		x = n
	default:
		return null
	}
	s := scaleOf(c, []float64{x})
	if s.name != "" && s.name != "%" && s.decimals > 0 { // three digits are enough of one number
		s.decimals = decimalsFor(x/s.div, 3)
	}
	if s.name == "" {
		return s.number(v)
	}
	return s.number(v) + " " + s.name
}
