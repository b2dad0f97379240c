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

	"prof/capture/capturetest"
)

// running is a capture at work on a workload that says when it has begun and then waits.
type running struct {
	*place
	cmd  *exec.Cmd
	errs *bytes.Buffer
	done chan error
}

func captureWaiting(t *testing.T, wait string, args ...string) *running {
	t.Helper()
	p := fakes(t)
	write(t, p.path("work.sh"), []byte("#!/bin/sh\necho $$ >.pid; mv .pid pid\n"+wait+"\n"))
	r := &running{place: p, errs: &bytes.Buffer{}, done: make(chan error, 1)}
	r.cmd = p.command(append(append([]string{"capture", "--run", "r", "--mode", "light", "--grace", "5s"}, args...), "--", "sh", "work.sh")...)
	r.cmd.Stderr = r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	within(t, 20*time.Second, "the workload begins", func() bool { return exists(p.path("pid")) })
	go func() { r.done <- r.cmd.Wait() }()
	return r
}

// pid of the workload.
func (r *running) pid() string { return strings.TrimSpace(string(read(r.t, r.path("pid")))) }

// ended waits for the end of prof and gives its exit code.
func (r *running) ended(limit time.Duration) int {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(limit):
		r.t.Fatalf("prof has not ended within %v; stderr:\n%s", limit, r.errs)
	}
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) send(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// gone reports whether a process is not at work any more; one that nobody has waited for yet is not.
func gone(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(rest, "Z")
}

// A signal once stops the workload and keeps what was captured; passes that would come after are left out. A closed terminal and Ctrl-\ do as Ctrl-C.
func TestCaptureInterrupted(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "a closed terminal": syscall.SIGHUP, `Ctrl-\`: syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := captureWaiting(t, "exec sleep 600", "--repeats", "2", "--no-ingest")
			r.send(s)
			if code := r.ended(time.Minute); code != 130 {
				t.Errorf("exit %d, stderr:\n%s", code, r.errs)
			}
			wantManifest(t, r.place, `nsys-1,interrupted,SIGINT,stopped by the user\nnsys-2,not_run,-,the capture was stopped first\n`)
			if !gone(r.pid()) {
				t.Error("the workload goes on")
			}
		})
	}
}

// A prof that is killed leaves a folder that can be ingested, and a workload that ends.
func TestCaptureKilled(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "exec sleep 600", "--baseline", "--repeats", "1")
	r.send(syscall.SIGKILL)
	r.ended(time.Minute)
	within(t, time.Minute, "the workload is gone", func() bool { return gone(r.pid()) })
	got := r.run("ingest", filepath.Join(".prof", "runs", "r"))
	if got.code != 0 || got.out != "r\n" {
		t.Fatalf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	if got := r.passes("r"); !whole(`pass,status,ended,reason\nbaseline-1,running,-,.*\n`).MatchString(got) {
		t.Errorf("passes:\n%s", got)
	}
}

// wantManifest compares the passes in run.json of the run r of a place.
func wantManifest(t *testing.T, p *place, want string) {
	t.Helper()
	b := &bench{place: p}
	b.wantPasses("r", want)
}

// Ctrl-C in what follows a recording, or twice.
func TestCaptureStops(t *testing.T) {
	t.Parallel()
	const next = `nsys-2,not_run,-,the capture was stopped first\nncu-1,not_run,-,the capture was stopped first\n`
	for name, c := range map[string]struct {
		nsys, ncu string
		args      string
		work      func(b *bench) capturetest.Program // nil: it ends at once
		hook      func(b *bench)                     // when a report is written or exported; nil: Ctrl-C comes then
		code      int
		passes    string
		left      string // regular expression of artifacts
	}{
		"once": {args: "--repeats 2", code: 130, passes: `nsys-1,interrupted,SIGINT,stopped by the user\n` + next, left: "nsys/report-1.sqlite",
			work: func(b *bench) capturetest.Program {
				return func(p *capturetest.Process) int { b.interrupt(); return p.Hang() }
			}},
		"twice": {args: "--repeats 2 --grace 600s", code: 130, passes: `nsys-1,interrupted,.*\n` + next, left: "(nsys/report-1.sqlite)?", // whichever is killed first
			work: func(b *bench) capturetest.Program {
				return func(p *capturetest.Process) int {
					p.Trap(func(syscall.Signal) { b.interrupt() }) // it does not listen, and is told so
					b.interrupt()
					return p.Hang()
				}
			}},
		"while a report is exported":     {nsys: "slowexport", args: "--repeats 2", code: 130, passes: `nsys-1,ok,0,\n` + next, left: "nsys/report-1.sqlite"},
		"while nsys writes its report":   {nsys: "slowreport", args: "--tools nsys", code: 130, passes: `nsys-1,ok,0,\n`, left: "nsys/report-1.sqlite"},
		"a duration before nsys' report": {nsys: "slowreport", args: "--tools nsys --duration 1s --grace 1s", passes: `nsys-1,ok,SIGTERM,\n`, left: "nsys/report-1.sqlite", work: hangs, hook: nothing},
		"while ncu writes its report":    {ncu: "slowreport", args: "--tools ncu --ncu-kernels .", code: 130, passes: `ncu-1,ok,0,\n`, left: "ncu/report-1.ncu-rep", work: takes(4 * time.Second)},
		"a duration before ncu's report": {ncu: "slowreport", args: "--tools ncu --ncu-kernels . --duration 1s --grace 1s", passes: `ncu-1,ok,130,\n`, left: "ncu/report-1.ncu-rep", work: hangs, hook: nothing},
		"never, and ncu hangs":           {ncu: "hangafter", args: "--tools ncu --ncu-kernels . --report-timeout 2s", code: 1, passes: `ncu-1,no_report,-,ncu had not written a report 2s after the workload ended and was killed\n`, work: takes(4 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.nsys.How, b.ncu.How = c.nsys, c.ncu
			if c.work != nil {
				b.work = c.work(b)
			}
			hook := func() { b.interrupt() }
			if c.hook != nil {
				hook = func() { c.hook(b) }
			}
			b.nsys.Hook, b.ncu.Hook = hook, hook
			got := b.prof(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "work")...)
			if got.code != c.code {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			b.wantPasses("r", c.passes)
			if left := b.artifacts("r"); !whole(c.left).MatchString(left) || len(b.shelf.stored) == 0 {
				t.Errorf("left %q, stored %q", left, b.shelf.stored)
			}
		})
	}
}

func hangs(*bench) capturetest.Program { return sleeps }

func takes(d time.Duration) func(*bench) capturetest.Program {
	return func(*bench) capturetest.Program { return func(p *capturetest.Process) int { p.Sleep(d); return 0 } }
}

func nothing(*bench) {}

// A capture without any tool still keeps the workload's time and where it ran. Nothing of the environment is kept but what is allowed.
func TestCaptureWithoutTools(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.machine.Remove("nsys", "ncu", "python3")
	const secret = "planted-secret-0123456789"
	b.env = []string{"MY_API_TOKEN=" + secret, "INNOCENT=innocent-" + secret, "HF_TOKEN=hf_examplesecret0123456789", "CUDA_VISIBLE_DEVICES=0", "NCCL_SECRET_KEY=" + secret}
	b.work = func(p *capturetest.Process) int {
		fmt.Fprintln(p.Stdout, p.Getenv("MY_API_TOKEN"), p.Getenv("INNOCENT"))
		return 0
	}
	got := b.prof("capture", "--run", "r", "--", "work", "--api-key", "key-"+secret)
	if got.code != 1 || got.out != secret+" innocent-"+secret+"\n" || !strings.Contains(got.err, "see prof doctor") {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	b.wantPasses("r", `prof-1,not_run,-,no headers of CUPTI; .*nsys: not found.*\nbaseline-1,ok,0,\nncu-1,not_run,-,.*\n`)
	for _, f := range listing(t, b.path(".prof")) {
		if st := b.path(".prof/" + f); !isFolder(st) {
			for _, planted := range []string{secret, "examplesecret", "INNOCENT"} {
				if bytes.Contains(read(t, st), []byte(planted)) {
					t.Errorf("%s holds %s", f, planted)
				}
			}
		}
	}
	if env := string(read(t, b.path(".prof/runs/r/env.json"))); !strings.Contains(env, `"CUDA_VISIBLE_DEVICES": "0"`) {
		t.Errorf("env.json lacks what is allowed:\n%s", env)
	}
}

// Every pass reads a workload's input file from its beginning, and a terminal's or a pipe's is no input.
func TestCaptureInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.work = func(p *capturetest.Process) int {
		if _, err := io.Copy(p.Stdout, p.Stdin); err != nil {
			t.Error(err)
		}
		return 0
	}
	b.input = openFile(t, write(t, b.path("prompts.txt"), []byte("a prompt\n")))
	if got := b.prof("capture", "--run", "r", "--mode", "light", "--repeats", "2", "--", "work"); got.code != 0 || got.out != "a prompt\na prompt\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	b.input = openPipe(t)
	if got := b.prof("capture", "--run", "s", "--mode", "light", "--", "work"); got.code != 0 || got.out != "" || !strings.Contains(got.err, "the workload gets no standard input") {
		t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
}

// Mistakes are found before anything is run or made.
func TestCaptureMistakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		code int
		errs string
		args []string
	}{
		{2, "prof: write the command after --, as in: prof capture -- python3 run.py\n", []string{"sh", "-c", "true"}},
		{1, "prof: cannot run the workload: no command was given.*\n", []string{"--"}},
		{1, "prof: cannot run the workload: ./nosuch does not exist\n", []string{"--", "./nosuch"}},
		{1, "prof: cannot run the workload: nosuchprogram is not on the PATH\n", []string{"--", "nosuchprogram"}},
		{2, `prof: .*--mode is "quick": it must be one of .*` + "\n", []string{"--mode", "quick", "--", "true"}},
		{2, `prof: .*--max-artifact-size.*` + "\n", []string{"--max-artifact-size", "much", "--", "true"}},
		{2, "prof: unknown option --ncu-topp; did you mean --ncu-top\\?\n", []string{"--ncu-topp", "3", "--", "true"}},
		{1, `prof: run name "@x": .*` + "\n", []string{"--run", "@x", "--", "true"}},
		{1, `prof: run name "-x": it looks like an option` + "\n", []string{"--run=-x", "--", "true"}},
		{2, "prof: --fresh is for --suite FILE\n", []string{"--fresh", "--", "true"}},
		{2, `prof: .*--subset and --repeat-inputs need --inputs MANIFEST\n`, []string{"--subset", "x", "--", "true"}},
		{1, `prof: cannot use the inputs: the manifest cannot be read: .*none.yaml.*\n`, []string{"--inputs", "none.yaml", "--", "true"}},
		{2, "prof: .*--node-rank needs --run NAME, the same on every node\n", []string{"--node-rank", "0", "--", "true"}},
		{2, "prof: .*--node-rank is -1: it must be 0, 1, ..., one number for each node\n", []string{"--run", "a", "--node-rank", "-1", "--", "true"}},
		{2, "prof: .*--node-rank is 2 of --nodes 2: ranks begin at 0\n", []string{"--run", "a", "--node-rank", "2", "--nodes", "2", "--", "true"}},
		{2, "prof: --nodes and --job need --node-rank\n", []string{"--run", "a", "--nodes", "2", "--", "true"}},
		{2, "prof: --nodes and --job need --node-rank\n", []string{"--run", "a", "--job", "7", "--", "true"}},
		{2, "prof: .*--nodes is -2: it must be the number of nodes.*\n", []string{"--run", "a", "--node-rank", "0", "--nodes", "-2", "--", "true"}},
	} {
		b.wantLike(c.code, "", c.errs, append([]string{"capture"}, c.args...)...)
	}
	if exists(b.path(".prof")) {
		t.Errorf("a home was made: %q", listing(t, b.path(".prof")))
	}
}
