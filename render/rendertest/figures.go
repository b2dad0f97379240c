package rendertest

import (
	"prof/queries/frame"
	"prof/queries/judge"
)

func StageKernelsFrame() *frame.Frame {
	return FrameOf("stage-kernels", "stage kernel calls total_ns share_ratio role",
		[]any{"decode", "gemm " + Breakout, int64(30), int64(600_000), 0.6, "gemm"},
		[]any{"decode", "copy", int64(1), int64(100_000), 0.1, nil},
		[]any{"prefill", "norm", int64(2), int64(50_000), 1.0, "normalisation"})
}

func StagesFrame() *frame.Frame {
	return FrameOf("stages", "stage passes cpu_mean_ns gpu_span_mean_ns gpu_busy_mean_ns cpu_std_ns gpu_span_std_ns gpu_busy_std_ns",
		[]any{"prefill", int64(3), 2e6, 1.5e6, 1e6, 0.5e6, 2e6, 0.0},
		[]any{"decode " + Breakout, int64(1), 1e6, nil, nil, nil, nil, nil})
}

func DurationsFrame() *frame.Frame {
	return FrameOf("kernel-durations", "rank kernel from_ns to_ns calls total_ns kernel_calls kernel_total_ns median_ns",
		[]any{int64(1), "gemm " + Breakout, 1024.0, 2048.0, int64(1), int64(1500), int64(1001), int64(16_001_500), 16_000.0},
		[]any{int64(1), "gemm " + Breakout, 8192.0, 16384.0, int64(1000), int64(16_000_000), int64(1001), int64(16_001_500), 16_000.0},
		[]any{int64(2), "fill", 0.0, 1.0, int64(4), int64(0), int64(4), int64(0), 0.0})
}

func RooflineFrame() *frame.Frame {
	f := FrameOf("roofline", "launch kernel resource attained_ratio side achieved_flop_per_s intensity flop stage device",
		[]any{int64(1), "gemm " + Breakout, "tensor_bf16", 0.5, "compute", 5e13, 100.0, 1e9, "prefill", "X"},
		[]any{int64(2), "copy", "fp32", 0.1, "memory", 1e11, 1.0, 1e6, "decode", "X"},
		[]any{int64(2), "copy", "fp64", nil, nil, 1e11, nil, 1e6, "decode", "X"},
		[]any{int64(3), "norm", "fp32", 0.2, "memory", 1e12, 10.0, 1e6, nil, nil})
	return f
}

func CeilingsFrame() *frame.Frame {
	f := FrameOf("ceilings", "device resource basis peak_flop_per_s peak_bytes_per_s",
		[]any{"X", "fp32", "measured", 1e13, 1e12},
		[]any{"X", "dram", "measured", nil, 1e12},
		[]any{"X", "dram", "device_peak", nil, 2e12},
		[]any{"X", "tensor_bf16", "measured", 1e14, nil},
		[]any{"X", "tensor_bf16", "device_peak", 2e14, nil},
		[]any{"X", "tensor_fp16", "measured", 1e14, nil})
	f.Rows[0][4] = nil
	return f
}

const sampleColumns = "pass device start_ns end_ns sample_count sm_ratio memory_ratio sm_clock_hz sm_clock_min_hz memory_used_bytes power_w power_max_w temperature_c throttle"

func SampleRow(pass string, start int64, sm any, throttle any) []any {
	return []any{pass, int64(0), start, start + 10, int64(2), sm, 0.1, 1.5e9, 1.2e9, int64(1 << 30), 400.0, 480.0, int64(60), throttle}
}

func SamplesFrame() *frame.Frame {
	return FrameOf("sample-series", sampleColumns,
		SampleRow("nsys-1", 0, 0.5, "sw_power_cap, gpu_idle"), SampleRow("nsys-1", 10, nil, "gpu_idle"), SampleRow("nsys-1", 20, 1.0, nil),
		SampleRow("nsys-1", 30, 0.0, "bit 40"), SampleRow("nsys-1", 190, 0.0, nil))
}

