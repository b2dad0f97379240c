// Package capture runs a workload under profilers, each in a pass of its own, and keeps what they captured with all that tells where
// it came from in one folder. It knows nothing of the warehouse.
package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"prof/capture/attach"
	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/nvml"
	"prof/capture/plan"
	"prof/capture/provenance"
	"prof/capture/tracer"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Setup is what a capture is given beside its options.
type Setup struct {
	Runs        string   // folder of the runs' folders
	Run         string   // name of the run
	Argv        []string // the workload
	Environ     []string // its environment
	Dir         string   // its working folder
	Self        string   // path of this program, which tools start in the workload's place
	ProfVersion string
	Files       []*os.File             // the workload's stdin, stdout and stderr
	Interrupts  <-chan os.Signal       // the user's Ctrl-C: the first stops the workload, the second kills it
	Talk        func(string)           // told what is being done
	Attach      *attach.Launched       // the process that is recorded; nil: Argv is started
	LoadDir     string                 // working folder of the load generator; "": Dir
	IsResult    func(path string) bool // whether a file is the result of a load generator that prof reads; nil: all are
	Node        *rundir.Node           // of the job; nil where the capture is a run by itself
	Machine     machine.Machine        // but for its environment, which is the workload's; zero: this one
}

// Session is one capture at work. Its methods are for one goroutine.
type Session struct {
	o     plan.Options
	asked plan.Options // o before what is missing on this machine was replaced
	setup Setup
	m     machine.Machine
	dir   string // the run's folder

	manifest rundir.Manifest
	env      *provenance.Environment
	nvml     nvml.Library // nil where there is none
	nvmlErr  error
	tools    map[string]tool
	tracer   tracer.Library // where a pass uses it
	budget   budget
	stopped  bool // the user interrupted a pass: no more begins
	failed   []string
	exit     *int         // of the first pass in which the workload did not end with 0
	blind    map[int]bool // passes under nsys whose export lacks the work of the GPU, by their ids
	started  []int        // the workload's processes that recordings started, by their ids

	talking   sync.Mutex // what goes on beside a pass talks too
	loadBegun time.Time  // when the load generator was started
}

// BeginsRanks reports whether the workload's command line has a launcher that gives each process its local rank.
func (s *Session) BeginsRanks() bool { return ncu.BeginsRanks(s.setup.Argv) }

// Started reports whether a process is one that a recording started as the workload, and not a child of that.
func (s *Session) Started(pid int64) bool { return slices.Contains(s.started, int(pid)) }

// tool is a profiler of this machine.
type tool struct {
	path, version string
	missing       error // why there is none
}

// Errors that New's errors wrap.
var (
	ErrNoWorkload = errors.New("cannot run the workload")
	ErrRunExists  = errors.New("the run already has a folder")
)

// New makes the folder of a run and notes in it where it runs. Nothing is run yet. Missing tools are no error: their passes say so.
func New(ctx context.Context, o plan.Options, setup Setup) (*Session, error) {
	s, err := newSession(o, setup)
	if err == nil && setup.Attach == nil {
		err = CheckWorkload(s.m, setup.Argv, setup.Dir)
	}
	if err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	if s.nvml, s.nvmlErr = s.m.NVML(); s.nvmlErr != nil {
		s.nvml = nil
		s.warn("GPUs are not sampled: " + s.nvmlErr.Error())
	}
	s.manifest = rundir.Manifest{
		Version: rundir.ManifestVersion, Run: setup.Run, ProfVersion: setup.ProfVersion, Mode: o.RecordedMode(), Argv: mask.Argv(setup.Argv),
		WorkloadKey: WorkloadKey(setup.Argv, setup.Dir), Folder: mask.Text(setup.Dir), StartedAt: s.budget.begun.UTC(), Status: rundir.StatusRunning, Passes: []rundir.Pass{},
		Node: setup.Node, Warnings: s.manifest.Warnings,
	}
	err = s.manifest.Write(s.dir)
	if err == nil {
		err = errors.Join(s.note(ctx), ctx.Err()) // a tool that did not answer before the end of ctx may be there
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir)) // it holds nothing that was captured
	}
	return s, nil
}

