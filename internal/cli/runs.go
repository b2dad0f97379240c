package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/queries"
	"prof/schema"
)

func (p *program) runsCommand() *cli.Command {
	return &cli.Command{
		Name:        "runs",
		Usage:       "list the runs, newest first",
		Description: "  prof runs\n  prof runs --format json",
		Flags:       outputFlags(),
		Action: func(c *cli.Context) (err error) {
			if err := exactArgs(c, 0, "no arguments"); err != nil {
				return err
			}
			w, err := p.open(c, false)
			if err != nil {
				return err
			}
			defer closing(w, &err)
			q, err := queries.Find("runs")
			if err != nil {
				return err
			}
			f, err := queries.Run(c.Context, w, q, nil)
			if err != nil {
				return err
			}
			return p.print(c, f)
		},
	}
}

func (p *program) tagCommand() *cli.Command {
	return &cli.Command{
		Name:        "tag",
		Usage:       "label a run",
		ArgsUsage:   "RUN KEY=VALUE...",
		Description: "A key holds one value; the new one takes the old one's place.\n\n  prof tag @latest commit=4f2a1c branch=main\n  prof query stages --run tag:branch=main",
		Flags:       []cli.Flag{runFlag("")},
		Action: func(c *cli.Context) (err error) {
			arg, words := c.Args().First(), c.Args().Tail()
			if c.IsSet("run") && strings.Contains(arg, "=") {
				arg, words = c.String("run"), c.Args().Slice()
			}
			ref, given, err := oneOf(c, arg, c.NArg() > 0)
			if err != nil {
				return err
			}
			if len(words) == 0 || !given {
				return usagef("tag takes a run and key=value; see `prof help tag`")
			}
			var tags [][2]string
			for _, t := range words {
				k, v, err := schema.ParseTag(t)
				if err != nil {
					return &usageError{err}
				}
				tags = append(tags, [2]string{k, v})
			}
			w, err := p.openToChange(c)
			if err != nil {
				return err
			}
			defer plainFullDisk(w.Home, &err)
			defer closing(w, &err)
			run, err := w.Resolve(c.Context, ref)
			if err != nil {
				return err
			}
			if err := w.Tag(c.Context, run, tags...); err != nil {
				return err
			}
			fmt.Fprintf(p.err, "tagged %s\n", run.Name)
			return nil
		},
	}
}

func (p *program) rmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove runs, or sources of a run, from the warehouse",
		ArgsUsage: "RUN...",
		Description: `The captured files are not touched. A run must be named in full, or as @latest, @latest~N or tag:key=value; a
prefix is not enough. A baseline is removed only with --force, together with its baseline name. With --source, only that source goes (` + "`prof show RUN --facts`" + `
has the numbers), and what follows from the others is computed anew.

  prof rm baseline
  prof rm @latest
  prof rm baseline --source 2`,
		Flags: []cli.Flag{runFlag(""), &cli.IntSliceFlag{Name: "source", Usage: "take only source `N` out of the run; may be repeated"},
			&cli.BoolFlag{Name: "force", Usage: "also remove runs that are a baseline"}},
		Action: p.rm,
	}
}

func (p *program) rm(c *cli.Context) (err error) {
	refs := c.Args().Slice()
	if c.IsSet("run") {
		for _, ref := range refs {
			if _, _, err := oneOf(c, ref, true); err != nil {
				return err
			}
		}
		refs = []string{c.String("run")}
	}
	if len(refs) == 0 {
		return usagef("rm takes the runs to remove; see `prof help rm`")
	}
	if c.IsSet("source") && len(refs) > 1 {
		return usagef("rm --source takes one run")
	}
	if c.IsSet("source") {
		return p.rmSources(c, refs[0])
	}
	w, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	bearers, err := baselineNames(c, w)
	if err != nil {
		return err
	}
	var runs []schema.Run
	seen := map[string]bool{}
	for _, ref := range refs {
		run, err := inFull(c, w, "rm", ref)
		if err != nil {
			return err
		}
		if names := bearers[run.ID]; names != "" && !c.Bool("force") {
			return fmt.Errorf("run %s is the baseline %s: set that to another run first, or remove it with --force", run.Name, names)
		}
		if !seen[run.ID] {
			seen[run.ID] = true
			runs = append(runs, run)
		}
	}
	if err := w.Remove(c.Context, runs...); err != nil {
		return err
	}
	for _, r := range runs {
		fmt.Fprintf(p.err, "removed %s\n", r.Name)
	}
	return nil
}

// inFull finds a run that a verb changes: a prefix of its name is not enough.
func inFull(c *cli.Context, w *schema.Warehouse, verb, ref string) (schema.Run, error) {
	run, err := w.Resolve(c.Context, ref)
	if err == nil && run.Name != ref && run.ID != ref && !schema.IsReference(ref) {
		return run, fmt.Errorf("%s needs the full name: did you mean %s?", verb, run.Name)
	}
	return run, err
}

// rmSources takes sources out of a run.
func (p *program) rmSources(c *cli.Context, ref string) (err error) {
	w, run, err := p.openToGrow(c, "rm", ref)
	if err != nil {
		return err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	paths, err := ingest.RemoveSources(c.Context, w, run, c.IntSlice("source"), p.warn)
	if err != nil {
		return err
	}
	for i, n := range c.IntSlice("source") {
		fmt.Fprintf(p.err, "removed source %d of %s: %s\n", n, run.Name, paths[i])
	}
	return nil
}
