package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/plan"
	"prof/ingest"
	"prof/queries"
	"prof/schema"
)

// world is what captures meet outside of prof. Where it is zero it is the real one.
type world struct {
	machine machine.Machine // but for its environment
	self    string          // path of prof, which profilers start in the workload's place
	files   [3]*os.File     // stdin, stdout and stderr of workloads
	keeper  keeper
	asked   func(captureJob) error // called in place of a capture
}

// keeper keeps what was captured, and answers what captures ask of earlier ones: the warehouse of a home.
type keeper interface {
	freeName(c *cli.Context, home schema.Home, name string) (string, error)
	store(c *cli.Context, home schema.Home, dir string, in ingest.Options, again bool) error
	plan(c *cli.Context, home schema.Home, run string, s *capture.Session) (ncu.Target, error)
	captureSummary(c *cli.Context, home schema.Home, run string, o plan.Options) error
	suiteRuns(c *cli.Context, home schema.Home, suite string) ([]queries.SuiteRun, error)
	suiteSummary(c *cli.Context, home schema.Home, suite string) error
}

func (p *program) keeper() keeper {
	if p.world.keeper != nil {
		return p.world.keeper
	}
	return p
}

// captureSetup is what a session needs of this process.
func (p *program) captureSetup(home schema.Home, job captureJob) (capture.Setup, error) {
	dir, err := p.workDir()
	if err != nil {
		return capture.Setup{}, err
	}
	self := p.world.self
	if self == "" {
		if self, err = os.Executable(); err != nil {
			return capture.Setup{}, err
		}
	}
	files := []*os.File{cmp.Or(p.world.files[0], os.Stdin), cmp.Or(p.world.files[1], os.Stdout), cmp.Or(p.world.files[2], os.Stderr)}
	return capture.Setup{Runs: filepath.Join(home.Dir, runsName), Run: job.in.Name, Argv: job.argv, Environ: p.env, Dir: dir, Self: self,
		ProfVersion: version(), Files: files, Machine: p.world.machine, Talk: func(m string) { fmt.Fprintln(p.err, "prof: "+m) }}, nil
}
