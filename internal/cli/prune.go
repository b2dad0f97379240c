package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/capture/prune"
	"prof/ingest"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/rundir"
)

// keepTag is the tag that protects a run's captured files.
const keepTag = "keep"

func (p *program) pruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Usage: "compress or delete captured files of older runs; the warehouse keeps their data",
		Description: `The last runs of each workload (same command line and folder, or same value of the tag --by) keep their captured files as they
are. Files of older runs are compressed and, if all runs together exceed --max-total, deleted, oldest first. The record of how a run
was captured stays. Baselines and runs tagged keep, or as in --protect, are left alone, as is whatever the warehouse does not have: captures
that failed, were killed, still run or were made with --no-ingest. prof ingest reads compressed files too.

On a terminal, prune only prints what it would do, until you add --yes; in scripts it does it, unless you add --dry-run.

  prof prune                                      # what would be done
  prof prune --keep 3 --max-total 20GiB --yes
  prof prune --not-stored killed-run --keep 0     # although the warehouse does not have it
  prof tag baseline keep=yes`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "keep", Usage: "the last `N` runs of each workload stay as they are", Value: prune.DefaultKeep},
			&cli.StringFlag{Name: "max-total", Usage: "delete files until all runs together take at most `SIZE`, e.g. 20GiB"},
			&cli.StringFlag{Name: "by", Usage: "group runs by the tag `KEY` instead of by workload"},
			&cli.StringSliceFlag{Name: "protect", Usage: "leave runs with the tag `KEY` or KEY=VALUE alone; may be repeated"},
			&cli.StringSliceFlag{Name: "not-stored", Usage: "treat the captures of `RUN` as if the warehouse had them; may be repeated"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only print what would be done; the default on a terminal"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do it, on a terminal too"},
		},
		Action: p.prune,
	}
}

