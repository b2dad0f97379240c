package diff

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/stats"
	"prof/schema/say"
)

const sameWords = "both sides are the same captures"

// conclude sets verdicts of stages whose sides are the same captures, words and the verdict of the whole.
func (r *Result) conclude(c *comparer) {
	for i := range r.Stages {
		st := &r.Stages[i]
		if r.Same && c.stages[i].both() {
			st.Verdict = NoChange
			st.Comparison.Verdict, st.Comparison.Why = stats.NoChange, sameWords
			for k := range st.More {
				st.More[k].Verdict, st.More[k].Comparison.Verdict, st.More[k].Comparison.Why = NoChange, stats.NoChange, sameWords
			}
		}
		st.Words = st.sentence(c.stages[i])
		if n := c.stages[i].a.untimed + c.stages[i].b.untimed; n > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: the idle time of %s is unknown; only their GPU work counts", stageName(st.Name), say.Count(int64(n), "pass", "passes")))
		}
	}
	if r.Same {
		r.Notes = append(r.Notes, sameWords)
	}
	r.Verdict = r.overall()
	r.Words = r.line() + c.graphText()
	r.Next = r.next()
	r.addServing()
	for _, st := range r.Stages {
		if st.Unit == PerToken {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: times are per token, because the passes of A and B have different numbers of tokens", stageName(st.Name)))
		}
	}
}

// next are the commands that tell what single processes do not: captures of several processes a side, as many as the change takes that needs most of them.
func (r *Result) next() []string {
	n := 0
	for _, st := range r.judgedStages() {
		if st.Verdict == CannotTell && st.Comparison.Method == stats.MethodProcess {
			n = max(n, stats.FewProcesses, st.Comparison.Processes(r.Options.Stats))
		}
	}
	if n == 0 || r.Verdict != CannotTell || len(r.A.Runs) == 0 || len(r.B.Runs) == 0 {
		return nil
	}
	a, b := r.A.Runs[len(r.A.Runs)-1].Name+"-2", r.B.Runs[len(r.B.Runs)-1].Name+"-2"
	capture := func(run string) string {
		return fmt.Sprintf("prof capture --run %s --repeats %d -- CMD...", judge.ShellWord(run), n)
	}
	return []string{capture(a), capture(b), fmt.Sprintf("prof diff %s %s", judge.ShellWord(a), judge.ShellWord(b))}
}

// graphText says that kernels cannot be compared where one side's CUDA graphs were traced as a whole and the other's were not.
func (c *comparer) graphText() string {
	for _, s := range c.stages {
		if sides := s.wholeGraphs(); sides != "" && sides != "both sides" && s.both() {
			return "; CUDA graphs of " + sides + " were traced as a whole, so kernels cannot be compared"
		}
	}
	return ""
}

// judgedStages are the stages that have a say in the verdict of the whole.
func (r *Result) judgedStages() []Stage {
	var out []Stage
	for _, st := range r.Stages {
		if st.Name != outside {
			out = append(out, st)
		}
	}
	return out
}

// overall is better or worse where stages are and none is the contrary; of those that are both, what their measured time comes to.
func (r *Result) overall() Verdict {
	count := map[Verdict]int{}
	list := r.judgedStages()
	for _, st := range list {
		count[st.Verdict]++
	}
	switch {
	case count[Better] > 0 && count[Worse] > 0:
		if r.sureChange() < 0 {
			return Better
		}
		return Worse
	case count[Better] > 0:
		return Better
	case count[Worse] > 0:
		return Worse
	case len(list) > 0 && count[NoChange] == len(list):
		return NoChange
	}
	return CannotTell
}

// sureChange is how much longer the measured passes of side A would take with the sure changes of their stages, ns.
func (r *Result) sureChange() float64 {
	var out float64
	for _, st := range r.judgedStages() {
		if (st.Verdict == Better || st.Verdict == Worse) && st.Comparison.Effect != nil {
			out += *st.Comparison.Effect * st.Comparison.A * float64(st.A.Units)
		}
	}
	return out
}

