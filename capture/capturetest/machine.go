// Package capturetest is a machine for tests of captures: its programs are Go functions that run in the test's process, its clock leaps over
// what they sleep, and it has no GPU.
package capturetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"prof/capture"
	"prof/capture/machine"
	"prof/capture/nvml"
	"prof/capture/tracer"
)

// Self is the path of prof there.
const Self = "/bin/prof"

// Program is what a process does; it returns its exit code.
type Program func(p *Process) int

// Machine has programs in /bin, and their processes. Its methods are safe for concurrent use.
type Machine struct {
	TempDir string                                                       // for temporary files
	Build   func(context.Context, tracer.Places) (tracer.Library, error) // of the tracer; nil: it cannot be built
	Exec    func(path string, argv, environ []string) error              // in place of what puts a program into the place of a process

	mu       sync.Mutex
	programs map[string]Program
	all      map[int]*Process
	leapt    time.Duration
	alarms   map[*alarm]bool
}

// New returns a machine that has prof, which can be launched, and nothing else.
func New(temp string) *Machine {
	m := &Machine{TempDir: temp, programs: map[string]Program{}, all: map[int]*Process{}, alarms: map[*alarm]bool{}}
	m.Install("prof", launched)
	return m
}

// Install puts a program into /bin.
func (m *Machine) Install(name string, p Program) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.programs[name] = p
}

// Remove takes programs away.
func (m *Machine) Remove(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		delete(m.programs, name)
	}
}

// Capture is the machine as captures see it, with an environment.
func (m *Machine) Capture(environ []string) machine.Machine {
	build := m.Build
	if build == nil {
		build = func(context.Context, tracer.Places) (tracer.Library, error) {
			return tracer.Library{}, errors.New("no headers of CUPTI")
		}
	}
	missing := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }
	return machine.Machine{
		LookPath: m.lookPath, Run: m.run, Build: build, Environ: environ, TempDir: m.TempDir, Exec: m.Exec, Processes: m, Now: m.Now, After: m.After,
		Glob:     func(string) ([]string, error) { return nil, nil },
		ReadFile: func(path string) ([]byte, error) { return nil, missing(path) },
		ReadLink: func(path string) (string, error) { return "", missing(path) },
		Free:     func(string) (int64, error) { return 1 << 40, nil },
		NVML:     func() (nvml.Library, error) { return nil, nvml.ErrNotFound },
	}
}

