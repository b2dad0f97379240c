package critical

import (
	"testing"
)

// TestProcesses holds that eight ranks have as much looked at, each, as two.
func TestProcesses(t *testing.T) {
	of := func(source int64, pids ...int64) (out []*step) {
		for _, pid := range pids {
			for range 3 {
				out = append(out, &step{source: source, pid: number{V: pid, Valid: pid > 0}})
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		steps []*step
		want  int64
	}{
		"none":            {nil, 2},
		"one":             {of(1, 7), 2},
		"unknown":         {of(1, 0), 2},
		"eight ranks":     {of(1, 1, 2, 3, 4, 5, 6, 7, 8), 8},
		"a trace of each": {append(append(of(1, 1), of(2, 1)...), of(3, 1)...), 3},
		"two ranks":       {of(1, 1, 2), 2},
	} {
		if got := (&reader{steps: c.steps}).processes(); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}
