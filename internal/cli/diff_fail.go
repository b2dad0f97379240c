package cli

import (
	"fmt"
	"strings"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
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
	case s.Verdict == diff.Worse && s.WorkEffect != nil:
		return failWork(limit, *effect, *s.WorkEffect)
	case *effect > limit && s.Verdict == diff.Worse:
		return exitRegression, fmt.Sprintf("slower by %s, more than %s", percentText(*effect), percentText(limit))
	case *effect > limit: // also where the change counts as none because it is not sure, or no larger than noise
		return exitCannotJudge, fmt.Sprintf("looks slower by %s, more than %s, but that is not sure: %s", percentText(*effect), percentText(limit), reasonOf(s))
	case s.Verdict == diff.CannotTell && s.Comparison.P == nil:
		return exitCannotJudge, "cannot be judged: " + reasonOf(s)
	case s.Verdict != diff.Better && s.Verdict != diff.Worse && isBlind(limit, s):
		return exitCannotJudge, fmt.Sprintf("cannot be judged: the samples vary so much that a change below %s would not have shown", percentText(*s.Comparison.Smallest))
	case s.Verdict != diff.Better && s.Comparison.Smallest != nil && *s.Comparison.Smallest > limit:
		return exitOK, fmt.Sprintf("not slower by more than %s, but a change below %s would not have shown", percentText(limit), percentText(*s.Comparison.Smallest))
	}
	return exitOK, ""
}

// failWork judges a stage that is slower by its GPU work alone: of all of its change, idle time may be noise.
func failWork(limit, effect, work float64) (code int, why string) {
	text := fmt.Sprintf("surely slower by %s by its GPU work; by %s in all, of which idle time may be noise", percentText(work), percentText(effect))
	switch {
	case work > limit && effect > limit:
		return exitRegression, fmt.Sprintf("%s: more than %s", text, percentText(limit))
	case work > limit || effect > limit:
		return exitCannotJudge, fmt.Sprintf("cannot be judged against %s: %s", percentText(limit), text)
	}
	return exitOK, ""
}

// blindFrom is how many times the limit the smallest change that could show may be at most for its absence to mean something.
const blindFrom = 10

// isBlind says whether samples vary too much to judge a stage that does not show a change. A limit below the least effect that counts is
// taken as that: no samples could hold one of 0.
func isBlind(limit float64, s diff.Stage) bool {
	return s.Comparison.Smallest != nil && *s.Comparison.Smallest > blindFrom*max(limit, stats.DefaultMinEffect)
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
