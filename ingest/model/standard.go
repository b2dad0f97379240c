package model

import (
	"slices"
	"strings"
)

// standard reads an unknown family by the names that most configurations use.
func (r *reader) standard(c config, d *decoder) {
	if r.stranger(c) {
		return
	}
	name := r.model.Family
	if t := c.text("model_type"); t != "" {
		name = t
	}
	if c.has("kv_lora_rank") {
		c.assume("model_type %q is unknown: read as DeepSeek-V3, because it has latent attention (kv_lora_rank)", name)
		r.deepseek(c, d)
		c.ignore("num_key_value_heads", "head_dim", "index_n_heads", "index_head_dim")
		if c.has("index_topk") {
			c.note(LeftOut, "the indexer that selects tokens for attention (index_topk): attention to all tokens is counted")
		}
		return
	}
	r.common(c, d)
	if !c.has("num_key_value_heads") {
		if d.kvHeads = c.opt(0, "num_kv_heads", "multi_query_group_num"); d.kvHeads == 0 {
			d.kvHeads = d.heads
			c.assume("as many key and value heads as query heads: num_key_value_heads is missing")
		}
	}
	c.divided(d)
	if !c.has("tie_word_embeddings") {
		c.assume("a head with its own weights: tie_word_embeddings is missing")
	}
	if d.qkvBias = c.flag(false, "attention_bias"); d.qkvBias {
		r.unknown("attention_bias of model_type %q does not say whether the output projection has a bias too", name)
	}
	d.outBias, d.mlpBias = d.qkvBias, c.flag(false, "mlp_bias")
	d.window = r.windows(c, everyLayer)
	mlp, norms := "three matrices, gate, up and down", "root-mean-square norms"
	switch act := c.text("hidden_act"); act {
	case "", "silu", "swish", "swiglu":
	case "gelu", "gelu_new", "gelu_fast", "relu", "relu2":
		d.plainMLP, mlp = true, "two matrices, as is usual with its activation"
	default:
		r.unknown("hidden_act %q of model_type %q does not say whether its MLP has two matrices or three", act, name)
	}
	if !c.has("rms_norm_eps") && (c.has("layer_norm_eps") || c.has("layer_norm_epsilon")) {
		d.normSize, norms = r.b.mul(2, d.hidden), "norms that scale and shift"
	}
	c.assume("model_type %q is unknown: read by the standard field names as a decoder with causal attention, %s and an MLP of %s", name, norms, mlp)
	r.standardExperts(c, d)
}

// standardExperts reads the experts of an unknown family, or its MLP.
func (r *reader) standardExperts(c config, d *decoder) {
	count := c.opt(0, "num_experts", "num_local_experts", "n_routed_experts")
	if count == 0 || !c.flag(true, "is_moe") {
		c.ignore("num_experts_per_tok", "moe_intermediate_size")
		d.mlp = c.need("intermediate_size", "ffn_hidden_size")
		return
	}
	dense := c.opt(0, "first_k_dense_replace")
	if dense > 0 {
		d.mlp = c.need("intermediate_size")
	}
	width := c.need("moe_intermediate_size", "intermediate_size")
	d.moe = &experts{count: count, perToken: c.need("num_experts_per_tok", "num_experts_per_token", "moe_topk"), mlp: width,
		shared: c.opt(r.b.mul(width, c.opt(0, "n_shared_experts", "num_shared_experts")), "shared_expert_intermediate_size")}
	d.sparse = func(i int64) bool { return i >= dense }
	c.assume("%d experts of three matrices in every layer from layer %d on", count, dense)
}

// strangers are fields of layers that are neither attention nor an MLP, with what has them: figures read by the standard names would
// be wrong, not just too small.
var strangers = []struct{ field, of string }{
	{"ssm_cfg", "a state space (Mamba)"}, {"state_size", "a state space (Mamba)"}, {"ssm_state_size", "a state space (Mamba)"},
	{"mamba_d_state", "a state space (Mamba)"}, {"mamba_num_heads", "a state space (Mamba)"},
	{"linear_num_value_heads", "linear attention"}, {"linear_attn_config", "linear attention"}, {"lru_width", "a linear recurrence"},
	{"attention_hidden_size", "a linear recurrence (RWKV)"}, {"hybrid_override_pattern", "layers of several kinds"},
}

// stranger refuses a model of layers that the standard names do not describe, and one without a causal decoder.
func (r *reader) stranger(c config) bool {
	if a := r.model.Architecture; c.has("type_vocab_size") || strings.HasSuffix(a, "ForMaskedLM") || strings.HasSuffix(a, "ForPreTraining") {
		r.refuse("an encoder with bidirectional attention, not a causal decoder (type_vocab_size or its class)")
		return true
	}
	for _, s := range strangers {
		if c.has(s.field) {
			r.refuse(s.of + " (" + c.path + s.field + ")")
			return true
		}
	}
	for _, t := range c.texts("layer_types") {
		if !slices.Contains([]string{"full_attention", "sliding_attention"}, t) {
			r.refuse("layers of " + t + " (" + c.path + "layer_types)")
			return true
		}
	}
	return false
}
