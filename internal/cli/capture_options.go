package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/capture"
	"prof/schema"
	"prof/schema/rundir"
)

// captureFlags are the options of capture. Those without a default here have that of capture.Defaults or of the home's config.yaml.
func captureFlags() []cli.Flag {
	d := capture.Defaults()
	flags := []cli.Flag{
		&cli.StringFlag{Name: "run", Usage: "`NAME` of the run (default: UTC time and the workload's short name)"},
		&cli.StringSliceFlag{Name: "tag", Usage: "a tag `KEY=VALUE` of the run; may be repeated"},
		&cli.StringFlag{Name: "mode", Usage: "`MODE`: deep (nsys, then ncu on the kernels that take the most time) or light (nsys with what costs least)", DefaultText: d.Mode},
		&cli.StringSliceFlag{Name: "tools", Usage: "exactly these `TOOLS`, as nsys,ncu,torch"},
		&cli.BoolFlag{Name: "torch", Usage: "a pass under the PyTorch profiler too: operators"},
		&cli.IntFlag{Name: "repeats", Usage: "`N` passes under nsys, and without a tool", DefaultText: "1"},
		&cli.BoolFlag{Name: "baseline", Usage: "passes without a tool first: what profiling costs"},
		&cli.BoolFlag{Name: "auto-stages", Usage: "mark prefill and decode of Hugging Face models, without a change to the workload"},
		&cli.StringFlag{Name: "range", Usage: "capture only this NVTX `RANGE` or RANGE@DOMAIN (default: all, sliced later)"},
		&cli.BoolFlag{Name: "profiler-api", Usage: "capture only between cudaProfilerStart and cudaProfilerStop"},
		&cli.DurationFlag{Name: "delay", Usage: "nsys begins `TIME` after the start, e.g. 90s: for servers"},
		&cli.DurationFlag{Name: "duration", Usage: "nsys captures for `TIME`; then the workload is stopped"},
		&cli.IntFlag{Name: "ncu-top", Usage: "ncu profiles the `N` kernels that take the most time", DefaultText: "10"},
		&cli.IntFlag{Name: "ncu-launches", Usage: "of each, `N` launches: of its stages and grids that take the most time", DefaultText: "1"},
		&cli.StringFlag{Name: "ncu-preset", Usage: "what ncu measures, `PRESET`: roofline, memory or full", DefaultText: d.Ncu.Preset},
		&cli.StringFlag{Name: "ncu-set", Usage: "ncu's section `SET` in place of the preset"},
		&cli.StringSliceFlag{Name: "ncu-section", Usage: "a `SECTION` of ncu in place of the preset; may be repeated"},
		&cli.StringSliceFlag{Name: "ncu-metric", Usage: "a `METRIC` of ncu beside them; may be repeated"},
		&cli.StringFlag{Name: "ncu-kernels", Usage: "kernels whose function name matches the `REGEX`, in place of the top ones"},
		&cli.IntFlag{Name: "ncu-launch-skip", Usage: "with --ncu-kernels: the first `N` launches are left out"},
		&cli.IntFlag{Name: "ncu-launch-count", Usage: "with --ncu-kernels: only `N` launches (default: all)"},
		&cli.StringFlag{Name: "ncu-replay", Usage: "how ncu replays, `MODE`: kernel, range, app-range or application", DefaultText: d.Ncu.Replay},
		&cli.StringFlag{Name: "clock-control", Usage: "clocks while ncu profiles, `MODE`: none (as they are) or base (locked)", DefaultText: d.Ncu.ClockControl},
		&cli.StringSliceFlag{Name: "nsys-trace", Usage: "`APIS` that nsys traces (default: cuda,nvtx, deep osrt too)"},
		&cli.StringFlag{Name: "cuda-graph-trace", Usage: "CUDA graphs by node or graph, `HOW` (default: node, light graph)"},
		&cli.BoolFlag{Name: "keep-nsys-rep", Usage: "keep nsys' own reports too, for its GUI; they hold the whole environment of the workload"},
		&cli.StringSliceFlag{Name: "nsys-arg", Usage: "one more `ARGUMENT` of nsys profile, as --nsys-arg=--gpu-metrics-devices=all; may be repeated"},
		&cli.StringSliceFlag{Name: "ncu-arg", Usage: "one more `ARGUMENT` of ncu; may be repeated"},
		&cli.StringSliceFlag{Name: "input", Usage: "a `FILE` or folder that the workload reads: its size and hash are kept; may be repeated"},
		&cli.Float64Flag{Name: "sample-hz", Usage: "NVML samples a second, `N`; 0: none", DefaultText: "10"},
		&cli.StringFlag{Name: "max-artifact-size", Usage: "the workload is stopped when the run holds `SIZE`", DefaultText: "2GiB"},
		&cli.DurationFlag{Name: "timeout", Usage: "a pass is stopped after `TIME`", DefaultText: "30m"},
		&cli.DurationFlag{Name: "report-timeout", Usage: "a profiler is killed when it still writes `TIME` after the workload's end", DefaultText: "10m"},
		&cli.DurationFlag{Name: "grace", Usage: "`TIME` from a signal that asks the workload to end to a stronger one", DefaultText: "10s"},
		&cli.BoolFlag{Name: "no-ingest", Usage: "only capture; prof ingest takes the run's folder later"},
	}
	return append(flags, factFlags()...)
}

