package cost

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// addElementCosts adds the operators that multiply no matrices. Their operations are not counted, but for those of sums and
// products of elements, as PyTorch's profiler counts them: it is memory that bounds them. Names are those of PyTorch's
// native_functions.yaml, which says what their inputs are.
func addElementCosts() {
	add := func(group string, cost func(*call), names string) {
		for _, n := range strings.Fields(names) {
			if !strings.Contains(n, "::") {
				n = "aten::" + n
			}
			costs[n] = func(c *call) {
				c.Group = group
				cost(c)
			}
		}
	}
	// The result has the type of the operands, or a float of one of integers, or is true or false.
	add("elementwise", pointwise(1, sameType), both("relu neg square floor ceil round trunc sign frac sgn hardtanh leaky_relu elu threshold bitwise_not relu6 celu"))
	add("elementwise", pointwise(1, realType), both("abs"))
	add("elementwise", pointwise(1, floatType), both("gelu silu sigmoid tanh exp exp2 expm1 log log2 log10 log1p cos sin tan sqrt rsqrt reciprocal erf erfc erfinv sinh cosh atan asin acos softplus mish hardswish hardsigmoid log_sigmoid_forward"))
	add("elementwise", pointwise(1, boolType), "logical_not isnan isinf isfinite")
	add("elementwise", pointwise(2, sameType), both("clamp_min clamp_max add sub rsub mul pow remainder fmod bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift __and__ __or__ __lshift__ __rshift__")+" maximum minimum fmax fmin silu_backward threshold_backward sigmoid_backward tanh_backward gelu_backward")
	add("elementwise", pointwise(2, floatType), both("atan2 xlogy")+" true_divide")
	add("elementwise", division, both("div")+" floor_divide")
	add("elementwise", pointwise(2, boolType), "eq ne lt le gt ge logical_and logical_or logical_xor")
	add("elementwise", pointwise(3, sameType), both("addcmul addcdiv lerp clamp"))
	add("elementwise", where, "where")
	add("elementwise", maskedFill, both("masked_fill"))
	add("copy", copied, "copy_")
	add("fill", filled, "fill_ zero_ random_ normal_ uniform_ exponential_ bernoulli_ log_normal_ geometric_ cauchy_")
	add("fill", ranged, "arange")
	add("cat", concatenated, "cat")

	add("reduction", reduction{dims: 1, result: sumType, asked: 3}.cost, "sum nansum")
	add("reduction", reduction{dims: 1, result: sameType, asked: 3}.cost, "mean")
	add("reduction", reduction{dims: 1, result: sumType, asked: 3}.cost, "prod")
	add("reduction", reduction{dims: 1, result: sameType}.cost, "amax amin logsumexp")
	add("reduction", reduction{dims: 1, result: indexType}.cost, "argmax argmin")
	add("reduction", reduction{dims: 1, result: boolType}.cost, "any all")
	add("reduction", reduction{dims: 1, result: sameType, hasIndex: true}.cost, "max min")
	add("reduction", reduction{dims: 2, result: sameType, asked: 4}.cost, "linalg_vector_norm norm")
	add("reduction", scan, "cumsum cumprod")
	add("softmax", softmax, "_softmax _log_softmax")
	add("softmax", moves([]int{0, 1}, []int{0}), "_softmax_backward_data _log_softmax_backward_data")
	add("normalisation", normalised(2, 3, true), "native_layer_norm")
	add("normalisation", normalised(2, -1, false), "_fused_rms_norm")
	add("normalisation", groupNorm, "native_group_norm")
	add("normalisation", normGradient([]int{0, 1, 3, 4, 5}, 7, []int{1, 5, 6}), "native_layer_norm_backward")
	add("normalisation", normGradient([]int{0, 1, 3, 4}, 5, []int{1, 4}), "_fused_rms_norm_backward")

	add("indexing", selected(0, 1), "embedding")
	add("indexing", selectedRows, "index_select")
	add("indexing", gathered, "gather")
	add("indexing", scattered, both("scatter scatter_add"))
	add("indexing", func(c *call) { c.fail(listTypes) }, "index _index_put_impl_ index_put_")
	add("sort", topK, "topk")
	add("sort", sorted, "sort")

	// vLLM: csrc/torch_bindings.cpp, csrc/moe/torch_bindings.cpp; SGLang: sgl-kernel/csrc/common_extension.cc. What an operator
	// changes in place it reads and writes.
	add("normalisation", moves([]int{1, 2}, []int{0}), "_C::rms_norm sgl_kernel::rmsnorm sgl_kernel::gemma_rmsnorm aiter::rmsnorm")
	add("normalisation", moves([]int{1, 2, 4}, []int{0, 3}), "aiter::add_rmsnorm") // out, input, residual_in, residual_out, weight
	add("normalisation", moves([]int{0, 1, 2}, []int{0, 1}), "_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_fused_add_rmsnorm")
	add("normalisation", moves([]int{1, 2, 3}, []int{0}), "_C::rms_norm_static_fp8_quant")
	add("normalisation", moves([]int{1, 2, 3, 4}, []int{0, 2}), "_C::fused_add_rms_norm_static_fp8_quant")
	add("elementwise", moves([]int{1}, []int{0}), `_C::silu_and_mul _C::mul_and_silu _C::gelu_and_mul _C::gelu_tanh_and_mul _C::gelu_new _C::gelu_fast _C::gelu_quick
		sgl_kernel::silu_and_mul sgl_kernel::gelu_and_mul sgl_kernel::gelu_tanh_and_mul`)
	add("elementwise", moves([]int{1, 2}, []int{0}), "_C::static_scaled_fp8_quant")
	add("elementwise", rotary, "_C::rotary_embedding sgl_kernel::rotary_embedding")
	add("cache", cached, "_C_cache_ops::reshape_and_cache _C_cache_ops::reshape_and_cache_flash sglang::store_cache")
	add("reduction", moves([]int{0}, []int{1}), "_moe_C::moe_sum")
	add("softmax", moves([]int{3}, []int{0, 1, 2}), "_moe_C::topk_softmax")
}

