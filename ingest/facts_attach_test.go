package ingest_test

import (
	"fmt"
	"testing"

	"prof/ingest"
	"prof/ingest/load"
	"prof/ingest/workload"
	"prof/internal/golden"
)

// TestFactsAddedLater: facts alone go to the run of that name, once; those of the same kind give way to them.
func TestFactsAddedLater(t *testing.T) {
	b := newBench(t)
	one, two := b.file("one.json", llamaConfig(1)), b.file("two.json", llamaConfig(2))
	early, late := b.file("early.workload.json", withModel(3)), b.file("late.workload.json", passes(9))
	b.ok(ingest.Options{Name: "other", Models: []string{one}, Workloads: []string{early}}, graphs)
	b.ok(ingest.Options{Name: "x"}, kernels)
	other := func() string {
		return b.rows(`SELECT * FROM source s JOIN run r USING (run_id) WHERE r.name = 'other' ORDER BY s.source_id`) + b.rows(`SELECT l.* FROM model_layer l JOIN run r USING (run_id) WHERE r.name = 'other' ORDER BY ALL`) +
			b.rows(fmt.Sprintf(models, "other")) + b.rows(fmt.Sprintf(works, "other")) + b.rows(`SELECT n.* FROM model_note n JOIN run r USING (run_id) WHERE r.name = 'other' ORDER BY ALL`)
	}
	before := other()

	r := b.ok(ingest.Options{Name: "x", Models: []string{one}}, early)
	if !r.Made || !r.Attached || r.Run.Name != "x" || len(r.Sources) != 2 || len(r.Repeated) != 0 {
		t.Errorf("added: %+v", r)
	}
	b.of("x", sources, "1 nsys sqlite kernels.sqlite.gz|2 workload workload early.workload.json|3 model hf-config one.json")
	b.of("x", models, "1 2 unheard_of 3|2 3 one 1")
	b.of("x", works, "2 1 ~ ~ 1 7 4")
	b.expect(`SELECT count(DISTINCT run_id) FROM model_note WHERE kind = 'assumed'`, "2")

	// The same again is nothing to do, whatever it is called.
	held := b.state()
	for _, o := range []ingest.Options{{Models: []string{one}, Workloads: []string{early}}, {Models: []string{b.file("again.json.gz", llamaConfig(1))}}, {Workloads: []string{early}}} {
		o.Name = "x"
		r := b.ok(o)
		if r.Made || r.Attached || len(r.Repeated) != len(o.Models)+len(o.Workloads) {
			t.Errorf("again: %+v", r)
		}
		for _, f := range r.Repeated {
			if f.Run != "x" || !f.Had {
				t.Errorf("again: %+v", f)
			}
		}
		b.warned()
	}
	if b.state() != held {
		t.Error("the same again changed the warehouse")
	}

	b.ok(ingest.Options{Name: "x", Models: []string{two}})
	b.warned("replaced in run x: one.json")
	b.of("x", sources, "1 nsys sqlite kernels.sqlite.gz|2 workload workload early.workload.json|4 model hf-config two.json")
	b.of("x", models, "1 2 unheard_of 3|3 4 two 2")
	b.whole()
	b.ok(ingest.Options{Name: "x"}, late)
	b.warned("replaced in run x: early.workload.json")
	b.of("x", models, "3 4 two 2") // that of early's configuration went with it
	b.of("x", works, "5 ~ 1 ~ 1 9 4")
	b.whole()
	b.ok(ingest.Options{Name: "x", Models: []string{one}, Workloads: []string{early}})
	b.of("x", models, "4 6 one 1|5 7 unheard_of 3")
	b.expect(`SELECT count(*) FROM source_part p JOIN run r USING (run_id) WHERE r.name = 'x' AND p.source_id IN (2, 5)`, "0")
	b.whole()
	if got := other(); got != before {
		t.Errorf("the other run's facts became\n%s\nof\n%s", got, before)
	}
}

