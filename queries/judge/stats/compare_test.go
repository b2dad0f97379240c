package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		a, b    []float64
		noise   *Noise
		method  string
		verdict Verdict
		why     string
	}{
		{"clear", []float64{100, 101, 99}, []float64{120, 121, 119}, nil, MethodWelch, Changed, "differs by 20 % (p = 2.2e-05, Welch's t, 3 and 3 samples)"},
		{"ranks", []float64{100, 101, 99, 102, 98}, []float64{80, 81, 79, 82, 78}, nil, MethodU, Changed, "differs by 20 % (p = 0.0079, Mann-Whitney U, 5 and 5 samples)"},
		{"a stall", []float64{617, 290, 290.1}, []float64{300, 301, 302}, nil, MethodWelch, CannotTell, "; between -86 % and a factor of 4.7; the samples differ too much to tell any change: compare more repeats"},
		{"wild", []float64{1, 2, 3}, []float64{4, 5, 6}, nil, MethodWelch, CannotTell, "compare more repeats or runs"},
		{"likely", []float64{100, 106, 94}, []float64{121, 127, 115}, nil, MethodWelch, CannotTell, "likely, but not sure: p must be at most 0.01; between +"},
		{"sure but small", []float64{1000, 1000.1, 999.9}, []float64{1004, 1004.1, 1003.9}, nil, MethodWelch, NoChange, "differs by 0.4 % (p = 1e-06, Welch's t, 3 and 3 samples), below the threshold of 1 %"},
		{"near", []float64{100, 101, 99}, []float64{100.2, 100.9, 99.3}, nil, MethodWelch, NoChange, "; between -2.7 % and +3 %, within the margin of 5 %"},
		{"near, but runs vary", []float64{100, 101, 99}, []float64{100.2, 100.9, 99.3}, &Noise{Floor: 0.3, SD: 0.05, DF: 4}, MethodProcess, CannotTell, "cannot be told from noise: capture each side with prof capture --repeats 3"},
		{"near, and processes may vary", []float64{100, 101, 99}, []float64{100.2, 100.9, 99.3}, &Noise{SD: 0.005, DF: 72, From: "test machines"}, MethodProcess, NoChange, "within the margin of 5 %"},
		{"near, but processes may vary by any", []float64{100, 101, 99}, []float64{100.2, 100.9, 99.3}, &Noise{SD: 0.05, DF: 72, From: "test machines"}, MethodProcess, CannotTell, "is assumed (test machines): capture each side with prof capture --repeats 3"},
		{"the same, as wild as it is", []float64{617, 290, 290.1}, []float64{290, 290.1, 617}, nil, MethodWelch, NoChange, "both sides have the same values"},
		{"equal", []float64{7, 7}, []float64{7, 7, 7}, nil, MethodExact, NoChange, "all values are equal"},
		{"equal single", []float64{7}, []float64{7}, nil, MethodExact, NoChange, "all values are equal"},
		{"counts", []float64{3, 3}, []float64{4, 4}, nil, MethodExact, Changed, "differs by 33 % (no spread in 2 and 2 samples)"},
		{"one a side", []float64{100}, []float64{150}, nil, "", CannotTell, "one sample per side gives no spread"},
		{"one stall", []float64{617}, []float64{290, 290.1}, nil, "", CannotTell, "may be a stall"},
		{"one near", []float64{292}, []float64{290, 290.1}, nil, "", CannotTell, "differs by 0.67 %, but one side has a single sample, which may be a stall"},
		{"assumed, beyond", []float64{100}, []float64{103}, AssumeNoise(0.02), MethodFloor, Changed, "differs by 3 % (noise: 2 %)"},
		{"assumed, within", []float64{100}, []float64{103}, AssumeNoise(0.04), MethodFloor, CannotTell, "within the assumed noise of 4 %; between -0.96 % and +7.1 %"},
		{"assumed, within the margin", []float64{100}, []float64{101}, AssumeNoise(0.03), MethodFloor, NoChange, "between -1.9 % and +4 %, within the margin of 5 %"},
		{"passes within assumed noise", []float64{100, 101, 99}, []float64{120, 121, 119}, AssumeNoise(0.3), MethodWelch, CannotTell, "assumed noise of 30 %"},
		{"sure within a process, processes may vary", []float64{100, 100.1, 99.9, 100, 100.1}, []float64{104.5, 104.6, 104.4, 104.5, 104.7}, &Noise{SD: 0.19, DF: 72, From: "test machines"}, MethodProcess, CannotTell, "differs by 4.5 % (p = 0.8"},
		{"sure within a process, and beyond the margin", []float64{100, 100.1, 99.9, 100, 100.1}, []float64{104.5, 104.6, 104.4, 104.5, 104.7}, &Noise{SD: 0.005, DF: 72, From: "test machines"}, MethodProcess, Changed, "differs by 4.5 % (p = "},
		{"passes within learned noise", []float64{100, 101, 99}, []float64{120, 121, 119}, &Noise{Floor: 0.3, SD: 0.05, DF: 4}, MethodProcess, CannotTell, "cannot be told from noise: capture each side with prof capture --repeats 4"},
		{"zeros, and processes may vary", []float64{0, 100, 101, 99}, []float64{100, 100.9, 99.3, 100}, &Noise{SD: 0.19, DF: 72, From: "test machines"}, MethodWelch, CannotTell, "is assumed (test machines): capture each side with prof capture --repeats 3"},
		{"learned, beyond", []float64{100}, []float64{150}, &Noise{Floor: 0.07, SD: 0.01, DF: 4}, MethodFloor, Changed, "noise floor, 1 and 1 samples"},
		{"no sample", nil, []float64{1}, nil, "", CannotTell, "side A has no samples"},
		{"no samples", nil, nil, nil, "", CannotTell, "neither side has samples"},
		{"NaN", []float64{1, 2, 3}, []float64{1, nan, 2}, nil, "", CannotTell, "sample 2 of side B is NaN"},
		{"infinite", []float64{1, inf}, []float64{1}, nil, "", CannotTell, "sample 2 of side A is +Inf"},
		{"negative", []float64{-1}, []float64{1}, nil, "", CannotTell, "sample 1 of side A is -1"},
		{"zeros", []float64{0, 0}, []float64{0, 0}, nil, MethodExact, NoChange, "all values are equal"},
		{"up from 0", []float64{0, 0, 0}, []float64{5, 5, 5}, nil, MethodExact, Changed, "up from 0"},
		{"maybe from nothing", []float64{0, 0, 0}, []float64{1, 2, 90}, nil, MethodWelch, CannotTell, "up from 0 (p = "},
		{"to nothing", []float64{5, 5, 5}, []float64{0, 0, 0}, nil, MethodExact, Changed, "differs by 100 %"},
		{"mostly nothing", []float64{0, 0, 0}, []float64{0, 0, 1}, nil, MethodWelch, CannotTell, "most values of both sides are 0"},
	} {
		o := DefaultOptions()
		o.Noise = c.noise
		got := Compare(c.a, c.b, o)
		if got.Method != c.method || got.Verdict != c.verdict || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %q, %s: %s; want %q, %s: %s", c.name, got.Method, got.Verdict, got.Why, c.method, c.verdict, c.why)
		}
		if (got.P == nil) != (c.method == "" || c.method == MethodFloor && c.noise.Assumed) {
			t.Errorf("%s: P is %v by %q", c.name, got.P, c.method)
		}
	}
}

