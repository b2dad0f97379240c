package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/queries/judge/stats"
)

// base is a decoder's step: kernels with families as those of the rules, 1 % of noise.
func base(change func(*madeStage)) madeStage {
	st := madeStage{name: "decode", passes: 5, decode: 16, gap: 100, noise: 0.01, kernels: []kernel{
		{"gemm_64x8", "cublas nvjet", "64 x 1 x 1", 96, 9000}, {"flash_fwd", "cudnn sdpa", "32 x 8 x 1", 12, 40000}, {"softmax_warp", "pytorch softmax", "512 x 1 x 1", 12, 20000},
		{"vectorized<Mul>", "pytorch vectorized elementwise", "128 x 1 x 1", 48, 3000}, {"rms_norm", "", "16 x 1 x 1", 24, 4000}}}
	if change != nil {
		change(&st)
	}
	return st
}

// TestOverGPUs holds that times which are added up over GPUs are said to be: they may be more than the stage takes.
func TestOverGPUs(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		a, b    int64
		verdict Verdict
	}{
		"Largest differences: ":                             {1, 1, CannotTell},
		"The change comes from ":                            {0, 1, Worse},
		"Largest differences, sum over 8 GPUs: ":            {8, 8, NoChange},
		"The change, sum over 8 GPUs, comes from ":          {8, 0, Better},
		"The change, sum over 1 \u2192 8 GPUs, comes from ": {1, 8, Worse},
	} {
		st := Stage{A: StageSide{GPUs: c.a}, B: StageSide{GPUs: c.b}}
		got := leadOf(c.verdict, st.OverGPUs())
		if said.Add(got + "gemm +5 %"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestTruth holds what is said of changes that were made on purpose.
func TestTruth(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		change  func(*madeStage)
		verdict Verdict
		unit    Unit
		words   []string // of the stage
		check   func(t *testing.T, st Stage, items []Item)
	}{
		{name: "nothing", verdict: NoChange, unit: PerPass},
		{name: "one kernel 20 % slower", verdict: Worse, unit: PerPass, change: func(st *madeStage) { st.kernels[1].ns *= 1.2 }, words: []string{"slower", "The change comes from cudnn sdpa kernels +20 %"},
			check: func(t *testing.T, st Stage, items []Item) {
				if it := items[0]; it.Name != "flash_fwd" || it.Verdict != Worse || it.Delta.CountNs != 0 || it.Delta.DurationNs < 80000 {
					t.Errorf("first %+v %+v", it, it.Delta)
				}
			}},
		{name: "two kernels fused into one", verdict: Better, unit: PerPass, change: func(st *madeStage) {
			st.kernels[1], st.kernels[2] = kernel{"flash_fused", "fused attention", "64 x 8 x 1", 12, 25000}, kernel{calls: 0}
		}, words: []string{"fused attention in place of cudnn sdpa and pytorch softmax -59 %"}, check: func(t *testing.T, st Stage, items []Item) {
			for name, partner := range map[string]string{"flash_fwd": "flash_fused", "softmax_warp": "flash_fused", "flash_fused": "flash_fwd + softmax_warp"} {
				checkMoved(t, items, name, partner, fused)
			}
		}},
		{name: "a kernel renamed", verdict: NoChange, unit: PerPass, change: func(st *madeStage) { st.kernels[4].name = "rms_norm_v2" },
			check: func(t *testing.T, st Stage, items []Item) { checkMoved(t, items, "rms_norm", "rms_norm_v2", renamed) }},
		{name: "another tile", verdict: NoChange, unit: PerPass, change: func(st *madeStage) { st.kernels[0].name, st.kernels[0].grid = "gemm_128x16", "32 x 1 x 1" },
			check: func(t *testing.T, st Stage, items []Item) {
				checkMoved(t, items, "gemm_64x8", "gemm_128x16", otherGrid)
			}},
		{name: "twice the tokens in twice the steps", verdict: NoChange, unit: PerToken, change: func(st *madeStage) {
			st.decode *= 2
			for i := range st.kernels {
				st.kernels[i].calls *= 2
			}
		}, words: []string{"per token"}},
		{name: "half the clock", verdict: Worse, unit: PerPass, change: func(st *madeStage) {
			for i := range st.kernels {
				st.kernels[i].ns *= 2
			}
		}, words: []string{"slower", "cublas nvjet kernels +100 %"}},
		{name: "one extra launch a step", verdict: Worse, unit: PerPass, change: func(st *madeStage) { st.kernels[3].calls += 16; st.kernels[3].ns = 3000 },
			words: []string{"pytorch vectorized elementwise kernels +33 %", "208 kernels per pass instead of 192"}, check: func(t *testing.T, st Stage, items []Item) {
				at := slices.IndexFunc(items, func(it Item) bool { return it.Name == "vectorized<Mul>" })
				if d := items[at].Delta; d.CountNs < 47000 || d.CountNs > 49000 || max(d.DurationNs, -d.DurationNs) > 2000 {
					t.Errorf("%+v", d)
				}
			}},
		{name: "a kernel 10 % slower, the host quicker", verdict: Worse, unit: PerPass, change: func(st *madeStage) { st.kernels[0].ns *= 1.1; st.gap *= 0.6 }, words: []string{"The change comes from cublas nvjet kernels +10 %"},
			check: func(t *testing.T, st Stage, items []Item) {
				at := slices.IndexFunc(items, func(it Item) bool { return it.Name == "gemm_64x8" })
				if it := items[at]; it.Verdict != Worse {
					t.Errorf("%s: %s", it.Verdict, it.Comparison.Why)
				}
			}},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var a, b []runData
			for run := range 3 {
				a, b = append(a, made(fmt.Sprint("a", run), uint64(6*i+2*run+1), base(nil))), append(b, made(fmt.Sprint("b", run), uint64(6*i+2*run+2), base(c.change)))
			}
			if c.verdict != NoChange || i%2 == 0 { // one process a side is enough where the GPU hardly idles
				a, b = a[:1], b[:1]
			}
			r := compared(t, a, b, bare)
			st := stageOf(t, r, "decode")
			if st.Verdict != c.verdict || r.Verdict != c.verdict || st.Unit != c.unit {
				t.Errorf("%s for a %s, want %s for a %s: %s", st.Verdict, st.Unit, c.verdict, c.unit, st.Words)
			}
			for _, w := range c.words {
				if !strings.Contains(st.Words, w) {
					t.Errorf("%q does not say %q", st.Words, w)
				}
			}
			checkTotals(t, c.name, st, r.Items, true)
			if c.check != nil {
				c.check(t, st, r.Items)
			}
		})
	}
}

