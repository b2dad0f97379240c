package stats

import (
	"cmp"
	"math"
	"slices"
)

// LearnNoise tells from groups of runs of the same thing how much such runs vary: the standard deviation of the logarithms of their
// values within their groups, pooled. Two runs differ by the noise of both, hence by sqrt 2 of it; so the floor, the largest change that
// counts as noise at alpha, is exp(t * SD * sqrt 2) - 1 with t of Student's distribution at 1 - alpha/2. Values that are no positive
// numbers are left out. It returns nil where no group has two runs: then nothing is known.
func LearnNoise(groups [][]float64, alpha float64) *Noise {
	var ss float64
	var df int
	for _, g := range groups {
		var logs []float64
		for _, v := range g {
			if v > 0 && !math.IsInf(v, 1) {
				logs = append(logs, math.Log(v))
			}
		}
		if len(logs) > 1 {
			ss += spread(logs)
			df += len(logs) - 1
		}
	}
	if df < 1 {
		return nil
	}
	n := &Noise{SD: math.Sqrt(ss / float64(df)), DF: df}
	n.Floor = math.Expm1(quantileT(Options{Alpha: alpha}.alpha(), float64(df)) * n.SD * math.Sqrt2)
	return n
}

// AssumeNoise is noise that the user vouches for: changes up to ratio, 0.02 for 2 %, are noise. It returns nil where that is no ratio.
func AssumeNoise(ratio float64) *Noise {
	if !(ratio >= 0) || math.IsInf(ratio, 1) {
		return nil
	}
	return &Noise{Floor: ratio, Assumed: true}
}

// Over is n, or what else is known of noise where there is none. A floor that the user vouches for says nothing of a spread: it stands over the one that is
// known, without which a few samples would tell less than where nothing is assumed.
func (n *Noise) Over(known *Noise) *Noise {
	if n == nil {
		return known
	}
	if !n.Assumed || known == nil {
		return n
	}
	both := *known
	both.Floor, both.Assumed = n.Floor, true
	return &both
}

// floor is Floor, or where only the spread is known what follows from it.
func (n *Noise) floor(alpha float64) float64 {
	if n.Assumed || n.Floor > 0 || n.DF == 0 {
		return n.Floor
	}
	return math.Expm1(quantileT(alpha, float64(n.DF)) * n.SD * math.Sqrt2)
}

// tells reports whether n tells a spread. One of 0 is of copies, or of too few runs to have met any noise.
func (n *Noise) tells() bool { return n != nil && n.DF > 0 && n.SD > 0 }

// learned reports whether that spread is all that n tells: there is no floor that the user vouches for.
func (n *Noise) learned() bool { return n.tells() && !n.Assumed }

// setFloor says that a change must be beyond the noise between runs.
func (c *Comparison) setFloor(n *Noise) {
	lone := c.NA == 1 || c.NB == 1 // tell nothing without a noise that is known
	if n != nil && (n.Assumed || n.learned() && (n.From == "" || !lone)) {
		c.Floor, c.FloorAssumed = new(n.floor(DefaultAlpha)), n.Assumed
		if !n.Assumed {
			c.NoiseFrom = n.From
		}
	}
}

// byNoise judges two values by the noise between runs alone, where it is known.
func (c *Comparison) byNoise(p pair, o Options) {
	if c.Floor == nil {
		if c.lone = c.NA > 1 || c.NB > 1; !c.lone {
			c.fault = "one sample per side gives no spread"
		}
		return
	}
	c.Method, c.Smallest = MethodFloor, new(*c.Floor)
	if o.Noise.learned() && p.logs {
		// Centres, not means: of several passes one may have stalled.
		d := math.Abs(Centre(p.b) - Centre(p.a))
		c.P = new(twoSidedT(d/(o.Noise.SD*math.Sqrt2), float64(o.Noise.DF)))
		c.Smallest = new(math.Expm1(quantileT(o.strictest(), float64(o.Noise.DF)) * o.Noise.SD * math.Sqrt2))
	}
}

// Holm adjusts the p of several comparisons made together, so that the chance to call any noise among them a change stays at alpha
// (Holm 1979, "A simple sequentially rejective multiple test procedure"). Those that are nil stay so and count for none.
func Holm(p []*float64) []*float64 {
	out := make([]*float64, len(p))
	var order []int
	for i, v := range p {
		if v != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(*p[i], *p[j]) })
	largest := 0.0
	for step, i := range order {
		largest = max(largest, min(1, *p[i]*float64(len(order)-step)))
		out[i] = new(largest)
	}
	return out
}
