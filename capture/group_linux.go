package capture

import "syscall"

// ownGroup starts a process in a process group of its own, so that the terminal's Ctrl-C reaches prof alone, which decides what to do.
// It must not outlive the process that started it: a tool that is killed would leave the workload on the GPU.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// toolGroup is the same for a tool, which outlives prof to write its report.
func toolGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
