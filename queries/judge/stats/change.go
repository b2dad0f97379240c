package stats

import (
	"math"
	"slices"
)

// ChangeOptions say what counts as a change of level in a series of runs.
type ChangeOptions struct {
	Alpha      float64 // chance to find a change in a series that has none; 0 is DefaultAlpha
	MinEffect  float64 // smaller relative changes are none; 0.01 is 1 %
	MinSegment int     // runs that a level must last to count as one; 0 is DefaultMinSegment, fewer than 2 are 2
}

// DefaultMinSegment is how many runs a level must last: of two, both may be outliers.
const DefaultMinSegment = 3

// Change is where a series of runs changes its level.
type Change struct {
	Index         int      // of the first run of the new level
	Before, After float64  // medians of the levels on either side
	Effect        *float64 // After / Before - 1; nil where Before is 0
	P             float64  // chance of such a change somewhere in a series of noise; of a suspect, of runs as far off as these
	Suspect       bool     // only the last runs, fewer than a level needs, are off: not confirmed
}

// ChangePoints finds where a series of runs, oldest first, changes its level, in order of time. Levels are found by PELT (see levels) on
// logarithms, in units of a robust scale, after outliers of fewer runs than a level needs are set to their surroundings. A change counts
// where a t-test with the spread within all levels refuses that its two sides are one, at Alpha divided by the number of places where the
// change could be (Bonferroni: the place was chosen to fit), and where their medians differ by MinEffect. The least certain change that
// does not count is taken back and the others are judged anew, until all count.
//
// Runs are taken to be independent: a slow drift comes out as steps. Values that are no times or counts (negative, NaN, infinite) are
// left out; of a series in which some are 0, the values are judged in units of the largest instead of their logarithms.
func ChangePoints(values []float64, o ChangeOptions) []Change {
	m := o.minSegment()
	s := newSeries(values, m)
	if s == nil {
		return nil
	}
	found := s.confirm(s.levels(m), o)
	out := make([]Change, 0, len(found))
	for i, l := range found[1:] {
		out = append(out, s.change(l.from, found[i].median, l.median, l.p, false))
	}
	if c := s.suspect(found[len(found)-1].from, m, o); c != nil {
		out = append(out, *c)
	}
	return out
}

func (o ChangeOptions) minSegment() int {
	if o.MinSegment == 0 {
		return DefaultMinSegment
	}
	return max(2, o.MinSegment)
}

// series is the values of runs on the scale they are judged on.
type series struct {
	raw   []float64
	index []int     // of raw in what was asked for
	x     []float64 // logarithms of raw, or raw in units of its largest
	calm  []float64 // x without outliers
	odd   int       // how many outliers were set to their surroundings
	rough float64   // standard deviation of x from run to run, which neither levels nor outliers move much
	scale float64   // the same of calm, not too small for skewed noise
	sum   []float64 // of calm before each run
	sum2  []float64 // of its squares
}

// newSeries returns nil where there is nothing to find: fewer runs than a level and one more, or all the same.
func newSeries(values []float64, m int) *series {
	s := &series{}
	for i, v := range values {
		if v >= 0 && !math.IsInf(v, 1) {
			s.raw, s.index = append(s.raw, v), append(s.index, i)
		}
	}
	if len(s.raw) <= m || slices.Min(s.raw) == slices.Max(s.raw) {
		return nil
	}
	if slices.Min(s.raw) > 0 {
		s.x = each(s.raw, math.Log)
	} else {
		unit := slices.Max(s.raw)
		s.x = each(s.raw, func(v float64) float64 { return v / unit })
	}
	// Sums of squares keep their digits around 0.
	middle := Centre(s.x)
	s.x = each(s.x, func(v float64) float64 { return v - middle })
	s.rough = scaleOf(s.x)
	s.calm, s.scale = calmOf(s.x, m, s.rough)
	for i, v := range s.calm {
		if v != s.x[i] {
			s.odd++
		}
	}
	s.sum, s.sum2 = make([]float64, len(s.x)+1), make([]float64, len(s.x)+1)
	for i, v := range s.calm {
		s.sum[i+1], s.sum2[i+1] = s.sum[i]+v, s.sum2[i]+v*v
	}
	return s
}

// level is runs [from, to) of a series.
type level struct {
	from, to int
	median   float64 // of the values as they were given
	p        float64 // of the change to it from the level before
}