// newSession checks what a capture is given.
func newSession(o plan.Options, setup Setup) (*Session, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := setup.Machine
	m.Environ = setup.Environ
	s := &Session{o: o, asked: o, setup: setup, m: m.WithDefaults(), dir: filepath.Join(setup.Runs, plan.NodeFolder(setup.Run, setup.Node)), tools: map[string]tool{}}
	s.budget = budget{begun: s.m.Now(), took: map[string]time.Duration{}, closed: map[string]time.Duration{}}
	return s, nil
}

// makeDir makes the run's folder, which must not be there.
func (s *Session) makeDir() error {
	if err := file.MakeDir(s.setup.Runs); err != nil {
		return fmt.Errorf("make the folder of runs: %w", err)
	}
	err := file.MakeNewDir(s.dir)
	if errors.Is(err, os.ErrExist) {
		return runExists(s.dir)
	}
	return err
}

func runExists(dir string) error {
	return fmt.Errorf("%w: %s; choose another --run, or remove the folder", ErrRunExists, dir)
}

// findTools finds the profilers that the options ask for.
func (s *Session) findTools(ctx context.Context) {
	if l := s.setup.Attach; l != nil {
		s.tools[rundir.ToolProf] = tool{path: l.Tracer, version: l.TracerVersion}
		return
	}
	s.findTimeline(ctx)
	if s.o.UsesNcu() {
		s.tools[rundir.ToolNcu] = s.find(ctx, rundir.ToolNcu)
	}
}

// note writes down where the capture runs: the machine, the repository, inputs and options.
func (s *Session) note(ctx context.Context) error {
	s.findTools(ctx)
	env, warnings := provenance.Read(ctx, provenance.Options{Argv: s.setup.Argv, Dir: s.setup.Dir, Environ: s.foundEnviron(), NVML: s.nvml, NVMLErr: s.nvmlErr, Tools: s.toolInfo(), Machine: s.m})
	s.env = env
	for _, w := range warnings {
		s.warn(w)
	}
	s.manifest.Host, s.manifest.Devices = env.Host, env.Devices
	git, err := provenance.ReadGit(ctx, s.m, s.setup.Dir)
	if err != nil {
		s.warn(err.Error())
	}
	s.manifest.Git = git
	if err := s.readInputs(ctx); err != nil {
		return err
	}
	for _, in := range s.manifest.Inputs {
		if in.Reason != "" {
			s.warn(fmt.Sprintf("input %s: %s", in.Path, in.Reason))
		}
	}
	if s.setup.Attach == nil && isPipe(s.setup.Files[0]) {
		s.warn("the workload gets no standard input: each recording reads it from the start, which works only for a file (prof capture ... < FILE)")
	}
	if err := s.noteOptions(); err != nil {
		return err
	}
	return errors.Join(env.Write(s.dir), s.save())
}

// readInputs takes the identity of the inputs, and writes down what the workload is to work on.
func (s *Session) readInputs(ctx context.Context) error {
	given, listed, err := s.o.ReadInputs(ctx)
	if err != nil {
		return err
	}
	all := slices.Concat(given, listed)
	if s.manifest.OptionsKey, err = s.asked.Key(all); err != nil {
		return err
	}
	s.manifest.Inputs = plan.MaskInputs(all)
	return s.writeWorkloadInputs(listed)
}

// noteOptions writes config.yaml and inputs.yaml.
func (s *Session) noteOptions() error {
	text, err := s.o.YAML()
	if err != nil {
		return err
	}
	if err := file.Write(filepath.Join(s.dir, rundir.ConfigName), text); err != nil {
		return err
	}
	if text, err = plan.InputsYAML(s.manifest.Inputs); err != nil {
		return err
	}
	return file.Write(filepath.Join(s.dir, rundir.InputsName), text)
}

// Dir is the run's folder.
func (s *Session) Dir() string { return s.dir }

// Stopped reports whether the user stopped the capture, during a pass or between two.
func (s *Session) Stopped() bool {
	select {
	case <-s.setup.Interrupts:
		s.stopped = true
	default:
	}
	return s.stopped
}

