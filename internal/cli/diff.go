package cli

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/internal/suggest"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/compare"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/terms"
)

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare runs: which stages became faster or slower, how certain that is, and which kernels, copies and gaps made the difference",
		ArgsUsage: "A B [C...]",
		Description: `A is the base; B, and every further side, is compared with A. A side is a run (name, id, unique
prefix of either, unique part of a name, @latest, @latest~N, baseline:NAME), all runs with a tag (tag:key=value), or
several of these separated by commas: the runs of a side count as repeats of the same workload.

  prof diff eager sdpa
  prof diff eager sdpa --stage decode --by family
  prof diff eager sdpa --by tree                          # operators: fused, split, replaced, ...
  prof diff eager sdpa --metric gpu_busy_ns               # on a machine with noisy idle time
  prof diff tag:branch=main tag:branch=mine --format md --out diff.md
  prof diff baseline:main @latest --fail-over 5%          # for CI

A stage is better or worse if the change is certain. It has no change only if its interval lies
within --margin. If samples are too few or too noisy for either, the verdict is cannot tell.

Certainty follows from the spread of the samples: the runs of a side if it has several, otherwise
its repeats, otherwise its passes. Passes of one process do not show by how much processes of one
program differ, so that is added: as --assume-noise says, or as earlier runs show it, or repeats of
other workloads on the machine, or measurements on other machines. Recordings without a profiler are compared by themselves. If the CPU side is noisy, so is the span of a stage; what is certain
of its GPU work is said then, and --metric gpu_busy_ns judges by that alone.

Write percentages with the percent sign: 5% or 0.5%. --fail-over 5% exits with 3 if a stage is
certainly slower by more than 5 %, with 4 if a stage cannot be told (it looks slower by more
but may not be, has too few or too noisy samples, or is on one side only), otherwise with 0.
The figures of serving are judged likewise under each load, and 4 is also the code where no load is on both sides.
Work outside stages is not judged. prof check offers more for CI: several rules, limits for
single stages, kernels or figures, absolute limits, JUnit, or a summary for a pull request.

--by takes kernel, family, grid and stage (the parts of a stage's time), and operator, range and
metric, which cover whole runs, warm-up included, and take no --stage. --by tree aligns the
modules and operators of both sides from the outermost one down, in measured passes or steps:
what became slower, was added or removed, fused, split, or runs other kernels. What is the same in
several instances of modules, such as the layers of a model, is one row; --unfold gives each its own.

In csv, a row of kind stage is the total of a stage; its other rows add up to it to the ns
(--by kernel, family, grid, stage).`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Value: string(diff.ByKernel), Usage: "compare by `WHAT`, see above"},
			&cli.StringFlag{Name: "stage", Usage: "only this `STAGE`"},
			&cli.StringFlag{Name: "metric", DefaultText: "gpu_span_ns; interval_ns where the CPU paces passes", Usage: "judge by `M`: " + strings.Join(terms.StageTimes(), ", ")},
			&cli.IntFlag{Name: "top", Value: 10, Usage: "`N` rows per stage, largest change first; 0 for all"},
			&cli.BoolFlag{Name: "unfold", Usage: "by tree: a row for each layer, not one for what is the same in several"},
			&cli.StringFlag{Name: "alpha", Value: "0.01", Usage: "error rate `P`: the probability of calling noise a change"},
			&cli.StringFlag{Name: "min-effect", Value: "1%", Usage: "changes below `P%` count as none, even if they are certain"},
			&cli.StringFlag{Name: "margin", Value: "5%", Usage: "no change means that the change is certainly below `P%`"},
			&cli.StringFlag{Name: "assume-noise", Usage: "identical runs may differ by up to `P%`", DefaultText: "from earlier runs"},
			&cli.StringFlag{Name: "fail-over", Usage: "exit 3: a stage or figure of serving is certainly worse by more than `P%`; 4: cannot be told"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: " + strings.Join(compare.DiffForms().Names(), ", "), DefaultText: "table, or the extension of --out"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE`"},
			&cli.BoolFlag{Name: "explain", Usage: "print only the SQL behind the figures"},
			&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
			&cli.BoolFlag{Name: "safe", Usage: "csv for a spreadsheet: no text is a formula"},
		},
		Action: p.diff,
	}
}

// diffRequest is what the command line asks for.
type diffRequest struct {
	refs     []string // the base first
	options  diff.Options
	form     typeset.Form[[]*diff.Result, typeset.Options]
	out      string   // "" for stdout
	failOver *float64 // nil: do not judge
}

