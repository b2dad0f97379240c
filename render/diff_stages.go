package render

import (
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// stageTable is the table of the stages of a comparison.
func stageTable(r *diff.Result) diffTable {
	level := confidence(r.Options)
	t := diffTable{caption: stageCaption(r), columns: []diffColumn{
		{name: "stage", title: "stage", doc: "stage of the workload", least: 12, keep: 9},
		{name: "unit", title: "per", doc: "what the times are for: a pass, a step, or a token where the sides' passes work on different numbers of tokens", keep: 5},
		{name: "a", pair: "sides", title: "A: " + centreName(r) + " ± std (n)", doc: "centre of the samples of A (median; mean below three), standard deviation in percent of it, number of samples", right: true, keep: 8},
		{name: "b", pair: "sides", title: "B: " + centreName(r) + " ± std (n)", doc: "the same of B", right: true, keep: 8},
		{name: "effect_ratio", title: "change", doc: "B over A less 1", right: true, keep: 9},
		{name: "verdict", title: "verdict", doc: "better, worse, no change or cannot tell", keep: 9},
		{name: "p", title: "p", doc: "chance of a difference like this or larger without a change", right: true, keep: 4},
		{name: "change_interval", title: "between", doc: "in which the change lies but for the error rate, with what processes of the same code may differ by", right: true, keep: 3},
		{name: "level", title: "samples", doc: "what the samples are: passes, steps, repeats or runs", keep: 2},
		{name: "a_interval", pair: "interval", title: level + " interval of A", doc: "in which the centre of A lies but for the error rate", right: true, keep: 1},
		{name: "b_interval", pair: "interval", title: level + " interval of B", doc: "the same of B", right: true, keep: 1},
	}}
	for _, s := range judgedStages(r) {
		t.rows = append(t.rows, stageRow(s))
	}
	if oneUnit(r) != "" {
		for _, row := range t.rows {
			row[1] = diffCell{}
		}
	}
	return t.known()
}

// stageCaption says what stages are judged by, and for what where that is the same for all.
func stageCaption(r *diff.Result) string {
	text := "stages by " + metricWords(judgedBy(r.Options))
	if oneUnit(r) == diff.PerStep && judgedBy(r.Options) == "gpu_span_ns" { // what it is a note says
		return "steps by time on the GPU"
	}
	if unit := oneUnit(r); unit != "" {
		text += ", " + perUnit(unit)
	}
	return text
}

// oneUnit is what the times of all stages are for, "" where that differs.
func oneUnit(r *diff.Result) diff.Unit {
	var units []string
	for _, s := range judgedStages(r) {
		units = append(units, string(s.Unit))
	}
	if units = unique(units); len(units) != 1 {
		return ""
	}
	return diff.Unit(units[0])
}

// outsideStages is the name of the work outside all stages, which is compared and not judged.
const outsideStages = "(none)"

func judgedStages(r *diff.Result) []diff.Stage {
	return slices.DeleteFunc(slices.Clone(r.Stages), func(s diff.Stage) bool { return s.Name == outsideStages })
}

func stageRow(s diff.Stage) []diffCell {
	c := s.Comparison
	return []diffCell{
		textCell(diffStage(s.Name)), textCell(string(s.Unit)),
		sideCell(c.NA, c.A, s.A.Std), sideCell(c.NB, c.B, s.B.Std),
		effectCell(c.Effect, s.Verdict), verdictCell(s.Verdict), chanceCell(&c), textCell(changeInterval(&c)), textCell(s.Level),
		textCell(intervalText(frame.Ns, c.LoA, c.HiA)), textCell(intervalText(frame.Ns, c.LoB, c.HiB)),
	}
}

func sideCell(n int, centre float64, std *float64) diffCell {
	if n == 0 || math.IsNaN(centre) {
		return diffCell{}
	}
	return numberCell(sampleText(frame.Ns, n, centre, std), centre)
}

func effectCell(effect *float64, v diff.Verdict) diffCell {
	if effect == nil {
		return diffCell{}
	}
	c := numberCell(signedPercent(*effect), *effect)
	c.tone = toneOf(v)
	if c.tone == toneUnsure {
		c.tone = ""
	}
	return c
}

func chanceCell(c *stats.Comparison) diffCell {
	if c == nil || c.JudgedP() == nil {
		return diffCell{}
	}
	return numberCell(probability(*c.JudgedP()), *c.JudgedP())
}

// changeInterval is the interval of a change: -1.2 % to +3.4 %.
func changeInterval(c *stats.Comparison) string {
	if c.Low == nil || c.High == nil {
		return ""
	}
	return signedPercent(*c.Low) + " to " + signedPercent(*c.High)
}

func verdictCell(v diff.Verdict) diffCell { return diffCell{text: string(v), tone: toneOf(v)} }

// moreLine says in one line how the other figures of a stage changed; "" where it has none.
func moreLine(s diff.Stage) string {
	var out []string
	for _, m := range s.More {
		if m.Comparison.Effect == nil {
			continue
		}
		text := metricShort(m.Name) + " " + signedPercent(*m.Comparison.Effect)
		if m.Verdict != "" {
			text += " (" + string(m.Verdict) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
