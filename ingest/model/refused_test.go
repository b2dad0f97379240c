package model

import (
	"errors"
	"strings"
	"testing"
)

// TestReadOrRefused holds configurations that were once read as what they are not: each is right now, or refused by the field that tells.
func TestReadOrRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		family  string
		changes map[string]any
		params  int64  // 0: refused
		says    string // by what
	}{
		// Sizes as in testdata/model/decoder_configs.py, whose parameters PyTorch counts, are in TestParameters; these are what a file says
		// in other words, or beyond that.
		{"lists of kinds of attention", "minimax_text_01", map[string]any{"head_dim": 10, "num_local_experts": 5, "num_experts_per_tok": 2, "attn_type_list": []int{0, 1, 0}, "intermediate_size": 36, "num_attention_heads": 6},
			2*103*48 + 48 + 3*(2*48+5*48+5*3*48*36) + 2*(3*48*60+60+48*60+60*48) + 48*60*2 + 48*20*2, ""},
		{"convolutions without layer_types", "lfm2", map[string]any{"full_attn_idxs": []int{1}, "block_auto_adjust_ff_dim": false},
			103*48 + 48 + 3*(2*48+3*48*76) + 2*(48*144+3*48+48*48) + 2*48*48 + 2*48*16 + 2*8, ""},
		{"experts that are found by products of keys", "doge", map[string]any{"is_moe": true}, 0, "is_moe"},
		{"a model that is no mixture although it has experts' fields", "nobody_else", map[string]any{"is_moe": false, "num_experts": 16, "num_experts_per_tok": 4, "hidden_act": "silu"}, 61488, ""},
		{"a shared expert where the family has none", "mixtral", map[string]any{"shared_expert_intermediate_size": 44}, 0, "shared_expert_intermediate_size"},
		{"a shared expert of nothing", "mixtral", map[string]any{"shared_expert_intermediate_size": 0, "n_shared_experts": nil}, 2*103*48 + 48 + 3*(2*48+2*48*48+2*48*16+5*48+5*3*48*76), ""},
		{"layers that take turns", "nobody_else", map[string]any{"interleave_moe_layer_step": 2}, 0, "interleave_moe_layer_step"},
		{"a kind of attention by layer", "llama", map[string]any{"attn_type_list": []int{0, 1, 1}}, 0, "attn_type_list"},
		{"one head of keys", "nobody_else", map[string]any{"multi_query": true, "num_key_value_heads": nil}, 0, "multi_query"},
		{"a convolution", "nobody_else", map[string]any{"conv_kernel_size": 4}, 0, "conv_kernel_size"},
		{"a bias of the attention of nobody knows which", "nobody_else", map[string]any{"attention_bias": true}, 0, "attention_bias"},
		{"an activation that two kinds of MLP have", "nobody_else", map[string]any{"hidden_act": "gelu_pytorch_tanh"}, 0, "hidden_act"},
		{"an activation of its own", "nobody_else", map[string]any{"hidden_act": "xielu"}, 0, "hidden_act"},
		{"widths by layer", "nobody_else", map[string]any{"ffn_multipliers": []float64{0.5, 1, 2}}, 0, "ffn_multipliers"},
		{"biases that its class does not build", "mpt", map[string]any{"no_bias": false}, 0, "no_bias"},
		{"positions that its class does not build", "mpt", map[string]any{"attn_config": map[string]any{"alibi": false}}, 0, "attn_config"},
		{"layers that share keys and values", "hunyuan_v1_moe", map[string]any{"use_cla": true}, 0, "use_cla"},
		{"a family of transformers", "xglm", map[string]any{}, 0, "model_type xglm"},
		{"a family of transformers by its class", "", map[string]any{"model_type": nil, "architectures": []string{"CTRLForCausalLM"}}, 0, "model_type CTRL"},
		{"what is of no matter", "llama", map[string]any{"router_aux_loss_coef": 0.1, "num_experts": 0, "moe_layer_freq": nil, "mamba_d_state": 0, "is_moe": false}, 61488, ""},
	} {
		fields := small(c.family, c.changes)
		if c.family == "minimax_text_01" || c.family == "" || c.family == "xglm" {
			fields = small("llama", map[string]any{"model_type": c.family}, c.changes)
		}
		m, err := readFields(t, fields)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if got := parametersOf(m.Layers); got != c.params {
				t.Errorf("%s: %d parameters, want %d", c.name, got, c.params)
			}
			continue
		}
		if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnread) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that names %s", c.name, err, c.says)
		}
		// --assume goes on past a field, not past layers that nothing here describes.
		refused := errors.Is(err, ErrUnread)
		m, err = FromFields(mustDecode(t, string(marshal(t, fields))), Options{Assume: true})
		if refused {
			if !errors.Is(err, ErrUnread) {
				t.Errorf("%s, assumed: %v", c.name, err)
			}
			continue
		}
		if err != nil || !noted(m, Assumed, "--assume") || !noted(m, Assumed, c.says) {
			t.Errorf("%s, assumed: %v, %v", c.name, m, err)
		}
	}
}

