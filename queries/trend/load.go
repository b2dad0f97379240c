package trend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"prof/internal/suggest"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// ErrNoWorkload is wrapped by the errors that say that no runs of a workload are there.
var ErrNoWorkload = errors.New("no runs of a workload")

// Runs gives the workload that the options mean, by its key or command, and its runs, oldest first.
func Runs(ctx context.Context, w *schema.Warehouse, o Options) (string, []schema.Run, error) {
	if strings.HasPrefix(o.Workload, schema.BaselinePrefix) { // which is no name that SQL knows
		run, err := w.Resolve(ctx, o.Workload)
		if err != nil {
			return "", nil, err
		}
		o.Workload = run.ID
	}
	var args []string
	for name, v := range map[string]string{"workload": o.Workload, "tag": strings.Join(o.Tags, "\n")} {
		if v != "" {
			args = append(args, name+" := "+schema.Quote(v))
		}
	}
	f, err := queries.Raw(ctx, w, "SELECT x.run_id, x.run, x.workload FROM _workload_run("+strings.Join(args, ", ")+") x ORDER BY x.at, x.run_id")
	if err != nil {
		return "", nil, workloadError(err)
	}
	if len(f.Rows) == 0 {
		return "", nil, missing(ctx, w, o)
	}
	all, err := w.Runs(ctx)
	if err != nil {
		return "", nil, err
	}
	byID := map[string]schema.Run{}
	for _, run := range all {
		byID[run.ID] = run
	}
	out := make([]schema.Run, len(f.Rows))
	for i, row := range f.Rows {
		out[i] = byID[row[0].(string)]
	}
	return f.Rows[0][2].(string), out, nil
}

// workloadError takes DuckDB's mark off what the query says of its arguments.
func workloadError(err error) error {
	if _, text, found := strings.Cut(err.Error(), "ARGUMENT: "); found {
		return fmt.Errorf("%w: %s", queries.ErrBadArgument, text)
	}
	return err
}

// missing says why there are no runs.
func missing(ctx context.Context, w *schema.Warehouse, o Options) error {
	with := ""
	if len(o.Tags) > 0 {
		with = " with the tag " + strings.Join(o.Tags, " and ")
	}
	if o.Workload == "" {
		return fmt.Errorf("%w%s: of none of the runs here the command is known; name the runs' own with --workload RUN, or capture with prof capture", ErrNoWorkload, with)
	}
	run, err := w.Resolve(ctx, o.Workload)
	switch {
	case errors.Is(err, schema.ErrUnknownRun):
		return fmt.Errorf("%w: no workload has a key that begins with %q, and no run has that name; prof query captures --run RUN tells the workload_key of a run", ErrNoWorkload, o.Workload)
	case err != nil:
		return err
	case with != "":
		return fmt.Errorf("%w%s: none of that workload has it", ErrNoWorkload, with)
	}
	return fmt.Errorf("%w: run %s was not made by prof capture, and its sources do not say what was run: which others are of its workload is not known", ErrNoWorkload, run.Name)
}

// noStage says why none of the runs has a row.
func noStage(ctx context.Context, a *queries.Asker, o Options) error {
	if o.Stage == "" {
		return fmt.Errorf("%w: none of these runs has device work in its timeline, or a stage", ErrNoWorkload)
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
func (r *Result) load(ctx context.Context, a *queries.Asker) (*frame.Frame, error) {
	args := queries.Args{"metric": string(r.Options.Metric)}
	for name, v := range map[string]string{"workload": r.Options.Workload, "tag": strings.Join(r.Options.Tags, "\n"), "stage": r.Options.Stage} {
		if v != "" {
			args[name] = v
		}
	}
	list := []queries.Question{{Query: "trend", Args: args}}
	if r.Options.Kernels > 0 {
		work := queries.Args{"top": strconv.Itoa(r.Options.Kernels)}
		for _, name := range []string{"workload", "tag", "stage"} {
			if v, given := args[name]; given {
				work[name] = v
			}
		}
		list = append([]queries.Question{{Query: "trend-work", Args: work}}, list...) // what takes longest first
	}
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, f := range frames {
		r.Queries = append(r.Queries, Source{fmt.Sprintf("%s.v%d", f.Query, f.Version), f.SQL})
	}
	rows := frames[len(frames)-1]
	if err := r.addSeries(rows); err != nil {
		return nil, err
	}
	if len(frames) == 1 {
		return nil, nil
	}
	return frames[0], nil
}

// needs says which column a frame lacks.
func needs(f *frame.Frame, columns ...string) error {
	for _, c := range columns {
		if f.Index(c) < 0 {
			return fmt.Errorf("query %s has no column %s", f.Query, c)
		}
	}
	return nil
}
