package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/judge"
	"prof/render/report"
	"prof/render/screen"
	"prof/render/typeset"
	"prof/schema"
)

// showScreen returns what a run is on one screen.
func (p *program) showScreen(c *cli.Context, w *schema.Warehouse, run schema.Run) (out verbAnswer, err error) {
	tags, err := w.Tags(c.Context, run)
	if err != nil {
		return out, err
	}
	within, err := repeatability(c)
	if err != nil {
		return out, err
	}
	r, err := queries.NewScreen(c.Context, p.asker(w), run)
	if err != nil {
		return out, err
	}
	r.Within = within
	of := runAnswers{Report: r}
	summary, err := r.Summary()
	if err != nil {
		return out, err
	}
	name := judge.ShellWord(run.Name)
	next := []string{"prof explain " + name, "prof report " + name}
	if commands := profiledCommands(name, summary); len(commands) > 0 {
		next = append(next, commands...)
	} else {
		next = append(next, "prof query stages --run "+name)
	}
	shown := screen.Screen{
		Facts:   screenFacts(run, tags, &of),
		Report:  r,
		Summary: summary,
		Doubts:  slices.Concat(lost(&of), summary.Doubts, warned(run, &of)),
		Next:    next,
	}
	out.document, err = screen.Show(shown)
	out.json = func(w io.Writer) error {
		doubts := shown.Doubts
		if summary.NotWhole != "" {
			doubts = append([]string{summary.NotWhole}, doubts...)
		}
		return report.SummaryJSON(w, run.Name, shown.Facts, summary, doubts)
	}
	return out, errors.Join(of.err, err)
}

// profiledCommands show what Nsight Compute says of a run that has nothing else, of kernels or of what was profiled as a whole; none for every other run.
func profiledCommands(run string, s judge.Summary) []string {
	switch {
	case len(s.Replayed) > 0:
		return []string{"prof query bottlenecks --run " + run, "prof query ncu-rules --run " + run, "prof query roofline --run " + run}
	case s.Profiled != "":
		return []string{"prof query bottlenecks --run " + run, "prof query region-metrics --run " + run, "prof query ncu-rules --run " + run}
	}
	return nil
}

// lost returns what went wrong before the figures were made: kernel time that does not add up, and what became of the capture.
func lost(a *runAnswers) []string {
	var out []string
	for _, r := range rowsIn(a, judge.ConservationRows) {
		if r.KernelCount > 0 && !r.IsExact && r.UnmetCount == 0 {
			out = append(out, fmt.Sprintf("attribution of %s does not add up: please report this capture; prof show --facts has the sums", r.Capture))
		}
	}
	for _, r := range rowsIn(a, captureRows) {
		if r.Reason != "" {
			out = append(out, fmt.Sprintf("the capture is %s: %s", r.Status, r.Reason))
		}
	}
	return out
}

// warned counts what the profilers and the ingest warn of.
func warned(run schema.Run, a *runAnswers) []string {
	n := warnings(a)
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s from the profilers and the ingest: prof query diagnostics --run %s", typeset.CountOf(n, "warning"), judge.ShellWord(run.Name))}
}
