package findings

import (
	"fmt"
	"strings"

	"prof/schema/say"
)

// kernels are about kernels as the timeline shows them.
var kernels = []Rule{
	{
		ID:        "elementwise-chains",
		Title:     "Chains of short elementwise kernels",
		Bound:     About,
		Saving:    "time of elementwise, activation and copy kernels shorter than the threshold that follow another such kernel on their stream: all of a chain but its first",
		Advice:    "fuse them: torch.compile, a fused operator (norm and residual, activation and gate, rotary embedding), or a custom kernel",
		Value:     5000,
		Unit:      "ns",
		Subject:   "family",
		Query:     "top-kernels",
		Options:   "stage device source by",
		Needs:     "timeline",
		Reference: "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#fuse-operations",
		Figures:   elementwiseChains{},
	},
	{
		ID:        "fp32-products",
		Title:     "Matrix products in FP32 outside tensor cores",
		Bound:     AtMost,
		Saving:    "time of matrix products and convolutions whose kernels' names say FP32 (sgemm, also of BF16 and FP16 inputs) x (1 - FP32 peak / peak of tensor cores for the inputs, TF32 for FP32); capped as small-grids",
		Advice:    `run the model in BF16 or FP16, or let FP32 products use TF32: torch.set_float32_matmul_precision("high"), torch.backends.cudnn.allow_tf32 = True`,
		Subject:   "kernel",
		Query:     "top-kernels",
		Options:   "stage device source",
		Needs:     "timeline, peaks of the device",
		Reference: "https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices",
		Figures:   FP32Products{},
	},
	{
		ID:        "small-grids",
		Title:     "Kernels with fewer blocks than SMs",
		Bound:     AtMost,
		Saving:    "time x (1 - blocks / SMs) of kernels whose mean duration reaches the threshold, collectives excluded; time of concurrent kernels counts once; capped at what the stage would gain without the kernel, by its critical paths",
		Advice:    "launch more blocks (split-K for matrix products, split-KV for attention, a larger batch), or overlap the kernel with others on another stream",
		Value:     5000,
		Unit:      "ns",
		Subject:   "kernel",
		Query:     "kernel-grids",
		Options:   "stage device source top",
		Needs:     "timeline with grids, SMs of the device",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#thread-and-block-heuristics",
		Figures:   smallGrids{},
	},
	{
		ID:        "wave-tail",
		Title:     "Partly filled last wave of blocks",
		Bound:     About,
		Saving:    "time x (1 - blocks / (waves x blocks that fit)) of kernels with more than one wave and at most the threshold, as long as those of small-grids; blocks that fit by registers, shared memory and threads; capped as small-grids",
		Advice:    "choose tile sizes or a split that fill whole waves, or use a persistent kernel (stream-K)",
		Value:     4,
		Unit:      "waves",
		Subject:   "kernel",
		Query:     "kernel-grids",
		Options:   "stage device source top",
		Needs:     "timeline with grids, limits of the device",
		Reference: "https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/index.html#gpu-execution",
		Figures:   waveTail{},
	},
}

type elementwiseChains struct {
	KernelCount int64   `json:"kernel_count"`
	BelowNs     float64 `json:"below_ns"`
	ChainCount  int64   `json:"chain_count"`
	KernelsNs   float64 `json:"kernels_ns"`
	ChainedNs   float64 `json:"chained_ns"`
}

func (n elementwiseChains) Words(Found) string {
	return fmt.Sprintf("%s elementwise kernels under %.0f us in %s take %s; all but the first of each chain take %s", say.Whole(n.KernelCount), n.BelowNs/1e3, say.Count(n.ChainCount, "chain", "chains"), say.Time(n.KernelsNs), say.Time(n.ChainedNs))
}

// executions are those of a kernel that could be faster.
type executions struct {
	CallCount int64   `json:"call_count"`
	CallsNs   float64 `json:"calls_ns"`
	HiddenNs  float64 `json:"hidden_ns"`
}

func (n executions) count() string { return say.Count(n.CallCount, "execution", "executions") }

// take is the verb of count.
func (n executions) take() string {
	if n.CallCount == 1 {
		return "takes"
	}
	return "take"
}

// hidden returns what faster kernels would not save; "" for nothing.
func (n executions) hidden() string {
	if n.HiddenNs == 0 {
		return ""
	}
	return "; another " + say.Time(n.HiddenNs) + " would save nothing: by the critical path, launches or other work end later"
}

// FP32Products are matrix products and convolutions outside tensor cores.
type FP32Products struct {
	executions
	TensorPrecision string  `json:"tensor_precision"` // that tensor cores would take the inputs in: tf32 for FP32, else their own
	FP32FlopPerS    float64 `json:"fp32_flop_per_s"`
	TensorFlopPerS  float64 `json:"tensor_flop_per_s"`
}

func (n FP32Products) Words(Found) string {
	of, format := "", strings.ToUpper(n.TensorPrecision)
	if n.HasSmallInputs() {
		of = " of " + format + " inputs"
	}
	return fmt.Sprintf("%s of matrix products%s in FP32 %s %s; %s on tensor cores has %.1f times the peak", n.count(), of, n.take(), say.Time(n.CallsNs), format, n.TensorFlopPerS/n.FP32FlopPerS) + n.hidden()
}

// HasSmallInputs reports whether the inputs are in BF16 or FP16 already: the library has chosen the kernel, no setting of the model.
func (n FP32Products) HasSmallInputs() bool { return n.TensorPrecision != "tf32" }

type smallGrids struct {
	executions
	LeastCount int64 `json:"least_count"` // blocks
	MostCount  int64 `json:"most_count"`
	SMCount    int64 `json:"sm_count"`
}

func (n smallGrids) Words(Found) string {
	blocks := fmt.Sprint(n.LeastCount)
	if n.LeastCount != n.MostCount {
		blocks += fmt.Sprintf(" to %d", n.MostCount)
	}
	return fmt.Sprintf("%s, mean %s, total %s; enough blocks for %s of %d SMs", n.count(), say.Time(n.CallsNs/float64(n.CallCount)), say.Time(n.CallsNs), blocks, n.SMCount) + n.hidden()
}

type waveTail struct {
	executions
	BlockCount int64 `json:"block_count"`
	SlotCount  int64 `json:"slot_count"`
}

func (n waveTail) Words(Found) string {
	return fmt.Sprintf("%s %s %s in total; the grid with the most time has %s blocks, and %s fit on the GPU at once: %.2f waves", n.count(), n.take(), say.Time(n.CallsNs), say.Whole(n.BlockCount), say.Whole(n.SlotCount), float64(n.BlockCount)/float64(n.SlotCount)) + n.hidden()
}
