// Package rendertest holds frames, golden files and readers of Markdown and colours for tests of the rooms around it.
package rendertest

import (
	"fmt"
	"math"
	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"slices"
	"strings"
)

// Column describes a column with the unit that its name says.
func Column(name string, t frame.Type) frame.Column {
	return frame.Column{Name: name, Type: t, Unit: frame.UnitOf(name), Doc: "what " + name + " means"}
}

func N(v int64) any { return v }

const (
	Flash = "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, " +
		"cutlass::bfloat16_t>, true, false, false, true>(Flash_fwd_params)"
	Addition = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, " +
		"std::array<char*, 3ul>>(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
	Product = "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, " +
		"c10::BFloat16>, std::array<char*, 3ul>>(int, at::native::BinaryFunctor<c10::BFloat16>, std::array<char*, 3ul>)"
	Hostile = "evil \x1b[2J\x1b[1;1H\r\nrow\t\u202eback\u202c \x00\x7f\u0085 `a``b` <b>x</b> | \\| *y* _z_ [l](u) &amp; $m$ ~~s~~"
)

// Frames returns the frames of the golden files, each named after its file.
func Frames() map[string]*frame.Frame {
	return map[string]*frame.Frame{
		"top-kernels": TopKernels(), "stages": stages(), "mfu": mfu(), "hostile": hostileFrame(), "magnitudes": magnitudes(),
		"empty":      {Query: "top-kernels", Version: 1, Columns: TopKernels().Columns, Notes: []string{"no kernels in this run"}},
		"no-columns": {},
		"raw-sql": {Columns: []frame.Column{
			{Name: "count_star()", Type: frame.Int}, {Name: "sum(duration_ns) / 1e6", Type: frame.Float},
			{Name: "device_id", Type: frame.Int}, {Name: "device_id", Type: frame.Int},
		}, Rows: [][]any{{N(41760), 1234.567890123, N(12345), N(0)}, {N(3), math.NaN(), nil, N(math.MaxInt64)}}},
	}
}

func TopKernels() *frame.Frame {
	return &frame.Frame{
		Query: "top-kernels", Version: 1,
		Columns: []frame.Column{
			Column("rank", frame.Int), Column("kernel", frame.Text), Column("calls", frame.Int),
			Column("total_ns", frame.Int), Column("mean_ns", frame.Float), Column("median_ns", frame.Float),
			Column("min_ns", frame.Int), Column("max_ns", frame.Int), Column("std_ns", frame.Float),
			Column("share_ratio", frame.Float),
		},
		Rows: [][]any{
			{N(1), Flash, N(41760), N(1234567890), 29563.41, 29312.0, N(18304), N(102112), 3120.5, 0.4123},
			{N(2), "nvjet_hsh_128x64_64x9_1x2_h_bz_coopB_TNT", N(20880), N(823412001), 39435.4, 39200.0, N(38112), N(60992), 811.2, 0.275},
			{N(3), "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", N(20880), N(411234567), 19695.1, 19600.0, N(18112), N(30992), 411.2, 0.1373},
			{N(4), Addition, N(83520), N(151234567), 1810.8, 1792.0, N(1312), N(9920), 201.2, 0.0505},
			{N(5), Product, N(41760), N(81234567), 1945.3, 1920.0, N(1312), N(9920), nil, 0.0271},
			{N(6), "triton_poi_fused_cat_mul_neg_0", N(9), N(25934), 2881.6, 2880.0, N(2816), N(3008), 61.2, 0.0000086},
		},
		Notes: []string{"times are sums of kernel durations on the device; kernels that overlap count each, so the total may be " +
			"more than the wall clock"},
	}
}

func stages() *frame.Frame {
	return &frame.Frame{
		Query: "stages", Version: 2,
		Columns: []frame.Column{
			Column("stage", frame.Text), Column("passes", frame.Int), Column("cpu_mean_ns", frame.Float),
			Column("gpu_span_mean_ns", frame.Float), Column("gpu_busy_mean_ns", frame.Float),
			Column("gpu_sum_mean_ns", frame.Float), Column("kernel_count", frame.Int), Column("warm", frame.Bool),
		},
		Rows: [][]any{
			{"prefill", N(5), 48123456.2, 51234567.0, 49123456.0, 49123999.0, N(3120), true},
			{"decode", N(640), 9123456.2, 9234567.0, 6123456.0, 6123999.0, N(1998720), false},
			{"vision", N(5), nil, nil, nil, nil, N(0), nil},
		},
	}
}

