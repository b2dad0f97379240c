package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCaptureClashes holds that an option without an effect beside another is refused, with what to do in its place.
func TestCaptureClashes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const serving, attach = "--serving --ready http://127.0.0.1:1 ", "--attach "
	for _, c := range []struct{ args, says string }{
		{"--ncu-kernels X --ncu-launches 2 -- work", "--ncu-launches with --ncu-kernels: the regular expression chooses the kernels, not their time: omit it (--ncu-launch-count N profiles only N launches)"},
		{"--ncu-kernels X --ncu-top 2 --ncu-launches 2 -- work", "--ncu-top and --ncu-launches with --ncu-kernels: the regular expression chooses the kernels, not their time: omit them (--ncu-launch-count N profiles only N launches)"},
		{"--ncu-replay range --range x --ncu-top 2 -- work", "--ncu-top with --ncu-replay range: whole ranges are profiled, not kernels: omit it (--ncu-launch-count N profiles only N ranges)"},
		{"--mode light --ncu-kernels X -- work", "--ncu-kernels with --mode light: Nsight Compute does not run: use --mode deep, or omit it"},
		{"--mode light --ncu-kernels X --stall 1m --clock-control base -- work", "--ncu-kernels, --clock-control and --stall with --mode light: Nsight Compute does not run: use --mode deep, or omit them"},
		{"--mode light --ncu-set false -- work", "--ncu-set with --mode light: Nsight Compute does not run: use --mode deep, or omit it"},
		{"--tools prof,torch --ncu-set full -- work", "--ncu-set with --tools prof,torch: Nsight Compute does not run: add ncu to --tools, or omit it"},
		{"--ncu-preset memory --ncu-set full -- work", "--ncu-preset with --ncu-set: the set takes the place of the preset: omit one"},
		{"--ncu-preset memory --ncu-section Occupancy -- work", "--ncu-preset with --ncu-section: sections take the place of the preset: omit one (--ncu-metric adds to a preset)"},
		{"--tools ncu --ncu-kernels X --ncu-replay application --stall 1m -- work", "--stall with --ncu-replay application: only kernel replay reports its progress: omit it (--timeout limits all recordings)"},
		{"--tools prof --nsys-trace osrt --keep-nsys-rep -- work", "--nsys-trace and --keep-nsys-rep with --tools prof: Nsight Systems does not run: add nsys to --tools, or omit them"},
		{"--mode light --paused --nsys-trace cuda -- work", "--nsys-trace with prof's own tracer alone: Nsight Systems does not run: omit it"},
		{"--torch-memory -- work", "--torch-memory without --torch: the PyTorch profiler does not run: add --torch, or omit it"},
		{"--tools prof --torch --torch-flops -- work", "--torch and --torch-flops with --tools prof: the PyTorch profiler does not run: add torch to --tools, or omit them"},
		{"--tools ncu --ncu-kernels X --repeats 3 -- work", "--repeats with --tools ncu: only timelines are repeated, and recordings without a profiler: add prof to --tools, or --baseline, or omit it"},
		{"--tools ncu --ncu-kernels X --cuda-graph-trace graph -- work", "--cuda-graph-trace with --tools ncu: there is no timeline: add prof to --tools, or omit it"},
		{"--tools ncu --ncu-kernels X --mode light -- work", "--mode with --tools ncu: there is no timeline, and --tools says what else is recorded: omit it"},
		{"--tools torch --delay 5s -- work", "--delay with --tools torch: there is no timeline to begin later: add prof to --tools, or omit it"},
		{"--tools torch --range x -- work", "--range with --tools torch: the PyTorch profiler records all that runs: use --torch-skip and --torch-passes"},
		{"--warm 5s --load-timeout 1m -- work", "--load-timeout and --warm without --serving or --attach: only a serving engine is waited for and loaded: add one of them"},
		{serving + "--torch -- work", "--torch with --serving: prof's own tracer alone records a serving engine: omit it"},
		{serving + "--torch --tools prof -- work", "--torch with --serving: prof's own tracer alone records a serving engine: omit it"},
		{serving + "--ncu-top 3 --nsys-stack -- work", "--ncu-top and --nsys-stack with --serving: prof's own tracer alone records a serving engine: omit them"},
		{serving + "--repeats 3 --baseline -- work", "--baseline with --serving: a serving engine is recorded once, under the tracer: omit it; --repeats with --serving: a serving engine is recorded once: omit it, and capture it again for another run"},
		{serving + "--range x --delay 1m -- work", "--range and --delay with --serving: the window of a serving engine is a time: use --window 20s"},
		{serving + "--duration 1m -- work", "--duration with --serving: the window of a serving engine is a time: use --window 20s"},
		{serving + "--mode deep -- work", "--mode with --serving: a serving engine's timeline alone is recorded: omit it"},
		{serving + "--load-timeout 1m --load-result x -- work", "--load-result and --load-timeout without --load: prof starts no load: add --load 'COMMAND', or omit them"},
		{serving + "--steady-timeout 0 --warm 3s -- work", "--warm with --steady-timeout 0: that records at once: omit one"},
		{attach + "--ncu-top 3", "--ncu-top with --attach: prof's own tracer alone records a serving engine: omit it"},
		{attach + "--auto-stages --keep out", "--auto-stages and --keep with --attach: the program runs already, and nothing can be added to it: omit them"},
		{attach + "--cuda-graph-trace graph", "--cuda-graph-trace with --attach: prof launch has loaded a tracer that records graphs by node: omit it"},
		{attach + "--duration 5s --window 5s", "--duration with --window: both say how long to record: omit one"},
		{attach + "--grace 5s", "--grace with --attach and without --load: nothing is started, and nothing ended: omit it"},
		{attach + "--ready-timeout 5s", "--ready-timeout without --ready: nothing is waited for: add --ready URL, or omit it"},
	} {
		b.wantLike(2, "", "prof: capture options: "+regexp.QuoteMeta(c.says)+"\n", append([]string{"capture"}, strings.Fields(c.args)...)...)
	}
	for _, c := range []struct{ args, says string }{
		{serving + "--steady-timeout 3s -- work", "capture options: --steady-timeout is 3s: it must be --warm (5s) or more, or 0 to record at once"},
		{"--suite s.yaml --attach", "--suite: it starts its commands; omit --attach"},
		{"--attach=a b", "--attach takes one name, not 2: prof capture --attach NAME"},
		{"--attach=", "--attach has an empty name: prof capture --attach NAME, or --attach for the only one"},
		{"--attach --lod x", "unknown option --lod; did you mean --load?"},
	} {
		b.wantLike(2, "", "prof: "+regexp.QuoteMeta(c.says)+"\n", append([]string{"capture"}, strings.Fields(c.args)...)...)
	}
	// What has an effect is taken, and what a file has as the default of many captures is no wish of this one.
	write(t, b.path(".prof/config.yaml"), []byte("ncu: {top: 3, preset: memory}\ntorch_options: {memory: true}\nserving: {warm: 3s}\n"))
	for _, args := range []string{
		"--mode light", "--ncu-kernels X --ncu-launch-count 2", "--ncu-set full", "--tools ncu --ncu-kernels X --baseline --repeats 3", "--mode custom --tools ncu --ncu-kernels X", "--mode light --torch=false",
		"--nsys-trace cuda,nvtx", "--tools prof,ncu --ncu-top 3 --mode light", "--tools ncu --ncu-kernels X --delay 1s --duration 3s", serving + "--steady-timeout 0", serving + "--mode light --tools prof --repeats 1 --cuda-graph-trace graph",
		serving + "--load bench --load-timeout 0",
	} {
		if got := b.prof(append(append([]string{"capture", "--dry-run"}, strings.Fields(args)...), "--", "work")...); got.code == 2 {
			t.Errorf("%s: %s", args, got.err)
		}
	}
}

