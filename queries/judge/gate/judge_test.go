package gate

import (
	"math"
	"strings"
	"testing"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
)

func rule(t *testing.T, text string) Rule {
	t.Helper()
	rules, err := Parse("f", text)
	if err != nil || len(rules) != 1 {
		t.Fatalf("%s: %v, %v", text, rules, err)
	}
	return rules[0]
}

// judged judges a relative rule by samples.
func judged(t *testing.T, text string, a, b []float64, o stats.Options) Check {
	t.Helper()
	c := Check{Rule: rule(t, text), Level: "passes"}
	c.Unit = c.Rule.Unit
	o.Exact = c.Unit == Count
	c.setComparison(stats.Compare(a, b, o))
	c.judgeChange(c.Comparison.P, o)
	said.Add(c.Reason)
	return c
}

var (
	calm    = []float64{1000, 1001, 999, 1002, 998}
	slower4 = []float64{1040, 1041, 1039, 1042, 1038}
	slower2 = []float64{1020, 1021, 1019, 1022, 1018}
	faster  = []float64{900, 901, 899, 902, 898}
	wild    = []float64{1000, 1400, 700, 1900, 1200}
	zero    = []float64{0, 0, 0}
	even    = []float64{100, 100, 100}
	even101 = []float64{101, 101, 101}
)

