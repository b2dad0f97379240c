package diagnosis

import (
	"os"
	"path/filepath"
	"strings"

	"prof/internal/exports"
)

// Case is a capture with one cause put in, and what an engineer should see of it.
type Case struct {
	Base, Cause string
	put         cause
	// What is to be said first of what is new or has grown: a rule of findings, or one of cold-passes, slow-steps and worse-kernel (diff).
	Want         string
	Stage, About string // the stage; and a part of the name of the kernel, function, range or rank
}

// Control is a capture with a change that harms nothing.
type Control struct {
	Base, Change string
	make         func(c *Capture)
}

// Make returns a copy of a capture with the change.
func (k Control) Make(base *Capture) *Capture {
	c := base.Clone()
	k.make(c)
	c.Replay()
	return c
}

// Base is a capture that cases start from.
type Base struct {
	Name    string
	Files   []string // below the folder of captures, packed or not; PyTorch traces of ranks, or one export
	Only    string   // what is outside ranges of this name is left out; "" for nothing
	Profile string   // a page of Nsight Compute on the same program, as CSV; "" for none
	Samples string   // what prof capture sampled meanwhile, for captures that are a folder with run.json
}

// Bases are the captures.
var Bases = []Base{
	{Name: "llama, eager, PyTorch", Files: []string{"torch/llama.trace.json.gz"}},
	{Name: "training, PyTorch", Files: []string{"torch/train.trace.json.gz"}},
	{Name: "graph, PyTorch", Files: []string{"torch/graph.trace.json.gz"}},
	{Name: "two ranks, PyTorch", Files: []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}},
	{Name: "two ranks, nsys", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}},
	{Name: "llama, eager, nsys", Files: []string{"capture/llama/eager/nsys/report-1.sqlite.gz"}},
	{Name: "llama, graphs, nsys", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz"}, Only: `^repeat\[[01]\]$`},
	{Name: "CUDA program, nsys", Files: []string{"nsys/kernels/kernels.sqlite.gz"}},
	{Name: "equal blocks, nsys and ncu", Files: []string{"cpu/dealt-even.sqlite.gz"}, Profile: "cpu/dealt-even.csv.gz"},
	{Name: "llama, eager, prof capture", Files: []string{"capture/llama/eager/nsys/report-1.sqlite.gz"}, Samples: "capture/llama/eager"},
}

const (
	us = 1_000
	ms = 1_000_000

	fullClock = 1.98e9 // Hz, of the SMs of an H200

	allReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	addKernel = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
	sgemm     = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(cutlass_80_simt_sgemm_128x64_8x5_tn_align1::Params)"
)

var (
	decode  = place{in: `^LLM@decode_all$`}
	steps   = place{in: `^decode_step`}
	prefill = place{in: `^LLM@prefill$`}

	// The first pass is cold in the captures of Nsight Systems; its four steps, likewise.
	eagerDecode  = place{in: `^LLM@decode_all$`, skip: 1}
	eagerPrefill = place{in: `^LLM@prefill$`, skip: 1}
	eagerSteps   = place{in: `^decode_step`, skip: 4}

	backward = place{in: `^## backward ##$`}
	forward  = place{in: `^## forward ##$`}
)

