package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries"
)

// Findings writes the rows of the query findings for people: ranked, each with what it could save, the numbers it follows from, what
// to do about it and the command that shows more. Text wraps to o.Width; commands do not, so that they can be copied. Notes follow.
func Findings(w io.Writer, f *queries.Frame, o Options) error {
	if err := check(f); err != nil {
		return err
	}
	at, err := findingColumns(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, row := range f.Rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		writeFinding(&out, f, row, at, o)
	}
	if len(f.Rows) == 0 {
		writeWrapped(&out, "", "no rule finds time that could be saved", o.Width, style(o, dim))
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

// findingColumns gives the places of the columns that Findings shows.
func findingColumns(f *queries.Frame) (map[string]int, error) {
	at := map[string]int{}
	for _, name := range []string{"rank", "finding", "stage", "saving_ns", "share_ratio", "bound", "title", "evidence", "subject", "advice", "device", "device_count", "command"} {
		if at[name] = f.Index(name); at[name] < 0 {
			return nil, fmt.Errorf("render %s: it has no column %s", f.Query, name)
		}
	}
	return at, nil
}

// writeFinding writes one finding: a headline and lines indented under it.
func writeFinding(out *bytes.Buffer, f *queries.Frame, row []any, at map[string]int, o Options) {
	text := func(name string) string {
		if row[at[name]] == nil {
			return ""
		}
		return neutral(fmt.Sprint(row[at[name]]))
	}
	number := func(name string) string { return alone(f.Columns[at[name]], row[at[name]]) }
	stage := text("stage")
	if stage == "" {
		stage = "all device work"
	}
	where := ""
	if n, _ := row[at["device_count"]].(int64); n > 1 {
		where = fmt.Sprintf(" on GPU %s, where it is most of %d", text("device"), n)
	}
	lead := fmt.Sprintf("%2s  ", text("rank"))
	writeWrapped(out, lead, fmt.Sprintf("%s: %s %s, %s of the span%s", stage, text("bound"), number("saving_ns"), number("share_ratio"), where), o.Width, style(o, bold))
	indent := strings.Repeat(" ", len(lead))
	plain := style(Options{}, dim)
	writeWrapped(out, indent, fmt.Sprintf("%s (%s)", text("title"), text("finding")), o.Width, plain)
	if subject := text("subject"); subject != "" {
		writeWrapped(out, indent, subject, o.Width, plain)
	}
	writeWrapped(out, indent, text("evidence"), o.Width, plain)
	writeWrapped(out, indent+"try: ", text("advice"), o.Width, plain)
	out.WriteString(indent + "see: " + text("command") + "\n")
}

// alone shows one value with its unit, as it stands in a sentence.
func alone(c queries.Column, v any) string {
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
