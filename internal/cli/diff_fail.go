package cli

import (
	"fmt"
	"strings"

	"prof/queries/judge/diff"
)

// failDiff chooses the exit code by --fail-over, and says on stderr which stages and figures of serving it follows from.
func (p *program) failDiff(q diffRequest, list []*diff.Result) error {
	if q.failOver == nil {
		return nil
	}
	code := exitOK
	for _, r := range list {
		add := func(what string, c int, why string) {
			if why != "" {
				fmt.Fprintf(p.err, "prof: %s against %s, %s: %s\n", r.B.Label, r.A.Label, what, why)
			}
			if c == exitRegression || code == exitOK {
				code = c
			}
		}
		for _, s := range r.Stages {
			c, why := failStage(*q.failOver, r.Same, s)
			add(stageOrAll(s.Name), c, why)
		}
		failServing(*q.failOver, r, add)
	}
	if code == exitOK {
		return nil
	}
	return exitStatus(code)
}

// outsideStages is the name of work outside stages, which is not judged.
const outsideStages = "(none)"

// failStage turns the verdict of a stage, which has the limit as its margin, into an exit code, and says what it follows from.
func failStage(limit float64, same bool, s diff.Stage) (code int, why string) {
	effect := s.Comparison.Effect
	switch {
	case same || s.Name == outsideStages:
	case s.Verdict == diff.CannotTell && s.Comparison.High != nil && *s.Comparison.High <= limit:
	case s.Verdict == diff.CannotTell && effect != nil && *effect > limit:
		return exitCannotTell, fmt.Sprintf("looks slower by %s, which is more than %s but uncertain: %s", percentText(*effect), percentText(limit), reasonOf(s))
	case s.Verdict == diff.CannotTell || effect == nil:
		return exitCannotTell, "cannot tell: " + reasonOf(s)
	case s.Verdict == diff.Worse && *effect > limit:
		return exitRegression, fmt.Sprintf("slower by %s, more than %s", percentText(*effect), percentText(limit))
	}
	return exitOK, ""
}

// reasonOf says what a verdict follows from.
func reasonOf(s diff.Stage) string {
	switch {
	case s.A.Passes == 0 && s.B.Passes > 0:
		return "only the compared side has it"
	case s.B.Passes == 0 && s.A.Passes > 0:
		return "only the base has it"
	case s.Comparison.Why == "":
		return "there are too few samples"
	}
	return strings.TrimSuffix(s.Comparison.Why, ".")
}

func stageOrAll(stage string) string {
	if stage == "" {
		return "all device work"
	}
	return "stage " + stage
}

// Changes by so many times and more are told as a factor, and those beyond mostFactor by that.
const (
	leastFactor = 10
	mostFactor  = 100
)

// percentText shows the size of a change in percent with up to three digits, and a large one as a factor.
func percentText(share float64) string {
	switch factor := 1 + share; {
	case factor > mostFactor:
		return fmt.Sprintf("a factor of more than %d", mostFactor)
	case factor >= leastFactor:
		return fmt.Sprintf("a factor of %.3g", factor)
	}
	return fmt.Sprintf("%.3g %%", 100*share)
}
