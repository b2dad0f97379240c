package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/schema"
)

// keepTag is the tag that protects a run's captured files.
const keepTag = "keep"

func (p *program) pruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Usage: "compress or delete captured files of older runs; the warehouse keeps their data",
		Description: `The last runs of each workload (same command line and folder, or same value of the tag --by) keep their captured files as they
are. Files of older runs are compressed and, if all runs together exceed --max-total, deleted, oldest first. The record of how a run
was captured stays. Baselines and runs tagged keep, or as in --protect, are left alone. prof ingest reads compressed files too.

  prof prune --dry-run
  prof prune --keep 3 --max-total 20GiB
  prof tag baseline keep=yes`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "keep", Usage: "the last `N` runs of each workload stay as they are", Value: capture.DefaultKeep},
			&cli.StringFlag{Name: "max-total", Usage: "delete files until all runs together take at most `SIZE`, e.g. 20GiB"},
			&cli.StringFlag{Name: "by", Usage: "group runs by the tag `KEY` instead of by workload"},
			&cli.StringSliceFlag{Name: "protect", Usage: "leave runs with the tag `KEY` or KEY=VALUE alone; may be repeated"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only print what would be done"},
		},
		Action: p.prune,
	}
}

func (p *program) prune(c *cli.Context) error {
	if err := exactArgs(c, 0, "no arguments"); err != nil {
		return err
	}
	o := capture.PruneOptions{Keep: c.Int("keep")}
	if o.Keep < 0 {
		return usagef("--keep %d: want 0 or more", o.Keep)
	}
	if c.IsSet("max-total") {
		size, err := capture.ParseSize(c.String("max-total"))
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
	plan, err := capture.PlanPrune(filepath.Join(home.Dir, runsName), time.Now(), o)
	if err != nil {
		return err
	}
	for i, s := range plan.Skipped {
		if names := baselines[s.Folder]; names != "" {
			plan.Skipped[i].Reason = "it is the baseline " + names
		}
	}
	return p.prunePlanned(c.Context, c.Bool("dry-run"), plan)
}

// pruneByTags asks the warehouse which runs are protected, and how runs are grouped. It gives the names of those that are a baseline, by
// their folders.
func (p *program) pruneByTags(c *cli.Context, home schema.Home, o *capture.PruneOptions) (baselines map[string]string, err error) {
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
	o.Groups, baselines = map[string]string{}, map[string]string{}
	for _, r := range runs {
		if names := bearers[r.ID]; names != "" {
			o.Protected = append(o.Protected, r.Name)
			baselines[capture.FolderName(r.Name)] = names
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

func isProtecting(by []string, tag, key string) bool {
	for _, b := range by {
		if b == tag || b == key {
			return true
		}
	}
	return false
}

// prunePlanned says what is done, and does it.
func (p *program) prunePlanned(ctx context.Context, dry bool, plan *capture.PrunePlan) error {
	for _, s := range plan.Skipped {
		fmt.Fprintf(p.err, "left alone: %s: %s\n", s.Folder, s.Reason)
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
		fmt.Fprintf(p.err, "%d files, %.1f MB in total; nothing was done (--dry-run)\n", len(plan.Actions), float64(plan.TotalBytes)/1e6)
		return nil
	}
	done, err := plan.Apply(ctx)
	fmt.Fprintf(p.err, "compressed %d and deleted %d files; freed %.1f of %.1f MB\n", done.Compressed, done.Dropped, float64(done.FreedBytes)/1e6, float64(plan.TotalBytes)/1e6)
	return err
}
