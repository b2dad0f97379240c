package model

// vitModel reads a ViT: modeling_vit.py.
func (r *reader) vitModel(c config, architecture string) {
	if architecture == "" {
		c.assume("the class ViTModel, which has a pooler, because the configuration names no architecture")
	}
	r.vit(c, architecture)
}

// vitTower reads a ViT within another model, which is a ViTModel whatever its configuration says.
func (r *reader) vitTower(c config) tower { return r.vit(c, "ViTModel") }

func (r *reader) vit(c config, architecture string) tower {
	b := &r.b
	b.part = "vit"
	width, heads := c.need("hidden_size"), c.need("num_attention_heads")
	e := encoder{width: width, heads: heads, headSize: c.opt(width/heads, "head_dim"), mlp: c.need("intermediate_size"),
		layers: c.depth("num_hidden_layers"), qkvBias: c.flag(true, "qkv_bias"), bias: true, out: "o_proj"}
	if e.headSize == 0 {
		c.wrong("num_attention_heads", heads, "at most hidden_size")
	}
	height, breadth := c.pair("image_size")
	patchHeight, patchBreadth := c.pair("patch_size")
	t := tower{width: width, rows: c.patches(height, patchHeight), cols: c.patches(breadth, patchBreadth), extra: 1}
	patches := b.mul(t.rows, t.cols)
	e.positions = b.add(patches, t.extra)

	b.in("embedding", 1)
	b.positions = patches
	b.convolution("patch_embeddings", c.channels(), b.mul(patchHeight, patchBreadth), width, true)
	b.parameter("cls_token", width)
	b.parameter("position_embeddings", b.mul(e.positions, width))
	r.encoder(e)
	b.in("head", 1)
	b.norm("layernorm", b.mul(2, width))
	r.vitHead(c, architecture, width, patches)
	return t
}

// vitHead adds what the class computes from the last layer's output.
func (r *reader) vitHead(c config, architecture string, width, patches int64) {
	b := &r.b
	switch architecture {
	case "", "ViTModel":
		size := c.opt(0, "pooler_output_size")
		if size == 0 {
			size = width
		}
		b.positions = 1
		b.linear("pooler", width, size, true)
	case "ViTForImageClassification":
		r.classifier(c, width)
	case "ViTForMaskedImageModeling":
		b.parameter("mask_token", width)
		b.positions = patches
		stride := c.need("encoder_stride")
		b.convolution("decoder", width, 1, b.mul(b.mul(stride, stride), c.channels()), true)
	default:
		c.note(LeftOut, "the head of %s is not supported", architecture)
	}
}

// classifier adds a matrix that yields a score for each label, from one position.
func (r *reader) classifier(c config, width int64) {
	if n := c.labels(); n > 0 {
		r.b.positions = 1
		r.b.linear("classifier", width, n, true)
	}
}
