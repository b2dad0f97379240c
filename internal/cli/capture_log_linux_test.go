package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// What the workload writes passes through as it is, and is kept of each recording, secrets masked; a reason quotes why it failed.
func TestCaptureLog(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	p.env = append(p.env, "MY_API_TOKEN=sesame-open-wide")
	write(t, p.path("work.sh"), []byte(`printf 'token %s\n\033[31mred\n' "$MY_API_TOKEN"
printf 'Traceback (most recent call last):\n  File "run.py", line 1\nRuntimeError: key sesame-open-wide\nerrors may be reported elsewhere\n' >&2
printf 'no end'
exit 3
`))
	got := p.run("capture", "--run", "r", "--baseline", "--", "sh", "work.sh")
	if got.code != 3 || got.out != strings.Repeat("token sesame-open-wide\n\x1b[31mred\nno end", 3) || strings.Count(got.err, "RuntimeError: key sesame-open-wide\n") != 3 {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	const why = `failed,3,the workload ended with exit status 3: RuntimeError: key \*\*\*\n`
	p.wantPasses("r", `baseline-1,`+why+`nsys-1,`+why+`ncu-1,`+why)
	manifest := string(read(t, p.path(".prof/runs/r/run.json")))
	for _, name := range []string{"baseline/pass-1", "nsys/report-1", "ncu/report-1"} {
		log := string(read(t, p.path(".prof/runs/r/"+name+".workload.log")))
		for _, line := range []string{"token ***\n", "red\n", "no end\n", "RuntimeError: key ***\n"} {
			if !strings.Contains(log, line) {
				t.Errorf("the log of %s lacks %q:\n%s", name, line, log)
			}
		}
		if strings.Contains(log, "sesame") || !strings.Contains(manifest, `"workload_log": "`+name+`.workload.log"`) {
			t.Errorf("%s:\n%s\n%s", name, log, manifest)
		}
	}
	if got := p.run("capture", "--run", "silent", "--mode", "light", "--no-ingest", "--", "true"); got.code != 0 || exists(p.path(".prof/runs/silent/nsys/report-1.workload.log")) {
		t.Errorf("exit %d; a silent workload has a log", got.code)
	}
}

// With --no-log the workload writes to the very files of prof.
func TestCaptureNoLog(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	for _, c := range []struct {
		args string
		same bool
	}{{"--no-log", true}, {"", false}} {
		cmd := p.command(append(append([]string{"capture", "--mode", "light", "--no-ingest", "--run", "r" + c.args}, strings.Fields(c.args)...), "--", "readlink", "/proc/self/fd/1")...)
		f, err := os.Create(p.path("out"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = f
		if got := finish(t, cmd, cmd.Run); got.code != 0 {
			t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
		}
		f.Close()
		if same := string(read(t, p.path("out"))) == p.path("out")+"\n"; same != c.same {
			t.Errorf("%q: stdout is %q", c.args, read(t, p.path("out")))
		}
		if logs, err := filepath.Glob(p.path(".prof/runs/r" + c.args + "/nsys/*.workload.log")); err != nil || len(logs) == 0 != c.same {
			t.Errorf("%q: logs %q %v", c.args, logs, err)
		}
	}
}

// Where prof's stdout and stderr are the same, what is written to both stays in order; a workload's output is a terminal where prof's is one, and
// of its size.
func TestCaptureOutputKinds(t *testing.T) {
	t.Parallel()
	const script = `i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; for fd in 1 2; do if [ -t $fd ]; then echo "terminal $fd"; fi; done`
	var both, out, errs strings.Builder
	for i := range 200 {
		n := strconv.Itoa(i)
		out.WriteString("out " + n + "\n")
		errs.WriteString("err " + n + "\n")
		both.WriteString("out " + n + "\nerr " + n + "\n")
	}
	capture := func(p *place) *exec.Cmd {
		return p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", script)
	}
	t.Run("pipe", func(t *testing.T) {
		t.Parallel()
		p := fakes(t, "")
		cmd := capture(p)
		var b bytes.Buffer
		cmd.Stdout, cmd.Stderr = &b, &b // exec gives both the same pipe
		if got := finish(t, cmd, cmd.Run); got.code != 0 || !strings.Contains(b.String(), both.String()) || strings.Contains(b.String(), "\nterminal") {
			t.Errorf("exit %d:\n%s", got.code, b.String())
		}
	})
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		p := fakes(t, "")
		got := drawn(t, p, 91, func(slave *os.File) *exec.Cmd {
			cmd := p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", script+"; stty size <&1")
			cmd.Stdout, cmd.Stderr = slave, slave
			return cmd
		})
		if !strings.Contains(got, strings.ReplaceAll(both.String(), "\n", "\r\n")+"terminal 1\r\nterminal 2\r\n50 91\r\n") {
			t.Errorf("%q", got)
		}
		if log := string(read(t, p.path(".prof/runs/r/nsys/report-1.workload.log"))); !strings.Contains(log, both.String()) {
			t.Errorf("the log has\n%s", log)
		}
	})
	t.Run("terminal and file", func(t *testing.T) {
		t.Parallel()
		p := fakes(t, "")
		got := drawn(t, p, 91, func(slave *os.File) *exec.Cmd {
			cmd := capture(p)
			f, err := os.Create(p.path("errs"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			cmd.Stdout, cmd.Stderr = slave, f
			return cmd
		})
		if want := strings.ReplaceAll(out.String(), "\n", "\r\n") + "terminal 1\r\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := string(read(t, p.path("errs"))); !strings.Contains(got, errs.String()) {
			t.Errorf("stderr is\n%s", got)
		}
	})
}

// drawn gives what a command draws on a terminal, byte by byte.
func drawn(t *testing.T, p *place, columns uint16, command func(slave *os.File) *exec.Cmd) string {
	t.Helper()
	master, slave := terminal(t, columns)
	cmd := command(slave)
	text := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		if _, err := io.Copy(&b, master); err != nil && !errors.Is(err, syscall.EIO) {
			b.WriteString(err.Error())
		}
		text <- b.String()
	}()
	got := finish(t, cmd, cmd.Run)
	slave.Close()
	out := <-text
	if got.code != 0 {
		t.Errorf("exit %d: %s", got.code, out)
	}
	return out
}

// A terminal that changes its size does so for the workload.
func TestCaptureResized(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	master, slave := terminal(t, 91)
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", `: >began; until [ "$(stty size <&2)" = "50 77" ]; do sleep 0.05; done; echo resized`)
	cmd.Stdout, cmd.Stderr = slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	within(t, 20*time.Second, "the workload begins", func() bool { return exists(p.path("began")) })
	size := [4]uint16{50, 77}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		t.Fatal(errno)
	}
	text, err := io.ReadAll(master)
	if waited := cmd.Wait(); waited != nil || !errors.Is(err, syscall.EIO) || !strings.Contains(string(text), "resized\r\n") {
		t.Errorf("%v %v: %s", waited, err, text)
	}
}

