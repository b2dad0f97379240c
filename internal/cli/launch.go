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
	"prof/schema"
)

func (p *program) launchCommand() *cli.Command {
	flags := []cli.Flag{&cli.StringFlag{Name: "name", Usage: "`NAME` by which captures attach (default: the program's short name)"},
		&cli.BoolFlag{Name: dryRunName, Usage: "print what would be started, and what of it is missing on this machine; start nothing"}}
	return &cli.Command{
		Name:      "launch",
		Usage:     "start a program that captures can attach to later, as often as wanted",
		ArgsUsage: "-- COMMAND...",
		Description: `prof starts the program with its own tracer loaded and off, in all of its
processes, and becomes it: process, output and exit status are the program's.
Record it from another terminal, each time as a run:

  prof launch --name llama -- vllm serve MODEL -tp 8
  prof capture --attach llama --window 20s`,
		Flags:        flags,
		Action:       p.launch,
		OnUsageError: p.captureUsage,
	}
}

// launch puts the program into the place of prof.
func (p *program) launch(c *cli.Context) error {
	if !slices.Contains(p.args, "--") || c.NArg() == 0 {
		return noDashes(c)
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
	absent := capture.CheckWorkload(m, argv, dir)
	if absent != nil && !c.Bool(dryRunName) {
		return absent
	}
	name := cmp.Or(c.String("name"), capture.WorkloadName(argv))
	if err := schema.CheckRunName(name); err != nil {
		return usagef("--name: %v", err)
	}
	name = plan.FolderName(name)
	now, err := machine.Monotonic()
	if err != nil {
		return err
	}
	lib, missing := m.BuildTracer(c.Context, argv, dir)
	if c.Bool(dryRunName) {
		return p.launchDryRun(c, home, attach.Launched{Name: name, Dir: dir}, argv, lib, now, missing, absent, attach.Check(launchedIn(home), name, m))
	}
	if missing != nil {
		return fmt.Errorf("prof's own tracer cannot be built; see prof doctor: %w", missing)
	}
	path, err := m.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := home.Make(); err != nil {
		return err
	}
	l, err := attach.Make(launchedIn(home), attach.Launched{
		Name: name, PID: os.Getpid(), Started: m.StartedAt(os.Getpid()), Argv: mask.Argv(argv), Dir: dir, Environ: envvar.Allowed(p.env), At: time.Now().UTC(),
		Tracer: lib.Path, TracerVersion: tracer.Version,
	}, m)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "prof: %s runs with the tracer off; record it from another terminal: %s\n", l.Name, mask.Command(attachCommand(c, l.Name)))
	if err := m.Exec(path, argv, slices.Concat(p.env, l.Env(lib, now))); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], errors.Join(err, l.Remove()))
	}
	return nil
}

// attachCommand records a window of a launched program.
func attachCommand(c *cli.Context, name string) []string {
	return append(profWords(c), "capture", "--attach", name, "--window", "20s")
}

// launchedIn is the folder of launched programs in a home.
func launchedIn(home schema.Home) string { return filepath.Join(home.Dir, attach.Folder) }

// captureAttached records a window of a program that was launched.
func (p *program) captureAttached(c *cli.Context) error {
	switch {
	case slices.Contains(p.args, "--"):
		return usagef("--attach records what runs already: omit the command, or start it with prof launch -- COMMAND")
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
	name, err := attachedTo(c)
	if err != nil {
		return err
	}
	l, err := attach.Find(launchedIn(home), name, given.WithDefaults())
	if c.Bool(dryRunName) && errors.Is(err, attach.ErrNone) { // it may run on another machine
		return p.attachDryRun(c, home, o, name, err)
	}
	if err != nil {
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
