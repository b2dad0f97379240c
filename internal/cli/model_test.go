package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
)

// modelFixture is what PyTorch counts of a decoder, with the field names of testdata/model/decoder.json.
type modelFixture struct {
	Name, Form string
	Config     json.RawMessage
	Params     int64
	Runs       []struct {
		Prompt, New, Batch int64
		Prefill, Decode    *struct{ Model int64 }
		All                *struct{ Model int64 } `json:"prefill_all_logits"`
	}
}

// visionFixture is what PyTorch counts of a vision tower, with the field names of testdata/model/vision.json.
type visionFixture struct {
	Name         string
	Config       json.RawMessage
	Images       int64
	Params       *int64
	VisionParams *int64  `json:"vision_params"`
	ImageSize    []int64 `json:"image_size"` // height and width
	ImageTokens  *int64  `json:"image_tokens"`
	Flop         struct{ Vision, Crop *int64 }
}

func readFixtures(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(read(t, filepath.Join("..", "..", "testdata", "model", name)), into); err != nil {
		t.Fatal(err)
	}
}

// ocrConfig is the configuration of DeepSeek-OCR.
func ocrConfig(t *testing.T) []byte {
	t.Helper()
	var all []visionFixture
	readFixtures(t, "vision.json", &all)
	i := slices.IndexFunc(all, func(f visionFixture) bool { return f.Name == "deepseek ocr" })
	if i < 0 {
		t.Fatal("no fixture of DeepSeek-OCR")
	}
	return all[i].Config
}

// modelJSON is the part of the JSON form that others rely on.
type modelJSON struct {
	Params       int64  `json:"params"`
	ActiveParams *int64 `json:"active_params"`
	VisionParams int64  `json:"vision_params"`
	DType        string
	DTypeAssumed bool     `json:"dtype_assumed"`
	WeightBytes  *float64 `json:"weight_bytes"`
	KVTokenBytes *float64 `json:"kv_bytes_per_token"`
	ByDType      map[string]struct {
		Weights float64  `json:"weight_bytes"`
		KVToken *float64 `json:"kv_bytes_per_token"`
	} `json:"bytes_by_dtype"`
	Layers      *int64
	ImageTokens *int64 `json:"image_tokens"`
	Stages      map[string]struct {
		Flop        *int64
		Params      int64
		DecoderFlop *int64           `json:"decoder_flop"`
		PartOf      *string          `json:"part_of"`
		InPrefill   *bool            `json:"in_prefill"`
		Images      *int64           `json:"images"`
		Operators   map[string]int64 `json:"operators"`
		Parts       map[string]struct{ Flop, Params int64 }
	}
	Notes []string
}

// nowhere is an empty folder of a user without a home or a warehouse.
func nowhere(t *testing.T) *place {
	p := newPlace(t)
	p.env = []string{"HOME=" + p.path("no/home"), "PROF_HOME=" + p.path("no/warehouse")}
	return p
}

func (p *place) model(args ...string) modelJSON {
	p.t.Helper()
	var m modelJSON
	if err := json.Unmarshal([]byte(p.ok(append([]string{"model", "--format", "json"}, args...)...)), &m); err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
	return m
}

// flop is the operations of a stage; it must have some.
func (m modelJSON) flop(t *testing.T, stage string) int64 {
	t.Helper()
	if m.Stages[stage].Flop == nil {
		t.Fatalf("no operations of %s", stage)
	}
	return *m.Stages[stage].Flop
}

// modelKinds are families whose layers are of different kinds; TestCountedFLOPs of queries has all families.
var modelKinds = []string{"deepseek_v3", "llama", "whisper", "mamba2"}

