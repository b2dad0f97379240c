package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/nvml"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/internal/golden"
	"prof/schema/rundir"
)

// TestMain makes the test binary prof, where a profiler starts it in a workload's place.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == LaunchVerb {
		os.Exit(Launched(machine.Machine{}, signal.Notify, os.Stderr))
	}
	os.Exit(m.Run())
}

// site is a folder to capture in with real processes: scripts stand in for tools, and /bin/sh runs the workload.
type site struct {
	t          *testing.T
	dir        string
	o          plan.Options
	m          machine.Machine
	files      []*os.File // of the workload
	interrupts chan os.Signal

	mu   sync.Mutex
	told strings.Builder
}

// nsysScript is an nsys that says its process id. Who ends it takes its report.
const nsysScript = `#!/bin/sh
case $1 in
--version) echo "NVIDIA Nsight Systems version 2025.3.1.0"; exit ;;
export) for a; do case $a in --output=*) out=${a#--output=} ;; --output) next=1 ;; *) if [ "$next" ]; then out=$a next=; fi ;; esac; done; exec cp "$NSYS_SQLITE" "$out" ;;
esac
echo $$ >nsys.pid
shift
while case $1 in -*) true ;; *) false ;; esac; do case $1 in --output=*) out=${1#--output=} ;; esac; shift; done
"$@"
code=$?
echo a report >"$out.nsys-rep"
exit $code
`

// ncuScript is an ncu that goes on after its workload in a program of its own, until it may write its report.
const ncuScript = `#!/bin/sh
if [ $1 = --version ]; then echo "Version 2025.3.1.0 (build 1)"; exit; fi
while :; do case $1 in /bin/sh) break ;; --export) out=$2 ;; --log-file) log=$2 ;; esac; shift; done
echo "==PROF== Connected" >"$log"
"$@"
code=$?
if [ $code != 0 ]; then echo "==ERROR== The application returned an error code ($code)." >>"$log"; fi
if [ -d nsight-compute ]; then
	nsight-compute/sh -c 'until [ -e answered ]; do :; done' &
	until readlink /proc/$!/exe | grep -q nsight-compute; do :; done
	: >reporting
	wait
fi
printf 'NVR\0' >"$out.ncu-rep"
exit $code
`

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), o: plan.Defaults(), interrupts: make(chan os.Signal, 4)}
	s.o.Mode, s.o.SampleHz = plan.ModeLight, 0
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	s.files = []*os.File{null, null, null}
	s.m = machine.Machine{
		LookPath: func(name string) (string, error) {
			switch name {
			case "git", "python3", "cc", "gcc", "clang":
				return "", exec.ErrNotFound
			case rundir.ToolNsys, rundir.ToolNcu:
				return exec.LookPath(s.path("bin/" + name))
			}
			return exec.LookPath(name)
		},
		Glob: func(string) ([]string, error) { return nil, nil },
		Build: func(context.Context, tracer.Places) (tracer.Library, error) {
			return tracer.Library{}, errors.New("not here")
		},
		NVML: func() (nvml.Library, error) { return nil, nvml.ErrNotFound },
	}
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// tool puts a script into bin.
func (s *site) tool(name, script string) {
	s.t.Helper()
	golden.Write(s.t, s.path("bin/"+name), script)
	if err := os.Chmod(s.path("bin/"+name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// capture runs a capture of a script to its end, as prof does.
func (s *site) capture(script string) *rundir.Manifest {
	self, err := os.Executable()
	if err != nil {
		s.t.Error(err)
		return &rundir.Manifest{}
	}
	c, err := New(s.t.Context(), s.o, Setup{Runs: s.path("runs"), Run: "r", Argv: []string{"/bin/sh", "-c", script}, Environ: append(os.Environ(), "NSYS_SQLITE="+s.path("x.sqlite")), Dir: s.dir, Self: self,
		Files: s.files, Interrupts: s.interrupts, Machine: s.m, Talk: func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			fmt.Fprintln(&s.told, text)
		}})
	if err == nil {
		err = errors.Join(c.Timeline(s.t.Context()), c.Kernels(s.t.Context(), ncu.Target{Launches: []ncu.Launch{{Symbol: "k", Match: 1}}}, ""))
	}
	if err != nil {
		s.t.Error(err)
		return &rundir.Manifest{}
	}
	if _, err := c.Finish(); err != nil {
		s.t.Error(err)
	}
	return &c.manifest
}

// begin begins a capture; done gets its manifest.
func (s *site) begin(script string) (done <-chan *rundir.Manifest) {
	out := make(chan *rundir.Manifest, 1)
	go func() { out <- s.capture(script) }()
	return out
}

// ended waits for a capture, far longer than it takes on a busy machine.
func (s *site) ended(done <-chan *rundir.Manifest) *rundir.Manifest {
	s.t.Helper()
	select {
	case m := <-done:
		return m
	case <-time.After(2 * time.Minute):
		s.t.Fatalf("the capture goes on:\n%s", s.said())
		return nil
	}
}

func (s *site) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told.String()
}

// within waits for something that is to come.
func (s *site) within(what string, cond func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it did not come: %s; said:\n%s", what, s.said())
		}
	}
}

