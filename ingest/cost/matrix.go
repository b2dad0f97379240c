package cost

import (
	"slices"
	"strings"
)

// costs are the formulas by operator. Only operators that launch their kernels themselves have one: aten::linear, matmul,
// conv2d, scaled_dot_product_attention, embedding, to, clone and the like call others, whose calls are in the trace too.
var costs = map[string]func(*call){}

func init() {
	for name, f := range matrixCosts {
		costs[name] = f
	}
	addElementCosts()
}

var matrixCosts = map[string]func(*call){
	"aten::mm":                   product(-1, 0, 1, 2),
	"aten::bmm":                  product(-1, 0, 1, 2),
	"aten::addmm":                product(0, 1, 2, 5),
	"aten::baddbmm":              product(0, 1, 2, 5),
	"aten::addmm_":               product(0, 1, 2, 5),
	"aten::baddbmm_":             product(0, 1, 2, 5),
	"aten::_addmm_activation":    product(0, 1, 2, 6),
	"aten::_int_mm":              product(-1, 0, 1, 2),
	"aten::_scaled_mm":           scaledProduct(-1, 0, 1, []int{2, 3, 4}, 6), // self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum
	"aten::_grouped_mm":          groupedProduct,                             // mat_a, mat_b, offs, bias, out_dtype
	"_C::cutlass_scaled_mm":      scaledProduct(0, 1, 2, []int{3, 4, 5}, -1), // vLLM, csrc/torch_bindings.cpp: out, a, b, a_scales, b_scales, bias
	"sgl_kernel::fp8_scaled_mm":  scaledProduct(-1, 0, 1, []int{2, 3, 5}, 4), // SGLang, sgl-kernel/csrc/common_extension.cc: mat_a, mat_b, scales_a, scales_b, out_dtype, bias
	"sgl_kernel::int8_scaled_mm": scaledProduct(-1, 0, 1, []int{2, 3, 5}, 4),

	// aten/src/ATen/native/native_functions.yaml
	"aten::cudnn_convolution":            convolution{bias: -1, padding: 2, stride: 3, dilation: 4}.cost,
	"aten::miopen_convolution":           convolution{bias: 2, padding: 3, stride: 4, dilation: 5}.cost,
	"aten::miopen_depthwise_convolution": convolution{bias: 2, padding: 3, stride: 4, dilation: 5}.cost,
	"aten::cudnn_convolution_relu":       convolution{bias: 2, stride: 3, padding: 4, dilation: 5}.cost,
	"aten::convolution_overrideable":     convolution{bias: 2, stride: 3, padding: 4, dilation: 5, transposed: 6, added: 7}.cost,
	"aten::cudnn_convolution_transpose":  convolution{bias: -1, padding: 2, added: 3, stride: 4, dilation: 5, isTransposed: true}.cost,
	"aten::_conv_depthwise2d":            convolution{bias: 3, stride: 4, padding: 5, dilation: 6}.cost,
	"aten::convolution_backward":         convolutionBackward, // grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask
	"aten::conv_depthwise3d":             convolution{bias: 3, stride: 4, padding: 5, dilation: 6}.cost,

	"aten::_flash_attention_forward":                     attention{lengths: 3, causal: 8, window: 11, used: 13}.cost,
	"aten::_efficient_attention_forward":                 attention{bias: 3, lengths: 4, causal: 9, sums: 10, topLeft: true, one: 13}.cost,
	"aten::_cudnn_attention_forward":                     attention{headsFirst: true, bias: 3, lengths: 4, sums: 8, causal: 10, topLeft: true}.cost,
	"aten::_scaled_dot_product_cudnn_attention":          attention{headsFirst: true, bias: 3, sums: 4, causal: 6, topLeft: true}.cost,
	"aten::_flash_attention_backward":                    attention{gradient: []int{0, 4, 5}, lengths: 6, causal: 11, window: 15}.cost,
	"aten::_efficient_attention_backward":                attention{gradient: []int{0, 5, 10}, bias: 4, lengths: 6, causal: 14, topLeft: true, one: 18}.cost,
	"aten::_cudnn_attention_backward":                    attention{gradient: []int{0, 4, 5}, headsFirst: true, bias: 8, lengths: 9, causal: 14, topLeft: true}.cost,
	"aten::_scaled_dot_product_cudnn_attention_backward": attention{gradient: []int{0, 4, 5}, headsFirst: true, bias: 8, lengths: 9, causal: 14, topLeft: true}.cost,
	"flash_attn::_flash_attn_forward":                    attention{causal: 5, window: 6}.cost, // flash_attn/flash_attn_interface.py
	"flash_attn::_flash_attn_varlen_forward":             attention{lengths: 3, causal: 9, window: 10, used: 17}.cost,
	"_vllm_fa2_C::varlen_fwd":                            onGPU("attention", lengths), // the keys are in a cache of pages
	"_vllm_fa3_C::fwd":                                   onGPU("attention", lengths),
	"sgl_kernel::fwd":                                    onGPU("attention", lengths),
	"aiter::mha_batch_prefill":                           onGPU("attention", lengths),
	"vllm::unified_attention":                            onGPU("attention", lengths),
	"vllm::unified_attention_with_output":                onGPU("attention", lengths),
	"sglang::unified_attention_with_output":              onGPU("attention", lengths),
	"vllm::moe_forward":                                  onGPU("moe", routing), // the weights are no inputs
	"vllm::moe_forward_shared":                           onGPU("moe", routing),
	"vllm::inplace_fused_experts":                        experts,
	"vllm::outplace_fused_experts":                       experts,
	"sglang::inplace_fused_experts":                      experts,
	"sglang::outplace_fused_experts":                     experts,
}

