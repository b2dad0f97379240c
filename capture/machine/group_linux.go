package machine

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherit makes this process a child subreaper.
func inherit() int {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil { // a sandbox may refuse it
		return 0
	}
	return os.Getpid()
}

// ownGroup starts a process in a process group of its own, so that the terminal's Ctrl-C reaches prof alone, which decides what to do.
// It must not outlive the process that started it: a tool that is killed would leave the workload on the GPU.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// toolGroup is the same for a tool, which outlives prof to write its report.
func toolGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// groupLives reports whether a process of a group is at work. One that has ended and is not waited for by its parent is not.
func groupLives(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return syscall.Kill(-group, 0) == nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := statFields(pid); len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return false
}
