package report

import (
	"bytes"
	"fmt"

	"prof/queries/judge"
	"prof/render/typeset"
)

// writeGlance writes what a report says first, at the top of report.md.
func writeGlance(out *bytes.Buffer, g *glance) {
	out.WriteString("\n## At a glance\n\n" + typeset.MarkdownLine(g.Lead) + "\n")
	if len(g.Stages) > 0 {
		t := figures("stage", "time per pass", "share", "GPU busy", "MFU", "MBU", "tokens/s", "bound")
		t.Columns[1].Right, t.Columns[7].Right = false, false
		for _, s := range g.Stages {
			t.AddRow(s.Name, s.Time, s.Share, s.Busy, s.MFU, s.MBU, s.Tokens, s.Bound)
		}
		out.WriteString("\n")
		t.Markdown(out)
		out.WriteString("\n")
		for _, s := range g.Stages {
			fmt.Fprintf(out, "- **%s**, %s: %s. See %s\n", typeset.MarkdownText(s.Name), typeset.MarkdownText(s.Bound), typeset.MarkdownText(s.whole()), typeset.MarkdownSpan(s.Command))
		}
	}
	writeBreakdown(out, g.Breakdown)
	for i, k := range g.Kernels {
		if i == 0 {
			out.WriteString("\nThe kernels that take most time, warm-up included:\n\n")
		}
		fmt.Fprintf(out, "%d. %s  \n   %s\n", i+1, typeset.MarkdownSpan(k.Short), typeset.MarkdownLine(k.Words))
	}
	if len(g.Kernels) > 0 {
		fmt.Fprintf(out, "\nSee %s\n", typeset.MarkdownSpan(g.Kernels[0].Command))
	}
	if len(g.Advice) > 0 {
		out.WriteString("\nWhat to do first:\n\n")
		writeAdvice(out, g.Advice, true)
	}
	writeDoubts(out, "\nCaveats:\n\n", g.Doubts)
}

func writeBreakdown(out *bytes.Buffer, list []glanceCategory) {
	if len(list) == 0 {
		return
	}
	out.WriteString("\nMost of the time goes to:\n\n")
	for i, c := range list {
		fmt.Fprintf(out, "%d. %s, in %s: %s, %s of the measured time\n", i+1, typeset.MarkdownText(c.Words), typeset.MarkdownText(c.Stage), c.Time, c.Share)
	}
	fmt.Fprintf(out, "\nSee %s\n", typeset.MarkdownSpan(list[0].Command))
}

// writeAdvice writes what was found with its number, then what to try; where something is to be captured, what and why. With its evidence
// it says what the number follows from.
func writeAdvice(out *bytes.Buffer, list []judge.Advice, withEvidence bool) {
	for i, a := range list {
		if a.Title == "" {
			fmt.Fprintf(out, "%d. **%s**  \n   %s  \n   See: %s\n", i+1, typeset.MarkdownText(a.Advice), typeset.MarkdownLine(a.Why), typeset.MarkdownSpan(a.Command))
			continue
		}
		where, number := "", a.Number
		if a.Stage != "" {
			where = typeset.MarkdownText(a.Stage) + ": "
		}
		if withEvidence {
			number = a.Why
		}
		fmt.Fprintf(out, "%d. **%s%s**  \n   %s  \n", i+1, where, typeset.MarkdownText(a.Title), typeset.MarkdownLine(number))
		if a.Subject != "" {
			fmt.Fprintf(out, "   %s  \n", typeset.MarkdownSpan(a.Subject))
		}
		fmt.Fprintf(out, "   Try: %s  \n   See: %s\n", typeset.MarkdownText(a.Advice), typeset.MarkdownSpan(a.Command))
	}
}

func writeDoubts(out *bytes.Buffer, title string, list []string) {
	if len(list) == 0 {
		return
	}
	out.WriteString(title)
	for _, d := range list {
		out.WriteString("- " + typeset.MarkdownLine(d) + "\n")
	}
}
