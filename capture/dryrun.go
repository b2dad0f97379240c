package capture

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"prof/capture/machine"
	"prof/capture/ncu"
	"prof/capture/plan"
	"prof/capture/tracer"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Planned is a recording that a capture would make.
type Planned struct {
	Name     string // as of the pass in run.json
	Tool     string
	Of       int      // how many recordings of the tool there are
	Argv     []string // command line, secrets masked; of an attached process its own
	Env      []string // what prof adds to the environment of the workload, secrets masked
	Missing  string   // why it cannot be made on this machine; "" when it can
	Refused  string   // why a capture would record nothing with it on this machine; "" when it would
	Chosen   bool     // more of its arguments are chosen from the timeline of the capture
	IfBudget bool     // it begins only if the budget has room for it
}

// Names that stand in command lines and variables of a dry run for what gets another name.
const (
	TempStandIn   = ".prof~"     // the temporary folder of a recording
	TracerStandIn = "tracer~.so" // the library of a tracer that cannot be built
)

// UnbuiltTracer is the tracer in a dry run on a machine that cannot build it.
func UnbuiltTracer() tracer.Library {
	return tracer.Library{Path: filepath.Join(machine.TracerCache(), TracerStandIn)}
}

// DryRun lists the recordings that a capture makes, in that order, where the workload and the profilers are there; Missing says what is not on this
// machine. Nothing of the workload is run, and no folder is made but that of prof's own tracer, which is built to know whether it can be. Command lines
// have the workload where prof starts it, which passes on its output and keeps its environment from the profiler.
func DryRun(ctx context.Context, o plan.Options, setup Setup) ([]Planned, error) {
	s, err := newSession(o, setup)
	if err != nil {
		return nil, err
	}
	s.findTools(ctx)
	missing := s.pretendTools()
	first, rest := s.timeline()
	if s.o.UsesNcu() {
		first = append(first, s.ncu(ncu.Target{}, 1))
	}
	count := map[string]int{}
	specs := slices.Concat(first, rest)
	for _, spec := range specs {
		count[spec.tool]++
	}
	var out []Planned
	for i, spec := range specs {
		p := Planned{Name: passName(spec), Tool: spec.tool, Of: count[spec.tool], IfBudget: i >= len(first), Chosen: spec.tool == rundir.ToolNcu && s.WantsKernels()}
		if err := missing[spec.tool]; err != nil {
			p.Missing = err.Error()
		}
		if err := s.preview(ctx, &p, spec); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, ctx.Err()
}

// CheckRun finds before anything is run that a run of this name has a folder.
func CheckRun(setup Setup) error {
	dir := filepath.Join(setup.Runs, plan.NodeFolder(setup.Run, setup.Node))
	if _, err := os.Lstat(dir); err == nil {
		return runExists(dir)
	}
	return nil
}

// pretendTools puts names in the place of the tools that are not on this machine, and returns why they are not.
func (s *Session) pretendTools() map[string]error {
	missing := map[string]error{}
	for name, t := range s.tools {
		if t.missing == nil {
			continue
		}
		missing[name] = t.missing
		s.tools[name] = tool{path: name}
		if name == rundir.ToolProf {
			s.tracer = UnbuiltTracer()
		}
	}
	return missing
}

// preview records how a pass would be run.
func (s *Session) preview(ctx context.Context, p *Planned, spec passSpec) error {
	if s.setup.Attach != nil {
		p.Argv = mask.Argv(s.setup.Attach.Argv)
		if err := s.setup.Attach.CheckFree(s.m); err != nil {
			p.Refused = err.Error()
		}
		return nil
	}
	temp := filepath.Join(s.m.TempDir, TempStandIn)
	env, err := s.workloadEnv(spec, temp)
	if err != nil {
		return err
	}
	for _, v := range env {
		if !slices.Contains(s.setup.Environ, v) {
			p.Env = append(p.Env, v)
		}
	}
	argv := s.argv(spec, filepath.Join(temp, tempName))
	if at := slices.Index(argv, LaunchVerb); !spec.direct && at > 0 && argv[at-1] == s.setup.Self {
		argv = slices.Delete(argv, at-1, at+1)
	}
	p.Env, p.Argv = mask.Argv(p.Env), s.shown(argv)
	if !spec.serves {
		return nil
	}
	if p.Missing != "" {
		p.Missing += ", and nothing else records a serving engine"
	}
	if err := s.isAnswered(ctx); err != nil {
		p.Refused = err.Error()
	}
	return nil
}
