package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"prof/capture/plan"
	"prof/ingest/derive"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/doc"
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
	home, err := p.findHome(c.String("home"))
	if err == nil && home.Lake != nil {
		err = p.openKeys(home.Lake)
	}
	home.Shared = c.Bool(sharedName)
	if _, missing := os.Stat(home.Dir); err == nil && home.Shared && missing == nil {
		err = usagef("--shared is for a home that is made now, and %s is there; to share it: chmod -R g+rwX,o= %[1]s; find %[1]s -type d -exec chmod g+s {} +", home.Dir)
	}
	return home, err
}

// findHome finds the home that at names, a folder or a lake, else the nearest.
func (p *program) findHome(at string) (schema.Home, error) {
	dir, err := p.workDir()
	if err != nil {
		return schema.Home{}, err
	}
	if !strings.HasPrefix(at, schema.LakePrefix) {
		at = p.path(at)
	}
	return schema.FindHome(dir, at)
}

// sharedName is the option of verbs that make a home.
const sharedName = "shared"

func sharedFlag() cli.Flag {
	return &cli.BoolFlag{Name: sharedName, Usage: "make the home for a team: the group of the folder's user can read and write it, nobody else; without, only you"}
}

// openKeys finds what opens a lake.
func (p *program) openKeys(l *schema.Lake) (err error) {
	l.Access, err = schema.ReadLakeAccess(l.Secret, p.getenv)
	return err
}

// open opens the warehouse, to store runs or to read.
func (p *program) open(c *cli.Context, write bool) (*schema.Warehouse, error) {
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	return p.openHome(c, home, write)
}

// latest is the reference to the newest run.
const latest = "@latest"

// runFlag is the option that names a run; byDefault says which one it is without it.
func runFlag(byDefault string) cli.Flag {
	return &cli.StringFlag{Name: "run", Usage: "the `RUN`, which may also be an argument: name, id, a prefix of either, tag:key=value, baseline:NAME", DefaultText: byDefault}
}

// whichRun is the run that the command line names, by its one argument or by --run.
func whichRun(c *cli.Context) (ref string, given bool, err error) {
	if c.NArg() > 1 {
		hint := ""
		if c.Command.Name == "show" {
			hint = "; to compare them: " + mask.Command(append([]string{"prof", "diff"}, c.Args().Slice()...))
		}
		return "", false, usagef("%s takes one run%s; see `%s`", c.Command.Name, hint, helpOf(c))
	}
	return oneOf(c, c.Args().First(), c.NArg() > 0)
}

// oneOf is the run that an argument or --run names.
func oneOf(c *cli.Context, arg string, isArg bool) (ref string, given bool, err error) {
	switch flag := c.String("run"); {
	case !c.IsSet("run"):
		return arg, isArg, nil
	case isArg && arg != flag:
		return "", false, usagef("two runs are given, %s and --run %s; %s takes one", arg, flag, c.Command.Name)
	default:
		return flag, true, nil
	}
}

// notStored says of a file that is named instead of a run what to do: the same command, of the run whose name ingest prints.
func (p *program) notStored(c *cli.Context, ref string, err error) error {
	if !errors.Is(err, schema.ErrUnknownRun) || !p.isFile(ref) {
		return err
	}
	command, words := mask.Command(strings.Fields(c.Command.HelpName)), c.Args().Slice()
	if !slices.Contains(words, ref) { // --run names it
		words = append(words, ref)
	}
	for _, w := range words {
		word := mask.Command([]string{w})
		if p.isFile(w) {
			word = `"$(prof ingest ` + word + `)"`
		}
		command += " " + word
	}
	return fmt.Errorf("%s is a file, not a run; to store it first: %s", ref, command)
}

func (p *program) isFile(path string) bool {
	st, err := os.Stat(p.path(path))
	return err == nil && !st.IsDir()
}

