package capture

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"prof/capture/machine"
	"prof/capture/serving"
	"prof/schema/rundir"
)

// outcome is how a tool and the workload that it started ended.
type outcome struct {
	pid     int             // of the workload; 0 when it did not start
	ended   *event          // nil when the workload did not start or did not tell its end
	refused string          // why the workload could not be started
	tool    error           // of the tool's process; nil when it ended with 0
	cause   string          // status of what stopped the pass: timeout, too_large, interrupted; "" when it ended by itself
	killed  bool            // by force
	spent   bool            // the pass was stopped at the end of the budget
	stalled string          // what made no progress, where that is why the pass was stopped
	hung    bool            // the tool did not end after the workload
	served  *serving.Result // of a serving engine: what became of its recording
	cut     bool            // the workload was ended when all that was to be profiled was
	took    time.Duration
}

// workload is how a pass hears of the workload and reaches it.
type workload interface {
	heard() <-chan event
	signal(s syscall.Signal) bool // false when there is nobody to signal
	idle() bool                   // nothing more will be heard
	gone() bool                   // it has ended, and nothing will be heard of that
}

// control watches a tool and its workload until the tool has ended, and stops them when the user, the clock or the disk says so.
type control struct {
	s     *Session
	tool  int          // its process
	wait  func() error // for its end
	mark  string       // by which the workload's processes are found
	root  int          // of them, see event
	work  workload
	size  func() int64
	idle  *stall           // nil: the pass may take its time
	done  *enough          // nil: the workload runs to its end
	from  time.Time        // when the tool was started
	soft  time.Duration    // from the first signal to a stronger one
	spent <-chan time.Time // the end of the budget; nil: there is none
	late  time.Duration    // how much later than asked for the workload is stopped
	serve *conducted       // a recording of a serving engine under load; nil: the workload does its work by itself
	out   outcome

	asked    bool             // by the user, to stop
	level    int              // how far stopping has come: 1 asked, 2 told, 3 killed
	escalate <-chan time.Time // when the next level is due
	report   <-chan time.Time // when the tool should have written its report
}

func (c *control) run() outcome {
	done := make(chan error, 1)
	go func() { done <- c.wait() }()
	m := c.s.m
	timeout, window, tick := m.After(c.s.o.Timeout), c.window(), m.After(time.Second)
	for {
		select {
		case e := <-c.work.heard():
			c.hear(e)
		case c.out.tool = <-done:
			c.gather()
			c.endServing()
			if _, ok := c.work.(*direct); ok { // the workload is in the tool's own group
				endGroup(m, c.tool)
			}
			c.out.took = m.Now().Sub(c.from)
			return c.out
		case <-timeout:
			if !c.over() {
				c.stop(rundir.StatusTimeout)
			}
		case <-c.spent:
			if !c.over() {
				c.out.spent = c.level == 0
				c.stop(rundir.StatusTimeout)
			}
		case <-window:
			c.press()
		case r := <-c.serve.results():
			c.out.served, c.serve = &r, nil
			c.press() // an engine serves on for ever
		case <-tick:
			tick = m.After(time.Second)
			c.watchReport()
			if c.level == 0 && !c.over() && c.size() > c.s.o.MaxArtifactBytes {
				c.stop(rundir.StatusTooLarge)
			}
			c.watchStall()
			c.watchEnough()
		case <-c.s.setup.Interrupts:
			c.interrupt()
		case <-c.escalate:
			c.press()
		case <-c.report:
			c.out.hung = true
			c.signalTool(syscall.SIGKILL)
		}
	}
}

// over reports whether the workload has ended, so that its tool is at work on the report.
func (c *control) over() bool { return c.out.ended != nil || c.work.gone() }

// watchReport bounds the time for a report of which nobody tells that it has begun.
func (c *control) watchReport() {
	switch {
	case c.out.ended != nil:
	case !c.work.gone():
		c.report = nil
	case c.report == nil:
		c.report = c.s.m.After(c.s.o.ReportTimeout)
	}
}

// watchStall stops a pass that makes no progress.
func (c *control) watchStall() {
	if c.idle == nil || c.level > 0 || c.over() {
		return
	}
	if at := c.idle.look(c.s.m.Now()); at != "" {
		c.out.stalled = at
		c.stop(rundir.StatusTimeout)
	}
}

// watchEnough ends what ncu leaves of a workload in which nothing more is to be profiled.
func (c *control) watchEnough() {
	if c.done == nil || c.level > 0 || c.over() || !c.done.isDue(c.s.m.Now()) {
		return
	}
	c.level = 1 // nobody waits for what it would do when asked
	if c.done.isRank {
		c.signalTool(syscall.SIGTERM) // the launcher, which might start its ranks again
	}
	c.press()
}

// window is when the workload is to be stopped since that was asked for (--duration); nsys does that by itself, a little later should it not.
func (c *control) window() <-chan time.Time {
	if c.s.o.Duration == 0 {
		return nil
	}
	return c.s.m.After(c.s.o.Delay + c.s.o.Duration + c.late)
}

