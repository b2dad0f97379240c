package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"prof/internal/sample"
)

// steps is a series whose level changes to levels[i] after lasts[i-1] more runs, with 1 % noise.
func steps(r *rand.Rand, levels []float64, lasts []int) []float64 {
	var out []float64
	for i, level := range levels {
		out = append(out, draws(r, lasts[i], func(r *rand.Rand) float64 { return level * (1 + 0.01*r.NormFloat64()) })...)
	}
	return out
}

func confirmed(changes []Change) []Change {
	var out []Change
	for _, c := range changes {
		if !c.Suspect {
			out = append(out, c)
		}
	}
	return out
}

// TestNoChange: series of noise alone have no change, and no more suspects than Alpha says where their noise is near normal.
func TestNoChange(t *testing.T) {
	rare := func(r *rand.Rand) float64 { // one in fifty takes twice as long
		v := 1000 * (1 + 0.01*r.NormFloat64())
		if r.IntN(50) == 0 {
			v *= 2
		}
		return v
	}
	kinds := append(noises[:2:2], noises[3], struct {
		name string
		draw func(*rand.Rand) float64
	}{"rare stalls", rare})
	for _, c := range sample.Of(cases(kinds, 3, 4, 6, 10, 20, 100, 1000), 4) {
		const tries = 200
		n, noise := c.n, kinds[c.noise]
		if n == 1000 && (noise.name == "lognormal" || noise.name == "skewed") {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(n), 21))
		changes, suspects := 0, 0
		for range tries {
			got := ChangePoints(draws(r, n, noise.draw), ChangeOptions{Alpha: 0.01})
			if len(confirmed(got)) > 0 {
				changes++
			}
			if len(got) > len(confirmed(got)) {
				suspects++
			}
		}
		t.Logf("%d runs of %s noise: %d of %d with changes, %d with suspects", n, noise.name, changes, tries, suspects)
		if changes > tries/20 {
			t.Errorf("%d runs of %s noise: %d of %d series have changes", n, noise.name, changes, tries)
		}
		if noise.name != "skewed" {
			atMost(t, fmt.Sprintf("suspects of %d runs of %s noise", n, noise.name), suspects, tries, 0.03)
		}
	}
}

// TestStep: a step of 5 % at 1 % noise is found where it is, wherever that is.
func TestStep(t *testing.T) {
	for _, c := range [][2]int{{3, 3}, {10, 10}, {20, 3}, {3, 20}, {17, 40}, {500, 5}, {400, 600}} {
		const tries = 100
		r := rand.New(rand.NewPCG(uint64(c[0]), uint64(c[1])))
		found := 0
		for range tries {
			got := confirmed(ChangePoints(steps(r, []float64{1000, 1050}, c[:]), ChangeOptions{MinEffect: 0.01}))
			if len(got) == 1 && max(got[0].Index-c[0], c[0]-got[0].Index) <= 1 && math.Abs(*got[0].Effect-0.05) < 0.03 {
				found++
			}
		}
		t.Logf("%d + %d runs: found %d of %d", c[0], c[1], found, tries)
		// Of three and three runs, the spread is known from four degrees of freedom only.
		if want := map[bool]int{true: 50, false: 95}[c == [2]int{3, 3}]; found < want {
			t.Errorf("%d + %d runs: found %d of %d", c[0], c[1], found, tries)
		}
	}
}

