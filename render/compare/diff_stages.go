package compare

import (
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// stageTable is the table of the stages of a comparison.
func stageTable(r *diff.Result) table.Table {
	level := confidence(r.Options)
	t := table.Table{Caption: stageCaption(r), Columns: []table.Column{
		{Name: "stage", Title: "stage", Doc: "stage of the workload", Least: 12, Keep: 9},
		{Name: "unit", Title: "per", Doc: "what the times are for: a pass, a step, or a token where the sides' passes work on different numbers of tokens", Keep: 5},
		{Name: "a", Pair: "sides", Title: "A: " + centreName(r) + " ± std (n)", Doc: "centre of the samples of A (median; mean below three), standard deviation in percent of it, number of samples", Right: true, Keep: 8},
		{Name: "b", Pair: "sides", Title: "B: " + centreName(r) + " ± std (n)", Doc: "the same of B", Right: true, Keep: 8},
		{Name: "effect_ratio", Title: "change", Doc: "B over A less 1", Right: true, Keep: 9},
		{Name: "verdict", Title: "verdict", Doc: "better, worse, no change or cannot tell", Keep: 9},
		{Name: "p", Title: "p", Doc: "chance of a difference like this or larger without a change", Right: true, Keep: 4},
		{Name: "change_interval", Title: "between", Doc: "in which the change lies but for the error rate, with what processes of the same code may differ by", Right: true, Keep: 3},
		{Name: "level", Title: "samples", Doc: "what the samples are: passes, steps, repeats or runs", Keep: 2},
		{Name: "a_interval", Pair: "interval", Title: level + " interval of A", Doc: "in which the centre of A lies but for the error rate", Right: true, Keep: 1},
		{Name: "b_interval", Pair: "interval", Title: level + " interval of B", Doc: "the same of B", Right: true, Keep: 1},
	}}
	for _, s := range judgedStages(r) {
		if s.IsPaced() {
			t.Columns[0].Least = max(t.Columns[0].Least, len(sampledStage(s)))
		}
		t.Rows = append(t.Rows, stageRows(s)...)
	}
	if oneUnit(r) != "" {
		for _, row := range t.Rows {
			row[1] = table.Cell{}
		}
	}
	known, _ := t.Known()
	return known
}

// stageCaption returns what stages are judged by, and for what where that is the same for all.
func stageCaption(r *diff.Result) string {
	text := "stages by " + words.MetricWords(words.JudgedBy(r.Options))
	if oneUnit(r) == diff.PerStep && words.JudgedBy(r.Options) == "gpu_span_ns" { // what it is a note says
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
	if units = typeset.Unique(units); len(units) != 1 {
		return ""
	}
	return diff.Unit(units[0])
}

// outsideStages is the name of the work outside all stages, which is compared and not judged.
const outsideStages = "(none)"

func judgedStages(r *diff.Result) []diff.Stage {
	return slices.DeleteFunc(slices.Clone(r.Stages), func(s diff.Stage) bool { return s.Name == outsideStages })
}

// stageRows are a row for what a stage is judged by, and one for its GPU span where that is the time from pass to pass.
func stageRows(s diff.Stage) [][]table.Cell {
	row := func(name string, c stats.Comparison, verdict diff.Verdict, a, b *float64) []table.Cell {
		return []table.Cell{
			table.Text(name), table.Text(string(s.Unit)), sideCell(c.NA, c.A, a), sideCell(c.NB, c.B, b),
			effectCell(c.Effect, verdict), verdictCell(verdict), chanceCell(&c), table.Text(changeInterval(c.Low, c.High)), table.Text(s.Level),
			table.Text(intervalText(frame.Ns, c.LoA, c.HiA)), table.Text(intervalText(frame.Ns, c.LoB, c.HiB)),
		}
	}
	out := [][]table.Cell{row(sampledStage(s), s.Comparison, s.Verdict, s.A.Std, s.B.Std)}
	if k := slices.IndexFunc(s.More, func(m diff.Metric) bool { return m.Name == "gpu_span_ns" }); k >= 0 && s.IsPaced() {
		out = append(out, row(words.DiffStage(s.Name), s.More[k].Comparison, s.More[k].Verdict, nil, nil))
	}
	return out
}

// sampledStage names a stage with what its samples are.
func sampledStage(s diff.Stage) string {
	if s.IsPaced() {
		return words.DiffStage(s.Name) + " pace"
	}
	return words.DiffStage(s.Name)
}

func sideCell(n int, centre float64, std *float64) table.Cell {
	if n == 0 || math.IsNaN(centre) {
		return table.Cell{}
	}
	return table.Number(sampleText(frame.Ns, n, centre, std), centre)
}

func effectCell(effect *float64, v diff.Verdict) table.Cell {
	if effect == nil {
		return table.Cell{}
	}
	c := table.Number(typeset.SignedPercent(*effect), *effect)
	c.Tone = words.ToneOf(v)
	if c.Tone == typeset.ToneUnsure {
		c.Tone = ""
	}
	return c
}

func chanceCell(c *stats.Comparison) table.Cell {
	if c == nil || c.JudgedP() == nil {
		return table.Cell{}
	}
	return table.Number(probability(*c.JudgedP()), *c.JudgedP())
}

// changeInterval is the interval of a change: -1.2 % to +3.4 %.
func changeInterval(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return typeset.SignedPercent(*low) + " to " + typeset.SignedPercent(*high)
}

func verdictCell(v diff.Verdict) table.Cell {
	return table.Cell{Text: string(v), Tone: words.ToneOf(v)}
}

// moreLine says in one line how the other figures of a stage changed; "" where it has none.
func moreLine(s diff.Stage) string {
	var out []string
	for _, m := range s.More {
		if m.Comparison.Effect == nil || s.IsPaced() && m.Name == "gpu_span_ns" { // which has a sentence of its own
			continue
		}
		text := words.MetricShort(m.Name) + " " + typeset.SignedPercent(*m.Comparison.Effect)
		if m.Verdict != "" {
			text += " (" + string(m.Verdict) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
