package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"prof/internal/mask"
	"prof/schema/rundir"
)

// Values of options that are words.
const (
	GraphTraceNode  = "node"
	GraphTraceGraph = "graph"

	ReplayKernel      = "kernel"
	ReplayRange       = "range"
	ReplayAppRange    = "app-range"
	ReplayApplication = "application"

	ClockControlNone = "none"
	ClockControlBase = "base"
)

// What ncu measures, by name.
const (
	PresetRoofline = "roofline"
	PresetMemory   = "memory"
	PresetFull     = "full"
)

// ErrOptions is wrapped by errors about options that cannot be.
var ErrOptions = errors.New("capture options")

// maxSampleHz is as often as NVML refreshes what it tells.
const maxSampleHz = 100

// UsesNsys reports whether passes run under nsys: where it is named, or for what only it has.
func (o Options) UsesNsys() bool { return o.uses(rundir.ToolNsys, o.needsNsys()) }

// UsesProf reports whether passes run under prof's own tracer.
func (o Options) UsesProf() bool {
	return o.uses(rundir.ToolProf, o.Mode == ModeDeep || o.Mode == ModeLight)
}

// NsysRepeats is the number of passes under nsys: one is enough for what only it has where prof's tracer makes the timeline.
func (o Options) NsysRepeats() int {
	switch {
	case !o.UsesNsys():
		return 0
	case len(o.Tools) == 0:
		return 1
	}
	return o.Repeats
}

// needsNsys reports whether options ask for what only nsys does.
func (o Options) needsNsys() bool {
	return slices.ContainsFunc(o.Nsys.Trace, func(api string) bool { return api != "cuda" && api != "nvtx" }) ||
		len(o.Nsys.Args) > 0 || o.Nsys.KeepReport || o.Nsys.Memory || o.Nsys.Stack
}

// NeedsProf reports whether options ask for what only prof's own tracer does.
func (o Options) NeedsProf() bool { return o.After > 0 || o.Window > 0 || o.Paused || o.Serving.On }

// FromStart reports whether a timeline has what the workload does from its start on, so that launches can be counted in it.
func (o Options) FromStart() bool {
	return !o.NeedsProf() && o.Range == "" && !o.ProfilerAPI && o.Delay == 0
}

// ByNsys are the options with nsys in the place of prof's own tracer, and whether they allow that.
func (o Options) ByNsys() (with Options, ok bool) {
	if len(o.Tools) > 0 || !o.UsesProf() || o.NeedsProf() {
		return o, false
	}
	with = o
	with.Tools = []string{rundir.ToolNsys}
	if o.UsesNcu() {
		with.Tools = append(with.Tools, rundir.ToolNcu)
	}
	if o.UsesTorch() {
		with.Tools = append(with.Tools, rundir.ToolTorch)
	}
	return with, with.Validate() == nil // nsys takes no fractions of a second
}

// UsesTimeline reports whether a pass makes a timeline, from which ncu's kernels are chosen.
func (o Options) UsesTimeline() bool { return o.UsesNsys() || o.UsesProf() }

// UsesNcu reports whether a pass runs under ncu.
func (o Options) UsesNcu() bool { return o.uses(rundir.ToolNcu, o.Mode == ModeDeep) }

// UsesTorch reports whether a pass runs under the PyTorch profiler.
func (o Options) UsesTorch() bool { return o.uses(rundir.ToolTorch, o.Torch) }

// uses reports whether a tool was named, or where none was, what the mode says.
func (o Options) uses(tool string, byMode bool) bool {
	if o.Serving.On {
		return tool == rundir.ToolProf
	}
	if len(o.Tools) > 0 {
		return slices.Contains(o.Tools, tool)
	}
	return byMode
}

