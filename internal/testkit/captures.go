package testkit

import (
	"slices"
	"testing"

	"prof/schema"
)

// Captures are the captures of testdata, each a run of one name for all tests. A new one goes to the end: its place is part of its time.
var Captures = []Run{
	{Name: "kernels", Files: []string{"nsys/kernels/kernels.sqlite.gz"}},
	{Name: "kernels-stats", Files: []string{"nsys/kernels/stats"}},
	{Name: "nccl2", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}},
	{Name: "nccl2-stats", Files: []string{"nsys/nccl2/stats"}},
	{Name: "llama-graph-node", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz"}},
	{Name: "utilised", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "workload/llama-graph-node.workload.json"}},
	{Name: "emit-nvtx", Files: []string{"nsys/emit-nvtx/emit-nvtx.sqlite.gz"}},
	{Name: "nsys-stacks", Files: []string{"nsys/stacks/stacks.sqlite.gz"}},
	{Name: "variants-node", Files: []string{"nsys/variants-node/variants-node.sqlite.gz"}},
	{Name: "variants-graph", Files: []string{"nsys/variants-graph/variants-graph.sqlite.gz"}},
	{Name: "forms", Files: []string{"forms/llama.sqlite.gz"}},
	{Name: "profiled", Files: []string{"nsys/kernels/kernels.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz", "ncu/kernels-range.ncu-rep.gz", "ncu/variants-graph.ncu-rep.gz", "ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}},
	{Name: "ncu-llama", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}},
	{Name: "ncu-apprange", Files: []string{"ncu/variants-apprange.ncu-rep.gz"}},
	{Name: "ncu-lines", Files: []string{"ncu/source/lines.ncu-rep.gz"}},
	{Name: "ncu-nolines", Files: []string{"ncu/source/nolines.ncu-rep.gz"}},
	{Name: "ncu-triton", Files: []string{"ncu/source/triton.ncu-rep.gz"}},
	{Name: "eager", Files: []string{"capture/llama/eager"}},
	{Name: "sdpa-1", Files: []string{"capture/llama/sdpa-1"}},
	{Name: "sdpa-2", Files: []string{"capture/llama/sdpa-2"}},
	{Name: "repeats", Files: []string{"capture/repeats"}},
	{Name: "graph-node", Files: []string{"graph/node.sqlite.gz"}},
	{Name: "graph-whole", Files: []string{"graph/whole.sqlite.gz"}},
	{Name: "graph-trace", Files: []string{"graph/graph.trace.json.gz"}},
	{Name: "graph-two", Files: []string{"graph/two-capture.trace.json.gz", "graph/two-replay.trace.json.gz"}},
	{Name: "graph-fork", Files: []string{"graph/fork-capture.trace.json.gz", "graph/fork-replay.trace.json.gz"}},
	{Name: "graph-stack", Files: []string{"graph/stack-capture.trace.json.gz", "graph/stack-replay.trace.json.gz"}},
	{Name: "engine-node", Files: []string{"engine/engine-node.sqlite.gz", "engine/config.json"}},
	{Name: "engine-graph", Files: []string{"engine/engine-graph.sqlite.gz", "engine/config.json"}},
	{Name: "engine-trace", Files: []string{"engine/engine.trace.json.gz", "engine/config.json"}},
	{Name: "vllm-decode", Files: []string{"engine/vllm-decode.trace.json.gz"}},
	{Name: "vllm-mixed", Files: []string{"engine/vllm-mixed.trace.json.gz"}},
	{Name: "sglang-decode", Files: []string{"engine/sglang-decode.trace.json.gz"}},
	{Name: "events", Files: []string{"events/streams.sqlite.gz"}},
	{Name: "events-plain", Files: []string{"events/plain.trace.json.gz"}},
	{Name: "events-sync", Files: []string{"events/sync.trace.json.gz"}},
	{Name: "cpu-dealt-even", Files: []string{"cpu/dealt-even.sqlite.gz", "cpu/dealt-even.csv.gz"}},
	{Name: "cpu-dealt-uneven", Files: []string{"cpu/dealt-uneven.sqlite.gz", "cpu/dealt-uneven.csv.gz"}},
	{Name: "cpu-gil", Files: []string{"cpu/gil.sqlite.gz"}},
	{Name: "cpu-nogil", Files: []string{"cpu/nogil.sqlite.gz"}},
	{Name: "cpu-idle", Files: []string{"cpu/idle.sqlite.gz"}},
	{Name: "cpu-lock", Files: []string{"cpu/lock.sqlite.gz"}},
	{Name: "cpu-retry", Files: []string{"cpu/retry.sqlite.gz"}},
	{Name: "cpu-sched", Files: []string{"cpu/sched.sqlite.gz"}},
	{Name: "cpu-tilt", Files: []string{"cpu/tilt.sqlite.gz", "cpu/tilt.csv.gz"}},
	{Name: "ranks", Files: []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}},
	{Name: "ranks-nsys", Files: []string{"ranks/rank0.sqlite.gz"}},
	{Name: "torch-llama", Files: []string{"torch/llama.trace.json.gz", "torch/llama.key_averages.json.gz"}},
	{Name: "llama-stack", Files: []string{"torch/llama-stack.trace.json.gz", "torch/llama-stack.key_averages.json.gz"}},
	{Name: "train", Files: []string{"torch/train.trace.json.gz", "torch/train.key_averages.json.gz"}},
	{Name: "train-stack", Files: []string{"torch/train-stack.trace.json.gz", "torch/train-stack.key_averages.json.gz"}},
	{Name: "torch-graph", Files: []string{"torch/graph.trace.json.gz", "torch/graph.key_averages.json.gz"}},
	{Name: "torch-cpu", Files: []string{"torch/cpu.trace.json.gz", "torch/cpu.key_averages.json.gz"}},
	{Name: "torch-gc", Files: []string{"torch/gc.trace.json.gz"}},
	{Name: "torch-hot", Files: []string{"torch/lines/hot.trace.json.gz"}},
	{Name: "torch-ops", Files: []string{"torch/ops.trace.json.gz"}},
	{Name: "torch-bert", Files: []string{"torch/models/bert.trace.json.gz"}},
	{Name: "torch-gpt2", Files: []string{"torch/models/gpt2.trace.json.gz"}},
	{Name: "torch-mixtral", Files: []string{"torch/models/mixtral.trace.json.gz"}},
	{Name: "torch-vit", Files: []string{"torch/models/vit.trace.json.gz"}},
	{Name: "torch-whisper", Files: []string{"torch/models/whisper.trace.json.gz"}},
	{Name: "tree-eager", Files: []string{"torch/tree/eager.trace.json.gz"}},
	{Name: "tree-norm", Files: []string{"torch/tree/norm.trace.json.gz"}},
	{Name: "tree-sdpa", Files: []string{"torch/tree/sdpa.trace.json.gz"}},
	{Name: "wrapped-compiled", Files: []string{"torch/wrapped/compiled.trace.json.gz"}},
	{Name: "wrapped-ddp", Files: []string{"torch/wrapped/ddp.trace.json.gz"}},
	{Name: "wrapped-lora", Files: []string{"torch/wrapped/lora.trace.json.gz"}},
	{Name: "windows-before", Files: []string{"windows/before.sqlite.gz"}},
	{Name: "windows-after", Files: []string{"windows/after.sqlite.gz"}},
	{Name: "foreign-streams", Files: []string{"foreign/all-streams.trace.json.gz"}},
	{Name: "foreign-counters", Files: []string{"foreign/counters.trace.json.gz"}},
	{Name: "foreign-mtia", Files: []string{"foreign/mtia.trace.json.gz"}},
	{Name: "foreign-minimal", Files: []string{"foreign/minimal.sqlite.gz"}},
	{Name: "foreign-jax", Files: []string{"foreign/jax.xplane.pb.gz"}},
	{Name: "foreign-rocprof", Files: []string{"foreign/rocprofv3.json.gz"}},
	{Name: "foreign-rocprof-csv", Files: []string{"foreign/rocprofv3_kernel_trace.csv"}},
	{Name: "peers-event-sync", Files: []string{"peers/event-sync.trace.json.gz"}},
	{Name: "peers-resnet", Files: []string{"peers/resnet-waits.trace.json.gz"}},
	{Name: "serving-aiperf", Files: []string{"serving/aiperf"}},
	{Name: "serving-genai", Files: []string{"serving/genai-perf"}},
	{Name: "serving-vllm", Files: []string{"serving/vllm.json"}},
	{Name: "serving-sglang", Files: []string{"serving/sglang.jsonl"}},
	{Name: "serving-trtllm", Files: []string{"serving/trtllm.json"}},
	{Name: "serving-mlperf", Files: []string{"serving/mlperf_log_summary.txt"}},
	{Name: "serving-own", Files: []string{"serving/own.json"}},
	{Name: "first", Files: []string{"first/20251107-115812"}},
	{Name: "model", Files: []string{"model/deepseek-ocr.config.json"}},
	{Name: "nccl2-tokens", Files: []string{"nsys/nccl2/nccl2.sqlite.gz", "workload/llama-graph-node.workload.json"}},
	{Name: "utilised-eager", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "workload/dsocr-eager.workload.json"}},
	{Name: "utilised-sdpa", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "workload/dsocr-sdpa.workload.json"}},
	{Name: "engine-contexts", Files: []string{"engine/vllm-decode.trace.json.gz", "engine/config.json"}},
	{Name: "lost-tp4", Files: []string{"lost/tp4-all-ranks.sqlite.gz"}},
	{Name: "lost-tp4-rank0", Files: []string{"lost/tp4-rank0-only.sqlite.gz"}},
	{Name: "lost-steps", Files: []string{"lost/steps-full.trace.json.gz"}},
	{Name: "lost-steps-head", Files: []string{"lost/steps-head-lost.trace.json.gz"}},
	{Name: "lost-burst", Files: []string{"lost/burst.trace.json.gz"}},
	{Name: "serving-loads", Files: []string{"serving/guidellm", "serving/inference-perf", "serving/genai-bench", "serving/evalscope", "serving/llm-d"}},
	{Name: "ncu-samples", Files: []string{"ncu/pmsampling.ncu-rep.gz"}},
	{Name: "proton-trace", Files: []string{"proton/h200.chrome_trace"}},
	{Name: "proton-tree", Files: []string{"proton/h200.hatchet"}},
}

// Demo are the runs of prof demo, and three runs of one workload under prof capture: two of the same code, one of other.
var Demo = []Run{
	{Name: "kernels", Files: []string{"nsys/kernels/kernels.sqlite.gz"}},
	{Name: "two-gpus", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}},
	{Name: "profiled", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}},
	{Name: "operators", Files: []string{"torch/llama-stack.trace.json.gz"}},
	{Name: "llama", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "workload/llama-graph-node.workload.json"}},
	{Name: "sdpa-1", Files: []string{"capture/llama/sdpa-1"}},
	{Name: "sdpa-2", Files: []string{"capture/llama/sdpa-2"}},
	{Name: "eager", Files: []string{"capture/llama/eager"}},
}

// Named returns captures by the names of their runs.
func Named(t testing.TB, names ...string) []Run {
	t.Helper()
	var out []Run
	for _, name := range names {
		i := slices.IndexFunc(Captures, func(r Run) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("no capture is called %s", name)
		}
		out = append(out, Captures[i])
	}
	return out
}

// All returns a warehouse with every capture of testdata.
func All(t testing.TB) *schema.Warehouse {
	t.Helper()
	return Warehouse(t, Captures...)
}
