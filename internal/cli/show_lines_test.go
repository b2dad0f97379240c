package cli

import (
	"testing"

	"prof/queries/frame"
)

// TestMemoryBrief: the memory that Nsight Compute takes for its replays is not the workload's.
func TestMemoryBrief(t *testing.T) {
	f := &frame.Frame{Columns: []frame.Column{{Name: "stage"}, {Name: "basis"}, {Name: "pass"}, {Name: "peak_bytes"}}, Rows: [][]any{
		{"(all)", "nvml used", "baseline-1", int64(4 << 30)}, {"(all)", "nvml used", "ncu-1", int64(7 << 30)}, {"(all)", "torch allocated", nil, int64(3 << 30)},
		{"decode", "torch allocated", "prof-1", int64(5 << 30)}, {"(all)", "torch reserved", "prof-1", nil},
	}}
	if got := memoryBrief(f); got != "peak per GPU: 3 GiB torch allocated, 4 GiB nvml used" {
		t.Errorf("%q", got)
	}
}
