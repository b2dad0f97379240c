package cli

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/capture/capturetest"
	"prof/capture/tracer"
	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// compiled compiles C against the stand-in for CUPTI.
func compiled(t *testing.T, out string, args ...string) {
	t.Helper()
	args = append([]string{"-O2", "-Wall", "-Werror", "-I", standIn + "include", "-o", out}, args...)
	if said, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %q: %v\n%s", args, err, said)
	}
}

const standIn = "../../capture/tracer/testdata/"

// compiledStandIn makes a stand-in for CUPTI and a program that uses it, work, in a folder of all tests. Without a compiler the test is skipped.
func compiledStandIn(t *testing.T) (dir, gcc string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	standInLock.Lock()
	defer standInLock.Unlock()
	dir = filepath.Join(filepath.Dir(built), "cupti")
	if exists(dir) {
		return dir, gcc
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cupti, cuda := filepath.Join(dir, "libcupti.so.12"), filepath.Join(dir, "libcuda.so.1")
	compiled(t, cupti, "-shared", "-fPIC", "-Wl,-soname,libcupti.so.12", standIn+"cupti.c")
	compiled(t, cuda, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", standIn+"cuda.c")
	for _, program := range []string{"work", "payloads"} {
		compiled(t, filepath.Join(dir, program), standIn+program+".c", "-Wl,--no-as-needed", cupti, cuda, "-ldl", "-lpthread")
	}
	return dir, gcc
}

var standInLock sync.Mutex

// TestCaptureLight captures with prof's own tracer, which a light capture takes where it can be built.
func TestCaptureLight(t *testing.T) {
	t.Parallel()
	dir, gcc := compiledStandIn(t)
	lib, err := tracer.Build(t.Context(), tracer.Places{Compilers: []string{gcc}, Includes: []string{standIn + "include"}, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	withTracer := func(t *testing.T) *bench {
		b := newBench(t)
		b.env = []string{"LD_LIBRARY_PATH=" + dir}
		b.machine.Build = func(context.Context, tracer.Places) (tracer.Library, error) { return lib, nil }
		b.work = func(p *capturetest.Process) int { return p.Exec(filepath.Join(dir, "work"), p.Argv[1:]...) }
		return b
	}
	const traced, left = "prof-1,ok,0,\n", "prof/trace-1"
	for name, c := range map[string]struct {
		args, mode string
		without    string // a tool
		work       capturetest.Program
		window     []string // what the tracer is told of it
		code       int
		passes     string
		left       string
		said       string
	}{
		"whole":          {args: "--mode light", passes: traced, left: left},
		"window":         {args: "--mode light --on decode_step@x --after 1000 --window 500", passes: traced, left: left, window: []string{"PROF_TRACE_RANGE=decode_step", "PROF_TRACE_DOMAIN=x", "PROF_TRACE_AFTER=1000", "PROF_TRACE_WINDOW=500"}},
		"api":            {args: "--mode light --profiler-api", mode: "profiler", passes: traced, left: left, window: []string{"PROF_TRACE_API=1"}},
		"later":          {args: "--mode light --delay 1ms --duration 1m --cuda-graph-trace graph", passes: traced, left: left, window: []string{"PROF_TRACE_DELAY=1000000", "PROF_TRACE_DURATION=60000000000", "PROF_TRACE_GRAPH=graph"}},
		"repeated":       {args: "--tools prof --repeats 2 --baseline", passes: "baseline-1,ok,0,\nprof-1,ok,0,\nprof-2,ok,0,\nbaseline-2,ok,0,\n", left: left + " prof/trace-2"},
		"fails":          {args: "--mode light", mode: "fails", code: 5, passes: "prof-1,failed,5,the workload ended with exit status 5\n", left: left},
		"nothing":        {args: "--mode light", work: exits(0), code: 1, passes: "prof-1,no_report,0,no process of the workload loaded CUDA or NVTX: nothing was traced\n"},
		"no nsys":        {args: "--torch", without: "nsys", code: 1, passes: "prof-1,ok,0,\ntorch-1,no_report,0,\"the PyTorch profiler left no trace; if the workload is Python with PyTorch, messages of prof_mark in its output say why\"\nncu-1,ok,0,\n", left: left + " ncu/report-1.ncu-rep"},
		"nsys asked for": {args: "--tools nsys", without: "nsys", code: 1, passes: "nsys-1,not_run,-,nsys: not found: .*\nbaseline-1,ok,0,\n"},
		"by nsys":        {args: "--tools nsys", work: exits(0), passes: "nsys-1,ok,0,\n", left: "nsys/report-1.sqlite"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withTracer(t)
			b.machine.Remove(c.without)
			work, told := b.work, []string(nil)
			b.work = func(p *capturetest.Process) int {
				told = p.Env
				if c.work != nil {
					return c.work(p)
				}
				return work(p)
			}
			r := b.prof(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), append([]string{"--", "work"}, strings.Fields(c.mode)...)...)...)
			if r.code != c.code || !strings.Contains(r.err, c.said) || strings.Contains(c.args, "light") && strings.Contains(r.err, "Nsight Systems") {
				t.Errorf("exit %d, want %d, %q and nothing of Nsight Systems:\n%s", r.code, c.code, c.said, r.err)
			}
			b.wantPasses("r", c.passes)
			if got := b.artifacts("r"); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
			for _, v := range c.window {
				if !slices.Contains(told, v) {
					t.Errorf("the tracer is not told %s: %q", v, told)
				}
			}
		})
	}
	t.Run("stored", func(t *testing.T) { // switched on and off, and killed
		t.Parallel()
		b := withTracer(t).storing()
		work := b.work
		b.work = func(p *capturetest.Process) int {
			mark := func(word string) {
				if got, want := b.run("mark", word), (result{0, "r: " + map[string]string{"start": "recording", "stop": "recording is paused"}[word] + "\n", ""}); got != want {
					t.Errorf("mark %s: %+v", word, got)
				}
			}
			mark("start")
			defer mark("stop")
			return work(p)
		}
		r := b.prof("capture", "--run", "r", "--mode", "light", "--paused", "--", "work", "kill")
		if r.code != 137 || !strings.Contains(r.err, "`prof mark start` begins it") || !strings.Contains(r.err, "do not end in order") {
			t.Errorf("exit %d:\n%s", r.code, r.err)
		}
		b.wantPasses("r", "prof-1,failed,SIGKILL,the workload was ended by SIGKILL\n")
		b.wantRows(map[string]string{
			"SELECT (SELECT count(*) FROM kernels) AS kernels, (SELECT count(*) FROM ranges WHERE name = 'decode_step' AND duration_ns IS NOT NULL) AS steps": "kernels,steps\n3000,3000\n",
			"SELECT count(*) > 0 AND count(recording_ns) = count(*) AS is_timed FROM ncu_plan('r')":                                                           "is_timed\ntrue\n", // time 0 of a trace is before the workload starts
			"SELECT bool_and(is_exact) AS is_exact FROM conservation('r')":                                                                                    "is_exact\ntrue\n",
		})
	})
	b := newBench(t)
	if r := b.prof("capture", "--run", "s", "--mode", "light", "--paused", "--", "work"); r.code != 1 || !strings.Contains(r.err, "no headers of CUPTI") {
		t.Errorf("a paused capture without headers: exit %d\n%s", r.code, r.err)
	}
	b.wantLike(1, "", "prof: no capture with --paused is running: start one with prof capture --mode light --paused -- CMD\n", "mark", "start")
}

// TestTracer traces a program that launches kernels of a stand-in for CUDA, and ends in every way: its trace can be stored, and the program's
// end is its own.
func TestTracer(t *testing.T) {
	t.Parallel()
	dir, gcc := compiledStandIn(t)
	places := tracer.Places{Compilers: []string{gcc}, Includes: []string{standIn + "include"}, Cache: filepath.Join(dir, "cache")}
	lib, err := tracer.Build(t.Context(), places)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := tracer.Build(t.Context(), places); err != nil || again != lib {
		t.Errorf("built once more: %+v, %v, want %+v", again, err, lib)
	}
	// One warehouse has them all, without facts, which nothing here is about.
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	var one sync.Mutex // stores at a time
	const whole = "kernel(float*)|3000|6000000|3000|cuLaunchKernel"
	const ranges = "decode_step|3000|0 decode|1|0 open|1|1 request|1|0 step|2000|0"
	for name, c := range map[string]struct {
		mode            string
		env             []string
		window          tracer.Window
		byGraph         bool
		code            int
		kernels, ranges string
		said            string
		isCut           bool
		graphs          string
	}{
		"ends":                {ranges: ranges},
		"is fast":             {env: []string{"STEPS=20000"}, ranges: "decode_step|3000|0 decode|1|0 open|1|1 request|1|0 step|80000|0"},
		"ends with an error":  {mode: "fails", code: 5, ranges: ranges},
		"forks":               {mode: "fork", ranges: "child|1|1 " + ranges},
		"forks first":         {mode: "worker", ranges: "decode_step|3000|0 decode|1|0 open|1|1 parent|1|0 request|1|0 step|2000|0"},
		"is killed":           {mode: "kill", code: -1, ranges: ranges, said: "do not end in order"},
		"leaves by _exit":     {mode: "_exit", code: 3, ranges: ranges, said: "do not end in order"},
		"CUPTI is taken":      {env: []string{"CUPTI_TAKEN=1"}, ranges: ranges, said: "another tool in the process uses CUPTI"},
		"has a disk of 20 kB": {mode: "full", said: "could not be written: File too large", isCut: true},
		"is traced in a window": {
			window: tracer.Window{Range: "decode_step", After: 1000, Instances: 500}, kernels: "kernel(float*)|500|1000000|500|cuLaunchKernel",
			ranges: "decode_step|500|0 decode|1|0",
		},
		"is traced in a window while CUPTI is taken": {
			env: []string{"CUPTI_TAKEN=1"}, window: tracer.Window{Range: "decode_step"}, said: "so no window can be traced", isCut: true,
		},
		"is traced in a range of another domain": {window: tracer.Window{Range: "decode_step", Domain: "x"}, said: "nothing was traced: what begins the window never came", isCut: true},
		"is traced from cudaProfilerStart": {
			mode: "profiler", window: tracer.Window{ProfilerAPI: true}, kernels: "kernel(float*)|600|1200000|600|cuLaunchKernel", ranges: "decode_step|600|0 decode|3|0",
		},
		"is traced when it is told to": {
			mode: "later", window: tracer.Window{Switch: filepath.Join(dir, "switch")}, kernels: "later()|1|2000|1|cuLaunchKernel", ranges: "open|1|0",
		},
		"is traced while it asks for it, graphs as a whole": {
			mode: "profiler", window: tracer.Window{ProfilerAPI: true}, byGraph: true, kernels: "kernel(float*)|600|1200000|600|cuLaunchKernel", ranges: "decode_step|600|0 decode|3|0",
		},
		"has graphs with conditional nodes": {env: []string{"CUPTI_CONDITIONAL=1"}, window: tracer.Window{Range: "decode_step", After: 1000, Instances: 500},
			kernels: "body()|500|50000|500|cuLaunchKernel;kernel(float*)|500|1000000|500|cuLaunchKernel", ranges: "decode_step|500|0 decode|1|0", graphs: "500"},
		"has graphs that kernels launch": {env: []string{"CUPTI_DEVICE_GRAPHS=1"}, mode: "profiler", window: tracer.Window{ProfilerAPI: true}, byGraph: true,
			kernels: "kernel(float*)|600|1200000|600|cuLaunchKernel", ranges: "decode_step|600|0 decode|3|0", graphs: "1200"},
		"is traced after a delay": {window: tracer.Window{Delay: 1e6 * time.Hour}, said: "nothing was traced", isCut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, traces := dir, t.TempDir()
			cmd := exec.Command(filepath.Join(dir, "work"), c.mode)
			cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dir), append(lib.Env(tracer.Options{Dir: traces, GraphNodes: !c.byGraph, Window: c.window}), c.env...)...)
			if r := finish(t, cmd, cmd.Run); r.code != c.code || r.out+r.err != "" {
				t.Fatalf("the workload: %+v, want exit %d and no output", r, c.code)
			}
			one.Lock()
			defer one.Unlock()
			var warnings []string
			if _, err := ingest.Run(t.Context(), w, []string{traces}, ingest.Options{Name: name, Now: testkit.Now, Load: load.Options{Threads: 2, APIRows: true}, Warn: func(text string) { warnings = append(warnings, text) }}); err != nil {
				t.Fatal(err)
			}
			of := "run_id = (SELECT run_id FROM run WHERE name = " + schema.Quote(name) + ")"
			said := strings.Join(append(warnings, testkit.Rows(t, w, "SELECT coalesce(string_agg(message, '; '), '') FROM diagnostic WHERE "+of)...), "; ")
			if !strings.Contains(said, c.said) || c.said == "" && len(warnings) > 0 {
				t.Fatalf("want %q: %s", c.said, said)
			}
			if !c.isCut {
				testkit.Expect(t, w, "SELECT kernel, count(*), sum(duration_ns)::BIGINT, count(launch_start_ns), any_value(launch_api) FROM kernels WHERE "+of+" GROUP BY kernel ORDER BY kernel", strings.Split(cmp.Or(c.kernels, whole), ";")...)
				testkit.Expect(t, w, "SELECT string_agg(said, ' ' ORDER BY said) FROM (SELECT concat_ws('|', name, count(*), count(*) FILTER (duration_ns IS NULL)) AS said FROM ranges WHERE "+of+" GROUP BY name)", c.ranges)
			}
			graphs := "0"
			if c.byGraph { // those between windows are recorded too, and dropped
				graphs, _, _ = strings.Cut(strings.TrimPrefix(c.kernels, "kernel(float*)|"), "|")
			}
			testkit.Expect(t, w, "SELECT count(*) FROM graph_launch WHERE "+of, cmp.Or(c.graphs, graphs))
		})
	}
}