// TestJudgeChange holds what a relative rule comes to: by how large the change is, how sure, and what could have shown.
func TestJudgeChange(t *testing.T) {
	const span = "stage.decode.gpu_span_ns <= "
	assumed := stats.DefaultOptions()
	assumed.Noise = stats.AssumeNoise(0.05)
	learned := stats.DefaultOptions()
	learned.Noise = stats.LearnNoise([][]float64{{100, 104, 97, 102}, {50, 51.5, 49}}, stats.DefaultAlpha)
	unknown := stats.DefaultOptions()
	unknown.Noise = &stats.Noise{SD: 0.06, DF: 72, From: "test machines"}
	boundless := stats.DefaultOptions()
	boundless.Noise = &stats.Noise{SD: 0.53, DF: 2, From: "test machines"}
	for name, c := range map[string]struct {
		rule string
		a, b []float64
		o    stats.Options
		want Outcome
		says string
	}{
		"beyond and sure":                  {span + "+3%", calm, slower4, stats.DefaultOptions(), Broken, "+4 % (p = "},
		"within and sure":                  {span + "+3%", calm, slower2, stats.DefaultOptions(), Holds, "+2 % (p = "},
		"better":                           {span + "+3%", calm, faster, stats.DefaultOptions(), Holds, "-10 % (p = "},
		"nothing":                          {span + "+3%", calm, calm, stats.DefaultOptions(), Holds, "no difference"},
		"no slack at all":                  {span + "+0%", calm, []float64{1006, 1007, 1005, 1008, 1004}, stats.DefaultOptions(), Broken, "+0.6 %"},
		"looks beyond, may be noise":       {span + "+3%", calm, wild, stats.DefaultOptions(), CannotTell, "is beyond the limit, but may be noise: changes below 65 % cannot be told from noise. Compare more repeats or runs"},
		"within, but blind":                {span + "+3%", wild, []float64{1210, 1000, 1390, 720, 1900}, stats.DefaultOptions(), CannotTell, "; between -49 % and +99 %: changes below a factor of 2.7 cannot be told from noise. Compare more repeats or runs"},
		"within, blind by a factor of 8":   {span + "+40%", wild, []float64{1210, 1000, 1390, 720, 1900}, stats.DefaultOptions(), CannotTell, "; between -49 % and +99 %"},
		"as wild, and more is allowed":     {span + "+100%", wild, []float64{1210, 1000, 1390, 720, 1900}, stats.DefaultOptions(), Holds, "+0.83 % (p = 0.98"},
		"no slack, and not blind for that": {span + "+0%", wild, wild, stats.DefaultOptions(), Holds, "no difference"},
		"blind, but surely better":         {span + "+0.5%", calm, []float64{500, 620, 450, 560, 610}, stats.DefaultOptions(), Holds, "-44 % (p = 0.0079"},
		"noise of processes not known":     {span + "+3%", calm, slower4, unknown, CannotTell, "is beyond the limit, but may be noise: with one process a side, run-to-run noise of up to 25 % is assumed (test machines). Capture again with --repeats 3, or pass --assume-noise 3%"},
		"noise above any change":           {span + "+3%", calm, slower4, boundless, CannotTell, "run-to-run noise of more than any change worth a figure is assumed (test machines)"},
		"blind for that alone":             {span + "+2%", calm, calm[:4], unknown, CannotTell, "; between -18 % and +22 %: with one process a side, run-to-run noise of up to 25 % is assumed"},
		"beyond what is allowed for":       {span + "+3%", calm, []float64{1400, 1401, 1399, 1402, 1398}, unknown, Broken, "+40 %"},
		"blind by assumed noise":           {span + "+5%", calm, calm[:4], assumed, CannotTell, "; between -4.7 % and +5.1 %, since identical runs differ by up to 5 %"},
		"within assumed noise and limit":   {span + "+6%", calm, calm[:4], assumed, Holds, "+0.05 % (p = 0.63"},
		"within, and half blind":           {span + "+3%", []float64{1000, 1030, 960, 1040}, []float64{1010, 970, 1035, 1000}, stats.DefaultOptions(), CannotTell, "; between -7.3 % and +7.1 %"},
		"within, and half blind downwards": {"stage.decode.tokens_per_s >= -2%", wild, []float64{1210, 1000, 1390, 720, 1900}, stats.DefaultOptions(), CannotTell, "; between -49 % and +99 %"},
		"one sample a side":                {span + "+3%", calm[:1], slower4[:1], stats.DefaultOptions(), CannotTell, "+4 % from one sample per side, which gives no spread; capture with --repeats"},
		"one on a side, though good":       {span + "+3%", calm, faster[:1], stats.DefaultOptions(), CannotTell, "-10 % from one sample on one side, which may be a single stall; capture with --repeats, or give the noise between identical runs with --assume-noise"},
		"one each, noise assumed":          {span + "+3%", calm[:1], slower4[:1], assumed, CannotTell, "+4 % (noise: 5 %) is beyond the limit, but may be noise"},
		"one each, beyond assumed":         {span + "+3%", calm[:1], []float64{1200}, assumed, Broken, "+20 % (noise: 5 %)"},
		"sure, but within the noise":       {span + "+3%", calm, slower4, learned, CannotTell, "+4 % (p = 0.37, 5 and 5 passes) is beyond the limit, but may be noise: changes below 17 % cannot be told from noise"},
		"sure, and beyond it":              {span + "+3%", calm, []float64{1400, 1401, 1399, 1402, 1398}, learned, Broken, "+40 %"},
		"difference beyond":                {span + "+30ns", calm, slower4, stats.DefaultOptions(), Broken, "+4 %"},
		"difference within":                {span + "+50ns", calm, slower4, stats.DefaultOptions(), Holds, "+4 %"},
		"fewer tokens a second":            {"stage.decode.tokens_per_s >= -2%", slower4, calm, stats.DefaultOptions(), Broken, "-3.8 %"},
		"more of them":                     {"stage.decode.tokens_per_s >= -2%", calm, slower4, stats.DefaultOptions(), Holds, "+4 %"},
		"one launch more":                  {"stage.decode.launches <= +0", even, even101, stats.DefaultOptions(), Broken, "+1 % (no spread in 3 and 3 passes)"},
		"one launch more is allowed":       {"stage.decode.launches <= +1", even, even101, stats.DefaultOptions(), Holds, "+1 %"},
		"as many launches, a few allowed":  {"stage.decode.launches <= +5%", even[:1], even[:1], stats.DefaultOptions(), Holds, "no difference (no spread in 1 and 1 passes)"},
		"as many launches":                 {"stage.decode.launches <= +0", even[:1], even[:1], stats.DefaultOptions(), Holds, "no difference (no spread in 1 and 1 passes)"},
		"up from 0":                        {"stage.decode.launches <= +0", zero, even, stats.DefaultOptions(), Broken, "up from 0"},
		"from nothing, by percentage":      {"stage.decode.launches <= +5%", zero, even, stats.DefaultOptions(), Broken, "up from 0"},
		"from nothing, allowed":            {"stage.decode.launches <= +200", zero, even, stats.DefaultOptions(), Holds, "up from 0"},
		"nothing on both sides":            {"stage.decode.launches <= +0", zero, zero, stats.DefaultOptions(), Holds, "no difference"},
	} {
		got := judged(t, c.rule, c.a, c.b, c.o)
		if got.Outcome != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Outcome, got.Reason, c.want, c.says)
		}
	}
}

// TestJudgeChangeLimit: the limit as a value, by which a reader sees how far off the figure is.
func TestJudgeChangeLimit(t *testing.T) {
	for text, want := range map[string]float64{"stage.x.gpu_span_ns <= +3%": 1030, "stage.x.gpu_span_ns <= +1us": 2000, "stage.x.tokens_per_s >= -2%": 980} {
		c := judged(t, text, calm, slower4, stats.DefaultOptions())
		if math.Abs(*c.Limit-want) > 1e-9 || *c.Baseline != 1000 || *c.Value != 1040 || math.Abs(*c.Effect-0.04) > 1e-12 {
			t.Errorf("%s: limit %v of %v and %v, %v", text, *c.Limit, *c.Baseline, *c.Value, *c.Effect)
		}
	}
}

