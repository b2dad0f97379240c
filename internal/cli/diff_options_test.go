package cli

import (
	"math"
	"testing"
)

// TestPercentFrom holds that a percentage has its sign, as a bare number could be a share.
func TestPercentFrom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"5%": 0.05, "0.5 %": 0.005, " 12% ": 0.12, "0%": 0, "250%": 2.5} {
		if got, err := percentFrom(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "write a percentage such as 5%", "%": "write a percentage such as 5%", "-1%": "write a percentage such as 5%", "NaN%": "write a percentage such as 5%",
		"1e9%": "write a percentage such as 5%", "5": "write 5%, or 500% if you mean a ratio", "0.05": "write 0.05%, or 5% if you mean a ratio"} {
		if _, err := percentFrom(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
