package judge_test

import (
	"testing"

	"prof/queries/judge"
)

// TestSummaryKernels holds which kernels a summary names, and that a stage is named only where most of a kernel's time is sure to be in it.
func TestSummaryKernels(t *testing.T) {
	s, err := judge.Summarise(reportOf(
		answer("top-kernels", "kernel role family total_ns mean_ns calls share_ratio bound limiter",
			[]any{"k1", "gemm", "f", 80 * ms, 8e6, int64(10), 0.5, "memory", "dram"}, []any{"k2", nil, nil, 40 * ms, 4e6, int64(10), 0.25, nil, nil},
			[]any{"k3", "copy", "g", 20 * ms, 2e6, int64(10), 0.125, nil, nil}, []any{"k4", "copy", "g", 20 * ms, 2e6, int64(10), 0.125, nil, nil}),
		answer("stage-kernels", "stage kernel total_ns share_ratio role family",
			[]any{"decode", "k1", 50 * ms, 0.6, "gemm", "f"}, []any{"prefill", "k1", 30 * ms, 0.4, "gemm", "f"},
			[]any{"decode", "k2", 15 * ms, 0.2, nil, nil}, // the rest of it is in rows that are not here
			[]any{"(none)", "k3", 20 * ms, 1.0, "copy", "g"})))
	if err != nil {
		t.Fatal(err)
	}
	want := []judge.TopKernel{
		{Name: "k1", Role: "gemm", Stage: "decode", TotalNs: 80 * ms, MeanNs: 8e6, Calls: 10, ShareRatio: 0.5, Bound: "memory", Limiter: "dram", Query: "prof query top-kernels --run a"},
		{Name: "k2", TotalNs: 40 * ms, MeanNs: 4e6, Calls: 10, ShareRatio: 0.25, Query: "prof query top-kernels --run a"},
		{Name: "k3", Role: "copy", TotalNs: 20 * ms, MeanNs: 2e6, Calls: 10, ShareRatio: 0.125, Query: "prof query top-kernels --run a"},
	}
	if len(s.Kernels) != len(want) {
		t.Fatalf("%d kernels: %+v", len(s.Kernels), s.Kernels)
	}
	for i, k := range s.Kernels {
		if k != want[i] {
			t.Errorf("kernel %d is %+v, want %+v", i+1, k, want[i])
		}
	}
}
