package model

import (
	"errors"
	"strings"
	"testing"
)

// TestUnknownArchitecture holds that an unknown model_type is read by the standard names, and that notes say what was assumed.
func TestUnknownArchitecture(t *testing.T) {
	const unknown = `model_type "nobody_else" is unknown`
	for _, c := range []struct {
		name    string
		changes map[string]any
		want    int64 // parameters
		assumed []string
		leftOut string
	}{
		// As a Llama of the same sizes.
		{"plain", map[string]any{}, 61488, []string{unknown, "three matrices", "root-mean-square", "tie_word_embeddings is missing"}, ""},
		{"heads not said", map[string]any{"num_key_value_heads": nil, "tie_word_embeddings": true}, 61488 + 3*2*32*48 - 103*48, []string{"num_key_value_heads is missing"}, ""},
		{"heads by another name", map[string]any{"num_key_value_heads": nil, "num_kv_heads": 2}, 61488, []string{unknown}, ""},
		{"plain MLP", map[string]any{"hidden_act": "gelu", "layer_norm_eps": 1e-5}, 61488 - 3*48*76 + 7*48, []string{"two matrices", "scale and shift"}, ""},
		{"experts", map[string]any{"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 10, "n_shared_experts": 1, "first_k_dense_replace": 1},
			61488 + 2*(4*48+5*3*48*10-3*48*76), []string{"4 experts of three matrices", "layer 1 on"}, ""},
		{"latent attention", map[string]any{"kv_lora_rank": 20, "qk_nope_head_dim": 10, "qk_rope_head_dim": 6, "v_head_dim": 14}, 2*103*48 + 48 +
			3*(2*48+20+48*6*16+48*26+20*6*24+6*14*48+3*48*76), []string{"read as DeepSeek-V3"}, ""},
		{"an indexer", map[string]any{"kv_lora_rank": 20, "qk_nope_head_dim": 10, "qk_rope_head_dim": 6, "v_head_dim": 14, "index_topk": 64}, 2*103*48 + 48 +
			3*(2*48+20+48*6*16+48*26+20*6*24+6*14*48+3*48*76), nil, "index_topk"},
		{"a tower of its own", map[string]any{"vision_config": map[string]any{"model_type": "nobody_elses_eye"}}, 61488, nil, "nobody_elses_eye"},
	} {
		m := parametersAre(t, c.name, small("nobody_else", c.changes), c.want)
		for _, s := range c.assumed {
			if !noted(m, Assumed, s) {
				t.Errorf("%s: no note of %q: %v", c.name, s, m.Notes)
			}
		}
		if c.leftOut != "" && !noted(m, LeftOut, c.leftOut) {
			t.Errorf("%s: nothing says that %q is left out: %v", c.name, c.leftOut, m.Notes)
		}
	}
}

// TestRefused holds that models whose layers the standard names do not describe are refused, and by what.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]any
		says    string
	}{
		{"like BERT", map[string]any{"type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "architectures": []string{"NobodyElseModel"}}, "an encoder"},
		{"a masked language model", map[string]any{"architectures": []string{"NobodyElseForMaskedLM"}}, "an encoder"},
		{"T5", map[string]any{"is_encoder_decoder": true, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6}, "is_encoder_decoder"},
		{"BART", map[string]any{"is_encoder_decoder": true, "encoder_layers": 6, "decoder_layers": 6, "d_model": 768}, "is_encoder_decoder"},
		{"Mamba", map[string]any{"state_size": 16, "conv_kernel": 4, "expand": 2, "num_attention_heads": nil}, "state_size"},
		{"Mamba of its own repository", map[string]any{"ssm_cfg": map[string]any{"layer": "Mamba2"}, "d_model": 768, "n_layer": 24, "hidden_size": nil}, "ssm_cfg"},
		{"Jamba", map[string]any{"mamba_d_state": 16, "attn_layer_period": 8}, "mamba_d_state"},
		{"Qwen3-Next", map[string]any{"linear_num_value_heads": 32, "linear_conv_kernel_dim": 4}, "linear_num_value_heads"},
		{"RecurrentGemma", map[string]any{"lru_width": 2560, "block_types": []string{"recurrent", "attention"}}, "lru_width"},
		{"RWKV", map[string]any{"attention_hidden_size": 2048}, "attention_hidden_size"},
		{"layers of other kinds", map[string]any{"layer_types": []string{"conv", "full_attention", "conv"}}, "layer_types"},
	} {
		_, err := readFields(t, small("nobody_else", c.changes))
		if !errors.Is(err, ErrUnread) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one that names %s", c.name, err, c.says)
		}
	}
	// Sizes under other names than the standard ones are not guessed, and what transformers knows to be another model is not supported as one.
	sizes := map[string]any{"model_type": "nobody_else", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432}
	if _, err := readFields(t, sizes); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "hidden_size") {
		t.Errorf("other names: %v", err)
	}
	sizes["model_type"] = "rwkv"
	if _, err := readFields(t, sizes); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "model_type rwkv is not supported") {
		t.Errorf("RWKV: %v", err)
	}
	// What is not true is no reason.
	if _, err := readFields(t, small("llama", map[string]any{"is_encoder_decoder": false})); err != nil {
		t.Error(err)
	}
}
