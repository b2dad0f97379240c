package model

import (
	"slices"
	"strings"
)

// families are the decoders that are read as transformers builds them, by model_type; others are read by the standard names.
var families = map[string]func(*reader, config, *decoder){
	"gpt2":         (*reader).gpt2,
	"llama":        (*reader).llama,
	"mistral":      (*reader).mistral,
	"qwen2":        (*reader).qwen2,
	"qwen3":        (*reader).qwen3,
	"gemma":        (*reader).gemma,
	"gemma2":       (*reader).gemma2,
	"gemma3_text":  (*reader).gemma3,
	"gemma3n_text": (*reader).gemma3n,
	"gemma4_text":  (*reader).gemma4,
	"phi3":         (*reader).phi3,
	"gpt_oss":      (*reader).gptOSS,
	"mixtral":      (*reader).mixtral,
	"qwen2_moe":    (*reader).qwen2MoE,
	"qwen3_moe":    (*reader).qwen3MoE,
	"deepseek_v2":  (*reader).deepseek,
	"deepseek_v3":  (*reader).deepseek,

	"apertus":          (*reader).apertus,
	"arcee":            (*reader).arcee,
	"bitnet":           (*reader).bitnet,
	"bloom":            (*reader).bloom,
	"codegen":          (*reader).codeGen,
	"cohere":           (*reader).cohere,
	"cohere2":          (*reader).cohere2,
	"doge":             (*reader).doge,
	"ernie4_5":         (*reader).ernie45,
	"exaone4":          (*reader).exaone4,
	"falcon":           (*reader).falcon,
	"glm":              (*reader).glm,
	"glm4":             (*reader).glm4,
	"gpt_bigcode":      (*reader).gptBigCode,
	"gpt_neo":          (*reader).gptNeo,
	"gpt_neox":         (*reader).gptNeoX,
	"gptj":             (*reader).gptJ,
	"hunyuan_v1_dense": (*reader).hunyuan,
	"jais2":            (*reader).jais2,
	"minicpm3":         (*reader).deepseek,
	"mpt":              (*reader).mpt,
	"nemotron":         (*reader).nemotron,
	"olmo":             (*reader).olmo,
	"olmo2":            (*reader).olmo2,
	"opt":              (*reader).opt,
	"persimmon":        (*reader).persimmon,
	"phi":              (*reader).phi,
	"seed_oss":         (*reader).seedOSS,
	"smollm3":          (*reader).smolLM3,
	"stablelm":         (*reader).stablelm,
	"starcoder2":       (*reader).starcoder2,
	"vaultgemma":       (*reader).vaultGemma,
	"deepseek":         (*reader).deepseekMoE,
	"internlm2":        (*reader).internLM2,
	"minicpm":          (*reader).miniCPM,
	"orion":            (*reader).orion,
	"qwen":             (*reader).qwen,
	"youtu":            (*reader).deepseek,

	"dbrx":             (*reader).dbrx,
	"deepseek_v32":     (*reader).indexed,
	"dots1":            (*reader).dots1,
	"exaone_moe":       (*reader).exaoneMoE,
	"glm4_moe_lite":    (*reader).glm4MoELite,
	"hunyuan_v1_moe":   (*reader).hunyuanMoE,
	"mimo_v2_flash":    (*reader).mimoV2,
	"ernie4_5_moe":     (*reader).ernie45MoE,
	"glm4_moe":         (*reader).glm4MoE,
	"glm_moe_dsa":      (*reader).indexed,
	"granitemoeshared": (*reader).graniteMoE,
	"hy_v3":            (*reader).hyV3,
	"llama4_text":      (*reader).llama4,
	"minimax_m2":       (*reader).miniMaxM2,
	"olmoe":            (*reader).olmoE,
	"phimoe":           (*reader).phiMoE,
	"solar_open":       (*reader).solarOpen,

	"bamba":            (*reader).bamba,
	"falcon_h1":        (*reader).falconH1,
	"granitemoehybrid": (*reader).graniteHybrid,
	"jamba":            (*reader).jamba,
	"lfm2":             (*reader).lfm2,
	"lfm2_moe":         (*reader).lfm2MoE,
	"mamba":            (*reader).mamba,
	"mamba2":           (*reader).mamba2Model,
	"minimax":          (*reader).miniMax,
	"nemotron_h":       (*reader).nemotronH,
	"qwen3_next":       (*reader).qwen3Next,
	"qwen3_5_text":     (*reader).qwen35,
	"qwen3_5_moe_text": (*reader).qwen35MoE,
}

