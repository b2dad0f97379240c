package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"prof/schema"
)

func (p *program) importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "store runs that prof pack or prof export --to parquet wrote",
		ArgsUsage: "FILE|DIR",
		Description: `Runs keep their names and ids; one that the warehouse has already is not stored again. All runs of the file or folder are stored, or none.

  prof import baseline.prof.zst                   # of prof pack baseline
  prof export baseline --to parquet --out runs
  prof import runs                                # into this project's warehouse
  prof --home /data/team/.prof import runs`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "store the run under this `NAME`, if only one is new"},
			sharedFlag(),
		},
		Action: p.importRuns,
	}
}

func (p *program) importRuns(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("import takes the file or folder to import; see `%s`", helpOf(c))
	}
	_, _, err := p.importFrom(c, p.path(c.Args().First()))
	return err
}

// importFrom stores the runs of a packed file or a folder, and says which they are.
func (p *program) importFrom(c *cli.Context, from string) (made, there []schema.Run, err error) {
	if name := c.String("run"); name != "" {
		if err := schema.CheckRunName(name); err != nil {
			return nil, nil, &usageError{err}
		}
	}
	home, err := p.home(c)
	if err != nil {
		return nil, nil, err
	}
	dir, o := from, schema.ImportOptions{As: c.String("run")}
	if isFile(from) {
		temp, bad := scratchNear(home.Dir)
		if bad != nil {
			return nil, nil, bad
		}
		defer func() { err = errors.Join(err, temp.Remove()) }()
		if dir, o.Names, err = p.unpackTo(c.Context, from, temp); err != nil {
			plainFullDisk(home, &err)
			return nil, nil, err
		}
	}
	if _, err := schema.RunsIn(dir); err != nil { // before a home is made for it
		return nil, nil, err
	}
	w, err := p.openHome(c, home, true)
	if err != nil {
		return nil, nil, err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	made, there, err = w.ImportRuns(c.Context, dir, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", from, err)
	}
	for _, r := range there {
		fmt.Fprintf(p.err, "run %s is in the warehouse already\n", r.Name)
	}
	for _, r := range made {
		fmt.Fprintf(p.err, "imported run %s\n", r.Name)
	}
	return made, there, nil
}
