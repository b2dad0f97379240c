package model

import (
	"encoding/json"
	"fmt"
)

// Defaults of SamPromptEncoderConfig and SamMaskDecoderConfig, which have no model_type: configuration_sam.py of transformers 5.17.
var (
	promptDefaults = numbers(map[string]int64{"hidden_size": 256, "mask_input_channels": 16, "num_point_embeddings": 4})
	maskDefaults   = numbers(map[string]int64{"hidden_size": 256, "mlp_dim": 2048, "num_hidden_layers": 2, "attention_downsample_rate": 2,
		"num_multimask_outputs": 3, "iou_head_depth": 3, "iou_head_hidden_dim": 256})
)

// numbers returns defaults in the form that a configuration is decoded to.
func numbers(defaults map[string]int64) map[string]any {
	out := make(map[string]any, len(defaults))
	for name, n := range defaults {
		out[name] = json.Number(fmt.Sprint(n))
	}
	return out
}

// samModel reads a whole SAM. What it computes from an image is counted; of what it computes from prompts, the parameters.
func (r *reader) samModel(c config, architecture string) {
	v, _, ok := c.part("vision_config", "sam_vision_model", true)
	if !ok {
		return
	}
	r.sam(v.samShape())
	if architecture == "SamVisionModel" {
		return
	}
	r.b.view = ""
	if prompt, _, ok := c.part("prompt_encoder_config", "", true); ok {
		prompt.defaults = promptDefaults
		r.promptEncoder(prompt, v.opt(128, "num_pos_feats"))
	}
	if mask, _, ok := c.part("mask_decoder_config", "", true); ok {
		mask.defaults = maskDefaults
		r.maskDecoder(mask)
	}
	c.note(LeftOut, "FLOPs of the prompt encoder and the mask decoder, which depend on the prompts")
}

// promptEncoder adds the parameters of SamPromptEncoder and of the position embedding that it shares with the image.
func (r *reader) promptEncoder(c config, features int64) {
	b := &r.b
	width, masks, points := c.need("hidden_size"), c.need("mask_input_channels"), c.need("num_point_embeddings")
	quarter := masks / 4
	b.in("prompt encoder", 1)
	b.parameter("shared_embedding", b.mul(2, features))
	b.parameter("mask_embed.conv1", b.weights(4, quarter, true))
	b.parameter("mask_embed.conv2", b.weights(b.mul(4, quarter), masks, true))
	b.parameter("mask_embed.conv3", b.weights(masks, width, true))
	b.norm("mask_embed.norms", b.mul(10, quarter))
	b.parameter("no_mask_embed, point_embed, not_a_point_embed", b.mul(b.add(points, 2), width))
}

// maskDecoder adds the parameters of SamMaskDecoder.
func (r *reader) maskDecoder(c config) {
	b := &r.b
	width, layers := c.need("hidden_size"), c.depth("num_hidden_layers")
	rate, tokens := c.need("attention_downsample_rate"), b.add(c.need("num_multimask_outputs"), 1)
	attention := func(inner int64) int64 {
		return b.add(b.mul(3, b.weights(width, inner, true)), b.weights(inner, width, true))
	}
	b.in("mask decoder "+layerNames(firstLayers(layers)), layers)
	b.norm("norms", b.mul(8, width))
	b.parameter("self_attn", attention(width))
	b.parameter("cross_attn_token_to_image", attention(width/2)) // SamTwoWayAttentionBlock halves it whatever the rate
	b.parameter("cross_attn_image_to_token", attention(width/2))
	mlp := c.need("mlp_dim")
	b.parameter("mlp", b.add(b.weights(width, mlp, true), b.weights(mlp, width, true)))

	b.in("mask decoder", 1)
	b.table("iou_token, mask_tokens", b.add(tokens, 1), width)
	b.parameter("final_attn_token_to_image", attention(width/rate))
	b.norm("layer_norm_final_attn", b.mul(2, width))
	b.parameter("upscale_conv1", b.weights(b.mul(4, width), width/4, false))
	b.parameter("upscale_conv2", b.weights(b.mul(4, width/4), width/8, false))
	b.norm("upscale_layer_norm, biases", b.add(b.mul(3, width/4), width/8))
	b.parameter("output_hypernetworks_mlps", b.mul(tokens, b.feedForward(width, width, width/8, 3)))
	b.parameter("iou_prediction_head", b.feedForward(width, c.need("iou_head_hidden_dim"), tokens, c.need("iou_head_depth")))
}

// feedForward counts the parameters of SamFeedForward: at least two matrices, the inner ones square.
func (b *builder) feedForward(input, hidden, output, depth int64) int64 {
	inner := b.mul(max(depth-2, 0), b.weights(hidden, hidden, true))
	return b.add(b.add(b.weights(input, hidden, true), inner), b.weights(hidden, output, true))
}
