package diff

import (
	"slices"
	"strings"
	"testing"
)

// TestSessions holds that recordings of one session are passes of one process, whatever runs they were stored as, and others are not.
func TestSessions(t *testing.T) {
	t.Parallel()
	side := func(name string, sessions ...string) (out []runData) {
		for i, id := range sessions {
			d := made(name+string(rune('1'+i)), uint64(i+1), madeStage{name: "decode", passes: 2, kernels: []kernel{{"gemm", "gemm", "4", 12, 500}}, passNoise: 0.01})
			if id != "" {
				d.sessions = []string{id}
			}
			out = append(out, d)
		}
		return out
	}
	for _, c := range []struct {
		name         string
		a, b         []string
		level        level
		samplesA, b1 int
		note         bool
	}{
		{"of sessions of their own", []string{"x", "y", "z"}, []string{"u", "v", "w"}, byRun, 3, 3, false},
		{"no session known", []string{"", "", ""}, []string{"", "", ""}, byRun, 3, 3, false},
		{"of one session each", []string{"x", "x", "x"}, []string{"y", "y"}, byPass, 6, 4, true},
		{"two of one session", []string{"x", "y", "x"}, []string{"u", "v"}, byRun, 2, 2, true},
	} {
		r := compared(t, side("a", c.a...), side("b", c.b...), bare)
		st := r.Stages[0]
		if st.Level != string(c.level) || st.Comparison.NA != c.samplesA || st.Comparison.NB != c.b1 {
			t.Errorf("%s: %d and %d samples by %s, want %d and %d by %s", c.name, st.Comparison.NA, st.Comparison.NB, st.Level, c.samplesA, c.b1, c.level)
		}
		if got := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "recordings of one process") }); got != c.note {
			t.Errorf("%s: %q", c.name, r.Notes)
		}
	}
}
