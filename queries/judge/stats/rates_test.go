package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"prof/internal/sample"
)

// noises are how times of the same thing can vary: each draws one.
var noises = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal", func(r *rand.Rand) float64 { return 1000 * (1 + 0.01*r.NormFloat64()) }},
	{"lognormal", func(r *rand.Rand) float64 { return 1000 * math.Exp(0.2*r.NormFloat64()) }},
	{"stalls", func(r *rand.Rand) float64 { // one in ten takes twice as long
		v := 1000 * (1 + 0.01*r.NormFloat64())
		if r.IntN(10) == 0 {
			v *= 2
		}
		return v
	}},
	{"skewed", func(r *rand.Rand) float64 { return 1000 * (1 + 0.02*r.ExpFloat64()) }},
}

// rateCase is a kind of noise and how many samples are drawn of it.
type rateCase[N any] struct {
	noise int
	n     N
}

func cases[N, K any](kinds []K, counts ...N) (out []rateCase[N]) {
	for i := range kinds {
		for _, n := range counts {
			out = append(out, rateCase[N]{i, n})
		}
	}
	return out
}

func draws(r *rand.Rand, n int, draw func(*rand.Rand) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = draw(r)
	}
	return out
}

// atMost fails where a rate that was measured in so many tries is clearly above what it should be at most: by four standard deviations
// of the binomial distribution.
func atMost(t *testing.T, what string, hits, tries int, rate float64) {
	t.Helper()
	n := float64(tries)
	limit := n*rate + 4*math.Sqrt(n*rate*(1-rate))
	t.Logf("%s: %.2f %% of %d", what, 100*float64(hits)/n, tries)
	if float64(hits) > limit {
		t.Errorf("%s: %d of %d, more than %.1f", what, hits, tries, limit)
	}
}

// TestFalsePositives holds the error rate: two sides of the same noise are called different no more often than alpha. No effect is too
// small to count here, which flatters nothing.
func TestFalsePositives(t *testing.T) {
	const tries = 2000
	for _, c := range sample.Of(cases(noises, [2]int{3, 3}, [2]int{3, 10}, [2]int{5, 5}, [2]int{10, 10}), 3) {
		i, n, noise := c.noise, c.n, noises[c.noise]
		r := rand.New(rand.NewPCG(uint64(i), uint64(100*n[0]+n[1])))
		passes, runs, any := 0, 0, 0
		for range tries {
			o := Options{Alpha: 0.01}
			a, b := draws(r, n[0], noise.draw), draws(r, n[1], noise.draw)
			if Compare(a, b, o).Verdict == Changed {
				passes++
			}
			if CompareRuns(a, b, o).Verdict == Changed {
				runs++
			}
			if anyOfThree(r, a, b, n, noise.draw, o) {
				any++
			}
		}
		what := fmt.Sprintf("%s, %d and %d", noise.name, n[0], n[1])
		atMost(t, what+", passes", passes, tries, 0.01)
		atMost(t, what+", runs", runs, tries, 0.01)
		atMost(t, what+", any of three stages", any, tries, 0.01)
	}
}

// anyOfThree reports whether a comparison of three stages calls any of them changed: a and b, and two more of the same noise.
func anyOfThree(r *rand.Rand, a, b []float64, n [2]int, draw func(*rand.Rand) float64, o Options) bool {
	o.Comparisons = 3
	var cs []Comparison
	var ps []*float64
	for stage := range 3 {
		if stage > 0 {
			a, b = draws(r, n[0], draw), draws(r, n[1], draw)
		}
		c := Compare(a, b, o)
		cs, ps = append(cs, c), append(ps, c.P)
	}
	adjusted := Holm(ps)
	for i, c := range cs {
		if Judge(c, adjusted[i], o).Verdict == Changed {
			return true
		}
	}
	return false
}

