package model

import (
	"fmt"
	"slices"
)

// Layers that keep a state of one size in place of keys and values. FLOPs are those of the recurrence token by token: 2 for each
// number of the state and each product that is added to it or read from it. Decays, gates and norms count nothing, as elsewhere.
// Chunked kernels do more in a prefill, by an amount that their chunk decides.

// recurrence adds the state of the heads. products is how often a token multiplies each of its numbers: twice where an outer product is
// added and a query reads (Mamba: arXiv 2312.00752, section 3.2, and 2405.21060, section 2.1; lightning attention: 2501.08313, section
// 2.2), three times where what the state holds under a key is read first (the delta rule: 2412.06464, section 3.1).
func (b *builder) recurrence(heads, keySize, valueSize, products int64) {
	b.put(Layer{Component: "recurrence", Kind: Recurrence, Scope: Token, Heads: heads, KVHeads: heads, KeySize: keySize, ValueSize: valueSize, Active: products})
}

// conv1d adds a convolution over the last tokens, each channel by itself.
func (b *builder) conv1d(channels, kernel int64, bias bool) {
	b.matrices(Convolution, "conv1d", kernel, channels, 1, 1, bias)
}

// ssm is a state space of either version of Mamba.
type ssm struct {
	inner, state, kernel int64
	rank                 int64 // version 1: of the step size
	heads, headSize      int64 // version 2
	groups               int64 // version 2
	convBias, bias       bool
	normed               int64 // parameters of norms inside
}

func (r *reader) mamba1(d *decoder, s ssm) {
	b := &r.b
	b.linear("in_proj", d.hidden, b.mul(2, s.inner), s.bias)
	b.conv1d(s.inner, s.kernel, s.convBias)
	b.linear("x_proj", s.inner, b.add(s.rank, b.mul(2, s.state)), false)
	b.norm("dt, b and c norms", s.normed)
	b.linear("dt_proj", s.rank, s.inner, true)
	b.parameter("A_log, D", b.mul(s.inner, b.add(s.state, 1)))
	b.recurrence(s.inner, s.state, 1, 2)
	b.linear("out_proj", s.inner, d.hidden, s.bias)
}

func (r *reader) mamba2(d *decoder, s ssm) {
	b := &r.b
	both := b.mul(2, b.mul(s.groups, s.state))
	b.linear("in_proj", d.hidden, b.add(b.add(b.mul(2, s.inner), both), s.heads), s.bias)
	b.conv1d(b.add(s.inner, both), s.kernel, s.convBias)
	b.parameter("dt_bias, A_log, D", b.mul(3, s.heads))
	b.recurrence(s.heads, s.state, s.headSize, 2)
	b.norm("gated norm", s.normed)
	b.linear("out_proj", s.inner, d.hidden, s.bias)
}

// mixed gives each layer's kind by name to mixer, "" for plain attention.
func (d *decoder) mixed(mixers map[string]func(int64), kind func(i int64) string) {
	d.mixers, d.mixer = mixers, kind
}

// auto reads a size that may be "auto".
func (c config) auto(def int64, name string) int64 {
	if v, _ := c.value([]string{name}); v == "auto" {
		return def
	}
	return c.opt(def, name)
}

// ceil divides and rounds up.
func ceil(n, by int64) int64 { return (n + by - 1) / by }

// mamba reads Mamba and Falcon Mamba: layers without attention and without MLP.
func (r *reader) mamba(c config, d *decoder) {
	d.hidden, d.vocab, d.layers = c.need("hidden_size", "d_model"), c.need("vocab_size"), c.need("num_hidden_layers", "n_layer")
	d.normSize, d.norms, d.embeddingName = d.hidden, 1, "embeddings"
	s := ssm{inner: r.b.mul(c.opt(2, "expand"), d.hidden), state: c.need("state_size"), kernel: c.opt(4, "conv_kernel"), rank: c.auto(ceil(d.hidden, 16), "time_step_rank"),
		convBias: c.flag(true, "use_conv_bias"), bias: c.flag(false, "use_bias")}
	s.inner = c.opt(s.inner, "intermediate_size", "d_inner")
	c.ignore("use_associative_scan", "use_mambapy", "rescale_prenorm_residual")
	c.atLeast1(map[string]int64{"expand": s.inner, "conv_kernel": s.kernel, "time_step_rank": s.rank})
	d.mixed(map[string]func(int64){"": func(int64) { r.mamba1(d, s) }}, nil)
}

