package provenance

import (
	"strings"
	"testing"
	"time"

	"prof/capture/nvml"
	"prof/capture/plan"
	"prof/schema/rundir"
)

func assumed(m rundir.Manifest, o plan.Options, env *Environment) string {
	return string(Assumptions(&m, o, env))
}

func timed(tool, mode string, seconds float64) rundir.Pass {
	return rundir.Pass{Name: tool + "-1", Tool: tool, Mode: mode, Status: rundir.StatusOK, WorkloadNs: new(int64(seconds * 1e9)), ExitCode: new(0)}
}

// TestAssumptionsFull is a whole deep capture: every line that applies, none that does not.
func TestAssumptionsFull(t *testing.T) {
	o := plan.Defaults()
	o.Warmup = 1
	ncu := timed(rundir.ToolNcu, "kernels", 90)
	ncu.ClockControl = "none"
	nsys := timed(rundir.ToolNsys, "deep", 12)
	nsys.Marked, nsys.Samples = true, "nsys/report-1.samples.csv"
	m := rundir.Manifest{
		Run: "r\n#1", Passes: []rundir.Pass{timed(rundir.ToolNone, "baseline", 10), timed(rundir.ToolNone, "baseline", 8), nsys, ncu},
		Git: &rundir.Git{Commit: "abc", Dirty: true}, Inputs: []rundir.Input{{Path: "a", SHA256: "x"}, {Path: "b", Reason: "gone"}}, Warnings: []string{"a\nwarning"},
		Devices: []rundir.Device{{Index: 0, ECC: new(true), MIG: new(true), OtherProcesses: new(int64(2)), PowerLimitW: new(500.0)}},
	}
	env := &Environment{DeviceDetails: []nvml.DeviceDetail{{Index: 0, Persistence: new(false), ThrottleMask: new(int64(0x5)), DefaultPowerLimitW: new(700.0)}},
		Variables: map[string]string{"CUDA_LAUNCH_BLOCKING": "1"}}
	want := `# Assumptions behind the figures of run r #1

## Times

- Times under a profiler include its overhead.
- Each tool made a separate recording: times from different tools belong to different executions and do not add up.
- Recordings without a profiler that were completed: 2. prof query overhead compares stages and whole processes with and without one.
- The timeline was recorded once: the spread between repeats is unknown (--repeats measures it).

## Kernel metrics

- ncu replayed each profiled kernel several times, alone on the GPU and with caches flushed: its durations are not those of the timeline.
- ncu did not change the clocks (clock control none).
- Metrics cover at most 1 launches of each of the 10 kernels that took the most time in this run's timeline, not every kernel.

## GPUs

- prof does not lock clocks: they follow load, temperature and power.
- In NVML samples, sm_ratio is the share of time in which any kernel ran, not how full the GPU was; power is a mean over up to a second.
- GPU 0: shared with at least 2 other process(es) before the first recording; times are not the workload's alone.
- GPU 0: partitioned with MIG: the workload had a part of it, whose peaks are not known; give --peak and --bandwidth to mfu and mbu.
- GPU 0: ECC was on.
- GPU 0: already throttled before the first recording: sw_power_cap.
- GPU 0: persistence mode was off; the first CUDA call of a recording may wait for the driver to initialise the GPU.
- GPU 0: its power limit was 500 W, not the default of 700 W.

## Workload

- Stages were marked by prof: the first forward call of a generation is its prefill, the others are decode steps.
- The first 1 generation(s) are warm-up and excluded from means.
- CUDA_LAUNCH_BLOCKING was set: every launch waited for its kernel, unlike in a normal run.
- The workload's source differed from commit abc; the changes are not recorded.
- 1 of 2 named inputs could not be read: whether another run used the same ones is unknown.

## Warnings

- a warning
`
	if got := assumed(m, o, env); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAssumptionLines: each condition adds its line.
func TestAssumptionLines(t *testing.T) {
	nsys := []rundir.Pass{timed(rundir.ToolNsys, "light", 1)}
	ncu := func(control string) []rundir.Pass {
		p := timed(rundir.ToolNcu, "kernels", 1)
		p.ClockControl = control
		return []rundir.Pass{p}
	}
	failed := timed(rundir.ToolNone, "baseline", 1)
	failed.Status, failed.Reason = rundir.StatusTimeout, "stopped after 30m."
	with := func(change func(o *plan.Options)) plan.Options {
		o := plan.Defaults()
		change(&o)
		return o
	}
	gpu := []rundir.Device{{Index: 1, ECC: new(false)}}
	traced := timed(rundir.ToolProf, "deep", 3)
	for line, c := range map[string]struct {
		m rundir.Manifest
		o plan.Options
	}{
		"The timeline was recorded once":                                           {rundir.Manifest{Passes: append(nsys, traced)}, plan.Defaults()},
		"the profiling overhead is unknown":                                        {rundir.Manifest{Passes: append(nsys, failed)}, plan.Defaults()},
		"Only 20 instance(s) of the range step were captured, after the first 50.": {rundir.Manifest{}, with(func(o *plan.Options) { o.Range, o.After, o.Window = "step", 50, 20 })},
		"Only what ran between prof mark start and prof mark stop was captured.":   {rundir.Manifest{}, with(func(o *plan.Options) { o.Paused = true })},
		"CUDA graphs were traced as a whole":                                       {rundir.Manifest{Passes: nsys}, with(func(o *plan.Options) { o.Mode = plan.ModeLight })},
		"ranges that the workload marks":                                           {rundir.Manifest{Passes: nsys}, plan.Defaults()},
		"ncu locked the clocks to base":                                            {rundir.Manifest{Passes: ncu("base")}, plan.Defaults()},
		"ncu ran the whole workload several times":                                 {rundir.Manifest{Passes: ncu("")}, with(func(o *plan.Options) { o.Ncu.Replay = "application" })},
		"ncu measured whole ranges":                                                {rundir.Manifest{Passes: ncu("")}, with(func(o *plan.Options) { o.Ncu.Replay = "app-range" })},
		"the kernels that were asked for":                                          {rundir.Manifest{Passes: ncu("")}, with(func(o *plan.Options) { o.Ncu.Kernels = "gemm" })},
		"Recording none-1: timeout: stopped after 30m.\n":                          {rundir.Manifest{Passes: []rundir.Pass{failed}}, plan.Defaults()},
		"Nothing was recorded.":                                                    {rundir.Manifest{}, plan.Defaults()},
		"The timeline begins with instance 1 of the range prefill.":                {rundir.Manifest{}, with(func(o *plan.Options) { o.Range = "prefill" })},
		"between cudaProfilerStart and cudaProfilerStop":                           {rundir.Manifest{}, with(func(o *plan.Options) { o.ProfilerAPI = true })},
		"The timeline begins 5s after the start.":                                  {rundir.Manifest{}, with(func(o *plan.Options) { o.Delay = 5 * time.Second })},
		"covers at most 1m0s":                                                      {rundir.Manifest{}, with(func(o *plan.Options) { o.Duration = time.Minute })},
		"GPUs are unknown: no driver.":                                             {rundir.Manifest{}, plan.Defaults()},
		"GPUs were not sampled":                                                    {rundir.Manifest{Devices: gpu}, plan.Defaults()},
		"GPU 1: whether other processes used it is unknown":                        {rundir.Manifest{Devices: gpu}, plan.Defaults()},
		"GPU 1: ECC was off.":                                                      {rundir.Manifest{Devices: gpu}, plan.Defaults()},
		"is not in a readable git repository":                                      {rundir.Manifest{}, plan.Defaults()},
		"No inputs were named":                                                     {rundir.Manifest{}, plan.Defaults()},
	} {
		env := &Environment{Unknown: map[string]string{"devices": "no driver"}}
		if got := assumed(c.m, c.o, env); !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
		clean := rundir.Manifest{Git: &rundir.Git{Commit: "a"}, Inputs: []rundir.Input{{SHA256: "x"}}, Devices: []rundir.Device{{OtherProcesses: new(int64(0))}},
			Passes: []rundir.Pass{{Tool: rundir.ToolNone, Status: rundir.StatusOK, Samples: "x"}}}
		if got := assumed(clean, plan.Defaults(), nil); strings.Contains(got, line) {
			t.Errorf("%q stands in the assumptions of a run that it does not hold for:\n%s", line, got)
		}
	}
	bad := timed(rundir.ToolNone, "baseline", 2)
	bad.ExitCode = new(1)
	if got := completed([]rundir.Pass{bad, failed, timed(rundir.ToolNone, "baseline", 2)}); got != 1 {
		t.Errorf("passes that did not end well count: %d", got)
	}
}