// TestModelDecoders: parameters and operations are those that PyTorch counts, of one configuration of each kind.
func TestModelDecoders(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	var file struct{ Fixtures []modelFixture }
	readFixtures(t, "decoder.json", &file)
	decoders := file.Fixtures
	readFixtures(t, "encoder_decoder.json", &file)
	file.Fixtures = append(decoders, file.Fixtures...)
	families, kinds := map[string]bool{}, sample.Of(modelKinds, 2)
	for i, f := range file.Fixtures {
		var c struct {
			Family string `json:"model_type"`
		}
		if err := json.Unmarshal(f.Config, &c); err != nil {
			t.Fatal(err)
		}
		if families[c.Family] || len(f.Runs) == 0 || !slices.Contains(kinds, c.Family) {
			continue
		}
		families[c.Family] = true
		path := write(t, p.path(fmt.Sprintf("%d.json", i)), f.Config)
		r := f.Runs[len(f.Runs)-1]
		args := []string{path, "--prefill", fmt.Sprint(r.Prompt), "--decode", fmt.Sprint(r.New), "--batch", fmt.Sprint(r.Batch)}
		m := p.model(args...)
		if m.Params != f.Params || m.flop(t, "prefill") != r.Prefill.Model || m.flop(t, "decode") != r.Decode.Model {
			t.Errorf("%s: %d parameters, %d and %d operations, want %d, %d and %d", f.Name, m.Params, m.flop(t, "prefill"), m.flop(t, "decode"), f.Params, r.Prefill.Model, r.Decode.Model)
		}
		if r.All != nil {
			if got := p.model(append(args, "--head", "all")...).flop(t, "prefill"); got != r.All.Model {
				t.Errorf("%s: %d operations with all logits, want %d", f.Name, got, r.All.Model)
			}
		}
	}
	if len(families) != len(kinds) {
		t.Errorf("%d families, want %q", len(families), kinds)
	}
	if got := listing(t, p.dir); slices.ContainsFunc(got, func(name string) bool { return !strings.HasSuffix(name, ".json") }) {
		t.Errorf("left behind: %q", got)
	}
}

// TestModelVision: the same of vision towers, whose configuration alone is enough too.
func TestModelVision(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	var all []visionFixture
	readFixtures(t, "vision.json", &all)
	for _, name := range sample.Of([]string{"qwen2 vl oblong", "clip vision large 336", "siglip vision so400m", "pixtral vision", "deepseek ocr", "sam vision", "llava", "gemma3 4b vision", "llava next",
		"qwen2.5-vl-72b", "qwen3-vl-30b-a3b", "qwen3.5-27b", "vit", "mistral3 too large"}, 4) {
		i := slices.IndexFunc(all, func(f visionFixture) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no fixture %q", name)
		}
		f := all[i]
		path := write(t, p.path(name+".json"), f.Config)
		sized := []string{path}
		if s := f.ImageSize; s != nil {
			sized = append(sized, "--image-size", fmt.Sprintf("%dx%d", s[1], s[0]))
		}
		m := p.model(sized...)
		if got := m.flop(t, "vision"); got != *f.Flop.Vision {
			t.Errorf("%s: %d operations, want %d", name, got, *f.Flop.Vision)
		}
		if f.Params != nil && m.Params != *f.Params || f.VisionParams != nil && m.VisionParams != *f.VisionParams {
			t.Errorf("%s: %d parameters, %d of vision", name, m.Params, m.VisionParams)
		}
		if f.ImageTokens != nil && (m.ImageTokens == nil || *m.ImageTokens != *f.ImageTokens) {
			t.Errorf("%s: image tokens %v", name, m.ImageTokens)
		}
		if f.Flop.Crop != nil {
			if got, want := p.model(append(sized, "--crops", "3")...).flop(t, "vision"), *f.Flop.Vision+3**f.Flop.Crop; got != want {
				t.Errorf("%s with crops: %d operations, want %d", name, got, want)
			}
		}
		_, decoder := m.Stages["prefill"]
		if decoder != (m.ActiveParams != nil) || !decoder && (m.KVTokenBytes != nil || m.ByDType["bf16"].KVToken != nil || m.Layers != nil || m.Stages["vision"].PartOf != nil) {
			t.Errorf("%s: %+v", name, m)
		}
		if name != "llava next" && name != "qwen2 vl oblong" { // a tower of one size, and one of any
			continue
		}
		if got := p.model(append(sized, "--images", "3", "--batch", "2")...).flop(t, "vision"); got != 6**f.Flop.Vision {
			t.Errorf("%s: %d operations of 3 images in each of 2 sequences", name, got)
		}
		if got := p.model(append(sized, "--images", "0")...).flop(t, "vision"); got != 0 {
			t.Errorf("%s: %d operations of no image", name, got)
		}
	}
}

