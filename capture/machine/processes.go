package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Processes starts processes and lists those that there are.
type Processes interface {
	// Start starts one that leads a process group of its own. wait returns once it has ended: nil after 0, an *Exit after anything else.
	Start(l Start) (pid int, wait func() error, err error)
	// Kill sends a signal to a process, or where pid is negative to all of that group.
	Kill(pid int, s syscall.Signal) error
	// GroupLives reports whether a process of a group is at work. One that has ended and is not waited for by its parent is not.
	GroupLives(group int) bool
	// Below returns the processes that come from that of a tool, but those that are the tool's own, with when each was started.
	Below(tool int) map[int]string
	// Holding returns the processes that have a variable, NAME=VALUE, in their environment, but those of a profiler, with when each was started.
	Holding(variable string) map[int]string
	// Inherit makes this process the parent of those that come from it and whose own parents end, and returns its number; 0 where the system has no such thing.
	Inherit() int
	// Reap waits for processes that were inherited and have ended, so that none stays as a zombie. One child of another kind is spared: its end is waited for elsewhere.
	Reap(spared int)
	// StartedAt distinguishes a process from a later one of the same number; "" when there is none, or it has ended and is not waited for.
	StartedAt(pid int) string
}

// Start says what process to start.
type Start struct {
	Argv, Env []string
	Dir       string
	Files     [3]*os.File // stdin, stdout and stderr; nil: closed
	Bound     bool        // it must not outlive the process that starts it
}

// Exit is how a process ended that did not end with 0.
type Exit struct {
	Code   int            // where Signal is 0
	Signal syscall.Signal // that ended it
	Dumped bool           // its core
}

func (e *Exit) Error() string {
	switch {
	case e.Signal == 0:
		return fmt.Sprintf("exit status %d", e.Code)
	case e.Dumped:
		return "signal: " + e.Signal.String() + " (core dumped)"
	}
	return "signal: " + e.Signal.String()
}

// System has the processes of this machine.
type System struct{}

func (System) Start(l Start) (pid int, wait func() error, err error) {
	cmd := exec.Command(l.Argv[0], l.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = l.Env, l.Dir, l.Files[0], l.Files[1], l.Files[2], toolGroup()
	if l.Bound {
		cmd.SysProcAttr = ownGroup()
	}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	return cmd.Process.Pid, func() error { return exited(cmd.Wait()) }, nil
}

// exited is the end of a process as an *Exit.
func exited(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &Exit{Signal: status.Signal(), Dumped: status.CoreDump()}
	}
	return &Exit{Code: exit.ExitCode()}
}

func (System) Kill(pid int, s syscall.Signal) error { return syscall.Kill(pid, s) }

func (System) Inherit() int { return inherit() }

func (System) Reap(spared int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return // nothing was inherited
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == spared {
			continue
		}
		if fields := statFields(pid); len(fields) > 1 && fields[0] == "Z" && fields[1] == strconv.Itoa(os.Getpid()) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // another call of this may have been faster
		}
	}
}

func (System) GroupLives(group int) bool { return groupLives(group) }

func (System) Below(tool int) map[int]string {
	from := Descendant(tool)
	return processes(func(pid int) bool { return pid != tool && from(pid) })
}

func (System) Holding(variable string) map[int]string {
	sought := []byte("\x00" + variable + "\x00")
	return processes(func(pid int) bool {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // not of other users
		return err == nil && bytes.Contains(append([]byte{0}, environ...), sought)
	})
}

// processes returns those of a kind that are no profiler's, with when each was started.
func processes(is func(pid int) bool) map[int]string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // not on this system
	}
	out := map[int]string{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !is(pid) || isProfiler(pid) {
			continue
		}
		if at := (System{}).StartedAt(pid); at != "" {
			out[pid] = at
		}
	}
	return out
}

// isProfiler reports whether a process runs a program of Nsight Compute, which its command on the PATH may be a script around.
func isProfiler(pid int) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && (filepath.Base(path) == "ncu" || strings.Contains(path, "/nsight-compute/"))
}

func (System) StartedAt(pid int) string {
	fields := statFields(pid)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// Descendant says of processes whether they are a given one or come from it. A process whose parents have ended is not told from
// others any more; what it was found to be before holds.
func Descendant(root int) func(pid int) bool {
	known := map[int]bool{root: true}
	return func(pid int) bool {
		var chain []int
		for at := pid; at > 1 && !known[at]; {
			chain = append(chain, at)
			parent, ok := parentOf(at)
			if !ok || len(chain) > 1000 {
				return false
			}
			at = parent
			if at <= 1 {
				return false
			}
		}
		for _, c := range chain {
			known[c] = true
		}
		return pid > 1
	}
}

// parentOf returns a process's parent.
func parentOf(pid int) (int, bool) {
	fields := statFields(pid)
	if len(fields) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(fields[1])
	return n, err == nil
}

// statFields returns what /proc/PID/stat says of a process behind its name, which stands in parentheses and may hold anything: state,
// parent, group, ... None where there is no such process.
func statFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	rest := string(text)
	return strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
}
