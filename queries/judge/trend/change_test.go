package trend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"prof/queries/judge/stats"
)

// noisy is a trend of one stage with so many kernels over n runs, all of which vary by 1 % at random; step gives how much larger the stage
// and its kernels are in a run.
func noisy(random *rand.Rand, n, kernels int, step func(run int) float64) *Result {
	r := &Result{Options: Options{}.withDefaults()}
	s := Series{Stage: "decode", Latest: true}
	for i := range n {
		r.Runs = append(r.Runs, Run{ID: fmt.Sprint(i), Name: fmt.Sprint(i)})
		s.Points = append(s.Points, Point{Run: i, Value: new(1e6 * step(i) * (1 + 0.01*random.NormFloat64())), Passes: 3})
	}
	for k := range kernels {
		it := Item{Kind: "kernel", Name: fmt.Sprint("kernel ", k), Calls: make([]*float64, n)}
		for i := range n {
			it.Values = append(it.Values, new(1e5*step(i)*(1+0.01*random.NormFloat64())))
		}
		s.Items = append(s.Items, it)
	}
	r.Series = []Series{s}
	return r
}

// TestNoiseFindsNothing measures how often something is found in trends in which nothing changed. Alpha is 1 % for the stage and 1 % for
// its ten kernels together: 8 of 400 trends are expected at most, and more than 16 come with a chance below 1 %.
func TestNoiseFindsNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	const trends, most = 400, 16
	found := 0
	for range trends {
		r := noisy(random, 40, 10, func(int) float64 { return 1 })
		r.findChanges()
		for _, c := range r.Changes {
			if !c.Suspect {
				found++
				break
			}
		}
	}
	t.Logf("a change was found in %d of %d trends without one", found, trends)
	if found > most {
		t.Errorf("a change was found in %d of %d trends without one, more than %d", found, trends, most)
	}
}

// TestStepIsFound measures how often a step of 5 % at 1 % of noise is found at its run or beside it, with its kernels.
func TestStepIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 7))
	const trends, least = 100, 98
	found, kernels := 0, 0
	for range trends {
		r := noisy(random, 30, 2, func(run int) float64 {
			if run >= 12 {
				return 1.05
			}
			return 1
		})
		r.findChanges()
		for _, c := range r.Changes {
			if c.Item == nil && !c.Suspect && c.First >= 11 && c.First <= 13 && c.Verdict == Worse {
				found++
				kernels += len(c.Moved)
			}
		}
	}
	t.Logf("found in %d of %d trends, with %d of %d kernels", found, trends, kernels, 2*trends)
	if found < least || kernels < 2*least {
		t.Errorf("found in %d of %d trends, with %d of %d kernels", found, trends, kernels, 2*trends)
	}
}

// TestLevels holds that levels cut the points at sure changes, and that a gap is of the level around it.
func TestLevels(t *testing.T) {
	s := Series{}
	for i, v := range []float64{1, 1, 0, 1, 2, 2, 2} {
		p := Point{Run: i, Value: &v}
		if v == 0 {
			p.Value = nil
		}
		s.Points = append(s.Points, p)
	}
	s.setLevels([]stats.Change{{Index: 4}, {Index: 6, Suspect: true}})
	if got, want := fmt.Sprint(s.Levels), "[{0 3 1} {4 6 2}]"; got != want {
		t.Errorf("levels %s, want %s", got, want)
	}
	if s.levelAt(2) != 1.0 || s.levelAt(5) != 2.0 {
		t.Errorf("the levels at 2 and 5 are %v and %v", s.levelAt(2), s.levelAt(5))
	}
}

// TestChangeAcrossGap holds that the last run of the old level is one with a value.
func TestChangeAcrossGap(t *testing.T) {
	r := noisy(rand.New(rand.NewPCG(1, 2)), 20, 0, func(run int) float64 { return map[bool]float64{false: 1, true: 0.8}[run >= 10] })
	r.Series[0].Points[9].Value, r.Series[0].Points[8].Value = nil, nil
	r.findChanges()
	if len(r.Changes) != 1 || r.Changes[0].First != 10 || r.Changes[0].Last != 7 || r.Changes[0].Verdict != Better {
		t.Errorf("found %+v", r.Changes)
	}
}

// TestMetrics holds names, units and directions.
func TestMetrics(t *testing.T) {
	for text, want := range map[string]Metric{"mfu": MFU, "mbu_ratio": MBU, "gpu_span_ns": GPUSpan, "tokens_per_s": TokenRate, "tpot_p99": "tpot_p99_ns", "e2e_mean_ns": "e2e_mean_ns", "output_tokens_per_s": "output_tokens_per_s"} {
		if got, err := ParseMetric(text); err != nil || got != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"gpu_spn_ns", "tpot_p98", "tpot", "tpot_p99_ratio"} {
		if _, err := ParseMetric(text); err == nil {
			t.Errorf("%s is no metric, and was taken", text)
		}
	}
	for _, m := range ServingMetrics() {
		if rate := strings.HasSuffix(string(m), "_per_s"); !m.IsServing() || m.LessIsBetter() == rate {
			t.Errorf("the direction of %s is wrong", m)
		}
	}
	for _, m := range Metrics() {
		if m.IsServing() {
			t.Errorf("%s is taken for one of serving", m)
		}
	}
	if GPUSpan.Unit() != "ns" || MFU.Unit() != "ratio" || TokenRate.Unit() != "" || !CPU.LessIsBetter() || MFU.LessIsBetter() || TokenRate.LessIsBetter() {
		t.Error("units or directions are wrong")
	}
}
