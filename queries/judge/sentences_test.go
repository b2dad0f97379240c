package judge_test

import (
	"testing"

	"prof/internal/golden"
	"prof/queries/frame"
	"prof/queries/judge"
)

var said golden.Said

// TestSentences keeps what the tests of summaries are told, so that a reader can go over it.
func TestSentences(t *testing.T) {
	said.Reset()
	t.Run("said", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){"advice": TestSummaryAdvice, "gain": TestSummaryGain, "once": TestSummaryAdviceOnce, "plans": TestSummaryAdvicePlans, "replays": TestSummaryAdviceReplays, "graphs": TestSummaryGraphs, "largest": TestLargestWithAdvice, "missing": TestSummaryMissing, "doubts": TestSummaryDoubts, "overhead": TestOverheadLines, "utilisation": TestSummaryUtilisationNotes,
			"no stages": TestSummaryWithoutStages, "late": TestSummaryLate, "late longest": TestSummaryLateLongest, "late shared": TestSummaryLateShared, "late in one": TestSummaryLateInOne, "late once": TestLateOnce, "late on one GPU": TestLateOnOneGPU, "late by its own": TestLateByItsOwn, "slow GPU": TestLateBySlowGPU, "gaps": TestSummaryGaps, "apart": TestPassesApart, "copies": TestSummaryCopies, "profiled": TestSummaryProfiledWords, "GPUs": TestSummaryOfGPUs,
			"breakdown": TestSummaryBreakdown, "kernels": TestSummaryKernels, "ranks": TestSlowRank, "recordings": TestSlowRankOfEach, "stream": TestSharedStreamWords, "bound": TestSummaryBound, "stages": TestSummaryStages, "no work": TestSummaryStagesWithoutWork, "lacking": TestSummaryLacking, "rest": TestSummaryRest} {
			t.Run(name, test)
		}
	})
	said.Add([]any{judge.BoundWords, judge.CauseWords, judge.CategoryWords, judge.CopyWords, judge.MemoryWords, judge.RoleWords})
	sayFindings(t)
	sayLarge(t)
	sayStages(t)
	sayStatic(t)
	// Names of rules and keys that nobody reads.
	said.Compare(t, "testdata/sentences.txt", "too little data", "work of others", "passes of GPU ", "(copies and fills)", "(work of others)")
}