// onGPU is the cost of an operator whose work depends on what lies on the GPU alone.
func onGPU(group, why string) func(*call) {
	return func(c *call) {
		c.Group, c.why = group, why
	}
}

// product is that of two matrices or of as many pairs as there are in a batch, with a sum that is added where beta, right
// behind them, is not 0: 2 m n k as torch.utils.flop_counter counts, and both factors, the sum and the product once. Single
// precision is multiplied as fp32 or tf32, by a switch that no trace records.
func product(sum, left, right, after int) func(*call) {
	return func(c *call) {
		c.Group = "matmul"
		batch := c.name == "aten::bmm" || c.name == "aten::baddbmm" || c.name == "aten::baddbmm_"
		c.multiply(left, right, batch)
		a, b := c.tensor(left), c.tensor(right)
		c.read(a)
		c.read(b)
		if beta := c.valueIfAny(3); sum >= 0 && (beta == "" || strings.Trim(beta, ".0") != "") {
			c.read(c.tensor(sum))
		}
		n := a.number
		switch {
		case c.name == "aten::_int_mm":
			n = numbers["int"]
		case c.kind(after) == "Scalar": // mm and bmm take out_dtype
			n = c.asked(after, n)
		}
		c.result(after, c.rows(a, b), n)
	}
}

// multiply notes the operations of a product of matrices.
func (c *call) multiply(left, right int, batch bool) {
	c.operations(c.in.product(left, right, batch))
	if left < len(c.in.types) {
		c.Precision = numbers[c.in.types[left]].precision
	}
}

// rows counts the elements of the product of a and b.
func (c *call) rows(a, b operand) int64 {
	if len(a.sizes) < 2 || len(a.sizes) != len(b.sizes) {
		c.fail(otherInputs)
		return 0
	}
	return c.elementsOf(append(slices.Clone(a.sizes[:len(a.sizes)-1]), b.sizes[len(b.sizes)-1]))
}

// scaledProduct is one of two matrices of few bits with their scales.
func scaledProduct(out, left, right int, others []int, asked int) func(*call) {
	return func(c *call) {
		c.Group = "matmul"
		c.multiply(left, right, false)
		a, b := c.tensor(left), c.tensor(right)
		if a.precision == "fp4" && c.FLOP >= 0 { // two numbers are one element
			c.operations(2*c.FLOP, c.FLOP < 1<<61)
		}
		c.read(a)
		c.read(b)
		for _, i := range others {
			if c.has(i) {
				c.read(c.tensor(i))
			}
		}
		if out >= 0 {
			o := c.tensor(out)
			c.write(o.count, o.number)
			return
		}
		c.result(asked+1, c.rows(a, b), c.asked(asked, a.number))
	}
}

