package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SuperviseVerb is the verb of the process between a server and prof at work on a job; see Supervise.
const SuperviseVerb = "supervise"

// jobVariable is set in the environment of all processes of a job, to the job's id: it finds those that the job leaves behind, also behind a server that
// was killed with all its children.
const jobVariable = "PROF_JOB"

// Times of a stop. prof ends within 5 s of SIGTERM, with its workload and profilers.
const (
	killAfter   = 8 * time.Second // from SIGTERM to SIGKILL
	outputDelay = 2 * time.Second // for what holds the output of a process open that has ended
)

// process is prof at work on a job.
type process struct {
	id        string
	argv, env []string
	called    *strings.Replacer // puts the client's names of files in place of the server's
	dir       string
	out, errs io.Writer
	grace     time.Duration // from SIGINT to SIGTERM
	timeout   time.Duration
}

// ended is how a process did: the exit code, and why it was stopped, if it was.
type ended struct {
	code   int            // -1: none
	signal syscall.Signal // that killed it
	cause  error          // of ctx, or errTimeout
	err    error          // it could not be started, or waited for
}

// errTimeout is why a job was stopped that took too long.
var errTimeout = errors.New("timeout")

// run runs a process to its end. The end of ctx, and of the time that it may take, is for it what Ctrl-C is for prof: prof capture stops its workload and
// keeps what was captured. Then it is terminated, and in the end killed; the same becomes of whatever a job leaves behind.
func (p process) run(ctx context.Context) ended {
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errTimeout)
	defer cancel()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(p.env, jobVariable+"="+p.id), p.out, p.errs
	under(cmd)
	cmd.WaitDelay = outputDelay
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		// A parent-death signal comes when the thread ends that started the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return ended{err: err}
	}
	err := p.await(ctx, cmd.Process.Pid, done)
	endLeft(p.id)
	out := ended{code: cmd.ProcessState.ExitCode(), cause: context.Cause(ctx)}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		out.signal = status.Signal()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		out.err = err
	}
	return out
}

// await waits for the end of a process, and stops it, harder and harder, from the end of ctx on.
func (p process) await(ctx context.Context, pid int, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, p.grace}, {syscall.SIGTERM, killAfter}} {
		_ = syscall.Kill(pid, step.signal) // it may have ended by now
		select {
		case err := <-done:
			return err
		case <-time.After(step.wait):
		}
	}
	endLeft(p.id)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	return <-done
}

// says words an end for people; "" where it is as it should be.
func (e ended) says() string {
	switch {
	case e.err != nil:
		return e.err.Error()
	case e.signal != 0:
		return "prof was killed by " + unix.SignalName(e.signal)
	case e.code != 0:
		return fmt.Sprintf("exit status %d", e.code)
	}
	return ""
}

// lastWords are the lines that a program writes last, of which the newest from prof itself says best why it failed.
type lastWords struct{ prof, any string }

func (l *lastWords) add(line string) {
	if text, ok := strings.CutPrefix(line, "prof: "); ok {
		l.prof = text
	}
	if line = strings.TrimSpace(line); line != "" {
		l.any = line
	}
}

func (l *lastWords) best() string {
	text := cmp.Or(l.prof, l.any)
	if len(text) > 500 {
		text = strings.ToValidUTF8(text[:500], "") + "..."
	}
	return text
}
