package model

// visionModels are the configurations of vision models alone, by model_type: their classes in transformers take pictures and no
// tokens, or both without a decoder.
var visionModels = map[string]func(r *reader, c config, architecture string){
	"vit":                 (*reader).vitModel,
	"clip":                (*reader).clipModel,
	"clip_vision_model":   (*reader).clipVisionModel,
	"siglip":              (*reader).siglipModel,
	"siglip_vision_model": (*reader).siglipVisionModel,
	"sam":                 (*reader).samModel,
	"sam_vision_model":    (*reader).samVisionModel,
	"pixtral":             (*reader).pixtralModel,
}

// vision reads a configuration of a vision model alone. known is false where model_type is none of its.
func (r *reader) vision(c config) (known bool) {
	read, known := visionModels[r.model.Family]
	if !known {
		return false
	}
	architecture := ""
	if a := c.texts("architectures"); len(a) > 0 {
		architecture = a[0]
	}
	r.b.view, r.b.scope = "image", Position
	read(r, c, architecture)
	return true
}

// tower is what a vision tower hands on of one picture.
type tower struct {
	width      int64 // of a position
	rows, cols int64 // of patches
	extra      int64 // positions before the patches: the class token
	breaks     bool  // in a prompt, a token follows each row of patches
}

// towers read the towers that models for pictures and text are built with, by model_type.
var towers = map[string]func(r *reader, c config) tower{
	"clip_vision_model":   (*reader).clip,
	"siglip_vision_model": (*reader).siglip,
	"vit":                 (*reader).vitTower,
	"pixtral":             (*reader).pixtral,
}

// part reads the object of a tower's configuration. Its class is the one given where it must be or the object names none.
func (c config) part(name, class string, fixed bool) (v config, model string, ok bool) {
	v, ok = c.sub(name)
	if !ok {
		if !c.has(name) {
			c.faults.missing = append(c.faults.missing, c.path+name)
		}
		return v, "", false
	}
	model = v.text("model_type")
	if fixed || model == "" {
		model = class
	}
	v.defaults = classDefaults()[model]
	return v, model, true
}

// pair reads a size that is one number, for a square, or height and width.
func (c config) pair(name string) (height, width int64) {
	v, _ := c.value([]string{name})
	l, isList := v.([]any)
	if !isList {
		n := c.need(name)
		return n, n
	}
	if len(l) != 2 {
		c.wrong(name, v, "a number, or height and width")
		return 1, 1
	}
	return c.whole(l[0], name, 1), c.whole(l[1], name, 1)
}

// patches counts the patches that fit along one side of a picture; what is left over is not seen.
func (c config) patches(image, patch int64) int64 {
	n := image / patch
	if n == 0 {
		c.wrong("patch_size", patch, "at most image_size")
		return 1
	}
	return n
}

// channels reads num_channels, which old configurations lack: 3 then.
func (c config) channels() int64 {
	n := c.opt(3, "num_channels")
	if n == 0 {
		c.wrong("num_channels", n, "at least 1")
	}
	return n
}

// labels counts the classes that a classifier tells apart; transformers leaves out id2label where they are 2.
func (c config) labels() int64 {
	if names, ok := c.sub("id2label"); ok {
		return int64(len(names.fields))
	}
	return c.opt(2, "num_labels")
}

// convolution adds a convolution over channels with a kernel of so many pixels.
func (b *builder) convolution(component string, channels, kernel, output int64, bias bool) {
	b.matrices(Convolution, component, b.mul(channels, kernel), output, 1, 1, bias)
}

// attend adds attention of each position to so many keys.
func (b *builder) attend(component string, heads, headSize, keys int64) {
	b.put(Layer{Component: component, Kind: Attention, Scope: Position, Heads: heads, KVHeads: heads, KeySize: headSize, ValueSize: headSize,
		Positions: b.positions, Keys: keys})
}

// firstLayers returns the indexes below n.
func firstLayers(n int64) []int {
	indexes := make([]int, n)
	for i := range indexes {
		indexes[i] = i
	}
	return indexes
}
