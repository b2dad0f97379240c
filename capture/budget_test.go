package capture

import (
	"testing"
	"time"

	"prof/capture/machine"
	"prof/capture/plan"
	"prof/schema/rundir"
)

// TestLeftOut says which passes a budget leaves out, by what those before took.
func TestLeftOut(t *testing.T) {
	const used = "the time for the whole capture was used up (--budget 10m)"
	for name, c := range map[string]struct {
		budget, spent time.Duration
		took          map[string]time.Duration
		tool, want    string
	}{
		"no budget":             {0, time.Hour, nil, rundir.ToolNsys, ""},
		"nothing measured":      {10 * time.Minute, 9 * time.Minute, nil, rundir.ToolNsys, ""},
		"nothing of its kind":   {10 * time.Minute, 9 * time.Minute, map[string]time.Duration{rundir.ToolNsys: 9 * time.Minute}, rundir.ToolNcu, ""},
		"used up":               {10 * time.Minute, 11 * time.Minute, nil, rundir.ToolNcu, used},
		"fits":                  {10 * time.Minute, 4 * time.Minute, map[string]time.Duration{rundir.ToolNsys: 5 * time.Minute}, rundir.ToolNsys, ""},
		"does not fit":          {10 * time.Minute, 6 * time.Minute, map[string]time.Duration{rundir.ToolNsys: 5 * time.Minute, rundir.ToolNone: time.Minute}, rundir.ToolNsys, "there was no time for it: recordings like it took up to 5m, and 4m were left (--budget 10m)"},
		"shorter kind fits":     {10 * time.Minute, 6 * time.Minute, map[string]time.Duration{rundir.ToolNsys: 5 * time.Minute, rundir.ToolNone: time.Minute}, rundir.ToolNone, ""},
		"torch may fit":         {10 * time.Minute, 6 * time.Minute, map[string]time.Duration{rundir.ToolNsys: 5 * time.Minute, rundir.ToolNone: time.Minute}, rundir.ToolTorch, ""},
		"torch cannot":          {10 * time.Minute, 9*time.Minute + 30*time.Second, map[string]time.Duration{rundir.ToolNsys: 5 * time.Minute, rundir.ToolNone: time.Minute}, rundir.ToolTorch, "there was no time for it: no recording took less than 1m, and 30s were left (--budget 10m)"},
		"torch with no measure": {10 * time.Minute, 9 * time.Minute, nil, rundir.ToolTorch, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Session{m: machine.Machine{}.WithDefaults(), o: plan.Options{Budget: c.budget}, budget: budget{begun: time.Now().Add(-c.spent), took: c.took}}
			if got := s.leftOut(passSpec{tool: c.tool}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestBudgetNotes takes the longest pass of a tool, and the longest time that it took to close one.
func TestBudgetNotes(t *testing.T) {
	b := budget{took: map[string]time.Duration{}, closed: map[string]time.Duration{}}
	for _, n := range []struct{ took, workload time.Duration }{{5, 4}, {9, 3}, {2, 2}} {
		ns := n.workload.Nanoseconds()
		b.note(&rundir.Pass{Tool: rundir.ToolNsys, WorkloadNs: &ns}, n.took)
	}
	b.note(&rundir.Pass{Tool: rundir.ToolNsys}, 7) // how long the workload ran is unknown
	if b.took[rundir.ToolNsys] != 9 || b.closed[rundir.ToolNsys] != 6 {
		t.Errorf("%+v", b)
	}
}
