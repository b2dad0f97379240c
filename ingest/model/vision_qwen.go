package model

// Defaults of Qwen2VLVisionConfig and Qwen2_5_VLVisionConfig: configuration_qwen2_vl.py and configuration_qwen2_5_vl.py of
// transformers 5.17.
var (
	qwen2VisionDefaults = numbers(map[string]int64{"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4, "in_channels": 3,
		"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2})
	qwen25VisionDefaults = numbers(map[string]int64{"depth": 32, "hidden_size": 3584, "intermediate_size": 3420, "in_channels": 3,
		"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584})
)

// qwenVision adds the parameters of the vision tower of Qwen2-VL and Qwen2.5-VL. It counts no FLOPs: these towers take pictures of
// any size, and the configuration names none.
func (r *reader) qwenVision(c config) {
	v, _, ok := c.part("vision_config", "", true)
	if !ok {
		return
	}
	b := &r.b
	b.part, b.view = r.model.Family, ""
	c.note(LeftOut, "FLOPs of the vision tower of %s: the configuration does not say how large images are", r.model.Family)
	if r.model.Family == "qwen2_vl" {
		v.defaults = qwen2VisionDefaults
		width := v.need("embed_dim")
		r.qwenTower(v, width, v.need("hidden_size"), 2)
		mlp := int64(float64(width) * v.number(4, "mlp_ratio"))
		b.parameter("mlp", b.add(b.weights(width, mlp, true), b.weights(mlp, width, true)))
		return
	}
	v.defaults = qwen25VisionDefaults
	width, mlp := v.need("hidden_size"), v.need("intermediate_size")
	r.qwenTower(v, width, v.need("out_hidden_size"), 1)
	b.parameter("mlp", b.add(b.mul(2, b.weights(width, mlp, true)), b.weights(mlp, width, true)))
}

// qwenTower adds what both towers share: all but the MLP of the layers, whose group it leaves current. A norm has so many parameters
// for each element.
func (r *reader) qwenTower(v config, width, output, norm int64) {
	b := &r.b
	patch, merge := v.need("patch_size"), v.need("spatial_merge_size")
	merged := b.mul(width, b.mul(merge, merge))
	pixels := b.mul(v.need("temporal_patch_size"), b.mul(patch, patch))
	b.in("embedding", 1)
	b.parameter("patch_embed", b.weights(b.mul(v.need("in_channels"), pixels), width, false))
	b.in("merger", 1)
	b.norm("ln_q", b.mul(norm, width))
	b.parameter("mlp", b.add(b.weights(merged, merged, true), b.weights(merged, output, true)))
	layers := v.depth("depth")
	b.in(layerNames(firstLayers(layers)), layers)
	b.norm("norms", b.mul(2*norm, width))
	b.parameter("attn", b.add(b.weights(width, b.mul(3, width), true), b.weights(width, width, true)))
}