// sayFindings says the evidence of each rule of findings, and how its time spreads over passes.
func sayFindings(t *testing.T) {
	const even, once, mixed = `"pass_count":3,"max_ns":34e6,"median_ns":33e6,`, `"pass_count":3,"max_ns":95e6,"median_ns":0,`, `"pass_count":3,"max_ns":60e6,"median_ns":20e6,`
	const kernel = `"call_count":12,"calls_ns":90e6,"grid":"64 x 1 x 1","block":"128 x 1 x 1",`
	for _, c := range [][3]string{
		{"launch-bound", "decode", even + `"busy_ratio":0.4,"launch_ns":60e6,"launch_delay_ns":30e6,"launch_latency_ns":10e6,"single_count":300,"single_ns":9e5,"replay_count":6`},
		{"graph-gaps", "", `"busy_ratio":0.8,"launch_ns":100e6,"replay_count":1,"graph_ratio":0.9`},
		{"wait", "decode", once + `"call_count":30,"calls_ns":80e6,"api":"cudaStreamSynchronize"`},
		{"call", "decode", mixed + `"call_count":1,"calls_ns":80e6,"is_load":true`},
		{"gc-pauses", "decode", mixed + `"call_count":3,"calls_ns":90e6,"all_count":9,"failed_count":0`},
		{"gil-wait", "decode", even + `"call_count":30,"calls_ns":100e6,"all_count":30,"failed_count":0,"holder_tid":4242,"held_ns":120e6,"line":"data.py:31 prep","line_count":80,"sample_count":96`},
		{"cpu-starved", "decode", even + `"wait_ns":120e6,"wall_ns":200e6,"run_ns":60e6,"others_ns":30e6,"preempted_count":30,"cpu_count":1,"limit_ratio":null,"throttled_ns":null,"thread_count":21,"runnable_count":4`},
		{"cpu-starved", "decode", once + `"wait_ns":120e6,"wall_ns":200e6,"run_ns":60e6,"others_ns":300e6,"preempted_count":1,"cpu_count":64,"limit_ratio":1.5,"throttled_ns":400e6,"thread_count":96,"runnable_count":9`},
		{"code-loading", "decode", once + `"call_count":1,"calls_ns":90e6,"all_count":1,"failed_count":0`},
		{"allocator-calls", "decode", mixed + `"call_count":6,"calls_ns":90e6,"all_count":8,"failed_count":2`},
		{"allocator-calls", "decode", mixed + `"call_count":6,"calls_ns":90e6,"all_count":8,"failed_count":0,"retry_count":2,"got_bytes":4e9,"given_bytes":3e9`},
		{"allocator-calls", "decode", mixed + `"call_count":6,"calls_ns":90e6,"all_count":8,"failed_count":0,"retry_count":1,"block_bytes":4e9`},
		{"host", "decode", mixed + `"gap_count":3`},
		{"host", "decode", mixed + `"line":"lib/model.py:40 sample","line_ns":70e6`},
		{"host", "decode", once + `"before":"cudnn sdpa","before_role":"attention","before_library":"cuDNN","before_ns":95e6,"step_count":12,"pass_step_count":16`},
		{"host", "decode", even + `"before":"memcpy Host-to-Device","before_ns":60e6,"step_count":12,"pass_step_count":16`},
		{"queued", "", `"gap_count":9`},
		{"elementwise-chains", "decode", `"kernel_count":2400,"below_ns":10000,"chain_count":120,"kernels_ns":100e6,"chained_ns":95e6`},
		{"fp32-products", "decode", `"call_count":12,"calls_ns":90e6,"tensor_precision":"tf32","fp32_flop_per_s":67e12,"tensor_flop_per_s":494e12`},
		{"fp32-products", "decode", `"call_count":1,"calls_ns":90e6,"tensor_precision":"bf16","fp32_flop_per_s":67e12,"tensor_flop_per_s":989e12`},
		{"small-grids", "decode", kernel + `"least_count":8,"most_count":16,"sm_count":132`},
		{"small-grids", "decode", kernel + `"least_count":8,"most_count":16,"sm_count":132,"hidden_ns":5e6`},
		{"wave-tail", "decode", kernel + `"block_count":300,"slot_count":264`},
		{"below-roof", "decode", kernel + `"roof_ratio":0.55,"bound":"memory","limiter":"dram"`},
		{"below-roof", "decode", kernel + `"roof_ratio":0.55,"bound":"unknown","limiter":null`},
		{"low-occupancy", "decode", kernel + `"roof_ratio":null,"occupancy_ratio":0.2`},
		{"pageable-copies", "decode", even + `"copy_count":30,"copied_bytes":null,"copies_ns":100e6,"alone_ns":100e6,"call_ns":120e6`},
		{"uneven-sms", "decode", kernel + `"block_count":1056,"sm_count":132,"mean_cycles":70173.34,"max_cycles":275568,"hidden_ns":0`},
		{"low-occupancy", "decode", kernel + `"roof_ratio":0.55,"occupancy_ratio":0.2`},
		{"pageable-copies", "decode", even + `"copy_count":30,"copied_bytes":2e9,"copies_ns":100e6,"alone_ns":40e6,"call_ns":120e6`},
		{"exposed-copies", "decode", `"copy_count":30,"copied_bytes":2e9,"copies_ns":100e6,"all_ns":110e6,"shared_count":20,"shared_ns":90e6,"streams":[7,13]`},
		{"exposed-copies", "decode", `"copy_count":30,"pinned_count":12,"copied_bytes":2e9,"copies_ns":100e6,"all_ns":110e6`},
		{"exposed-copies", "decode", `"copy_count":30,"pinned_count":30,"copied_bytes":2e9,"copies_ns":100e6,"all_ns":110e6`},
		{"exposed-collectives", "decode", even + `"collective_count":96,"collectives_ns":200e6,"exposed_ns":100e6,"wait_ns":null,"shared_count":96,"shared_ns":100e6,"streams":[7]`},
		{"slow-gpu", "decode", `"gpu_count":8,"call_count":2400,"calls_ns":120e6,"usual_ns":100e6,"slower_ns":118e6,"clock_hz":14e8,"others_clock_hz":198e7`},
		{"throttling", "", `"slow_count":12,"sample_count":40,"clock_hz":12e8,"max_clock_hz":198e7,"work_ns":250e6`},
	} {
		row := findingRow(c[0], c[1], 100*ms, map[string]any{"call": "cudaMalloc", "allocator-calls": "cudaFree", "code-loading": "torch.compile", "gc-pauses": "Python GC[2]", "gil-wait": "Waiting for GIL", "exposed-copies": "memcpy Host-to-Device"}[c[0]])
		row[7] = "{" + c[2] + "}"
		r := reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("findings", findingColumns, row), answer("finding-rules", "finding query options detail"))
		summarise(t, r)
		f, err := r.FindingsTable()
		if err != nil {
			t.Fatal(err)
		}
		said.Add(f.Columns)
	}
}

