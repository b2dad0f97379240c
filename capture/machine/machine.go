// Package machine is what is asked of the machine that prof runs on: its files, programs and processes, its clock, the profilers and the Python
// that it has, and how the tracer is built there. Tests put Go functions in its place.
package machine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"prof/capture/envvar"
	"prof/capture/nvml"
	"prof/capture/tracer"
	"prof/internal/child"
	"prof/internal/mask"
)

// Command is a program to run for what it tells, and Output what it wrote.
type (
	Command = child.Command
	Output  = child.Output
)

// RunFunc runs a command to its end. The error says why it could not be run, with what code it ended, or that it took too long; the
// output is what there was of it in each case.
type RunFunc func(ctx context.Context, c Command) (Output, error)

// Machine is what is asked of the machine. What is nil is asked of this one.
type Machine struct {
	LookPath func(name string) (string, error)
	Glob     func(pattern string) ([]string, error)
	ReadFile func(path string) ([]byte, error)
	ReadLink func(path string) (string, error)
	Free     func(dir string) (bytes int64, err error) // free for this user on the file system of a folder
	Run      RunFunc
	Build    func(context.Context, tracer.Places) (tracer.Library, error) // of prof's own tracer
	NVML     func() (nvml.Library, error)
	Exec     func(path string, argv, environ []string) error // puts a program into the place of this process; it returns only an error
	Environ  []string                                        // nil: of this process
	TempDir  string                                          // "": os.TempDir's

	Processes                                        // of tools and workloads
	Now       func() time.Time                       // by which recordings are timed
	After     func(d time.Duration) <-chan time.Time // by which they are stopped
}

func (m Machine) WithDefaults() Machine {
	if m.LookPath == nil {
		m.LookPath = exec.LookPath
	}
	if m.Glob == nil {
		m.Glob = filepath.Glob
	}
	if m.ReadFile == nil {
		m.ReadFile = os.ReadFile // of /proc and /sys
	}
	if m.ReadLink == nil {
		m.ReadLink = os.Readlink
	}
	if m.Free == nil {
		m.Free = FreeBytes
	}
	if m.Run == nil {
		m.Run = child.Run
	}
	if m.Build == nil {
		m.Build = tracer.Build
	}
	if m.Exec == nil {
		m.Exec = syscall.Exec
	}
	if m.Environ == nil {
		m.Environ = os.Environ()
	}
	if m.TempDir == "" {
		m.TempDir = os.TempDir()
	}
	if m.NVML == nil {
		m.NVML = nvml.Open
	}
	if m.Processes == nil {
		m.Processes = System{}
	}
	if m.Now == nil {
		m.Now = time.Now
	}
	if m.After == nil {
		m.After = time.After
	}
	return m
}

// Getenv is a variable of the machine's environment, "" when it is not set.
func (m Machine) Getenv(name string) string {
	value, _ := envvar.Lookup(m.Environ, name)
	return value
}

// firstLine is the first line of a text that says something, shortened, secrets masked.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			if r := []rune(line); len(r) > 200 {
				line = string(r[:200]) + "..."
			}
			return mask.Text(line)
		}
	}
	return "it wrote nothing"
}

// Said is the beginning of what a failed program wrote, to follow its error.
func Said(out Output) string {
	for _, text := range [][]byte{out.Stderr, out.Stdout} {
		if len(bytes.TrimSpace(text)) > 0 {
			return ": " + firstLine(string(text))
		}
	}
	return ""
}
