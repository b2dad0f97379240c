package stats

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// twoSidedT is the chance that |T| of Student's distribution with df degrees of freedom is t or more. It is taken from the tail, so that
// small chances keep their digits (Abramowitz and Stegun, 26.7.1 and 26.5.27).
func twoSidedT(t, df float64) float64 {
	return mathx.BetaInc(df/(df+t*t), df/2, 0.5)
}

// quantileT is the t that |T| reaches with the chance alpha: Newton's method on the logarithm of the tail, which is nearly straight in
// log t, kept within the bounds found so far.
func quantileT(alpha, df float64) float64 {
	lo, hi := 0.0, math.Inf(1)
	t := quantileNormal(alpha)
	for range 100 {
		p := twoSidedT(t, df)
		if p > alpha {
			lo = t
		} else {
			hi = t
		}
		if math.Abs(p-alpha) <= 1e-12*alpha || hi-lo <= 1e-13*lo {
			return t
		}
		slope := -2 * t * densityT(t, df) / p // d log p / d log t
		next := t * math.Exp(math.Log(alpha/p)/slope)
		if !(next > lo && next < hi) {
			next = lo + 1
			if !math.IsInf(hi, 1) {
				next = (lo + hi) / 2
			} else if lo > 0 {
				next = 2 * lo
			}
		}
		t = next
	}
	return t
}

func densityT(t, df float64) float64 {
	up, _ := math.Lgamma((df + 1) / 2)
	down, _ := math.Lgamma(df / 2)
	return math.Exp(up-down-(df+1)/2*math.Log1p(t*t/df)) / math.Sqrt(df*math.Pi)
}

// quantileNormal is the z that the size of a standard normal variable reaches with the chance alpha.
func quantileNormal(alpha float64) float64 { return math.Sqrt2 * math.Erfcinv(alpha) }

// upperF is the chance that F of d1 and d2 degrees of freedom is f or more (Abramowitz and Stegun, 26.6.2).
func upperF(f, d1, d2 float64) float64 {
	return mathx.BetaInc(d2/(d2+d1*f), d2/2, d1/2)
}