// pids are those that a script wrote into a file.
func (s *site) pids(name string) (out []int) {
	text, _ := os.ReadFile(s.path(name)) // it may not be there yet
	for _, word := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// wantPasses compares what became of the passes.
func (s *site) wantPasses(m *rundir.Manifest, want ...string) {
	s.t.Helper()
	var got []string
	for _, p := range m.Passes {
		end := p.Signal
		if p.ExitCode != nil {
			end = strconv.Itoa(*p.ExitCode)
		}
		got = append(got, strings.Join([]string{p.Name, p.Status, end, p.Reason}, "|"))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("passes:\n%q\nwant\n%q\n%s", got, want, s.said())
	}
}

// What the name of the working folder holds is masked in all files of the run's folder.
func TestProcessesFolder(t *testing.T) {
	t.Parallel()
	const secret = "hf_examplesecret0123456789"
	s := newSite(t)
	s.dir = s.path("work-" + secret)
	s.o.Tools = []string{rundir.ToolNsys} // there is none
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.capture("true")
	for _, name := range []string{rundir.ManifestName, rundir.EnvironmentName, rundir.ConfigName, rundir.AssumptionsName} {
		if text, err := os.ReadFile(s.path("runs/r/" + name)); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s, %v:\n%s", name, err, text)
		}
	}
}

const says = "echo $$ >.pid; mv .pid pid; "

