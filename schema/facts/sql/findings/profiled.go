package findings

import (
	"fmt"

	"prof/schema/say"
)

// profiled are about kernels that Nsight Compute profiled.
var profiled = []Rule{
	{
		ID:        "below-roof",
		Title:     "Kernels far below the roofline",
		Bound:     AtMost,
		Saving:    "time x (1 - the higher of compute and memory throughput, as a share of peak), where that share is below the threshold; time at the profiled grids only; capped as small-grids",
		Advice:    "see what limits it (bottlenecks, ncu-rules): try another algorithm or library kernel, other tile sizes, more work per launch",
		Value:     0.6,
		Unit:      "ratio",
		Subject:   "kernel",
		Query:     "bottlenecks",
		Options:   "kernel source",
		Needs:     "kernels profiled by Nsight Compute",
		Reference: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/#roofline-charts",
		Figures:   belowRoof{},
	},
	{
		ID:        "low-occupancy",
		Title:     "Kernels limited by occupancy",
		Bound:     AtMost,
		Saving:    "as below-roof, for latency-bound kernels that do not use tensor cores and whose achieved occupancy is below the threshold",
		Advice:    "use fewer registers or less shared memory per block, or change the block size",
		Value:     0.5,
		Unit:      "ratio",
		Subject:   "kernel",
		Query:     "bottlenecks",
		Options:   "kernel source",
		Needs:     "kernels profiled by Nsight Compute",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#occupancy",
		Figures:   lowOccupancy{},
	},
	{
		ID:        "uneven-sms",
		Title:     "Kernels that keep some SMs busy for longer than others",
		Bound:     AtMost,
		Saving:    "time x (1 - mean / maximum of the cycles that SMs are active, over the same for blocks of equal length), where that is below the threshold; for kernels as long as those of small-grids, at the profiled grids only; capped as small-grids",
		Advice:    "give blocks equal work: split the long ones (split-K, split-KV, chunks of sequences), start the longest first, or let blocks fetch their work as they finish (persistent kernel, atomic counter)",
		Value:     0.8,
		Unit:      "ratio",
		Subject:   "kernel",
		Query:     "ncu-balance",
		Options:   "kernel",
		Needs:     "kernels profiled by Nsight Compute with cycles of SMs",
		Reference: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/#metrics-reference",
		Figures:   unevenSMs{},
	},
}

// profiledGrid is the grid of a kernel that has the most time of those that Nsight Compute profiled.
type profiledGrid struct {
	executions
	Grid    string  `json:"grid"`
	Block   string  `json:"block"`
	Bound   *string `json:"bound"`
	Limiter *string `json:"limiter"`
}

func (n profiledGrid) at() string {
	return fmt.Sprintf("%s %s %s in total; the grid with the most time (%s, blocks of %s)", n.count(), n.take(), say.Time(n.CallsNs), n.Grid, n.Block)
}

type belowRoof struct {
	profiledGrid
	RoofRatio      float64  `json:"roof_ratio"`
	OccupancyRatio *float64 `json:"occupancy_ratio"`
}

func (n belowRoof) Words(Found) string {
	text := fmt.Sprintf("%s reaches %.1f %% of its roof", n.at(), 100*n.RoofRatio)
	if n.Bound != nil && *n.Bound != "unknown" {
		text += " and is bound by " + *n.Bound
	}
	if n.Limiter != nil && *n.Limiter != "" {
		text += " (" + *n.Limiter + ")"
	}
	return text + n.hidden()
}

type lowOccupancy struct {
	profiledGrid
	RoofRatio      *float64 `json:"roof_ratio"` // null where Nsight Compute measured one throughput alone
	OccupancyRatio float64  `json:"occupancy_ratio"`
}

func (n lowOccupancy) Words(Found) string {
	text := fmt.Sprintf("%s reaches %.1f %% occupancy", n.at(), 100*n.OccupancyRatio)
	if n.RoofRatio != nil {
		text += fmt.Sprintf(" and %.1f %% of its roof", 100**n.RoofRatio)
	}
	return text + n.hidden()
}

type unevenSMs struct {
	executions
	BlockCount int64   `json:"block_count"`
	SMCount    int64   `json:"sm_count"`
	MeanCycles float64 `json:"mean_cycles"`
	MaxCycles  float64 `json:"max_cycles"`
}

func (n unevenSMs) Words(Found) string {
	return fmt.Sprintf("%s %s %s in total; with %s blocks on %d SMs, the busiest SM is active for %s cycles, the mean SM for %s (%.0f %%)", n.count(), n.take(), say.Time(n.CallsNs), say.Whole(n.BlockCount), n.SMCount, say.Whole(int64(n.MaxCycles)),
		say.Whole(int64(n.MeanCycles)), 100*n.MeanCycles/n.MaxCycles) + n.hidden()
}
