package compare

import (
	"fmt"
	"io"
	"slices"

	"prof/queries/judge/diff"
	"prof/render/page"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// The page's files of style and script in the order in which they are put together.
var (
	diffStyles  = []string{"base.css", "figures.css", "glance.css", "diff.css", "narrow_print.css"}
	diffScripts = []string{"base.js", "tables.js"}
)

// diffPage is what the template diff.tmpl shows.
type diffPage struct {
	page.Head
	Comparisons []diffView
}

// diffView is one comparison as the page shows it.
type diffView struct {
	ID, Title   string // Title is "" where the page has but one
	Lead        string
	Tone        string
	Verdict     string
	Facts       [][2]string
	Stages      []diffStageView
	StageTable  *table.View
	Legend      []string
	Serving     *table.View
	Unmatched   []string // loads that one side has
	Outside     string   // what is said of work outside stages
	Groups      []diffGroupView
	Differences *table.View
	Told        string
	Notes       []string
	Queries     [][2]string
}

// diffStageView is the card of a stage.
type diffStageView struct {
	Name, Verdict, Tone string
	Change, Of          string // Change is "" where there is none
	Facts               [][2]string
	Words               string
}

// diffGroupView is what made the change of one stage.
type diffGroupView struct {
	Stage  string
	Figure *diffFigure // nil where there is no change to draw
	Table  *table.View
}

// DiffHTML writes comparisons as one page of HTML that needs no network, and but for sorting and searching no script: the same comparisons
// give the same bytes.
func DiffHTML(w io.Writer, list []*diff.Result, _ typeset.Options) error {
	head, err := page.NewHead(pageTitle(list), diffStyles, diffScripts)
	if err != nil {
		return err
	}
	p := diffPage{Head: head}
	for i, r := range list {
		v := newDiffView(r)
		v.ID = fmt.Sprintf("c%d", i+1)
		if len(list) > 1 {
			v.Title = diffTitle(r)
		}
		p.Comparisons = append(p.Comparisons, v)
	}
	text, err := page.Render("diff.tmpl", p)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func pageTitle(list []*diff.Result) string {
	switch len(list) {
	case 0:
		return "No comparison"
	case 1:
		return diffTitle(list[0])
	}
	return fmt.Sprintf("%d comparisons with %s", len(list), typeset.Neutral(list[0].A.Label))
}

func newDiffView(r *diff.Result) diffView {
	v := diffView{Lead: typeset.Sentence(typeset.Neutral(r.Words)), Tone: string(words.ToneOf(r.Verdict)), Verdict: string(r.Verdict), Facts: sideFacts(r), Told: toldDifferences(r)}
	for _, s := range r.Stages {
		if s.Name == outsideStages {
			v.Outside = ownWords(s)
			continue
		}
		v.Stages = append(v.Stages, newDiffStageView(r, s))
	}
	if t := stageTable(r); len(t.Rows) > 0 {
		v.StageTable, v.Legend = t.View(), stageLegend(r, t, nil)
	}
	if t := servingTable(r); len(t.Rows) > 0 {
		v.Serving = t.View()
	}
	v.Unmatched = servingNotes(r)
	for _, g := range slices.Concat(shownGroups(r), operatorGroups(r)) {
		view := diffGroupView{Stage: g.title(), Table: g.table(r).View()}
		if g.stage != nil {
			view.Figure = newDiffFigure(*g.stage, r.Options.Metric)
		}
		v.Groups = append(v.Groups, view)
	}
	if t := differenceTable(r); len(t.Rows) > 0 {
		v.Differences = t.View()
	}
	for _, note := range r.Notes {
		v.Notes = append(v.Notes, typeset.Neutral(note))
	}
	for _, q := range r.Queries {
		v.Queries = append(v.Queries, [2]string{queryTitle(q), neutralLines(q.SQL)})
	}
	return v
}

func newDiffStageView(r *diff.Result, s diff.Stage) diffStageView {
	v := diffStageView{Name: words.DiffStage(s.Name), Verdict: string(s.Verdict), Tone: string(words.ToneOf(s.Verdict)), Of: words.MetricShort(words.JudgedBy(r.Options)) + " " + perUnit(s.Unit) + ", B over A", Words: ownWords(s)}
	if c := s.Comparison; c.Effect != nil {
		v.Change = typeset.SignedPercent(*c.Effect)
	}
	add := func(key, value string) {
		if value != "" {
			v.Facts = append(v.Facts, [2]string{key, value})
		}
	}
	cells := stageRow(s)
	for _, f := range cardFacts {
		add(f.key, cells[f.column].Text)
	}
	for _, m := range s.More {
		if m.Comparison.Effect != nil {
			text := typeset.SignedPercent(*m.Comparison.Effect)
			if m.Verdict != "" {
				text += ", " + string(m.Verdict)
			}
			add(words.MetricShort(m.Name), text)
		}
	}
	return v
}

// cardFacts are the columns of the table of stages that the card of a stage has too.
var cardFacts = []struct {
	key    string
	column int
}{{"A", 2}, {"B", 3}, {"p", 6}, {"between", 7}}
