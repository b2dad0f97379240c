package capture

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/capture/nsys"
	"prof/schema/rundir"
)

// noteBlind notes that an export of a pass lacks the work of the GPU.
func (s *Session) noteBlind(p *rundir.Pass, export string) {
	is, err := nsys.IsBlind(export)
	if err != nil {
		s.warn(fmt.Sprintf("%s: whether it has work of the GPU is unknown: %v", p.Name, err))
	}
	if !is {
		return
	}
	if s.blind == nil {
		s.blind = map[int]bool{}
	}
	s.blind[p.ID] = true
	if s.o.UsesProf() {
		s.warn(p.Name + ": nsys' importer lost all work of the GPU: the timeline is that of prof's own tracer alone")
	}
}

// isWhole reports whether a pass under nsys left an export with work of the GPU.
func (s *Session) isWhole(p rundir.Pass) bool {
	return !s.blind[p.ID] && slices.ContainsFunc(p.Artifacts, func(a string) bool { return strings.HasSuffix(a, ".sqlite") })
}

// insteadOfNsys has prof's own tracer record where nsys made no timeline of a workload that went well: its importer failed, or lost the work of the GPU.
func (s *Session) insteadOfNsys(ctx context.Context) error {
	var failed *rundir.Pass
	for i, p := range s.manifest.Passes {
		switch {
		case p.Tool != rundir.ToolNsys:
		case s.isWhole(p):
			return nil
		case p.ExitCode != nil && *p.ExitCode == 0 && (p.Status == rundir.StatusNoReport || s.blind[p.ID]):
			failed = &s.manifest.Passes[i]
		}
	}
	if failed == nil || s.o.UsesProf() {
		return nil
	}
	why := failed.Name + ": nsys made no report that can be read"
	if s.blind[failed.ID] {
		why = failed.Name + ": nsys' importer lost all work of the GPU"
	}
	return s.byTracer(ctx, why, "the timeline")
}

// SlowedByNsys reports whether nsys alone made the timeline, and recordings without a profiler show what that cost.
func (s *Session) SlowedByNsys() bool {
	return s.o.Baseline && s.o.UsesNsys() && !s.o.UsesProf() && !s.Stopped() && s.tools[rundir.ToolProf].path == ""
}

// Cheaper has prof's own tracer record once more, for figures to rest on, where nsys slowed the workload; why says how, to the user.
func (s *Session) Cheaper(ctx context.Context, why string) error {
	return s.byTracer(ctx, why, "the timeline that figures rest on")
}

// byTracer records what nobody asked for: a timeline by prof's own tracer. That it cannot be made, or failed, is no failure of the capture. Where nsys
// stands in for the tracer it cannot be built, which has been said.
func (s *Session) byTracer(ctx context.Context, why, what string) error {
	if s.Stopped() || s.asked.UsesProf() {
		return nil
	}
	t := s.findTracer(ctx)
	if t.missing != nil {
		s.warn(fmt.Sprintf("%s; prof's own tracer, which could record %s, cannot be built: %v", why, what, t.missing))
		return nil
	}
	s.tools[rundir.ToolProf] = t
	s.warn(fmt.Sprintf("%s: prof's own tracer records %s once more", why, what))
	if s.budget.took[rundir.ToolProf] == 0 { // it takes no longer
		s.budget.took[rundir.ToolProf] = s.budget.took[rundir.ToolNsys]
	}
	before := len(s.failed)
	if err := s.record(ctx, s.traced(1)); err != nil {
		return err
	}
	s.failed = s.failed[:before]
	return s.Settle()
}
