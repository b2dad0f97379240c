package render

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// DiffJSON writes comparisons as one object with the key comparisons, also where there is one. Times are in ns, changes are ratios (0.01 is
// 1 %), what is not known is null.
func DiffJSON(w io.Writer, list []*diff.Result, _ Options) error {
	out := struct {
		Version     int              `json:"version"` // of this form: raised when a key goes or changes its meaning
		Comparisons []diffComparison `json:"comparisons"`
	}{1, []diffComparison{}}
	for _, r := range list {
		out.Comparisons = append(out.Comparisons, newDiffComparison(r))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func newDiffComparison(r *diff.Result) diffComparison {
	c := diffComparison{A: newDiffSide(r.A), B: newDiffSide(r.B), Options: newDiffOptions(r.Options), Verdict: string(r.Verdict), Words: r.Words, IsSame: r.Same,
		Stages: []diffStageJSON{}, Items: []diffItemJSON{}, Differences: []diffDifferenceJSON{}, Notes: []string{}, Queries: []diffQueryJSON{}}
	for i := range r.Stages {
		c.Stages = append(c.Stages, newDiffStage(r, &r.Stages[i]))
	}
	for _, g := range itemGroups(r) {
		for _, item := range g.items {
			c.Items = append(c.Items, newDiffItem(g, item))
		}
	}
	for _, d := range r.Differences {
		c.Differences = append(c.Differences, diffDifferenceJSON{d.Aspect, d.A, d.B, d.Effect, string(d.Weight)})
	}
	c.Notes = append(c.Notes, r.Notes...)
	for _, q := range r.Queries {
		c.Queries = append(c.Queries, diffQueryJSON{q.Run, q.Query, q.SQL})
	}
	return c
}

func newDiffSide(s diff.Side) diffSideJSON {
	out := diffSideJSON{Label: s.Label, Runs: []diffRunJSON{}}
	for _, run := range s.Runs {
		r := diffRunJSON{RunID: run.ID, Name: run.Name, CreatedAt: run.CreatedAt.UTC().Format(time.RFC3339Nano), Command: textOrNull(run.Command), Host: textOrNull(run.Host)}
		if run.StartedAt != nil {
			r.StartedAt = textOrNull(run.StartedAt.UTC().Format(time.RFC3339Nano))
		}
		out.Runs = append(out.Runs, r)
	}
	return out
}

func newDiffOptions(o diff.Options) diffOptionsJSON {
	out := diffOptionsJSON{By: string(cmp.Or(o.By, diff.ByKernel)), Stage: textOrNull(o.Stage), Metric: judgedBy(o), Top: o.Top, Alpha: finite(o.Stats.Alpha), MinEffect: finite(o.Stats.MinEffect),
		Margin: finite(o.Stats.Margin), AssumedNoise: o.AssumeNoise}
	if n := o.Stats.Noise; n != nil {
		out.NoiseFloor = finite(n.Floor)
	}
	return out
}

func newDiffStage(r *diff.Result, s *diff.Stage) diffStageJSON {
	out := diffStageJSON{Stage: s.Name, Unit: string(s.Unit), Level: textOrNull(s.Level), A: newStageSide(s.A), B: newStageSide(s.B), Delta: newDiffDelta(s.Delta), Comparison: newDiffTest(&s.Comparison),
		Verdict: string(s.Verdict), WorkEffect: finitePointer(s.WorkEffect), Words: s.Words, Expected: textOrNull(s.StageExpected), Contributors: []diffContributorJSON{}, Ledger: []diffItemJSON{}, Figures: []diffFigureJSON{}}
	for _, c := range s.Contributors {
		out.Contributors = append(out.Contributors, diffContributorJSON{c.Name, c.Words, c.DeltaNs, finitePointer(c.Effect), finitePointer(c.ShareRatio)})
	}
	g := itemGroup{name: s.Name, stage: s}
	for _, part := range s.Ledger {
		out.Ledger = append(out.Ledger, newDiffItem(g, part))
	}
	for _, m := range s.More {
		out.Figures = append(out.Figures, diffFigureJSON{m.Name, textOrNull(m.Unit), m.LessIsBetter, newDiffTest(&m.Comparison), string(m.Verdict)})
	}
	return out
}

func newStageSide(s diff.StageSide) diffStageSideJSON {
	out := diffStageSideJSON{Passes: s.Passes, Warmups: s.Warmups, Units: s.Units, Tokens: s.Tokens, TimeNs: s.TimeNs, PerUnitNs: s.PerUnitNs, Samples: []*float64{}, Std: finitePointer(s.Std), Launches: s.Launches}
	for _, v := range s.Samples {
		out.Samples = append(out.Samples, finite(v))
	}
	return out
}

func newDiffTest(c *stats.Comparison) *diffTestJSON {
	if c == nil {
		return nil
	}
	out := &diffTestJSON{NA: c.NA, NB: c.NB, LoA: finitePointer(c.LoA), HiA: finitePointer(c.HiA), LoB: finitePointer(c.LoB), HiB: finitePointer(c.HiB), Effect: finitePointer(c.Effect),
		Low: finitePointer(c.Low), High: finitePointer(c.High), P: finitePointer(c.JudgedP()), Method: textOrNull(c.Method), Smallest: finitePointer(c.Smallest), Why: textOrNull(c.Why)}
	if c.NA > 0 {
		out.A = finite(c.A)
	}
	if c.NB > 0 {
		out.B = finite(c.B)
	}
	return out
}

// textOrNull gives an empty text as nil.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// finite gives a number that JSON can hold; nil of others.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func finitePointer(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return finite(*v)
}
