package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/testdata"
)

// diffed is what a comparison says in JSON.
type diffed struct {
	Verdict, Words string
	Stages         []diffedStage
	Items          []diffedItem
	Differences    []struct{ Aspect, A, B, Effect string }
}

type diffedStage struct {
	Stage, Unit, Level, Verdict, Words, Expected string
	A, B                                         diffedSide
	Delta                                        *diffedDelta
	Comparison                                   struct {
		Effect float64  `json:"effect_ratio"`
		Low    *float64 `json:"low_ratio"`
		High   *float64 `json:"high_ratio"`
		P      *float64 `json:"p"`
		Why    string

		Smallest *float64 `json:"smallest_ratio"`
	}
}

type diffedItem struct {
	Stage, Name, Kind, Family, Status, Partner, How, Verdict string
	A, B                                                     diffedSide
	Delta                                                    *diffedDelta
}

type diffedSide struct {
	Calls   int64
	PerUnit int64 `json:"per_unit_ns"`
}

type diffedDelta struct {
	Ns, Count, Duration, Interaction, New, Removed int64
}

// UnmarshalJSON takes the names with units.
func (d *diffedDelta) UnmarshalJSON(text []byte) error {
	var v struct {
		Ns          int64 `json:"ns"`
		Count       int64 `json:"count_ns"`
		Duration    int64 `json:"duration_ns"`
		Interaction int64 `json:"interaction_ns"`
		New         int64 `json:"new_ns"`
		Removed     int64 `json:"removed_ns"`
	}
	err := json.Unmarshal(text, &v)
	*d = diffedDelta(v)
	return err
}

