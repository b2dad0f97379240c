package model

import (
	"errors"
	"strings"
	"testing"
)

// groups are the layers that have a component.
func groupsWith(m *Model, component string) string {
	var out []string
	for _, l := range m.Layers {
		if l.Component == component {
			out = append(out, l.Group)
		}
	}
	return strings.Join(out, "; ")
}

// TestSharingLayers holds which layers keep keys and values and which attend to another's, where layers of both kinds slide.
func TestSharingLayers(t *testing.T) {
	const S, F = "sliding_attention", "full_attention"
	for _, c := range []struct {
		family  string
		changes map[string]any
		keep    string // groups with k_proj
		share   string
		says    string // of the error
	}{
		{"gemma3n_text", map[string]any{"num_hidden_layers": 6, "num_kv_shared_layers": 2}, "layers 0-3", "", "layer 4"}, // the only one that sees all
		{"gemma3n_text", map[string]any{"num_hidden_layers": 7, "num_kv_shared_layers": 2}, "layers 0-3; layer 4", "layers 5-6", ""},
		{"gemma3n_text", map[string]any{"num_kv_shared_layers": 1, "layer_types": []string{S, F, S}}, "layer 0; layer 1", "layer 2", ""},
		{"gemma3n_text", map[string]any{"num_kv_shared_layers": 3}, "", "", "num_kv_shared_layers"},
		{"gemma3n_text", map[string]any{"intermediate_size": []int{20, 30}}, "", "", "intermediate_size"},
		{"gemma3n_text", map[string]any{"intermediate_size": []int{20, 30, 20}}, "layers 0,2; layer 1", "", ""},
		{"gemma3n_text", map[string]any{"altup_active_idx": 4}, "", "", "altup_active_idx"},
		{"gemma4_text", map[string]any{"layer_types": []string{F, S, S}, "num_kv_shared_layers": 1}, "layer 0; layer 1", "layer 2", ""}, // the last one sees all
		{"gemma4_text", map[string]any{"layer_types": []string{S, S, S}, "num_kv_shared_layers": 1}, "", "", "layer 2"},
		{"gemma4_text", map[string]any{"per_layer_config": map[string]any{"1": map[string]any{"head_dim": 20, "num_key_value_heads": 3}}}, "layer 0; layer 1; layer 2", "", ""},
		{"gemma4_text", map[string]any{"per_layer_config": map[string]any{"3": map[string]any{"head_dim": 20}}}, "", "", "per_layer_config"},
		{"gemma4_text", map[string]any{"per_layer_config": map[string]any{"1": map[string]any{"num_key_value_heads": 4}}}, "", "", "per_layer_config"},
		{"gemma4_text", map[string]any{"per_layer_config": map[string]any{"1": map[string]any{"intermediate_size": 4}}}, "", "", "per_layer_config.1.intermediate_size"},
		{"gemma4_text", map[string]any{"use_bidirectional_attention": "all"}, "", "", "use_bidirectional_attention"},
		{"gemma4_text", map[string]any{"use_bidirectional_attention": "vision"}, "layers 0-1; layer 2", "", ""},
	} {
		m, err := readFields(t, small(c.family, c.changes))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %v: %v, want an error that names %s", c.family, c.changes, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", c.family, c.changes, err)
		} else if keep, share := groupsWith(m, "k_proj"), groupsWith(m, sharedAttention); keep != c.keep || share != c.share {
			t.Errorf("%s %v: %q keep, want %q; %q share, want %q", c.family, c.changes, keep, c.keep, share, c.share)
		}
	}
}

// TestTowersOfGemma3n holds that a whole Gemma 3n says that its towers are left out, also those that only its class knows of.
func TestTowersOfGemma3n(t *testing.T) {
	text := small("gemma3n_text")
	delete(text, "model_type")
	fields := map[string]any{"model_type": "gemma3n", "architectures": []string{"Gemma3nForConditionalGeneration"}, "text_config": text}
	m, err := readFields(t, fields)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := readFields(t, small("gemma3n_text", map[string]any{"tie_word_embeddings": true}))
	if err != nil || parametersOf(m.Layers) != parametersOf(alone.Layers) {
		t.Errorf("%d parameters, alone %d, %v", parametersOf(m.Layers), parametersOf(alone.Layers), err)
	}
	if len(m.Warnings()) != 1 || !noted(m, LeftOut, "other than its decoder") {
		t.Errorf("neither tower: notes %v", m.Notes)
	}
	for _, object := range []string{"vision_config", "audio_config"} {
		fields[object] = map[string]any{"model_type": "gemma3n_" + strings.TrimSuffix(object, "_config")}
		if m, err := readFields(t, fields); err != nil || len(m.Warnings()) != 2 || !noted(m, LeftOut, "timm") || !noted(m, LeftOut, "audio_config") {
			t.Errorf("with %s: %v; notes %v", object, err, m.Notes)
		}
	}
	if _, err := readFields(t, map[string]any{"model_type": "gemma3n", "vision_config": map[string]any{}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("without text_config: %v", err)
	}
}

// TestIndexers holds which layers have an indexer, that attention is to what it chooses, and that it keeps one key of each token.
func TestIndexers(t *testing.T) {
	for _, c := range []struct {
		changes map[string]any
		full    string
		says    string
	}{
		{map[string]any{}, "layers 0-4", ""},
		{map[string]any{"indexer_types": []string{"full", "shared", "shared", "full", "shared"}}, "layers 0,3", ""},
		{map[string]any{"index_topk_pattern": "FFSFS"}, "layers 0-1,3", ""},
		{map[string]any{"index_topk_freq": 3}, "layers 0-1,4", ""}, // as transformers has it: 0, 1, then every third from 1 on
		{map[string]any{"index_topk_freq": 2, "index_skip_topk_offset": 3}, "layers 0-2,4", ""},
		{map[string]any{"indexer_types": []string{"shared", "full", "full", "full", "full"}}, "", "indexer_types"},
		{map[string]any{"index_topk_pattern": "FSX"}, "", "index_topk_pattern"},
		{map[string]any{"index_topk_pattern": "FS"}, "", "index_topk_pattern"},
		{map[string]any{"mlp_bias": true}, "", "mlp_bias"},
		{map[string]any{"q_lora_rank": 0}, "", "q_lora_rank"},
	} {
		m, err := readFields(t, small("glm_moe_dsa", map[string]any{"num_hidden_layers": 5, "first_k_dense_replace": 0}, c.changes))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v, want an error that names %s", c.changes, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.changes, err)
			continue
		}
		if got := groupsWith(m, "indexer.scores"); got != c.full {
			t.Errorf("%v: indexers in %q, want %q", c.changes, got, c.full)
		}
		for _, l := range m.Layers {
			if l.Component == "attention" && l.Window != 32 || l.Component == "indexer.scores" && (l.Window != 0 || l.KVHeads != 1) || l.Component == "indexer.sum" && l.KVHeads != 0 {
				t.Errorf("%v: %+v", c.changes, l)
			}
		}
	}
}
