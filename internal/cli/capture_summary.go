package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/schema"
)

// captureSummary tells on stderr, for stdout is the workload's, how each pass went, and what profiling cost.
func (p *program) captureSummary(c *cli.Context, home schema.Home, run string, o plan.Options) (err error) {
	w, err := p.openHome(c, home, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	passes, err := runNamed(c.Context, w, "capture-passes", run)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "\nrun %s\n", run)
	for _, r := range passes.Rows {
		at := func(col string) any { return r[passes.Index(col)] }
		line := fmt.Sprintf("  %-11s %-12s", at("pass"), at("status"))
		if ns, ok := at("workload_ns").(int64); ok {
			line += fmt.Sprintf("workload %s, ", short(ns))
		}
		if ns, ok := at("duration_ns").(int64); ok {
			line += "total " + short(ns)
		}
		fmt.Fprintln(p.err, line)
		if reason, ok := at("reason").(string); ok {
			fmt.Fprintln(p.err, "              "+reason)
		}
	}
	cost, err := runNamed(c.Context, w, "overhead", run)
	if err != nil {
		return err
	}
	for _, r := range cost.Rows {
		ratio, ok := r[cost.Index("overhead_ratio")].(float64)
		if stage, ofStage := r[cost.Index("stage")].(string); ok && ofStage {
			fmt.Fprintf(p.err, "  %s: alone %s, under %v (%v) %s: %+.0f %%\n", stage, shortMedian(cost, r, "baseline_median_ns"), r[cost.Index("tool")], r[cost.Index("mode")], shortMedian(cost, r, "workload_median_ns"), 100*ratio)
		} else if ok {
			fmt.Fprintf(p.err, "  overhead of %v (%v): %+.0f %% (median of %v against %v)\n", r[cost.Index("tool")], r[cost.Index("mode")], 100*ratio, r[cost.Index("pass_count")], r[cost.Index("baseline_count")])
		}
	}
	if o.Baseline {
		for _, n := range cost.Notes {
			fmt.Fprintln(p.err, "  note: "+n)
		}
	}
	return nil
}

// short is a time as a person says it.
func short(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