// atLeast1 refuses sizes of 0.
func (c config) atLeast1(sizes map[string]int64) {
	for name, n := range sizes {
		if n < 1 {
			c.wrong(name, n, "at least 1")
		}
	}
}

func (r *reader) mamba2Model(c config, d *decoder) {
	d.hidden, d.vocab, d.layers = c.need("hidden_size"), c.need("vocab_size"), c.need("num_hidden_layers")
	d.normSize, d.norms, d.embeddingName = d.hidden, 1, "embeddings"
	s := ssm{inner: r.b.mul(c.opt(2, "expand"), d.hidden), state: c.need("state_size"), kernel: c.opt(4, "conv_kernel"), heads: c.need("num_heads"), headSize: c.need("head_dim"),
		groups: c.opt(8, "n_groups"), convBias: c.flag(true, "use_conv_bias"), bias: c.flag(false, "use_bias")}
	s.normed = s.inner
	r.whole2(c, s, "num_heads, head_dim and expand")
	c.ignore("time_step_rank", "rescale_prenorm_residual")
	d.mixed(map[string]func(int64){"": func(int64) { r.mamba2(d, s) }}, nil)
}

// whole2 refuses heads that do not make up the inner width.
func (r *reader) whole2(c config, s ssm, fields string) {
	if r.b.mul(s.heads, s.headSize) != s.inner || s.kernel < 1 || s.groups < 1 {
		c.wrong(fields, fmt.Sprintf("%d, %d and an inner width of %d", s.heads, s.headSize, s.inner), "heads that make up the inner width")
	}
}

// hybridSSM reads the state space of Bamba, Granite 4 and Falcon H1.
func (r *reader) hybridSSM(c config, d *decoder) ssm {
	s := ssm{inner: r.b.mul(c.opt(2, "mamba_expand"), d.hidden), state: c.need("mamba_d_state"), kernel: c.opt(4, "mamba_d_conv"), heads: c.need("mamba_n_heads"), groups: c.opt(1, "mamba_n_groups"),
		convBias: c.flag(true, "mamba_conv_bias"), bias: c.flag(false, "mamba_proj_bias")}
	if n := c.opt(0, "mamba_d_ssm"); n > 0 {
		s.inner = n
	}
	s.headSize, s.normed = c.auto(s.inner/s.heads, "mamba_d_head"), s.inner
	r.whole2(c, s, "mamba_n_heads, mamba_d_head and mamba_expand")
	c.ignore("mamba_chunk_size")
	return s
}

func (r *reader) bamba(c config, d *decoder) {
	r.llama(c, d)
	s, full := r.hybridSSM(c, d), c.indexes("attn_layer_indices")
	d.mixed(map[string]func(int64){"mamba": func(int64) { r.mamba2(d, s) }}, func(i int64) string {
		if full[i] {
			return ""
		}
		return "mamba"
	})
}

func (r *reader) falconH1(c config, d *decoder) {
	r.llama(c, d)
	s := r.hybridSSM(c, d)
	c.ignore("attn_layer_indices", "mamba_use_mlp")
	if !c.flag(false, "mamba_rms_norm") {
		s.normed = 0
	}
	if c.flag(false, "projectors_bias") {
		r.refuse("biases in its projections (projectors_bias)")
	}
	d.mixed(map[string]func(int64){"": func(int64) { // side by side
		r.mamba2(d, s)
		r.attention(d, 0)
	}}, nil)
}

// graniteHybrid reads Granite 4: layers of a state space or of attention, each with an MLP and perhaps experts.
func (r *reader) graniteHybrid(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	types := r.layerTypes(c, "full_attention", "linear_attention")
	shared := c.need("shared_intermediate_size")
	if count := c.opt(0, "num_local_experts"); count > 0 {
		d.moe = &experts{count: count, perToken: c.need("num_experts_per_tok"), mlp: c.need("intermediate_size"), shared: shared}
		d.sparse = everyLayer
	} else {
		d.mlp = shared
		c.ignore("intermediate_size", "num_experts_per_tok")
	}
	linear := func(i int64) bool { return i >= int64(len(types)) || types[i] == "linear_attention" }
	var s ssm
	for i := range min(d.layers, maxLayers) {
		if linear(i) {
			s = r.hybridSSM(c, d)
			break
		}
	}
	c.ignore("mamba_chunk_size", "mamba_conv_bias", "mamba_d_conv", "mamba_d_head", "mamba_d_state", "mamba_expand", "mamba_n_groups", "mamba_n_heads", "mamba_proj_bias")
	d.mixed(map[string]func(int64){"mamba": func(int64) { r.mamba2(d, s) }}, func(i int64) string {
		if linear(i) {
			return "mamba"
		}
		return ""
	})
}

