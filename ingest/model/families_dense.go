package model

import (
	"encoding/json"
	"fmt"
)

// Families whose layers are a Llama's or a GPT's but for what each function says.

// biases says which matrices have one: queries, keys and values, what attention yields, the MLP.
func (d *decoder) biases(qkv, out, mlp bool) { d.qkvBias, d.outBias, d.mlpBias = qkv, out, mlp }

// shift makes norms scale and shift.
func (r *reader) shift(d *decoder) { d.normSize = r.b.mul(2, d.hidden) }

// plain makes the MLP one of two matrices.
func (d *decoder) plain(up, down string) { d.plainMLP, d.mlpNames = true, [2]string{up, down} }

// headNorms normalises queries and keys head by head, all heads with the same parameters.
func (r *reader) headNorms(d *decoder) { d.qkNorm = r.b.mul(2, d.headSize) }

// wideNorms normalises queries and keys over all heads together, or each head with parameters of its own.
func (r *reader) wideNorms(d *decoder) { d.qkNorm = r.b.mul(r.b.add(d.heads, d.kvHeads), d.headSize) }

// fused makes one matrix of queries, keys and values.
func (d *decoder) fused(qkv, out string) { d.fusedQKV, d.outName = qkv, out }

func (r *reader) starcoder2(c config, d *decoder) {
	r.dense(c, d)
	bias := c.flag(true, "use_bias")
	d.biases(bias, bias, bias)
	r.shift(d)
	d.plain("c_fc", "c_proj")
	d.window = r.windows(c, everyLayer)
}

func (r *reader) apertus(c config, d *decoder) {
	r.llama(c, d)
	r.headNorms(d)
	d.plain("up_proj", "down_proj")
	if c.text("hidden_act") == "xielu" { // its two parameters are learnt
		d.mlpOwn = 2
	}
}

func (r *reader) arcee(c config, d *decoder) {
	r.llama(c, d)
	d.plain("up_proj", "down_proj")
}

func (r *reader) nemotron(c config, d *decoder) {
	r.arcee(c, d)
	r.shift(d)
}

func (r *reader) olmo(c config, d *decoder) {
	r.llama(c, d)
	d.normSize = 0 // norms without parameters
}

// olmo2 reads OLMo 2 and 3.
func (r *reader) olmo2(c config, d *decoder) {
	r.llama(c, d)
	r.wideNorms(d)
	d.window = r.windows(c, func(i int64) bool { return (i+1)%4 != 0 })
}

func (r *reader) cohere(c config, d *decoder) {
	r.llama(c, d)
	d.mlpBias, d.norms = false, 1 // attention and MLP side by side
	if c.flag(false, "use_qk_norm") {
		r.wideNorms(d)
	}
}

func (r *reader) cohere2(c config, d *decoder) {
	r.cohere(c, d)
	every := c.opt(4, "sliding_window_pattern", "_sliding_window_pattern")
	d.window = r.windows(c, func(i int64) bool { return every > 0 && (i+1)%every != 0 })
}

func (r *reader) glm(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias, d.fusedGate = c.flag(true, "attention_bias"), true
}

func (r *reader) glm4(c config, d *decoder) {
	r.glm(c, d)
	d.norms = 4
}

func (r *reader) stablelm(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias = c.flag(false, "use_qkv_bias")
	r.shift(d)
	if c.flag(false, "use_parallel_residual") {
		d.norms = 1
	}
	if c.flag(false, "qk_layernorm") {
		r.wideNorms(d)
	}
}

func (r *reader) phi(c config, d *decoder) {
	r.dense(c, d)
	d.biases(true, true, true)
	r.shift(d)
	d.norms, d.headBias, d.outName = 1, true, "dense"
	d.plain("fc1", "fc2")
	if c.flag(false, "qk_layernorm") {
		d.qkNorm = r.b.mul(4, d.headSize)
	}
}

