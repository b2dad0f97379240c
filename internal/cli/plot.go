package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/internal/suggest"
	"prof/queries"
	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/queries/judge/trend"
	"prof/render/chart"
	"prof/render/compare"
	"prof/render/picture"
	"prof/schema"
	"prof/schema/terms"
)

// plot is one kind of picture.
type plot struct {
	name, doc   string
	least, most int      // runs that it takes
	options     []string // of its own
	draw        func(p *program, c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error)
	none        string // why there is no picture
}

// plots are the kinds of pictures.
func plots() []plot {
	return []plot{
		{"stages", "time per pass of each stage: CPU, GPU span, GPU busy", 0, 1, []string{"source"}, (*program).plotStages, "no stage has a known time: prof query stages says why"},
		{"roofline", "profiled kernels below what the GPU can reach", 0, 1, []string{"stage"}, (*program).plotRoofline, "no profiled launch has an intensity and a rate: they come from Nsight Compute with --set full or --set roofline"},
		{"samples", "throughput over the time of profiled kernels, the four longest", 0, 1, []string{"stage"}, (*program).plotSamples, "no profiled launch has PM samples: they come from Nsight Compute with --set full or --section PmSampling"},
		{"timeline", "what the GPUs did over time, the whole run or a part", 0, 1, []string{"stage", "window", "source"}, (*program).plotTimeline, "it has no timeline"},
		{"trend", "the stages of a workload over its runs, RUN being one of them", 0, 1, []string{"stage", "metric"}, (*program).plotTrend, "no stage has two runs with a known value"},
		{"diff", "which parts of a stage's time changed, A being the base", 2, 9, []string{"stage", "metric"}, (*program).plotDiff, "nothing that is part of a stage's time changed"},
	}
}

func plotNames() []string {
	var out []string
	for _, k := range plots() {
		out = append(out, k.name)
	}
	return out
}

