package stats

import (
	"fmt"
	"math"
	"slices"
)

// Compare tells whether the passes a and b of two processes differ. Passes do not show how much processes differ: that is o.Noise, and part of the
// error of the difference (see byProcess). Where a side has one sample only, a single stall would look like a change: then only noise that was learned
// of this very workload can tell of one. P is for this comparison alone; see Holm and Judge for several.
func Compare(a, b []float64, o Options) Comparison {
	c, ok := describe(a, b, o)
	if !ok {
		return Judge(c, nil, o)
	}
	p := logsOf(a, b)
	lone := c.NA == 1 || c.NB == 1
	switch {
	case !lone && o.Noise.learned() && p.logs && c.Effect != nil && *c.Effect > -1:
		c.byProcess(p, passError(p, *o.Noise, o), *o.Noise, o)
	case lone:
		c.setFloor(o.Noise)
		c.byNoise(p, o)
		c.widen(o.Noise, o)
	default:
		c.setFloor(o.Noise)
		known := c
		c.byTest(p, nil, o)
		if o.Noise.tells() && p.logs && c.Effect != nil && *c.Effect > -1 { // few passes tell less by themselves than with what others were seen to vary by
			known.byProcess(p, passError(p, *o.Noise, o), *o.Noise, o)
			known.NoiseFrom, known.Smallest = "", larger(known.Smallest, known.Floor)
			if c.Smallest == nil || known.Smallest != nil && *known.Smallest < *c.Smallest {
				c = known
			}
		}
		c.widen(o.Noise, o)
	}
	return Judge(c, nil, o)
}

// larger is the larger of two changes; nil where one is not known.
func larger(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// CompareLaunches is Compare for one pass a side where launches within it show how much they vary: the logarithm of the ratio of the passes is off by se,
// known with df degrees of freedom. What processes differ by is o.Noise, which must tell a spread.
func CompareLaunches(a, b, se, df float64, o Options) Comparison {
	one, other := []float64{a}, []float64{b}
	c, ok := describe(one, other, o)
	switch {
	case !ok:
	case min(a, b) > 0:
		c.byProcess(logsOf(one, other), meanError{se, df}, *o.Noise, o)
	default:
		c.fault = "one sample per side gives no spread"
	}
	return Judge(c, nil, o)
}

// CompareRuns is Compare for samples that are runs: their own spread is that from run to run, so that no floor is due but one that the
// user assumes. One run against several is judged by Student's t with the spread of those several, taken together with that of o.Noise
// where it was learned: one such run that stalled as a whole does look like a change.
func CompareRuns(a, b []float64, o Options) Comparison {
	c, ok := describe(a, b, o)
	if ok {
		single := c.NA == 1 && c.NB == 1
		if single || o.Noise != nil && o.Noise.Assumed {
			c.setFloor(o.Noise)
		}
		switch {
		case single:
			c.byNoise(logsOf(a, b), o)
		default:
			p := logsOf(a, b)
			if df := c.NA + c.NB - 2; p.logs && df > 0 {
				c.processSD = math.Sqrt((spread(p.a) + spread(p.b)) / float64(df))
			}
			c.byTest(p, o.Noise, o)
		}
		c.widen(o.Noise, o)
	}
	return Judge(c, nil, o)
}

// describe fills in what needs no test. It returns false when there is nothing to test, or no sense in it.
func describe(a, b []float64, o Options) (Comparison, bool) {
	c := Comparison{NA: len(a), NB: len(b), A: Centre(a), B: Centre(b)}
	if o.Paired { // there is no typical one
		c.Paired, c.A, c.B = true, mean(a), mean(b)
	}
	if c.fault = faultOf(a, b); c.fault != "" {
		return c, false
	}
	c.LoA, c.HiA = interval(a, 1-o.alpha())
	c.LoB, c.HiB = interval(b, 1-o.alpha())
	if effect := c.B/c.A - 1; c.A != 0 && !math.IsInf(effect, 0) {
		c.Effect = new(effect)
	}
	if x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)); c.NA > 1 && slices.Equal(x, y) {
		c.alike = true
	}
	first := a[0]
	differs := func(v float64) bool { return v != first }
	if c.equal = !slices.ContainsFunc(a, differs) && !slices.ContainsFunc(b, differs); c.equal {
		c.Effect, c.P, c.Method = new(0.0), new(1.0), MethodExact
		if c.NA > 1 && c.NB > 1 {
			c.Smallest = new(0.0)
		}
		return c, false
	}
	return c, true
}