// The user, and whoever kills the profiler, end the workload in every case.
func TestProcessesStopped(t *testing.T) {
	t.Parallel()
	const deaf = "trap '' INT TERM; " + says
	twice := func(s *site) {
		s.interrupts <- os.Interrupt
		s.within("the first is heard", func() bool { return strings.Contains(s.said(), "stopping the workload") })
		s.interrupts <- os.Interrupt
	}
	// Children that do not listen either: of its group, of a session of their own, without the environment, and without a parent.
	const kid = `'echo $$ >>kids; while :; do sleep 600; done' `
	const kids = "sh -c " + kid + "& setsid sh -c " + kid + "& setsid env -i PATH=\"$PATH\" sh -c " + kid + "& (setsid sh -c " + kid + "&); "
	const kidCount = 4
	// Of these nothing tells whose they are but whom the system gives them to.
	const lost = "(setsid env -i PATH=\"$PATH\" sh -c " + kid + "&); "
	const waits = "while :; do sleep 1; done"
	for name, c := range map[string]struct {
		script string
		stop   func(s *site)
		want   string
		tool   string // "": nsys
		grace  time.Duration
	}{
		"children, twice":      {script: deaf + kids + waits, stop: twice},
		"children, twice, ncu": {script: deaf + kids + waits, stop: twice, tool: rundir.ToolNcu},
		"children, once":       {script: deaf + kids + waits, stop: func(s *site) { s.interrupts <- os.Interrupt }, grace: 100 * time.Millisecond, want: "nsys-1|interrupted|SIGKILL|stopped by the user"},
		"children, once, ncu":  {script: deaf + kids + waits, stop: func(s *site) { s.interrupts <- os.Interrupt }, grace: 100 * time.Millisecond, tool: rundir.ToolNcu, want: "ncu-1|interrupted|137|stopped by the user"},
		"the lost, twice":      {script: deaf + kids + lost + waits, stop: twice},
		"the lost, once":       {script: kids + lost + says + "exec sleep 600", stop: func(s *site) { s.interrupts <- os.Interrupt }, want: "nsys-1|interrupted|SIGINT|stopped by the user"},
		"interrupted":          {script: says + "exec sleep 600", stop: func(s *site) { s.interrupts <- os.Interrupt }, want: "nsys-1|interrupted|SIGINT|stopped by the user"},
		"twice":                {script: deaf + waits, stop: twice}, // who tells of the end is killed too
		"the profiler is killed": {script: says + "exec sleep 600", stop: func(s *site) {
			if err := syscall.Kill(s.pids("nsys.pid")[0], syscall.SIGKILL); err != nil {
				s.t.Error(err)
			}
		}, want: "nsys-1|failed|SIGTERM|nsys ended with signal: killed and took the workload with it; it left no report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.tool(rundir.ToolNsys, nsysScript)
			s.tool(rundir.ToolNcu, ncuScript)
			if s.o.Grace = cmp.Or(c.grace, 10*time.Minute); c.tool == rundir.ToolNcu {
				s.o.Tools, s.o.Ncu.Kernels = []string{rundir.ToolNcu}, "."
			}
			golden.Write(t, s.path("x.sqlite"), string(golden.Unpacked(t, "../testdata/capture/environment/environment.sqlite.gz")))
			done := s.begin(c.script)
			s.within("the workload begins", func() bool { return len(s.pids("pid")) == 1 })
			pids := s.pids("pid")
			if n := kidCount*strings.Count(c.script, kids) + strings.Count(c.script, lost); n > 0 {
				s.within("its children begin", func() bool { return len(s.pids("kids")) == n })
				pids = append(pids, s.pids("kids")...)
			}
			c.stop(s)
			m := s.ended(done)
			if c.want != "" {
				s.wantPasses(m, c.want)
			} else if len(m.Passes) != 1 || m.Passes[0].Status != rundir.StatusInterrupted {
				t.Errorf("%+v", m.Passes)
			}
			for i, pid := range pids {
				end := time.Now().Add(5 * time.Second)
				for (machine.System{}).StartedAt(pid) != "" && time.Now().Before(end) {
					time.Sleep(5 * time.Millisecond)
				}
				if (machine.System{}).StartedAt(pid) != "" {
					t.Errorf("process %d of %d goes on: %v", i, len(pids), syscall.Kill(pid, syscall.SIGKILL))
				}
			}
		})
	}
}

// What a workload leaves at work would disturb the next pass, or stay on the GPU: it is ended, by force where it does not listen.
func TestProcessesLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tools  []string
		left   string
		passes int
	}{
		"in every pass": {[]string{rundir.ToolNsys, rundir.ToolNcu}, "sleep 600", 3},
		"deaf":          {[]string{rundir.ToolNsys}, `sh -c 'trap "" TERM; : >deaf; while :; do sleep 600; done'`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.o.Baseline, s.o.Tools, s.o.Stall = true, c.tools, 0
			s.tool(rundir.ToolNsys, nsysScript)
			s.tool(rundir.ToolNcu, ncuScript)
			golden.Write(t, s.path("x.sqlite"), string(golden.Unpacked(t, "../testdata/capture/environment/environment.sqlite.gz")))
			wait := ""
			if name == "deaf" {
				wait = "; until [ -e deaf ]; do sleep 0.01; done; rm deaf"
			}
			m := s.capture(c.left + " >left.log 2>&1 & echo $! >>pids" + wait)
			if !strings.HasPrefix(m.Status, rundir.StatusOK) || len(s.pids("pids")) != c.passes {
				t.Errorf("%+v: children %v\n%s", m.Passes, s.pids("pids"), s.said())
			}
			for i, pid := range s.pids("pids") {
				if (machine.System{}).StartedAt(pid) != "" {
					t.Errorf("the child of pass %d of %d goes on", i+1, c.passes)
				}
			}
		})
	}
}

