package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running is a capture at work on a workload that says when it has begun and then waits.
type running struct {
	*place
	cmd  *exec.Cmd
	errs *bytes.Buffer
	done chan error
}

func captureWaiting(t *testing.T, how, wait string, args ...string) *running {
	t.Helper()
	p := fakes(t, how)
	write(t, p.path("work.sh"), []byte("#!/bin/sh\necho $$ >pid\n"+wait+"\n"))
	r := &running{place: p, errs: &bytes.Buffer{}, done: make(chan error, 1)}
	r.cmd = p.command(append(append([]string{"capture", "--run", "r", "--mode", "light", "--grace", "5s"}, args...), "--", "sh", "work.sh")...)
	r.cmd.Stderr = r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	within(t, 20*time.Second, "the workload begins", func() bool { return exists(p.path("pid")) })
	time.Sleep(100 * time.Millisecond) // the shell has to reach its wait
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

// gone says whether a process is not at work any more; one that nobody has waited for yet is not.
func gone(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(rest, "Z")
}

// Ctrl-C once stops the workload and keeps what was captured; passes that would come after are left out.
func TestCaptureInterrupted(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "", "sleep 60", "--repeats", "2")
	r.send(syscall.SIGINT)
	if code := r.ended(30 * time.Second); code != 130 {
		t.Errorf("exit %d, stderr:\n%s", code, r.errs)
	}
	if got, want := r.passes("r"), "pass,status,ended,reason\nnsys-1,interrupted,SIGINT,stopped by the user\nnsys-2,not_run,-,the capture was stopped first\n"; got != want {
		t.Errorf("passes:\n%s", got)
	}
	if got := r.sql("SELECT count(*) AS n FROM kernel"); got != "n\n16\n" {
		t.Errorf("kernels: %q", got)
	}
}

// Ctrl-C twice kills a workload that does not listen.
func TestCaptureKilledByUser(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "", "trap '' INT TERM\nwhile :; do sleep 1; done", "--grace", "60s")
	r.send(syscall.SIGINT)
	time.Sleep(300 * time.Millisecond)
	r.send(syscall.SIGINT)
	if code := r.ended(20 * time.Second); code != 130 {
		t.Errorf("exit %d, stderr:\n%s", code, r.errs)
	}
	within(t, 5*time.Second, "the workload is gone", func() bool { return gone(r.pid()) })
	if got := r.passes("r"); !strings.Contains(got, "nsys-1,interrupted,") {
		t.Errorf("passes:\n%s", got)
	}
}

// A profiler that is killed takes its workload with it, and the capture goes on.
func TestCaptureToolKilled(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "", "sleep 60")
	out, err := exec.Command("pgrep", "-f", filepath.Join("fake", "nsys")+" profile --output="+r.path("tmp")).Output()
	if err != nil || len(strings.Fields(string(out))) != 1 {
		t.Fatalf("the fake nsys is not found: %q %v", out, err)
	}
	if err := exec.Command("kill", "-KILL", strings.TrimSpace(string(out))).Run(); err != nil {
		t.Fatal(err)
	}
	if code := r.ended(30 * time.Second); code != 143 {
		t.Errorf("exit %d, stderr:\n%s", code, r.errs)
	}
	if got := r.passes("r"); !whole(`pass,status,ended,reason\nnsys-1,failed,SIGTERM,.*nsys ended with signal: killed and took the workload with it; it left no report.*\n`).MatchString(got) {
		t.Errorf("passes:\n%s", got)
	}
	if !gone(r.pid()) {
		t.Error("the workload goes on")
	}
}

// A prof that is killed leaves a folder that can be ingested, and a workload that ends.
func TestCaptureKilled(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "", "sleep 60", "--baseline", "--repeats", "1")
	r.send(syscall.SIGKILL)
	r.ended(10 * time.Second)
	within(t, 30*time.Second, "the workload is gone", func() bool { return gone(r.pid()) })
	got := r.run("ingest", filepath.Join(".prof", "runs", "r"))
	if got.code != 0 || got.out != "r\n" {
		t.Fatalf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	if got := r.passes("r"); !whole(`pass,status,ended,reason\nbaseline-1,running,-,.*\n`).MatchString(got) {
		t.Errorf("passes:\n%s", got)
	}
}

// A capture without any tool still keeps the workload's time and where it ran. Nothing of the environment is kept but what is allowed.
func TestCaptureWithoutTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const secret = "planted-secret-0123456789"
	p.env = []string{"PATH=/usr/bin:/bin", "PROF_NSYS=", "PROF_NCU=", "MY_API_TOKEN=" + secret, "INNOCENT=innocent-" + secret, "HF_TOKEN=hf_examplesecret0123456789", "CUDA_VISIBLE_DEVICES=0",
		"NCCL_SECRET_KEY=" + secret}
	write(t, p.path("work.sh"), []byte("echo $MY_API_TOKEN $INNOCENT\n"))
	got := p.run("capture", "--run", "r", "--", "/bin/sh", "work.sh", "--api-key", "key-"+secret)
	if got.code != 1 || got.out != secret+" innocent-"+secret+"\n" || !strings.Contains(got.err, "see prof doctor") {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	if got := p.passes("r"); !whole(`pass,status,ended,reason\nnsys-1,not_run,-,nsys: not found.*\nbaseline-1,ok,0,\nncu-1,not_run,-,.*\n`).MatchString(got) {
		t.Errorf("passes:\n%s", got)
	}
	for _, f := range listing(t, p.path(".prof")) {
		if st := p.path(".prof/" + f); !isFolder(st) {
			for _, planted := range []string{secret, "examplesecret", "INNOCENT"} {
				if bytes.Contains(read(t, st), []byte(planted)) {
					t.Errorf("%s holds %s", f, planted)
				}
			}
		}
	}
	if env := string(read(t, p.path(".prof/runs/r/env.json"))); !strings.Contains(env, `"CUDA_VISIBLE_DEVICES": "0"`) {
		t.Errorf("env.json lacks what is allowed:\n%s", env)
	}
}