// PassMode is the mode of a pass under a tool, as capture_pass.mode. "" for what is no tool.
func (o Options) PassMode(tool string) string {
	switch tool {
	case rundir.ToolNone:
		return "baseline"
	case rundir.ToolNsys, rundir.ToolProf:
		if o.Mode == ModeLight {
			return "light"
		}
		return "deep"
	case rundir.ToolNcu:
		return "kernels"
	case rundir.ToolTorch:
		return "operators"
	}
	return ""
}

// Validate refuses options that cannot be, all of them at once, each with what is allowed in its place. The error wraps ErrOptions.
func (o Options) Validate() error {
	var p problems
	o.checkTools(&p)
	o.checkNsys(&p)
	o.checkNcu(&p)
	o.checkWindow(&p)
	o.checkServing(&p)
	p.check(o.Warmup >= 0, "--warmup is %d: it must be 0 or more", o.Warmup)
	p.check(o.SampleHz >= 0 && o.SampleHz <= maxSampleHz, "--sample-hz is %v: it must be between 0 (no samples) and %d", o.SampleHz, maxSampleHz)
	p.check(o.MaxArtifactBytes > 0, "--max-artifact-size is %d: it must be more than 0, such as 2GiB", o.MaxArtifactBytes)
	for _, d := range []struct {
		option string
		value  time.Duration
	}{{"--timeout", o.Timeout}, {"--report-timeout", o.ReportTimeout}, {"--grace", o.Grace}} {
		p.check(d.value > 0, "%s is %s: it must be more than 0, such as 30m", d.option, d.value)
	}
	p.check(o.Budget >= 0, "--budget is %s: it must be 0 (none) or more, such as 30m", o.Budget)
	p.check(o.Stall >= 0, "--stall is %s: it must be 0 (never) or more, such as 120s", o.Stall)
	for _, path := range o.Inputs {
		p.check(path != "", "--input is empty: it must be a file or folder")
	}
	checkKeep(&p, o.Keep)
	p.check(o.RepeatInputs >= 1, "--repeat-inputs is %d: it must be 1 or more", o.RepeatInputs)
	p.check(o.InputsManifest != "" || o.Subset == "" && o.RepeatInputs <= 1, "--subset and --repeat-inputs need --inputs MANIFEST")
	return p.err()
}

// Clashes returns the options that were given and have no effect beside the others, by their names, and an error that wraps ErrOptions and says of each
// what to do. given reports whether an option was given for this very capture, by its name on the command line: what is a default of many is no wish.
func (o Options) Clashes(given func(name string) bool) (names []string, err error) {
	var p problems
	for _, c := range clashes() {
		var some []string
		for _, name := range strings.Fields(c.options) {
			if given(name) && !slices.Contains(names, name) {
				some = append(some, name)
			}
		}
		if len(some) == 0 {
			continue
		}
		beside, says := c.beside(asked{o, given}), c.says
		if beside == "" {
			continue
		}
		names = append(names, some...)
		if len(some) > 1 {
			says = strings.ReplaceAll(says, "omit it", "omit them")
		}
		list := "--" + strings.Join(some, ", --")
		if at := strings.LastIndex(list, ", "); at >= 0 {
			list = list[:at] + " and " + list[at+len(", "):]
		}
		p.check(false, "%s %s: %s", list, beside, says)
	}
	return names, p.err()
}

// asked are options, and which of them were given.
type asked struct {
	Options
	given func(name string) bool
}

// clash is what takes the effect of options away.
type clash struct {
	options string               // their names
	beside  func(a asked) string // what does, as the user wrote it; "" where they have an effect
	says    string               // why, and what to do
}

// Options of one tool each.
const (
	torchOptions = "torch-stack torch-flops torch-memory torch-skip torch-passes"
	ncuOptions   = "ncu-top ncu-launches ncu-preset ncu-set ncu-section ncu-metric ncu-source ncu-kernels ncu-launch-skip ncu-launch-count ncu-rank ncu-replay clock-control ncu-arg stall"
	nsysOptions  = "nsys-trace nsys-memory nsys-stack keep-nsys-rep nsys-arg"
)

