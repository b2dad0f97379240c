package cli

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/capture/tracer"
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

// compiledStandIn makes a stand-in for CUPTI and a program that uses it, work, in a folder, whose subfolder cuda is as a CUDA toolkit. Without a
// compiler the test is skipped.
func compiledStandIn(t *testing.T) (dir, gcc string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir = t.TempDir()
	cupti := filepath.Join(dir, "libcupti.so.12")
	compiled(t, cupti, "-shared", "-fPIC", "-Wl,-soname,libcupti.so.12", standIn+"cupti.c")
	compiled(t, filepath.Join(dir, "work"), standIn+"work.c", cupti, "-ldl", "-lpthread")
	if err := os.CopyFS(filepath.Join(dir, "cuda", "include"), os.DirFS(standIn+"include")); err != nil {
		t.Fatal(err)
	}
	return dir, gcc
}

// TestCaptureLight captures with prof's own tracer, which a light capture takes where it can be built.
func TestCaptureLight(t *testing.T) {
	t.Parallel()
	dir, _ := compiledStandIn(t)
	work := "exec " + filepath.Join(dir, "work")
	const traced = "prof-1,ok,0,\n"
	for name, c := range map[string]struct {
		args, work string
		nsys       string // its path; "": the fake one
		code       int
		passes     string
		kernels    string // how many, and in how many ranges decode_step
		said       string
	}{
		"whole":          {args: "--mode light", work: work, passes: traced, kernels: "3000,3000"},
		"window":         {args: "--mode light --on decode_step --after 1000 --window 500", work: work, passes: traced, kernels: "500,500"},
		"range":          {args: "--mode light --range decode_step --after 2999", work: work, passes: traced, kernels: "1,1"},
		"api":            {args: "--mode light --profiler-api", work: work + " profiler", passes: traced, kernels: "600,600"},
		"switched":       {args: "--mode light --paused", work: built + " mark start; " + filepath.Join(dir, "work") + "; " + built + " mark stop", passes: traced, kernels: "3000,3000", said: "`prof mark start` begins it"},
		"repeated":       {args: "--tools prof --repeats 2 --baseline", work: work, passes: "baseline-1,ok,0,\nprof-1,ok,0,\nbaseline-2,ok,0,\nprof-2,ok,0,\n", kernels: "6000,6000"},
		"fails":          {args: "--mode light", work: work + " fails", code: 5, passes: "prof-1,failed,5,the workload ended with exit status 5\n", kernels: "3000,3000"},
		"killed":         {args: "--mode light", work: work + " kill", code: 137, passes: "prof-1,failed,SIGKILL,the workload was ended by SIGKILL\n", kernels: "3000,3000", said: "do not end in order"},
		"nothing":        {args: "--mode light", work: "true", code: 1, passes: "prof-1,no_report,0,no process of the workload loaded CUDA or NVTX: nothing was traced\n", kernels: "0,0"},
		"no nsys":        {args: "--torch", nsys: "/none", work: work, code: 1, passes: "prof-1,ok,0,\ntorch-1,no_report,0,\"the PyTorch profiler left no trace; if the workload is Python with PyTorch, messages of prof_mark in its output say why\"\nncu-1,ok,0,\n", kernels: "3000,3000", said: "using prof's own tracer, because Nsight Systems cannot be used"},
		"nsys asked for": {args: "--tools nsys", nsys: "/none", work: work, code: 1, passes: "nsys-1,not_run,-,\"nsys: PROF_NSYS=/none cannot be run: exec: \"\"/none\"\": stat /none: no such file or directory\"\nbaseline-1,ok,0,\n", kernels: "0,0"},
		"by nsys":        {args: "--mode light --nsys-trace cuda", work: "true", passes: "nsys-1,ok,0,\n", kernels: "16,0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "", "LD_LIBRARY_PATH="+dir, "CUDA_HOME="+filepath.Join(dir, "cuda"), "PROF_NSYS="+c.nsys)
			r := p.run(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "sh", "-c", c.work)...)
			if r.code != c.code || !strings.Contains(r.err, c.said) || strings.Contains(c.args, "light") && strings.Contains(r.err, "Nsight Systems") {
				t.Errorf("exit %d, want %d, %q and nothing of Nsight Systems:\n%s", r.code, c.code, c.said, r.err)
			}
			p.wantPasses("r", c.passes)
			got := p.sql("SELECT (SELECT count(*) FROM kernels) AS kernels, (SELECT count(*) FROM ranges WHERE name = 'decode_step' AND duration_ns IS NOT NULL) AS steps")
			if got != "kernels,steps\n"+c.kernels+"\n" {
				t.Errorf("got %s, want %s", got, c.kernels)
			}
		})
	}
	p := fakes(t, "", "LD_LIBRARY_PATH="+dir)
	r := p.run("capture", "--run", "r", "--mode", "light", "--", "true")
	if r.code != 0 || !strings.Contains(r.err, "using Nsight Systems, because prof's own tracer cannot be built: no headers of CUPTI") {
		t.Errorf("without headers: exit %d\n%s", r.code, r.err)
	}
	p.wantPasses("r", "nsys-1,ok,0,\n")
	r = p.run("capture", "--run", "s", "--mode", "light", "--paused", "--", "true")
	if r.code != 1 || !strings.Contains(r.err, "no headers of CUPTI") {
		t.Errorf("a paused capture without headers: exit %d\n%s", r.code, r.err)
	}
	p.wantLike(1, "", "prof: no capture with --paused is running: start one with prof capture --mode light --paused -- CMD\n", "mark", "start")
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
	const whole = "kernel(float*)|3000|6000000|3000|cudaLaunchKernel"
	const ranges = "decode_step|3000|0 decode|1|0 open|1|1 request|1|0 step|80000|0"
	for name, c := range map[string]struct {
		mode            string
		env             []string
		window          tracer.Window
		byGraph         bool
		code            int
		kernels, ranges string
		said            string
		isCut           bool
	}{
		"ends":                {ranges: ranges},
		"ends with an error":  {mode: "fails", code: 5, ranges: ranges},
		"forks":               {mode: "fork", ranges: "child|1|1 " + ranges},
		"forks first":         {mode: "worker", ranges: "decode_step|3000|0 decode|1|0 open|1|1 parent|1|0 request|1|0 step|80000|0"},
		"is killed":           {mode: "kill", code: -1, ranges: ranges, said: "do not end in order"},
		"leaves by _exit":     {mode: "_exit", code: 3, ranges: ranges, said: "do not end in order"},
		"CUPTI is taken":      {env: []string{"CUPTI_TAKEN=1"}, ranges: ranges, said: "another tool in the process uses CUPTI"},
		"has a disk of 20 kB": {mode: "full", said: "could not be written: File too large", isCut: true},
		"is traced in a window": {
			window: tracer.Window{Range: "decode_step", After: 1000, Instances: 500}, kernels: "kernel(float*)|500|1000000|500|cudaLaunchKernel",
			ranges: "decode_step|500|0 decode|1|0",
		},
		"is traced in a window while CUPTI is taken": {
			env: []string{"CUPTI_TAKEN=1"}, window: tracer.Window{Range: "decode_step"}, said: "so no window can be traced", isCut: true,
		},
		"is traced in a range of another domain": {window: tracer.Window{Range: "decode_step", Domain: "x"}, said: "nothing was traced: what begins the window never came", isCut: true},
		"is traced from cudaProfilerStart": {
			mode: "profiler", window: tracer.Window{ProfilerAPI: true}, kernels: "kernel(float*)|600|1200000|600|cudaLaunchKernel", ranges: "decode_step|600|0 decode|3|0",
		},
		"is traced when it is told to": {
			mode: "later", window: tracer.Window{Switch: filepath.Join(dir, "switch")}, kernels: "later()|1|2000|1|cudaLaunchKernel", ranges: "open|1|0",
		},
		"is traced while it asks for it, graphs as a whole": {
			mode: "profiler", window: tracer.Window{ProfilerAPI: true}, byGraph: true, kernels: "kernel(float*)|600|1200000|600|cudaLaunchKernel", ranges: "decode_step|600|0 decode|3|0",
		},
		"is traced after a delay": {window: tracer.Window{Delay: 1e6 * time.Hour}, said: "nothing was traced", isCut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			traces := filepath.Dir(write(t, p.path("traces/1.log"), nil))
			cmd := exec.Command(filepath.Join(dir, "work"), c.mode)
			cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dir), append(lib.Env(tracer.Options{Dir: traces, GraphNodes: !c.byGraph, Window: c.window}), c.env...)...)
			if r := finish(t, cmd, cmd.Run); r.code != c.code || r.out+r.err != "" {
				t.Fatalf("the workload: %+v, want exit %d and no output", r, c.code)
			}
			r := p.run("ingest", "--run", "x", traces)
			said := r.err + p.sql("SELECT string_agg(message, '; ') FROM diagnostic")
			if r.code != 0 || !strings.Contains(said, c.said) || c.said == "" && strings.Contains(r.err, "warning") {
				t.Fatalf("exit %d, want %q: %s", r.code, c.said, said)
			}
			kernels := p.sql("SELECT concat_ws('|', kernel, count(*), sum(duration_ns)::BIGINT, count(launch_start_ns), any_value(launch_api)) AS got FROM kernels GROUP BY kernel")
			if want := cmp.Or(c.kernels, whole); !c.isCut && kernels != "got\n"+want+"\n" {
				t.Errorf("kernels: %s, want %s", kernels, want)
			}
			got := p.sql("SELECT string_agg(said, ' ' ORDER BY said) AS got FROM (SELECT concat_ws('|', name, count(*), count(*) FILTER (duration_ns IS NULL)) AS said FROM ranges GROUP BY name)")
			if !c.isCut && got != "got\n"+c.ranges+"\n" {
				t.Errorf("ranges: %s, want %s", got, c.ranges)
			}
			graphs := "0"
			if c.byGraph { // those between windows are recorded too, and dropped
				graphs, _, _ = strings.Cut(strings.TrimPrefix(c.kernels, "kernel(float*)|"), "|")
			}
			if got := p.sql("SELECT count(*) AS n FROM graph_launch"); got != "n\n"+graphs+"\n" {
				t.Errorf("graph launches: %s, want %s", got, graphs)
			}
			if exact := p.sql("SELECT bool_and(is_exact) AS is_exact FROM conservation('x')"); exact != "is_exact\ntrue\n" {
				t.Errorf("kernel time is conserved: %s", exact)
			}
		})
	}
}