// TestCaptureOptionsCount holds that an option of how to record changes what a dry run shows, or is refused, beside whatever else is asked for.
func TestCaptureOptionsCount(t *testing.T) {
	t.Parallel()
	b := newBench(t).tracing()
	b.env = append(b.env, "COLUMNS=10000")
	elsewhere := strings.Fields("dry-run help run tag no-ingest push shared suite fresh node-rank nodes job attach " + // not how to record
		"sample-hz no-log input inputs subset repeat-inputs keep model assume image-size workload prefill decode batch images crops warmup " + // beside all recordings
		"budget timeout stall grace report-timeout max-artifact-size") // how long they may take
	values := map[string]string{"mode": "light", "tools": "prof,nsys,ncu,torch", "cuda-graph-trace": "graph", "range": "step", "window": "7", "ready": "http://127.0.0.1:2", "load": "bench", "load-result": "x.json",
		"ncu-preset": "full", "ncu-set": "full", "ncu-section": "Occupancy", "ncu-metric": "m", "ncu-kernels": "X", "ncu-rank": "all", "ncu-replay": "application", "clock-control": "base", "ncu-arg": "--cache-control=none", "nsys-trace": "osrt", "nsys-arg": "--stats=true",
		"delay": "7s", "duration": "7s", "ready-timeout": "7m", "warm": "7s", "steady-timeout": "7m", "load-timeout": "7m"}
	// These say what holds anyway, or count where no command line shows it.
	alike := []string{"--mode light --cuda-graph-trace graph", "--tools torch --torch", "--tools nsys --keep-nsys-rep", "--tools torch --duration 7s", "--tools ncu --ncu-kernels Y --duration 7s",
		"--tools prof,ncu --range step --ncu-replay app-range --mode light", "--serving --ready http://127.0.0.1:1 --mode light", "--serving --ready http://127.0.0.1:1 --load sleep --mode light"}
	base := regexp.MustCompile(`PROF_TRACE_BASE=\d+`)
	plan := func(args string) (string, int) {
		got := b.prof(append(append([]string{"capture", "--dry-run", "--run", "r"}, strings.Fields(args)...), "--", "torchrun", "run.py")...)
		return base.ReplaceAllString(got.out, ""), got.code
	}
	tried := 0
	for _, beside := range []string{"", "--mode light", "--mode light --range step", "--torch", "--tools prof", "--tools nsys", "--tools torch", "--tools ncu --ncu-kernels Y", "--tools prof,ncu --range step --ncu-replay app-range",
		"--serving --ready http://127.0.0.1:1", "--serving --ready http://127.0.0.1:1 --load sleep"} {
		before, code := plan(beside)
		if code == 2 {
			t.Fatalf("%s is refused", beside)
		}
		for _, f := range flagsOf(captureGroups()) {
			name := f.Names()[0]
			if slices.Contains(elsewhere, name) || strings.Contains(beside+" ", "--"+name+" ") {
				continue
			}
			args := beside + " --" + name
			if takesValue(flagsOf(captureGroups()), "--"+name) {
				value := values[name]
				if value == "" {
					value = "7"
				}
				if name == "window" && strings.HasPrefix(beside, "--serving") {
					value = "7s"
				}
				args += " " + value
			}
			tried++
			if after, code := plan(args); code != 2 && (after == before) != slices.Contains(alike, strings.TrimSpace(args)) {
				t.Errorf("%s shows the same as without --%s: %v", args, name, after == before)
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d cases were tried", tried)
	}
}
