package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema/rundir"
)

// madeLine words mode, state and code of a capture.
func madeLine(r captureRow) string {
	text := fmt.Sprintf("mode %s, %s", r.Mode, r.Status)
	if r.GitCommit != "" {
		text += ", git " + r.GitCommit[:min(len(r.GitCommit), 12)]
		if r.GitBranch != "" {
			text += " (" + r.GitBranch + ")"
		}
		if frame.Or(r.IsGitDirty, false) {
			text += " with uncommitted changes"
		}
	}
	return text
}

// passesLine counts the passes by tool and status, in the order in which they ran; with their reasons, each once.
func passesLine(list []passRow, withReasons bool) string {
	type kind struct{ tool, status, reason string }
	var order []kind
	count := map[kind]int{}
	for _, r := range list {
		k := kind{tool: r.Tool, status: strings.ReplaceAll(r.Status, "_", " ")}
		if k.tool == rundir.ToolNone {
			k.tool = "baseline"
		}
		if withReasons && r.Reason != "" {
			k.reason = ": " + r.Reason
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
func keptLine(list []keptRow) string {
	kept, bytes, missing := int64(0), int64(0), ""
	for _, r := range list {
		if r.SizeBytes != nil && r.Reason == "" {
			kept, bytes = kept+1, bytes+*r.SizeBytes
		}
	}
	if len(list) == 0 {
		return ""
	}
	if n := len(list) - int(kept); n > 0 {
		missing = fmt.Sprintf(", %d not kept", n)
	}
	return fmt.Sprintf("%s (%.1f MB)%s; prof query kept-files", typeset.CountOf(kept, "file"), float64(bytes)/1e6, missing)
}

// inputsLine words how far the times of inputs lie apart, stage by stage; "" where none is known.
func inputsLine(list []inputRow) string {
	type timed struct {
		input string
		ns    float64
	}
	var stages []string
	of := map[string][]timed{}
	for _, basis := range []func(r inputRow) *float64{func(r inputRow) *float64 { return r.AloneMedianNs }, func(r inputRow) *float64 { return r.GPUSpanMedianNs }} {
		for _, r := range list {
			if ns := basis(r); r.Input != "" && ns != nil {
				if of[r.Stage] == nil {
					stages = append(stages, r.Stage)
				}
				of[r.Stage] = append(of[r.Stage], timed{r.Input, *ns})
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