func mfu() *frame.Frame {
	return &frame.Frame{
		Query: "mfu", Version: 1,
		Columns: []frame.Column{
			Column("stage", frame.Text), Column("passes", frame.Int), Column("flop", frame.Float),
			Column("time_basis", frame.Text), Column("time_ns", frame.Int), Column("peak_flop_per_s", frame.Float),
			Column("mfu_ratio", frame.Float), Column("mbu_ratio", frame.Float), Column("clock_hz", frame.Int),
			Column("dram_bytes_per_s", frame.Float), Column("power_w", frame.Float), Column("temp_c", frame.Int),
			Column("weights_bytes", frame.Int),
		},
		Rows: [][]any{
			{"prefill", N(5), 3.18e13, "gpu_span", N(51234567), 989e12, 0.6271, nil, N(1980000000), 4.8e12, 698.4, N(71), N(16060522496)},
			{"decode", N(640), 1.61e10, "gpu_span", N(9234567), 989e12, 0.00176, 0.583, N(1755000000), 2.1e12, 455.1, N(66), N(16060522496)},
		},
		Notes: []string{"1. flop counts the full attention square (convention full)", "no mbu_ratio for prefill: it is bound by *compute*"},
	}
}

func hostileFrame() *frame.Frame {
	return &frame.Frame{
		Query: "x\"<y>\n", Version: 1,
		Columns: []frame.Column{Column("kernel", frame.Text), Column("reason", frame.Text), Column("a|b <i>\x1b[31m", frame.Int)},
		Rows: [][]any{
			{Hostile, Hostile, N(-1)},
			{"void at::native::<unnamed>::k<(int)4>(T*)|x", "void at::native::<unnamed>::k<(int)4>(T*)|x", N(1)},
			{"`", "`", N(2)}, {"", " ", nil}, {" a ", "生命の核🚀 e\u0301", N(3)}, {"bad \xff\xfe utf-8", "bad \xff\xfe utf-8", N(4)},
			{"=cmd()", "# no heading", N(math.MinInt64)}, {"a,b\"c", "snake_case and _edge_", N(5)},
		},
		Notes: []string{"# not a heading \x1b[31m", "- not | a `list`", "12) not a number", "生命 " + Hostile},
	}
}

// magnitudes holds columns whose values differ so much in size that one unit hardly fits them.
func magnitudes() *frame.Frame {
	return &frame.Frame{
		Columns: []frame.Column{
			Column("tiny_ns", frame.Float), Column("range_ns", frame.Int), Column("bytes", frame.Int),
			Column("share_ratio", frame.Float), Column("value", frame.Float), Column("flop", frame.Float),
			Column("gpu_c", frame.Float),
		},
		Rows: [][]any{
			{0.0004, N(1), N(1023), 0.99999, 1275068416.0, 1e30, 0.0},
			{5e6, N(90_000_000_000), N(1 << 40), 0.00005, 0.00000123, 1.0, -12.5},
			{-400.0, N(-1500), N(0), 0.0, 61.234567, math.Inf(-1), math.NaN()},
			{nil, nil, nil, nil, nil, nil, nil},
		},
	}
}

// FrameOf makes a Frame of a query from its columns, typed as the values of the first row.
func FrameOf(query string, columns string, rows ...[]any) *frame.Frame {
	f := &frame.Frame{Query: query, Version: 1, SQL: "FROM " + strings.ReplaceAll(query, "-", "_") + "_v1('a')", Rows: rows}
	for i, name := range strings.Fields(columns) {
		c := frame.Column{Name: name, Unit: frame.UnitOf(name), Doc: "what " + name + " is"}
		switch rows[0][i].(type) {
		case int64:
			c.Type = frame.Int
		case float64:
			c.Type = frame.Float
		case bool:
			c.Type = frame.Bool
		}
		f.Columns = append(f.Columns, c)
	}
	return frametest.Typed(f)
}

// Breakout is a name that would leave a script, an attribute, an element or a line where it is not escaped.
const Breakout = `k<a, b>(T*) & "c" 'd' </script><script>alert(1)</script> <!-- ]]> {{.}} ${x}`

// Changed gives copies of a frame, in each of which one number is not what can be counted with: NULL, and of broken numbers also what no
// number is. all holds texts and truths too, as NULL.
func Changed(f *frame.Frame, all bool, try func(what string, f *frame.Frame)) {
	for i, row := range f.Rows {
		for j, c := range f.Columns {
			bad := []any{nil}
			switch row[j].(type) {
			case float64:
				bad = []any{nil, math.NaN(), math.Inf(1), math.Inf(-1)}
			case int64:
			default:
				if !all {
					continue
				}
			}
			if !frametest.TakesNull(f, c.Name) { // no answer has NULL there
				bad = bad[1:]
			}
			for _, v := range bad {
				other := *f
				other.Rows = slices.Clone(f.Rows)
				other.Rows[i] = slices.Clone(row)
				other.Rows[i][j] = v
				try(fmt.Sprintf("%s of row %d is %v", c.Name, i+1, v), &other)
			}
		}
	}
}

// Facts are pairs as the facts of a run: long, empty, continued and hostile ones.
func Facts() [][2]string {
	return [][2]string{
		{"run", "0193a7b2-7c1e-7d1f-9a51-0f2d3c4b5a69"},
		{"command", "python serve.py --model meta-llama/Llama-3-8B-Instruct --batch 32 --input-len 2048 --dtype bfloat16"},
		{"conservation", "attributed 1,203.4 ms + outside any range 31.1 ms + no launch found 0 = 1,234.5 ms"},
		{"", "of 41,760 kernels"}, {"tag", ""}, {"evil\x1b[2J", Hostile},
	}
}
