package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Gemma 3n and Gemma 4: the last layers keep no keys and values, and a second table of embeddings has a vector of each token for every layer.

// sharedAttention is the component of a layer that attends to the keys and values of an earlier one: it reads them and keeps none.
const sharedAttention = "attention over another layer's keys"

// cachedLayer is what the attention of a layer has of its own.
type cachedLayer struct {
	headSize, kvHeads int64
	shares            bool // keys and values are those of the last layer of its kind that has some
	valuesAreKeys     bool // one matrix makes both
}

// slidingLayers returns a function that reports whether a layer has a window: by layer_types, else all but each every-th do. It sets the window
// of those that have one. The last layer never has one where endsFull.
func (r *reader) slidingLayers(c config, d *decoder, every int64, endsFull bool) func(layer int64) bool {
	types := r.layerTypes(c, "sliding_attention", "full_attention")
	size := c.opt(0, "sliding_window")
	c.atLeast1(map[string]int64{"sliding_window": size})
	slides := func(i int64) bool {
		if endsFull && i == d.layers-1 {
			return false
		}
		if i < int64(len(types)) {
			return types[i] == "sliding_attention"
		}
		return (i+1)%every != 0
	}
	d.window = func(i int64) int64 {
		if slides(i) {
			return size
		}
		return 0
	}
	return slides
}

// sharing returns which layers share: the last num_kv_shared_layers, each with the last layer before them that slides as it does.
func (r *reader) sharing(c config, d *decoder, slides func(layer int64) bool) func(layer int64) bool {
	const field = "num_kv_shared_layers"
	n := c.opt(0, field)
	own := d.layers - n
	if own < 1 {
		c.wrong(field, n, "less than num_hidden_layers")
		own = d.layers
	}
	kept := map[bool]bool{}
	for i := range min(d.layers, maxLayers) {
		if i < own {
			kept[slides(i)] = true
		} else if !kept[slides(i)] {
			c.wrong(field, n, fmt.Sprintf("so few that a layer of the kind of layer %d keeps keys and values", i))
			break
		}
	}
	return func(i int64) bool { return i >= own }
}

// cachedLayers gives each layer its attention, and rest behind it.
func (r *reader) cachedLayers(d *decoder, of func(layer int64) cachedLayer, rest func()) {
	mixers := map[string]func(int64){}
	for i := range min(d.layers, maxLayers) {
		l := of(i)
		name := fmt.Sprint(l)
		if mixers[name] == nil {
			mixers[name] = func(window int64) {
				r.cachedAttention(d, l, window)
				rest()
			}
		}
	}
	d.mixed(mixers, func(i int64) string { return fmt.Sprint(of(i)) })
}

func (r *reader) cachedAttention(d *decoder, l cachedLayer, window int64) {
	b := &r.b
	q, kv := b.mul(d.heads, l.headSize), b.mul(l.kvHeads, l.headSize)
	b.linear("q_proj", d.hidden, q, d.qkvBias)
	name := "attention"
	if l.shares {
		name = sharedAttention
		b.norm("q_norm", l.headSize)
	} else {
		b.linear("k_proj", d.hidden, kv, d.qkvBias)
		if !l.valuesAreKeys {
			b.linear("v_proj", d.hidden, kv, d.qkvBias)
		}
		b.norm("q_norm, k_norm", b.mul(2, l.headSize)) // that of the values has no parameters
	}
	b.put(Layer{Component: name, Kind: Attention, Scope: Token, Heads: d.heads, KVHeads: l.kvHeads, KeySize: l.headSize, ValueSize: l.headSize, Window: window})
	b.linear(d.outName, q, d.hidden, d.outBias)
}

// layerInputs reads the second table. It gives what adds the table, and what adds each layer's part; nothing where size is 0.
func (r *reader) layerInputs(c config, d *decoder, size int64) (table, layer func()) {
	b, rows := &r.b, c.opt(d.vocab, "vocab_size_per_layer_input")
	if size == 0 {
		return func() {}, func() {}
	}
	c.atLeast1(map[string]int64{"vocab_size_per_layer_input": rows})
	return func() {
			all := b.mul(d.layers, size)
			b.table("embed_tokens_per_layer", rows, all)
			b.linear("per_layer_model_projection", d.hidden, all, false)
			b.norm("per_layer_projection_norm", size)
		}, func() {
			b.linear("per_layer_input_gate", d.hidden, size, false)
			b.linear("per_layer_projection", size, d.hidden, false)
			b.norm("post_per_layer_input_norm", d.hidden)
		}
}

