package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
	"prof/schema/rundir"
)

// captureLines say how prof capture made a run: its code, what became of its passes, what profiling cost, and what is to be doubted.
// There are none for other runs.
func captureLines(ctx context.Context, a *queries.Asker, run schema.Run) ([][2]string, error) {
	made, err := a.Ask(ctx, "captures", queries.Args{"run": run.ID})
	if err != nil || len(made.Rows) == 0 {
		return nil, err
	}
	passes, err := a.Ask(ctx, "capture-passes", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	overhead, err := a.Ask(ctx, "overhead", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	out := [][2]string{{"capture", madeLine(made, made.Rows[0])}, {"passes", passesLine(passes)}}
	kept, err := a.Ask(ctx, "kept-files", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	if text := keptLine(kept); text != "" {
		out = append(out, [2]string{"kept", text})
	}
	if text := overheadLine(overhead); text != "" {
		out = append(out, [2]string{"overhead", text})
	}
	inputs, err := a.Ask(ctx, "input-stages", queries.Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	if text := inputsLine(inputs); text != "" {
		out = append(out, [2]string{"inputs", text})
	}
	notes, err := a.Notes(ctx, queries.Args{"run": run.ID}, "overhead", "throttle")
	for _, n := range notes {
		out = append(out, [2]string{"note", n})
	}
	return out, err
}

// madeLine words mode, state and code of a capture.
func madeLine(f *frame.Frame, row []any) string {
	at := func(column string) any { return row[f.Index(column)] }
	text := fmt.Sprintf("mode %v, %v", at("mode"), at("status"))
	if commit, ok := at("git_commit").(string); ok {
		text += ", git " + commit[:min(len(commit), 12)]
		if branch, ok := at("git_branch").(string); ok {
			text += " (" + branch + ")"
		}
		if at("is_git_dirty") == true {
			text += " with uncommitted changes"
		}
	}
	return text
}

// passesLine counts the passes by tool and status, in the order in which they ran, each reason once.
func passesLine(f *frame.Frame) string {
	type kind struct{ tool, status, reason string }
	var order []kind
	count := map[kind]int{}
	for _, r := range f.Rows {
		k := kind{tool: fmt.Sprint(r[f.Index("tool")]), status: strings.ReplaceAll(fmt.Sprint(r[f.Index("status")]), "_", " ")}
		if k.tool == rundir.ToolNone {
			k.tool = "baseline"
		}
		if reason, ok := r[f.Index("reason")].(string); ok {
			k.reason = ": " + reason
		}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	var parts []string
	for _, k := range order {
		parts = append(parts, fmt.Sprintf("%s %d %s%s", k.tool, count[k], k.status, k.reason))
	}
	return strings.Join(parts, ", ")
}

// keptLine counts the files that the workload wrote and that were kept; "" where there are none.
func keptLine(f *frame.Frame) string {
	kept, bytes := 0, int64(0)
	for _, r := range f.Rows {
		if size, ok := r[f.Index("size_bytes")].(int64); ok && r[f.Index("reason")] == nil {
			kept, bytes = kept+1, bytes+size
		}
	}
	switch missing := len(f.Rows) - kept; {
	case len(f.Rows) == 0:
		return ""
	case missing > 0:
		return fmt.Sprintf("%s (%.1f MB), %d not kept; prof query kept-files", countOf(int64(kept), "file"), float64(bytes)/1e6, missing)
	}
	return fmt.Sprintf("%s (%.1f MB); prof query kept-files", countOf(int64(kept), "file"), float64(bytes)/1e6)
}

// overheadLine words what profiling cost; "" without a baseline.
func overheadLine(f *frame.Frame) string {
	var parts []string
	for _, r := range f.Rows {
		ratio, ok := r[f.Index("overhead_ratio")].(float64)
		switch stage, ofStage := r[f.Index("stage")].(string); {
		case ok && ofStage:
			parts = append(parts, fmt.Sprintf("%s under %v %+.1f %% (%s alone, %s under it)", stage, r[f.Index("tool")], 100*ratio, shortMedian(f, r, "baseline_median_ns"), shortMedian(f, r, "workload_median_ns")))
		case ok:
			parts = append(parts, fmt.Sprintf("%v %+.1f %% (%v of %v against %v without a profiler)", r[f.Index("mode")], 100*ratio, r[f.Index("pass_count")], r[f.Index("tool")], r[f.Index("baseline_count")]))
		}
	}
	return strings.Join(parts, ", ")
}

// inputsLine words how far the times of inputs lie apart, stage by stage; "" where none is known.
func inputsLine(f *frame.Frame) string {
	type timed struct {
		input string
		ns    float64
	}
	var stages []string
	of := map[string][]timed{}
	for _, basis := range []string{"alone_median_ns", "gpu_span_median_ns"} {
		for _, r := range f.Rows {
			input, known := r[f.Index("input")].(string)
			if ns, has := r[f.Index(basis)].(float64); known && has {
				stage := fmt.Sprint(r[f.Index("stage")])
				if of[stage] == nil {
					stages = append(stages, stage)
				}
				of[stage] = append(of[stage], timed{input, ns})
			}
		}
		if len(stages) > 0 { // times by two clocks are not compared
			break
		}
	}
	var parts []string
	for _, stage := range stages {
		byTime := func(a, b timed) int { return cmp.Compare(a.ns, b.ns) }
		least, most := slices.MinFunc(of[stage], byTime), slices.MaxFunc(of[stage], byTime)
		parts = append(parts, fmt.Sprintf("%s %s (%s) to %s (%s)", stage, short(int64(least.ns)), least.input, short(int64(most.ns)), most.input))
	}
	return strings.Join(parts, ", ")
}

// shortMedian is a median of overhead as a person says it.
func shortMedian(f *frame.Frame, row []any, column string) string {
	ns, known := row[f.Index(column)].(float64)
	if !known {
		return "unknown"
	}
	return short(int64(ns))
}