// captureOptions are the defaults, changed by the home's config.yaml and then by the command line.
func captureOptions(c *cli.Context, home schema.Home) (capture.Options, error) {
	o := capture.Defaults()
	if err := capture.ReadConfig(filepath.Join(home.Dir, rundir.ConfigName), &o); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, &usageError{err}
	}
	if c.IsSet("mode") { // it says more than the tools that a file names
		o.Tools = nil
	}
	text := map[string]*string{"mode": &o.Mode, "range": &o.Range, "ncu-preset": &o.Ncu.Preset, "ncu-set": &o.Ncu.Set, "ncu-kernels": &o.Ncu.Kernels,
		"ncu-replay": &o.Ncu.Replay, "clock-control": &o.Ncu.ClockControl, "cuda-graph-trace": &o.Nsys.GraphTrace}
	for name, into := range text {
		if c.IsSet(name) {
			*into = c.String(name)
		}
	}
	for name, into := range map[string]*[]string{"ncu-section": &o.Ncu.Sections, "ncu-metric": &o.Ncu.Metrics, "nsys-arg": &o.Nsys.Args, "ncu-arg": &o.Ncu.Args, "input": &o.Inputs} {
		if c.IsSet(name) {
			*into = c.StringSlice(name)
		}
	}
	for name, into := range map[string]*[]string{"tools": &o.Tools, "nsys-trace": &o.Nsys.Trace} {
		if c.IsSet(name) {
			*into = strings.Split(strings.Join(c.StringSlice(name), ","), ",")
		}
	}
	for name, into := range map[string]*bool{"torch": &o.Torch, "baseline": &o.Baseline, "profiler-api": &o.ProfilerAPI, "auto-stages": &o.AutoStages, "keep-nsys-rep": &o.Nsys.KeepReport} {
		if c.IsSet(name) {
			*into = c.Bool(name)
		}
	}
	for name, into := range map[string]*int{"repeats": &o.Repeats, "ncu-top": &o.Ncu.Top, "ncu-launches": &o.Ncu.Launches, "ncu-launch-skip": &o.Ncu.LaunchSkip, "ncu-launch-count": &o.Ncu.LaunchCount} {
		if c.IsSet(name) {
			*into = c.Int(name)
		}
	}
	if err := timeOptions(c, &o); err != nil {
		return o, err
	}
	if err := o.Validate(); err != nil {
		return o, &usageError{err}
	}
	return o, nil
}

func timeOptions(c *cli.Context, o *capture.Options) error {
	if c.IsSet("delay") {
		o.Delay = c.Duration("delay")
	}
	if c.IsSet("duration") {
		o.Duration = c.Duration("duration")
	}
	if c.IsSet("timeout") {
		o.Timeout = c.Duration("timeout")
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
	size, err := capture.ParseSize(c.String("max-artifact-size"))
	if err != nil {
		return usagef("--max-artifact-size: %v", err)
	}
	o.MaxArtifactBytes = size
	return nil
}
