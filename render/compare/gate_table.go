package compare

import (
	"bytes"
	"io"

	"prof/queries/judge/gate"
	"prof/render/table"
	"prof/render/typeset"
)

// GateTable writes what rules say of a run for a terminal: the verdict, each rule, why each came out so, and what else differs from the
// baseline. Lines are fitted to o.Width; with o.Wide to nothing.
func GateTable(w io.Writer, r *gate.Result, o typeset.Options) error {
	var out bytes.Buffer
	typeset.Wrapped(&out, "", typeset.Neutral(r.Words), o.Limit(), func(s string) string {
		return typeset.Style(o, typeset.Bold)(typeset.Paint(o, gateTone(r.Outcome), s))
	})
	out.WriteString("\n")
	table.WriteFacts(&out, gateSides(r), o)
	out.WriteString("\n")
	dropped := gateTable(r).Write(&out, o)
	out.WriteString("\n")
	for _, c := range r.Checks {
		if reason := gateSeen(c); reason != "" {
			typeset.Wrapped(&out, "- ", typeset.Neutral(c.Subject)+": "+reason, o.Limit(), plainly)
		}
	}
	if t := gateDifferences(r); len(t.Rows) > 0 {
		out.WriteString("\n")
		dropped = append(dropped, t.Write(&out, o)...)
	}
	if told := toldDifferences(gateDiff(r)); told != "" {
		typeset.Wrapped(&out, "", "also changed: "+told, o.Limit(), typeset.Style(o, typeset.Dim))
	}
	for i, note := range r.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		typeset.Wrapped(&out, "note: ", typeset.Neutral(note), o.Limit(), plainly)
	}
	if len(dropped) > 0 {
		typeset.Wrapped(&out, "", table.HiddenColumns(dropped, "--wide"), o.Limit(), typeset.Style(o, typeset.Dim))
	}
	_, err := w.Write(out.Bytes())
	return err
}
