package provenance

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/capture/plan"
	"prof/schema/rundir"
)

// Assumptions writes assumptions.md: what the figures of a run rest on, one line each, only what applies to it. env may be nil.
func Assumptions(m *rundir.Manifest, o plan.Options, env *Environment) []byte {
	if env == nil {
		env = &Environment{}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Assumptions behind the figures of run %s\n", inline(m.Run))
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Times", timeAssumptions(m, o)},
		{"Kernel metrics", ncuAssumptions(m, o)},
		{"What was captured", extentAssumptions(m, o)},
		{"GPUs", deviceAssumptions(m, env)},
		{"Workload", workloadAssumptions(m, o, env)},
		{"Warnings", m.Warnings},
	} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "- %s\n", inline(line))
		}
	}
	return b.Bytes()
}

// inline keeps a text in its line.
func inline(text string) string { return strings.Join(strings.Fields(text), " ") }

// passesOf returns the passes of a tool that were run.
func passesOf(m *rundir.Manifest, tool string) (out []rundir.Pass) {
	for _, p := range m.Passes {
		if p.Tool == tool && p.Status != rundir.StatusNotRun {
			out = append(out, p)
		}
	}
	return out
}

func timeAssumptions(m *rundir.Manifest, o plan.Options) (lines []string) {
	nsys, traced, torch := passesOf(m, rundir.ToolNsys), passesOf(m, rundir.ToolProf), passesOf(m, rundir.ToolTorch)
	tools := 0
	for _, t := range []string{rundir.ToolNsys, rundir.ToolProf, rundir.ToolTorch, rundir.ToolNcu} {
		if len(passesOf(m, t)) > 0 {
			tools++
		}
	}
	if tools > 0 {
		lines = append(lines, "Times under a profiler include its overhead.")
	}
	if tools > 1 {
		lines = append(lines, "Each tool made a separate recording: times from different tools belong to different executions and do not add up.")
	}
	switch alone := completed(passesOf(m, rundir.ToolNone)); {
	case len(nsys)+len(traced)+len(torch) == 0:
	case alone == 0:
		lines = append(lines, "No recording without a profiler was completed: the profiling overhead is unknown (--baseline measures it).")
	default:
		lines = append(lines, fmt.Sprintf("Recordings without a profiler that were completed: %d. prof query overhead compares stages and whole processes with and without one.", alone))
	}
	if max(len(nsys), len(traced)) == 1 {
		lines = append(lines, "The timeline was recorded once: the spread between repeats is unknown (--repeats measures it).")
	}
	if len(nsys) > 0 && o.NsysGraphTrace() == plan.GraphTraceGraph || len(traced) > 0 && !o.TracesGraphNodes() {
		lines = append(lines, "CUDA graphs were traced as a whole: the kernels in them are unknown (--mode deep traces each).")
	}
	return lines
}

// completed counts the passes in which the workload went to its good end.
func completed(passes []rundir.Pass) (n int) {
	for _, p := range passes {
		if p.Status == rundir.StatusOK && p.WorkloadNs != nil && (p.ExitCode == nil || *p.ExitCode == 0) {
			n++
		}
	}
	return n
}

func ncuAssumptions(m *rundir.Manifest, o plan.Options) (lines []string) {
	passes := passesOf(m, rundir.ToolNcu)
	if len(passes) == 0 {
		return nil
	}
	switch o.Ncu.Replay {
	case "application":
		lines = append(lines, "ncu ran the whole workload several times and measured part of the metrics each time: they describe one kernel launch only if the workload repeats exactly.")
	case "range", "app-range":
		lines = append(lines, "ncu measured whole ranges: its metrics cover all kernels in a range together.")
	default:
		lines = append(lines, "ncu replayed each profiled kernel several times, alone on the GPU and with caches flushed: its durations are not those of the timeline.")
	}
	if control := passes[0].ClockControl; control == "base" {
		lines = append(lines, "ncu locked the clocks to base: metrics of different runs are comparable, but durations are longer than in the workload.")
	} else if control != "" {
		lines = append(lines, "ncu did not change the clocks (clock control "+control+").")
	}
	if o.Ncu.Kernels == "" && o.Range == "" {
		lines = append(lines, fmt.Sprintf("Metrics cover at most %d launches of each of the %d kernels that took the most time in this run's timeline, not every kernel.", o.Ncu.Launches, o.Ncu.Top))
	} else {
		lines = append(lines, "Metrics cover the kernels that were asked for, not every kernel.")
	}
	return lines
}