// both returns operators and those of the same names that change their first operand.
func both(names string) string {
	out := names
	for _, n := range strings.Fields(names) {
		if !strings.HasPrefix(n, "__") {
			out += " " + n + "_"
		}
	}
	return out
}

// isInPlace reports whether it changes its first operand.
func (c *call) isInPlace() bool {
	return strings.HasSuffix(c.name, "_") && !strings.HasSuffix(c.name, "__")
}

// resultType gives the type of a result from that of the operands.
type resultType func(number) number

func sameType(n number) number  { return n }
func boolType(number) number    { return numbers["bool"] }
func indexType(number) number   { return numbers["long int"] }
func floatType(n number) number { return atLeast(n, isFloat, "float") }
func sumType(n number) number   { return atLeast(n, isFloat, "long int") }

func realType(n number) number {
	if n.kind == isComplex {
		return number{bytes: n.bytes / 2, kind: isFloat}
	}
	return n
}

func atLeast(n number, kind int, name string) number {
	if n.kind < kind {
		return numbers[name]
	}
	return n
}

// pointwise reads as many operands, tensors or numbers, and writes one element where they meet.
func pointwise(operands int, result resultType) func(*call) {
	return func(c *call) {
		var list []operand
		var indices []int
		for i := range operands {
			indices = append(indices, i)
			if c.has(i) {
				o := c.tensor(i)
				c.read(o)
				list = append(list, o)
			}
		}
		if len(list) == 0 {
			c.fail(otherInputs)
			return
		}
		if flop, ok := FLOP(c.name, c.text.Shapes, c.text.Types, c.text.Concrete); ok {
			c.operations(flop, ok)
		}
		if c.isInPlace() {
			c.write(list[0].count, list[0].number)
			return
		}
		c.result(max(operands, 1), c.elementsOf(c.broadcast(list...)), result(c.promoted(indices...)))
	}
}

// division of integers gives a float unless it rounds, which its third input says.
func division(c *call) {
	result := floatType
	if c.name == "aten::floor_divide" || c.valueIfAny(2) == "floor" || c.valueIfAny(2) == "trunc" {
		result = sameType
	}
	pointwise(2, result)(c)
}

func where(c *call) {
	if !c.has(1) && !c.has(2) { // the indices of what is true
		c.fail(otherInputs)
		return
	}
	var list []operand
	for i := range 3 {
		if c.has(i) {
			o := c.tensor(i)
			c.read(o)
			list = append(list, o)
		}
	}
	c.result(3, c.elementsOf(c.broadcast(list...)), c.promoted(1, 2))
}

func maskedFill(c *call) {
	o, mask := c.tensor(0), c.tensor(1)
	c.read(o)
	c.read(mask)
	if c.isInPlace() {
		c.write(o.count, o.number)
		return
	}
	c.result(3, c.elementsOf(c.broadcast(o, mask)), o.number)
}

func copied(c *call) {
	to, from := c.tensor(0), c.tensor(1)
	c.read(from)
	c.write(to.count, to.number)
}

func filled(c *call) {
	o := c.tensor(0)
	c.write(o.count, o.number)
}

