package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"prof/capture/machine"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Exit codes of a launched prof that could not start its workload, as a shell has them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // and the signal's number
)

// orphanGrace is how long a workload gets to end after a signal when the prof that captures is gone.
const orphanGrace = 10 * time.Second

// Launched is the verb LaunchVerb: it starts the workload that the asking prof names, passes signals on to it, and gives its exit code.
// Errors of its own are told to the asking prof, or where there is none to stderr. notify is signal.Notify, or what stands in for it.
func Launched(m machine.Machine, notify func(to chan<- os.Signal, which ...os.Signal), stderr io.Writer) int {
	// The workload's parent-death signal is bound to the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m = m.WithDefaults()
	w, err := connect(m)
	if err != nil {
		fmt.Fprintf(stderr, "prof: %v\n", err)
		return exitNotExecutable
	}
	code, err := w.run(notify)
	if err != nil {
		w.tell(event{Error: err.Error()})
	}
	w.conn.Close()
	for _, f := range w.files {
		f.Close()
	}
	return code
}

// launched is the side that starts the workload.
type launched struct {
	m     machine.Machine
	conn  *net.UnixConn
	in    *json.Decoder
	job   job
	files [3]*os.File
	root  int // this process, where it inherits those of the workload whose parents end

	ended   atomic.Bool // the workload
	stopped atomic.Bool // before it had ended
}

func connect(m machine.Machine) (*launched, error) {
	path := m.Getenv(launchVariable)
	if path == "" {
		return nil, errNotLaunched
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("connect to the capturing prof: %w", err)
	}
	w := &launched{m: m, conn: conn}
	if err := w.receive(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("read from the capturing prof: %w", err)
	}
	return w, nil
}

// receive takes the workload's files and the job.
func (w *launched) receive() error {
	var one [1]byte
	oob := make([]byte, syscall.CmsgSpace(4*len(w.files)))
	_, n, _, _, err := w.conn.ReadMsgUnix(one[:], oob)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return err
	}
	var fds []int
	for _, m := range messages {
		some, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return err
		}
		fds = append(fds, some...)
	}
	if len(fds) != len(w.files) {
		return fmt.Errorf("%d files arrived instead of %d", len(fds), len(w.files))
	}
	for i, fd := range fds {
		syscall.CloseOnExec(fd)
		w.files[i] = os.NewFile(uintptr(fd), [...]string{"stdin", "stdout", "stderr"}[i])
	}
	w.in = json.NewDecoder(w.conn)
	return w.in.Decode(&w.job)
}

func (w *launched) tell(e event) {
	// Where the asking prof is gone there is nobody to tell; orders sees that too.
	_ = json.NewEncoder(w.conn).Encode(e)
}

// run starts the workload and waits for its end.
func (w *launched) run(notify func(chan<- os.Signal, ...os.Signal)) (code int, err error) {
	// Before the start, so that a signal in between is not lost on the workload.
	signals := make(chan os.Signal, 16)
	notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	w.root = w.m.Inherit()
	start := w.m.Now()
	pid, wait, err := w.m.Start(machine.Start{Argv: w.job.Argv, Env: workloadEnv(w.job, w.m.Environ), Dir: string(w.job.Dir), Files: w.files, Bound: true})
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return exitNotFound, err
		}
		return exitNotExecutable, err
	}
	w.tell(event{Started: true, PID: pid, Root: w.root})
	go func() {
		for s := range signals {
			w.pass(pid, s.(syscall.Signal))
		}
	}()
	go w.orders(pid)
	if w.root > 0 {
		children := make(chan os.Signal, 1)
		notify(children, syscall.SIGCHLD)
		go func() {
			for range children {
				w.m.Reap(pid)
			}
		}()
	}
	err = wait()
	w.ended.Store(true)
	ended := event{Ns: w.m.Now().Sub(start).Nanoseconds()}
	exit := &machine.Exit{}
	if err != nil && !errors.As(err, &exit) {
		return exitNotExecutable, err
	}
	if exit.Signal != 0 {
		ended.Signal, code = machine.SignalName(exit.Signal), exitSignal+int(exit.Signal)
	} else {
		code = exit.Code
		ended.ExitCode = &code
	}
	w.tell(ended)
	endGroup(w.m, pid)
	if w.stopped.Load() { // by itself a workload may leave a daemon of its own
		w.endLeft()
	}
	return code, nil
}

