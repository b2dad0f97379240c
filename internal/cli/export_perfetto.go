package cli

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/perfetto"
	"prof/render/typeset"
	"prof/schema"
)

const (
	perfettoForm = "perfetto"
	perfettoDoc  = "TrackEvents, gzip: ui.perfetto.dev, trace_processor; each kernel, copy, call, range and sample"
	chromeForm   = "chrome"
	chromeDoc    = "JSON as the PyTorch profiler exports it: HTA, TraceLens, chrome://tracing; gzip with --out NAME.gz"
)

// exportPerfetto writes the timeline of a run as a trace of Perfetto's.
func (p *program) exportPerfetto(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	if c.String("out") == "" && isTerminal(p.out) {
		return usagef("%s is binary: give --out FILE, or a pipe", perfettoForm)
	}
	return p.exportTrace(c, w, run, true, perfetto.Write)
}

// exportChrome writes it as Chrome's JSON.
func (p *program) exportChrome(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	isPacked := strings.HasSuffix(c.String("out"), ".gz")
	return p.exportTrace(c, w, run, false, func(out io.Writer, each perfetto.Each, o perfetto.Options) (perfetto.Sum, error) {
		if !isPacked {
			return perfetto.WriteChrome(out, each, o)
		}
		z := gzip.NewWriter(out)
		sum, err := perfetto.WriteChrome(z, each, o)
		if e := z.Close(); err == nil {
			err = e
		}
		return sum, err
	})
}

// exportTrace writes the timeline of a run.
func (p *program) exportTrace(c *cli.Context, w *schema.Warehouse, run schema.Run, withFindings bool, form func(io.Writer, perfetto.Each, perfetto.Options) (perfetto.Sum, error)) error {
	out := c.String("out")
	switch {
	case c.IsSet("pass") && c.String("stage") == "":
		return usagef("passes are numbered within a stage: --pass needs --stage")
	case c.IsSet("pass") && c.Int64("pass") < 1:
		return usagef("--pass %d: passes are numbered from 1", c.Int64("pass"))
	}
	o, err := p.perfettoOptions(c, w, run, withFindings)
	if err != nil {
		return err
	}
	each := func(relation string, args frame.Args, to func(*frame.Cells) error) error {
		return queries.Each(c.Context, w, relation, args, to)
	}
	var sum perfetto.Sum
	var notFile error // wrong with the run or what is asked of it: the file has no part in it
	write := func(to io.Writer) (err error) {
		sum, err = form(to, each, o)
		var of *perfetto.ReadError
		switch {
		case errors.As(err, &of):
			notFile = fmt.Errorf("export run %s: %w", run.Name, of.Err)
		case err == nil && sum.Slices == 0:
			notFile = p.noKernels(c, w, run)
		default:
			return err
		}
		return notFile
	}
	if out == "" {
		err = write(p.out)
	} else {
		err = file.Replace(p.path(out), write)
	}
	if notFile != nil {
		return notFile
	}
	if err != nil {
		return err
	}
	if err := p.warmNote(sum.Warm); err != nil {
		return err
	}
	p.notes(sum.Notes)
	if out != "" {
		fmt.Fprintf(p.err, "wrote %s: %s, %s of them device work, %s, %s\n", out, typeset.Plural(sum.Slices, "slice", "slices"), typeset.Int(sum.Work), typeset.Plural(sum.Flows, "flow from a launch", "flows from launches"), typeset.Plural(sum.Samples, "sample", "samples"))
	}
	return nil
}

// warmNote says how many warm-up and cold passes are in a trace, which may be of a part of the run.
func (p *program) warmNote(passes map[string]int64) error {
	var list []frame.Caveat
	for _, stage := range slices.Sorted(maps.Keys(passes)) {
		list = append(list, frame.Caveat{Topic: "warm", Kind: "warm-included", Stage: stage, Count: passes[stage]})
	}
	_, notes, err := caveat.Word(list)
	p.notes(notes)
	return err
}

// perfettoOptions asks what a trace has of answers.
func (p *program) perfettoOptions(c *cli.Context, w *schema.Warehouse, run schema.Run, withFindings bool) (o perfetto.Options, err error) {
	o = perfetto.Options{Run: run.ID, Stage: c.String("stage"), Part: perfetto.PartRows}
	if o.From, o.Until, err = windowOf(c.String("window")); err != nil {
		return o, err
	}
	args := runArgs(c, run, "stage", "device", "source")
	args["top"] = "0"
	if c.IsSet("device") {
		o.Device = new(c.Int64("device"))
	}
	if c.IsSet("pass") {
		o.Pass = new(c.Int64("pass"))
	}
	a := p.asker(w)
	frames, err := a.AskAll(c.Context, []queries.Question{{Query: "streams", Args: args, Notes: frame.RowsOnly}})
	if err != nil { // before the others, which would say the same of a wrong argument
		return o, err
	}
	o.Streams = frames[0]
	if err := unpicked(o.Streams, ""); err != nil {
		return o, err
	}
	frames, err = a.AskAll(c.Context, []queries.Question{{Query: "clock-offsets", Args: args, Notes: frame.RowsOnly}, {Query: "devices", Args: args, Notes: frame.RowsOnly}})
	if err != nil {
		return o, err
	}
	o.Clocks, o.Devices = frames[0], frames[1]
	if withFindings {
		r, _, err := askFindings(c.Context, a, run, args, false)
		if err != nil {
			return o, err
		}
		if err := unknownStage(r.Frame("findings"), c.String("stage")); err != nil {
			return o, err
		}
		if o.Findings, err = r.Findings(); err != nil {
			return o, err
		}
	}
	notes, err := a.Notes(c.Context, args, "graph", "timelines", "launch", "range")
	p.notes(notes)
	return o, err
}

// windowOf reads A..B, of which either may be empty; without a text there is no window.
func windowOf(text string) (from, until *int64, err error) {
	if text == "" {
		return nil, nil, nil
	}
	first, last, isPair := strings.Cut(text, "..")
	for _, x := range []struct {
		text string
		into **int64
	}{{first, &from}, {last, &until}} {
		if x.text = strings.TrimSpace(x.text); x.text == "" {
			continue
		}
		d, err := time.ParseDuration(x.text)
		if err != nil {
			return nil, nil, usagef("--window %q: %q is no time such as 1.5s or 20ms", text, x.text)
		}
		*x.into = new(d.Nanoseconds())
	}
	if !isPair || from != nil && until != nil && *from >= *until {
		return nil, nil, usagef("--window %q: give two times, the earlier first, as in 10ms..12.5ms", text)
	}
	return from, until, nil
}