func (p *program) plotCommand() *cli.Command {
	var docs []string
	for _, k := range plots() {
		docs = append(docs, fmt.Sprintf("  %-9s %s", k.name, k.doc))
	}
	return &cli.Command{
		Name:      "plot",
		Usage:     "a picture of a run as SVG or PNG",
		ArgsUsage: "KIND [RUN...]",
		Description: `Without RUN, the newest. Pictures are light and need no other file.

` + strings.Join(docs, "\n") + `

  prof plot stages baseline --out stages.svg
  prof plot roofline baseline --out roofline.png
  prof plot samples baseline --out throughput.svg
  prof plot timeline baseline --stage decode --out decode.svg   # one pass, kernel by kernel
  prof plot timeline baseline --window 1.51s..1.512s --out gap.svg
  prof plot trend --metric tokens_per_s --out trend.svg
  prof plot diff eager sdpa --stage decode --out diff.png`,
		Flags: []cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`, which ends in .svg or .png", DefaultText: "SVG to stdout"},
			&cli.StringFlag{Name: "stage", Usage: "only this stage; of a timeline one measured pass of it"},
			&cli.StringFlag{Name: "window", Usage: "only this part of a timeline, from the start of the capture: `A..B`, as in 1.5s..2s; either may be empty"},
			&cli.StringFlag{Name: "source", Usage: "of stages and timeline, " + terms.TimelineDoc()},
			&cli.StringFlag{Name: "metric", Usage: "what trend and diff show: as in prof trend, prof diff", DefaultText: "gpu_span_ns"},
		},
		Action: p.plot,
	}
}

func (p *program) plot(c *cli.Context) (err error) {
	name := c.Args().First()
	at := slices.IndexFunc(plots(), func(k plot) bool { return k.name == name })
	switch {
	case name == "":
		return usagef("plot takes what to draw: %s; see `%s`", strings.Join(plotNames(), ", "), helpOf(c))
	case at < 0 && len(suggest.Nearest(name, plotNames())) > 0:
		return usagef("no plot %q%s", name, nearest(name, plotNames()))
	case at < 0:
		return usagef("no plot %q: use one of %s", name, strings.Join(plotNames(), ", "))
	}
	k := plots()[at]
	refs := c.Args().Tail()
	if c.IsSet("run") && k.most == 1 {
		ref, _, err := oneOf(c, c.Args().Get(1), len(refs) > 0)
		if err != nil {
			return err
		}
		refs = []string{ref}
	} else if c.IsSet("run") {
		return usagef("plot %s takes its runs as arguments, without --run", name)
	}
	if len(refs) < k.least || len(refs) > k.most {
		return usagef("plot %s takes %s; see `%s`", name, map[bool]string{true: "one run", false: "two runs or more, the base first"}[k.most == 1], helpOf(c))
	}
	for _, option := range []string{"stage", "window", "source", "metric"} {
		if c.IsSet(option) && !slices.Contains(k.options, option) {
			return usagef("plot %s takes no --%s", name, option)
		}
	}
	show, err := p.plotOutput(c)
	if err != nil {
		return err
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	drawn, err := k.draw(p, c, w, refs)
	if err != nil {
		return err
	}
	if drawn == nil {
		return fmt.Errorf("nothing to draw: %s", k.none)
	}
	return show(drawn)
}

// plotOutput returns where a picture goes, before anything is opened.
func (p *program) plotOutput(c *cli.Context) (func(*picture.Picture) error, error) {
	out := c.String("out")
	if out == "" && isTerminal(p.out) {
		return nil, usagef("name the picture with --out FILE.svg or FILE.png")
	}
	form := picture.Forms()[0]
	if out != "" {
		var err error
		if form, err = picture.Forms().OfFile(out); err != nil {
			return nil, usagef("--out %s: a picture ends in .svg or .png", out)
		}
	}
	return func(drawn *picture.Picture) error {
		var text bytes.Buffer
		if err := p.writePicture(&text, form.Name, drawn); err != nil {
			return err
		}
		return p.writeOut(out, &text)
	}, nil
}

// writePicture writes a picture in a form, and says what PNG cannot show.
func (p *program) writePicture(text *bytes.Buffer, form string, drawn *picture.Picture) error {
	if form == "svg" {
		return drawn.WriteSVG(text)
	}
	missing, err := drawn.Missing()
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Fprintf(p.err, "note: PNG has no letters for %s: .svg shows them\n", string(missing[:min(len(missing), 20)]))
	}
	return drawn.WritePNG(text)
}

// runOf is the run that a picture is of.
func (p *program) runOf(c *cli.Context, w *schema.Warehouse, refs []string) (schema.Run, error) {
	if len(refs) == 0 {
		return p.resolve(c, w, "", false)
	}
	return p.resolve(c, w, refs[0], true)
}

func (p *program) plotStages(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	run, err := p.runOf(c, w, refs)
	if err != nil {
		return nil, err
	}
	f, err := p.asker(w).Ask(c.Context, "stages", runArgs(c, run, "source"))
	if err != nil {
		return nil, err
	}
	p.notes(f.Notes)
	return chart.StagesPicture(f, "Stages of "+run.Name)
}

func (p *program) plotRoofline(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	run, err := p.runOf(c, w, refs)
	if err != nil {
		return nil, err
	}
	args, title := queries.Args{"run": run.ID}, "Roofline of "+run.Name
	if c.IsSet("stage") {
		args["stage"] = c.String("stage")
		title += ", " + c.String("stage")
	}
	frames, err := p.asker(w).AskAll(c.Context, []queries.Question{{Query: "roofline", Args: args}, {Query: "ceilings", Args: queries.Args{"run": run.ID}}})
	if err != nil {
		return nil, err
	}
	if err := unknownStage(frames[0], c.String("stage")); err != nil {
		return nil, err
	}
	p.notes(frames[0].Notes)
	return chart.RooflinePicture(frames[0], frames[1], title)
}

func (p *program) plotSamples(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	run, err := p.runOf(c, w, refs)
	if err != nil {
		return nil, err
	}
	args, title := queries.Args{"run": run.ID, "top": "4"}, "Throughput within kernels of "+run.Name
	if c.IsSet("stage") {
		args["stage"] = c.String("stage")
		title += ", " + c.String("stage")
	}
	f, err := p.asker(w).Ask(c.Context, "ncu-samples", args)
	if err != nil {
		return nil, err
	}
	if err := unknownStage(f, c.String("stage")); err != nil {
		return nil, err
	}
	p.notes(f.Notes)
	return chart.CoursePicture(f, title)
}

func (p *program) plotTimeline(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	asked := c.String("stage")
	if c.IsSet("stage") && c.IsSet("window") {
		return nil, usagef("give --stage or --window, not both")
	}
	run, err := p.runOf(c, w, refs)
	if err != nil {
		return nil, err
	}
	t, err := queries.AskTimeline(c.Context, p.asker(w), runArgs(c, run, "source"))
	if err != nil {
		return nil, err
	}
	p.notes(t.Blocks.Notes)
	pick := func(whole chart.Window, stages []chart.StageWindow) (chart.Window, error) {
		if !c.IsSet("stage") {
			return windowFrom(c.String("window"), whole)
		}
		var names []string
		for _, s := range stages {
			if s.Stage == asked {
				fmt.Fprintf(p.err, "stage %s: pass %d\n", s.Stage, s.Pass)
				if s.Cut != "" {
					p.notes([]string{"only part of the pass is drawn: " + s.Cut})
				}
				return s.Window, nil
			}
			names = append(names, s.Stage)
		}
		if len(names) == 0 {
			return whole, fmt.Errorf("run %s has no measured pass of a stage on a GPU", run.Name)
		}
		return whole, usagef("the run has no measured pass of a stage %q; it has %s%s", asked, strings.Join(names, ", "), nearest(asked, names))
	}
	return chart.TimelinePicture(t, pick, "Timeline of "+run.Name)
}

// windowFrom reads a part of a timeline, as 10ms..12.5ms; "" is all of it.
func windowFrom(text string, whole chart.Window) (chart.Window, error) {
	from, until, err := windowOf(text)
	out := whole
	if from != nil {
		out.From = max(*from, whole.From)
	}
	if until != nil {
		out.To = min(*until, whole.To)
	}
	switch {
	case err != nil:
		return whole, err
	case out.From >= whole.To:
		return whole, usagef("--window %s begins after the last GPU work, which ends at %s of the capture", text, time.Duration(whole.To))
	case out.To <= out.From:
		return whole, usagef("--window %s ends before the first GPU work, at %s of the capture", text, time.Duration(whole.From))
	}
	return out, nil
}

func (p *program) plotTrend(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	o := trend.Options{Stage: c.String("stage"), Metric: trend.GPUSpan}
	if len(refs) > 0 {
		o.Workload = refs[0]
	}
	if c.IsSet("metric") {
		var err error
		if o.Metric, err = trend.ParseMetric(c.String("metric")); err != nil {
			return nil, &usageError{err}
		}
	}
	r, command, err := askTrend(c, w, o)
	if err != nil {
		return nil, err
	}
	p.notes(r.Notes)
	return compare.TrendPicture(r, compare.TrendOptions{Command: command})
}

func (p *program) plotDiff(c *cli.Context, w *schema.Warehouse, refs []string) (*picture.Picture, error) {
	sides, err := p.diffSides(c, w, refs)
	if err != nil {
		return nil, err
	}
	o := diff.Options{By: diff.ByKernel, Stage: c.String("stage"), Metric: c.String("metric"), Top: 10, Stats: stats.DefaultOptions()}
	list, err := p.compareSides(c, w, sides, o)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		p.notes(r.Notes)
	}
	return compare.DiffPicture(list)
}