// clashes are asked in this order: an option is refused for the first reason.
func clashes() []clash {
	return []clash{
		// Of a serving engine, and first of one that runs already.
		{"auto-stages inputs subset repeat-inputs keep", asked.attached, "the program runs already, and nothing can be added to it: omit it"},
		{"cuda-graph-trace", func(a asked) string { return when(a.NsysGraphTrace() != GraphTraceNode, a.attached()) }, "prof launch has loaded a tracer that records graphs by node: omit it"},
		{"duration", func(a asked) string { return when(a.given("window") && a.given("attach"), "with --window") }, "both say how long to record: omit one"},
		{"grace report-timeout no-log", func(a asked) string {
			return when(a.Serving.Load == "" && a.given("attach"), "with --attach and without --load")
		}, "nothing is started, and nothing ended: omit it"},
		{"torch " + torchOptions + " " + ncuOptions + " " + nsysOptions, asked.served, "prof's own tracer alone records a serving engine: omit it"},
		{"baseline", asked.served, "a serving engine is recorded once, under the tracer: omit it"},
		{"repeats", func(a asked) string { return when(a.Repeats > 1, a.served()) }, "a serving engine is recorded once: omit it, and capture it again for another run"},
		{"range after profiler-api paused delay", asked.served, "the window of a serving engine is a time: use --window 20s"},
		{"duration", func(a asked) string { return when(a.Duration > 0, a.served()) }, "the window of a serving engine is a time: use --window 20s"},
		{"mode", func(a asked) string { return when(a.Mode != ModeLight, a.served()) }, "a serving engine's timeline alone is recorded: omit it"},
		{"ready ready-timeout load load-result load-timeout warm steady-timeout", func(a asked) string { return when(!a.Serving.On, "without --serving or --attach") }, "only a serving engine is waited for and loaded: add one of them"},
		{"ready-timeout", func(a asked) string { return when(a.Serving.Ready == "", "without --ready") }, "nothing is waited for: add --ready URL, or omit it"},
		{"load-result load-timeout", func(a asked) string { return when(a.Serving.Load == "", "without --load") }, "prof starts no load: add --load 'COMMAND', or omit it"},
		{"warm", func(a asked) string {
			return when(a.Serving.SteadyTimeout == 0 && a.Serving.Warm > 0, "with --steady-timeout 0")
		}, "that records at once: omit one"},
		// Of a tool that does not run.
		{"torch " + torchOptions, func(a asked) string { return when(!a.UsesTorch(), a.tooled()) }, "the PyTorch profiler does not run: add torch to --tools, or omit it"},
		{torchOptions, func(a asked) string { return when(!a.UsesTorch(), "without --torch") }, "the PyTorch profiler does not run: add --torch, or omit it"},
		{ncuOptions, func(a asked) string { return when(!a.UsesNcu(), a.tooled()) }, "Nsight Compute does not run: add ncu to --tools, or omit it"},
		{ncuOptions, func(a asked) string { return when(!a.UsesNcu(), "with --mode "+a.Mode) }, "Nsight Compute does not run: use --mode deep, or omit it"},
		{nsysOptions, func(a asked) string { return when(!a.UsesNsys() && !a.standsIn(), a.tooled()) }, "Nsight Systems does not run: add nsys to --tools, or omit it"},
		{"nsys-trace", func(a asked) string { return when(!a.UsesNsys() && !a.standsIn(), "with prof's own tracer alone") }, "Nsight Systems does not run: omit it"},
		// Of what takes the place of something, or is not there.
		{"ncu-top ncu-launches", func(a asked) string { return when(a.Ncu.Kernels != "", "with --ncu-kernels") }, "the regular expression chooses the kernels, not their time: omit it (--ncu-launch-count N profiles only N launches)"},
		{"ncu-top ncu-launches", func(a asked) string { return when(a.ReplaysRanges(), "with --ncu-replay "+a.Ncu.Replay) }, "whole ranges are profiled, not kernels: omit it (--ncu-launch-count N profiles only N ranges)"},
		{"ncu-preset", func(a asked) string { return when(a.Ncu.Set != "", "with --ncu-set") }, "the set takes the place of the preset: omit one"},
		{"ncu-preset", func(a asked) string { return when(len(a.Ncu.Sections) > 0, "with --ncu-section") }, "sections take the place of the preset: omit one (--ncu-metric adds to a preset)"},
		{"stall", func(a asked) string {
			return when(a.Ncu.Replay != ReplayKernel && a.Stall > 0, "with --ncu-replay "+a.Ncu.Replay)
		}, "only kernel replay reports its progress: omit it (--timeout limits all recordings)"},
		{"cuda-graph-trace", func(a asked) string { return when(!a.UsesTimeline(), a.tooled()) }, "there is no timeline: add prof to --tools, or omit it"},
		{"delay", func(a asked) string { return when(!a.UsesTimeline() && a.Duration == 0, a.tooled()) }, "there is no timeline to begin later: add prof to --tools, or omit it"},
		{"mode", func(a asked) string { return when(!a.UsesTimeline() && a.Mode != ModeCustom, a.tooled()) }, "there is no timeline, and --tools says what else is recorded: omit it"},
		{"repeats", func(a asked) string { return when(!a.UsesTimeline() && !a.Baseline && a.Repeats > 1, a.tooled()) }, "only timelines are repeated, and recordings without a profiler: add prof to --tools, or --baseline, or omit it"},
		{"range profiler-api", func(a asked) string { return when(!a.UsesTimeline() && !a.UsesNcu(), a.tooled()) }, "the PyTorch profiler records all that runs: use --torch-skip and --torch-passes"},
	}
}

