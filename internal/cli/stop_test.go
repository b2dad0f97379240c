package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prof/internal/sample"
)

// stopsWithin is far above the 5 s in which prof ends, for a busy machine, and far below what each command here would take.
const stopsWithin = time.Minute

// ends runs a command that must end by itself, and gives what it did and its most resident memory in KB; with a signal, that is sent once ready
// says so.
func ends(t *testing.T, cmd *exec.Cmd, s syscall.Signal, ready func() bool) (r result, memory int) {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	cmd.WaitDelay = time.Second // what it started may have its stderr
	listens := filepath.Join(t.TempDir(), "listens")
	if s != 0 {
		cmd.Env = append(cmd.Env, listensEnv+"="+listens)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := watchMemory(cmd.Process.Pid)
	overdue := time.AfterFunc(2*stopsWithin, func() { cmd.Process.Kill() })
	defer overdue.Stop()
	if s != 0 {
		within(t, stopsWithin, "it is at work", func() bool { return exists(listens) && ready() })
		time.Sleep(300 * time.Millisecond) // into the work, however far
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatalf("it has ended before the signal: %v %s", err, &errs)
		}
		overdue.Reset(stopsWithin)
	}
	cmd.Wait()
	if !overdue.Stop() {
		t.Errorf("%q did not end", cmd.Args[1:])
	}
	return result{cmd.ProcessState.ExitCode(), "", errs.String()}, <-peak
}

// watchMemory returns the most resident memory of a process in KB once it has ended; 0 where the system has no /proc. What the system counts for
// a child that has ended is of no use: it begins with what its parent had.
func watchMemory(pid int) <-chan int {
	peak := make(chan int, 1)
	go func() {
		most := 0
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, of, isAlive := strings.Cut(string(status), "VmHWM:")
			if err != nil || !isAlive { // what has ended has no memory
				peak <- most
				return
			}
			kb := 0
			if _, err := fmt.Sscan(of, &kb); err == nil {
				most = max(most, kb)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return peak
}

// TestStops ends prof by a signal wherever it may be: nothing that waits, computes or writes keeps it.
func TestStops(t *testing.T) {
	const endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE hash(a.range, b.range) = 1"
	sleeping := []byte("#!/bin/sh\ntrap '' INT TERM\n: >asked\nwhile :; do sleep 1; done\n")
	now := func() bool { return true }
	for name, c := range map[string]struct {
		args    []string
		env     []string
		prepare func(p *place, cmd *exec.Cmd) (ready func() bool)
		held    bool // the warehouse, to the end of the test
		term    bool // SIGTERM only: a capture answers Ctrl-C by keeping what there is
		both    bool // also tried with SIGINT where not all is tried
		code    int  // 1 unless said
	}{
		"a query at work": {both: true, args: []string{"sql", endless}},
		"waiting for the lock": {held: true, args: []string{"tag", "a", "x=y"}, env: []string{"PROF_WAIT=10m"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			startHolder(p.t.(*testing.T), p, "write")
			return now
		}},
		"reading stdin": {args: []string{"sql"}, prepare: func(p *place, cmd *exec.Cmd) func() bool { cmd.Stdin = openPipe(p.t); return now }},
		"rules from stdin": {both: true, args: []string{"check", "a", "--baseline", "a", "--rules", "-"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			cmd.Stdin = openPipe(p.t)
			return now
		}},
		"writing into a full pipe": {args: []string{"sql", "--format", "csv", "FROM range(100000000)"}, code: 0, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			r, w, err := os.Pipe()
			if err != nil {
				p.t.Fatal(err)
			}
			p.t.Cleanup(func() { r.Close(); w.Close() })
			cmd.Stdout = w
			return now
		}},
		"hashing inputs": {args: []string{"capture", "--input", "sparse", "--", "true"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			sparse(p.t, p.path("sparse"), 1<<40)
			return func() bool { return exists(p.path(".prof/runs")) }
		}},
		"reading a capture": {args: []string{"ingest", "big.nsys-rep.sqlite"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			write(p.t, p.path("big.nsys-rep.sqlite"), unpacked(p.t, kernels))
			grow(p.t, p.path("big.nsys-rep.sqlite"), 1<<40)
			return now
		}},
		"a profiler that does not tell its version": {args: []string{"capture", "--", "true"}, env: []string{"PROF_NSYS=./sleeping"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			script(p.t, p.path("sleeping"), sleeping)
			return func() bool { return exists(p.path("asked")) }
		}},
		"an export that does not end": {args: []string{"ingest", "k.nsys-rep"}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			script(p.t, p.path("bin/nsys"), sleeping)
			write(p.t, p.path("k.nsys-rep"), []byte("a report"))
			cmd.Env = append(cmd.Env, "PATH="+p.path("bin")+":"+os.Getenv("PATH"))
			return func() bool { return exists(p.path("asked")) }
		}},
		"a workload that does not listen": {term: true, code: exitSignal + 15, args: []string{"capture", "--run", "r", "--", "./sleeping"}, env: []string{"PROF_NSYS=", "PROF_NCU="}, prepare: func(p *place, cmd *exec.Cmd) func() bool {
			script(p.t, p.path("sleeping"), sleeping)
			return func() bool { return exists(p.path("asked")) }
		}},
	} {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			if s != syscall.SIGTERM && (c.term || !c.both && !*sample.Whole) {
				continue
			}
			t.Run(name+", "+s.String(), func(t *testing.T) {
				t.Parallel()
				p := newFilled(t)
				cmd, ready := p.command(c.args...), now
				cmd.Env = append(cmd.Env, c.env...)
				if c.prepare != nil {
					ready = c.prepare(p, cmd)
				}
				r, _ := ends(t, cmd, s, ready)
				if c.code == 0 && r.code != exitFailed && r.code != exitSignal+int(s) || c.code != 0 && r.code != c.code {
					t.Errorf("exit %d, stderr:\n%s", r.code, r.err)
				}
				if c.held {
					return
				}
				if got := p.sql("SELECT name FROM run"); got != "name\na\n" {
					t.Errorf("the warehouse holds %q", got)
				}
			})
		}
	}
}