// groupedProduct is that of a mixture of experts: rows of the first matrix in groups, each with a matrix of its own, or of
// two matrices in groups along what they share; the offsets of the groups lie on the GPU. All rows are taken to be in a
// group, and to be spread over as many groups as there can be: an upper bound.
func groupedProduct(c *call) {
	c.Group, c.Bound = "matmul", "upper"
	a, b := c.tensor(0), c.tensor(1)
	c.Precision = a.precision
	if len(a.sizes) < 2 || len(b.sizes) < 2 {
		c.fail(otherInputs)
		c.failFLOP(otherInputs)
		return
	}
	groups := int64(1)
	switch {
	case len(a.sizes) == 3 && len(b.sizes) == 3:
		groups, c.Bound = a.sizes[0], "exact"
	case len(a.sizes) == 2 && len(b.sizes) == 2 && c.has(2):
		groups = c.elementsOf(c.tensor(2).sizes)
	}
	rows, shared, columns := a.sizes[len(a.sizes)-2], a.sizes[len(a.sizes)-1], b.sizes[len(b.sizes)-1]
	out, work := []int64{groups, rows, columns}, []int64{groups, rows, columns, shared}
	if len(a.sizes) == 2 && len(b.sizes) == 2 {
		work = []int64{rows, columns, shared}
	}
	c.operations(multiply(2, work))
	c.read(a)
	if len(b.sizes) == 3 && len(a.sizes) == 2 {
		c.Read += min(rows, b.sizes[0]) * b.sizes[1] * b.sizes[2] * b.bytes
	} else {
		c.read(b)
	}
	if c.has(2) {
		c.read(c.tensor(2))
	}
	if c.has(3) {
		c.read(c.tensor(3))
	}
	c.write(c.elementsOf(out), c.asked(4, a.number))
}

// convolution says which inputs of a convolution are what; the first two are its input and its weights.
type convolution struct {
	bias, padding, stride, dilation int
	transposed, added               int // 0: none
	isTransposed                    bool
}

// cost is 2 x batch x places x size of the weights, as torch.utils.flop_counter counts: a place is one of the output, or of
// the input when transposed. Input, weights and bias are read once, the output is written once; what a library transforms or
// pads is left out.
func (v convolution) cost(c *call) {
	c.Group = "convolution"
	x, w := c.tensor(0), c.tensor(1)
	d := len(x.sizes) - 2
	if d < 1 || len(w.sizes) != len(x.sizes) {
		c.fail(otherInputs)
		c.failFLOP(otherInputs)
		return
	}
	c.Precision = x.precision
	padding, stride, dilation := c.integers(v.padding, d), c.integers(v.stride, d), c.integers(v.dilation, d)
	transposed := v.isTransposed || v.transposed > 0 && c.value(v.transposed) == "True"
	added := make([]int64, d)
	if transposed {
		added = c.integers(v.added, d)
	}
	places := make([]int64, d)
	for k := range places {
		reach := dilation[k]*(w.sizes[2+k]-1) + 1
		switch {
		case transposed:
			places[k] = (x.sizes[2+k]-1)*stride[k] - 2*padding[k] + reach + added[k]
		case stride[k] > 0:
			places[k] = (x.sizes[2+k]+2*padding[k]-reach)/stride[k] + 1
		}
		if places[k] <= 0 || places[k] > 1<<40 {
			c.fail(otherInputs)
		}
	}
	if c.broken != "" {
		c.failFLOP(c.broken)
		return
	}
	worked, channels := places, w.sizes[:1]
	if transposed {
		worked, channels = x.sizes[2:], []int64{w.sizes[1], c.integer(max(v.dilation, v.added, v.transposed)+1, 1)} // times the groups
	}
	c.operations(multiply(2, x.sizes[:1], worked, w.sizes))
	c.read(x)
	c.read(w)
	if v.bias > 0 && c.has(v.bias) {
		c.read(c.tensor(v.bias))
	}
	c.result(v.dilation+1, c.elementsOf(slices.Concat(x.sizes[:1], channels, places)), x.number)
}

