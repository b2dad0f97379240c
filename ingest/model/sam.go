package model

import (
	"encoding/json"
	"fmt"
)

// sam is the shape of SAM's image encoder, a vision transformer most of whose layers attend within windows: arXiv 2304.02643,
// appendix A, and modeling_sam.py.
type sam struct {
	width, mlp         int64
	heads, headSize    int64
	layers             int64
	global             []int64 // layers without a window
	window             int64   // side of a window in patches; 0 for none
	patch, channels    int64
	side, tableSide    int64 // patches along a side of the picture, and of the one that the tables of positions are made for
	output             int64 // channels of the neck
	qkvBias            bool
	absolute, relative bool // kinds of positions
}

// samShape reads a SamVisionConfig.
func (c config) samShape() sam {
	s := sam{width: c.need("hidden_size"), heads: c.need("num_attention_heads"), layers: c.depth("num_hidden_layers"),
		global: c.wholes("global_attn_indexes"), window: c.opt(14, "window_size"), patch: c.need("patch_size"), channels: c.channels(),
		output: c.need("output_channels"), qkvBias: c.flag(true, "qkv_bias"), absolute: c.flag(true, "use_abs_pos"), relative: c.flag(true, "use_rel_pos")}
	s.headSize = c.headSize("num_attention_heads", s.width, s.heads)
	s.side = c.patches(c.need("image_size"), s.patch)
	s.tableSide = s.side
	if s.mlp = c.opt(0, "mlp_dim"); s.mlp == 0 {
		s.mlp = int64(float64(s.width) * c.number(4, "mlp_ratio"))
	}
	if s.mlp > maxSize {
		c.wrong("mlp_ratio", s.mlp, "a smaller one")
		s.mlp = 1
	}
	return s
}

// sam adds SAM's image encoder, the neck included.
func (r *reader) sam(s sam) {
	b := &r.b
	b.part = "sam"
	patches := b.mul(s.side, s.side)
	b.in("embedding", 1)
	b.positions = patches
	b.convolution("patch_embed", s.channels, b.mul(s.patch, s.patch), s.width, true)
	if s.absolute {
		b.parameter("pos_embed", b.mul(b.mul(s.tableSide, s.tableSide), s.width))
	}
	windowed, global := split(s.layers, s.global, s.window > 0)
	if len(windowed) > 0 {
		across := (s.side + s.window - 1) / s.window // windows along a side: pictures are padded to whole ones
		b.in(LayerNames(windowed), int64(len(windowed)))
		r.samLayer(s, b.mul(across, across), s.window, s.window)
	}
	if len(global) > 0 {
		b.in(LayerNames(global), int64(len(global)))
		r.samLayer(s, 1, s.side, s.tableSide)
	}
	b.in("neck", 1)
	b.positions = patches
	b.convolution("neck.conv1", s.width, 1, s.output, false)
	b.norm("neck.layer_norm1", b.mul(2, s.output))
	b.convolution("neck.conv2", s.output, 9, s.output, false)
	b.norm("neck.layer_norm2", b.mul(2, s.output))
}

// samLayer adds a layer whose attention works on so many windows of side x side patches, padding included; the MLP sees the
// picture's patches only. Relative positions multiply each query with a row of the table for each row and each column of keys.
func (r *reader) samLayer(s sam, windows, side, tableSide int64) {
	b := &r.b
	keys := b.mul(side, side)
	patches := b.positions
	b.norm("norms", b.mul(4, s.width))
	b.positions = b.mul(windows, keys)
	b.linear("qkv", s.width, b.mul(3, s.width), s.qkvBias)
	if s.relative {
		for _, name := range []string{"rel_pos_h", "rel_pos_w"} {
			b.put(Layer{Component: name, Kind: RelativePosition, Scope: Position, Input: s.headSize, Output: side, Copies: 1, Active: s.heads,
				Positions: b.positions, Parameters: b.mul(2*tableSide-1, s.headSize)})
		}
	}
	b.attend("attention", s.heads, s.headSize, keys)
	b.linear("proj", s.width, s.width, true)
	b.positions = patches
	b.linear("mlp.lin1", s.width, s.mlp, true)
	b.linear("mlp.lin2", s.mlp, s.width, true)
}

// samVisionModel reads SAM's image encoder alone.
func (r *reader) samVisionModel(c config, architecture string) {
	r.sam(c.samShape())
	if architecture != "" && architecture != "SamVisionModel" {
		c.note(LeftOut, "the head of %s is not supported", architecture)
	}
}

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
	b.in("mask decoder "+LayerNames(firstLayers(layers)), layers)
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
