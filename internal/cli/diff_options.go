package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/compare"
	"prof/render/typeset"
)

// newDiffRequest reads the command line, before anything is opened.
func newDiffRequest(c *cli.Context) (diffRequest, error) {
	q := diffRequest{refs: c.Args().Slice(), out: c.String("out")}
	if len(q.refs) < 2 {
		return q, usagef("diff takes two runs or more, the base first; see `prof help diff`")
	}
	q.options = diff.Options{By: diff.Dimension(c.String("by")), Stage: c.String("stage"), Metric: c.String("metric"), Top: c.Int("top"), Unfold: c.Bool("unfold")}
	if q.options.Unfold && q.options.By != diff.ByTree {
		return q, usagef("--unfold needs --by tree: nothing else has layers in one row")
	}
	if q.options.Top < 0 {
		return q, usagef("--top %d is below 0", q.options.Top)
	}
	if by := q.options.By; q.options.Stage != "" && slices.Contains([]diff.Dimension{diff.ByOperator, diff.ByRange, diff.ByMetric}, by) {
		return q, usagef("--by %s covers whole runs, warm-up included: omit --stage", by)
	}
	var err error
	if q.form, err = formOf(c, compare.DiffForms()); err != nil {
		return q, &usageError{err}
	}
	if q.options.Stats, err = statsOptions(c); err != nil {
		return q, err
	}
	if q.options.AssumeNoise, err = percentOption(c, "assume-noise"); err != nil {
		return q, err
	}
	if q.failOver, err = percentOption(c, "fail-over"); q.failOver != nil && !c.IsSet("min-effect") && !c.IsSet("margin") {
		q.options.Stats = q.options.Stats.Within(*q.failOver)
	}
	return q, err
}

// formOf is the form asked for, by --format or by what the name of the file ends in.
func formOf[T, O any](c *cli.Context, forms typeset.Forms[T, O]) (typeset.Form[T, O], error) {
	if !c.IsSet("format") {
		if form, err := forms.OfFile(c.String("out")); err == nil {
			return form, nil
		}
	}
	return forms.Named(c.String("format"))
}

// statsOptions reads --alpha, --min-effect and --margin.
func statsOptions(c *cli.Context) (stats.Options, error) {
	var o stats.Options
	text := c.String("alpha")
	alpha, err := strconv.ParseFloat(text, 64)
	if strings.HasSuffix(text, "%") {
		alpha, err = percentFrom(text)
	}
	if err != nil || !(alpha > 0 && alpha < 0.5) {
		return o, usagef("--alpha %s: write the error rate as a number above 0 and below 0.5, such as 0.01", text)
	}
	o.Alpha = alpha
	least, err := percentOption(c, "min-effect")
	if err != nil {
		return o, err
	}
	margin, err := percentOption(c, "margin")
	if err != nil {
		return o, err
	}
	o.MinEffect, o.Margin = *least, *margin
	return o, nil
}

// percentOption reads an option in percent as a share; nil where it is not given.
func percentOption(c *cli.Context, flag string) (*float64, error) {
	text := c.String(flag)
	if text == "" && !c.IsSet(flag) {
		return nil, nil
	}
	v, err := percentFrom(text)
	if err != nil {
		return nil, usagef("--%s %s: %w", flag, text, err)
	}
	return &v, nil
}

// percentFrom reads a share from text such as 5% or 0.5 %. A bare number could mean a share or a percentage, so it is refused.
func percentFrom(text string) (float64, error) {
	number, signed := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || !(v >= 0 && v < 1000):
		return 0, fmt.Errorf("write a percentage such as 5%%")
	case !signed:
		return 0, fmt.Errorf("write %s%%, or %s%% if you mean a ratio", number, strconv.FormatFloat(v*100, 'g', 6, 64))
	}
	return v / 100, nil
}
