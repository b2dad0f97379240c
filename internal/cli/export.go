package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries"
	"prof/render/stacks"
	"prof/schema"
)

func (p *program) exportCommand() *cli.Command {
	names := append(stacks.Forms().Names(), perfettoForm, parquet)
	var docs []string
	for _, f := range stacks.Forms() {
		docs = append(docs, fmt.Sprintf("  %-8s %s", f.Name, f.Doc))
	}
	docs = append(docs, fmt.Sprintf("  %-8s %s", perfettoForm, perfettoDoc), fmt.Sprintf("  %-8s %s", parquet, parquetDoc))
	return &cli.Command{
		Name:      "export",
		Usage:     "a run for other programs: flame graphs of its kernels, a trace of its timeline, or all of it as Parquet",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest. In a flame graph a stack is the stage, the ranges and operators around a launch, and the kernel; its time is that on the GPU. Warm-up passes
are omitted, and a message says how many kernels that is. With --warmup the sum is that of prof query top-kernels, to the nanosecond.

` + strings.Join(docs, "\n") + `

  prof export baseline --out baseline.pb.gz
  go tool pprof -http=: baseline.pb.gz
  go tool pprof -top -sample_index=kernels -tagfocus=stage=decode baseline.pb.gz
  go tool pprof -http=: -diff_base=before.pb.gz after.pb.gz
  prof export baseline --to folded | flamegraph.pl --countname=ns > baseline.svg
  prof export baseline --to perfetto --out baseline.pftrace.gz
  prof export baseline --to perfetto --stage decode --pass 3 --out pass.pftrace.gz
  prof export baseline --to parquet --out runs    # a folder, which may hold several runs
  prof import runs                                # in another warehouse`,
		Flags: []cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "to", Value: names[0], Usage: "`FORM` of the output: " + strings.Join(names, ", ")},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`; with --to parquet a folder"},
			&cli.StringFlag{Name: "stage", Usage: "only kernels launched in this stage; (none) for kernels outside every stage"},
			&cli.Int64Flag{Name: "device", Usage: "only this GPU"},
			&cli.StringFlag{Name: "source", Usage: "only this kind of capture: nsys, prof, rocprof, torch, xla or nsys-stats; default: the first of these that the run has"},
			&cli.BoolFlag{Name: "warmup", Usage: "warm-up passes too"},
			&cli.Int64Flag{Name: "pass", Usage: "with --to perfetto and --stage: only this pass of the stage"},
			&cli.StringFlag{Name: "window", Usage: "with --to perfetto: only what runs between these times, from the start of the capture: `FROM,TO`, as in 1.5s,2s; either may be empty"},
		},
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.exportRun(c, w, run) })
		},
	}
}

// noKernels says why a run has no kernels to export.
func (p *program) noKernels(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	f, err := queries.NewAsker(w).Ask(c.Context, "sources", queries.Args{"run": run.ID})
	if err != nil {
		return err
	}
	list, err := f.Records("kind", "form")
	if err != nil {
		return err
	}
	var kinds []string
	for _, s := range list {
		if kind := s.Text("kind"); slices.Contains([]string{"nsys", "prof", "rocprof", "xla"}, kind) || s.Text("form") == "torch-trace" {
			return fmt.Errorf("run %s has no kernels to export", run.Name)
		} else if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return fmt.Errorf("run %s has no kernels to export: it has no timeline, only %s", run.Name, strings.Join(kinds, ", "))
}

func (p *program) exportRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	switch c.String("to") {
	case parquet:
		return p.exportParquet(c, w, run)
	case perfettoForm:
		return p.exportPerfetto(c, w, run)
	}
	form, err := stacks.Forms().Named(c.String("to"), perfettoForm, parquet)
	if err != nil {
		return &usageError{err}
	}
	for _, name := range []string{"pass", "window"} {
		if c.IsSet(name) {
			return usagef("--%s needs --to perfetto", name)
		}
	}
	out := c.String("out")
	if out == "" && form.Name == stacks.Pprof && isTerminal(p.out) {
		return usagef("%s is binary: give --out FILE, or a pipe", form.Name)
	}
	args := queries.Args{"run": run.ID}
	for _, name := range []string{"stage", "device", "source"} {
		if c.IsSet(name) {
			args[name] = fmt.Sprint(c.Value(name))
		}
	}
	f, err := queries.NewAsker(w).Ask(c.Context, stacks.Query, args)
	if err != nil {
		return err
	}
	if err := unknownStage(f, c.String("stage")); err != nil {
		return err
	}
	for _, n := range f.Notes {
		fmt.Fprintln(p.err, "note: "+n)
	}
	o := stacks.Options{Run: run.Name, Warmup: c.Bool("warmup")}
	if run.StartedAt != nil {
		o.Captured = *run.StartedAt
	}
	list, omitted, err := stacks.Read(f, o)
	if err != nil {
		return err
	}
	if omitted > 0 {
		fmt.Fprintf(p.err, "omitted %d kernels of warm-up passes (--warmup includes them)\n", omitted)
	}
	if len(list) == 0 {
		return p.noKernels(c, w, run)
	}
	var text bytes.Buffer
	if err := form.Write(&text, list, o); err != nil {
		return fmt.Errorf("write %s of run %s: %w", form.Name, run.Name, err)
	}
	if out == "" {
		_, err := text.WriteTo(p.out)
		return err
	}
	if err := file.Write(out, text.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(p.err, "wrote "+out)
	return nil
}
