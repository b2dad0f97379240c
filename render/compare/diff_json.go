package compare

import (
	"cmp"
	"io"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffJSON writes comparisons as one object with the key comparisons, also where there is one. Times are in ns, changes are ratios (0.01 is
// 1 %), what is not known is null. The version is of this form: raised when a key goes or changes its meaning.
func DiffJSON(w io.Writer, list []*diff.Result, _ typeset.Options) error {
	return typeset.WriteIndented(w, new(typeset.Object).Put("version", 1).Put("comparisons", typeset.List(list, comparisonObject)))
}

// comparisonObject is one comparison as JSON has it. Its keys are those of the columns of queries where these have the figure.
func comparisonObject(r *diff.Result) *typeset.Object {
	items := []any{}
	for _, g := range itemGroups(r) {
		items = append(items, typeset.List(g.items, g.object)...)
	}
	return new(typeset.Object).
		Put("a", sideObject(r.A)).Put("b", sideObject(r.B)).
		Put("options", optionsObject(r.Options)).
		Put("verdict", r.Verdict).Put("words", r.Words).
		Put("is_same", r.Same). // both sides are the same captures
		Put("stages", typeset.List(r.Stages, stageObject)).
		Put("items", items). // by options.by
		Put("differences", typeset.List(r.Differences, differenceObject)).
		Put("notes", r.Notes).
		Put("queries", typeset.List(r.Queries, func(q diff.Source) *typeset.Object {
			return new(typeset.Object).Put("run", q.Run).Put("query", q.Query).Put("sql", q.SQL)
		}))
}

func sideObject(s diff.Side) *typeset.Object {
	return new(typeset.Object).Put("label", s.Label).Put("runs", typeset.List(s.Runs, func(run diff.Run) *typeset.Object {
		started := ""
		if run.StartedAt != nil {
			started = run.StartedAt.UTC().Format(time.RFC3339Nano)
		}
		return new(typeset.Object).Put("run_id", run.ID).Put("name", run.Name).
			Put("created_at", run.CreatedAt.UTC().Format(time.RFC3339Nano)).PutText("started_at", started).
			PutText("command", run.Command).PutText("host", run.Host)
	}))
}

func differenceObject(d diff.Difference) *typeset.Object {
	return new(typeset.Object).Put("aspect", d.Aspect).Put("a", d.A).Put("b", d.B).Put("effect", d.Effect).Put("weight", d.Weight)
}

func optionsObject(o diff.Options) *typeset.Object {
	out := new(typeset.Object).Put("by", cmp.Or(o.By, diff.ByKernel)).
		PutText("stage", o.Stage). // null: all
		Put("metric", words.JudgedBy(o)).
		Put("top", o.Top). // 0: all
		Put("alpha", o.Stats.Alpha).Put("min_effect_ratio", o.Stats.MinEffect).Put("margin_ratio", o.Stats.Margin).
		Put("assumed_noise_ratio", o.AssumeNoise)
	if o.Stats.Noise == nil {
		return out.Put("noise_floor_ratio", nil)
	}
	return out.Put("noise_floor_ratio", o.Stats.Noise.Floor)
}

// stageObject is a stage: "" is all device work, "(none)" what lies outside every stage.
func stageObject(s diff.Stage) *typeset.Object {
	g := itemGroup{name: s.Name, stage: &s}
	return new(typeset.Object).Put("stage", s.Name).Put("unit", s.Unit).
		PutText("level", s.Level). // what the samples are: passes, repeats or runs
		Put("a", stageSideObject(s.A)).Put("b", stageSideObject(s.B)).
		Put("delta", deltaObject(s.Delta)). // of per_unit_ns
		Put("comparison", testObject(&s.Comparison)).
		Put("verdict", s.Verdict).
		Put("work_effect_ratio", s.WorkEffect). // change of the stage by its GPU work alone; null where the verdict is not by that
		Put("work_low_ratio", s.WorkLow).Put("work_high_ratio", s.WorkHigh).
		Put("words", s.Words).
		PutText("expected", s.StageExpected). // what differences between the sides explain
		Put("contributors", typeset.List(s.Contributors, func(c diff.Contributor) *typeset.Object {
			return contributorObject(c).Put("stage_share_ratio", c.ShareRatio)
		})).
		Put("ledger", typeset.List(s.Ledger, g.object)). // adds up to delta
		Put("figures", typeset.List(s.More, func(m diff.Metric) *typeset.Object {
			return new(typeset.Object).Put("name", m.Name).PutText("unit", m.Unit).Put("less_is_better", m.LessIsBetter).
				Put("comparison", testObject(&m.Comparison)).Put("verdict", m.Verdict)
		}))
}

func contributorObject(c diff.Contributor) *typeset.Object {
	return new(typeset.Object).Put("name", c.Name).Put("words", c.Words).Put("delta_ns", c.DeltaNs).Put("effect_ratio", c.Effect)
}

func stageSideObject(s diff.StageSide) *typeset.Object {
	return new(typeset.Object).Put("passes", s.Passes).Put("warmups", s.Warmups).Put("units", s.Units).Put("tokens", s.Tokens).
		Put("time_ns", s.TimeNs).Put("per_unit_ns", s.PerUnitNs).
		Put("samples", s.Samples). // of options.metric, for one unit
		Put("std", s.Std).
		Put("launches", s.Launches) // null where graphs were traced as a whole
}

// testObject is a comparison of samples; null where none were compared.
func testObject(c *stats.Comparison) *typeset.Object {
	if c == nil {
		return nil
	}
	centre := func(v float64, n int) *float64 {
		if n == 0 {
			return nil
		}
		return &v
	}
	return new(typeset.Object).Put("a_samples", c.NA).Put("b_samples", c.NB).Put("a", centre(c.A, c.NA)).Put("b", centre(c.B, c.NB)).
		Put("a_low", c.LoA).Put("a_high", c.HiA).Put("b_low", c.LoB).Put("b_high", c.HiB).
		Put("effect_ratio", c.Effect).
		Put("low_ratio", c.Low).Put("high_ratio", c.High). // interval of effect_ratio, each end at alpha, with what processes differ by
		Put("p", c.JudgedP()).PutText("method", c.Method).Put("smallest_ratio", c.Smallest).PutText("why", c.Why)
}

func deltaObject(d *diff.Delta) *typeset.Object {
	if d == nil {
		return nil
	}
	return new(typeset.Object).Put("ns", d.Ns).Put("count_ns", d.CountNs).Put("duration_ns", d.DurationNs).Put("interaction_ns", d.InteractionNs).
		Put("new_ns", d.NewNs).Put("removed_ns", d.RemovedNs)
}

// object is an item of the group.
func (g itemGroup) object(i diff.Item) *typeset.Object {
	return new(typeset.Object).Put("stage", i.Stage).Put("kind", i.Kind).Put("name", i.Name).
		PutText("family", i.Family).PutText("grid", i.Grid).PutText("block", i.Block).
		Put("unit", cmp.Or(i.Unit, "ns")).Put("status", i.Status).PutText("partner", i.Partner).PutText("how", i.How).
		Put("a", measureObject(i.A)).Put("b", measureObject(i.B)).Put("delta", deltaObject(i.Delta)).Put("stage_share_ratio", shareOfStage(g, i)).
		Put("comparison", testObject(i.Comparison)).PutText("verdict", string(i.Verdict))
}

func measureObject(m diff.Measure) *typeset.Object {
	return new(typeset.Object).Put("calls", m.Calls).Put("calls_per_unit", m.PerUnitCalls).Put("total_ns", m.TotalNs).Put("per_unit_ns", m.PerUnitNs).
		Put("mean_ns", m.MeanNs).Put("std_ns", m.StdNs).Put("min_ns", m.MinNs).Put("max_ns", m.MaxNs).Put("value", m.Value)
}
