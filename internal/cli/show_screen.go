package cli

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/judge"
	"prof/render/report"
	"prof/render/screen"
	"prof/schema"
)

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
	r, err := queries.NewScreen(c.Context, p.asker(w), run)
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