// TestModelDeepSeekOCR holds the published figures of DeepSeek-OCR, and where its vision counts.
func TestModelDeepSeekOCR(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	path := write(t, p.path("ocr/config.json"), ocrConfig(t))
	m := p.model("ocr")
	if m.DType != "bf16" || m.DTypeAssumed || *m.ActiveParams != 574095360 || *m.KVTokenBytes != 61440 || *m.ImageTokens != 273 || *m.Layers != 12 || *m.WeightBytes != 2*float64(m.Params) {
		t.Errorf("%+v", m)
	}
	for dtype, bytes := range map[string]float64{"fp32": 4, "bf16": 2, "fp8": 1, "fp4": 0.5} {
		b := m.ByDType[dtype]
		if b.Weights != bytes*float64(m.Params) || *b.KVToken != bytes*30720 {
			t.Errorf("in %s: %v bytes, %v a token", dtype, b.Weights, *b.KVToken)
		}
		if dtype != "fp4" && !*sample.Whole {
			continue
		}
		if o := p.model(path, "--dtype", dtype); o.DType != dtype || *o.WeightBytes != b.Weights || *o.KVTokenBytes != bytes*30720 || o.Params != m.Params {
			t.Errorf("--dtype %s: %+v", dtype, o)
		}
	}
	vision := m.Stages["vision"]
	if *vision.InPrefill || *vision.PartOf != "prefill" || *vision.Images != 1 || *m.Stages["prefill"].DecoderFlop != m.flop(t, "prefill") || vision.Params != m.VisionParams ||
		m.Params != m.Stages["prefill"].Params+vision.Params {
		t.Errorf("without images: %+v", m.Stages)
	}
	o := p.model(path, "--images", "1", "--crops", "4")
	with := o.Stages["vision"]
	if !*with.InPrefill || *with.Images != 1 || o.flop(t, "vision") != 1139967033344+4*388149837824 || o.flop(t, "prefill") != m.flop(t, "prefill")+o.flop(t, "vision") ||
		*o.Stages["prefill"].DecoderFlop != m.flop(t, "prefill") || o.flop(t, "decode") != m.flop(t, "decode") {
		t.Errorf("with images: %+v", o.Stages)
	}
	var parts int64
	for name, part := range with.Parts {
		if !slices.Contains([]string{"sam", "clip", "projector"}, name) {
			t.Errorf("part %s", name)
		}
		parts += part.Flop
	}
	if len(with.Parts) != 3 || parts != o.flop(t, "vision") {
		t.Errorf("parts: %+v", with.Parts)
	}
	// Of no images, the vision counts nothing.
	if o := p.model(path, "--images", "0"); o.flop(t, "prefill") != m.flop(t, "prefill") || o.flop(t, "vision") != 0 {
		t.Errorf("--images 0: %+v", o.Stages)
	}
	for stage, s := range m.Stages {
		var sum int64
		for _, n := range s.Operators {
			sum += n
		}
		if stage != "vision" && sum != *s.Flop {
			t.Errorf("the operators of %s have %d operations, it has %d", stage, sum, *s.Flop)
		}
	}
}

// TestModelQuantised: bytes of weights are those of the method that the configuration names, not known where that is unknown.
func TestModelQuantised(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	const linears = 2 * (2*64*64 + 2*64*32 + 3*64*128) // of both layers, which fp8 quantises
	const params = 2*64*100 + linears + 5*64
	for _, c := range []struct {
		more  string
		bytes float64 // -1: not known
		dtype string
		says  string // "": not asked for
	}{
		{``, 2 * params, "bf16", "precision   bf16 (assumed: the configuration names none; set it with --dtype)\nweights     169.62 KiB\n"},
		{`, "torch_dtype": "float32"`, 4 * params, "fp32", "precision   fp32\nweights     339.25 KiB\n"},
		{`, "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}`, 2*params - linears, "bf16", ""},
		{`, "quantization_config": {"quant_method": "fp8"}`, 2*params - linears, "bf16", "weights     97.62 KiB, quantised as configured\n"},
		{`, "quantization_config": {"quant_method": "mine"}`, -1, "bf16", ""},
		{`, "torch_dtype": "float16", "quantization_config": {"quant_method": "mine"}`, -1, "fp16", "precision   fp16\nweights     not known\n"},
	} {
		path := write(t, p.path("llama.json"), []byte(strings.Replace(string(config(2)), `, "hidden_size"`, c.more+`, "hidden_size"`, 1)))
		m := p.model(path)
		if m.Params != params || m.DType != c.dtype || (m.WeightBytes == nil) != (c.bytes < 0) || m.WeightBytes != nil && *m.WeightBytes != c.bytes {
			t.Errorf("%s: %d parameters of %s, %+v", c.more, m.Params, m.DType, m.WeightBytes)
		}
		if c.says == "" {
			continue
		}
		if got := p.ok("model", path); !strings.Contains(got, c.says) {
			t.Errorf("%s:\n%s", c.more, got)
		}
		if !strings.Contains(c.more, "quantization") { // nothing to be set aside
			continue
		}
		if o := p.model(path, "--dtype", "fp8"); *o.WeightBytes != params || o.DTypeAssumed {
			t.Errorf("%s in fp8: %v", c.more, *o.WeightBytes)
		}
	}
}

