package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prof/capture/envvar"
	"prof/capture/machine"
	"prof/capture/mark"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// passSpec says what one pass is to do.
type passSpec struct {
	tool   string
	repeat int
	stem   string // path of its files below the run's folder, without what tells them apart
	// wrap is the tool's command line around the workload's; out is stem's path, temp a folder that goes after the pass. nil: the
	// workload alone.
	wrap   func(out, temp string, app []string) []string
	direct bool                     // the tool starts the workload, not prof
	ready  func() error             // makes what it needs; nil: nothing
	env    func() ([]string, error) // what the workload's environment has besides; nil: nothing
	mark   markSpec
	idle   func(out string) *stall           // watches the progress of the tool; nil: nothing does
	takes  time.Duration                     // about so long; 0: not known
	enough int                               // launches of kernels after which the tool ends the workload; 0: it does not
	keep   func(p *rundir.Pass, l *launcher) // notes what the tool left as artifacts
	serves bool                              // the workload is a serving engine, which is recorded under load and then ended
}

// skip notes a pass that cannot be run, as one that failed.
func (s *Session) skip(spec passSpec, reason string) {
	s.skipQuietly(spec, reason)
	s.fail(s.last(), reason)
}

// skipQuietly notes a pass that has nothing to do.
func (s *Session) skipQuietly(spec passSpec, reason string) {
	p := s.begin(spec)
	p.Status, p.Reason = rundir.StatusNotRun, reason
}

// begin adds a pass to the manifest.
func (s *Session) begin(spec passSpec) *rundir.Pass {
	s.manifest.Status = rundir.StatusRunning
	s.manifest.Passes = append(s.manifest.Passes, rundir.Pass{
		ID: len(s.manifest.Passes) + 1, Name: passName(spec), Tool: spec.tool, Mode: s.o.PassMode(spec.tool),
		Repeat: spec.repeat, Argv: []string{}, ToolVersion: s.tools[spec.tool].version, StartedAt: s.m.Now().UTC(), Status: rundir.StatusRunning,
	})
	return s.last()
}

// passName is a pass' tool and number.
func passName(spec passSpec) string {
	name := spec.tool
	if name == rundir.ToolNone {
		name = "baseline"
	}
	return fmt.Sprintf("%s-%d", name, spec.repeat)
}

func (s *Session) last() *rundir.Pass { return &s.manifest.Passes[len(s.manifest.Passes)-1] }

// fail notes that a pass did not do what it was asked for.
func (s *Session) fail(p *rundir.Pass, reason string) {
	s.failed = append(s.failed, p.Name+": "+reason)
	s.talk(p.Name + ": " + reason)
}

// pass runs the workload once. Only what keeps prof itself from going on is an error: what goes wrong with the tool or the workload
// stands in the manifest.
func (s *Session) pass(ctx context.Context, spec passSpec) error {
	if s.Stopped() {
		s.skipQuietly(spec, "the capture was stopped first")
		return s.save()
	}
	if err := file.MakeDir(filepath.Dir(filepath.Join(s.dir, spec.stem))); err != nil {
		return err
	}
	p := s.begin(spec)
	s.talk(p.Name + ": running")
	run := s.launch
	if s.setup.Attach != nil {
		run = s.attach
	}
	out, err := run(ctx, spec, p)
	if err != nil {
		p.Status, p.Reason = rundir.StatusFailed, err.Error()
		s.fail(p, p.Reason)
		return s.save()
	}
	s.judge(spec, p, out)
	if p.Status != rundir.StatusOK {
		s.fail(p, p.Reason)
	}
	return s.save()
}

// launch runs the tool with the workload in it, and notes what they left.
func (s *Session) launch(ctx context.Context, spec passSpec, p *rundir.Pass) (outcome, error) {
	files, err := s.files()
	if err != nil {
		return outcome{}, err
	}
	defer files[0].Close()
	o := s.openOutput(spec, p)
	if o != nil {
		files[1], files[2] = o.stdout, o.stderr
	}
	defer s.endOutput(o, p, spec)
	l, err := newLauncher(s.m.TempDir, files)
	if err != nil {
		return outcome{}, err
	}
	defer l.close()
	if spec.ready != nil {
		if err := spec.ready(); err != nil {
			return outcome{}, err
		}
	}
	p.Marked = spec.mark.isAsked()
	if s.needsHelper(spec.mark) {
		if err := mark.Write(helperIn(l.dir.Path)); err != nil {
			return outcome{}, fmt.Errorf("write the Python helper: %w", err)
		}
	}
	env, err := s.workloadEnv(spec, l.dir.Path)
	if err != nil {
		return outcome{}, err
	}
	c := &control{s: s, work: l, mark: l.mark.Variable(), soft: s.o.Grace, size: func() int64 { return sizeOf(s.dir, l.temp()) }}
	if spec.tool == rundir.ToolTorch { // the workload writes the report itself, when it ends
		c.soft = max(s.o.Grace, s.o.ReportTimeout)
	}
	if spec.idle != nil {
		c.idle = spec.idle(filepath.Join(s.dir, spec.stem))
	}
	if spec.enough > 0 {
		c.done = &enough{log: s.below(spec.stem) + toolLog, count: spec.enough, isRank: spec.mark.ncu.IsRank()}
	}
	if spec.tool == rundir.ToolNsys {
		c.late = s.o.Grace
	}
	before, err := s.match(ctx)
	if err != nil {
		s.warn(fmt.Sprintf("%s: what the workload writes is not kept: %v", p.Name, err))
	}
	defer before.close()
	c.spent = s.spent(spec.tool)
	c.from = s.m.Now()
	p.StartedAt = c.from.UTC()
	if spec.direct {
		err = s.startDirect(c, spec, p, l.mark.In(env), files)
	} else {
		err = s.startLaunched(c, spec, p, job{Argv: s.setup.Argv, Dir: []byte(s.setup.Dir), Env: l.mark.In(env), ToolEnv: toolEnv(s.setup.Environ, spec.tool, l.temp()), Mark: l.mark.Variable()}, l)
	}
	if err != nil {
		return outcome{}, err
	}
	sampler := s.sample(ctx, spec, p, c.tool)
	if err := s.save(); err != nil {
		c.stop(rundir.StatusFailed) // nobody could tell what was captured
	}
	if spec.serves {
		c.serve = s.conduct(ctx, spec)
	}
	out := c.run()
	s.started = append(s.started, out.pid)
	s.endSampling(sampler, p)
	s.noteServed(ctx, p, out.served)
	s.noteTimes(p, spec.mark)
	if spec.keep != nil {
		spec.keep(p, l)
	}
	if spec.enough > 0 {
		count, _ := profiledIn(c.done.log)
		out.cut = count >= spec.enough
	}
	s.keepWritten(ctx, before, p, out.cut)
	return out, nil
}

