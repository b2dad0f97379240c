package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture/doctor"
	"prof/ingest/derive"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema"
)

// lakeVariable names the lake that runs are pushed to and pulled from where the command line does not.
const lakeVariable = "PROF_LAKE"

func (p *program) lakeCommand() *cli.Command {
	return &cli.Command{
		Name:      "lake",
		Usage:     "make and maintain a team's warehouse that many machines write",
		ArgsUsage: "init|status|maintain|upgrade",
		Description: `A lake is a DuckLake: a catalog in PostgreSQL, and rows as Parquet files in a folder or an object store. Its address is that of its catalog, as
--home, PROF_HOME, or warehouse.catalog in .prof/config.yaml give it; every verb works on it as on a file. See docs/lake.md.

  init       makes the lake's tables
  status     what the lake consists of: runs, bytes, files, snapshots, what maintain would do
  maintain   merges small files, forgets old snapshots, deletes unused files
  upgrade    brings the lake to this version of prof: its tables, and the facts of every run

  export PROF_HOME='ducklake:postgres:dbname=prof host=db.example.com'
  prof lake init --data-path s3://team/prof
  prof lake status
  prof lake maintain --dry-run                    # each night without --dry-run`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "data-path", Usage: "init: `PLACE` for the rows: a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER"},
			&cli.StringFlag{Name: "keep", Value: "7d", Usage: "maintain: keep snapshots and files for `TIME`, for readers that began before, such as 12h or 7d"},
			&cli.BoolFlag{Name: "dry-run", Usage: "maintain: say what would be done"},
		}, outputFlags()...),
		Action: p.lake,
	}
}

func (p *program) lake(c *cli.Context) error {
	words := map[string]func(*cli.Context, *schema.Lake) error{"init": p.lakeInit, "status": p.lakeStatus, "maintain": p.lakeMaintain, "upgrade": p.lakeUpgrade}
	do := words[c.Args().First()]
	if do == nil {
		return usagef("lake takes init, status, maintain or upgrade, not %q%s", c.Args().First(), cmp.Or(nearest(c.Args().First(), slices.Sorted(maps.Keys(words))), "; see `prof help lake`"))
	}
	if c.NArg() > 1 {
		return usagef("lake %s takes no arguments; see `prof help lake`", c.Args().First())
	}
	lake, err := p.homeLake(c)
	if err != nil {
		return err
	}
	return do(c, lake)
}

// homeLake returns the lake that the command works on.
func (p *program) homeLake(c *cli.Context) (*schema.Lake, error) {
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	if home.Lake == nil {
		return nil, usagef("%s is no lake: give the address of one with --home ducklake:postgres:..., PROF_HOME, or warehouse.catalog in .prof/config.yaml", home.Dir)
	}
	return home.Lake, nil
}

func (p *program) lakeInit(c *cli.Context, lake *schema.Lake) error {
	if c.IsSet("data-path") {
		lake.DataPath = c.String("data-path")
	}
	if lake.DataPath == "" {
		return usagef("say where the rows go: --data-path FOLDER, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER")
	}
	if err := schema.InitLake(c.Context, lake, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}}); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "made the lake %s, with its rows in %s\n", lake, lake.DataPath)
	return nil
}

func (p *program) lakeStatus(c *cli.Context, lake *schema.Lake) error {
	s, err := lake.Status(c.Context)
	if err != nil {
		return err
	}
	f := &frame.Frame{Query: "lake-status", Columns: []frame.Column{{Name: "table", Doc: "table of the lake"}, {Name: "files", Type: frame.Int, Doc: "Parquet files"}, {Name: "size_bytes", Type: frame.Int, Unit: frame.Bytes, Doc: "bytes of these"},
		{Name: "delete_files", Type: frame.Int, Doc: "files that say which rows are deleted"}, {Name: "inlined_rows", Type: frame.Int, Doc: "rows in the catalog, not in a file yet"}}}
	var files, bytes, deletes, inlined int64
	for _, t := range s.Tables {
		files, bytes, deletes, inlined = files+t.Files, bytes+t.Bytes, deletes+t.DeleteFiles, inlined+t.Inlined
		if t.Files+t.DeleteFiles+t.Inlined > 0 {
			f.Rows = append(f.Rows, []any{t.Name, t.Files, t.Bytes, t.DeleteFiles, t.Inlined})
		}
	}
	f.Notes = []string{
		fmt.Sprintf("%s: %s in %s of %s, %s in the catalog", s.Catalog, typeset.CountOf(s.Runs, "run"), typeset.CountOf(files, "file"), typeset.Amount(frame.Bytes, float64(bytes)), typeset.CountOf(inlined, "row")),
		fmt.Sprintf("the rows are in %s; DuckLake %s, %s since %s", s.DataPath, s.Version, typeset.CountOf(s.Snapshots, "snapshot"), s.OldestAt.UTC().Format("2006-01-02 15:04")+" UTC"),
		fmt.Sprintf("prof lake maintain would move %s into files, rewrite %s with deleted rows, and delete %s when old enough", typeset.CountOf(inlined, "row"), typeset.CountOf(deletes, "file"), typeset.CountOf(s.UnusedFiles, "unused file")),
	}
	return p.print(c, f)
}

