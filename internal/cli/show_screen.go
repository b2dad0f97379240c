package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/report"
	"prof/render/screen"
	"prof/schema"
)

// screenQuery is one question of a screen.
type screenQuery struct {
	name string
	kind string // asked only of a run with sources of one of these kinds; "" for any
	// notes are the topics of notes that the summary reads; those of partial sources come with any. All notes take longer
	// than the rows and have no place on the screen. What stages notes too, mfu does not say of utilisation.
	notes []string
}

// screenQueries are what a screen asks; as a report asks it, so that both come to the same verdict; those that take longest to plan come first.
var screenQueries = []screenQuery{{name: "findings"}, {name: "finding-rules"}, {name: "mfu", notes: []string{"mfu"}}, {name: "stages", notes: []string{"timelines", "pass"}}, {name: "accounting"}, {name: "top-kernels"},
	{name: "top-operators"}, {name: "passes"}, {name: "bottlenecks", kind: "ncu"}, {name: "stage-kernels", kind: "ncu"}, {name: "gaps"}, {name: "devices"}, {name: "conservation", notes: []string{"launch"}}, {name: "models"}, {name: "memory-peaks"}, {name: "diagnostics"},
	{name: "throttling", kind: "capture"}, {name: "overhead", kind: "capture", notes: []string{"overhead"}}, {name: "reported-metrics", kind: "reported workload"}, {name: "serving", kind: "serving"}, {name: "serving-latency", kind: "serving"}, {name: "captures", kind: "capture"}, {name: "capture-passes", kind: "capture"}}

// showScreen writes a run on one screen.
func (p *program) showScreen(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	tags, err := w.Tags(c.Context, run)
	if err != nil {
		return err
	}
	within, err := repeatability(c)
	if err != nil {
		return err
	}
	r, err := askScreen(c.Context, p.asker(w), run)
	if err != nil {
		return err
	}
	r.Within = within
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	name := judge.ShellWord(run.Name)
	shown := screen.Screen{
		Facts:   screenFacts(run, tags, r),
		Report:  r,
		Summary: summary,
		Doubts:  slices.Concat(lost(r), summary.Doubts, warned(run, r)),
		Next:    []string{"prof explain " + name, "prof report " + name, "prof query stages --run " + name},
	}
	if c.String("format") == "json" {
		if summary.NotWhole != "" {
			shown.Doubts = append([]string{summary.NotWhole}, shown.Doubts...)
		}
		return report.SummaryJSON(p.out, shown.Report.Name, shown.Facts, shown.Summary, shown.Doubts)
	}
	return screen.Show(p.out, shown, p.options(c))
}

// askScreen asks all that a screen shows, at once.
func askScreen(ctx context.Context, a *queries.Asker, run schema.Run) (*judge.Report, error) {
	sources, err := a.Ask(ctx, "sources", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	r := &judge.Report{Name: run.Name, Frames: map[string]*frame.Frame{"sources": sources}}
	var list []queries.Question
	for _, q := range screenQueries {
		if q.kind == "" || slices.ContainsFunc(sources.Rows, func(row []any) bool {
			return slices.Contains(strings.Fields(q.kind), row[sources.Index("kind")].(string))
		}) {
			question := queries.QuestionOf(r, q.name, run.ID)
			question.Notes = func(kind string) bool { return slices.Contains(q.notes, kind) }
			list = append(list, question)
		}
	}
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, err
	}
	for i, q := range list {
		r.Frames[q.Query] = frames[i]
	}
	return r, queries.AskMore(ctx, a, r, run.ID)
}

// lost says what went wrong before the figures were made: kernel time that does not add up, and what became of the capture.
func lost(r *judge.Report) []string {
	var out []string
	conservation := r.Frame("conservation")
	for _, row := range conservation.Rows {
		if attribution(conservation, row) != "" && row[conservation.Index("is_exact")] != true && row[conservation.Index("unmet_count")] == int64(0) {
			out = append(out, fmt.Sprintf("attribution of %v does not add up: please report this capture; prof show --facts has the sums", row[conservation.Index("capture")]))
		}
	}
	captures := r.Frame("captures")
	if captures == nil {
		return out
	}
	for _, row := range captures.Rows {
		if reason, ok := row[captures.Index("reason")].(string); ok {
			out = append(out, fmt.Sprintf("the capture is %v: %s", row[captures.Index("status")], reason))
		}
	}
	return out
}

// warned counts what the profilers and the ingest warn of.
func warned(run schema.Run, r *judge.Report) []string {
	n := warnings(r.Frame("diagnostics"))
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s from the profilers and the ingest: prof query diagnostics --run %s", countOf(int64(n), "warning"), judge.ShellWord(run.Name))}
}
