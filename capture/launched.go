package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
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
// Errors of its own are told to the asking prof, or where there is none to stderr.
func Launched(stderr io.Writer) int {
	// The workload's parent-death signal is bound to the thread that starts it.
	runtime.LockOSThread()
	w, err := connect()
	if err != nil {
		fmt.Fprintf(stderr, "prof: %v\n", err)
		return exitNotExecutable
	}
	code, err := w.run()
	if err != nil {
		w.tell(event{Error: err.Error()})
	}
	w.conn.Close()
	return code
}

// launched is the side that starts the workload.
type launched struct {
	conn  *net.UnixConn
	in    *json.Decoder
	job   job
	files [3]*os.File
}

func connect() (*launched, error) {
	path := os.Getenv(launchVariable)
	if path == "" {
		return nil, errNotLaunched
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("connect to the capturing prof: %w", err)
	}
	w := &launched{conn: conn}
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
func (w *launched) run() (code int, err error) {
	cmd := exec.Command(w.job.Argv[0], w.job.Argv[1:]...)
	cmd.Dir, cmd.Env = string(w.job.Dir), workloadEnv(w.job, os.Environ())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.files[0], w.files[1], w.files[2]
	cmd.SysProcAttr = ownGroup()
	// Before the start, so that a signal in between is not lost on the workload.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return exitNotFound, err
		}
		return exitNotExecutable, err
	}
	w.tell(event{Started: true, PID: cmd.Process.Pid})
	group := -cmd.Process.Pid
	go func() {
		for s := range signals {
			_ = syscall.Kill(group, s.(syscall.Signal)) // it may have ended by now
		}
	}()
	go w.orders(group)
	err = cmd.Wait()
	ns := time.Since(start).Nanoseconds()
	state := cmd.ProcessState
	if state == nil {
		return exitNotExecutable, err
	}
	ended := event{Ns: ns}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ended.Signal, code = signalName(status.Signal()), exitSignal+int(status.Signal())
	} else {
		code = state.ExitCode()
		ended.ExitCode = &code
	}
	w.tell(ended)
	endGroup(group)
	return code, nil
}

// leftGrace is how long processes that outlive the workload get to end after a signal.
const leftGrace = 2 * time.Second

// endGroup ends what a workload left behind of its process group (a negative number): it would disturb the passes that come next.
func endGroup(group int) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(group, s) // there may be nobody left
		for end := time.Now().Add(leftGrace); groupLives(-group); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				break
			}
		}
		if !groupLives(-group) {
			return
		}
	}
}

// orders passes signals on that the asking prof sends. When that one is gone, nobody waits for the workload any more: it is ended, so
// that the profiler can write its report.
func (w *launched) orders(group int) {
	for {
		var o order
		if w.in.Decode(&o) != nil {
			break
		}
		_ = syscall.Kill(group, o.Signal)
	}
	_ = syscall.Kill(group, syscall.SIGTERM)
	time.Sleep(orphanGrace)
	_ = syscall.Kill(group, syscall.SIGKILL)
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