// watched tells when prof has seen a workload's process below its tool.
type watched struct {
	machine.System
	seen func()
}

func (w watched) Below(tool int) map[int]string {
	out := w.System.Below(tool)
	if len(out) > 0 {
		w.seen()
	}
	return out
}

// Ncu whose workload has ended is left to its report, also where a program of its own writes that, and Ctrl-C comes.
func TestProcessesReport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.o.Tools, s.o.Ncu.Kernels = []string{rundir.ToolNcu}, "."
	s.tool(rundir.ToolNcu, ncuScript)
	text, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	golden.Write(t, s.path("nsight-compute/sh"), string(text))
	if err := os.Chmod(s.path("nsight-compute/sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	seen := make(chan bool, 1)
	s.m.Processes = watched{seen: func() {
		select {
		case seen <- true:
		default:
		}
	}}
	done := s.begin("until [ -e go ]; do sleep 0.02; done")
	<-seen
	golden.Write(t, s.path("go"), "")
	s.within("the report is written", func() bool { _, err := os.Stat(s.path("reporting")); return err == nil })
	s.interrupts <- os.Interrupt
	s.within("Ctrl-C is heard", func() bool { return strings.Contains(s.said(), "the report is being written") })
	golden.Write(t, s.path("answered"), "")
	s.wantPasses(s.ended(done), "ncu-1|ok|0|")
}

// read reads a file to its end.
func (s *site) read(from *os.File) <-chan string {
	out := make(chan string, 1)
	go func() {
		text, err := io.ReadAll(from)
		if err != nil && !errors.Is(err, syscall.EIO) { // EIO: the other end of a terminal is closed
			s.t.Error(err)
		}
		out <- string(text)
	}()
	return out
}

// opened closes a file at the end of the test.
func opened(t *testing.T, f *os.File, err error) *os.File {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// terminal is a terminal of 91 columns.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err == nil {
		err = pty.Setsize(slave, &pty.Winsize{Rows: 50, Cols: 91})
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

// Where prof's stdout and stderr are the same, what is written to both stays in order; a workload's output is a terminal where prof's is one, and
// of its size. With --no-log it is prof's own.
func TestProcessesOutput(t *testing.T) {
	t.Parallel()
	const script = `i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; for fd in 1 2; do if [ -t $fd ]; then echo "terminal $fd"; stty size <&$fd; fi; done`
	var both, out, errs strings.Builder
	for i := range 200 {
		fmt.Fprintf(&out, "out %d\n", i)
		fmt.Fprintf(&errs, "err %d\n", i)
		fmt.Fprintf(&both, "out %d\nerr %d\n", i, i)
	}
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	log := func(s *site) string {
		text, err := os.ReadFile(s.path("runs/r/baseline/pass-1.workload.log"))
		if err != nil {
			s.t.Error(err)
		}
		return string(text)
	}
	t.Run("pipe", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		r, w, err := os.Pipe()
		opened(t, r, err)
		s.files = []*os.File{s.files[0], w, w}
		text := s.read(r)
		s.capture(script)
		w.Close()
		if got := <-text; got != both.String() {
			t.Errorf("%q", got)
		}
	})
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		master, slave := terminal(t)
		s.files = []*os.File{s.files[0], slave, slave}
		text := s.read(master)
		s.capture(script)
		slave.Close()
		if got, want := <-text, crlf(both.String()+"terminal 1\n50 91\nterminal 2\n50 91\n"); got != want || !strings.Contains(log(s), both.String()) {
			t.Errorf("%q, want %q; the log has\n%s", got, want, log(s))
		}
	})
	t.Run("terminal and file", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		master, slave := terminal(t)
		f, err := os.Create(s.path("errs"))
		s.files = []*os.File{s.files[0], slave, opened(t, f, err)}
		text := s.read(master)
		s.capture(script)
		slave.Close()
		if got, want := <-text, crlf(out.String()+"terminal 1\n50 91\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, err := os.ReadFile(s.path("errs")); err != nil || string(got) != errs.String() {
			t.Errorf("stderr is\n%s%v", got, err)
		}
	})
	t.Run("no log", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		f, err := os.Create(s.path("out"))
		s.files = []*os.File{s.files[0], opened(t, f, err), s.files[2]}
		s.o.NoLog = true
		s.capture("readlink /proc/self/fd/1")
		if got, err := os.ReadFile(s.path("out")); err != nil || string(got) != s.path("out")+"\n" {
			t.Errorf("stdout is %q %v", got, err)
		}
		if logs, err := filepath.Glob(s.path("runs/r/*/*.workload.log")); err != nil || len(logs) > 0 {
			t.Errorf("logs %q %v", logs, err)
		}
	})
	t.Run("resized", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		master, slave := terminal(t)
		s.files = []*os.File{s.files[0], slave, slave}
		text := s.read(master)
		done := s.begin(says + `until [ "$(stty size <&2)" = "50 77" ]; do sleep 0.02; done; echo resized`)
		s.within("the workload begins", func() bool { return len(s.pids("pid")) == 1 })
		if err := errors.Join(pty.Setsize(slave, &pty.Winsize{Rows: 50, Cols: 77}), syscall.Kill(os.Getpid(), syscall.SIGWINCH)); err != nil {
			t.Fatal(err)
		}
		s.ended(done)
		slave.Close()
		if got := <-text; got != "resized\r\n" {
			t.Errorf("%q", got)
		}
	})
}

