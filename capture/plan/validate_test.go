package plan

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"prof/schema/rundir"
)

func TestValidateAllows(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"defaults":       func(o *Options) {},
		"light":          func(o *Options) { o.Mode = ModeLight },
		"tools":          func(o *Options) { o.Tools = []string{"nsys", "ncu", "torch"} },
		"torch in tools": func(o *Options) { o.Tools, o.Torch = []string{"torch"}, true },
		"ncu, kernels":   func(o *Options) { o.Tools, o.Ncu.Kernels = []string{"ncu"}, "gemm" },
		"ncu, ranges":    func(o *Options) { o.Tools, o.Ncu.Replay, o.Range = []string{"ncu"}, "range", "a" },
		"any domain":     func(o *Options) { o.Mode, o.Range = ModeLight, "a@*" },
		"no samples":     func(o *Options) { o.SampleHz = 0 },
		"most samples":   func(o *Options) { o.SampleHz = 100 },
		"window":         func(o *Options) { o.Mode, o.Range, o.After, o.Window = ModeLight, "decode_step", 50, 20 },
		"paused":         func(o *Options) { o.Tools, o.Paused = []string{"prof"}, true },
		"fractions":      func(o *Options) { o.Delay = 1500 * time.Millisecond },
		"seconds":        func(o *Options) { o.Delay, o.Duration = time.Minute, 3*time.Second },
		"trace":          func(o *Options) { o.Nsys.Trace = []string{"cuda-hw", "nvtx", "cublas-verbose"}; o.ProfilerAPI = true },
		"arguments": func(o *Options) {
			o.Nsys.Args, o.Ncu.Args = []string{"--stats=true"}, []string{"--cache-control", "none"}
		},
		"range, no nvtx": func(o *Options) {
			o.Tools, o.Range, o.Nsys.Trace, o.Ncu.Kernels = []string{"ncu"}, "a", []string{"cuda"}, "x"
		},
		"serving": func(o *Options) {
			o.Serving.On, o.Serving.Ready, o.Serving.Load = true, "http://127.0.0.1:8000/health", "bench"
		},
		"serving at once":  func(o *Options) { o.Serving.On, o.Serving.SteadyTimeout = true, 0 },
		"launches, ranges": func(o *Options) { o.Ncu.Replay, o.Range, o.Ncu.LaunchSkip = "app-range", "a", 2 },
	} {
		if err := With(change).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for says, change := range map[string]func(*Options){
		`--mode is "fast": it must be one of light, deep, custom`:        func(o *Options) { o.Mode = "fast" },
		`--mode custom: name the tools`:                                  func(o *Options) { o.Mode = ModeCustom },
		`--tools is "nvprof": it must be one of nsys, prof, ncu, torch`:  func(o *Options) { o.Tools = []string{"nsys", "nvprof"} },
		`--torch-stack and --torch-flops need --torch`:                   func(o *Options) { o.TorchOptions.Flops = true },
		`--nsys-memory needs nsys`:                                       func(o *Options) { o.Tools, o.Nsys.Memory = []string{"prof"}, true },
		`--nsys-stack needs nsys`:                                        func(o *Options) { o.Tools, o.Nsys.Stack = []string{"prof"}, true },
		`--torch-skip and --torch-passes need --torch`:                   func(o *Options) { o.TorchOptions.Passes = 2 },
		`--torch-skip is -1: it must be 0 or more`:                       func(o *Options) { o.Torch, o.TorchOptions.Skip = true, -1 },
		`--torch-passes is -3: it must be 0 (all) or more`:               func(o *Options) { o.Torch, o.TorchOptions.Passes = true, -3 },
		`--torch with --tools nsys: name torch in --tools too`:           func(o *Options) { o.Tools, o.Torch = []string{"nsys"}, true },
		`--repeats is 0: it must be 1 or more`:                           func(o *Options) { o.Repeats = 0 },
		`--warmup is -1`:                                                 func(o *Options) { o.Warmup = -1 },
		`--sample-hz is 101: it must be between 0 (no samples) and 100`:  func(o *Options) { o.SampleHz = 101 },
		`--sample-hz is -1`:                                              func(o *Options) { o.SampleHz = -1 },
		`--sample-hz is NaN`:                                             func(o *Options) { o.SampleHz = math.NaN() },
		`--max-artifact-size is 0: it must be more than 0, such as 2GiB`: func(o *Options) { o.MaxArtifactBytes = 0 },
		`--timeout is 0s: it must be more than 0, such as 30m`:           func(o *Options) { o.Timeout = 0 },
		`--report-timeout is -1s`:                                        func(o *Options) { o.ReportTimeout = -time.Second },
		`--grace is 0s`:                                                  func(o *Options) { o.Grace = 0 },
		`--input is empty`:                                               func(o *Options) { o.Inputs = []string{"a", ""} },
		`--nsys-trace is "CUDA"`:                                         func(o *Options) { o.Nsys.Trace = []string{"CUDA"} },
		`--nsys-trace is "cuda,nvtx"`:                                    func(o *Options) { o.Nsys.Trace = []string{"cuda,nvtx"} },
		`--cuda-graph-trace is "all": it must be one of node, graph`:     func(o *Options) { o.Nsys.GraphTrace = "all" },
		`--nsys-arg is "true": the first one must be an option`:          func(o *Options) { o.Nsys.Args = []string{"true"} },
		`--nsys-arg is "--output=x": prof sets the output file itself`:   func(o *Options) { o.Nsys.Args = []string{"--stats=true", "--output=x"} },
		`--ncu-arg is "-o": prof sets`:                                   func(o *Options) { o.Ncu.Args = []string{"-o", "x"} },
		`--ncu-arg is --: it would end`:                                  func(o *Options) { o.Ncu.Args = []string{"--quiet", "--"} },
		`--ncu-arg is "--clock-control=none": ncu takes it once, and prof sets it: use prof's own --clock-control`: func(o *Options) { o.Ncu.Args = []string{"--clock-control=none"} },
		`--ncu-arg is "--replay-mode": ncu takes it once, and prof sets it: use prof's own --ncu-replay`:           func(o *Options) { o.Ncu.Args = []string{"--replay-mode", "kernel"} },
		`--range needs nvtx in --nsys-trace`:                              func(o *Options) { o.Tools, o.Range, o.Nsys.Trace = []string{"nsys"}, "a", []string{"cuda"} },
		`--profiler-api needs cuda in --nsys-trace`:                       func(o *Options) { o.ProfilerAPI, o.Nsys.Trace = true, []string{"nvtx", "osrt"} },
		`--ncu-top is 0: it must be 1 or more`:                            func(o *Options) { o.Ncu.Top = 0 },
		`--ncu-launches is 0: it must be 1 or more`:                       func(o *Options) { o.Ncu.Launches = 0 },
		`--ncu-preset is "all": it must be one of full, memory, roofline`: func(o *Options) { o.Ncu.Preset = "all" },
		`--ncu-replay is "": it must be one of kernel, range, app-range`:  func(o *Options) { o.Ncu.Replay = "" },
		`--clock-control is "boost": it must be one of none, base`:        func(o *Options) { o.Ncu.ClockControl = "boost" },
		`--ncu-section is empty`:                                          func(o *Options) { o.Ncu.Sections = []string{""} },
		`--ncu-metric is empty`:                                           func(o *Options) { o.Ncu.Metrics = []string{"a", ""} },
		`--ncu-rank is "first": it must be the number of a rank, or all`:  func(o *Options) { o.Ncu.Kernels, o.Ncu.Rank = "a", "first" },
		`--ncu-rank needs --ncu-kernels; else the rank is chosen with`:    func(o *Options) { o.Ncu.Rank = "0" },
		`--ncu-launch-skip is -1: it must be 0 or more`:                   func(o *Options) { o.Ncu.Kernels, o.Ncu.LaunchSkip = "a", -1 },
		`--ncu-launch-count is -1: it must be 0 (all) or more`:            func(o *Options) { o.Ncu.Kernels, o.Ncu.LaunchCount = "a", -1 },
		`--ncu-launch-count need --ncu-kernels`:                           func(o *Options) { o.Ncu.LaunchCount = 1 },
		`--ncu-kernels with --ncu-replay range`:                           func(o *Options) { o.Ncu.Kernels, o.Ncu.Replay, o.Range = "a", "range", "b" },
		`add one, or name kernels with --ncu-kernels REGEX`:               func(o *Options) { o.Tools = []string{"ncu", "torch"} },
		`--ncu-replay range needs --range`:                                func(o *Options) { o.Ncu.Replay = "range" },
		`--ncu-replay app-range needs --range`:                            func(o *Options) { o.Ncu.Replay = "app-range" },
		`--range: range "a@b@c": it has more than one @`:                  func(o *Options) { o.Range = "a@b@c" },
		`--range: ncu cannot match a range in every domain`:               func(o *Options) { o.Range = "a@*" },
		`--range and --profiler-api both set what to collect`:             func(o *Options) { o.Range, o.ProfilerAPI = "a", true },
		`--delay, and --range or --profiler-api, both`:                    func(o *Options) { o.Range, o.Delay = "a", time.Second },
		`--duration and --profiler-api both set when to end`:              func(o *Options) { o.ProfilerAPI, o.Duration = true, time.Second },
		`--delay is -1s: it must be 0 or more`:                            func(o *Options) { o.Delay = -time.Second },
		`--delay is 1.5s: nsys takes whole seconds`:                       func(o *Options) { o.Nsys.Stack, o.Delay = true, 1500*time.Millisecond },
		`--duration is 500ms: nsys takes whole seconds`:                   func(o *Options) { o.Tools, o.Duration = []string{"nsys"}, time.Second/2 },
		`--after and --window count instances of a range`:                 func(o *Options) { o.Mode, o.Window = ModeLight, 3 },
		`--window is -1`: func(o *Options) { o.Window = -1 },
		`--after is -1`:  func(o *Options) { o.After = -1 },
		`--after, --window and --paused need prof's own tracer alone`:                        func(o *Options) { o.Mode, o.Range, o.Window, o.Nsys.Stack = ModeLight, "a", 3, true },
		`the timeline must have them all; use --mode light`:                                  func(o *Options) { o.Range, o.Window = "a", 3 },
		`--after, --window and --paused with ncu`:                                            func(o *Options) { o.Tools, o.Paused = []string{"prof", "ncu"}, true },
		`--paused waits for prof mark: omit --range`:                                         func(o *Options) { o.Mode, o.Paused, o.Delay = ModeLight, true, time.Second },
		`--delay and --duration together are 30m0s, not less than --timeout`:                 func(o *Options) { o.Delay, o.Duration = 20*time.Minute, 10*time.Minute },
		`--ready, --load and --load-result need --serving, or --attach`:                      func(o *Options) { o.Serving.Load = "bench" },
		`--ready is "127.0.0.1:8000": it must be a URL`:                                      func(o *Options) { o.Serving.On, o.Serving.Ready = true, "127.0.0.1:8000" },
		`--load-result needs --load`:                                                         func(o *Options) { o.Serving.On, o.Serving.LoadResult = true, []string{"a.json"} },
		`--steady-timeout is 1m0s: it must be --warm (2m0s) or more, or 0 to record at once`: func(o *Options) { o.Serving.On, o.Serving.Warm = true, 2*time.Minute },
		`--window is 0s: it must be more than 0, such as 20s`:                                func(o *Options) { o.Serving.On, o.Serving.Window = true, 0 },
		`--tools nsys: a serving engine is recorded by prof's own tracer`:                    func(o *Options) { o.Serving.On, o.Tools = true, []string{"nsys"} },
		`omit --torch, --baseline and --repeats`:                                             func(o *Options) { o.Serving.On, o.Repeats = true, 3 },
		`omit --range, --after, --profiler-api, --paused, --delay and --duration`:            func(o *Options) { o.Serving.On, o.Delay = true, time.Minute },
	} {
		err := With(change).Validate()
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}

// TestValidateServing holds that a serving engine has one sentence for each kind of option that is not its own, and none that contradicts it.
func TestValidateServing(t *testing.T) {
	err := With(func(o *Options) {
		o.Serving.On, o.Torch, o.Nsys.Stack, o.TorchOptions = true, true, true, TorchOptions{Stack: true, Passes: 2}
	}).Validate()
	const says = "capture options: a serving engine is recorded once, by prof's own tracer: omit --torch, --baseline and --repeats; a serving engine is recorded by prof's own tracer: omit the options of nsys"
	if err == nil || err.Error() != says {
		t.Errorf("got %v, want %s", err, says)
	}
}

// TestValidateAll looks whether one error names all that is wrong.
func TestValidateAll(t *testing.T) {
	err := With(func(o *Options) { o.Mode, o.Repeats, o.Timeout = "x", -1, 0 }).Validate()
	if err == nil || strings.Count(err.Error(), "; ") != 2 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestUses(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		uses   string
		mode   string // of a pass with a timeline
	}{
		{func(o *Options) {}, "prof ncu", "deep"},
		{func(o *Options) { o.Torch = true }, "prof ncu torch", "deep"},
		{func(o *Options) { o.Nsys.Args, o.Repeats = []string{"--stats=true"}, 3 }, "prof nsys:1 ncu", "deep"},
		{func(o *Options) { o.Nsys.Trace = []string{"cuda", "nvtx", "osrt"} }, "prof nsys:1 ncu", "deep"},
		{func(o *Options) { o.Nsys.Trace = []string{"nvtx", "cuda"} }, "prof ncu", "deep"},
		{func(o *Options) { o.Mode = ModeLight }, "prof", "light"},
		{func(o *Options) { o.Mode, o.Torch = ModeLight, true }, "prof torch", "light"},
		{func(o *Options) { o.Mode, o.Nsys.KeepReport = ModeLight, true }, "prof nsys:1", "light"},
		{func(o *Options) { o.Tools, o.Repeats = []string{"nsys"}, 3 }, "nsys:3", "deep"},
		{func(o *Options) { o.Tools, o.Repeats = []string{"nsys", "prof"}, 2 }, "prof nsys:2", "deep"},
		{func(o *Options) { o.Tools, o.Nsys.KeepReport = []string{"prof"}, true }, "prof", "deep"},
		{func(o *Options) { o.Mode, o.Tools = ModeLight, []string{"torch", "nsys"} }, "nsys:1 torch", "light"},
		{func(o *Options) { o.Mode, o.Tools = ModeCustom, []string{"ncu"} }, "ncu", "deep"},
	} {
		o := With(c.change)
		var uses []string
		for _, tool := range []struct {
			name string
			used bool
		}{{"prof", o.UsesProf()}, {fmt.Sprintf("nsys:%d", o.NsysRepeats()), o.UsesNsys()}, {"ncu", o.UsesNcu()}, {"torch", o.UsesTorch()}} {
			if tool.used {
				uses = append(uses, tool.name)
			}
		}
		if got := strings.Join(uses, " "); got != c.uses || o.PassMode(rundir.ToolNsys) != c.mode || o.PassMode(rundir.ToolProf) != c.mode || o.TracesGraphNodes() != (c.mode == "deep") {
			t.Errorf("%s %q: uses %s, want %s; the timeline's mode %s, want %s", o.Mode, o.Tools, got, c.uses, o.PassMode(rundir.ToolProf), c.mode)
		}
	}
	for tool, want := range map[string]string{rundir.ToolNone: "baseline", rundir.ToolNcu: "kernels", rundir.ToolTorch: "operators", "perf": ""} {
		if got := Defaults().PassMode(tool); got != want {
			t.Errorf("a pass under %s is %q, want %q", tool, got, want)
		}
	}
}

// TestByNsys: where prof's tracer cannot be built, nsys stands in for it with all its repeats, unless the options ask for what it does not do.
func TestByNsys(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		tools  string // "" where nsys does not stand in
	}{
		{func(o *Options) { o.Repeats = 3 }, "nsys,ncu"},
		{func(o *Options) { o.Mode, o.Torch, o.Nsys.Memory = ModeLight, true, true }, "nsys,torch"},
		{func(o *Options) { o.Delay = time.Second / 2 }, ""},
		{func(o *Options) { o.Mode, o.Paused = ModeLight, true }, ""},
		{func(o *Options) { o.Tools = []string{"prof"} }, ""},
	} {
		o := With(c.change)
		with, ok := o.ByNsys()
		if ok != (c.tools != "") || ok && (strings.Join(with.Tools, ",") != c.tools || with.NsysRepeats() != o.Repeats || with.UsesProf()) {
			t.Errorf("%+v: %q %v, want %q", o, with.Tools, ok, c.tools)
		}
	}
}
