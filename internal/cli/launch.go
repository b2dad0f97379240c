package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/attach"
	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/internal/mask"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) launchCommand() *cli.Command {
	return &cli.Command{
		Name:      "launch",
		Usage:     "start a program that captures can attach to later, as often as wanted",
		ArgsUsage: "-- COMMAND...",
		Description: `prof starts the program with its own tracer loaded and off, in all of its processes, and becomes it: process, output and exit status are the
program's. Record it from another terminal, each time as a run:

  prof launch --name llama -- vllm serve MODEL -tp 8
  prof capture --attach llama --window 20s`,
		Flags:        []cli.Flag{&cli.StringFlag{Name: "name", Usage: "`NAME` by which captures attach (default: the program's short name)"}},
		Action:       p.launch,
		OnUsageError: p.captureUsage,
	}
}

// launch puts the program into the place of prof.
func (p *program) launch(c *cli.Context) error {
	if !slices.Contains(p.args, "--") {
		return usagef("write the command after --, as in: prof launch -- vllm serve MODEL")
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	dir, err := p.workDir()
	if err != nil {
		return err
	}
	argv := c.Args().Slice()
	given := p.world.machine
	given.Environ = p.env
	m := given.WithDefaults()
	if err := capture.CheckWorkload(m, argv, dir); err != nil {
		return err
	}
	path, err := m.LookPath(argv[0])
	if err != nil {
		return err
	}
	lib, err := m.BuildTracer(c.Context, argv, dir)
	if err != nil {
		return fmt.Errorf("prof's own tracer cannot be built; see prof doctor: %w", err)
	}
	now, err := machine.Monotonic()
	if err != nil {
		return err
	}
	if err := home.Make(); err != nil {
		return err
	}
	name := c.String("name")
	if name == "" {
		name = capture.WorkloadName(argv)
	}
	if err := schema.CheckRunName(name); err != nil {
		return usagef("--name: %v", err)
	}
	l, err := attach.Make(launchedIn(home), attach.Launched{
		Name: plan.FolderName(name), PID: os.Getpid(), Started: m.StartedAt(os.Getpid()), Argv: mask.Argv(argv), Dir: dir, Environ: envvar.Allowed(p.env), At: time.Now().UTC(),
		Tracer: lib.Path, TracerVersion: tracer.Version,
	}, m)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "prof: %s runs with the tracer off; record it from another terminal: %s\n", l.Name, mask.Command(append(profWords(c), "capture", "--attach", l.Name, "--window", "20s")))
	if err := m.Exec(path, argv, slices.Concat(p.env, l.Env(lib, now))); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], errors.Join(err, l.Remove()))
	}
	return nil
}

// launchedIn is the folder of launched programs in a home.
func launchedIn(home schema.Home) string { return filepath.Join(home.Dir, attach.Folder) }

// captureAttached records a window of a program that was launched.
func (p *program) captureAttached(c *cli.Context) error {
	switch {
	case slices.Contains(p.args, "--"):
		return usagef("--attach records what runs already: omit the command, or start it with prof launch -- COMMAND")
	case c.NArg() > 1:
		return usagef("--attach takes one name: prof capture --attach NAME")
	case c.Bool(servingName):
		return usagef("--serving starts an engine, --attach records one that runs: omit one")
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	if err := p.checkPush(c, home); err != nil {
		return err
	}
	o, err := p.captureOptions(c, home, nil)
	if err != nil {
		return err
	}
	given := p.world.machine
	given.Environ = p.env
	l, err := attach.Find(launchedIn(home), c.Args().First(), given.WithDefaults())
	if c.Bool(dryRunName) && errors.Is(err, attach.ErrNone) { // it may run on another machine
		_, err = fmt.Fprintf(p.out, "# %s here\n\n# a window of %s in %s and its children\n", attach.ErrNone, plan.FormatDuration(o.Serving.Window), cmp.Or(typeset.Whole(c.Args().First()), "the one process"))
	}
	if err != nil || l.PID == 0 {
		return err
	}
	in, err := p.captureIngest(c, o, l.Argv)
	if err != nil {
		return err
	}
	if in.Name, err = p.keeper().freeName(c, home, in.Name); err != nil {
		return err
	}
	_, err = p.captureOne(c, home, captureJob{options: o, argv: l.Argv, in: in, isNamed: c.IsSet("run"), attach: &l})
	return err
}