// convolutionBackward is as much work as the convolution for each of the gradients of input and weights, as
// torch.utils.flop_counter counts where there is one group. That of the bias is a sum, which has an operator of its own.
func convolutionBackward(c *call) {
	c.Group = "convolution"
	g, x, w := c.tensor(0), c.tensor(1), c.tensor(2)
	c.Precision = x.precision
	mask := c.booleans(10, 3)
	if len(g.sizes) < 3 || len(x.sizes) != len(g.sizes) {
		c.fail(otherInputs)
	}
	if c.broken != "" {
		c.failFLOP(c.broken)
		return
	}
	places := g.sizes[2:]
	if c.value(7) == "True" {
		places = x.sizes[2:]
	}
	var gradients int64
	c.read(g)
	for _, v := range []struct {
		asked         bool
		reads, writes operand
	}{{mask[0], w, x}, {mask[1], x, w}} {
		if v.asked {
			gradients++
			c.read(v.reads)
			c.write(v.writes.count, v.writes.number)
		}
	}
	c.operations(multiply(2*gradients, x.sizes[:1], places, w.sizes))
}

// attention says which inputs of an attention are what, 0 for none; the first three are queries, keys and values.
type attention struct {
	gradient   []int // of its gradient, before queries, keys and values: the gradient of the output, the output, the logarithms of the sums
	headsFirst bool  // sizes are batch, heads, tokens, width; else batch, tokens, heads, width
	bias       int
	lengths    int // offsets of the sequences, of the queries and then of the keys: the tokens of all are in one dimension
	sums       int // whether the logarithms of the sums are written; they are where no input says so
	causal     int
	topLeft    bool // the mask begins at the first key, else it ends at the last one
	window     int  // tokens before and after that are seen, in two inputs; -1 for all
	one        int  // a window in one input
	used       int  // how many of the keys are used
}

// cost is 2 x heads of the queries x pairs of tokens x (width of keys + of values), as torch.utils.flop_counter counts, which
// knows no masks; of its gradient x (3 x width of keys + 2 x of values). Queries, keys, values and bias are read once: that keys are read again for each block of queries, most of
// them out of the L2 cache, is left out.
func (v attention) cost(c *call) {
	c.Group = "attention"
	first := min(len(v.gradient), 1)
	q, k, w := c.tensor(first), c.tensor(first+1), c.tensor(first+2)
	c.Precision = q.precision
	packed := v.lengths > 0 && (c.has(v.lengths) || c.has(v.lengths+1))
	if packed && len(q.sizes) == 3 && len(k.sizes) == 4 || v.used > 0 && c.has(v.used) { // a cache of pages
		c.fail(lengths)
		c.failFLOP(lengths)
		return
	}
	if packed && len(q.sizes) == 3 {
		for _, o := range []*operand{&q, &k, &w} {
			o.sizes = append([]int64{1}, o.sizes...)
		}
	}
	if len(q.sizes) != 4 || len(k.sizes) != 4 || len(w.sizes) != 4 || k.sizes[0] != q.sizes[0] || w.sizes[0] != q.sizes[0] {
		c.fail(otherInputs)
		c.failFLOP(otherInputs)
		return
	}
	tokens, heads := 1, 2
	if v.headsFirst {
		tokens, heads = 2, 1
	}
	batch, head, sq, sk := q.sizes[0], q.sizes[heads], q.sizes[tokens], k.sizes[tokens]
	width := []int64{q.sizes[3] + w.sizes[3]}
	if v.gradient != nil { // scores once more, the gradients of queries and keys; those of scores and values
		width[0] = 3*q.sizes[3] + 2*w.sizes[3]
	}
	if packed && !c.alone(v.lengths) {
		c.failFLOP(lengths)
	} else {
		c.operations(multiply(2, []int64{batch, head, sq, sk}, width))
		if len(c.in.concrete) == 0 {
			c.MaskedFLOP = -1
			c.fail(noValues)
		} else if pairs, masked := v.pairs(c, sq, sk); masked && c.FLOP >= 0 {
			c.MaskedFLOP, _ = multiply(2, []int64{batch, head, pairs}, width)
		}
	}
	c.read(q)
	c.read(k)
	c.read(w)
	if v.bias > 0 && c.has(v.bias) {
		c.read(c.tensor(v.bias))
	}
	if v.gradient != nil {
		for _, i := range v.gradient {
			c.read(c.tensor(i))
		}
		for _, o := range []operand{q, k, w} {
			c.write(o.count, o.number)
		}
		return
	}
	c.write(c.elementsOf([]int64{batch, head, sq, w.sizes[3]}), q.number)
	if v.sums == 0 || c.value(v.sums) == "True" {
		c.write(c.elementsOf([]int64{batch, head, sq}), numbers["float"])
	}
}

