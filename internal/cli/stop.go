package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Times from a signal on. What cannot be interrupted, such as a commit or a write into a pipe that nobody reads, must not keep prof.
const (
	stopWithin  = 3 * time.Second         // to the end of prof
	killAfter   = 1500 * time.Millisecond // of SIGTERM during a capture: its workload and profiler are killed
	skipAfter   = 2500 * time.Millisecond // and its export is left out
	captureStop = 4500 * time.Millisecond // to the end of a prof that captures
)

// exitSignal and the number of a signal are the exit code of who was ended by it, as shells have it.
const exitSignal = 128

// stopper ends prof on a signal. Nil is one that hears none.
type stopper struct {
	ctx    context.Context
	cancel context.CancelFunc
	exit   func(code int)

	mu         sync.Mutex
	passes     chan<- os.Signal // of a capture that runs its passes; nil else
	asked      bool             // prof is to end
	within     time.Duration    // and so long from then; 0: stopWithin
	terminated bool             // by SIGTERM
}

// stopOnSignals begins to listen for signals, each of which ends the context that it gives.
func stopOnSignals() *stopper {
	s := &stopper{exit: os.Exit}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A file that may not grow is an error of who writes it, and not the end of the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	go func() {
		for got := range signals {
			s.hear(got)
		}
	}()
	return s
}

// hear does what a signal asks for. The passes of a capture get Ctrl-C, since what they captured is to be kept, and SIGTERM with less
// patience. Anything else is told to end, and ended when it does not; a second signal ends it at once.
func (s *stopper) hear(got os.Signal) {
	s.mu.Lock()
	passes, again := s.passes, s.asked
	term := got == syscall.SIGTERM
	s.terminated = s.terminated || term
	s.asked = s.asked || term || passes == nil
	within := cmp.Or(s.within, stopWithin)
	s.mu.Unlock()
	code := exitSignal + int(got.(syscall.Signal))
	switch {
	case passes != nil && !term:
		tell(passes, got)
	case passes != nil:
		for _, after := range []time.Duration{0, killAfter, skipAfter} {
			time.AfterFunc(after, func() { tell(passes, got) })
		}
		time.AfterFunc(captureStop, func() { s.end(code) })
	case again:
		s.end(code)
	default:
		s.cancel()
		time.AfterFunc(within, func() { s.end(code) })
	}
}

// tell passes a signal on, unless those before wait still.
func tell(to chan<- os.Signal, s os.Signal) {
	select {
	case to <- s:
	default:
	}
}

// end ends the process where it stands: the warehouse is made for that. Nobody may read stderr any more.
func (s *stopper) end(code int) {
	said := make(chan bool)
	go func() {
		fmt.Fprintln(os.Stderr, "prof: stopped before it was done; what it was storing is stored whole or not at all")
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(200 * time.Millisecond):
	}
	s.exit(code)
}

// capturing returns the signals that come from now on to the passes of a capture, until done is called.
func (s *stopper) capturing(passes chan os.Signal) (done func()) {
	if s == nil {
		return func() {}
	}
	signal.Notify(passes, syscall.SIGHUP, syscall.SIGQUIT)
	s.mu.Lock()
	s.passes = passes
	s.mu.Unlock()
	if s.ctx.Err() != nil { // it came just before
		tell(passes, os.Interrupt)
	}
	return func() {
		signal.Stop(passes)
		s.mu.Lock()
		s.passes = nil
		s.mu.Unlock()
	}
}

// patient gives what is to end longer to do so.
func (s *stopper) patient(within time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.within = within
}

// byTerm reports whether SIGTERM asked prof to end.
func (s *stopper) byTerm() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terminated
}
