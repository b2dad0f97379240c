package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/schema"
	"prof/schema/rundir"
)

// captureGroups are the options of capture by purpose. Those without a default here have that of capture.Defaults or of the home's config.yaml.
func captureGroups() []flagGroup {
	d := plan.Defaults()
	return []flagGroup{
		{"What to record", []cli.Flag{
			&cli.StringFlag{Name: "mode", Usage: "`MODE` is deep (a timeline with each kernel of CUDA graphs, then Nsight Compute on the kernels that take the most time) or light (the timeline alone, which costs least)", DefaultText: d.Mode},
			&cli.StringSliceFlag{Name: "tools", Usage: "record with exactly these `TOOLS`, such as prof,ncu,torch: prof (prof's own tracer) or nsys make the timeline (default: as the mode says, and nsys where the tracer cannot be built)"},
			&cli.BoolFlag{Name: "auto-stages", Usage: "mark prefill and decode of Hugging Face models without changing the workload"},
			&cli.BoolFlag{Name: "torch", Usage: "also record under the PyTorch profiler, for operators"},
			&cli.StringFlag{Name: "cuda-graph-trace", Usage: "`HOW` CUDA graphs are recorded: node (each kernel) or graph (as one block) (default: node; with --mode light graph, except in windows)"},
			&cli.Float64Flag{Name: "sample-hz", Usage: "take `N` NVML samples per second; 0 for none", DefaultText: "10"},
			&cli.BoolFlag{Name: dryRunName, Usage: "print the command line of each recording, and what of it is missing on this machine; run nothing; exit with 1 if the capture would be refused here"},
		}},
		{"How often", []cli.Flag{
			&cli.BoolFlag{Name: "baseline", Usage: "also record without a profiler, to measure the overhead of profiling"},
			&cli.IntFlag{Name: "repeats", Usage: "record the timeline `N` times, and as often without a profiler", DefaultText: "1"},
		}},
		{"When", []cli.Flag{
			&cli.StringFlag{Name: "range", Aliases: []string{"on"}, Usage: "capture from this NVTX `RANGE` or RANGE@DOMAIN on (default: from the start)"},
			&cli.IntFlag{Name: "after", Usage: "with --range: skip `N` instances first (not under Nsight Systems)"},
			&cli.StringFlag{Name: windowName, Usage: "with --range: capture only `N` instances (not under Nsight Systems). With --serving and --attach: record for a time, such as 20s"},
			&cli.DurationFlag{Name: "delay", Usage: "begin `TIME` after the start, such as 90s"},
			&cli.DurationFlag{Name: "duration", Usage: "capture for `TIME`; then stop the workload"},
			&cli.BoolFlag{Name: "profiler-api", Usage: "capture only between cudaProfilerStart and cudaProfilerStop"},
			&cli.BoolFlag{Name: "paused", Usage: "capture only between prof mark start and prof mark stop (not under Nsight Systems)"},
		}},
		{servingTitle, []cli.Flag{
			&cli.BoolFlag{Name: servingName, Usage: "the workload is a serving engine: start it, send it load, record --window (" + plan.FormatDuration(d.Serving.Window) + ") in all its processes, and end it"},
			&cli.GenericFlag{Name: attachName, Value: &attachValue{}, Usage: "record a window of a program that prof launch has started; where there are several, `[NAME]` says which"},
			&cli.StringFlag{Name: "ready", Usage: "the engine is ready when `URL` answers with a status of 2xx"},
			&cli.DurationFlag{Name: "ready-timeout", Usage: "give up if it is not ready within `TIME`", DefaultText: plan.FormatDuration(d.Serving.ReadyTimeout)},
			&cli.StringFlag{Name: "load", Usage: "`COMMAND` line for sh that starts the load"},
			&cli.StringSliceFlag{Name: "load-result", Usage: "store `FILE` as the load's result, by name or pattern (default: JSON that the load writes below the working folder and prof reads); may be repeated"},
			&cli.DurationFlag{Name: "warm", Usage: "before the window, load it for `TIME` at least", DefaultText: plan.FormatDuration(d.Serving.Warm)},
			&cli.DurationFlag{Name: "steady-timeout", Usage: "before the window, load it until launches are steady, but for `TIME` at most; 0 to record at once", DefaultText: plan.FormatDuration(d.Serving.SteadyTimeout)},
			&cli.DurationFlag{Name: "load-timeout", Usage: "after the window, give the load `TIME` to end by itself and write its result; 0 to end it at once", DefaultText: plan.FormatDuration(d.Serving.LoadTimeout)},
		}},
		{"Nsight Compute", []cli.Flag{
			&cli.IntFlag{Name: "ncu-top", Usage: "profile the `N` kernels that take the most time", DefaultText: "10"},
			&cli.IntFlag{Name: "ncu-launches", Usage: "profile `N` launches of each of them, from the stages and grids that take the most time", DefaultText: "1"},
			&cli.StringFlag{Name: "ncu-preset", Usage: "`PRESET` of what is measured: roofline, memory or full", DefaultText: d.Ncu.Preset},
			&cli.StringFlag{Name: "ncu-set", Usage: "measure ncu's section `SET` in place of a preset"},
			&cli.StringSliceFlag{Name: "ncu-section", Usage: "measure ncu's `SECTION` in place of a preset; may be repeated"},
			&cli.StringSliceFlag{Name: "ncu-metric", Usage: "measure ncu's `METRIC` too; may be repeated"},
			&cli.BoolFlag{Name: "ncu-source", Usage: "also measure single instructions and keep source files in the report, for ncu-source and ncu-hotspots"},
			&cli.StringFlag{Name: "ncu-kernels", Usage: "profile kernels whose function name matches `REGEX` in place of the top ones"},
			&cli.IntFlag{Name: "ncu-launch-skip", Usage: "with --ncu-kernels: skip the first `N` launches"},
			&cli.IntFlag{Name: "ncu-launch-count", Usage: "with --ncu-kernels: profile only `N` launches (default: all)"},
			&cli.StringFlag{Name: "ncu-rank", Usage: "with --ncu-kernels: profile only rank `N` of a job, or all (default: under torchrun and the like the first one on the machine)"},
			&cli.StringFlag{Name: "ncu-replay", Usage: "`MODE` of replay: kernel, range, app-range or application", DefaultText: d.Ncu.Replay},
			&cli.StringFlag{Name: "clock-control", Usage: "`MODE` of the clocks: none (as the program runs) or base (locked)", DefaultText: d.Ncu.ClockControl},
			&cli.StringSliceFlag{Name: "ncu-arg", Usage: "pass `ARGUMENT` to ncu too; may be repeated"},
		}},
		{"Nsight Systems, beside the timeline", []cli.Flag{
			&cli.StringSliceFlag{Name: "nsys-trace", Usage: "trace `APIS` (default: cuda,nvtx; with --mode deep osrt too)"},
			&cli.BoolFlag{Name: "nsys-memory", Usage: "record what the workload allocates by CUDA, for memory-peaks"},
			&cli.BoolFlag{Name: "nsys-stack", Usage: "record the Python stack of CUDA calls and sample Python, for hot-lines; calls take longer"},
			&cli.BoolFlag{Name: "keep-nsys-rep", Usage: "keep the reports too, for the GUI of Nsight Systems; they have the whole environment of the workload"},
			&cli.StringSliceFlag{Name: "nsys-arg", Usage: "pass `ARGUMENT` to nsys profile too, such as --nsys-arg=--gpu-metrics-devices=all; may be repeated"},
		}},
		{"PyTorch profiler", []cli.Flag{
			&cli.BoolFlag{Name: "torch-stack", Usage: "with --torch: record the Python stack of each operator"},
			&cli.BoolFlag{Name: "torch-flops", Usage: "with --torch: estimate the operations of matrix products and convolutions"},
			&cli.BoolFlag{Name: "torch-memory", Usage: "with --torch: record allocations, and then operators of the main thread only"},
			&cli.IntFlag{Name: "torch-skip", Usage: "with --torch: skip the first `N` generations after warm-up"},
			&cli.IntFlag{Name: "torch-passes", Usage: "with --torch: record only `N` generations (default: all)"},
		}},
		{"The workload's inputs and output", []cli.Flag{
			&cli.StringFlag{Name: "inputs", Usage: "a `MANIFEST` (YAML) of the inputs that the workload is to work on: path, id, width, height, pages, tokens"},
			&cli.StringFlag{Name: "subset", Usage: "with --inputs: only those that the file `LIST` names, by id or path, one per line"},
			&cli.IntFlag{Name: "repeat-inputs", Usage: "with --inputs: the workload works on all of them `N` times", DefaultText: "1"},
			&cli.StringSliceFlag{Name: "input", Usage: "a `FILE` or folder that the workload reads, to record its size and hash; may be repeated"},
			&cli.StringSliceFlag{Name: "keep", Usage: "keep files that the workload writes and `GLOB` matches below the working folder, such as 'out/**/*.json'; may be repeated"},
			&cli.BoolFlag{Name: "no-log", Usage: "keep no log of the workload's output, and give it the very stdout and stderr of prof"},
		}},
		{"Facts for FLOPs and utilisation", factFlags()},
		{"Limits", []cli.Flag{
			&cli.DurationFlag{Name: "budget", Usage: "finish all recordings within `TIME`, such as 30m: the PyTorch profiler and repeats come last, and are omitted if there is no time"},
			&cli.DurationFlag{Name: "timeout", Usage: "stop a recording after `TIME`", DefaultText: "30m"},
			&cli.DurationFlag{Name: "stall", Usage: "end the recording under Nsight Compute when it makes no progress for `TIME`; 0 for never", DefaultText: "2m"},
			&cli.DurationFlag{Name: "grace", Usage: "wait `TIME` after each signal that asks the workload to end, before a stronger one", DefaultText: "10s"},
			&cli.DurationFlag{Name: "report-timeout", Usage: "kill a profiler that is still writing `TIME` after the workload ended", DefaultText: "10m"},
			&cli.StringFlag{Name: "max-artifact-size", Usage: "stop the workload when the run takes `SIZE` on disk", DefaultText: "2GiB"},
		}},
		{"Several command lines, several nodes", []cli.Flag{
			&cli.StringFlag{Name: suiteName, Usage: "capture the runs of a suite: several command lines, options and inputs in one `FILE` (YAML); runs that are there already are skipped"},
			&cli.BoolFlag{Name: "fresh", Usage: "with --suite: capture all of its runs again, under new names"},
			&cli.IntFlag{Name: nodeRankName, Usage: "this machine is node `K` of a job, from 0; capture on each node with the same --run, then ingest all folders in one call"},
			&cli.IntFlag{Name: "nodes", Usage: "with --node-rank: the job has `N` nodes"},
			&cli.StringFlag{Name: "job", Usage: "with --node-rank: `ID` of the job, the same on every node (default: from SLURM_JOB_ID and the like)"},
		}},
		{"Storing", []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: UTC time and the workload's short name)"},
			&cli.StringSliceFlag{Name: "tag", Usage: "a tag `KEY=VALUE` of the run; may be repeated"},
			&cli.BoolFlag{Name: "no-ingest", Usage: "only capture; ingest the run's folder later with prof ingest"},
			&cli.BoolFlag{Name: "push", Usage: "push the run to the lake of PROF_LAKE when it is stored, see prof push"},
			sharedFlag(),
		}},
	}
}

