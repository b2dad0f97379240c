package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/judge/gate"
)

// GateTable writes what rules say of a run for a terminal: the verdict, each rule, why each came out so, and what else differs from the
// baseline. Lines are fitted to o.Width, or to 140 columns when that is not known; with o.Wide to nothing.
func GateTable(w io.Writer, r *gate.Result, o Options) error {
	if o.Width <= 0 {
		o.Width = diffWidth
	}
	plain := style(Options{}, "")
	var out bytes.Buffer
	writeWrapped(&out, "", neutral(r.Words), o.limit(), func(s string) string {
		return style(o, bold)(paintWith(o, gateTone(r.Outcome), s, true))
	})
	out.WriteString("\n")
	writeScreenFacts(&out, gateSides(r), o)
	out.WriteString("\n")
	dropped := writeDiffTable(&out, gateTable(r), o)
	out.WriteString("\n")
	for _, c := range r.Checks {
		if reason := gateSeen(c); reason != "" {
			writeWrapped(&out, "- ", neutral(c.Subject)+": "+reason, o.limit(), plain)
		}
	}
	if t := gateDifferences(r); len(t.rows) > 0 {
		out.WriteString("\n")
		dropped = append(dropped, writeDiffTable(&out, t, o)...)
	}
	if told := toldDifferences(gateDiff(r)); told != "" {
		writeWrapped(&out, "", "changed as well: "+told, o.limit(), style(o, dim))
	}
	for i, note := range r.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		writeWrapped(&out, "note: ", neutral(note), o.limit(), plain)
	}
	if len(dropped) > 0 {
		writeWrapped(&out, "", fmt.Sprintf("left out to fit %d columns of text: %s; --wide shows all", o.Width, strings.Join(unique(dropped), ", ")), o.limit(), style(o, dim))
	}
	_, err := w.Write(out.Bytes())
	return err
}