// TestChanges tells what series say, as index of each change and a mark for suspects.
func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	flat := func(n int) []float64 { return steps(r, []float64{1000}, []int{n}) }
	with := func(values []float64, at int, v float64) []float64 {
		values[at] = v
		return values
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		values []float64
		least  float64
		want   string
	}{
		{"none", nil, 0.01, ""},
		{"one run", []float64{5}, 0.01, ""},
		{"two runs", []float64{5, 9}, 0.01, ""},
		{"all equal", []float64{5, 5, 5, 5, 5, 5, 5}, 0, ""},
		{"an outlier", with(flat(30), 12, 2000), 0.01, ""},
		{"two outliers in a row", with(with(flat(30), 12, 2000), 13, 2100), 0.01, ""},
		{"the first run is off", with(flat(30), 0, 2000), 0.01, ""},
		{"the last run is off", with(flat(30), 29, 1100), 0.01, "29?"},
		{"the last two are off", with(with(flat(30), 29, 1100), 28, 1080), 0.01, "28?"},
		{"the last two are off either way", with(with(flat(30), 29, 1100), 28, 900), 0.01, "29?"},
		{"up and down again", steps(r, []float64{1000, 1100, 1000}, []int{20, 5, 20}), 0.01, "20 25"},
		{"three levels", steps(r, []float64{1000, 1100, 900}, []int{20, 30, 20}), 0.01, "20 50"},
		{"a step, then the last run", append(steps(r, []float64{1000, 1100}, []int{20, 20}), 1400), 0.01, "20 40?"},
		{"too small to count", steps(r, []float64{1000, 1050}, []int{50, 50}), 0.1, ""},
		{"counts", []float64{100, 100, 100, 100, 120, 120, 120, 120}, 0.01, "4"},
		{"counts, the last", []float64{100, 100, 100, 100, 100, 101}, 0.01, "5?"},
		{"up from 0", []float64{0, 0, 0, 0, 0, 7, 7, 8, 7, 7}, 0.01, "5"},
		{"to nothing", []float64{7, 7, 8, 7, 7, 0, 0, 0, 0, 0}, 0.01, "5"},
		{"no numbers among them", append([]float64{nan, -1, inf}, steps(r, []float64{1000, 1100}, []int{10, 10})...), 0.01, "13"},
	} {
		got := ChangePoints(c.values, ChangeOptions{MinEffect: c.least})
		var words []string
		for _, g := range got {
			words = append(words, strings.TrimSuffix(fmt.Sprintf("%d%v", g.Index, map[bool]string{true: "?"}[g.Suspect]), " "))
			if (g.Effect == nil) != (g.Before == 0) || g.P < 0 || g.P > DefaultAlpha {
				t.Errorf("%s: %+v", c.name, g)
			}
		}
		if said := strings.Join(words, " "); said != c.want {
			t.Errorf("%s: changes at %q, want %q", c.name, said, c.want)
		}
		if again := ChangePoints(c.values, ChangeOptions{MinEffect: c.least}); !reflect.DeepEqual(got, again) {
			t.Errorf("%s: %v, then %v", c.name, got, again)
		}
	}
}

// TestLevels holds PELT to the best of all ways to cut short series, and the change to the medians of its sides.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 40 {
		const m = 2
		values := steps(r, []float64{1000, 1000 + 40*r.NormFloat64(), 1000 + 40*r.NormFloat64()}, []int{2 + r.IntN(4), 2 + r.IntN(4), 2 + r.IntN(4)})
		s := newSeries(values, m)
		of := func(starts []int) float64 {
			cost := 0.0
			for i, from := range starts {
				to := len(values)
				if i+1 < len(starts) {
					to = starts[i+1]
				}
				cost += s.cost(from, to)/(s.scale*s.scale) + 3*math.Log(float64(len(values)))
			}
			return cost
		}
		best := math.Inf(1)
		for cuts := range uint(1) << len(values) {
			starts, ok := []int{0}, true
			for at := 1; at < len(values); at++ {
				if cuts>>at&1 == 1 {
					ok = ok && at-starts[len(starts)-1] >= m
					starts = append(starts, at)
				}
			}
			if ok && len(values)-starts[len(starts)-1] >= m {
				best = min(best, of(starts))
			}
		}
		near(t, "cost of the levels", of(s.levels(m)), best, 1e-9)
	}
	got := ChangePoints([]float64{10, 11, 10, 10.5, 20, 21, 20, 20.6}, ChangeOptions{})
	if len(got) != 1 || got[0].Index != 4 || got[0].Before != 10.25 || got[0].After != 20.3 {
		t.Fatalf("%+v", got)
	}
	near(t, "effect", *got[0].Effect, 20.3/10.25-1, 1e-12)
}

func BenchmarkChangePoints(b *testing.B) {
	r := rand.New(rand.NewPCG(51, 52))
	values := steps(r, []float64{1000, 1100, 1050, 1200, 900}, []int{200, 200, 200, 200, 200})
	for b.Loop() {
		ChangePoints(values, ChangeOptions{MinEffect: 0.01})
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{3, 10, 50} {
		r := rand.New(rand.NewPCG(53, 54))
		x, y := draws(r, n, noises[0].draw), draws(r, n, noises[0].draw)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Compare(x, y, DefaultOptions())
			}
		})
	}
}
