package cost

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/golden"
)

const torchData = "../../testdata/torch/"

// launched is a call in a trace that launched device work itself, and the innermost range around it.
type launched struct {
	name, within string
	in           Inputs
}

// calls reads the operators of a trace that launched kernels, copies or fills.
func calls(t testing.TB, path string) []launched {
	t.Helper()
	var trace struct {
		TraceEvents []struct {
			Name, Cat string
			Ts, Dur   float64
			Args      map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(golden.Unpacked(t, path), &trace); err != nil {
		t.Fatal(err)
	}
	work := map[string]bool{}
	for _, e := range trace.TraceEvents {
		if e.Cat == "kernel" || e.Cat == "gpu_memcpy" || e.Cat == "gpu_memset" {
			work[string(e.Args["External id"])] = true
		}
	}
	var out []launched
	for _, e := range trace.TraceEvents {
		if e.Cat != "cpu_op" || !work[string(e.Args["External id"])] {
			continue
		}
		c := launched{name: e.Name, in: Inputs{string(e.Args["Input Dims"]), string(e.Args["Input type"]), string(e.Args["Input Strides"]), string(e.Args["Concrete Inputs"])}}
		for _, r := range trace.TraceEvents {
			if r.Cat == "user_annotation" && r.Ts <= e.Ts && e.Ts+e.Dur <= r.Ts+r.Dur {
				c.within = r.Name
			}
		}
		out = append(out, c)
	}
	return out
}

// counted reads what FlopCounterMode counted of each case.
func counted(t *testing.T, path string) map[string]int64 {
	t.Helper()
	var file struct {
		Cases map[string]struct{ Flop int64 }
	}
	if err := json.Unmarshal(golden.Unpacked(t, path), &file); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for name, c := range file.Cases {
		out[name] = c.Flop
	}
	return out
}

// measured reads the bytes that each case's kernels read out of DRAM, the caches cold before each.
func measured(t *testing.T, path string) map[string]int64 {
	t.Helper()
	_, page, ok := bytes.Cut(golden.Unpacked(t, path), []byte(`"ID",`))
	if !ok {
		t.Fatal("no page")
	}
	rows, err := csv.NewReader(bytes.NewReader(append([]byte(`"ID",`), page...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ranges := slices.IndexFunc(rows[0], func(s string) bool { return strings.Contains(s, "Push/Pop_Range") })
	read := slices.Index(rows[0], "dram__bytes_read.sum")
	out := map[string]int64{}
	name := regexp.MustCompile(`:(\w+):none`)
	for _, r := range rows[2:] {
		n, err := strconv.ParseInt(strings.ReplaceAll(r[read], ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[name.FindStringSubmatch(r[ranges])[1]] += n
	}
	return out
}

// TestFLOP holds the formulas of PyTorch's profiler.
func TestFLOP(t *testing.T) {
	for _, c := range []struct {
		name, shapes, types, concrete string
		want                          int64 // -1: not known
	}{
		{"aten::mm", "[[2, 3], [3, 4]]", `["float", "float"]`, "", 48},
		{"aten::mm", "[[2, 3], [3, 4]]", "", "", 48},
		{"aten::addmm", "[[4], [2, 3], [3, 4], [], []]", `["float", "float", "float", "Scalar", "Scalar"]`, "", 48},
		{"aten::bmm", "[[5, 2, 3], [5, 3, 4]]", `["float", "float"]`, "", 240},
		{"aten::baddbmm", "[[], [5, 2, 3], [5, 3, 4]]", `["float", "float", "float"]`, "", 240},
		{"aten::mm", "[[2, 0], [0, 4]]", `["float", "float"]`, "", 0},
		{"aten::bmm", "[[0, 2, 3], [0, 3, 4]]", `["float", "float"]`, "", 0},
		{"aten::add", "[[2, 3], []]", `["float", "Scalar"]`, "", 6},
		{"aten::add", "[[], [2, 3]]", `["float", "float"]`, "", 1},
		{"aten::add", "[[], [2, 3]]", `["Scalar", "float"]`, "", -1},
		{"aten::mul", "[[2, 3]]", "", "", 6},
		{"aten::conv2d", "[[1, 3, 64, 64], [256, 3, 16, 16], [256], [], [], [], []]", `["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"]`,
			`["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "1"]`, 2 * 4 * 4 * 16 * 16 * 3 * 256},
		{"aten::conv2d", "[[1, 4, 8, 8], [8, 2, 3, 3], [], [], [], [], []]", "", `["", "", "", "[2, 1]", "[1, 1]", "[1, 1]", "2"]`, 2 * 4 * 8 * 3 * 3 * 4 * 8 / 2},
		{"aten::conv2d", "[[1, 3, 64, 64], [256, 3, 16, 16]]", "", `["", "", "", "[0, 0]", "[0, 0]", "[1, 1]", "1"]`, -1},
		{"aten::conv2d", "[[1, 3, 64, 64], [256, 3, 16, 16]]", "", `["", "", "", "[16, 16]", "same", "[1, 1]", "1"]`, -1},
		{"aten::mm", "[[4294967296, 4294967296], [4294967296, 4294967296]]", "", "", -1},
		{"aten::mm", "[[-2, 3], [3, 4]]", "", "", -1},
		{"aten::mm", "[[2, 3]]", "", "", -1},
		{"aten::mm", "not JSON", "", "", -1},
		{"aten::softmax", "[[2, 3]]", "", "", -1},
		{"aten::mm", "", "", "", -1},
	} {
		got, ok := FLOP(c.name, c.shapes, c.types, c.concrete)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("FLOP of %s %s: %d, want %d", c.name, c.shapes, got, c.want)
		}
	}
}

// TestCostOfCapture holds the formulas to what FlopCounterMode counted and what Nsight Compute measured of single operators.
func TestCostOfCapture(t *testing.T) {
	flop, read := counted(t, torchData+"ops.flop.json.gz"), measured(t, torchData+"ops.ncu.csv.gz")
	const repeats = 3
	sums, bytes, bounds := map[string]int64{}, map[string]int64{}, map[string]string{}
	for _, c := range calls(t, torchData+"ops.trace.json.gz") {
		cost, ok := Of(c.name, c.in)
		if !ok {
			t.Errorf("%s has no formula", c.name)
		}
		if isProduct(cost.Group) {
			sums[c.within] += cost.FLOP
		}
		if c.within == "baddbmm" && c.name == "aten::copy_" { // a copy of the driver's, which has no kernel
			continue
		}
		bytes[c.within] += cost.Read
		if bounds[c.within] != "lower" {
			bounds[c.within] = cost.Bound
		}
	}
	if len(flop) < 35 || len(read) != len(flop) {
		t.Fatalf("%d cases, %d measured", len(flop), len(read))
	}
	// What is read out of DRAM is what must be read. It is more where tiles of large factors are read again, where cuDNN turns
	// the layout around in kernels of its own, and where topk goes over its input several times.
	again := map[string]float64{"mm_bf16": 4.6, "mm_t_fp16": 2.2, "addmm_bf16": 3.1, "linear_bias": 3.3, "scaled_mm": 3.1, "conv2d": 4, "topk": 3.1}
	for name, n := range flop {
		if name == "grouped_mm" { // unknown to FlopCounterMode
			n = 2 * 4096 * 2048 * 4096
		}
		if sums[name] != repeats*n {
			t.Errorf("%s: %d FLOP, FlopCounterMode counts %d", name, sums[name]/repeats, n)
		}
		ratio := float64(read[name]*repeats) / float64(bytes[name])
		switch {
		case name == "cat" || name == "index": // no types
			if bytes[name] != -repeats {
				t.Errorf("%s: %d bytes, unknown is -1", name, bytes[name]/repeats)
			}
		case name == "fill":
			if bytes[name] != 0 || read[name] > 1<<16 {
				t.Errorf("fill reads %d, measured %d", bytes[name], read[name])
			}
		case again[name] > 0:
			if ratio < again[name]-0.1 || ratio > again[name]+0.1 {
				t.Errorf("%s: Nsight Compute measured %.3f of the bytes, before it was %.1f", name, ratio, again[name])
			}
		case ratio < 0.96 && bounds[name] != "upper" || ratio < 0.95 || ratio > 1.05:
			t.Errorf("%s: %d bytes must be read, Nsight Compute measured %d", name, bytes[name]/repeats, read[name])
		}
	}
}

// TestCostOfModels holds the sums over the operators that launched work to what FlopCounterMode counted of a pass of a model.
func TestCostOfModels(t *testing.T) {
	var models map[string]struct {
		Flop int64
		By   map[string]int64
	}
	if err := json.Unmarshal(golden.Unpacked(t, torchData+"models/flop.json.gz"), &models); err != nil {
		t.Fatal(err)
	}
	if len(models) != 6 {
		t.Errorf("%d models", len(models))
	}
	for model, want := range models {
		got := map[string]int64{}
		for _, c := range calls(t, torchData+"models/"+model+".trace.json.gz") {
			cost, ok := Of(c.name, c.in)
			switch {
			case !ok || !isProduct(cost.Group) || c.name == "aten::_grouped_mm": // which FlopCounterMode does not know
			case cost.Group == "attention":
				got["aten._scaled_dot_product_cudnn_attention"] += cost.FLOP
			case cost.Group == "convolution":
				got["aten.convolution"] += cost.FLOP
			default:
				got[strings.Replace(c.name, "::", ".", 1)] += cost.FLOP
			}
		}
		if !maps.Equal(got, want.By) {
			t.Errorf("%s: %v, FlopCounterMode counts %v", model, got, want.By)
		}
	}
}

func isProduct(group string) bool {
	return slices.Contains([]string{"matmul", "convolution", "attention", "moe"}, group)
}

// TestCostIsFLOP: where PyTorch's profiler counts operations too, the cost has the same.
func TestCostIsFLOP(t *testing.T) {
	same := 0
	for _, name := range []string{"llama", "train", "graph", "ops"} {
		for _, c := range calls(t, torchData+name+".trace.json.gz") {
			want, ok := FLOP(c.name, c.in.Shapes, c.in.Types, c.in.Concrete)
			if !ok {
				continue
			}
			if got, ok := Of(c.name, c.in); !ok || got.FLOP != want {
				t.Errorf("%s %s: %d FLOP, PyTorch counts %d", c.name, c.in.Shapes, got.FLOP, want)
			}
			same++
		}
	}
	if same < 100 {
		t.Errorf("only %d calls have both", same)
	}
}

// TestCost holds formulas to figures worked out by hand.
func TestCost(t *testing.T) {
	const half, single, whole, none = "c10::BFloat16", "float", "long int", ""
	for _, c := range []struct {
		name, shapes  string
		types         []string
		strides       string
		concrete      []string
		read, write   int64
		flop          int64
		bound, reason string
	}{
		{"aten::add", "[[8, 1], [4], []]", []string{half, half, "Scalar"}, "", []string{"", "", "1"}, 24, 64, 8, "exact", ""},
		{"aten::add", "[[8, 4], [8, 4], []]", []string{half, single, "Scalar"}, "[[4, 1], [0, 1], []]", nil, 64 + 16, 128, 32, "exact", ""},
		{"aten::add_", "[[8, 4], [8, 4], []]", []string{half, single, "Scalar"}, "", nil, 64 + 128, 64, -1, "exact", ""},
		{"aten::sub", "[[8], [8], []]", []string{half, "c10::Half", "Scalar"}, "", nil, 32, 32, -1, "exact", ""},
		{"aten::mul", "[[8], []]", []string{whole, "Scalar"}, "", []string{"", "2"}, 64, 64, 8, "exact", ""},
		{"aten::mul", "[[8], []]", []string{whole, "Scalar"}, "", []string{"", "0.5"}, 64, 32, 8, "exact", ""},
		{"aten::mul", "[[8], []]", []string{whole, "double"}, "", nil, -1, -1, 8, "exact", scalarType},
		{"aten::mul", "[[8], [8], [8]]", []string{half, half, single}, "", nil, 32, 32, 8, "exact", ""},
		{"aten::div", "[[8], [8]]", []string{whole, whole}, "", nil, 128, 32, -1, "exact", ""},
		{"aten::div", "[[8], [8], []]", []string{whole, whole, none}, "", []string{"", "", "floor"}, 128, 64, -1, "exact", ""},
		{"aten::eq", "[[8], []]", []string{half, "Scalar"}, "", nil, 16, 8, -1, "exact", ""},
		{"aten::where", "[[8], [8], []]", []string{"bool", half, single}, "", nil, 8 + 16 + 4, 16, -1, "exact", ""},
		{"aten::masked_fill_", "[[2, 8], [8], []]", []string{half, "bool", "Scalar"}, "", nil, 32 + 8, 32, -1, "exact", ""},
		{"aten::copy_", "[[8, 8], [8, 8], []]", []string{half, single, "Scalar"}, "[[8, 1], [0, 0], []]", nil, 4, 128, -1, "exact", ""},
		{"aten::gelu", "[[8, 8], []]", []string{half, none}, "[[2, 1], []]", nil, 2 * 22, 128, -1, "exact", ""}, // rows that overlap
		{"aten::sum", "[[4, 8, 2], [], [], []]", []string{half, "ScalarList", "Scalar", none}, "", []string{"", "[0, -1]", "True", ""}, 128, 16, -1, "exact", ""},
		{"aten::sum", "[[4, 8, 2], []]", []string{"bool", none}, "", []string{"", ""}, 64, 8, -1, "exact", ""},
		{"aten::sum", "[[4, 8, 2], []]", []string{half, "Scalar"}, "", []string{"", "6"}, 128, 4, -1, "exact", ""},
		{"aten::sum", "[[4, 8, 2], [], [], []]", []string{half, "ScalarList", "Scalar", none}, "", nil, -1, -1, -1, "exact", noValues},
		{"aten::max", "[[4, 8], [], []]", []string{half, "Scalar", "Scalar"}, "", []string{"", "1", "False"}, 64, 4*8 + 4*2, -1, "exact", ""},
		{"aten::max", "[[4, 8], [8]]", []string{half, half}, "", nil, 64 + 16, 64, -1, "exact", ""},
		{"aten::argmax", "[[4, 8], [], []]", []string{half, none, "Scalar"}, "", []string{"", "", "False"}, 64, 8, -1, "exact", ""},
		{"aten::cumsum", "[[4, 8], [], []]", []string{"bool", "Scalar", none}, "", []string{"", "1", ""}, 32, 256, -1, "exact", ""},
		{"aten::_softmax", "[[4, 8], [], []]", []string{half, "Scalar", "Scalar"}, "", []string{"", "-1", "True"}, 64, 128, -1, "exact", ""},
		{"aten::_fused_rms_norm", "[[4, 8], [], [8], []]", []string{half, "ScalarList", half, none}, "", []string{"", "[8]", "", ""}, 64 + 16, 64 + 16, -1, "exact", ""},
		{"aten::native_layer_norm_backward", "[[4, 8], [4, 8], [], [4, 1], [4, 1], [8], [8], []]", []string{half, half, "ScalarList", single, single, half, half, "ScalarList"}, "", []string{"", "", "[8]", "", "", "", "", "[True, True, False]"}, 128 + 32 + 16, 64 + 16, -1, "exact", ""},
		{"aten::index_select", "[[3, 8], [], [5]]", []string{half, "Scalar", whole}, "", []string{"", "0", ""}, 40 + 48, 80, -1, "upper", ""},
		{"aten::scatter_add_", "[[8, 8], [], [2, 8], [2, 8]]", []string{half, "Scalar", whole, half}, "", []string{"", "0", "", ""}, 128 + 32 + 32, 32, -1, "upper", ""},
		{"aten::topk", "[[4, 32], [], [], [], []]", []string{half, "Scalar", "Scalar", "Scalar", "Scalar"}, "", []string{"", "2", "-1", "True", "True"}, 256, 80, -1, "lower", ""},
		{"aten::cat", "[[[4], [4]], []]", []string{"TensorList", "Scalar"}, "", nil, -1, -1, -1, "exact", listTypes},
		{"aten::cat", "[[[4], [4]], [], [0]]", []string{"TensorList", "Scalar", half}, "", nil, 16, 16, -1, "exact", ""},
		{"aten::_foreach_add_", "[[[4], [4]], []]", []string{"TensorList", "Scalar"}, "", nil, -1, -1, -1, "exact", listTypes},

		{"aten::mm", "[[2, 3], [3, 4]]", nil, "", nil, -1, -1, 48, "exact", noTypes},
		{"aten::mm", "[[2, 3], [3, 4], []]", []string{half, half, "Scalar"}, "", []string{"", "", "6"}, 36, 32, 48, "exact", ""},
		{"aten::addmm", "[[4], [2, 3], [3, 4], [], []]", []string{half, half, half, "Scalar", "Scalar"}, "", []string{"", "", "", "0", "1"}, 36, 16, 48, "exact", ""},
		{"aten::addmm", "[[4], [2, 3], [3, 4], [], []]", []string{half, half, half, "Scalar", "Scalar"}, "", []string{"", "", "", "1", "1"}, 44, 16, 48, "exact", ""},
		{"aten::_int_mm", "[[2, 3], [3, 4]]", []string{"signed char", "signed char"}, "", nil, 18, 32, 48, "exact", ""},
		{"_C::cutlass_scaled_mm", "[[2, 4], [2, 3], [3, 4], [2, 1], [4], []]", []string{half, "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", single, single, none}, "", nil, 18 + 24, 16, 48, "exact", ""},
		{"aten::cudnn_convolution_transpose", "[[1, 4, 5, 5], [4, 2, 3, 3], [], [], [], [], [], [], [], []]", []string{half, half, "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"}, "",
			[]string{"", "", "[1, 1]", "[1, 1]", "[2, 2]", "[1, 1]", "2", "False", "False", "True"}, 2 * (100 + 72), 2 * 4 * 100, 2 * 25 * 72, "exact", ""},
		{"aten::cudnn_convolution", "[[1, 4, 5, 5], [2, 4, 3, 3], [], [], [], [], [], [], []]", nil, "", nil, -1, -1, -1, "exact", noTypes},
		{"aten::convolution_backward", "[[4, 8, 4, 4], [4, 3, 8, 8], [8, 3, 2, 2], [], [], [], [], [], [], [], []]", nil, "", nil, -1, -1, -1, "exact", noTypes},
		{"aten::_flash_attention_forward", "[[1, 4, 2, 8], [1, 4, 2, 8], [1, 4, 2, 8], [], [], [], [], [], [], [], []]", nil, "", nil, -1, -1, 2 * 2 * 16 * 16, "exact", noTypes},
		{"aten::clamp", "[[8], [8], [8]]", []string{half, half, half}, "", nil, 48, 16, -1, "exact", ""},
		{"aten::abs", "[[8]]", []string{"c10::complex<float>"}, "", nil, 64, 32, -1, "exact", ""},
		{"aten::linalg_vector_norm", "[[4, 8], [], [], [], []]", []string{"c10::complex<float>", "Scalar", "ScalarList", "Scalar", none}, "", []string{"", "2", "[1]", "False", ""}, 256, 16, -1, "exact", ""},
		{"aten::arange", "[[], [], [], [0]]", []string{"Scalar", "Scalar", "Scalar", whole}, "", []string{"2.", "257", "2", ""}, 0, 128 * 8, -1, "exact", ""},
		{"aten::arange", "[[], [], [], [0]]", []string{"Scalar", "Scalar", "Scalar", whole}, "", []string{"2", "257", "0", ""}, -1, -1, -1, "exact", otherInputs},
		{"flash_attn::_flash_attn_varlen_forward", "[[7, 2, 8], [9, 16, 1, 8], [9, 16, 1, 8], [2], [2], [], [], [], [], []]", []string{half, half, half, "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"}, "", []string{"", "", "", "", "", "4", "5", "0.", "0.1", "True"}, -1, -1, -1, "exact", lengths},
		{"aten::_grouped_mm", "[[6, 8], [3, 8, 4], [3], [], []]", []string{half, half, "int", none, none}, "", []string{"", "", "", "", ""}, 96 + 192 + 12, 48, 2 * 6 * 8 * 4, "upper", ""},
		{"aten::_grouped_mm", "[[2, 8], [3, 8, 4], [3], [], []]", []string{half, half, "int", none, none}, "", []string{"", "", "", "", ""}, 32 + 128 + 12, 16, 2 * 2 * 8 * 4, "upper", ""},
		{"aten::_grouped_mm", "[[3, 2, 8], [3, 8, 4], [], [], []]", []string{half, half, none, none, none}, "", []string{"", "", "", "", "6"}, 96 + 192, 96, 2 * 3 * 2 * 8 * 4, "exact", ""},
		{"aten::_flash_attention_forward", "[[7, 2, 8], [9, 1, 8], [9, 1, 8], [3], [3], [], [], [], [], [], []]", []string{half, half, half, "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", none}, "",
			[]string{"", "", "", "", "", "4", "5", "0.", "True", "False", ""}, 2 * (112 + 144), 224 + 56, -1, "exact", lengths},
		{"aten::_flash_attention_backward", "[[1, 4, 2, 8], [1, 4, 2, 8], [1, 6, 2, 8], [1, 6, 2, 8], [1, 4, 2, 8], [1, 2, 4], [], [], [], [], [], [], [], [], [], [], []]",
			[]string{half, half, half, half, half, single, none, none, "Scalar", "Scalar", "Scalar", "Scalar", whole, whole, none, none, none}, "",
			[]string{"", "", "", "", "", "", "", "", "4", "6", "0.", "False", "", "", "", "", ""}, 2*(64*3+96*2) + 32, 2 * (64 + 96*2), 2 * 2 * 24 * 40, "exact", ""},
		{"aten::convolution_backward", "[[4, 8, 4, 4], [4, 3, 8, 8], [8, 3, 2, 2], [], [], [], [], [], [], [], []]",
			[]string{half, half, half, "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"}, "",
			[]string{"", "", "", "[8]", "[2, 2]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"}, 2 * (512 + 96 + 768), 2 * (768 + 96), 2 * 2 * 4 * 16 * 96, "exact", ""},
		{"vllm::unified_attention_with_output", "[[7, 2, 8], [9, 1, 8], [9, 1, 8], [7, 2, 8], []]", []string{half, half, half, half, none}, "", nil, -1, -1, -1, "exact", lengths},
		{"vllm::moe_forward", "[[7, 8], [7, 4], []]", []string{half, half, none}, "", nil, -1, -1, -1, "exact", routing},
		{"vllm::outplace_fused_experts", "[[2, 8], [4, 6, 8], [4, 8, 3], [2, 2], [2, 2], []]", []string{half, half, half, single, "int", none}, "", nil, 2*(4*48+4*24) + 32 + 16 + 16, 32, 2 * 4 * (48 + 24), "upper", ""},
		{"vllm::outplace_fused_experts", "[[2, 8], [4, 6, 8], [4, 8, 3], [2, 2], [2, 2], [16]]", []string{half, half, half, single, "int", "int"}, "", nil, -1, -1, -1, "upper", routing},

		{"_C::fused_add_rms_norm", "[[2, 8], [2, 8], [8], []]", []string{half, half, half, "Scalar"}, "", nil, 32 + 32 + 16, 64, -1, "exact", ""},
		{"aiter::add_rmsnorm", "[[2, 8], [2, 8], [2, 8], [2, 8], [8], []]", []string{half, half, half, half, half, "Scalar"}, "", nil, 32 + 32 + 16, 64, -1, "exact", ""},
		{"sgl_kernel::silu_and_mul", "[[2, 8], [2, 16]]", []string{half, half}, "", nil, 64, 32, -1, "exact", ""},
		{"_C::rotary_embedding", "[[2], [2, 16], [2, 8], [], [100, 4], []]", []string{whole, half, half, "Scalar", half, "Scalar"}, "", []string{"", "", "", "8", "", "True"}, 16 + 16 + 2*(16+8), 2 * (16 + 8), -1, "upper", ""},
		{"_C_cache_ops::reshape_and_cache_flash", "[[4, 2, 8], [4, 2, 8], [9, 16, 2, 8], [9, 16, 2, 8], [3], [], [], []]", []string{half, half, "unsigned char", "unsigned char", whole, none, single, single}, "", nil, 24 + 2*96, 96, -1, "upper", ""},
		{"aten::relu", "[[4611686018427387904, 4]]", []string{half}, "", nil, -1, -1, -1, "exact", otherInputs},
		{"aten::relu", "not JSON", []string{half}, "", nil, -1, -1, -1, "exact", otherInputs},
	} {
		text := func(list []string) string {
			if list == nil {
				return ""
			}
			b, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		got, ok := Of(c.name, Inputs{c.shapes, text(c.types), c.strides, text(c.concrete)})
		if !ok || got.Read != c.read || got.Write != c.write || got.FLOP != c.flop || got.Bound != c.bound || got.Unknown != c.reason {
			t.Errorf("%s %s %v %v: %+v, want reads %d, writes %d, FLOP %d, %s, %q", c.name, c.shapes, c.types, c.concrete, got, c.read, c.write, c.flop, c.bound, c.reason)
		}
	}
	if _, ok := Of("aten::linear", Inputs{Shapes: "[[2, 3], [4, 3]]"}); ok {
		t.Error("an operator that calls others has a formula: its work would count twice")
	}
}

// TestMask counts the pairs of tokens that masks leave.
func TestMask(t *testing.T) {
	for _, c := range []struct {
		name     string
		sq, sk   int
		concrete string
		pairs    int64
	}{
		{"flash", 4, 4, `["", "", "", "", "", "4", "4", "0.", "False", "False", "", "", ""]`, 16},
		{"flash", 4, 4, `["", "", "", "", "", "4", "4", "0.", "True", "False", "", "", ""]`, 10},
		{"flash", 2, 5, `["", "", "", "", "", "2", "5", "0.", "True", "False", "", "", ""]`, 4 + 5}, // ends at the last key
		{"flash", 4, 4, `["", "", "", "", "", "4", "4", "0.", "True", "False", "", "1", "0"]`, 1 + 2 + 2 + 2},
		{"efficient", 2, 5, `["", "", "", "", "", "", "", "", "0.", "1", "False", "", "", ""]`, 1 + 2}, // begins at the first key
		{"efficient", 2, 5, `["", "", "", "", "", "", "", "", "0.", "2", "False", "", "", ""]`, 4 + 5},
		{"efficient", 2, 5, `["", "", "", "", "", "", "", "", "0.", "0", "False", "", "", ""]`, 10},
	} {
		sizes := func(n int) string { return "[1, " + strconv.Itoa(n) + ", 3, 8]" }
		shapes := "[" + sizes(c.sq) + ", " + sizes(c.sk) + ", " + sizes(c.sk) + strings.Repeat(", []", strings.Count(c.concrete, ",")-2) + "]"
		got, ok := Of("aten::_"+c.name+"_attention_forward", Inputs{Shapes: shapes, Types: `["float", "float", "float"` + strings.Repeat(`, ""`, strings.Count(c.concrete, ",")-2) + "]", Concrete: c.concrete})
		if !ok || got.FLOP != int64(c.sq*c.sk)*2*3*16 || got.MaskedFLOP != c.pairs*2*3*16 {
			t.Errorf("%s of %d and %d tokens %s: %+v, want %d pairs", c.name, c.sq, c.sk, c.concrete, got, c.pairs)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	list := calls(b, torchData+"llama.trace.json.gz")
	for b.Loop() {
		for _, c := range list {
			Of(c.name, c.in)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/call")
}

// FuzzOf: whatever a trace says of an operator's inputs, a figure is that of no tensor of negative size, or unknown.
func FuzzOf(f *testing.F) {
	for _, name := range []string{"aten::mm", "aten::cudnn_convolution", "aten::_flash_attention_forward", "aten::sum", "aten::topk", "_C::rotary_embedding", "aten::_grouped_mm", "vllm::outplace_fused_experts"} {
		f.Add(name, "[[2, 3], [3, 4], [], [], [], []]", `["float", "float", "Scalar"]`, "[[3, 1], [4, 1]]", `["", "", "[1]", "[1]", "[1]", "1"]`)
	}
	f.Fuzz(func(t *testing.T, name, shapes, types, strides, concrete string) {
		c, ok := Of(name, Inputs{shapes, types, strides, concrete})
		if ok && (c.Read < -1 || c.Write < -1 || c.FLOP < -1 || c.MaskedFLOP > c.FLOP || (c.Read < 0) != (c.Write < 0) || c.Read < 0 && c.Unknown == "" || c.Read >= 0 && isProduct(c.Group) && c.FLOP < 0 && c.Unknown == "") {
			t.Errorf("%s %s %s %s %s: %+v", name, shapes, types, strides, concrete, c)
		}
	})
}

// TestSources: the checksum of facts has all formulas.
func TestSources(t *testing.T) {
	for _, name := range []string{"cost.go", "elements.go", "flop.go", "matrix.go"} {
		if _, err := Sources.ReadFile(name); err != nil {
			t.Error(err)
		}
	}
}