func (p *program) lakeMaintain(c *cli.Context, lake *schema.Lake) error {
	keep, err := daysOf(c.String("keep"))
	if err != nil {
		return err
	}
	spin := p.spin("maintaining the lake")
	done, err := lake.Maintain(c.Context, schema.MaintainOptions{Keep: keep, DryRun: c.Bool("dry-run"), Talk: func(step string) { spin.step(step) }})
	spin.end()
	for _, d := range done {
		fmt.Fprintf(p.out, "%-8s %8s %s\n", d.Step, typeset.Int(d.Count), d.Unit)
	}
	return err
}

// daysOf reads a duration, which may be in days.
func daysOf(text string) (time.Duration, error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, usagef("--keep %s: write a time such as 12h or 7d", text)
	}
	return d, nil
}

func (p *program) lakeUpgrade(c *cli.Context, lake *schema.Lake) error {
	spin := p.spin("upgrading the lake")
	n, err := schema.UpgradeLake(c.Context, lake, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{},
		Progress: func(done, all int) {
			spin.count("deriving the facts of all runs again", " runs", int64(done), int64(all))
		}})
	spin.end()
	if err == nil {
		fmt.Fprintf(p.err, "the lake is up to date; the facts of %s were derived again\n", typeset.CountOf(int64(n), "run"))
	}
	return err
}

func (p *program) pushCommand() *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "put runs of this warehouse into a lake",
		ArgsUsage: "RUN...",
		Description: `Each run is one transaction: all of it is there, or nothing. A run that the lake has with the same content is not written again, so
that a push that was interrupted is repeated as it was. Baselines are not pushed.

  prof push @latest --to 'ducklake:postgres:dbname=prof host=db.example.com'
  prof push --all                                 # to PROF_LAKE`,
		Flags: []cli.Flag{
			runFlag(""),
			lakeFlag("to", "push to"),
			&cli.BoolFlag{Name: "all", Usage: "every run"},
			&cli.BoolFlag{Name: "replace", Usage: "replace runs that the lake has with other content"},
		},
		Action: p.push,
	}
}

func (p *program) pullCommand() *cli.Command {
	return &cli.Command{
		Name:      "pull",
		Usage:     "get runs of a lake into this warehouse",
		ArgsUsage: "RUN...",
		Description: `Here every question about them is answered from a file, faster than from the lake and without a network. A run that is here with the same content
is not fetched again.

  prof pull nightly --from 'ducklake:postgres:dbname=prof host=db.example.com'
  prof pull tag:branch=main                       # every such run, from PROF_LAKE`,
		Flags:  []cli.Flag{runFlag(""), lakeFlag("from", "pull from"), sharedFlag()},
		Action: p.pull,
	}
}

func lakeFlag(name, does string) cli.Flag {
	return &cli.StringFlag{Name: name, EnvVars: []string{lakeVariable}, Usage: "`LAKE` to " + does + ": ducklake:..., or a folder whose config.yaml names one"}
}

// otherLake returns the lake at an address that an option or PROF_LAKE gave.
func (p *program) otherLake(at string) (*schema.Lake, error) {
	if at == "" {
		return nil, usagef("name the lake: with --to or --from ducklake:postgres:..., or %s", lakeVariable)
	}
	home, err := p.findHome(at)
	if err == nil && home.Lake == nil { // a project's folder
		home, err = p.findHome(filepath.Join(at, schema.HomeName))
	}
	if err == nil && home.Lake == nil {
		err = usagef("%s is no lake: write ducklake:postgres:..., or a folder whose config.yaml has warehouse.catalog", at)
	}
	if err != nil {
		return nil, err
	}
	return home.Lake, p.openKeys(home.Lake)
}

// refsOf are the runs that a verb for several is given.
func refsOf(c *cli.Context) ([]string, error) {
	refs := c.Args().Slice()
	if c.IsSet("run") {
		refs = append(refs, c.String("run"))
	}
	if len(refs) == 0 && !c.Bool("all") {
		return nil, usagef("%s takes the runs; see `%s`", c.Command.Name, helpOf(c))
	}
	return refs, nil
}

// runsOf finds the runs of references, each once, oldest first of each.
func runsOf(c *cli.Context, w *schema.Warehouse, refs []string) (out []schema.Run, err error) {
	seen := map[string]bool{}
	for _, ref := range refs {
		found, err := w.ResolveAll(c.Context, ref)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if !seen[r.ID] {
				seen[r.ID], out = true, append(out, r)
			}
		}
	}
	return out, nil
}

