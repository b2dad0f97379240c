package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/internal/file"
	"prof/internal/scratch"
	"prof/queries"
	"prof/render/report"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/pack"
)

func (p *program) packCommand() *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "write runs and their reports into one file, for prof import elsewhere",
		ArgsUsage: "[RUN...]",
		Description: `Without RUN, the newest. The file, NAME.prof.zst, is a tar compressed with zstd: runs as prof export --to parquet writes them, all files of the report of each, of
which env.json says where it was captured, by which tools and from which sources with their hashes, and prof.json, which lists it all. prof import and
prof ingest store the runs; tar --zstd -xf opens the file without prof. The same runs give the same bytes.

--redact packs the reports as prof report --redact writes them, and not the runs, since texts in their rows are not redacted. Such a file cannot be imported.

  prof pack baseline                              # baseline.prof.zst
  prof pack before after --out change.prof.zst
  prof pack baseline --out - | ssh box 'cat > baseline.prof.zst'
  prof import change.prof.zst                     # in another warehouse
  prof pack baseline --redact --keep-tag precision --out share.prof.zst`,
		Flags: append([]cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`; - is standard output", DefaultText: "NAME" + pack.End + " of one run"},
		}, redactFlags("only reports, for sharing: ")...),
		Action: p.packRuns,
	}
}

func (p *program) packRuns(c *cli.Context) (err error) {
	if err := checkKeepTag(c); err != nil {
		return err
	}
	refs, out := c.Args().Slice(), c.String("out")
	if c.IsSet("run") {
		for _, ref := range refs {
			if _, _, err := oneOf(c, ref, true); err != nil {
				return err
			}
		}
		refs = []string{c.String("run")}
	}
	if out == "-" && isTerminal(p.out) {
		return usagef("a packed file is binary: give --out FILE, or a pipe")
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	var runs []schema.Run
	for _, ref := range append(refs, make([]string, max(0, 1-len(refs)))...) {
		run, err := p.resolve(c, w, ref, len(refs) > 0)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(runs, func(r schema.Run) bool { return r.ID == run.ID }) {
			runs = append(runs, run)
		}
	}
	if out == "" && len(runs) > 1 {
		return usagef("several runs: name the file with --out FILE%s", pack.End)
	}
	slices.SortFunc(runs, func(a, b schema.Run) int { return cmp.Compare(a.ID, b.ID) })
	near := filepath.Dir(cmp.Or(out, "."))
	if st, err := os.Stat(p.path(out)); err == nil && !st.Mode().IsRegular() { // a pipe or a device
		near = "."
	}
	temp, err := scratchNear(p.path(near))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	head := pack.Head{ProfVersion: version(), Redacted: c.Bool("redact")}
	var rows int64
	for _, run := range runs {
		one, n, err := p.packRun(c, w, run, temp.Path)
		if err != nil {
			return fmt.Errorf("pack run %s: %w", run.Name, err)
		}
		head.Runs = append(head.Runs, one)
		rows += n
	}
	write := func(to io.Writer) error { return pack.Write(to, temp.Path, head) }
	if out == "-" {
		return write(p.out)
	}
	out = cmp.Or(out, head.Runs[0].Report+pack.End)
	if err := file.Replace(p.path(out), write); err != nil {
		return err
	}
	what, reports := "run "+runs[0].Name, "report"
	if len(runs) > 1 {
		what, reports = typeset.CountOf(int64(len(runs)), "run"), "reports"
	}
	if head.Redacted {
		fmt.Fprintf(p.err, "wrote the redacted %s of %s, without rows, to %s\n", reports, what, out)
	} else {
		fmt.Fprintf(p.err, "wrote %s, %s and the %s, to %s\n", what, typeset.Plural(rows, "row", "rows"), reports, out)
	}
	return nil
}

// packRun writes a run and its report into a folder; with --redact only the report.
func (p *program) packRun(c *cli.Context, w *schema.Warehouse, run schema.Run, dir string) (one pack.Run, rows int64, err error) {
	one = pack.Run{ID: run.ID, Name: run.Name, Report: plan.FolderName(run.Name)}
	spin := p.spin("packing " + run.Name)
	defer spin.end()
	r, err := p.newReport(c.Context, w, run, queries.ReportOptions{Page: true})
	if err != nil {
		return one, 0, err
	}
	if c.Bool("redact") {
		redaction, err := redact(c, w, run, r)
		if err != nil {
			return one, 0, err
		}
		if one.Name = redaction.Text(run.Name); one.Name != run.Name {
			one.Report = run.ID
		}
	} else if rows, err = w.ExportRun(c.Context, run, filepath.Join(dir, pack.Runs)); err != nil {
		return one, 0, err
	}
	to := filepath.Join(dir, pack.Reports, one.Report)
	if err := file.MakeDir(to); err != nil {
		return one, 0, err
	}
	for _, f := range report.Files() {
		text, missing, err := reportText(f, r)
		if err == nil && missing == "" {
			err = file.Write(filepath.Join(to, f.Name), text)
		}
		if err != nil {
			return one, 0, err
		}
	}
	return one, rows, nil
}

// scratchNear makes a temporary folder where there is room for what goes into a folder that is there or will be: in it or the next one above, else where
// the system has them.
func scratchNear(dir string) (*scratch.Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for st, err := os.Stat(dir); (err != nil || !st.IsDir()) && filepath.Dir(dir) != dir; st, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	temp, err := scratch.Make(dir)
	if err != nil {
		temp, err = scratch.Make("")
	}
	return temp, err
}

// unpackTo writes the runs of a packed file into a temporary folder, and gives the folder to import, and under which names it lists them.
func (p *program) unpackTo(ctx context.Context, path string, temp *scratch.Dir) (dir string, names map[string]string, err error) {
	spin := p.spin("unpacking")
	defer spin.end()
	head, err := pack.Unpack(ctx, path, temp.Path)
	if err == nil && head.Redacted {
		err = fmt.Errorf("%s: it was packed with --redact, and has reports and no run; tar --zstd -xf opens it", path)
	}
	if err != nil {
		return "", nil, err
	}
	names = map[string]string{}
	for _, r := range head.Runs {
		names[r.ID] = r.Name
	}
	return filepath.Join(temp.Path, pack.Runs), names, nil
}

// ofPacked are the options of ingest that packed runs take.
var ofPacked = []string{"run", "home", sharedName, "memory"}

// ingestPacked stores a packed run, where the command line names one.
func (p *program) ingestPacked(c *cli.Context) (is bool, err error) {
	at := slices.IndexFunc(p.paths(c.Args().Slice()), pack.Is)
	if at < 0 {
		return false, nil
	}
	path := p.path(c.Args().Get(at))
	if c.NArg() > 1 {
		return true, usagef("%s is a packed file: ingest it by itself", path)
	}
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains(ofPacked, name) {
			return true, usagef("%s is a packed file, whose runs are stored as they are: it takes no --%s", path, name)
		}
	}
	made, there, err := p.importFrom(c, path)
	for _, r := range append(there, made...) {
		fmt.Fprintln(p.out, r.Name)
	}
	return true, err
}

// isFile reports whether a path is no folder, and there.
func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir() && !strings.HasSuffix(path, "/")
}