func (r *reader) jamba(c config, d *decoder) {
	r.common(c, d)
	s := ssm{inner: r.b.mul(c.opt(2, "mamba_expand"), d.hidden), state: c.opt(16, "mamba_d_state"), kernel: c.opt(4, "mamba_d_conv"), rank: c.auto(ceil(d.hidden, 16), "mamba_dt_rank"),
		convBias: c.flag(true, "mamba_conv_bias"), bias: c.flag(false, "mamba_proj_bias")}
	s.normed = r.b.add(s.rank, r.b.mul(2, s.state))
	c.atLeast1(map[string]int64{"mamba_expand": s.inner, "mamba_d_state": s.state, "mamba_d_conv": s.kernel, "mamba_dt_rank": s.rank})
	if !c.flag(true, "mamba_inner_layernorms") {
		r.refuse("state spaces without norms inside (mamba_inner_layernorms)")
	}
	c.ignore("use_mamba_kernels", "use_associative_scan", "use_mambapy")
	every := func(what string, period, offset int64) func(int64) bool {
		p, o := c.opt(period, what+"_layer_period"), c.opt(offset, what+"_layer_offset")
		if p <= o {
			c.wrong(what+"_layer_period", p, "more than "+what+"_layer_offset")
			return everyLayer
		}
		return func(i int64) bool { return i%p == o }
	}
	attends, sparse := every("attn", 8, 4), every("expert", 2, 1)
	d.mlp = c.need("intermediate_size")
	if count := c.opt(16, "num_experts"); count > 1 {
		d.moe = &experts{count: count, perToken: c.opt(2, "num_experts_per_tok"), mlp: d.mlp}
		d.sparse = sparse
	} else {
		c.ignore("num_experts_per_tok")
	}
	d.mixed(map[string]func(int64){"mamba": func(int64) { r.mamba1(d, s) }}, func(i int64) string {
		if attends(i) {
			return ""
		}
		return "mamba"
	})
}

