package table

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/render/rendertest"
	"prof/render/typeset"
)

func TestScale(t *testing.T) {
	tests := []struct {
		name   string
		values []any
		title  string
		cells  []string
	}{
		{"total_ns", []any{rendertest.N(0)}, "total (ns)", []string{"0"}},
		{"total_ns", []any{nil}, "total (ns)", []string{"-"}},
		{"total_ns", []any{rendertest.N(1), rendertest.N(999)}, "total (ns)", []string{"1", "999"}},
		{"total_ns", []any{rendertest.N(1000)}, "total (us)", []string{"1"}},
		{"total_ns", []any{rendertest.N(1234)}, "total (us)", []string{"1.23"}},
		{"total_ns", []any{rendertest.N(999_500)}, "total (ms)", []string{"1.000"}},
		{"total_ns", []any{rendertest.N(999_400)}, "total (us)", []string{"999"}},
		{"total_ns", []any{rendertest.N(1_234_567_890), rendertest.N(4_234_567)}, "total (ms)", []string{"1,234.57", "4.23"}},
		{"total_ns", []any{rendertest.N(5_000_000), rendertest.N(400)}, "total (us)", []string{"5,000.0", "0.4"}},
		{"total_ns", []any{rendertest.N(912_345_678), rendertest.N(400)}, "total (ms)", []string{"912", "4.0e-04"}},
		{"total_ns", []any{rendertest.N(912_345_678), rendertest.N(26_000)}, "total (ms)", []string{"912.346", "0.026"}},
		{"total_ns", []any{rendertest.N(12_912_345_678), rendertest.N(26_000)}, "total (ms)", []string{"12,912.35", "0.03"}},
		{"total_ns", []any{rendertest.N(-1500), rendertest.N(0)}, "total (us)", []string{"-1.5", "0"}},
		{"total_ns", []any{rendertest.N(math.MaxInt64)}, "total (s)", []string{"9,223,372,037"}},
		{"mean_ns", []any{999.5}, "mean (us)", []string{"1.000"}},
		{"mean_ns", []any{999.4}, "mean (ns)", []string{"999"}},
		{"mean_ns", []any{math.NaN(), math.Inf(1), math.Inf(-1), 2.0}, "mean (ns)", []string{"NaN", "Inf", "-Inf", "2"}},
		{"mean_ns", []any{0.0004, 1.0}, "mean (ns)", []string{"4.0e-04", "1"}},
		{"bytes", []any{rendertest.N(1023)}, "bytes (B)", []string{"1,023"}},
		{"dram_bytes", []any{rendertest.N(1024), rendertest.N(1536)}, "DRAM (KiB)", []string{"1.0", "1.5"}},
		{"dram_bytes", []any{rendertest.N(80 << 30)}, "DRAM (GiB)", []string{"80"}},
		{"dram_bytes", []any{rendertest.N(16060522496)}, "DRAM (GiB)", []string{"15.0"}},
		{"dram_bytes_per_s", []any{4.8e12, 2.1e11}, "DRAM (GB/s)", []string{"4,800", "210"}},
		{"flop", []any{3.18e13}, "FLOP (TFLOP)", []string{"31.8"}},
		{"model_flop", []any{1e30}, "model (PFLOP)", []string{"1.000e+15"}},
		{"peak_flop_per_s", []any{989.4e12}, "peak (TFLOP/s)", []string{"989"}},
		{"clock_hz", []any{rendertest.N(1_980_000_000)}, "clock (GHz)", []string{"1.98"}},
		{"clock_hz", []any{rendertest.N(1_980_000_000), rendertest.N(75_000_000)}, "clock (MHz)", []string{"1,980", "75"}},
		{"share_ratio", []any{0.4123, 0.07, 0.0}, "share (%)", []string{"41.2", "7.0", "0"}},
		{"share_ratio", []any{0.4123, 0.0004}, "share (%)", []string{"41.23", "0.04"}},
		{"share_ratio", []any{0.4123, 0.000001}, "share (%)", []string{"41.2", "1.0e-04"}},
		{"share_ratio", []any{rendertest.N(1)}, "share (%)", []string{"100.0"}},
		{"power_w", []any{698.44, 65.25}, "power (W)", []string{"698.4", "65.2"}},
		{"temp_c", []any{rendertest.N(71)}, "temp (°C)", []string{"71"}},
		{"kernel_count", []any{rendertest.N(1998720)}, "kernel count", []string{"1,998,720"}},
		{"calls", []any{rendertest.N(41760)}, "calls", []string{"41,760"}},
		{"rank", []any{rendertest.N(41760)}, "rank", []string{"41760"}},
		{"process", []any{rendertest.N(41760)}, "process", []string{"41760"}},
		{"correlation_id", []any{rendertest.N(math.MinInt64)}, "correlation ID", []string{"-9223372036854775808"}},
		{"tokens_count", []any{rendertest.N(math.MaxInt64)}, "tokens count", []string{"9,223,372,036,854,775,807"}},
		{"value", []any{1234.567890123}, "value", []string{"1,234.57"}},
		{"value", []any{12.5, 3.0}, "value", []string{"12.5", "3.0"}},
		{"value", []any{1275068416.0, 61.234567, 0.00123456, 0.00000123, 12.0, 1e300},
			"value", []string{"1,275,068,416", "61.235", "0.00123", "1.2e-06", "12", "1.000e+300"}},
		{"ns", []any{rendertest.N(12)}, "ns", []string{"12"}},
		{"ns", []any{rendertest.N(12_345)}, "ns (us)", []string{"12.3"}},
		{"avg(total_ns)", []any{12_345.5}, "avg(total_ns)", []string{"12,345.5"}},
	}
	for _, test := range tests {
		f := &frame.Frame{Columns: []frame.Column{rendertest.Column(test.name, frame.Float)}}
		for _, v := range test.values {
			if _, whole := v.(int64); whole {
				f.Columns[0].Type = frame.Int
			}
			f.Rows = append(f.Rows, []any{v})
		}
		table, err := Of(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.texts(0); table.Columns[0].Title != test.title || !slices.Equal(got, test.cells) {
			t.Errorf("%s %v: got %s %q, want %s %q", test.name, test.values, table.Columns[0].Title, got, test.title, test.cells)
		}
	}
}

// A value that is not zero never shows as zero, whatever stands beside it, and keeps its sign.
func TestNonZeroNeverShowsAsZero(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	names := []string{"a_ns", "a_bytes", "a_ratio", "a_flop", "a_hz", "a_w", "a_c", "a_count", "a", "a_bytes_per_s", "a_flop_per_s"}
	for range 20_000 {
		values := make([]float64, 1+random.Intn(6))
		for i := range values {
			values[i] = (random.Float64() - 0.5) * math.Pow10(random.Intn(40)-20)
		}
		c := rendertest.Column(names[random.Intn(len(names))], frame.Float)
		s := typeset.ScaleOf(c, values)
		for _, v := range values {
			text := s.Number(v)
			if v != 0 && !strings.ContainsAny(strings.Split(text, "e")[0], "123456789") || (v < 0) != strings.HasPrefix(text, "-") {
				t.Fatalf("%s %v: %v shows as %s", c.Name, values, v, text)
			}
			if len(text) > 24 {
				t.Fatalf("%s %v: %v shows as %s", c.Name, values, v, text)
			}
		}
	}
}

// TestScaleRows holds how figures with a unit in the row are shown, and that values of other tools are not touched.
func TestScaleRows(t *testing.T) {
	figures := rendertest.FrameOf("aggregates", "metric unit value mean std passes", []any{"decode_ns", "ns", 398_209_187.0, 398_209_187.0, 168_105.0, int64(3)},
		[]any{"decode_tokens", "count", 16.0, 16.0, 0.0, int64(3)}, []any{"short_ns", "ns", 812.0, 812.0, nil, int64(1)})
	table, err := Of(figures)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"decode_ns ms 398.209 398.209 0.168 3", "decode_tokens count 16 16 0 3", "short_ns ns 812 812 - 1"} {
		if got := strings.Join(shown(table.Rows[i]), " "); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	metrics := rendertest.FrameOf("kernel-metrics", "metric value unit", []any{"gpu__time_duration.sum", 398_209_187.0, "ns"})
	if table, err = Of(metrics); err != nil || table.Rows[0][2].Text != "ns" || table.Rows[0][1].Text != "398,209,187" {
		t.Errorf("%v, %v", table.Rows, err)
	}
}

func shown(row []Cell) []string {
	var out []string
	for _, c := range row {
		out = append(out, c.Shown())
	}
	return out
}

// TestOneUnit checks that the columns of one measure share a unit, that a total has its own, and that a value too small for the unit is
// still seen.
func TestOneUnit(t *testing.T) {
	f := rendertest.FrameOf("q", "kernel total_ns mean_ns std_ns wait_mean_ns wait_max_ns", []any{"a", int64(9_000_000_000), 2.5e6, 300.0, 1500.0, int64(90_000_000)})
	table, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range table.Columns[1:] {
		titles = append(titles, c.Title)
	}
	if want := []string{"total (s)", "mean (ms)", "std (ms)", "wait mean (us)", "wait max (us)"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
	if got := shown(table.Rows[0])[1:]; !slices.Equal(got, []string{"9", "2.5", "3.0e-04", "1.5", "90,000"}) {
		t.Errorf("cells %q", got)
	}
}
