package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
)

// ReportMarkdown writes a report in GitHub's Markdown: facts of the run, then each section with the query that gives it. What is
// missing is said in its place.
func ReportMarkdown(w io.Writer, r *judge.Report) error {
	var out bytes.Buffer
	out.WriteString("# " + markdownLine(neutral(reportTitle(r))) + "\n\n")
	for _, p := range r.Facts {
		fmt.Fprintf(&out, "- %s: %s\n", markdownText(neutral(p[0])), markdownText(neutral(p[1])))
	}
	g, err := newGlance(r)
	if err != nil {
		return err
	}
	if g != nil {
		writeGlance(&out, g)
	}
	shared := sharedNotes(sectionNotes(r.Sections, false)...)
	writeSharedNotes(&out, shared)
	var footnotes bytes.Buffer
	for _, s := range r.Sections {
		if s.Page {
			continue
		}
		out.WriteString("\n## " + markdownText(s.Title) + "\n\n")
		if s.Missing != "" {
			out.WriteString("Not known: " + markdownLine(missingText(r, s)) + "\n")
			continue
		}
		if s.Hint != "" {
			out.WriteString(markdownLine(neutral(s.Hint)) + "\n\n")
		}
		if err := writeSection(&out, s, shared); err != nil {
			return err
		}
		fmt.Fprintf(&out, "\nQuery %s v%d[^%s]\n", markdownText(s.Frame.Query), s.Frame.Version, s.ID)
		fmt.Fprintf(&footnotes, "[^%s]: %s v%d: %s\n", s.ID, markdownText(s.Frame.Query), s.Frame.Version, markdownSpan(s.Frame.SQL))
	}
	if footnotes.Len() > 0 {
		out.WriteString("\n" + footnotesLead + "\n\n" + footnotes.String())
	}
	_, err = w.Write(out.Bytes())
	return err
}

// footnotesLead stands before the footnotes, which GitHub moves to the end of the page.
const footnotesLead = "Footnotes hold the statement behind each table: paste it into `prof sql`, or into any DuckDB client on the warehouse."

// writeSharedNotes writes the notes that hold for several sections, numbered.
func writeSharedNotes(out *bytes.Buffer, shared []string) {
	if len(shared) == 0 {
		return
	}
	out.WriteString("\n## " + sharedTitle + "\n\n")
	for i, note := range shared {
		fmt.Fprintf(out, "%d. %s\n", i+1, markdownLine(note))
	}
}

// writeSection writes a section, and which of the shared notes hold for it.
func writeSection(out *bytes.Buffer, s judge.Section, shared []string) error {
	f := *s.Frame
	var others string
	f.Notes, others = ownNotes(notesOf(s.Frame), shared)
	if err := writeFrame(out, &f); err != nil || others == "" {
		return err
	}
	out.WriteString("\nSee " + others + " of \"" + sharedTitle + "\" above.\n")
	return nil
}

// writeFrame writes a table, after its picture where it has one.
func writeFrame(out *bytes.Buffer, f *frame.Frame) error {
	switch {
	case f.Query == "accounting":
		bars, err := barsOf(f)
		if err != nil {
			return err
		}
		first, left := firstOf(bars, mostBars)
		out.WriteString(markdownBlock(textBars(first)) + "\n")
		if left > 0 {
			out.WriteString(barsLeftOut(left) + "\n\n")
		}
	case f.Query == "findings":
		return writeMarkdownFindings(out, f)
	case len(f.Rows) == 0: // which is an answer here
		out.WriteString("None.\n")
		return nil
	}
	first, left := markdownExcerpt.of(f)
	if err := Markdown(out, first, Options{}); err != nil || left == "" {
		return err
	}
	out.WriteString("\n" + left + "\n")
	return nil
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

func reportTitle(r *judge.Report) string { return "Run " + r.Name }

// missingText is why a section has no rows: of all that its query notes, what is about that.
func missingText(r *judge.Report, s judge.Section) string {
	if r.Frame(s.ID) == nil {
		return neutral(s.Missing)
	}
	return neutral(whyNone(r, s.ID))
}