// Settle writes down how the capture stands, so that what there is can be stored before it goes on.
func (s *Session) Settle() error {
	s.manifest.Status, s.manifest.Reason = rundir.StatusOK, strings.Join(s.failed, "; ")
	if len(s.failed) > 0 {
		s.manifest.Status = rundir.StatusFailed
	}
	for _, p := range s.manifest.Passes {
		if len(s.failed) > 0 && (len(p.Artifacts) > 0 || p.Tool == rundir.ToolNone && p.WorkloadNs != nil) {
			s.manifest.Status = rundir.StatusPartial
		}
	}
	return errors.Join(file.Write(filepath.Join(s.dir, rundir.AssumptionsName), provenance.Assumptions(&s.manifest, s.o, s.env)), s.save(), file.Adopt(s.dir))
}

// Finish ends the capture: what became of it stands in run.json and assumptions.md.
func (s *Session) Finish() (*Result, error) {
	now := s.m.Now().UTC()
	s.manifest.EndedAt = &now
	s.warnUnkept()
	err := s.Settle()
	if s.nvml != nil {
		s.nvml.Close()
	}
	return &Result{Dir: s.dir, Exit: s.exit, Failed: s.failed, Warnings: s.manifest.Warnings, Stopped: s.Stopped()}, err
}

// Result is what became of a capture.
type Result struct {
	Dir      string
	Exit     *int     // of the workload, where it did not end with 0 in some pass
	Failed   []string // what was to be captured and was not
	Warnings []string
	Stopped  bool // by the user
}

func (s *Session) save() error {
	for i := range s.manifest.Passes {
		p := &s.manifest.Passes[i]
		p.Reason = mask.Text(p.Reason)
	}
	s.manifest.Reason = mask.Text(s.manifest.Reason)
	return s.manifest.Write(s.dir)
}

// warn tells the user and keeps it with the run.
func (s *Session) warn(message string) {
	message = mask.Text(message)
	s.manifest.Warnings = append(s.manifest.Warnings, message)
	s.talk("warning: " + message)
}

func (s *Session) talk(message string) {
	s.talking.Lock()
	defer s.talking.Unlock()
	if s.setup.Talk != nil {
		s.setup.Talk(message)
	}
}

// WorkloadKey is the same for every run of the same command line in the same folder.
func WorkloadKey(argv []string, dir string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{dir}, argv...), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Options are those of the capture.
func (s *Session) Options() plan.Options { return s.o }

// find finds a profiler and its version.
func (s *Session) find(ctx context.Context, name string) tool {
	path, err := s.m.FindTool(name)
	if err != nil {
		return tool{missing: err}
	}
	version, err := s.m.ToolVersion(ctx, path)
	if err != nil {
		return tool{missing: fmt.Errorf("%s does not run: %w", name, err)}
	}
	return tool{path: path, version: version}
}

// findTimeline finds what makes the timeline. Where prof's own tracer cannot be built, nsys stands in for it, unless the options ask for what that does
// not do.
func (s *Session) findTimeline(ctx context.Context) {
	if s.o.UsesNsys() {
		s.tools[rundir.ToolNsys] = s.find(ctx, rundir.ToolNsys)
	}
	if !s.o.UsesProf() {
		return
	}
	t := s.findTracer(ctx)
	s.tools[rundir.ToolProf] = t
	o, ok := s.o.ByNsys()
	if t.missing == nil || !ok {
		return
	}
	in, is := s.tools[rundir.ToolNsys]
	if !is {
		in = s.find(ctx, rundir.ToolNsys)
	}
	if in.missing != nil {
		t.missing = fmt.Errorf("%w; Nsight Systems cannot be used: %w", t.missing, in.missing)
		s.tools[rundir.ToolProf] = t
		return
	}
	delete(s.tools, rundir.ToolProf)
	s.tools[rundir.ToolNsys], s.o = in, o
	s.talk(fmt.Sprintf("using Nsight Systems, because prof's own tracer cannot be built: %v", t.missing))
}

// toolInfo is what the environment tells of the profilers.
func (s *Session) toolInfo() map[string]provenance.ToolInfo {
	out := map[string]provenance.ToolInfo{}
	for name, t := range s.tools {
		if t.missing == nil {
			out[name] = provenance.ToolInfo{Path: t.path, Version: t.version}
		}
	}
	return out
}
