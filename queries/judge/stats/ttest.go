package stats

import "math"

// byTest runs the test that the sizes of the samples allow: Mann-Whitney U, which assumes nothing of the noise, where it can be sure at
// all; else Welch's t, or Student's where a side has one sample or the noise of runs is known. The smallest change that could be shown
// is that which the same test, with the spread these samples have, would have been sure of.
func (c *Comparison) byTest(p pair, noise *Noise, o Options) {
	ssA, ssB := spread(p.a), spread(p.b)
	alpha := o.strictest()
	shared := p.logs && noise.tells() && noise.agrees(p)
	switch {
	case ssA == 0 && ssB == 0 && c.NA > 1 && c.NB > 1:
		c.withoutSpread(o)
	case !shared && smallestU(c.NA, c.NB) <= alpha:
		c.Method, c.P = MethodU, new(rankP(p.a, p.b))
		lo, hi := shiftInterval(p.a, p.b, alpha)
		c.Smallest = p.ratio((hi - lo) / 2)
		lo, hi = shiftInterval(p.a, p.b, 2*o.alpha())
		c.bound(p, lo, hi)
	case (c.NA == 1 || c.NB == 1) && ssA == 0 && ssB == 0 && !shared:
		c.fault = "one sample against several identical ones gives no spread"
		return
	default:
		c.byT(p, noise, alpha, o)
	}
	if c.Smallest != nil && c.Floor != nil {
		c.Smallest = new(max(*c.Smallest, *c.Floor))
	}
}

// withoutSpread judges samples that are all the same on either side. Clocks tick: of times, only what is beyond the margin is sure then.
func (c *Comparison) withoutSpread(o Options) {
	least := math.Log1p(max(o.Margin, DefaultMargin))
	if o.Exact {
		least = 0
	}
	c.Method, c.P, c.Smallest = MethodExact, new(1.0), new(math.Expm1(least))
	if c.Effect != nil {
		c.Low, c.High = new(*c.Effect), new(*c.Effect)
	}
	if c.Effect == nil || math.Abs(math.Log1p(*c.Effect)) > least {
		c.P = new(0.0)
	}
}

// spread is squares, with what rounding leaves of equal values taken for what it is.
func spread(values []float64) float64 {
	for _, v := range values {
		if v != values[0] {
			return squares(values)
		}
	}
	return 0
}

// byT runs a t-test. Where noise is known that the samples agree with, both tell of the same spread and are taken together. Else it is the more
// conservative of Welch's and Student's: the former where one side varies more, the latter where one has far more samples, of which Welch's is too sure
// (of 2 and 10 samples of the same normal noise it refuses 4.4 % at 1 %; measured).
// Noise that was measured on something else only makes it less sure: these may vary more, which few samples do not show.
func (c *Comparison) byT(p pair, noise *Noise, alpha float64, o Options) {
	if !p.logs || !noise.tells() || !noise.agrees(p) {
		noise = nil
	}
	shift := mean(p.b) - mean(p.a)
	d := math.Abs(shift)
	e := studentError(p.a, p.b, noise)
	c.Method, c.P = MethodStudent, new(e.p(d))
	if noise == nil && c.NA > 1 && c.NB > 1 {
		if w := welchError(p.a, p.b); w.p(d) >= *c.P {
			c.Method, c.P, e = MethodWelch, new(w.p(d)), w
		}
	}
	if noise != nil {
		c.NoiseSD = new(noise.SD)
		if own := studentError(p.a, p.b, nil); noise.From != "" && own.p(d) > *c.P {
			c.P, c.NoiseSD, e = new(own.p(d)), nil, own
		}
	}
	c.within(p, e, shift, alpha, o)
}

// within fills in what follows from the error of a shift: the smallest change that could be shown, and the interval.
func (c *Comparison) within(p pair, e meanError, shift, alpha float64, o Options) {
	c.Smallest = p.ratio(quantileT(alpha, e.df) * e.se)
	width := quantileT(2*o.alpha(), e.df) * e.se
	c.bound(p, shift-width, shift+width)
}

// byProcess compares the passes of one process a side. The error of the difference is that within processes, which their passes tell, and twice the
// variance between processes, which noise tells: a mixed model with the process as a random effect, whose degrees of freedom are Satterthwaite's (1946, "An
// approximate distribution of estimates of variance components", Biometrics 2).
func (c *Comparison) byProcess(p pair, passes meanError, noise Noise, o Options) {
	between := 2 * noise.SD * noise.SD
	whole := between + passes.se*passes.se
	e := meanError{math.Sqrt(whole), whole * whole / (between*between/float64(noise.DF) + math.Pow(passes.se, 4)/passes.df)}
	shift := math.Log1p(*c.Effect)
	c.processSD = noise.SD
	c.Method, c.P, c.NoiseSD, c.NoiseFrom = MethodProcess, new(e.p(math.Abs(shift))), new(noise.SD), noise.From
	c.within(p, e, shift, o.strictest(), o)
}

