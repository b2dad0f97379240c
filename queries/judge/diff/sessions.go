package diff

import (
	"context"
	"fmt"
	"slices"

	"prof/queries/frame"
)

var factRows = frame.RowsOf[struct {
	Key   string `col:"key"`
	Value string `col:"value"`
}]("facts")

// loadSessions asks which sessions of a profiler the runs of a side are of, where they are several.
func loadSessions(ctx context.Context, asker frame.Asker, runs []runData) error {
	if len(runs) < 2 {
		return nil
	}
	var asked []frame.Question
	for _, d := range runs {
		asked = append(asked, frame.Question{Query: "facts", Args: frame.Args{"run": d.run.ID}, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return err
	}
	for i, f := range frames {
		rows, err := factRows.Of(f)
		if err != nil {
			return fmt.Errorf("run %s: %w", runs[i].run.Name, err)
		}
		for _, r := range rows {
			if r.Key == "capture.id" {
				runs[i].sessions = append(runs[i].sessions, r.Value)
			}
		}
	}
	return nil
}

// processesOf returns for each run the first run of the same process: one session of a profiler records one, however many reports it makes.
func processesOf(runs []runData) []int {
	out := make([]int, len(runs))
	for i, x := range runs {
		out[i] = slices.IndexFunc(runs[:i], func(y runData) bool {
			return slices.ContainsFunc(x.sessions, func(id string) bool { return slices.Contains(y.sessions, id) })
		})
		if out[i] < 0 {
			out[i] = i
		} else {
			out[i] = out[out[i]]
		}
	}
	return out
}

// process is which one a group is of, by its first run.
func (s *stageSide) process(g group) int {
	if g.run < len(s.oneOf) {
		return s.oneOf[g.run]
	}
	return g.run
}

// noteSessions tells which runs of a side are recordings of one process.
func (r *Result) noteSessions(runs []runData) []int {
	processes := processesOf(runs)
	for i := range runs {
		var names []string
		for j, first := range processes {
			if first == i {
				names = append(names, runs[j].run.Name)
			}
		}
		if len(names) > 1 {
			r.Notes = append(r.Notes, fmt.Sprintf("runs %s are recordings of one process: their passes are samples of it, and do not show how processes vary", listText(names)))
		}
	}
	return processes
}
