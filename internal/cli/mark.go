package cli

import (
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"prof/capture"
)

func (p *program) markCommand() *cli.Command {
	return &cli.Command{
		Name:      "mark",
		Usage:     "start or stop recording in a running capture",
		ArgsUsage: "start | stop",
		Description: `For servers: a capture with --paused records only between start and stop, as often as you like, and costs next to nothing in between.

  prof capture --mode light --paused --run r1 -- vllm serve MODEL
  prof mark start        # in another terminal
  prof mark stop`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: the only one that is paused)"}},
		Action: p.mark,
	}
}

func (p *program) mark(c *cli.Context) error {
	word := c.Args().First()
	if c.NArg() != 1 || word != "start" && word != "stop" {
		return usagef("mark takes start or stop; see `prof help mark`")
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	run, err := capture.Switch(filepath.Join(home.Dir, runsName), c.String("run"), word == "start")
	if err != nil {
		return err
	}
	what := "recording is paused"
	if word == "start" {
		what = "recording"
	}
	_, err = fmt.Fprintf(p.out, "%s: %s\n", run, what)
	return err
}
