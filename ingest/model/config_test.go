package model

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
)

// sizes are small values of all fields that a family may require.
var sizes = map[string]any{
	"hidden_size": 48, "vocab_size": 103, "num_hidden_layers": 3, "num_attention_heads": 6, "intermediate_size": 76,
	"n_embd": 48, "n_layer": 3, "n_head": 6, "num_layers": 3,
	"num_local_experts": 5, "num_experts": 7, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 20, "shared_expert_intermediate_size": 44,
	"d_model": 48, "n_layers": 3, "n_heads": 6, "ffn_config": map[string]any{"ffn_hidden_size": 20}, "max_position_embeddings": 64,
	"top_k_experts": 2, "moe_num_experts": 7, "moe_k": 2, "block_ff_dim": 76, "shared_intermediate_size": 28, "intermediate_size_mlp": 92, "moe_shared_expert_intermediate_size": 26, "layers_block_type": nil, "num_heads": 8, "head_dim": 12, "state_size": 6,
	"mamba_d_state": 6, "mamba_n_heads": 8, "mamba_num_heads": 8, "mamba_head_dim": 12, "ssm_state_size": 6, "hybrid_override_pattern": "M*M",
	"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 10, "linear_value_head_dim": 14,
	"index_n_heads": 5, "index_head_dim": 8, "index_topk": 32, "kv_lora_rank": 20, "qk_nope_head_dim": 10, "qk_rope_head_dim": 6, "v_head_dim": 14,
	"d_kv": 10, "d_ff": 76, "max_source_positions": 37, "max_target_positions": 64, "num_mel_bins": 10,
	"encoder_layers": 3, "encoder_attention_heads": 6, "encoder_ffn_dim": 76, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 60,
}

