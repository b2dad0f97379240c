package cli

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/render"
	"prof/schema"
)

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "what could make a run faster, ranked by the time that it could save",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the latest. After a line for each stage, each finding says how much time it could save over the measured passes, at most or about, the numbers that
it follows from, what to try, and the query that shows more. Savings overlap: they do not add up. Notes say which rules could not be tried.
The rules are rows of prof query finding-rules, the findings those of prof query findings.

  prof explain
  prof explain baseline --stage decode
  prof explain baseline --top 0 --min-share 0     # all of them
  prof explain baseline --format json             # rows in base units, with the SQL behind each`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "stage", Usage: "only findings of this stage; (none) for those of all device work"},
			&cli.IntFlag{Name: "top", Value: 10, Usage: "findings at most; 0 for all"},
			&cli.StringFlag{Name: "min-share", Usage: "only what could save at least this share of its stage", DefaultText: "0.01"},
			&cli.StringFlag{Name: "source", Usage: "only this kind of capture: nsys or torch; by default nsys where the run has both"},
		}, outputFlags()...),
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.explainRun(c, w, run) })
		},
	}
}

func (p *program) explainRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	q, err := queries.Find("findings")
	if err != nil {
		return err
	}
	args := queries.Args{"run": run.ID, "top": strconv.Itoa(c.Int("top"))}
	for _, param := range []string{"stage", "min_share", "source"} {
		if flag := queries.FlagName(param); c.IsSet(flag) {
			args[param] = c.String(flag)
		}
	}
	if c.String("format") != "table" {
		f, err := queries.Run(c.Context, w, q, args)
		if err != nil {
			return err
		}
		return p.print(c, f)
	}
	q.Notes = slices.DeleteFunc(slices.Clone(q.Notes), func(topic string) bool { return slices.Contains(spanNotes, topic) })
	f, err := queries.Run(c.Context, w, q, args)
	if err != nil {
		return err
	}
	if err := p.explainSpans(c, w, run, args); err != nil {
		return err
	}
	return render.Findings(p.out, f, p.options(c))
}

// spanNotes are the topics that say what work findings are about, and whether its passes can be compared. They stand first.
var spanNotes = []string{"finding-span", "accounting", "pass", "throttle"}

// explainSpans writes what the findings are shares of.
func (p *program) explainSpans(c *cli.Context, w *schema.Warehouse, run schema.Run, args queries.Args) error {
	q, err := queries.Find("accounting")
	if err != nil {
		return err
	}
	q.Notes = nil // those of findings say it
	of := queries.Args{"run": run.ID}
	if source, given := args["source"]; given {
		of["source"] = source
	}
	spans, err := queries.Run(c.Context, w, q, of)
	if err != nil {
		return err
	}
	notes, err := queries.NewAsker(w).Notes(c.Context, args, spanNotes...)
	if err != nil {
		return err
	}
	return render.FindingSpans(p.out, run.Name, args["stage"], spans, notes, p.options(c))
}
