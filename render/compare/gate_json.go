package compare

import (
	"encoding/json"
	"io"

	"prof/queries/judge/gate"
	"prof/render/typeset"
)

// gateJSON is a judged run as JSON has it. Times are in ns, shares and changes ratios (0.01 is 1 %); what is not known is null.
type gateJSON struct {
	Version     int                  `json:"version"` // of this form: raised when a key goes or changes its meaning
	Outcome     string               `json:"outcome"` // holds, broken, cannot judge
	Words       string               `json:"words"`
	Run         diffSideJSON         `json:"run"`
	Baseline    *diffSideJSON        `json:"baseline"` // null where no rule needs one
	IsSame      bool                 `json:"is_same"`  // both are the same captures
	Alpha       *float64             `json:"alpha"`
	Counts      gateCountsJSON       `json:"counts"`
	Rules       []gateRuleJSON       `json:"rules"` // one for each rule and stage
	Differences []diffDifferenceJSON `json:"differences"`
	Notes       []string             `json:"notes"`
}

type gateCountsJSON struct {
	Holds       int `json:"holds"`
	Broken      int `json:"broken"`
	CannotJudge int `json:"cannot_judge"`
}

type gateRuleJSON struct {
	Rule         string            `json:"rule"` // as it was written
	File         string            `json:"file"`
	Line         int               `json:"line"`
	Figure       string            `json:"figure"` // the rule's, with the stage that it was judged on
	Stage        *string           `json:"stage"`  // null: the whole run
	Outcome      string            `json:"outcome"`
	Reason       string            `json:"reason"`
	Unit         string            `json:"unit"` // of value, baseline and limit: ns, ratio, count, per_s
	Per          *string           `json:"per"`
	Value        *float64          `json:"value"`
	Baseline     *float64          `json:"baseline"`
	Limit        *float64          `json:"limit"`
	Operator     string            `json:"operator"` // <= or >=: how value is to lie to limit
	Effect       *float64          `json:"effect_ratio"`
	P            *float64          `json:"p"` // adjusted for the number of rules
	Method       *string           `json:"method"`
	Low          *float64          `json:"low_ratio"` // interval of effect_ratio, each end at alpha
	High         *float64          `json:"high_ratio"`
	Smallest     *float64          `json:"smallest_effect_ratio"`
	Level        *string           `json:"level"` // what samples are: passes, repeats or runs
	SamplesA     *int              `json:"baseline_sample_count"`
	SamplesB     *int              `json:"sample_count"`
	Contributors []gateContributor `json:"contributors"`
	See          *string           `json:"see"` // the command that shows what changed
}

type gateContributor struct {
	Name    string   `json:"name"`
	Words   string   `json:"words"`
	DeltaNs int64    `json:"delta_ns"` // for one unit of the stage
	Effect  *float64 `json:"effect_ratio"`
}

// GateJSON writes all that is known of each rule as one object.
func GateJSON(w io.Writer, r *gate.Result, _ typeset.Options) error {
	out := gateJSON{Version: 1, Outcome: string(r.Outcome), Words: r.Words, Run: newDiffSide(r.Run), IsSame: r.Same, Alpha: typeset.Finite(r.Alpha),
		Counts: gateCountsJSON{r.Count(gate.Holds), r.Count(gate.Broken), r.Count(gate.CannotJudge)},
		Rules:  []gateRuleJSON{}, Differences: []diffDifferenceJSON{}, Notes: append([]string{}, r.Notes...)}
	if r.Baseline != nil {
		side := newDiffSide(*r.Baseline)
		out.Baseline = &side
	}
	for _, c := range r.Checks {
		out.Rules = append(out.Rules, newGateRule(c))
	}
	for _, d := range r.Differences {
		out.Differences = append(out.Differences, diffDifferenceJSON{d.Aspect, d.A, d.B, d.Effect, string(d.Weight)})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func newGateRule(c gate.Check) gateRuleJSON {
	out := gateRuleJSON{Rule: c.Rule.Text, File: c.Rule.At.File, Line: c.Rule.At.Line, Figure: c.Subject, Stage: typeset.TextOrNull(c.Stage), Outcome: string(c.Outcome), Reason: c.Reason,
		Unit: string(c.Unit), Per: typeset.TextOrNull(c.Per), Value: typeset.FinitePointer(c.Value), Baseline: typeset.FinitePointer(c.Baseline), Limit: typeset.FinitePointer(c.Limit), Operator: c.Rule.Operator(),
		Effect: typeset.FinitePointer(c.Effect), P: typeset.FinitePointer(c.P), Level: typeset.TextOrNull(c.Level), Contributors: []gateContributor{}, See: typeset.TextOrNull(c.See)}
	if x := c.Comparison; x != nil {
		out.Method, out.Smallest, out.SamplesA, out.SamplesB = typeset.TextOrNull(x.Method), typeset.FinitePointer(x.Smallest), &x.NA, &x.NB
		out.Low, out.High = typeset.FinitePointer(x.Low), typeset.FinitePointer(x.High)
	}
	for _, p := range c.Contributors {
		out.Contributors = append(out.Contributors, gateContributor{p.Name, p.Words, p.DeltaNs, typeset.FinitePointer(p.Effect)})
	}
	return out
}
