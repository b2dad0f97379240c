package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture/doctor"
	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/scratch"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
	"prof/schema"
)

func (p *program) doctorCommand() *cli.Command {
	flags := []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON: the checks, or with FILE the rows of the query losses"},
		&cli.BoolFlag{Name: "lake", Usage: "check what the lake of the home, or of PROF_LAKE, needs: DuckDB's extensions, the catalog, the place of the rows"}}
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check what captures need, or what captures did not record, and say how to fix it",
		ArgsUsage: "[FILE...]",
		Description: `With files or folders of captures, says what they did not record, and stores
nothing: launches without GPU work, work without its launch, times that cannot
be, records that the profiler lost. Exits with 1 if they are not whole.

Without, finds the profilers and runs them on a program that does nothing,
queries the driver, and checks permissions and disk space. Takes a few seconds.
Exits with 1 if something is missing or fails.

  prof doctor
  prof doctor --json
  prof doctor trace.json.gz                       # is the capture whole?
  prof doctor --lake                              # what a lake needs, instead`,
		Flags:  flags,
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
		checks = append(checks, doctor.Check{ID: "budget", Title: "Room to store captures", Status: doctor.OK, Detail: schema.NewBudget(memory).String()})
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

// doctorFiles says what captures did not record. They are stored for that, in a folder that goes again.
func (p *program) doctorFiles(c *cli.Context) (err error) {
	temp, err := scratch.Make("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	w, err := p.openHome(c, schema.Home{Dir: filepath.Join(temp.Path, "home")}, true)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	spin := p.spin("reading")
	res, err := ingest.Run(c.Context, w, p.paths(c.Args().Slice()), ingest.Options{Name: "files", Now: time.Now(), ProfVersion: version(), Warn: p.warn, Load: load.Options{Threads: runtime.GOMAXPROCS(0), Progress: spin.rows}})
	spin.end()
	if err != nil {
		return err
	}
	p.sayUnread(res.Skipped)
	f, said, err := p.losses(c.Context, p.asker(w), res.Run)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = table.JSON(p.out, f, p.options(c))
	} else {
		err = p.printLosses(said)
	}
	if err == nil && len(f.Rows) > 0 {
		return exitStatus(exitFailed)
	}
	return err
}

// losses are what a run's captures did not record, and what that comes to in words, for each kind of capture. Most have none, and then nothing is asked about it.
func (p *program) losses(ctx context.Context, a *queries.Asker, run schema.Run) (*frame.Frame, []string, error) {
	args := queries.Args{"run": run.ID}
	frames, err := a.AskAll(ctx, []queries.Question{{Query: "losses", Args: args, Notes: frame.RowsOnly}})
	if err != nil {
		return nil, nil, err
	}
	var said []string
	kinds := map[string]bool{}
	list, err := lossRows.Of(frames[0])
	if err != nil {
		return nil, nil, err
	}
	for _, r := range list {
		if kinds[r.Capture] {
			continue
		}
		kinds[r.Capture] = true
		f, err := a.Ask(ctx, "losses", queries.Args{"run": run.ID, "source": r.Capture})
		if err != nil {
			return nil, nil, err
		}
		for _, l := range judge.Losses(f) {
			if !slices.Contains(said, l.Text) {
				said = append(said, l.Text)
			}
		}
	}
	return frames[0], said, nil
}

func (p *program) printLosses(said []string) error {
	if len(said) == 0 {
		return p.wrapped("whole: ", "all launches have their GPU work, all work its launch, and every stream its order, as far as that is recorded")
	}
	for _, text := range said {
		if err := p.wrapped("not whole: ", typeset.Neutral(text)); err != nil {
			return err
		}
	}
	return nil
}