func ranged(c *call) {
	o, ok := c.out(3) // start, end, step and the tensor, which has its size afterwards
	var limits [3]float64
	for i := range limits {
		var err error
		if limits[i], err = strconv.ParseFloat(c.value(i), 64); err != nil { // JSON has no "1."
			ok = false
		}
	}
	n := math.Ceil((limits[1] - limits[0]) / limits[2])
	if !ok || !(n >= 0 && n < most/16) {
		c.fail(otherInputs)
		return
	}
	c.write(int64(n), o.number)
}

// concatenated tensors are a list: their type is known where the operator was given the tensor to write to.
func concatenated(c *call) {
	o, ok := c.out(2)
	if !ok {
		c.list(c.Group)
		return
	}
	var list [][]int64
	if json.Unmarshal(c.in.shapes[0], &list) != nil {
		c.fail(otherInputs)
		return
	}
	var n int64
	for _, sizes := range list {
		if n += c.elementsOf(sizes); n > most/16 {
			c.fail(otherInputs)
			return
		}
	}
	c.Read += n * o.bytes
	c.write(n, o.number)
}

// reduction says which inputs of a reduction are what: dims the dimensions, of which none means all, asked the type that the
// result is to have, 0 for none.
type reduction struct {
	dims, asked int
	result      resultType
	hasIndex    bool // along a dimension the places are written too
}

func (r reduction) cost(c *call) {
	o := c.tensor(0)
	if r.hasIndex && c.has(1) { // max and min of two tensors
		pointwise(2, r.result)(c)
		return
	}
	c.read(o)
	n := r.result(realType(o.number))
	if o.kind == isComplex && !strings.HasSuffix(c.name, "norm") { // sums stay complex
		n = r.result(o.number)
	}
	whole, asked := true, r.asked
	kept := o.count
	switch kind := c.kind(r.dims); {
	case r.asked > 0 && len(c.in.shapes) == r.dims+1: // of all, with the type behind
		asked = r.dims
	case kind == "ScalarList":
		list, ok := c.dimensions(r.dims)
		if !ok {
			return
		}
		for _, d := range list {
			whole = false
			kept /= max(c.dimension(o, d), 1)
		}
	case kind == "Scalar":
		whole = false
		kept /= max(c.dimension(o, c.integer(r.dims, 0)), 1)
	case len(c.in.types) == 0 && len(c.in.shapes) > 1:
		return // nothing is known
	}
	if whole {
		kept = 1
	}
	if asked > 0 {
		n = c.asked(asked, n)
	}
	if r.hasIndex && !whole {
		c.write(kept, numbers["long int"])
		c.write(kept, n)
		return
	}
	c.result(max(r.dims, r.asked)+1, kept, n)
}

// dimensions reads the list of dimensions of a reduction.
func (c *call) dimensions(i int) ([]int64, bool) {
	var list []int64
	if json.Unmarshal([]byte(c.value(i)), &list) != nil {
		c.fail(otherInputs)
		return nil, false
	}
	return list, true
}

func scan(c *call) {
	o := c.tensor(0)
	c.read(o)
	c.result(3, o.count, c.asked(2, sumType(o.number)))
}

// softmax reads its input once: rows too long for a multiprocessor's memory are read again.
func softmax(c *call) {
	o := c.tensor(0)
	c.read(o)
	n := o.number
	if c.value(2) == "True" {
		n = numbers["float"]
	}
	c.result(3, o.count, n)
}

// moves reads and writes tensors among the inputs; what is read may be absent.
func moves(reads, writes []int) func(*call) {
	return func(c *call) {
		for _, i := range reads {
			if i < len(c.in.shapes) && (c.has(i) || c.kind(i) != "") {
				c.read(c.tensor(i))
			}
		}
		for _, i := range writes {
			o := c.tensor(i)
			c.write(o.count, o.number)
		}
	}
}

// normalised is a norm over the last dimensions with weight and bias, which writes one or two statistics a row too, in single
// precision unless the input has double.
func normalised(weight, bias int, hasMean bool) func(*call) {
	return func(c *call) {
		o := c.tensor(0)
		c.read(o)
		for _, i := range []int{weight, bias} {
			if i > 0 && c.has(i) {
				c.read(c.tensor(i))
			}
		}
		c.write(o.count, o.number)
		list, ok := c.dimensions(1)
		if !ok {
			return
		}
		width := max(c.elementsOf(list), 1)
		statistic := numbers["float"]
		if o.bytes == 8 {
			statistic = o.number
		}
		c.write(o.count/width, statistic)
		if hasMean {
			c.write(o.count/width, statistic)
		}
	}
}