// required are the fields without which a family cannot be read.
var required = map[string]string{
	"gpt2":         "n_embd vocab_size n_layer n_head",
	"llama":        dense,
	"mistral":      dense,
	"qwen2":        dense,
	"qwen3":        dense,
	"gemma":        dense,
	"gemma2":       dense,
	"gemma3_text":  dense,
	"gemma3n_text": dense,
	"gemma4_text":  dense,
	"phi3":         dense,
	"mixtral":      dense + " num_local_experts num_experts_per_tok",
	"gpt_oss":      dense + " num_local_experts num_experts_per_tok",
	"qwen2_moe":    layered + " num_experts num_experts_per_tok moe_intermediate_size shared_expert_intermediate_size",
	"qwen3_moe":    layered + " num_experts num_experts_per_tok moe_intermediate_size",
	"deepseek_v2":  layered + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim n_routed_experts num_experts_per_tok moe_intermediate_size",
	"deepseek_v3":  dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim n_routed_experts num_experts_per_tok moe_intermediate_size",
	"nobody_else":  dense,

	"deepseek":  layered + " n_routed_experts num_experts_per_tok moe_intermediate_size",
	"internlm2": dense, "minicpm": dense, "orion": dense, "qwen": dense,

	"apertus": dense, "arcee": dense, "bitnet": dense, "cohere": dense, "cohere2": dense, "doge": dense, "ernie4_5": dense, "exaone4": dense, "glm": dense, "glm4": dense,
	"gpt_neox": dense, "hunyuan_v1_dense": dense, "jais2": dense, "nemotron": dense, "olmo": dense, "olmo2": dense, "persimmon": dense, "phi": dense,
	"seed_oss": dense, "smollm3": dense, "stablelm": dense, "starcoder2": dense, "vaultgemma": dense, "jamba": dense,
	"bloom":          "hidden_size vocab_size n_layer n_head",
	"gpt_neo":        "hidden_size vocab_size num_layers num_heads",
	"mpt":            "d_model vocab_size n_layers n_heads",
	"exaone_moe":     dense + " num_experts num_experts_per_tok moe_intermediate_size",
	"glm4_moe_lite":  dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim n_routed_experts num_experts_per_tok moe_intermediate_size",
	"hunyuan_v1_moe": dense + " num_experts",
	"mimo_v2_flash":  dense + " n_routed_experts num_experts_per_tok moe_intermediate_size",
	"codegen":        "n_embd vocab_size n_layer n_head",
	"gptj":           "n_embd vocab_size n_layer n_head",
	"gpt_bigcode":    "n_embd vocab_size n_layer n_head",
	"falcon":         layered,
	"opt":            layered + " max_position_embeddings",
	"minicpm3":       dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim",
	"youtu":          dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim",

	"dbrx":             "d_model vocab_size n_layers n_heads ffn_config",
	"deepseek_v32":     dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim n_routed_experts num_experts_per_tok moe_intermediate_size index_n_heads index_head_dim index_topk",
	"glm_moe_dsa":      dense + " kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim n_routed_experts num_experts_per_tok moe_intermediate_size index_n_heads index_head_dim index_topk",
	"dots1":            layered + " n_routed_experts num_experts_per_tok moe_intermediate_size",
	"glm4_moe":         dense + " n_routed_experts num_experts_per_tok moe_intermediate_size",
	"solar_open":       layered + " n_routed_experts num_experts_per_tok moe_intermediate_size",
	"ernie4_5_moe":     dense + " moe_num_experts moe_k moe_intermediate_size",
	"hy_v3":            dense + " num_experts num_experts_per_tok moe_intermediate_size",
	"llama4_text":      dense + " num_local_experts num_experts_per_tok",
	"olmoe":            dense + " num_experts num_experts_per_tok",
	"granitemoeshared": dense + " num_local_experts num_experts_per_tok",
	"phimoe":           dense + " num_local_experts num_experts_per_tok",
	"minimax":          dense + " num_local_experts num_experts_per_tok",
	"minimax_m2":       dense + " num_local_experts num_experts_per_tok",

	"mamba":            "hidden_size vocab_size num_hidden_layers state_size",
	"mamba2":           "hidden_size vocab_size num_hidden_layers state_size num_heads head_dim",
	"bamba":            dense + " mamba_d_state mamba_n_heads",
	"falcon_h1":        dense + " mamba_d_state mamba_n_heads",
	"granitemoehybrid": dense + " num_experts_per_tok shared_intermediate_size mamba_d_state mamba_n_heads",
	"nemotron_h":       "hidden_size vocab_size num_attention_heads hybrid_override_pattern mamba_num_heads mamba_head_dim ssm_state_size",
	"qwen3_next":       layered + " num_experts num_experts_per_tok moe_intermediate_size shared_expert_intermediate_size " + delta,
	"qwen3_5_text":     dense + " " + delta,
	"qwen3_5_moe_text": layered + " num_experts num_experts_per_tok moe_intermediate_size shared_expert_intermediate_size " + delta,
	"lfm2":             layered + " block_ff_dim",
	"t5":               seq2seq, "mt5": seq2seq, "umt5": seq2seq,
	"whisper": "d_model encoder_layers encoder_attention_heads encoder_ffn_dim decoder_layers decoder_attention_heads decoder_ffn_dim vocab_size max_source_positions max_target_positions num_mel_bins",

	"lfm2_moe": dense + " num_experts num_experts_per_tok moe_intermediate_size",
}

const (
	layered = "hidden_size vocab_size num_hidden_layers num_attention_heads"
	dense   = layered + " intermediate_size"
	seq2seq = "d_model d_kv d_ff num_layers num_heads vocab_size"
	delta   = "linear_num_key_heads linear_num_value_heads linear_key_head_dim linear_value_head_dim"
)

// readFamilies are all families, by model_type.
func readFamilies() []string {
	return append(slices.Collect(maps.Keys(families)), slices.Collect(maps.Keys(encoderDecoders))...)
}

// small is a configuration of a family with what it requires, changed by further fields; null takes a field out.
func small(family string, changes ...map[string]any) map[string]any {
	fields := map[string]any{"model_type": family, "num_key_value_heads": 2}
	switch family {
	case "deepseek", "deepseek_v2", "deepseek_v3":
		fields["num_key_value_heads"] = 6
	case "gemma3n_text": // by default more layers share than small has
		fields["num_kv_shared_layers"] = 0
	case "gpt_neo": // by default 24 layers
		fields["attention_types"] = []any{[]any{[]string{"global"}, 3}}
	case "mimo_v2_flash": // layers with a window have twice as many
		fields["num_key_value_heads"] = 3
	}
	for _, name := range strings.Fields(required[family]) {
		fields[name] = sizes[name]
	}
	for _, c := range changes {
		for name, v := range c {
			fields[name] = v
			if v == nil {
				delete(fields, name)
			}
		}
	}
	return fields
}

