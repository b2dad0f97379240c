package report

import (
	"bytes"
	"fmt"

	"prof/queries/judge"
	"prof/render/typeset"
)

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

// writeAdvice writes what was found with its number, then what to try; where something is to be captured, what and why.
func writeAdvice(out *bytes.Buffer, list []judge.Advice) {
	for i, a := range list {
		if a.Title == "" {
			fmt.Fprintf(out, "%d. **%s**  \n   %s  \n   See: %s\n", i+1, typeset.MarkdownText(a.Advice), typeset.MarkdownLine(a.Why), typeset.MarkdownSpan(a.Command))
			continue
		}
		where := ""
		if a.Stage != "" {
			where = typeset.MarkdownText(a.Stage) + ": "
		}
		fmt.Fprintf(out, "%d. **%s%s**  \n   %s  \n", i+1, where, typeset.MarkdownText(a.Title), typeset.MarkdownLine(a.Number))
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