func TestCompareRuns(t *testing.T) {
	learned := &Noise{Floor: 0.05, SD: 0.01, DF: 10}
	for _, c := range []struct {
		name    string
		a, b    []float64
		noise   *Noise
		method  string
		verdict Verdict
	}{
		{"one against several", []float64{120}, []float64{100, 101, 99, 100}, nil, MethodStudent, Changed},
		{"one against two", []float64{120}, []float64{100, 101}, nil, MethodStudent, CannotTell},
		{"one against two, noise known", []float64{120}, []float64{100, 101}, learned, MethodStudent, Changed},
		{"two against two, noise known", []float64{105, 106}, []float64{100, 101}, learned, MethodStudent, Changed},
		{"two against two", []float64{105, 106}, []float64{100, 101}, nil, MethodWelch, CannotTell},
		{"one against one, noise known", []float64{110}, []float64{100}, learned, MethodFloor, Changed},
		{"one against one", []float64{110}, []float64{100}, nil, "", CannotTell},
		{"floor is for passes", []float64{104, 104.1, 104, 104.1, 104}, []float64{100, 100.1, 100, 100.1, 100}, learned, MethodStudent, Changed},
		{"unless it is assumed", []float64{104, 104.1, 104, 104.1, 104}, []float64{100, 100.1, 100, 100.1, 100}, AssumeNoise(0.05), MethodU, CannotTell},
		{"one against several that are identical, noise of elsewhere", []float64{120}, []float64{100, 100, 100}, &Noise{SD: 0.01, DF: 72, From: "test machines"}, "", CannotTell},
		{"several against several, calmer than elsewhere", []float64{103, 103.1, 103}, []float64{100, 100.1, 100}, &Noise{SD: 0.19, DF: 72, From: "test machines"}, MethodWelch, Changed},
		{"one against three that agree", []float64{101}, []float64{100, 100.5, 101}, nil, MethodStudent, NoChange},
		{"one against three that do not", []float64{101}, []float64{100, 140, 75}, nil, MethodStudent, CannotTell},
	} {
		o := DefaultOptions()
		o.Noise = c.noise
		if got := CompareRuns(c.a, c.b, o); got.Method != c.method || got.Verdict != c.verdict {
			t.Errorf("%s: %q, %s: %s; want %q, %s", c.name, got.Method, got.Verdict, got.Why, c.method, c.verdict)
		}
	}
}

