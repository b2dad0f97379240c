package diff

import (
	"context"
	"fmt"
	"slices"

	"prof/queries/frame"
)

// shareNames returns kernels whose names differ between the runs in spelling only the name in the first run that has them: profilers write the
// same kernel in different ways. Of a spelling that a run has two names of, all stay as they are.
func shareNames(ctx context.Context, asker frame.Asker, runs []runData) ([]Source, error) {
	if !haveOtherNames(runs) {
		return nil, nil
	}
	var asked []frame.Question
	for _, r := range runs {
		asked = append(asked, frame.Question{Query: "kernel-spellings", Args: frame.Args{"run": r.run.ID}, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, err
	}
	first, isDouble := map[string]string{}, map[string]bool{} // by spelling
	spellings := make([]map[string]string, len(runs))         // of each run's names
	for i, f := range frames {
		t, seen := table{f: f}, map[string]bool{}
		spellings[i] = map[string]string{}
		for t.next() {
			name, spelling := t.text("kernel"), t.text("spelling")
			isDouble[spelling] = isDouble[spelling] || seen[spelling]
			seen[spelling], spellings[i][name] = true, spelling
			if first[spelling] == "" {
				first[spelling] = name
			}
		}
		if t.err != nil {
			return nil, fmt.Errorf("run %s: %w", runs[i].run.Name, t.err)
		}
	}
	var sources []Source
	for i := range runs {
		changed := false
		for _, list := range runs[i].allWork() {
			for j, w := range list {
				if s := spellings[i][w.name]; w.kind == "kernel" && s != "" && !isDouble[s] && first[s] != w.name {
					list[j].name, changed = first[s], true
				}
			}
		}
		if changed {
			sources = append(sources, sourceOf(runs[i].run.Name, frames[i]))
		}
	}
	return sources, nil
}

// allWork are the lists of a run's work, of passes and of steps.
func (d *runData) allWork() [][]work {
	if d.steps == nil {
		return [][]work{d.work}
	}
	return [][]work{d.work, d.steps.work}
}

// haveOtherNames reports whether a kernel's name is not in every run.
func haveOtherNames(runs []runData) bool {
	in := map[string][]int{}
	for i := range runs {
		for _, list := range runs[i].allWork() {
			for _, w := range list {
				if w.kind == "kernel" && !slices.Contains(in[w.name], i) {
					in[w.name] = append(in[w.name], i)
				}
			}
		}
	}
	for _, have := range in {
		if len(have) < len(runs) {
			return true
		}
	}
	return false
}
