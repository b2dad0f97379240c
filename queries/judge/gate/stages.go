package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"prof/internal/suggest"
	"prof/queries/judge"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// outside is the stage of work outside of stages, which a rule is about only where it says so.
const outside = "(none)"

// expandStages makes the checks of a rule on a stage's figure.
func (j *judging) expandStages(r Rule) {
	for _, stage := range j.stages(r) {
		c := j.check(r, stage)
		if c.Outcome == "" && diff.Canonical(r.Metric) == "launches" {
			c.blindFor(j.wholeGraphs(r.Relative, stage), "their kernels")
		}
		if c.Outcome != "" {
			j.add(c)
			continue
		}
		if !r.Relative {
			f := j.alone.Metric(stage, r.Metric)
			j.addValue(c, f, missingFigure(stage, r.Metric, j.out.Run, j.alone.Metric(stage, sumMetric).B))
			continue
		}
		f, sum := j.both.Metric(stage, r.Metric), j.both.Metric(stage, sumMetric)
		j.addChange(c, f, missingFigure(stage, r.Metric, *j.out.Baseline, sum.A), missingFigure(stage, r.Metric, j.out.Run, sum.B))
	}
}

// addValue adds a check that is judged by the centre of a figure of the run.
func (j *judging) addValue(c Check, f diff.Figure, missing string) {
	c.Level, c.Per = f.Level, string(f.Unit)
	if len(f.B) == 0 {
		c.Outcome, c.Reason = CannotTell, missing
	} else {
		c.Value = new(stats.Centre(f.B))
	}
	j.add(c)
}

// addChange adds a check that is judged by comparing a figure. Without samples of a side it says why there are none.
func (j *judging) addChange(c Check, f diff.Figure, missingA, missingB string) {
	switch {
	case len(f.B) == 0:
		c.Outcome, c.Reason = CannotTell, missingB
	case len(f.A) == 0:
		c.Outcome, c.Reason, c.Value = CannotTell, missingA, new(stats.Centre(f.B))
	case f.NoMeasure != "":
		c.Outcome, c.Reason, c.Value = CannotTell, f.NoMeasure, new(stats.Centre(f.B))
	default:
		j.addFigure(c, &f)
		return
	}
	if len(f.A) > 0 {
		c.Baseline = new(stats.Centre(f.A))
	}
	c.Level, c.Per = f.Level, string(f.Unit)
	j.add(c)
}

// stages lists the stages that a rule is about: the one that it names, or each of the run and, where it compares, of its baseline.
func (j *judging) stages(r Rule) []string {
	if r.Stage != AnyStage {
		return []string{r.Stage}
	}
	from := j.alone
	if r.NeedsBaseline() {
		from = j.both
	}
	list := slices.DeleteFunc(from.Stages(), func(stage string) bool { return stage == outside })
	if len(list) == 0 {
		return []string{AnyStage}
	}
	return list
}

// check is a check of a rule on a stage, settled where the sides do not have it.
func (j *judging) check(r Rule, stage string) Check {
	c := Check{Rule: r, Stage: stage, Subject: r.On(shown(stage)), Unit: r.Unit}
	_, inRun := j.alone.Has(stage)
	inBaseline := inRun
	if r.NeedsBaseline() {
		inBaseline, inRun = j.both.Has(stage)
	}
	lost := j.notWhole(r.NeedsBaseline(), stage)
	switch {
	case lost != "" && r.Kind != Overhead:
		c.Outcome, c.Reason = CannotTell, lost
	case stage == AnyStage:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("%s has no device work in a measured pass of any stage", sideName(j.out.Run))
	case !inRun && inBaseline:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("%s has no measured pass of %s, which its baseline has", sideName(j.out.Run), stageWords(stage))
	case !inRun:
		c.Outcome, c.Reason = CannotTell, j.unknownStage(stage)
	case !inBaseline:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("the baseline %s has no measured pass of %s", sideName(*j.out.Baseline), stageWords(stage))
	}
	return c
}

// notWhole returns what the run, or with a baseline either side, did not record of any of the stages: no rule holds by it, and none is broken.
func (j *judging) notWhole(withBaseline bool, stages ...string) string {
	if !withBaseline {
		_, b := j.alone.NotWhole(stages...)
		return b
	}
	a, b := j.both.NotWhole(stages...)
	return cmp.Or(b, a)
}

// shown is a stage as rules name it: all device work of runs without stages is that of any.
func shown(stage string) string {
	if stage == "" {
		return AnyStage
	}
	return stage
}

func stageWords(stage string) string {
	if stage == "" {
		return "all device work"
	}
	return "stage " + stage
}

// unknownStage says that there is no such stage, and which there are.
func (j *judging) unknownStage(stage string) string {
	known := slices.DeleteFunc(j.alone.Stages(), func(s string) bool { return s == "" || s == outside })
	if len(known) == 0 {
		return fmt.Sprintf("there is no stage %s: %s has none, so write rules as stage.*.METRIC; see prof query ranges --run %s", stage, sideName(j.out.Run), shellRun(j.out.Run))
	}
	return fmt.Sprintf("there is no stage %s in %s%s", stage, sideName(j.out.Run), suggest.DidYouMean(stage, known))
}

// missingFigure returns why a side has no value of a stage's figure. sums are those of its GPU work.
func missingFigure(stage, metric string, side diff.Side, sums []float64) string {
	switch metric = diff.Canonical(metric); {
	case stage == outside || stage == "" && (metric == "cpu_ns" || metric == "interval_ns"):
		return fmt.Sprintf("work outside stages belongs to no pass and has no %s, only gpu_sum_ns and launches", metric)
	case metric == "tokens_per_s" || metric == "ns_per_token":
		return fmt.Sprintf("the tokens of the passes of %s are unknown: prof ingest --run %s --workload workload.json", sideName(side), shellRun(side))
	case metric == "interval_ns":
		return fmt.Sprintf("no passes of %s directly follow each other", sideName(side))
	case metric == "cpu_ns":
		return fmt.Sprintf("the CPU time of the passes of %s is unknown", sideName(side))
	case slices.Max(append(sums, 0)) > 0:
		return fmt.Sprintf("%s has sums of GPU work only: its %s is unknown, gpu_sum_ns and launches are known", sideName(side), metric)
	}
	return fmt.Sprintf("no pass of %s has GPU work", sideName(side))
}

// shellRun is the newest run of a side as an argument of a command.
func shellRun(side diff.Side) string {
	if len(side.Runs) == 0 {
		return "RUN"
	}
	return judge.ShellWord(side.Runs[len(side.Runs)-1].Name)
}

// finite returns v, or nil where it is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
