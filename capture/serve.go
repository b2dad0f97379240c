package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"prof/capture/machine"
	"prof/capture/plan"
	"prof/capture/serving"
	"prof/capture/tracer"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Where a pass of a serving engine has what is not its trace, behind the stem of its files.
const (
	windowsExt = ".windows" // the switch of its tracers
	watchedExt = ".watched" // the folder in which they count launches
)

// loadStem is where the load generator's files are, below the run's folder.
const loadStem = "serving/load"

// served is a pass of a serving engine under prof's own tracer.
func (s *Session) served() passSpec {
	const stem = "prof/trace-1"
	return passSpec{tool: rundir.ToolProf, repeat: 1, stem: stem, serves: true,
		ready: func() error { return s.readyToServe(stem) },
		env: func() ([]string, error) {
			now, err := machine.Monotonic()
			return s.tracer.Env(tracer.Options{Dir: s.below(stem + watchedExt), GraphNodes: s.o.TracesGraphNodes(), Base: now,
				Window: tracer.Window{Switch: s.below(stem + windowsExt), Each: true}}), err
		},
		mark: s.timelineMark(stem),
		keep: func(p *rundir.Pass, _ *launcher) {
			s.keepTraces(p, stem)
			if err := errors.Join(os.RemoveAll(s.below(stem+watchedExt)), os.Remove(s.below(stem+windowsExt))); err != nil {
				s.warn(fmt.Sprintf("%s: %v", p.Name, err))
			}
		},
	}
}

// readyToServe makes the folders of a pass.
func (s *Session) readyToServe(stem string) error {
	if err := s.isAnswered(context.Background()); err != nil {
		return err
	}
	return errors.Join(file.MakeDir(s.below(stem)), file.MakeDir(s.below(stem+watchedExt)), tracer.Set(s.below(stem+windowsExt), tracer.SwitchOff))
}

// isAnswered is an error where somebody answers already at the URL of the engine that is about to start.
func (s *Session) isAnswered(ctx context.Context) error {
	if url := s.o.Serving.Ready; url != "" && serving.Ask(ctx, url) == nil {
		return fmt.Errorf("%s answers before the engine is started: another one is there (to record that: prof launch, then prof capture --attach)", mask.Text(url))
	}
	return nil
}

// keepTraces notes the traces of a window.
func (s *Session) keepTraces(p *rundir.Pass, stem string) {
	traces, err := tracer.Traces(s.below(stem))
	if err != nil || len(traces) == 0 {
		p.Reason = errors.Join(errors.New("no process used CUDA or NVTX while it was recorded: there is no trace"), err).Error()
		return
	}
	p.Artifacts = append(p.Artifacts, stem)
}

// conducted is the recording of a serving engine, which runs beside the engine. Methods of nil do nothing.
type conducted struct {
	cancel context.CancelCauseFunc
	killed context.CancelFunc
	result chan serving.Result
}

// results is where its result comes, once.
func (c *conducted) results() <-chan serving.Result {
	if c == nil {
		return nil
	}
	return c.result
}

// stop has it come to its end; false where there is nothing to stop.
func (c *conducted) stop(why error) bool {
	if c == nil {
		return false
	}
	c.cancel(why)
	return true
}

// kill has it wait for nothing any more.
func (c *conducted) kill() {
	if c != nil {
		c.cancel(serving.ErrStopped)
		c.killed()
	}
}

// conduct begins the recording of an engine that was started.
func (s *Session) conduct(ctx context.Context, spec passSpec) *conducted {
	c := &conducted{result: make(chan serving.Result, 1)}
	ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx)) // prof's own end is that of the engine
	kill, killed := context.WithCancel(context.WithoutCancel(ctx))
	c.killed = killed
	r := serving.Recording{Options: s.o.Serving, M: s.m, Grace: s.o.Grace, Talk: s.talk, Shown: mask.Text,
		Tell:   func(line string) error { return tracer.Set(s.switchOf(spec), line) },
		Traces: s.below(spec.stem), Watched: s.watchedOf(spec), Load: s.startLoad}
	go func() {
		out := r.Record(ctx, kill)
		killed()
		c.cancel(nil)
		c.result <- out
	}()
	return c
}

