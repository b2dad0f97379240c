package render

import (
	"math"

	"prof/queries/frame"
)

// column describes a column with the unit that its name says.
func column(name string, t frame.Type) frame.Column {
	return frame.Column{Name: name, Type: t, Unit: frame.UnitOf(name), Doc: "what " + name + " means"}
}

func n(v int64) any { return v }

const (
	flash = "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, " +
		"cutlass::bfloat16_t>, true, false, false, true>(Flash_fwd_params)"
	addition = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, " +
		"std::array<char*, 3ul>>(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
	product = "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, " +
		"c10::BFloat16>, std::array<char*, 3ul>>(int, at::native::BinaryFunctor<c10::BFloat16>, std::array<char*, 3ul>)"
	hostile = "evil \x1b[2J\x1b[1;1H\r\nrow\t\u202eback\u202c \x00\x7f\u0085 `a``b` <b>x</b> | \\| *y* _z_ [l](u) &amp; $m$ ~~s~~"
)

// frames gives the frames of the golden files, each named after its file.
func frames() map[string]*frame.Frame {
	return map[string]*frame.Frame{
		"top-kernels": topKernels(), "stages": stages(), "mfu": mfu(), "hostile": hostileFrame(), "magnitudes": magnitudes(),
		"empty":      {Query: "top-kernels", Version: 1, Columns: topKernels().Columns, Notes: []string{"no kernels in this run"}},
		"no-columns": {},
		"raw-sql": {Columns: []frame.Column{
			{Name: "count_star()", Type: frame.Int}, {Name: "sum(duration_ns) / 1e6", Type: frame.Float},
			{Name: "device_id", Type: frame.Int}, {Name: "device_id", Type: frame.Int},
		}, Rows: [][]any{{n(41760), 1234.567890123, n(12345), n(0)}, {n(3), math.NaN(), nil, n(math.MaxInt64)}}},
	}
}

func topKernels() *frame.Frame {
	return &frame.Frame{
		Query: "top-kernels", Version: 1,
		Columns: []frame.Column{
			column("rank", frame.Int), column("kernel", frame.Text), column("calls", frame.Int),
			column("total_ns", frame.Int), column("mean_ns", frame.Float), column("median_ns", frame.Float),
			column("min_ns", frame.Int), column("max_ns", frame.Int), column("std_ns", frame.Float),
			column("share_ratio", frame.Float),
		},
		Rows: [][]any{
			{n(1), flash, n(41760), n(1234567890), 29563.41, 29312.0, n(18304), n(102112), 3120.5, 0.4123},
			{n(2), "nvjet_hsh_128x64_64x9_1x2_h_bz_coopB_TNT", n(20880), n(823412001), 39435.4, 39200.0, n(38112), n(60992), 811.2, 0.275},
			{n(3), "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", n(20880), n(411234567), 19695.1, 19600.0, n(18112), n(30992), 411.2, 0.1373},
			{n(4), addition, n(83520), n(151234567), 1810.8, 1792.0, n(1312), n(9920), 201.2, 0.0505},
			{n(5), product, n(41760), n(81234567), 1945.3, 1920.0, n(1312), n(9920), nil, 0.0271},
			{n(6), "triton_poi_fused_cat_mul_neg_0", n(9), n(25934), 2881.6, 2880.0, n(2816), n(3008), 61.2, 0.0000086},
		},
		Notes: []string{"times are sums of kernel durations on the device; kernels that overlap count each, so the total may be " +
			"more than the wall clock"},
	}
}

func stages() *frame.Frame {
	return &frame.Frame{
		Query: "stages", Version: 2,
		Columns: []frame.Column{
			column("stage", frame.Text), column("passes", frame.Int), column("cpu_mean_ns", frame.Float),
			column("gpu_span_mean_ns", frame.Float), column("gpu_busy_mean_ns", frame.Float),
			column("gpu_sum_mean_ns", frame.Float), column("kernel_count", frame.Int), column("warm", frame.Bool),
		},
		Rows: [][]any{
			{"prefill", n(5), 48123456.2, 51234567.0, 49123456.0, 49123999.0, n(3120), true},
			{"decode", n(640), 9123456.2, 9234567.0, 6123456.0, 6123999.0, n(1998720), false},
			{"vision", n(5), nil, nil, nil, nil, n(0), nil},
		},
	}
}

func mfu() *frame.Frame {
	return &frame.Frame{
		Query: "mfu", Version: 1,
		Columns: []frame.Column{
			column("stage", frame.Text), column("passes", frame.Int), column("flop", frame.Float),
			column("time_basis", frame.Text), column("time_ns", frame.Int), column("peak_flop_per_s", frame.Float),
			column("mfu_ratio", frame.Float), column("mbu_ratio", frame.Float), column("clock_hz", frame.Int),
			column("dram_bytes_per_s", frame.Float), column("power_w", frame.Float), column("temp_c", frame.Int),
			column("weights_bytes", frame.Int),
		},
		Rows: [][]any{
			{"prefill", n(5), 3.18e13, "gpu_span", n(51234567), 989e12, 0.6271, nil, n(1980000000), 4.8e12, 698.4, n(71), n(16060522496)},
			{"decode", n(640), 1.61e10, "gpu_span", n(9234567), 989e12, 0.00176, 0.583, n(1755000000), 2.1e12, 455.1, n(66), n(16060522496)},
		},
		Notes: []string{"1. flop counts the full attention square (convention full)", "no mbu_ratio for prefill: it is bound by *compute*"},
	}
}

func hostileFrame() *frame.Frame {
	return &frame.Frame{
		Query: "x\"<y>\n", Version: 1,
		Columns: []frame.Column{column("kernel", frame.Text), column("reason", frame.Text), column("a|b <i>\x1b[31m", frame.Int)},
		Rows: [][]any{
			{hostile, hostile, n(-1)},
			{"void at::native::<unnamed>::k<(int)4>(T*)|x", "void at::native::<unnamed>::k<(int)4>(T*)|x", n(1)},
			{"`", "`", n(2)}, {"", " ", nil}, {" a ", "生命の核🚀 e\u0301", n(3)}, {"bad \xff\xfe utf-8", "bad \xff\xfe utf-8", n(4)},
			{"=cmd()", "# no heading", n(math.MinInt64)}, {"a,b\"c", "snake_case and _edge_", n(5)},
		},
		Notes: []string{"# not a heading \x1b[31m", "- not | a `list`", "12) not a number", "生命 " + hostile},
	}
}

// magnitudes holds columns whose values differ so much in size that one unit hardly fits them.
func magnitudes() *frame.Frame {
	return &frame.Frame{
		Columns: []frame.Column{
			column("tiny_ns", frame.Float), column("range_ns", frame.Int), column("bytes", frame.Int),
			column("share_ratio", frame.Float), column("value", frame.Float), column("flop", frame.Float),
			column("gpu_c", frame.Float),
		},
		Rows: [][]any{
			{0.0004, n(1), n(1023), 0.99999, 1275068416.0, 1e30, 0.0},
			{5e6, n(90_000_000_000), n(1 << 40), 0.00005, 0.00000123, 1.0, -12.5},
			{-400.0, n(-1500), n(0), 0.0, 61.234567, math.Inf(-1), math.NaN()},
			{nil, nil, nil, nil, nil, nil, nil},
		},
	}
}
