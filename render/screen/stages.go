package screen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// partWords name the parts of accounting in a line of legend.
var partWords = map[string]string{"compute": "kernels", "collective-overlapped": "collectives beside kernels", "collective-exposed": "collectives alone", "graph": "graph replays", "copy": "copies",
	"other": "work of others", "launch": "launching", "late": "next launch late", "launch-latency": "launch latency", "wait": "waiting", "call": "CUDA call", "host": "host", "profiler": "profiler", "queued": "queued", "unknown": "unknown"}

// writeScreenStages writes a line for each stage: how long it takes, where its time goes, how much of the hardware it uses and what
// bounds it; of a run without stages one for all device work.
func writeScreenStages(out *bytes.Buffer, s Screen, o typeset.Options) error {
	stages := s.Summary.Stages
	if len(stages) == 0 && s.Summary.All != nil {
		stages = []judge.StageSummary{*s.Summary.All}
	}
	if len(stages) == 0 {
		return nil
	}
	bars, gpus, err := stageBars(s.Report.Frame("accounting"), stages)
	if err != nil {
		return err
	}
	out.WriteByte('\n')
	columns := stageColumns(stages, bars)
	table.WriteColumns(out, columns, len(stages), o)
	kept, widths := table.FitColumns(columns, o.Limit())
	if at := slices.IndexFunc(kept, func(c table.FitColumn) bool { return c.Draw != nil }); at >= 0 {
		writeLegend(out, bars, widths[at], gpus, o)
	} else if gpus > 1 { // a report judges one GPU, and has that one's share
		out.WriteString(typeset.Style(o, typeset.Dim)(fmt.Sprintf("busy is of %d GPUs together", gpus)) + "\n")
	}
	return nil
}

// stageColumns gives the columns of the stages; one that no stage has anything in is left out.
func stageColumns(stages []judge.StageSummary, bars []chart.Bar) []table.FitColumn {
	each := func(cell func(i int, s judge.StageSummary) string) []string {
		out := make([]string, len(stages))
		for i, s := range stages {
			out[i] = cell(i, s)
		}
		return out
	}
	ratio := func(of func(s judge.StageSummary) *float64) []string {
		return each(func(_ int, s judge.StageSummary) string {
			if of(s) == nil {
				return typeset.Null
			}
			if *of(s) > 1 {
				return typeset.Percent(*of(s)) + " !" // an error in what was given; a doubt below says so
			}
			return words.UseText(*of(s), s.IsLeast)
		})
	}
	columns := []table.FitColumn{
		{Title: "stage", Cells: each(func(_ int, s judge.StageSummary) string { return stageName(s.Stage) }), Least: 8, Keep: 9},
		{Title: timeTitle(stages), Right: true, Cells: each(func(_ int, s judge.StageSummary) string { return passTime(s) }), Keep: 8},
		{Title: "range", Right: true, Cells: each(func(_ int, s judge.StageSummary) string {
			if s.Passes < 2 {
				return typeset.Null
			}
			return words.PassRange(s)
		}), Keep: 1},
		{Title: "n", Right: true, Cells: each(func(_ int, s judge.StageSummary) string { return passCount(s.Passes) }), Keep: 2},
		{Title: "GPU time", Draw: func(row, to int) string { return bars[row].Draw(to) }, Least: 12, Most: 100, Keep: 5},
		{Title: "busy", Right: true, Cells: each(func(i int, _ judge.StageSummary) string {
			if len(bars[i].Pieces) == 0 {
				return typeset.Null
			}
			return typeset.Percent(bars[i].Busy())
		}), Keep: 6},
		{Title: "tokens/s", Right: true, Cells: each(func(_ int, s judge.StageSummary) string { return rate(s.TokensPerS) }), Keep: 3},
		{Title: "MFU", Right: true, Cells: ratio(func(s judge.StageSummary) *float64 { return s.MFU }), Keep: 4},
		{Title: "MBU", Right: true, Cells: ratio(func(s judge.StageSummary) *float64 { return s.MBU }), Keep: 4},
		{Title: "bound by", Cells: each(func(_ int, s judge.StageSummary) string { return typeset.OrNull(string(s.Bound)) }), Keep: 7},
		{Title: "then by", Cells: each(func(_ int, s judge.StageSummary) string { return typeset.OrNull(string(s.Next)) }), Keep: 0},
	}
	return slices.DeleteFunc(columns, func(c table.FitColumn) bool {
		if c.Draw != nil {
			return !slices.ContainsFunc(bars, func(b chart.Bar) bool { return len(b.Pieces) > 0 })
		}
		return !slices.ContainsFunc(c.Cells, func(cell string) bool { return cell != typeset.Null })
	})
}

