package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/internal/file"
	"prof/queries"
	"prof/queries/judge"
	"prof/render/report"
	"prof/schema"
)

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "write a report of a run as an HTML page, Markdown and JSON, with the query behind each table",
		ArgsUsage: "[RUN]",
		Description: "Without RUN, the newest. Writes into --out, or the run's folder in the warehouse's home:\n\n" + reportFileList() + `
A file without data is not written, and a message says why. --out - prints one of them: report.md, or the one named by --file.

  prof report baseline
  prof report baseline --out report/
  prof report baseline --out - | less
  prof report baseline --out - --file metrics.json
  prof report baseline --out - --section stages,findings --top 5
  prof report baseline --redact --keep-tag precision --out share/`,
		Flags: append([]cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "out", Usage: "write into `DIR`; - prints one file"},
			&cli.StringSliceFlag{Name: "file", Usage: "only the files with these `NAMES`, separated by commas or repeated"},
			&cli.StringSliceFlag{Name: "section", Usage: "only report.md and report.html, with only these sections (`IDS`): " + strings.Join(sectionIDs(), ", ")},
			&cli.Int64Flag{Name: "top", Usage: "rows per ranked table, instead of each table's default"},
			repeatabilityFlag(),
		}, redactFlags("for sharing: ")...),
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.reportRun(c, w, run) })
		},
	}
}

// redactFlags say what stays out of a report; about begins what is said of the first.
func redactFlags(about string) []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "redact", Usage: about + "no paths, hosts, users, command lines, names of models, git branches, ids of GPUs or values of tags"},
		&cli.StringSliceFlag{Name: "keep-tag", Usage: "with --redact, tags with these `KEYS` stay, separated by commas or repeated"},
	}
}

func checkKeepTag(c *cli.Context) error {
	if c.IsSet("keep-tag") && !c.Bool("redact") {
		return usagef("--keep-tag applies to --redact")
	}
	return nil
}

// redact takes out of a report what --redact says.
func redact(c *cli.Context, w *schema.Warehouse, run schema.Run, r *judge.Report) (*queries.Redaction, error) {
	redaction, err := queries.NewRedaction(c.Context, w, run, listed(c, "keep-tag"))
	if err != nil {
		return nil, err
	}
	if f := r.Frames["ncu-hotspots"]; f != nil { // any word of a source can be private
		f.Replace("code", func(string) string { return "[code]" })
	}
	r.Rewrite(redaction.Text)
	return redaction, nil
}

func reportFileList() string {
	var out strings.Builder
	for _, f := range report.Files() {
		fmt.Fprintf(&out, "  %-24s %s\n", f.Name, f.Doc)
	}
	return out.String()
}

func sectionIDs() []string {
	var out []string
	for _, s := range queries.ReportSections() {
		out = append(out, s.ID)
	}
	return out
}

// listed returns the values of an option that is repeated or holds several with commas between them.
func listed(c *cli.Context, flag string) []string {
	var out []string
	for _, text := range c.StringSlice(flag) {
		for value := range strings.SplitSeq(text, ",") {
			if value = strings.TrimSpace(value); value != "" {
				out = append(out, value)
			}
		}
	}
	return out
}

// sectioned are the files that --section is about.
var sectioned = []string{"report.html", "report.md"}

// reportFiles returns the files that the options ask for.
func reportFiles(c *cli.Context) ([]report.File, error) {
	names, sections, print := listed(c, "file"), listed(c, "section"), c.String("out") == "-"
	var files []string
	for _, f := range report.Files() {
		files = append(files, f.Name)
	}
	for _, name := range names {
		if !slices.Contains(files, name) {
			return nil, usagef("a report has no file %q%s", name, cmp.Or(nearest(name, files), "; see `prof help report`"))
		}
		if len(sections) > 0 && !slices.Contains(sectioned, name) {
			return nil, usagef("--section applies to report.md and report.html, not %s", name)
		}
	}
	switch {
	case print && len(names) > 1:
		return nil, usagef("--out - prints one file, and --file names %d", len(names))
	case print && len(names) == 0:
		names = []string{"report.md"}
	case len(sections) > 0 && len(names) == 0:
		names = sectioned
	}
	onPage := len(names) == 0 || slices.Contains(names, "report.html")
	for _, id := range sections {
		if !onPage && slices.ContainsFunc(queries.ReportSections(), func(s queries.SectionName) bool { return s.ID == id && s.Page }) {
			return nil, usagef("section %s is only on the page: give --file report.html", id)
		}
	}
	return slices.DeleteFunc(report.Files(), func(f report.File) bool { return len(names) > 0 && !slices.Contains(names, f.Name) }), nil
}

