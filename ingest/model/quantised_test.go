package model

import (
	"slices"
	"testing"
)

// bitsOf returns the bits of each component of a quantised model; those that are stored as the precision says are left out.
func bitsOf(m *Model) map[string]float64 {
	bits := map[string]float64{}
	for _, l := range m.Layers {
		if l.Bits > 0 {
			bits[l.Component] = l.Bits
		}
	}
	return bits
}

func TestQuantisedWeights(t *testing.T) {
	method := func(fields map[string]any) map[string]any { return map[string]any{"quantization_config": fields} }
	const block, mx = 8 + 32./(128*128), 4.25
	attention := []string{"q_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"}
	for _, c := range []struct {
		family  string
		changes map[string]any
		bits    float64
		which   []string
		kind    NoteKind // of the note that says so
		says    string
	}{
		{"llama", map[string]any{}, 0, nil, "", ""},
		{"llama", map[string]any{"quantization_config": nil}, 0, nil, "", ""},
		{"gpt_oss", method(map[string]any{"quant_method": "mxfp4", "modules_to_not_convert": []string{"lm_head"}}), mx, []string{"experts.gate_up_proj", "experts.down_proj"}, Assumed, "mxfp4"},
		{"deepseek_v2", method(map[string]any{"quant_method": "fp8", "weight_block_size": []int{128, 128}}), block,
			append(attention, "experts.gate_up_proj", "experts.down_proj", "shared_experts.gate_proj", "shared_experts.up_proj", "shared_experts.down_proj"), Assumed, "fp8"},
		{"qwen2", method(map[string]any{"quant_method": "fp8"}), 8, []string{"q_proj", "k_proj", "v_proj", "o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}, Assumed, "fp8"},
		{"qwen2", method(map[string]any{"quant_method": "fp8", "modules_to_not_convert": []string{"lm_head", "model.layers.0.mlp"}}), 8,
			[]string{"q_proj", "k_proj", "v_proj", "o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}, Assumed, "only partly applied"},
		{"llama", method(map[string]any{"quant_method": "awq", "bits": 4}), 0, nil, Unknown, "awq"},
		{"llama", method(map[string]any{"load_in_4bit": true}), 0, nil, Unknown, "quant_method"},
	} {
		fields := small(c.family, c.changes)
		if c.family == "deepseek_v2" {
			fields["q_lora_rank"] = 0
		}
		m, err := readFields(t, fields)
		if err != nil {
			t.Errorf("%s %v: %v", c.family, c.changes, err)
			continue
		}
		got := bitsOf(m)
		if len(got) != len(c.which) {
			t.Errorf("%s %v: %v, want %v", c.family, c.changes, got, c.which)
		}
		for _, name := range c.which {
			if got[name] != c.bits {
				t.Errorf("%s %v: %s takes %v bits, want %v", c.family, c.changes, name, got[name], c.bits)
			}
		}
		if c.kind != "" && !noted(m, c.kind, c.says) {
			t.Errorf("%s %v: notes %v do not say %q", c.family, c.changes, m.Notes, c.says)
		}
		if c.kind != Unknown && slices.ContainsFunc(m.Notes, func(n Note) bool { return n.Kind == Unknown }) {
			t.Errorf("%s %v: notes %v", c.family, c.changes, m.Notes)
		}
	}
	for _, q := range []any{"fp8", 8, []string{"fp8"}} {
		if _, err := readFields(t, small("llama", map[string]any{"quantization_config": q})); err == nil {
			t.Errorf("quantization_config %v was read", q)
		}
	}
}

// TestPrecision holds the names of precisions, old and new, and where they may stand.
func TestPrecision(t *testing.T) {
	for _, c := range []struct {
		changes map[string]any
		want    string
	}{
		{map[string]any{"torch_dtype": "bfloat16"}, "bf16"},
		{map[string]any{"dtype": "float16"}, "fp16"},
		{map[string]any{"dtype": "float32", "torch_dtype": "bfloat16"}, "fp32"},
		{map[string]any{"torch_dtype": "torch.float8_e4m3fn"}, "fp8"},
		{map[string]any{"torch_dtype": "auto"}, ""},
		{null(map[string]any{}, "torch_dtype"), ""},
		{map[string]any{}, ""},
		{map[string]any{"torch_dtype": "posit8"}, ""},
		{map[string]any{"torch_dtype": 16}, ""},
	} {
		m, err := readFields(t, small("llama", c.changes))
		if err != nil || m.DType != c.want {
			t.Errorf("%v: %v, %v, want %q", c.changes, m, err, c.want)
		}
		if c.changes["torch_dtype"] == "posit8" && !noted(m, Assumed, "posit8") {
			t.Errorf("a precision that is not known: notes %v", m.Notes)
		}
	}
	part := map[string]any{"model_type": "nobody_else", "text_config": small("llama", map[string]any{"torch_dtype": "float16"})}
	if m, err := readFields(t, part); err != nil || m.DType != "fp16" {
		t.Errorf("in text_config: %v, %v", m, err)
	}
}