// diff compares two sides.
func (p *place) diff(a, b string, args ...string) diffed {
	p.t.Helper()
	var out struct{ Comparisons []diffed }
	text := p.ok(append([]string{"diff", a, b, "--format", "json", "--top", "0"}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil || len(out.Comparisons) != 1 {
		p.t.Fatalf("%v in %s", err, text)
	}
	return out.Comparisons[0]
}

func (d diffed) stage(t testing.TB, name string) diffedStage {
	t.Helper()
	at := slices.IndexFunc(d.Stages, func(s diffedStage) bool { return s.Stage == name })
	if at < 0 {
		t.Fatalf("no stage %q in %+v", name, d.Stages)
	}
	return d.Stages[at]
}

func (d diffed) item(t testing.TB, stage, name string) diffedItem {
	t.Helper()
	at := slices.IndexFunc(d.Items, func(it diffedItem) bool { return it.Stage == stage && it.Name == name })
	if at < 0 {
		t.Fatalf("no %q of %s in %+v", name, stage, d.Items)
	}
	return d.Items[at]
}

// reconciles holds that items add up to their stage, and the parts of changes to changes, to the ns.
func (d diffed) reconciles(t testing.TB) {
	t.Helper()
	for _, s := range d.Stages {
		var a, b, change int64
		for _, it := range d.Items {
			if it.Stage == s.Stage {
				a, b, change = a+it.A.PerUnit, b+it.B.PerUnit, change+it.Delta.Ns
				if x := it.Delta; x.Ns != x.Count+x.Duration+x.Interaction+x.New+x.Removed || x.Ns != it.B.PerUnit-it.A.PerUnit {
					t.Errorf("%s of %s: %+v", it.Name, s.Stage, *x)
				}
			}
		}
		if a != s.A.PerUnit || b != s.B.PerUnit || s.Delta == nil || change != s.Delta.Ns {
			t.Errorf("items of %s come to %d and %d, which change by %d; the stage says %+v", s.Stage, a, b, change, s)
		}
	}
}

// Kernels of the made decoder, by names that libraries give theirs.
const (
	gemm    = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"
	flash   = "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, false>(Flash_fwd_params)"
	softmax = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float*, float const*, int)"
	scale   = "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>, std::array<char*, 2ul> >(int, float)"
	norm    = "rms_norm_kernel"
)

const (
	madePasses = 5
	madeSteps  = 8
)

// madeTrace is a prefill, and a decode of eight steps of 110 us, with 1 % of noise.
func madeTrace(seed uint64) testdata.Trace {
	kernel := func(name string, count int, ns float64, blocks int) testdata.Kernel {
		return testdata.Kernel{Name: name, Count: count, Ns: ns, Grid: [3]int{blocks, 1, 1}, Block: [3]int{128, 1, 1}}
	}
	return testdata.Trace{Seed: seed, Noise: 0.01, Passes: madePasses, Stages: []testdata.Stage{
		{Name: "prefill", Kernels: []testdata.Kernel{kernel(gemm, 16, 30_000, 512), kernel(flash, 4, 40_000, 128), kernel(norm, 8, 6_000, 64)}},
		{Name: "decode_all", Steps: madeSteps, Kernels: []testdata.Kernel{
			kernel(gemm, 4, 9_000, 64), kernel(flash, 2, 15_000, 32), kernel(softmax, 2, 8_000, 16), kernel(scale, 2, 6_000, 8), kernel(norm, 2, 5_000, 4)}},
	}}
}

// decode returns the kernel of that name in the steps.
func decode(t *testdata.Trace, name string) *testdata.Kernel {
	list := t.Stages[1].Kernels
	return &list[slices.IndexFunc(list, func(k testdata.Kernel) bool { return k.Name == name })]
}

// truth is a change that was made on purpose, and what is to be said of it.
type truth struct {
	name            string
	made            int // tokens of a pass; 0 is madeSteps
	change          func(*testdata.Trace)
	prefill, decode string // verdicts
	effect          float64
	check           func(t *testing.T, d diffed, s diffedStage)
}

var truths = []truth{
	{name: "nothing", prefill: "no change", decode: "no change", check: func(t *testing.T, d diffed, _ diffedStage) {
		for _, it := range d.Items {
			if it.Verdict == "better" || it.Verdict == "worse" || it.Status == "new" || it.Status == "removed" || it.Status == "moved" {
				t.Errorf("%s of %s: %s, %s", it.Name, it.Stage, it.Status, it.Verdict)
			}
		}
	}},
	{name: "one kernel 20 % slower", prefill: "no change", decode: "worse", effect: 6. / 110,
		change: func(m *testdata.Trace) { decode(m, flash).Ns *= 1.2 }, check: func(t *testing.T, d diffed, s diffedStage) {
			it := d.item(t, "decode", flash)
			if it.Verdict != "worse" || it.Delta.Count != 0 || !nearly(it.Delta.Duration, madeSteps*2*3_000, 0.2) || !strings.Contains(s.Words, "flash attention fwd kernels +") {
				t.Errorf("%+v %+v: %s", it, *it.Delta, s.Words)
			}
			if it := d.item(t, "decode", gemm); it.Verdict != "cannot tell" { // processes differ by as much
				t.Errorf("%s is %s", it.Name, it.Verdict)
			}
		}},
	{name: "two kernels fused into one", prefill: "no change", decode: "better", effect: -12. / 110, change: func(m *testdata.Trace) {
		k := decode(m, softmax)
		k.Name, k.Ns = "triton_per_fused__softmax_mul_0", 8_000
		m.Stages[1].Kernels = slices.Delete(m.Stages[1].Kernels, 3, 4)
	}, check: func(t *testing.T, d diffed, s diffedStage) {
		it := d.item(t, "decode", "triton_per_fused__softmax_mul_0")
		if it.Status != "moved" || it.How != "fused" || !strings.Contains(it.Partner, softmax) || !strings.Contains(it.Partner, scale) || it.Delta.New != it.Delta.Ns {
			t.Errorf("%+v %+v: %s", it, *it.Delta, s.Words)
		}
		for _, name := range []string{softmax, scale} {
			if it := d.item(t, "decode", name); it.Status != "moved" || it.Delta.Removed != it.Delta.Ns || it.Delta.Ns >= 0 {
				t.Errorf("%+v %+v", it, *it.Delta)
			}
		}
	}},
	{name: "a kernel renamed", prefill: "no change", decode: "no change", change: func(m *testdata.Trace) { decode(m, norm).Name = "rms_norm_kernel_v2" },
		check: func(t *testing.T, d diffed, _ diffedStage) {
			if it := d.item(t, "decode", "rms_norm_kernel_v2"); it.Status != "moved" || it.How != "renamed" || it.Partner != norm {
				t.Errorf("%+v", it)
			}
			if it := d.item(t, "prefill", norm); it.Status != "both" {
				t.Errorf("%+v", it)
			}
		}},
	{name: "twice the tokens", made: 2 * madeSteps, prefill: "no change", decode: "no change", change: func(m *testdata.Trace) { m.Stages[1].Steps *= 2 },
		check: func(t *testing.T, d diffed, s diffedStage) {
			if it := d.item(t, "decode", flash); s.Unit != "token" || it.A.Calls*2 != it.B.Calls || !nearly(it.A.PerUnit, 2*15_000, 0.05) || !nearly(it.B.PerUnit, 2*15_000, 0.05) {
				t.Errorf("for a %s: %+v", s.Unit, it)
			}
			d.differ(t, "decoded tokens", "per token")
		}},
	{name: "half the clock", prefill: "worse", decode: "worse", effect: 1, change: func(m *testdata.Trace) { m.Clock = 0.5 },
		check: func(t *testing.T, d diffed, s diffedStage) {
			if !strings.Contains(s.Expected, "half the clock") {
				t.Errorf("expected is %q", s.Expected)
			}
			d.differ(t, "SM clock", "half the SM clock")
		}},
	{name: "one extra launch a step", prefill: "no change", decode: "worse", effect: 6. / 110, change: func(m *testdata.Trace) { decode(m, scale).Count++ },
		check: func(t *testing.T, d diffed, s diffedStage) {
			it := d.item(t, "decode", scale)
			if it.B.Calls-it.A.Calls != madePasses*madeSteps || !nearly(it.Delta.Count, madeSteps*6_000, 0.03) || math.Abs(float64(it.Delta.Duration)) > madeSteps*600 {
				t.Errorf("%+v %+v: %s", it, *it.Delta, s.Words)
			}
		}},
	{name: "noise alone, three passes", prefill: "no change", decode: "no change", change: func(m *testdata.Trace) { m.Passes = 3 }},
}

func nearly(got int64, want, share float64) bool {
	return math.Abs(float64(got)-want) <= share*math.Abs(want)
}

// differ holds that a difference is told, and what it means.
func (d diffed) differ(t *testing.T, aspect, effect string) {
	t.Helper()
	for _, x := range d.Differences {
		if x.Aspect == aspect && strings.Contains(x.Effect, effect) {
			return
		}
	}
	t.Errorf("no difference %q that means %q in %+v", aspect, effect, d.Differences)
}

// madeRun is the run of a made trace, whose passes make so many tokens each, as prof capture would capture it.
func madeRun(run string, m testdata.Trace, tokens int) testkit.Run {
	m.Stages = slices.Clone(m.Stages) // who gave it goes on to change it
	for i, s := range m.Stages {
		m.Stages[i].Kernels = slices.Clone(s.Kernels)
	}
	return testkit.Run{Name: run, Key: fmt.Sprintf("%+v %d", m, tokens), Sources: []string{"testdata/made.go", "testdata/made_files.go"}, Make: func(dir string) ([]string, error) {
		for name, text := range m.Files(64, tokens) {
			path := filepath.Join(dir, run, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				return nil, err
			}
		}
		return []string{filepath.Join(dir, run)}, nil
	}}
}

// TestDiffTruth compares captures that differ by one thing that is known, beside noise.
func TestDiffTruth(t *testing.T) {
	t.Parallel()
	runs := []testkit.Run{madeRun("base", madeTrace(1), madeSteps)}
	for i, c := range truths {
		m := madeTrace(uint64(i + 2))
		if c.change != nil {
			c.change(&m)
		}
		runs = append(runs, madeRun(strings.ReplaceAll(c.name, " ", "-"), m, cmp.Or(c.made, madeSteps)))
	}
	base := reading(t, runs)
	for _, c := range truths {
		t.Run(c.name, func(t *testing.T) {
			p := base.of(t)
			d := p.diff("base", strings.ReplaceAll(c.name, " ", "-"))
			d.reconciles(t)
			s := d.stage(t, "decode")
			if got := d.stage(t, "prefill").Verdict; got != c.prefill || s.Verdict != c.decode {
				t.Errorf("prefill: %s, decode: %s; want %s and %s: %s", got, s.Verdict, c.prefill, c.decode, s.Words)
			}
			if math.Abs(s.Comparison.Effect-c.effect) > 0.02*(1+math.Abs(c.effect)) {
				t.Errorf("decode changes by %v, want %v", s.Comparison.Effect, c.effect)
			}
			if c.check != nil {
				c.check(t, d, s)
			}
		})
	}
}