// Every pass reads a workload's input file from its beginning, and a terminal's or a pipe's is no input.
func TestCaptureInput(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--repeats", "2", "--", "cat")
	in := write(t, p.path("prompts.txt"), []byte("a prompt\n"))
	f := openFile(t, in)
	cmd.Stdin = f
	if got := finish(t, cmd, cmd.Run); got.code != 0 || got.out != "a prompt\na prompt\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
	p = fakes(t, "")
	if got := p.runWith("not read\n", "capture", "--run", "s", "--mode", "light", "--", "cat"); got.code != 0 || got.out != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.err)
	}
}

// Mistakes are found before anything is run or made.
func TestCaptureMistakes(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	if err := os.RemoveAll(p.path(".prof")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		errs string
		args []string
	}{
		{2, "prof: write the command after --, as in: prof capture -- python3 run.py\n", []string{"capture", "sh", "-c", "true"}},
		{1, "prof: cannot run the workload: no command was given.*\n", []string{"capture", "--"}},
		{1, "prof: cannot run the workload: ./nosuch does not exist\n", []string{"capture", "--", "./nosuch"}},
		{1, "prof: cannot run the workload: nosuchprogram is not on the PATH\n", []string{"capture", "--", "nosuchprogram"}},
		{2, `prof: .*--mode is "quick": it must be one of .*` + "\n", []string{"capture", "--mode", "quick", "--", "true"}},
		{2, `prof: .*--max-artifact-size.*` + "\n", []string{"capture", "--max-artifact-size", "much", "--", "true"}},
		{2, "prof: unknown option --ncu-topp; did you mean --ncu-top\\?\n", []string{"capture", "--ncu-topp", "3", "--", "true"}},
		{1, `prof: run name "@x": .*` + "\n", []string{"capture", "--run", "@x", "--", "true"}},
		{1, `prof: run name "-x": it looks like an option` + "\n", []string{"capture", "--run=-x", "--", "true"}},
	} {
		p.wantLike(c.code, "", c.errs, c.args...)
	}
	if exists(p.path(".prof")) {
		t.Errorf("a home was made: %q", listing(t, p.path(".prof")))
	}
}

// A tool whose workload has ended is left to its report: neither Ctrl-C, the end of --duration nor the grace after it takes that away.
func TestCaptureSlowReport(t *testing.T) {
	for name, c := range map[string]struct {
		how, wait string
		args      []string
		interrupt bool
		code      int
		passes    string
		rows      string
	}{
		"nsys, Ctrl-C":     {how: "NSYS_FAKE=slowreport", wait: "true", interrupt: true, code: 130, passes: `nsys-1,ok,0,\n`, rows: "16,0"},
		"nsys, a duration": {how: "NSYS_FAKE=slowreport", wait: "sleep 60", args: []string{"--duration", "1s", "--grace", "1s"}, passes: `nsys-1,ok,SIGTERM,\n`, rows: "16,0"},
		"ncu, Ctrl-C":      {how: "NSYS_FAKE_NCU=slowreport", wait: "sleep 4", args: []string{"--mode", "deep", "--tools", "ncu", "--ncu-kernels", "."}, interrupt: true, code: 130, passes: `ncu-1,ok,0,\n`, rows: "0,4"},
		"ncu, a duration":  {how: "NSYS_FAKE_NCU=slowreport", wait: "sleep 60", args: []string{"--mode", "deep", "--tools", "ncu", "--ncu-kernels", ".", "--duration", "1s", "--grace", "1s"}, passes: `ncu-1,ok,130,\n`, rows: "0,4"},
		"ncu hangs":        {how: "NSYS_FAKE_NCU=hangafter", wait: "sleep 4", args: []string{"--mode", "deep", "--tools", "ncu", "--ncu-kernels", ".", "--report-timeout", "2s"}, code: 1, passes: `ncu-1,no_report,-,ncu had not written a report 2s after the workload ended and was killed\n`, rows: "0,0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := captureWaiting(t, c.how, c.wait, c.args...)
			if c.interrupt {
				within(t, 20*time.Second, "the report is written", func() bool { return exists(r.path("reporting")) })
				time.Sleep(200 * time.Millisecond) // ncu's workload was seen while it ran: prof looks once a second
				r.send(syscall.SIGINT)
			}
			if code := r.ended(40 * time.Second); code != c.code {
				t.Errorf("exit %d, stderr:\n%s", code, r.errs)
			}
			r.wantPasses("r", c.passes)
			if got := r.sql("SELECT (SELECT count(*) FROM kernel) AS kernels, (SELECT count(*) FROM ncu_launch) AS launches"); got != "kernels,launches\n"+c.rows+"\n" {
				t.Errorf("rows: %q", got)
			}
		})
	}
}