// switchOf and watchedOf are where the tracers of a pass are told what to do, and where they count launches.
func (s *Session) switchOf(spec passSpec) string {
	if s.setup.Attach != nil {
		return s.setup.Attach.Switch()
	}
	return s.below(spec.stem + windowsExt)
}

func (s *Session) watchedOf(spec passSpec) string {
	if s.setup.Attach != nil {
		return s.setup.Attach.Watched()
	}
	return s.below(spec.stem + watchedExt)
}

// loadDir is the working folder of the load generator.
func (s *Session) loadDir() string { return cmp.Or(s.setup.LoadDir, s.setup.Dir) }

// startLoad starts the load generator, by the shell, with the user's environment. What it writes is passed on and logged, as of a workload.
func (s *Session) startLoad() (pid int, wait func() error, err error) {
	if err := file.MakeDir(s.below(path.Dir(loadStem))); err != nil {
		return 0, nil, err
	}
	files, done := [3]*os.File{nil, s.setup.Files[1], s.setup.Files[2]}, func() {}
	if !s.o.NoLog {
		o, err := newOutput(files[1], files[2], s.below(loadStem+workloadLogEnd), mask.Known(s.setup.Environ, []string{s.o.Serving.Load}))
		if err != nil {
			return 0, nil, err
		}
		files[1], files[2] = o.stdout, o.stderr
		done = func() { s.endLoadOutput(o) }
	}
	s.loadBegun = time.Now() // by the real clock, as files have their times
	pid, ended, err := s.m.Start(machine.Start{Argv: []string{"sh", "-c", s.o.Serving.Load}, Env: s.setup.Environ, Dir: s.loadDir(), Files: files})
	if err != nil {
		done()
		return 0, nil, err
	}
	return pid, func() error {
		err := ended()
		done()
		return err
	}, nil
}

// endLoadOutput passes on what the load generator wrote last.
func (s *Session) endLoadOutput(o *output) {
	o.end()
	late := time.After(s.o.ReportTimeout) // nobody may read prof's output
	for _, c := range o.copies {
		select {
		case <-c.done:
			c.lines.close()
		case <-late:
		}
	}
	if _, err := o.log.close(); err != nil {
		s.talk(fmt.Sprintf("the log of the load's output is not whole: %v", err))
	}
}

// servingVerdict says how a pass of a serving engine ended that nothing else stopped.
func (s *Session) servingVerdict(p *rundir.Pass, out outcome) (status, reason string) {
	r := out.served
	switch {
	case r.Err != nil:
		return rundir.StatusFailed, s.notRecorded(p, out)
	case errors.Is(r.Cut, serving.ErrEnded):
		end := ""
		if out.ended != nil {
			end = ": " + workloadEnd(out.ended)
		}
		return rundir.StatusFailed, fmt.Sprintf("the engine ended %s after the recording began%s%s", plan.Roughly(r.Window), end, s.blamed(p))
	case p.Reason != "":
		return rundir.StatusNoReport, p.Reason
	case errors.Is(r.LoadWhy, serving.ErrEnded):
		end := "the engine ended"
		if out.ended != nil {
			end = workloadEnd(out.ended)
		}
		return rundir.StatusFailed, end + " after it was recorded, while the load went on" + s.blamed(p)
	case r.LoadEnd != nil && !r.LoadCut:
		return rundir.StatusFailed, "the load ended with " + r.LoadEnd.Error() + s.blamedIn(loadStem+workloadLogEnd)
	}
	return rundir.StatusOK, ""
}

