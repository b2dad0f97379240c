package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
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
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: table or json (base units, full precision, all findings)"},
			repeatabilityFlag(),
			&cli.BoolFlag{Name: "wide", Usage: "do not fit lines to the terminal"},
		},
		Action: func(c *cli.Context) error {
			switch form := c.String("format"); {
			case form != "table" && form != "json":
				return usagef("unknown format %q: use table or json", form)
			case form == "json" && c.Bool("facts"):
				return usagef("--facts has no form json: ask `prof query sources`, devices and others")
			}
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error {
				if c.Bool("facts") {
					return p.showFacts(c, w, run)
				}
				return p.showScreen(c, w, run)
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

// showFacts writes what a run is, its devices and its sources.
func (p *program) showFacts(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	o := p.options(c)
	pairs := runFacts(run)
	more, err := p.showMore(c.Context, p.asker(w), w, run)
	if err != nil {
		return err
	}
	if err := table.Pairs(p.out, "", append(pairs, more...), o); err != nil {
		return err
	}
	for _, name := range []string{"devices", "sources"} {
		f, err := runNamed(c.Context, w, name, run.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "\n%s\n", name)
		if err := table.Terminal(p.out, f, o); err != nil {
			return err
		}
	}
	f, err := runNamed(c.Context, w, "diagnostics", run.ID)
	if err != nil {
		return err
	}
	if n := warnings(f); n > 0 {
		fmt.Fprintf(p.out, "\nwarnings of the profilers and the ingest: %d, see prof query diagnostics --run %s\n", n, judge.ShellWord(run.Name))
	}
	return nil
}

// warnings counts the diagnostics that are more than information.
func warnings(f *frame.Frame) int {
	n := 0
	for _, r := range f.Rows {
		if r[f.Index("severity")] != "info" {
			n++
		}
	}
	return n
}

// runFacts are what a run is.
func runFacts(run schema.Run) [][2]string {
	pairs := [][2]string{{"run", run.Name}, {"id", run.ID}, {"ingested", run.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC") + " by prof " + run.ProfVersion}}
	if run.StartedAt != nil {
		pairs = append(pairs, [2]string{"captured", run.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC") + onHost(run.Host)})
	}
	if run.Command != "" {
		pairs = append(pairs, [2]string{"command", run.Command})
	}
	return pairs
}

func onHost(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

func runNamed(ctx context.Context, w *schema.Warehouse, name, run string) (*frame.Frame, error) {
	q, err := queries.Find(name)
	if err != nil {
		return nil, err
	}
	return queries.Run(ctx, w, q, queries.Args{"run": run})
}

// showMore returns the tags and the conservation of kernel time.
func (p *program) showMore(ctx context.Context, a *queries.Asker, w *schema.Warehouse, run schema.Run) ([][2]string, error) {
	var out [][2]string
	tags, err := w.Tags(ctx, run)
	if err != nil {
		return nil, err
	}
	if len(tags) > 0 {
		out = append(out, [2]string{"tags", strings.Join(tags, " ")})
	}
	made, err := captureLines(ctx, a, run)
	if err != nil {
		return nil, err
	}
	out = append(out, made...)
	models, err := a.Ask(ctx, "models", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	for _, r := range models.Rows {
		out = append(out, [2]string{"model", modelLine(models, r, run)})
	}
	f, err := a.Ask(ctx, "conservation", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	out = append(out, attributions(f)...)
	notes, err := a.Notes(ctx, queries.Args{"run": run.ID}, "profiled", "match")
	for _, n := range append(f.Notes, notes...) {
		out = append(out, [2]string{"note", n})
	}
	return out, err
}

// modelLine words a model, and where to ask for more of the one that is counted.
func modelLine(f *frame.Frame, row []any, run schema.Run) string {
	at := func(column string) any { return row[f.Index(column)] }
	text := fmt.Sprintf("%v (%v), ", at("name"), at("family"))
	if n, ok := at("parameter_count").(int64); ok {
		text += thousands(n) + " parameters"
	}
	if n, ok := at("active_parameter_count").(int64); ok {
		text += ", " + thousands(n) + " active"
	}
	if counted, _ := at("is_counted").(bool); counted {
		name := judge.ShellWord(run.Name)
		text += fmt.Sprintf("; see prof query mfu --run %s, prof model --run %s", name, name)
	}
	return text
}

// attributions words the conservation of kernel time: of a run with one kind of capture in a line, unless it has no kernels; of a
// run with several in a line each.
func attributions(f *frame.Frame) [][2]string {
	var out [][2]string
	for _, r := range f.Rows {
		switch line := attribution(f, r); {
		case len(f.Rows) > 1:
			if line == "" {
				line = "no kernels"
			}
			out = append(out, [2]string{fmt.Sprintf("attribution (%s)", r[f.Index("capture")]), line})
		case line != "":
			out = append(out, [2]string{"attribution", line})
		}
	}
	return out
}

// attribution words one row; "" for a capture without kernels.
func attribution(f *frame.Frame, row []any) string {
	at := func(col string) int64 { v, _ := row[f.Index(col)].(int64); return v }
	if at("kernel_count") == 0 {
		return ""
	}
	verdict := "exact"
	if unmet := at("unmet_count"); unmet > 0 {
		verdict = "of all that was recorded; " + countOf(unmet, "launch has", "launches have") + " no GPU work"
	} else if ok, _ := row[f.Index("is_exact")].(bool); !ok {
		verdict = "DOES NOT ADD UP: please report this capture"
	}
	return fmt.Sprintf("%s ns in ranges + %s outside + %s without a launch = %s ns of kernel time (%s; %s + %s + %s = %s kernels)",
		thousands(at("attributed_ns")), thousands(at("outside_ns")), thousands(at("unlaunched_ns")), thousands(at("kernel_sum_ns")), verdict,
		thousands(at("attributed_count")), thousands(at("outside_count")), thousands(at("unlaunched_count")), thousands(at("kernel_count")))
}

// thousands writes a number with separators.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