// captureOptions are the defaults, changed by the home's config.yaml, then by a run of a suite, where it is not nil, and then by the command line.
func (p *program) captureOptions(c *cli.Context, home schema.Home, run *plan.SuiteRun) (plan.Options, error) {
	o := plan.Defaults()
	if err := plan.ReadConfig(filepath.Join(home.Dir, rundir.ConfigName), &o); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, &usageError{err}
	}
	var idle []string // options that the run itself gives without an effect, which the command line may not have given them either
	if run != nil {
		if err := run.Apply(&o); err != nil {
			return o, &usageError{err}
		}
		idle, _ = o.Clashes(run.Gives)
	}
	if c.IsSet("mode") { // it says more than the tools that a file names
		o.Tools = nil
	}
	text := map[string]*string{"mode": &o.Mode, "range": &o.Range, "ncu-preset": &o.Ncu.Preset, "ncu-set": &o.Ncu.Set, "ncu-kernels": &o.Ncu.Kernels, "ncu-rank": &o.Ncu.Rank,
		"ncu-replay": &o.Ncu.Replay, "clock-control": &o.Ncu.ClockControl, "cuda-graph-trace": &o.Nsys.GraphTrace, "inputs": &o.InputsManifest, "subset": &o.Subset}
	for name, into := range text {
		if c.IsSet(name) {
			*into = c.String(name)
		}
	}
	for name, into := range map[string]*[]string{"ncu-section": &o.Ncu.Sections, "ncu-metric": &o.Ncu.Metrics, "nsys-arg": &o.Nsys.Args, "ncu-arg": &o.Ncu.Args, "input": &o.Inputs, "keep": &o.Keep} {
		if c.IsSet(name) {
			*into = c.StringSlice(name)
		}
	}
	for name, into := range map[string]*[]string{"tools": &o.Tools, "nsys-trace": &o.Nsys.Trace} {
		if c.IsSet(name) {
			*into = strings.Split(strings.Join(c.StringSlice(name), ","), ",")
		}
	}
	for name, into := range map[string]*bool{"torch": &o.Torch, "torch-stack": &o.TorchOptions.Stack, "torch-flops": &o.TorchOptions.Flops, "torch-memory": &o.TorchOptions.Memory, "baseline": &o.Baseline, "profiler-api": &o.ProfilerAPI, "auto-stages": &o.AutoStages, "paused": &o.Paused, "keep-nsys-rep": &o.Nsys.KeepReport, "nsys-memory": &o.Nsys.Memory, "nsys-stack": &o.Nsys.Stack, "ncu-source": &o.Ncu.Source, "no-log": &o.NoLog} {
		if c.IsSet(name) {
			*into = c.Bool(name)
		}
	}
	for name, into := range map[string]*int{"repeats": &o.Repeats, "repeat-inputs": &o.RepeatInputs, "torch-skip": &o.TorchOptions.Skip, "torch-passes": &o.TorchOptions.Passes, "after": &o.After, "ncu-top": &o.Ncu.Top, "ncu-launches": &o.Ncu.Launches, "ncu-launch-skip": &o.Ncu.LaunchSkip, "ncu-launch-count": &o.Ncu.LaunchCount} {
		if c.IsSet(name) {
			*into = c.Int(name)
		}
	}
	if err := servingOptions(c, &o); err != nil {
		return o, err
	}
	o.InputsManifest, o.Subset = p.path(o.InputsManifest), p.path(o.Subset)
	if err := timeOptions(c, &o); err != nil {
		return o, err
	}
	if _, err := o.Clashes(func(name string) bool { return isGiven(c, name) || slices.Contains(idle, name) }); err != nil {
		return o, &usageError{err}
	}
	if err := o.Validate(); err != nil {
		return o, &usageError{err}
	}
	if o.Serving.On && o.Serving.Ready == "" && !c.Bool(attachName) {
		return o, usagef("--serving needs --ready URL, which answers once the engine serves, such as http://127.0.0.1:8000/health")
	}
	return o, nil
}

