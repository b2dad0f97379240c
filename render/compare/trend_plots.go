package compare

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/trend"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// trendStageView is one series with its plot.
type trendStageView struct {
	Stage       string       `json:"stage"`
	Label       string       `json:"label"`
	Same        string       `json:"same"` // what its runs have in common
	Now         string       `json:"now"`
	State       string       `json:"state"`
	Tone        string       `json:"tone"`
	Figure      *trendFigure `json:"figure"`       // nil where nothing is known
	UnknownText string       `json:"unknown_text"` // of runs without a value; "" when all have one
	Points      []pointView  `json:"points"`
}

// trendPlots are the plots of the series, on a page.
func trendPlots(r *trend.Result) doc.Section {
	title := "stages"
	if r.Options.Metric.IsServing() {
		title = "loads"
	}
	out := doc.Section{Title: title, Blocks: []doc.Block{doc.Text("Each point is a run, oldest left, all equally far apart; below stands when they were. Lines across are medians of levels, dashed ones the changes that are told below " +
		"by the same number. Thin lines through points are one standard deviation of a run's passes up and down.")}}
	for i := range r.Series {
		out.Blocks = append(out.Blocks, doc.Figure{Template: "trend", Of: newTrendStageView(r, i)})
	}
	return out
}

// newestRuns are the runs of every series, newest first.
func newestRuns(r *trend.Result) *frame.Frame {
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
	return &newest
}

func newTrendStageView(r *trend.Result, series int) trendStageView {
	s := r.Series[series]
	v := trendStageView{Stage: s.Stage, Label: typeset.Neutral(s.Stage), Same: words.SameWords(s.Same), Now: words.LevelNow(r, series), State: words.StateWords(r, series), Figure: newTrendFigure(r, series)}
	for _, c := range r.Changes {
		if c.Series == series && c.Item == nil {
			v.Tone = string(changeTone(c))
		}
	}
	unknown := 0
	for i, p := range s.Points {
		v.Points = append(v.Points, pointView{typeset.Neutral(r.Runs[p.Run].Name), pointFacts(r, s, i)})
		if p.Value == nil {
			unknown++
		}
	}
	if unknown > 0 {
		v.UnknownText = fmt.Sprintf("Of %s the value is not known: nothing is drawn there.", typeset.Plural(int64(unknown), "run", "runs"))
	}
	return v
}