// sameAs are model_types whose decoder is another's.
var sameAs = map[string]string{
	"cwm":                "llama",
	"falcon_mamba":       "mamba",
	"flex_olmo":          "olmoe",
	"gemma3":             "gemma3_text",
	"granite":            "llama",
	"granitemoe":         "granitemoeshared",
	"helium":             "llama",
	"minimax_text_01":    "minimax",
	"MiniMaxText01":      "minimax",
	"olmo3":              "olmo2",
	"kimi_k2":            "deepseek_v3",
	"mimo":               "qwen2",
	"ministral":          "mistral",
	"ministral3":         "mistral",
	"qwen2_vl":           "qwen2",
	"qwen2_vl_text":      "qwen2",
	"qwen2_5_vl":         "qwen2",
	"qwen2_5_vl_text":    "qwen2",
	"qwen3_vl_text":      "qwen3",
	"qwen3_vl_moe_text":  "qwen3_moe",
	"deepseek_vl_v2":     "deepseek_v2",
	"DeepseekOCR":        "deepseek_v2",
	"deepseek_ocr":       "deepseek_v2",
	"deepseekocr":        "deepseek_v2",
	"DeepseekV2":         "deepseek_v2",
	"DeepseekV3":         "deepseek_v3",
	"deepseek_v2_config": "deepseek_v2",
}

// architectures give the family of a configuration without model_type by its class.
var architectures = map[string]string{
	"GPT2": "gpt2", "Llama": "llama", "Mistral": "mistral", "Qwen2": "qwen2", "Qwen3": "qwen3", "Gemma": "gemma", "Gemma2": "gemma2",
	"Gemma3": "gemma3_text", "Gemma3n": "gemma3n_text", "Gemma4": "gemma4_text", "Phi3": "phi3", "GptOss": "gpt_oss", "Mixtral": "mixtral", "Qwen2Moe": "qwen2_moe", "Qwen3Moe": "qwen3_moe",
	"DeepseekV2": "deepseek_v2", "DeepseekV3": "deepseek_v3", "DeepseekV32": "deepseek_v32", "DeepseekOCR": "deepseek_v2",
	"Apertus": "apertus", "Arcee": "arcee", "Bamba": "bamba", "BitNet": "bitnet", "Bloom": "bloom", "CodeGen": "codegen", "Cohere": "cohere",
	"Cohere2": "cohere2", "Cwm": "cwm", "Dbrx": "dbrx", "Doge": "doge", "Dots1": "dots1", "Ernie4_5": "ernie4_5", "Ernie4_5_Moe": "ernie4_5_moe",
	"Exaone4": "exaone4", "ExaoneMoe": "exaone_moe", "Falcon": "falcon", "FalconH1": "falcon_h1", "FalconMamba": "falcon_mamba", "FlexOlmo": "flex_olmo",
	"GPTBigCode": "gpt_bigcode", "GPTJ": "gptj", "GPTNeo": "gpt_neo", "GPTNeoX": "gpt_neox", "Glm": "glm", "Glm4": "glm4", "Glm4Moe": "glm4_moe", "Glm4MoeLite": "glm4_moe_lite", "GlmMoeDsa": "glm_moe_dsa", "Granite": "granite",
	"GraniteMoe": "granitemoe", "GraniteMoeHybrid": "granitemoehybrid", "GraniteMoeShared": "granitemoeshared", "HYV3": "hy_v3", "Helium": "helium",
	"HunYuanDenseV1": "hunyuan_v1_dense", "HunYuanMoEV1": "hunyuan_v1_moe", "Jais2": "jais2", "Jamba": "jamba", "Lfm2": "lfm2", "Lfm2Moe": "lfm2_moe", "Llama4": "llama4_text",
	"Mamba": "mamba", "MiMoV2Flash": "mimo_v2_flash", "Mpt": "mpt", "Mamba2": "mamba2", "MiniCPM3": "minicpm3", "MiniMax": "minimax", "MiniMaxM2": "minimax_m2", "Ministral": "ministral",
	"Ministral3": "ministral3", "Nemotron": "nemotron", "NemotronH": "nemotron_h", "OPT": "opt", "Olmo": "olmo", "Olmo2": "olmo2", "Olmo3": "olmo3",
	"Olmoe": "olmoe", "Persimmon": "persimmon", "Phi": "phi", "Phimoe": "phimoe", "Qwen3Next": "qwen3_next", "Qwen3_5": "qwen3_5_text",
	"Qwen3_5Moe": "qwen3_5_moe_text", "SeedOss": "seed_oss", "SmolLM3": "smollm3", "SolarOpen": "solar_open", "StableLm": "stablelm",
	"Starcoder2": "starcoder2", "T5": "t5", "MT5": "mt5", "UMT5": "umt5", "Whisper": "whisper", "VaultGemma": "vaultgemma", "Youtu": "youtu",
}

// textOf is the family of a decoder's configuration that has no model_type, by that of the whole: the default of its class.
var textOf = map[string]string{
	"llava": "llama", "llava_next": "llama", "paligemma": "gemma", "gemma3": "gemma3_text", "gemma3n": "gemma3n_text", "gemma4": "gemma4_text", "mistral3": "mistral", "qwen2_vl": "qwen2", "qwen2_5_vl": "qwen2",
	"qwen3_vl": "qwen3_vl_text", "qwen3_vl_moe": "qwen3_vl_moe_text", "qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text",
}