func (p *program) reportRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	files, err := reportFiles(c)
	if err != nil {
		return err
	}
	if c.Int64("top") < 0 {
		return usagef("--top %d is below 0", c.Int64("top"))
	}
	within, err := repeatability(c)
	if err != nil {
		return err
	}
	if err := checkKeepTag(c); err != nil {
		return err
	}
	page := slices.ContainsFunc(files, func(f report.File) bool { return f.Name == "report.html" })
	spin := p.spin("running the queries of the report")
	r, err := p.newReport(c.Context, w, run, queries.ReportOptions{Sections: listed(c, "section"), Top: c.Int64("top"), Page: page})
	spin.end()
	if err != nil {
		return err
	}
	r.Within = within
	if c.Bool("redact") {
		if _, err := redact(c, w, run, r); err != nil {
			return err
		}
	}
	dir := c.String("out")
	if dir == "-" {
		if f := files[0]; f.Missing != nil && f.Missing(r) != "" {
			return fmt.Errorf("run %s has %w %s: %s", run.Name, report.ErrMissing, f.Name, f.Missing(r))
		}
		return files[0].Write(p.out, r)
	}
	dir = p.path(dir)
	own := dir == ""
	if own {
		dir = filepath.Join(w.Home.Dir, runsName, plan.FolderName(run.Name), "reports")
	}
	return p.writeReport(dir, own, c.IsSet("file"), files, r)
}

// newReport asks what reports of a run show. What is said of its model is asked at the same time.
func (p *program) newReport(ctx context.Context, w *schema.Warehouse, run schema.Run, o queries.ReportOptions) (*judge.Report, error) {
	a := p.asker(w)
	type facts struct {
		pairs  [][2]string
		static *judge.Static
		err    error
	}
	said := make(chan facts, 1)
	go func() {
		pairs, err := runFacts(ctx, a, w, run)
		if err != nil {
			said <- facts{err: err}
			return
		}
		static, err := staticOf(ctx, a, w, run)
		said <- facts{pairs, static, err}
	}()
	r, err := queries.NewReport(ctx, a, run, o)
	f := <-said
	if err = errors.Join(err, f.err); err != nil {
		return nil, err
	}
	r.Facts, r.Static = f.pairs, f.static
	return r, nil
}

// writeReport writes files into a folder. Of a file that the run has nothing for it says why, and takes away what an earlier report
// left in the run's own folder; where the file was named, that is an error.
func (p *program) writeReport(dir string, own, named bool, files []report.File, r *judge.Report) error {
	if err := makeOut(dir); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		text, why, err := reportText(f, r)
		if err != nil {
			return err
		}
		if why != "" {
			if named {
				return fmt.Errorf("run %s has %w %s: %s", r.Name, report.ErrMissing, f.Name, why)
			}
			fmt.Fprintf(p.err, "no %s: %s\n", f.Name, why)
			if own {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			continue
		}
		if err := file.Write(path, text); err != nil {
			return err
		}
		fmt.Fprintln(p.out, path)
	}
	return nil
}

// reportText returns a file of a report, or why the run has none.
func reportText(f report.File, r *judge.Report) (text []byte, missing string, err error) {
	if f.Missing != nil {
		missing = f.Missing(r)
	}
	if missing != "" {
		return nil, missing, nil
	}
	var out bytes.Buffer
	if err := f.Write(&out, r); err != nil {
		return nil, "", fmt.Errorf("%s of run %s: %w", f.Name, r.Name, err)
	}
	return out.Bytes(), "", nil
}

// makeOut makes a folder for files that are to be written, which must not be a symbolic link: they would end up elsewhere.
func makeOut(dir string) error {
	if err := file.NoLink(dir); err != nil {
		return err
	}
	return file.MakeDir(dir)
}

// staticOf is the static compute of a run; nil of one without a model.
func staticOf(ctx context.Context, a *queries.Asker, w *schema.Warehouse, run schema.Run) (*judge.Static, error) {
	f, err := a.Ask(ctx, "models", queries.Args{"run": run.ID})
	if err != nil || len(f.Rows) == 0 {
		return nil, err
	}
	size := judge.StaticSize{Prefill: -1, Decode: -1, Batch: -1, Images: -1, Crops: -1, Convention: "full", MLA: "expanded", Head: "last", Context: "auto"}
	if err := fillSize(ctx, w, run, true, &size); err != nil {
		return nil, err
	}
	return queries.NewStatic(ctx, w, run, "", size)
}
