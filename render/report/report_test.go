package report

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/rendertest"
)

// medianColumns are those of stages that headlines are from.
const medianColumns = "cpu_median_ns cpu_min_ns cpu_max_ns gpu_span_median_ns gpu_span_min_ns gpu_span_max_ns"

// fileReport is a report whose answers hold hostile names wherever a capture can bring them in.
func fileReport() *judge.Report {
	r := &judge.Report{Name: rendertest.Breakout, Frames: map[string]*frame.Frame{}}
	add := func(f *frame.Frame) *frame.Frame { r.Frames[f.Query] = frametest.Fill(f); return f }
	for _, f := range append(fileFigures(), fileFacts()...) {
		add(f)
	}
	r.Static = &judge.Static{Name: rendertest.Breakout, DType: "bf16", DTypeAssumed: true, Groups: rendertest.FrameOf("model-layers", "part component kind shape",
		[]any{"decoder", "mlp.up_proj", "linear", "1280 x 6848"}, []any{"decoder", "mlp.down_proj", "linear", "6848 x 1280"},
		[]any{"decoder", "experts.down_proj", "linear", "896 x 1280, 6 of 64"}, []any{"clip", "mlp.fc2", "linear", "4096 x 1280"}, []any{"decoder", "attention", "attention", "10 heads of 192 and 128"})}
	return r
}