// extentAssumptions tell what of the workload is not in the run.
func extentAssumptions(m *rundir.Manifest, o plan.Options) (lines []string) {
	if len(m.Passes) == 0 {
		lines = append(lines, "Nothing was recorded.")
	}
	for _, p := range m.Passes {
		if p.Status == rundir.StatusOK {
			continue
		}
		line := fmt.Sprintf("Recording %s: %s", p.Name, p.Status)
		if p.Reason != "" {
			line += ": " + p.Reason
		}
		lines = append(lines, strings.TrimSuffix(line, ".")+".")
	}
	switch {
	case o.Window > 0:
		lines = append(lines, fmt.Sprintf("Only %d instance(s) of the range %s were captured, after the first %d.", o.Window, o.Range, o.After))
	case o.Range != "":
		lines = append(lines, fmt.Sprintf("The timeline begins with instance %d of the range %s.", o.After+1, o.Range))
	}
	if o.Paused {
		lines = append(lines, "Only what ran between prof mark start and prof mark stop was captured.")
	}
	if o.ProfilerAPI {
		lines = append(lines, "Only the part between cudaProfilerStart and cudaProfilerStop was captured.")
	}
	if o.Delay > 0 {
		lines = append(lines, fmt.Sprintf("The timeline begins %v after the start.", o.Delay))
	}
	if o.Duration > 0 {
		lines = append(lines, fmt.Sprintf("The timeline covers at most %v; then the workload was stopped.", o.Duration))
	}
	return lines
}

func workloadAssumptions(m *rundir.Manifest, o plan.Options, env *Environment) (lines []string) {
	timeline := slices.Concat(passesOf(m, rundir.ToolNsys), passesOf(m, rundir.ToolProf), passesOf(m, rundir.ToolTorch))
	marked := slices.ContainsFunc(timeline, func(p rundir.Pass) bool { return p.Marked })
	switch {
	case len(timeline) == 0:
	case marked:
		lines = append(lines, "Stages were marked by prof: the first forward call of a generation is its prefill, the others are decode steps.")
	default:
		lines = append(lines, "Stages come from the ranges that the workload marks, by the rules of the warehouse.")
	}
	if o.Warmup > 0 {
		lines = append(lines, fmt.Sprintf("The first %d generation(s) are warm-up and excluded from means.", o.Warmup))
	} else if marked {
		lines = append(lines, "No generation was declared warm-up (--warmup): first passes that are slow are excluded as cold.")
	}
	if v := env.Variables["CUDA_LAUNCH_BLOCKING"]; v != "" && v != "0" {
		lines = append(lines, "CUDA_LAUNCH_BLOCKING was set: every launch waited for its kernel, unlike in a normal run.")
	}
	switch {
	case m.Git == nil:
		lines = append(lines, "The workload's folder is not in a readable git repository: the state of its source is not recorded.")
	case m.Git.Dirty:
		lines = append(lines, fmt.Sprintf("The workload's source differed from commit %s; the changes are not recorded.", m.Git.Commit))
	}
	unread := 0
	for _, i := range m.Inputs {
		if i.SHA256 == "" {
			unread++
		}
	}
	switch {
	case len(m.Inputs) == 0:
		lines = append(lines, "No inputs were named (--input): whether two runs read the same data and weights is unknown.")
	case unread > 0:
		lines = append(lines, fmt.Sprintf("%d of %d named inputs could not be read: whether another run used the same ones is unknown.", unread, len(m.Inputs)))
	}
	return lines
}

// near reports whether two figures in watts are the same setting.
func near(a, b float64) bool { return math.Abs(a-b) < 0.5 }