// gemma3n reads Gemma 3n. AltUp (arXiv 2301.13310) keeps streams of the decoder's width beside the one that a layer works on: a layer
// predicts all of them by a matrix that it makes for each token, and corrects them by what it computed. LAuReL (arXiv 2411.07501, section
// 2.2) adds a product of two narrow matrices to the attention. The sparse activations of the first layers are multiplied in full.
func (r *reader) gemma3n(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.norms = d.qkvBias, 4
	r.widths(c, d)
	slides := r.slidingLayers(c, d, 5, false)
	shares := r.sharing(c, d, slides)
	streams, rank, size := c.opt(4, "altup_num_inputs"), c.opt(64, "laurel_rank"), c.opt(256, "hidden_size_per_layer_input")
	c.atLeast1(map[string]int64{"altup_num_inputs": streams, "laurel_rank": rank, "hidden_size_per_layer_input": size})
	if active := c.opt(0, "altup_active_idx"); active >= streams {
		c.wrong("altup_active_idx", active, "less than altup_num_inputs")
	}
	c.ignore("altup_coef_clip", "altup_correct_scale")
	table, input := r.layerInputs(c, d, size)
	b := &r.b
	others := func(name string) {
		if streams > 1 {
			b.experts(name, d.hidden, d.hidden, streams-1, streams-1, false)
		}
	}
	d.entry = func() {
		table()
		others("altup_projections")
	}
	d.exit = func() { others("altup_unembed_projections") }
	r.cachedLayers(d, func(i int64) cachedLayer {
		return cachedLayer{headSize: d.headSize, kvHeads: d.kvHeads, shares: shares(i)}
	}, func() {
		b.experts("altup.modality_router", d.hidden, streams, 1, 2, false) // before and after what the layer computes
		b.linear("altup.prediction_coefs", streams, b.mul(streams, streams), false)
		b.put(Layer{Component: "altup.predict", Kind: Mixing, Scope: Token, Input: streams, Output: b.mul(streams, d.hidden), Active: 1})
		b.linear("altup.correction_coefs", streams, streams, false)
		b.parameter("altup.correct_output_scale", d.hidden)
		b.linear("laurel.linear_left", d.hidden, rank, false)
		b.linear("laurel.linear_right", rank, d.hidden, false)
		b.norm("router_norm, post_laurel_norm", b.mul(2, d.hidden))
		input()
	})
}

// widths reads intermediate_size as one width or a list of each layer's.
func (r *reader) widths(c config, d *decoder) {
	const field = "intermediate_size"
	if v, _ := c.value([]string{field}); !isList(v) {
		d.mlp = c.need(field)
		return
	}
	each := c.wholes(field)
	if int64(len(each)) != d.layers || slices.Contains(each, 0) {
		c.wrong(field, fmt.Sprintf("%d long", len(each)), "a width of at least 1 for each of num_hidden_layers")
		return
	}
	d.width = func(i int64) int64 { return each[i] }
}

func isList(v any) bool {
	_, is := v.([]any)
	return is
}

// gemma4 reads Gemma 4: layers that see all have heads of another size, may make keys and values by one matrix, and the last layer is always
// one of them. Experts, where there are some, lie beside the MLP.
func (r *reader) gemma4(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.norms = d.qkvBias, 4
	if c.text("use_bidirectional_attention") == "all" {
		r.refuse("bidirectional attention (use_bidirectional_attention)")
	}
	slides := r.slidingLayers(c, d, 6, true)
	shares := r.sharing(c, d, slides)
	d.mlp = c.need("intermediate_size")
	if c.flag(false, "use_double_wide_mlp") {
		d.width = func(i int64) int64 {
			if shares(i) {
				return r.b.mul(2, d.mlp)
			}
			return d.mlp
		}
	}
	size := c.opt(256, "hidden_size_per_layer_input")
	table, input := r.layerInputs(c, d, size)
	d.entry = table
	experts := r.gemma4Experts(c, d)
	r.cachedLayers(d, r.gemma4Heads(c, d, slides, shares), func() {
		experts()
		input()
	})
}