func (p *program) diff(c *cli.Context) (err error) {
	q, err := newDiffRequest(c)
	if err != nil {
		return err
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	sides, err := p.diffSides(c, w, q.refs)
	if err != nil {
		return err
	}
	list, err := p.compareSides(c, w, sides, q.options)
	if err != nil {
		return err
	}
	if c.Bool("explain") {
		return p.explainDiff(list)
	}
	if err := p.writeDiff(c, q, list); err != nil {
		return err
	}
	return p.failDiff(q, list)
}

// compareSides compares each side with the first.
func (p *program) compareSides(c *cli.Context, w *schema.Warehouse, sides []diff.Side, o diff.Options) ([]*diff.Result, error) {
	asker := p.asker(w)
	var list []*diff.Result
	for _, b := range sides[1:] {
		r, err := diff.Runs(c.Context, asker, sides[0], b, o)
		if errors.Is(err, diff.ErrNothing) && o.Stage != "" {
			return nil, p.stagesOfSides(c, w, err, o.Stage, sides[0], b)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// stagesOfSides adds the stages that there are to an error about one that is not.
func (p *program) stagesOfSides(c *cli.Context, w *schema.Warehouse, cause error, stage string, sides ...diff.Side) error {
	var names []string
	for _, s := range sides {
		for _, run := range s.Runs {
			more, err := stagesIn(c, w, run.ID)
			if err != nil {
				return errors.Join(cause, err)
			}
			names = append(names, more...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return fmt.Errorf("%w; they have none", cause)
	}
	return fmt.Errorf("%w; the runs have %s%s", cause, suggest.List(names, 8), nearest(stage, names))
}

// diffSides resolves the references to sides.
func (p *program) diffSides(c *cli.Context, w *schema.Warehouse, refs []string) ([]diff.Side, error) {
	out := make([]diff.Side, len(refs))
	for i, ref := range refs {
		runs, err := w.ResolveAll(c.Context, ref)
		if err != nil {
			return nil, p.notStored(c, ref, err)
		}
		out[i] = sideOf(ref, runs)
	}
	return out, nil
}

// sideOf is a side of these runs, by the name that it was asked for.
func sideOf(label string, runs []schema.Run) diff.Side {
	s := diff.Side{Label: label}
	for _, r := range runs {
		s.Runs = append(s.Runs, diff.Run(r))
	}
	return s
}

// writeDiff writes the comparisons to stdout, or to the file asked for, whose name it then prints.
func (p *program) writeDiff(c *cli.Context, q diffRequest, list []*diff.Result) error {
	if q.out == "" {
		return q.form.Write(p.out, list, p.options(c))
	}
	var text bytes.Buffer
	if err := q.form.Write(&text, list, typeset.Options{Wide: c.Bool("wide"), Safe: c.Bool("safe")}); err != nil {
		return err
	}
	if err := file.MakeDir(filepath.Dir(p.path(q.out))); err != nil {
		return err
	}
	if err := file.Write(p.path(q.out), text.Bytes()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, q.out)
	return err
}

// explainDiff prints the SQL behind comparisons, each statement once.
func (p *program) explainDiff(list []*diff.Result) error {
	seen := map[diff.Source]bool{}
	for _, r := range list {
		for _, s := range r.Queries {
			if seen[s] {
				continue
			}
			seen[s] = true
			of := ""
			if s.Run != "" {
				of = " of run " + s.Run
			}
			if _, err := fmt.Fprintf(p.out, "-- %s%s\n%s;\n\n", s.Query, of, strings.TrimRight(s.SQL, "; \n")); err != nil {
				return err
			}
		}
	}
	return nil
}

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

// reasonOf returns what a verdict follows from.
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

// failServing judges the figures of each load, as failStage does stages, and adds what follows: an exit code and a line for figures that are worse, and one for those that
// cannot be told.
func failServing(limit float64, r *diff.Result, add func(what string, code int, why string)) {
	if len(r.Serving) == 0 || r.Same {
		return
	}
	figures := 0
	for _, l := range r.Serving {
		what := "serving under " + l.Load
		var worse, unsure []string
		reason := ""
		figures += len(l.Figures)
		for _, f := range l.Figures {
			effect, _ := f.Slowdown()
			switch failFigure(limit, f) {
			case exitRegression:
				worse = append(worse, fmt.Sprintf("%s by %s", f.Words(), percentText(*effect)))
			case exitCannotTell:
				if unsure = append(unsure, f.Words()); reason == "" {
					reason = strings.TrimSuffix(f.Comparison.Why, ".")
				}
			}
		}
		if len(worse) > 0 {
			add(what, exitRegression, fmt.Sprintf("worse by more than %s: %s", percentText(limit), strings.Join(worse, ", ")))
		}
		switch n := len(unsure); {
		case n == 1:
			add(what, exitCannotTell, fmt.Sprintf("%s cannot be told: %s", unsure[0], reason))
		case n > 1:
			add(what, exitCannotTell, fmt.Sprintf("%d of %d figures cannot be told: %s: %s", n, len(l.Figures), unsure[0], reason))
		}
		if len(l.Figures) > 0 && l.FailsMoreThan(limit) {
			add(what, exitCannotTell, "cannot tell: "+l.FailedWords())
		}
	}
	if figures == 0 {
		add("serving", exitCannotTell, "cannot tell: there is no load that both sides were benchmarked under")
	}
}

// failFigure turns the verdict of a figure, which has the limit as its margin, into an exit code.
func failFigure(limit float64, f diff.ServingFigure) int {
	effect, most := f.Slowdown()
	switch {
	case f.Verdict == diff.CannotTell && most != nil && *most <= limit:
	case f.Verdict == diff.CannotTell || effect == nil:
		return exitCannotTell
	case f.Verdict == diff.Worse && *effect > limit:
		return exitRegression
	}
	return exitOK
}
