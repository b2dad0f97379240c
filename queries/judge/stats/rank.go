package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// exactSize is up to which size of both sides the chance of U is counted exactly in any case, which takes 0.1 ms then.
const exactSize = 12

// exactWork is how many steps counting it may take where a side is larger: 0.2 ms.
const exactWork = 150_000

// countsU reports whether the chance of U is counted exactly: the normal approximation is poor where one side has few samples, however many
// the other has, and never below 0.0027 of three.
func countsU(na, nb int) bool {
	n := na + nb
	return max(na, nb) <= exactSize || min(na, nb)*n*n*n <= exactWork
}

// smallestU is the smallest p that the Mann-Whitney U test of so many samples can reach, without ties: both ends of all ways to choose, or
// what the approximation says of them.
func smallestU(na, nb int) float64 {
	if !countsU(na, nb) {
		return ranking{na: na, nb: nb}.normalP()
	}
	return min(1, 2*math.Exp(-mathx.Lchoose(na+nb, na)))
}

// rankP is the two-sided p of the Mann-Whitney U test: exact for small samples, else by the normal approximation. Not all values may be
// equal. Without ties it is benchmath's. With them the distribution of U is not symmetric, which benchmath takes it to be: of {5} against
// {4, 5} it says 2/3, though every way to deal them is as far off as this one.
func rankP(a, b []float64) float64 {
	if len(a) > len(b) {
		a, b = b, a // counting goes by the size of a
	}
	r := rankSum(a, b)
	switch {
	case !countsU(len(a), len(b)):
		return r.normalP()
	case r.tied || len(b) > exactSize:
		return r.exactP()
	}
	t := benchmath.DefaultThresholds
	return min(1, benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), &t), benchmath.NewSample(slices.Clone(b), &t)).P)
}

// ranking is the values of two sides put in order.
type ranking struct {
	na, nb  int
	doubled []int   // twice the rank of each value, ties having the mean of theirs
	u       float64 // pairs in which the value of a is the larger, ties a half
	ties    float64 // sum of t^3 - t over groups of t equal values
	tied    bool    // there are any
}

// normalP is the approximation with corrections for continuity and ties (Hollander and Wolfe, Nonparametric Statistical Methods, section
// 4.1).
func (r ranking) normalP() float64 {
	na, nb := float64(r.na), float64(r.nb)
	n := na + nb
	sd := math.Sqrt(na * nb / 12 * (n + 1 - r.ties/(n*(n-1))))
	z := max(0, math.Abs(r.u-na*nb/2)-0.5) / sd
	return math.Erfc(z / math.Sqrt2)
}

// exactP is the share of all ways to deal the ranks to the sides whose rank sum is as far from its mean as that of a or farther, counted
// by size and sum of the part dealt so far.
func (r ranking) exactP() float64 {
	total := 0
	for _, d := range r.doubled {
		total += d
	}
	ways := make([][]float64, r.na+1)
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, d := range r.doubled {
		for size := r.na; size >= 1; size-- {
			for sum := total; sum >= d; sum-- {
				ways[size][sum] += ways[size-1][sum-d]
			}
		}
	}
	middle := r.na * (r.na + r.nb + 1)
	off := math.Abs(2*r.u - float64(r.na*r.nb))
	var extreme, all float64
	for sum, n := range ways[r.na] {
		all += n
		if math.Abs(float64(sum-middle)) >= off {
			extreme += n
		}
	}
	return extreme / all
}

func rankSum(a, b []float64) ranking {
	type value struct {
		v   float64
		ofA bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.v, y.v) })
	r := ranking{na: len(a), nb: len(b), doubled: make([]int, 0, len(all))}
	sum := 0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for _, x := range all[i:j] {
			r.doubled = append(r.doubled, i+1+j)
			if x.ofA {
				sum += i + 1 + j
			}
		}
		t := float64(j - i)
		r.ties += t*t*t - t
		r.tied = r.tied || j-i > 1
		i = j
	}
	r.u = float64(sum-r.na*(r.na+1)) / 2
	return r
}

// widest is how many values of a side shiftInterval pairs: of larger sides it takes that many quantiles, since all pairs are too many to sort.
const widest = 50

// shiftInterval is the interval of the shift from a to b that the U test at alpha does not refuse: the order statistics of all differences
// between a value of b and one of a (Hollander and Wolfe, section 4.3; Bauer 1972).
func shiftInterval(a, b []float64, alpha float64) (lo, hi float64) {
	k := criticalShare(len(a), len(b), alpha)
	a, b = quantiles(a), quantiles(b)
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	slices.Sort(d)
	i := min(max(int(math.Round(k*float64(len(d)))), 1), (len(d)+1)/2)
	return d[i-1], d[len(d)-i]
}

// Shift is the typical relative change from a value of a to one of b: the median of all such changes (Hodges and Lehmann 1963), which the interval of
// a U test encloses. nil without values, and where it has no ratio.
func Shift(a, b []float64) *float64 {
	if faultOf(a, b) != "" || slices.Max(a) == 0 && slices.Max(b) == 0 {
		return nil
	}
	p := logsOf(a, b)
	lo, hi := shiftInterval(p.a, p.b, 1)
	return p.ratio(lo/2 + hi/2)
}

// criticalShare is which of the sorted differences bounds the interval, as a share of their number: the largest k with P(U < k) at most
// alpha / 2, exact for small samples and else by the normal approximation.
func criticalShare(na, nb int, alpha float64) float64 {
	pairs := float64(na) * float64(nb)
	sd := math.Sqrt(pairs * float64(na+nb+1) / 12)
	k := max(1, math.Floor((pairs+1)/2-quantileNormal(alpha)*sd))
	if na > exactSize || nb > exactSize {
		return k / pairs
	}
	dist := stats.UDist{N1: na, N2: nb}
	for k > 1 && dist.CDF(k-1) > alpha/2 {
		k--
	}
	for dist.CDF(k) <= alpha/2 {
		k++
	}
	return k / pairs
}

// quantiles are the values, or so many of their quantiles that pairing them is quick.
func quantiles(values []float64) []float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	if len(s) <= widest {
		return s
	}
	out := make([]float64, widest)
	for i := range out {
		out[i] = s[(2*i+1)*len(s)/(2*widest)]
	}
	return out
}