// when is a text where something is so, else "".
func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// attached, served and tooled return the option that is in the way, as the user wrote it; "" where it was not given.
func (a asked) attached() string { return when(a.given("attach"), "with --attach") }
func (a asked) served() string {
	return cmp.Or(a.attached(), when(a.Serving.On, "with --serving"))
}
func (a asked) tooled() string {
	return when(len(a.Tools) > 0, "with --tools "+strings.Join(a.Tools, ","))
}

// standsIn reports whether nsys runs where prof's own tracer cannot be built, and options of nsys then have an effect.
func (a asked) standsIn() bool {
	_, ok := a.ByNsys()
	return ok
}

// problems are what is wrong with options, in words.
type problems []string

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// err wraps ErrOptions; nil where nothing is wrong.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOptions, strings.Join(p, "; "))
}

// oneOf checks that an option is one of some words.
func (p *problems) oneOf(option, word string, allowed ...string) {
	p.check(slices.Contains(allowed, word), "%s is %q: it must be one of %s", option, word, strings.Join(allowed, ", "))
}

func (o Options) checkTools(p *problems) {
	p.oneOf("--mode", o.Mode, ModeLight, ModeDeep, ModeCustom)
	for _, t := range o.Tools {
		p.oneOf("--tools", t, rundir.ToolNsys, rundir.ToolProf, rundir.ToolNcu, rundir.ToolTorch)
	}
	p.check(o.Mode != ModeCustom || len(o.Tools) > 0, "--mode custom: name the tools with --tools nsys,prof,ncu,torch")
	if !o.Serving.On { // which has a sentence of its own
		p.check(!o.Torch || o.UsesTorch(), "--torch with --tools %s: name torch in --tools too, or omit --torch", strings.Join(o.Tools, ","))
		p.check(o.UsesTorch() || !o.TorchOptions.Stack && !o.TorchOptions.Flops, "--torch-stack and --torch-flops need --torch")
		p.check(o.UsesTorch() || o.TorchOptions.Skip == 0 && o.TorchOptions.Passes == 0, "--torch-skip and --torch-passes need --torch")
		p.check(!o.Nsys.Memory || o.UsesNsys(), "--nsys-memory needs nsys: name it in --tools, or omit one")
		p.check(!o.Nsys.Stack || o.UsesNsys(), "--nsys-stack needs nsys: name it in --tools, or omit one")
	}
	p.check(o.TorchOptions.Skip >= 0, "--torch-skip is %d: it must be 0 or more", o.TorchOptions.Skip)
	p.check(o.TorchOptions.Passes >= 0, "--torch-passes is %d: it must be 0 (all) or more", o.TorchOptions.Passes)
	p.check(o.Repeats >= 1, "--repeats is %d: it must be 1 or more", o.Repeats)
}

