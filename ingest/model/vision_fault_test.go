package model

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestVisionFaults(t *testing.T) {
	const vit = `"model_type": "vit", "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "num_hidden_layers": 2`
	const clip = `"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8`
	for _, c := range []struct {
		name, config string
		want         error
		says         []string
	}{
		{"nothing but the type", `{"model_type": "vit"}`, ErrMissing,
			[]string{"hidden_size", "image_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "patch_size"}},
		{"no width", `{"model_type": "siglip_vision_model", "num_attention_heads": 2, "intermediate_size": 64, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8}`,
			ErrMissing, []string{"hidden_size"}},
		{"no tower", `{"model_type": "llava", "text_config": {}}`, ErrMissing, []string{"vision_config"}},
		{"a tower that is no object", `{"model_type": "llava", "vision_config": "clip"}`, ErrWrong, []string{"vision_config is clip"}},
		{"patches larger than the picture", `{` + vit + `, "image_size": 16, "patch_size": 32}`, ErrWrong, []string{"patch_size is 32"}},
		{"no heads", `{` + strings.Replace(vit, `heads": 2`, `heads": 0`, 1) + `, "image_size": 32, "patch_size": 16}`, ErrWrong, []string{"num_attention_heads is 0"}},
		{"a width that heads do not share", `{"model_type": "clip_vision_model", ` + strings.Replace(clip, `heads": 2`, `heads": 3`, 1) + `}`, ErrWrong,
			[]string{"num_attention_heads is 3"}},
		{"a size of another type", `{` + vit + `, "image_size": "large", "patch_size": 16}`, ErrWrong, []string{"image_size is large"}},
		{"three sides", `{` + vit + `, "image_size": [3, 32, 32], "patch_size": 16}`, ErrWrong, []string{"image_size"}},
		{"a list where CLIP wants a number", `{"model_type": "clip_vision_model", ` + strings.Replace(clip, `"image_size": 32`, `"image_size": [32, 32]`, 1) + `}`, ErrWrong,
			[]string{"image_size"}},
		{"too large to multiply", `{"model_type": "vit", "hidden_size": 2000000000, "num_attention_heads": 1, "intermediate_size": 2000000000,
			"num_hidden_layers": 2, "image_size": 2000000000, "patch_size": 1}`, ErrWrong, nil},
		{"too many layers", `{` + strings.Replace(vit, `layers": 2`, `layers": 2000000000`, 1) + `, "image_size": 32, "patch_size": 16}`, ErrWrong, []string{"num_hidden_layers"}},
		{"an unknown strategy", `{"model_type": "llava", "vision_feature_select_strategy": "some", "vision_config": {` + clip + `}}`, ErrWrong,
			[]string{"vision_feature_select_strategy is some"}},
		{"fewer patches than tokens", `{"model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {` + clip + `}}`, ErrWrong, []string{"mm_tokens_per_image"}},
		{"windows smaller than what is joined", `{"model_type": "qwen2_5_vl", "vision_config": {"window_size": 27}}`, ErrWrong, []string{"vision_config.window_size is 27"}},
		{"a width that Qwen's heads do not share", `{"model_type": "qwen2_vl", "vision_config": {"num_heads": 7}}`, ErrWrong, []string{"num_heads is 7"}},
		{"deepstack behind the last layer", `{"model_type": "qwen3_vl", "vision_config": {"deepstack_visual_indexes": [3, 27]}}`, ErrWrong, []string{"deepstack_visual_indexes is 27"}},
		{"deepstack of one layer twice", `{"model_type": "qwen3_vl_moe", "vision_config": {"deepstack_visual_indexes": [3, 3]}}`, ErrWrong, []string{"deepstack_visual_indexes is 3"}},
		{"patches merged to nothing", `{"model_type": "mistral3", "spatial_merge_size": 5, "vision_config": {` + clip + `}}`, ErrWrong, []string{"spatial_merge_size"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readVision(mustDecode(t, c.config))
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
}

func TestDeepSeekOCRFaults(t *testing.T) {
	published := string(picturedCase(t, "deepseek ocr").Config)
	for _, c := range []struct{ from, to, says string }{
		{`"input_dim": 2048`, `"input_dim": 1024`, "projector_config.input_dim"},
		{`"projector_type": "linear"`, `"projector_type": "mlp_gelu"`, "projector_config.projector_type"},
		{`"downsample_channels": [512, 1024]`, `"downsample_channels": [512]`, "downsample_channels"},
		{`"downsample_channels": [512, 1024]`, `"downsample_channels": [512, 896]`, "clip-l-14-224.width"},
		{`"heads": 12`, `"heads": 7`, "sam_vit_b"},
	} {
		text := strings.Replace(published, c.from, c.to, 1)
		if text == published {
			t.Fatalf("the configuration has no %s", c.from)
		}
		if _, err := readVision(mustDecode(t, text)); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %s", c.to, err, c.says)
		}
	}
}

func TestVisionLeftOut(t *testing.T) {
	for _, c := range []struct{ config, says string }{
		{`{"model_type": "mllama", "vision_config": {"model_type": "mllama_vision_model"}}`, "mllama_vision_model"},
		{`{"model_type": "aya_vision", "vision_config": {"model_type": "siglip_vision_model"}}`, "projector"},
		{`{"model_type": "deepseek_vl_v2", "vision_config": {"model_type": "vision", "width": {"sam_vit_b": {}, "qwen2-0-5b": {"dim": 896}}}}`, "vision_config.width"},
		{`{"model_type": "qwen2_vl", "vision_config": {}}`, "vision tower of qwen2_vl: the configuration does not have the image size; give --image-size"},
		{`{"model_type": "qwen3_5_moe", "vision_config": {}}`, "vision tower of qwen3_5_moe"},
		{`{"model_type": "clip", "vision_config": {}, "text_config": {}}`, "text_config"},
		{`{"model_type": "sam", "vision_config": {}, "prompt_encoder_config": {}, "mask_decoder_config": {}}`, "mask decoder"},
	} {
		m, err := readVision(mustDecode(t, c.config))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		if !slices.ContainsFunc(m.Notes, func(n Note) bool { return n.Kind == LeftOut && strings.Contains(n.Text, c.says) }) {
			t.Errorf("%s: no note says that %s is left out: %v", c.config, c.says, m.Notes)
		}
	}
}

// Whatever stands in a field, a configuration is read or refused, and counts are never negative.
func TestVisionAnyField(t *testing.T) {
	odd := []any{nil, true, "x", json.Number("0"), json.Number("-1"), json.Number("1"), json.Number("1.5"), json.Number("2147483648"), json.Number("1e300"), []any{},
		[]any{json.Number("0")}, []any{"x", nil}, map[string]any{}, map[string]any{"model_type": "vit"}}
	reads := 0
	for _, c := range picturedCases(t) {
		fields := mustDecode(t, string(c.Config))
		eachField(fields, func(object map[string]any, name string) {
			kept, has := object[name]
			for _, v := range odd {
				object[name] = v
				m, err := readVision(fields, c.options())
				reads++
				if err != nil {
					continue
				}
				for _, l := range m.Layers {
					if min(l.Parameters, l.Count, l.Input, l.Output, l.Positions, l.Keys, m.ImageTokens) < 0 {
						t.Errorf("%s with %s = %v: a count is negative: %+v", c.Name, name, v, l)
						break
					}
				}
			}
			delete(object, name)
			_, _ = readVision(fields, c.options()) // must not panic
			if has {
				object[name] = kept
			}
		})
	}
	if reads == 0 {
		t.Error("nothing was read")
	}
}

// eachField visits the fields of an object and of those within it, tables of labels left out.
func eachField(object map[string]any, visit func(object map[string]any, name string)) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name == "id2label" || name == "label2id" || name == "language_config" || name == "text_config" && object["model_type"] != "clip" {
			continue
		}
		if sub, ok := object[name].(map[string]any); ok {
			eachField(sub, visit)
		}
		visit(object, name)
	}
}