// fileFigures are the answers that measure something.
func fileFigures() []*frame.Frame {
	operators := rendertest.FrameOf("top-operators", "rank operator calls self_device_ns total_device_ns self_cpu_ns total_cpu_ns share_ratio work_count flop_count device_alloc_bytes device_net_bytes",
		[]any{int64(1), "aten::mm", int64(3), int64(9_000_000), int64(9_000_000), int64(1_000_000), int64(2_000_001), 0.75, int64(3), int64(6e9), int64(3 << 20), int64(-1 << 19)},
		[]any{int64(2), rendertest.Hostile, int64(2), int64(3_000_000), int64(12_000_000), int64(500), int64(9_000_000), 0.25, int64(2), nil, nil, nil},
		[]any{int64(3), rendertest.Breakout, int64(1), nil, nil, int64(7), int64(7), nil, nil, nil, nil, nil})
	operators.SQL = "FROM top_operators_v1('a', top := 20)"
	noted(operators, "note "+rendertest.Breakout)
	kernels := rendertest.FrameOf("top-kernels", "rank kernel calls total_ns mean_ns median_ns share_ratio bound limiter roof_ratio profiled_ratio occupancy_ratio role family",
		[]any{int64(1), rendertest.Breakout, int64(3), int64(9_000_000), 3_000_000.0, 2_900_000.0, 0.9, "latency", "grid", 0.1, 0.5, 0.06, "gemm", "cublas | nvjet"},
		[]any{int64(2), rendertest.Hostile, int64(1), int64(1_000_000), 1_000_000.0, 1_000_000.0, 0.1, nil, nil, nil, nil, nil, nil, nil})
	kernels.SQL = "FROM top_kernels_v3('a', top := 0, with_ncu := true)"
	aggregates := rendertest.FrameOf("aggregates", "metric stage unit value mean std min max median passes basis",
		[]any{"prefill_ns", "prefill", "ns", 1.9e6, 2e6, 1e5, 1.9e6, 2.1e6, 1.9e6, int64(2), "gpu_span"},
		[]any{"decode_ns", "decode", "ns", 4e6, 4e6, nil, 4e6, 4e6, 4e6, int64(1), "gpu_span"},
		[]any{"decode_tokens", "decode", "count", 16.0, 16.0, 0.0, 16.0, 16.0, 16.0, int64(2), "gpu_span"},
		[]any{"decode_tokens_per_s", "decode", "tokens_per_s", 26.0, 45.0, 17.0, 26.0, 56.0, 26.0, int64(2), "gpu_span"},
		[]any{"decode_ns_per_token", "decode", "ns", 24e6, 25e6, 1e6, 24e6, 26e6, 24e6, int64(2), "gpu_span"},
		[]any{rendertest.Breakout + "_ns", rendertest.Breakout, "ns", 6e6, 7e6, 1e6, 6e6, 8e6, 6e6, int64(2), "gpu_span"},
		[]any{"workload_prefill_ns", "prefill", "ns", 2e6, 2.2e6, 1e5, 2e6, 2.4e6, 2e6, int64(2), "workload"})
	noted(aggregates, "aggregates "+rendertest.Breakout)
	mfu := rendertest.FrameOf("mfu", "stage passes flop time_basis time_ns peak_flop_per_s mfu_ratio mbu_ratio precision convention mla part_of precision_origin peak_origin device_count is_least fault",
		[]any{"model", int64(2), int64(9e11), "gpu_span", 6e6, 989.4e12, 0.15, 0.4, "bf16", "full", "expanded", nil, "kernels", rendertest.Breakout, int64(1), false, nil},
		[]any{"prefill", int64(2), int64(8e11), "gpu_span", 2e6, 989.4e12, 0.4, 0.02, "bf16", "full", "expanded", nil, "kernels", rendertest.Breakout, int64(1), false, nil},
		[]any{"decode", int64(2), int64(1e11), "gpu_span", 4e6, 989.4e12, nil, nil, "bf16", "full", "expanded", nil, "kernels", rendertest.Breakout, int64(1), false, "over 1: " + rendertest.Breakout},
		[]any{"vision", int64(2), nil, "gpu_span", 1e6, 989.4e12, nil, nil, "bf16", "full", "expanded", "prefill", "kernels", rendertest.Breakout, int64(1), false, nil})
	noted(mfu, "mfu "+rendertest.Breakout)
	mbu := rendertest.FrameOf("mbu", "stage weight_bytes kv_bytes time_ns peak_bytes_per_s fault", []any{"decode", nil, int64(1), 4e6, 4.8e12, nil})
	notes := rendertest.FrameOf("stage-notes", "stage note instances gpu_span_mean_ns passes pass_mean_ns pass_std_ns image_mean_ns", []any{"prefill", "sam", int64(4), 5e5, int64(2), 1e6, 1e4, 5e5}, []any{"prefill", rendertest.Breakout, int64(2), nil, int64(0), nil, nil, nil})
	conservation := rendertest.FrameOf("conservation", "capture kernel_count kernel_sum_ns attributed_count attributed_ns outside_count outside_ns unlaunched_count unlaunched_ns is_exact unmet_count",
		[]any{"nsys", int64(6), int64(60), int64(3), int64(30), int64(2), int64(20), int64(1), int64(10), true, int64(0)})
	devices := rendertest.FrameOf("kernel-devices", "rank kernel device calls total_ns share_ratio", []any{int64(1), rendertest.Breakout, int64(1), int64(1), int64(1), 0.25},
		[]any{int64(1), rendertest.Breakout, int64(0), int64(2), int64(3), 0.75}, []any{int64(2), rendertest.Hostile, int64(1), int64(1), int64(1), 1.0})
	stages := rendertest.FrameOf("stages", "stage passes warmup_passes cpu_mean_ns cpu_std_ns gpu_span_mean_ns gpu_span_std_ns gpu_span_tokens_per_s "+medianColumns, []any{"prefill", int64(2), int64(1), 3e6, nil, 2e6, 1e5, nil, 3e6, 2e6, 4e6, 2e6, 1e6, 3e6}, []any{rendertest.Breakout, int64(2), int64(0), 8e6, nil, 7e6, 1e6, 40.0, 8e6, 8e6, 8e6, 7e6, 6e6, 8e6})
	noted(stages, "stages "+rendertest.Breakout)
	return []*frame.Frame{operators, kernels, aggregates, mfu, mbu, notes, conservation, devices, stages,
		rendertest.FrameOf("accounting", "stage device part kind total_ns share_ratio mean_ns passes span_total_ns max_ns",
			[]any{rendertest.Breakout, int64(0), "compute", "busy", int64(600_000), 0.6, 300_000.0, int64(2), int64(1_000_000), int64(400_000)}, []any{rendertest.Breakout, int64(0), rendertest.Breakout, "launch-bound", int64(400_000), 0.4, 200_000.0, int64(2), int64(1_000_000), int64(300_000)},
			[]any{rendertest.Breakout, int64(1), "compute", "busy", int64(1), 1.0, 1.0, int64(1), int64(1), int64(1)}),
		rendertest.FrameOf("passes", "stage path is_warmup pass source_id pid gpu_span_ns gpu_busy_ns start_ns repeat", []any{"prefill", "repeat[#] > " + rendertest.Breakout, true, int64(1), int64(1), int64(7), nil, nil, int64(0), int64(1)}, []any{"prefill", "repeat[#] > " + rendertest.Breakout, false, int64(2), int64(1), int64(7), nil, nil, int64(1), int64(1)},
			[]any{"prefill", "repeat[#] > " + rendertest.Breakout, false, int64(3), int64(1), int64(7), nil, nil, int64(2), int64(1)}),
		rendertest.FrameOf("device-use", "other_process_max_count pass device busy_sm_clock_mean_hz sm_clock_max_hz power_max_w temperature_max_c", []any{int64(0), "nsys-1", int64(0), 1.5e9, 1.98e9, 650.5, nil}, []any{int64(0), "nsys-1", int64(1), nil, nil, nil, nil}),
		rendertest.FrameOf("throttling", "pass device reason is_slowdown busy_share_ratio samples busy_samples", []any{"nsys-1", int64(0), "sw_power_cap", true, 0.12, int64(100), int64(50)}),
		rendertest.FrameOf("overhead", "mode tool overhead_ratio noise_ratio baseline_median_ns workload_median_ns recording_count baseline_recording_count stage", []any{"deep", "nsys", 0.32, 0.02, 1e9, 1.32e9, int64(2), int64(3), nil})}
}