// TestFactsGivenAgain: facts that the run has stay when they are given again with others of their kind.
func TestFactsGivenAgain(t *testing.T) {
	b := newBench(t)
	one, two, three := b.file("1.workload.json", passes(1)), b.file("2.workload.json", passes(2)), b.file("3.workload.json", passes(3))
	b.ok(ingest.Options{Name: "x", Workloads: []string{one, two}}, kernels)
	r := b.ok(ingest.Options{Name: "x", Workloads: []string{two, three}})
	if len(r.Sources) != 1 || len(r.Repeated) != 1 || r.Repeated[0] != (ingest.Repeat{Path: two, Run: "x", Had: true}) {
		t.Errorf("%+v", r)
	}
	b.of("x", works, "3 ~ 1 ~ 1 2 4|4 ~ 1 ~ 1 3 4")
	b.warned("replaced in run x: 1.workload.json", "several files describe the passes of the same captures, and the last one counts: 2.workload.json, 3.workload.json")
	b.whole()
}

// TestFactsOfAnotherSize: a configuration that is there is read anew for pictures of a size that it was not read for.
func TestFactsOfAnotherSize(t *testing.T) {
	b := newBench(t)
	const tower = `{"model_type": "qwen2_vl", "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8, "vision_config": {"hidden_size": 16}}`
	config, facts := b.file("config.json", tower), b.file("workload.json", `{"config": `+tower+`, "runs": [{"prefill_len": 7, "new_tokens": 4}]}`)
	const tokens = `SELECT m.source_id, m.image_token_count FROM model m JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY m.model_id`
	size := func(width, height int64) ingest.Options {
		o := ingest.Options{Name: "x", Models: []string{config}, Workloads: []string{facts}}
		o.Load.Image = load.ImageSize{Width: width, Height: height}
		return o
	}
	b.ok(size(0, 0), kernels)
	b.of("x", tokens, "2 ~|3 ~")
	if r := b.ok(size(56, 84)); !r.Attached || len(r.Sources) != 2 {
		t.Errorf("%+v", r)
	}
	b.of("x", tokens, "4 6|5 6")
	b.whole()
	before := b.state()
	for _, o := range []ingest.Options{size(56, 84), size(0, 0)} {
		if r := b.ok(o); r.Made || len(r.Repeated) != 2 || b.state() != before {
			t.Errorf("the same again: %+v", r)
		}
	}
	// Beside captures that are there it is said how.
	again := size(28, 28)
	again.Name = "y"
	if r := b.ok(again, kernels); r.Made || b.state() != before {
		t.Errorf("%+v", r)
	}
	b.warned("config.json was not stored, because its captures are already in run x; to replace what the run has: prof ingest --run x --model config.json --image-size 28x28",
		"workload.json was not stored, because its captures are already in run x; to replace what the run has: prof ingest --run x --workload workload.json --image-size 28x28")
	// Without a name, a run of these facts and another size is no run of the same.
	b.ok(ingest.Options{Models: []string{config}})
	again.Name, again.Workloads = "", nil
	if r := b.ok(again); !r.Made {
		t.Errorf("%+v", r)
	}
	if r := b.ok(again); r.Made {
		t.Errorf("twice: %+v", r)
	}
}

// TestFactsAlone: without a run of that name they make one; without a name, one for each content.
func TestFactsAlone(t *testing.T) {
	b := newBench(t)
	config := b.file("m/config.json", llamaConfig(2))
	for _, run := range []string{"x", "y"} { // one configuration in many runs
		r := b.ok(ingest.Options{Name: run, Models: []string{config}, Tags: [][2]string{{"k", "v"}}})
		if !r.Made || r.Attached {
			t.Errorf("%s: %+v", run, r)
		}
		b.warned("there was no run " + run + ": the new one has facts but no capture; to add captures: prof ingest --run " + run + " --add FILE")
		b.of(run, models, "1 1 m 2")
		b.of(run, `SELECT t.key, t.value FROM run_tag t JOIN run r USING (run_id) WHERE r.name = '%s'`, "k v")
	}
	// Any run of the same facts is as good where none was named.
	before := b.state()
	r := b.ok(ingest.Options{}, config)
	if r.Made || len(r.Repeated) != 1 || !r.Repeated[0].Had || r.Repeated[0].Run != "x" && r.Repeated[0].Run != "y" || b.state() != before {
		t.Errorf("the same without a name: %+v", r)
	}
	prefill := int64(3)
	o := ingest.Options{Models: []string{config}, Pass: workload.Uniform(workload.Pass{Prefill: &prefill}, nil)}
	r = b.ok(o)
	b.warned()
	if !r.Made || r.Run.Name != "20250304-050607-config" || len(r.Sources) != 2 {
		t.Errorf("other facts without a name: %+v", r)
	}
	if r = b.ok(o); r.Made || len(r.Repeated) != 2 || r.Repeated[1].Run != "20250304-050607-config" {
		t.Errorf("again: %+v", r)
	}
	// A run with captures is not one of these facts alone.
	b.ok(ingest.Options{Name: "z", Models: []string{b.file("3.json", llamaConfig(3))}}, kernels)
	if r = b.ok(ingest.Options{Models: []string{b.path("3.json")}}); !r.Made || r.Run.Name != "20250304-050607-3" {
		t.Errorf("facts of a run with captures: %+v", r)
	}
	b.whole()
}

