package model

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// fixture is what PyTorch counts of one configuration; testdata/model/decoder.py writes it.
type fixture struct {
	Name, Form string
	Config     json.RawMessage
	Params     int64
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	text, err := os.ReadFile("../../testdata/model/decoder.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Fixtures []fixture }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Fixtures) < 60 {
		t.Fatalf("only %d fixtures", len(file.Fixtures))
	}
	return file.Fixtures
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
	for name := range families {
		if !seen[name] && !slices.Contains(elsewhere, name) {
			t.Errorf("no fixture of %s", name)
		}
	}
}