// resolve finds a run, the newest where none is named, and says which one it is where the command line does not.
func (p *program) resolve(c *cli.Context, w *schema.Warehouse, ref string, given bool) (schema.Run, error) {
	if !given {
		ref = latest
	}
	run, err := w.Resolve(c.Context, ref)
	err = p.notStored(c, ref, err)
	if err == nil && (!given || schema.IsReference(ref)) {
		fmt.Fprintf(p.err, "run %s%s\n", run.Name, map[bool]string{false: " (newest)"}[given])
	}
	return run, err
}

// oneRun opens the warehouse for reading and hands over the run that is named, else the newest.
func (p *program) oneRun(c *cli.Context, with func(w *schema.Warehouse, run schema.Run) error) (err error) {
	ref, given, err := whichRun(c)
	if err != nil {
		return err
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	run, err := p.resolve(c, w, ref, given)
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
	return p.openAs(c, home, schema.Options{Write: home.Exists()}) // opening for reading says that there is none
}

// openToGrow opens the warehouse where there is one already, to store more of a run that it finds there.
func (p *program) openToGrow(c *cli.Context, verb, ref string) (w *schema.Warehouse, run schema.Run, err error) {
	home, err := p.home(c)
	if err != nil {
		return nil, run, err
	}
	w, err = p.openAs(c, home, schema.Options{Write: home.Exists(), Store: true})
	if err != nil {
		return nil, run, err
	}
	if run, err = inFull(c, w, verb, ref); err != nil {
		return nil, run, errors.Join(err, w.Close())
	}
	return w, run, nil
}

// asker asks queries of an open warehouse.
func (p *program) asker(w *schema.Warehouse) *queries.Asker {
	if p.asks != nil {
		return p.asks
	}
	return queries.NewAsker(w)
}

func (p *program) openHome(c *cli.Context, home schema.Home, write bool) (*schema.Warehouse, error) {
	return p.openAs(c, home, schema.Options{Write: write, Store: write})
}

// openAs opens a warehouse as options say, which need not say what this program is and how it talks.
func (p *program) openAs(c *cli.Context, home schema.Home, o schema.Options) (*schema.Warehouse, error) {
	if p.lent != nil {
		return p.lent, nil
	}
	wait, err := lockWaitFrom(p.getenv("PROF_WAIT"))
	if err != nil {
		return nil, err
	}
	memory, err := p.memory(c)
	if err != nil {
		return nil, err
	}
	if o.Budget = schema.NewBudget(memory); memory > 0 {
		o.MemoryLimit = o.Budget.Limit()
	}
	var spin *spinner
	defer func() { spin.end() }()
	o.Progress = func(done, all int) {
		if done == 0 {
			spin = p.spin("")
		}
		spin.count("deriving the facts of all runs again", " runs", int64(done), int64(all))
	}
	o.Defs, o.Facts, o.Wait, o.Talk = queries.Relations{}, derive.Facts{}, wait, func(m string) { fmt.Fprintln(p.err, "prof: "+m) }
	w, err := schema.Open(c.Context, home, o)
	if err != nil {
		return nil, err
	}
	if !w.Writable {
		p.read = append(p.read, w)
	} else if home.Lake != nil {
		return w, nil
	} else if err := file.AdoptOne(home.Warehouse()); err != nil && !errors.Is(err, fs.ErrPermission) { // who does not own it cannot change that, and need not
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// memoryVariable stands in for --memory.
const memoryVariable = "PROF_MEMORY"

func memoryFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory", Usage: "`SIZE` of memory that prof may use, such as 4GB; larger data spills to disk", DefaultText: "from cores and free memory; prof doctor says"}
}

// memory is what the command may take, in bytes; 0 for as much as is usual.
func (p *program) memory(c *cli.Context) (int64, error) {
	text, from := c.String("memory"), "--memory"
	if !c.IsSet("memory") {
		text, from = p.getenv(memoryVariable), memoryVariable+"="
	}
	if text == "" && from != "--memory" {
		return 0, nil
	}
	size, err := plan.ParseSize(text)
	if err == nil && size < schema.LeastMemory {
		err = fmt.Errorf("want at least %d MiB", schema.LeastMemory>>20)
	}
	if err != nil {
		return 0, usagef("%s %s: %v", from, text, err)
	}
	return size, nil
}

// answering is the memory of a process that answers others, which share the machine, as DuckDB has it.
const answering = "512MB"

// answerLimit is DuckDB's memory in such a process.
func (p *program) answerLimit(c *cli.Context) (limit string, b schema.Budget, err error) {
	memory, err := p.memory(c)
	b = schema.NewBudget(memory)
	if memory == 0 {
		return answering, b, err
	}
	return b.Limit(), b, err
}

// closing closes a warehouse, or leaves one that was only read, and keeps the first error.
func closing(w *schema.Warehouse, err *error) {
	if e := w.Leave(); *err == nil {
		*err = e
	}
}

// stdin reads a text of at most limit bytes; the end of ctx ends the waiting for it.
func (p *program) stdin(ctx context.Context, limit int64) (string, error) {
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := file.ReadAll(p.in, "stdin", limit)
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		return string(r.text), r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// plainFullDisk says in one line that there is no room for a change, and whether it was made: DuckDB may have written it to its log and then
// find no room to take it over into its file, which the next command does.
func plainFullDisk(home schema.Home, err *error) {
	if *err == nil {
		return
	}
	text := strings.ToLower((*err).Error())
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		switch {
		case !strings.Contains(text, cause.Error()):
			continue
		case schema.CommitStands(*err):
			*err = fmt.Errorf("the change was made, but nothing more can be stored in %s: %w; free some space", home.Dir, cause)
		default:
			*err = fmt.Errorf("nothing was changed, for nothing can be stored in %s: %w; free some space and try again", home.Dir, cause)
		}
		return
	}
}

// Flags of every verb that prints rows.
func outputFlags(others ...string) []cli.Flag {
	forms := append(doc.AnswerForms().Names(), others...)
	last := len(forms) - 1
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "table", Usage: fmt.Sprintf("`FORM` of the output: %s or %s (csv, json and arrow in base units, full precision)", strings.Join(forms[:last], ", "), forms[last])},
		&cli.BoolFlag{Name: "wide", Usage: "do not fit tables to the terminal"},
		&cli.BoolFlag{Name: "safe", Usage: "csv for a spreadsheet: no text is a formula"},
	}
}

