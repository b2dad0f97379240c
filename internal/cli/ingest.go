package cli

import (
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/load"
	"prof/schema"
)

func (p *program) ingestCommand() *cli.Command {
	return &cli.Command{
		Name:      "ingest",
		Usage:     "store captured files as one run",
		ArgsUsage: "PATH...",
		Description: `Files or folders of any known format, plain or .gz: exports of Nsight Systems, reports and CSV pages
of Nsight Compute, traces of the PyTorch profiler and key_averages() saved as JSON or CSV. All of them
become one run. Content that the warehouse holds already is not stored again. Either everything is
stored or nothing.

  prof ingest capture.sqlite                      # a run named by time and file
  prof ingest --run baseline --tag gpu=h200 a.sqlite.gz
  prof ingest --run tp2 rank0.sqlite rank1.sqlite # several ranks, one run
  prof ingest export_pqtdir                       # nsys export --type parquetdir
  prof ingest report.nsys-rep                     # where nsys is installed
  prof ingest --run ops trace.json.gz             # export_chrome_trace of torch.profiler`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: UTC time and the file's name)"},
			&cli.StringSliceFlag{Name: "tag", Usage: "a tag `KEY=VALUE` of the run; may be repeated"},
			&cli.BoolFlag{Name: "with-osrt", Usage: "store calls into the operating system's libraries too"},
		},
		Action: p.ingest,
	}
}

func (p *program) ingest(c *cli.Context) (err error) {
	if c.NArg() == 0 {
		return usagef("ingest takes files or folders; see `prof help ingest`")
	}
	o := ingest.Options{Name: c.String("run"), Now: time.Now(), ProfVersion: version(), Warn: p.warn,
		Load: load.Options{WithOSRT: c.Bool("with-osrt"), Threads: runtime.NumCPU()}}
	if c.IsSet("run") && o.Name == "" {
		return usagef("--run needs a name")
	}
	for _, t := range c.StringSlice("tag") {
		k, v, err := schema.ParseTag(t)
		if err != nil {
			return &usageError{err}
		}
		o.Tags = append(o.Tags, [2]string{k, v})
	}
	if err := ingest.Check(c.Args().Slice(), o); err != nil { // before a home is made for nothing
		return err
	}
	w, err := p.open(c, true)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	_, err = p.ingestInto(c, w, c.Args().Slice(), o)
	return err
}

func (p *program) warn(message string) { fmt.Fprintln(p.err, "warning: "+message) }

// ingestInto ingests and says what was done: the run's name on stdout, the rest on stderr.
func (p *program) ingestInto(c *cli.Context, w *schema.Warehouse, paths []string, o ingest.Options) (*ingest.Result, error) {
	bar := p.newBar()
	o.Load.Progress = bar.show
	start := time.Now()
	res, err := ingest.Run(c.Context, w, paths, o)
	bar.clear()
	if err != nil {
		return nil, err
	}
	for _, r := range res.Repeated {
		switch {
		case !res.Made:
			fmt.Fprintf(p.err, "%s is in the warehouse already, as run %s; nothing to do (to store it anew with other options: prof rm %s)\n", r.Path, r.Run, r.Run)
			fmt.Fprintln(p.out, r.Run)
		case r.Run == res.Run.Name:
			fmt.Fprintf(p.err, "%s holds the same as another of the files and was left out\n", r.Path)
		}
	}
	if res.Skipped > 0 {
		fmt.Fprintf(p.err, "%d files of no known format were passed over\n", res.Skipped)
	}
	if !res.Made {
		return res, nil
	}
	var rows, bytes int64
	for _, s := range res.Sources {
		rows, bytes = rows+s.Rows, bytes+s.Size
	}
	took := time.Since(start).Seconds()
	fmt.Fprintf(p.err, "%d rows from %d source(s), %.1f MB in %.2f s\n", rows, len(res.Sources), float64(bytes)/1e6, took)
	fmt.Fprintln(p.out, res.Run.Name)
	return res, nil
}
