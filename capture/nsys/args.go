// Package nsys has the command lines of Nsight Systems, and clears its exports of environments.
package nsys

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"prof/capture/plan"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Args are the arguments of nsys, without the program itself, that profile the application app (its program and arguments) into
// the report out, whose extension nsys adds. With a capture range that repeats there are several: NsysReports finds them.
//
// Sampling of the CPU, context switches and backtraces are refused in so many words: nsys' defaults for them cost time, differ
// between versions and need permissions that containers lack. Child processes are followed by default.
func Args(o plan.Options, out string, app []string) []string {
	args := []string{
		"profile", "--output=" + plan.EscapeMacros(out), "--force-overwrite=true",
		"--sample=" + sampleArg(o), "--cpuctxsw=none", "--backtrace=none",
		"--trace=" + strings.Join(o.NsysTrace(), ","),
		"--cuda-graph-trace=" + o.NsysGraphTrace(),
	}
	if o.Nsys.Memory {
		args = append(args, "--cuda-memory-usage=true")
	}
	if o.Nsys.Stack { // without thresholds, since nsys leaves out calls of less than 80 us
		args = append(args, "--cudabacktrace=all:0", "--python-backtrace=cuda")
		if !slices.ContainsFunc(o.Nsys.Args, func(a string) bool { return a == "--python-sampling" || strings.HasPrefix(a, "--python-sampling=") }) { // nsys takes it once
			args = append(args, "--python-sampling=true")
		}
	}
	args = append(args, captureArgs(o)...)
	args = append(args, windowArgs(o)...)
	args = append(args, o.Nsys.Args...)
	return append(args, app...)
}

// sampleArg says of what the CPU is sampled: of nothing, unless stacks are asked for, which nsys takes only with samples.
func sampleArg(o plan.Options) string {
	if o.Nsys.Stack {
		return "process-tree"
	}
	return "none"
}

// captureArgs returns between which events is collected.
//
// A range starts the collection at its first instance and does not end it: stop would keep that instance alone, and both stop and
// repeat end the collection when the range ends on the CPU, with the kernels that it launched still queued, and repeat writes one
// report an instance, thousands of them for a decode step. What lies between instances is told apart by the ranges in the report.
//
// cudaProfilerStop is called by programs that wait for their work first, and seldom: there each pair gives a report.
func captureArgs(o plan.Options) []string {
	switch {
	case o.ProfilerAPI:
		return []string{"--capture-range=cudaProfilerApi", "--capture-range-end=repeat"}
	case o.Range != "":
		r, _ := plan.ParseRange(o.Range) // Validate has refused others
		// Names are compared only when they are registered strings, unless this is set; PyTorch's are not registered.
		return []string{"--capture-range=nvtx", "--nvtx-capture=" + r.Nsys(), "--capture-range-end=none", "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0"}
	}
	return nil
}

// windowArgs returns when the collection begins and ends by the clock. At the end of its duration nsys ends the application by SIGTERM,
// on which servers shut down in order, and writes the report; processes that a server leaves behind are not waited for.
func windowArgs(o plan.Options) []string {
	var args []string
	if o.Delay > 0 {
		args = append(args, "--delay="+wholeSeconds(o.Delay))
	}
	if o.Duration > 0 {
		args = append(args, "--duration="+wholeSeconds(o.Duration), "--stop-on-exit=true", "--kill=sigterm", "--wait=primary")
	}
	return args
}

func wholeSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// ExportArgs are the arguments of nsys, without the program itself, that write a report's content into the SQLite file out. Among
// payloads of ranges, which old versions do not export, are the sizes of NCCL's messages.
func ExportArgs(report, out string, payloads bool) []string {
	args := []string{"export", "--type=sqlite", "--force-overwrite=true"}
	if payloads {
		args = append(args, includePayloads)
	}
	return append(args, "--output="+out, report)
}

const includePayloads = "--include-json=true"

// Reports finds the reports that nsys wrote for the output out: out.nsys-rep, or when its capture range repeated out.1.nsys-rep,
// out.2.nsys-rep and so on, in that order. There may be none.
func Reports(out string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return nil, fmt.Errorf("look for the reports of nsys: %w", err)
	}
	numbered := map[int]string{}
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), filepath.Base(out))
		if middle, is := strings.CutSuffix(middle, ".nsys-rep"); ok && is && e.Type().IsRegular() {
			if n, err := strconv.Atoi(strings.TrimPrefix(middle, ".")); middle == "" || err == nil && n > 0 && middle[0] == '.' {
				numbered[n] = filepath.Join(filepath.Dir(out), e.Name())
			}
		}
	}
	var reports []string
	for _, n := range slices.Sorted(maps.Keys(numbered)) {
		reports = append(reports, numbered[n])
	}
	return reports, nil
}
