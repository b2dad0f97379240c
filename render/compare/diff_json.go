package compare

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffJSON writes comparisons as one object with the key comparisons, also where there is one. Times are in ns, changes are ratios (0.01 is
// 1 %), what is not known is null.
func DiffJSON(w io.Writer, list []*diff.Result, _ typeset.Options) error {
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
		r := diffRunJSON{RunID: run.ID, Name: run.Name, CreatedAt: run.CreatedAt.UTC().Format(time.RFC3339Nano), Command: typeset.TextOrNull(run.Command), Host: typeset.TextOrNull(run.Host)}
		if run.StartedAt != nil {
			r.StartedAt = typeset.TextOrNull(run.StartedAt.UTC().Format(time.RFC3339Nano))
		}
		out.Runs = append(out.Runs, r)
	}
	return out
}

func newDiffOptions(o diff.Options) diffOptionsJSON {
	out := diffOptionsJSON{By: string(cmp.Or(o.By, diff.ByKernel)), Stage: typeset.TextOrNull(o.Stage), Metric: words.JudgedBy(o), Top: o.Top, Alpha: typeset.Finite(o.Stats.Alpha), MinEffect: typeset.Finite(o.Stats.MinEffect),
		Margin: typeset.Finite(o.Stats.Margin), AssumedNoise: o.AssumeNoise}
	if n := o.Stats.Noise; n != nil {
		out.NoiseFloor = typeset.Finite(n.Floor)
	}
	return out
}

func newDiffStage(r *diff.Result, s *diff.Stage) diffStageJSON {
	out := diffStageJSON{Stage: s.Name, Unit: string(s.Unit), Level: typeset.TextOrNull(s.Level), A: newStageSide(s.A), B: newStageSide(s.B), Delta: newDiffDelta(s.Delta), Comparison: newDiffTest(&s.Comparison),
		Verdict: string(s.Verdict), WorkEffect: typeset.FinitePointer(s.WorkEffect), Words: s.Words, Expected: typeset.TextOrNull(s.StageExpected), Contributors: []diffContributorJSON{}, Ledger: []diffItemJSON{}, Figures: []diffFigureJSON{}}
	for _, c := range s.Contributors {
		out.Contributors = append(out.Contributors, diffContributorJSON{c.Name, c.Words, c.DeltaNs, typeset.FinitePointer(c.Effect), typeset.FinitePointer(c.ShareRatio)})
	}
	g := itemGroup{name: s.Name, stage: s}
	for _, part := range s.Ledger {
		out.Ledger = append(out.Ledger, newDiffItem(g, part))
	}
	for _, m := range s.More {
		out.Figures = append(out.Figures, diffFigureJSON{m.Name, typeset.TextOrNull(m.Unit), m.LessIsBetter, newDiffTest(&m.Comparison), string(m.Verdict)})
	}
	return out
}

func newStageSide(s diff.StageSide) diffStageSideJSON {
	out := diffStageSideJSON{Passes: s.Passes, Warmups: s.Warmups, Units: s.Units, Tokens: s.Tokens, TimeNs: s.TimeNs, PerUnitNs: s.PerUnitNs, Samples: []*float64{}, Std: typeset.FinitePointer(s.Std), Launches: s.Launches}
	for _, v := range s.Samples {
		out.Samples = append(out.Samples, typeset.Finite(v))
	}
	return out
}

func newDiffTest(c *stats.Comparison) *diffTestJSON {
	if c == nil {
		return nil
	}
	out := &diffTestJSON{NA: c.NA, NB: c.NB, LoA: typeset.FinitePointer(c.LoA), HiA: typeset.FinitePointer(c.HiA), LoB: typeset.FinitePointer(c.LoB), HiB: typeset.FinitePointer(c.HiB), Effect: typeset.FinitePointer(c.Effect),
		Low: typeset.FinitePointer(c.Low), High: typeset.FinitePointer(c.High), P: typeset.FinitePointer(c.JudgedP()), Method: typeset.TextOrNull(c.Method), Smallest: typeset.FinitePointer(c.Smallest), Why: typeset.TextOrNull(c.Why)}
	if c.NA > 0 {
		out.A = typeset.Finite(c.A)
	}
	if c.NB > 0 {
		out.B = typeset.Finite(c.B)
	}
	return out
}