// openPipe is a pipe that nobody writes to or closes.
func openPipe(t testing.TB) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r
}

// sparse makes a file of zeros that takes no room.
func sparse(t testing.TB, path string, size int64) {
	t.Helper()
	write(t, path, nil)
	grow(t, path, size)
}

func grow(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func script(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.Chmod(write(t, path, text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestNothingHangs gives prof pipes without a writer, devices without an end and files beyond any measure wherever it opens a file that a
// person or a workload can name: each is refused with what it is, and nothing of it is read.
func TestNothingHangs(t *testing.T) {
	t.Parallel()
	fifo := func(path string) func(p *place) {
		return func(p *place) {
			if err := os.MkdirAll(filepath.Dir(p.path(path)), 0o755); err != nil {
				p.t.Fatal(err)
			}
			if err := syscall.Mkfifo(p.path(path), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	zero := func(path string) func(p *place) {
		return func(p *place) {
			if err := os.Symlink("/dev/zero", p.path(path)); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	large := func(path, head string, size int64) func(p *place) {
		return func(p *place) {
			write(p.t, p.path(path), []byte(head))
			grow(p.t, p.path(path), size)
		}
	}
	bomb := func(path, head string) func(p *place) {
		return func(p *place) { write(p.t, p.path(path), zeros(p.t, head)) }
	}
	const aPipe, aDevice, beyond = "is a named pipe, not a file", "is a device, not a file", "is larger than "
	capture := []string{"capture", "--run", "r", "--", "true"}
	for name, c := range map[string]struct {
		prepare func(p *place)
		stdin   string // a file
		args    []string
		said    string
	}{
		"a pipe to ingest":       {prepare: fifo("f"), args: []string{"ingest", "f"}, said: "neither a file nor a folder"},
		"a part of an export":    {prepare: fifo("x/StringIds.parquet"), args: []string{"ingest", "x"}, said: aPipe},
		"a log of SQLite":        {prepare: func(p *place) { write(p.t, p.path("k.sqlite"), unpacked(p.t, kernels)); fifo("k.sqlite-wal")(p) }, args: []string{"ingest", "k.sqlite"}, said: aPipe},
		"a model":                {prepare: fifo("f"), args: []string{"model", "f"}, said: aPipe},
		"a model for a run":      {prepare: fifo("f"), args: []string{"ingest", "--run", "a", "--model", "f"}, said: "not a file"},
		"a device as model":      {args: []string{"model", "/dev/zero"}, said: aDevice},
		"10 GB as model":         {prepare: large("m", "", 10<<30), args: []string{"model", "m"}, said: "larger than 16 MB"},
		"10 GB as a run's model": {prepare: large("m", "", 10<<30), args: []string{"ingest", "--run", "a", "--model", "m"}, said: beyond + "16 MiB"},
		"a packed model":         {prepare: bomb("config.json.gz", `{"model_type":"llama",`), args: []string{"ingest", "config.json.gz"}, said: beyond + "16 MiB"},
		"100 GB as a report":     {prepare: large("big.ncu-rep", "NVR\x00", 100<<30), args: []string{"ingest", "big.ncu-rep"}, said: beyond + "64 GiB"},
		"10 GB as run.json":      {prepare: large("x/run.json", `{"version": 1, "run": "r", "started_at": "2026-01-01T00:00:00Z", "prof_version": "1", "passes": [`, 10<<30), args: []string{"ingest", "x"}, said: beyond + "64 MiB"},
		"rules":                  {prepare: fifo("f"), args: []string{"check", "a", "--baseline", "a", "--rules", "f"}, said: aPipe},
		"endless rules":          {args: []string{"check", "a", "--baseline", "a", "--rules", "/dev/zero"}, said: aDevice},
		"rules from stdin":       {stdin: "/dev/zero", args: []string{"check", "a", "--baseline", "a", "--rules", "-"}, said: beyond + "1 MiB"},
		"rules of the home":      {prepare: fifo(".prof/rules"), args: []string{"check", "a", "--baseline", "a"}, said: aPipe},
		"a statement":            {stdin: "/dev/zero", args: []string{"sql"}, said: beyond + "16 MiB"},
		"options":                {prepare: fifo(".prof/config.yaml"), args: capture, said: aPipe},
		"endless options":        {prepare: zero(".prof/config.yaml"), args: capture, said: aDevice},
		"large options":          {prepare: large(".prof/config.yaml", "", 10<<30), args: capture, said: beyond + "1 MiB"},
		"a list of inputs":       {prepare: fifo("f"), args: []string{"capture", "--input", "@f", "--", "true"}, said: aPipe},
		"an endless list":        {args: []string{"capture", "--input", "@/dev/zero", "--", "true"}, said: aDevice},
		"a profiler of 300 MB": {prepare: func(p *place) {
			script(p.t, p.path("loud"), []byte("#!/bin/sh\nhead -c 300000000 /dev/zero\n"))
			p.env = []string{"PROF_NSYS=./loud"}
		},
			args: []string{"capture", "--run", "r", "--tools", "nsys", "--no-ingest", "--", "true"}, said: "it wrote too much: more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFilled(t)
			if c.prepare != nil {
				c.prepare(p)
			}
			cmd := p.command(c.args...)
			if c.stdin != "" {
				cmd.Stdin = openFile(t, c.stdin)
			}
			r, used := ends(t, cmd, 0, nil)
			if r.code == 0 || !strings.Contains(r.err, c.said) {
				t.Errorf("exit %d, stderr %q", r.code, r.err)
			}
			if used > 200<<10 {
				t.Errorf("it took %d KB of memory", used)
			}
		})
	}
}

// zeros packs a text and then many zeros.
func zeros(t testing.TB, head string) []byte {
	t.Helper()
	cmd := exec.Command("gzip", "-1")
	cmd.Stdin = io.MultiReader(strings.NewReader(head), io.LimitReader(openFile(t, "/dev/zero"), 100<<20))
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}
