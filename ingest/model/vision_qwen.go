package model

import "math"

// qwenTowers read the vision towers of Qwen's models for pictures and text, by model_type of the whole; the class of vision_config is
// that name and _vision.
var qwenTowers = map[string]func(v config) qwenTower{
	"qwen2_vl":     config.qwen2Vision,
	"qwen2_5_vl":   config.qwen25Vision,
	"qwen3_vl":     config.qwen3VLVision,
	"qwen3_vl_moe": config.qwen3VLVision,
	"qwen3_5":      config.qwen3Vision,
	"qwen3_5_moe":  config.qwen3Vision,
}

// qwenTower is a vision transformer that takes pictures of any size and joins squares of patches into one position of the prompt each.
type qwenTower struct {
	encoder
	patch, merge     int64 // pixels along a patch, patches along a square that is joined
	channels, frames int64 // of a patch: a picture stands for as many equal frames
	patchBias        bool
	table            int64   // rows of a table of positions, interpolated to the picture's grid; 0: none
	window           int64   // squares along a window of attention; 0: none
	global           []int64 // layers without a window
	deepstack        []int64 // layers whose output is joined too, for the decoder's first layers
	output           int64   // width of what the decoder takes
}

// qwenTower reads what the towers share; two of its fields have other names in Qwen2-VL.
func (c config) qwenTower(width, output string) qwenTower {
	t := qwenTower{patch: c.need("patch_size"), merge: c.need("spatial_merge_size"), channels: c.need("in_channels"), frames: c.need("temporal_patch_size"), output: c.need(output)}
	t.encoder = encoder{width: c.need(width), heads: c.need("num_heads", "num_attention_heads"), layers: c.depth("depth"), fusedQKV: true, qkvBias: true, bias: true, out: "proj"}
	t.headSize = c.headSize("num_heads", t.width, t.heads)
	return t
}

func (c config) qwen2Vision() qwenTower {
	t := c.qwenTower("embed_dim", "hidden_size")
	t.mlp = int64(float64(t.width) * c.number(4, "mlp_ratio"))
	return t
}

func (c config) qwen25Vision() qwenTower {
	t := c.qwenTower("hidden_size", "out_hidden_size")
	t.mlp, t.gated, t.global = c.need("intermediate_size"), true, c.wholes("fullatt_block_indexes")
	size := c.need("window_size")
	if t.window = size / t.merge / t.patch; t.window == 0 {
		c.wrong("window_size", size, "at least patch_size x spatial_merge_size")
	}
	return t
}

// qwen3Vision reads the tower of Qwen3.5, which is Qwen3-VL's without deepstack.
func (c config) qwen3Vision() qwenTower {
	t := c.qwenTower("hidden_size", "out_hidden_size")
	t.mlp, t.patchBias, t.table = c.need("intermediate_size"), true, c.need("num_position_embeddings")
	return t
}

func (c config) qwen3VLVision() qwenTower {
	t := c.qwen3Vision()
	t.deepstack = c.wholes("deepstack_visual_indexes")
	seen := map[int64]bool{}
	for _, i := range t.deepstack {
		if i >= t.layers || seen[i] {
			c.wrong("deepstack_visual_indexes", i, "different layers below depth")
		}
		seen[i] = true
	}
	return t
}

// qwenVision adds the vision tower of a Qwen: modeling_qwen2_vl.py, modeling_qwen2_5_vl.py, modeling_qwen3_vl.py. Where nothing says how
// large pictures are it adds the parameters alone.
func (r *reader) qwenVision(c config) {
	v, _, ok := c.part("vision_config", r.model.Family+"_vision", true)
	if !ok {
		return
	}
	b, first := &r.b, len(r.b.layers)
	b.part = r.model.Family
	t := qwenTowers[r.model.Family](v)
	step := b.mul(t.patch, t.merge)
	rows, cols, sized := r.squares(c, step)
	square := b.mul(t.merge, t.merge)
	tokens := b.mul(rows, cols)
	t.positions = b.mul(tokens, square)
	norm := t.width
	if !t.gated {
		norm = b.mul(2, t.width)
	}

	b.in("embedding", 1)
	b.positions = t.positions
	b.convolution("patch_embed", t.channels, b.mul(t.frames, b.mul(t.patch, t.patch)), t.width, t.patchBias)
	b.parameter("pos_embed", b.mul(t.table, t.width))
	windowed, global := split(t.layers, t.global, t.window > 0)
	if len(windowed) > 0 {
		e := t.encoder
		e.windows = b.windows(rows, cols, t.window, square)
		r.layers(e, windowed)
	}
	r.layers(t.encoder, global)
	r.merger("merger", 1, t, norm, tokens)
	r.merger("deepstack mergers", int64(len(t.deepstack)), t, b.mul(norm, square), tokens)
	if sized {
		r.model.ImageTokens = tokens
		return
	}
	b.parametersOnly(first)
	c.note(LeftOut, "FLOPs of the vision tower of %s: the configuration does not have the image size; give --image-size WIDTHxHEIGHT", r.model.Family)
}

// squares counts the squares of step x step pixels that a picture of the given size is resized to: smart_resize in
// image_processing_qwen2_vl.py. ok is false where no size is given, for one square then.
func (r *reader) squares(c config, step int64) (rows, cols int64, ok bool) {
	p, ok := r.picture()
	if !ok {
		return 1, 1, false
	}
	if max(p.Height, p.Width) > 200*min(p.Height, p.Width) {
		c.wrong("image_size", p, "one side at most 200 times the other, the limit of the processor")
	}
	near := func(side int64) int64 { return max(1, int64(math.RoundToEven(float64(side)/float64(step)))) }
	rows, cols = near(p.Height), near(p.Width)
	c.assume("images of %v pixels, resized to %d x %d, multiples of %d; the configuration does not have the pixel limits of the processor",
		p, r.b.mul(cols, step), r.b.mul(rows, step), step)
	return rows, cols, true
}

// windows shares a grid of squares of patches among windows of side x side squares. Those at the right and the bottom are smaller where
// the grid is no multiple: get_vision_window_index in vision_utils.py.
func (b *builder) windows(rows, cols, side, square int64) []window {
	var out []window
	right, bottom := cols%side, rows%side
	for _, w := range []struct {
		name        string
		count, size int64 // windows of this kind, and their squares
	}{
		{"attention", b.mul(rows/side, cols/side), b.mul(side, side)},
		{"attention.right", rows / side, b.mul(side, right)},
		{"attention.bottom", cols / side, b.mul(bottom, side)},
		{"attention.corner", 1, b.mul(bottom, right)},
	} {
		if w.count > 0 && w.size > 0 {
			keys := b.mul(w.size, square)
			out = append(out, window{w.name, b.mul(w.count, keys), keys})
		}
	}
	return out
}

// merger adds two matrices that join squares of patches, so many times.
func (r *reader) merger(group string, count int64, t qwenTower, norm, tokens int64) {
	b := &r.b
	joined := b.mul(t.width, b.mul(t.merge, t.merge))
	b.in(group, count)
	b.positions = tokens
	b.norm("norm", norm)
	b.linear("linear_fc1", joined, joined, true)
	b.linear("linear_fc2", joined, t.output, true)
}

// parametersOnly makes the rows from the first on ones that multiply nothing.
func (b *builder) parametersOnly(first int) {
	kept := b.layers[:first]
	for _, l := range b.layers[first:] {
		if l.Parameters > 0 {
			kept = append(kept, Layer{Part: l.Part, Group: l.Group, Count: l.Count, Component: l.Component, Kind: Parameter, Parameters: l.Parameters})
		}
	}
	b.layers = kept
}
