package model

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/internal/sample"
)

// checkModel holds what is true of whatever was accepted: counts are positive where they must be and multiply without overflow.
func checkModel(t *testing.T, m *Model) {
	t.Helper()
	var parameters, operations float64
	for i, l := range m.Layers {
		least := min(l.Input, l.Output, l.Copies, l.Active, l.Heads, l.KVHeads, l.KeySize, l.ValueSize, l.Window, l.Latent, l.Rope, l.Positions, l.Keys, l.Parameters)
		if least < 0 || l.Count < 1 || l.Bits < 0 || l.Part == "" || l.Group == "" || l.Component == "" {
			t.Fatalf("row %d: %+v", i, l)
		}
		switch l.Kind {
		case Linear, Convolution, RelativePosition:
			if l.Input < 1 || l.Copies < 1 || l.Active < 1 || l.Scope == "" || (l.Scope == Position) != (l.Positions > 0) {
				t.Fatalf("a matrix: row %d: %+v", i, l)
			}
		case Mixing:
			if l.Input < 1 || l.Output < 1 || l.Active != 1 || l.Parameters != 0 || l.Scope != Token {
				t.Fatalf("mixing: row %d: %+v", i, l)
			}
		case Recurrence:
			if l.Heads < 1 || l.KeySize < 1 || l.ValueSize < 1 || l.Active < 1 || l.Scope != Token {
				t.Fatalf("a recurrence: row %d: %+v", i, l)
			}
		case Attention:
			if l.Heads < 1 || l.KVHeads < 1 && l.ValueSize > 0 || l.KeySize < 1 || l.Scope == "" || l.Copies != 0 || (l.Scope == Position) != (l.Keys > 0) {
				t.Fatalf("attention: row %d: %+v", i, l)
			}
		case Embedding, Norm, Parameter:
			if l.Scope != "" || l.Heads != 0 {
				t.Fatalf("parameters: row %d: %+v", i, l)
			}
		default:
			t.Fatalf("row %d: %+v", i, l)
		}
		parameters += float64(l.Parameters) * float64(l.Count)
		operations = max(operations, 2*float64(l.Input)*float64(l.Output)*float64(l.Active)*float64(l.Count)*float64(max(l.Positions, 1)))
	}
	if len(m.Layers) == 0 || parameters <= 0 || parameters > math.MaxInt64 || operations > math.MaxInt64 {
		t.Fatalf("%d rows, %g parameters, %g operations", len(m.Layers), parameters, operations)
	}
	if min(m.HiddenSize, m.VocabSize, m.LayerCount, m.MaxContext, m.ImageTokens) < 0 {
		t.Fatalf("%+v", m)
	}
}

// seeds are configurations of all kinds, valid ones first.
func seeds(t testing.TB) [][]byte {
	var out [][]byte
	var last string
	for _, path := range []string{"../../testdata/model/decoder.json", "../../testdata/model/vision.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			at := bytes.Index(line, []byte(`"config":`))
			if at < 0 {
				continue
			}
			config := object(bytes.TrimSpace(line[at+len(`"config":`):]))
			if family := string(config[:min(len(config), 40)]); family != last { // a few of each, not all forms
				out, last = append(out, config), family
			}
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d configurations", len(out))
	}
	for _, text := range []string{"", "{}", "null", "[]", `{"model_type": "llama"`, `{"model_type": 1}`, `{"model_type": {"model_type": "llama"}}`, `{"hidden_size": 1e400}`,
		`{"model_type":"llama","hidden_size":2147483648,"vocab_size":2147483648,"num_hidden_layers":100000,"num_attention_heads":1,"intermediate_size":2147483648}`,
		`{"model_type":"llava","text_config":{"text_config":{}},"vision_config":{"vision_config":[]}}`, strings.Repeat(`{"text_config":`, 3000)} {
		out = append(out, []byte(text))
	}
	return out
}

// object is the object that a text begins with.
func object(text []byte) []byte {
	depth := 0
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return text
}

// ofSize makes towers that take pictures of any size count operations.
var ofSize = Options{Image: load.ImageSize{Width: 640, Height: 480}}

// FuzzRead holds that any text is read or refused: without a panic, without much memory, and never with counts that make no sense.
func FuzzRead(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Add([]byte(`{"model_type": "llama", "a": [` + strings.Repeat("[],", 1<<18) + `[]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Read(bytes.NewReader(text), ofSize)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
		if err != nil {
			if len(err.Error()) > 4000+10*len(text) {
				t.Errorf("an error of %d bytes for %d", len(err.Error()), len(text))
			}
			return
		}
		checkModel(t, m)
	})
}

// TestDamagedConfigurations cuts and changes valid configurations at many places.
func TestDamagedConfigurations(t *testing.T) {
	read := 0
	for _, s := range sample.Of(seeds(t), 12) { // each is like some others
		step := max(1, len(s)/25)
		for at := 0; at < len(s); at += step {
			if m, err := Read(bytes.NewReader(s[:at])); err == nil {
				t.Errorf("the first %d bytes of %d: %v", at, len(s), m)
			}
			for _, with := range []string{"9", "0", "-", `"`, "}", "[", "null", "e99"} {
				damaged := append(append(append([]byte{}, s[:at]...), with...), s[min(at+1, len(s)):]...)
				if m, err := Read(bytes.NewReader(damaged), ofSize); err == nil {
					checkModel(t, m)
					read++
				}
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d of the damaged ones were read", read)
	}
}

// TestMemory holds that memory goes with the text, not with the numbers in it.
func TestMemory(t *testing.T) {
	for _, changes := range []map[string]any{
		{"num_hidden_layers": maxLayers},
		{"num_hidden_layers": maxSize},
		{"num_hidden_layers": maxLayers, "layer_types": []string{"sliding_attention"}, "sliding_window": 4},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = readFields(t, small("gemma2", changes))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
			t.Errorf("%v: %d MB allocated", changes, grown>>20)
		}
	}
}
