package diff

import (
	"testing"

	"prof/queries/judge/stats"
)

// TestApart holds of which passes it is said what is known of two processes: those that do not overlap, and of no side with several processes.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		a, b  []float64
		level level
		v     Verdict
		want  string
	}{
		{[]float64{100, 101, 100}, []float64{112, 114, 113}, byPass, CannotTell, "in these two processes B's time is 13.0 % longer, and passes of one differ by 1.8 % at most"},
		{[]float64{112, 114, 113}, []float64{100, 101, 100}, byPass, CannotTell, "in these two processes B's time is 11.5 % less, and passes of one differ by 1.8 % at most"},
		{[]float64{100, 113, 100}, []float64{112, 114, 113}, byPass, CannotTell, ""},
		{[]float64{100, 101, 100}, []float64{112, 114, 113}, byRun, CannotTell, ""},
		{[]float64{100, 101, 100}, []float64{112, 114, 113}, byRepeat, CannotTell, ""},
		{[]float64{100, 101, 100}, []float64{112, 114, 113}, byPass, Worse, ""},
		{[]float64{100, 110, 100}, []float64{111, 114, 111}, byPass, CannotTell, "in these two processes B's time is 11.0 % longer, and passes of one differ by 10 % at most"},
		{[]float64{100, 115, 100}, []float64{116, 117, 114}, byPass, CannotTell, ""},
		{[]float64{100, 110, 109}, []float64{111, 114, 112}, byPass, CannotTell, ""}, // they differ as much among themselves
		{[]float64{100}, []float64{112, 114, 113}, byPass, CannotTell, ""},
		{[]float64{0, 0, 0}, []float64{112, 114, 113}, byPass, CannotTell, ""},
	} {
		st := Stage{Level: string(c.level), Verdict: c.v, A: StageSide{Samples: c.a}, B: StageSide{Samples: c.b}}
		st.Comparison.Effect = new(stats.Centre(c.b)/stats.Centre(c.a) - 1)
		if got := st.seenText(); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
