package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// interval is where the centre of values lies with this confidence: the order statistics around the median where there are enough
// values (eight for 99 %), else that of Student's t, on logarithms where all are above 0; nil for one value, or where that is too wide
// for a number.
func interval(values []float64, confidence float64) (lo, hi *float64) {
	if len(values) < 2 {
		return nil, nil
	}
	t := benchmath.DefaultThresholds
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &t), confidence)
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		return &s.Lo, &s.Hi
	}
	from, to := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if slices.Min(values) > 0 {
		from, to = math.Log, math.Exp
	}
	x := each(values, from)
	df := float64(len(x) - 1)
	half := quantileT(1-confidence, df) * math.Sqrt(spread(x)/df/(df+1))
	// With wide intervals of few values the median is inside; rounding must not put it out.
	at, most := Centre(values), to(mean(x)+half)
	if math.IsInf(most, 1) {
		return nil, nil
	}
	return new(min(at, max(0, to(mean(x)-half)))), new(max(at, most))
}