// nemotronH reads Nemotron-H, each of whose layers is one of a state space, attention, an MLP and experts.
func (r *reader) nemotronH(c config, d *decoder) {
	types := c.texts("layers_block_type")
	if pattern := c.text("hybrid_override_pattern"); len(types) == 0 {
		for _, l := range pattern {
			types = append(types, map[rune]string{'M': "mamba", '*': "attention", '-': "mlp", 'E': "moe"}[l])
		}
	}
	if len(types) == 0 {
		types = c.texts("layer_types")
	}
	for i, t := range types {
		switch t {
		case "mamba", "linear_attention":
			types[i] = "mamba"
		case "attention", "full_attention":
			types[i] = ""
		case "mlp", "moe":
		default:
			c.wrong("layers_block_type or hybrid_override_pattern", t, "mamba, attention, mlp or moe; M, *, - or E")
		}
	}
	d.hidden, d.vocab, d.layers = c.need("hidden_size"), c.need("vocab_size"), int64(len(types))
	c.ignore("num_hidden_layers", "mtp_layers_block_type", "mtp_hybrid_override_pattern", "attention_head_dim", "rescale_prenorm_residual", "moe_shared_expert_overlap",
		"use_mamba_kernels", "mamba_ssm_cache_dtype", "time_step_rank", "expand", "chunk_size", "mamba_num_groups", "mamba_state_dim")
	if d.layers == 0 && !c.has("hybrid_override_pattern") {
		c.faults.missing = append(c.faults.missing, "hybrid_override_pattern")
	}
	d.heads = c.need("num_attention_heads")
	d.kvHeads, d.headSize = c.opt(d.heads, "num_key_value_heads"), c.opt(128, "head_dim", "attention_head_dim")
	if d.kvHeads == 0 || d.heads%d.kvHeads != 0 || d.headSize == 0 {
		c.wrong("num_key_value_heads", d.kvHeads, "a divisor of num_attention_heads")
	}
	d.normSize, d.norms, d.embeddingName = d.hidden, 1, "embeddings"
	d.mlpBias = c.flag(false, "mlp_bias")
	d.plain("up_proj", "down_proj")
	c.ignore("sliding_window", "attention_bias", "mamba_proj_bias") // transformers takes no notice of them
	has := func(kind string) bool { return slices.Contains(types, kind) }
	if has("mlp") {
		d.mlp = c.need("intermediate_size")
	}
	if has("moe") {
		d.moe = &experts{count: c.need("n_routed_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("moe_intermediate_size"), sharedBias: d.mlpBias}
		if n := c.opt(1, "n_shared_experts"); n > 0 {
			d.moe.shared = c.need("moe_shared_expert_intermediate_size")
		}
		d.moe.latent = c.opt(0, "moe_latent_size")
	} else {
		c.ignore("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", "moe_shared_expert_intermediate_size", "moe_latent_size", "intermediate_size")
	}
	c.ignore("n_routed_experts", "n_group", "topk_group")
	s := ssm{heads: c.need("mamba_num_heads"), headSize: c.need("mamba_head_dim"), state: c.need("ssm_state_size"), kernel: c.opt(4, "conv_kernel"), groups: c.opt(8, "n_groups"),
		convBias: c.flag(true, "use_conv_bias"), bias: c.flag(false, "use_bias")}
	s.inner = r.b.mul(s.heads, s.headSize)
	s.normed = s.inner
	r.whole2(c, s, "mamba_num_heads and mamba_head_dim")
	d.sparse = func(i int64) bool { return types[i] == "moe" }
	d.width = func(i int64) int64 {
		if types[i] == "mlp" {
			return d.mlp
		}
		return 0
	}
	none := func(int64) {}
	d.mixed(map[string]func(int64){"mamba": func(int64) { r.mamba2(d, s) }, "mlp": none, "moe": none}, func(i int64) string { return types[i] })
}

// gatedDelta adds the gated delta rule of Qwen3-Next: arXiv 2412.06464.
func (r *reader) gatedDelta(c config, d *decoder, together bool) func(int64) {
	keys, values := c.need("linear_num_key_heads"), c.need("linear_num_value_heads")
	keySize, valueSize, kernel := c.need("linear_key_head_dim"), c.need("linear_value_head_dim"), c.opt(4, "linear_conv_kernel_dim")
	if kernel == 0 {
		c.wrong("linear_conv_kernel_dim", kernel, "at least 1")
	}
	return func(int64) {
		b := &r.b
		k, v := b.mul(keys, keySize), b.mul(values, valueSize)
		qkv := b.add(b.mul(2, k), v)
		if together {
			b.linear("in_proj_qkvz", d.hidden, b.add(qkv, v), false)
			b.linear("in_proj_ba", d.hidden, b.mul(2, values), false)
		} else {
			b.linear("in_proj_qkv", d.hidden, qkv, false)
			b.linear("in_proj_z", d.hidden, v, false)
			b.linear("in_proj_b", d.hidden, values, false)
			b.linear("in_proj_a", d.hidden, values, false)
		}
		b.conv1d(qkv, kernel, false)
		b.parameter("dt_bias, A_log", b.mul(2, values))
		b.recurrence(values, keySize, valueSize, 3)
		b.norm("gated norm", valueSize)
		b.linear("out_proj", v, d.hidden, false)
	}
}

// qwen3Next reads Qwen3-Next and Qwen3.5: three layers of the gated delta rule to one of attention, whose output is gated.
func (r *reader) qwen3Next(c config, d *decoder) {
	r.qwen35Attention(c, d, true)
	r.sometimesSparse(c, d)
	if d.moe != nil {
		d.moe.shared, d.moe.sharedGate = c.need("shared_expert_intermediate_size"), true
	}
}

func (r *reader) qwen35(c config, d *decoder) {
	r.qwen35Attention(c, d, false)
	d.mlp = c.need("intermediate_size")
}

func (r *reader) qwen35MoE(c config, d *decoder) {
	r.qwen35Attention(c, d, false)
	d.moe = &experts{count: c.need("num_experts", "num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("moe_intermediate_size"),
		shared: c.need("shared_expert_intermediate_size"), sharedGate: true}
	d.sparse = everyLayer
	c.ignore("decoder_sparse_step", "mlp_only_layers", "intermediate_size")
}

func (r *reader) qwen35Attention(c config, d *decoder, together bool) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.gateName = d.qkvBias, "q_proj.gate"
	r.headNorms(d)
	c.ignore("attn_output_gate", "mamba_ssm_dtype")
	every, types := c.opt(4, "full_attention_interval"), r.layerTypes(c, "full_attention", "linear_attention")
	if every == 0 {
		c.wrong("full_attention_interval", every, "at least 1")
		every = 1
	}
	d.mixed(map[string]func(int64){"linear_attention": r.gatedDelta(c, d, together)}, linearUnless(types, func(i int64) bool { return (i+1)%every == 0 }))
}

// miniMax reads MiniMax-Text-01: seven layers of lightning attention to one of attention, all with experts.
func (r *reader) miniMax(c config, d *decoder) {
	r.common(c, d)
	types := r.layerTypes(c, "full_attention", "linear_attention")
	if len(types) == 0 {
		for _, n := range c.wholes("attn_type_list") {
			types = append(types, map[int64]string{0: "linear_attention", 1: "full_attention"}[n])
		}
	}
	c.ignore("attn_type_list", "block_size", "sliding_window", "postnorm", "layernorm_full_attention_alpha", "layernorm_linear_attention_alpha", "shared_moe_mode", "head_dim")
	if len(types) > 0 && (int64(len(types)) != d.layers || slices.Contains(types, "")) {
		c.wrong("attn_type_list", fmt.Sprintf("%d long", len(types)), "0 or 1 for each of num_hidden_layers")
	}
	if c.opt(0, "shared_intermediate_size") > 0 {
		r.refuse("a shared expert (shared_intermediate_size)")
	}
	d.moe = &experts{count: c.need("num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("intermediate_size")}
	d.sparse = everyLayer
	d.mixed(map[string]func(int64){"linear_attention": func(int64) {
		b := &r.b
		width := b.mul(d.heads, d.headSize)
		b.linear("qkv_proj", d.hidden, b.mul(3, width), false)
		b.recurrence(d.heads, d.headSize, d.headSize, 2)
		b.norm("norm", width)
		b.linear("output_gate", d.hidden, width, false)
		b.linear("out_proj", width, d.hidden, false)
	}}, linearUnless(types, func(i int64) bool { return i%2 == 0 }))
}

// linearUnless returns the kind of each layer where the others attend: of what types say, or else of those that full picks, attention.
func linearUnless(types []string, full func(layer int64) bool) func(int64) string {
	return func(i int64) string {
		switch {
		case i < int64(len(types)) && types[i] != "full_attention", i >= int64(len(types)) && !full(i):
			return "linear_attention"
		}
		return ""
	}
}

// lfm2 reads LFM2: short convolutions, and attention in some layers.
func (r *reader) lfm2(c config, d *decoder) {
	r.lfm2Layers(c, d)
	width := c.need("block_ff_dim", "intermediate_size")
	if c.flag(true, "block_auto_adjust_ff_dim") {
		width = 2 * width / 3
		if v, _ := c.value([]string{"block_ffn_dim_multiplier"}); v != nil {
			width = int64(c.number(1, "block_ffn_dim_multiplier") * float64(width))
		}
		multiple := max(c.opt(256, "block_multiple_of"), 1)
		width = ceil(width, multiple) * multiple
	}
	c.ignore("block_ffn_dim_multiplier", "block_multiple_of")
	d.mlp = width
}

func (r *reader) lfm2MoE(c config, d *decoder) {
	r.lfm2Layers(c, d)
	count := c.need("num_experts", "num_local_experts")
	d.moe = &experts{count: count, perToken: c.need("num_experts_per_tok"), mlp: c.need("moe_intermediate_size")}
	c.ignore("use_expert_bias")
	r.sparseFrom(c, d, c.opt(2, "num_dense_layers"))
}

func (r *reader) lfm2Layers(c config, d *decoder) {
	r.common(c, d)
	c.divided(d)
	r.headNorms(d)
	d.outName = "out_proj"
	c.ignore("block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale", "block_use_swiglu", "block_use_xavier_init", "conv_dim", "conv_dim_out", "conv_use_xavier_init", "num_heads", "use_pos_enc")
	kernel, bias := c.opt(3, "conv_L_cache"), c.flag(false, "conv_bias")
	c.atLeast1(map[string]int64{"conv_L_cache": kernel})
	types, full := r.layerTypes(c, "full_attention", "conv"), c.indexes("full_attn_idxs")
	said := c.has("full_attn_idxs")
	d.mixed(map[string]func(int64){"conv": func(int64) {
		r.b.linear("in_proj", d.hidden, r.b.mul(3, d.hidden), bias)
		r.b.conv1d(d.hidden, kernel, bias)
		r.b.linear("out_proj", d.hidden, d.hidden, bias)
	}}, func(i int64) string {
		if i < int64(len(types)) && types[i] == "conv" || len(types) == 0 && said && !full[i] {
			return "conv"
		}
		return ""
	})
}