// TestPublishedElsewhere holds families whose code is not part of transformers to the parameters that their checkpoints hold.
func TestPublishedElsewhere(t *testing.T) {
	for _, c := range []struct {
		name, config string
		params       int64
	}{
		{"Qwen-1.8B", `{"model_type": "qwen", "hidden_size": 2048, "intermediate_size": 11008, "kv_channels": 128, "no_bias": true, "num_attention_heads": 16, "num_hidden_layers": 24, "vocab_size": 151936, "tie_word_embeddings": false}`, 1836828672},
		{"InternLM2-7B", `{"model_type": "internlm2", "bias": false, "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "vocab_size": 92544, "tie_word_embeddings": false}`, 7737708544},
		{"DeepSeek-MoE-16B", `{"model_type": "deepseek", "hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408, "moe_layer_freq": 1, "first_k_dense_replace": 1, "n_routed_experts": 64, "n_shared_experts": 2,
			"num_experts_per_tok": 6, "num_attention_heads": 16, "num_key_value_heads": 16, "num_hidden_layers": 28, "vocab_size": 102400}`, 16375728128},
		{"MiniCPM-2B", `{"model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760, "num_attention_heads": 36, "num_key_value_heads": 36, "num_hidden_layers": 40, "vocab_size": 122753}`, 2724880896},
		{"Orion-14B", `{"model_type": "orion", "hidden_size": 5120, "intermediate_size": 15360, "num_attention_heads": 40, "num_key_value_heads": 40, "num_hidden_layers": 40, "vocab_size": 84608, "tie_word_embeddings": false}`, 14498703360},
	} {
		parametersAre(t, c.name, mustDecode(t, c.config), c.params)
	}
}

// TestNumbersOfPython holds that Infinity and NaN are read where they stand, and refused as a size.
func TestNumbersOfPython(t *testing.T) {
	const llama = `{"model_type": "llama", "hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 103`
	m, err := Read(strings.NewReader(llama + `, "time_step_limit": [0.0, Infinity, -Infinity], "x": NaN, "_name_or_path": "an \"Infinity\" of NaN"}`))
	if err != nil || parametersOf(m.Layers) != 61488 || m.Name != `an "Infinity" of NaN` {
		t.Errorf("%+v, %v", m, err)
	}
	for _, c := range []struct{ text, says string }{
		{llama + `, "head_dim": Infinity}`, "head_dim"},
		{llama + `, "head_dim": NaN}`, "head_dim"},
		{llama + `, "head_dim": Inf}`, "byte"},
		{llama + `, "x": [Infinity}`, "byte " /* where it is, as in the file */},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.text[len(llama):], err, c.says)
		}
	}
}
