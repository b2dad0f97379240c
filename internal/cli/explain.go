package cli

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/report"
	"prof/render/screen"
	"prof/render/table"
	"prof/render/words"
	"prof/schema"
	"prof/schema/terms"
)

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "what could make a run faster, ranked by the time it could save",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest. After a line per stage, each finding says how much time it could save over the measured passes, at most or about, the numbers
behind it, what to try, and the query that shows more. Savings overlap: they do not add up. Notes say which rules were not checked.
prof query finding-rules lists the rules, prof query findings the findings.

  prof explain
  prof explain baseline --stage decode
  prof explain baseline --top 0 --min-share 0     # all of them
  prof explain baseline --format json             # rows in base units, with the SQL behind each`,
		Flags: append([]cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "stage", Usage: "only findings of this stage; (none) for findings of all device work"},
			&cli.IntFlag{Name: "top", Value: 10, Usage: "findings at most; 0 for all"},
			&cli.StringFlag{Name: "min-share", Usage: "only findings that could save at least this share of their stage", DefaultText: "0.01"},
			&cli.StringFlag{Name: "source", Usage: terms.TimelineDoc()},
		}, outputFlags()...),
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.explainRun(c, w, run) })
		},
	}
}

func (p *program) explainRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	args := queries.Args{"run": run.ID, "top": strconv.Itoa(c.Int("top"))}
	for _, param := range []string{"stage", "min_share", "source"} {
		if flag := queries.FlagName(param); c.IsSet(flag) {
			args[param] = c.String(flag)
		}
	}
	name := c.String("format")
	form, err := answerForms().Named(name, "csv", table.ArrowForm)
	forPeople := err == nil && form.Name != "json"
	if err != nil && name != "csv" && name != table.ArrowForm {
		return &usageError{err}
	}
	r, first, err := askFindings(c.Context, p.asker(w), run, args, forPeople)
	if err != nil {
		return err
	}
	if err := unknownStage(r.Frame("findings"), args["stage"]); err != nil {
		return err
	}
	findings, err := r.Findings()
	if err != nil {
		return err
	}
	if form.Name == "" {
		f, err := r.FindingsTable()
		if err != nil {
			return err
		}
		return p.print(c, f)
	}
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	var next []string
	if len(r.Frame("layers").Rows) > 0 {
		next = []string{"prof query layers --run " + judge.ShellWord(run.Name)}
	}
	if commands := profiledCommands(judge.ShellWord(run.Name), summary); len(commands) > 0 {
		next = commands
	}
	d, err := screen.Explain(screen.Explained{Report: r, Findings: findings, Kernels: summary.Large, Replayed: summary.Replayed, Lead: words.LeadOf(summary), Stages: summary.Stages, Stage: args["stage"], First: append(rankWords(summary.Ranks, args["stage"]), first...), Next: next})
	if err != nil {
		return err
	}
	return form.Write(p.out, verbAnswer{d, func(w io.Writer) error {
		return report.FindingsJSON(w, run.Name, findings, summary.Large, r.Frame("findings").Notes)
	}}, p.options(c))
}

// rankWords say for whom ranks wait, of one stage or of all.
func rankWords(ranks []judge.SlowRank, stage string) []string {
	var out []string
	for _, r := range ranks {
		if stage == "" || stage == r.Range {
			out = append(out, r.Words)
		}
	}
	return out
}

// spanNotes are the topics that say what work findings are about, and whether its passes can be compared. Where findings are written for
// people they stand first.
var spanNotes = []string{"finding-span", "accounting", "pass", "throttle"}

// askFindings asks for findings, and what they are fitted to; spans are the notes that are to stand apart.
func askFindings(ctx context.Context, a *queries.Asker, run schema.Run, args queries.Args, apart bool) (r *judge.Report, spans []string, err error) {
	r = &judge.Report{Name: run.Name, Source: args["source"], Frames: map[string]*frame.Frame{}}
	first := queries.Question{Query: "findings", Args: args}
	if apart {
		first.Notes = func(topic string) bool { return !slices.Contains(spanNotes, topic) }
		if spans, err = a.Notes(ctx, args, spanNotes...); err != nil {
			return nil, nil, err
		}
	}
	list := []queries.Question{first, {Query: "large-kernels", Args: queries.Args{"run": run.ID}, Notes: frame.RowsOnly}}
	for _, param := range []string{"stage", "source"} {
		if args[param] != "" {
			list[1].Args[param] = args[param]
		}
	}
	for _, name := range []string{"layers", "models", "finding-rules", "accounting", "stages", "passes", "gaps", "sources", "devices"} {
		q := queries.QuestionOf(r, name, run.ID)
		if q.Notes = frame.RowsOnly; r.Source != "" {
			q.Args["source"] = r.Source
		}
		list = append(list, q)
	}
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	for i, q := range list {
		r.Frames[q.Query] = frames[i]
	}
	if len(r.Frames["accounting"].Rows) == 0 {
		if err := askRest(ctx, a, r, run); err != nil {
			return nil, nil, err
		}
	}
	return r, spans, queries.AskMore(ctx, a, r, run.ID)
}

// askRest asks what a run has that has no timeline.
func askRest(ctx context.Context, a *queries.Asker, r *judge.Report, run schema.Run) error {
	var list []queries.Question
	for _, name := range []string{"serving", "serving-latency", "top-kernels", "top-operators"} {
		q := queries.QuestionOf(r, name, run.ID)
		q.Notes = frame.RowsOnly
		list = append(list, q)
	}
	frames, err := a.AskAll(ctx, list)
	for i, f := range frames {
		r.Frames[list[i].Query] = f
	}
	return err
}
