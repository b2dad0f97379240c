package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"prof/ingest/derive"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
	"prof/schema"
)

// lockWait is how long a command waits for another process that holds the warehouse, unless PROF_WAIT says otherwise.
const lockWait = 10 * time.Second

// lockWaitFrom reads PROF_WAIT, a duration as 500ms, 30s or 5m.
func lockWaitFrom(text string) (time.Duration, error) {
	if text == "" {
		return lockWait, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("PROF_WAIT=%s: write a duration such as 500ms, 30s or 5m", text)
	}
	return d, nil
}

func (p *program) home(c *cli.Context) (schema.Home, error) {
	dir, err := os.Getwd()
	if err != nil {
		return schema.Home{}, err
	}
	return schema.FindHome(dir, c.String("home"))
}

// open opens the warehouse.
func (p *program) open(c *cli.Context, write bool) (*schema.Warehouse, error) {
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	return p.openHome(c, home, write)
}

// oneRun opens the warehouse for reading and hands over the run that the one argument of a verb names, the latest without it.
func (p *program) oneRun(c *cli.Context, with func(w *schema.Warehouse, run schema.Run) error) (err error) {
	if c.NArg() > 1 {
		return usagef("%s takes one run; see `prof help %s`", c.Command.Name, c.Command.Name)
	}
	ref := c.Args().First()
	if ref == "" {
		ref = "@latest"
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	run, err := w.Resolve(c.Context, ref)
	if err != nil {
		return err
	}
	return with(w, run)
}

// openToChange opens the warehouse for writing where there is one already.
func (p *program) openToChange(c *cli.Context) (*schema.Warehouse, error) {
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	return p.openHome(c, home, home.Exists()) // opening for reading says that there is none
}

func (p *program) openHome(c *cli.Context, home schema.Home, write bool) (*schema.Warehouse, error) {
	wait, err := lockWaitFrom(os.Getenv("PROF_WAIT"))
	if err != nil {
		return nil, err
	}
	var progress func(done, all int)
	if isTerminal(p.err) {
		shown := false
		progress = func(done, all int) {
			fmt.Fprintf(p.err, "\r\x1b[Kprof: deriving facts of run %d of %d", done+1, all)
			shown = true
		}
		defer func() {
			if shown {
				fmt.Fprint(p.err, "\r\x1b[K")
			}
		}()
	}
	w, err := schema.Open(c.Context, home, schema.Options{Write: write, Defs: queries.Relations{}, Facts: derive.Facts{}, Wait: wait, MemoryLimit: memoryLimit(write),
		Progress: progress,
		Talk:     func(m string) { fmt.Fprintln(p.err, "prof: "+m) }})
	if err == nil && !w.Writable {
		p.read = append(p.read, w)
	}
	return w, err
}

// memoryLimit bounds what DuckDB takes while it writes, so that a large ingest stays below 1 GB; reading leaves it the machine.
func memoryLimit(write bool) string {
	if write {
		return "640MB"
	}
	return ""
}

// closing closes a warehouse that was written to and keeps the first error. One that was only read is left to the end of the
// process, which frees its memory faster than DuckDB does.
func closing(w *schema.Warehouse, err *error) {
	if !w.Writable && !w.Spilled() {
		return
	}
	if e := w.Close(); *err == nil {
		*err = e
	}
}

// Flags of every verb that prints rows.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: "`FORM` of the output: table, md, csv or json (csv and json in base units, full precision)"},
		&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
	}
}

// print writes a frame in the form asked for; notes that the form does not hold go to stderr.
func (p *program) print(c *cli.Context, f *frame.Frame) error {
	form := c.String("format")
	if form == "csv" {
		for _, n := range f.Notes {
			fmt.Fprintln(p.err, "note: "+n)
		}
	}
	return usageIfUnknownForm(form, table.Write(p.out, form, f, p.options(c)))
}

func usageIfUnknownForm(form string, err error) error {
	if err == nil {
		return nil
	}
	for _, f := range table.Forms() {
		if f.Name == form {
			return err
		}
	}
	return &usageError{err}
}

// options says what the output can show.
func (p *program) options(c *cli.Context) typeset.Options {
	o := typeset.Options{Wide: c.Bool("wide"), Width: p.width()}
	o.Color = isTerminal(p.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}

// wrapped prints a text in lines as wide as the output shows.
func (p *program) wrapped(lead, text string) error {
	var out bytes.Buffer
	typeset.Wrapped(&out, lead, text, p.width(), func(s string) string { return s })
	_, err := p.out.Write(out.Bytes())
	return err
}

// pipeWidth is how wide lines get where no terminal says it: logs of CI and reviews show as many columns.
const pipeWidth = 120

// width is that of the terminal; of a pipe, what COLUMNS says.
func (p *program) width() int {
	if f, ok := p.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return pipeWidth
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