// Cases are the causes, each in a capture. What is wanted was written before what the program says was looked at.
var Cases = []Case{
	{"llama, eager, PyTorch", "every launch of decode 50 us later", everyLaunch(decode, 1, pause(50*us)).costs(spans(decode)), "launch-bound", "decode", ""},
	{"llama, eager, PyTorch", "every tenth launch of decode 50 us later", everyLaunch(decode, 10, pause(50*us)).costs(spans(decode)), "launch-bound", "decode", ""},
	{"llama, eager, PyTorch", "every launch of prefill 30 us later", everyLaunch(prefill, 1, pause(30*us)).costs(spans(prefill)), "launch-bound", "prefill", ""},
	{"llama, eager, PyTorch", "the host wakes up 300 us after a wait, twice a decode step", everyLaunch(steps, 50, call("cudaStreamSynchronize", 300*us)).costs(spans(decode)), "wait", "decode", ""},
	{"llama, eager, PyTorch", "cudaMalloc of 400 us twice a decode step", everyLaunch(steps, 50, call("cudaMalloc", 400*us)).costs(spans(decode)), "allocator-calls", "decode", "cudaMalloc"},
	{"llama, eager, PyTorch", "cudaFree of 1 ms twice a prefill", everyLaunch(prefill, 40, call("cudaFree", 1*ms)).costs(spans(prefill)), "allocator-calls", "prefill", "cudaFree"},
	{"llama, eager, PyTorch", "garbage collection of 4 ms in every other decode step", everyRange(steps, 2, pause(4*ms)).costs(spans(decode)), "host", "decode", "decode_step"},
	{"llama, eager, PyTorch", "the same, and PyTorch marks it", everyRange(steps, 2, named("^decode_step", "Python GC", 4*ms)).costs(spans(decode)), "gc-pauses", "decode", "Python GC"},
	{"llama, eager, PyTorch", "4 ms of waiting for a CPU before every hundredth launch of decode, marked", starved(decode, 100, 4*ms).costs(spans(decode)), "cpu-starved", "decode", ""},
	{"llama, eager, PyTorch", "one decode step of eight 6 ms longer", slow(steps, 6*ms, 3), "slow-steps", "decode", "host"},
	{"llama, eager, PyTorch", "attention of decode 8 times as long", longer(decode, "cudnn_generated_fort_native_sdpa", 8), "worse-kernel", "decode", "cudnn_generated_fort_native_sdpa"},
	{"llama, eager, PyTorch", "a gemm of decode in one block", smaller(decode, "^nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", 1, 132).costs(spans(decode)), "small-grids", "decode", "nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN"},
	{"llama, eager, PyTorch", "gemms of prefill in FP32 on CUDA cores, 8 times as long", other(prefill, "^nvjet", sgemm, 8).costs(spans(prefill)), "fp32-products", "prefill", "sgemm"},
	{"llama, eager, PyTorch", "an all-reduce of 200 us before every tenth launch of decode", everyLaunch(decode, 10, kernels(1, "", allReduce, 200*us, 24)), "exposed-collectives", "decode", ""},

	{"training, PyTorch", "the data loader 10 ms late", everyRange(place{in: `^## data ##$`}, 1, pause(10*ms)).costs(spans(place{})), "host", "", "## data ##"},
	{"training, PyTorch", "every launch of backward 50 us later", everyLaunch(backward, 1, pause(50*us)).costs(spans(place{})), "launch-bound", "", ""},
	{"training, PyTorch", "a wait that wakes up 800 us late five times a forward pass", everyLaunch(forward, 10, call("cudaStreamSynchronize", 800*us)).costs(spans(place{})), "wait", "", ""},
	{"training, PyTorch", "cudaMalloc of 1 ms five times a forward pass", everyLaunch(forward, 10, call("cudaMalloc", 1*ms)).costs(spans(place{})), "allocator-calls", "", "cudaMalloc"},
	{"training, PyTorch", "an all-reduce of 900 us after every tenth launch of backward", everyLaunch(backward, 10, kernels(1, "", allReduce, 900*us, 24)), "exposed-collectives", "", ""},
	{"training, PyTorch", "attention's backward 20 times as long", longer(place{in: `^ProfilerStep`}, "^fmha_cutlassB", 20), "worse-kernel", "", "fmha_cutlassB"},
	{"training, PyTorch", "the input copied from pageable memory at a 300th of the rate", pageable(place{in: `^ProfilerStep`}, "HtoD", 300), "pageable-copies", "", ""},

	{"graph, PyTorch", "eight short elementwise kernels after each gemv of the graph", nodes(steps, "gemmSN_TN", 8, addKernel, 2*us), "elementwise-chains", "decode", ""},
	{"graph, PyTorch", "attention 6 times as long", longer(steps, "^fmha_cutlassF", 6), "worse-kernel", "decode", "fmha_cutlassF"},
	{"graph, PyTorch", "layer norm in one block", smaller(steps, "vectorized_layer_norm", 1, 20).costs(spans(steps)), "small-grids", "decode", "vectorized_layer_norm"},
	{"graph, PyTorch", "an all-reduce of 80 us after the convolution", nodes(steps, "^sm80_xmma_fprop", 1, allReduce, 80*us), "exposed-collectives", "decode", ""},
	{"graph, PyTorch", "cudaMalloc of 1 ms three times a prefill", everyLaunch(place{in: "^prefill$"}, 10, call("cudaMalloc", 1*ms)).costs(spans(place{in: "^prefill$"})), "allocator-calls", "prefill", "cudaMalloc"},
	{"graph, PyTorch", "garbage collection of 5 ms in prefill", everyLaunch(place{in: "^prefill$"}, 15, pause(5*ms)).costs(spans(place{in: "^prefill$"})), "host", "prefill", "prefill"},
	{"graph, PyTorch", "compiled anew for 5 ms in prefill", everyLaunch(place{in: "^prefill$"}, 15, named("^prefill$", "backend_compile (dynamo_timed)", 5*ms)).costs(spans(place{in: "^prefill$"})), "code-loading", "prefill", "backend_compile"},

	{"two ranks, PyTorch", "rank 0 6 ms late in each decode", everyRange(place{in: "^decode$", rank: 1}, 1, pause(6*ms)).costs(lengths(place{in: "^decode$", rank: 2}, "^nccl")), "collective-wait", "decode", "GPU 0"},
	{"two ranks, PyTorch", "rank 1 4 ms late in each decode", everyRange(place{in: "^decode$", rank: 2}, 1, pause(4*ms)).costs(lengths(place{in: "^decode$", rank: 1}, "^nccl")), "collective-wait", "decode", "GPU 1"},
	{"two ranks, PyTorch", "launches of rank 1 100 us later in decode", everyLaunch(place{in: "^decode$", rank: 2}, 1, pause(99*us)).costs(lengths(place{in: "^decode$", rank: 1}, "^nccl")), "collective-wait", "decode", "GPU 1"},
	{"two ranks, PyTorch", "all-reduces of decode 2 ms longer on both ranks", each(place{in: "^decode$"}, "AllReduce", func(k *Event) int64 { k.Longer = 2 * ms; return k.Longer / 2 }), "exposed-collectives", "decode", ""},
	{"two ranks, PyTorch", "cudaMalloc of 4 ms in each decode of rank 1", everyRange(place{in: "^decode$", rank: 2}, 1, call("cudaMalloc", 4*ms)).costs(lengths(place{in: "^decode$", rank: 1}, "^nccl")), "collective-wait", "decode", "GPU 1"},

	{"two ranks, nsys", "rank 0 2 ms late in each decode", everyRange(place{in: "^decode$", skip: 1, rank: 1}, 1, pause(2*ms)).costs(lengths(place{in: "^decode$", skip: 1, rank: 2}, "^nccl")), "collective-wait", "decode", "GPU 0"},
	{"two ranks, nsys", "rank 1 2 ms late in each decode", everyRange(place{in: "^decode$", skip: 1, rank: 2}, 1, pause(2*ms)).costs(lengths(place{in: "^decode$", skip: 1, rank: 1}, "^nccl")), "collective-wait", "decode", "GPU 1"},
	{"two ranks, nsys", "the gemm of rank 1 30 times as long in decode", longer(place{in: "^decode$", skip: 1, rank: 2}, "^nvjet_sm90_tst_64x16", 30).costs(lengths(place{in: "^decode$", skip: 1, rank: 1}, "^nccl")), "collective-wait", "decode", "GPU 1"},
	{"two ranks, nsys", "all kernels of rank 1 half as long again", each(place{in: "^(prefill|decode)$", rank: 2}, "^[^n]|^n[^c]", func(k *Event) int64 { k.Longer = (k.End - k.Start) / 2; return 0 }).costs(lengths(place{in: "^prefill$", skip: 1, rank: 2}, "^[^n]|^n[^c]")), "collective-wait", "prefill", "GPU 1"},
	{"two ranks, nsys", "collectives of prefill 3 ms longer", each(place{in: "^prefill$", skip: 1}, "AllReduce", func(k *Event) int64 { k.Longer = 3 * ms; return 0 }).costs(lengths(place{in: "^prefill$", skip: 1, rank: 1}, "^nccl")), "exposed-collectives", "prefill", ""},

	{"llama, eager, nsys", "every launch of decode 50 us later", everyLaunch(eagerDecode, 1, pause(50*us)).costs(spans(eagerDecode)), "launch-bound", "decode", ""},
	{"llama, eager, nsys", "every tenth launch of decode 80 us later", everyLaunch(eagerDecode, 10, pause(80*us)).costs(spans(eagerDecode)), "launch-bound", "decode", ""},
	{"llama, eager, nsys", "every launch of prefill 40 us later", everyLaunch(eagerPrefill, 1, pause(40*us)).costs(spans(eagerPrefill)), "launch-bound", "prefill", ""},
	{"llama, eager, nsys", "garbage collection of 8 ms in every fifth decode step", everyRange(eagerSteps, 5, pause(8*ms)).costs(spans(eagerDecode)), "host", "decode", "decode_step"},
	{"llama, eager, nsys", "the same, and it is marked", everyRange(eagerSteps, 5, named("^decode_step", "Python GC[2]", 8*ms)).costs(spans(eagerDecode)), "gc-pauses", "decode", "Python GC[2]"},
	{"llama, eager, nsys", "4 ms of waiting for a CPU before every hundredth launch of decode, marked", starved(eagerDecode, 100, 4*ms).costs(spans(eagerDecode)), "cpu-starved", "decode", ""},
	{"llama, eager, nsys", "5 ms of waiting for the GIL in every third decode step, traced", everyRange(eagerSteps, 3, named("^decode_step", "Waiting for GIL", 5*ms)).costs(spans(eagerDecode)), "gil-wait", "decode", "Waiting for GIL"},
	{"llama, eager, nsys", "a module of 3 ms loaded in every fifth decode step", everyRange(eagerSteps, 5, call("cuModuleLoadData", 3*ms)).costs(spans(eagerDecode)), "code-loading", "decode", "cuModuleLoadData"},
	{"llama, eager, nsys", "one decode step of twenty 20 ms longer", slow(eagerSteps, 20*ms, 6, 26), "slow-steps", "decode", "host"},
	{"llama, eager, nsys", "cudaMalloc of 500 us twice a decode step", everyLaunch(eagerSteps, 50, call("cudaMalloc_v3020", 500*us)).costs(spans(eagerDecode)), "allocator-calls", "decode", "cudaMalloc"},
	{"llama, eager, nsys", "a copy of 300 us from pageable memory before every fiftieth launch", everyLaunch(eagerSteps, 50, copies(300*us)), "pageable-copies", "decode", ""},
	{"llama, eager, nsys", "the last gemm of decode in 16 blocks", smaller(eagerDecode, "^nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT", 16, 132).costs(spans(eagerDecode)), "small-grids", "decode", "nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT"},
	{"llama, eager, nsys", "an all-reduce of 250 us twice a decode step", everyLaunch(eagerSteps, 50, kernels(1, "", allReduce, 250*us, 24)), "exposed-collectives", "decode", ""},
	{"llama, eager, nsys", "a wait that wakes up 400 us late twice a decode step", everyLaunch(eagerSteps, 50, call("cudaStreamSynchronize_v3020", 400*us)).costs(spans(eagerDecode)), "wait", "decode", ""},
	{"llama, eager, nsys", "attention's gemv of decode 40 times as long", longer(eagerDecode, "^void gemvNSP_kernel", 40), "worse-kernel", "decode", "gemvNSP_kernel"},
	{"llama, eager, nsys", "gemms of prefill in FP32 on CUDA cores, 12 times as long", other(eagerPrefill, "^nvjet", sgemm, 12).costs(spans(eagerPrefill)), "fp32-products", "prefill", "sgemm"},
	{"llama, eager, nsys", "the second pass cold: modules loaded for 60 ms", cold(`^LLM@decode_all$`, 2, 12, 5*ms), "cold-passes", "decode", ""},
	{"llama, eager, nsys", "tokenising for 5 ms in each prefill", everyLaunch(eagerPrefill, 70, pause(5*ms)).costs(spans(eagerPrefill)), "host", "prefill", "prefill"},

	{"llama, graphs, nsys", "the host 14 ms late before every fourth graph replay", everyRange(steps, 4, pause(14*ms)).costs(spans(decode)), "host", "decode", "decode_step"},
	{"llama, graphs, nsys", "garbage collection of 60 ms every sixteenth step", everyRange(steps, 16, pause(60*ms)).costs(spans(decode)), "host", "decode", "decode_step"},
	{"llama, graphs, nsys", "the same, and it is marked", everyRange(steps, 16, named("^decode_step", "Python GC[2]", 60*ms)).costs(spans(decode)), "gc-pauses", "decode", "Python GC[2]"},
	{"llama, graphs, nsys", "one step of thirty-two 70 ms longer", slow(steps, 70*ms, 20, 52).costs(spans(decode)), "slow-steps", "decode", "host"},
	{"llama, graphs, nsys", "cudaMalloc of 15 ms in every fourth step", everyRange(steps, 4, call("cudaMalloc_v3020", 15*ms)).costs(spans(decode)), "allocator-calls", "decode", "cudaMalloc"},
	{"llama, graphs, nsys", "a wait before every graph replay", everyRange(steps, 1, call("cudaStreamSynchronize_v3020", 0)).costs(spans(decode)), "graph-gaps", "decode", ""},
	{"llama, graphs, nsys", "a wait that wakes up 2 ms late before every graph replay", everyRange(steps, 1, call("cudaStreamSynchronize_v3020", 2*ms)).costs(spans(decode)), "wait", "decode", ""},
	{"llama, graphs, nsys", "gemms of decode in FP32 on CUDA cores, 4 times as long", other(decode, "^nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", sgemm, 4).costs(spans(decode)), "fp32-products", "decode", "sgemm"},
	{"llama, graphs, nsys", "four more short elementwise kernels after each gemm of decode", nodes(decode, "^nvjet_sm90_tst_64x8_64x16_2x1", 4, addKernel, 2*us), "elementwise-chains", "decode", ""},
	{"llama, graphs, nsys", "a reduction of decode in one block", smaller(decode, "^void at::native::reduce_kernel.*MeanOps", 1, 12).costs(spans(decode)), "small-grids", "decode", "MeanOps"},
	{"llama, graphs, nsys", "an all-reduce of 20 us after each gemm of decode", nodes(decode, "^nvjet_sm90_tst_64x8_64x16_2x1", 1, allReduce, 20*us), "exposed-collectives", "decode", ""},

	{"CUDA program, nsys", "saxpy 5 times as long", longer(place{in: "^decode_all$"}, "^saxpy", 5), "worse-kernel", "decode", "saxpy"},
	{"CUDA program, nsys", "reduce_sum in 16 blocks", smaller(place{in: "^decode_all$"}, "^reduce_sum", 16, 132).costs(spans(place{in: "^decode_all$"})), "small-grids", "decode", "reduce_sum"},

	{"llama, eager, prof capture", "clocks at 1.1 GHz in all samples", clocks(1.1e9, eagerDecode), "throttling", "decode", ""},
	{"llama, eager, prof capture", "clocks at 600 MHz in all samples", clocks(6e8, eagerDecode), "throttling", "decode", ""},

	{"equal blocks, nsys and ncu", "16 of 1056 blocks have thirty times the work of the others, as in cpu/dealt-uneven", uneven(place{in: "^decode$"}, "dealt", 4.453), "uneven-sms", "decode", "dealt"},
}

