package model

import "math"

// gemma3Projector adds Gemma3MultiModalProjector, which averages squares of patches to mm_tokens_per_image.
func (r *reader) gemma3Projector(c, _ config, t tower, hidden int64) {
	b := &r.b
	tokens := c.need("mm_tokens_per_image")
	kernel := t.rows / int64(math.Sqrt(float64(tokens)))
	if kernel == 0 {
		c.wrong("mm_tokens_per_image", tokens, "at most the patches of a picture")
		return
	}
	side := t.rows / kernel
	b.part, b.positions = "projector", b.mul(side, side)
	b.in("projector", 1)
	b.norm("mm_soft_emb_norm", t.width)
	b.linear("mm_input_projection", t.width, hidden, false)
	r.model.ImageTokens = b.positions
}

// mistral3 adds Mistral3MultiModalProjector, which joins squares of patches into one position each.
func (r *reader) mistral3(c, _ config, t tower, hidden int64) {
	b := &r.b
	merge := r.merge
	rows, cols := t.rows/merge, t.cols/merge
	if rows == 0 || cols == 0 {
		c.wrong("spatial_merge_size", merge, "at most the patches along a side")
		return
	}
	if n := c.featureLayers(); n > 1 {
		c.wrong("vision_feature_layer", n, "one layer, as the norm of the projector expects")
	}
	b.part, b.positions = "projector", b.mul(rows, cols)
	b.in("patch merger", 1)
	b.norm("norm", t.width)
	b.linear("merging_layer", b.mul(t.width, b.mul(merge, merge)), t.width, false)
	r.mlpProjector(c, t.width, hidden, b.positions, false)
	r.model.ImageTokens = b.positions
	if t.breaks {
		r.model.ImageTokens = b.mul(rows, b.add(cols, 1))
	}
}