// fileFacts are the answers that say what the run is.
func fileFacts() []*frame.Frame {
	return []*frame.Frame{
		rendertest.FrameOf("run-details", "run run_id created_at started_at host command prof_version tags",
			[]any{rendertest.Breakout, "01890000-0000-7000-8000-00000000000a", "2026-01-02 03:04:05.678", "2026-01-01 00:00:00", "box", `python 'it'\''s a' '' ` + "'k=" + strings.ReplaceAll(rendertest.Breakout, "'", "") + "'", "0.1.0", nil}),
		rendertest.FrameOf("devices", "source_id device name compute_capability sm_count clock_hz memory_bytes memory_bytes_per_s l2_bytes uuid bus_id kernel_count",
			[]any{int64(1), int64(0), "NVIDIA H200", "9.0", int64(132), int64(198e7), int64(1 << 37), nil, nil, nil, nil, int64(6)},
			[]any{int64(2), int64(1), rendertest.Breakout, nil, nil, nil, nil, nil, nil, nil, nil, int64(0)}),
		rendertest.FrameOf("models", "model name family dtype is_counted hidden_size layer_count vocab_size parameter_count active_parameter_count",
			[]any{int64(1), rendertest.Breakout, "deepseek_v2", nil, true, int64(1280), int64(12), int64(129280), int64(3e9), int64(5e8)}),
		rendertest.FrameOf("peaks", "device resource accumulate peak_flop_per_s peak_bytes_per_s peak_clock_hz clock_hz origin doc reference checked_on",
			[]any{"NVIDIA H200", "dram", nil, nil, 4.8e12, nil, int64(198e7), "builtin", "141 GB", "datasheet", "2026-11-21"},
			[]any{"NVIDIA H200", "fp32", "fp32", 66.9e12, nil, 1.98e9, int64(198e7), "builtin", "dense", "datasheet", "2026-11-21"},
			[]any{"NVIDIA H200", "tensor_bf16", "fp32", 989.4e12, nil, 1.83e9, int64(198e7), "user", rendertest.Breakout, "datasheet", "2026-11-21"},
			[]any{"NVIDIA H200", "fp16", "fp16", nil, nil, nil, int64(198e7), nil, nil, nil, nil}),
		rendertest.FrameOf("finding-rules", "query options detail finding title bound saving value unit needs", []any{"pass-accounting", "stage", "gaps", "host", "GPU idle", "at most", "idle time without a call for 100 us", nil, nil, "timeline"},
			[]any{"kernel-grids", "top", nil, "wave-tail", "Last wave", "about", "time x (1 - blocks)", 4.0, "waves", "grids"}),
		rendertest.FrameOf("facts", "source_id key value", []any{int64(1), "capture.trace", "Cuda," + rendertest.Breakout}, []any{int64(1), "capture.id", "session"}, []any{int64(1), "driver.cuda_version", "13010"},
			[]any{int64(1), "os.description", rendertest.Hostile}, []any{int64(2), "driver.cuda_version", "12.8"}, []any{int64(2), "torch.cuda_runtime_version", "12080"}, []any{int64(2), "torch.record_shapes", "1"},
			[]any{int64(3), "env.python.packages.torch", "2.11.0"}, []any{int64(3), "capture.clock_control", "base"}),
		rendertest.FrameOf("sources", "source_id kind form path rank_id tool_version schema_version size_bytes sha256 status reason duration_ns",
			[]any{int64(1), "nsys", "sqlite", "/data/" + rendertest.Hostile, nil, "2025.3", nil, int64(5), "0123", "ok", nil, int64(2e9)},
			[]any{int64(2), "torch", "torch-trace", "/data/t.json", int64(0), nil, "1", int64(6), "1e5", "partial", rendertest.Breakout, nil},
			[]any{int64(3), "ncu", "ncu-rep", "/data/k.ncu-rep", nil, "2025.3", nil, int64(7), "0456", "ok", nil, nil}),
		rendertest.FrameOf("captures", "mode status reason git_commit git_branch is_git_dirty started_at duration_ns folder workload_key source_id",
			[]any{"deep", "partial", rendertest.Breakout, "0123", "main", true, "2026-01-01 00:00:00", int64(14e9), "/home/me", "key", int64(3)}),
		rendertest.FrameOf("capture-passes", "pass tool mode repeat status reason tool_version clock_control started_at workload_ns duration_ns exit_code signal",
			[]any{"baseline-1", "none", "baseline", int64(1), "ok", nil, nil, nil, "2026-01-01 00:00:00", int64(1e9), int64(1e9), int64(0), nil},
			[]any{"nsys-1", "nsys", "deep", int64(1), "ok", nil, "2025.3", nil, "2026-01-01 00:00:00", int64(1e9), int64(1e9), int64(0), nil},
			[]any{"nsys-2", "nsys", "deep", int64(2), "failed", rendertest.Breakout, "2025.3", nil, "2026-01-01 00:00:00", int64(1e9), int64(1e9), nil, "SIGKILL"},
			[]any{"ncu-1", "ncu", "kernels", int64(1), "not_run", nil, nil, "none", "2026-01-01 00:00:00", nil, nil, nil, nil}),
		rendertest.FrameOf("inputs", "path size_bytes sha256", []any{rendertest.Hostile, int64(12), "00e1"}, []any{"no: " + rendertest.Breakout, nil, nil}),
		rendertest.FrameOf("workload-passes", "source_id pass is_warmup prefill_count decode_count batch_count image_count crop_count",
			[]any{int64(4), int64(1), true, int64(681), int64(16), int64(1), nil, nil}, []any{int64(4), int64(2), false, int64(700), int64(16), int64(1), nil, nil}),
		rendertest.FrameOf("diagnostics", "severity message", []any{"warning", rendertest.Breakout}, []any{"info", rendertest.Breakout}),
	}
}

