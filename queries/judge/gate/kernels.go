package gate

import (
	"fmt"
	"slices"

	"prof/internal/suggest"
	"prof/queries/judge/diff"
)

// expandKernels makes the checks of a rule on kernels. Those that match are taken together in each stage. Of a rule on each stage, those
// in which no kernel of either side matches have none; where that is so of all, the rule has a check that says so.
func (j *judging) expandKernels(r Rule) {
	made := false
	for _, stage := range j.stages(r) {
		inBaseline, inRun := j.matches(r, stage)
		if r.Stage == AnyStage && !inBaseline && !inRun && j.wholeGraphs(r.NeedsBaseline(), stage) == "" {
			continue
		}
		made = true
		j.addKernels(r, stage, inBaseline, inRun)
	}
	if !made {
		j.add(Check{Rule: r, Subject: r.On(""), Outcome: CannotTell,
			Reason: fmt.Sprintf("no kernel of %s matches in any stage; for the names that are matched see prof query top-kernels --run %s --by name", sideName(j.out.Run), shellRun(j.out.Run))})
	}
}

// matches reports which sides have kernels of a stage that match.
func (j *judging) matches(r Rule, stage string) (baseline, run bool) {
	match := r.Kernel.MatchString
	if r.NeedsBaseline() {
		a, b := j.both.KernelNames(stage)
		return slices.ContainsFunc(a, match), slices.ContainsFunc(b, match)
	}
	_, b := j.alone.KernelNames(stage)
	return false, slices.ContainsFunc(b, match)
}

func (j *judging) addKernels(r Rule, stage string, inBaseline, inRun bool) {
	c := j.check(r, stage)
	if c.Outcome == "" {
		c.blindFor(j.wholeGraphs(r.Relative, stage), "matching kernels in them")
	}
	switch {
	case c.Outcome != "":
		j.add(c)
		return
	case !inRun && inBaseline:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("no kernel of %s in %s matches, but some in the baseline do: were they renamed or fused?", stageWords(stage), sideName(j.out.Run))
	case !inRun:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("no kernel of %s in %s matches; see prof query top-kernels --run %s --by name", stageWords(stage), sideName(j.out.Run), shellRun(j.out.Run))
	case r.Relative && !inBaseline:
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("no kernel of %s in the baseline %s matches", stageWords(stage), sideName(*j.out.Baseline))
	}
	if c.Outcome != "" {
		j.add(c)
		return
	}
	from := j.alone
	if r.Relative {
		from = j.both
	}
	f := kernelFigure(from.Kernels(stage, r.Kernel.MatchString), r.Metric)
	if r.Metric == "mean_ns" {
		f.Unit = "launch"
	}
	none := "no pass launches a matching kernel"
	if r.Relative {
		j.addChange(c, f, none, none)
		return
	}
	j.addValue(c, f, none)
}

func kernelFigure(f diff.KernelFigures, metric string) diff.Figure {
	switch metric {
	case "mean_ns":
		return f.Mean
	case "calls":
		return f.Calls
	}
	return f.Total
}

// expandNewKernels makes the check of a rule on kernels that the baseline does not have: of a stage, or of all measured work.
func (j *judging) expandNewKernels(r Rule) {
	if r.Stage == "" {
		c := Check{Rule: r, Subject: r.On(""), Unit: Count}
		if lost := j.notWhole(true, j.both.Stages()...); lost != "" {
			c.Outcome, c.Reason = CannotTell, lost
			j.add(c)
			return
		}
		a, b := j.both.KernelNames(j.both.Stages()...)
		j.addNew(c, a, b, j.both.Stages()...)
		return
	}
	for _, stage := range j.stages(r) {
		c := j.check(r, stage)
		if c.Outcome != "" {
			j.add(c)
			continue
		}
		a, b := j.both.KernelNames(stage)
		j.addNew(c, a, b, stage)
	}
}

// shortName is the begin of a kernel's name, which may be many lines long.
func shortName(name string) string {
	if runes := []rune(name); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return name
}

// wholeGraphs names the sides whose CUDA graphs were traced as a whole in any of the stages: what is not seen of them is unknown, and no rule holds
// by it. Without a baseline only the run counts.
func (j *judging) wholeGraphs(withBaseline bool, stages ...string) string {
	if !withBaseline {
		if _, b := j.alone.WholeGraphs(stages...); b {
			return sideName(j.out.Run)
		}
		return ""
	}
	switch a, b := j.both.WholeGraphs(stages...); {
	case j.out.Same:
		return ""
	case a && b:
		return sideName(*j.out.Baseline) + " and " + sideName(j.out.Run)
	case a:
		return sideName(*j.out.Baseline)
	case b:
		return sideName(j.out.Run)
	}
	return ""
}

// blindFor settles a check on what CUDA graphs hide that these sides traced as a whole; "" is none.
func (c *Check) blindFor(sides, what string) {
	if sides != "" {
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("CUDA graphs of %s were traced as a whole, so %s are unknown: capture with --cuda-graph-trace node", sides, what)
	}
}

// addNew counts the names of b that a does not have. Without kernels on a side nothing is new.
func (j *judging) addNew(c Check, a, b []string, stages ...string) {
	if c.blindFor(j.wholeGraphs(true, stages...), "new kernels in them"); c.Outcome != "" {
		j.add(c)
		return
	}
	if len(a) == 0 || len(b) == 0 {
		side := j.out.Run
		if len(a) == 0 {
			side = *j.out.Baseline
		}
		c.Outcome, c.Reason = CannotTell, fmt.Sprintf("%s has no kernels in it", sideName(side))
		j.add(c)
		return
	}
	known := map[string]bool{}
	for _, name := range a {
		known[name] = true
	}
	var fresh []string
	for _, name := range b {
		if !known[name] {
			known[name] = true
			fresh = append(fresh, name)
		}
	}
	c.Value = new(float64(len(fresh)))
	if len(fresh) > 0 {
		for i, name := range fresh {
			fresh[i] = shortName(name)
		}
		c.Reason = "new, longest first: " + suggest.List(fresh, 3)
	}
	j.add(c)
}
