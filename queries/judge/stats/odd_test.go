package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"prof/internal/sample"
)

// TestOdd holds that no values, however odd, make a comparison or a search for changes panic or say what has no meaning.
func TestOdd(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	odd := []float64{0, 0, 1, 1, 5, 5.0001, 1e-300, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), -1, math.Copysign(0, -1)}
	some := func(most int) []float64 {
		kinds := 1 + r.IntN(len(odd))
		return draws(r, r.IntN(most), func(r *rand.Rand) float64 { return odd[r.IntN(kinds)] })
	}
	meant := func(p *float64, most float64) bool { return p == nil || *p >= 0 && *p <= most }
	noise := []*Noise{nil, {}, AssumeNoise(0), AssumeNoise(0.02), {Floor: 0.04, SD: 0.01, DF: 3}}
	for range sample.Of(make([]int, 20000), 5) {
		a, b := some(16), some(16)
		o := Options{Alpha: r.Float64() * 1.2, MinEffect: 0.01, Margin: 0.05, Noise: noise[r.IntN(len(noise))], Comparisons: r.IntN(4)}
		for _, compare := range []func(a, b []float64, o Options) Comparison{Compare, CompareRuns} {
			c := compare(a, b, o)
			if !meant(c.P, 1) || !meant(c.Smallest, math.MaxFloat64) || c.Why == "" || c.Verdict == "" || (c.Method == "") != (c.P == nil && c.Floor == nil) && c.fault == "" && !c.lone {
				t.Fatalf("%v, %v: %+v", a, b, c)
			}
			if c.Effect != nil && (math.IsNaN(*c.Effect) || *c.Effect < -1) || c.LoA != nil && !(*c.LoA <= *c.HiA) {
				t.Fatalf("%v, %v: %+v", a, b, c)
			}
		}
	}
	for range sample.Of(make([]int, 5000), 5) {
		values, last := some(40), -1
		for _, c := range ChangePoints(values, ChangeOptions{Alpha: 0.2 * r.Float64(), MinSegment: r.IntN(5)}) {
			if c.Index <= last || c.Index >= len(values) || !meant(&c.P, 1) || math.IsNaN(c.Before+c.After) || c.Effect != nil && math.IsNaN(*c.Effect) {
				t.Fatalf("%v: %+v", values, c)
			}
			last = c.Index
		}
	}
}
