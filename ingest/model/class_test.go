package model

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// parametersAre holds a configuration to the parameters that transformers 5.17 makes of it.
func parametersAre(t *testing.T, what string, fields map[string]any, want int64) *Model {
	t.Helper()
	m, err := readFields(t, fields)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return &Model{}
	}
	if got := parametersOf(m.Layers); got != want {
		t.Errorf("%s: %d parameters, want %d", what, got, want)
	}
	return m
}

// noted reports whether a model has a note of the kind that says something.
func noted(m *Model, kind NoteKind, says string) bool {
	return slices.ContainsFunc(m.Notes, func(n Note) bool { return n.Kind == kind && strings.Contains(n.Text, says) })
}

// TestSharedTables holds whose word it is whether head and embedding share a table, where a model for pictures and text has a
// tie_word_embeddings, or none, in two places.
func TestSharedTables(t *testing.T) {
	text := map[string]any{"hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "vocab_size": 50}
	clip := map[string]any{"model_type": "clip_vision_model", "hidden_size": 16, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28, "patch_size": 7}
	siglip := maps.Clone(clip)
	maps.Copy(siglip, map[string]any{"model_type": "siglip_vision_model", "vision_use_head": false})
	for _, c := range []struct {
		family, text string
		whole, part  string // yes, no, or empty
		want         int64
	}{
		{"llava", "llama", "", "", 12980},
		{"llava", "llama", "yes", "", 11780},
		{"llava", "llama", "", "yes", 11780},
		{"llava", "llama", "no", "yes", 11780},
		{"llava", "gemma", "", "", 11780},
		{"llava_next", "llama", "", "", 13004},
		{"llava_next", "llama", "yes", "", 11804},
		{"llava_next", "llama", "", "yes", 13004},
		{"llava_next", "gemma", "", "", 13004},
		{"paligemma", "gemma", "", "", 11132},
		{"paligemma", "gemma", "no", "", 12332},
		{"paligemma", "gemma2", "", "no", 11228},
		{"gemma3", "gemma3_text", "", "", 11252},
		{"gemma3", "gemma3_text", "no", "", 12452},
		{"gemma3", "gemma3_text", "", "no", 11252},
	} {
		tower, part := clip, maps.Clone(text)
		if !strings.HasPrefix(c.family, "llava") {
			tower = siglip
		}
		part["model_type"] = c.text
		fields := map[string]any{"model_type": c.family, "vision_config": tower, "text_config": part, "projection_dim": 24, "mm_tokens_per_image": 4}
		if c.whole != "" {
			fields["tie_word_embeddings"] = c.whole == "yes"
		}
		if c.part != "" {
			part["tie_word_embeddings"] = c.part == "yes"
		}
		m := parametersAre(t, strings.Join([]string{c.family, c.text, c.whole, c.part}, " "), fields, c.want)
		if doubt := c.whole == "" && c.part == "no"; noted(m, Assumed, "share a table") != doubt {
			t.Errorf("%s %s %q %q: notes %v", c.family, c.text, c.whole, c.part, m.Notes)
		}
	}
	for _, family := range []string{"llava", "gemma3"} {
		_, err := readFields(t, map[string]any{"model_type": family, "vision_config": siglip})
		if err == nil || !strings.Contains(err.Error(), "text_config") {
			t.Errorf("%s without text_config: %v", family, err)
		}
	}
}

// TestClassWithoutType holds that the class of a configuration stands for its model_type, defaults included: Gemma's head is its
// embedding.
func TestClassWithoutType(t *testing.T) {
	for family, architecture := range map[string]string{"gemma2": "Gemma2ForCausalLM", "gpt2": "GPT2LMHeadModel", "qwen3_moe": "Qwen3MoeForCausalLM"} {
		with, err := readFields(t, small(family, map[string]any{"architectures": []string{architecture}}))
		if err != nil {
			t.Fatal(err)
		}
		parametersAre(t, architecture, small(family, map[string]any{"architectures": []string{architecture}, "model_type": nil}), parametersOf(with.Layers))
	}
}

// TestHeads holds what each class has behind its last norm: parameters as transformers counts them for sizes of small("llama").
func TestHeads(t *testing.T) {
	labels := map[string]string{"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"}
	for _, c := range []struct {
		architecture string
		want         int64
		leftOut      bool
	}{
		{"LlamaForCausalLM", 61488, false},
		{"LlamaModel", 56544, false},
		{"LlamaForSequenceClassification", 56784, false},
		{"LlamaForTokenClassification", 56789, false},
		{"LlamaForQuestionAnswering", 56642, false},
		{"LlamaForSomethingElse", 56544, true},
	} {
		m := parametersAre(t, c.architecture, small("llama", map[string]any{"architectures": []string{c.architecture}, "id2label": labels}), c.want)
		if noted(m, LeftOut, "head") != c.leftOut {
			t.Errorf("%s: notes %v", c.architecture, m.Notes)
		}
	}
	m, err := readFields(t, small("gpt2", map[string]any{"architectures": []string{"GPT2DoubleHeadsModel"}}))
	if err != nil || !noted(m, LeftOut, "second head") || !slices.ContainsFunc(m.Layers, func(l Layer) bool { return l.Scope == Logit }) {
		t.Errorf("GPT2DoubleHeadsModel: %v, %v", m, err)
	}
	if m, err := readFields(t, small("llama")); err != nil || !noted(m, Assumed, "names no architecture") {
		t.Errorf("no architecture: %v, %v", m, err)
	}
}

// TestOtherNames holds names that a class takes in place of others, and defaults of classes whose decoder is another's.
func TestOtherNames(t *testing.T) {
	v3 := map[string]any{"num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 28, "n_routed_experts": nil, "num_local_experts": 8, "num_experts_per_tok": 3,
		"n_shared_experts": 1, "moe_intermediate_size": 22, "first_k_dense_replace": 1}
	parametersAre(t, "num_local_experts of deepseek_v3", small("deepseek_v3", v3), 144112)
	parametersAre(t, "ministral3, heads of 128", small("mistral", map[string]any{"model_type": "ministral3"}), 337968)
	parametersAre(t, "n_ctx is not n_positions", small("gpt2", map[string]any{"n_ctx": 64, "vocab_size": 101, "n_head": 4}), 138912)
}

// TestWindows holds which layers slide: by layer_types, else by the rule of the family.
func TestWindows(t *testing.T) {
	slides := func(i ...string) []string { return i }
	const S, F = "sliding_attention", "full_attention"
	for _, c := range []struct {
		family  string
		changes map[string]any
		want    string // layers with a window; "" for none
	}{
		{"mistral", map[string]any{"sliding_window": 8}, "layers 0-2"},
		{"mistral", map[string]any{"sliding_window": 0}, ""},
		{"llama", map[string]any{"sliding_window": 8}, "layers 0-2"},
		{"qwen2", map[string]any{"sliding_window": 8}, ""},
		{"qwen2", map[string]any{"sliding_window": 8, "use_sliding_window": true, "max_window_layers": 1}, "layers 1-2"},
		{"qwen3", map[string]any{"sliding_window": 8, "use_sliding_window": true, "layer_types": slides(S, F, S)}, "layers 0,2"},
		{"qwen2_moe", map[string]any{"sliding_window": 8, "use_sliding_window": true, "max_window_layers": 2}, "layer 0"},
		{"gemma2", map[string]any{"sliding_window": 8}, "layers 0,2"},
		{"gemma2", map[string]any{"sliding_window": 8, "layer_types": slides(F, F, S)}, "layer 2"},
		{"gemma3_text", map[string]any{"sliding_window": 8, "sliding_window_pattern": 2}, "layers 0,2"},
		{"gemma3_text", map[string]any{"sliding_window": 8, "_sliding_window_pattern": 2}, "layers 0-2"}, // transformers does not read it
		{"gpt_oss", map[string]any{"sliding_window": 8, "layer_types": slides(F, F, F)}, ""},
	} {
		m, err := readFields(t, small(c.family, c.changes))
		if err != nil {
			t.Errorf("%s %v: %v", c.family, c.changes, err)
			continue
		}
		got := ""
		for _, l := range m.Layers {
			if l.Window == 8 {
				got += l.Group
			} else if l.Window != 0 {
				t.Errorf("%s %v: a window of %d", c.family, c.changes, l.Window)
			}
		}
		if got != c.want {
			t.Errorf("%s %v: windows in %q, want %q", c.family, c.changes, got, c.want)
		}
	}
}

// TestDeepSeekForms holds the forms of attention and the places of experts in DeepSeek's configurations.
func TestDeepSeekForms(t *testing.T) {
	layers := func(changes map[string]any) *Model {
		t.Helper()
		m, err := readFields(t, small("deepseek_v2", map[string]any{"intermediate_size": 76}, changes))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		changes map[string]any
		latent  int64
		experts string // groups of layers with experts
		note    string
	}{
		{map[string]any{}, 20, "layers 0-2", ""},
		{map[string]any{"use_mla": true}, 20, "layers 0-2", ""},
		{map[string]any{"use_mla": false, "kv_lora_rank": nil, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0}, 0, "layers 0-2", ""},
		{null(map[string]any{}, "kv_lora_rank"), 0, "layers 0-2", ""},
		{map[string]any{"first_k_dense_replace": 1}, 20, "layers 1-2", ""},
		{map[string]any{"moe_layer_freq": 2}, 20, "layers 0,2", "moe_layer_freq"},
		{map[string]any{"first_k_dense_replace": 3}, 20, "", ""},
		{map[string]any{"n_routed_experts": 0}, 20, "", ""},
		{map[string]any{"num_nextn_predict_layers": 1}, 20, "layers 0-2", "num_nextn_predict_layers"},
	} {
		m := layers(c.changes)
		got := ""
		for _, l := range m.Layers {
			if l.Kind == Attention && l.Latent != c.latent {
				t.Errorf("%v: a latent of %d, want %d", c.changes, l.Latent, c.latent)
			}
			if l.Component == "experts.down_proj" {
				got += l.Group
			}
		}
		if got != c.experts {
			t.Errorf("%v: experts in %q, want %q", c.changes, got, c.experts)
		}
		if c.note != "" && !noted(m, Assumed, c.note) {
			t.Errorf("%v: notes %v do not tell of %s", c.changes, m.Notes, c.note)
		}
	}
}
