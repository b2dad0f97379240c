package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
)

// Judge judges a run, or several runs of the same thing, by rules. baseline may be nil where no rule needs one.
func Judge(ctx context.Context, asker frame.Asker, run diff.Side, baseline *diff.Side, rules []Rule, o Options) (*Result, error) {
	if o.Alpha == 0 {
		o.Alpha = stats.DefaultAlpha
	}
	j := &judging{asker: asker, o: o, rules: rules, out: &Result{Run: run, Alpha: o.Alpha}}
	err := j.all(ctx, baseline)
	if lacking := (*diff.LackingError)(nil); errors.As(err, &lacking) {
		j.out.Checks, err = nil, nil
		for _, r := range rules {
			j.out.Checks = append(j.out.Checks, Check{Rule: r, Subject: r.On(r.stageText()), Unit: r.Unit, Outcome: CannotTell, Reason: lacking.Error()})
		}
	}
	if err != nil {
		return nil, err
	}
	j.out.Outcome = outcomeOf(j.out.Checks)
	j.out.Words = j.out.words()
	return j.out, nil
}

// all makes the checks of all rules, and judges them.
func (j *judging) all(ctx context.Context, baseline *diff.Side) error {
	if at := slices.IndexFunc(j.rules, Rule.NeedsBaseline); at >= 0 {
		if baseline == nil {
			return fmt.Errorf("rule %q needs a baseline", j.rules[at].Text)
		}
		j.out.Baseline = baseline
		if err := j.compare(ctx); err != nil {
			return err
		}
	}
	j.rules = j.bySums(j.rules)
	var err error
	if j.alone, err = diff.SampleOne(ctx, j.asker, j.out.Run); err != nil {
		return err
	}
	for _, r := range j.rules {
		if err := j.expand(ctx, r); err != nil {
			return err
		}
	}
	return j.judge(ctx)
}

// judging is a run being judged.
type judging struct {
	asker   frame.Asker
	o       Options
	rules   []Rule
	out     *Result
	alone   *diff.Sampled           // the run by itself, for one pass each
	both    *diff.Sampled           // the baseline and the run; nil without a baseline
	changes map[string]*diff.Result // what changed between them, by the metric that it was asked for
	figures []*diff.Figure          // of each check; nil where it is judged by its value, or cannot be
}

// bySums returns the rules, of which the built-in one is about the sum of GPU work where a side has sums alone: they have no spans.
func (j *judging) bySums(rules []Rule) []Rule {
	changes := j.changes[spanMetric]
	if changes == nil || changes.Options.Metric != sumMetric {
		return rules
	}
	out := slices.Clone(rules)
	for i, r := range out {
		if r.IsDefault {
			out[i].Metric = sumMetric
			out[i].Text = out[i].String()
		}
	}
	return out
}

// compare reads what the run and its baseline have, and what changed.
func (j *judging) compare(ctx context.Context) error {
	changes, err := j.changed(ctx, spanMetric)
	if err != nil {
		return err
	}
	j.out.Same, j.out.Differences, j.out.Notes = changes.Same, changes.Differences, changes.Notes
	j.both, err = diff.Sample(ctx, j.asker, *j.out.Baseline, j.out.Run, j.diffOptions(spanMetric))
	return err
}

func (j *judging) diffOptions(metric string) diff.Options {
	return diff.Options{Stats: j.stats(), AssumeNoise: j.o.AssumeNoise, Metric: metric}
}

func (j *judging) stats() stats.Options {
	o := stats.DefaultOptions()
	o.Alpha = j.o.Alpha
	return o
}

// add adds a check that is judged by its value, or cannot be.
func (j *judging) add(c Check) *Check { return j.addFigure(c, nil) }

// addFigure adds a check that is judged by comparing a figure, unless that is nil.
func (j *judging) addFigure(c Check, f *diff.Figure) *Check {
	if f != nil {
		c.Level, c.Per = f.Level, string(f.Unit)
	}
	if c.Unit == "" {
		c.Unit = c.Rule.Unit
	}
	j.out.Checks, j.figures = append(j.out.Checks, c), append(j.figures, f)
	return &j.out.Checks[len(j.out.Checks)-1]
}

// expand makes the checks of a rule.
func (j *judging) expand(ctx context.Context, r Rule) error {
	switch r.Kind {
	case StageFigure:
		j.expandStages(r)
	case KernelTime:
		j.expandKernels(r)
	case Utilisation:
		return j.expandUtilisation(ctx, r)
	case Overhead:
		return j.expandOverhead(ctx, r)
	case Serving:
		return j.expandServing(ctx, r)
	case NewKernels:
		j.expandNewKernels(r)
	}
	return nil
}

// judge compares the figures of relative rules together, and judges all.
func (j *judging) judge(ctx context.Context) error {
	o := j.stats()
	for _, f := range j.figures {
		if f != nil {
			o.Comparisons++
		}
	}
	p := make([]*float64, len(j.figures))
	options := make([]stats.Options, len(j.figures))
	for i, f := range j.figures {
		if f == nil {
			continue
		}
		c := &j.out.Checks[i]
		c.same = j.out.Same
		options[i] = o
		options[i].Noise, options[i].Exact = j.noise(c), c.Unit == Count
		c.setComparison(f.Compare(options[i]))
		p[i] = c.Comparison.P
	}
	adjusted := stats.Holm(p)
	tested := len(p) - len(slices.DeleteFunc(slices.Clone(p), func(p *float64) bool { return p != nil }))
	for i := range j.out.Checks {
		c := &j.out.Checks[i]
		c.tested = tested
		switch {
		case c.Outcome != "": // was settled when it was made
		case j.figures[i] == nil:
			c.judgeValue()
		default:
			c.judgeChange(adjusted[i], options[i])
		}
		if err := j.explain(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// setComparison takes over the figures of a comparison, whose sides both have samples.
func (c *Check) setComparison(x stats.Comparison) {
	c.Comparison = &x
	c.Baseline, c.Value, c.Effect = new(x.A), new(x.B), x.Effect
	if c.Rule.Percent {
		c.Limit = new(x.A * (1 + c.Rule.Value))
	} else {
		c.Limit = new(x.A + c.Rule.Value)
	}
}

// noise is how much the figure of a check varies between runs; nil when that is not known. Kernels vary as their sum over the stage
// does, and rates as the span that they are from. Numbers of launches have no noise of the kind.
func (j *judging) noise(c *Check) *stats.Noise {
	if c.Unit == Count {
		return nil
	}
	metric := c.Rule.Metric
	if c.Rule.Kind == KernelTime {
		metric = sumMetric
	}
	known := j.both.Noise(c.Stage, metric)
	if j.o.AssumeNoise != nil {
		return stats.AssumeNoise(*j.o.AssumeNoise).Over(known)
	}
	return known
}
