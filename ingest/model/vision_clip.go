package model

import "strings"

// clip reads CLIP's vision tower: modeling_clip.py.
func (r *reader) clip(c config) tower {
	b := &r.b
	b.part = "clip"
	e := c.encoderOf()
	patch := c.need("patch_size")
	side := c.patches(c.need("image_size"), patch)
	t := tower{width: e.width, rows: side, cols: side, extra: 1}
	b.in("embedding", 1)
	b.positions = b.mul(side, side)
	e.positions = b.add(b.positions, t.extra)
	b.convolution("patch_embedding", c.channels(), b.mul(patch, patch), e.width, false)
	b.parameter("class_embedding", e.width)
	b.parameter("position_embedding", b.mul(e.positions, e.width))
	b.norm("pre_layrnorm", b.mul(2, e.width))
	r.encoder(e)
	b.in("head", 1)
	b.norm("post_layernorm", b.mul(2, e.width))
	return t
}

// clipVisionModel reads CLIP's vision tower alone, with a projection into the space it shares with text or without.
func (r *reader) clipVisionModel(c config, architecture string) {
	width := r.clip(c).width
	switch architecture {
	case "":
		c.assume("the class CLIPVisionModel, which has no projection, because the configuration names no architecture")
	case "CLIPVisionModel":
	case "CLIPVisionModelWithProjection":
		r.visualProjection(c, width)
	default:
		c.note(LeftOut, "the head of %s is not supported", architecture)
	}
}

// visualProjection adds the projection of the class token into the space shared with text.
func (r *reader) visualProjection(c config, width int64) {
	r.b.positions = 1
	r.b.linear("visual_projection", width, c.opt(512, "projection_dim"), false)
}

// clipModel reads a whole CLIP. What it computes from an image is counted, of its text tower the parameters.
func (r *reader) clipModel(c config, architecture string) {
	name := "vision_config"
	if c.has("vision_config_dict") { // says all when there, as configurations of 2021 do
		name = "vision_config_dict"
	}
	v, _, ok := c.part(name, "clip_vision_model", true)
	if !ok {
		return
	}
	if strings.HasPrefix(architecture, "CLIPVisionModel") {
		r.clipVisionModel(v, architecture)
		return
	}
	width := r.clip(v).width
	if architecture == "CLIPForImageClassification" {
		r.classifier(c, width)
		return
	}
	r.visualProjection(c, width)
	r.b.parameter("logit_scale", 1)
	name = "text_config"
	if c.has("text_config_dict") {
		name = "text_config_dict"
	}
	if text, _, ok := c.part(name, "clip_text_model", true); ok {
		r.b.parameter("text_projection", r.b.mul(r.textTower(text), c.opt(512, "projection_dim")))
	}
}

// textTower adds the parameters of CLIP's or SigLIP's text tower and gives its width. It counts no FLOPs: they go with the text's
// length, not with images.
func (r *reader) textTower(c config) int64 {
	b := &r.b
	b.part, b.view = "text", ""
	e := c.encoderOf()
	b.in("embedding", 1)
	b.table("token_embedding", c.need("vocab_size"), e.width)
	b.table("position_embedding", c.need("max_position_embeddings"), e.width)
	b.in(LayerNames(firstLayers(e.layers)), e.layers)
	b.norm("norms", b.mul(4, e.width))
	b.parameter("attention", b.mul(4, b.weights(e.width, e.width, true)))
	b.parameter("mlp", b.add(b.weights(e.width, e.mlp, true), b.weights(e.mlp, e.width, true)))
	b.in("head", 1)
	b.norm("final_layer_norm", b.mul(2, e.width))
	c.note(LeftOut, "FLOPs of the text tower (%s)", c.path[:max(0, len(c.path)-1)])
	return e.width
}

// weights counts the parameters of a matrix.
func (b *builder) weights(input, output int64, bias bool) int64 {
	n := b.mul(input, output)
	if bias {
		n = b.add(n, output)
	}
	return n
}
