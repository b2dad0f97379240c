package compare

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries/judge/gate"
	"prof/render/typeset"
)

// gateSigns are seen in a list of pull requests before they are read.
var gateSigns = map[gate.Outcome]string{gate.Holds: "✅", gate.Broken: "❌", gate.CannotTell: "❔"}

// GateMarkdown writes what GateTable says for a pull request or the summary of a job: rules that do not hold first and in full, what is
// said of the others folded away.
func GateMarkdown(w io.Writer, r *gate.Result, _ typeset.Options) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "## %s prof check\n\n**%s**\n\n", gateSigns[r.Outcome], typeset.MarkdownText(typeset.Neutral(r.Words)))
	for _, f := range gateSides(r) {
		fmt.Fprintf(&out, "- %s: %s\n", f[0], typeset.MarkdownText(f[1]))
	}
	out.WriteString("\n")
	writeGateRows(&out, r)
	writeGateReasons(&out, "\n", r, func(o gate.Outcome) bool { return o == gate.Broken })
	writeGateReasons(&out, "\n", r, func(o gate.Outcome) bool { return o == gate.CannotTell })
	if t := gateDifferences(r); len(t.Rows) > 0 {
		out.WriteString("\n### Other differences from the baseline\n\n")
		t.Markdown(&out)
	}
	if told := toldDifferences(gateDiff(r)); told != "" {
		fmt.Fprintf(&out, "\nAlso changed: %s\n", typeset.MarkdownText(told))
	}
	var held bytes.Buffer
	writeGateReasons(&held, "", r, func(o gate.Outcome) bool { return o == gate.Holds })
	title := "Rules that hold, and notes"
	switch {
	case held.Len() == 0:
		title = "Notes"
	case len(r.Notes) == 0:
		title = "Rules that hold"
	}
	for i, note := range r.Notes {
		if i == 0 && held.Len() > 0 {
			held.WriteString("\n")
		}
		fmt.Fprintf(&held, "- %s\n", typeset.MarkdownLine(typeset.Neutral(note)))
	}
	if held.Len() > 0 {
		fmt.Fprintf(&out, "\n<details>\n<summary>%s</summary>\n\n%s\n</details>\n", title, held.Bytes())
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeGateRows writes the table of the rules, with a sign before each outcome.
func writeGateRows(out *bytes.Buffer, r *gate.Result) {
	t := gateTable(r)
	for i, c := range r.Checks {
		t.Rows[i][0].Text = gateSigns[c.Outcome] + " " + string(c.Outcome)
		if c.Outcome != gate.Broken {
			t.Rows[i][0].Tone = "" // what is bold is to be looked at
		}
	}
	t.Markdown(out)
}

// writeGateReasons writes a list of why rules of some outcomes came out so, behind lead.
func writeGateReasons(out *bytes.Buffer, lead string, r *gate.Result, of func(gate.Outcome) bool) {
	for _, c := range r.Checks {
		reason := gateReason(c)
		if !of(c.Outcome) || reason == "" {
			continue
		}
		see := ""
		if c.See != "" {
			see = "; see: " + typeset.MarkdownSpan(typeset.Neutral(c.See))
		}
		fmt.Fprintf(out, "%s- %s %s: %s%s\n", lead, gateSigns[c.Outcome], typeset.MarkdownSpan(typeset.Neutral(c.Subject)), typeset.MarkdownText(reason), see)
		lead = ""
	}
}
