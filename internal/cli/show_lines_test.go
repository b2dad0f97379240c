package cli

import (
	"testing"

	"prof/queries/judge"
)

// TestMemoryBrief: the memory that Nsight Compute takes for its replays is not the workload's.
func TestMemoryBrief(t *testing.T) {
	list := []memoryRow{{"(all)", "nvml used", "baseline-1", new(int64(4 << 30))}, {"(all)", "nvml used", "ncu-1", new(int64(7 << 30))}, {"(all)", "torch allocated", "", new(int64(3 << 30))},
		{"decode", "torch allocated", "prof-1", new(int64(5 << 30))}, {"(all)", "torch reserved", "prof-1", nil}}
	if got := memoryBrief(list); got != "peak per GPU: 3 GiB torch allocated, 4 GiB nvml used" {
		t.Errorf("%q", got)
	}
}

// TestProfiledLine holds what a screen says of kernels that Nsight Compute profiled beside a timeline.
func TestProfiledLine(t *testing.T) {
	top := []judge.KernelRow{{Kernel: "a", Bound: "memory"}, {Kernel: "b"}, {Kernel: "c"}, {Kernel: "d"}, {Kernel: "e"}, {Kernel: "f", Bound: "latency"}}
	runs, runsNot := judge.BoundRow{Kind: "kernel", Kernel: "a", TimelineTotalNs: new(1e6)}, judge.BoundRow{Kind: "kernel", Kernel: "z"}
	for _, c := range []struct {
		profiled []judge.BoundRow
		kernels  []judge.KernelRow
		want     string
	}{
		{nil, top, ""},
		{[]judge.BoundRow{runs}, nil, ""},
		{[]judge.BoundRow{{Kind: "graph", Kernel: "(graph)"}}, top, ""},
		{[]judge.BoundRow{runs, runs, runsNot}, top, "2 kernels profiled, 1 of the top 5: prof query bottlenecks --run 'a b'"},
		{[]judge.BoundRow{runs}, top[1:2], "1 kernel profiled, none of the top 1: prof query bottlenecks --run 'a b'"},
		{[]judge.BoundRow{runsNot}, top, "1 kernel profiled, none of which runs in measured passes: prof query ncu-matches --unmatched --run 'a b'"},
	} {
		if got := profiledLine("a b", c.profiled, c.kernels); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
