package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/judge/diff"
)

// diffWidth is how wide comparisons are where nothing limits them.
const diffWidth = 140

// toldLines is how many lines what was changed on purpose takes, at most.
const toldLines = 2

// DiffTable writes comparisons for a terminal: the verdict, what else differs between the sides, the stages with a sentence each, and
// what of each stage changed most. Lines are fitted to o.Width, or to 140 columns when that is not known; with o.Wide to nothing.
func DiffTable(w io.Writer, list []*diff.Result, o Options) error {
	if o.Width <= 0 {
		o.Width = diffWidth
	}
	var out bytes.Buffer
	for i, r := range list {
		if i > 0 {
			out.WriteString("\n")
		}
		if len(list) > 1 {
			writeWrapped(&out, "", fmt.Sprintf("%d of %d: %s", i+1, len(list), diffTitle(r)), o.limit(), style(o, bold))
		}
		writeComparison(&out, r, o)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func writeComparison(out *bytes.Buffer, r *diff.Result, o Options) {
	writeWrapped(out, "", verdictLine(r), o.limit(), func(s string) string {
		return style(o, bold)(paintWith(o, toneOf(r.Verdict), s, true))
	})
	out.WriteString("\n")
	writeScreenFacts(out, sideFacts(r), o)
	writeDifferences(out, r, o)
	leftOut := writeStages(out, r, o)
	for _, g := range shownGroups(r) {
		out.WriteString("\n")
		writeWrapped(out, "", g.heading(r), o.limit(), style(o, dim))
		leftOut = writeItems(out, g, r, o) || leftOut
	}
	if len(r.Notes) > 0 {
		out.WriteString("\n")
	}
	for _, note := range r.Notes {
		writeWrapped(out, "note: ", neutral(note), o.limit(), plainly)
	}
	out.WriteString("\n")
	if leftOut {
		writeWrapped(out, "", fmt.Sprintf("left out is what does not fit %d columns of text; --wide shows all", o.Width), o.limit(), style(o, dim))
	}
	if line := sourceLine(r); line != "" {
		writeWrapped(out, "", line+"; --explain prints their SQL", o.limit(), style(o, dim))
	}
}

// plainly paints nothing.
func plainly(s string) string { return s }

// writeDifferences writes what else differs between the sides, a line each where it may matter to the verdict.
func writeDifferences(out *bytes.Buffer, r *diff.Result, o Options) {
	t := differenceTable(r)
	widest := 0
	for _, row := range t.rows {
		widest = max(widest, width(row[0].text)+gap)
	}
	for i, row := range t.rows {
		if i == 0 {
			out.WriteString("\n")
			writeWrapped(out, "", t.caption, o.limit(), style(o, dim))
		}
		mark := "  "
		if row[0].tone != "" {
			mark = "! "
		}
		writePair(out, mark+row[0].text, row[1].shown()+" → "+row[2].shown()+": "+row[3].text, widest, o.limited())
	}
	if told := toldDifferences(r); told != "" {
		out.WriteString("\n")
		writeLines(out, "changed as well: ", told, toldLines, o)
	}
}

// limited gives the options with the width that lines must keep, none where that is wished.
func (o Options) limited() Options {
	o.Width = o.limit()
	return o
}

// writeLeftOut names the columns that a table had no room for, and says whether there are any.
func writeLeftOut(out *bytes.Buffer, dropped []string, o Options) bool {
	if len(dropped) > 0 {
		writeWrapped(out, "  ", "left out: "+strings.Join(dropped, ", "), o.limit(), style(o, dim))
	}
	return len(dropped) > 0
}

// writeStages writes the table of the stages, what its columns mean, and a sentence each; it says whether columns are left out.
func writeStages(out *bytes.Buffer, r *diff.Result, o Options) (leftOut bool) {
	if t := stageTable(r); len(t.rows) > 0 {
		out.WriteString("\n")
		writeWrapped(out, "", t.caption, o.limit(), style(o, dim))
		dropped := writeDiffTable(out, t, o)
		for _, text := range stageLegend(r, t, dropped) {
			writeWrapped(out, "  ", text, o.limit(), style(o, dim))
		}
		leftOut = writeLeftOut(out, dropped, o)
	}
	out.WriteString("\n")
	for _, s := range r.Stages {
		writeWrapped(out, "- ", stageWordsOf(s), o.limit(), plainly)
	}
	return leftOut
}

// itemsWide is from which width on names of items have the room of a wide terminal.
const itemsWide = 120

// writeItems writes a table of items, and below it what became of those that moved; it says whether columns are left out.
func writeItems(out *bytes.Buffer, g itemGroup, r *diff.Result, o Options) (leftOut bool) {
	t := g.table(r)
	if last := len(t.columns) - 1; t.columns[last].title == becameTitle {
		t.columns = t.columns[:last]
	}
	if o.Width >= itemsWide {
		t.columns[0].least = clearText * 2
	}
	dropped := writeDiffTable(out, t, o)
	writeMoves(out, g, o)
	return writeLeftOut(out, dropped, o)
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
		return "work outside stages: " + signedPercent(*outsideEffect(s)) + " (not judged)"
	}
	text := neutral(s.Words)
	if text == "" {
		text = diffStage(s.Name) + ": " + string(s.Verdict)
	}
	if expected := neutral(s.StageExpected); expected != "" && s.Name != outsideStages && !strings.Contains(text, expected) {
		text = strings.TrimSuffix(text, ".") + "; to be read with: " + expected
	}
	return text
}

// lineWidth is the width that lines must keep; more than any line takes where nothing limits them.
func (o Options) lineWidth() int {
	if limit := o.limit(); limit > 0 {
		return limit
	}
	return 1 << 20
}
