package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

// pictured is a case of vision.json, which vision.py made with transformers and PyTorch.
type pictured struct {
	Name         string
	Config       json.RawMessage
	Params       *int64
	VisionParams *int64  `json:"vision_params"`
	ImageSize    []int64 `json:"image_size"` // height and width
	ImageTokens  int64   `json:"image_tokens"`
	FLOP         map[string]int64
}

// options give the picture's size, where the case has one.
func (p pictured) options() Options {
	if len(p.ImageSize) == 0 {
		return Options{}
	}
	return Options{Image: load.ImageSize{Height: p.ImageSize[0], Width: p.ImageSize[1]}}
}

func picturedCases(t *testing.T) []pictured {
	text, err := os.ReadFile("../../testdata/model/vision.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []pictured
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("vision.json holds no case")
	}
	return cases
}

func picturedCase(t *testing.T, name string) pictured {
	for _, c := range picturedCases(t) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("vision.json holds no case %q", name)
	return pictured{}
}

// parametersOf sums the parameters of rows.
func parametersOf(layers []Layer) (n int64) {
	for _, l := range layers {
		n += l.Parameters * l.Count
	}
	return n
}

// pictureFLOP sums the FLOPs of one picture by view: vision for an image or its global view, crop for a crop.
func pictureFLOP(layers []Layer) map[string]int64 {
	out := map[string]int64{}
	names := map[string]string{"image": "vision", "global": "vision", "crop": "crop"}
	for _, l := range layers {
		if names[l.View] == "" {
			continue
		}
		if l.Kind == Attention {
			out[names[l.View]] += 2 * l.Heads * (l.KeySize + l.ValueSize) * l.Count * l.Positions * l.Keys
		} else {
			out[names[l.View]] += 2 * l.Input * l.Output * l.Active * l.Count * l.Positions
		}
	}
	return out
}

// textWidth is the width of the decoders in vision.json whose projectors' sizes follow from it.
const textWidth = 48

// readVision reads the vision parts of a configuration alone.
func readVision(fields map[string]any, o ...Options) (*Model, error) {
	f := &faults{}
	c := config{fields: fields, faults: f, strict: true}
	r := reader{model: &Model{Family: c.text("model_type")}, faults: f}
	if len(o) > 0 {
		r.image = o[0].Image
	}
	c.defaults = classDefaults()[r.model.Family]
	if !r.vision(c) {
		r.images(c, textWidth)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if r.b.overflow {
		return nil, fmt.Errorf("%w: overflow", ErrWrong)
	}
	r.model.Layers, r.model.Notes = r.b.layers, f.notes
	return r.model, nil
}

func mustDecode(t *testing.T, text string) map[string]any {
	fields, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestVisionEqualsPyTorch(t *testing.T) {
	for _, c := range picturedCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			m, err := readVision(mustDecode(t, string(c.Config)), c.options())
			if err != nil {
				t.Fatal(err)
			}
			want := c.VisionParams
			if want == nil {
				want = c.Params
			}
			if got := parametersOf(m.Layers); got != *want {
				t.Errorf("parameters %d, want %d", got, *want)
			}
			if m.ImageTokens != c.ImageTokens {
				t.Errorf("image tokens %d, want %d", m.ImageTokens, c.ImageTokens)
			}
			if got := pictureFLOP(m.Layers); !maps.Equal(got, c.FLOP) {
				t.Errorf("FLOPs %v, want %v", got, c.FLOP)
			}
		})
	}
}

func TestWholeModelsWithVision(t *testing.T) {
	for _, c := range picturedCases(t) {
		if c.Params == nil {
			continue
		}
		m, err := Read(strings.NewReader(string(c.Config)), c.options())
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if got := parametersOf(m.Layers); got != *c.Params {
			t.Errorf("%s: parameters %d, want %d", c.Name, got, *c.Params)
		}
	}
}

// TestDecodersWithoutType holds that a decoder's configuration that does not name its class is of the one that the whole builds.
func TestDecodersWithoutType(t *testing.T) {
	read := 0
	for _, c := range picturedCases(t) {
		fields := mustDecode(t, string(c.Config))
		text, ok := fields["text_config"].(map[string]any)
		if !ok || c.Params == nil || !strings.HasPrefix(c.Name, "qwen") {
			continue
		}
		delete(text, "model_type")
		parametersAre(t, c.Name, fields, *c.Params)
		read++
	}
	if read < 10 {
		t.Errorf("only %d configurations", read)
	}
}

// The total of all parameters of DeepSeek-OCR is what its published weights hold: 6,672,212,480 bytes of bf16 in its
// model.safetensors.index.json.
func TestDeepSeekOCRPublished(t *testing.T) {
	m, err := Read(strings.NewReader(string(picturedCase(t, "deepseek ocr").Config)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := parametersOf(m.Layers), int64(6_672_212_480/2); got != want {
		t.Errorf("parameters %d, want %d", got, want)
	}
	parts := map[string]int64{}
	for _, l := range m.Layers {
		if l.Part != decoderPart {
			parts[l.Part] += l.Parameters * l.Count
		}
	}
	if want := map[string]int64{"sam": 95_569_152, "clip": 303_177_728, "projector": 2_622_720 + 2*1280}; !maps.Equal(parts, want) {
		t.Errorf("parameters %v, want %v", parts, want)
	}
}

func TestGroupsOfSAM(t *testing.T) {
	m, err := readVision(mustDecode(t, string(picturedCase(t, "sam vision").Config)))
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, l := range m.Layers {
		if name := fmt.Sprintf("%s x%d", l.Group, l.Count); !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	want := []string{"embedding x1", "layers 0-1,3-4,6-7,9-10 x8", "layers 2,5,8,11 x4", "neck x1"}
	if !slices.Equal(groups, want) {
		t.Errorf("groups %q, want %q", groups, want)
	}
}