// traceWord is what names of APIs to trace look like. Which there are depends on the version of nsys.
var traceWord = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func (o Options) checkNsys(p *problems) {
	for _, t := range o.Nsys.Trace {
		p.check(traceWord.MatchString(t), "--nsys-trace is %q: it must be a name that nsys profile --trace accepts, such as cuda, nvtx, osrt, cudnn, cublas", t)
	}
	if o.Nsys.GraphTrace != "" {
		p.oneOf("--cuda-graph-trace", o.Nsys.GraphTrace, GraphTraceNode, GraphTraceGraph)
	}
	checkArgs(p, "--nsys-arg", o.Nsys.Args, "-o", "--output")
	if o.UsesNsys() {
		trace := o.NsysTrace()
		p.check(o.Range == "" || slices.Contains(trace, "nvtx"), "--range needs nvtx in --nsys-trace")
		p.check(!o.ProfilerAPI || slices.ContainsFunc(trace, func(t string) bool { return t == "cuda" || t == "cuda-hw" }), "--profiler-api needs cuda in --nsys-trace")
	}
}

func (o Options) checkNcu(p *problems) {
	n := o.Ncu
	p.check(n.Top >= 1, "--ncu-top is %d: it must be 1 or more; --mode light omits ncu", n.Top)
	p.check(n.Launches >= 1, "--ncu-launches is %d: it must be 1 or more", n.Launches)
	p.oneOf("--ncu-preset", n.Preset, PresetFull, PresetMemory, PresetRoofline)
	p.oneOf("--ncu-replay", n.Replay, ReplayKernel, ReplayRange, ReplayAppRange, ReplayApplication)
	p.oneOf("--clock-control", n.ClockControl, ClockControlNone, ClockControlBase)
	for _, l := range []struct {
		option string
		list   []string
	}{{"--ncu-section", n.Sections}, {"--ncu-metric", n.Metrics}} {
		p.check(!slices.Contains(l.list, ""), "%s is empty: it must be a name that ncu accepts", l.option)
	}
	p.check(n.LaunchSkip >= 0, "--ncu-launch-skip is %d: it must be 0 or more", n.LaunchSkip)
	p.check(n.LaunchCount >= 0, "--ncu-launch-count is %d: it must be 0 (all) or more", n.LaunchCount)
	p.check(n.LaunchSkip == 0 && n.LaunchCount == 0 || n.Kernels != "" || o.ReplaysRanges(),
		"--ncu-launch-skip and --ncu-launch-count need --ncu-kernels; for the top kernels use --ncu-launches")
	if n.Rank != "" && n.Rank != AllRanks {
		_, err := strconv.ParseUint(n.Rank, 10, 31)
		p.check(err == nil, "--ncu-rank is %q: it must be the number of a rank, or %s", n.Rank, AllRanks)
	}
	p.check(n.Rank == "" || n.Kernels != "" || o.ReplaysRanges(), "--ncu-rank needs --ncu-kernels; else the rank is chosen with the launches")
	p.check(n.Kernels == "" || !o.ReplaysRanges(), "--ncu-kernels with --ncu-replay %s: whole ranges are profiled, not kernels; omit one", n.Replay)
	checkArgs(p, "--ncu-arg", n.Args, "-o", "--export", "--log-file")
	for _, a := range n.Args {
		name, _, _ := strings.Cut(a, "=")
		own := map[string]string{"--clock-control": "--clock-control", "--replay-mode": "--ncu-replay"}[name]
		p.check(own == "", "--ncu-arg is %q: ncu takes it once, and prof sets it: use prof's own %s", a, own)
	}
	if !o.UsesNcu() {
		return
	}
	p.check(o.UsesTimeline() || n.Kernels != "" || o.ReplaysRanges(), "--tools has ncu without nsys or prof, whose timeline gives the top kernels: add one, or name kernels with --ncu-kernels REGEX")
	p.check(!o.ReplaysRanges() || o.Range != "" || o.ProfilerAPI, "--ncu-replay %s needs --range (or --profiler-api) to know what to replay", n.Replay)
}

