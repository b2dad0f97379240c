package model

// pixtralModel reads Pixtral's vision tower alone.
func (r *reader) pixtralModel(c config, architecture string) {
	r.pixtral(c)
	if architecture != "" && architecture != "PixtralVisionModel" {
		c.note(LeftOut, "the head of %s is not read", architecture)
	}
}

// pixtral reads Pixtral's vision tower, which takes pictures of any size, for the largest: modeling_pixtral.py.
func (r *reader) pixtral(c config) tower {
	b := &r.b
	b.part = "pixtral"
	e := c.encoderOf()
	e.qkvBias, e.bias, e.gated, e.out = false, false, true, "o_proj"
	height, breadth := c.pair("image_size")
	patch := c.need("patch_size")
	t := tower{width: e.width, rows: c.patches(height, patch), cols: c.patches(breadth, patch), breaks: true}
	c.assume("pictures of %d x %d pixels, the largest that the tower takes: FLOPs of smaller ones are fewer", breadth, height)
	b.in("embedding", 1)
	b.positions = b.mul(t.rows, t.cols)
	e.positions = b.positions
	b.convolution("patch_conv", c.channels(), b.mul(patch, patch), e.width, false)
	b.norm("ln_pre", e.width)
	r.encoder(e)
	return t
}
