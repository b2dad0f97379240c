package render

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries"
)

// ReportMarkdown writes a report in GitHub's Markdown: facts of the run, then each section with the query that gives it. What is
// missing is said in its place.
func ReportMarkdown(w io.Writer, title string, facts [][2]string, sections []queries.Section) error {
	var out bytes.Buffer
	out.WriteString("# " + markdownLine(neutral(title)) + "\n\n")
	for _, p := range facts {
		fmt.Fprintf(&out, "- %s: %s\n", markdownText(neutral(p[0])), markdownText(neutral(p[1])))
	}
	for _, s := range sections {
		out.WriteString("\n## " + s.Title + "\n\n")
		if s.Missing != "" {
			out.WriteString("Not known: " + markdownLine(neutral(s.Missing)) + "\n")
			continue
		}
		if err := Markdown(&out, s.Frame, Options{}); err != nil {
			return err
		}
		fmt.Fprintf(&out, "\nQuery %s v%d: %s\n", markdownText(s.Frame.Query), s.Frame.Version, markdownCode(s.Frame.SQL))
	}
	_, err := w.Write(out.Bytes())
	return err
}
