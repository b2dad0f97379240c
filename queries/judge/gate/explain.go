package gate

import (
	"context"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/diff"
)

// The metrics of stages whose change diff takes apart.
const (
	spanMetric = "gpu_span_ns"
	busyMetric = "gpu_busy_ns"
	sumMetric  = "gpu_sum_ns"
	cpuMetric  = "cpu_ns"
	paceMetric = "interval_ns"
)

// changed returns what changed between the baseline and the run, with causes by a metric, which is asked for once.
func (j *judging) changed(ctx context.Context, metric string) (*diff.Result, error) {
	if r := j.changes[metric]; r != nil {
		return r, nil
	}
	r, err := diff.Runs(ctx, j.asker, *j.out.Baseline, j.out.Run, j.diffOptions(metric))
	if err != nil {
		return nil, err
	}
	if j.changes == nil {
		j.changes = map[string]*diff.Result{}
	}
	j.changes[metric] = r
	return r, nil
}

// explain says what the change that broke a rule comes from, and where there is more of it. Causes are parts of the GPUs' time: the CPU's
// has none, and kernels are what their rule is about.
func (j *judging) explain(ctx context.Context, c *Check) error {
	if c.Outcome != Broken || c.Comparison == nil {
		return nil
	}
	c.See = j.see(c)
	metric := diff.Canonical(c.Rule.Metric)
	if c.Rule.Kind != StageFigure || metric != spanMetric && metric != busyMetric && metric != sumMetric {
		return nil
	}
	changes, err := j.changed(ctx, metric)
	if err != nil {
		return err
	}
	for _, s := range changes.Stages {
		if s.Name == c.Stage {
			c.Contributors = s.Contributors
		}
	}
	return nil
}

// see is the command that shows what changed in the stage of a check.
func (j *judging) see(c *Check) string {
	words := []string{"prof diff", reference(*j.out.Baseline), reference(j.out.Run)}
	if c.Stage != "" {
		words = append(words, "--stage", judge.ShellWord(c.Stage))
	}
	if m := diff.Canonical(c.Rule.Metric); c.Rule.Kind == StageFigure && (m == busyMetric || m == sumMetric || m == cpuMetric || m == paceMetric) {
		words = append(words, "--metric", m)
	}
	return strings.Join(words, " ")
}

// reference names a side for a command that is run later: one run by its name, since others may be the latest or the baseline by then.
func reference(side diff.Side) string {
	if len(side.Runs) == 1 {
		return judge.ShellWord(side.Runs[0].Name)
	}
	return judge.ShellWord(side.Label)
}