// normGradient reads the gradient of the output, the input, statistics and the weight, and writes the gradients that a list of
// true and false asks for, each of the size of an input.
func normGradient(reads []int, asked int, gradients []int) func(*call) {
	return func(c *call) {
		for _, i := range reads {
			if c.has(i) {
				c.read(c.tensor(i))
			}
		}
		mask := c.booleans(asked, len(gradients))
		for k, i := range gradients {
			if mask[k] {
				o := c.tensor(i)
				c.write(o.count, o.number)
			}
		}
	}
}

// groupNorm takes input, weight, bias, N, C, HxW, group and eps, and writes the mean and the deviation of each group.
func groupNorm(c *call) {
	o := c.tensor(0)
	c.read(o)
	for _, i := range []int{1, 2} {
		if c.has(i) {
			c.read(c.tensor(i))
		}
	}
	c.write(o.count, o.number)
	c.write(c.elementsOf([]int64{2, c.integer(3, 0), c.integer(6, 0)}), o.number)
}

// selected rows are read at most once each: an upper bound, for the same may be asked for twice.
func selected(table, indices int) func(*call) {
	return func(c *call) {
		c.Bound = "upper"
		t, i := c.tensor(table), c.tensor(indices)
		if len(t.sizes) == 0 {
			c.fail(otherInputs)
			return
		}
		c.take(t, i, c.elementsOf([]int64{i.count, t.count / max(t.sizes[0], 1)}), len(c.in.shapes))
	}
}

func selectedRows(c *call) {
	c.Bound = "upper"
	t, i := c.tensor(0), c.tensor(2)
	c.take(t, i, c.elementsOf([]int64{i.count, t.count / max(c.dimension(t, c.integer(1, 0)), 1)}), 3)
}

func gathered(c *call) {
	c.Bound = "upper"
	t, i := c.tensor(0), c.tensor(2)
	c.take(t, i, i.count, 4)
}

// take reads as many elements of a tensor as are asked for, though each once, and the indices, and writes them.
func (c *call) take(t, i operand, count int64, after int) {
	c.read(i)
	c.Read += min(count, t.distinct) * t.bytes
	c.result(after, count, t.number)
}

// scattered elements are written at most once each; those that are added to are read as well. What is not written to is no
// work of it: a copy of the tensor has an operator of its own.
func scattered(c *call) {
	c.Bound = "upper"
	t, i := c.tensor(0), c.tensor(2)
	c.read(i)
	if c.has(3) {
		from := c.tensor(3)
		c.Read += min(i.count, from.distinct) * from.bytes
	}
	n := min(i.count, t.count)
	if strings.Contains(c.name, "scatter_add") {
		c.Read += n * t.bytes
	}
	c.write(n, t.number)
}

// topK and sorted read their input once, which no algorithm for long rows does: a lower bound.
func topK(c *call) {
	c.Bound = "lower"
	o := c.tensor(0)
	c.read(o)
	n := c.elementsOf([]int64{o.count / max(c.dimension(o, c.integer(2, -1)), 1), c.integer(1, 0)})
	c.write(n, o.number)
	c.write(n, numbers["long int"])
}

func sorted(c *call) {
	c.Bound = "lower"
	o := c.tensor(0)
	c.read(o)
	c.write(o.count, o.number)
	c.write(o.count, numbers["long int"])
}

// rotary takes positions, query, key, head_size, cos_sin_cache and is_neox, and turns the first elements of each head in
// place. Of the cache at most a row a token is read: an upper bound.
func rotary(c *call) {
	c.Bound = "upper"
	at, cache := c.tensor(0), c.tensor(4)
	size := c.integer(3, 0)
	if len(cache.sizes) != 2 || size <= 0 {
		c.fail(otherInputs)
		return
	}
	c.read(at)
	c.Read += min(at.count, cache.sizes[0]) * cache.sizes[1] * cache.bytes
	for _, i := range []int{1, 2} {
		if c.has(i) {
			o := c.tensor(i)
			turned := o.count / size * min(cache.sizes[1], size)
			c.Read += turned * o.bytes
			c.write(turned, o.number)
		}
	}
}

// cached takes key, value, key_cache, value_cache and slot_mapping: each token with a slot is read and written once, an upper
// bound, for tokens may have none.
func cached(c *call) {
	c.Bound = "upper"
	slots := c.tensor(4)
	c.read(slots)
	for i := range 2 {
		from, to := c.tensor(i), c.tensor(2+i)
		if len(from.sizes) == 0 {
			c.fail(otherInputs)
			return
		}
		n := from.count / max(from.sizes[0], 1) * min(slots.count, from.sizes[0])
		c.Read += n * from.bytes
		c.write(n, to.number)
	}
}
