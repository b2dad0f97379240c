package gate

import (
	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
)

// Outcome is what judging a rule, or all of them, comes to.
type Outcome string

// What a rule can come to. The zero value is none.
const (
	Holds      Outcome = "holds"
	Broken     Outcome = "broken"
	CannotTell Outcome = "cannot tell"
)

// Options say how rules are judged.
type Options struct {
	Alpha       float64  // error rate of all relative rules together; 0 is stats.DefaultAlpha
	AssumeNoise *float64 // changes between runs up to this count as noise: 0.02 is 2 %; nil: what the warehouse's history says
}

// Result is a run, or several runs of the same thing, judged by rules.
type Result struct {
	Run         diff.Side
	Baseline    *diff.Side // nil where no rule needs one
	Same        bool       // the run and its baseline are the same captures
	Alpha       float64
	Outcome     Outcome // broken if a rule is; else cannot tell if one is; else holds
	Words       string  // one line
	Checks      []Check // in the order of the rules, each by stage
	Differences []conditions.Difference
	Notes       []string // what a reader must know of the figures
}

// Check is a rule judged on one figure. A rule on each stage gives one for each.
type Check struct {
	Rule            Rule
	Subject         string   // the figure in the words of rules, with its stage
	Stage           string   // "" where the whole run is meant
	Unit            Unit     // of Baseline, Value and Limit
	Per             string   // what figures are for: pass, token or launch; "" for the run
	Baseline, Value *float64 // nil when not known
	Limit           *float64 // what Value may come to, in Unit: of a relative limit by Baseline; nil when that is not known
	Effect          *float64 // Value / Baseline - 1
	Level           string   // what the samples are: passes, repeats or runs; "" where nothing was sampled
	Comparison      *stats.Comparison
	P               *float64 // of the change, adjusted for the number of relative rules; nil where no test was possible
	Outcome         Outcome
	Reason          string             // one sentence
	Contributors    []diff.Contributor // of a broken relative rule on a stage's gpu_span_ns, gpu_busy_ns or gpu_sum_ns: what the change comes from, largest first
	See             string             // of a broken relative rule: the command that shows what changed; "" for none
	isLeast         bool               // the figure is at least Value
	tested          int                // the checks whose P are adjusted together
	same            bool               // run and baseline are the same captures
}

// Count returns how many checks came to an outcome.
func (r *Result) Count(o Outcome) int {
	n := 0
	for _, c := range r.Checks {
		if c.Outcome == o {
			n++
		}
	}
	return n
}
