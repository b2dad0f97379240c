package cli

import (
	"bytes"
	"fmt"
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
		Usage:     "write what a run shows as Markdown, with the query behind each table",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the latest. Writes report.md, and of a run with a model static_compute.json and static_compute.md, into --out or the
run's folder in the warehouse's home; --out - prints report.md.

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
	text, err := p.reportText(c, w, run)
	if err != nil {
		return err
	}
	dir := c.String("out")
	if dir == "-" {
		_, err := p.out.Write(text)
		return err
	}
	if dir == "" {
		dir = filepath.Join(w.Home.Dir, runsName, capture.FolderName(run.Name), "reports")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "report.md")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintln(p.out, path)
	return p.reportModel(c, w, run, dir)
}

func (p *program) reportText(c *cli.Context, w *schema.Warehouse, run schema.Run) ([]byte, error) {
	sections, err := queries.Report(c.Context, w, run.ID)
	if err != nil {
		return nil, err
	}
	more, err := p.showMore(c.Context, w, run)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = render.ReportMarkdown(&b, "Run "+run.Name, append(runFacts(run), more...), sections)
	return b.Bytes(), err
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
