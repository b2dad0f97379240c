package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

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
		if err := writeSection(&out, s.Frame); err != nil {
			return err
		}
		fmt.Fprintf(&out, "\nQuery %s v%d: %s\n", markdownText(s.Frame.Query), s.Frame.Version, markdownCode(s.Frame.SQL))
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeSection writes a table, after its picture where it has one.
func writeSection(out *bytes.Buffer, f *queries.Frame) error {
	switch f.Query {
	case "accounting":
		bars, err := barsOf(f)
		if err != nil {
			return err
		}
		out.WriteString(markdownBlock(textBars(bars)) + "\n")
	case "findings":
		if err := writeMarkdownFindings(out, f); err != nil {
			return err
		}
		return nil
	}
	return Markdown(out, f, Options{})
}

// markdownBlock gives text as a block of code, within a fence longer than any backticks in it.
func markdownBlock(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + text + fence + "\n"
}