// TestJudgeValue holds absolute rules, the limit itself included.
func TestJudgeValue(t *testing.T) {
	for _, c := range []struct {
		rule  string
		value float64
		want  Outcome
		says  string
	}{
		{"stage.x.gpu_span_ns <= 60ms", 60e6, Holds, ""},
		{"stage.x.gpu_span_ns <= 60ms", 66e6, Broken, "10 % above the limit"},
		{"mfu.prefill >= 0.35", 0.35, Holds, ""},
		{"mfu.prefill >= 0.35", 0.28, Broken, "20 % below the limit"},
		{"new_kernels <= 0", 2, Broken, "above the limit"},
		{"overhead <= 25%", -0.03, Holds, ""}, // passes under the profiler were faster
	} {
		got := Check{Rule: rule(t, c.rule), Unit: rule(t, c.rule).Unit, Value: &c.value}
		got.judgeValue()
		said.Add(got.Reason)
		if got.Outcome != c.want || got.Reason != c.says {
			t.Errorf("%s with %v: %s, %q", c.rule, c.value, got.Outcome, got.Reason)
		}
	}
	for text, want := range map[string]Outcome{"mfu.prefill >= 0.35": CannotTell, "mfu.prefill >= 0.2": Holds, "mfu.prefill <= 0.35": CannotTell, "mfu.prefill <= 0.28": CannotTell, "mfu.prefill <= 0.2": Broken} {
		got := Check{Rule: rule(t, text), Value: new(0.28), isLeast: true}
		got.judgeValue()
		said.Add(got.Reason)
		if got.Outcome != want {
			t.Errorf("%s with at least 0.28: %s, %q", text, got.Outcome, got.Reason)
		}
	}
	unknown := Check{Rule: rule(t, "mfu.prefill >= 0.35"), Reason: "the run has no model"}
	unknown.judgeValue()
	if unknown.Outcome != CannotTell || unknown.Reason != "the run has no model" {
		t.Errorf("of a value that is not known: %+v", unknown)
	}
}

// TestNoiseBreaksNothing: with the same noise on both sides at most the stated part of gates is broken, and fewer than that for a limit
// beyond the noise. The bound is 1 % of 2,000 and three standard deviations.
func TestNoiseBreaksNothing(t *testing.T) {
	for _, n := range []int{3, 5, 10} {
		broken := 0
		for seed := range 2000 {
			if judged(t, "stage.x.gpu_span_ns <= +0%", noisy(seed, n), noisy(seed+100000, n), stats.DefaultOptions()).Outcome == Broken {
				broken++
			}
		}
		if broken > 20+3*5 {
			t.Errorf("with %d samples a side noise broke %d rules of 2000", n, broken)
		}
		t.Logf("%d samples a side: %d of 2000 broken", n, broken)
	}
}

// noisy returns values with noise of 2 %, the same for the same seed.
func noisy(seed, n int) []float64 {
	x := uint64(seed)*0x9E3779B97F4A7C15 + 1
	out := make([]float64, n)
	for i := range out {
		sum := 0.0
		for range 12 { // a sum of twelve uniform numbers is close to normal
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			sum += float64(x>>11) / (1 << 53)
		}
		out[i] = 1000 * math.Exp(0.02*(sum-6))
	}
	return out
}

// TestOutcome: broken goes before what cannot be told, and both are told in words.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		checks []Outcome
		want   Outcome
		words  string
	}{
		{[]Outcome{Holds}, Holds, "passed: 1 of 1 rules hold against r7 (baseline:main)"},
		{[]Outcome{Holds, CannotTell}, CannotTell, "cannot tell: 1 of 2 rules against r7 (baseline:main); none broken"},
		{[]Outcome{CannotTell, Broken, Holds}, Broken, "regression: 1 of 3 rules broken, 1 cannot be told against r7 (baseline:main)"},
		{[]Outcome{Broken, Broken}, Broken, "regression: 2 of 2 rules broken against r7 (baseline:main)"},
	} {
		r := Result{Baseline: &diff.Side{Label: "baseline:main"}}
		r.Baseline.Runs = append(r.Baseline.Runs, diff.Run{Name: "r7"})
		for _, o := range c.checks {
			r.Checks = append(r.Checks, Check{Outcome: o})
		}
		said.Add(r.words())
		if got := outcomeOf(r.Checks); got != c.want || r.words() != c.words {
			t.Errorf("%v: %s, %q", c.checks, got, r.words())
		}
	}
	r := Result{Baseline: &diff.Side{Label: "a"}, Checks: []Check{{Outcome: Holds}}, Differences: []conditions.Difference{{Aspect: "driver", Weight: conditions.Clouds}, {Aspect: "GPU", Weight: conditions.Decides}}}
	said.Add(r.words())
	if want := "passed: 1 of 1 rules hold against a; conditions differ: GPU"; r.words() != want {
		t.Errorf("on another GPU: %q", r.words())
	}
}
