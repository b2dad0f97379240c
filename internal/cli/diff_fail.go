package cli

import (
	"fmt"
	"strings"

	"prof/queries/diff"
)

// failDiff chooses the exit code by --fail-over, and says on stderr which stages it follows from.
func (p *program) failDiff(limit *float64, list []*diff.Result) error {
	if limit == nil {
		return nil
	}
	code := exitOK
	for _, r := range list {
		for _, s := range r.Stages {
			c, why := failStage(*limit, r.Same, s)
			if why != "" {
				fmt.Fprintf(p.err, "prof: %s against %s, %s: %s\n", r.B.Label, r.A.Label, stageOrAll(s.Name), why)
			}
			if c == exitRegression || code == exitOK {
				code = c
			}
		}
	}
	if code == exitOK {
		return nil
	}
	return exitStatus(code)
}

// outsideStages is the name of work outside stages, which is not judged.
const outsideStages = "(none)"

// failStage judges one stage: whether it is surely slower by more than the limit, and why, or why that cannot be judged. What holds only because
// little could have shown is said too.
func failStage(limit float64, same bool, s diff.Stage) (code int, why string) {
	effect := s.Comparison.Effect
	switch {
	case same || s.Name == outsideStages:
		return exitOK, ""
	case effect == nil:
		return exitCannotJudge, "cannot be judged: " + reasonOf(s)
	case *effect > limit && s.Verdict == diff.Worse:
		return exitRegression, fmt.Sprintf("slower by %s, more than %s", percentText(*effect), percentText(limit))
	case *effect > limit: // also where the change counts as none because it is not sure, or no larger than noise
		return exitCannotJudge, fmt.Sprintf("looks slower by %s, more than %s, but that is not sure: %s", percentText(*effect), percentText(limit), reasonOf(s))
	case s.Verdict == diff.CannotTell && s.Comparison.P == nil:
		return exitCannotJudge, "cannot be judged: " + reasonOf(s)
	case s.Verdict != diff.Better && s.Comparison.Smallest != nil && *s.Comparison.Smallest > limit:
		return exitOK, fmt.Sprintf("not slower by more than %s, but a change below %s would not have shown", percentText(limit), percentText(*s.Comparison.Smallest))
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

// percentText shows a share in percent with up to three digits.
func percentText(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