// bound says which changes the samples leave possible: on the scale of p, those from lo to hi.
func (c *Comparison) bound(p pair, lo, hi float64) {
	if c.Low, c.High = p.ratio(lo), p.ratio(hi); c.Low == nil || c.High == nil {
		c.Low, c.High = nil, nil
	}
}

// widen allows for what two processes or runs of the same thing differ by, where that is a floor: passes of one process do not show it.
func (c *Comparison) widen(n *Noise, o Options) {
	if c.Floor == nil || c.Effect == nil || *c.Effect <= -1 {
		return
	}
	by := 1 + *c.Floor
	if n.learned() {
		by = math.Exp(quantileT(2*o.alpha(), float64(n.DF)) * n.SD * math.Sqrt2)
	}
	low, high := (1+*c.Effect)/by-1, (1+*c.Effect)*by-1
	if c.Low != nil {
		low, high = min(low, *c.Low), max(high, *c.High)
	} else if c.NA > 1 && c.NB > 1 {
		return // the samples bound nothing
	}
	c.Low, c.High = &low, &high
}

// faultOf returns why values cannot be compared at all.
func faultOf(a, b []float64) string {
	switch {
	case len(a) == 0 && len(b) == 0:
		return "neither side has samples"
	case len(a) == 0:
		return "side A has no samples"
	case len(b) == 0:
		return "side B has no samples"
	}
	for side, values := range [][]float64{a, b} {
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				return fmt.Sprintf("sample %d of side %c is %v, which is neither a time nor a count", i+1, 'A'+side, v)
			}
		}
	}
	return ""
}

// Centre is the median of three values or more, which one stall does not move, else the mean; NaN of none.
func Centre(values []float64) float64 {
	n := len(values)
	switch {
	case n == 0:
		return math.NaN()
	case n < 3:
		return mean(values)
	}
	s := slices.Clone(values)
	slices.Sort(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}

// pair is the samples of both sides on the scale they are tested on: logarithms, on which noise that grows with the time is even and a
// change is a ratio; or, where some are 0, the values themselves in units of the largest.
type pair struct {
	a, b []float64
	logs bool
}

func logsOf(a, b []float64) pair {
	if slices.Min(a) > 0 && slices.Min(b) > 0 {
		log := func(v float64) float64 { return math.Log(v) }
		return pair{each(a, log), each(b, log), true}
	}
	// Not all are 0: describe has told those apart.
	unit := max(slices.Max(a), slices.Max(b))
	scale := func(v float64) float64 { return v / unit }
	return pair{each(a, scale), each(b, scale), false}
}

// ratio turns a shift on the scale of p into a relative change of centre, or nil where it is none.
func (p pair) ratio(width float64) *float64 {
	r := math.Expm1(width)
	if !p.logs {
		at := Centre(p.a)
		if at == 0 {
			return nil
		}
		r = width / at
	}
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return nil
	}
	return &r
}

func each(values []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

func mean(values []float64) float64 {
	var m float64
	for i, v := range values {
		m += (v - m) / float64(i+1)
	}
	return m
}

// squares is the sum of the squares of the differences between values and their mean.
func squares(values []float64) float64 {
	m, ss := mean(values), 0.0
	for _, v := range values {
		ss += (v - m) * (v - m)
	}
	return ss
}