// alone reports whether the offsets are those of a single sequence.
func (c *call) alone(i int) bool {
	for _, k := range []int{i, i + 1} {
		sizes, ok := c.in.tensor(k)
		if !ok || len(sizes) != 1 || sizes[0] != 2 {
			return false
		}
	}
	return true
}

// pairs counts the pairs of tokens that a mask leaves; masked is false where there is none.
func (v attention) pairs(c *call, sq, sk int64) (n int64, masked bool) {
	before, after := sk, sk
	if v.window > 0 && v.window+1 < len(c.in.shapes) && v.window+1 < len(c.in.concrete) {
		if b := c.integer(v.window, -1); b >= 0 {
			before, masked = min(b, sk), true
		}
		if a := c.integer(v.window+1, -1); a >= 0 {
			after, masked = min(a, sk), true
		}
	}
	shift := sk - sq
	switch c.valueIfAny(v.causal) {
	case "True", "1", "2": // numbers in _efficient_attention_forward
		after, masked = 0, true
	}
	if v.topLeft && c.valueIfAny(v.causal) != "2" {
		shift = 0
	}
	if v.one > 0 {
		if b := c.valueIfAny(v.one); b != "" {
			if w := c.integer(v.one, 0); w > 0 {
				before, masked = w-1, true
			}
		}
	}
	if !masked || sq > 1<<24 {
		return 0, false
	}
	for i := range sq {
		first, last := max(0, i+shift-before), min(sk-1, i+shift+after)
		n += max(0, last-first+1)
	}
	return n, true
}

// experts are the two products of a mixture of experts (vLLM's and SGLang's fused_moe.py: hidden_states, w1, w2, topk_weights,
// topk_ids): each token goes through as many experts as topk_ids has columns. At most as many experts as tokens choose are
// read, and no more than there are: an upper bound, and so are the operations where experts are on other GPUs too, which an
// expert map says. The activation between the products has operators of its own.
func experts(c *call) {
	c.Group, c.Bound = "moe", "upper"
	x, w1, w2, ids := c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(4)
	for i := 5; i < len(c.in.types); i++ {
		if n := c.in.types[i]; n == "int" || n == "long int" {
			c.fail(routing)
		}
	}
	if len(w1.sizes) != 3 || len(w2.sizes) != 3 || len(x.sizes) != 2 || len(ids.sizes) != 2 || w1.sizes[2] != x.sizes[1] || w2.sizes[1] != x.sizes[1] {
		c.fail(otherInputs) // weights of 4 bits are packed
	}
	if c.why != "" {
		c.failFLOP(c.why)
		return
	}
	c.Precision = w1.precision
	c.operations(multiply(2, []int64{ids.count, w1.sizes[1]*w1.sizes[2] + w2.sizes[1]*w2.sizes[2]}))
	for _, w := range []operand{w1, w2} {
		c.Read += min(ids.count, w.sizes[0]) * w.sizes[1] * w.sizes[2] * w.bytes
	}
	c.read(x)
	c.read(ids)
	c.read(c.tensor(3))
	c.write(x.count, x.number)
}
