package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "a run on one screen: its stages and what bounds them, top kernels, what to try",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest. The figures come from the queries stages, accounting, mfu, top-kernels, top-operators and findings. A bar shows
where the time of a stage's passes went, as in accounting: blocks are GPU work, letters are idle time. The line
"attribution" says whether launch attribution accounts for all kernel time exactly once; --facts shows the proof.

  prof show
  prof show baseline
  prof show baseline --format json
  prof show baseline --facts     # where the run came from: sources, devices, how it was captured`,
		Flags: []cli.Flag{
			runFlag("the newest"),
			&cli.BoolFlag{Name: "facts", Usage: "what the run is and where it came from, instead of its results"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: " + strings.Join(answerForms().Names(), ", ") + " (json in base units, full precision, all findings)"},
			repeatabilityFlag(),
			&cli.BoolFlag{Name: "wide", Usage: "do not fit lines to the terminal"},
		},
		Action: func(c *cli.Context) error {
			form, err := answerForms().Named(c.String("format"))
			if err != nil {
				return &usageError{err}
			}
			show := p.showScreen
			if c.Bool("facts") {
				if show = p.showFacts; form.Name == "json" {
					return usagef("--facts has no form json: ask `prof query sources`, devices and others")
				}
			}
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error {
				s, err := show(c, w, run)
				if err != nil {
					return err
				}
				return form.Write(p.out, s, p.options(c))
			})
		},
	}
}

func repeatabilityFlag() cli.Flag {
	return &cli.StringFlag{Name: "repeatability", Usage: "warn if more than a tenth of a stage's passes deviate from their median by more than `P%`", DefaultText: "10%"}
}

// repeatability reads its option; 0 where it is not given.
func repeatability(c *cli.Context) (float64, error) {
	share, err := percentOption(c, "repeatability")
	if err != nil || share == nil {
		return 0, err
	}
	if *share == 0 {
		return 0, usagef("--repeatability 0%%: no two passes take exactly the same time; write a percentage above 0")
	}
	return *share, nil
}

// verbAnswer is what a verb answers: a document, and the same for programs.
type verbAnswer struct {
	document doc.Document
	json     func(w io.Writer) error
}

// answerForms are the ways to write it.
func answerForms() typeset.Forms[verbAnswer, typeset.Options] {
	return doc.Forms("the answer in a few lines", func(s verbAnswer, _ typeset.Options) []doc.Document { return []doc.Document{s.document} }, func(o typeset.Options) typeset.Options { return o },
		typeset.Form[verbAnswer, typeset.Options]{Name: "json", Ending: ".json", Doc: "the same in base units and full precision", Write: func(w io.Writer, s verbAnswer, _ typeset.Options) error { return s.json(w) }})
}

// showFacts returns what a run is, its devices and its sources.
func (p *program) showFacts(c *cli.Context, w *schema.Warehouse, run schema.Run) (verbAnswer, error) {
	a := p.asker(w)
	of, err := askRun(c.Context, a, run, "devices", "sources", "diagnostics")
	if err != nil {
		return verbAnswer{}, err
	}
	pairs, err := runFacts(c.Context, a, w, run)
	if err != nil {
		return verbAnswer{}, err
	}
	d := doc.Document{Title: run.Name, Blocks: []doc.Block{doc.Details(pairs)}}
	for _, name := range []string{"devices", "sources"} {
		d.Blocks = append(d.Blocks, doc.Section{Title: name, Blocks: []doc.Block{doc.Rows{Frame: of.Frame(name)}}})
	}
	if n := warnings(of); n > 0 {
		d.Blocks = append(d.Blocks, doc.Text(fmt.Sprintf("warnings of the profilers and the ingest: %d, see prof query diagnostics --run %s", n, judge.ShellWord(run.Name))))
	}
	return verbAnswer{document: d}, of.err
}

// warnings counts the diagnostics that are more than information.
func warnings(a *runAnswers) int64 {
	n := int64(0)
	for _, r := range rowsIn(a, diagnosticRows) {
		if r.Severity != "info" {
			n++
		}
	}
	return n
}

