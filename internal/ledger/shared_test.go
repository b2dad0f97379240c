package ledger

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"prof/internal/testkit"
)

// shared are larger captures, and damaged ones, that do not lie in the repository.
var shared = flag.Bool("shared", false, "make the ledger of the captures in ../shared too")

// sharedRuns are files below ../shared/captures, by run.
var sharedRuns = [][]string{
	{"dsocr-eager", "nsys/dsocr-eager/dsocr-eager.sqlite.gz", "nsys/dsocr-eager/workload.json"},
	{"dsocr-sdpa", "nsys/dsocr-sdpa/dsocr-sdpa.sqlite.gz", "nsys/dsocr-sdpa/workload.json"},
	{"dsocr-sdpa-torch", "torch/dsocr-sdpa.trace.json.gz", "torch/dsocr-sdpa.workload.json"},
	{"dsocr-decode-ncu", "ncu/dsocr-decode.ncu-rep.gz"},
	{"kernels-full", "ncu/kernels-full.ncu-rep.gz"},
	{"kernels-roofline", "ncu/kernels-roofline.ncu-rep.gz"},
	{"others-nsys", "others/h100_2gpu_1s.sqlite.gz"},
	{"others-nccl", "others/hta_nccl.trace.json.gz"},
	{"others-resolution", "others/hta_ns_resolution_rank0.trace.json.gz"},
	{"others-non-gpu", "others/hta_rank_non_gpu.trace.json.gz"},
	{"others-sglang", "others/sglang_qwen3_8b_prefilldecode.trace.json.gz"},
	{"others-ncu2021", "others/ncu2021-heat.ncu-rep"},
	{"odd-device-graph", "odd/device-graph.sqlite.gz"},
	{"odd-while", "odd/while-node.sqlite.gz"},
	{"odd-graphwhole", "odd/graphwhole.ncu-rep.gz"},
	{"odd-pmsampling", "odd/pmsampling.ncu-rep.gz"},
	{"odd-jax", "odd/jax-no-kernels.sqlite.gz"},
	{"odd-torch-replay", "odd/torch-graph-replay.json.gz"},
	{"odd-proton-trace", "odd/proton.chrome_trace"},
	{"odd-proton-tree", "odd/proton.hatchet"},
	{"repeat", "repeat"},
	{"lost-tp4", "lost/tp4-all-ranks.sqlite.gz"},
	{"lost-tp4-rank0", "lost/tp4-rank0-only.sqlite.gz"},
	{"lost-steps-full", "lost/steps-full.trace.json"},
	{"lost-steps-head", "lost/steps-head-lost.trace.json"},
	{"lost-burst", "lost/burst.trace.json.gz"},
	{"lost-undated", "lost/undated-first.trace.json"},
	{"lost-averages", "lost/profiler_out_0.txt"},
	{"lost-ranks", "lost/ranks-device0"},
	{"lost-merged", "lost/sglang-merged"},
	{"lost-begin-end", "lost/refused/begin-end-kernels.trace.json"},
	{"lost-gpu-trace", "lost/refused/r_cuda_gpu_trace.csv"},
	{"serving-aiperf", "serving/aiperf-0.13.0.profile_export.jsonl.gz", "serving/aiperf-0.13.0.profile_export_aiperf.json.gz"},
}

// TestShared is TestLedger for the captures in ../shared; what is refused, and why, is part of it.
func TestShared(t *testing.T) {
	if !*shared {
		t.Skip("asked for by -shared")
	}
	dir := filepath.Join(testkit.Root(), "..", "shared", "captures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there are no captures in ../shared")
	}
	refused := newPage(t, filepath.Join("shared", "refused"))
	var runs []testkit.Run
	for _, r := range sharedRuns {
		run := testkit.Run{Name: r[0]}
		for _, f := range r[1:] {
			run.Files = append(run.Files, "../../shared/captures/"+f)
		}
		runs = append(runs, run)
	}
	w := stored(t, runs, func(name string, err error) {
		refused.list[name] = name + ": " + placed.Replace(err.Error()) + "\n"
	})
	compare(t, w, "shared")
	refused.compare(t)
}
