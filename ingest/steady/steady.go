// Package steady cuts the iterations of a serving engine where their load changes level.
//
// Judged are the logarithms of the decode batch and of the time of a decode step. Binary segmentation (Scott and Knott 1974) cuts a series where two normal levels are most likelier than one, until no
// cut gains enough. What a step does depends on the one before, as the same requests are in both: a level then wanders by itself, and n values say less than n independent ones. Gains count
// only the effective number of values, n (1 - r) / (1 + r) where neighbours correlate by r (Bartlett 1935), so that wandering is not taken for a change.
package steady

import (
	"math"
	"slices"
)

// Version identifies the rules: facts that were made by another are made anew.
const Version = "steady-1"

// The rules of Cuts.
const (
	Least      = 16   // iterations that are cut at all
	leastPart  = 8    // iterations of a part
	leastKnown = 4    // values that a level is known by
	mostDeep   = 256  // cuts within cuts
	around     = 4    // iterations before and after, whose median is what a step should be
	outlier    = 1.25 // times that median or its reciprocal is the most that a step counts as
	change     = 1.1  // least ratio of two levels
	spread     = 0.01 // spread of a level, at least: clocks and counts are no finer
	strictness = 8    // gain that a cut needs, in logarithms of the number of iterations
	trimmed    = 0.1  // of the differences of neighbours, the largest: changes of level are among them
)

// Cuts returns the indices at which a new part begins, in order, for the decode batches and times of iterations; NaN is unknown, and of another kind. Of fewer than Least iterations there are none.
func Cuts(batches, times []float64) []int {
	n := len(batches)
	if n < Least {
		return nil
	}
	s := segmenter{need: strictness * math.Log(float64(n))}
	for i, values := range [][]float64{batches, times} {
		s.series[i] = newSeries(calmed(values))
	}
	s.cut(0, n, 0)
	slices.Sort(s.cuts)
	return s.cuts
}

// calmed returns the logarithms, with none further from the median of those around it than an outlier may be: single steps make no level.
func calmed(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		if logs[i] = math.NaN(); v > 0 {
			logs[i] = math.Log(v)
		}
	}
	out := slices.Clone(logs)
	var near [2*around + 1]float64
	for i, v := range logs {
		if math.IsNaN(v) {
			continue
		}
		k := 0
		for _, x := range logs[max(0, i-around):min(len(logs), i+around+1)] {
			if !math.IsNaN(x) {
				at := k
				for ; at > 0 && near[at-1] > x; at-- {
					near[at] = near[at-1]
				}
				near[at] = x
				k++
			}
		}
		median := (near[(k-1)/2] + near[k/2]) / 2
		out[i] = min(max(v, median-math.Log(outlier)), median+math.Log(outlier))
	}
	return out
}

// series are sums of a series' values up to each iteration, and what they count for.
type series struct {
	sums   []sum
	weight float64 // effective number of values of each
}

type sum struct{ n, x, xx float64 }

func (a sum) minus(b sum) sum { return sum{a.n - b.n, a.x - b.x, a.xx - b.xx} }

// rest is the sum of squares around the mean.
func (a sum) rest() float64 { return max(0, a.xx-a.x*a.x/a.n) }

func newSeries(values []float64) series {
	var known []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	mean := 0.0
	for i, v := range known {
		mean += (v - mean) / float64(i+1)
	}
	r := correlation(known)
	s := series{sums: make([]sum, len(values)+1), weight: (1 - r) / (1 + r)}
	for i, v := range values {
		at := s.sums[i]
		if !math.IsNaN(v) {
			at.n, at.x, at.xx = at.n+1, at.x+(v-mean), at.xx+(v-mean)*(v-mean)
		}
		s.sums[i+1] = at
	}
	return s
}

// correlation is that of neighbours, by how much less they differ than values two apart: the variances of these differences are as 1 to 1 + r in a series of the first order, whatever its level. The
// largest differences are left out, so that a few changes of level do not look like correlation.
func correlation(values []float64) float64 {
	one, two := variation(values, 1), variation(values, 2)
	if one == 0 {
		return 0
	}
	return min(max(two/one-1, 0), 0.999)
}

func variation(values []float64, lag int) float64 {
	if len(values) <= lag+1 {
		return 0
	}
	d := make([]float64, len(values)-lag)
	for i := range d {
		x := values[i+lag] - values[i]
		d[i] = x * x
	}
	slices.Sort(d)
	d = d[:len(d)-int(trimmed*float64(len(d)))]
	total := 0.0
	for _, x := range d {
		total += x
	}
	return total / float64(len(d))
}

type segmenter struct {
	series [2]series
	need   float64
	cuts   []int
}

// cut looks for the best cut of the iterations from one to before another, and cuts both sides on.
func (s *segmenter) cut(from, to, deep int) {
	if to-from < Least || deep == mostDeep {
		return
	}
	best, at := 0.0, 0
	for i := from + leastPart; i <= to-leastPart; i++ {
		gain := 0.0
		for k := range s.series {
			gain += s.series[k].gain(from, i, to)
		}
		if gain > best {
			best, at = gain, i
		}
	}
	if best <= s.need {
		return
	}
	s.cuts = append(s.cuts, at)
	s.cut(from, at, deep+1)
	s.cut(at, to, deep+1)
}

// gain is twice the logarithm of how much likelier two levels are than one.
func (s *series) gain(from, at, to int) float64 {
	a, z := s.sums[at].minus(s.sums[from]), s.sums[to].minus(s.sums[at])
	if a.n < leastKnown || z.n < leastKnown || math.Abs(a.x/a.n-z.x/z.n) < math.Log(change) {
		return 0
	}
	n := a.n + z.n
	least := spread * spread * n
	return s.weight * n * math.Log((s.sums[to].minus(s.sums[from]).rest()+least)/(a.rest()+z.rest()+least))
}