// TestModelConventions: what is counted of attention, heads and contexts.
func TestModelConventions(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	write(t, p.path("llama.json"), config(2))
	// Of 2 layers: 4 heads, keys and values of 16; pairs of a query and a key cost 2 x 4 x 32 each.
	pairs := func(n int64) int64 { return 2 * 2 * 4 * 32 * n }
	const linear = 2 * 2 * (64*64*2 + 64*32*2 + 3*64*128) // a token in both layers
	const head = 2 * 64 * 100
	for _, c := range []struct {
		args            string
		prefill, decode int64
	}{
		{"", 10*linear + head + pairs(100), 4*(linear+head) + pairs(11+12+13+14)},
		{"--convention causal --context fixed --fixed-context 5", 10*linear + head + pairs(55), 4*(linear+head) + pairs(4*5)},
		{"--batch 3 --convention full --head last --context max", 3 * (10*linear + head + pairs(100)), 3 * (4*(linear+head) + pairs(4*2048))},
		{"--head all --decode 0", 10*(linear+head) + pairs(100), 0},
		{"--prefill 0 --context auto", 0, 4*(linear+head) + pairs(1+2+3+4)},
	} {
		m := p.model(append([]string{"llama.json", "--prefill", "10", "--decode", "4"}, strings.Fields(c.args)...)...)
		if m.flop(t, "prefill") != c.prefill || m.flop(t, "decode") != c.decode {
			t.Errorf("%s: %d and %d operations, want %d and %d", c.args, m.flop(t, "prefill"), m.flop(t, "decode"), c.prefill, c.decode)
		}
	}
	// Latents that are not expanded anew in each step; TestModelIndexed holds that by default they are.
	var published map[string]json.RawMessage
	readFixtures(t, "decoder_published.json", &published)
	path := write(t, p.path("v3.json"), published["deepseek-v3"])
	expanded, absorbed := p.model(path, "--mla", "expanded"), p.model(path, "--mla", "absorbed")
	if e, a := expanded.flop(t, "decode"), absorbed.flop(t, "decode"); e < 10*a || expanded.flop(t, "prefill") != absorbed.flop(t, "prefill") {
		t.Errorf("expanded %d, absorbed %d", e, a)
	}
}

// TestModelIndexed: what is said of a model whose layers attend to what an indexer chooses is not what is said of a window, nor of latents
// that are expanded anew.
func TestModelIndexed(t *testing.T) {
	t.Parallel()
	p := nowhere(t)
	var published map[string]json.RawMessage
	readFixtures(t, "decoder_published.json", &published)
	path := write(t, p.path("v32.json"), published["deepseek-v3.2"])
	got := p.ok("model", path, "--prefill", "3000", "--decode", "2")
	for _, says := range []string{"61 of 61 layers attend to at most 2048 tokens", "computed once per token (--mla absorbed uses the latents)", "KV cache    85,888 B per token"} {
		if !strings.Contains(got, says) {
			t.Errorf("no %q in\n%s", says, got)
		}
	}
	for _, not := range []string{"made anew", "anew (--mla", "recomputing keys", "within a window", "limited to the window"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in\n%s", not, got)
		}
	}
	// With absorbed matrices a step's queries meet latents: 512 + 64 and 512 for each of 128 heads in place of 128 + 64 and 128.
	expanded, absorbed := p.model(path, "--prefill", "100", "--decode", "1"), p.model(path, "--prefill", "100", "--decode", "1", "--mla", "absorbed")
	if more := absorbed.flop(t, "decode") - expanded.flop(t, "decode"); more != 2*61*128*101*(512+64+512-128-64-128) {
		t.Errorf("absorbed counts %d more", more)
	}
}
