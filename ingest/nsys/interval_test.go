package nsys

import (
	"math"
	"testing"
)

// What is stored can be added up: neither an interval nor the sum of a hundred of them overflows.
func TestIsInterval(t *testing.T) {
	for _, c := range []struct {
		start, end int64
		want       bool
	}{
		{0, 0, true}, {5, 7, true}, {7, 5, false}, {-20, -10, true}, {0, farthest - 1, true}, {0, farthest, false}, {-farthest, 0, false}, {1 - farthest, 0, true},
		{math.MinInt64, math.MaxInt64, false}, {math.MaxInt64 - 1, math.MaxInt64, false}, {20, 1 << 62, false},
	} {
		if got := isInterval(c.start, c.end); got != c.want {
			t.Errorf("[%d, %d] is an interval: %v", c.start, c.end, got)
		}
	}
}
