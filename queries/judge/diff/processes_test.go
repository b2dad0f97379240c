package diff

import (
	"math"
	"strings"
	"testing"
)

// processTimes are processes of a stage that differ by so much from a time, in turns up and down, so that the logarithms have that standard deviation but for
// what two values lose.
func processTimes(run, stage string, isProfiled bool, ns, busy, kernels, by float64, n int) (out []processTime) {
	for i := range n {
		times := math.Exp(by * float64(1-2*(i%2)))
		p := processTime{Run: run, Stage: stage, Tool: "none", Time: ns * times}
		if isProfiled {
			p.Tool, p.Busy, p.Kernels = "profiled", new(busy*times), &kernels
		}
		out = append(out, p)
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

// TestTokenTime holds that the time per token is that of a step, whatever the number of sequences.
func TestTokenTime(t *testing.T) {
	t.Parallel()
	d := made("a", 1, base(func(st *madeStage) { st.decode = 64 })) // 16 steps of four sequences
	for i := range d.passes {
		d.passes[i].steps = new(int64(16))
	}
	st := stageOf(t, compared(t, []runData{d}, []runData{made("b", 2, base(func(st *madeStage) { st.decode = 64 }))}, bare), "decode")
	if st.figure(tokenTimeName) != nil {
		t.Error("a time per token where one side does not know its steps")
	}
	e := d
	e.run.ID, e.hashes = "e", []string{"e"}
	st = stageOf(t, compared(t, []runData{d}, []runData{e}, bare), "decode")
	if m := st.figure(tokenTimeName); m == nil || math.Abs(m.Comparison.A*16/st.Comparison.A-1) > 1e-9 || m.Verdict != st.Verdict {
		t.Errorf("%+v of a pass of %v ns", m, st.Comparison.A)
	}
}

// TestUnprofiled holds that recordings without a profiler are compared by themselves: where profiled times are too noisy to tell, they may.
func TestUnprofiled(t *testing.T) {
	t.Parallel()
	idle := func(st *madeStage) { st.gap = 20_000 }
	a, b := []runData{made("a", 1, base(idle))}, []runData{made("b", 2, base(idle))}
	for name, c := range map[string]struct {
		now     float64
		n       int
		verdict Verdict
		says    string
	}{
		"slower":        {3.3e6, 3, Worse, "ithout a profiler it takes 10.0 % longer (3.01 ms -> 3.31 ms)"},
		"the same":      {3e6, 3, NoChange, "ithout a profiler it does not change (3.01 ms -> 3.01 ms)"},
		"too noisy":     {3.02e6, 2, CannotTell, "ithout a profiler it cannot be told either"},
		"one on a side": {3.3e6, 1, "", ""},
	} {
		by := 0.002
		if c.verdict == CannotTell {
			by = 0.1
		}
		k := surroundings{alpha: 0.01, compared: []string{"a", "b"}, sides: [2][]string{{"a"}, {"b"}}, processes: append(processTimes("a", "decode", false, 3e6, 0, 0, by, c.n), processTimes("b", "decode", false, c.now, 0, 0, by, c.n)...)}
		o, err := bare.whole()
		if err != nil {
			t.Fatal(err)
		}
		r := &Result{A: sideOf(a), B: sideOf(b), Options: o}
		if err := r.compare(a, b, k); err != nil {
			t.Fatal(err)
		}
		said.Add([]any{r.Words, r.Notes, r.Stages})
		st := stageOf(t, r, "decode")
		m := st.figure(aloneMetric)
		if st.Verdict != CannotTell || (m == nil) != (c.verdict == "") || m != nil && m.Verdict != c.verdict || !strings.Contains(st.Words, c.says) || !strings.Contains(r.Words, c.says) {
			t.Errorf("%s: %+v: %s", name, m, st.Words)
		}
	}
}
