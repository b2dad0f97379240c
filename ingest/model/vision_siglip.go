package model

// siglip reads SigLIP's vision tower: modeling_siglip.py.
func (r *reader) siglip(c config) tower {
	b := &r.b
	b.part = "siglip"
	e := c.encoderOf()
	patch := c.need("patch_size")
	side := c.patches(c.need("image_size"), patch)
	b.in("embedding", 1)
	b.positions = b.mul(side, side)
	e.positions = b.positions
	b.convolution("patch_embedding", c.channels(), b.mul(patch, patch), e.width, true)
	b.parameter("position_embedding", b.mul(e.positions, e.width))
	r.encoder(e)
	b.in("head", 1)
	b.norm("post_layernorm", b.mul(2, e.width))
	if c.flag(true, "vision_use_head") {
		r.poolingHead(e)
	}
	return tower{width: e.width, rows: side, cols: side}
}

// poolingHead adds a layer in which one learned position attends to all others.
func (r *reader) poolingHead(e encoder) {
	b := &r.b
	b.parameter("probe", e.width)
	b.positions = 1
	b.linear("attention.q_proj", e.width, e.width, true)
	b.positions = e.positions
	b.linear("attention.kv_proj", e.width, b.mul(2, e.width), true)
	b.positions = 1
	b.attend("attention", e.heads, e.headSize, e.positions)
	b.linear("attention.out_proj", e.width, e.width, true)
	b.norm("layernorm", b.mul(2, e.width))
	b.linear("mlp.fc1", e.width, e.mlp, true)
	b.linear("mlp.fc2", e.mlp, e.width, true)
}

// siglipVisionModel reads SigLIP's vision tower alone.
func (r *reader) siglipVisionModel(c config, architecture string) {
	r.siglip(c)
	if architecture != "" && architecture != "SiglipVisionModel" {
		c.note(LeftOut, "the head of %s is not supported", architecture)
	}
}

// siglipModel reads a whole SigLIP. What it computes from an image is counted, of its text tower the parameters.
func (r *reader) siglipModel(c config, architecture string) {
	v, _, ok := c.part("vision_config", "siglip_vision_model", true)
	if !ok {
		return
	}
	width := r.siglip(v).width
	switch architecture {
	case "SiglipVisionModel":
		return
	case "SiglipForImageClassification":
		r.classifier(c, width)
		return
	}
	r.b.parameter("logit_scale, logit_bias", 2)
	if text, _, ok := c.part("text_config", "siglip_text_model", true); ok {
		width := r.textTower(text)
		size := text.opt(0, "projection_size")
		if !text.has("projection_size") {
			size = width
		}
		r.b.parameter("head", r.b.weights(width, size, true))
	}
}
