// Package cli is the command line: one file a verb, each turning options into a call of a room and its result into output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/machine"
	"prof/internal/mask"
	"prof/internal/serve/jobs"
	"prof/internal/suggest"
	"prof/queries"
	"prof/render/typeset"
	"prof/schema"
)

// Exit codes.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitRegression = 3 // diff and check: slower for sure, by more than was allowed
	exitCannotTell = 4 // diff and check: the samples do not tell
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// Main runs the program and gives its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 1 && args[1] == capture.LaunchVerb { // what profilers start for prof capture
		return capture.Launched(machine.Machine{}, signal.Notify, stderr)
	}
	if len(args) > 1 && args[1] == statementVerb { // what prof serve and prof mcp start for SQL
		return runStatement(stdin, stdout, stderr)
	}
	if len(args) > 1 && args[1] == jobs.SuperviseVerb { // what prof serve starts for a job
		return jobs.Supervise(args[2:])
	}
	return runStoppable(stopOnSignals(), args, stdin, stdout, stderr)
}

// runStoppable runs the program until it ends or is stopped.
func runStoppable(stop *stopper, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := newProgram(args, stdin, stdout, stderr)
	p.stop = stop
	return p.run(stop.ctx)
}

func (p *program) run(ctx context.Context) int {
	if most := schema.AddressSpace(); most > 0 && most < schema.LeastAddresses {
		return p.report(ctx, fmt.Errorf("the address space is limited to %.2f GiB (ulimit -v): prof reserves up to %.2f GiB, though it fills little of them; raise the limit", float64(most)/(1<<30), float64(schema.LeastAddresses)/(1<<30)))
	} else if most > 0 {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), schema.SparingThreads))
	}
	app, err := p.app()
	if err == nil {
		err = app.RunContext(ctx, permute(app, p.args))
	}
	return p.report(ctx, err)
}

// program is one run of prof.
type program struct {
	args     []string
	in       io.Reader
	out, err io.Writer // for people: see newProgram
	dir      string    // the working folder; "" is the process's own
	env      []string  // the environment, as os.Environ has it
	tty      io.Writer // beneath err
	stop     *stopper
	spinner  *spinner            // the last one, see warn
	read     []*schema.Warehouse // left open to the end of the process, see closing
	lent     *schema.Warehouse   // the one to read, in place of that of a home
	asks     *queries.Asker      // of what is lent; nil for one of each command's own
	noted    []string            // see notes
	world    world               // of captures
}

// newProgram returns a program whose talk, and output where it goes to a terminal, cannot move a cursor: what it prints holds names of files and texts
// of others. In a file or pipe data stays exact.
func newProgram(args []string, stdin io.Reader, stdout, stderr io.Writer) *program {
	p := &program{args: args, in: stdin, out: stdout, err: &typeset.Stream{W: stderr}, tty: stderr, env: os.Environ()}
	if isTerminal(stdout) {
		p.out = &typeset.Stream{W: stdout, Mark: typeset.NewMark()}
	}
	return p
}

// path is where a file is that the command line names.
func (p *program) path(name string) string {
	if p.dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return p.dir + string(filepath.Separator) + name // uncleaned: a / at the end asks for a folder
}

// paths are where files are that the command line names.
func (p *program) paths(names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, p.path(name))
	}
	return out
}

// workDir is the working folder.
func (p *program) workDir() (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	return os.Getwd()
}

// getenv is a variable of the environment.
func (p *program) getenv(name string) string {
	for _, kv := range slices.Backward(p.env) { // the last one holds, as for a process that is started with it
		if is, value, _ := strings.Cut(kv, "="); is == name {
			return value
		}
	}
	return ""
}

// report prints an error in a line or two and gives the exit code.
func (p *program) report(ctx context.Context, err error) int {
	var usage *usageError
	var exit exitStatus
	var captured *captureError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return int(exit)
	case errors.Is(err, syscall.EPIPE): // the reader of our output has seen enough
		return exitOK
	case ctx.Err() != nil && !errors.As(err, &captured):
		fmt.Fprintln(p.err, "prof: interrupted; nothing was changed")
		return exitFailed
	case errors.As(err, &usage), errors.Is(err, queries.ErrBadArgument), errors.Is(err, queries.ErrUnknownQuery):
		fmt.Fprintf(p.err, "prof: %s\n", oneLine(err))
		return exitUsage
	}
	fmt.Fprintf(p.err, "prof: %s\n", oneLine(err))
	return exitFailed
}

