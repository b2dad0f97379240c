package screen

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
	"prof/schema/terms"
)

// stages has a line for each stage: how long it takes, where its time goes, how much of the hardware it uses and what bounds it; of a run
// without stages one for all device work.
func stages(s Screen) ([]doc.Block, error) {
	list := s.Summary.Stages
	if len(list) == 0 && s.Summary.All != nil {
		list = []judge.StageSummary{*s.Summary.All}
	}
	if len(list) == 0 {
		return nil, nil
	}
	bars, gpus, err := chart.StageBars(s.Report.Frame("accounting"), list)
	if err != nil {
		return nil, err
	}
	return []doc.Block{doc.Table{Of: stageTable(list, bars), Bars: func(cells int) string { return barLegend(bars, cells, gpus) }}}, nil
}

// stageTable returns the table of the stages, without columns that no stage has anything in.
func stageTable(stages []judge.StageSummary, bars []chart.Bar) table.Table {
	t := table.Table{OneLine: true}
	add := func(c table.Column, cell func(s judge.StageSummary) string) {
		t.Add(c, typeset.Each(stages, cell))
	}
	ratio := func(title string, profiled, alone func(s judge.StageSummary) *float64) {
		title, of := quoted(stages, title, profiled, alone)
		add(table.Column{Title: title, Right: true, Keep: 4}, func(s judge.StageSummary) string {
			switch v := of(s); {
			case v == nil:
				return ""
			case *v > 1:
				return typeset.Percent(*v) + " !" // an error in what was given; a doubt below says so
			default:
				return words.UseText(*v, s.IsLeast)
			}
		})
	}
	add(table.Column{Title: "stage", Least: 8, Keep: 9}, func(s judge.StageSummary) string { return stageName(s.Stage) })
	add(table.Column{Title: timeTitle(stages), Right: true, Keep: 8}, passTime)
	if slices.ContainsFunc(stages, func(s judge.StageSummary) bool { return s.Alone.MedianNs != nil }) {
		add(table.Column{Title: "alone", Right: true, Keep: 8}, func(s judge.StageSummary) string {
			return nanoseconds(s.Alone.MedianNs)
		})
	}
	add(table.Column{Title: "range", Right: true, Keep: 1}, func(s judge.StageSummary) string {
		if s.Passes < 2 {
			return ""
		}
		return words.PassRange(s)
	})
	add(table.Column{Title: "n", Right: true, Keep: 2}, func(s judge.StageSummary) string {
		if s.Passes == 0 { // all device work has no passes
			return ""
		}
		return words.Passes(s)
	})
	if slices.ContainsFunc(bars, func(b chart.Bar) bool { return len(b.Pieces) > 0 }) {
		draw := func(row, to int) string { return bars[row].Draw(to) }
		t.Add(table.Column{Title: "GPU time", Draw: draw, Least: 12, Most: 100, Keep: 3, Full: true}, doc.DrawnCells(len(bars), draw))
		add(table.Column{Title: "busy", Right: true, Keep: 6}, func(s judge.StageSummary) string { return shown(s.BusyRatio, typeset.Percent) })
	}
	title, tokens := quoted(stages, "tokens/s", func(s judge.StageSummary) *float64 { return s.TokensPerS }, func(s judge.StageSummary) *float64 { return s.Alone.TokensPerS })
	add(table.Column{Title: title, Right: true, Keep: 5}, func(s judge.StageSummary) string { return shown(tokens(s), typeset.Digits) })
	ratio("MFU", func(s judge.StageSummary) *float64 { return s.MFU }, func(s judge.StageSummary) *float64 { return s.Alone.MFU })
	ratio("MBU", func(s judge.StageSummary) *float64 { return s.MBU }, func(s judge.StageSummary) *float64 { return s.Alone.MBU })
	add(table.Column{Title: "bound by", Keep: 7}, func(s judge.StageSummary) string { return boundWord(s.Label) })
	add(table.Column{Title: "then by", Keep: 0}, func(s judge.StageSummary) string { return boundWord(s.Next.Label()) })
	known, _ := t.Known()
	return known
}

// boundWord is what bounds a stage, as short as 80 columns with all figures have room for.
func boundWord(label string) string {
	return strings.TrimSuffix(strings.TrimSuffix(label, "-bound"), ", limit unknown")
}

// quoted returns the figure of stages to quote and its title: the one without a profiler where every stage that has the figure has that one,
// since a column has one meaning.
func quoted(stages []judge.StageSummary, title string, profiled, alone func(judge.StageSummary) *float64) (string, func(judge.StageSummary) *float64) {
	measured := false
	for _, s := range stages {
		if profiled(s) != nil && alone(s) == nil {
			return title, profiled
		}
		measured = measured || alone(s) != nil
	}
	if !measured {
		return title, profiled
	}
	return title + " alone", alone
}

func stageName(stage string) string {
	if stage == "" {
		return words.AllWork
	}
	return typeset.Neutral(stage)
}

// timeTitle says what the time is: of all device work, that of the whole capture.
func timeTitle(stages []judge.StageSummary) string {
	if stages[0].Stage == "" {
		return "time"
	}
	if slices.ContainsFunc(stages, func(s judge.StageSummary) bool { return s.Passes > 1 }) {
		return "median pass"
	}
	return "per pass"
}

// passTime is the median time of a pass, with a word where it is that of a thread.
func passTime(s judge.StageSummary) string {
	if s.IsCPU {
		return typeset.Nanoseconds(s.MedianNs) + " CPU"
	}
	return typeset.Nanoseconds(s.MedianNs)
}

// barLegend says what is drawn in bars of so many cells, none where there is no room for them.
func barLegend(bars []chart.Bar, cells, gpus int) string {
	if cells == 0 {
		if gpus > 1 { // a report judges one GPU, and has that one's share
			return fmt.Sprintf("busy is over %d GPUs", gpus)
		}
		return ""
	}
	var words []string
	idle := false
	for _, p := range terms.Parts {
		drawn := slices.ContainsFunc(bars, func(b chart.Bar) bool { return strings.ContainsRune(b.Draw(cells), p.Fill) })
		if !drawn {
			continue
		}
		word := string(p.Fill) + " " + p.Label
		if !idle && p.IsIdle() {
			word, idle = "idle: "+word, true
		}
		words = append(words, word)
	}
	if gpus > 1 {
		words = append(words, fmt.Sprintf("bars and busy are over %d GPUs", gpus))
	}
	return strings.Join(words, ", ")
}
