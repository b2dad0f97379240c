package compare

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/serving"
	"prof/render/table"
	"prof/render/typeset"
)

// servingTable is what clients measured under each load that both sides have; without rows where neither has any.
func servingTable(r *diff.Result) table.Table {
	t := table.Table{Caption: "serving, as clients measured it, under the same load", Columns: []table.Column{
		{Name: "load", Title: "load", Doc: "requests per second, requests at once at most or in all, mean tokens of prompts and answers", Least: 12, Keep: 6},
		{Name: "figure", Title: "figure", Doc: "latency and its statistic, or throughput", Keep: 9},
		{Name: "a", Pair: "sides", Title: "A", Doc: "as the load generator has it; of several benchmarks the median", Right: true, Keep: 8},
		{Name: "b", Pair: "sides", Title: "B", Doc: "the same of B", Right: true, Keep: 8},
		{Name: "effect_ratio", Title: "change", Doc: "B over A less 1; of requests the typical change from one of A to one of B", Right: true, Keep: 9},
		{Name: "verdict", Title: "verdict", Doc: "better, worse, no change or cannot tell", Keep: 9},
		{Name: "change_interval", Title: "between", Doc: "confidence interval of the change; for requests it excludes variation between benchmarks", Right: true, Keep: 5},
		{Name: "p", Title: "p", Doc: "chance of a difference like this or larger without a change; none for requests, unless noise is assumed", Right: true, Keep: 3},
		{Name: "samples", Title: "based on", Doc: "what the verdict is based on: requests one by one, benchmarks, or one measurement on each side (1 each), which has no interval unless earlier runs show the noise between benchmarks", Least: 12, Keep: 4},
		{Name: "tool", Title: "tool", Doc: "the load generator", Keep: 1},
	}}
	for _, l := range r.Serving {
		for _, f := range l.Figures {
			t.Rows = append(t.Rows, []table.Cell{table.Text(l.Load), table.Text(f.Words()), figureCell(f, f.A), figureCell(f, f.B), effectCell(f.Comparison.Effect, f.Verdict), verdictCell(f.Verdict),
				table.Text(changeInterval(f.Comparison.Low, f.Comparison.High)), chanceCell(&f.Comparison), table.Text(basisText(f)), table.Text(l.Tool)})
		}
	}
	if len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []table.Cell) bool { return row[0] != t.Rows[0][0] }) { // the only load
		t.Caption += ": " + t.Rows[0][0].Text
		t.Columns = t.Columns[1:]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][1:]
		}
	}
	known, _ := t.Known()
	return known
}

func figureCell(f diff.ServingFigure, v *float64) table.Cell {
	if v == nil {
		return table.Cell{}
	}
	if f.Unit == string(frame.Ns) {
		return table.Number(typeset.Nanoseconds(*v), *v)
	}
	return table.Number(typeset.ThreeDigits(*v), *v)
}

func basisText(f diff.ServingFigure) string {
	if c := f.Comparison; c.NA > 1 || c.NB > 1 {
		return fmt.Sprintf("%s and %s %s", typeset.Int(int64(c.NA)), typeset.Int(int64(c.NB)), f.Basis)
	}
	if h := f.History; h.Noise != nil {
		return fmt.Sprintf("1 each, noise of %s runs", typeset.Int(int64(h.Processes)))
	}
	return "1 each"
}

// servingNotes are what the table does not say: where requests failed, and which loads only one side was benchmarked under.
func servingNotes(r *diff.Result) []string {
	var out []string
	for _, l := range r.Serving {
		if text := l.FailedWords(); text != "" {
			out = append(out, fmt.Sprintf("%s (%s)", text, typeset.Neutral(l.Load)))
		}
		if l.A > 0 && l.B > 0 {
			continue
		}
		side := "A"
		if l.A == 0 {
			side = "B"
		}
		out = append(out, fmt.Sprintf("only %s was benchmarked under %s (%s)", side, typeset.Neutral(l.Load), typeset.Neutral(l.Tool)))
	}
	return out
}

// ServingForm is what load generators measured under one load.
type ServingForm struct {
	Load       string              `json:"load" doc:"requests per second, requests at once at most or in all, mean tokens of prompts and answers"`
	Tool       string              `json:"tool" doc:"the load generator"`
	AFailed    *int64              `json:"a_failed_count" doc:"requests of a that failed"`
	BFailed    *int64              `json:"b_failed_count"`
	ABenchmark int                 `json:"a_benchmark_count" doc:"benchmarks of a under it; 0: only b has it"`
	BBenchmark int                 `json:"b_benchmark_count"`
	Figures    []ServingFigureForm `json:"figures" nullable:"false" doc:"that both sides have"`
}

// ServingFigureForm is one latency or throughput, compared.
type ServingFigureForm struct {
	Name       string       `json:"name" doc:"ttft, tpot, itl or e2e with its statistic, in ns, or a rate"`
	A          *float64     `json:"a" doc:"as the load generator has it; of several benchmarks the median"`
	B          *float64     `json:"b"`
	Comparison *TestForm    `json:"comparison"`
	Basis      string       `json:"basis" doc:"what the comparison is of: requests, benchmarks, or one measurement each, with the noise between benchmarks where earlier runs show it"`
	Verdict    diff.Verdict `json:"verdict" enum:"better,worse,no change,cannot tell"`
}

func servingForm(l diff.ServingLoad) ServingForm {
	failed := func(s serving.Sent) *int64 {
		if !s.Known {
			return nil
		}
		return &s.Failed
	}
	return ServingForm{l.Load, l.Tool, failed(l.SentA), failed(l.SentB), l.A, l.B, typeset.Each(l.Figures, func(f diff.ServingFigure) ServingFigureForm {
		return ServingFigureForm{f.Name, typeset.Finite(f.A), typeset.Finite(f.B), testForm(&f.Comparison), f.Basis, f.Verdict}
	})}
}

// servingRecord is a figure as a row of csv: its load stands where items have their stage.
func servingRecord(r *diff.Result, l diff.ServingLoad, f diff.ServingFigure) csvRecord {
	c, cmp := newCSVRecord(r, l.Load, ""), f.Comparison
	c.set("kind", "serving", "name", f.Name, "value_unit", f.Unit, "a_value", f.A, "b_value", f.B, "verdict", string(f.Verdict), "a_samples", int64(cmp.NA), "b_samples", int64(cmp.NB),
		"effect_ratio", cmp.Effect, "low_ratio", cmp.Low, "high_ratio", cmp.High, "p", cmp.JudgedP(), "smallest_ratio", cmp.Smallest)
	return c
}