// isGiven reports whether the command line has an option; one that is turned off, as in --torch=false, does not count.
func isGiven(c *cli.Context, name string) bool {
	if !c.IsSet(name) {
		return false
	}
	on, isSwitch := c.Value(name).(bool)
	return on || !isSwitch
}

// servingTitle is the heading of the options of serving engines, one of which is a command line for the shell.
const servingTitle = "A serving engine under load"

// Names of options that several places ask for.
const (
	servingName = "serving"
	attachName  = "attach"
	windowName  = "window"
)

// attachValue is the value of --attach, with a name in --attach=NAME; in --attach NAME that is an argument.
type attachValue struct {
	on    bool
	names []string
}

func (v *attachValue) Set(text string) error {
	v.on, v.names = text != "false", nil
	if text != "true" && text != "false" { // true is that of --attach alone
		v.names = []string{text}
	}
	return nil
}

func (v *attachValue) String() string { return strconv.FormatBool(v.on) }

// Get is that of flag.Getter, by which the library tells values.
func (v *attachValue) Get() any { return v.on }

// IsBoolFlag has --attach take no word behind it.
func (v *attachValue) IsBoolFlag() bool { return true }

// attachedTo is the name of the program to attach to; "" is the only one.
func attachedTo(c *cli.Context) (string, error) {
	var names []string
	if v, ok := c.Generic(attachName).(*attachValue); ok {
		names = v.names
	}
	names = slices.Concat(names, c.Args().Slice())
	switch {
	case len(names) == 0:
		return "", nil
	case len(names) > 1:
		return "", usagef("--attach takes one name, not %d: prof capture --attach NAME", len(names))
	case names[0] == "":
		return "", usagef("--attach has an empty name: prof capture --attach NAME, or --attach for the only one")
	}
	return names[0], nil
}

