package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Each function here reads the decoder of one family as its modeling file in transformers builds it.

// common reads what all families but GPT-2 share, with root-mean-square norms and three matrices in the MLP.
func (r *reader) common(c config, d *decoder) {
	d.hidden = c.need("hidden_size")
	d.vocab = c.need("vocab_size")
	d.layers = c.need("num_hidden_layers")
	d.heads = c.need("num_attention_heads")
	d.kvHeads = c.opt(d.heads, "num_key_value_heads")
	d.headSize = c.opt(d.hidden/d.heads, "head_dim")
	d.normSize, d.norms = d.hidden, 2
	if d.kvHeads == 0 || d.headSize == 0 {
		c.wrong("num_key_value_heads or head_dim", 0, "at least 1")
	}
	if d.kvHeads > 0 && d.heads%d.kvHeads != 0 {
		c.wrong("num_key_value_heads", d.kvHeads, "a divisor of num_attention_heads")
	}
}

// divided refuses a width that the heads do not share evenly, where its class does.
func (c config) divided(d *decoder) {
	if !c.has("head_dim") && d.hidden%d.heads != 0 {
		c.wrong("num_attention_heads", d.heads, "a divisor of hidden_size")
	}
}

// dense reads a family whose every layer has one MLP.
func (r *reader) dense(c config, d *decoder) {
	r.common(c, d)
	d.mlp = c.need("intermediate_size")
}

func (r *reader) llama(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
	d.mlpBias = c.flag(false, "mlp_bias")
	d.window = r.windows(c, everyLayer) // its cache keeps no more tokens
	c.divided(d)
}

func (r *reader) mistral(c config, d *decoder) {
	r.dense(c, d)
	d.window = r.windows(c, everyLayer)
}

func (r *reader) qwen2(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias = true
	d.window = r.windows(c, fromLayer(c.opt(0, "max_window_layers")))
}

func (r *reader) qwen3(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.qkNorm = d.qkvBias, r.b.mul(2, d.headSize)
	d.window = r.windows(c, fromLayer(c.opt(0, "max_window_layers")))
}