// print writes a frame in the form asked for; notes that the form does not hold go to stderr.
func (p *program) print(c *cli.Context, f *frame.Frame) error {
	form := c.String("format")
	if form == table.ArrowForm && isTerminal(p.out) {
		return usagef("%s is binary: write it to a pipe or a file (> FILE)", form)
	}
	if form == "csv" || form == table.ArrowForm { // which do not show them
		p.notes(f.Notes)
	}
	known, err := doc.AnswerForms().Named(form)
	if err != nil {
		return &usageError{err}
	}
	return known.Write(p.out, f, p.options(c))
}

// notes prints what readers must know, where what is written does not show it, each once.
func (p *program) notes(list []string) {
	for _, n := range list {
		if !slices.Contains(p.noted, n) {
			p.noted = append(p.noted, n)
			fmt.Fprintln(p.err, "note: "+n)
		}
	}
}

// options returns what the output can show.
func (p *program) options(c *cli.Context) typeset.Options {
	o := typeset.Options{Wide: c.Bool("wide"), Safe: c.Bool("safe"), Width: p.width()}
	o.Color = isTerminal(p.out) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
	if s, ok := p.out.(*typeset.Stream); ok {
		o.Mark = s.Mark
	}
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
	if f := beneath(p.out); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(p.getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return pipeWidth
}

func isTerminal(w io.Writer) bool {
	return beneath(w) != nil
}

// beneath returns the terminal that a stream goes to; nil where it goes elsewhere.
func beneath(w io.Writer) *os.File {
	if s, ok := w.(*typeset.Stream); ok {
		w = s.W
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