// checkArgs checks arguments that are handed through. What is no option would be taken for the program, and where reports go is
// prof's to say.
func checkArgs(p *problems, option string, args []string, taken ...string) {
	if len(args) == 0 {
		return
	}
	p.check(strings.HasPrefix(args[0], "-"), "%s is %q: the first one must be an option", option, args[0])
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		p.check(!slices.Contains(taken, name), "%s is %q: prof sets the output file itself", option, a)
		p.check(a != "--", "%s is --: it would end the tool's options", option)
	}
}

// checkWindow checks what is collected of the workload's time.
func (o Options) checkWindow(p *problems) {
	if o.Range != "" {
		r, err := ParseRange(o.Range)
		if err == nil && o.UsesNcu() {
			err = r.checkNcu()
		}
		p.check(err == nil, "--range: %v", err)
	}
	p.check(o.Range == "" || !o.ProfilerAPI, "--range and --profiler-api both set what to collect: omit one")
	p.check(o.Delay == 0 || o.Range == "" && !o.ProfilerAPI, "--delay, and --range or --profiler-api, both set when to begin: omit one")
	p.check(o.Duration == 0 || !o.ProfilerAPI, "--duration and --profiler-api both set when to end: omit one")
	for _, d := range []struct {
		option string
		value  time.Duration
	}{{"--delay", o.Delay}, {"--duration", o.Duration}} {
		p.check(d.value >= 0, "%s is %s: it must be 0 or more", d.option, d.value)
		p.check(d.value%time.Second == 0 || !o.UsesNsys(), "%s is %s: nsys takes whole seconds", d.option, d.value)
	}
	p.check(o.After >= 0, "--after is %d: it must be 0 or more", o.After)
	p.check(o.Window >= 0, "--window is %d: it must be 0 (to the end) or more", o.Window)
	p.check(o.After == 0 && o.Window == 0 || o.Range != "", "--after and --window count instances of a range: name it with --range")
	p.check(!o.Paused || o.Range == "" && !o.ProfilerAPI && o.Delay == 0 && o.Duration == 0, "--paused waits for prof mark: omit --range, --profiler-api, --delay and --duration")
	p.check(!o.NeedsProf() || o.UsesProf() && !o.UsesNsys(), "--after, --window and --paused need prof's own tracer alone: omit options of nsys, and nsys in --tools")
	p.check(!o.NeedsProf() || !o.UsesNcu(), "--after, --window and --paused with ncu: ncu counts launches from the start, so the timeline must have them all; use --mode light, or omit these")
	p.check(o.Timeout <= 0 || o.Delay+o.Duration < o.Timeout, "--delay and --duration together are %s, not less than --timeout %s", o.Delay+o.Duration, o.Timeout)
}

