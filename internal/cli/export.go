package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries"
	"prof/queries/caveat"
	"prof/queries/dialect"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/metrics"
	"prof/render/stacks"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/terms"
)

// exportForm is what a run can be exported as.
type exportForm struct {
	name, doc string
	options   []string // of exportOptions, those that it takes
	write     func(*program, *cli.Context, *schema.Warehouse, schema.Run) error
	all       func(*program, *cli.Context, *schema.Warehouse) error // in place of write, of a form for all runs
}

// exportOptions say which part of a run is exported.
var exportOptions = []string{"stage", "device", "source", "warmup", "pass", "window"}

func exportForms() (list []exportForm) {
	for _, f := range stacks.Forms() {
		list = append(list, exportForm{name: f.Name, doc: f.Doc, options: []string{"stage", "device", "source", "warmup"}, write: func(p *program, c *cli.Context, w *schema.Warehouse, run schema.Run) error {
			return p.exportStacks(c, w, run, f)
		}})
	}
	list = append(list,
		exportForm{name: perfettoForm, doc: perfettoDoc, options: []string{"stage", "device", "source", "pass", "window"}, write: (*program).exportPerfetto},
		exportForm{name: chromeForm, doc: chromeDoc, options: []string{"stage", "device", "source", "pass", "window"}, write: (*program).exportChrome},
		exportForm{name: parquet, doc: parquetDoc, write: (*program).exportParquet})
	for _, f := range metrics.Forms() {
		list = append(list, exportForm{name: f.Name, doc: f.Doc, write: func(p *program, c *cli.Context, w *schema.Warehouse, run schema.Run) error {
			return p.exportMetrics(c, w, run, f)
		}})
	}
	for _, e := range dialect.Engines() {
		list = append(list, exportForm{name: engineForm + e.Name, doc: "views over all runs of a lake, as SQL " + e.Doc, all: func(p *program, c *cli.Context, w *schema.Warehouse) error {
			return p.exportEngine(c, w, e)
		}})
	}
	return list
}

func (p *program) exportCommand() *cli.Command {
	var names, docs []string
	for _, f := range exportForms() {
		names, docs = append(names, f.name), append(docs, fmt.Sprintf("  %-11s %s", f.name, f.doc))
	}
	return &cli.Command{
		Name:      "export",
		Usage:     "a run for other programs: flame graphs of its kernels, a trace of its timeline, metrics of its stages, or all of it as Parquet",
		ArgsUsage: "[RUN]",
		Description: `Without RUN, the newest. In a flame graph a stack is the stage, the ranges, nn.Modules and operators around a launch, and the kernel; its time is that on the GPU. Warm-up
passes are omitted, and a message says how many kernels that is. With --warmup the sum is that of prof query top-kernels, to the nanosecond. pprof also gets kernels,
launch_time, and where they are known flop and bytes: from Nsight Compute reports in the run, FLOP also by PyTorch's formulas. A message says of how much GPU time.

` + strings.Join(docs, "\n") + `

  prof export baseline --out baseline.pb.gz
  go tool pprof -http=: baseline.pb.gz
  go tool pprof -top -sample_index=flop baseline.pb.gz
  go tool pprof -top -sample_index=kernels -tagfocus=stage=decode baseline.pb.gz
  go tool pprof -http=: -diff_base=before.pb.gz after.pb.gz
  prof export baseline --to folded | flamegraph.pl --countname=ns > baseline.svg
  prof export baseline --to perfetto --out baseline.pftrace.gz
  prof export baseline --to perfetto --stage decode --pass 3 --out pass.pftrace.gz
  prof export baseline --to chrome --out hta/baseline.json.gz
  prof export baseline --to parquet --out runs    # a folder, which may hold several runs
  prof import runs                                # in another warehouse
  prof export baseline --to openmetrics --out baseline.txt
  prof export baseline --to otlp-json | curl -H 'Content-Type: application/json' --data-binary @- http://localhost:4318/v1/metrics
  prof export --to sql-spark --out lake.sql       # spark-sql -i lake.sql -e 'SELECT * FROM stages'`,
		Flags: []cli.Flag{
			runFlag("the newest"),
			&cli.StringFlag{Name: "to", Value: names[0], Usage: "`FORM` of the output: " + strings.Join(names, ", ")},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write to `FILE`; with --to parquet a folder"},
			&cli.StringFlag{Name: "stage", Usage: "only kernels launched in this stage; (none) for kernels outside every stage"},
			&cli.Int64Flag{Name: "device", DefaultText: "all", Usage: "only this GPU"},
			&cli.StringFlag{Name: "source", Usage: terms.TimelineDoc()},
			&cli.BoolFlag{Name: "warmup", Usage: "warm-up passes too"},
			&cli.Int64Flag{Name: "pass", DefaultText: "all", Usage: "with --to perfetto or chrome and --stage: only this pass of the stage"},
			&cli.StringFlag{Name: "window", Usage: "with --to perfetto or chrome: only what runs between these times, from the start of the capture: `A..B`, as in 1.5s..2s; either may be empty"},
		},
		Action: p.export,
	}
}