// Controls are changes that harm nothing: of nothing, of what the numbers of things are, and of what the queue of the GPU makes up for.
var Controls = []Control{
	{"llama, eager, PyTorch", "none", untouched},
	{"training, PyTorch", "none", untouched},
	{"graph, PyTorch", "none", untouched},
	{"two ranks, PyTorch", "none", untouched},
	{"two ranks, nsys", "none", untouched},
	{"llama, eager, nsys", "none", untouched},
	{"llama, graphs, nsys", "none", untouched},
	{"CUDA program, nsys", "none", untouched},
	{"llama, eager, prof capture", "none", untouched},
	{"equal blocks, nsys and ncu", "none", untouched},
	{"two ranks, PyTorch", "all times an hour later", shifted},
	{"two ranks, nsys", "all times an hour later, rows in the opposite order", func(c *Capture) { shifted(c); reversed(c) }},
	{"training, PyTorch", "threads with other ids, rows in the opposite order", func(c *Capture) { threads(c); reversed(c) }},
	{"llama, eager, nsys", "threads with other ids", threads},
	{"CUDA program, nsys", "calls and their work with other ids", renumbered},
	{"graph, PyTorch", "calls and their work with other ids", renumbered},
	{"llama, graphs, nsys", "garbage collections of 2 ms, marked, before every fourth graph replay, while the GPU has work queued", func(c *Capture) { everyRange(steps, 4, named("^decode_step", "Python GC[2]", 2*ms)).put(c) }},
	{"llama, graphs, nsys", "the host 2 ms late before every fourth graph replay, while the GPU has work queued", func(c *Capture) { everyRange(steps, 4, pause(2*ms)).put(c) }},
}

