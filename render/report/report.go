// Package report writes the documents of one run: the page, Markdown, and the files of figures for other programs.
package report

import (
	"bytes"
	"fmt"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// writeMarkdown writes a report in GitHub's Markdown: facts of the run, then each section with the query that gives it. What is
// missing is said in its place.
func writeMarkdown(out *bytes.Buffer, r *reader) {
	out.WriteString("# " + typeset.MarkdownLine(typeset.Neutral(reportTitle(r.Report))) + "\n\n")
	for _, p := range r.Facts {
		fmt.Fprintf(out, "- %s: %s\n", escaped(p[0]), escaped(p[1]))
	}
	g, err := newGlance(r.Report)
	r.keep(err)
	if g != nil {
		writeGlance(out, g)
	}
	shared := words.SharedNotes(words.SectionNotes(r.Sections, false)...)
	writeSharedNotes(out, shared)
	var footnotes bytes.Buffer
	for _, s := range r.Sections {
		if s.Page {
			continue
		}
		out.WriteString("\n## " + typeset.MarkdownText(s.Title) + "\n\n")
		if s.Missing != "" {
			out.WriteString("Not known: " + typeset.MarkdownLine(r.missingText(s)) + "\n")
			continue
		}
		if s.Hint != "" {
			out.WriteString(typeset.MarkdownLine(typeset.Neutral(s.Hint)) + "\n\n")
		}
		r.keep(writeSection(out, s, shared))
		fmt.Fprintf(out, "\nQuery %s[^%s]\n", typeset.MarkdownText(sourceOf(s.Frame)), s.ID)
		fmt.Fprintf(&footnotes, "[^%s]: %s: %s\n", s.ID, typeset.MarkdownText(sourceOf(s.Frame)), typeset.MarkdownSpan(s.Frame.SQL))
	}
	if footnotes.Len() > 0 {
		out.WriteString("\n" + footnotesLead + "\n\n" + footnotes.String())
	}
}

// footnotesLead stands before the footnotes, which GitHub moves to the end of the page.
const footnotesLead = "Footnotes hold the statement behind each table: paste it into `prof sql`, or into any DuckDB client on the warehouse."

// writeSharedNotes writes the notes that hold for several sections, numbered.
func writeSharedNotes(out *bytes.Buffer, shared []string) {
	if len(shared) == 0 {
		return
	}
	out.WriteString("\n## " + words.SharedTitle + "\n\n")
	for i, note := range shared {
		fmt.Fprintf(out, "%d. %s\n", i+1, typeset.MarkdownLine(note))
	}
}

// writeSection writes a section, and which of the shared notes hold for it.
func writeSection(out *bytes.Buffer, s judge.Section, shared []string) error {
	f := *s.Frame
	var others string
	f.Notes, others = words.OwnNotes(words.NotesOf(s.Frame), shared)
	if err := writeFrame(out, s, &f); err != nil || others == "" {
		return err
	}
	out.WriteString("\nSee " + others + " of \"" + words.SharedTitle + "\" above.\n")
	return nil
}

// writeFrame writes the table of a section with its own notes, after its picture where it has one.
func writeFrame(out *bytes.Buffer, s judge.Section, f *frame.Frame) error {
	switch {
	case f.Query == "accounting":
		bars, err := chart.BarsOf(f)
		if err != nil {
			return err
		}
		first, left := typeset.FirstOf(bars, chart.MostBars)
		out.WriteString(typeset.MarkdownBlock(chart.TextBars(first)) + "\n")
		if left > 0 {
			out.WriteString(chart.BarsLeftOut(left) + "\n\n")
		}
	case f.Query == "findings":
		words.MarkdownFindings(out, s.Findings, f)
		return nil
	case len(f.Rows) == 0: // which is an answer here
		out.WriteString("None.\n")
		return nil
	}
	first, left := table.MarkdownExcerpt.Of(f)
	if err := table.Markdown(out, first, typeset.Options{}); err != nil || left == "" {
		return err
	}
	out.WriteString("\n" + left + "\n")
	return nil
}

func reportTitle(r *judge.Report) string { return "Run " + r.Name }

// missingText is why a section has no rows: of all that its query notes, what is about that.
func (r *reader) missingText(s judge.Section) string {
	if r.Frame(s.ID) == nil {
		return typeset.Neutral(s.Missing)
	}
	return typeset.Neutral(r.whyNone(s.ID))
}
