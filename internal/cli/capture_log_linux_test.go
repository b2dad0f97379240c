package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"prof/capture/capturetest"
)

// What the workload writes passes through as it is, and is kept of each recording, secrets masked; a reason quotes why it failed.
func TestCaptureLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env = append(b.env, "MY_API_TOKEN=sesame-open-wide")
	b.work = func(p *capturetest.Process) int {
		fmt.Fprintf(p.Stdout, "token %s\n\033[31mred\n", p.Getenv("MY_API_TOKEN"))
		fmt.Fprint(p.Stderr, "Traceback (most recent call last):\n  File \"run.py\", line 1\nRuntimeError: key sesame-open-wide\nerrors may be reported elsewhere\n")
		fmt.Fprint(p.Stdout, "no end")
		return 3
	}
	got := b.prof("capture", "--run", "r", "--baseline", "--", "work")
	if got.code != 3 || got.out != strings.Repeat("token sesame-open-wide\n\x1b[31mred\nno end", 3) || strings.Count(got.err, "RuntimeError: key sesame-open-wide\n") != 3 {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	const why = `failed,3,the workload ended with exit status 3: RuntimeError: key \*\*\*\n`
	b.wantPasses("r", `baseline-1,`+why+`nsys-1,`+why+`ncu-1,`+why)
	manifest := string(read(t, b.path(".prof/runs/r/run.json")))
	for _, name := range []string{"baseline/pass-1", "nsys/report-1", "ncu/report-1"} {
		log := string(read(t, b.path(".prof/runs/r/"+name+".workload.log")))
		for _, line := range []string{"token ***\n", "red\n", "no end\n", "RuntimeError: key ***\n"} {
			if !strings.Contains(log, line) {
				t.Errorf("the log of %s lacks %q:\n%s", name, line, log)
			}
		}
		if strings.Contains(log, "sesame") || !strings.Contains(manifest, `"workload_log": "`+name+`.workload.log"`) {
			t.Errorf("%s:\n%s\n%s", name, log, manifest)
		}
	}
	if got := b.prof("capture", "--run", "silent", "--mode", "light", "--no-ingest", "--", "true"); got.code != 0 || exists(b.path(".prof/runs/silent/nsys/report-1.workload.log")) {
		t.Errorf("exit %d; a silent workload has a log", got.code)
	}
}

// A capture whose output nobody reads ends on SIGTERM.
func TestCaptureUnreadStopped(t *testing.T) {
	t.Parallel()
	p := fakes(t)
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", ": >began; head -c 8000000 /dev/zero; sleep 600")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	within(t, time.Minute, "the workload begins", func() bool { return exists(p.path("began")) })
	within(t, time.Minute, "the pipe is full", func() bool {
		waiting := int32(0)
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, pipe.(*os.File).Fd(), syscall.TIOCINQ, uintptr(unsafe.Pointer(&waiting)))
		return errno == 0 && waiting >= 1<<16
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := cmd.Process.Wait(); done <- err }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute): // the workload takes ten
		t.Error("prof goes on")
		_ = cmd.Process.Kill()
	}
}