// textParts are the names under which configurations keep their decoder's.
var textParts = []string{"text_config", "language_config", "llm_config"}

// read reads a whole configuration: a decoder, a vision model, or towers and a decoder.
func (r *reader) read(c config) {
	m := r.model
	m.Architecture = first(c.texts("architectures"))
	m.Name = c.text("_name_or_path")
	if m.Name == "" {
		m.Name = c.text("name_or_path")
	}
	m.DType = dtypeOf(c)
	if m.Family == "" {
		m.Family = familyOf(c, m.Architecture)
		c.defaults = classDefaults()[m.Family]
	}
	if r.vision(c) {
		r.quantised(c)
		return
	}
	text := c
	for _, name := range textParts {
		if sub, ok := c.sub(name); ok {
			text = sub
			break
		}
	}
	if _, known := composites[m.Family]; known && text.path == "" {
		c.faults.missing = append(c.faults.missing, textParts[0])
	}
	r.decoder(c, text)
	r.noteOthers(c, text)
	if text.path != "" {
		r.images(c, m.HiddenSize)
	} else if c.has("vision_config") && c.has("hidden_size") { // its decoder's fields lie beside it
		r.images(c, m.HiddenSize)
	}
	r.quantised(c)
}

// noteOthers notes what a model has besides its decoder and pictures.
func (r *reader) noteOthers(c, text config) {
	for _, name := range []string{"audio_config", "speech_config", "talker_config", "dit_config"} {
		if c.has(name) {
			c.note(LeftOut, "the part that %s describes: parameters and FLOPs", name)
		}
	}
	if _, known := composites[r.model.Family]; !known && text.path != "" && !c.has("vision_config") && !c.has("audio_config") {
		c.note(LeftOut, "the parts of model_type %q other than its decoder (%s): parameters and FLOPs", r.model.Family, strings.TrimSuffix(text.path, "."))
	}
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// familyOf finds the model_type by the name of the class where the configuration lacks it.
func familyOf(c config, architecture string) string {
	name := architecture
	for _, end := range []string{"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Model"} {
		name = strings.TrimSuffix(name, end)
	}
	if f, ok := architectures[name]; ok {
		return f
	}
	if name != "" {
		return name
	}
	return "unknown"
}

// dtypes names precisions as transformers and PyTorch write them.
var dtypes = map[string]string{
	"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32", "float64": "fp64", "double": "fp64",
	"float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "int8": "int8", "bf16": "bf16", "fp16": "fp16", "fp32": "fp32", "fp8": "fp8",
}

// DTypes are the precisions that a model can have, with the bits of one element.
var DTypes = map[string]float64{"fp64": 64, "fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4}

// dtypeOf finds the precision of weights and computation, in the configuration or in its decoder's.
func dtypeOf(c config) string {
	parts := []config{c}
	for _, name := range textParts {
		if sub, ok := c.sub(name); ok {
			parts = append(parts, sub)
		}
	}
	for _, p := range parts {
		for _, field := range []string{"dtype", "torch_dtype"} {
			v, _ := p.field(field)
			s, _ := v.(string)
			if d, ok := dtypes[strings.TrimPrefix(s, "torch.")]; ok {
				return d
			} else if s != "" && s != "auto" {
				p.assume("%s%s %q is unknown: the precision is not taken from it", p.path, field, s)
			}
		}
	}
	return ""
}

// quantised notes in which form weights are stored where a quantisation says so.
func (r *reader) quantised(c config) {
	q, ok := c.sub("quantization_config")
	if !ok {
		return
	}
	method := q.text("quant_method")
	var bits float64
	var which func(Layer) bool
	switch method {
	case "fp8":
		// Blocks of weights share a scale of 32 bits; a scale for a whole matrix is not worth counting.
		bits = 8
		if b := q.wholes("weight_block_size"); len(b) == 2 && b[0] > 0 && b[1] > 0 {
			bits += 32 / float64(b[0]*b[1])
		}
		which = func(l Layer) bool {
			return (l.Part == decoderPart || l.Part == encoderPart) && l.Kind == Linear && l.Scope != Logit && l.Component != routerName
		}
	case "mxfp4":
		// 32 weights of 4 bits share a scale of 8: OCP Microscaling Formats (MX) Specification v1.0, section 5.
		bits = 4 + 8.0/32
		which = func(l Layer) bool { return l.Kind == Linear && l.Copies > 1 }
	default:
		c.note(Unknown, "bytes of the weights: quantization_config.quant_method %q is unknown", method)
		return
	}
	for i, l := range r.b.layers {
		if which(l) {
			r.b.layers[i].Bits = bits
		}
	}
	c.assume("weights that %s quantises take %g bits", method, bits)
	if kept := q.texts("modules_to_not_convert"); method == "fp8" && slices.ContainsFunc(kept, func(s string) bool { return s != "lm_head" }) {
		c.assume("quantization_config.modules_to_not_convert is only partly applied: %s", strings.Join(kept, ", "))
	}
}
