package capturetest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"prof/capture/machine"
	"prof/internal/file"
)

// Engine stands in for a serving engine under prof's own tracer: a process that answers, and workers that launch GPU work.
type Engine struct {
	URL     string
	Workers int                                 // processes with a GPU beside the first one, which has none
	Starts  time.Duration                       // until it answers
	Rate    func(loaded time.Duration) float64  // launches a second of a worker, so long after the first request
	How     string                              // "" is well; crash, crashes (in the window), later (after it), deaf (to SIGINT and SIGTERM), cut (traces without an end), silent (no trace)
	Trace   func(p *Process, path string) error // writes what a worker traced, but the end; nil: a trace of nothing
	ready   atomic.Bool
	begun   atomic.Int64 // when the first request came, by the machine's time
	Windows atomic.Int64 // that a worker has traced
}

// NewEngine returns an engine whose first process does not answer yet.
func NewEngine(t testing.TB) *Engine {
	e := &Engine{Workers: 1, Starts: 3 * time.Second, Rate: func(time.Duration) float64 { return 1000 }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !e.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	e.URL = server.URL
	return e
}

// Run is its program.
func (e *Engine) Run(p *Process) int {
	if p.Argv[len(p.Argv)-1] == "worker" {
		return e.work(p)
	}
	fmt.Fprintln(p.Stderr, "loading the model")
	if e.How == "deaf" {
		p.Ignore()
	}
	p.Sleep(e.Starts)
	if e.How == "crash" {
		fmt.Fprintln(p.Stderr, "torch.OutOfMemoryError: CUDA out of memory")
		return 3
	}
	var workers []*Process
	for range e.Workers {
		w, err := p.Begin(slices.Concat(p.Argv, []string{"worker"})...)
		if err != nil {
			return p.fails(err)
		}
		workers = append(workers, w)
	}
	p.Sleep(time.Second)
	e.ready.Store(true)
	defer e.ready.Store(false)
	if e.How == "crashes" || e.How == "later" {
		p.Until(func() bool { return e.Windows.Load() > 0 })
		p.Sleep(map[string]time.Duration{"crashes": 3 * time.Second, "later": 30 * time.Second}[e.How])
		fmt.Fprintln(p.Stderr, "torch.AcceleratorError: CUDA error: an illegal memory access was encountered")
		return 3
	}
	if len(workers) == 0 {
		return p.Hang()
	}
	for _, w := range workers {
		p.Wait(w)
	}
	return 0
}

// Request is what a load generator sends.
func (e *Engine) Request(p *Process) bool {
	e.begun.CompareAndSwap(0, p.m.Now().UnixNano())
	return e.ready.Load()
}

// work is a worker with its tracer.
func (e *Engine) work(p *Process) int {
	if e.How == "deaf" {
		p.Ignore()
	}
	dir, path := p.Getenv("PROF_TRACE_DIR"), ""
	launches, was := 0.0, p.m.Now()
	for {
		text, err := os.ReadFile(p.Getenv("PROF_TRACE_SWITCH"))
		if err != nil {
			return p.fails(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		word, folder, _ := strings.Cut(line, " ")
		now := p.m.Now()
		if begun := e.begun.Load(); begun > 0 {
			launches += e.Rate(now.Sub(time.Unix(0, begun))) * now.Sub(was).Seconds()
		}
		was = now
		switch {
		case word == "watch":
			err = file.Write(filepath.Join(dir, fmt.Sprintf("%d.launches", p.PID)), fmt.Appendf(nil, "%d\n", int64(launches)))
		case word == "on" && path == "" && e.How != "silent":
			path = filepath.Join(folder, fmt.Sprintf("%d.proftrace", p.PID))
			if e.Trace != nil {
				err = e.Trace(p, path)
			} else {
				err = os.WriteFile(path, []byte("proftrc\n\x01\x00\x00\x00\x00\x00\x00\x00"), 0o600)
			}
			e.Windows.Add(1)
		case word != "on" && path != "":
			if e.How != "cut" {
				err = endTrace(path)
			}
			path = ""
		}
		if err != nil {
			return p.fails(err)
		}
		p.Sleep(200 * time.Millisecond)
	}
}

// endTrace writes the end of a trace, as of docs/trace-format.md.
func endTrace(path string) error {
	block := make([]byte, 20, 24)
	copy(block, "blk\n\x04")
	block[12] = 4
	block = append(block, "exit"...)
	sum := crc32.ChecksumIEEE(append(block[:16:16], block[20:]...))
	binary.LittleEndian.PutUint32(block[16:], sum)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(block)
	return err
}

// Load stands in for a load generator.
type Load struct {
	Engine *Engine
	Takes  time.Duration // until it ends by itself and writes its result
	Result string        // path of that, below its working folder; "": none
	How    string        // "" is well; fails, graceful (SIGINT has it write what it has), deaf
}

// Run is its program: sh.
func (l Load) Run(p *Process) int {
	stopped := make(chan syscall.Signal, 8)
	begun, err := machine.Monotonic()
	if err != nil {
		return p.fails(err)
	}
	switch l.How {
	case "deaf":
		p.Ignore()
	case "graceful":
		p.Trap(func(s syscall.Signal) { stopped <- s })
	}
	for end := p.m.Now().Add(l.Takes); p.m.Now().Before(end) && len(stopped) == 0; {
		if !l.Engine.Request(p) || l.How == "fails" {
			fmt.Fprintln(p.Stderr, "ConnectionError: the engine refuses")
			return 2
		}
		p.Sleep(100 * time.Millisecond)
	}
	if l.Result == "" {
		return 0
	}
	path := filepath.Join(p.Dir, l.Result)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return p.fails(err)
	}
	return p.leave(path, l.result(begun), nil)
}

// result is that of a request whose tokens came every 10 ms of real time since a moment of CLOCK_MONOTONIC.
func (l Load) result(begun int64) []byte {
	now, err := machine.Monotonic()
	if err != nil {
		return nil
	}
	n := max(2, (now-begun)/1e7)
	gaps := strings.TrimSuffix(strings.Repeat("0.01, ", int(n-1)), ", ")
	return fmt.Appendf(nil, `{"model_id": "m", "max_concurrency": 1, "request_rate": "inf", "duration": 30, "completed": 1, "total_input_tokens": 10, "total_output_tokens": %d, "request_throughput": 3, "output_throughput": 66,
		"input_lens": [10], "output_lens": [%[1]d], "ttfts": [0.02], "itls": [[%s]], "start_times": [%.9f], "mean_ttft_ms": 20, "median_ttft_ms": 20, "mean_tpot_ms": 10, "median_tpot_ms": 10}`, n, gaps, float64(begun)/1e9)
}

// Answer has an engine answer that nobody started.
func (e *Engine) Answer() { e.ready.Store(true) }