// What a workload leaves behind may hold its output open, or go on to write: that ends no capture late.
func TestCaptureDaemon(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"silent": "exec sleep 60", "chatty": "while :; do echo chat; done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			write(t, p.path("left.sh"), []byte("echo $$ >pid\n"+left+"\n"))
			t.Cleanup(func() { _ = exec.Command("kill", "-KILL", strings.TrimSpace(string(read(t, p.path("pid"))))).Run() })
			began := time.Now()
			got := p.run("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", "setsid sh left.sh & until [ -s pid ]; do sleep 0.01; done; echo last words")
			if took := time.Since(began); got.code != 0 || !strings.Contains(got.out, "last words\n") || took > 10*time.Second {
				t.Errorf("exit %d after %s, stdout %.100q, stderr %q", got.code, took, got.out, got.err)
			}
		})
	}
}

// Whoever reads slowly holds the workload up, and gets all of it.
func TestCaptureSlowReader(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", "head -c 8000000 /dev/zero; : >written")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	_, err = io.ReadFull(pipe, first)
	time.Sleep(500 * time.Millisecond)
	if err != nil || exists(p.path("written")) {
		t.Errorf("the workload did not wait: %v", err)
	}
	n, err := io.Copy(io.Discard, pipe)
	if waited := cmd.Wait(); n != 8000000-1 || err != nil || waited != nil {
		t.Errorf("%d bytes, %v, %v", n, err, waited)
	}
}

// A capture whose output nobody reads ends on SIGTERM.
func TestCaptureUnreadStopped(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--no-ingest", "--", "sh", "-c", ": >began; head -c 8000000 /dev/zero; sleep 60")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	within(t, 20*time.Second, "the workload begins", func() bool { return exists(p.path("began")) })
	time.Sleep(200 * time.Millisecond)
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
	case <-time.After(6 * time.Second):
		t.Error("prof goes on")
		_ = cmd.Process.Kill()
	}
}