func (r *reader) gemma(c config, d *decoder) {
	r.dense(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias = d.qkvBias
}

func (r *reader) gemma2(c config, d *decoder) {
	r.gemma(c, d)
	d.norms = 4
	d.window = r.windows(c, func(i int64) bool { return i%2 == 0 })
}

func (r *reader) gemma3(c config, d *decoder) {
	r.gemma(c, d)
	d.norms, d.qkNorm = 4, r.b.mul(2, d.headSize)
	every := c.opt(6, "sliding_window_pattern")
	d.window = r.windows(c, func(i int64) bool { return every == 0 || (i+1)%every != 0 })
	if slides := d.window; slides != nil && c.flag(false, "use_bidirectional_attention") {
		d.window = func(i int64) int64 {
			if size := slides(i); size > 0 {
				return size/2 + 1
			}
			return 0
		}
	}
}

func (r *reader) phi3(c config, d *decoder) {
	r.dense(c, d)
	d.fusedQKV, d.fusedGate = "qkv_proj", true
	d.window = r.windows(c, everyLayer)
}

func (r *reader) gptOSS(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(true, "attention_bias")
	d.outBias, d.sinks = d.qkvBias, true
	d.window = r.windows(c, func(i int64) bool { return i%2 == 0 })
	d.moe = &experts{count: c.need("num_local_experts", "num_experts"), perToken: c.need("num_experts_per_tok", "experts_per_token"),
		mlp: c.need("intermediate_size"), bias: true, routerBias: true}
	d.sparse = everyLayer
}

func (r *reader) mixtral(c config, d *decoder) {
	r.common(c, d)
	d.window = r.windows(c, everyLayer)
	d.moe = &experts{count: c.need("num_local_experts", "num_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("intermediate_size")}
	d.sparse = everyLayer
}

func (r *reader) qwen2MoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(true, "qkv_bias")
	until := c.opt(0, "max_window_layers")
	d.window = r.windows(c, func(i int64) bool { return i%2 == 0 && i < until })
	r.sometimesSparse(c, d)
	if d.moe != nil {
		d.moe.shared, d.moe.sharedGate = c.need("shared_expert_intermediate_size"), true
	}
}

func (r *reader) qwen3MoE(c config, d *decoder) {
	r.common(c, d)
	d.qkvBias = c.flag(false, "attention_bias")
	d.outBias, d.qkNorm = d.qkvBias, r.b.mul(2, d.headSize)
	d.window = r.windows(c, everyLayer)
	r.sometimesSparse(c, d)
}

// sometimesSparse reads the experts of Qwen's families, whose layers have them by decoder_sparse_step and mlp_only_layers.
func (r *reader) sometimesSparse(c config, d *decoder) {
	step := c.opt(1, "decoder_sparse_step")
	if step == 0 {
		c.wrong("decoder_sparse_step", step, "at least 1")
		step = 1
	}
	plain := c.wholes("mlp_only_layers")
	if v, _ := c.said([]string{"num_experts"}); v == json.Number("0") { // plain layers only
		d.mlp = c.need("intermediate_size")
		c.ignore("num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size")
		return
	}
	d.moe = &experts{count: c.need("num_experts", "num_local_experts"), perToken: c.need("num_experts_per_tok"), mlp: c.need("moe_intermediate_size")}
	d.sparse = func(i int64) bool { return (i+1)%step == 0 && !slices.Contains(plain, i) }
	for i := range min(d.layers, maxLayers) {
		if !d.sparse(i) {
			d.mlp = c.need("intermediate_size")
			break
		}
	}
}

// deepseek reads DeepSeek-V2 and V3, whose attention is latent unless use_mla is false or there is no kv_lora_rank, as in
// DeepSeek-OCR: then it is the plain one.
func (r *reader) deepseek(c config, d *decoder) {
	rank, said := c.field("kv_lora_rank")
	if !c.flag(true, "use_mla") || said && rank == nil {
		r.common(c, d)
		d.headSize = d.hidden / d.heads
		c.divided(d)
		d.qkvBias = c.flag(false, "attention_bias")
		d.outBias = d.qkvBias
	} else {
		d.hidden, d.vocab = c.need("hidden_size"), c.need("vocab_size")
		d.layers, d.heads = c.need("num_hidden_layers"), c.need("num_attention_heads")
		d.normSize, d.norms = d.hidden, 2
		d.mla = &latent{qRank: c.opt(0, "q_lora_rank"), kvRank: c.need("kv_lora_rank"), rope: c.need("qk_rope_head_dim"),
			nope: c.need("qk_nope_head_dim"), value: c.need("v_head_dim"), bias: c.flag(false, "attention_bias")}
	}
	d.mlpBias = c.flag(false, "mlp_bias")
	if v, _ := c.value(routedExperts); v == nil || v == json.Number("0") {
		d.mlp = c.need("intermediate_size")
		c.ignore("num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", "first_k_dense_replace", "moe_layer_freq")
		return
	}
	r.deepseekExperts(c, d)
}

// nextTokens notes layers that predict further tokens, which a forward pass goes without.
func (r *reader) nextTokens(c config) {
	c.ignore("use_mtp", "num_mtp_modules", "mtp_transformer_layers")
	if extra := c.opt(0, "num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers"); extra > 0 {
		c.assume("the %d layer(s) that predict further tokens (num_nextn_predict_layers) are not used", extra)
	}
}

// routedExperts are the names of the number of experts that DeepSeek's classes take.
var routedExperts = []string{"n_routed_experts", "num_experts", "num_local_experts"}

func (r *reader) deepseekExperts(c config, d *decoder) {
	dense, every := c.opt(0, "first_k_dense_replace"), c.opt(1, "moe_layer_freq")
	if every == 0 {
		c.wrong("moe_layer_freq", every, "at least 1")
		every = 1
	}
	if every > 1 {
		c.assume("experts in every %d-th layer (moe_layer_freq), as in DeepSeek's own code; transformers ignores the field", every)
	}
	d.sparse = func(i int64) bool { return i >= dense && i%every == 0 }
	for i := range min(d.layers, maxLayers) {
		if !d.sparse(i) {
			d.mlp = c.need("intermediate_size")
			break
		}
	}
	width := c.need("moe_intermediate_size")
	d.moe = &experts{count: c.need(routedExperts...), perToken: c.need("num_experts_per_tok"), mlp: width,
		shared: r.b.mul(width, c.opt(0, "n_shared_experts")), sharedBias: d.mlpBias}
}

// gpt2 reads GPT-2: learned positions, norms with a shift, an MLP of two matrices, biases everywhere.
func (r *reader) gpt2(c config, d *decoder) {
	d.hidden, d.vocab = c.need("n_embd", "hidden_size"), c.need("vocab_size")
	d.layers, d.heads = c.need("n_layer", "num_hidden_layers"), c.need("n_head", "num_attention_heads")
	d.kvHeads, d.headSize = d.heads, d.hidden/d.heads
	if d.hidden%d.heads != 0 {
		c.wrong("n_embd", d.hidden, "a multiple of n_head")
	}
	d.mlp = c.opt(r.b.mul(4, d.hidden), "n_inner")
	d.positions = c.opt(1024, "n_positions", "max_position_embeddings")
	d.normSize, d.norms = r.b.mul(2, d.hidden), 2
	d.qkvBias, d.outBias, d.mlpBias, d.plainMLP = true, true, true, true
	d.embeddingName, d.fusedQKV, d.outName, d.mlpNames = "wte", "c_attn", "c_proj", [2]string{"c_fc", "c_proj"}
	if c.flag(false, "add_cross_attention") {
		c.note(LeftOut, "cross attention (add_cross_attention) is not supported")
	}
}

func everyLayer(int64) bool { return true }

func fromLayer(n int64) func(int64) bool { return func(i int64) bool { return i >= n } }

// layerTypes reads layer_types, under the names that old configurations have for them too, and refuses other kinds than those given.
// Nil where there is none.
func (r *reader) layerTypes(c config, kinds ...string) []string {
	types := slices.Clone(c.texts("layer_types"))
	for i, t := range types {
		if now, old := map[string]string{"attention": "full_attention", "mamba": "linear_attention"}[t]; old && !slices.Contains(kinds, t) {
			types[i] = now
		}
		if !slices.Contains(kinds, types[i]) {
			c.wrong("layer_types", t, strings.Join(kinds, " or "))
			return nil
		}
	}
	if layers := c.opt(0, "num_hidden_layers"); len(types) > 0 && int64(len(types)) != layers {
		c.wrong("layer_types", fmt.Sprintf("%d long", len(types)), "one for each of num_hidden_layers")
		return nil
	}
	return types
}

// windows returns the window of each layer: layer_types says which layers have one, else the family's own rule. Nil where none has.
// Layers of the further kinds have none.
func (r *reader) windows(c config, rule func(layer int64) bool, kinds ...string) func(int64) int64 {
	types := r.layerTypes(c, append(kinds, "sliding_attention", "full_attention")...)
	size, uses := c.opt(0, "sliding_window"), c.flag(true, "use_sliding_window")
	if size == 0 || !uses || c.faults.err() != nil {
		return nil
	}
	return func(i int64) int64 {
		slides := rule(i)
		if i < int64(len(types)) {
			slides = types[i] == "sliding_attention"
		}
		if slides {
			return size
		}
		return 0
	}
}
