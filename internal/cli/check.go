package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/internal/suggest"
	"prof/queries/judge/diff"
	"prof/queries/judge/gate"
	"prof/queries/judge/stats"
	"prof/render/compare"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "judge a run by rules: a gate for CI",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest; tag:key=value and RUN,RUN,... mean several runs of the same workload,
whose spread is then taken into account.
Exit 0: all rules hold; 3: a rule is broken; 4: no rule is broken, but one cannot be told from noise.

One rule per line; # begins a comment. With a sign a limit is relative to the baseline; without
one it is absolute and compared with the figure as it is (the median of several samples), with
no allowance for noise:

  stage.decode.gpu_span_ns <= +3%         # gpu_idle_ns, gpu_sum_ns, cpu_ns, tokens_per_s, ms_per_token
  stage.decode.interval_ns <= +3%         # from pass to pass: how fast the stage goes where the CPU paces it
  stage.*.gpu_work <= +3%                 # time in which the GPUs work: what one process a side can tell
  stage.*.gpu_span_ns <= +5%              # every stage
  stage.prefill.gpu_span_ns <= 60ms       # times take ns, us, ms or s
  stage.decode.gpu_work <= +2ms           # at most 2 ms more than the baseline
  stage.decode.kernel_count <= +0         # kernels per pass
  kernel:/flash/.mean_ns <= +5%           # kernels whose name matches, together, in each stage:
                                          # mean_ns, total_ns, calls
  stage.decode.kernel:/gemm/.total_ns <= +5%
  mfu.prefill >= 0.35                     # and mbu, as in prof query mfu
  serving.ttft_p99 <= 200ms               # as a load generator measured it, for each load: ttft, tpot, itl, e2e
                                          # with _mean, _min, _p50, _p90, _p95, _p99, _p999, _max;
                                          # requests_per_s, output_tokens_per_s, total_tokens_per_s, completed, failed
  overhead <= 25%                         # of profiling, as in prof query overhead, of each stage that is
                                          # timed, else of the whole process, under the tool that figures
                                          # rest on; overhead.deep for one mode
  new_kernels <= 0                        # names that the baseline does not have
  stage.decode.new_kernels <= 0           # of one stage

