package compare

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/judge/diff"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// toldLines is how many lines what was changed on purpose takes, at most.
const toldLines = 2

// DiffTable writes comparisons for a terminal: the verdict, what else differs between the sides, the stages with a sentence each, and
// what of each stage changed most. Lines are fitted to o.Width; with o.Wide to nothing.
func DiffTable(w io.Writer, list []*diff.Result, o typeset.Options) error {
	var out bytes.Buffer
	for i, r := range list {
		if i > 0 {
			out.WriteString("\n")
		}
		if len(list) > 1 {
			typeset.Wrapped(&out, "", fmt.Sprintf("%d of %d: %s", i+1, len(list), diffTitle(r)), o.Limit(), typeset.Style(o, typeset.Bold))
		}
		writeComparison(&out, r, o)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func writeComparison(out *bytes.Buffer, r *diff.Result, o typeset.Options) {
	typeset.Wrapped(out, "", words.VerdictLine(r), o.Limit(), func(s string) string {
		return typeset.Style(o, typeset.Bold)(typeset.Paint(o, words.ToneOf(r.Verdict), s))
	})
	out.WriteString("\n")
	table.WriteFacts(out, sideFacts(r), o)
	writeDifferences(out, r, o)
	writeStages(out, r, o)
	writeServing(out, r, o)
	for _, g := range slices.Concat(shownGroups(r), operatorGroups(r)) {
		out.WriteString("\n")
		typeset.Wrapped(out, "", g.heading(r), o.Limit(), typeset.Style(o, typeset.Dim))
		writeItems(out, g, r, o)
	}
	if len(r.Notes) > 0 {
		out.WriteString("\n")
	}
	for _, note := range r.Notes {
		typeset.Wrapped(out, "note: ", typeset.Neutral(note), o.Limit(), plainly)
	}
	out.WriteString("\n")
	if line := sourceLine(r); line != "" {
		typeset.Wrapped(out, "", line+"; --explain prints their SQL", o.Limit(), typeset.Style(o, typeset.Dim))
	}
}

// plainly paints nothing.
func plainly(s string) string { return s }

// writeDifferences writes what else differs between the sides, a line each where it may matter to the verdict.
func writeDifferences(out *bytes.Buffer, r *diff.Result, o typeset.Options) {
	t := differenceTable(r)
	widest := 0
	for _, row := range t.Rows {
		widest = max(widest, typeset.Width(row[0].Text)+typeset.Gap)
	}
	for i, row := range t.Rows {
		if i == 0 {
			out.WriteString("\n")
			typeset.Wrapped(out, "", t.Caption, o.Limit(), typeset.Style(o, typeset.Dim))
		}
		mark := "  "
		if row[0].Tone != "" {
			mark = "! "
		}
		table.WritePair(out, mark+row[0].Text, row[1].Shown()+" → "+row[2].Shown()+": "+row[3].Text, widest, o.Limited())
	}
	if told := toldDifferences(r); told != "" {
		out.WriteString("\n")
		typeset.Lines(out, "also changed: ", told, toldLines, o)
	}
}

// writeHidden names the columns that a table had no room for.
func writeHidden(out *bytes.Buffer, hidden []string, o typeset.Options) {
	if len(hidden) > 0 {
		typeset.Wrapped(out, "  ", table.HiddenColumns(hidden, "--wide"), o.Limit(), typeset.Style(o, typeset.Dim))
	}
}

// writeStages writes the table of the stages, what its columns mean, and a sentence each.
func writeStages(out *bytes.Buffer, r *diff.Result, o typeset.Options) {
	if t := stageTable(r); len(t.Rows) > 0 {
		out.WriteString("\n")
		typeset.Wrapped(out, "", t.Caption, o.Limit(), typeset.Style(o, typeset.Dim))
		dropped := t.Write(out, o)
		for _, text := range stageLegend(r, t, dropped) {
			typeset.Wrapped(out, "  ", text, o.Limit(), typeset.Style(o, typeset.Dim))
		}
		writeHidden(out, dropped, o)
	}
	if len(r.Stages) > 0 {
		out.WriteString("\n")
	}
	for _, s := range r.Stages {
		typeset.Wrapped(out, "- ", stageWordsOf(s), o.Limit(), plainly)
	}
}

// itemsWide is from which width on names of items have the room of a wide terminal.
const itemsWide = 120

// writeItems writes a table of items, and below it what became of those that moved.
func writeItems(out *bytes.Buffer, g itemGroup, r *diff.Result, o typeset.Options) {
	t := g.table(r)
	if last := len(t.Columns) - 1; t.Columns[last].Title == becameTitle && !g.isTree() {
		t.Columns = t.Columns[:last]
	}
	if o.Width >= itemsWide {
		t.Columns[0].Least = max(t.Columns[0].Least, typeset.ClearText*2)
	}
	dropped := t.Write(out, o)
	if !g.isTree() {
		writeMoves(out, g, o)
	}
	writeHidden(out, dropped, o)
}

// stageWordsOf is the sentence of a stage with how its other figures changed.
func stageWordsOf(s diff.Stage) string {
	text := ownWords(s)
	if more := moreLine(s); more != "" {
		text = strings.TrimSuffix(text, ".") + ". Other figures: " + more
	}
	return text
}

// ownWords is the sentence of a stage, with what differences between the sides explain.
func ownWords(s diff.Stage) string {
	if hardlyChanged(s) {
		return "work outside stages: " + typeset.SignedPercent(*outsideEffect(s)) + " (not judged)"
	}
	text := typeset.Neutral(s.Words)
	if text == "" {
		text = words.DiffStage(s.Name) + ": " + string(s.Verdict)
	}
	if expected := typeset.Neutral(s.StageExpected); expected != "" && s.Name != outsideStages && !strings.Contains(text, expected) {
		text = strings.TrimSuffix(text, ".") + "; to be read with: " + expected
	}
	return text
}