func RankPassesFrame() *frame.Frame {
	row := func(of string, pass int64, rank string, late float64, isWarm any, clock any) []any {
		return []any{of, pass, rank, late, int64(2), int64(2 * late), isWarm, clock, int64(1)}
	}
	return FrameOf("rank-passes", "range pass rank late_mean_ns calls late_ns is_warmup clock_error_ns job_id",
		row("prefill", 1, "rank 0", 0, true, int64(0)), row("prefill", 1, "rank 1", 4000, true, int64(0)),
		row("prefill", 2, "rank 0", 0, false, int64(0)), row("prefill", 2, "rank 1", 1000, false, int64(0)),
		row("prefill", 3, "rank 0", 250, false, int64(0)),
		row(Breakout, 1, Hostile, 10, nil, nil))
}

func ThrottlingFrame() *frame.Frame {
	return FrameOf("throttling", "reason is_slowdown", []any{"sw_power_cap", true}, []any{"gpu_idle", false}, []any{"bit 40", nil})
}

func ReportTimeline() *judge.Timeline {
	return &judge.Timeline{Parts: 10,
		Blocks: FrameOf("timeline-blocks", "device lane start_ns end_ns busy_ns work_count longest longest_ns source_id",
			[]any{int64(0), "kernel", int64(1000), int64(1100), int64(90), int64(3), Breakout, int64(40), int64(1)},
			[]any{int64(0), "kernel", int64(1500), int64(2000), int64(500), int64(1), "gemm", int64(500), int64(1)},
			[]any{int64(0), "copy", int64(990), int64(1000), int64(10), int64(1), Hostile, int64(10), int64(1)},
			[]any{int64(1), "kernel", int64(1200), int64(1300), int64(100), int64(1), "gemm", int64(100), int64(1)}),
		Passes: FrameOf("timeline-passes", "device stage start_ns end_ns passes pass is_warmup busy_ns launch_bound_ns span_ns source_id pid",
			[]any{int64(0), Breakout, int64(1000), int64(2000), int64(2), int64(1), true, int64(590), int64(300), int64(1000), int64(1), int64(9)}),
		Gaps: FrameOf("longest-gaps", "rank duration_ns start_ns cause before after stage device source_id",
			[]any{int64(1), int64(400), int64(1100), "host", Breakout, "gemm", "(none)", int64(0), int64(1)}),
		Windows: FrameOf("timeline-windows", "window source_id device stage pass start_ns end_ns work_count shown_count is_whole",
			[]any{int64(1), int64(1), int64(0), Breakout, int64(1), int64(1000), int64(1100), int64(4), int64(3), false}),
		Kernels: FrameOf("timeline-kernels", TimelineKernels,
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "kernel", int64(1000), int64(40), Breakout, Breakout, int64(1), int64(9), int64(900)},
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "kernel", int64(1040), int64(30), "gemm", nil, int64(1), nil, nil},
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "copy", int64(1080), int64(20), Breakout, Breakout, int64(1), int64(9), int64(1010)}),
		Calls: FrameOf("timeline-calls", "source_id pid tid thread kind api start_ns duration_ns is_launch call_count is_short_hidden rank",
			[]any{int64(1), int64(9), int64(9), Breakout, "launch", Breakout, int64(900), int64(50), true, int64(4), true, nil},
			[]any{int64(1), int64(9), int64(9), Breakout, "sync", Hostile, int64(960), int64(45), false, int64(4), true, nil},
			[]any{int64(1), int64(9), int64(9), Breakout, "copy", Breakout, int64(1010), int64(20), true, int64(4), true, nil}),
		Ranges: FrameOf("timeline-ranges", "source_id pid tid thread depth start_ns duration_ns name domain range_count rank",
			[]any{int64(1), int64(9), int64(9), Breakout, int64(0), int64(500), int64(1000), Breakout, Breakout, int64(2), nil}),
	}
}

// TimelineKernels are the columns of timeline-kernels.
const TimelineKernels = "window source_id device pid stream lane start_ns duration_ns name stage context tid launch_start_ns"