// readFields reads fields as a file has them.
func readFields(t *testing.T, fields map[string]any) (*Model, error) {
	t.Helper()
	return Read(strings.NewReader(string(marshal(t, fields))))
}

func marshal(t *testing.T, fields map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// names returns which of a list of fields an error names, as whole words.
func names(err error, fields []string) (named []string) {
	words := strings.FieldsFunc(err.Error(), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	for _, f := range fields {
		if slices.Contains(words, f) {
			named = append(named, f)
		}
	}
	return named
}

func TestRequiredFields(t *testing.T) {
	for family, list := range required {
		fields := strings.Fields(list)
		if !slices.Contains(readFamilies(), family) && family != "nobody_else" {
			t.Errorf("%s is no family", family)
		}
		if _, err := readFields(t, small(family)); err != nil {
			t.Errorf("%s: %v", family, err)
		}
		for _, name := range fields {
			for how, config := range map[string]map[string]any{"not there": small(family, map[string]any{name: nil}), "null": null(small(family), name)} {
				_, err := readFields(t, config)
				if how == "null" && (name == "kv_lora_rank" || name == "n_routed_experts") { // says: no latent, no experts
					continue
				}
				if !errors.Is(err, ErrMissing) || !slices.Equal(names(err, fields), []string{name}) {
					t.Errorf("%s, %s %s: %v", family, name, how, err)
				}
			}
		}
		_, err := readFields(t, map[string]any{"model_type": family})
		want := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "num_experts_per_tok" && family == "nobody_else" })
		if got := names(err, fields); !errors.Is(err, ErrMissing) || !slices.Equal(got, want) {
			t.Errorf("%s without fields: %v names %v, want %v", family, err, got, want)
		}
	}
	for _, family := range readFamilies() {
		if required[family] == "" {
			t.Errorf("required fields of %s are not tested", family)
		}
	}
}

// null sets a field to null.
func null(fields map[string]any, name string) map[string]any {
	fields[name] = json.RawMessage("null")
	return fields
}

func TestWrongFields(t *testing.T) {
	for family, list := range required {
		fields := strings.Fields(list)
		for _, name := range fields {
			if name == "ffn_config" { // an object
				continue
			}
			for _, v := range []any{"48", 1.5, -1, true, []int{48}, map[string]any{}, int64(1)<<31 + 1, 1e300} {
				_, err := readFields(t, small(family, map[string]any{name: v}))
				if !errors.Is(err, ErrWrong) || !slices.Contains(names(err, fields), name) {
					t.Errorf("%s, %s = %v: %v", family, name, v, err)
				}
			}
		}
	}
	// All that is wrong is told at once; what is missing before that.
	_, err := readFields(t, small("llama", map[string]any{"hidden_size": "wide", "vocab_size": -3, "attention_bias": 1}))
	if got := names(err, []string{"hidden_size", "vocab_size", "attention_bias"}); !errors.Is(err, ErrWrong) || len(got) != 3 {
		t.Errorf("three wrong fields: %v", err)
	}
	if _, err := readFields(t, small("llama", map[string]any{"hidden_size": "wide", "vocab_size": nil})); !errors.Is(err, ErrMissing) {
		t.Errorf("a wrong and a missing field: %v", err)
	}
}

