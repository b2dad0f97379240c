package capture

import (
	"context"
	"fmt"
	"time"

	"prof/capture/plan"
	"prof/schema/rundir"
)

// budget is what the passes of a capture have taken of --budget.
type budget struct {
	begun  time.Time
	took   map[string]time.Duration // the longest pass of a tool, its report exported
	closed map[string]time.Duration // the longest time of a tool from the end of the workload to that of the pass
}

// note adds a pass.
func (b *budget) note(p *rundir.Pass, took time.Duration) {
	b.took[p.Tool] = max(b.took[p.Tool], took)
	if p.WorkloadNs != nil {
		b.closed[p.Tool] = max(b.closed[p.Tool], took-time.Duration(*p.WorkloadNs))
	}
}

// Over returns by how much a recording that takes so long would exceed the budget; 0 or less where it fits, or where there is none.
func (s *Session) Over(takes time.Duration) time.Duration {
	if s.o.Budget == 0 {
		return 0
	}
	return takes - s.left()
}

// left is the rest of the budget, which there is.
func (s *Session) left() time.Duration { return s.o.Budget - s.m.Now().Sub(s.budget.begun) }

// spent returns when a pass under a tool must be stopped so that the budget holds; nil when there is none.
func (s *Session) spent(tool string) <-chan time.Time {
	if s.o.Budget == 0 {
		return nil
	}
	return s.m.After(s.left() - s.budget.closed[tool])
}

// leftOut returns why the budget has no room for a pass; "" where it has, or where nothing that was measured says otherwise. The first pass of a tool
// begins whatever it may take, as long as something is left. That of the PyTorch profiler, whose trace is written last, must not be cut short: it takes
// no less than any pass before.
func (s *Session) leftOut(spec passSpec) string {
	if s.o.Budget == 0 {
		return ""
	}
	left, need := s.left(), s.budget.took[spec.tool]
	about := fmt.Sprintf("recordings like it took up to %s", plan.Roughly(need))
	if spec.takes > need {
		need, about = spec.takes, fmt.Sprintf("it would take about %s", plan.Roughly(spec.takes))
	}
	if need == 0 && spec.tool == rundir.ToolTorch {
		for _, took := range s.budget.took {
			if need == 0 || took < need {
				need = took
			}
		}
		about = fmt.Sprintf("no recording took less than %s", plan.Roughly(need))
	}
	switch {
	case left <= 0:
		return fmt.Sprintf("the time for the whole capture was used up (--budget %s)", plan.FormatDuration(s.o.Budget))
	case left < need:
		return fmt.Sprintf("there was no time for it: %s, and %s were left (--budget %s)", about, plan.Roughly(left), plan.FormatDuration(s.o.Budget))
	}
	return ""
}

// record runs a pass, unless it cannot be, or the budget has no room for it.
func (s *Session) record(ctx context.Context, spec passSpec) error {
	if missing := s.tools[spec.tool].missing; missing != nil {
		s.skip(spec, missing.Error())
		return s.save()
	}
	if why := s.leftOut(spec); why != "" && !s.Stopped() {
		s.skipQuietly(spec, why)
		s.talk(s.last().Name + ": " + why)
		return s.save()
	}
	begun := s.m.Now()
	if err := s.pass(ctx, spec); err != nil {
		return err
	}
	s.budget.note(s.last(), s.m.Now().Sub(begun))
	return nil
}
