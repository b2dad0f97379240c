package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// TestTDistribution compares with the closed forms for one and two degrees of freedom, and with printed tables of t.
func TestTDistribution(t *testing.T) {
	for _, x := range []float64{0.01, 0.5, 1, 3, 12, 1e3, 1e6} {
		near(t, "p of 1 degree", twoSidedT(x, 1), 2/math.Pi*math.Atan(1/x), 1e-9)
		near(t, "p of 2 degrees", twoSidedT(x, 2), 2/(2+x*x)/(1+x/math.Sqrt(2+x*x)), 1e-9)
		near(t, "F of 2 and 7 degrees", upperF(x, 2, 7), math.Pow(1+2*x/7, -3.5), 1e-9)
	}
	for _, c := range []struct{ alpha, df, want float64 }{
		{0.05, 1, 12.7062}, {0.01, 1, 63.6567}, {0.01, 2, 9.92484}, {0.01, 4, 4.60409}, {0.01, 10, 3.16927}, {0.05, 30, 2.04227}, {0.001, 5, 6.86883},
	} {
		near(t, "quantile", quantileT(c.alpha, c.df), c.want, 1e-5)
	}
	for _, alpha := range []float64{0.9, 0.2, 0.01, 1e-4, 1e-9} {
		for _, df := range []float64{1, 1.3, 2, 4.7, 30, 1e4} {
			near(t, "p of the quantile", twoSidedT(quantileT(alpha, df), df), alpha, 1e-9)
		}
		near(t, "normal quantile", math.Erfc(quantileNormal(alpha)/math.Sqrt2), alpha, 1e-7)
	}
}

// TestSleep compares with what R prints for its data set sleep (Student 1908): t.test(extra ~ group), with and without var.equal.
func TestSleep(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	d := mean(a) - mean(b)
	e := welchError(a, b)
	near(t, "t", d/e.se, -1.8608, 1e-4)
	near(t, "Welch's degrees of freedom", e.df, 17.776, 1e-4)
	near(t, "Welch's p", twoSidedT(-d/e.se, e.df), 0.07939, 1e-4)
	near(t, "lower end", d-quantileT(0.05, e.df)*e.se, -3.3654832, 1e-7)
	near(t, "upper end", d+quantileT(0.05, e.df)*e.se, 0.2054832, 1e-6)
	e = studentError(a, b, nil)
	near(t, "Student's p", twoSidedT(-d/e.se, e.df), 0.07919, 1e-4)
}

// TestStudentNoise counts by hand: squares 2 of one side, 0 of a lone run, and 3 degrees of noise with variance 2 make 8 / 5.
func TestStudentNoise(t *testing.T) {
	a, b := []float64{4, 6}, []float64{9}
	calm := &Noise{SD: math.Sqrt2, DF: 3}
	e := studentError(a, b, calm)
	near(t, "variance with noise", e.se*e.se, 8.0/4*1.5, 1e-12)
	near(t, "degrees of freedom with noise", e.df, 4, 1e-12)
	e = studentError(a, b, nil)
	near(t, "variance alone", e.se*e.se, 2*1.5, 1e-12)
	// Samples that vary 100 times as much as the noise are on a worse day than it: they speak for themselves.
	if calm.agrees(pair{a: []float64{-100, 100}, b: b}) || !calm.agrees(pair{a: a, b: b}) {
		t.Error("samples that vary far more agree with the noise, or like ones do not")
	}
	// Calmer ones are calmer days, unless the noise is of something else.
	quiet := pair{a: []float64{4, 4.001, 4.002}, b: []float64{9, 9.001, 9.002}}
	if elsewhere := (&Noise{SD: math.Sqrt2, DF: 30, From: "test machines"}); !calm.agrees(quiet) || elsewhere.agrees(quiet) {
		t.Error("samples that vary far less agree with noise of another machine, or do not with that of their own")
	}
}
