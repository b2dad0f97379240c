package model

// pixtralModel reads Pixtral's vision tower alone.
func (r *reader) pixtralModel(c config, architecture string) {
	r.pixtral(c)
	if architecture != "" && architecture != "PixtralVisionModel" {
		c.note(LeftOut, "the head of %s is not supported", architecture)
	}
}

// pixtral reads Pixtral's vision tower, which takes pictures of any size, for the given one or the largest: modeling_pixtral.py.
func (r *reader) pixtral(c config) tower {
	b := &r.b
	b.part = "pixtral"
	e := c.encoderOf()
	e.qkvBias, e.bias, e.gated, e.out = false, false, true, "o_proj"
	patch := c.need("patch_size")
	t := tower{width: e.width, breaks: true}
	t.rows, t.cols = r.pixtralPatches(c, patch)
	b.in("embedding", 1)
	b.positions = b.mul(t.rows, t.cols)
	e.positions = b.positions
	b.convolution("patch_conv", c.channels(), b.mul(patch, patch), e.width, false)
	b.norm("ln_pre", e.width)
	r.encoder(e)
	return t
}

// pixtralPatches counts the patches of a picture. One of a given size is made smaller where a side is longer than the tower takes, then
// resized to the next squares that the projector joins: get_resize_output_image_size in image_processing_pixtral.py.
func (r *reader) pixtralPatches(c config, patch int64) (rows, cols int64) {
	height, breadth := c.pair("image_size")
	p, ok := r.picture()
	if !ok {
		c.assume("images of %d x %d pixels, the largest that the tower takes; smaller ones need fewer FLOPs: --image-size WIDTHxHEIGHT sets the size", breadth, height)
		return c.patches(height, patch), c.patches(breadth, patch)
	}
	merge := max(r.merge, 1)
	step := r.b.mul(patch, merge)
	shrink := max(float64(p.Height)/float64(height), float64(p.Width)/float64(breadth), 1)
	squares := func(side int64) int64 { return (int64(float64(side)/shrink) + step - 1) / step }
	rows, cols = r.b.mul(squares(p.Height), merge), r.b.mul(squares(p.Width), merge)
	if rows == 0 || cols == 0 {
		c.wrong("image_size", p, "an image with at least one pixel on each side after resizing")
		return 1, 1
	}
	c.assume("images of %v pixels, resized to %d x %d, multiples of %d; the configuration does not have the size limits of the processor, which are assumed to be the tower's %d x %d",
		p, r.b.mul(cols, patch), r.b.mul(rows, patch), step, breadth, height)
	return rows, cols
}
