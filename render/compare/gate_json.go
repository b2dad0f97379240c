package compare

import (
	"io"

	"prof/queries/judge/gate"
	"prof/queries/judge/stats"
	"prof/render/typeset"
)

// GateJSON writes all that is known of each rule as GateForm.
func GateJSON(w io.Writer, r *gate.Result, _ typeset.Options) error {
	f := GateForm{
		Version: 1, Outcome: r.Outcome, Words: r.Words, Run: sideForm(r.Run), IsSame: r.Same, Alpha: typeset.Number(r.Alpha),
		Counts: CountsForm{r.Count(gate.Holds), r.Count(gate.Broken), r.Count(gate.CannotTell)},
		Rules:  typeset.Each(r.Checks, ruleForm), Differences: typeset.Each(r.Differences, differenceForm), Notes: typeset.Listed(r.Notes),
	}
	if r.Baseline != nil {
		f.Baseline = &BaselineForm{SideForm: sideForm(*r.Baseline)}
	}
	return typeset.WriteIndented(w, f)
}

// GateForm is what is known of a run and its rules, as JSON. Times are in ns, shares and changes are ratios (0.01 is 1 %), what is not known is null.
type GateForm struct {
	Version     int              `json:"version" doc:"of this form: raised when a key goes or changes its meaning"`
	Outcome     gate.Outcome     `json:"outcome" enum:"holds,broken,cannot tell" doc:"of all rules"`
	Words       string           `json:"words" doc:"the outcome in one line"`
	Run         SideForm         `json:"run"`
	Baseline    *BaselineForm    `json:"baseline"`
	IsSame      bool             `json:"is_same" doc:"run and baseline are the same captures"`
	Alpha       typeset.Number   `json:"alpha" doc:"probability of calling noise a regression, over all rules"`
	Counts      CountsForm       `json:"counts" doc:"rules by outcome"`
	Rules       []RuleForm       `json:"rules" nullable:"false" doc:"one for each rule and stage"`
	Differences []DifferenceForm `json:"differences" nullable:"false" doc:"what else differs from the baseline"`
	Notes       []string         `json:"notes" nullable:"false" doc:"what a reader must know of the figures"`
}

// BaselineForm is the side that a run is compared with; null where no rule needs one.
type BaselineForm struct {
	_ struct{} `nullable:"true"`
	SideForm
}

// CountsForm is how many rules have which outcome.
type CountsForm struct {
	Holds      int `json:"holds"`
	Broken     int `json:"broken"`
	CannotTell int `json:"cannot_tell"`
}

// RuleForm is a rule, judged on one figure.
type RuleForm struct {
	Rule                string            `json:"rule" doc:"as it was written"`
	File                string            `json:"file" doc:"where it was written"`
	Line                int               `json:"line"`
	Figure              string            `json:"figure" doc:"the rule's, with the stage on which it was judged"`
	Stage               *string           `json:"stage" doc:"null is the whole run"`
	Outcome             gate.Outcome      `json:"outcome" enum:"holds,broken,cannot tell"`
	Reason              string            `json:"reason" doc:"one sentence"`
	Unit                gate.Unit         `json:"unit" doc:"of value, baseline and limit: ns, ratio, count, per_s"`
	Per                 *string           `json:"per" doc:"what figures are for: pass, token or launch; null is the run"`
	Value               *float64          `json:"value"`
	Baseline            *float64          `json:"baseline"`
	Limit               *float64          `json:"limit"`
	Operator            string            `json:"operator" enum:"<=,>=" doc:"how value is to lie to limit"`
	EffectRatio         *float64          `json:"effect_ratio" doc:"value / baseline - 1"`
	P                   *float64          `json:"p" doc:"adjusted for the number of rules"`
	Method              *string           `json:"method" doc:"the test"`
	LowRatio            *float64          `json:"low_ratio" doc:"interval of effect_ratio, each end at alpha"`
	HighRatio           *float64          `json:"high_ratio"`
	SmallestEffectRatio *float64          `json:"smallest_effect_ratio" doc:"the smallest change that these samples could show"`
	Level               *string           `json:"level" doc:"what samples are: passes, repeats or runs"`
	BaselineSampleCount *int              `json:"baseline_sample_count"`
	SampleCount         *int              `json:"sample_count"`
	Contributors        []ContributorForm `json:"contributors" nullable:"false" doc:"of a broken rule: where the change comes from, for one unit of the stage"`
	See                 *string           `json:"see" doc:"command that shows what changed"`
}

func ruleForm(c gate.Check) RuleForm {
	f := RuleForm{
		Rule: c.Rule.Text, File: c.Rule.At.File, Line: c.Rule.At.Line, Figure: c.Subject, Stage: typeset.Optional(c.Stage), Outcome: c.Outcome, Reason: c.Reason,
		Unit: c.Unit, Per: typeset.Optional(c.Per), Value: typeset.Finite(c.Value), Baseline: typeset.Finite(c.Baseline), Limit: typeset.Finite(c.Limit), Operator: c.Rule.Operator(),
		EffectRatio: typeset.Finite(c.Effect), P: typeset.Finite(c.P), Level: typeset.Optional(c.Level),
		Contributors: typeset.Each(c.Contributors, contributorForm), See: typeset.Optional(c.See),
	}
	compared := stats.Comparison{}
	if c.Comparison != nil {
		compared = *c.Comparison
		f.BaselineSampleCount, f.SampleCount = &compared.NA, &compared.NB
	}
	f.Method, f.LowRatio, f.HighRatio, f.SmallestEffectRatio = typeset.Optional(compared.Method), typeset.Finite(compared.Low), typeset.Finite(compared.High), typeset.Finite(compared.Smallest)
	return f
}
