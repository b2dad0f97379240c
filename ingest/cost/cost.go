// Package cost says what operators of PyTorch and of serving engines must compute and move, from the inputs they were called with:
// floating-point operations and bytes, by formulas, each with its source.
package cost

import (
	"embed"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// Sources are the formulas as they are written: with another text, what was computed by them is stale.
//
//go:embed cost.go elements.go flop.go matrix.go
var Sources embed.FS

// Inputs are an operator's inputs, each text JSON; "" is not recorded.
type Inputs struct{ Shapes, Types, Strides, Concrete string }

// Cost is what a call of an operator must do whatever its kernels are: each distinct element of an input read once, each
// element of an output written once, and the floating-point operations of its matrix products. What its kernels do more is
// left out: elements read again, intermediate results, padding, and that memory is read in sectors of 32 bytes.
type Cost struct {
	Group      string // matmul, convolution, attention, moe, elementwise, reduction, normalisation, softmax, indexing, sort, copy, fill, cat or cache
	FLOP       int64  // a multiply-add is 2, attention without regard to a causal mask, as torch.utils.flop_counter counts; -1: unknown, or no product of matrices
	MaskedFLOP int64  // FLOP less that of the pairs which a causal mask or a window leaves out; -1 likewise
	Read       int64  // bytes; -1 when unknown
	Write      int64  // bytes; -1 when unknown
	Bound      string // exact; upper or lower where the bytes depend on values that no trace records
	Precision  string // of the matrix products: fp64, bf16, fp16, fp8, fp4, int8; fp32 or tf32 where the inputs say which; "" otherwise
	Unknown    string // why a figure is unknown, see the constants; "" when none is
}

// Why a figure of a cost is unknown.
const (
	noTypes     = "no-types"     // types of the inputs were not recorded
	noValues    = "no-values"    // values of inputs that are no tensors were not recorded
	listTypes   = "list-types"   // types of the tensors in a list are never recorded
	scalarType  = "scalar-type"  // a tensor of no dimension may be a Python number, which has another type
	lengths     = "lengths"      // lengths of sequences lie on the GPU
	routing     = "routing"      // which experts work is decided on the GPU
	otherInputs = "other-inputs" // they are not those that the formula knows
)

// Has reports whether there is a formula for an operator.
func Has(name string) bool {
	return costs[name] != nil || strings.HasPrefix(name, "aten::_foreach_")
}

// Of returns the cost of a call; ok is false for an operator without a formula.
func Of(name string, in Inputs) (_ Cost, ok bool) {
	if !Has(name) {
		return Cost{}, false
	}
	c := &call{name: name, text: in, Cost: Cost{FLOP: -1, MaskedFLOP: -1, Bound: "exact"}}
	c.parse()
	if formula := costs[name]; formula != nil {
		formula(c)
	} else {
		c.list("elementwise")
	}
	if c.why != "" {
		c.Read, c.Write = -1, -1
	}
	c.Unknown = c.why
	if c.Unknown == "" {
		c.Unknown = c.noFLOP
	}
	return c.Cost, true
}

// call is a cost in the making.
type call struct {
	Cost
	name    string
	text    Inputs
	in      inputs
	strides []json.RawMessage
	why     string // why the bytes are unknown, the first reason
	broken  string // likewise, other than that types were not recorded
	noFLOP  string // why the operations are
}

func (c *call) parse() {
	for _, f := range []struct {
		text string
		to   any
	}{{c.text.Shapes, &c.in.shapes}, {c.text.Types, &c.in.types}, {c.text.Strides, &c.strides}, {c.text.Concrete, &c.in.concrete}} {
		if f.text != "" && decode(f.text, f.to) != nil {
			c.fail(otherInputs)
		}
	}
	if len(c.in.types) == 0 {
		c.fail(noTypes)
	}
}

// fail notes why the bytes are unknown.
func (c *call) fail(why string) {
	if c.why == "" {
		c.why = why
	}
	if c.broken == "" && why != noTypes {
		c.broken = why
	}
}

// operations notes those of a product of matrices.
func (c *call) operations(flop int64, ok bool) {
	if c.FLOP, c.MaskedFLOP = flop, flop; !ok {
		c.failFLOP(otherInputs)
	}
}

func (c *call) failFLOP(why string) { c.FLOP, c.MaskedFLOP, c.noFLOP = -1, -1, why }

// number is a type of numbers.
type number struct {
	bytes     int64
	kind      int
	precision string // of matrix products
}

const (
	isBool = iota
	isInt
	isFloat
	isComplex
)

// numbers are by the names that PyTorch's traces have (caffe2::TypeMeta::name).
var numbers = map[string]number{
	"bool": {1, isBool, ""}, "unsigned char": {1, isInt, ""}, "signed char": {1, isInt, "int8"}, "short int": {2, isInt, ""}, "short": {2, isInt, ""}, "int": {4, isInt, ""},
	"long int": {8, isInt, ""}, "long": {8, isInt, ""}, "short unsigned int": {2, isInt, ""}, "unsigned int": {4, isInt, ""}, "long unsigned int": {8, isInt, ""},
	"c10::Half": {2, isFloat, "fp16"}, "c10::BFloat16": {2, isFloat, "bf16"}, "float": {4, isFloat, ""}, "double": {8, isFloat, "fp64"},
	"c10::Float8_e4m3fn": {1, isFloat, "fp8"}, "c10::Float8_e5m2": {1, isFloat, "fp8"}, "c10::Float8_e4m3fnuz": {1, isFloat, "fp8"}, "c10::Float8_e5m2fnuz": {1, isFloat, "fp8"},
	"c10::Float8_e8m0fnu": {1, isFloat, ""}, "c10::Float4_e2m1fn_x2": {1, isFloat, "fp4"}, "c10::complex<float>": {8, isComplex, ""}, "c10::complex<double>": {16, isComplex, ""},
}

// scalarTypes are the numbers of types in c10/core/ScalarType.h, as values of inputs have them.
var scalarTypes = map[int64]string{0: "unsigned char", 1: "signed char", 2: "short int", 3: "int", 4: "long int", 5: "c10::Half", 6: "float", 7: "double", 9: "c10::complex<float>", 10: "c10::complex<double>",
	11: "bool", 15: "c10::BFloat16", 23: "c10::Float8_e5m2", 24: "c10::Float8_e4m3fn", 25: "c10::Float8_e5m2fnuz", 26: "c10::Float8_e4m3fnuz"}

// operand is a tensor.
type operand struct {
	sizes    []int64
	count    int64 // elements
	distinct int64 // elements in memory: a dimension of stride 0 has one
	typeName string
	number
}

// most is what a tensor may have in bytes: sums of a few are far from overflow.
const most = 1 << 58

// has reports whether an input is a tensor: not whether its type is known.
func (c *call) has(i int) bool {
	if i >= len(c.in.shapes) {
		return false
	}
	_, ok := c.in.tensor(i)
	return ok
}

// tensor returns an input that must be a tensor.
func (c *call) tensor(i int) operand {
	sizes, ok := c.in.tensor(i)
	if !ok {
		c.fail(otherInputs)
		return operand{}
	}
	o := operand{sizes: sizes}
	if o.count, ok = multiply(1, sizes); !ok || o.count > most/16 {
		c.fail(otherInputs)
		return operand{}
	}
	if i < len(c.in.types) {
		o.typeName = c.in.types[i]
		if o.number, ok = numbers[o.typeName]; !ok {
			c.fail(otherInputs)
		}
	}
	o.distinct = c.distinct(i, o)
	return o
}

// distinct counts the elements in memory. No more of them are distinct than lie between the first and the last.
func (c *call) distinct(i int, o operand) int64 {
	var strides []int64
	if i >= len(c.strides) || json.Unmarshal(c.strides[i], &strides) != nil || len(strides) != len(o.sizes) || o.count == 0 {
		return o.count
	}
	n, last := int64(1), 1.0
	for d, s := range strides {
		if s != 0 {
			n *= o.sizes[d]
		}
		last += math.Abs(float64(s)) * float64(o.sizes[d]-1)
	}
	if last < float64(n) {
		return int64(last)
	}
	return n
}

// kind is the type of an input that is no tensor: Scalar, ScalarList, TensorList, or "" for none and for texts.
func (c *call) kind(i int) string {
	if i >= len(c.in.types) {
		return ""
	}
	return c.in.types[i]
}

// value returns the text of an input that is no tensor; "" for none.
func (c *call) value(i int) string {
	if i >= len(c.in.concrete) {
		if len(c.in.concrete) == 0 {
			c.fail(noValues)
		}
		return ""
	}
	return c.in.concrete[i]
}

// integer reads a value; def where there is none.
func (c *call) integer(i int, def int64) int64 {
	text := c.value(i)
	if text == "" {
		return def
	}
	var n int64
	if json.Unmarshal([]byte(text), &n) != nil {
		c.fail(otherInputs)
	}
	return n
}

// integers reads a list of values, of as many as there are dimensions: one stands for all.
func (c *call) integers(i, dimensions int) []int64 {
	var list []int64
	if json.Unmarshal([]byte(c.value(i)), &list) != nil || len(list) != dimensions && len(list) != 1 {
		c.fail(otherInputs)
		return make([]int64, dimensions)
	}
	for len(list) < dimensions {
		list = append(list, list[0])
	}
	return list
}

// booleans reads a list of true and false.
func (c *call) booleans(i, n int) []bool {
	words := strings.Split(strings.Trim(c.value(i), "[]"), ", ")
	out := make([]bool, n)
	if len(words) != n {
		c.fail(otherInputs)
		return out
	}
	for k, w := range words {
		out[k] = w == "True"
	}
	return out
}

// asked returns the type that a value names, or def where there is none.
func (c *call) asked(i int, def number) number {
	if i >= len(c.in.shapes) {
		return def
	}
	if n := c.integer(i, -1); n >= 0 {
		asked, ok := numbers[scalarTypes[n]]
		if !ok {
			c.fail(otherInputs)
		}
		return asked
	}
	return def
}

// read adds bytes of an input that is read.
func (c *call) read(o operand) { c.Read += o.distinct * o.bytes }

// write adds an output.
func (c *call) write(count int64, n number) {
	if count < 0 || count > most/16 {
		c.fail(otherInputs)
		return
	}
	c.Write += count * n.bytes
}

// out returns the tensor that an operator was given to write to, which comes after its inputs.
func (c *call) out(after int) (operand, bool) {
	last := len(c.in.shapes) - 1
	if last < after || len(c.in.types) == 0 || !c.has(last) {
		return operand{}, false
	}
	return c.tensor(last), true
}

// result notes the one output: the tensor that it was given, which may have other sizes yet, or a new one.
func (c *call) result(after int, count int64, n number) {
	if o, ok := c.out(after); ok {
		n = o.number
	}
	c.write(count, n)
}

// list is the cost of an operator on a list of tensors: no trace has their types.
func (c *call) list(group string) {
	c.Group = group
	c.fail(listTypes)
}

// dimension returns the size of a dimension, which may be counted from the end.
func (c *call) dimension(o operand, d int64) int64 {
	if d < 0 {
		d += int64(len(o.sizes))
	}
	if len(o.sizes) == 0 && (d == 0 || d == -1) {
		return 1
	}
	if d < 0 || d >= int64(len(o.sizes)) {
		c.fail(otherInputs)
		return 1
	}
	return o.sizes[d]
}

// promoted returns the type of the result of operands, by the rules of c10::promoteTypes and at::native::result_type: tensors
// with dimensions count before those without, these before numbers, unless the kind of the latter is higher.
func (c *call) promoted(indices ...int) number {
	var names [2]string // with dimensions, without
	float := false
	for _, i := range indices {
		if !c.has(i) {
			if v := c.valueIfAny(i); strings.ContainsAny(v, ".einf") && v != "True" && v != "False" {
				float = true
			}
			continue
		}
		o := c.tensor(i)
		k := 0
		if len(o.sizes) == 0 {
			k = 1
		}
		name, ok := promote(names[k], o.typeName)
		if !ok {
			c.fail(otherInputs)
		}
		names[k] = name
	}
	whole, single := numbers[names[0]], numbers[names[1]]
	switch {
	case names[0] == "":
		whole = single
	case names[1] != "" && single.kind > whole.kind:
		c.fail(scalarType)
	}
	if float && whole.kind < isFloat {
		return numbers["float"]
	}
	return whole
}

func (c *call) valueIfAny(i int) string {
	if i < len(c.in.concrete) {
		return c.in.concrete[i]
	}
	return ""
}

// promote returns the type that holds two; ok is false where PyTorch's table has more to say than is here.
func promote(a, b string) (string, bool) {
	if a == "" || a == b {
		return b, true
	}
	x, y := numbers[a], numbers[b]
	switch {
	case x.kind > y.kind:
		return a, true
	case x.kind < y.kind:
		return b, true
	case x.kind == isFloat && x.bytes == 2 && y.bytes == 2:
		return "float", true
	case x.bytes == 1 && y.bytes == 1: // two kinds of bytes, or of eight-bit floats
		return "short int", x.kind == isInt
	case x.bytes == y.bytes:
		return a, false
	case x.bytes > y.bytes:
		return a, true
	default:
		return b, true
	}
}

// broadcast returns the sizes that tensors have together.
func (c *call) broadcast(list ...operand) []int64 {
	var out []int64
	for _, o := range list {
		for len(out) < len(o.sizes) {
			out = slices.Insert(out, 0, 1)
		}
		at := len(out) - len(o.sizes)
		for d, s := range o.sizes {
			switch {
			case out[at+d] == 1:
				out[at+d] = s
			case s != 1 && s != out[at+d]:
				c.fail(otherInputs)
			}
		}
	}
	return out
}

// elementsOf counts the elements of sizes.
func (c *call) elementsOf(sizes []int64) int64 {
	n, ok := multiply(1, sizes)
	if !ok || n > most/16 {
		c.fail(otherInputs)
		return 0
	}
	return n
}
