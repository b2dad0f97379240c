package nsys

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestParseEmitted(t *testing.T) {
	for _, c := range []struct {
		text string
		want emitted
	}{
		{"aten::empty, op_id = 7", emitted{"aten::empty", -1, 7, ""}},
		{"aten::conv2d, seq = 64, op_id = 1", emitted{"aten::conv2d", 64, 1, ""}},
		{"aten::mm, seq = 0, op_id = 12, sizes = [[4, 4], [4, 4]], input_op_ids = [(0,-1), (11,0)]", emitted{"aten::mm", 0, 12, "[[4, 4], [4, 4]]"}},
		{"MeanBackward0, seq = 127, op_id = 189, sizes = [[]], input_op_ids = [(184,0)]", emitted{"MeanBackward0", 127, 189, "[[]]"}},
		{"aten::unbind, op_id = 34, sizes = [[3, 4, 4, 16, 64], []], input_op_ids = [(32,0), (0,-1)]", emitted{"aten::unbind", -1, 34, "[[3, 4, 4, 16, 64], []]"}},
		{"aten::mm, op_id = 3, sizes = [[1, 512], [512, 64]]", emitted{"aten::mm", -1, 3, "[[1, 512], [512, 64]]"}},
		{"aten::x, op_id = 5, input_op_ids = [(1,0)]", emitted{"aten::x", -1, 5, ""}}, // sizes are left out where no input has any
		{"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad, op_id = 218", emitted{"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", -1, 218, ""}},
		{"Optimizer.step#AdamW.step, op_id = 739", emitted{"Optimizer.step#AdamW.step", -1, 739, ""}},
		{"Torch-Compiled Region: 0/0, op_id = 73", emitted{"Torch-Compiled Region: 0/0", -1, 73, ""}},
		{"a range, of the user's, op_id = 3", emitted{"a range, of the user's", -1, 3, ""}}, // record_function("a range, of the user's")
		{"torch::autograd::CppNode<Mine<int, 2> >, seq = 3, op_id = 9", emitted{"torch::autograd::CppNode<Mine<int, 2> >", 3, 9, ""}},
		{"x[1, 2], op_id = 4, sizes = [[1]]", emitted{"x[1, 2]", -1, 4, "[[1]]"}},
		{"x, op_id = 1, op_id = 2", emitted{"x, op_id = 1", -1, 2, ""}},
		{"aten::mm, op_id = 18446744073709551615", emitted{"aten::mm", -1, 1<<64 - 1, ""}},
		{"层::x, op_id = 1", emitted{"层::x", -1, 1, ""}},
		// without op_id
		{"aten::addmm, seq = 12, sizes = [[768], [64, 256], [256, 768]]", emitted{"aten::addmm", 12, 0, "[[768], [64, 256], [256, 768]]"}},
		{"aten::addmm, seq = 9223372036854775807", emitted{"aten::addmm", 1<<63 - 1, 0, ""}},
		{"AddmmBackward, seq = 12", emitted{"AddmmBackward", 12, 0, ""}}, {"MeanBackward10, seq = 12", emitted{"MeanBackward10", 12, 0, ""}},
	} {
		got, ok := parseEmitted(c.text)
		if !ok || got != c.want {
			t.Errorf("%q gives %+v %v, want %+v", c.text, got, ok, c.want)
		}
	}
}

