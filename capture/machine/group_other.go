//go:build !linux

package machine

import "syscall"

// ownGroup starts a process in a process group of its own, so that the terminal's Ctrl-C reaches prof alone, which decides what to do.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// toolGroup is the same for a tool.
func toolGroup() *syscall.SysProcAttr { return ownGroup() }

// groupLives reports whether there is a process of a group.
func groupLives(group int) bool { return syscall.Kill(-group, 0) == nil }

// inherit is not for this system.
func inherit() int { return 0 }
