package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/queries"
	"prof/render"
	"prof/schema"
)

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write what a run shows as a page of HTML and as Markdown, with the query behind each table",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the latest. Writes report.html (one file that needs no network) and report.md, and of a run with a model
static_compute.json and static_compute.md, into --out or the run's folder in the warehouse's home; --out - prints report.md.

  prof report baseline
  prof report baseline --out report/
  prof report baseline --out - | less`,
		Flags: []cli.Flag{&cli.StringFlag{Name: "out", Usage: "write into `DIR`; - prints report.md"}},
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.reportRun(c, w, run) })
		},
	}
}

func (p *program) reportRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	facts, err := p.reportFacts(c, w, run)
	if err != nil {
		return err
	}
	sections, err := queries.Report(c.Context, w, run.ID)
	if err != nil {
		return err
	}
	title := "Run " + run.Name
	dir := c.String("out")
	if dir == "-" {
		return render.ReportMarkdown(p.out, title, facts, sections)
	}
	if dir == "" {
		dir = filepath.Join(w.Home.Dir, runsName, capture.FolderName(run.Name), "reports")
	}
	timeline, err := queries.ReportTimeline(c.Context, w, run.ID)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"report.html", func(to io.Writer) error { return render.ReportHTML(to, title, facts, sections, timeline) }},
		{"report.md", func(to io.Writer) error { return render.ReportMarkdown(to, title, facts, sections) }},
	} {
		var text bytes.Buffer
		if err := file.write(&text); err != nil {
			return err
		}
		path := filepath.Join(dir, file.name)
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(p.out, path)
	}
	return p.reportModel(c, w, run, dir)
}

// reportFacts are what a report says of a run before its sections.
func (p *program) reportFacts(c *cli.Context, w *schema.Warehouse, run schema.Run) ([][2]string, error) {
	more, err := p.showMore(c.Context, w, run)
	return append(runFacts(run), more...), err
}

// reportModel writes the static compute of a run that has a model.
func (p *program) reportModel(c *cli.Context, w *schema.Warehouse, run schema.Run, dir string) error {
	f, err := runNamed(c.Context, w, "models", run.ID)
	if err != nil || len(f.Rows) == 0 {
		return err
	}
	size := queries.StaticSize{Prefill: -1, Decode: -1, Batch: -1, Images: -1, Crops: -1, Convention: "full", MLA: "expanded", Head: "last", Context: "auto"}
	if err := fillSize(c.Context, w, run.ID, true, &size); err != nil {
		return err
	}
	s, err := queries.NewStatic(c.Context, w, run.ID, "", size)
	if err != nil {
		return err
	}
	return p.writeStatic(dir, s)
}
