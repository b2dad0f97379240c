// Package screen makes documents that fit one terminal: a run's summary, and its findings.
package screen

import (
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// Screen is what the summary of a run on one screen is made from.
type Screen struct {
	Facts   [][2]string // what the run is, a line each
	Report  *judge.Report
	Summary judge.Summary
	Doubts  []string // what the figures are to be read with, what matters most first
	Next    []string // commands that show more
}

// How much a screen shows.
const (
	screenKernels   = 5
	screenOperators = 3
	screenAdvice    = 3
	screenDoubts    = 6 // lines
	adviceLines     = 2 // of what to do about one thing, before remarks are left out
)

// Show returns the summary of a run.
func Show(s Screen) (doc.Document, error) {
	d := doc.Document{Title: typeset.Neutral(s.Report.Name)}
	add := func(list ...doc.Block) { d.Blocks = append(d.Blocks, list...) }
	if s.Summary.NotWhole != "" {
		add(doc.Doubts{Texts: []string{"not whole: " + typeset.Neutral(s.Summary.NotWhole)}})
	}
	add(doc.Lead{Text: typeset.Neutral(words.LeadOf(s.Summary))}, doc.Facts(s.Facts))
	for _, part := range []func(Screen) ([]doc.Block, error){tokens, stages, benchmarks, reported, ranks, kernels, operators, advice} {
		list, err := part(s)
		if err != nil {
			return d, err
		}
		add(list...)
	}
	if doubts := typeset.Unique(typeset.Each(s.Doubts, typeset.Neutral)); len(doubts) > 0 {
		add(doc.Doubts{Texts: doubts, Most: screenDoubts})
	}
	if len(s.Next) > 0 {
		add(doc.Commands{Lead: "more", List: s.Next})
	}
	return d, nil
}

// rowsOf reads the rows of an answer; none where it was not asked.
func rowsOf[T any](s Screen, rows frame.Rows[T]) ([]T, error) {
	return rows.Of(s.Report.Frame(rows.Query))
}

// ranks says for whom ranks wait.
func ranks(s Screen) ([]doc.Block, error) {
	if len(s.Summary.Ranks) == 0 {
		return nil, nil
	}
	list := doc.List{Items: typeset.Each(s.Summary.Ranks, func(r judge.SlowRank) doc.Item { return doc.Item{Text: typeset.Neutral(r.Words)} })}
	return []doc.Block{doc.Section{Title: "slow ranks", Blocks: []doc.Block{list}}}, nil
}