func (p *program) prune(c *cli.Context) error {
	if err := exactArgs(c, 0, "no arguments"); err != nil {
		return err
	}
	if c.Bool("dry-run") && c.Bool("yes") {
		return usagef("--dry-run and --yes exclude each other")
	}
	o := prune.Options{Keep: c.Int("keep"), NotStored: c.StringSlice("not-stored")}
	if o.Keep < 0 {
		return usagef("--keep %d: want 0 or more", o.Keep)
	}
	if c.IsSet("max-total") {
		size, err := plan.ParseSize(c.String("max-total"))
		if err != nil || size == 0 {
			return usagef("--max-total %s: want a size such as 20GiB", c.String("max-total"))
		}
		o.MaxTotal = size
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	var baselines map[string]string
	if home.Exists() {
		if baselines, err = p.pruneByTags(c, home, &o); err != nil {
			return err
		}
	} else if c.IsSet("by") || c.IsSet("protect") {
		return fmt.Errorf("%s has no warehouse with the tags of runs", home.Dir)
	}
	found, err := prune.Find(filepath.Join(home.Dir, runsName), time.Now(), o)
	if err != nil {
		return err
	}
	for i, s := range found.Skipped {
		if names := baselines[s.Folder]; names != "" {
			found.Skipped[i].Reason = "it is the baseline " + names
		}
	}
	for _, name := range o.NotStored {
		if _, err := os.Stat(filepath.Join(found.Dir, plan.FolderName(name))); err != nil {
			return fmt.Errorf("--not-stored %s: there is no such capture in %s", name, found.Dir)
		}
	}
	dry := c.Bool("dry-run") || isTerminal(p.out) && !c.Bool("yes")
	return p.prunePlanned(c.Context, dry, found)
}

// pruneByTags asks the warehouse which runs are protected, and how runs are grouped. It gives the names of those that are a baseline, by
// their folders.
func (p *program) pruneByTags(c *cli.Context, home schema.Home, o *prune.Options) (baselines map[string]string, err error) {
	w, err := p.openHome(c, home, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	runs, err := w.Runs(c.Context)
	if err != nil {
		return nil, err
	}
	bearers, err := baselineNames(c, w)
	if err != nil {
		return nil, err
	}
	if o.Stored, err = storedFiles(c.Context, w, runs); err != nil {
		return nil, err
	}
	o.Groups, baselines = map[string]string{}, map[string]string{}
	for _, r := range runs {
		if names := bearers[r.ID]; names != "" {
			o.Protected = append(o.Protected, r.Name)
			baselines[plan.FolderName(r.Name)] = names
		}
		tags, err := w.Tags(c.Context, r)
		if err != nil {
			return nil, err
		}
		for _, t := range tags {
			key, value, _ := strings.Cut(t, "=")
			if key == c.String("by") {
				o.Groups[r.Name] = value
			}
			if isProtecting(append(c.StringSlice("protect"), keepTag), t, key) {
				o.Protected = append(o.Protected, r.Name)
			}
		}
	}
	return baselines, nil
}

// storedFiles returns which files of captures the warehouse has. A capture is known by when it began, for a run may be stored under another
// name, and a file by its path without what tells the forms of one recording apart.
func storedFiles(ctx context.Context, w *schema.Warehouse, runs []schema.Run) (func(time.Time, string) bool, error) {
	type recording struct {
		began int64 // microseconds, as the warehouse has it
		name  string
	}
	stored := map[recording]bool{}
	for _, r := range runs {
		if r.StartedAt == nil {
			continue
		}
		sources, err := rowsNamed(ctx, w, judge.SourceRows, r.ID)
		if err != nil {
			return nil, err
		}
		captures, err := rowsNamed(ctx, w, captureRows, r.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			if len(captures) < 2 {
				stored[recording{r.StartedAt.UnixMicro(), recordingName(s.Path)}] = true
				continue
			}
			// Each node of a job has files of the same names: a file is of the node in whose folder it lay.
			for _, c := range captures {
				at := slices.IndexFunc(sources, func(s judge.SourceRow) bool { return s.SourceID == c.SourceID })
				began, err := time.Parse(time.DateTime, c.StartedAt)
				if err != nil {
					return nil, fmt.Errorf("the start of a capture of run %s: %w", r.Name, err)
				}
				if at >= 0 && strings.HasPrefix(s.Path, filepath.Dir(sources[at].Path)+string(filepath.Separator)) {
					stored[recording{began.UnixMicro(), recordingName(s.Path)}] = true
				}
			}
		}
		kept, err := rowsNamed(ctx, w, keptRows, r.ID)
		if err != nil {
			return nil, err
		}
		for _, k := range kept {
			stored[recording{r.StartedAt.UnixMicro(), rundir.KeptName + "/" + k.Path}] = true
		}
	}
	return func(began time.Time, path string) bool {
		if strings.HasPrefix(path, rundir.KeptName+"/") {
			return stored[recording{began.UnixMicro(), path}] || stored[recording{began.UnixMicro(), strings.TrimSuffix(path, ".zst")}]
		}
		return stored[recording{began.UnixMicro(), recordingName(path)}]
	}, nil
}

// recordingName is what the forms of one recording share of their paths: the folder in that of the run, and the stem.
func recordingName(path string) string {
	return filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(ingest.Stem(path))
}

func isProtecting(by []string, tag, key string) bool {
	for _, b := range by {
		if b == tag || b == key {
			return true
		}
	}
	return false
}

// prunePlanned says what is done, and does it.
func (p *program) prunePlanned(ctx context.Context, dry bool, plan *prune.Plan) error {
	for _, s := range plan.Skipped {
		fmt.Fprintf(p.err, "kept: %s: %s\n", s.Folder, s.Reason)
	}
	for _, a := range plan.Actions {
		if _, err := fmt.Fprintf(p.out, "%s %s (%.1f MB): %s\n", a.Action, a.Path, float64(a.Bytes)/1e6, a.Reason); err != nil {
			return err
		}
	}
	if plan.OverBytes > 0 {
		p.warn(fmt.Sprintf("the runs still exceed --max-total by %.1f MB: kept and protected files are not deleted", float64(plan.OverBytes)/1e6))
	}
	if dry {
		fmt.Fprintf(p.err, "dry run: %s, %.1f MB in total; nothing was changed; --yes applies it\n", typeset.Plural(int64(len(plan.Actions)), "file", "files"), float64(plan.TotalBytes)/1e6)
		return nil
	}
	done, err := plan.Apply(ctx)
	if ctx.Err() != nil && done != (prune.Result{}) {
		err = &captureError{errors.New("interrupted; prune again to go on")}
	}
	fmt.Fprintf(p.err, "compressed %d and deleted %d files; freed %.1f of %.1f MB\n", done.Compressed, done.Dropped, float64(done.FreedBytes)/1e6, float64(plan.TotalBytes)/1e6)
	return err
}
