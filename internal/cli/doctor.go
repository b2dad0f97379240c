package cli

import (
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v2"

	"prof/capture/doctor"
	"prof/schema"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check what captures need, or what captures did not record, and say how to fix it",
		ArgsUsage: "[FILE...]",
		Description: `With files or folders of captures, says what they did not record, and stores nothing: launches without GPU work, work without its
launch, times that cannot be, records that the profiler lost. Exits with 1 if they are not whole.

Without, finds the profilers and runs them on a program that does nothing, queries the driver, and checks permissions and disk space. Takes
a few seconds. Exits with 1 if something is missing or fails.

  prof doctor
  prof doctor --json
  prof doctor trace.json.gz                       # is the capture whole?
  prof doctor --lake                              # what a lake needs, instead`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print a JSON array of the checks, of files that of the query losses"},
			&cli.BoolFlag{Name: "lake", Usage: "check what the lake of the home, or of PROF_LAKE, needs: DuckDB's extensions, the catalog, the place of the rows"}},
		Action: p.doctor,
	}
}

func (p *program) doctor(c *cli.Context) error {
	if c.NArg() > 0 {
		if c.Bool("lake") {
			return usagef("--lake takes no files")
		}
		return p.doctorFiles(c)
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	checks := []doctor.Check{}
	if c.Bool("lake") {
		lake := home.Lake
		if lake == nil {
			if lake, err = p.otherLake(p.getenv(lakeVariable)); err != nil {
				return err
			}
		}
		checks = lakeChecks(c.Context, lake)
	} else {
		machine := p.world.machine
		machine.Environ = p.env
		checks = doctor.Run(c.Context, doctor.Options{Machine: machine, Home: home.Dir, Dir: p.dir})
		memory, err := p.memory(c)
		if err != nil {
			return err
		}
		checks = append(checks, doctor.Check{ID: "budget", Title: "to store captures", Status: doctor.OK, Detail: schema.NewBudget(memory).String()})
	}
	if c.Context.Err() != nil {
		return c.Context.Err()
	}
	if c.Bool("json") {
		e := json.NewEncoder(p.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err = e.Encode(checks)
	} else {
		err = p.printChecks(checks)
	}
	if err == nil && !doctor.Healthy(checks) {
		return exitStatus(exitFailed)
	}
	return err
}

// printChecks prints a line or two for each check, and what to do where there is something to do.
func (p *program) printChecks(checks []doctor.Check) error {
	for _, c := range checks {
		err := p.wrapped(fmt.Sprintf("%-8s ", c.Status), c.Title+": "+c.Detail)
		if err == nil && c.Advice != "" {
			err = p.wrapped("         -> ", c.Advice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
