package cli

import "testing"

// TestMemoryBrief: the memory that Nsight Compute takes for its replays is not the workload's.
func TestMemoryBrief(t *testing.T) {
	list := []memoryRow{{"(all)", "nvml used", "baseline-1", new(int64(4 << 30))}, {"(all)", "nvml used", "ncu-1", new(int64(7 << 30))}, {"(all)", "torch allocated", "", new(int64(3 << 30))},
		{"decode", "torch allocated", "prof-1", new(int64(5 << 30))}, {"(all)", "torch reserved", "prof-1", nil}}
	if got := memoryBrief(list); got != "peak per GPU: 3 GiB torch allocated, 4 GiB nvml used" {
		t.Errorf("%q", got)
	}
}
