package capture

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/schema/rundir"
)

// Assumptions writes assumptions.md: what the figures of a run rest on, one line each, only what applies to it. env may be nil.
func Assumptions(m *rundir.Manifest, o Options, env *Environment) []byte {
	if env == nil {
		env = &Environment{}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What the figures of run %s rest on\n", inline(m.Run))
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

// passesOf gives the passes of a tool that were run.
func passesOf(m *rundir.Manifest, tool string) (out []rundir.Pass) {
	for _, p := range m.Passes {
		if p.Tool == tool && p.Status != rundir.StatusNotRun {
			out = append(out, p)
		}
	}
	return out
}

func timeAssumptions(m *rundir.Manifest, o Options) (lines []string) {
	nsys, torch := passesOf(m, rundir.ToolNsys), passesOf(m, rundir.ToolTorch)
	tools := 0
	for _, t := range []string{rundir.ToolNsys, rundir.ToolTorch, rundir.ToolNcu} {
		if len(passesOf(m, t)) > 0 {
			tools++
		}
	}
	if tools > 0 {
		lines = append(lines, "Times under a profiler include what it costs.")
	}
	if tools > 1 {
		lines = append(lines, "Each tool ran in a pass of its own: times of different tools are not of the same execution and do not add up.")
	}
	baseline := workloadTimes(passesOf(m, rundir.ToolNone))
	if len(baseline) == 0 && len(nsys)+len(torch) > 0 {
		lines = append(lines, "No pass without a profiler was completed: the cost of the profiler is not known (--baseline measures it).")
	}
	for _, group := range [][]rundir.Pass{nsys, torch} {
		if line := overheadLine(group, baseline); line != "" {
			lines = append(lines, line)
		}
	}
	if len(nsys) == 1 {
		lines = append(lines, "The timeline was captured once: its figures have no spread between passes (--repeats gives one).")
	}
	if graphsWhole(o) && len(nsys) > 0 {
		lines = append(lines, "CUDA graphs were traced whole: the kernels in them are not told apart (--mode deep traces each).")
	}
	return lines
}

// graphsWhole says whether the timeline has a graph's launch in place of its kernels.
func graphsWhole(o Options) bool {
	return o.Nsys.GraphTrace == "graph" || o.Nsys.GraphTrace == "" && o.Mode == ModeLight
}

// workloadTimes are the seconds that the workload took in passes that went to its good end.
func workloadTimes(passes []rundir.Pass) (seconds []float64) {
	for _, p := range passes {
		if p.Status == rundir.StatusOK && p.WorkloadNs != nil && (p.ExitCode == nil || *p.ExitCode == 0) {
			seconds = append(seconds, float64(*p.WorkloadNs)/1e9)
		}
	}
	return seconds
}

// muchOverhead is the share of the baseline above which times under a profiler mislead.
const muchOverhead = 0.25

// overheadLine compares the median times of passes under a tool and without one.
func overheadLine(passes []rundir.Pass, baseline []float64) string {
	times := workloadTimes(passes)
	if len(times) == 0 || len(baseline) == 0 {
		return ""
	}
	with, without := medianOf(times), medianOf(baseline)
	if without <= 0 {
		return ""
	}
	p := passes[0]
	line := fmt.Sprintf("Under %s (%s) the workload took %.3f times as long as without: %.3f s, median of %d, against %.3f s, median of %d.",
		p.Tool, p.Mode, with/without, with, len(times), without, len(baseline))
	if with/without-1 > muchOverhead && p.Mode != ModeLight {
		line += " That is much: --mode light costs less."
	}
	return line
}

// medianOf is the middle value, or the mean of the two in the middle. There is at least one.
func medianOf(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func ncuAssumptions(m *rundir.Manifest, o Options) (lines []string) {
	passes := passesOf(m, rundir.ToolNcu)
	if len(passes) == 0 {
		return nil
	}
	switch o.Ncu.Replay {
	case "application":
		lines = append(lines, "ncu ran the whole workload several times, a part of the metrics each time: they are of one kernel launch only if the workload repeats exactly.")
	case "range", "app-range":
		lines = append(lines, "ncu measured whole ranges: its metrics are of all kernels in them together.")
	default:
		lines = append(lines, "ncu ran each profiled kernel several times over, alone on the GPU and with its caches flushed before: its durations are not those of the timeline.")
	}
	if control := passes[0].ClockControl; control == "base" {
		lines = append(lines, "ncu locked the clocks to their base: metrics of different runs compare, durations are longer than the workload's own.")
	} else if control != "" {
		lines = append(lines, "ncu left the clocks as they were (clock control "+control+").")
	}
	if o.Ncu.Kernels == "" && o.Range == "" {
		lines = append(lines, fmt.Sprintf("Metrics are of at most %d launches of each of the %d kernels that took the most time in this run's timeline, not of every kernel.", o.Ncu.Launches, o.Ncu.Top))
	} else {
		lines = append(lines, "Metrics are of the kernels that were asked for, not of every kernel.")
	}
	return lines
}

// extentAssumptions tell what of the workload is not in the run.
func extentAssumptions(m *rundir.Manifest, o Options) (lines []string) {
	if len(m.Passes) == 0 {
		lines = append(lines, "No pass was run.")
	}
	for _, p := range m.Passes {
		if p.Status == rundir.StatusOK {
			continue
		}
		line := fmt.Sprintf("Pass %s ended as %s", p.Name, p.Status)
		if p.Reason != "" {
			line += ": " + p.Reason
		}
		lines = append(lines, strings.TrimSuffix(line, ".")+".")
	}
	if o.Range != "" {
		lines = append(lines, fmt.Sprintf("Only the range %s was captured.", o.Range))
	}
	if o.ProfilerAPI {
		lines = append(lines, "Only what ran between cudaProfilerStart and cudaProfilerStop was captured.")
	}
	if o.Delay > 0 {
		lines = append(lines, fmt.Sprintf("The timeline begins %v after the start.", o.Delay))
	}
	if o.Duration > 0 {
		lines = append(lines, fmt.Sprintf("The timeline covers at most %v; then the workload was stopped.", o.Duration))
	}
	return lines
}

func workloadAssumptions(m *rundir.Manifest, o Options, env *Environment) (lines []string) {
	timeline := append(passesOf(m, rundir.ToolNsys), passesOf(m, rundir.ToolTorch)...)
	marked := slices.ContainsFunc(timeline, func(p rundir.Pass) bool { return p.Marked })
	switch {
	case len(timeline) == 0:
	case marked:
		lines = append(lines, "Stages were marked by prof's helper: a generation's first forward call is its prefill, the others are decode steps.")
	default:
		lines = append(lines, "Stages are those of the ranges that the workload marks itself, by the rules of the warehouse.")
	}
	if o.Warmup > 0 {
		lines = append(lines, fmt.Sprintf("The first %d generation(s) are warm-up and left out of means.", o.Warmup))
	} else if marked {
		lines = append(lines, "No generation was declared warm-up (--warmup): first passes that are found cold are set apart.")
	}
	if v := env.Variables["CUDA_LAUNCH_BLOCKING"]; v != "" && v != "0" {
		lines = append(lines, "CUDA_LAUNCH_BLOCKING was set: every launch waited for its kernel, which no run without it does.")
	}
	switch {
	case m.Git == nil:
		lines = append(lines, "The workload's folder is in no git repository that could be read: the state of its source is not kept.")
	case m.Git.Dirty:
		lines = append(lines, fmt.Sprintf("The workload's source differed from commit %s; the changes are not kept.", m.Git.Commit))
	}
	unread := 0
	for _, i := range m.Inputs {
		if i.SHA256 == "" {
			unread++
		}
	}
	switch {
	case len(m.Inputs) == 0:
		lines = append(lines, "No inputs were named: whether two runs read the same data and weights is not known (--input).")
	case unread > 0:
		lines = append(lines, fmt.Sprintf("%d of %d named inputs could not be read: whether they are those of another run is not known.", unread, len(m.Inputs)))
	}
	return lines
}

// near says whether two figures in watts are the same setting.
func near(a, b float64) bool { return math.Abs(a-b) < 0.5 }
