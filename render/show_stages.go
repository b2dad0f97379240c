package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
)

// partWords name the parts of accounting in a line of legend.
var partWords = map[string]string{"compute": "kernels", "collective-overlapped": "collectives beside kernels", "collective-exposed": "collectives alone", "graph": "graph replays", "copy": "copies",
	"other": "work of others", "launch": "launching", "late": "next launch late", "launch-latency": "launch latency", "wait": "waiting", "call": "CUDA call", "host": "host", "profiler": "profiler", "queued": "queued", "unknown": "unknown"}

// writeScreenStages writes a line for each stage: how long it takes, where its time goes, how much of the hardware it uses and what
// bounds it; of a run without stages one for all device work.
func writeScreenStages(out *bytes.Buffer, s Screen, o Options) error {
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
	writeScreenTable(out, columns, len(stages), o)
	kept, widths := fitScreen(columns, o.limit())
	if at := slices.IndexFunc(kept, func(c screenColumn) bool { return c.draw != nil }); at >= 0 {
		writeLegend(out, bars, widths[at], gpus, o)
	} else if gpus > 1 { // a report judges one GPU, and has that one's share
		out.WriteString(style(o, dim)(fmt.Sprintf("busy is of %d GPUs together", gpus)) + "\n")
	}
	return nil
}

// stageColumns gives the columns of the stages; one that no stage has anything in is left out.
func stageColumns(stages []judge.StageSummary, bars []bar) []screenColumn {
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
				return null
			}
			if *of(s) > 1 {
				return percent(*of(s)) + " !" // an error in what was given; a doubt below says so
			}
			return useText(*of(s), s.IsLeast)
		})
	}
	columns := []screenColumn{
		{title: "stage", cells: each(func(_ int, s judge.StageSummary) string { return stageName(s.Stage) }), least: 8, keep: 9},
		{title: timeTitle(stages), right: true, cells: each(func(_ int, s judge.StageSummary) string { return passTime(s) }), keep: 8},
		{title: "range", right: true, cells: each(func(_ int, s judge.StageSummary) string {
			if s.Passes < 2 {
				return null
			}
			return passRange(s)
		}), keep: 1},
		{title: "n", right: true, cells: each(func(_ int, s judge.StageSummary) string { return passCount(s.Passes) }), keep: 2},
		{title: "GPU time", draw: func(row, to int) string { return bars[row].draw(to) }, least: 12, most: 100, keep: 5},
		{title: "busy", right: true, cells: each(func(i int, _ judge.StageSummary) string {
			if len(bars[i].pieces) == 0 {
				return null
			}
			return percent(bars[i].busy())
		}), keep: 6},
		{title: "tokens/s", right: true, cells: each(func(_ int, s judge.StageSummary) string { return rate(s.TokensPerS) }), keep: 3},
		{title: "MFU", right: true, cells: ratio(func(s judge.StageSummary) *float64 { return s.MFU }), keep: 4},
		{title: "MBU", right: true, cells: ratio(func(s judge.StageSummary) *float64 { return s.MBU }), keep: 4},
		{title: "bound by", cells: each(func(_ int, s judge.StageSummary) string { return orNull(string(s.Bound)) }), keep: 7},
		{title: "then by", cells: each(func(_ int, s judge.StageSummary) string { return orNull(string(s.Next)) }), keep: 0},
	}
	return slices.DeleteFunc(columns, func(c screenColumn) bool {
		if c.draw != nil {
			return !slices.ContainsFunc(bars, func(b bar) bool { return len(b.pieces) > 0 })
		}
		return !slices.ContainsFunc(c.cells, func(cell string) bool { return cell != null })
	})
}

// passCount is missing for all device work, which has no passes.
func passCount(n int64) string {
	if n == 0 {
		return null
	}
	return groupedInt(n)
}

func orNull(text string) string {
	if text == "" {
		return null
	}
	return text
}

func stageName(stage string) string {
	if stage == "" {
		return allWork
	}
	return neutral(stage)
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
		return nanoseconds(s.MedianNs) + " CPU"
	}
	return nanoseconds(s.MedianNs)
}

func rate(v *float64) string {
	if v == nil {
		return null
	}
	return digitsText(*v)
}

// stageBars gives the bar of each stage, without pieces where accounting has none, and the most GPUs that one is added up from.
func stageBars(f *frame.Frame, stages []judge.StageSummary) (out []bar, gpus int, err error) {
	out = make([]bar, len(stages))
	known, err := withNumbers(f, barNumbers...)
	if err != nil || known == nil {
		return out, 0, err
	}
	all, err := barsOf(known)
	if err != nil {
		return nil, 0, err
	}
	for i, s := range stages {
		name := s.Stage
		if name == "" {
			name = wholeRun
		}
		own := slices.DeleteFunc(slices.Clone(all), func(b bar) bool { return b.stage != name })
		out[i], gpus = addedUp(own), max(gpus, len(own))
	}
	return out, gpus, nil
}

// addedUp adds up the bars of one stage on several GPUs: its shares are those of the sum of the spans.
func addedUp(bars []bar) bar {
	if len(bars) == 1 {
		return bars[0]
	}
	var sum bar
	of := map[string]int64{}
	for _, b := range bars {
		sum.stage, sum.span = b.stage, sum.span+b.span
		for _, p := range b.pieces {
			of[p.name] += p.ns
		}
	}
	for _, p := range parts {
		if ns := of[p.name]; ns > 0 {
			sum.pieces = append(sum.pieces, piece{p, ns, float64(ns) / float64(sum.span)})
		}
	}
	return sum
}

// draw gives the bar in so many cells.
func (b bar) draw(cells int) string {
	var out strings.Builder
	for i, n := range b.cells(cells) {
		out.WriteString(strings.Repeat(string(b.pieces[i].fill), n))
	}
	return out.String()
}

// writeLegend says what is drawn in bars of so many cells.
func writeLegend(out *bytes.Buffer, bars []bar, cells, gpus int, o Options) {
	var words []string
	idle := false
	for _, p := range parts {
		drawn := slices.ContainsFunc(bars, func(b bar) bool { return strings.ContainsRune(b.draw(cells), p.fill) })
		if !drawn {
			continue
		}
		word := string(p.fill) + " " + partWords[p.name]
		if !idle && strings.HasPrefix(p.doc, "idle") {
			word, idle = "idle: "+word, true
		}
		words = append(words, word)
	}
	if gpus > 1 {
		words = append(words, fmt.Sprintf("bars and busy are of %d GPUs together", gpus))
	}
	var text bytes.Buffer
	writeLines(&text, "", strings.Join(words, ", "), 2, o)
	for line := range strings.Lines(text.String()) {
		out.WriteString(style(o, dim)(strings.TrimSuffix(line, "\n")) + "\n")
	}
}
