package serving_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/capture"
	"prof/capture/attach"
	"prof/capture/capturetest"
	"prof/capture/machine"
	"prof/capture/tracer"
	"prof/schema/rundir"
)

// launched has the engine run as prof launch starts it, and returns what a capture attaches to.
func (b *bench) launched(name string) attach.Launched {
	b.t.Helper()
	m := b.machine.Capture(nil)
	l, err := attach.Make(filepath.Join(b.dir, ".prof", attach.Folder), attach.Launched{Name: name, Argv: []string{"engine"}, Dir: b.dir, TracerVersion: tracer.Version}, m)
	if err != nil {
		b.t.Fatal(err)
	}
	pid, wait, err := m.Start(machine.Start{Argv: []string{"engine"}, Env: l.Env(tracer.Library{Path: "/tracer.so"}, 0), Dir: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = m.Kill(-pid, 9)
		_ = wait()
	})
	l.PID, l.Started = pid, m.StartedAt(pid) // which prof launch knows before: it becomes the process
	if err := rundir.WriteJSON(filepath.Join(b.dir, ".prof", attach.Folder, name, "launch.json"), l); err != nil {
		b.t.Fatal(err)
	}
	found, err := attach.Find(filepath.Join(b.dir, ".prof", attach.Folder), "", m)
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// record attaches to a process and returns the pass.
func (b *bench) record(run string, l attach.Launched) rundir.Pass {
	b.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer null.Close()
	s, err := capture.New(b.t.Context(), b.o, capture.Setup{Runs: filepath.Join(b.dir, ".prof", "runs"), Run: run, Argv: l.Argv, Environ: []string{"PATH=/bin"}, Dir: l.Dir, LoadDir: b.dir,
		Self: capturetest.Self, ProfVersion: "9", Files: []*os.File{null, null, null}, Interrupts: b.interrupts, Talk: b.talk, Machine: b.machine.Capture(nil), Attach: &l,
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
	return m.Passes[0]
}

// TestAttach records an engine that runs three times, once under load; each recording has a trace of its own, and the engine goes on.
func TestAttach(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	l := b.launched("llama")
	b.o.Serving.Warm, b.o.Serving.SteadyTimeout, b.o.Serving.Window = 0, 0, 3*time.Second
	load := b.o.Serving.Load
	b.o.Serving.Load = ""
	for _, run := range []string{"a", "b", "c"} {
		if run == "c" {
			b.o.Serving.Load, b.o.Serving.SteadyTimeout = load, time.Minute
		}
		p := b.record(run, l)
		traces, err := tracer.Traces(filepath.Join(b.dir, ".prof", "runs", run, "prof", "trace-1"))
		if err != nil || p.Status != rundir.StatusOK || len(traces) != 1 || p.Serving.WindowNs < 2e9 || p.Serving.IsSteady != (run == "c") || len(p.Serving.Results) != map[string]int{"c": 1}[run] {
			t.Fatalf("%s: %s %q, %d traces %v, %+v, said\n%s", run, p.Status, p.Reason, len(traces), err, p.Serving, b.told())
		}
		if whole, err := tracer.IsWhole(traces[0]); err != nil || !whole {
			t.Errorf("%s: its trace has no end: %v", run, err)
		}
		if !l.Lives(b.machine.Capture(nil)) {
			t.Fatalf("%s has ended the engine", run)
		}
		text, err := os.ReadFile(l.Switch())
		if err != nil || string(text) != "off\n" {
			t.Errorf("the switch is left as %q, %v", text, err)
		}
	}
	if b.engine.Windows.Load() != 3 {
		t.Errorf("%d windows", b.engine.Windows.Load())
	}
}

// TestAttachEnds looks what becomes of a recording that is cut short: by the end of the process, and by Ctrl-C, which leaves the process alone.
func TestAttachEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end            func(b *bench, l attach.Launched)
		status, reason string
		lives          bool
	}{
		"process": {func(b *bench, l attach.Launched) { _ = b.machine.Kill(-l.PID, 9) }, rundir.StatusFailed, "the engine ended ", false},
		"Ctrl-C":  {func(b *bench, _ attach.Launched) { b.interrupts <- os.Interrupt }, rundir.StatusInterrupted, "stopped by the user", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			l := b.launched("x")
			b.o.Serving.Load, b.o.Serving.SteadyTimeout, b.o.Serving.Warm, b.o.Serving.Window = "", 0, 0, 25*time.Minute
			go func() {
				for b.engine.Windows.Load() == 0 {
					time.Sleep(time.Millisecond)
				}
				c.end(b, l)
			}()
			p := b.record("r", l)
			if p.Status != c.status || !strings.HasPrefix(p.Reason, c.reason) || len(p.Artifacts) != 1 || l.Lives(b.machine.Capture(nil)) != c.lives {
				t.Errorf("%s %q, %q, said\n%s", p.Status, p.Reason, p.Artifacts, b.told())
			}
		})
	}
}

// TestLaunched looks which processes are found, by name and number, and that one is recorded by one at a time.
func TestLaunched(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all, m := filepath.Join(b.dir, ".prof", attach.Folder), b.machine.Capture(nil)
	find := func(which, want string) {
		t.Helper()
		if _, err := attach.Find(all, which, m); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q gives %v, want %q", which, err, want)
		}
	}
	find("", "no process of prof launch is running in "+filepath.Dir(all)+": start it with prof launch -- CMD, or name its home with --home")
	one := b.launched("one")
	find("", "")
	find("one", "")
	find("two", `no process of prof launch is running as "two"; there are one`)
	if _, err := attach.Make(all, attach.Launched{Name: "one"}, m); err == nil || !strings.Contains(err.Error(), "is the name of a running process") {
		t.Errorf("its name once more gives %v", err)
	}
	taker := capturetest.New(t.TempDir()).Capture(nil) // on which this process is not known: whoever took it is gone
	if _, err := one.Take(taker); err != nil {
		t.Error(err)
	}
	system := struct {
		machine.Machine
	}{m}
	system.Processes = itself{m.Processes}
	release, err := one.Take(system)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Take(system); !errors.Is(err, attach.ErrTaken) {
		t.Errorf("taken twice: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	_ = m.Kill(-one.PID, 9)
	for one.Lives(m) {
		time.Sleep(time.Millisecond)
	}
	find("one", "no process of prof launch is running")
	if _, err := os.Stat(filepath.Join(all, "one")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder stays: %v", err)
	}
}

// itself are processes among which is that of the test.
type itself struct{ machine.Processes }

func (i itself) StartedAt(pid int) string {
	if pid == os.Getpid() {
		return "now"
	}
	return i.Processes.StartedAt(pid)
}