// gemma4Heads returns each layer's heads: per_layer_config says which have others, as transformers 5 writes it, else layers that see all have.
func (r *reader) gemma4Heads(c config, d *decoder, slides, shares func(layer int64) bool) func(int64) cachedLayer {
	same := c.flag(false, "attention_k_eq_v")
	size, kv := c.opt(512, "global_head_dim"), d.kvHeads
	if n := c.opt(0, "num_global_key_value_heads"); same && n > 0 {
		kv = n
	}
	_, said := c.field("per_layer_config")
	layers, _ := c.sub("per_layer_config")
	own := map[int64]cachedLayer{}
	for _, name := range slices.Sorted(maps.Keys(layers.fields)) {
		l, ok := layers.sub(name)
		if !ok {
			continue
		}
		i, err := strconv.ParseInt(name, 10, 64)
		if err != nil || i < 0 || i >= d.layers {
			c.wrong("per_layer_config", name, "indexes of layers")
		}
		for _, field := range slices.Sorted(maps.Keys(l.fields)) {
			if field != "head_dim" && field != "num_key_value_heads" {
				r.unknown("%s%s is not supported", l.path, field)
			}
		}
		own[i] = cachedLayer{headSize: l.opt(d.headSize, "head_dim"), kvHeads: l.opt(d.kvHeads, "num_key_value_heads")}
	}
	of := func(i int64) cachedLayer {
		l := cachedLayer{headSize: d.headSize, kvHeads: d.kvHeads}
		if other, ok := own[i]; ok {
			l = other
		} else if !said && !slides(i) {
			l = cachedLayer{headSize: size, kvHeads: kv}
		}
		l.shares, l.valuesAreKeys = shares(i), same && !slides(i)
		return l
	}
	for i := range min(d.layers, maxLayers) {
		if l := of(i); l.headSize < 1 || l.kvHeads < 1 || d.heads%l.kvHeads != 0 {
			c.wrong("num_global_key_value_heads, global_head_dim or per_layer_config", fmt.Sprintf("%d heads of %d in layer %d", l.kvHeads, l.headSize, i), "a divisor of num_attention_heads, and a size of at least 1")
			break
		}
	}
	return of
}

// gemma4Experts returns what adds a layer's experts and their norms; nothing where there are none.
func (r *reader) gemma4Experts(c config, d *decoder) func() {
	if !c.flag(false, "enable_moe_block") {
		c.ignore("num_experts", "top_k_experts", "moe_intermediate_size")
		return func() {}
	}
	e := decoder{hidden: d.hidden, moe: &experts{count: c.need("num_experts"), perToken: c.need("top_k_experts"), mlp: c.need("moe_intermediate_size")}}
	if e.moe.perToken > e.moe.count {
		c.wrong("top_k_experts", e.moe.perToken, fmt.Sprintf("at most %d, which is all experts", e.moe.count))
	}
	return func() {
		r.experts(&e)
		r.b.parameter("router.scale, router.per_expert_scale", r.b.add(e.hidden, e.moe.count))
		r.b.norm("norms of experts", r.b.mul(3, e.hidden))
	}
}

// gemma3nTowers notes the towers of a whole Gemma 3n: its class makes one also where the configuration has only the other's object.
func (r *reader) gemma3nTowers(c config) {
	if !c.has("vision_config") && !c.has("audio_config") { // noted as all that is besides the decoder
		return
	}
	c.note(LeftOut, "the vision tower (MobileNet V5, which timm builds; the configuration does not describe it) and its embedder: parameters and FLOPs")
	if !c.has("audio_config") {
		c.note(LeftOut, "the audio tower and its embedder, with the default sizes of its class (no audio_config): parameters and FLOPs")
	}
}