func TestImpossibleSizes(t *testing.T) {
	for _, c := range []struct {
		family  string
		changes map[string]any
		says    string
	}{
		{"llama", map[string]any{"hidden_size": 50}, "num_attention_heads"},
		{"deepseek_v2", map[string]any{"hidden_size": 50, "use_mla": false}, "num_attention_heads"},
		{"nobody_else", map[string]any{"hidden_size": 50}, "num_attention_heads"},
		{"gpt2", map[string]any{"n_head": 5}, "n_embd"},
		{"llama", map[string]any{"num_key_value_heads": 4}, "num_key_value_heads"},
		{"mistral", map[string]any{"num_key_value_heads": 0}, "num_key_value_heads"},
		{"qwen3", map[string]any{"head_dim": 0}, "head_dim"},
		{"qwen2_moe", map[string]any{"decoder_sparse_step": 0}, "decoder_sparse_step"},
		{"deepseek_v2", map[string]any{"moe_layer_freq": 0, "intermediate_size": 9}, "moe_layer_freq"},
		{"llama", map[string]any{"num_hidden_layers": 1_000_000_000}, "num_hidden_layers"},
		{"qwen3_moe", map[string]any{"num_hidden_layers": 1_000_000_000, "mlp_only_layers": []int{999_999_999}}, "num_hidden_layers"},
		{"deepseek_v3", map[string]any{"num_hidden_layers": 2_000_000_000}, "num_hidden_layers"},
		{"llama", map[string]any{"hidden_size": 2_000_000_000, "intermediate_size": 2_000_000_000, "num_attention_heads": 1_000_000_000}, "multiply"},
		{"mixtral", map[string]any{"num_experts_per_tok": 6}, "num_experts_per_tok"},
		{"mixtral", map[string]any{"hidden_size": 1 << 31, "intermediate_size": 1 << 31, "num_attention_heads": 2, "num_local_experts": 1 << 31}, "multiply"},
		{"mpt", map[string]any{"expansion_ratio": 3}, "expansion_ratio"},
		{"hunyuan_v1_moe", map[string]any{"moe_intermediate_size": []int{76, 76, 40}}, "moe_intermediate_size"},
		{"hunyuan_v1_moe", map[string]any{"moe_topk": []int{1, 1, 2}}, "moe_topk"},
		{"hunyuan_v1_moe", map[string]any{"num_shared_expert": 2}, "num_shared_expert"},
		{"mimo_v2_flash", map[string]any{"swa_head_dim": 9}, "swa_head_dim"},
		{"mimo_v2_flash", map[string]any{"n_shared_experts": 1}, "n_shared_experts"},
		{"mimo_v2_flash", map[string]any{"hybrid_layer_pattern": []int{0, 1}}, "hybrid_layer_pattern"},
		{"gpt_neo", map[string]any{"num_layers": 2_000_000_000, "attention_types": []any{[]any{[]string{}, 2_000_000_000}}}, "attention_types"},
		{"gpt_neo", map[string]any{"num_layers": 2_000_000_000, "attention_types": []any{[]any{[]string{"local"}, 2_000_000_000}}}, "attention_types"},
		{"gpt_neo", map[string]any{"attention_types": []any{[]any{[]string{"near"}, 3}}}, "attention_types"},
		{"qwen2", map[string]any{"layer_types": []string{"sliding_attention", "ring_attention", "full_attention"}}, "layer_types"},
	} {
		_, err := readFields(t, small(c.family, c.changes)) // a loop over such sizes would not end
		if !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %v: %v, want %s", c.family, c.changes, err, c.says)
		}
	}
}

func TestNoConfiguration(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "7", `"llama"`, "{", `{"a": 1} {}`, `{"a": 1}x`, "{'a': 1}", strings.Repeat(`{"a":`, 20_000), "\x00", strings.Repeat("[", 100_000)} {
		if m, err := Read(strings.NewReader(text)); err == nil || !errors.Is(err, ErrNoConfig) && !errors.Is(err, ErrMissing) {
			t.Errorf("%.20q: %v, %v", text, m, err)
		}
	}
	long := `{"x": "` + strings.Repeat("y", MaxBytes) + `"}`
	if _, err := Read(strings.NewReader(long)); !errors.Is(err, ErrNoConfig) || !strings.Contains(err.Error(), "16 MB") {
		t.Errorf("%d bytes: %v", len(long), err)
	}
}

// TestOptionalFields holds that whatever is not required may be missing: other fields of the fixtures are left out one by one.
func TestOptionalFields(t *testing.T) {
	all := slices.DeleteFunc(fixtures(t), func(f fixture) bool { return f.Form != "saved" || f.Name == "gemma3-pictures" })
	for _, f := range sample.Of(all, 3) {
		fields, err := decode(f.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			kept := fields[name]
			delete(fields, name)
			_, err := FromFields(fields)
			fields[name] = kept
			if _, size := sizes[name]; errors.Is(err, ErrMissing) && !size {
				t.Errorf("%s without %s: %v", f.Name, name, err)
			}
		}
	}
}