func (r *reader) persimmon(c config, d *decoder) {
	r.phi(c, d)
	d.norms, d.headBias, d.kvHeads = 2, false, d.heads
	d.fused("query_key_value", "dense")
	d.plain("dense_h_to_4h", "dense_4h_to_h")
	if c.flag(true, "qk_layernorm") {
		d.qkNorm = r.b.mul(4, d.headSize)
	}
}

func (r *reader) gptNeoX(c config, d *decoder) {
	r.dense(c, d)
	bias := c.flag(true, "attention_bias")
	d.kvHeads = d.heads
	d.biases(bias, bias, true)
	r.shift(d)
	d.fused("query_key_value", "dense")
	d.plain("dense_h_to_4h", "dense_4h_to_h")
	c.divided(d)
}

// gptLike reads the sizes of families with names of their own for them.
func (r *reader) gptLike(c config, d *decoder, hidden, layers, heads, mlp string) {
	d.hidden, d.vocab = c.need(hidden, "hidden_size", "n_embed"), c.need("vocab_size")
	d.layers, d.heads = c.need(layers, "num_hidden_layers"), c.need(heads, "num_attention_heads")
	d.kvHeads, d.headSize, d.norms = d.heads, d.hidden/d.heads, 2
	if d.hidden%d.heads != 0 {
		c.wrong(heads, d.heads, "a divisor of "+hidden)
	}
	r.shift(d)
	if d.mlp = c.opt(0, mlp, "intermediate_size"); d.mlp == 0 {
		d.mlp = r.b.mul(4, d.hidden)
	}
}

func (r *reader) gptJ(c config, d *decoder) {
	r.gptLike(c, d, "n_embd", "n_layer", "n_head", "n_inner")
	d.norms, d.mlpBias, d.headBias, d.outName, d.embeddingName = 1, true, true, "out_proj", "wte"
	d.plain("fc_in", "fc_out")
	c.ignore("n_ctx")
}

func (r *reader) codeGen(c config, d *decoder) {
	r.gptJ(c, d)
	d.fusedQKV = "qkv_proj"
}

func (r *reader) gptBigCode(c config, d *decoder) {
	r.gpt2(c, d)
	if c.flag(true, "multi_query") {
		d.kvHeads = 1
	} else {
		d.kvHeads = c.opt(d.heads, "num_key_value_heads")
	}
}

func (r *reader) bloom(c config, d *decoder) {
	r.gptLike(c, d, "hidden_size", "n_layer", "n_head", "ffn_hidden_size")
	d.mlp = r.b.mul(4, d.hidden)
	d.biases(true, true, true)
	d.embeddingNorm, d.embeddingName = true, "word_embeddings"
	d.fused("query_key_value", "dense")
	d.plain("dense_h_to_4h", "dense_4h_to_h")
	c.ignore("n_inner", "apply_residual_connection_post_layernorm")
}

func (r *reader) opt(c config, d *decoder) {
	r.gptLike(c, d, "hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_dim")
	bias := c.flag(true, "enable_bias")
	d.biases(bias, bias, bias)
	d.positions = r.b.add(c.need("max_position_embeddings"), 2)
	d.outName = "out_proj"
	d.plain("fc1", "fc2")
	if n := c.opt(d.hidden, "word_embed_proj_dim"); n != d.hidden {
		r.refuse("embeddings that differ in width from the decoder (word_embed_proj_dim)")
	}
	if !c.flag(true, "do_layer_norm_before") || c.flag(false, "_remove_final_layer_norm") {
		r.refuse("no norm after its last layer (do_layer_norm_before, _remove_final_layer_norm)")
	}
	if !c.flag(true, "layer_norm_elementwise_affine") {
		d.normSize = 0
	}
}

