package chart

import (
	"math"
	"slices"
	"testing"

	"prof/queries/frame"
)

// TestLogAxis holds where values lie, and that steps are round, on the axis and no more than there is room for.
func TestLogAxis(t *testing.T) {
	a := logAxis{0.1, 1000}
	for _, c := range []struct{ v, want float64 }{{0.1, 0}, {1, 0.25}, {10, 0.5}, {1000, 1}} {
		if got := a.at(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g lies at %g, want %g", c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		axis logAxis
		most int
		want []float64
	}{
		{logAxis{0.1, 1000}, 5, []float64{0.1, 1, 10, 100, 1000}},
		{logAxis{800, 3000}, 5, []float64{1000, 2000}},
		{logAxis{90, 1100}, 3, []float64{100, 300, 1000}},
		{logAxis{1, 1e8}, 5, []float64{1, 1e2, 1e4, 1e6, 1e8}},
	} {
		got := c.axis.steps(c.most)
		if !slices.EqualFunc(got, c.want, func(x, y float64) bool { return math.Abs(x/y-1) < 1e-9 }) {
			t.Errorf("the steps of %v are %v, want %v", c.axis, got, c.want)
		}
	}
	if got := decades(0, 3, 700, math.Inf(1)); got != (logAxis{1, 1000}) {
		t.Errorf("the decades of 3 to 700 are %v", got)
	}
	if got := decades(10); got != (logAxis{10, 100}) {
		t.Errorf("the decades of 10 are %v", got)
	}
}

// TestRoundTop holds that an axis ends at a round number of the unit it is labelled in.
func TestRoundTop(t *testing.T) {
	for _, c := range []struct {
		unit frame.Unit
		v    float64
		want float64
	}{{frame.Watt, 687, 1000}, {frame.Watt, 480, 500}, {frame.Hz, 1.98e9, 2e9}, {frame.Bytes, 5 << 30, 5 << 30}, {frame.Bytes, 6 << 30, 10 << 30}, {frame.Celsius, 0, 1}} {
		if got := roundTop(c.unit, c.v); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%g %s: %g, want %g", c.v, c.unit, got, c.want)
		}
	}
	ticks := timeTicks(-1e8, 4.1e9)
	if len(ticks) != 5 || ticks[0].Text != "0" || ticks[4].Text != "4 s" {
		t.Errorf("the ticks of -0.1 to 4.1 s are %v", ticks)
	}
}
