package nsys

import (
	"os"
	"path/filepath"
	"prof/capture/ncu"
	"prof/capture/plan"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNsysArgs(t *testing.T) {
	const head = "profile --output=/r/report-1 --force-overwrite=true --sample=none --cpuctxsw=none --backtrace=none "
	const deep = head + "--trace=cuda,nvtx,osrt --cuda-graph-trace=node "
	const light = head + "--trace=cuda,nvtx --cuda-graph-trace=graph "
	const ranges = "--capture-range=nvtx --nvtx-capture=%s --capture-range-end=none --env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0 "
	for name, c := range map[string]struct {
		change func(*plan.Options)
		want   string
	}{
		"deep":               {func(o *plan.Options) {}, deep},
		"light":              {func(o *plan.Options) { o.Mode = plan.ModeLight }, light},
		"custom":             {func(o *plan.Options) { o.Mode, o.Tools = plan.ModeCustom, []string{"nsys"} }, deep},
		"light, tools named": {func(o *plan.Options) { o.Mode, o.Tools = plan.ModeLight, []string{"nsys", "torch"} }, light},
		"trace":              {func(o *plan.Options) { o.Nsys.Trace = []string{"cuda", "nvtx", "cudnn"} }, head + "--trace=cuda,nvtx,cudnn --cuda-graph-trace=node "},
		"trace, light":       {func(o *plan.Options) { o.Mode, o.Nsys.Trace = plan.ModeLight, []string{"cuda"} }, head + "--trace=cuda --cuda-graph-trace=graph "},
		"graphs":             {func(o *plan.Options) { o.Nsys.GraphTrace = "graph" }, head + "--trace=cuda,nvtx,osrt --cuda-graph-trace=graph "},
		"graphs, light":      {func(o *plan.Options) { o.Mode, o.Nsys.GraphTrace = plan.ModeLight, "node" }, head + "--trace=cuda,nvtx --cuda-graph-trace=node "},
		"range":              {func(o *plan.Options) { o.Range = "prefill" }, deep + strings.Replace(ranges, "%s", "prefill", 1)},
		"range of a domain":  {func(o *plan.Options) { o.Range = "prefill@LLM" }, deep + strings.Replace(ranges, "%s", "prefill@LLM", 1)},
		"range with an @":    {func(o *plan.Options) { o.Range = `LLM\@prefill@x` }, deep + strings.Replace(ranges, "%s", `LLM\@prefill@x`, 1)},
		"range, any domain":  {func(o *plan.Options) { o.Range = "prefill@*" }, deep + strings.Replace(ranges, "%s", "prefill@*", 1)},
		"profiler API":       {func(o *plan.Options) { o.ProfilerAPI = true }, deep + "--capture-range=cudaProfilerApi --capture-range-end=repeat "},
		"memory":             {func(o *plan.Options) { o.Nsys.Memory = true }, deep + "--cuda-memory-usage=true "},
		"memory, light":      {func(o *plan.Options) { o.Mode, o.Nsys.Memory = plan.ModeLight, true }, light + "--cuda-memory-usage=true "},
		"stacks": {func(o *plan.Options) { o.Nsys.Stack = true }, strings.Replace(deep, "--sample=none", "--sample=process-tree", 1) +
			"--cudabacktrace=all:0 --python-backtrace=cuda --python-sampling=true "},
		"stacks without samples": {func(o *plan.Options) { o.Nsys.Stack, o.Nsys.Args = true, []string{"--python-sampling=false"} }, strings.Replace(deep, "--sample=none", "--sample=process-tree", 1) +
			"--cudabacktrace=all:0 --python-backtrace=cuda --python-sampling=false "},
		"delay":              {func(o *plan.Options) { o.Delay = 90 * time.Second }, deep + "--delay=90 "},
		"duration":           {func(o *plan.Options) { o.Duration = 2 * time.Minute }, deep + "--duration=120 --stop-on-exit=true --kill=sigterm --wait=primary "},
		"delay and duration": {func(o *plan.Options) { o.Delay, o.Duration = time.Second, 2*time.Second }, deep + "--delay=1 --duration=2 --stop-on-exit=true --kill=sigterm --wait=primary "},
		"range and duration": {func(o *plan.Options) { o.Range, o.Duration = "a", time.Second },
			deep + strings.Replace(ranges, "%s", "a", 1) + "--duration=1 --stop-on-exit=true --kill=sigterm --wait=primary "},
		"more arguments": {func(o *plan.Options) {
			o.Nsys.Args = []string{"--gpu-metrics-devices=all", "--sample=process-tree"}
			o.Delay = time.Second
		},
			deep + "--delay=1 --gpu-metrics-devices=all --sample=process-tree "},
		"of other tools": {func(o *plan.Options) { o.Torch, o.Baseline, o.Repeats, o.Ncu.Args = true, true, 3, []string{"--x"} }, deep},
	} {
		o := plan.With(c.change)
		if err := o.Validate(); err != nil && name != "range, any domain" { // which ncu lacks
			t.Errorf("%s: %v", name, err)
		}
		want := append(strings.Fields(c.want), "/usr/bin/prof", "launched", "--", "python", "run me.py")
		if got := Args(o, "/r/report-1", want[len(want)-5:]); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// TestNsysArgsKeep looks whether the slices given are left alone: they are used for every pass.
func TestNsysArgsKeep(t *testing.T) {
	extra := append(make([]string, 0, 8), "--stats=true")
	o := plan.With(func(o *plan.Options) { o.Nsys.Args = extra })
	Args(o, "a", []string{"app"})
	ncu.Args(plan.With(func(o *plan.Options) { o.Ncu.Args = extra }), ncu.Target{}, "a", "b", []string{"app"})
	if got := extra[:8]; got[1] != "" {
		t.Errorf("behind the arguments given now stands %q", got[1:])
	}
}

func TestOutputMacros(t *testing.T) {
	if got := Args(plan.Defaults(), "/r/50%p", []string{"a"}); !slices.Contains(got, "--output=/r/50%%p") {
		t.Errorf("got %q", got)
	}
	if got := ncu.Args(plan.Defaults(), ncu.Target{}, "/r/50%p", "/r/50%p.log", []string{"a"}); !slices.Contains(got, "/r/50%%p") || !slices.Contains(got, "/r/50%p.log") {
		t.Errorf("got %q", got)
	}
}

func TestNsysExportArgs(t *testing.T) {
	for payloads, want := range map[bool][]string{
		true:  {"export", "--type=sqlite", "--force-overwrite=true", "--include-json=true", "--output=/r/a b.sqlite", "/r/a b.nsys-rep"},
		false: {"export", "--type=sqlite", "--force-overwrite=true", "--output=/r/a b.sqlite", "/r/a b.nsys-rep"},
	} {
		if got := ExportArgs("/r/a b.nsys-rep", "/r/a b.sqlite", payloads); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNsysReports(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]*")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report-1.nsys-rep", "report-1.2.nsys-rep", "report-1.10.nsys-rep", "report-1.1.nsys-rep", "report-10.nsys-rep", "report-1.x.nsys-rep", "report-1.0.nsys-rep",
		"report-1.sqlite", "report-12.nsys-rep", "report-1.2.sqlite", "xreport-1.nsys-rep"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for out, want := range map[string]string{
		"report-1": "report-1.nsys-rep report-1.1.nsys-rep report-1.2.nsys-rep report-1.10.nsys-rep", "report-10": "report-10.nsys-rep", "report-2": "",
	} {
		got, err := Reports(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			if filepath.Dir(g) != dir {
				t.Errorf("%s is not in %s", g, dir)
			}
			got[i] = filepath.Base(g)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", out, got, want)
		}
	}
	if got, err := Reports(filepath.Join(dir, "none", "report-1")); err == nil {
		t.Errorf("a folder that is not there has %q", got)
	}
}

// TestTracesGraphNodes holds when prof's tracer records the kernels of CUDA graphs: in windows, in deep captures and where asked.
func TestTracesGraphNodes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Options)
		want   bool
	}{
		"light":            {func(*plan.Options) {}, false},
		"deep":             {func(o *plan.Options) { o.Mode = plan.ModeDeep }, true},
		"node":             {func(o *plan.Options) { o.Nsys.GraphTrace = plan.GraphTraceNode }, true},
		"paused":           {func(o *plan.Options) { o.Paused = true }, true},
		"range":            {func(o *plan.Options) { o.Range = "decode" }, true},
		"delay":            {func(o *plan.Options) { o.Delay = time.Second }, true},
		"paused, by graph": {func(o *plan.Options) { o.Paused, o.Nsys.GraphTrace = true, plan.GraphTraceGraph }, false},
	} {
		o := plan.With(func(o *plan.Options) { o.Mode = plan.ModeLight })
		c.change(&o)
		if got := o.TracesGraphNodes(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