// runFacts say what a run is, how it was captured, and whether its kernel time adds up.
func runFacts(ctx context.Context, a *queries.Asker, w *schema.Warehouse, run schema.Run) ([][2]string, error) {
	of, err := askRun(ctx, a, run, "captures", "models", "conservation")
	if err != nil {
		return nil, err
	}
	tags, err := w.Tags(ctx, run)
	if err != nil {
		return nil, err
	}
	out := [][2]string{{"run", run.Name}, {"id", run.ID}, {"ingested", run.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC") + " by prof " + run.ProfVersion}}
	add := func(key string, values ...string) {
		for _, value := range values {
			if value != "" {
				out = append(out, [2]string{key, value})
			}
		}
	}
	if run.StartedAt != nil {
		add("captured", run.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC")+onHost(run.Host))
	}
	add("command", run.Command)
	add("tags", strings.Join(tags, " "))
	if made := rowsIn(of, captureRows); len(made) > 0 {
		more, err := askRun(ctx, a, run, "capture-passes", "kept-files", "overhead", "input-stages")
		if err != nil {
			return nil, err
		}
		add("capture", madeLine(made[0]))
		add("passes", passesLine(rowsIn(more, passRows), true))
		add("kept", keptLine(rowsIn(more, keptRows)))
		add("overhead", judge.OverheadLines(rowsIn(more, judge.OverheadRows))...)
		add("inputs", inputsLine(rowsIn(more, inputRows)))
		notes, err := a.Notes(ctx, queries.Args{"run": run.ID}, "overhead", "throttle")
		if err = errors.Join(more.err, err); err != nil {
			return nil, err
		}
		add("note", notes...)
	}
	for _, r := range rowsIn(of, judge.ModelRows) {
		add("model", modelLine(r, run))
	}
	out = append(out, attributions(rowsIn(of, judge.ConservationRows))...)
	notes, err := a.Notes(ctx, queries.Args{"run": run.ID}, "profiled", "match")
	add("note", append(slices.Clone(of.Frame("conservation").Notes), notes...)...)
	return out, errors.Join(of.err, err)
}

func onHost(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

// modelLine words a model, and where to ask for more of the one that is counted.
func modelLine(r judge.ModelRow, run schema.Run) string {
	text := fmt.Sprintf("%s (%s), %s parameters", r.Name, r.Family, typeset.Int(r.ParameterCount))
	if n := r.ActiveParameterCount; n != nil {
		text += ", " + typeset.Int(*n) + " active"
	}
	if r.IsCounted {
		name := judge.ShellWord(run.Name)
		text += fmt.Sprintf("; see prof query mfu --run %s, prof model --run %s", name, name)
	}
	return text
}

// attributions words the conservation of kernel time: of a run with one kind of capture in a line, unless it has no kernels; of a
// run with several in a line each.
func attributions(list []judge.ConservationRow) [][2]string {
	var out [][2]string
	for _, r := range list {
		switch {
		case len(list) > 1 && r.KernelCount == 0:
			out = append(out, [2]string{fmt.Sprintf("attribution (%s)", r.Capture), "no kernels"})
		case len(list) > 1:
			out = append(out, [2]string{fmt.Sprintf("attribution (%s)", r.Capture), attribution(r)})
		case r.KernelCount > 0:
			out = append(out, [2]string{"attribution", attribution(r)})
		}
	}
	return out
}

// attribution words a capture with kernels.
func attribution(r judge.ConservationRow) string {
	verdict := "exact"
	if r.UnmetCount > 0 {
		verdict = "of all that was recorded; " + typeset.Plural(r.UnmetCount, "launch has", "launches have") + " no GPU work"
	} else if !r.IsExact {
		verdict = "DOES NOT ADD UP: please report this capture"
	}
	return fmt.Sprintf("%s ns in ranges + %s outside + %s without a launch = %s ns of kernel time (%s; %s + %s + %s = %s kernels)",
		typeset.Int(r.AttributedNs), typeset.Int(r.OutsideNs), typeset.Int(r.UnlaunchedNs), typeset.Int(r.KernelSumNs), verdict,
		typeset.Int(r.AttributedCount), typeset.Int(r.OutsideCount), typeset.Int(r.UnlaunchedCount), typeset.Int(r.KernelCount))
}