// falcon reads Falcon of both architectures: the old one has one head of keys and values, or as many as of queries.
func (r *reader) falcon(c config, d *decoder) {
	r.gptLike(c, d, "hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_hidden_size")
	recent, together := c.flag(false, "new_decoder_architecture"), c.flag(true, "parallel_attn")
	kv, one, norms := c.opt(d.heads, "num_kv_heads", "n_head_kv"), c.flag(true, "multi_query"), c.opt(0, "num_ln_in_parallel_attn")
	switch {
	case recent:
		d.kvHeads = kv
	case one:
		d.kvHeads = 1
	}
	if d.kvHeads == 0 || d.heads%d.kvHeads != 0 {
		c.wrong("num_kv_heads", d.kvHeads, "a divisor of num_attention_heads")
	}
	if recent && norms == 0 {
		norms = 2
	}
	if recent && norms < 2 || !recent && together {
		d.norms = 1
	}
	bias := c.flag(false, "bias")
	d.biases(bias, bias, bias)
	d.embeddingName = "word_embeddings"
	d.fused("query_key_value", "dense")
	d.plain("dense_h_to_4h", "dense_4h_to_h")
}

func (r *reader) seedOSS(c config, d *decoder) {
	r.dense(c, d)
	d.biases(c.flag(true, "attention_bias"), c.flag(false, "attention_out_bias"), c.flag(false, "mlp_bias"))
}

func (r *reader) exaone4(c config, d *decoder) {
	r.dense(c, d)
	r.headNorms(d)
	every := int64(4)
	if !c.has("layer_types") { // next to which the pattern is a text
		every = c.opt(4, "sliding_window_pattern")
	}
	d.window = r.windows(c, func(i int64) bool { return every > 0 && (i+1)%every != 0 })
}

func (r *reader) ernie45(c config, d *decoder) {
	r.dense(c, d)
	bias := c.flag(false, "use_bias")
	d.biases(bias, bias, bias)
}

func (r *reader) hunyuan(c config, d *decoder) {
	r.llama(c, d)
	d.mlpBias = false
	r.headNorms(d)
}

func (r *reader) bitnet(c config, d *decoder) {
	r.llama(c, d)
	d.mlpBias = false
	d.norms, d.mlpOwn = 3, d.mlp // the norm inside the MLP is of its width
}

func (r *reader) smolLM3(c config, d *decoder) {
	r.llama(c, d)
	every := c.opt(4, "no_rope_layer_interval")
	d.window = r.windows(c, func(i int64) bool { return every > 0 && (i+1)%every != 0 })
}

func (r *reader) vaultGemma(c config, d *decoder) {
	r.gemma(c, d)
	d.window = r.windows(c, func(i int64) bool { return i%2 == 0 })
}

func (r *reader) jais2(c config, d *decoder) {
	r.llama(c, d)
	r.shift(d)
	d.plain("up_proj", "down_proj")
}

// qwen reads the first Qwen, whose intermediate_size is that of gate and up together.
func (r *reader) qwen(c config, d *decoder) {
	r.dense(c, d)
	d.mlp, d.kvHeads, d.fusedQKV, d.qkvBias = d.mlp/2, d.heads, "c_attn", true
	d.headSize = c.opt(d.headSize, "kv_channels")
	if bias := !c.flag(true, "no_bias"); bias {
		d.outBias, d.mlpBias = true, true
	}
}

func (r *reader) internLM2(c config, d *decoder) {
	r.dense(c, d)
	bias := c.flag(true, "bias")
	d.fused("wqkv", "wo")
	d.qkvBias, d.outBias = bias, bias
}

// miniCPM reads MiniCPM 1 and 2, with experts or without; its class ties head and embedding.
func (r *reader) miniCPM(c config, d *decoder) {
	r.llama(c, d)
	if count := c.opt(0, "num_experts"); count > 0 {
		d.moe = &experts{count: count, perToken: c.need("num_experts_per_tok"), mlp: d.mlp}
		d.sparse = everyLayer
	}
}

func (r *reader) orion(c config, d *decoder) {
	r.llama(c, d)
	r.shift(d)
}

