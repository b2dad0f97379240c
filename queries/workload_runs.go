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

// WorkloadRuns is what the runs with one command and folder have in common.
type WorkloadRuns struct {
	Key     string // or the command of runs that prof did not capture
	Command string // of its latest run; "" when not known
	Count   int64
}

// FindWorkload returns a workload and how many of its runs have the tags. It is named by its key, a unique prefix of one, a command or a run of it; "" is that of the latest
// run that has one and what is followed: with isServed results of load generators, else device work.
func FindWorkload(ctx context.Context, w *schema.Warehouse, workload string, tags []string, isServed bool) (*WorkloadRuns, error) {
	if strings.HasPrefix(workload, schema.BaselinePrefix) { // which is no name that SQL knows
		run, err := w.Resolve(ctx, workload)
		if err != nil {
			return nil, err
		}
		workload = run.ID
	}
	args := []string{fmt.Sprintf("is_served := %t", isServed)}
	for name, v := range map[string]string{"workload": workload, "tag": strings.Join(tags, "\n")} {
		if v != "" {
			args = append(args, name+" := "+schema.Quote(v))
		}
	}
	f, err := Raw(ctx, w, "SELECT max(x.workload) AS workload, coalesce(arg_max(r.command, (x.at, x.run_id)), '') AS command, count(*) AS runs FROM _workload_run("+strings.Join(args, ", ")+") x JOIN run r ON r.run_id = x.run_id")
	if err != nil {
		return nil, plainError(err)
	}
	if f.Rows[0][0] == nil {
		return nil, noRuns(ctx, w, workload, tags)
	}
	return &WorkloadRuns{f.Rows[0][0].(string), f.Rows[0][1].(string), f.Rows[0][2].(int64)}, nil
}

// noRuns returns why there are no runs.
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
