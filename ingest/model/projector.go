package model

import (
	"math"
)

// composite is a model for pictures and text: a tower, a projector into the decoder's width, and a decoder.
type composite struct {
	tower   string // class of vision_config where it names none
	fixed   bool   // it is of that class whatever it names
	project func(r *reader, c, v config, t tower, hidden int64)
	joins   bool // the projector joins squares of patches, of spatial_merge_size along a side
}

// composites are read as transformers builds them, by model_type.
var composites = map[string]composite{
	"llava":      {"clip_vision_model", false, (*reader).llava, false},
	"llava_next": {"clip_vision_model", false, (*reader).llavaNext, false},
	"paligemma":  {"siglip_vision_model", false, (*reader).paligemma, false},
	"gemma3":     {"siglip_vision_model", true, (*reader).gemma3Projector, false},
	"mistral3":   {"pixtral", false, (*reader).mistral3, true},
}

// images reads the vision parts of a configuration whose decoder, of width hidden, is read elsewhere: towers and projector, for one
// image. What it leaves out it notes.
func (r *reader) images(c config, hidden int64) {
	r.b.view, r.b.scope, r.b.shared = "image", Position, false
	family := r.model.Family
	kind, known := composites[family]
	switch {
	case r.deepseekOCR(c):
		return
	case qwenTowers[family] != nil:
		r.qwenVision(c)
		return
	case family == "gemma3n":
		r.gemma3nTowers(c)
		return
	case !known && !c.has("vision_config"):
		return
	}
	v, model, ok := c.part("vision_config", kind.tower, kind.fixed)
	if !ok {
		return
	}
	read, ok := towers[model]
	if !ok {
		c.note(LeftOut, "the vision tower (vision_config of model_type %q) and its projector: parameters and FLOPs", model)
		return
	}
	if kind.project == nil {
		read(r, v)
		c.note(LeftOut, "the projector of model_type %q: parameters and FLOPs", family)
		c.assume("an image has the size that the vision tower expects")
		return
	}
	if kind.joins {
		r.merge = c.need("spatial_merge_size")
	}
	kind.project(r, c, v, read(r, v), hidden)
}

// llava adds LlavaMultiModalProjector.
func (r *reader) llava(c, _ config, t tower, hidden int64) {
	b := &r.b
	positions := r.selected(c, t)
	r.mlpProjector(c, t.width, hidden, positions, true)
	r.model.ImageTokens = positions
	if t.breaks {
		r.model.ImageTokens = b.mul(t.rows, b.add(t.cols, 1))
	}
}

// llavaNext adds LlavaNextMultiModalProjector. An image is a view of the whole, and crops of the same size as that view.
func (r *reader) llavaNext(c, v config, t tower, hidden int64) {
	b := &r.b
	positions := r.selected(c, t)
	r.mlpProjector(c, t.width, hidden, positions, true)
	b.parameter("image_newline", hidden)
	r.model.ImageTokens = positions
	for i := range b.layers {
		if b.layers[i].View == "image" {
			b.layers[i].View = "global"
		}
	}
	for _, l := range b.layers {
		if l.View == "global" {
			l.View, l.Parameters = "crop", 0
			b.layers = append(b.layers, l)
		}
	}
	size := v.opt(0, "image_size")
	c.assume("an image is one view of %d x %d pixels plus the given number of crops of that size", size, size)
}

// selected counts the positions that go to the projector: all, or all but the first, which is meant to be the class token.
func (r *reader) selected(c config, t tower) int64 {
	all := r.b.add(r.b.mul(t.rows, t.cols), t.extra)
	switch s := c.text("vision_feature_select_strategy"); s {
	case "", "default":
		return all - 1
	case "full":
	default:
		c.wrong("vision_feature_select_strategy", s, "default or full")
	}
	return all
}

// mlpProjector adds two matrices. Their input are the outputs of one layer of the tower, or of several side by side.
func (r *reader) mlpProjector(c config, width, hidden, positions int64, bias bool) {
	b := &r.b
	bias = c.flag(bias, "multimodal_projector_bias")
	b.part, b.positions = "projector", positions
	b.in("projector", 1)
	b.linear("linear_1", b.mul(width, c.featureLayers()), hidden, bias)
	b.linear("linear_2", hidden, hidden, bias)
}

// featureLayers counts the layers of the tower whose outputs go to the projector.
func (c config) featureLayers() int64 {
	v, _ := c.value([]string{"vision_feature_layer"})
	if l, ok := v.([]any); ok && len(l) > 0 {
		return int64(len(l))
	}
	return 1
}

// paligemma adds PaliGemmaMultiModalProjector.
func (r *reader) paligemma(c, _ config, t tower, _ int64) {
	b := &r.b
	b.part, b.positions = "projector", b.add(b.mul(t.rows, t.cols), t.extra)
	b.in("projector", 1)
	b.linear("linear", t.width, c.need("projection_dim"), true)
	r.model.ImageTokens = b.positions
}

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