// deepseekMoE reads the first DeepSeek with experts, whose attention is plain.
func (r *reader) deepseekMoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	r.deepseekExperts(c, d)
}

// doge reads Doge without experts: its mask is made from the values of the whole context, as keys and values are from latents.
func (r *reader) doge(c config, d *decoder) {
	r.llama(c, d)
	if c.flag(false, "is_moe") {
		r.refuse("experts found by product keys (is_moe)")
	}
	c.ignore("num_experts", "num_experts_per_tok", "keep_window_size", "dynamic_mask_ratio")
	r.headNorms(d)
	d.norms = 4 // two of them scale what goes past attention and MLP
	d.mixers = map[string]func(int64){"": func(window int64) {
		r.attention(d, window)
		r.b.parameter("A", d.kvHeads)
		r.b.scope = Latent
		r.b.linear("dt_proj", r.b.mul(d.kvHeads, d.headSize), d.kvHeads, d.qkvBias)
		r.b.scope = Token
	}}
}

// gptNeo reads GPT-Neo, some of whose layers see the last window_size tokens.
func (r *reader) gptNeo(c config, d *decoder) {
	r.gptLike(c, d, "hidden_size", "num_layers", "num_heads", "intermediate_size")
	d.biases(false, true, true)
	d.positions = c.opt(2048, "max_position_embeddings")
	d.outName, d.embeddingName = "out_proj", "wte"
	d.plain("c_fc", "c_proj")
	size, kinds := c.opt(256, "window_size"), c.attentionTypes(d.layers)
	c.atLeast1(map[string]int64{"window_size": size})
	d.window = func(i int64) int64 {
		if i < int64(len(kinds)) && kinds[i] == "local" {
			return size
		}
		return 0
	}
}

// attentionTypes reads GPT-Neo's kinds of attention: lists of kinds, each with how often they come. The default is that of its class.
func (c config) attentionTypes(layers int64) (kinds []string) {
	const field = "attention_types"
	list := c.list(field)
	if list == nil {
		list = []any{[]any{[]any{"global", "local"}, json.Number("12")}}
	}
	for _, v := range list {
		pair, _ := v.([]any)
		if len(pair) != 2 {
			c.wrong(field, v, "kinds, and how often they come")
			return nil
		}
		names, _ := pair[0].([]any)
		if len(names) == 0 {
			c.wrong(field, v, "at least one kind each time")
			return nil
		}
		for range min(c.whole(pair[1], field, 0), layers) {
			for _, name := range names {
				if name != "global" && name != "local" {
					c.wrong(field, name, "global or local")
					return nil
				}
				kinds = append(kinds, fmt.Sprint(name))
			}
			if int64(len(kinds)) > min(layers, maxLayers) {
				break
			}
		}
	}
	if int64(len(kinds)) != layers {
		c.wrong(field, fmt.Sprintf("of %d layers or more", len(kinds)), fmt.Sprintf("of %d layers", layers))
	}
	return kinds
}

// mpt reads MPT as transformers builds it: without positions, biases and other widths of the MLP, whatever the configuration says; what
// says otherwise is refused.
func (r *reader) mpt(c config, d *decoder) {
	r.gptLike(c, d, "d_model", "n_layers", "n_heads", "ffn_hidden_size")
	d.mlp, d.normSize = r.b.mul(4, d.hidden), d.hidden
	d.fused("Wqkv", "out_proj")
	d.plain("up_proj", "down_proj")
	d.embeddingName = "wte"
	c.only("expansion_ratio", 4)
	if !c.flag(true, "no_bias") {
		r.refuse("biases (no_bias)")
	}
	if attn, ok := c.sub("attn_config"); ok {
		kind := attn.text("attn_type")
		if kind != "" && kind != "multihead_attention" || attn.flag(false, "qk_ln") || attn.flag(false, "prefix_lm") || !attn.flag(true, "alibi") {
			r.refuse("attention that its class does not build (attn_config)")
		}
	}
}
