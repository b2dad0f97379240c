// Package serving records one window of a serving engine under load. It waits until the engine serves, has it loaded, waits until its launches are
// steady, has the tracer of its processes record, and lets the load generator end, which writes its result last. Who starts and ends the engine
// is not its business.
package serving

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"prof/capture/machine"
	"prof/capture/plan"
	"prof/capture/tracer"
)

// Recording is what a window of an engine needs.
type Recording struct {
	Options plan.ServingOptions
	M       machine.Machine
	Grace   time.Duration                                  // from a signal that asks the load generator to end to a stronger one
	Talk    func(string)                                   // told what is being done
	Shown   func(string) string                            // a text with secrets masked
	Tell    func(line string) error                        // writes the switch of the engine's tracers
	Traces  string                                         // folder of the traces
	Watched string                                         // folder in which tracers count launches
	Load    func() (pid int, wait func() error, err error) // starts the load generator in a group of its own
}

// Reasons for which a recording is cut short, given as the cause of its context's end.
var (
	ErrStopped = errors.New("stopped")          // by the user, the clock or the disk
	ErrEnded   = errors.New("the engine ended") // before it was asked to
)

// ErrLoadEnded is that the load generator ended while it was needed.
var ErrLoadEnded = errors.New("the load ended")

// Result is what became of a recording.
type Result struct {
	Ready   time.Duration // until the engine served
	Steady  Steady
	Begun   time.Time     // the window; zero where it never was
	Window  time.Duration // how long it was
	From    int64         // its begin, by CLOCK_MONOTONIC in nanoseconds, which clients on the machine read too
	To      int64         // its end
	Cut     error         // why it is shorter than it was to be; nil where it is not
	IsWhole bool          // all traces have their ends
	Loaded  bool          // the load generator was started
	LoadEnd error         // how it ended: nil after 0, a *machine.Exit after anything else
	LoadCut bool          // it was ended
	LoadWhy error         // why, where that was an end of the recording and not the clock; nil else
	Err     error         // why nothing was recorded, or the load could not be; nil where all went well
}

// recording is one at work.
type recording struct {
	Recording
	ctx    context.Context
	kill   context.Context
	load   int        // its process
	loaded chan error // how the load generator ended; nil while there is none
	out    Result
}

// Record makes the recording. ctx ends it early, with one of this package's errors as the cause: the window is closed and the load asked to end.
// When kill ends too, nothing is waited for.
func (r Recording) Record(ctx, kill context.Context) Result {
	w := &recording{Recording: r, ctx: ctx, kill: kill}
	w.out.Err = w.begin()
	if w.out.Err == nil {
		w.out.Err = w.window()
	}
	if w.out.Begun.IsZero() {
		w.out.Err = errors.Join(w.out.Err, w.Tell(tracer.SwitchOff))
		w.endLoad() // its result would be of nothing
	}
	if !w.awaitLoad() {
		w.endLoad()
	}
	return w.out
}

// begin leads to the window.
func (r *recording) begin() error {
	if err := r.waitReady(); err != nil {
		return err
	}
	if r.Options.Load != "" {
		r.Talk("starting the load: " + r.Shown(r.Options.Load))
		pid, wait, err := r.Load()
		if err != nil {
			return fmt.Errorf("the load could not be started: %w", err)
		}
		r.out.Loaded, r.load, r.loaded = true, pid, make(chan error, 1)
		go func() { r.loaded <- wait() }()
	}
	return r.waitSteady()
}

// pause waits, unless something ends the recording before: then it returns that.
func (r *recording) pause(d time.Duration) error {
	select {
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	case err := <-r.loaded:
		r.noteLoad(err)
		if err == nil {
			return ErrLoadEnded
		}
		select { // a load fails at once where its engine has ended, which is then the reason
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-r.M.After(endWithin):
			return ErrLoadEnded
		}
	case <-r.M.After(d):
		return nil
	}
}

// endWithin is how long after a load has failed the end of its engine may be heard of.
const endWithin = time.Second

func (r *recording) noteLoad(err error) {
	r.out.LoadEnd, r.loaded = err, nil
	r.M.Kill(-r.load, syscall.SIGKILL) // what it left behind
}

