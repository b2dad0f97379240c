// Package cli is the command line: one file a verb, each turning options into a call of a room and its result into output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/internal/suggest"
	"prof/queries"
	"prof/schema"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRegression  = 3 // diff and check: slower for sure, by more than was allowed
	exitCannotJudge = 4 // diff and check: the samples do not tell
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// Main runs the program and gives its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 1 && args[1] == capture.LaunchVerb { // what profilers start for prof capture
		return capture.Launched(stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{args: args, in: stdin, out: stdout, err: stderr}
	return p.run(ctx)
}

func (p *program) run(ctx context.Context) int {
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
	out, err io.Writer
	read     []*schema.Warehouse // left open to the end of the process, see closing
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

// oneLine keeps DuckDB's drawings of where in the SQL an error is, and takes other line breaks out.
func oneLine(err error) string {
	text := strings.TrimSpace(err.Error())
	if strings.Contains(text, "\nLINE ") {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// app assembles the verbs.
func (p *program) app() (*cli.App, error) {
	query, err := p.queryCommand()
	if err != nil {
		return nil, err
	}
	app := &cli.App{
		Name:                   "prof",
		Usage:                  "the profiler's warehouse: where does my LLM's GPU time go, why, and did my change help?",
		UsageText:              "prof [--home DIR] VERB [options] [arguments]",
		Description:            "PROF_HOME does what --home does. PROF_WAIT says how long to wait for another process that holds the warehouse (10s).",
		Version:                versionText(),
		EnableBashCompletion:   true,
		HideHelpCommand:        true,
		UseShortOptionHandling: false,
		// A tag's value or a tool's argument may hold a comma.
		DisableSliceFlagSeparator: true,
		Writer:                    p.out,
		ErrWriter:                 p.err,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              onUsageError,
		Flags:                     []cli.Flag{homeFlag(), cli.HelpFlag}, // the library adds the latter only where it adds the verb help
		Commands: []*cli.Command{p.demoCommand(), p.captureCommand(), p.ingestCommand(), p.runsCommand(), p.showCommand(), query, p.sqlCommand(), p.modelCommand(), p.explainCommand(), p.diffCommand(), p.trendCommand(), p.checkCommand(), p.baselineCommand(), p.reportCommand(),
			p.tagCommand(), p.rmCommand(), p.pruneCommand(), p.doctorCommand(), p.completionCommand(), p.helpCommand()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("there is no verb %q%s", c.Args().First(), didYouMean(c.Args().First(), verbs(c.App)))
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		if c.OnUsageError == nil {
			c.OnUsageError = onUsageError
		}
		c.HideHelpCommand = true
	}
	return app, nil
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	name, flags := "prof", c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "prof" {
		name, flags = "prof help "+c.Command.Name, append(slices.Clone(flags), c.Command.Flags...)
	}
	text := err.Error()
	if word, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		var names []string
		for _, f := range flags {
			names = append(names, "--"+f.Names()[0])
		}
		if word = strings.TrimLeft(word, "-"); len(word) > 1 {
			word = "-" + word
		}
		word = "-" + word
		text = "there is no option " + word
		if near := suggest.Nearest(word, names); len(near) > 0 {
			return usagef("%s; did you mean %s?", text, strings.Join(near, " or "))
		}
	} else if word, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		text = "--" + strings.TrimLeft(word, "-") + " needs a value"
	}
	return usagef("%s; see `%s`", text, name)
}

func verbs(app *cli.App) []string {
	var out []string
	for _, c := range app.Commands {
		out = append(out, c.Names()...)
	}
	return out
}

func homeFlag() cli.Flag {
	return &cli.StringFlag{Name: "home", Usage: "the warehouse's folder `DIR`, in place of the nearest .prof", EnvVars: []string{"PROF_HOME"}}
}