// Load reads a base from the folder of captures.
func (b Base) Load(captures string) (*Capture, error) {
	files, names := map[string][]byte{}, []string{}
	for _, path := range b.Files {
		data, err := exports.Unpack(filepath.Join(captures, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		files[name], names = data, append(names, name)
	}
	var c *Capture
	var err error
	switch filepath.Ext(names[0]) {
	case ".json":
		c, err = Trace(files, names...)
	case ".csv", ".txt":
		c = Lines(files[names[0]], names[0])
	default:
		c, err = Export(files[names[0]], names[0])
	}
	if err != nil {
		return nil, err
	}
	if b.Only != "" {
		c.Only(b.Only)
	}
	if b.Profile != "" {
		page, err := exports.Unpack(filepath.Join(captures, filepath.FromSlash(b.Profile)))
		if err != nil {
			return nil, err
		}
		return Profiled(c, page)
	}
	if b.Samples == "" {
		return c, nil
	}
	folder := filepath.Join(captures, filepath.FromSlash(b.Samples))
	run, err := os.ReadFile(filepath.Join(folder, "run.json"))
	if err != nil {
		return nil, err
	}
	samples, err := os.ReadFile(filepath.Join(folder, "nsys", "report-1.samples.csv"))
	if err != nil {
		return nil, err
	}
	return Folder(c, run, samples)
}
