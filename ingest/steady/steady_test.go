package steady

import (
	"math"
	"math/rand/v2"
	"testing"
)

// series is load that does not change: batch and time vary by noise, the batch with this correlation from one iteration to the next. One of so many iterations (prompts) has a prompt as well, a third as
// many have prompts alone, and some stall.
func madeLoad(random *rand.Rand, n int, batch, noise, correlation float64, prompts int) (batches, times []float64) {
	state := random.NormFloat64()
	for i := range n {
		state = correlation*state + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
		b, t := max(1, math.Round(batch*math.Exp(noise*state))), 2e7*math.Exp(noise*random.NormFloat64())
		switch {
		case prompts > 0 && i%prompts == prompts-1:
			t = math.NaN()
		case prompts > 0 && i%(3*prompts) == 1:
			b, t = math.NaN(), math.NaN()
		case random.IntN(50) == 0:
			t *= 8
		}
		batches, times = append(batches, b), append(times, t)
	}
	return batches, times
}

// TestCuts holds how often load that does not change is cut, however strongly a step depends on the one before, and how often a doubled batch is found where it is.
func TestCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 1))
	const series = 200
	for _, c := range []struct {
		correlation float64
		n           int
		mostFalse   float64 // share of series without a change that are cut
		leastFound  float64 // share of series with one that are cut there
	}{
		{0, 40, 0.01, 0.8}, {0, 600, 0.02, 0.99}, {0.5, 150, 0.02, 0.85}, {0.5, 600, 0.02, 0.98}, {0.9, 150, 0.05, 0.2}, {0.9, 600, 0.03, 0.5}, {0.9, 3000, 0.03, 0.9}, {0.95, 150, 0.08, 0.1}, {0.95, 600, 0.06, 0.4}, {0.95, 3000, 0.06, 0.75},
	} {
		isFalse, found := 0, 0
		for i := range series {
			prompts := []int{0, 4, 10}[i/3%3]
			if len(Cuts(madeLoad(random, c.n, []float64{8, 64, 200}[i%3], []float64{0.05, 0.1, 0.2}[i/9%3], c.correlation, prompts))) > 0 {
				isFalse++
			}
			b, x := madeLoad(random, c.n/2, 64, 0.1, c.correlation, prompts)
			more, y := madeLoad(random, c.n/2, 128, 0.1, c.correlation, prompts)
			for _, at := range Cuts(append(b, more...), append(x, y...)) {
				if at > c.n/2-5 && at < c.n/2+5 {
					found++
					break
				}
			}
		}
		t.Logf("correlation %.2f, %d iterations: %.1f %% cut without a change, %.1f %% with one", c.correlation, c.n, 100*float64(isFalse)/series, 100*float64(found)/series)
		if float64(isFalse) > c.mostFalse*series || float64(found) < c.leastFound*series {
			t.Errorf("correlation %.2f, %d iterations: %d of %d cut without a change, %d where there is one", c.correlation, c.n, isFalse, series, found)
		}
	}
}

// TestCutsOfUnknown: too few iterations, and those of which nothing is known, are not cut; a change of time alone is.
func TestCutsOfUnknown(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 2))
	b, x := madeLoad(random, 100, 64, 0.05, 0, 0)
	more, y := madeLoad(random, 100, 64, 0.05, 0, 0)
	for i := range y {
		y[i] *= 2
	}
	unknown := make([]float64, 100)
	for i := range unknown {
		unknown[i] = math.NaN()
	}
	if got := Cuts(append(b, more...), append(x, y...)); len(got) != 1 || got[0] < 98 || got[0] > 102 {
		t.Errorf("half the speed from iteration 100 on is cut at %v", got)
	}
	for _, c := range [][2][]float64{{b[:15], x[:15]}, {unknown, unknown}, {make([]float64, 100), make([]float64, 100)}, {nil, nil}} {
		if got := Cuts(c[0], c[1]); len(got) > 0 {
			t.Errorf("%v are cut at %v", c, got)
		}
	}
}

// FuzzCuts: whatever the values, parts are in order and as long as they must be.
func FuzzCuts(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 255, 0}, uint8(20))
	f.Fuzz(func(t *testing.T, seed []byte, times uint8) {
		var b, x []float64
		for range int(times)%64 + 1 {
			for _, v := range seed {
				b = append(b, []float64{float64(v), math.NaN(), math.Inf(1), -1, 0, math.MaxFloat64}[min(int(v)%37, 5)])
				x = append(x, float64(v)*float64(len(x)))
			}
			if len(b) > 4000 {
				break
			}
		}
		before := 0
		for _, at := range append(Cuts(b, x), len(b)) {
			if at-before < leastPart && len(b) >= Least {
				t.Fatalf("a part of %d of %d iterations ends at %d", at-before, len(b), at)
			}
			before = at
		}
	})
}

func BenchmarkCuts(b *testing.B) {
	random := rand.New(rand.NewPCG(29, 3))
	var batches, times []float64
	for _, batch := range []float64{8, 64, 100, 64, 30} {
		x, y := madeLoad(random, 200_000, batch, 0.05, 0.9, 10)
		batches, times = append(batches, x...), append(times, y...)
	}
	for b.Loop() {
		if len(Cuts(batches, times)) != 4 {
			b.Fatal("not five parts")
		}
	}
}
