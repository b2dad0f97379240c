package queries

import (
	"slices"
	"testing"
)

// TestLimits reads what parameters may be, as queries refuse the rest.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		query, param string
		choices      []string
		min, max     float64
	}{
		{"top-kernels", "by", []string{"name", "short", "family"}, 0, 0},
		{"memory-timeline", "buckets", nil, 1, 100000},
		{"mfu", "peak", nil, 1e9, 0},
		{"trend", "metric", []string{"gpu_span_ns", "gpu_busy_ns", "gpu_sum_ns", "cpu_ns", "mfu_ratio", "mbu_ratio", "tokens_per_s"}, 0, 0},
		{"top-kernels", "stage", nil, 0, 0},
		{"findings", "min_share", nil, 0, 1},
		{"timeline-matches", "source", []string{"prof", "nsys", "rocprof", "torch", "xla", "proton", "nsys-stats", "proton-tree"}, 0, 0},
		{"top-operators", "source", []string{"torch", "prof", "nsys", "xla", "key_averages"}, 0, 0},
		{"top-kernels", "source", []string{"prof", "nsys", "rocprof", "torch", "xla", "proton", "nsys-stats", "proton-tree"}, 0, 0},
	} {
		q, err := Find(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.LimitsOf(c.param)
		if err != nil || !slices.Equal(got.Choices, c.choices) || (got.Min != nil) != (c.min != 0 || c.max != 0) || got.Min != nil && *got.Min != c.min || got.Max != nil && *got.Max != c.max {
			t.Errorf("%s of %s: %+v, %v", c.param, c.query, got, err)
		}
	}
}
