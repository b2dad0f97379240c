package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is a prof serve that runs.
type server struct {
	url    string
	client *http.Client
	cmd    *exec.Cmd
	said   *words
	stop   context.CancelFunc
}

// words are what a program said until now.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// serve starts a server of the home, on a free port.
func (p *place) serve(ctx context.Context, args ...string) (*server, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &server{cmd: p.command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), said: &words{}, stop: stop}
	s.cmd.Stderr, s.cmd.WaitDelay = s.said, time.Second
	s.client = &http.Client{Timeout: tooLong, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := s.cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, rest, ok := strings.Cut(s.said.String(), " on http"); ok && strings.Contains(rest, "\n") {
			at, _, _ := strings.Cut(rest, "\n")
			s.url = "http" + at
			return s, nil
		}
		if time.Since(begun) > tooLong || ctx.Err() != nil {
			return nil, fmt.Errorf("prof serve says no address: %s", s.end())
		}
	}
}

// end ends the server as its users do.
func (s *server) end() result {
	defer s.stop()
	s.client.CloseIdleConnections()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	hung := time.AfterFunc(tooLong, s.stop)
	err := s.cmd.Wait()
	r := result{hung: !hung.Stop(), code: s.cmd.ProcessState.ExitCode(), err: s.said.String()}
	if err != nil && r.code <= 0 {
		r.err += err.Error()
	}
	if usage, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss << 10
	}
	return r
}

// descriptors counts the server's open files and connections; -1 where the system does not tell.
func (s *server) descriptors() int {
	list, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "fd"))
	if err != nil {
		return -1
	}
	return len(list)
}

// holds waits until the server has no more open files than before, but for a few that it keeps, and returns how many more.
func (s *server) holds(before int) (more int) {
	const few = 8
	s.client.CloseIdleConnections()
	for range 100 {
		if more = s.descriptors() - before; more <= few {
			return 0
		}
		time.Sleep(100 * time.Millisecond)
	}
	return more
}