// robustFrom is how many passes a side has whose spread their median deviation tells: of fewer it is too often too small.
const robustFrom = 10

// passError is the standard error of the difference between the centres of passes. The spread is taken from the median deviation where there are enough
// passes, as centres are: one that stalled moves neither. What noise knows of passes counts too where these do not vary clearly more (F-test at 5 %).
func passError(p pair, noise Noise, o Options) meanError {
	if o.Paired && len(p.a) == len(p.b) {
		return pairError(p)
	}
	off := append(deviations(p.a), deviations(p.b)...)
	df := float64(len(off) - 2)
	variance := (spread(p.a) + spread(p.b)) / df
	if min(len(p.a), len(p.b)) >= robustFrom {
		variance = min(variance, robustVariance(off, df))
	}
	if known := noise.PassSD * noise.PassSD; known > 0 && (variance <= known || upperF(variance/known, df, float64(noise.PassDF)) >= 0.05) {
		variance = (variance*df + known*float64(noise.PassDF)) / (df + float64(noise.PassDF))
		df += float64(noise.PassDF)
	}
	return meanError{math.Sqrt(variance * (centreFactor(len(p.a)) + centreFactor(len(p.b)))), df}
}

// pairError is that of pairs of passes.
func pairError(p pair) meanError {
	each := make([]float64, len(p.a))
	for i := range each {
		each[i] = p.b[i] - p.a[i]
	}
	df := float64(len(each) - 1)
	variance := spread(each) / df
	if len(each) >= robustFrom {
		variance = min(variance, robustVariance(deviations(each), df))
	}
	return meanError{math.Sqrt(variance * centreFactor(len(each))), df}
}

// deviations are how far values lie from their centre.
func deviations(values []float64) []float64 {
	at := Centre(values)
	return each(values, func(v float64) float64 { return math.Abs(v - at) })
}

// robustVariance is that of normal noise with this median deviation; infinite where more than half of the values are the same.
func robustVariance(off []float64, df float64) float64 {
	sd := 1.4826 * Centre(off) * math.Sqrt(float64(len(off))/df)
	if sd == 0 {
		return math.Inf(1)
	}
	return sd * sd
}

// centreFactor is the variance of the centre of n values of variance 1: of a median where there are three or more, by its limit for normal noise.
func centreFactor(n int) float64 {
	if n < 3 {
		return 1 / float64(n)
	}
	return math.Pi / 2 / float64(n)
}

// meanError is the standard error of the difference between two means, and its degrees of freedom.
type meanError struct{ se, df float64 }

// p is the chance of a difference of d or more; 0 where nothing varies and there is one.
func (e meanError) p(d float64) float64 {
	switch {
	case d == 0:
		return 1
	case e.se == 0:
		return 0
	}
	return twoSidedT(d/e.se, e.df)
}

// welchError is that of Welch (1947), "The generalization of Student's problem when several different population variances are
// involved", with the degrees of freedom of Satterthwaite (1946).
func welchError(a, b []float64) meanError {
	na, nb := float64(len(a)), float64(len(b))
	va, vb := spread(a)/(na-1)/na, spread(b)/(nb-1)/nb
	// Shares of the sum, since squares of small variances would underflow.
	sa, sb := va/(va+vb), vb/(va+vb)
	return meanError{math.Sqrt(va + vb), 1 / (sa*sa/(na-1) + sb*sb/(nb-1))}
}

// studentError is that of Student's t with one variance for both sides and, where it is given, for the runs that the noise was learned from.
func studentError(a, b []float64, noise *Noise) meanError {
	na, nb := float64(len(a)), float64(len(b))
	ss, df := spread(a)+spread(b), na+nb-2
	if noise != nil {
		ss, df = ss+noise.SD*noise.SD*float64(noise.DF), df+float64(noise.DF)
	}
	return meanError{math.Sqrt(ss / df * (1/na + 1/nb)), df}
}

// agrees reports whether samples vary as the noise says: not clearly more, since then it is of calmer days, and where it was measured on something else
// not clearly less either, since then this is calmer. Clearly is by an F-test at 5 %.
func (n *Noise) agrees(p pair) bool {
	df := float64(len(p.a) + len(p.b) - 2)
	if df < 1 {
		return true
	}
	ratio := (spread(p.a) + spread(p.b)) / df / (n.SD * n.SD)
	if n.From != "" && (ratio == 0 || upperF(1/ratio, float64(n.DF), df) < 0.05) {
		return false
	}
	return ratio <= 1 || upperF(ratio, df, float64(n.DF)) >= 0.05
}
