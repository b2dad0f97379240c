package model

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// fixture is what PyTorch counts of one configuration; decoder.py and encoder_decoder.py of testdata/model write them.
type fixture struct {
	Name, Form string
	Config     json.RawMessage
	Params     int64
	Runs       []struct {
		Batch, Prompt int64
		Cache         struct{ Prefill int64 }
	}
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	var all []fixture
	for i, name := range []string{"decoder", "encoder_decoder"} {
		text, err := os.ReadFile("../../testdata/model/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Fixtures []fixture }
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Fixtures) < []int{60, 40}[i] {
			t.Fatalf("only %d fixtures of %s", len(file.Fixtures), name)
		}
		all = append(all, file.Fixtures...)
	}
	return all
}

// TestParameters holds that the rows of every family add up to the parameters that transformers makes of the same configuration.
func TestParameters(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		t.Run(f.Name+" "+f.Form, func(t *testing.T) {
			fields, err := decode(f.Config)
			if err != nil {
				t.Fatal(err)
			}
			m, err := FromFields(fields)
			if err != nil {
				t.Fatal(err)
			}
			seen[m.Family] = true
			var got int64
			for _, l := range m.Layers {
				got += l.Parameters * l.Count
			}
			if got != f.Params {
				t.Errorf("%d parameters, want %d", got, f.Params)
			}
		})
	}
	elsewhere := []string{"deepseek", "internlm2", "minicpm", "orion", "qwen"} // TestPublishedElsewhere
	for _, name := range readFamilies() {
		if !seen[name] && !slices.Contains(elsewhere, name) {
			t.Errorf("no fixture of %s", name)
		}
	}
}

// TestCached holds that the layers that keep keys and values are those that transformers keeps in its cache: all tokens of a layer that sees
// all, and of one with a window those that the next token sees, itself left out. Falcon's class repeats heads before it keeps them, and those with an indexer keep what is made of latents.
func TestCached(t *testing.T) {
	for _, f := range fixtures(t) {
		m, err := Read(bytes.NewReader(f.Config))
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if encoderDecoders[m.Family] != nil { // whose caches of two kinds TestEncoderDecoderUse of queries checks
			continue
		}
		for _, run := range f.Runs {
			var got int64
			for _, l := range m.Layers {
				if l.Kind != Attention || l.Scope != Token || l.Component == sharedAttention {
					continue
				}
				tokens := run.Prompt
				if l.Window > 0 {
					tokens = min(tokens, l.Window-1)
				}
				numbers := l.KVHeads * (l.KeySize + l.ValueSize)
				if l.Latent > 0 {
					numbers = l.Latent + l.Rope
				}
				got += run.Batch * l.Count * numbers * tokens
			}
			if got != run.Cache.Prefill && !strings.HasPrefix(f.Name, "falcon-new") && m.Family != "deepseek_v32" && m.Family != "glm_moe_dsa" {
				t.Errorf("%s %s, %d x %d tokens: %d numbers are cached, want %d", f.Name, f.Form, run.Batch, run.Prompt, got, run.Cache.Prefill)
			}
		}
	}
}

// TestPublished holds that every published configuration says where it is from, is read without a field left over, and has the parameters
// that its makers give, to the digits that they give.
func TestPublished(t *testing.T) {
	var configs map[string]map[string]any
	var from map[string]struct {
		From string
		Said *float64
	}
	for path, into := range map[string]any{"decoder_published.json": &configs, "decoder_provenance.json": &from} {
		text, err := os.ReadFile("../../testdata/model/" + path)
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			err = d.Decode(into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(configs) < 50 || len(from) != len(configs) {
		t.Fatalf("%d configurations, %d sources", len(configs), len(from))
	}
	for name, fields := range configs {
		if from[name].From == "" {
			t.Errorf("%s: nothing says where it is from", name)
		}
		m, err := FromFields(fields)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if said := from[name].Said; said != nil {
			if got := float64(parametersOf(m.Layers)); got < 0.96**said || got > 1.02**said { // a tower's are not in a decoder's
				t.Errorf("%s: %.4g parameters, its makers say %.4g", name, got, *said)
			}
		}
	}
}