// unpicked is an error where options pick nothing of a run, as the answer of a query without rows says.
func unpicked(f *frame.Frame, stage string) error {
	for _, v := range f.Caveats {
		switch u, is := caveat.UnpickedOf(v); {
		case !is:
		case u.Option == "stage "+stage:
			return unknownStage(f, stage)
		default:
			_, words, err := caveat.Word([]frame.Caveat{v})
			if err != nil {
				return err
			}
			return usagef("%s", strings.Join(words, "; "))
		}
	}
	return nil
}

// narrowing are the options, as given, that leave out of the run what may be all that it has.
func narrowing(c *cli.Context) string {
	var out []string
	for _, name := range exportOptions {
		if name != "warmup" && c.IsSet(name) {
			out = append(out, fmt.Sprintf("--%s %v", name, c.Value(name)))
		}
	}
	return strings.Join(out, " ")
}

// noKernels returns why a run has no kernels to export.
func (p *program) noKernels(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	f, err := p.asker(w).Ask(c.Context, "sources", queries.Args{"run": run.ID})
	if err != nil {
		return err
	}
	if f.Warns(caveat.FactsLacking) {
		return fmt.Errorf("run %s has no facts to export kernels by", run.Name)
	}
	list, err := judge.SourceRows.Of(f)
	if err != nil {
		return err
	}
	var kinds []string
	for _, s := range list {
		if slices.Contains(terms.Kinds(terms.Source.IsTraced), s.Kind) && s.Form != "torch-averages" {
			if options := narrowing(c); options != "" {
				return fmt.Errorf("run %s has nothing to export with %s", run.Name, options)
			}
			return fmt.Errorf("run %s has no kernels to export", run.Name)
		}
		kinds = append(kinds, s.Kind)
	}
	return fmt.Errorf("run %s has no kernels to export: it has no timeline, only %s", run.Name, strings.Join(typeset.Unique(kinds), ", "))
}

// export writes a run, or for engines that read a lake all of them.
func (p *program) export(c *cli.Context) (err error) {
	if c.String("to") == "sqlite" {
		return usagef("--to sqlite is no more: use --to parquet, `prof query NAME --format arrow`, or `prof sql`")
	}
	forms := exportForms()
	at := slices.IndexFunc(forms, func(f exportForm) bool { return f.name == c.String("to") })
	if at >= 0 && forms[at].all != nil {
		if err := checkOptions(c, forms[at]); err != nil {
			return err
		}
		if c.NArg() > 0 || c.IsSet("run") {
			return usagef("--to %s takes no run: it is for all runs of a lake", forms[at].name)
		}
		w, err := p.open(c, false)
		if err != nil {
			return err
		}
		defer closing(w, &err)
		return forms[at].all(p, c, w)
	}
	return p.oneRun(c, func(w *schema.Warehouse, run schema.Run) error {
		if at < 0 {
			var others []string
			for _, f := range forms[len(stacks.Forms()):] {
				others = append(others, f.name)
			}
			_, err := stacks.Forms().Named(c.String("to"), others...)
			return &usageError{err}
		}
		if err := checkOptions(c, forms[at]); err != nil {
			return err
		}
		notes, err := p.asker(w).Notes(c.Context, queries.Args{"run": run.ID}, caveat.Facts)
		if err != nil {
			return err
		}
		p.notes(notes)
		return forms[at].write(p, c, w, run)
	})
}

// checkOptions refuses options for a part of a run that a form does not take.
func checkOptions(c *cli.Context, form exportForm) error {
	for _, name := range exportOptions {
		if c.IsSet(name) && !slices.Contains(form.options, name) {
			takes := ": it writes all of the run"
			if form.all != nil {
				takes = ": it writes all runs"
			} else if len(form.options) > 0 {
				takes = "; it takes --" + strings.Join(form.options, ", --")
			}
			return usagef("--to %s takes no --%s%s", form.name, name, takes)
		}
	}
	return nil
}

