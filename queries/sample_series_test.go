package queries_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// TestSampleSeries holds the parts to the samples in them.
func TestSampleSeries(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "repeats", Files: []string{capturedFolder(t)}, Facts: passFacts, // 512 has no name; some samples before the pass began
		SQL: `UPDATE device_sample SET throttle_mask = 516 WHERE run_id = $run AND device_id = 0 AND throttle_mask = 4;
			UPDATE device_sample SET time_ns = time_ns - 250000000 WHERE run_id = $run AND pass_id = 5`})
	samples := testkit.Query(t, w, "device-samples", queries.Args{"run": "repeats"})
	for _, parts := range []int64{1, 3, 200, 100000} {
		f := testkit.Query(t, w, "sample-series", queries.Args{"run": "repeats", "parts": fmt.Sprint(parts)})
		if total(f, "sample_count") != int64(len(samples.Rows)) || len(samples.Rows) != 52 {
			t.Errorf("%d parts: %d samples of %d", parts, total(f, "sample_count"), len(samples.Rows))
		}
		for i, r := range f.Rows {
			testPart(t, f, r, samples)
			if last := f.Rows[max(0, i-1)]; i > 0 && slices.Equal(r[:2], last[:2]) && number(f, r, "start_ns") < number(f, last, "end_ns") {
				t.Errorf("parts overlap: %v, %v", last, r)
			}
		}
		if perGPU := int64(len(f.Rows)) / 4; perGPU > parts || parts == 1 && perGPU != 1 || parts >= 200 && perGPU != 13 {
			t.Errorf("%d rows in %d parts", len(f.Rows), parts)
		}
	}
	if got, want := fmt.Sprint(rows(t, w, "SELECT pass, device, throttle FROM sample_series('repeats', parts := 1)")), "[[nsys-1 0 gpu_idle, sw_power_cap, bit 9] [nsys-1 1 <nil>] [nsys-2 0 gpu_idle] [nsys-2 1 <nil>]]"; got != want {
		t.Errorf("reasons %s, want %s", got, want)
	}
	for _, parts := range []string{"0", "-1", "100001"} {
		if _, err := queries.Raw(t.Context(), w, "FROM sample_series('repeats', parts := "+parts+")"); err == nil || !strings.Contains(err.Error(), "--parts is 1 to 100000") {
			t.Errorf("%s parts: %v", parts, err)
		}
	}
	if f := testkit.Query(t, testkit.All(t), "sample-series", queries.Args{"run": "llama-graph-node"}); len(f.Rows) != 0 || len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "the run was not made by prof capture") {
		t.Errorf("of another run: %v, %q", f.Rows, f.Notes)
	}
}

// testPart holds one part to its samples.
func testPart(t *testing.T, f *frame.Frame, r []any, samples *frame.Frame) {
	t.Helper()
	of := map[string][]float64{}
	count := int64(0)
	for _, s := range samples.Rows {
		at := number(samples, s, "time_ns")
		if s[samples.Index("pass")] != r[f.Index("pass")] || s[samples.Index("device")] != r[f.Index("device")] || at < number(f, r, "start_ns") || at >= number(f, r, "end_ns") {
			continue
		}
		count++
		for _, c := range []string{"sm_ratio", "memory_ratio", "sm_clock_hz", "memory_used_bytes", "power_w", "temperature_c"} {
			switch v := s[samples.Index(c)].(type) {
			case float64:
				of[c] = append(of[c], v)
			case int64:
				of[c] = append(of[c], float64(v))
			}
		}
	}
	if count != number(f, r, "sample_count") {
		t.Errorf("%v has %d samples", r, count)
	}
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	for _, c := range []struct {
		name, of string
		fold     func([]float64) float64
	}{
		{"sm_ratio", "sm_ratio", mean}, {"memory_ratio", "memory_ratio", mean}, {"sm_clock_hz", "sm_clock_hz", mean}, {"sm_clock_min_hz", "sm_clock_hz", slices.Min[[]float64]},
		{"memory_used_bytes", "memory_used_bytes", slices.Max[[]float64]}, {"power_w", "power_w", mean}, {"power_max_w", "power_w", slices.Max[[]float64]}, {"temperature_c", "temperature_c", slices.Max[[]float64]},
	} {
		got := r[f.Index(c.name)]
		if n, ok := got.(int64); ok {
			got = float64(n)
		}
		if x := of[c.of]; len(x) == 0 && got != nil || len(x) > 0 && (got == nil || math.Abs(got.(float64)-c.fold(x)) > 1e-9*math.Abs(c.fold(x))) {
			t.Errorf("%s is %v of %v in %v", c.name, got, x, r)
		}
	}
}
