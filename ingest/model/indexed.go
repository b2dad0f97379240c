package model

import "fmt"

// indexed reads DeepSeek-V3.2 and GLM 5: latent attention to the index_topk tokens that an indexer scores highest (arXiv 2512.02556,
// section 2.1). The indexer multiplies a few heads of queries with one key of each token, which it keeps, and adds up what the heads find
// with weights that it makes for each query. Layers may take what the indexer of one before them chose.
func (r *reader) indexed(c config, d *decoder) {
	r.deepseek(c, d)
	if d.mla == nil || d.mla.qRank == 0 {
		r.refuse("an indexer without the latent for its queries (q_lora_rank, kv_lora_rank, use_mla)")
		return
	}
	if d.mlpBias {
		r.refuse("MLP biases, which its class does not build (mlp_bias)")
	}
	r.sparseFrom(c, d, c.opt(3, "first_k_dense_replace"))
	r.layerTypes(c, "deepseek_sparse_attention")
	c.ignore("index_share_for_mtp_iteration", "indexer_rope_interleave")
	heads, size, most := c.need("index_n_heads"), c.need("index_head_dim"), c.need("index_topk")
	c.assume("a token attends to at most %d tokens (index_topk); transformers computes all and masks the rest", most)
	c.assume("the cache has the latents, as in serving engines; transformers caches the keys and values made from them")
	d.mla.once = true
	d.window = func(int64) int64 { return most }
	latent := func(window int64) { r.latentAttention(d, window) }
	d.mixed(map[string]func(int64){"shared": latent, "full": func(window int64) {
		b := &r.b
		b.linear("indexer.wq_b", d.mla.qRank, b.mul(heads, size), false)
		b.linear("indexer.wk", d.hidden, size, false)
		b.norm("indexer.k_norm", b.mul(2, size))
		b.linear("indexer.weights_proj", d.hidden, heads, false)
		b.put(Layer{Component: "indexer.scores", Kind: Attention, Scope: Token, Heads: heads, KVHeads: 1, KeySize: size})
		b.put(Layer{Component: "indexer.sum", Kind: Attention, Scope: Token, Heads: 1, KeySize: heads})
		latent(window)
	}}, r.indexers(c, d))
}

// indexers returns which layers have an indexer, "full", and which are "shared": indexer_types does, else index_topk_pattern in letters or
// words, else every index_topk_freq-th from the one of index_skip_topk_offset on has one, as all before it.
func (r *reader) indexers(c config, d *decoder) func(layer int64) string {
	types, field := c.texts("indexer_types"), "indexer_types"
	if v, _ := c.value([]string{"index_topk_pattern"}); len(types) == 0 && v != nil {
		field = "index_topk_pattern"
		if s, is := v.(string); is {
			for _, l := range s {
				types = append(types, map[rune]string{'F': "full", 'S': "shared"}[l])
			}
		} else {
			types = c.texts(field)
		}
	}
	every, offset := max(c.opt(1, "index_topk_freq"), 1), c.opt(2, "index_skip_topk_offset")
	for i, t := range types {
		if t != "full" && (t != "shared" || i == 0) {
			c.wrong(field, t, "full or shared for each layer, full for the first")
			break
		}
	}
	if len(types) > 0 && int64(len(types)) != d.layers {
		c.wrong(field, fmt.Sprintf("%d long", len(types)), "one for each of num_hidden_layers")
	}
	if len(types) == 0 && offset == 0 && every > 1 {
		c.wrong("index_skip_topk_offset", offset, "at least 1, so that the first layer has an indexer")
	}
	return func(i int64) string {
		if i < int64(len(types)) {
			return types[i]
		}
		if max(i-offset+1, 0)%every != 0 {
			return "shared"
		}
		return "full"
	}
}