// hear notes what the launched prof tells.
func (c *control) hear(e event) {
	switch {
	case e.Started:
		c.out.pid, c.root = e.PID, e.Root
	case e.Error != "":
		c.out.refused = e.Error
	default:
		if c.out.ended == nil || !ended(c.out.ended) { // of a replayed application the first that failed counts
			c.out.ended = &e
		}
		c.escalate = nil
		c.report = c.s.m.After(c.s.o.ReportTimeout)
		c.serve.stop(serving.ErrEnded)
	}
}

// ended reports whether a workload did not end with 0.
func ended(e *event) bool { return e.ExitCode == nil || *e.ExitCode != 0 }

// interrupt is the user's Ctrl-C: the first stops the workload and lets the tool write its report, the second kills both.
func (c *control) interrupt() {
	first := !c.asked
	c.asked, c.s.stopped = true, true
	switch {
	case first && c.over():
		c.s.talk("the report is being written (Ctrl-C again kills the profiler)")
		return
	case first && c.level == 0:
		c.s.talk("stopping the workload; the capture so far is kept (Ctrl-C again kills it)")
		c.stop(rundir.StatusInterrupted)
		return
	case c.out.cause == "":
		c.out.cause = rundir.StatusInterrupted
	}
	c.serve.kill()
	c.force()
	c.signalTool(syscall.SIGKILL)
}

// force kills the workload with all that came from it; false where there is nobody to kill.
func (c *control) force() (sent bool) {
	c.out.killed = true
	pid := c.out.pid
	if d, ok := c.work.(*direct); ok {
		sent, pid = d.signal(syscall.SIGKILL), 0
	} else if sent = !c.work.idle(); !sent && c.out.ended != nil { // another may have its number by now
		pid = 0
	}
	kill(c.s.m, pid, c.root, c.mark, c.tool)
	if c.out.pid == 0 { // it may be starting
		c.work.signal(syscall.SIGKILL)
	}
	return sent
}

// stop begins to stop the workload.
func (c *control) stop(cause string) {
	if c.level > 0 {
		return
	}
	if c.serve.stop(serving.ErrStopped) { // its result comes when it has closed the window and ended the load
		c.out.cause = cmp.Or(c.out.cause, cause)
		return
	}
	c.out.cause = cause
	c.press()
}

// endServing waits for the recording of an engine that has ended.
func (c *control) endServing() {
	if c.serve == nil {
		return
	}
	c.serve.stop(serving.ErrEnded)
	for {
		select {
		case r := <-c.serve.results():
			c.out.served, c.serve = &r, nil
			return
		case <-c.s.setup.Interrupts:
			c.s.stopped = true
			c.serve.kill()
		}
	}
}

// press asks the workload to end, then tells it to, then kills it; where none was started, the tool. A tool whose workload has ended is
// left to its report.
func (c *control) press() {
	if c.over() {
		c.escalate = nil
		return
	}
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}
	if c.level >= len(signals) {
		c.escalate = nil
		c.signalTool(syscall.SIGKILL)
		return
	}
	s := signals[c.level]
	c.level++
	if !c.send(s) {
		c.signalTool(s)
	}
	if c.level == 1 {
		c.escalate = c.s.m.After(c.soft)
	} else {
		c.escalate = c.s.m.After(c.s.o.Grace)
	}
}

func (c *control) signalTool(s syscall.Signal) {
	_ = c.s.m.Kill(-c.tool, s) // it may have ended by now
}

// gather hears what is still on its way when the tool has ended, and ends a workload that its tool left behind: a tool that ended by
// itself has waited for it, one that was killed has not.
func (c *control) gather() {
	if d, ok := c.work.(*direct); ok {
		d.ended = true
	}
	if c.hearOut(time.Second) {
		return
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !c.send(s) || c.hearOut(c.s.o.Grace) {
			return
		}
	}
}

// send sends a signal to the workload; false where there is nobody to signal.
func (c *control) send(s syscall.Signal) bool {
	if s == syscall.SIGKILL {
		return c.force()
	}
	return c.work.signal(s)
}

// hearOut hears events until no launched prof is connected any more; false when that takes too long.
func (c *control) hearOut(limit time.Duration) bool {
	late := time.After(limit)
	for {
		select {
		case e := <-c.work.heard():
			c.hear(e)
		case <-late:
			return false
		case <-time.After(5 * time.Millisecond):
			if c.work.idle() && len(c.work.heard()) == 0 {
				return true
			}
		}
	}
}

func (l *launcher) heard() <-chan event { return l.events }

// gone is false: the launched prof tells when the workload has ended.
func (l *launcher) gone() bool { return false }

// idle reports whether no launched prof is connected.
func (l *launcher) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns) == 0
}

// sizeOf adds up the files below folders. Files that vanish while it looks are left out: tools remove their own.
func sizeOf(dirs ...string) (n int64) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
				n += st.Size()
			}
			return nil
		})
	}
	return n
}

// start starts the tool.
func (c *control) start(l machine.Start) (err error) {
	if c.tool, c.wait, err = c.s.m.Start(l); err != nil {
		return fmt.Errorf("start %s: %w", l.Argv[0], err)
	}
	return nil
}
