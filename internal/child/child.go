// Package child runs programs of others for what they write, bounded in memory and in how long they go on when they are told to stop.
package child

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"prof/internal/file"
)

// Command is a program to run for what it tells.
type Command struct {
	Argv []string
	Env  []string // all of it
	Dir  string   // "": the folder of this process
	// Chatty reports whether it may write any amount: the beginning and the end of it are kept. Else more than MaxOutput is an error.
	Chatty bool
}

// Output is what a program wrote; of stderr, and of all that a chatty one wrote, the beginning and the end where it is more than MaxOutput.
type Output struct{ Stdout, Stderr []byte }

// MaxOutput is how much is kept of each of a program's streams, in bytes.
const MaxOutput = 1 << 20

// ErrTooMuch is wrapped by the error about a program that wrote more than MaxOutput.
var ErrTooMuch = errors.New("it wrote too much")

// stopDelay is how long a program that was told to stop may take, and how long one is waited for that ended and left its output to others.
const stopDelay = 2 * time.Second

// Run runs a program without input, in a process group of its own, until it ends or ctx does: then the group is interrupted, since nsys and
// python end what they do on that, and killed where it goes on. What it started and left running does not hold it up.
func Run(ctx context.Context, c Command) (Output, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout, stderr := &ends{}, &ends{}
	if !c.Chatty {
		stdout.over = func() { cancel(fmt.Errorf("%w: more than %s", ErrTooMuch, file.Bytes(MaxOutput))) }
	}
	cmd := exec.CommandContext(limited, c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, stdout, stderr
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be the whole environment
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = stopDelay
	err := cmd.Run()
	if limited.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be nobody left
	}
	switch cause := context.Cause(limited); {
	case ctx.Err() != nil:
		err = fmt.Errorf("it was stopped: %w", ctx.Err())
	case cause != nil:
		err = cause
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return Output{stdout.bytes(), stderr.bytes()}, err
}

// ends keeps the first and the last of what is written to it.
type ends struct {
	first, last []byte
	dropped     bool
	over        func() // called when there is more than it keeps; may be nil
}

func (e *ends) Write(text []byte) (int, error) {
	n := len(text)
	head := min(MaxOutput/2-len(e.first), n)
	e.first, text = append(e.first, text[:head]...), text[head:]
	e.last = append(e.last, text[max(0, len(text)-MaxOutput/2):]...)
	if beyond := len(e.last) - MaxOutput/2; beyond > 0 {
		e.last = e.last[:copy(e.last, e.last[beyond:])]
		if !e.dropped && e.over != nil {
			e.over()
		}
		e.dropped = true
	}
	return n, nil
}

func (e *ends) bytes() []byte {
	if e.dropped {
		return append(append(e.first, "\n...\n"...), e.last...)
	}
	return append(e.first, e.last...)
}