// servingOptions reads how a serving engine is recorded, and what --window counts: instances of a range, or time.
func servingOptions(c *cli.Context, o *plan.Options) (err error) {
	v := &o.Serving
	if c.IsSet(servingName) {
		v.On = c.Bool(servingName)
	}
	v.On = v.On || c.Bool(attachName)
	for name, into := range map[string]*string{"ready": &v.Ready, "load": &v.Load} {
		if c.IsSet(name) {
			*into = c.String(name)
		}
	}
	for name, into := range map[string]*time.Duration{"warm": &v.Warm, "steady-timeout": &v.SteadyTimeout, "ready-timeout": &v.ReadyTimeout, "load-timeout": &v.LoadTimeout} {
		if c.IsSet(name) {
			*into = c.Duration(name)
		}
	}
	if c.Bool(attachName) && v.Load == "" && !c.IsSet("warm") && !c.IsSet("steady-timeout") { // the user has seen to the load, and says now
		v.Warm, v.SteadyTimeout = 0, 0
	}
	if c.IsSet("load-result") {
		v.LoadResult = c.StringSlice("load-result")
	}
	text := c.String(windowName)
	switch {
	case !c.IsSet(windowName) && c.Bool(attachName) && c.IsSet("duration"):
		v.Window = c.Duration("duration")
	case !c.IsSet(windowName):
	case v.On:
		if v.Window, err = time.ParseDuration(text); err != nil {
			return usagef("--window is %q: with --serving and --attach it is a time, such as 20s", text)
		}
	default:
		if o.Window, err = strconv.Atoi(text); err != nil {
			return usagef("--window is %q: it must be a number of instances of --range; a time is for --serving", text)
		}
	}
	return nil
}

func timeOptions(c *cli.Context, o *plan.Options) error {
	if c.IsSet("delay") {
		o.Delay = c.Duration("delay")
	}
	if c.IsSet("duration") && !c.Bool(attachName) { // else it is another word for --window
		o.Duration = c.Duration("duration")
	}
	if c.IsSet("budget") {
		o.Budget = c.Duration("budget")
	}
	if c.IsSet("timeout") {
		o.Timeout = c.Duration("timeout")
	}
	if c.IsSet("stall") {
		o.Stall = c.Duration("stall")
	}
	if c.IsSet("report-timeout") {
		o.ReportTimeout = c.Duration("report-timeout")
	}
	if c.IsSet("grace") {
		o.Grace = c.Duration("grace")
	}
	if c.IsSet("warmup") {
		o.Warmup = int(c.Int64("warmup"))
	}
	if c.IsSet("sample-hz") {
		o.SampleHz = c.Float64("sample-hz")
	}
	if !c.IsSet("max-artifact-size") {
		return nil
	}
	size, err := plan.ParseSize(c.String("max-artifact-size"))
	if err != nil {
		return usagef("--max-artifact-size: %v", err)
	}
	o.MaxArtifactBytes = size
	return nil
}