func checkMoved(t *testing.T, items []Item, name, partner, how string) {
	t.Helper()
	at := slices.IndexFunc(items, func(it Item) bool { return it.Name == name })
	if at < 0 || items[at].Status != Moved || items[at].Partner != partner || items[at].How != how {
		t.Errorf("%s is %+v, want moved to %s: %s", name, items[max(0, at)], partner, how)
	}
}

// TestLevels holds what counts as a sample.
func TestLevels(t *testing.T) {
	t.Parallel()
	one := func(name string, seed uint64) runData { return made(name, seed, base(nil)) }
	repeats := one("repeats", 1)
	for i := range repeats.passes {
		repeats.passes[i].repeat = 1 + repeats.passes[i].number%2
	}
	for i := range repeats.work {
		repeats.work[i].repeat = 1 + repeats.work[i].number%2
	}
	ranks := one("ranks", 2)
	ranks.passes = append(ranks.passes, ranks.passes...)
	ranks.work = append(ranks.work, ranks.work...)
	cases := []struct {
		name, level string
		a, b        []runData
		na, nb      int
	}{
		{"passes of single runs", "passes", []runData{one("a", 3)}, []runData{one("b", 4)}, 5, 5},
		{"repeats of a run", "repeats", []runData{one("a", 5)}, []runData{repeats}, 1, 2},
		{"runs", "runs", []runData{one("a", 6), one("a2", 7), one("a3", 8)}, []runData{one("b", 9)}, 3, 1},
		{"ranks of a run do a pass together", "passes", []runData{ranks}, []runData{one("b", 10)}, 5, 5},
	}
	for _, c := range cases {
		st := stageOf(t, compared(t, c.a, c.b, bare), "decode")
		if st.Level != c.level || len(st.A.Samples) != c.na || len(st.B.Samples) != c.nb || st.Comparison.NA != c.na {
			t.Errorf("%s: %d and %d %s", c.name, len(st.A.Samples), len(st.B.Samples), st.Level)
		}
	}
	whole := stageOf(t, compared(t, cases[3].a, cases[3].b, bare), "decode")
	if *whole.A.Launches != 2**whole.B.Launches || whole.A.Passes != whole.B.Passes {
		t.Errorf("two ranks: %d kernels in %d passes, one: %d in %d", *whole.A.Launches, whole.A.Passes, *whole.B.Launches, whole.B.Passes)
	}
}

