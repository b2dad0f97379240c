package render

import (
	"bytes"
	"fmt"

	"prof/queries/judge"
)

// writeGlance writes what a report says first, at the top of report.md.
func writeGlance(out *bytes.Buffer, g *glance) {
	out.WriteString("\n## At a glance\n\n" + markdownLine(g.Lead) + "\n")
	if len(g.Stages) > 0 {
		out.WriteString("\n")
		writeMarkdownRow(out, []string{"stage", "time of a pass", "share", "GPU works", "MFU", "MBU", "tokens/s", "bound"})
		writeMarkdownRow(out, []string{"---", "---", "---:", "---:", "---:", "---:", "---:", "---"})
		for _, s := range g.Stages {
			writeMarkdownRow(out, []string{markdownText(s.Name), s.Time, s.Share, s.Busy, s.MFU, s.MBU, s.Tokens, markdownText(s.Bound)})
		}
		out.WriteString("\n")
		for _, s := range g.Stages {
			fmt.Fprintf(out, "- **%s**, %s: %s. See %s\n", markdownText(s.Name), markdownText(s.Bound), markdownText(s.whole()), markdownSpan(s.Command))
		}
	}
	writeCentres(out, "\nMost of the time goes to:\n\n", g.Centres)
	for i, k := range g.Kernels {
		if i == 0 {
			out.WriteString("\nThe kernels that take most, warm-up included:\n\n")
		}
		fmt.Fprintf(out, "%d. %s  \n   %s\n", i+1, markdownSpan(k.Short), markdownLine(k.Words))
	}
	if len(g.Kernels) > 0 {
		fmt.Fprintf(out, "\nSee %s\n", markdownSpan(g.Kernels[0].Command))
	}
	if len(g.Advice) > 0 {
		out.WriteString("\nTo try, or to find out, first:\n\n")
		writeAdvice(out, g.Advice, true)
	}
	writeDoubts(out, "\nTo be read with:\n\n", g.Doubts)
}

func writeCentres(out *bytes.Buffer, title string, list []glanceCentre) {
	if len(list) == 0 {
		return
	}
	out.WriteString(title)
	for i, c := range list {
		fmt.Fprintf(out, "%d. %s, in %s: %s, %s of the measured time\n", i+1, markdownText(c.Words), markdownText(c.Stage), c.Time, c.Share)
	}
	fmt.Fprintf(out, "\nSee %s\n", markdownSpan(list[0].Command))
}

// writeAdvice writes what was found with its number, then what to try; where something is to be captured, what and why. With its evidence
// it says what the number follows from.
func writeAdvice(out *bytes.Buffer, list []judge.Advice, withEvidence bool) {
	for i, a := range list {
		if a.Title == "" {
			fmt.Fprintf(out, "%d. **%s**  \n   %s  \n   See: %s\n", i+1, markdownText(a.Text), markdownLine(a.Why), markdownSpan(a.Command))
			continue
		}
		where, number := "", a.Number
		if a.Stage != "" {
			where = markdownText(a.Stage) + ": "
		}
		if withEvidence {
			number = a.Why
		}
		fmt.Fprintf(out, "%d. **%s%s**  \n   %s  \n", i+1, where, markdownText(a.Title), markdownLine(number))
		if a.Subject != "" {
			fmt.Fprintf(out, "   %s  \n", markdownSpan(a.Subject))
		}
		fmt.Fprintf(out, "   Try: %s  \n   See: %s\n", markdownText(a.Text), markdownSpan(a.Command))
	}
}

func writeDoubts(out *bytes.Buffer, title string, list []string) {
	if len(list) == 0 {
		return
	}
	out.WriteString(title)
	for _, d := range list {
		out.WriteString("- " + markdownLine(d) + "\n")
	}
}