// TestComparisons: a rank test of five and five that will be adjusted with another can never be sure at 1 %, a t-test can.
func TestComparisons(t *testing.T) {
	a, b := []float64{100, 101, 99, 102, 98}, []float64{120, 121, 119, 122, 118}
	o := DefaultOptions()
	one := Compare(a, b, o)
	o.Comparisons = 2
	two := Compare(a, b, o)
	if one.Method != MethodU || two.Method != MethodWelch {
		t.Fatalf("methods are %q and %q", one.Method, two.Method)
	}
	adjusted := Holm([]*float64{one.P, one.P, nil})
	if got := Judge(one, adjusted[0], o); got.Verdict != CannotTell || !strings.Contains(got.Why, "p = 0.016") {
		t.Errorf("five and five by ranks, twice: %s: %s", got.Verdict, got.Why)
	}
	if got := Judge(two, Holm([]*float64{two.P, one.P})[0], o); got.Verdict != Changed {
		t.Errorf("five and five by t, twice: %s: %s", got.Verdict, got.Why)
	}
}

// TestHolm compares with R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
func TestHolm(t *testing.T) {
	got := Holm([]*float64{new(0.01), new(0.04), nil, new(0.03), new(0.005)})
	for i, want := range []float64{0.03, 0.06, -1, 0.06, 0.02} {
		if want < 0 {
			if got[i] != nil {
				t.Errorf("%d: %v for none", i, *got[i])
			}
			continue
		}
		near(t, "adjusted p", *got[i], want, 1e-12)
	}
	if got := Holm([]*float64{new(0.7), new(0.8)}); *got[0] != 1 || *got[1] != 1 {
		t.Errorf("%v, %v is more than certain", *got[0], *got[1])
	}
}

// TestProperties: swapped sides mirror a comparison, and units do not matter.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	same := func(what string, x, y *float64) {
		t.Helper()
		if (x == nil) != (y == nil) || x != nil && math.Abs(*x-*y) > 1e-7*math.Abs(*x)+1e-12 {
			t.Fatalf("%s: %v and %v", what, show(x), show(y))
		}
	}
	for i := range 400 {
		noise := noises[i%len(noises)].draw
		a, b := draws(r, 1+r.IntN(8), noise), draws(r, 1+r.IntN(8), noise)
		shift := math.Exp(0.1 * r.NormFloat64())
		b = each(b, func(v float64) float64 { return v * shift })
		o := DefaultOptions()
		o.Noise = []*Noise{nil, AssumeNoise(0.03), {Floor: 0.04, SD: 0.01, DF: 6}}[i%3]
		compare := []func(a, b []float64, o Options) Comparison{Compare, CompareRuns}[i%2]
		c, back := compare(a, b, o), compare(b, a, o)
		same("P of swapped sides", c.P, back.P)
		same("Smallest of swapped sides", c.Smallest, back.Smallest)
		same("interval of swapped sides", c.LoA, back.LoB)
		if c.Verdict != back.Verdict || c.Method != back.Method || math.Abs((1+*c.Effect)*(1+*back.Effect)-1) > 1e-12 {
			t.Fatalf("%v %v: %+v and back %+v", a, b, c, back)
		}
		scale := func(v float64) float64 { return v * 1e6 }
		large := compare(each(a, scale), each(b, scale), o)
		same("P in other units", c.P, large.P)
		same("effect in other units", c.Effect, large.Effect)
		if c.Verdict != large.Verdict {
			t.Fatalf("%v %v: %s, but %s in other units", a, b, c.Verdict, large.Verdict)
		}
		if c.LoA != nil && !(*c.LoA <= c.A && c.A <= *c.HiA) {
			t.Fatalf("%v: centre %v outside [%v, %v]", a, c.A, *c.LoA, *c.HiA)
		}
	}
}