// checkServing checks how a serving engine is recorded.
func (o Options) checkServing(p *problems) {
	v := o.Serving
	if !v.On {
		p.check(v.Ready == "" && v.Load == "" && len(v.LoadResult) == 0, "--ready, --load and --load-result need --serving, or --attach")
		return
	}
	if v.Ready != "" {
		u, err := url.Parse(v.Ready)
		p.check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", "--ready is %q: it must be a URL, such as http://127.0.0.1:8000/health", mask.Text(v.Ready))
	}
	p.check(v.Load != "" || len(v.LoadResult) == 0, "--load-result needs --load")
	p.check(v.Window > 0, "--window is %s: it must be more than 0, such as 20s", v.Window)
	p.check(v.Warm >= 0, "--warm is %s: it must be 0 or more", v.Warm)
	p.check(v.SteadyTimeout == 0 || v.SteadyTimeout >= v.Warm, "--steady-timeout is %s: it must be --warm (%s) or more, or 0 to record at once", v.SteadyTimeout, v.Warm)
	p.check(v.ReadyTimeout > 0, "--ready-timeout is %s: it must be more than 0, such as 20m", v.ReadyTimeout)
	p.check(v.LoadTimeout >= 0, "--load-timeout is %s: it must be 0 (end the load at once) or more", v.LoadTimeout)
	for _, t := range o.Tools {
		p.check(t == rundir.ToolProf, "--tools %s: a serving engine is recorded by prof's own tracer: omit --tools", t)
	}
	p.check(!o.Torch && !o.Baseline && o.Repeats == 1, "a serving engine is recorded once, by prof's own tracer: omit --torch, --baseline and --repeats")
	p.check(o.Range == "" && !o.ProfilerAPI && !o.Paused && o.Delay == 0 && o.Duration == 0 && o.After == 0 && o.Window == 0,
		"--window TIME is what is recorded of a serving engine: omit --range, --after, --profiler-api, --paused, --delay and --duration")
	p.check(!o.needsNsys(), "a serving engine is recorded by prof's own tracer: omit the options of nsys")
}

// checkKeep checks patterns of files.
func checkKeep(p *problems, patterns []string) {
	for _, pattern := range patterns {
		clean := path.Clean(pattern)
		p.check(pattern != "" && filepath.IsLocal(clean) && doublestar.ValidatePattern(clean),
			"--keep is %q: it must be a pattern of files below the working folder, such as 'out/**/*.json'", pattern)
	}
}

// ReplaysRanges reports whether ncu's results are ranges and not launches of kernels.
func (o Options) ReplaysRanges() bool {
	return o.Ncu.Replay == ReplayRange || o.Ncu.Replay == ReplayAppRange
}

// NsysTrace returns the APIs that are traced. Calls of the C library (osrt) cost most, so light leaves them out.
func (o Options) NsysTrace() []string {
	switch {
	case len(o.Nsys.Trace) > 0:
		return o.Nsys.Trace
	case o.Mode == ModeLight:
		return []string{"cuda", "nvtx"}
	}
	return []string{"cuda", "nvtx", "osrt"}
}

// NsysGraphTrace returns how CUDA graphs are traced: the kernels of a graph, or, which costs least, each graph as a whole.
func (o Options) NsysGraphTrace() string {
	if o.Nsys.GraphTrace == "" && o.Mode == ModeLight {
		return GraphTraceGraph
	}
	return cmp.Or(o.Nsys.GraphTrace, GraphTraceNode)
}

// TracesGraphNodes reports whether prof's tracer records the kernels of CUDA graphs. In a window it does unless asked otherwise: by node nothing is
// recorded between windows, while graphs as a whole are recorded all the time.
func (o Options) TracesGraphNodes() bool {
	isWindow := o.NeedsProf() || o.Range != "" || o.ProfilerAPI || o.Delay > 0 || o.Duration > 0
	return o.NsysGraphTrace() == GraphTraceNode || isWindow && o.Nsys.GraphTrace == ""
}

// RecordedMode is that of the manifest.
func (o Options) RecordedMode() string {
	if o.Serving.On {
		return ModeLight
	}
	if len(o.Tools) > 0 {
		return ModeCustom
	}
	return o.Mode
}

// EscapeMacros keeps nsys and ncu from replacing %h, %p and the like in a path.
func EscapeMacros(path string) string { return strings.ReplaceAll(path, "%", "%%") }
