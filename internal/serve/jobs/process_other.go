//go:build !linux

package jobs

import "syscall"

// childOf starts prof in a process group of its own, so that the terminal's Ctrl-C reaches the server alone.
func childOf() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endLeft does nothing: here nobody's environment can be read. What prof captured, it ends itself.
func endLeft(string) {}
