package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/internal/file"
	"prof/queries"
	"prof/render/stacks"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) exportCommand() *cli.Command {
	names := append(stacks.Forms().Names(), parquet)
	var docs []string
	for _, f := range stacks.Forms() {
		docs = append(docs, fmt.Sprintf("  %-8s %s", f.Name, f.Doc))
	}
	docs = append(docs, fmt.Sprintf("  %-8s %s", parquet, "Parquet of what was captured, for prof import and any other program: a folder with DIR/TABLE/run_id=ID/rows.parquet"))
	return &cli.Command{
		Name:      "export",
		Usage:     "a run for other programs: flame graphs of its kernels, or all of it as Parquet",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest. In a flame graph a stack is the stage, the ranges and operators around a launch, and the kernel; its time is that on the GPU. Warm-up passes
are omitted, and a message says how many kernels that is. With --warmup the sum is that of prof query top-kernels, to the nanosecond.

` + strings.Join(docs, "\n") + `

  prof export baseline --out baseline.pb.gz
  go tool pprof -http=: baseline.pb.gz
  go tool pprof -top -sample_index=kernels -tagfocus=stage=decode baseline.pb.gz
  go tool pprof -http=: -diff_base=before.pb.gz after.pb.gz
  prof export baseline --to folded | flamegraph.pl --countname=ns > baseline.svg
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
		},
		Action: func(c *cli.Context) error {
			return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error { return p.exportRun(c, w, run) })
		},
	}
}

// parquet is the form that is not of stacks.
const parquet = "parquet"

// exportParquet writes a run into a folder.
func (p *program) exportParquet(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	out := c.String("out")
	if out == "" {
		return usagef("--to parquet writes a folder: name it with --out DIR")
	}
	for _, name := range []string{"stage", "device", "source", "warmup"} {
		if c.IsSet(name) {
			return usagef("--to parquet writes the whole run; omit --%s", name)
		}
	}
	rows, err := w.ExportRun(c.Context, run, out)
	if err == nil {
		fmt.Fprintf(p.err, "wrote run %s, %s, to %s\n", run.Name, typeset.Plural(rows, "row", "rows"), out)
	}
	return err
}

func (p *program) importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "store runs that prof export --to parquet wrote",
		ArgsUsage: "DIR",
		Description: `Runs keep their names and ids; one that the warehouse has already is not stored again. All runs of the folder are stored, or none.

  prof export baseline --to parquet --out runs
  prof --home /data/team/.prof import runs`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "store the folder's only run under this `NAME`"},
			sharedFlag(),
		},
		Action: p.importRuns,
	}
}

func (p *program) importRuns(c *cli.Context) (err error) {
	if c.NArg() != 1 {
		return usagef("import takes the folder to import; see `%s`", helpOf(c))
	}
	if name := c.String("run"); name != "" {
		if err := ingest.CheckName(name); err != nil {
			return &usageError{err}
		}
	}
	if _, err := schema.RunsIn(c.Args().First()); err != nil { // before a home is made for it
		return err
	}
	w, err := p.open(c, true)
	if err != nil {
		return err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	made, there, err := w.ImportRuns(c.Context, c.Args().First(), c.String("run"))
	if err != nil {
		return err
	}
	for _, r := range there {
		fmt.Fprintf(p.err, "run %s is in the warehouse already\n", r.Name)
	}
	for _, r := range made {
		fmt.Fprintf(p.err, "imported run %s\n", r.Name)
	}
	return nil
}

func (p *program) exportRun(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	if c.String("to") == parquet {
		return p.exportParquet(c, w, run)
	}
	form, err := stacks.Forms().Named(c.String("to"))
	if err != nil {
		return &usageError{err}
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
		return fmt.Errorf("run %s has no kernels to export", run.Name)
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
