package model

import (
	"errors"
	"strings"
	"testing"
)

// TestEncoderDecoders holds what a configuration says of encoder and decoder beyond the sizes that PyTorch's counts are of (TestParameters).
func TestEncoderDecoders(t *testing.T) {
	const layer = 4*48*60 + 2*48*76 + 48 // T5's attention and MLP, with one of their norms
	const whole = 103*48 + 2*(32*6+48) + 3*(layer+48) + 3*(layer+4*48*60+2*48)
	for name, c := range map[string]struct {
		family  string
		changes map[string]any
		params  int64  // 0: refused
		says    string // by a note, or the error
	}{
		"tied":                              {"t5", nil, whole, "decoder begins with one token"},
		"a head of its own":                 {"t5", map[string]any{"tie_word_embeddings": false}, whole + 103*48, ""},
		"a checkpoint that may hold both":   {"t5", map[string]any{"tie_word_embeddings": true, "scale_decoder_outputs": false}, whole, "4944 more parameters"},
		"the name of its time":              {"t5", map[string]any{"architectures": []string{"T5WithLMHeadModel"}, "num_decoder_layers": nil}, whole, ""},
		"half precision":                    {"t5", map[string]any{"dtype": "float16"}, whole, ""},
		"no head":                           {"t5", map[string]any{"architectures": []string{"T5Model"}, "tie_word_embeddings": false}, whole, ""},
		"an encoder alone":                  {"t5", map[string]any{"architectures": []string{"T5EncoderModel"}}, 0, "architectures"},
		"no decoder":                        {"t5", map[string]any{"is_encoder_decoder": false}, 0, "is_encoder_decoder"},
		"another head":                      {"t5", map[string]any{"architectures": []string{"T5ForSequenceClassification"}}, 0, "architectures"},
		"a decoder alone":                   {"whisper", map[string]any{"architectures": []string{"WhisperForCausalLM"}}, 0, "architectures"},
		"a gate or none":                    {"t5", map[string]any{"feed_forward_proj": "relu", "is_gated_act": true}, 0, "feed_forward_proj"},
		"an activation of two":              {"t5", map[string]any{"feed_forward_proj": "glu-relu"}, 0, "feed_forward_proj"},
		"no layers":                         {"t5", map[string]any{"num_decoder_layers": 0}, 0, "num_decoder_layers"},
		"too many layers":                   {"whisper", map[string]any{"encoder_layers": 1_000_000_000}, 0, "layers"},
		"heads that do not share the width": {"whisper", map[string]any{"decoder_attention_heads": 5}, 0, "decoder_attention_heads"},
		"experts":                           {"t5", map[string]any{"num_experts": 8}, 0, "num_experts"},
	} {
		fields := small(c.family, map[string]any{"num_heads": 6}, c.changes)
		if c.params == 0 {
			if _, err := readFields(t, fields); err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, ErrUnread) && !errors.Is(err, ErrWrong) && !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v, want an error that names %s", name, err, c.says)
			}
			continue
		}
		m := parametersAre(t, name, fields, c.params)
		if noted(m, Unknown, "wo in fp32") != (m.DType == "fp16") || noted(m, Assumed, "wo in fp32") != (m.DType == "") {
			t.Errorf("%s: %v", name, m.Notes)
		}
		if c.says != "" && !noted(m, Assumed, c.says) {
			t.Errorf("%s: nothing says %q: %v", name, c.says, m.Notes)
		}
	}
	// A file without the name of its family is read by its class.
	if m := parametersAre(t, "by its class", small("t5", map[string]any{"model_type": nil, "architectures": []string{"MT5ForConditionalGeneration"}, "feed_forward_proj": "relu", "num_heads": 6}), whole); m.Family != "mt5" {
		t.Error(m.Family)
	}
}
