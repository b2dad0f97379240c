// Package compare writes judgements of several runs: diffs, trends and gates.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge/diff"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffForms lists the ways to write comparisons, all with the same base, the default one first. To add one of its own, write its function and add a value here.
func DiffForms() typeset.Forms[[]*diff.Result, typeset.Options] {
	return doc.Forms("verdict, stages, what changed most", diffDocuments, func(o typeset.Options) typeset.Options { return o },
		typeset.Form[[]*diff.Result, typeset.Options]{Name: "csv", Ending: ".csv", Doc: "items in ns and full precision, one header; the parts of a stage add up to its row to the ns", Write: DiffCSV},
		typeset.Form[[]*diff.Result, typeset.Options]{Name: "json", Ending: ".json", Doc: "all that is known of the comparison, in base units and full precision; null is not known", Write: DiffJSON})
}

// toldLines is how many lines of a terminal what was changed on purpose takes, at most.
const toldLines = 2

// verdictSigns are seen in a list of pull requests before they are read.
var verdictSigns = map[diff.Verdict]string{diff.Better: "✅", diff.Worse: "❌", diff.NoChange: "⚪", diff.CannotTell: "❔"}

// diffDocuments say what comparisons came to: the verdict, what else differs between the sides, the stages with a sentence each, what of each stage changed most, and the SQL.
func diffDocuments(list []*diff.Result, o typeset.Options) []doc.Document {
	return typeset.Each(list, func(r *diff.Result) doc.Document { return diffDocument(list, r, o) })
}

// diffDocument is that of one of the comparisons.
func diffDocument(list []*diff.Result, r *diff.Result, o typeset.Options) doc.Document {
	d := doc.Document{Title: diffTitle(r), Sign: verdictSigns[r.Verdict], Among: pageTitle(list), Blocks: []doc.Block{doc.Lead{Text: words.VerdictLine(r), Tone: words.ToneOf(r.Verdict)}, doc.Facts(sideFacts(r))}}
	if len(r.Next) > 0 {
		d.Blocks = append(d.Blocks, doc.Commands{Lead: "to tell", List: r.Next})
	}
	d.Blocks = append(d.Blocks, differences(differenceTable(r), r)...)
	if t := stageTable(r); len(t.Rows) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: t.Caption, Brief: "stages", Blocks: []doc.Block{doc.Table{Of: t, Legend: func(hidden []string) []string { return stageLegend(r, t, hidden) }}, samplesFigure(r)}})
	}
	if len(r.Stages) > 0 {
		d.Blocks = append(d.Blocks, doc.List{Items: typeset.Each(r.Stages, func(s diff.Stage) doc.Item { return doc.Item{Text: stageWordsOf(s)} })})
	}
	if t := servingTable(r); len(t.Rows) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: t.Caption, Blocks: []doc.Block{doc.Table{Of: t}}})
	}
	if notes := servingNotes(r); len(notes) > 0 {
		d.Blocks = append(d.Blocks, doc.List{Items: typeset.Each(notes, func(text string) doc.Item { return doc.Item{Text: text} })})
	}
	if groups := slices.Concat(shownGroups(r), operatorGroups(r)); len(groups) > 0 {
		open, folded := doc.Section{Title: "where the change comes from"}, doc.Either{}
		for _, g := range groups {
			open.Blocks = append(open.Blocks, doc.Section{Title: g.heading(r), Blocks: append(g.figure(r), g.block(r, o))})
			folded.Other = append(folded.Other, doc.Section{Title: g.heading(r), Folded: true, Blocks: []doc.Block{g.block(r, o)}})
		}
		folded.Page = []doc.Block{open}
		d.Blocks = append(d.Blocks, folded)
	}
	if notes := neutralNotes(r.Notes); len(notes) > 0 {
		d.Blocks = append(d.Blocks, notes)
	}
	if line := sourceLine(r); line != "" {
		d.Blocks = append(d.Blocks, doc.SQL{Line: line + "; --explain prints their SQL", Queries: typeset.Each(r.Queries, func(q diff.Source) doc.Query {
			return doc.Query{Name: typeset.Neutral(q.Query), Run: typeset.Neutral(q.Run), SQL: neutralLines(q.SQL)}
		})})
	}
	return d
}

// differences are the blocks of what else differs between two sides.
func differences(t table.Table, r *diff.Result) []doc.Block {
	var out []doc.Block
	if len(t.Rows) > 0 {
		out = append(out, doc.Section{Title: t.Caption, Brief: "what else differs", Blocks: []doc.Block{doc.Table{Of: t, AsPairs: true}}})
	}
	if told := toldDifferences(r); told != "" {
		out = append(out, doc.Remark{Lead: "also changed", Text: told, Lines: toldLines})
	}
	return out
}

// itemsWide is from which width on names of items have the room of a wide terminal.
const itemsWide = 120

// block is the table of the items of a group, and what became of those that moved.
func (g itemGroup) block(r *diff.Result, o typeset.Options) doc.Table {
	t := g.table(r)
	if o.Width >= itemsWide {
		t.Columns[0].Least = max(t.Columns[0].Least, typeset.ClearText*2)
	}
	if g.isTree() {
		return doc.Table{Of: t}
	}
	return doc.Table{Of: t, Below: &doc.Below{Column: becameTitle, Lines: g.moves()}}
}

// figure is the picture of the change of a stage; none where there is no change to draw.
func (g itemGroup) figure(r *diff.Result) []doc.Block {
	if g.stage == nil {
		return nil
	}
	if f := newDiffFigure(*g.stage, r.Options.Metric); f != nil {
		return []doc.Block{doc.Figure{Template: "ledger", Of: f}}
	}
	return nil
}

// pageTitle is what several comparisons are.
func pageTitle(list []*diff.Result) string {
	switch len(list) {
	case 0:
		return "No comparison"
	case 1:
		return diffTitle(list[0])
	}
	return fmt.Sprintf("%d comparisons with %s", len(list), typeset.Neutral(list[0].A.Label))
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

// neutralLines is neutral of each line.
func neutralLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = typeset.Neutral(line)
	}
	return strings.Join(lines, "\n")
}
