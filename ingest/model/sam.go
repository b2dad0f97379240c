package model

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
		b.in(layerNames(windowed), int64(len(windowed)))
		r.samLayer(s, b.mul(across, across), s.window, s.window)
	}
	if len(global) > 0 {
		b.in(layerNames(global), int64(len(global)))
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
