package trend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"prof/internal/suggest"
	"prof/queries/caveat"
	"prof/queries/frame"
)

// ErrNoWorkload is wrapped by the errors that say that no runs of a workload are there.
var ErrNoWorkload = errors.New("no runs of a workload")

// noStage returns why none of the runs has a row.
func noStage(ctx context.Context, a frame.Asker, o Options) error {
	if o.Stage == "" {
		return fmt.Errorf("%w: none of the runs%s has a stage, or device work in its timeline: --workload names another workload, --metric tpot_p99 follows results of load generators", ErrNoWorkload, o.ofWorkload())
	}
	all := Options{Workload: o.Workload, Tags: o.Tags, Metric: o.Metric}
	r := &Result{Options: all}
	if _, err := r.load(ctx, a); err != nil {
		return err
	}
	var names []string
	for _, i := range r.Main() {
		names = append(names, r.Series[i].Stage)
	}
	if len(names) == 0 {
		return noStage(ctx, a, all)
	}
	return fmt.Errorf("%w: no run of this workload has a stage %q; they have %s", ErrNoWorkload, o.Stage, suggest.List(names, 8))
}

// load asks for the stages of the runs and for what their passes are made of.
func (r *Result) load(ctx context.Context, a frame.Asker) (*frame.Frame, error) {
	args := frame.Args{"metric": string(r.Options.Metric)}
	for name, v := range map[string]string{"workload": r.Options.Workload, "tag": strings.Join(r.Options.Tags, "\n"), "stage": r.Options.Stage} {
		if v != "" {
			args[name] = v
		}
	}
	list := []frame.Question{{Query: "trend", Args: args}}
	if r.Options.Kernels > 0 {
		work := frame.Args{"top": strconv.Itoa(r.Options.Kernels), "last": strconv.Itoa(r.Options.KernelRuns)}
		for _, name := range []string{"workload", "tag", "stage"} {
			if v, given := args[name]; given {
				work[name] = v
			}
		}
		list = append([]frame.Question{{Query: "trend-work", Args: work}}, list...) // what takes longest first
	}
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, f := range frames {
		r.Queries = append(r.Queries, Source{fmt.Sprintf("%s.v%d", f.Query, f.Version), f.SQL})
	}
	rows := frames[len(frames)-1]
	r.Notes = append(r.Notes, rows.Said(caveat.Facts)...) // these runs are left out
	if err := r.addSeries(rows); err != nil {
		return nil, err
	}
	if len(frames) == 1 {
		return nil, nil
	}
	return frames[0], nil
}