// TestAssumeLess: to assume noise hides no change beyond it that would be seen without, and to assume less never hides more.
func TestAssumeLess(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	known := []*Noise{nil, {SD: 0.19, DF: 72, From: "elsewhere"}, {SD: 0.005, DF: 72, PassSD: 0.003, PassDF: 72, From: "elsewhere"}, {Floor: 0.04, SD: 0.01, DF: 6}, {DF: 4}}
	for i := range 1500 {
		noise := noises[i%len(noises)].draw
		a, b := draws(r, 1+r.IntN(7), noise), draws(r, 1+r.IntN(7), noise)
		n := known[r.IntN(len(known))]
		name, compare := "passes", Compare
		if i%2 == 1 {
			name, compare = "runs", CompareRuns
		}
		o := DefaultOptions()
		o.Comparisons = 1 + r.IntN(5)
		o.Noise = n
		base := compare(a, b, o)
		var last *float64
		for _, ratio := range []float64{0, 0.001, 0.01, 0.05, 0.3, 2} {
			o.Noise = AssumeNoise(ratio).Over(n)
			c := compare(a, b, o)
			if base.Smallest != nil && (c.Smallest == nil || *c.Smallest > math.Max(*base.Smallest, ratio)*(1+1e-9)) {
				t.Fatalf("%s %v %v, %+v: with %v assumed changes below %v cannot be told, without below %v", name, a, b, n, ratio, show(c.Smallest), *base.Smallest)
			}
			if last != nil && (c.Smallest == nil || *c.Smallest < *last) {
				t.Fatalf("%s %v %v, %+v: with %v assumed %v, with less %v", name, a, b, n, ratio, show(c.Smallest), *last)
			}
			last = c.Smallest
			if c.NoiseFrom != "" || c.Verdict == Changed && math.Abs(math.Log1p(*c.Effect)) < math.Log1p(ratio) {
				t.Fatalf("%s %v %v, %+v: with %v assumed %+v", name, a, b, n, ratio, c)
			}
		}
	}
}

func show(p *float64) any {
	if p == nil {
		return "none"
	}
	return *p
}

// TestNoise counts by hand: logarithms 0, 1, 2 have squares 2, logarithms 5, 6 have 0.5, on three degrees of freedom.
func TestNoise(t *testing.T) {
	group := func(logs ...float64) []float64 { return each(logs, math.Exp) }
	n := LearnNoise([][]float64{group(0, 1, 2), group(5, 6), group(9), {0, math.NaN(), -1}, nil}, 0.05)
	near(t, "SD", n.SD, math.Sqrt(2.5/3), 1e-12)
	near(t, "floor", n.Floor, math.Expm1(3.182446*math.Sqrt(2.5/3)*math.Sqrt2), 1e-5)
	if n.DF != 3 || n.Assumed {
		t.Errorf("%+v", n)
	}
	if n := LearnNoise([][]float64{{1}, {2}}, 0.05); n != nil {
		t.Errorf("single runs tell noise: %+v", n)
	}
	for _, ratio := range []float64{-0.1, math.NaN(), math.Inf(1)} {
		if n := AssumeNoise(ratio); n != nil {
			t.Errorf("noise of %v: %+v", ratio, n)
		}
	}
}

// TestProcesses holds that as many processes as are advised find the change in about nine of ten cases, and that none are advised for what no reasonable
// number tells.
func TestProcesses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	o := DefaultOptions()
	for _, c := range []struct{ sd, effect float64 }{{0.02, 0.1}, {0.05, 0.1}, {0.1, 0.2}, {0.19, 0.5}, {0.19, -0.4}} {
		n := Comparison{Effect: &c.effect, processSD: c.sd}.Processes(o)
		found := 0
		for range 400 {
			side := func(scale float64) (out []float64) {
				for range n {
					out = append(out, scale*math.Exp(c.sd*random.NormFloat64()))
				}
				return out
			}
			if got := CompareRuns(side(1), side(1+c.effect), o); got.Verdict == Changed {
				found++
			}
		}
		if n < FewProcesses || n > mostProcesses || found < 320 {
			t.Errorf("%+v: %d processes find it in %d of 400", c, n, found)
		}
	}
	for _, c := range []Comparison{{}, {Effect: new(0.01), processSD: 0.19}, {Effect: new(0.1)}, {Effect: new(0.0), processSD: 0.1}, {Effect: new(-1.0), processSD: 0.1}} {
		if n := c.Processes(o); n != 0 {
			t.Errorf("%+v: %d processes", c, n)
		}
	}
}