const largeColumns = "stage kernel role share_ratio limit roof_ratio roof_basis bound limiter operator blocks most_blocks sm_count input_precision findings calls total_ns pass_calls pass_ns path_pass_ns passes device device_count plan_rank"

// sayLarge says what limits kernels that take much of a stage.
func sayLarge(t *testing.T) {
	row := func(stage, limit string, roof any, basis, bound, limiter, operator, input string, calls, blocks int64, path any, rank int64) []any {
		return []any{stage, "k", "gemm", 0.123, limit, roof, basis, bound, limiter, operator, blocks, blocks + 20, int64(132), input, "small-grids, wave-tail", calls, int64(90 * ms), float64(calls) / 2, 30 * ms, path, int64(3), int64(0), int64(1), rank}
	}
	for _, maker := range []string{"NVIDIA H200", "AMD Instinct MI300X"} {
		s := summarise(t, reportOf(answer("devices", "name", []any{maker}), answer("findings", findingColumns, findingRow("small-grids", "decode", 90*ms, "k")), answer("large-kernels", largeColumns,
			row("decode", "ranks", nil, "", "", "", "", "", 3, 8, nil, 1),
			row("decode", "roof", 0.84, "ncu", "memory", "dram", "", "", 1, 300, 3*ms, 1),
			row("decode", "roof", 0.84, "operator", "compute", "", "aten::mm", "", 30, 300, 0.0, 1),
			row("", "below-roof", 0.004, "operator", "memory", "", "aten::cudnn_convolution", "bf16", 30, 4, 0.0, 1),
			row("", "below-roof", 0.3, "ncu", "latency", "occupancy", "", "", 30, 300, 3*ms, 1),
			row("decode", "below-roof", 0.5, "product", "memory", "", "", "", 30, 300, 3*ms, 1),
			row("decode", "tensor-cores", nil, "", "", "", "", "fp16", 30, 24, nil, 1),
			row("decode", "", nil, "", "", "", "", "", 30, 300, nil, 14))))
		said.Add([]any{s.Large})
	}
}