// passCount is missing for all device work, which has no passes.
func passCount(n int64) string {
	if n == 0 {
		return typeset.Null
	}
	return typeset.Int(n)
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
	return "a pass"
}

// passTime is the median time of a pass, with a word where it is that of a thread.
func passTime(s judge.StageSummary) string {
	if s.IsCPU {
		return typeset.Nanoseconds(s.MedianNs) + " CPU"
	}
	return typeset.Nanoseconds(s.MedianNs)
}

func rate(v *float64) string {
	if v == nil {
		return typeset.Null
	}
	return typeset.Digits(*v)
}

// stageBars gives the bar of each stage, without pieces where accounting has none, and the most GPUs that one is added up from.
func stageBars(f *frame.Frame, stages []judge.StageSummary) (out []chart.Bar, gpus int, err error) {
	out = make([]chart.Bar, len(stages))
	known, err := chart.WithNumbers(f, chart.BarNumbers...)
	if err != nil || known == nil {
		return out, 0, err
	}
	all, err := chart.BarsOf(known)
	if err != nil {
		return nil, 0, err
	}
	for i, s := range stages {
		name := s.Stage
		if name == "" {
			name = words.WholeRun
		}
		own := slices.DeleteFunc(slices.Clone(all), func(b chart.Bar) bool { return b.Stage != name })
		out[i], gpus = addedUp(own), max(gpus, len(own))
	}
	return out, gpus, nil
}

// addedUp adds up the bars of one stage on several GPUs: its shares are those of the sum of the spans.
func addedUp(bars []chart.Bar) chart.Bar {
	if len(bars) == 1 {
		return bars[0]
	}
	var sum chart.Bar
	of := map[string]int64{}
	for _, b := range bars {
		sum.Stage, sum.Span = b.Stage, sum.Span+b.Span
		for _, p := range b.Pieces {
			of[p.Name] += p.Ns
		}
	}
	for _, p := range chart.Parts {
		if ns := of[p.Name]; ns > 0 {
			sum.Pieces = append(sum.Pieces, chart.Piece{Part: p, Ns: ns, Share: float64(ns) / float64(sum.Span)})
		}
	}
	return sum
}

// writeLegend says what is drawn in bars of so many cells.
func writeLegend(out *bytes.Buffer, bars []chart.Bar, cells, gpus int, o typeset.Options) {
	var words []string
	idle := false
	for _, p := range chart.Parts {
		drawn := slices.ContainsFunc(bars, func(b chart.Bar) bool { return strings.ContainsRune(b.Draw(cells), p.Fill) })
		if !drawn {
			continue
		}
		word := string(p.Fill) + " " + partWords[p.Name]
		if !idle && strings.HasPrefix(p.Doc, "idle") {
			word, idle = "idle: "+word, true
		}
		words = append(words, word)
	}
	if gpus > 1 {
		words = append(words, fmt.Sprintf("bars and busy are of %d GPUs together", gpus))
	}
	var text bytes.Buffer
	typeset.Lines(&text, "", strings.Join(words, ", "), 2, o)
	for line := range strings.Lines(text.String()) {
		out.WriteString(typeset.Style(o, typeset.Dim)(strings.TrimSuffix(line, "\n")) + "\n")
	}
}
