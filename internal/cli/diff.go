package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/internal/suggest"
	"prof/queries/judge/diff"
	"prof/render/compare"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare runs: which stages became faster or slower, how certain that is, and which kernels, copies and gaps made the difference",
		ArgsUsage: "A B [C...]",
		Description: `A is the base; B, and every further side, is compared with A. A side is a run (name, id, unique
prefix of either, @latest, @latest~N, baseline:NAME), all runs with a tag (tag:key=value), or
several of these separated by commas: the runs of a side count as repeats of the same workload.

  prof diff eager sdpa
  prof diff eager sdpa --stage decode --by family
  prof diff eager sdpa --by tree                          # operators: fused, split, replaced, ...
  prof diff eager sdpa --metric gpu_busy_ns               # on a machine with noisy idle time
  prof diff tag:branch=main tag:branch=mine --format md --out diff.md
  prof diff baseline:main @latest --fail-over 5%          # for CI

A stage is better or worse if the change is certain. It has no change only if its interval lies
within --margin. If samples are too few or too noisy for either, the verdict is cannot tell.

Certainty follows from the spread of the samples: runs if a side has several,
otherwise repeats, otherwise passes, to which what processes of one program differ by is added: as
--assume-noise says, earlier runs, repeats of other workloads on the machine, or else as it was measured
elsewhere. Recordings without a profiler are compared by themselves. If the CPU side is noisy, so is the span of a stage; what is certain
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
			&cli.StringFlag{Name: "metric", Value: "gpu_span_ns", Usage: "judge by `M`: gpu_span_ns, gpu_busy_ns, gpu_idle_ns, gpu_sum_ns, cpu_ns"},
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
	sides, err := diffSides(c.Context, w, q.refs)
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
func diffSides(ctx context.Context, w *schema.Warehouse, refs []string) ([]diff.Side, error) {
	out := make([]diff.Side, len(refs))
	for i, ref := range refs {
		runs, err := w.ResolveAll(ctx, ref)
		if err != nil {
			return nil, err
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
