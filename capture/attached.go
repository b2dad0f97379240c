package capture

import (
	"context"
	"fmt"
	"time"

	"prof/capture/envvar"
	"prof/capture/serving"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// attached is a pass of a process that prof launch has started. Nothing is started for it, and nothing ended.
func (s *Session) attached() passSpec {
	const stem = "prof/trace-1"
	return passSpec{tool: rundir.ToolProf, repeat: 1, stem: stem}
}

// attach records a window of the process.
func (s *Session) attach(ctx context.Context, spec passSpec, p *rundir.Pass) (out outcome, err error) {
	l := s.setup.Attach
	release, err := l.Take(s.m)
	if err != nil {
		return out, err
	}
	defer func() {
		if err := release(); err != nil {
			s.warn(fmt.Sprintf("%s: %v", p.Name, err))
		}
	}()
	if err := file.MakeDir(s.below(spec.stem)); err != nil {
		return out, err
	}
	p.Argv = mask.Argv(l.Argv)
	from := s.m.Now()
	p.StartedAt = from.UTC()
	sampler := s.sample(ctx, spec, p, l.PID)
	if err := s.save(); err != nil {
		return out, err
	}
	out = s.watchAttached(s.conduct(ctx, spec))
	out.pid, out.took = l.PID, s.m.Now().Sub(from)
	s.endSampling(sampler, p)
	s.keepTraces(p, spec.stem)
	s.noteServed(ctx, p, out.served)
	return out, nil
}

// watchAttached waits for the end of a recording, which the user, the clock, the disk and the end of the process bring on early.
func (s *Session) watchAttached(c *conducted) (out outcome) {
	stop := func(cause string) {
		if out.cause == "" {
			out.cause = cause
		}
		c.stop(serving.ErrStopped)
	}
	timeout, spent := s.m.After(s.o.Timeout), s.spent(rundir.ToolProf)
	for tick := s.m.After(time.Second); ; {
		select {
		case r := <-c.results():
			out.served = &r
			return out
		case <-timeout:
			stop(rundir.StatusTimeout)
		case <-spent:
			out.spent = true
			stop(rundir.StatusTimeout)
		case <-s.setup.Interrupts:
			if s.stopped {
				c.kill()
				continue
			}
			s.stopped = true
			s.talk("ending the recording; it is kept (Ctrl-C again waits for nothing)")
			stop(rundir.StatusInterrupted)
		case <-tick:
			tick = s.m.After(time.Second)
			if !s.setup.Attach.Lives(s.m) {
				c.stop(serving.ErrEnded)
			}
			if sizeOf(s.dir) > s.o.MaxArtifactBytes {
				stop(rundir.StatusTooLarge)
			}
		}
	}
}

// foundEnviron returns the environment that describes the workload: of an attached process what launch noted of its own.
func (s *Session) foundEnviron() []string {
	if s.setup.Attach == nil {
		return s.setup.Environ
	}
	environ := s.setup.Attach.Environ
	if path, ok := envvar.Lookup(s.setup.Environ, "PATH"); ok {
		environ = append([]string{"PATH=" + path}, environ...)
	}
	return environ
}
