package diff

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// processTimes are processes of a stage that differ by so much from a time, in turns up and down, so that the logarithms have that standard deviation but for
// what two values lose.
func processTimes(run, stage string, isProfiled bool, ns, busy, kernels, by float64, n int) (out []processTime) {
	for i := range n {
		times := math.Exp(by * float64(1-2*(i%2)))
		out = append(out, processTime{run, stage, isProfiled, ns * times, busy * times, kernels})
	}
	return out
}

// TestHostNoise holds what is learned from other workloads on a machine: by how much the host bounds each of their stages.
func TestHostNoise(t *testing.T) {
	t.Parallel()
	bound := processTimes("other", "decode", true, 100e6, 20e6, 5000, 0.02, 6) // 16 us of idle time per kernel
	busy := processTimes("other", "prefill", true, 100e6, 99e6, 1000, 0.5, 6)  // tells nothing of the host
	for name, c := range map[string]struct {
		k    surroundings
		sd   float64
		from string
	}{
		"nothing":                    {surroundings{}, hostVaries, noiseFrom},
		"a calm machine":             {surroundings{processes: append(bound, busy...)}, 0.0219, "6 processes of other workloads on this machine"},
		"what is compared":           {surroundings{processes: bound, compared: []string{"other"}}, hostVaries, noiseFrom},
		"too few":                    {surroundings{processes: bound[:3]}, hostVaries, noiseFrom},
		"stages that the GPU bounds": {surroundings{processes: busy}, hostVaries, noiseFrom},
		"half bound":                 {surroundings{processes: processTimes("other", "decode", true, 100e6, 95e6, 2000, 0.01, 6)}, 0.01 * math.Sqrt(1.2) / 0.5, "6 processes of other workloads on this machine"}, // 2.5 us
	} {
		n := c.k.hostNoise()
		said.Add(n.From)
		if math.Abs(n.SD/c.sd-1) > 0.02 || n.From != c.from {
			t.Errorf("%s: %+v, want %v from %s", name, n, c.sd, c.from)
		}
	}
}

// TestUnprofiledNoise holds that recordings without a profiler say how much processes of the compared runs differ, and that a change beyond it is told.
func TestUnprofiledNoise(t *testing.T) {
	t.Parallel()
	k := surroundings{alpha: 0.01, compared: []string{"a", "b"}, processes: append(processTimes("a", "decode", false, 3e6, 0, 0, 0.01, 3), processTimes("b", "decode", false, 4e6, 0, 0, 0.01, 3)...)}
	if n := k.unprofiledNoise("decode"); n == nil || n.DF != 4 || n.From != "6 recordings without a profiler" || math.Abs(n.SD-0.0115) > 1e-3 {
		t.Fatalf("%+v", n)
	}
	for name, less := range map[string]surroundings{
		"one side": {alpha: 0.01, compared: []string{"a"}, processes: k.processes}, "others": {alpha: 0.01, processes: k.processes}} {
		if n := less.unprofiledNoise("decode"); n != nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if n := k.unprofiledNoise("prefill"); n != nil {
		t.Errorf("another stage: %+v", n)
	}
	idle := func(gap float64) func(*madeStage) { return func(st *madeStage) { st.gap = gap } }
	a, b := []runData{made("a", 1, base(idle(20_000)))}, []runData{made("b", 2, base(idle(26_000)))}
	r := &Result{A: sideOf(a), B: sideOf(b), Options: bare}
	o, err := bare.whole()
	if err != nil {
		t.Fatal(err)
	}
	r.Options = o
	if err := r.compare(a, b, k); err != nil {
		t.Fatal(err)
	}
	said.Add([]any{r.Words, r.Notes, r.Stages})
	st := stageOf(t, r, "decode")
	if st.Verdict != Worse || st.Comparison.NoiseFrom != "6 recordings without a profiler" {
		t.Errorf("%s: %s", st.Verdict, st.Words)
	}
	if alone := stageOf(t, compared(t, a, b, bare), "decode"); alone.Verdict != CannotTell || !strings.Contains(alone.Words, fmt.Sprint("assumed (", noiseFrom, ")")) {
		t.Errorf("without them: %s: %s", alone.Verdict, alone.Words)
	}
}
