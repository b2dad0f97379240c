package serving_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/capture"
	"prof/capture/capturetest"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/schema/rundir"
)

// bench is a machine on which an engine is captured.
type bench struct {
	t          *testing.T
	machine    *capturetest.Machine
	engine     *capturetest.Engine
	load       capturetest.Load
	o          plan.Options
	dir        string
	interrupts chan os.Signal

	mu   sync.Mutex
	said strings.Builder
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, machine: capturetest.New(t.TempDir()), engine: capturetest.NewEngine(t), dir: t.TempDir(), interrupts: make(chan os.Signal, 4)}
	b.load = capturetest.Load{Engine: b.engine, Takes: time.Minute, Result: "out/bench.json"}
	b.machine.Build = func(context.Context, tracer.Places) (tracer.Library, error) {
		return tracer.Library{Path: "/tracer.so"}, nil
	}
	b.machine.Install("engine", func(p *capturetest.Process) int { return b.engine.Run(p) })
	b.machine.Install("sh", func(p *capturetest.Process) int {
		if got := strings.Join(p.Argv, " "); got != "sh -c bench --save" {
			t.Errorf("the load is %q", got)
		}
		if p.Getenv("CUDA_INJECTION64_PATH") != "" {
			t.Error("the load is traced")
		}
		return b.load.Run(p)
	})
	b.o = plan.With(func(o *plan.Options) {
		o.Serving.On, o.Serving.Ready, o.Serving.Load = true, b.engine.URL, "bench --save"
		o.SampleHz, o.Grace = 0, 2*time.Second
	})
	return b
}

// capture makes the capture and returns its only pass.
func (b *bench) capture() (rundir.Pass, *rundir.Manifest) {
	b.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer null.Close()
	s, err := capture.New(b.t.Context(), b.o, capture.Setup{Runs: filepath.Join(b.dir, ".prof", "runs"), Run: "r", Argv: []string{"engine", "--model", "m"}, Environ: []string{"PATH=/bin"},
		Dir: b.dir, Self: capturetest.Self, ProfVersion: "9", Files: []*os.File{null, null, null}, Interrupts: b.interrupts, Talk: b.talk, Machine: b.machine.Capture(nil),
		IsResult: func(path string) bool { return strings.Contains(path, "bench") }})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.Timeline(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	if _, err := s.Finish(); err != nil {
		b.t.Fatal(err)
	}
	m, err := rundir.ReadManifest(filepath.Join(s.Dir(), rundir.ManifestName))
	if err != nil {
		b.t.Fatal(err)
	}
	if len(m.Passes) != 1 {
		b.t.Fatalf("%d passes", len(m.Passes))
	}
	return m.Passes[0], m
}

func (b *bench) talk(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said.WriteString(text + "\n")
}

func (b *bench) told() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.said.String()
}

// left lists the files of the run's folder that a recording left, but for logs and those of every run.
func (b *bench) left() string {
	var out []string
	root := filepath.Join(b.dir, ".prof", "runs", "r")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if name, _ := filepath.Rel(root, path); err == nil && strings.Contains(name, "/") && !strings.HasSuffix(name, ".log") && !d.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(out, " ")
}

const trace = "prof/trace-1/1000000002.proftrace"