// TestAimedFacts: facts are about the capture of their stem, else of their folder.
func TestAimedFacts(t *testing.T) {
	w := newBench(t).w
	timeline, trace := string(golden.Unpacked(t, "../testdata/foreign/minimal.sqlite.gz")), `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]}`
	for name, c := range map[string]struct {
		nsys, torch, a, b string
		want              string // captures of a and b
		unclear           []string
	}{
		"stem":           {"f/a.sqlite.gz", "f/b.trace.json.gz", "f/a.workload.json", "f/b-workload.json", "nsys torch", nil},
		"stem crossed":   {"f/b.sqlite.gz", "f/a.trace.json.gz", "f/a.workload.json", "f/b.workload.json", "torch nsys", nil},
		"stem elsewhere": {"n/a.sqlite.gz", "t/b.trace.json.gz", "w/a.workload.json", "w/b.metrics.json", "nsys torch", nil},
		"folder":         {"n/a.sqlite.gz", "t/b.trace.json.gz", "n/workload.json", "t/workload.json", "nsys torch", nil},
		"stem first":     {"n/a.sqlite.gz", "t/b.trace.json.gz", "n/b.workload.json", "t/a.workload.json", "torch nsys", nil},
		"stem of both":   {"n/a.sqlite.gz", "t/a.trace.json.gz", "n/a.workload.json", "t/a.workload.json", "nsys torch", nil},
		"of a rank":      {"p/trace-1.sqlite.gz", "t/trace-1-rank1.json.gz", "p/workload.json", "t/trace-1.workload.json", "nsys torch", nil},
		"one folder":     {"f/a.sqlite.gz", "f/b.trace.json.gz", "f/a.workload.json", "f/workload.json", "nsys ~", []string{"f/workload.json"}},
		"neither":        {"n/a.sqlite.gz", "t/b.trace.json.gz", "n/workload.json", "w/x.workload.json", "nsys ~", []string{"w/x.workload.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{t: t, w: w, dir: t.TempDir()}
			b.file(c.nsys, timeline)
			b.file(c.torch, trace)
			b.file(c.a, passes(1))
			b.file(c.b, passes(2))
			var unclear []string
			for _, path := range c.unclear {
				unclear = append(unclear, path+": neither its name nor its folder shows which capture it describes; it is applied to all captures of the run")
			}
			const aimed = `SELECT string_agg(coalesce(w.capture, '~'), ' ' ORDER BY p.prefill_count) FROM workload w JOIN workload_pass p USING (run_id, source_id) JOIN run r USING (run_id) WHERE r.name = '%s'`
			b.ok(ingest.Options{Name: name}, b.dir)
			b.of(name, aimed, c.want)
			b.warned(unclear...)
			b.free()
			if name != "stem" && name != "folder" && name != "neither" {
				return
			}
			// Given afterwards, the same.
			later := name + " later"
			b.ok(ingest.Options{Name: later}, b.path(c.nsys), b.path(c.torch))
			b.ok(ingest.Options{Name: later, Workloads: []string{b.path(c.a), b.path(c.b)}})
			b.of(later, aimed, c.want)
			b.warned(unclear...)
			// One alone is about all.
			b.ok(ingest.Options{Name: later, Workloads: []string{b.file("one.json", passes(3))}})
			b.of(later, aimed, "~")
			b.free()
		})
	}
}