// line says in one line how the stages changed: the judged changes first, then those that have no change or cannot be told.
func (r *Result) line() string {
	if r.Same {
		return sameWords
	}
	list := r.judgedStages()
	inA, inB := namesOf(list, func(st Stage) int64 { return st.A.Passes }), namesOf(list, func(st Stage) int64 { return st.B.Passes })
	if inA != "" && inB != "" && !slices.ContainsFunc(list, func(st Stage) bool { return min(st.A.Passes, st.B.Passes) > 0 }) {
		return fmt.Sprintf("cannot tell: no stage is on both sides (A: %s; B: %s)", inA, inB)
	}
	var changed, others []string
	worse, better := false, false
	for _, st := range list {
		text := stageName(st.Name) + st.shortText()
		if st.Verdict != Better && st.Verdict != Worse {
			if figures := st.unsureText(); figures != "" {
				text += " (" + figures + ")"
			}
			if alone := st.aloneText(); alone != "" {
				text += ", " + alone
			}
			if work := st.workText(); work != "" && st.Verdict == CannotTell {
				text += ", but " + work
			}
			if sure := st.sureText(); sure != "" {
				text += ", but " + sure
			}
			others = append(others, text)
			continue
		}
		worse, better = worse || st.Verdict == Worse, better || st.Verdict == Better
		if st.IsPaced() {
			changed = append(changed, text+" from pass to pass ("+st.fromTo(" -> ")+st.leastText()+"); "+st.spanText())
			continue
		}
		text += " (" + st.fromTo(" -> ") + st.leastText() + ")"
		if words := contributorWords(st.Contributors, false); words != "" {
			text += ": " + words
		}
		changed = append(changed, text)
	}
	if worse && better {
		changed = append(changed, fmt.Sprintf("net of these changes over the measured passes of A: %s", signedTime(int64(r.sureChange()))))
	}
	return strings.Join(append(changed, others...), "; ")
}

// namesOf names the stages of which a side has passes.
func namesOf(list []Stage, passes func(Stage) int64) string {
	var out []string
	for _, st := range list {
		if passes(st) > 0 {
			out = append(out, stageName(st.Name))
		}
	}
	return strings.Join(out, ", ")
}

// shortText is changeText as part of a sentence.
func (st *Stage) shortText() string {
	switch text := st.changeText(); text {
	case string(NoChange), string(CannotTell):
		return ": " + text
	default:
		return " " + text
	}
}

// changeText is the verdict in a few words: "12 % faster".
func (st *Stage) changeText() string {
	c := st.Comparison
	switch {
	case st.NotWhole:
		return string(CannotTell)
	case st.A.Passes == 0 && st.B.Passes > 0:
		return "only in B"
	case st.B.Passes == 0 && st.A.Passes > 0:
		return "only in A"
	case c.Effect == nil || st.Verdict == NoChange || st.Verdict == CannotTell:
		return string(st.Verdict)
	}
	return fasterText(*c.Effect)
}

// leastText returns how much of a change is certain, where that is less than half of it.
func (st *Stage) leastText() string {
	c := st.Comparison
	if c.Effect == nil || c.Low == nil || c.High == nil {
		return ""
	}
	certain := max(0, *c.Low)
	if *c.Effect < 0 {
		certain = max(0, -*c.High)
	}
	if certain <= 0 || certain >= math.Abs(*c.Effect)/2 {
		return ""
	}
	return ", at least " + percentText(certain) + " is certain"
}

func fasterText(effect float64) string {
	switch {
	case effect > 1:
		return fmt.Sprintf("%.3g times as long", 1+effect)
	case effect > 0:
		return exactPercent(effect) + " slower"
	}
	return exactPercent(effect) + " faster"
}

func contributorWords(list []Contributor, times bool) string {
	var parts []string
	for _, c := range list {
		text := c.Words
		if change := signedTime(c.DeltaNs); times && !strings.HasSuffix(text, change) {
			text += " (" + change + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// stageName names a stage in a sentence.
func stageName(stage string) string {
	switch stage {
	case "":
		return "all device work"
	case outside:
		return "work outside stages"
	}
	return stage
}

func signedTime(ns int64) string {
	if ns > 0 {
		return "+" + judge.DurationText(float64(ns))
	}
	return judge.DurationText(float64(ns))
}

// percentText returns the size of a ratio in percent, with one decimal below 10 and at least one digit that is not 0.
func percentText(ratio float64) string {
	percent := math.Abs(100 * ratio)
	decimals := 0
	switch {
	case percent == 0 || percent >= 9.95:
	case percent < 0.095:
		return strconv.FormatFloat(percent, 'g', 1, 64) + " %"
	default:
		decimals = 1
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64) + " %"
}

// exactPercent is percentText with a decimal up to 100 %, for the figure that a verdict is about.
func exactPercent(ratio float64) string {
	if percent := math.Abs(100 * ratio); percent >= 9.95 && percent < 99.95 {
		return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
	}
	return percentText(ratio)
}

// signedPercent returns a change: -31 %, +4.2 %, or how many times as much where it is more than three times.
func signedPercent(effect float64) string {
	switch {
	case effect > 99:
		return strconv.FormatFloat(1+effect, 'f', 0, 64) + "x"
	case effect > 2:
		return strconv.FormatFloat(1+effect, 'g', 3, 64) + "x"
	case effect < 0:
		return "-" + percentText(effect)
	}
	return "+" + percentText(effect)
}