func (m *Machine) lookPath(name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if dir, base := path.Split(name); (dir == "" || dir == "/bin/") && m.programs[base] != nil {
		return "/bin/" + base, nil
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// alarm is somebody who waits for a time.
type alarm struct {
	at   time.Time
	ring chan time.Time
}

// Now is the machine's time.
func (m *Machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now()
}

func (m *Machine) now() time.Time { return time.Now().Add(m.leapt) }

// After is time.After by the machine's time.
func (m *Machine) After(d time.Duration) <-chan time.Time {
	m.mu.Lock()
	a := &alarm{m.now().Add(d), make(chan time.Time, 1)}
	m.alarms[a] = true
	m.mu.Unlock()
	time.AfterFunc(d, func() { m.Leap(0) })
	return a.ring
}

// Leap moves the clock on.
func (m *Machine) Leap(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leapt += d
	now := m.now()
	for a := range m.alarms {
		if !a.at.After(now) {
			a.ring <- now
			delete(m.alarms, a)
		}
	}
}

// Process is one of the machine's.
type Process struct {
	Argv, Env      []string
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	PID            int

	m       *Machine
	of      int // the process that started it; 0: a capture
	group   int
	bound   bool                   // it dies with that
	files   []*os.File             // its own
	trapped func(s syscall.Signal) // nil: signals end it

	kill  chan struct{} // closed when it is to end by a signal
	by    syscall.Signal
	done  chan struct{} // closed when it has ended
	exit  error
	began time.Time
}

// ended ends the program of a process that a signal has ended.
type ended struct{}

// begin starts a process. Its files are its own from now on.
func (m *Machine) begin(p *Process) error {
	name := p.Argv[0]
	if _, err := m.lookPath(name); err != nil {
		return err
	}
	m.mu.Lock()
	program := m.programs[path.Base(name)]
	p.m, p.PID, p.kill, p.done, p.began = m, 1_000_000_000+len(m.all), make(chan struct{}), make(chan struct{}), m.now() // no process of Linux has such an id
	if p.group == 0 {
		p.group = p.PID
	}
	m.all[p.PID] = p
	m.mu.Unlock()
	go func() {
		defer m.end(p)
		defer func() {
			if r := recover(); r != nil && r != (ended{}) {
				panic(r)
			}
		}()
		if code := program(p); code != 0 {
			p.exit = &machine.Exit{Code: code}
		}
	}()
	return nil
}

// end is the end of a process.
func (m *Machine) end(p *Process) {
	for _, f := range p.files {
		f.Close()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.by != 0 {
		p.exit = &machine.Exit{Signal: p.by}
	}
	close(p.done)
}

// Start is that of capture.Processes.
func (m *Machine) Start(l machine.Start) (pid int, wait func() error, err error) {
	return m.startFrom(0, l)
}

// parent starts processes in the name of one of them.
type parent struct {
	*Machine
	pid int
}

func (p parent) Start(l machine.Start) (pid int, wait func() error, err error) {
	return p.startFrom(p.pid, l)
}

func (m *Machine) startFrom(parent int, l machine.Start) (pid int, wait func() error, err error) {
	p := &Process{of: parent, Argv: l.Argv, Env: l.Env, Dir: l.Dir, bound: l.Bound, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	for i, f := range l.Files {
		if f == nil {
			continue
		}
		fd, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			return 0, nil, fmt.Errorf("a file for %s: %w", l.Argv[0], err)
		}
		own := os.NewFile(uintptr(fd), f.Name())
		p.files = append(p.files, own)
		switch i {
		case 0:
			p.Stdin = own
		case 1:
			p.Stdout = own
		default:
			p.Stderr = own
		}
	}
	if err := m.begin(p); err != nil {
		return 0, nil, err
	}
	return p.PID, p.wait, nil
}

// Kill is that of capture.Processes.
func (m *Machine) Kill(pid int, s syscall.Signal) error {
	var to []*Process
	m.mu.Lock()
	for _, p := range m.all {
		if (p.PID == pid || p.group == -pid) && p.lives() {
			to = append(to, p)
		}
	}
	m.mu.Unlock()
	if len(to) == 0 {
		return syscall.ESRCH
	}
	for _, p := range to {
		p.signal(s)
	}
	return nil
}

// GroupLives is that of capture.Processes.
func (m *Machine) GroupLives(group int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.all {
		if p.group == group && p.lives() {
			return true
		}
	}
	return false
}

// Below is that of capture.Processes.
func (m *Machine) Below(tool int) map[int]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[int]string{}
	for pid, p := range m.all {
		for at := p; at != nil && p.lives(); at = m.all[at.of] {
			if at.of == tool {
				out[pid] = strconv.FormatInt(p.began.UnixNano(), 10)
				break
			}
		}
	}
	return out
}

// Holding is that of capture.Processes.
func (m *Machine) Holding(variable string) map[int]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[int]string{}
	for pid, p := range m.all {
		if p.lives() && slices.Contains(p.Env, variable) {
			out[pid] = strconv.FormatInt(p.began.UnixNano(), 10)
		}
	}
	return out
}

// Inherit is that of capture.Processes: its processes have their parents for ever.
func (m *Machine) Inherit() int { return 0 }

// Reap is that of capture.Processes.
func (m *Machine) Reap(int) {}

// StartedAt is that of capture.Processes.
func (m *Machine) StartedAt(pid int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.all[pid]; p != nil && p.lives() {
		return strconv.FormatInt(p.began.UnixNano(), 10)
	}
	return ""
}

// run is that of machine.Machine.
func (m *Machine) run(ctx context.Context, c machine.Command) (out machine.Output, err error) {
	var stdout, stderr bytes.Buffer
	p := &Process{Argv: c.Argv, Env: c.Env, Dir: c.Dir, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	if err := m.begin(p); err != nil {
		return out, err
	}
	select {
	case <-p.done:
		err = p.exit
	case <-ctx.Done():
		p.signal(syscall.SIGKILL)
		<-p.done
		err = fmt.Errorf("it was stopped: %w", ctx.Err())
	}
	return machine.Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}, err
}

// lives reports whether it has not ended. The machine is locked.
func (p *Process) lives() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *Process) wait() error {
	<-p.done
	return p.exit
}