// workloadEnv is the workload's environment with what a pass adds to it. temp is a folder that goes after the pass.
func (s *Session) workloadEnv(spec passSpec, temp string) ([]string, error) {
	env := s.markedEnv(spec.mark, temp)
	if spec.env == nil {
		return env, nil
	}
	more, err := spec.env()
	return append(slices.Clone(env), more...), err
}

// argv is the command line of a pass: of the tool, around prof as a launcher, or around the workload where the tool starts that.
func (s *Session) argv(spec passSpec, temp string) []string {
	out := filepath.Join(s.dir, spec.stem)
	if spec.direct {
		return spec.wrap(out, "", s.setup.Argv)
	}
	argv := append([]string{s.setup.Self, LaunchVerb}, mask.Argv(s.setup.Argv)...) // the words behind the verb are for those who look at a report
	if spec.wrap != nil {
		argv = spec.wrap(out, temp, argv)
	}
	return argv
}

// startLaunched starts a tool that starts prof, which starts the workload.
func (s *Session) startLaunched(c *control, spec passSpec, p *rundir.Pass, j job, l *launcher) (err error) {
	l.serve(j)
	argv := s.argv(spec, l.temp())
	p.Argv = s.shown(argv)
	log, err := file.Create(s.log(spec))
	if err != nil {
		return err
	}
	defer log.Close()
	return c.start(machine.Start{Argv: argv, Env: append(j.ToolEnv, l.variable()), Dir: s.setup.Dir, Files: [3]*os.File{nil, log, log}})
}

// startDirect starts a tool that starts the workload itself.
func (s *Session) startDirect(c *control, spec passSpec, p *rundir.Pass, env []string, files []*os.File) (err error) {
	argv := s.argv(spec, "")
	p.Argv = s.shown(argv)
	if err = c.start(machine.Start{Argv: argv, Env: env, Dir: s.setup.Dir, Files: [3]*os.File(files)}); err == nil {
		c.work = &direct{m: s.m, tool: c.tool}
		c.out.pid = c.tool
	}
	return err
}

// toolEnv is a tool's own environment. What nsys records before it makes its report counts as its artifact, and goes when it is done.
// ncu keeps the folder that all of its processes on the machine share: there they wait for each other.
func toolEnv(environ []string, tool, temp string) []string {
	env := envvar.ForTool(environ)
	if tool != rundir.ToolNsys {
		return env
	}
	return append(without(env, "TMPDIR"), "TMPDIR="+temp)
}

// log is where a tool's own output goes.
func (s *Session) log(spec passSpec) string { return filepath.Join(s.dir, spec.stem+".log") }

// shown is a command line as it is kept: secrets masked, prof by its name.
func (s *Session) shown(argv []string) []string {
	out := mask.Argv(argv)
	for i, a := range argv {
		if a == s.setup.Self {
			out[i] = "prof"
		}
	}
	return out
}

// files are the workload's stdin, stdout and stderr. A file as stdin is opened anew, so that every pass reads all of it. Anything else
// could be read once only, and a terminal would stop a process that is not in its foreground: then there is no input.
func (s *Session) files() ([]*os.File, error) {
	name := os.DevNull
	if st, err := s.setup.Files[0].Stat(); err == nil && st.Mode().IsRegular() {
		name = s.setup.Files[0].Name()
		if s.setup.Files[0] == os.Stdin {
			name = "/dev/stdin"
		}
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the workload's input: %w", err)
	}
	return []*os.File{in, s.setup.Files[1], s.setup.Files[2]}, nil
}

// without drops a variable from an environment.
func without(environ []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, name+"=") })
}
