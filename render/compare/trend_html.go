package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"prof/queries/judge/trend"
	"prof/render/page"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// The page's files of style in the order in which they are put together; its scripts are those of comparisons.
var trendStyles = []string{"base.css", "figures.css", "trend.css", "narrow_print.css"}

// trendPage is what the template trend.tmpl shows.
type trendPage struct {
	page.Head
	Facts   [][2]string
	Of      string // Stages or Loads
	Stages  []trendStageView
	Changes []trendChangeView
	// NoChanges is what is said where there are none.
	NoChanges string
	Table     *table.View
	Notes     []string
	Queries   [][2]string
}

// trendStageView is one series with its plot.
type trendStageView struct {
	ID, Label   string
	Same        string // what its runs have in common
	Now, State  string
	Tone        string
	Figure      *trendFigure // nil where nothing is known
	UnknownText string       // of runs without a value; "" when all have one
}

// trendChangeView is one change in words.
type trendChangeView struct{ Headline, Tone, Moved, Differs string }

// TrendHTML writes a trend as one page of HTML that needs no network, and but for sorting and searching no script: the same trend gives the
// same bytes. Its table has the runs of every stage, newest first.
func TrendHTML(w io.Writer, r *trend.Result, o TrendOptions) error {
	head, err := page.NewHead("Trend of "+typeset.Shorten(typeset.Neutral(cmp.Or(o.Command, r.Workload)), typeset.LongName, 60), trendStyles, diffScripts)
	if err != nil {
		return err
	}
	p := trendPage{Head: head, Facts: trendFacts(r, o), Notes: words.TrendNotes(r, 0), NoChanges: words.NoChanges(r), Of: "Stages"}
	if r.Options.Metric.IsServing() {
		p.Of = "Loads"
	}
	for i := range r.Series {
		p.Stages = append(p.Stages, newTrendStageView(r, i))
	}
	for _, c := range r.Changes {
		v := trendChangeView{Headline: words.ChangeHeadline(r, c), Tone: string(c.Verdict), Moved: words.ChangeMoved(r, c), Differs: words.ChangeDiffers(c)}
		if c.Suspect {
			v.Tone = string(typeset.ToneUnsure)
		}
		p.Changes = append(p.Changes, v)
	}
	newest := *r.Frame()
	place := map[string]int{} // of a run, by id
	for i, run := range r.Runs {
		place[run.ID] = i
	}
	id := newest.Index("run_id")
	slices.SortStableFunc(newest.Rows, func(a, b []any) int {
		x, _ := a[id].(string)
		y, _ := b[id].(string)
		return place[y] - place[x]
	})
	at := newest.Index("at")
	for i, cells := range newest.Rows {
		newest.Rows[i] = slices.Clone(cells)
		if text, known := cells[at].(string); known {
			newest.Rows[i][at] = typeset.Prefix(text, len("2006-01-02 15:04:05"))
		}
	}
	if p.Table, err = table.NewView(&newest, "Runs, newest first", table.PageExcerpt, nil); err != nil {
		return err
	}
	for _, q := range r.Queries {
		p.Queries = append(p.Queries, [2]string{typeset.Neutral(q.Query), typeset.Whole(q.SQL)})
	}
	text, err := page.Render("trend.tmpl", p)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func newTrendStageView(r *trend.Result, series int) trendStageView {
	s := r.Series[series]
	v := trendStageView{ID: fmt.Sprintf("s%d", series+1), Label: typeset.Neutral(s.Stage), Same: words.SameWords(s.Same), Now: words.LevelNow(r, series), State: words.StateWords(r, series), Figure: newTrendFigure(r, series)}
	for _, c := range r.Changes {
		if c.Series == series && c.Item == nil {
			v.Tone = string(c.Verdict)
			if c.Suspect {
				v.Tone = string(typeset.ToneUnsure)
			}
		}
	}
	unknown := 0
	for _, p := range s.Points {
		if p.Value == nil {
			unknown++
		}
	}
	if unknown > 0 {
		v.UnknownText = fmt.Sprintf("Of %s the value is not known: nothing is drawn there.", typeset.Plural(int64(unknown), "run", "runs"))
	}
	return v
}