// oneLine keeps DuckDB's drawings of where in the SQL an error is, and takes other line breaks out. What could move a cursor is written
// out: a path or a name can hold it.
func oneLine(err error) string {
	text := strings.TrimSpace(err.Error())
	lines, between := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "
	if strings.Contains(text, "\nLINE ") {
		lines, between = strings.Split(text, "\n"), "\n"
	}
	for i, line := range lines {
		lines[i] = typeset.Whole(line)
	}
	return strings.Join(lines, between)
}

// app assembles the verbs.
func (p *program) app() (*cli.App, error) {
	query, err := p.queryCommand()
	if err != nil {
		return nil, err
	}
	verbs := []verbGroup{
		{"First", []*cli.Command{p.openCommand(), p.demoCommand(), p.doctorCommand()}},
		{"Capture", []*cli.Command{p.captureCommand(), p.launchCommand(), p.markCommand(), p.ingestCommand()}},
		{"Ask", []*cli.Command{p.showCommand(), p.explainCommand(), query, p.sqlCommand(), p.modelCommand()}},
		{"Compare", []*cli.Command{p.diffCommand(), p.trendCommand(), p.checkCommand(), p.baselineCommand()}},
		{"Show and export", []*cli.Command{p.serveCommand(), p.reportCommand(), p.plotCommand(), p.exportCommand(), p.mcpCommand()}},
		{"Keep and share", []*cli.Command{p.runsCommand(), p.tagCommand(), p.rmCommand(), p.pruneCommand(), p.packCommand(), p.importCommand(), p.lakeCommand(), p.pushCommand(), p.pullCommand()}},
		{"Help", []*cli.Command{p.helpCommand(), p.completionCommand(), p.completeCommand()}},
	}
	app := &cli.App{
		Name:                   "prof",
		Usage:                  "the profiler's warehouse: where does my LLM's GPU time go, why, and did my change help?",
		UsageText:              "prof [--home DIR] [--memory SIZE] VERB [options] [arguments]",
		Description:            "PROF_HOME is the same as --home, PROF_MEMORY as --memory. PROF_WAIT is how long to wait for another process that uses the warehouse (10s).",
		Version:                versionText(),
		HideHelpCommand:        true,
		UseShortOptionHandling: false,
		// A tag's value or a tool's argument may hold a comma.
		DisableSliceFlagSeparator: true,
		Writer:                    p.out,
		ErrWriter:                 p.err,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              p.onUsageError,
		CustomAppHelpTemplate:     groupedVerbs(verbs, p.width()),
		Flags:                     []cli.Flag{homeFlag(), memoryFlag(), cli.HelpFlag}, // the library adds the latter only where it adds the verb help
		Before: func(c *cli.Context) error {
			if home := p.getenv(homeVariable); home != "" && !c.IsSet("home") { // the library reads only the process's environment
				return c.Set("home", home)
			}
			return nil
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return p.noVerb(c.App, c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, group := range verbs {
		app.Commands = append(app.Commands, group.verbs...)
	}
	for _, c := range app.Commands {
		onlyText(c)
		if c.OnUsageError == nil {
			c.OnUsageError = p.onUsageError
		}
		c.HideHelpCommand = true
		c.Description = paragraphs(c.Description, min(p.width(), helpWidth)-len("   "))
		if c.CustomHelpTemplate == "" && len(c.Subcommands) == 0 && len(c.Flags) > 0 {
			c.CustomHelpTemplate = groupedHelp([]flagGroup{{"Options", c.Flags}}, p.width())
		}
	}
	return app, nil
}

func (p *program) onUsageError(c *cli.Context, err error, _ bool) error {
	see, flags := "prof", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "prof" {
		see, flags = helpOf(c), slices.Concat(c.Command.Flags, flags)
	}
	text := err.Error()
	if word, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		text = "--" + strings.TrimLeft(word, "-") + " needs a value"
	}
	word, ok := strings.CutPrefix(text, "flag provided but not defined: ")
	if !ok {
		return usagef("%s; see `%s`", text, see)
	}
	if word = strings.TrimLeft(word, "-"); len(word) > 1 {
		word = "-" + word
	}
	word = "-" + word
	if line := p.behindVerb(c.App, word); see == "prof" && line != "" {
		return usagef("%s belongs after the verb: %s", word, line)
	}
	var names, bare []string
	for _, f := range flags {
		if f != cli.HelpFlag && f != cli.VersionFlag {
			names, bare = append(names, "--"+f.Names()[0]), append(bare, f.Names()[0])
		}
	}
	text = "unknown option " + word
	if near := suggest.Nearest(strings.TrimLeft(word, "-"), bare); len(near) > 0 {
		return usagef("%s; did you mean --%s?", text, strings.Join(near, " or --"))
	}
	if c.Command != nil && len(c.Command.Subcommands) > 0 && find(optionsOf(c.Command), word) != nil {
		return usagef("%s is an option of a query: name the query first; `prof query` lists them", word)
	}
	if c.Command != nil && c.Command.Hidden { // a query
		return usagef("%s takes no %s; it takes %s", strings.TrimPrefix(c.Command.HelpName, "prof "), word, strings.Join(names, " "))
	}
	return usagef("%s; see `%s`", text, see)
}

// behindVerb is the command line with what stands before its verb behind it, where the option is one of that verb; else "".
func (p *program) behindVerb(app *cli.App, option string) string {
	at := slices.IndexFunc(p.args[1:], func(a string) bool { return app.Command(a) != nil })
	if at < 0 {
		return ""
	}
	before, rest := p.args[1:1+at], p.args[1+at:]
	cmd, path, left := named(app, rest)
	if find(cmd.Flags, option) == nil {
		return ""
	}
	return mask.Command(slices.Concat([]string{"prof"}, path, left, before))
}

func verbs(app *cli.App) []string {
	var out []string
	for _, c := range app.Commands {
		if !c.Hidden {
			out = append(out, c.Name)
		}
	}
	return out
}

// otherVerbs are what other tools call things, with what prof has for each.
var otherVerbs = map[string]string{
	"profile": "prof capture", "record": "prof capture", "run": "prof capture", "start": "prof capture",
	"import": "prof ingest", "load": "prof ingest", "add": "prof ingest", "read": "prof ingest", "parse": "prof ingest",
	"list": "prof runs", "ls": "prof runs", "delete": "prof rm", "remove": "prof rm", "clean": "prof prune", "gc": "prof prune",
	"stats": "prof query", "top": "prof query top-kernels", "kernels": "prof query top-kernels", "queries": "prof query",
	"analyze": "prof explain", "analyse": "prof explain", "recipe": "prof explain", "summary": "prof show", "info": "prof show", "status": "prof show", "view": "prof show",
	"bundle": "prof pack", "archive": "prof pack", "share": "prof pack", "unpack": "prof import",
	"html": "prof report", "compare": "prof diff", "history": "prof trend", "gate": "prof check", "ci": "prof check", "version": "prof --version",
}

// noVerb says what was most likely meant by a word that is no verb.
func (p *program) noVerb(app *cli.App, word string) error {
	text := fmt.Sprintf("unknown verb %q", word)
	if q, err := queries.Find(word); err == nil {
		return usagef("%s; it is a query: prof query %s", text, q.Name)
	}
	if other := otherVerbs[strings.ToLower(word)]; other != "" {
		return usagef("%s; see %s", text, other)
	}
	if hint := nearest(word, verbs(app)); hint != "" {
		return usagef("%s%s", text, hint)
	}
	if _, err := os.Stat(p.path(word)); err == nil {
		return usagef("%s; to look at a file or folder: prof open %[2]s; to store it: prof ingest %[2]s", text, mask.Command([]string{word}))
	}
	all, err := queries.Catalogue()
	if err != nil {
		return err
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	if near := suggest.Nearest(word, names); len(near) > 0 {
		return usagef("%s; did you mean prof query %s?", text, strings.Join(near, " or "))
	}
	return usagef("%s; `prof` lists the verbs", text)
}

// homeVariable stands in for --home.
const homeVariable = "PROF_HOME"

func homeFlag() cli.Flag {
	return &cli.StringFlag{Name: "home", Usage: "folder `DIR` of the warehouse, instead of the nearest .prof", EnvVars: []string{homeVariable}}
}
