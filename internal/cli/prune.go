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
		Usage: "compress and drop captured files of older runs; what the warehouse holds of them stays",
		Description: `Of each workload (same command line and folder, or same value of the tag --by) the last runs keep their captured files as they
are. Those of older ones are compressed, and where all runs together exceed --max-total, dropped, oldest first. What says how a run
was captured stays, and so do runs tagged keep or as --protect says, and those that are a baseline. prof ingest reads compressed files too.

  prof prune --dry-run
  prof prune --keep 3 --max-total 20GiB
  prof tag baseline keep=yes`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "keep", Usage: "the last `N` runs of each workload stay as they are", Value: capture.DefaultKeep},
			&cli.StringFlag{Name: "max-total", Usage: "drop files until all runs together take `SIZE` at most, e.g. 20GiB"},
			&cli.StringFlag{Name: "by", Usage: "group runs by their tag `KEY` and not by their workload"},
			&cli.StringSliceFlag{Name: "protect", Usage: "leave runs alone that have the tag `KEY` or KEY=VALUE; may be repeated"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done"},
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
		return fmt.Errorf("there is no warehouse in %s that could tell the tags of runs", home.Dir)
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
		p.warn(fmt.Sprintf("the runs still exceed --max-total by %.1f MB: what is kept and protected is not dropped", float64(plan.OverBytes)/1e6))
	}
	if dry {
		fmt.Fprintf(p.err, "%d files of %.1f MB in all; nothing was done (--dry-run)\n", len(plan.Actions), float64(plan.TotalBytes)/1e6)
		return nil
	}
	done, err := plan.Apply(ctx)
	fmt.Fprintf(p.err, "compressed %d and dropped %d files; %.1f MB freed of %.1f\n", done.Compressed, done.Dropped, float64(done.FreedBytes)/1e6, float64(plan.TotalBytes)/1e6)
	return err
}
