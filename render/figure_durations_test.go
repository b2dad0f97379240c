package render

import (
	"strings"
	"testing"

	"prof/queries/frame"
)

func durationsFrame() *frame.Frame {
	return frameOf("kernel-durations", "rank kernel from_ns to_ns calls total_ns kernel_calls kernel_total_ns median_ns",
		[]any{int64(1), "gemm " + breakout, 1024.0, 2048.0, int64(1), int64(1500), int64(1001), int64(16_001_500), 16_000.0},
		[]any{int64(1), "gemm " + breakout, 8192.0, 16384.0, int64(1000), int64(16_000_000), int64(1001), int64(16_001_500), 16_000.0},
		[]any{int64(2), "fill", 0.0, 1.0, int64(4), int64(0), int64(4), int64(0), 0.0})
}

// TestDurations holds bins on one axis for all kernels: the shortest begins at the bin of no measurable time.
func TestDurations(t *testing.T) {
	f, err := newDurationFigure(durationsFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Kernels) != 2 {
		t.Fatalf("%d kernels", len(f.Kernels))
	}
	axis := logAxis{1 / binRatio, 16384}
	gemm := f.Kernels[0]
	one, most := gemm.Bins[0], gemm.Bins[1]
	if one.X != length(axis.at(1024)) || one.Width != length(axis.at(2048)-axis.at(1024)) || one.Height != "1.5" || most.Height != pixels(durationHeight-14) {
		t.Errorf("the bins are %+v", gemm.Bins)
	}
	if gemm.Median != length(axis.at(16_000)) || gemm.Most != "1,000" || gemm.Said != "median 16 us, 1,001 calls, 16.0 ms in all" || one.Title != "from 1.02 us to 2.05 us: 1 call, 1.50 us" {
		t.Errorf("median at %s, most %s, %q, %q", gemm.Median, gemm.Most, gemm.Said, one.Title)
	}
	fill := f.Kernels[1]
	if fill.Bins[0].X != length(0) || fill.Median != "" || !strings.Contains(fill.Spoken, "from 0 to 1 ns") {
		t.Errorf("executions without measurable time are %+v", fill)
	}
}

// TestDurationsLeaveOut holds that a bin without bounds is left out, with a word.
func TestDurationsLeaveOut(t *testing.T) {
	for _, end := range []any{8192.0, nil} {
		bad := durationsFrame()
		bad.Rows[1][3] = end
		f, err := newDurationFigure(bad)
		if err != nil {
			t.Fatal(err)
		}
		if gemm := f.Kernels[0]; len(gemm.Bins) != 1 || gemm.Most != "1" || !strings.HasSuffix(gemm.Said, "16.0 ms in all, 1 bin without bounds not drawn") {
			t.Errorf("a bin that ends at %v: %+v", end, gemm)
		}
		for _, row := range bad.Rows {
			row[3] = nil
		}
		if f, err := newDurationFigure(bad); f != nil || err != nil {
			t.Errorf("without bounds: %+v, %v", f, err)
		}
	}
}