// What a workload leaves behind may hold its output open, or go on to write: that holds no capture up. Who is silent lives on, and who writes gets
// a broken pipe.
func TestProcessesDaemon(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"silent": "exec sleep 600", "chatty": "while :; do echo chat; done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			r, w, err := os.Pipe()
			opened(t, r, err)
			s.files[1] = w
			text := s.read(r)
			golden.Write(t, s.path("left.sh"), says+left+"\n")
			m := s.ended(s.begin("setsid sh left.sh & until [ -s pid ]; do sleep 0.01; done; echo last words"))
			pids := s.pids("pid")
			if len(pids) != 1 {
				t.Fatalf("left behind: %v", pids)
			}
			lives := func() bool { return machine.System{}.StartedAt(pids[0]) != "" }
			if name == "chatty" {
				s.within("a broken pipe ends who writes", func() bool { return !lives() })
			} else if !lives() || syscall.Kill(pids[0], syscall.SIGKILL) != nil {
				t.Error("who is silent has ended")
			}
			w.Close()
			if got := <-text; !strings.Contains(got, "last words\n") || len(m.Passes) != 2 || m.Passes[1].Status != rundir.StatusOK {
				t.Errorf("stdout %.100q, %+v", got, m.Passes)
			}
		})
	}
}

// Whoever reads slowly holds the workload up, and gets all of it.
func TestProcessesSlowReader(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r, w, err := os.Pipe()
	opened(t, r, err)
	s.files[1] = w
	done := s.begin("head -c 8000000 /dev/zero; : >written")
	s.within("the pipe is full", func() bool {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && n >= 1<<16
	})
	if _, err := os.Stat(s.path("written")); err == nil {
		t.Error("the workload did not wait")
	}
	text := s.read(r)
	s.ended(done)
	w.Close()
	if got := <-text; len(got) != 8000000 {
		t.Errorf("%d bytes", len(got))
	}
}