// pass hands a signal on to the workload.
func (w *launched) pass(pid int, s syscall.Signal) {
	if s != syscall.SIGUSR1 && s != syscall.SIGUSR2 && !w.ended.Load() {
		w.stopped.Store(true)
	}
	_ = w.m.Kill(-pid, s) // it may have ended by now
}

// endLeft ends what a workload that was stopped left in sessions of their own, such as the ranks of a launcher that has ended before them: they would
// hold the GPU's memory.
func (w *launched) endLeft() {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		signalled := map[int]bool{}
		for end := time.Now().Add(leftGrace); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			left := comesFrom(w.m, w.root, w.job.Mark)
			if len(left) == 0 {
				return
			}
			for pid := range left {
				if !signalled[pid] {
					signalled[pid] = true
					_ = w.m.Kill(pid, s) // it may have ended by now
				}
			}
		}
	}
}

// comesFrom returns the processes below one, if it is not 0, and those that have inherited the mark of a pass. Some processes write a title over their
// environment, and some outlive their parents: neither way finds all.
func comesFrom(m machine.Machine, root int, mark string) map[int]string {
	left := m.Holding(mark)
	if root > 0 {
		maps.Copy(left, m.Below(root))
	}
	return left
}

// leftGrace is how long processes that outlive the workload get to end after a signal.
const leftGrace = 2 * time.Second

// endGroup ends what a workload left behind of its process group: it would disturb the passes that come next.
func endGroup(m machine.Machine, group int) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = m.Kill(-group, s) // there may be nobody left
		for end := time.Now().Add(leftGrace); m.GroupLives(group); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				break
			}
		}
		if !m.GroupLives(group) {
			return
		}
	}
}

// orders passes signals on that the asking prof sends. When that one is gone, nobody waits for the workload any more: it is ended, so
// that the profiler can write its report.
func (w *launched) orders(pid int) {
	for {
		var o order
		if w.in.Decode(&o) != nil {
			break
		}
		w.pass(pid, o.Signal)
	}
	w.pass(pid, syscall.SIGTERM)
	<-w.m.After(orphanGrace)
	kill(w.m, pid, w.root, w.job.Mark, 0)
}

// killWithin is how long a process may take to be gone that was killed.
const killWithin = time.Second

// kill ends a workload by force, with all that came from it in whatever session: its process group, what is below its root, or below it where there is
// none, and what has inherited the mark of the pass. pid is 0 where only the mark says whose they are; one process is spared.
func kill(m machine.Machine, pid, root int, mark string, spared int) {
	if root == 0 || pid == 0 {
		root = pid
	}
	for end := time.Now().Add(killWithin); ; time.Sleep(5 * time.Millisecond) {
		left := comesFrom(m, root, mark) // before its parents end
		if pid > 0 {
			_ = m.Kill(-pid, syscall.SIGKILL)
		}
		delete(left, spared)
		for p := range left {
			_ = m.Kill(p, syscall.SIGKILL) // it may have ended by now
		}
		if len(left) == 0 || time.Now().After(end) {
			return
		}
	}
}

// workloadEnv is the workload's own environment with what the tool set on the way: variables that the launched process has and the
// tool was not given, or not like that.
func workloadEnv(j job, now []string) []string {
	given := map[string]bool{}
	for _, v := range j.ToolEnv {
		given[v] = true
	}
	out := append([]string(nil), j.Env...)
	for _, v := range now {
		name, _, _ := strings.Cut(v, "=")
		if !given[v] && name != launchVariable {
			out = append(out, v) // the last one of a name counts
		}
	}
	return out
}