// TestServing records an engine under load in every way in which engine and load behave, and looks what is kept and said.
func TestServing(t *testing.T) {
	t.Parallel()
	steady := func(from time.Duration) func(time.Duration) float64 { // rising until then
		return func(loaded time.Duration) float64 { return 1000 * min(1, loaded.Seconds()/from.Seconds()) }
	}
	const result = "serving/results/out/bench.json"
	for name, c := range map[string]struct {
		set       func(b *bench)
		status    string
		reason    string // begins so
		said      []string
		left      string
		isSteady  bool
		waits     [2]time.Duration // under load, from and to
		processes int
		window    time.Duration // 0: none
		slack     time.Duration // of window; 0: a second
		warned    string
	}{
		"well": {isSteady: true, waits: [2]time.Duration{8 * time.Second, time.Minute}, processes: 1, window: 20 * time.Second, left: trace + " " + result,
			said: []string{"waiting for the engine: http://", "the engine is ready after ", "starting the load: bench --save\n", "steady after ", " launches a second in 1 process\n", "recording for 20s\n", "recorded; waiting until the load ends", "the load's result: "}},
		"four workers":   {set: func(b *bench) { b.engine.Workers = 4 }, isSteady: true, processes: 4, window: 20 * time.Second, left: "prof/trace-1/1000000002.proftrace prof/trace-1/1000000003.proftrace prof/trace-1/1000000004.proftrace prof/trace-1/1000000005.proftrace " + result},
		"slowly rising":  {set: func(b *bench) { b.engine.Rate = steady(20 * time.Second) }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace + " " + result},
		"never steady":   {set: func(b *bench) { b.engine.Rate = steady(time.Hour); b.o.Serving.SteadyTimeout = 15 * time.Second }, waits: [2]time.Duration{15 * time.Second, 20 * time.Second}, processes: 1, window: 20 * time.Second, left: trace + " " + result, said: []string{"recording all the same after 15", " under load (--steady-timeout): not steady, "}, warned: "not steady"},
		"late enough":    {set: func(b *bench) { b.o.Serving.Warm, b.load.Takes = 30*time.Second, 2*time.Minute }, isSteady: true, waits: [2]time.Duration{30 * time.Second, time.Minute}, processes: 1, window: 20 * time.Second, left: trace + " " + result},
		"too late":       {set: func(b *bench) { b.engine.Starts, b.o.Serving.ReadyTimeout = time.Minute, 5*time.Second }, status: rundir.StatusFailed, reason: "the engine is not ready: http://"},
		"crashes first":  {set: func(b *bench) { b.engine.How = "crash" }, status: rundir.StatusFailed, reason: "the workload ended with exit status 3 before it was ready: torch.OutOfMemoryError: CUDA out of memory"},
		"crashes then":   {set: func(b *bench) { b.engine.How = "crashes" }, status: rundir.StatusFailed, reason: "the engine ended ", isSteady: true, processes: 1, left: trace, said: []string{"illegal memory access"}},
		"crashes later":  {set: func(b *bench) { b.engine.How, b.load.Takes = "later", 2*time.Minute }, status: rundir.StatusFailed, reason: "the workload ended with exit status 3 after it was recorded, while the load went on: torch.AcceleratorError", isSteady: true, processes: 1, window: 20 * time.Second, left: trace},
		"load fails":     {set: func(b *bench) { b.load.How = "fails" }, status: rundir.StatusFailed, reason: "the load ended with exit status 2 after ", said: []string{"before anything was recorded: ConnectionError: the engine refuses: it must last longer"}},
		"load is short":  {set: func(b *bench) { b.load.Takes = 4 * time.Second }, status: rundir.StatusFailed, reason: "the load ended by itself after ", processes: 1, left: result},
		"load ends":      {set: func(b *bench) { b.load.Takes = 20 * time.Second }, isSteady: true, processes: 1, window: 10 * time.Second, slack: 8 * time.Second, left: trace + " " + result, said: []string{" long instead of 20s: the load ended\n"}},
		"load goes on":   {set: func(b *bench) { b.load.Takes, b.o.Serving.LoadTimeout = time.Hour, 5*time.Second }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace, said: []string{"the load goes on after 5s (--load-timeout): ending it"}, warned: "the load was ended by prof"},
		"load can stop":  {set: func(b *bench) { b.load.How, b.load.Takes, b.o.Serving.LoadTimeout = "graceful", time.Hour, 0 }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace + " " + result},
		"load is deaf":   {set: func(b *bench) { b.load.How, b.load.Takes, b.o.Serving.LoadTimeout = "deaf", time.Hour, 0 }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace, warned: "the load was ended by prof"},
		"result by name": {set: func(b *bench) { b.load.Result, b.o.Serving.LoadResult = "out/any.json", []string{"out/*.json"} }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace + " serving/results/out/any.json"},
		"no result":      {set: func(b *bench) { b.load.Result = "" }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace, warned: "the load wrote no result that prof reads below "},
		"deaf engine":    {set: func(b *bench) { b.engine.How = "deaf" }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace + " " + result},
		"cut traces":     {set: func(b *bench) { b.engine.How = "cut" }, isSteady: true, processes: 1, window: 20 * time.Second, left: trace + " " + result},
		"no GPU": {set: func(b *bench) { b.engine.Workers = 0; b.load.Takes = 2 * time.Minute }, status: rundir.StatusNoReport, reason: "no process used CUDA or NVTX while it was recorded",
			waits: [2]time.Duration{time.Minute, 70 * time.Second}, window: 20 * time.Second, left: result, said: []string{"no process of the engine has launched GPU work"}, warned: "has launched GPU work"},
		"no load": {set: func(b *bench) { b.o.Serving.Load, b.o.Serving.SteadyTimeout = "", 10*time.Second }, processes: 0, window: 20 * time.Second, left: trace, warned: "no process of the engine has launched GPU work"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.set != nil {
				c.set(b)
			}
			p, m := b.capture()
			if c.status == "" {
				c.status = rundir.StatusOK
			}
			if p.Status != c.status || !strings.HasPrefix(p.Reason, c.reason) || c.reason == "" && p.Reason != "" {
				t.Errorf("it is %s: %q, want %s: %q", p.Status, p.Reason, c.status, c.reason)
			}
			if left := b.left(); left != c.left {
				t.Errorf("left %q, want %q", left, c.left)
			}
			for _, text := range c.said {
				if !strings.Contains(b.told(), text) {
					t.Errorf("it does not say %q", text)
				}
			}
			warned := strings.Join(m.Warnings, "\n")
			if c.warned == "" && len(m.Warnings) > 1 || !strings.Contains(warned, c.warned) { // one that there is no NVML
				t.Errorf("warnings %q", m.Warnings)
			}
			v := p.Serving
			if v == nil {
				t.Fatal("run.json says nothing of the serving")
			}
			if waited := time.Duration(v.WaitedNs); v.IsSteady != c.isSteady || v.ProcessCount != c.processes || c.waits[1] > 0 && (waited < c.waits[0] || waited > c.waits[1]) {
				t.Errorf("run.json has %+v after %s", v, waited)
			}
			if window := time.Duration(v.WindowNs); c.window > 0 && (window-c.window).Abs() > max(c.slack, time.Second) || c.window == 0 && c.status == rundir.StatusOK {
				t.Errorf("the window is %s, want %s", window, c.window)
			}
			if t.Failed() {
				t.Logf("it said\n%s", b.told())
			}
		})
	}
}