// TestFalsePositivesOfOne is one new run against several of the same thing, which is sound for noise that is near normal on logarithms.
func TestFalsePositivesOfOne(t *testing.T) {
	const tries = 4000
	for _, c := range sample.Of(cases(noises[:2], 2, 3, 5, 10), 3) {
		i, n, noise := c.noise, c.n, noises[c.noise]
		r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
		alone, learned, pair := 0, 0, 0
		for range tries {
			o := Options{Alpha: 0.01}
			one, several := draws(r, 1, noise.draw), draws(r, n, noise.draw)
			if CompareRuns(one, several, o).Verdict == Changed {
				alone++
			}
			o.Noise = LearnNoise([][]float64{draws(r, 3, noise.draw), draws(r, 3, noise.draw)}, 0.01)
			if CompareRuns(one, several, o).Verdict == Changed {
				learned++
			}
			if CompareRuns(one, several[:1], o).Verdict == Changed {
				pair++
			}
		}
		what := fmt.Sprintf("%s, one run against %d", noise.name, n)
		atMost(t, what, alone, tries, 0.01)
		atMost(t, what+", with learned noise", learned, tries, 0.01)
		atMost(t, what+", only the first of them", pair, tries, 0.01)
	}
}

// TestPower holds what few samples must show: 20 % slower at 1 % noise in three passes, though three stages are judged together.
func TestPower(t *testing.T) {
	const tries = 1000
	for _, c := range []struct {
		n           int
		slower      float64
		comparisons int
	}{{3, 0.2, 1}, {3, 0.2, 3}, {5, 0.05, 3}, {10, 0.03, 3}} {
		r := rand.New(rand.NewPCG(uint64(c.n), 5))
		o := DefaultOptions()
		o.Comparisons = c.comparisons
		missed, beyond := 0, 0
		for range tries {
			a, b := draws(r, c.n, noises[0].draw), draws(r, c.n, noises[0].draw)
			got := Compare(a, each(b, func(v float64) float64 { return v * (1 + c.slower) }), o)
			if Judge(got, new(min(1, *got.P*float64(c.comparisons))), o).Verdict != Changed {
				missed++
			}
			if *got.Smallest > c.slower {
				beyond++
			}
		}
		t.Logf("n = %d, %v slower, of %d: missed %d of %d; told to be too small to show %d times", c.n, c.slower, c.comparisons, missed, tries, beyond)
		if missed > tries/50 {
			t.Errorf("n = %d: %d of %d were missed", c.n, missed, tries)
		}
	}
}

// TestFalseNoChange holds the error rate of the other kind: a change as large as the margin is called none no more often than alpha.
func TestFalseNoChange(t *testing.T) {
	const tries = 2000
	for _, c := range sample.Of(cases(noises, [2]int{3, 3}, [2]int{5, 5}, [2]int{10, 10}), 5) {
		i, n, noise := c.noise, c.n, noises[c.noise]
		r := rand.New(rand.NewPCG(uint64(i), uint64(n[0])))
		none := 0
		for range tries {
			a, b := draws(r, n[0], noise.draw), draws(r, n[1], noise.draw)
			b = each(b, func(v float64) float64 { return 1.05 * v })
			if Compare(a, b, Options{Alpha: 0.01, Margin: 0.05}).Verdict == NoChange {
				none++
			}
		}
		atMost(t, fmt.Sprintf("%s, %d and %d, no change", noise.name, n[0], n[1]), none, tries, 0.01)
	}
}

// TestFalsePositivesOfAssumedNoise holds that noise which was measured on something else never makes runs of the same thing differ, however much these vary.
func TestFalsePositivesOfAssumedNoise(t *testing.T) {
	const tries = 2000
	for _, sd := range []float64{0.02, 0.2, 0.4, 1} {
		for _, n := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {2, 3}, {3, 3}} {
			r := rand.New(rand.NewPCG(uint64(100*sd), uint64(10*n[0]+n[1])))
			draw := func(r *rand.Rand) float64 { return 1e5 * math.Exp(sd*r.NormFloat64()) }
			changed := 0
			for range tries {
				o := Options{Alpha: 0.01, Noise: &Noise{SD: 0.19, DF: 72, From: "elsewhere"}}
				c := CompareRuns(draws(r, n[0], draw), draws(r, n[1], draw), o)
				if c.Verdict == Changed {
					changed++
					if c.Low != nil && *c.Low <= 0 && *c.High >= 0 {
						t.Errorf("a change, %s", c.Interval())
					}
				}
			}
			atMost(t, fmt.Sprintf("a standard deviation of %v, %d and %d runs", sd, n[0], n[1]), changed, tries, 0.01)
		}
	}
}
