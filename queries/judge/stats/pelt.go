package stats

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

const (
	outlying   = 3.0   // outliers are so many standard deviations from their level
	rounding   = 1e-12 // differences between logarithms that are none
	maxFilters = 10    // most series need two
)

// scaleOf is the standard deviation of x from run to run, which neither changes of level nor outliers move much: 1.4826 times the median
// absolute difference between neighbours, divided by sqrt 2 as a difference has the noise of both. Where most neighbours are equal
// (counts, clocks with coarse ticks), it is 1.2533 times the mean absolute difference instead; both factors are those of normal noise.
func scaleOf(x []float64) float64 {
	d := make([]float64, len(x)-1)
	for i := range d {
		d[i] = math.Abs(x[i+1] - x[i])
	}
	scale := 1.4826 * Centre(d)
	if scale <= rounding {
		scale = 1.2533 * mean(d)
	}
	return scale / math.Sqrt2
}

// outlierLimit is how many scales from its surroundings a run must be to be an outlier: more in short series, whose scale may be too
// small by chance.
func outlierLimit(n int) float64 { return 4 * (1 + 5/float64(n)) }

// calmOf is x without outliers, and its scale: the root mean square difference of neighbours where that is the larger, as the noise of
// skewed distributions has tails that the median difference does not see.
func calmOf(x []float64, m int, scale float64) ([]float64, float64) {
	calm := withoutOutliers(x, m-1, outlierLimit(len(x))*scale)
	var ss float64
	for i := range calm[1:] {
		ss += (calm[i+1] - calm[i]) * (calm[i+1] - calm[i])
	}
	return calm, max(scale, math.Sqrt(ss/float64(len(x)-1)/2))
}

// upperBinomial is the chance of k or more of n, each with the chance q.
func upperBinomial(k, n int, q float64) float64 {
	if k <= 0 || q >= 1 {
		return 1
	}
	return mathx.BetaInc(q, float64(k), float64(n-k+1))
}

// withoutOutliers sets values further than limit from the median of the run itself and width runs to either side to that median: Hampel's
// filter (Pearson, Neuvo, Astola, Gabbouj 2016, "Generalized Hampel filters"), again until nothing changes, as one outlier may hide
// another. Up to width outliers in a row go, longer levels stay.
func withoutOutliers(x []float64, width int, limit float64) []float64 {
	out := slices.Clone(x)
	window := make([]float64, 0, 2*width+1)
	for range maxFilters {
		from, changed := slices.Clone(out), false
		for i := range from {
			window = append(window[:0], from[max(0, i-width):min(len(from), i+width+1)]...)
			slices.Sort(window)
			n := len(window)
			if at := (window[(n-1)/2] + window[n/2]) / 2; math.Abs(from[i]-at) > limit {
				out[i], changed = at, true
			}
		}
		if !changed {
			break
		}
	}
	return out
}

// cost is the sum of the squares of the differences between calm values of runs [from, to) and their mean.
func (s *series) cost(from, to int) float64 {
	sum := s.sum[to] - s.sum[from]
	return max(0, s.sum2[to]-s.sum2[from]-sum*sum/float64(to-from))
}

// levels cuts the series where that makes the sum of the costs of its levels, in units of the squared scale, and of a penalty a cut the
// smallest: PELT (Killick, Fearnhead and Eckley 2012, "Optimal detection of changepoints with a linear computational cost", JASA 107),
// with levels of m runs or more. The penalty is 3 log n, more than the 2 log n of Schwarz, as the scale is itself an estimate. It returns
// the first run of each level; the first is 0.
func (s *series) levels(m int) []int {
	n := len(s.calm)
	unit := math.Max(s.scale*s.scale, rounding*rounding)
	penalty := 3 * math.Log(float64(n))
	best := make([]float64, n+1) // of the runs before each
	last := make([]int, n+1)     // start of the last level then
	best[0] = -penalty
	type start struct {
		at, until int     // until: from when on it cannot be the best any more
		best      float64 // of the runs before
		sum, sum2 float64 // likewise
		going     float64 // what going on from here to the end of this round costs
	}
	starts := []start{}
	next := n + 1 // the first until
	for to := m; to <= n; to++ {
		if at := to - m; at == 0 || at >= m {
			starts = append(starts, start{at: at, until: n + 1, best: best[at], sum: s.sum[at], sum2: s.sum2[at]})
		}
		if next <= to {
			starts, next = slices.DeleteFunc(starts, func(c start) bool { return c.until <= to }), n+1
			for _, c := range starts {
				next = min(next, c.until)
			}
		}
		// Without a change there are as many starts as runs before: this is all that a long series costs.
		sum, sum2, least, from := s.sum[to], s.sum2[to], math.Inf(1), 0
		for i := range starts {
			c := &starts[i]
			d := sum - c.sum
			cost := sum2 - c.sum2 - d*d/float64(to-c.at) // as cost has it
			if cost < 0 {
				cost = 0
			}
			c.going = c.best + cost/unit
			if c.going < least {
				least, from = c.going, c.at
			}
		}
		best[to], last[to] = least+penalty, from
		// A cut at to costs no more than going on from such a start, but only once a level of m runs fits after it.
		for i := range starts {
			if c := &starts[i]; c.going >= best[to] && c.until > n {
				c.until = to + m
				next = min(next, c.until)
			}
		}
	}
	var out []int
	for to := n; to > 0; to = last[to] {
		out = append(out, last[to])
	}
	slices.Reverse(out)
	return out
}
