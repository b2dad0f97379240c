package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"prof/capture/nsys"
	"prof/internal/scratch"
)

// A profiler starts the workload as its own child: it would see the workload's output, its whole environment, and its time only
// together with its own. So what the profiler starts is prof once more, as the verb LaunchVerb. That process asks the prof that
// runs the capture, over a unix socket, what to start, gets the real environment and output from it, and tells it when the workload
// began and ended.

// LaunchVerb is the verb of prof under which it starts a workload for another prof. `prof launch` is another, for users.
const LaunchVerb = "launched"

// launchVariable names the socket of the prof that asks.
const launchVariable = "PROF_LAUNCH"

// job is what a launched prof is to start.
type job struct {
	Argv    words  `json:"argv"`
	Dir     []byte `json:"dir"`
	Env     words  `json:"env"`      // of the workload
	ToolEnv words  `json:"tool_env"` // that the tool was given: what differs from it the tool set for the workload
	Mark    string `json:"mark"`     // the variable in Env by which the workload's processes are found
}

// words are texts that need not be UTF-8, which JSON's texts must be.
type words []string

func (w words) MarshalJSON() ([]byte, error) {
	raw := make([][]byte, len(w))
	for i, text := range w {
		raw[i] = []byte(text)
	}
	return json.Marshal(raw)
}

func (w *words) UnmarshalJSON(text []byte) error {
	var raw [][]byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*w = nil
	for _, b := range raw {
		*w = append(*w, string(b))
	}
	return nil
}

// order is what the asking prof sends after the job: a signal for the workload's process group.
type order struct {
	Signal syscall.Signal `json:"signal"`
}

// event is what the launched prof tells: that the workload started, or how it ended.
type event struct {
	Started  bool   `json:"started,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Root     int    `json:"root,omitempty"`  // what all of the workload comes from, also that whose parents have ended; 0 where there is none
	Error    string `json:"error,omitempty"` // it could not be started
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Ns       int64  `json:"ns,omitempty"` // from start to end
}

// launcher is the side that asks: it serves one job to whoever the tool starts. A tool may start it several times (ncu replays whole
// applications), one after the other.
type launcher struct {
	dir    *scratch.Dir
	listen *net.UnixListener
	job    job
	mark   nsys.Marker
	kept   bool       // see keep
	files  []*os.File // the workload's stdin, stdout and stderr
	events chan event

	mu    sync.Mutex
	conns map[*net.UnixConn]bool
	wait  sync.WaitGroup
}

// newLauncher opens the socket in a folder below temp that only this user can enter. Nobody is answered before serve.
func newLauncher(temp string, files []*os.File) (*launcher, error) {
	dir, err := scratch.Make(temp)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the launch socket: %w", err)
	}
	mark, err := nsys.NewMarker()
	if err == nil {
		err = os.Mkdir(filepath.Join(dir.Path, tempName), 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	path := filepath.Join(dir.Path, "launch")
	listen, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		err = fmt.Errorf("listen on %s (is TMPDIR too long for a socket's name?): %w", path, err)
		return nil, errors.Join(err, dir.Remove())
	}
	return &launcher{dir: dir, listen: listen, mark: mark, files: files, events: make(chan event, 64), conns: map[*net.UnixConn]bool{}}, nil
}

// tempName is the name of temp in the launcher's folder.
const tempName = "t"

// temp is a folder for what a tool writes and need not stay.
func (l *launcher) temp() string { return filepath.Join(l.dir.Path, tempName) }

// keep lets temp stay: it holds what could not be moved elsewhere.
func (l *launcher) keep() error {
	l.kept = true
	return l.dir.Keep()
}

// serve begins to hand a job to whoever asks.
func (l *launcher) serve(j job) {
	l.job = j
	l.wait.Add(1)
	go l.accept()
}

// variable is what the tool's environment must hold.
func (l *launcher) variable() string {
	return launchVariable + "=" + l.listen.Addr().String()
}

func (l *launcher) accept() {
	defer l.wait.Done()
	for {
		conn, err := l.listen.AcceptUnix()
		if err != nil {
			return
		}
		l.mu.Lock()
		l.conns[conn] = true
		l.mu.Unlock()
		l.wait.Add(1)
		go l.answer(conn)
	}
}

// answer hands the job over and passes events on.
func (l *launcher) answer(conn *net.UnixConn) {
	defer l.wait.Done()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, conn)
		conn.Close()
	}()
	var fds []int
	for _, f := range l.files {
		fds = append(fds, int(f.Fd()))
	}
	if _, _, err := conn.WriteMsgUnix([]byte{0}, syscall.UnixRights(fds...), nil); err != nil {
		return
	}
	if err := json.NewEncoder(conn).Encode(l.job); err != nil {
		return
	}
	for in := json.NewDecoder(conn); ; {
		var e event
		if in.Decode(&e) != nil {
			return
		}
		l.events <- e
	}
}

// signal sends a signal to the workload's process group; false when no workload is at work.
func (l *launcher) signal(s syscall.Signal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := false
	for conn := range l.conns {
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		sent = json.NewEncoder(conn).Encode(order{s}) == nil || sent
	}
	return sent
}

// close removes the socket. A workload that is still at work is ended by its launcher, which sees the connection close.
func (l *launcher) close() {
	l.listen.Close()
	l.mu.Lock()
	for conn := range l.conns {
		conn.Close()
	}
	l.mu.Unlock()
	go func() { // an event that nobody reads any more must not hold a server
		for range l.events {
		}
	}()
	l.wait.Wait()
	close(l.events)
	if !l.kept {
		l.dir.Remove() // what is left is in nobody's way and goes with the next capture
	}
}

// errNotLaunched means that the verb was called by hand.
var errNotLaunched = errors.New(LaunchVerb + " is started by the profilers under prof capture and is not meant to be called directly")
