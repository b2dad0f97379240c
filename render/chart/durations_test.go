package chart

import (
	"strings"
	"testing"

	"prof/render/rendertest"
)

// TestDurations holds bins on one axis for all kernels: the shortest begins at the bin of no measurable time.
func TestDurations(t *testing.T) {
	f, err := newDurationFigure(rendertest.DurationsFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Kernels) != 2 {
		t.Fatalf("%d kernels", len(f.Kernels))
	}
	axis := logAxis{1 / binRatio, 16384}
	gemm := f.Kernels[0]
	one, most := gemm.Bins[0], gemm.Bins[1]
	if one.X != Length(axis.at(1024)) || one.Width != Length(axis.at(2048)-axis.at(1024)) || one.Height != "1.5" || most.Height != Pixels(durationHeight-14) {
		t.Errorf("the bins are %+v", gemm.Bins)
	}
	if gemm.Median != Length(axis.at(16_000)) || gemm.Most != "1,000" || gemm.Said != "median 16 us, 1,001 calls, 16.0 ms in all" || one.Title != "from 1.02 us to 2.05 us: 1 call, 1.50 us" {
		t.Errorf("median at %s, most %s, %q, %q", gemm.Median, gemm.Most, gemm.Said, one.Title)
	}
	fill := f.Kernels[1]
	if fill.Bins[0].X != Length(0) || fill.Median != "" || !strings.Contains(fill.Spoken, "from 0 to 1 ns") {
		t.Errorf("executions without measurable time are %+v", fill)
	}
}

// TestDurationsLeaveOut holds that a bin without bounds is left out, with a word.
func TestDurationsLeaveOut(t *testing.T) {
	for _, end := range []any{8192.0, nil} {
		bad := rendertest.DurationsFrame()
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
