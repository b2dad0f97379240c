package compare

import (
	"io"

	"prof/queries/judge/gate"
	"prof/queries/judge/stats"
	"prof/render/typeset"
)

// GateJSON writes all that is known of each rule as one object. Times are in ns, shares and changes ratios (0.01 is 1 %); what is not known
// is null. The version is of this form: raised when a key goes or changes its meaning.
func GateJSON(w io.Writer, r *gate.Result, _ typeset.Options) error {
	var baseline *typeset.Object // null where no rule needs one
	if r.Baseline != nil {
		baseline = sideObject(*r.Baseline)
	}
	return typeset.WriteIndented(w, new(typeset.Object).Put("version", 1).
		Put("outcome", r.Outcome).Put("words", r.Words).
		Put("run", sideObject(r.Run)).Put("baseline", baseline).
		Put("is_same", r.Same). // both are the same captures
		Put("alpha", r.Alpha).
		Put("counts", new(typeset.Object).Put("holds", r.Count(gate.Holds)).Put("broken", r.Count(gate.Broken)).Put("cannot_judge", r.Count(gate.CannotJudge))).
		Put("rules", typeset.List(r.Checks, checkObject)). // one for each rule and stage
		Put("differences", typeset.List(r.Differences, differenceObject)).
		Put("notes", r.Notes))
}

func checkObject(c gate.Check) *typeset.Object {
	var samplesA, samplesB *int
	compared := stats.Comparison{}
	if c.Comparison != nil {
		compared = *c.Comparison
		samplesA, samplesB = &compared.NA, &compared.NB
	}
	return new(typeset.Object).Put("rule", c.Rule.Text).Put("file", c.Rule.At.File).Put("line", c.Rule.At.Line).
		Put("figure", c.Subject).  // the rule's, with the stage that it was judged on
		PutText("stage", c.Stage). // null: the whole run
		Put("outcome", c.Outcome).Put("reason", c.Reason).
		Put("unit", c.Unit). // of value, baseline and limit: ns, ratio, count, per_s
		PutText("per", c.Per).Put("value", c.Value).Put("baseline", c.Baseline).Put("limit", c.Limit).
		Put("operator", c.Rule.Operator()). // <= or >=: how value is to lie to limit
		Put("effect_ratio", c.Effect).
		Put("p", c.P). // adjusted for the number of rules
		PutText("method", compared.Method).
		Put("low_ratio", compared.Low).Put("high_ratio", compared.High). // interval of effect_ratio, each end at alpha
		Put("smallest_effect_ratio", compared.Smallest).
		PutText("level", c.Level). // what samples are: passes, repeats or runs
		Put("baseline_sample_count", samplesA).Put("sample_count", samplesB).
		Put("contributors", typeset.List(c.Contributors, contributorObject)). // for one unit of the stage
		PutText("see", c.See)                                                 // the command that shows what changed
}
