package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	ms := func(times int, before, now time.Duration) (out []pair) {
		for range times {
			out = append(out, pair{before * time.Millisecond, now * time.Millisecond})
		}
		return out
	}
	for _, c := range []struct {
		name  string
		pairs []pair
		want  verdict
	}{
		{"equal", ms(leadFine, 1000, 1000), fine},
		{"too few to tell", ms(leadFine-1, 1000, 1000), undecided},
		{"slower", ms(leadWorse, 1000, 1150), slower},
		{"too few to be sure", ms(leadWorse-1, 1000, 1150), undecided},
		{"less than half the tolerance", ms(leadFine, 1000, 1074), fine},
		{"what comes later changes nothing", append(ms(leadFine, 1000, 1000), ms(3*leadWorse, 1000, 2000)...), fine},
		{"now so, now so", ms(1, 1000, 1000), undecided},
		{"too short to judge", ms(leadWorse, 100, 299), fine},
		{"short before, long now", ms(leadWorse, 100, 300), slower},
	} {
		r := row{"show", "a", c.pairs}
		if got := r.verdict(); got != c.want || len(rows{r, r}.slower()) != 2*strings.Count(rows{r}.String(), "SLOWER") {
			t.Errorf("%s: %d, not %d:\n%s", c.name, got, c.want, rows{r})
		}
	}
	if got := (row{pairs: ms(most/2, 1000, 1000)}).verdict(); got != fine {
		t.Errorf("at the end: %d", got)
	}
	var turns []pair
	for range most / 2 {
		turns = append(append(turns, ms(1, 1000, 1000)...), ms(1, 1000, 1150)...)
	}
	if got := (row{pairs: turns[:most-1]}).verdict(); got != undecided {
		t.Errorf("before the end: %d", got)
	}
	if got := (row{pairs: turns}).verdict(); got != fine {
		t.Errorf("by turns: %d", got)
	}
}

// TestSure measures programs that are equal, and ones that are slower by the tolerance, whose times vary as those of prof do on a busy machine.
func TestSure(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const times, spread = 2000, 0.083 // of one time; of the quotient of two 12 %
	wrong, pairs := map[float64]int{}, map[float64]int{}
	for _, change := range []float64{0, tolerance} {
		for range times {
			x := row{}
			for x.verdict() == undecided {
				x.pairs = append(x.pairs, pair{time.Duration(1e9 * math.Exp(spread*r.NormFloat64())), time.Duration(1e9 * (1 + change) * math.Exp(spread*r.NormFloat64()))})
			}
			pairs[change] += len(x.pairs)
			if (x.verdict() == slower) != (change > 0) {
				wrong[change]++
			}
		}
	}
	if wrong[0] > 0 || wrong[tolerance] > times/50 || pairs[0] > 15*times || pairs[tolerance] > 35*times {
		t.Errorf("of %d verdicts wrong: %v, with pairs: %v", times, wrong, pairs)
	}
}
