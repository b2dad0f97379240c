package queries

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"prof/schema"
)

// ErrNoWorkload is wrapped by the errors that say that no runs of a workload are there.
var ErrNoWorkload = errors.New("no runs of a workload")

// WorkloadRuns gives a workload by its key or command, and those of its runs that have the tags, oldest first. It is named by its key, a
// unique prefix of one, a command or a run of it; "" is that of the latest run that has one.
func WorkloadRuns(ctx context.Context, w *schema.Warehouse, workload string, tags []string) (string, []schema.Run, error) {
	if strings.HasPrefix(workload, schema.BaselinePrefix) { // which is no name that SQL knows
		run, err := w.Resolve(ctx, workload)
		if err != nil {
			return "", nil, err
		}
		workload = run.ID
	}
	var args []string
	for name, v := range map[string]string{"workload": workload, "tag": strings.Join(tags, "\n")} {
		if v != "" {
			args = append(args, name+" := "+schema.Quote(v))
		}
	}
	f, err := Raw(ctx, w, "SELECT x.run_id, x.run, x.workload FROM _workload_run("+strings.Join(args, ", ")+") x ORDER BY x.at, x.run_id")
	if err != nil {
		return "", nil, plainError(err)
	}
	if len(f.Rows) == 0 {
		return "", nil, noRuns(ctx, w, workload, tags)
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

// noRuns says why there are no runs.
func noRuns(ctx context.Context, w *schema.Warehouse, workload string, tags []string) error {
	with := ""
	if len(tags) > 0 {
		with = " with the tag " + strings.Join(tags, " and ")
	}
	if workload == "" {
		return fmt.Errorf("%w%s: the command of these runs is unknown; name a run of the workload with --workload RUN, or capture with prof capture", ErrNoWorkload, with)
	}
	run, err := w.Resolve(ctx, workload)
	switch {
	case errors.Is(err, schema.ErrUnknownRun):
		return fmt.Errorf("%w: no workload key begins with %q, and no run has that name; prof query captures --run RUN shows the workload_key of a run", ErrNoWorkload, workload)
	case err != nil:
		return err
	case with != "":
		return fmt.Errorf("%w%s: no run of that workload has it", ErrNoWorkload, with)
	}
	return fmt.Errorf("%w: run %s was not made by prof capture, and its sources do not name its command, so its workload is unknown; name it with `prof tag %s workload=NAME`", ErrNoWorkload, run.Name, run.Name)
}
