package model

import (
	"fmt"
	"slices"
)

// Families whose layers are a Llama's or a Qwen's with experts, but for what each function says.

// sparseFrom says which layers have experts: mlp_layer_types does, else all from the first that has.
func (r *reader) sparseFrom(c config, d *decoder, dense int64) {
	types := c.texts("mlp_layer_types")
	if len(types) > 0 && int64(len(types)) != d.layers {
		c.wrong("mlp_layer_types", fmt.Sprintf("%d long", len(types)), "one for each of num_hidden_layers")
	}
	for _, t := range types {
		if t != "sparse" && t != "dense" {
			c.wrong("mlp_layer_types", t, "sparse or dense")
		}
	}
	d.sparse = func(i int64) bool {
		if i < int64(len(types)) {
			return types[i] == "sparse"
		}
		return i >= dense
	}
	r.denseWidth(c, d, "intermediate_size")
}

// denseWidth reads the width of the plain MLP where a layer has one.
func (r *reader) denseWidth(c config, d *decoder, names ...string) {
	for i := range min(d.layers, maxLayers) {
		if !d.sparse(i) {
			d.mlp = c.need(names...)
			return
		}
	}
	c.ignore(names...)
}

func (r *reader) llama4(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	c.ignore("use_qk_norm", "attn_scale") // a norm without parameters
	width := c.need("intermediate_size")
	d.moe = &experts{count: c.need("num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: width, shared: width}
	step, chosen := c.opt(1, "interleave_moe_layer_step"), c.indexes("moe_layers")
	if step == 0 {
		c.wrong("interleave_moe_layer_step", step, "at least 1")
		step = 1
	}
	said := c.has("moe_layers")
	d.sparse = func(i int64) bool {
		if said {
			return chosen[i]
		}
		return (i+1)%step == 0
	}
	r.denseWidth(c, d, "intermediate_size_mlp")
	// Layers with rotary positions attend within chunks. transformers keeps the last chunk's worth of tokens for them.
	size, every, rotary := c.opt(0, "attention_chunk_size"), c.opt(4, "no_rope_layer_interval"), c.wholes("no_rope_layers")
	types := r.layerTypes(c, "full_attention", "chunked_attention")
	if size == 0 {
		return
	}
	c.assume("layers with chunked attention see the last %d tokens, as transformers caches them: early in a chunk a token sees fewer", size)
	d.window = func(i int64) int64 {
		chunked := every == 0 || (i+1)%every != 0
		switch {
		case i < int64(len(types)):
			chunked = types[i] == "chunked_attention"
		case i < int64(len(rotary)):
			chunked = rotary[i] != 0
		}
		if chunked {
			return size
		}
		return 0
	}
}

func (r *reader) ernie45MoE(c config, d *decoder) {
	r.common(c, d)
	bias := c.flag(false, "use_bias")
	d.biases(bias, bias, bias)
	d.headBias = bias
	width, count := c.need("moe_intermediate_size"), c.need("moe_num_experts", "num_experts")
	d.moe = &experts{count: count, perToken: c.need("moe_k", "num_experts_per_tok"), mlp: width, correction: count,
		shared: r.b.mul(width, c.opt(0, "moe_num_shared_experts")), sharedBias: bias}
	first, step, last := c.opt(1, "moe_layer_start_index"), c.opt(1, "moe_layer_interval"), d.layers-1
	if v, _ := c.value([]string{"moe_layer_end_index"}); v != nil && fmt.Sprint(v) != "-1" {
		last = c.opt(0, "moe_layer_end_index")
	}
	if step == 0 {
		c.wrong("moe_layer_interval", step, "at least 1")
		step = 1
	}
	d.sparse = func(i int64) bool { return (i+1)%step == 0 && i >= first && i <= last }
	r.denseWidth(c, d, "intermediate_size")
}

func (r *reader) hyV3(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.mlpBias = d.qkvBias, c.flag(false, "mlp_bias")
	r.headNorms(d)
	width := c.need("moe_intermediate_size", "expert_hidden_dim")
	d.moe = &experts{count: c.need("num_experts", "num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: width,
		shared: r.b.mul(width, c.opt(1, "num_shared_experts")), sharedBias: d.mlpBias}
	r.sparseFrom(c, d, c.opt(1, "first_k_dense_replace"))
}

// glm4MoE reads GLM 4.5 and dots.llm1: experts as DeepSeek-V3's, attention with groups of heads.
func (r *reader) glm4MoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	if c.flag(false, "use_qk_norm") {
		r.headNorms(d)
	}
	r.deepseekExperts(c, d)
}

func (r *reader) solarOpen(c config, d *decoder) {
	r.glm4MoE(c, d)
	d.outBias = false
}

func (r *reader) dots1(c config, d *decoder) {
	r.glm4MoE(c, d)
	d.outBias = d.qkvBias
	r.headNorms(d)
	d.window = r.windows(c, fromLayer(c.opt(0, "max_window_layers")))
}

// olmoE reads OLMoE, and FlexOlmo, whose norms lie behind attention and experts.
func (r *reader) olmoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	r.wideNorms(d)
	d.moe = &experts{count: c.need("num_experts", "num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("intermediate_size")}
	d.sparse = everyLayer
}

func (r *reader) miniMaxM2(c config, d *decoder) {
	r.mixtral(c, d)
	if c.flag(true, "use_qk_norm") {
		r.wideNorms(d)
	}
	d.window = nil
	c.ignore("qk_norm_type", "attn_type_list")
	for _, t := range c.list("attn_type_list") {
		if fmt.Sprint(t) != "1" {
			r.refuse("layers of linear attention (attn_type_list)")
		}
	}
}

func (r *reader) phiMoE(c config, d *decoder) {
	r.mixtral(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.headBias = d.qkvBias, c.flag(false, "lm_head_bias")
	r.shift(d)
}

// graniteMoE reads Granite's models with experts, which may have an MLP next to them.
func (r *reader) graniteMoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	d.moe = &experts{count: c.need("num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("intermediate_size"), shared: c.opt(0, "shared_intermediate_size")}
	d.sparse = everyLayer
}

// dbrx reads DBRX, whose sizes of attention and experts lie in objects of their own.
func (r *reader) dbrx(c config, d *decoder) {
	r.gptLike(c, d, "d_model", "n_layers", "n_heads", "ffn_hidden_size")
	d.normSize = d.hidden // without a shift
	d.fused("Wqkv", "out_proj")
	d.embeddingName = "wte"
	attn, ok := c.sub("attn_config")
	if !ok {
		attn = config{path: "attn_config.", faults: c.faults}
	}
	if d.kvHeads = attn.opt(1, "kv_n_heads"); d.kvHeads == 0 || d.heads%d.kvHeads != 0 {
		attn.wrong("kv_n_heads", d.kvHeads, "a divisor of n_heads")
	}
	ffn, ok := c.sub("ffn_config")
	if !ok {
		c.faults.missing = append(c.faults.missing, "ffn_config")
		return
	}
	d.moe = &experts{count: ffn.opt(4, "moe_num_experts"), perToken: ffn.opt(1, "moe_top_k"), mlp: ffn.need("ffn_hidden_size")}
	d.sparse = everyLayer
	r.unread(attn, "dbrx", true)
	r.unread(ffn, "dbrx", true)
}

// exaoneMoE reads K-EXAONE: EXAONE 4 with experts.
func (r *reader) exaoneMoE(c config, d *decoder) {
	r.exaone4(c, d)
	width := c.need("moe_intermediate_size")
	d.moe = &experts{count: c.need("num_experts", "num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: width, shared: r.b.mul(width, c.opt(1, "num_shared_experts"))}
	r.sparseFrom(c, d, c.opt(1, "first_k_dense_replace"))
}

// glm4MoELite reads GLM 4.7 Flash: DeepSeek-V3, whose first layer alone has no experts.
func (r *reader) glm4MoELite(c config, d *decoder) {
	r.deepseek(c, d)
	r.sparseFrom(c, d, 1)
}

// hunyuanMoE reads Hunyuan with experts, all as wide as the MLP that every token passes.
func (r *reader) hunyuanMoE(c config, d *decoder) {
	r.hunyuan(c, d)
	d.moe = &experts{count: c.need("num_experts"), perToken: c.uniform(1, "moe_topk"), mlp: d.mlp, shared: d.mlp}
	d.sparse = everyLayer
	c.only("moe_intermediate_size", d.mlp)
	c.only("num_shared_expert", 1)
	c.only("moe_layer_num_skipped", 0)
	c.ignore("use_mixed_mlp_moe", "moe_random_routing_dropped_token")
	if c.flag(false, "use_cla") {
		r.refuse("layers that share keys and values (use_cla)")
	}
}

// uniform reads a whole number, which may be written once for each layer; def where it is not there.
func (c config) uniform(def int64, name string) int64 {
	v, _ := c.value([]string{name})
	if !isList(v) {
		return c.opt(def, name)
	}
	each := c.wholes(name)
	if len(slices.Compact(slices.Clone(each))) != 1 {
		c.wrong(name, v, "the same number for each layer")
		return def
	}
	return each[0]
}

// only refuses a size, one for all layers or one for each, that differs from what the class builds.
func (c config) only(name string, built int64) {
	if n := c.uniform(built, name); n != built {
		c.wrong(name, n, fmt.Sprintf("%d, which is what its class builds", built))
	}
}

// mimoV2 reads MiMo V2: layers with a window have more heads of keys and values, and sinks; values are of another size than keys.
func (r *reader) mimoV2(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	value, size, kv := c.opt(128, "v_head_dim"), c.opt(0, "sliding_window"), c.opt(r.b.mul(2, d.kvHeads), "swa_num_key_value_heads")
	c.atLeast1(map[string]int64{"v_head_dim": value, "sliding_window": size, "swa_num_key_value_heads": kv})
	if kv > 0 && d.heads%kv != 0 {
		c.wrong("swa_num_key_value_heads", kv, "a divisor of num_attention_heads; its default is twice num_key_value_heads")
	}
	c.only("swa_num_attention_heads", d.heads)
	c.only("swa_head_dim", d.headSize)
	c.only("swa_v_head_dim", value)
	if !c.flag(true, "add_swa_attention_sink_bias") || c.flag(false, "add_full_attention_sink_bias") {
		r.refuse("sinks in layers without a window (add_swa_attention_sink_bias, add_full_attention_sink_bias)")
	}
	types, pattern := r.layerTypes(c, "sliding_attention", "full_attention"), c.wholes("hybrid_layer_pattern")
	d.window = func(i int64) int64 {
		slides := i > 0 && (i+1)%6 != 0
		switch {
		case i < int64(len(types)):
			slides = types[i] == "sliding_attention"
		case i < int64(len(pattern)):
			slides = pattern[i] != 0
		}
		if slides {
			return size
		}
		return 0
	}
	d.mixers = map[string]func(int64){"": func(window int64) {
		b, kvHeads := &r.b, d.kvHeads
		if window > 0 {
			kvHeads = kv
		}
		b.linear("q_proj", d.hidden, b.mul(d.heads, d.headSize), d.qkvBias)
		b.linear("k_proj", d.hidden, b.mul(kvHeads, d.headSize), d.qkvBias)
		b.linear("v_proj", d.hidden, b.mul(kvHeads, value), d.qkvBias)
		b.put(Layer{Component: "attention", Kind: Attention, Scope: Token, Heads: d.heads, KVHeads: kvHeads, KeySize: d.headSize, ValueSize: value, Window: window})
		if window > 0 {
			b.parameter("sinks", d.heads)
		}
		b.linear("o_proj", b.mul(d.heads, value), d.hidden, false)
	}}
	d.moe = &experts{count: c.need(routedExperts...), perToken: c.need("num_experts_per_tok"), mlp: c.need("moe_intermediate_size")}
	c.only("n_shared_experts", 0)
	sparse := c.wholes("moe_layer_freq")
	r.sparseFrom(c, d, 1)
	if len(sparse) > 0 && !c.has("mlp_layer_types") {
		d.sparse = func(i int64) bool { return i < int64(len(sparse)) && sparse[i] != 0 }
		r.denseWidth(c, d, "intermediate_size")
	}
	for name, n := range map[string]int{"hybrid_layer_pattern": len(pattern), "moe_layer_freq": len(sparse)} {
		if n > 0 && int64(n) != d.layers {
			c.wrong(name, fmt.Sprintf("%d long", n), "one for each of num_hidden_layers")
		}
	}
}