// How long the end of a trace is waited for: CUPTI gives the work of a window back within ten seconds.
const (
	wholeWithin = 20 * time.Second
	wholeEvery  = 100 * time.Millisecond
)

// window records.
func (r *recording) window() error {
	if err := r.Tell(tracer.Record(r.Traces)); err != nil {
		return err
	}
	if err := r.waitTraces(); err != nil {
		return errors.Join(err, r.Tell(tracer.SwitchOff))
	}
	var err error
	if r.out.From, err = machine.Monotonic(); err != nil {
		return err
	}
	r.out.Begun = r.M.Now()
	r.Talk("recording for " + plan.FormatDuration(r.Options.Window))
	r.out.Cut = r.pause(r.Options.Window)
	r.out.Window = r.M.Now().Sub(r.out.Begun)
	if r.out.To, err = machine.Monotonic(); err != nil {
		return err
	}
	if err := r.Tell(tracer.SwitchOff); err != nil {
		return err
	}
	if r.out.Cut != nil {
		r.Talk(fmt.Sprintf("the window is %s long instead of %s: %v", plan.Roughly(r.out.Window), plan.FormatDuration(r.Options.Window), r.out.Cut))
	}
	return r.waitWhole()
}

// How long it is waited until all tracers record: they look at the switch five times a second, and CUPTI comes to each process then.
const beginWithin = 3 * time.Second

// waitTraces waits until as many processes have a trace as launched GPU work before. Others may come later.
func (r *recording) waitTraces() error {
	for late := r.M.Now().Add(beginWithin); ; {
		traces, err := tracer.Traces(r.Traces)
		if err != nil || len(traces) >= max(1, r.out.Steady.Processes) || !r.M.Now().Before(late) {
			return err
		}
		if err := r.pause(wholeEvery); err != nil {
			return err
		}
	}
}

// waitWhole waits until the traces have their ends. An engine that has ended adds nothing to them.
func (r *recording) waitWhole() error {
	for late := r.M.Now().Add(wholeWithin); ; {
		traces, err := tracer.Traces(r.Traces)
		if err != nil {
			return err
		}
		r.out.IsWhole = true
		for _, path := range traces {
			is, err := tracer.IsWhole(path)
			if err != nil {
				return err
			}
			r.out.IsWhole = r.out.IsWhole && is
		}
		if r.out.IsWhole || errors.Is(context.Cause(r.ctx), ErrEnded) || !r.M.Now().Before(late) {
			return nil
		}
		select {
		case <-r.kill.Done():
			return nil
		case <-r.M.After(wholeEvery):
		}
	}
}

// awaitLoad waits until the load generator has ended by itself; false where it has not within its time, or nobody waits for it any more.
func (r *recording) awaitLoad() bool {
	if r.loaded == nil {
		return true
	}
	if r.Options.LoadTimeout == 0 {
		r.Talk("recorded; ending the load (--load-timeout 0)")
		return false
	}
	r.Talk(fmt.Sprintf("recorded; waiting until the load ends and has written its result (at most %s, --load-timeout)", plan.FormatDuration(r.Options.LoadTimeout)))
	err := r.pause(r.Options.LoadTimeout)
	if errors.Is(err, ErrLoadEnded) {
		return true
	}
	r.out.LoadWhy = err
	if err == nil {
		r.Talk(fmt.Sprintf("the load goes on after %s (--load-timeout): ending it", plan.FormatDuration(r.Options.LoadTimeout)))
	}
	return false
}

// endLoad ends the load generator as Ctrl-C does: some write their result then.
func (r *recording) endLoad() {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		if r.loaded == nil {
			return
		}
		r.out.LoadCut = true
		if r.kill.Err() != nil {
			s = syscall.SIGKILL
		}
		_ = r.M.Kill(-r.load, s) // it may have ended by now
		select {
		case err := <-r.loaded:
			r.noteLoad(err)
		case <-r.kill.Done():
		case <-r.M.After(r.Grace):
		}
	}
	if r.loaded != nil {
		_ = r.M.Kill(-r.load, syscall.SIGKILL)
		r.noteLoad(<-r.loaded)
	}
}