// confirm takes changes back until all that are left count.
func (s *series) confirm(starts []int, o ChangeOptions) []level {
	ends := append(slices.Clone(starts[1:]), len(s.raw))
	levels := make([]level, len(starts))
	for i, from := range starts {
		levels[i] = level{from: from, to: ends[i], median: Centre(s.raw[from:ends[i]])}
	}
	alpha, least := Options{Alpha: o.Alpha}.alpha(), math.Log1p(o.MinEffect)
	places := float64(max(1, len(s.raw)-2*o.minSegment()+1))
	for {
		worst, worstP := -1, 0.0
		e := s.within(levels)
		for i := 1; i < len(levels); i++ {
			before, l := levels[i-1], &levels[i]
			l.p = min(1, places*max(s.pBetween(before, *l, e), s.pOutliers(levels, i)))
			p := l.p
			// At equal chances the smaller step goes first.
			if small := before.median > 0 && l.median > 0 && math.Abs(math.Log(l.median/before.median)) < least; small || before.median == l.median {
				p = 1
			}
			if p > alpha && p > worstP {
				worst, worstP = i, p
			}
		}
		if worst < 0 {
			return levels
		}
		levels[worst-1].to = levels[worst].to
		levels[worst-1].median = Centre(s.raw[levels[worst-1].from:levels[worst-1].to])
		levels = slices.Delete(levels, worst, worst+1)
	}
}

// within is the standard deviation within levels (se) and its degrees of freedom.
func (s *series) within(levels []level) meanError {
	var ss float64
	for _, l := range levels {
		ss += s.cost(l.from, l.to)
	}
	df := float64(max(1, len(s.calm)-len(levels)-s.odd))
	return meanError{math.Sqrt(ss / df), df}
}

// pBetween is the chance that two levels are one.
func (s *series) pBetween(a, b level, e meanError) float64 {
	na, nb := float64(a.to-a.from), float64(b.to-b.from)
	d := math.Abs((s.sum[b.to]-s.sum[b.from])/nb - (s.sum[a.to]-s.sum[a.from])/na)
	se := e.se * math.Sqrt(1/na+1/nb)
	switch {
	case d <= rounding:
		return 1
	case se <= rounding:
		return 0
	}
	return twoSidedT(d/se, e.df)
}

// pOutliers is the chance that the shorter side of the change to level i is a cluster of outliers: that so many of its runs would be off
// by half the step or more, if outliers are as frequent there as in all other runs. It is 0 for steps that are smaller than outliers are.
func (s *series) pOutliers(levels []level, i int) float64 {
	short, long := levels[i-1], levels[i]
	if short.to-short.from > long.to-long.from {
		short, long = long, short
	}
	limit := outlying * s.rough
	at := Centre(s.calm[long.from:long.to])
	step := Centre(s.calm[short.from:short.to]) - at
	if math.Abs(step) <= limit {
		return 0
	}
	off := 0
	for _, v := range s.x[short.from:short.to] {
		if (v-at)/step > 0.5 {
			off++
		}
	}
	limit = max(limit, math.Abs(step)/2)
	others := 0.5
	for j, l := range levels {
		own := Centre(s.calm[l.from:l.to])
		for _, v := range s.x[l.from:l.to] {
			if (j < i-1 || j > i || l == long) && math.Abs(v-own) > limit {
				others++
			}
		}
	}
	n := short.to - short.from
	q := min(1, others/float64(len(s.x)-n+1))
	return upperBinomial(off, n, q)
}

func (s *series) change(at int, before, after, p float64, suspect bool) Change {
	c := Change{Index: s.index[at], Before: before, After: after, P: p, Suspect: suspect}
	if before != 0 {
		c.Effect = new(after/before - 1)
	}
	return c
}

// suspect looks whether the last runs, fewer than a level needs, all lie on one side of what the level before them would give: outside
// the prediction interval of Student's t at Alpha. A single outlier looks like that too.
func (s *series) suspect(from, m int, o ChangeOptions) *Change {
	alpha, least := Options{Alpha: o.Alpha}.alpha(), math.Log1p(o.MinEffect)
	for last := m - 1; last >= 1; last-- {
		at := len(s.x) - last
		if at-from < m {
			continue
		}
		calm := withoutOutliers(s.x[from:at], m-1, outlierLimit(at-from)*s.scale)
		n := float64(len(calm))
		sd := max(math.Sqrt(spread(calm)/(n-1)), rounding)
		largest, side := 0.0, 0.0
		for _, v := range s.x[at:] {
			d := v - mean(calm)
			if side != 0 && d*side <= 0 {
				largest = 1
				break
			}
			side = d
			largest = max(largest, twoSidedT(math.Abs(d)/(sd*math.Sqrt(1+1/n)), n-1))
		}
		before, after := Centre(s.raw[from:at]), Centre(s.raw[at:])
		if largest <= alpha && (before == 0 || after == 0 || math.Abs(math.Log(after/before)) >= least) {
			c := s.change(at, before, after, largest, true)
			return &c
		}
	}
	return nil
}