func (p *program) exportStacks(c *cli.Context, w *schema.Warehouse, run schema.Run, form typeset.Form[*stacks.Profile, stacks.Options]) error {
	out := c.String("out")
	if out == "" && form.Name == stacks.Pprof && isTerminal(p.out) {
		return usagef("%s is binary: give --out FILE, or a pipe", form.Name)
	}
	f, err := p.asker(w).Ask(c.Context, stacks.Query, runArgs(c, run, "stage", "device", "source"))
	if err != nil {
		return err
	}
	if err := unpicked(f, c.String("stage")); err != nil {
		return err
	}
	p.notes(f.Notes)
	o := stacks.Options{Run: run.Name, Warmup: c.Bool("warmup")}
	if run.StartedAt != nil {
		o.Captured = *run.StartedAt
	}
	profile, err := stacks.Read(f, o)
	if err != nil {
		return err
	}
	if profile.Omitted > 0 {
		fmt.Fprintf(p.err, "omitted %d kernels of warm-up passes (--warmup includes them)\n", profile.Omitted)
	}
	if len(profile.Stacks) == 0 {
		return p.noKernels(c, w, run)
	}
	if form.Name == stacks.Pprof {
		p.notes(profile.Notes())
	}
	var text bytes.Buffer
	if err := form.Write(&text, profile, o); err != nil {
		return fmt.Errorf("write %s of run %s: %w", form.Name, run.Name, err)
	}
	return p.writeOut(out, &text)
}

// writeOut writes a file, and says so; without a name, to standard output.
func (p *program) writeOut(out string, text *bytes.Buffer) error {
	if out == "" {
		_, err := text.WriteTo(p.out)
		return err
	}
	if err := file.Write(p.path(out), text.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(p.err, "wrote "+out)
	return nil
}

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
	devices, err := judge.DeviceRows.Of(answers[len(answers)-2])
	if err != nil {
		return err
	}
	models, err := judge.ModelRows.Of(answers[len(answers)-1])
	if err != nil {
		return err
	}
	of.Device, of.Model = distinct(devices, func(r judge.DeviceRow) string { return r.Name }), distinct(models, func(r judge.ModelRow) string { return cmp.Or(r.Name, r.Family) })
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

// distinct lists the names that rows have, each once.
func distinct[T any](rows []T, name func(T) string) string {
	var out []string
	for _, r := range rows {
		if name := name(r); name != "" {
			out = append(out, name)
		}
	}
	return strings.Join(typeset.Unique(out), ", ")
}

// engineForm begins the forms for engines that read a lake.
const engineForm = "sql-"

// exportEngine writes the statements with which an engine reads all runs of the lake.
func (p *program) exportEngine(c *cli.Context, w *schema.Warehouse, engine *dialect.Dialect) error {
	if w.Home.Lake == nil {
		return usagef("--to %s%s is for a lake, and %s is a file of DuckDB, which other engines do not read: `prof push --all --to LAKE` puts its runs into one", engineForm, engine.Name, w.Home.Warehouse())
	}
	list, err := queries.EngineRelations()
	if err != nil {
		return err
	}
	stored, err := w.LakeFiles(c.Context, dialect.TablesOf(list))
	if err != nil {
		return fmt.Errorf("--to %s%s: %w", engineForm, engine.Name, err)
	}
	tables := make([]dialect.Table, len(stored))
	for i, t := range stored {
		tables[i] = dialect.Table{Name: t.Name, Files: t.Files, Rows: t.Rows}
		for _, c := range t.Columns {
			tables[i].Columns = append(tables[i].Columns, dialect.Column{Name: c[0], Type: c[1]})
		}
	}
	head := fmt.Sprintf("prof's relations over the runs of %s, %s.\nThey are as of %s: runs that are pushed later are not in them. Written by prof %s; write it anew with prof export --to %s%s.",
		w.Home.Lake, engine.Doc, time.Now().UTC().Format("2006-01-02 15:04:05 UTC"), version(), engineForm, engine.Name)
	script, err := engine.Script(head, list, tables)
	if err != nil {
		return err
	}
	return p.writeOut(c.String("out"), bytes.NewBufferString(script))
}

// parquet is the form that goes into files, which DuckDB writes.
const (
	parquet    = "parquet"
	parquetDoc = "what was captured, for prof import and other programs: a folder with DIR/TABLE/run_id=ID/rows.parquet"
)

// exportParquet writes a run into a folder.
func (p *program) exportParquet(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	out := c.String("out")
	if out == "" {
		return usagef("--to parquet writes a folder: name it with --out DIR")
	}
	rows, err := w.ExportRun(c.Context, run, p.path(out))
	if err == nil {
		fmt.Fprintf(p.err, "wrote run %s, %s, to %s\n", run.Name, typeset.Plural(rows, "row", "rows"), out)
	}
	return err
}
