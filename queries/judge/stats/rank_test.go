package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// enumerated is the two-sided p of U by counting all ways to deal the values to the sides.
func enumerated(a, b []float64) float64 {
	all := append(append([]float64{}, a...), b...)
	u := func(set uint) float64 {
		sum := 0.0
		for i := range all {
			for j := range all {
				if set>>i&1 == 1 && set>>j&1 == 0 {
					switch {
					case all[i] > all[j]:
						sum++
					case all[i] == all[j]:
						sum += 0.5
					}
				}
			}
		}
		return sum
	}
	middle := float64(len(a)*len(b)) / 2
	off := math.Abs(u(1<<len(a)-1) - middle)
	extreme, ways := 0, 0
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) == len(a) {
			ways++
			if math.Abs(u(set)-middle) >= off {
				extreme++
			}
		}
	}
	return float64(extreme) / float64(ways)
}

func TestRankEnumerated(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for range 60 {
		na, nb := 1+r.IntN(5), 1+r.IntN(5)
		for _, grid := range []float64{1, 1e9} {
			draw := func(*rand.Rand) float64 { return math.Round(r.NormFloat64() * grid) }
			a, b := draws(r, na, draw), draws(r, nb, draw)
			b[0]++ // not all are equal
			near(t, "p", rankP(a, b), enumerated(a, b), 1e-9)
		}
	}
}

// TestRankPublished is example 4.1 of Hollander and Wolfe, for which R's wilcox.test prints W = 35 and a one-sided p of 0.1272.
func TestRankPublished(t *testing.T) {
	a := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	b := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	if r := rankSum(a, b); r.u != 35 || r.tied {
		t.Errorf("U is %v, tied %v", r.u, r.tied)
	}
	near(t, "p", rankP(a, b), 2*0.1272, 1e-3)
	near(t, "smallest p of 5 and 5", smallestU(5, 5), 2.0/252, 1e-9)
	near(t, "smallest p of 3 and 10", smallestU(3, 10), 2.0/286, 1e-9)
}

// TestRankNormal compares the approximation for large samples with the count, just where it takes over.
func TestRankNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 20 {
		grid := []float64{4, 1e9}[i%2]
		a := draws(r, exactSize+1, func(r *rand.Rand) float64 { return math.Round(grid * r.NormFloat64()) })
		b := draws(r, exactSize+1, func(r *rand.Rand) float64 { return math.Round(grid * (float64(i)/20 + r.NormFloat64())) })
		ranks := rankSum(a, b)
		if normal, exact := ranks.normalP(), ranks.exactP(); math.Abs(normal-exact) > 0.01+0.1*exact {
			t.Errorf("p is %v, not %v", normal, exact)
		}
		near(t, "p", rankP(a, b), ranks.normalP(), 0)
		near(t, "p", rankP(a[1:], b[1:]), rankSum(a[1:], b[1:]).exactP(), 1e-9)
		near(t, "p of few and many", rankP(a, b[:2]), rankSum(a, b[:2]).exactP(), 1e-9)
	}
}

// TestShiftInterval holds the interval to its meaning: inside it the test does not refuse, outside it does.
func TestShiftInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range [][2]int{{5, 5}, {6, 9}, {12, 12}, {10, 4}} {
		a, b := draws(r, n[0], (*rand.Rand).NormFloat64), draws(r, n[1], (*rand.Rand).NormFloat64)
		lo, hi := shiftInterval(a, b, 0.01)
		refused := func(shift float64) bool {
			return rankP(a, each(b, func(v float64) float64 { return v - shift })) <= 0.01
		}
		const bit = 1e-9
		if refused(lo+bit) || refused(hi-bit) || !refused(lo-bit) || !refused(hi+bit) {
			t.Errorf("%v: [%v, %v] is not the interval that the test does not refuse", n, lo, hi)
		}
	}
	// Quantiles stand in for large samples: the interval of 400 and 400 normal values is near 2.576 * sqrt(pi/3 * 2/400) to either side.
	a, b := draws(r, 400, (*rand.Rand).NormFloat64), draws(r, 400, (*rand.Rand).NormFloat64)
	lo, hi := shiftInterval(a, b, 0.01)
	near(t, "half-width of large samples", (hi-lo)/2, 2.576*math.Sqrt(math.Pi/3*2/400), 0.1)
}

// TestFewAndMany: of two or three samples, more on the other side must not make a clear change less sure.
func TestFewAndMany(t *testing.T) {
	for few := 2; few <= 5; few++ {
		for many := few; many <= 200; many++ {
			a, b := make([]float64, many), make([]float64, few)
			for i := range a {
				a[i] = 100 + float64(i%7)/10 + float64(i)/1e4
			}
			for i := range b {
				b[i] = 300 + float64(i)
			}
			if c := Compare(a, b, Options{Comparisons: 2, MinEffect: 0.01}); many > 2 && c.Verdict != Changed {
				t.Errorf("3x slower by %d against %d samples: %s, %s", few, many, c.Verdict, c.Why)
			}
		}
	}
}