// sayStages says what the tests of summaries leave unsaid.
func sayStages(t *testing.T) {
	launching := []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"launch", "launch-bound", 160 * ms, 150 * ms}}
	passes := passesAnswer("passes", []any{"decode", int64(1), int64(1), int64(7), false, 20 * ms, 10 * ms, int64(1)}, []any{"decode", int64(2), int64(1), int64(7), false, 160 * ms, 10 * ms, int64(2)}, []any{"decode", int64(3), int64(1), int64(7), false, 20 * ms, 20 * ms, int64(3)})
	queued := []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"queued", "queued", 100 * ms, 40 * ms}}
	gap := []any{50 * ms, 30 * ms, int64(1), int64(7), 50 * ms}
	onePass := passesAnswer("passes", []any{"decode", int64(1), int64(1), int64(7), false, 200 * ms, 100 * ms, int64(5)})
	summarise(t, rankReport([]idlePart{{"compute", "busy", 150 * ms, 50 * ms}, {"other", "other", 150 * ms, 50 * ms}}, 0, 200*ms))
	for _, frames := range [][]*frame.Frame{
		{threePasses("decode"), accountingOf("decode", launching)},
		{threePasses("decode"), accountingOf("decode", launching), passes},
		{threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 60 * ms, 20 * ms}, {"launch", "launch-bound", 160 * ms, 60 * ms}, {"host", "host", 150 * ms, 140 * ms}}), passes},
		{threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"host", "host", 160 * ms, 150 * ms}}), answer("findings", findingColumns, findingRow("host", "decode", 160*ms, nil))},
		{threePasses("decode"), accountingOf("decode", queued), onePass, answer("longest-gaps of decode", "duration_ns start_ns source_id pid queued_ns", gap, gap), answer("findings", findingColumns, findingRow("queued", "decode", 100*ms, nil))},
		{threePasses("decode"), accountingOf("decode", busyParts()), answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k3", "compute", nil, 1e3, int64(1)})},
		{answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k3", "unknown", nil, 1e3, int64(1)})},
		{stageAnswer([]any{"decode", int64(1), nil, nil, nil, nil, nil, nil, int64(0)})},
		{accountingOf("(run)", busyParts(), busyParts())},
		{answer("accounting", "stage"), answer("sources", "kind status reason path", []any{"torch", "ok", nil, "a"}), answer("devices", "name", []any{"AMD Instinct MI300X"})},
		{threePasses("decode"), accountingOf("decode", busyParts()), answer("overhead", "mode tool overhead_ratio stage", []any{"light", "nsys", -0.3, nil})},
		{threePasses("decode"), accountingOf("decode", busyParts()), answer("overhead", "mode tool overhead_ratio stage", []any{"light", "nsys", 0.3, nil}, []any{"light", "nsys", 0.5, "decode"}, []any{"light", "nsys", -0.1, "prefill"})},
	} {
		summarise(t, reportOf(frames...))
	}
}

// sayStatic says what is to be wondered about operations that were counted.
func sayStatic(t *testing.T) {
	model := answer("models", "model name family architecture dtype parameter_count embedding_parameter_count vision_parameter_count active_parameter_count layer_count max_context_count image_token_count weight_bytes kv_token_bytes state_bytes source_token_bytes is_counted",
		[]any{int64(1), "m", "llama", "L", "bf16", int64(1000), int64(100), int64(0), int64(900), int64(2), int64(4096), int64(576), 2000.0, 8.0, nil, nil, true})
	layers := func(component string) *frame.Frame {
		return answer("model-layers", "model part component kind layer_count window_size parameter_count",
			[]any{int64(1), "decoder", "self_attn", "attention", int64(2), int64(512), int64(10)}, []any{int64(1), "decoder", component, "projection", int64(2), nil, int64(10)}, []any{int64(1), "decoder", "indexer.wk", "attention", int64(2), nil, int64(10)})
	}
	indexed := layers("kv_b_proj")
	windowed := layers("o_proj")
	windowed.Rows = windowed.Rows[:2]
	for _, f := range []*frame.Frame{indexed, windowed} {
		s, err := judge.ReadStatic(judge.StaticSize{Prefill: 5000, Decode: 16, Batch: 1, Images: 10, Crops: 2, TokensAssumed: true, ImagesGiven: true, Convention: "full", MLA: "expanded"}, "",
			judge.StaticAnswers{Models: model, Bytes: answer("model-bytes", "model dtype weight_bytes kv_token_bytes state_bytes source_token_bytes"), Layers: f, Flops: answer("layer-flops", "stage part view operator flop", []any{"prefill", "decoder", nil, "gemm", int64(7)})})
		if err != nil {
			t.Fatal(err)
		}
		said.Add(s.Notes)
	}
}
