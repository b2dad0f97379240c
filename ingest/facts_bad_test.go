package ingest_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/model"
	"prof/ingest/workload"
	"prof/schema"
)

// TestFactsOfHeldCaptures: a repeat stores nothing, facts included, and says how to add what the run lacks.
func TestFactsOfHeldCaptures(t *testing.T) {
	b := newBench(t)
	config, facts, other := b.file("config.json", llamaConfig(2)), b.file("workload.json", passes(7)), b.file("other.json", llamaConfig(3))
	b.ok(ingest.Options{Name: "x"}, kernels)
	before := b.state()
	prefill := int64(3)
	pass := workload.Uniform(workload.Pass{Prefill: &prefill}, nil)
	r := b.ok(ingest.Options{Name: "y", Models: []string{config}, Workloads: []string{facts}, Pass: pass}, kernels)
	if r.Made || len(r.Repeated) != 1 || r.Repeated[0].Run != "x" || r.Repeated[0].Had || b.state() != before {
		t.Errorf("%+v", r)
	}
	b.warned("config.json was not stored, because its captures are already in run x; to add it: prof ingest --run x --model config.json",
		"workload.json was not stored, because its captures are already in run x; to add it: prof ingest --run x --workload workload.json",
		"the facts in the options were not stored, because the captures are already in run x; to add them, give the options with --run x and no captures")
	// What it says to do does it; then the whole is a repeat without more words.
	b.ok(ingest.Options{Name: "x", Models: []string{config}})
	b.ok(ingest.Options{Name: "x", Workloads: []string{facts}, Pass: pass})
	before = b.state()
	if r = b.ok(ingest.Options{Models: []string{config}, Workloads: []string{facts}, Pass: pass}, kernels); r.Made || len(r.Repeated) != 1 || b.state() != before {
		t.Errorf("%+v", r)
	}
	b.warned()
	b.ok(ingest.Options{Models: []string{other}}, kernels)
	b.warned("other.json was not stored, because its captures are already in run x; to replace what the run has: prof ingest --run x --model other.json")
	// A part of the captures: an error, with facts as without.
	for _, o := range []ingest.Options{{}, {Models: []string{other}, Pass: pass}} {
		o.Name = "y"
		if _, err := b.try(o, kernels, graphs); !errors.Is(err, ingest.ErrHeld) {
			t.Errorf("a part is held: %v", err)
		}
	}
	if _, err := b.try(ingest.Options{Name: "x", Models: []string{other}}, graphs); !errors.Is(err, schema.ErrNameTaken) {
		t.Errorf("captures for a run that is there: %v", err)
	}
	if b.state() != before {
		t.Error("an error left something")
	}
}

// TestBadFacts: one bad file fails all of it and leaves nothing, in a run of its own, beside captures, and where it was to be added.
func TestBadFacts(t *testing.T) {
	b := newBench(t)
	good, facts := b.file("good/config.json", llamaConfig(2)), b.file("good/workload.json", passes(7))
	b.ok(ingest.Options{Name: "x", Models: []string{good}}, kernels)
	before := b.state()
	for i, c := range []struct {
		model, text string
		is          error
		says        []string
	}{
		{"config", `{"model_type": "llama", "vocab_size": 100, "num_hidden_layers": 2}`, model.ErrMissing, []string{"hidden_size", "intermediate_size", "num_attention_heads"}},
		{"config", strings.Replace(llamaConfig(2), `"hidden_size": 64`, `"hidden_size": "wide"`, 1), model.ErrWrong, []string{"hidden_size"}},
		{"config", `no JSON`, model.ErrNoConfig, []string{"byte"}},
		{"config", llamaConfig(2)[:80], model.ErrNoConfig, []string{"byte"}},
		{"config", ``, model.ErrNoConfig, nil},
		{"config", `[1]`, model.ErrNoConfig, nil},
		{"workload", `{"runs": [{"prefill_len": -1}]}`, nil, []string{"runs[0].prefill_len"}},
		{"workload", passes(7)[:40], workload.ErrNoWorkload, []string{"cut off"}},
		{"workload", `{}`, workload.ErrNoWorkload, nil},
	} {
		bad := b.file(fmt.Sprintf("bad%d.json", i), c.text)
		o := ingest.Options{Models: []string{good, bad}, Workloads: []string{facts}}
		if c.model == "workload" {
			o = ingest.Options{Models: []string{good}, Workloads: []string{facts, bad}}
		}
		prefill := int64(3)
		o.Pass = workload.Uniform(workload.Pass{Prefill: &prefill}, nil)
		for _, paths := range [][]string{nil, {graphs}} {
			for _, run := range []string{"", "new", "x"} {
				if run == "x" && paths != nil {
					continue
				}
				if isFirst := i == 0 || i == 6; !isFirst && run != "x" && (run != "new" || paths == nil) { // of its kind
					continue
				}
				o.Name = run
				_, err := b.try(o, paths...)
				if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), bad+": ") {
					t.Errorf("%q, run %q, captures %q: %v", c.text, run, paths, err)
					continue
				}
				for _, word := range c.says {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%q: %v does not say %s", c.text, err, word)
					}
				}
			}
		}
	}
	// In a folder, by its name.
	b.copied(graphs, "walk/n.sqlite.gz")
	b.file("walk/sub/config.json", `{"model_type": "llama"}`)
	if _, err := b.try(ingest.Options{Name: "new"}, b.path("walk")); !errors.Is(err, model.ErrMissing) {
		t.Errorf("in a folder: %v", err)
	}
	for path, want := range map[string]string{b.path("nosuch.json"): "there is no such file", b.path("good/workload.json/x"): "", b.path("walk"): "no such file", b.path("cut.gz"): "cut short"} {
		if path == b.path("cut.gz") {
			packed, err := os.ReadFile(b.file("whole.gz", llamaConfig(2)))
			if err != nil {
				t.Fatal(err)
			}
			b.file("cut", string(packed[:len(packed)-9]))
			if err := os.Rename(b.path("cut"), path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.try(ingest.Options{Name: "new", Models: []string{path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if b.state() != before {
		t.Error("an error left something")
	}
	if _, err := b.try(ingest.Options{Name: "x", Models: []string{b.file("3.json", llamaConfig(3))}, Tags: [][2]string{{"k", "v"}}}); err == nil || !strings.Contains(err.Error(), "prof tag x KEY=VALUE") {
		t.Errorf("tags of a run that is there: %v", err)
	}
	if b.state() != before {
		t.Error("refused tags left something")
	}
	b.ok(ingest.Options{Name: "new", Models: []string{good}}, graphs)
}
