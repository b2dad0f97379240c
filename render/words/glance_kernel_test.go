package words

import (
	"testing"

	"prof/queries/judge"
)

// TestKernelText holds what is said of a kernel: what bounds it only where that was measured, and of a collective that it waits.
func TestKernelText(t *testing.T) {
	of := func(role, stage, bound, limiter string) string {
		return KernelText(judge.TopKernel{Role: role, Stage: stage, Bound: bound, Limiter: limiter, TotalNs: 2_000_000, MeanNs: 1e6, Calls: 2, ShareRatio: 0.5})
	}
	const lead = "50.0 % of all kernel time: 2 ms in 2 calls of 1 ms"
	for got, want := range map[string]string{
		of("", "", "", ""):                         lead + "; bound unknown: Nsight Compute did not profile it",
		of("gemm", "decode", "memory", "dram"):     lead + "; gemm; mostly in decode; memory-bound by Nsight Compute (dram)",
		of("gemm", "", "unknown", ""):              lead + "; gemm; bound unknown from what Nsight Compute measured",
		of("collective", "prefill", "latency", ""): lead + "; collective; mostly in prefill; its time includes waiting for later ranks",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := KernelText(judge.TopKernel{Role: "gemm", TotalNs: 2_000_000, MeanNs: 1e6, Calls: 2, ShareRatio: 0.5, IsMeasured: true, Bound: "unknown"}), "50.0 % of kernel time in measured passes: 2 ms in 2 calls of 1 ms; gemm; bound unknown from what Nsight Compute measured"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
