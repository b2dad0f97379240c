package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"prof/queries/frame"
	"prof/schema"
)

func (p *program) baselineCommand() *cli.Command {
	return &cli.Command{
		Name:      "baseline",
		Usage:     "name the runs that others are compared with; without arguments, list them",
		ArgsUsage: "[set NAME RUN | list | rm NAME]",
		Description: `A name stands for one run; setting it again moves it to another. Use baseline:NAME
wherever a run is expected. prune keeps the captured files of a baseline as they are,
and rm needs --force.

  prof baseline set main @latest
  prof baseline list
  prof check --baseline baseline:main
  prof baseline rm main`,
		Flags:  append(outputFlags(), runFlag("")),
		Action: p.baseline,
	}
}

func (p *program) baseline(c *cli.Context) error {
	switch word, n := c.Args().First(), c.NArg(); {
	case n == 0, word == "list" && n == 1:
		return p.baselineList(c)
	case word == "set" && (n == 3 || n == 2 && c.IsSet("run")):
		ref, _, err := oneOf(c, c.Args().Get(2), n == 3)
		if err != nil {
			return err
		}
		return p.baselineSet(c, c.Args().Get(1), ref)
	case word == "set":
		return usagef("baseline set takes a name and a run; see `prof help baseline`")
	case word == "rm" && n == 2:
		return p.baselineRemove(c, c.Args().Get(1))
	case word == "rm":
		return usagef("baseline rm takes one name; see `prof help baseline`")
	case word == "list":
		return usagef("baseline list takes no arguments; see `prof help baseline`")
	default:
		return usagef("baseline takes set, list or rm, not %q%s", word, cmp.Or(nearest(word, []string{"set", "list", "rm"}), "; see `prof help baseline`"))
	}
}

// baselineList prints the baselines by name.
func (p *program) baselineList(c *cli.Context) (err error) {
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	all, err := w.Baselines(c.Context)
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "baselines", Columns: []frame.Column{{Name: "baseline", Doc: "name of the baseline"}, {Name: "run", Doc: "run with that name"},
		{Name: "set_at", Doc: "UTC time when the name was set"}, {Name: "run_id", Doc: "id of the run"}}}
	for _, b := range all {
		f.Rows = append(f.Rows, []any{b.Name, b.Run.Name, b.SetAt.UTC().Format("2006-01-02 15:04:05"), b.Run.ID})
	}
	if len(all) == 0 {
		f.Notes = []string{"no baseline is set: set one with prof baseline set NAME RUN"}
	}
	return p.print(c, f)
}

// baselineSet gives a run a name.
func (p *program) baselineSet(c *cli.Context, name, ref string) (err error) {
	if err := schema.CheckBaselineName(name); err != nil {
		return &usageError{err}
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
	all, err := w.Baselines(c.Context)
	if err != nil {
		return err
	}
	if err := w.SetBaseline(c.Context, name, run, time.Now()); err != nil {
		return err
	}
	before := ""
	for _, b := range all {
		if b.Name == name && b.Run.ID != run.ID {
			before = ", no longer " + b.Run.Name
		}
	}
	fmt.Fprintf(p.err, "baseline %s is run %s%s\n", name, run.Name, before)
	return nil
}

// baselineRemove takes a name away.
func (p *program) baselineRemove(c *cli.Context, name string) (err error) {
	w, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	b, err := w.FindBaseline(c.Context, name)
	if err != nil {
		return err
	}
	if err := w.RemoveBaseline(c.Context, b); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "removed baseline %s; run %s stays\n", b.Name, b.Run.Name)
	return nil
}

// baselineNames returns the names that runs bear, by the run's id, with commas between those of one.
func baselineNames(c *cli.Context, w *schema.Warehouse) (map[string]string, error) {
	all, err := w.Baselines(c.Context)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, b := range all {
		if out[b.Run.ID] != "" {
			out[b.Run.ID] += ", "
		}
		out[b.Run.ID] += b.Name
	}
	return out, nil
}