// moving returns what push and pull are given: runs, the other side, which is a lake, and the home, which is a file.
func (p *program) moving(c *cli.Context, option string) (refs []string, lake *schema.Lake, home schema.Home, err error) {
	if refs, err = refsOf(c); err != nil {
		return nil, nil, home, err
	}
	if lake, err = p.otherLake(cmp.Or(c.String(option), p.getenv(lakeVariable))); err != nil {
		return nil, nil, home, err
	}
	home, err = p.home(c)
	if err == nil && home.Lake != nil {
		err = usagef("the warehouse is a lake already (%s): %s is between a lake and a file, such as --home .prof", home.Lake, c.Command.Name)
	}
	return refs, lake, home, err
}

func (p *program) push(c *cli.Context) (err error) {
	refs, to, home, err := p.moving(c, "to")
	if err != nil {
		return err
	}
	w, err := p.openHome(c, home, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	runs, err := w.Runs(c.Context)
	slices.Reverse(runs) // oldest first
	if err == nil && !c.Bool("all") {
		runs, err = runsOf(c, w, refs)
	}
	if err != nil {
		return err
	}
	return p.pushRuns(c, w, to, runs)
}

// pushRuns pushes runs and prints the outcome of each.
func (p *program) pushRuns(c *cli.Context, w *schema.Warehouse, to *schema.Lake, runs []schema.Run) error {
	var refused []error
	var others []schema.Run // whose facts are by other rules
	err := w.Push(c.Context, to, runs, schema.PushOptions{Replace: c.Bool("replace")}, func(m schema.Moved, err error) error {
		switch {
		case errors.Is(err, schema.ErrOtherRules):
			others = append(others, m.Run)
		case errors.Is(err, schema.ErrNameTaken), errors.Is(err, schema.ErrDiffers): // the others may go
			refused = append(refused, err)
		case err != nil:
			return err
		default:
			p.sayMoved(m, "pushed", "the lake has it already")
		}
		return nil
	})
	for _, r := range others {
		if err == nil {
			err = p.pushDerived(c, w, to, r)
		}
	}
	return errors.Join(append(refused, err)...)
}

// pushDerived pushes a run whose facts are by other rules than those of the lake: they are derived by these.
func (p *program) pushDerived(c *cli.Context, w *schema.Warehouse, to *schema.Lake, run schema.Run) (err error) {
	temp, err := scratchNear(w.Home.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	m := schema.Moved{Run: run}
	if m.Rows, err = w.ExportRun(c.Context, run, temp.Path); err != nil {
		return err
	}
	s, err := p.openAs(c, schema.Home{Lake: to}, schema.Options{Write: true, Store: true})
	if err != nil {
		return err
	}
	defer closing(s, &err)
	made, _, err := s.ImportRuns(c.Context, temp.Path, schema.ImportOptions{})
	if err == nil && len(made) == 0 {
		err = fmt.Errorf("push run %s: the lake has it with other content, and derives facts by other rules than those here: to replace it, `prof rm %s` in the lake first", run.Name, run.Name)
	}
	if err == nil {
		p.sayMoved(m, "pushed", "")
	}
	return err
}

// sayMoved prints the outcome of a run.
func (p *program) sayMoved(m schema.Moved, did, there string) {
	if m.There && m.Tags > 0 {
		there += "; its tags were brought up to date"
	}
	if m.There {
		fmt.Fprintf(p.err, "run %s: %s\n", m.Run.Name, there)
		return
	}
	fmt.Fprintf(p.err, "%s run %s, %s\n", did, m.Run.Name, typeset.Plural(m.Rows, "row", "rows"))
}

func (p *program) pull(c *cli.Context) (err error) {
	refs, from, home, err := p.moving(c, "from")
	if err != nil {
		return err
	}
	lake, err := p.openAs(c, schema.Home{Dir: home.Dir, Lake: from}, schema.Options{})
	if err != nil {
		return err
	}
	runs, err := runsOf(c, lake, refs)
	if e := lake.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	w, err := p.openHome(c, home, true)
	if err != nil {
		return err
	}
	defer plainFullDisk(w.Home, &err)
	defer closing(w, &err)
	return w.Pull(c.Context, from, runs, func(m schema.Moved) { p.sayMoved(m, "pulled", "it is here already") })
}

// lakeChecks returns what a lake needs and what of it is there.
func lakeChecks(ctx context.Context, l *schema.Lake) (out []doctor.Check) {
	for _, s := range l.Probe(ctx) {
		c := doctor.Check{ID: s.Name, Title: s.Title, Status: doctor.OK, Detail: s.Detail}
		if s.Err != nil {
			c.Status, c.Detail, c.Advice = doctor.Failed, oneLine(s.Err), s.Advice
		}
		out = append(out, c)
	}
	return out
}