// TestTracerAttached traces a process that runs on as often as it is asked to, each time into a folder of its own. What came before a window, ranges that are
// open and the GPU, of which CUPTI tells nobody who comes late, is in each.
func TestTracerAttached(t *testing.T) {
	t.Parallel()
	dir, gcc := compiledStandIn(t)
	lib, err := tracer.Build(t.Context(), tracer.Places{Compilers: []string{gcc}, Includes: []string{standIn + "include"}, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	traces := t.TempDir()
	for _, name := range []string{"1", "2"} {
		if err := os.Mkdir(filepath.Join(traces, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "work"), "attached")
	cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dir), lib.Env(tracer.Options{Dir: traces, GraphNodes: true, Window: tracer.Window{Switch: filepath.Join(traces, "switch"), Each: true}})...)
	if r := finish(t, cmd, cmd.Run); r.code != 0 || r.out+r.err != "" {
		t.Fatalf("the workload: %+v", r)
	}
	if got, want := glob(t, traces), []string{"1", "2", "N.launches", "switch"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	counted, err := filepath.Glob(filepath.Join(traces, "*.launches"))
	if err != nil || len(counted) != 1 {
		t.Fatalf("%q, %v", counted, err)
	}
	if text, err := os.ReadFile(counted[0]); err != nil || string(text) != "100\n" {
		t.Errorf("launches while they were counted: %q, %v", text, err)
	}
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	for name, kernels := range map[string]string{"1": "50|50", "2": "70|70"} {
		warn := func(text string) { t.Errorf("window %s: %s", name, text) }
		if _, err := ingest.Run(t.Context(), w, []string{filepath.Join(traces, name)}, ingest.Options{Name: name, Now: testkit.Now, Load: load.Options{Threads: 2, APIRows: true}, Warn: warn}); err != nil {
			t.Fatal(err)
		}
		of := "run_id = (SELECT run_id FROM run WHERE name = '" + name + "')"
		testkit.Expect(t, w, "SELECT count(*), count(launch_start_ns) FROM kernels WHERE "+of+" AND launch_start_ns <= start_ns", kernels)
		testkit.Expect(t, w, "SELECT name FROM ranges WHERE "+of, "open")
		testkit.Expect(t, w, "SELECT name, uuid, compute_capability, sm_count, memory_bytes_per_s, l2_bytes, max_warp_per_sm_count, clock_hz FROM device WHERE "+of,
			"Stand-in 40|GPU-28282828-2828-2828-2828-282828282828|9.0|132|4096000000000|62914560|64|1980000000")
	}
}

// glob lists a folder, numbers of processes as N.
func glob(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if pid, rest, ok := strings.Cut(name, "."); ok && strings.Trim(pid, "0123456789") == "" {
			name = "N." + rest
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