// TestNotEmitted: texts that only look alike.
func TestNotEmitted(t *testing.T) {
	for _, text := range []string{
		"", "prefill", "decode_step[17]", "step, 12", "12", "]", "[", "[[1, 2]]", ", op_id = 3", ", seq = 3", ", sizes = [[1]]", "aten::mm", "aten::mm, sizes = [[1, 2]]",
		"nvtx, op_id = x", "x, op_id = ", "x, op_id =3", "x, op_id= 3", "x,op_id = 3", "x op_id = 3", "x, op_id = 3 ", "x, op_id = -3", "x, op_id = 0", "x, op_id = 07", "aten::mm, seq = 01", "x, op_id = 3, sizes = [[01]]", "x, op_id = 3, sizes = [[1234567890123456789]]", "x, op_id = 3]", "x, op_id = 3, y",
		"x, op_id = 18446744073709551616", "aten::mm, seq = 9223372036854775808, op_id = 3", "aten::mm, seq = 1, op_id = 18446744073709551616",
		"batch, seq = 128", "prefill, seq = 128, sizes = [[1, 128]]", "aten::mm, seq=128", "MmBackward, stashed seq=12", "aten::mm, seq = 12, input_op_ids = [(1,0)]",
		"x, op_id = 3, sizes = []", "x, op_id = 3, sizes = [1, 2]", "x, op_id = 3, sizes = [[1,2]]", "x, op_id = 3, sizes = [[1, 2] ,[3]]", "x, op_id = 3, sizes = [[1, 2]", "x, op_id = 3, sizes = [[1, 2]]]",
		"x, op_id = 3, sizes = [[1, ]]", "x, op_id = 3, sizes = [[[1]]]", "x, op_id = 3, sizes = [[-]]", "x, op_id = 3, sizes = [[(1,0)]]", "x, op_id = 3, sizes =  [[1]]", "x, op_id = 3, sizes =[[1]]",
		"x, op_id = 3, input_op_ids = []", "x, op_id = 3, input_op_ids = [(1, 0)]", "x, op_id = 3, input_op_ids = [[1]]", "x, op_id = 3, input_op_ids = [(1,0)], sizes = [[1]]", "x, op_id = 3, input_op_ids = [(1)]",
		"x, op_id = 3, input_op_ids = [(1,0]", "x, op_id = 3, input_op_ids = [1,0)]", "x, op_id = 3, seq = 4", "x, op_id = 3, sizes = [[1]], op_ids = [(1,0)]",
	} {
		if got, ok := parseEmitted(text); ok {
			t.Errorf("%q gives %+v", text, got)
		}
	}
}

// FuzzParseEmitted: what is read writes the text again, and sizes are JSON that reads as lists of integers.
func FuzzParseEmitted(f *testing.F) {
	f.Add("aten::mm, seq = 0, op_id = 12, sizes = [[4, 4], []], input_op_ids = [(0,-1), (11,0)]")
	f.Add("aten::addmm, seq = 12, sizes = [[-1]]")
	f.Add("decode_step[17]")
	f.Fuzz(func(t *testing.T, text string) {
		e, ok := parseEmitted(text)
		if !ok {
			return
		}
		again := e.name
		if e.sequence >= 0 {
			again += fmt.Sprintf(", seq = %d", e.sequence)
		}
		if e.id > 0 {
			again += ", op_id = " + strconv.FormatUint(e.id, 10)
		}
		if e.sizes != "" {
			again += ", sizes = " + e.sizes
			var sizes [][]int64
			if err := json.Unmarshal([]byte(e.sizes), &sizes); err != nil || len(sizes) == 0 {
				t.Errorf("%q: %v", e.sizes, err)
			}
		}
		rest, found := strings.CutPrefix(text, again)
		if !found || rest != "" && !strings.HasPrefix(rest, ", input_op_ids = [(") || e.name == "" || e.sequence < 0 && e.id == 0 {
			t.Errorf("%q gives %+v, which writes %q", text, e, again)
		}
	})
}

func BenchmarkParseEmitted(b *testing.B) {
	for _, text := range []string{"decode_step[17]", "prefill", "step 12", "aten::mm, seq = 0, op_id = 12, sizes = [[4, 4], [4, 4]], input_op_ids = [(0,-1), (11,0)]"} {
		b.Run(text[:7], func(b *testing.B) {
			for b.Loop() {
				parseEmitted(text)
			}
		})
	}
}