// notRecorded says why an engine was not recorded.
func (s *Session) notRecorded(p *rundir.Pass, out outcome) string {
	r := out.served
	switch {
	case errors.Is(r.Err, serving.ErrEnded):
		end := "the engine ended"
		if out.ended != nil {
			end = workloadEnd(out.ended)
		}
		before := "before it was ready"
		if r.Loaded || s.o.Serving.Ready == "" {
			before = "before anything was recorded"
		}
		return end + " " + before + s.blamed(p)
	case errors.Is(r.Err, serving.ErrLoadEnded):
		end := "the load ended by itself"
		if r.LoadEnd != nil {
			end = "the load ended with " + r.LoadEnd.Error()
		}
		return fmt.Sprintf("%s after %s, before anything was recorded%s: it must last longer than it takes until the load is steady, and the window (--warm, --steady-timeout, --window)",
			end, plan.Roughly(r.Steady.Waited), s.blamedIn(loadStem+workloadLogEnd))
	case errors.Is(r.Err, serving.ErrNotReady):
		return r.Err.Error() + s.blamed(p)
	}
	return r.Err.Error()
}

// keepResults copies what the load generator wrote into the run's folder. That it wrote nothing is said where it had a recording to write of.
func (s *Session) keepResults(ctx context.Context, p *rundir.Pass, isRecorded bool) {
	if s.loadBegun.IsZero() {
		return
	}
	is := s.setup.IsResult
	if is == nil {
		is = func(string) bool { return true }
	}
	found, err := serving.Results(ctx, s.loadDir(), filepath.Dir(s.setup.Runs), s.o.Serving.LoadResult, s.loadBegun, is)
	if err != nil {
		s.warn(fmt.Sprintf("%s: the load's results are not kept: %v", p.Name, err))
		return
	}
	for _, f := range found {
		if err := s.keepResult(ctx, f); err != nil {
			s.warn(fmt.Sprintf("%s: the load's result %s is not kept: %s", p.Name, f.Path, file.Reason(err)))
			continue
		}
		p.Serving.Results = append(p.Serving.Results, resultName(f))
		s.talk("the load's result: " + f.Path)
	}
	switch {
	case len(found) > 0 || !isRecorded: // the recording has a reason of its own
	case p.Serving.IsLoadCut:
		s.warn(p.Name + ": the load was ended by prof and wrote no result: most load generators write it only when they end by themselves (--load-timeout)")
	case len(s.o.Serving.LoadResult) > 0:
		s.warn(fmt.Sprintf("%s: the load wrote no file that --load-result names", p.Name))
	default:
		s.warn(fmt.Sprintf("%s: the load wrote no result that prof reads below %s: have it save one (vllm bench serve --save-result), or name it with --load-result", p.Name, s.loadDir()))
	}
}

// maxResult bounds a result file, in bytes.
const maxResult = 1 << 30

// resultName is where the copy of a result lies in the run's folder, in a folder where nothing else has its name.
func resultName(f serving.Found) string { return path.Join(path.Dir(loadStem), "results", f.Name) }

func (s *Session) keepResult(ctx context.Context, f serving.Found) error {
	root, err := os.OpenRoot(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	size := int64(0)
	_, err = copyKept(ctx, root, filepath.Base(f.Path), s.below(resultName(f)), &size, maxResult)
	return err
}

// noteServed writes down how a serving engine was recorded.
func (s *Session) noteServed(ctx context.Context, p *rundir.Pass, r *serving.Result) {
	if r == nil { // the engine could not be started
		return
	}
	p.Serving = &rundir.Serving{WaitedNs: r.Steady.Waited.Nanoseconds(), IsSteady: r.Steady.Is, ProcessCount: r.Steady.Processes, WindowNs: r.Window.Nanoseconds(), Load: mask.Text(s.o.Serving.Load), FromNs: r.From, ToNs: r.To, IsLoadCut: r.LoadCut}
	if s.o.Serving.Ready != "" && r.Ready > 0 {
		p.Serving.ReadyNs = new(r.Ready.Nanoseconds())
	}
	if r.Steady.Seen {
		p.Serving.LaunchesPerS = new(r.Steady.Rate)
	}
	s.keepResults(ctx, p, r.Err == nil && !errors.Is(r.Cut, serving.ErrEnded) && !errors.Is(r.LoadWhy, serving.ErrEnded))
	if !r.Begun.IsZero() && !r.Steady.Is && s.o.Serving.SteadyTimeout > 0 {
		s.warn(p.Name + ": " + r.Steady.String())
	}
}
