package cost

import (
	"encoding/json"
	"math/bits"
	"strings"

	"prof/internal/file"
)

// FLOP counts the floating-point operations of a call as PyTorch's profiler does (with_flops; computeFlops in
// torch/csrc/profiler/util.cpp): convolutions and matrix products with a multiply-add as 2, element-wise sums and products
// with 1 an element. shapes, types and concrete are the JSON of the inputs; types and concrete may be empty. ok is false for
// operators that PyTorch does not count, and where the inputs do not say enough.
func FLOP(name, shapes, types, concrete string) (flop int64, ok bool) {
	count, known := formulas[name]
	if !known || shapes == "" {
		return 0, false
	}
	in := inputs{}
	if decode(shapes, &in.shapes) != nil {
		return 0, false
	}
	if types != "" && decode(types, &in.types) != nil {
		return 0, false
	}
	if concrete != "" && decode(concrete, &in.concrete) != nil {
		return 0, false
	}
	return count(&in)
}

// mostInputs bounds the values in a list of inputs: those of the largest operators, of lists of thousands of tensors, have some ten thousand.
const mostInputs = 1 << 16

// decode decodes a list of inputs.
func decode(text string, into any) error {
	if err := file.FewValues([]byte(text), mostInputs); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// HasFLOP reports whether PyTorch counts the operations of an operator.
func HasFLOP(name string) bool { return formulas[name] != nil }

var formulas = map[string]func(*inputs) (int64, bool){
	"aten::conv2d":  conv2d,
	"aten::mm":      func(in *inputs) (int64, bool) { return in.product(0, 1, false) },
	"aten::addmm":   func(in *inputs) (int64, bool) { return in.product(1, 2, false) },
	"aten::bmm":     func(in *inputs) (int64, bool) { return in.product(0, 1, true) },
	"aten::baddbmm": func(in *inputs) (int64, bool) { return in.product(1, 2, true) },
	"aten::mul":     elements,
	"aten::add":     elements,
}

type inputs struct {
	shapes   []json.RawMessage
	types    []string
	concrete []string
}

// tensor returns the sizes of a tensor. Of other inputs PyTorch records empty sizes too; their type tells them apart.
func (in *inputs) tensor(i int) ([]int64, bool) {
	if i >= len(in.shapes) {
		return nil, false
	}
	if i < len(in.types) {
		if t := in.types[i]; t == "" || t == "Scalar" || strings.HasSuffix(t, "List") {
			return nil, false
		}
	}
	var sizes []int64
	if json.Unmarshal(in.shapes[i], &sizes) != nil {
		return nil, false
	}
	for _, s := range sizes {
		if s < 0 {
			return nil, false
		}
	}
	return sizes, len(in.types) > 0 || len(sizes) > 0
}

// product is that of two matrices, or with batch of as many pairs of them as the first size says.
func (in *inputs) product(left, right int, batch bool) (int64, bool) {
	a, ok := in.tensor(left)
	b, ok2 := in.tensor(right)
	if !ok || !ok2 {
		return 0, false
	}
	if len(a) == 0 || a[len(a)-1] == 0 || batch && a[0] == 0 {
		return 0, true
	}
	rows := a[:len(a)-1] // the last size is the one that both share
	if batch && len(rows) > 0 {
		rows = rows[1:] // the right one has the batch too
	}
	return multiply(2, rows, b)
}

func elements(in *inputs) (int64, bool) {
	a, ok := in.tensor(0)
	if !ok {
		return 0, false
	}
	return multiply(1, a)
}

// multiply returns ok false where the product is beyond 64 bits.
func multiply(by int64, lists ...[]int64) (int64, bool) {
	n := uint64(by)
	for _, l := range lists {
		for _, v := range l {
			hi, lo := bits.Mul64(n, uint64(v))
			if hi != 0 || lo > 1<<63-1 {
				return 0, false
			}
			n = lo
		}
	}
	return int64(n), true
}

// conv2d takes input, weight, bias, stride, padding, dilation and groups.
func conv2d(in *inputs) (int64, bool) {
	x, ok := in.tensor(0)
	w, ok2 := in.tensor(1)
	if !ok || !ok2 || len(x) != 4 || len(w) != 4 || len(in.concrete) < 7 {
		return 0, false
	}
	var pairs [3][2]int64
	for i := range pairs {
		var v []int64
		if json.Unmarshal([]byte(in.concrete[3+i]), &v) != nil || len(v) != 2 {
			return 0, false
		}
		pairs[i] = [2]int64{v[0], v[1]}
	}
	var groups int64
	if json.Unmarshal([]byte(in.concrete[6]), &groups) != nil || groups <= 0 {
		return 0, false
	}
	stride, padding, dilation := pairs[0], pairs[1], pairs[2]
	var out [2]int64
	for i := range out {
		if stride[i] <= 0 {
			return 0, false
		}
		covered := x[2+i] + 2*padding[i] - dilation[i]*(w[2+i]-1) - 1
		if covered < 0 || covered > 1<<40 {
			return 0, false
		}
		out[i] = covered/stride[i] + 1
	}
	n, ok := multiply(2, []int64{x[0], out[0], out[1], w[2], w[3], x[1], w[0]})
	return n / groups, ok
}
