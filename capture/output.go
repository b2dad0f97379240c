package capture

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"prof/internal/mask"
	"prof/schema/rundir"
)

// What is still read when a workload has ended and others hold its output open.
const (
	lastWords = 200 * time.Millisecond // of silence end it
	lateBytes = 1 << 20                // and so many bytes: more than a pipe holds
)

// output is what the workload of a pass writes to in place of prof's stdout and stderr. They get all of it at once, byte by byte, and a log keeps
// a part. Where prof's own is a terminal it is a terminal, else a pipe, and one of both where prof's are the same. A reader that is slow holds the
// workload up, as it would without prof.
type output struct {
	stdout, stderr *os.File
	copies         []*copying
	log            *workloadLog
	resized        chan os.Signal // the size of prof's terminal has changed
	resizing       sync.WaitGroup
}

// copying passes on what is written to one of them.
type copying struct {
	from  *os.File // what is read
	to    *os.File // prof's own
	end   *os.File // what the workload writes to
	lines logLines
	over  atomic.Bool // the workload has ended
	done  chan struct{}
}

// openOutput makes the output of a pass. Nil, with a warning, where that cannot be: then the workload writes to prof's own.
func (s *Session) openOutput(spec passSpec, p *rundir.Pass) *output {
	if s.o.NoLog {
		return nil
	}
	o, err := newOutput(s.setup.Files[1], s.setup.Files[2], s.below(spec.stem+workloadLogEnd), mask.Known(s.setup.Environ, s.setup.Argv))
	if err != nil {
		s.warn(fmt.Sprintf("%s: the workload's output is not logged: %v", p.Name, err))
		return nil
	}
	return o
}

// workloadLogEnd ends the name of the log of what the workload wrote in a pass.
const workloadLogEnd = ".workload.log"

func newOutput(stdout, stderr *os.File, path string, masking func(string) string) (o *output, err error) {
	o = &output{}
	if o.log, err = newWorkloadLog(path, masking); err != nil {
		return nil, err
	}
	out, err := o.copyTo(stdout)
	errs := out
	if err == nil && !isSame(stdout, stderr) {
		errs, err = o.copyTo(stderr)
	}
	if err != nil {
		for _, c := range o.copies {
			err = errors.Join(err, c.end.Close(), c.from.Close())
		}
		_, closed := o.log.close()
		return nil, errors.Join(err, closed)
	}
	o.stdout, o.stderr = out.end, errs.end
	o.resized = make(chan os.Signal, 1)
	signal.Notify(o.resized, syscall.SIGWINCH)
	o.resizing.Go(o.resize)
	for _, c := range o.copies {
		go c.run()
	}
	return o, nil
}

// isSame reports whether two files are the same, so that what is written to them stays in order only if it goes one way.
func isSame(a, b *os.File) bool {
	x, err := a.Stat()
	y, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// copyTo prepares the way to one of prof's own.
func (o *output) copyTo(to *os.File) (*copying, error) {
	c := &copying{to: to, done: make(chan struct{})}
	c.lines.log = o.log
	var err error
	if term.IsTerminal(int(to.Fd())) {
		c.from, c.end, err = openTerminal(to)
	} else {
		c.from, c.end, err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	o.copies = append(o.copies, c)
	return c, syscall.SetNonblock(int(c.end.Fd()), false) // programs do not expect to be told to try again
}

// openTerminal opens a terminal of the size of another, which hands on bytes as they are: the other makes ends of lines of them. What is read can
// be given up.
func openTerminal(like *os.File) (from, end *os.File, err error) {
	master, end, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer master.Close()
	if _, err = term.MakeRaw(int(end.Fd())); err == nil {
		err = pty.InheritSize(like, end)
	}
	fd := -1
	if err == nil {
		fd, err = unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, errors.Join(err, end.Close())
	}
	return os.NewFile(uintptr(fd), master.Name()), end, nil
}

// resize passes the size of prof's terminal on.
func (o *output) resize() {
	for range o.resized {
		for _, c := range o.copies {
			if term.IsTerminal(int(c.to.Fd())) {
				_ = pty.InheritSize(c.to, c.end) // a size is not worth failing for
			}
		}
	}
}

// run copies until nobody can write any more, or what the workload has left behind only holds its output open, or nobody reads prof's: then
// whoever writes to it gets a broken pipe, as without prof.
func (c *copying) run() {
	defer close(c.done)
	defer c.from.Close()
	text, late := make([]byte, 64<<10), 0
	for woken := false; late <= lateBytes; {
		if c.over.Load() {
			_ = c.from.SetReadDeadline(time.Now().Add(lastWords)) // both kinds of from can
		}
		n, err := c.from.Read(text)
		var lost error
		if n > 0 {
			_, lost = c.to.Write(text[:n])
			c.lines.add(text[:n])
		}
		if c.over.Load() {
			late += n
		}
		again := errors.Is(err, os.ErrDeadlineExceeded) && !woken // to look whether more is there
		woken = woken || again
		if err != nil && !again || lost != nil {
			return
		}
	}
}

// end tells the copies that the workload has ended.
func (o *output) end() {
	signal.Stop(o.resized)
	close(o.resized)
	o.resizing.Wait() // it asks for the descriptors that are closed now
	for _, c := range o.copies {
		c.end.Close()
		c.over.Store(true)
		_ = c.from.SetReadDeadline(time.Now()) // it may have ended by itself
	}
}

// endOutput passes on what the workload wrote last and ends the log.
func (s *Session) endOutput(o *output, p *rundir.Pass, spec passSpec) {
	if o == nil {
		return
	}
	o.end()
	s.waitForReader(o, p)
	isEmpty, err := o.log.close()
	if err != nil {
		s.warn(fmt.Sprintf("%s: the log of the workload's output is not whole: %v", p.Name, err))
	}
	if !isEmpty {
		p.WorkloadLog = spec.stem + workloadLogEnd
	}
}

// waitForReader waits until all that the workload wrote is passed on, which the user can cut short.
func (s *Session) waitForReader(o *output, p *rundir.Pass) {
	late := time.After(s.o.ReportTimeout)
	for _, c := range o.copies {
		select {
		case <-c.done:
			c.lines.close()
		case <-s.setup.Interrupts:
			s.stopped = true
			s.talk("the rest of the workload's output is dropped")
			return
		case <-late:
			s.warn(p.Name + ": nobody reads prof's output, so the end of the workload's is missing")
			return
		}
	}
}