// signal gives it a signal. Those that are bound to it end with it.
func (p *Process) signal(s syscall.Signal) {
	p.m.mu.Lock()
	trapped, bound := p.trapped, []*Process(nil)
	if trapped == nil || s == syscall.SIGKILL {
		if p.by == 0 {
			p.by = s
			close(p.kill)
		}
		trapped = func(syscall.Signal) {}
		for _, child := range p.m.all {
			if child.of == p.PID && child.bound {
				bound = append(bound, child)
			}
		}
	}
	p.m.mu.Unlock()
	trapped(s)
	for _, child := range bound {
		child.signal(syscall.SIGKILL)
	}
}

// Trap has f called for every signal but SIGKILL, which then end nothing.
func (p *Process) Trap(f func(s syscall.Signal)) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.trapped = f
}

// Ignore has signals do nothing.
func (p *Process) Ignore() { p.Trap(func(syscall.Signal) {}) }

// Die ends it by a signal.
func (p *Process) Die(s syscall.Signal) int {
	p.Trap(nil)
	p.signal(s)
	panic(ended{})
}

// Getenv is a variable of its environment.
func (p *Process) Getenv(name string) string {
	value := ""
	for _, v := range p.Env {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			value = text
		}
	}
	return value
}

// step of a process that sleeps, by the machine's time, in each of which others come to their turn.
const step = 50 * time.Millisecond

// Sleep lets the machine's time go by.
func (p *Process) Sleep(d time.Duration) {
	for end := p.m.Now().Add(d); p.m.Now().Before(end); p.m.Leap(min(step, end.Sub(p.m.Now()))) {
		p.pause()
	}
}

// Hang sleeps until it is ended.
func (p *Process) Hang() int {
	for {
		p.Sleep(time.Hour)
	}
}

// Until waits for something that needs no time of the machine's.
func (p *Process) Until(cond func() bool) {
	for !cond() {
		p.pause()
	}
}

// pause lets others come to their turn, and ends the program when a signal has ended the process.
func (p *Process) pause() {
	select {
	case <-p.kill:
		panic(ended{})
	case <-time.After(time.Millisecond):
	}
}

// Begin starts a process in its group, with its files and environment.
func (p *Process) Begin(argv ...string) (*Process, error) {
	child := &Process{Argv: argv, Env: p.Env, Dir: p.Dir, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, of: p.PID, group: p.group}
	return child, p.m.begin(child)
}

// Wait waits for its end and returns the exit code, as a shell has it.
func (p *Process) Wait(child *Process) int {
	select {
	case <-p.kill:
		panic(ended{})
	case <-child.done:
	}
	var exit *machine.Exit
	switch {
	case !errors.As(child.exit, &exit):
		return 0
	case exit.Signal != 0:
		return 128 + int(exit.Signal)
	}
	return exit.Code
}

// Run runs a process to its end, as Begin and Wait do, and 127 is the exit code where there is no such program.
func (p *Process) Run(argv ...string) int {
	child, err := p.Begin(argv...)
	if err != nil {
		fmt.Fprintln(p.Stderr, err)
		return 127
	}
	return p.Wait(child)
}

// Exec runs a program of this machine to its end, in the process's place.
func (p *Process) Exec(path string, args ...string) int {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Env, p.Dir, p.Stdin, p.Stdout, p.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return p.fails(err)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return p.Die(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// launched is prof as profilers start it.
func launched(p *Process) int {
	if len(p.Argv) < 2 || p.Argv[1] != capture.LaunchVerb {
		fmt.Fprintf(p.Stderr, "prof is not for %q here\n", p.Argv[1:])
		return 2
	}
	m := p.m.Capture(p.Env)
	m.Processes = parent{p.m, p.PID}
	return capture.Launched(m, func(to chan<- os.Signal, _ ...os.Signal) {
		p.Trap(func(s syscall.Signal) { to <- s })
	}, p.Stderr)
}
