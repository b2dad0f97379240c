package cli

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"prof/capture"
)

func (p *program) markCommand() *cli.Command {
	flags := []cli.Flag{&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: the only one that is paused)"}}
	return &cli.Command{
		Name:  "mark",
		Usage: "start or stop recording in a running capture",
		Description: `For servers: a capture with --paused records only between start and stop, as often as you like, and costs nothing in between.

  prof capture --mode light --paused --run r1 -- vllm serve MODEL
  prof mark start        # in another terminal
  prof mark stop`,
		Subcommands: []*cli.Command{
			{Name: "start", Usage: "record from now on", Flags: flags, Action: func(c *cli.Context) error { return p.mark(c, true) }},
			{Name: "stop", Usage: "pause", Flags: flags, Action: func(c *cli.Context) error { return p.mark(c, false) }},
		},
		Action: func(c *cli.Context) error { return usagef("prof mark start, or prof mark stop") },
	}
}

func (p *program) mark(c *cli.Context, on bool) error {
	if err := exactArgs(c, 0, "no arguments"); err != nil {
		return err
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	run, err := capture.Switch(filepath.Join(home.Dir, runsName), c.String("run"), on)
	if err != nil {
		return err
	}
	what := "recording is paused"
	if on {
		what = "recording"
	}
	_, err = fmt.Fprintf(p.out, "%s: %s\n", run, what)
	return err
}