// TestWithoutStages holds that one sample a side tells nothing unless the noise is assumed.
func TestWithoutStages(t *testing.T) {
	t.Parallel()
	bare1 := func(seed uint64, ns float64) []runData {
		st := base(func(st *madeStage) { st.name, st.passes, st.kernels[1].ns = "", 1, ns })
		r := made(string(rune('a'+seed)), seed, st)
		r.passes, r.work = r.passes[1:], r.work[len(st.kernels):]
		return []runData{r}
	}
	a, b := bare1(1, 40000), bare1(2, 90000)
	r := compared(t, a, b, bare)
	if st := stageOf(t, r, ""); st.Verdict != CannotTell || st.Unit != PerRun || r.Verdict != CannotTell || !strings.Contains(st.Words, "all device work") || len(r.Items) < 5 {
		t.Errorf("%s for a %s: %s", st.Verdict, st.Unit, st.Words)
	}
	o := bare
	o.AssumeNoise = new(0.02)
	if r := compared(t, a, b, o); r.Verdict != Worse || !r.Stages[0].Comparison.FloorAssumed {
		t.Errorf("%s: %s", r.Verdict, r.Words)
	}
}

// TestOtherAmount holds that the time of all device work is no measure where the sides did other amounts of the same work, whatever is assumed of
// noise, and is one where one side only works in other kernels.
func TestOtherAmount(t *testing.T) {
	t.Parallel()
	whole := func(seed uint64, change func(*madeStage)) []runData {
		st := base(func(st *madeStage) { st.name, st.passes = "", 1; change(st) })
		r := made(string(rune('a'+seed)), seed, st)
		r.passes, r.work = r.passes[1:], r.work[len(st.kernels):]
		return []runData{r}
	}
	o := bare
	o.AssumeNoise = new(0.02)
	same := whole(1, func(*madeStage) {})
	fewer := whole(2, func(st *madeStage) {
		st.kernels = slices.Clone(st.kernels)
		for i := range st.kernels {
			st.kernels[i].calls, st.kernels[i].ns = st.kernels[i].calls*3/4, st.kernels[i].ns*4/3
		}
	})
	r := compared(t, same, fewer, o)
	if st := stageOf(t, r, ""); st.Verdict != CannotTell || !strings.Contains(st.Words, "different amounts of the same work") || !strings.Contains(st.Words, "cannot be compared") {
		t.Errorf("%s: %s", st.Verdict, st.Words)
	}
	s := &Sampled{c: newComparer(mustGather(t, same), mustGather(t, fewer), o), index: map[string]*stagePair{}}
	s.index[""] = s.c.stages[0]
	if f := s.Metric("", "gpu_span_ns"); !strings.Contains(f.NoMeasure, "cannot be compared") {
		t.Errorf("%+v", f)
	}
	merged := whole(4, func(st *madeStage) { // the largest kernel is launched half as often: another program, not less of the same
		st.kernels = slices.Clone(st.kernels)
		st.kernels[0].calls, st.kernels[0].ns = st.kernels[0].calls/2, 3*st.kernels[0].ns
	})
	if st := stageOf(t, compared(t, same, merged, o), ""); strings.Contains(st.Words, "cannot be compared") || st.Comparison.Effect == nil {
		t.Errorf("%s: %s", st.Verdict, st.Words)
	}
	fused := whole(3, func(st *madeStage) {
		st.kernels = append(slices.Clone(st.kernels[:2]), kernel{"fused", "gemm", "9", 40, 60000})
	})
	if st := stageOf(t, compared(t, same, fused, o), ""); strings.Contains(st.Words, "cannot be compared") || st.Comparison.Effect == nil {
		t.Errorf("%s: %s", st.Verdict, st.Words)
	}
}

func mustGather(t *testing.T, runs []runData) map[string]*stageSide {
	t.Helper()
	s, err := gather(runs, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOneSided holds that a stage of one side is told.
func TestOneSided(t *testing.T) {
	t.Parallel()
	prefill := base(func(st *madeStage) { st.name, st.decode, st.prompt = "prefill", 0, 300 })
	a, b := []runData{made("a", 1, base(nil))}, []runData{made("b", 2, base(nil), prefill)}
	r := compared(t, a, b, bare)
	st := stageOf(t, r, "prefill")
	if st.Verdict != CannotTell || st.Delta != nil || !strings.Contains(r.Words, "prefill only in B") || r.Verdict != CannotTell || r.Stages[1].Name != "prefill" {
		t.Errorf("%s %v: %s", st.Verdict, st.Delta, r.Words)
	}
	if st.B.PerUnitNs == 0 || *st.B.Tokens != 5*300 {
		t.Errorf("%+v", st.B)
	}
	if c := st.Comparison; c.Verdict != stats.CannotTell || c.Why != "only in B" {
		t.Errorf("%+v", c)
	}
	if r := compared(t, a, []runData{made("b", 2, prefill)}, bare); r.Words != "cannot tell: no stage is on both sides (A: decode; B: prefill)" || r.Verdict != CannotTell {
		t.Errorf("%s: %s", r.Verdict, r.Words)
	}
}
