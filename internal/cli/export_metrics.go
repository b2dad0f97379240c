package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/metrics"
	"prof/render/typeset"
	"prof/schema"
)

// exportMetrics writes the figures of a run's stages for dashboards.
func (p *program) exportMetrics(c *cli.Context, w *schema.Warehouse, run schema.Run, form typeset.Form[[]metrics.Metric, metrics.Run]) error {
	of := metrics.Run{Name: run.Name, ID: run.ID, Version: run.ProfVersion, At: run.CreatedAt}
	if run.StartedAt != nil {
		of.At = *run.StartedAt
	}
	var err error
	if of.Tags, err = w.Tags(c.Context, run); err != nil {
		return err
	}
	var list []queries.Question
	for _, name := range append(metrics.Queries(), "devices", "models") {
		list = append(list, queries.Question{Query: name, Args: queries.Args{"run": run.ID}})
	}
	answers, err := p.asker(w).AskAll(c.Context, list)
	if err != nil {
		return err
	}
	if of.Device, err = distinct(answers[len(answers)-2], "name"); err != nil {
		return err
	}
	if of.Model, err = distinct(answers[len(answers)-1], "name", "family"); err != nil {
		return err
	}
	found, err := metrics.Read(answers, of)
	if err != nil {
		return err
	}
	if len(found) == 0 && answers[0].Warns(caveat.FactsLacking) {
		return fmt.Errorf("run %s has no facts, and so no figures to export", run.Name)
	}
	if len(found) == 0 {
		return fmt.Errorf("run %s has no stages, and so no figures to export", run.Name)
	}
	var notes []string
	for _, f := range answers {
		for _, n := range f.Notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	p.notes(notes)
	var text bytes.Buffer
	if err := form.Write(&text, found, of); err != nil {
		return fmt.Errorf("write %s of run %s: %w", form.Name, run.Name, err)
	}
	return p.writeOut(c.String("out"), &text)
}

// distinct lists the values of a text column, or of another where it has none, each once.
func distinct(f *frame.Frame, columns ...string) (string, error) {
	rows, err := f.Records(columns...)
	if err != nil {
		return "", err
	}
	var out []string
	known := map[string]bool{}
	for _, r := range rows {
		var name string
		for _, column := range columns {
			name = cmp.Or(name, r.Text(column))
		}
		if name != "" && !known[name] {
			known[name] = true
			out = append(out, name)
		}
	}
	return strings.Join(out, ", "), nil
}
