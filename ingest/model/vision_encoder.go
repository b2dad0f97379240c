package model

// encoder is a stack of equal layers of a vision transformer: attention among all positions, then an MLP.
type encoder struct {
	width, mlp      int64
	heads, headSize int64
	layers          int64
	positions       int64 // of one picture
	qkvBias, bias   bool  // of queries, keys and values; of the other matrices
	fusedQKV        bool  // one matrix for queries, keys and values
	gated           bool  // the MLP has three matrices, and norms scale but do not shift
	out             string
	windows         []window // in which positions attend; nil: all to all
}

// window is a kind of windows of attention: all of them have so many positions together, each of which sees so many keys.
type window struct {
	name            string // component
	positions, keys int64
}

// encoderOf reads what all encoders share.
func (c config) encoderOf() encoder {
	e := encoder{width: c.need("hidden_size"), mlp: c.need("intermediate_size"), heads: c.need("num_attention_heads"),
		layers: c.depth("num_hidden_layers"), qkvBias: true, bias: true, out: "out_proj"}
	e.headSize = c.headSize("num_attention_heads", e.width, e.heads)
	return e
}

// depth reads a number of layers.
func (c config) depth(name string) int64 {
	n := c.need(name)
	if n > maxLayers {
		c.wrong(name, n, "fewer layers than any model has")
		return 1
	}
	return n
}

// split tells layers with a window from those without: all of them, or those of the list.
func split(layers int64, without []int64, windows bool) (windowed, global []int) {
	everywhere := map[int]bool{}
	for _, i := range without {
		everywhere[int(i)] = true
	}
	for _, i := range firstLayers(layers) {
		if windows && !everywhere[i] {
			windowed = append(windowed, i)
		} else {
			global = append(global, i)
		}
	}
	return windowed, global
}

// headSize shares a width among heads, whose number stands in a field.
func (c config) headSize(name string, width, heads int64) int64 {
	if width%heads != 0 {
		c.wrong(name, heads, "a divisor of the width")
		return 1
	}
	return width / heads
}

// encoder adds the layers.
func (r *reader) encoder(e encoder) { r.layers(e, firstLayers(e.layers)) }

// layers adds some of the layers, which are equal.
func (r *reader) layers(e encoder, indexes []int) {
	b := &r.b
	norms, inner := b.mul(4, e.width), b.mul(e.heads, e.headSize)
	if e.gated {
		norms = b.mul(2, e.width)
	}
	if len(indexes) == 0 {
		return
	}
	b.in(LayerNames(indexes), int64(len(indexes)))
	b.positions = e.positions
	b.norm("norms", norms)
	if e.fusedQKV {
		b.linear("qkv_proj", e.width, b.mul(3, inner), e.qkvBias)
	} else {
		b.linear("q_proj", e.width, inner, e.qkvBias)
		b.linear("k_proj", e.width, inner, e.qkvBias)
		b.linear("v_proj", e.width, inner, e.qkvBias)
	}
	if e.windows == nil {
		e.windows = []window{{"attention", e.positions, e.positions}}
	}
	for _, w := range e.windows {
		b.positions = w.positions
		b.attend(w.name, e.heads, e.headSize, w.keys)
	}
	b.positions = e.positions
	b.linear(e.out, inner, e.width, e.bias)
	if e.gated {
		b.linear("mlp.gate_proj", e.width, e.mlp, e.bias)
		b.linear("mlp.up_proj", e.width, e.mlp, e.bias)
		b.linear("mlp.down_proj", e.mlp, e.width, e.bias)
		return
	}
	b.linear("mlp.fc1", e.width, e.mlp, e.bias)
	b.linear("mlp.fc2", e.mlp, e.width, e.bias)
}
