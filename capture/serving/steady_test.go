package serving

import (
	"math"
	"testing"
	"time"
)

// TestSteady looks when launches count as steady, by the second in which they do.
func TestSteady(t *testing.T) {
	for name, c := range map[string]struct {
		rate func(second float64) float64 // launches a second
		from int                          // 0: never
	}{
		"flat":                  {func(float64) float64 { return 5000 }, 9},
		"one a second":          {func(float64) float64 { return 1 }, 9},
		"a step up":             {func(s float64) float64 { return 1000 + 4000*math.Min(1, math.Floor(s/5)) }, 14},
		"a ramp of 30 s":        {func(s float64) float64 { return 100 * math.Min(s, 30) }, 35},
		"9 % in four seconds":   {func(s float64) float64 { return 1000 * math.Pow(1.09, s/4) }, 9},
		"12 % in four seconds":  {func(s float64) float64 { return 1000 * math.Pow(1.12, s/4) }, 0},
		"falling":               {func(s float64) float64 { return 1000 * math.Pow(0.8, s/4) }, 0},
		"nothing":               {func(float64) float64 { return 0 }, 0},
		"bursts of two seconds": {func(s float64) float64 { return 1000 * float64(int(s)/2%2) }, 9},
		"bursts of six seconds": {func(s float64) float64 { return 1000 * float64(int(s)/6%2) }, 0},
	} {
		var r rates
		total, from := 0.0, 0
		for second := range 90 {
			r.add(time.Duration(second)*time.Second, int64(total))
			total += c.rate(float64(second))
			if from == 0 && r.isSteady() {
				from = second
			}
		}
		if from != c.from {
			t.Errorf("%s: steady from second %d, want %d", name, from, c.from)
		}
	}
}