// noted gives a frame one note, of the topic that is named as its query.
func noted(f *frame.Frame, text string) {
	f.Notes, f.Caveats = []string{text}, []frame.Caveat{{Topic: f.Query, Kind: "made", Text: text}}
}

// emptyReport is one of a run that nothing is known of but that it was asked for.
func emptyReport() *judge.Report {
	r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{}}
	for key := range fileReport().Frames {
		r.Frames[key] = frametest.Fill(&frame.Frame{Query: key, Version: 1, SQL: "FROM x"})
		noted(r.Frames[key], "nothing of "+key+" "+rendertest.Breakout)
	}
	return r
}

// fileText returns a file of a report; the same answers must give the same bytes.
func fileText(t *testing.T, r *judge.Report, write func(*bytes.Buffer, *reader)) string {
	t.Helper()
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := file(write)(out, r); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("the same answers give different bytes")
	}
	return first.String()
}

// fileWriters are the files that this test holds, by name.
var fileWriters = map[string]func(*bytes.Buffer, *reader){"operators.md": markdown(operatorFile), "kernels.md": markdown(kernelFile), "metrics.json": writeMetrics, "env.json": writeEnvironment,
	"inputs.yaml": writeInputs, "config.yaml": writeConfig, "assumptions.md": markdown(assumptionsFile)}

func TestReportFiles(t *testing.T) {
	for name, write := range fileWriters {
		rendertest.Compare(t, filepath.Join("testdata", "report", name), []byte(fileText(t, fileReport(), write)))
		rendertest.Compare(t, filepath.Join("testdata", "report", "empty."+name), []byte(fileText(t, emptyReport(), write)))
		if fileText(t, &judge.Report{}, write) == "" {
			t.Errorf("%s of a report without answers is empty", name)
		}
	}
}

// TestReportFilesAreListed holds that each of them is a file of a report, and that those which need something say what where it is not there.
func TestReportFilesAreListed(t *testing.T) {
	listed := map[string]File{}
	for _, f := range Files() {
		listed[f.Name] = f
	}
	for name := range fileWriters {
		f, ok := listed[name]
		if !ok {
			t.Errorf("%s is not listed", name)
			continue
		}
		if f.Missing == nil {
			continue
		}
		if why := f.Missing(fileReport()); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if f.Missing(emptyReport()) == "" || f.Missing(&judge.Report{}) == "" {
			t.Errorf("%s of an empty run is not missing", name)
		}
	}
}

// TestReportFilesNameTheColumn holds that an answer without a column is an error that says which.
func TestReportFilesNameTheColumn(t *testing.T) {
	for name, key := range map[string]string{"operators.md": "top-operators", "kernels.md": "top-kernels", "metrics.json": "aggregates", "env.json": "facts", "inputs.yaml": "inputs", "config.yaml": "facts",
		"assumptions.md": "finding-rules"} {
		r := fileReport()
		r.Frames[key] = rendertest.FrameOf(key, "other", []any{"x"})
		err := file(fileWriters[name])(io.Discard, r)
		if err == nil || !strings.Contains(err.Error(), "query "+key+": no column") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