// TestServingInterrupted looks what Ctrl-C leaves, and that a second one waits for nothing.
func TestServingInterrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    string // what was said last
		twice bool
		set   func(b *bench)
		left  string
	}{
		"while the engine starts": {at: "waiting for the engine"},
		"before the window":       {at: "starting the load"},
		"in the window":           {at: "recording for 20s", left: trace},
		"in the window, graceful": {at: "recording for 20s", set: func(b *bench) { b.load.How = "graceful" }, left: trace + " serving/results/out/bench.json"},
		"while the load ends":     {at: "recorded; waiting", left: trace},
		"twice":                   {at: "recording for 20s", twice: true, set: func(b *bench) { b.load.How, b.engine.How, b.o.Grace = "deaf", "deaf", time.Hour }, left: trace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.set != nil {
				c.set(b)
			}
			once := sync.Once{}
			b.engine.Starts = 5 * time.Second
			go func() {
				for !strings.Contains(b.told(), c.at) {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
				once.Do(func() {
					b.interrupts <- os.Interrupt
					if c.twice {
						time.Sleep(50 * time.Millisecond)
						b.interrupts <- os.Interrupt
					}
				})
			}()
			p, _ := b.capture()
			if p.Status != rundir.StatusInterrupted || !strings.HasPrefix(p.Reason, "stopped by the user") {
				t.Errorf("it is %s: %q", p.Status, p.Reason)
			}
			if left := b.left(); left != c.left {
				t.Errorf("left %q, want %q, said\n%s", left, c.left, b.told())
			}
		})
	}
}

// TestServingTaken refuses an engine where another one answers already: its figures would be those of the other.
func TestServingTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := newBench(t)
	b.o.Serving.Ready = other.engine.URL
	other.engine.Answer()
	p, _ := b.capture()
	if p.Status != rundir.StatusFailed || !strings.Contains(p.Reason, "answers before the engine is started") {
		t.Errorf("it is %s: %q", p.Status, p.Reason)
	}
}
