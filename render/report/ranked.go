package report

import (
	"bytes"
	"fmt"
	"regexp"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// Columns of the tables of files, with names whole.
func code(title string) table.Column   { return table.Column{Title: title, Code: true, Full: true} }
func plain(title string) table.Column  { return table.Column{Title: title, Full: true} }
func number(title string) table.Column { return table.Column{Title: title, Right: true, Full: true} }

// asked is the number of rows that a statement asks for; it is the only place in an answer that says so.
var asked = regexp.MustCompile(`\btop := (\d+)`)

// count is the line of the original that says how many rows there are, and how many were asked for.
func count(answer *frame.Frame) string {
	k := "the query's own"
	if m := asked.FindStringSubmatch(answer.SQL); m != nil {
		if k = m[1]; k == "0" {
			k = "all"
		}
	}
	return fmt.Sprintf("Rows: %d (k=%s)", len(answer.Rows), k)
}

// writeRanked writes a table of the rows that took most, as operators.md and kernels.md have it. The lines below it say what the columns
// mean, and what the figures are to be read with.
func writeRanked(out *bytes.Buffer, title string, answer *frame.Frame, t table.Table, below []string) {
	out.WriteString("# " + title + "\n\n" + count(answer) + "\n\n")
	t.Markdown(out)
	out.WriteString("\n")
	for _, line := range below {
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(line)) + "\n")
	}
	writeNotes(out, answer)
	fmt.Fprintf(out, "- Query %s: %s\n", typeset.MarkdownText(sourceOf(answer)), typeset.MarkdownCode(typeset.Whole(answer.SQL)))
}

// writeNone writes a file that has no rows: why there are none.
func writeNone(out *bytes.Buffer, title, why string, answer *frame.Frame) {
	out.WriteString("# " + title + "\n\n" + typeset.MarkdownLine(typeset.Neutral(why)) + "\n")
	if answer != nil && len(answer.Notes) > 0 {
		out.WriteString("\n")
		writeNotes(out, answer)
	}
}

func writeNotes(out *bytes.Buffer, answer *frame.Frame) {
	for _, note := range answer.Notes {
		out.WriteString("- Note: " + typeset.MarkdownText(typeset.Neutral(note)) + "\n")
	}
}