A change breaks a rule when it is beyond the limit and certainly not noise, judged by passes, repeats or
runs. It cannot be told if it may be beyond the limit and may be noise, if there are too few
samples, if the figure is unknown (kernels in CUDA graphs traced as a whole) or a lower
bound below the limit, or if the rule matches nothing. Rules come from --rules and --rule;
otherwise from the file rules in the warehouse's folder; otherwise the rule is stage.*.gpu_span_ns <= +5%
(gpu_sum_ns of runs that are sums of nsys stats). The baseline is --baseline, otherwise the only one that is set. --out takes the
form of a file from its extension (.md, .html, .json, .xml, .txt), and the table still goes to stdout; with --format
it writes one file in that form, and stdout stays empty.

  prof check
  prof check --baseline baseline:main --rule 'stage.decode.gpu_span_ns <= +3%'
  prof check @latest --rules perf.rules --out summary.md --out junit.xml`,
		Flags: []cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "baseline", Aliases: []string{"b"}, Usage: "the run or runs `REF` to compare with (default: the only baseline)"},
			&cli.StringSliceFlag{Name: "rules", Usage: "read rules from `FILE`; - is stdin; may be repeated"},
			&cli.StringSliceFlag{Name: "rule", Usage: "another `RULE`; may be repeated"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Usage: "`FORM` of the output: " + strings.Join(compare.GateForms().Names(), ", "), DefaultText: "table"},
			&cli.StringSliceFlag{Name: "out", Usage: "write to `FILE`, in the form of its extension; may be repeated"},
			&cli.StringFlag{Name: "alpha", Usage: "probability `P` of calling noise a regression, over all rules", DefaultText: "0.01"},
			&cli.StringFlag{Name: "assume-noise", Usage: "identical runs differ by up to `PERCENT`, e.g. 2% (default: from earlier runs)"},
			&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
		},
		Action: p.check,
	}
}

func (p *program) check(c *cli.Context) (err error) {
	if c.NArg() > 1 {
		return usagef("check takes one run, or several separated by commas; see `prof help check`")
	}
	ref, given, err := whichRun(c)
	if err != nil {
		return err
	}
	forms, err := checkForms(c)
	if err != nil {
		return err
	}
	o, err := gateOptions(c)
	if err != nil {
		return err
	}
	rules, err := p.checkRules(c)
	if err != nil {
		return err
	}
	run, baseline := diff.Side{Label: ref}, (*diff.Side)(nil)
	if !given {
		run.Label = latest // which the outcome names
	}
	if slices.ContainsFunc(rules, gate.Rule.NeedsBaseline) {
		baseline = &diff.Side{Label: c.String("baseline")}
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	if err := resolveSides(c, w, &run, baseline); err != nil {
		return err
	}
	r, err := gate.Judge(c.Context, p.asker(w), run, baseline, rules, o)
	if err != nil {
		return err
	}
	if baseline == nil && c.IsSet("baseline") {
		r.Notes = append(r.Notes, "no rule compares with the baseline: all limits are absolute")
	}
	if err := p.writeCheck(c, forms, r); err != nil {
		return err
	}
	switch r.Outcome {
	case gate.Broken:
		return exitStatus(exitRegression)
	case gate.CannotTell:
		return exitStatus(exitCannotTell)
	}
	return nil
}

// resolveSides finds the runs of both sides.
func resolveSides(c *cli.Context, w *schema.Warehouse, run, baseline *diff.Side) error {
	runs, err := w.ResolveAll(c.Context, run.Label)
	*run = sideOf(run.Label, runs)
	if err != nil || baseline == nil {
		return err
	}
	if baseline.Label == "" {
		if baseline.Label, err = onlyBaseline(c, w); err != nil {
			return err
		}
	}
	runs, err = w.ResolveAll(c.Context, baseline.Label)
	*baseline = sideOf(baseline.Label, runs)
	return err
}

// onlyBaseline is the reference to the only baseline there is.
func onlyBaseline(c *cli.Context, w *schema.Warehouse) (string, error) {
	all, err := w.Baselines(c.Context)
	if err != nil {
		return "", err
	}
	var names []string
	for _, b := range all {
		names = append(names, "baseline:"+b.Name)
	}
	switch len(names) {
	case 0:
		return "", usagef("there is no baseline to compare with: set one with `prof baseline set main RUN`, name any run with --baseline RUN, or use absolute limits, such as <= 60ms")
	case 1:
		return names[0], nil
	}
	return "", usagef("there are several baselines: name one with --baseline (%s)", suggest.List(names, 5))
}

// gateOptions reads what judging depends on.
func gateOptions(c *cli.Context) (gate.Options, error) {
	o := gate.Options{Alpha: stats.DefaultAlpha}
	if c.IsSet("alpha") {
		text := c.String("alpha")
		alpha, err := strconv.ParseFloat(text, 64)
		if strings.HasSuffix(text, "%") {
			alpha, err = percentFrom(text)
		}
		if err != nil || !(alpha > 0 && alpha < 0.5) {
			return o, usagef("--alpha %s: write the error rate as a number above 0 and below 0.5, such as 0.01", text)
		}
		o.Alpha = alpha
	}
	var err error
	o.AssumeNoise, err = percentOption(c, "assume-noise")
	return o, err
}

// rulesName is the file of rules in a home.
const rulesName = "rules"

// maxRules bounds a text of rules, in bytes.
const maxRules = 1 << 20

// checkRules returns the rules of the options, else those of the home, else the built-in ones.
func (p *program) checkRules(c *cli.Context) ([]gate.Rule, error) {
	var out []gate.Rule
	for _, path := range c.StringSlice("rules") {
		text, err := p.readRules(c.Context, path)
		if err != nil {
			return nil, err
		}
		if out, err = addRules(out, path, text); err != nil {
			return nil, err
		}
	}
	for i, rule := range c.StringSlice("rule") {
		var err error
		if out, err = addRules(out, "--rule", strings.Repeat("\n", i)+rule); err != nil { // the line of the second is 2
			return nil, err
		}
	}
	if c.IsSet("rules") || c.IsSet("rule") {
		return out, nil
	}
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(home.Dir, rulesName)
	text, err := file.Read(at, maxRules)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gate.Default(), nil
	case err != nil:
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return addRules(nil, at, string(text))
}

// readRules reads a file of rules, or stdin.
func (p *program) readRules(ctx context.Context, path string) (string, error) {
	if path == "-" {
		return p.stdin(ctx, maxRules)
	}
	text, err := file.Read(p.path(path), maxRules)
	if err != nil {
		return "", fmt.Errorf("read the rules: %w", err)
	}
	return string(text), nil
}

// addRules reads rules; a text without any is a mistake, since a gate without rules lets everything through.
func addRules(to []gate.Rule, path, text string) ([]gate.Rule, error) {
	rules, err := gate.Parse(path, text)
	if err != nil {
		return nil, &usageError{err}
	}
	if len(rules) == 0 {
		return nil, usagef("%s has no rules; see `prof help check`", path)
	}
	return append(to, rules...), nil
}

// checkForm is where the result goes.
type checkForm struct {
	form typeset.Form[*gate.Result, typeset.Options]
	file string // "" for stdout
}

// checkForms returns what is written where: the form of --format, or to files what their endings tell and a table to stdout.
func checkForms(c *cli.Context) ([]checkForm, error) {
	var out []checkForm
	named := c.IsSet("format")
	form := compare.GateForms()[0]
	if named {
		var err error
		if form, err = compare.GateForms().Named(c.String("format")); err != nil {
			return nil, &usageError{err}
		}
	}
	files := c.StringSlice("out")
	if !named || len(files) == 0 {
		out = append(out, checkForm{form, ""})
	}
	if named && len(files) > 1 {
		return nil, usagef("--format applies to one file, and --out names %d: omit it, and each extension sets the form", len(files))
	}
	for _, file := range files {
		of := form
		if !named {
			var err error
			if of, err = compare.GateForms().OfFile(file); err != nil {
				return nil, &usageError{fmt.Errorf("--out %w", err)}
			}
		}
		out = append(out, checkForm{of, file})
	}
	return out, nil
}

// writeCheck writes the result in all forms that were asked for.
func (p *program) writeCheck(c *cli.Context, forms []checkForm, r *gate.Result) error {
	for _, f := range forms {
		if f.file == "" || f.file == "-" {
			if f.form.Name == "junit" { // which does not show them
				p.notes(r.Notes)
			}
			if err := f.form.Write(p.out, r, p.options(c)); err != nil {
				return err
			}
			continue
		}
		var text bytes.Buffer
		if err := f.form.Write(&text, r, typeset.Options{}); err != nil {
			return err
		}
		if err := file.Write(p.path(f.file), text.Bytes()); err != nil {
			return fmt.Errorf("write the checks of %s: %w", r.Run.Label, err)
		}
	}
	return nil
}
