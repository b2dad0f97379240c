package model

import "fmt"

// What the code of DeepSeek-OCR sets without reading it from the configuration: deepencoder.py and modeling_deepseekocr.py in the
// model's repository, and vllm/model_executor/models/deepencoder.py. See also arXiv 2510.18234, section 3.2.
const (
	ocrPatch  = 16  // side of SAM's patches
	ocrWindow = 14  // side of SAM's windows, in patches
	ocrNeck   = 256 // channels of SAM's neck
	ocrRatio  = 4   // width of an MLP to that of its tower; mlp_ratio of the configuration is not used
	ocrCrop   = 640 // pixels along a side of a crop
)

// Values of the published model where objects within the configuration leave them out.
var (
	ocrSAM       = numbers(map[string]int64{"width": 768, "layers": 12, "heads": 12})
	ocrCLIP      = numbers(map[string]int64{"width": 1024, "layers": 24, "heads": 16, "image_size": 224, "patch_size": 14})
	ocrProjector = numbers(map[string]int64{"input_dim": 2048, "n_embed": 1280})
)

// deepEncoder is the vision part of DeepSeek-OCR: SAM's image encoder, two convolutions that halve its output's sides, and CLIP,
// which takes the result as its patches. What both hand on goes to the projector side by side.
type deepEncoder struct {
	sam           sam
	half, quarter int64 // channels after each convolution
	clip          encoder
	clipTable     int64 // positions that CLIP's table is made for
	clipKernel    int64 // pixels of a patch of CLIP's own, which is not used
	input, output int64 // of the projector
}

// deepseekOCR reads the vision part of DeepSeek-OCR; false where the configuration is of another model.
func (r *reader) deepseekOCR(c config) bool {
	widths, ok := ocrWidths(c)
	if !ok {
		return false
	}
	samConfig, hasSAM := widths.sub("sam_vit_b")
	clipConfig, hasCLIP := widths.sub("clip-l-14-224")
	if !hasSAM || !hasCLIP {
		c.note(LeftOut, "the vision towers (%s) and their projector: parameters and FLOPs", widths.path[:len(widths.path)-1])
		return true
	}
	v, _ := c.sub("vision_config")
	size := v.opt(1024, "image_size")
	e := r.deepEncoder(c, samConfig, clipConfig, v.patches(size, ocrPatch))
	r.b.view = "global"
	r.encode(e)
	side := quartered(e.sam.side)
	r.model.ImageTokens = r.b.add(r.b.mul(side, side+1), 1)

	e.sam.side = ocrCrop / ocrPatch
	r.b.view, r.b.shared = "crop", true
	r.encode(e)
	r.b.shared = false
	c.assume("an image is one view of %d x %d pixels plus the given number of crops of %d x %d; W x H crops add (%[5]d W + 1) %[5]d H tokens to its %[6]d",
		size, size, ocrCrop, ocrCrop, quartered(e.sam.side), r.model.ImageTokens)
	return true
}

// ocrWidths finds the object that names DeepSeek-OCR's towers.
func ocrWidths(c config) (config, bool) {
	v, _ := c.fields["vision_config"].(map[string]any)
	if _, ok := v["width"].(map[string]any); !ok {
		return config{}, false
	}
	vision, _ := c.sub("vision_config")
	return vision.sub("width")
}

// deepEncoder reads the shapes of all parts for a picture of side x side patches.
func (r *reader) deepEncoder(c, samConfig, clipConfig config, side int64) deepEncoder {
	samConfig.defaults, clipConfig.defaults = ocrSAM, ocrCLIP
	s := sam{width: samConfig.need("width"), heads: samConfig.need("heads"), layers: samConfig.depth("layers"), global: []int64{2, 5, 8, 11},
		window: ocrWindow, patch: ocrPatch, channels: 3, side: side, tableSide: side, output: ocrNeck, qkvBias: true, absolute: true, relative: true}
	s.headSize, s.mlp = samConfig.headSize("heads", s.width, s.heads), r.b.mul(ocrRatio, s.width)
	if samConfig.has("global_attn_indexes") {
		s.global = samConfig.wholes("global_attn_indexes")
	}
	t := encoder{width: clipConfig.need("width"), heads: clipConfig.need("heads"), layers: clipConfig.depth("layers"), qkvBias: true, bias: true, fusedQKV: true, out: "out_proj"}
	t.headSize, t.mlp = clipConfig.headSize("heads", t.width, t.heads), r.b.mul(ocrRatio, t.width)
	patch := clipConfig.need("patch_size")
	table := clipConfig.patches(clipConfig.need("image_size"), patch)
	e := deepEncoder{sam: s, half: 512, quarter: 1024, clip: t, clipTable: r.b.add(r.b.mul(table, table), 1), clipKernel: r.b.mul(patch, patch)}
	if channels := samConfig.wholes("downsample_channels"); len(channels) == 2 {
		e.half, e.quarter = channels[0], channels[1]
	} else if channels != nil {
		samConfig.wrong("downsample_channels", channels, "two numbers")
	}
	if e.quarter != t.width {
		clipConfig.wrong("width", t.width, "the last of downsample_channels, which are CLIP's patches")
	}
	e.input, e.output = ocrProjection(c, r.b.add(t.width, e.quarter))
	return e
}

// ocrProjection reads the sizes of the projector.
func ocrProjection(c config, features int64) (input, output int64) {
	p, ok := c.sub("projector_config")
	if !ok {
		p = config{path: "projector_config.", faults: c.faults}
	}
	p.defaults = ocrProjector
	if kind := p.text("projector_type"); kind != "" && kind != "linear" {
		p.wrong("projector_type", kind, "linear, as in the code of DeepSeek-OCR")
	}
	if input = p.need("input_dim"); input != features {
		p.wrong("input_dim", input, fmt.Sprintf("%d, the widths of both towers together", features))
	}
	return input, p.need("n_embed")
}

// quartered halves a side twice, as a convolution of 3 x 3 with a stride of 2 and a padding of 1 does.
func quartered(side int64) int64 { return halved(halved(side)) }

func halved(side int64) int64 { return (side + 1) / 2 }

// encode adds the parts as one view runs through them.
func (r *reader) encode(e deepEncoder) {
	b := &r.b
	r.sam(e.sam)
	half, quarter := halved(e.sam.side), quartered(e.sam.side)
	b.in("downsampling", 1)
	b.positions = b.mul(half, half)
	b.convolution("net_2", e.sam.output, 9, e.half, false)
	b.positions = b.mul(quarter, quarter)
	b.convolution("net_3", e.half, 9, e.quarter, false)

	tokens := b.positions
	width := e.clip.width
	b.part = "clip"
	b.in("embedding", 1)
	b.parameter("class_embedding", width)
	b.parameter("patch_embedding", b.weights(b.mul(3, e.clipKernel), width, false)) // is there, but SAM's output takes its place
	b.parameter("position_embedding", b.mul(e.clipTable, width))
	b.norm("pre_layrnorm", b.mul(2, width))
	e.clip.positions = b.add(tokens, 1)
	r.encoder(e.clip)

	b.part, b.positions = "projector", tokens
	b.in("projector", 1)
	b.linear("projector", e.input, e.output, true)
	b.parameter("image_newline, view_seperator", b.mul(2, e.output))
}
