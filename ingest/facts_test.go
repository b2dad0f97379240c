package ingest_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/model"
	"prof/ingest/workload"
	"prof/schema"
)

const (
	kernels  = "../testdata/nsys/kernels/kernels.sqlite.gz"
	graphs   = "../testdata/nsys/variants-graph/variants-graph.sqlite.gz"
	cpuTrace = "../testdata/torch/cpu.trace.json.gz"
)

// llamaConfig is a configuration with a model's number of layers of its own.
func llamaConfig(layers int) string {
	return fmt.Sprintf(`{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": %d,
		"vocab_size": 100, "tie_word_embeddings": false}`, layers)
}

// passes are the facts of a workload with one pass.
func passes(prefill int) string {
	return fmt.Sprintf(`{"warmup": 1, "runs": [{"prefill_len": %d, "new_tokens": 4}]}`, prefill)
}

// withModel are facts that carry a configuration, which makes a note.
func withModel(layers int) string {
	return fmt.Sprintf(`{"config": %s, "runs": [{"prefill_len": 7, "new_tokens": 4}]}`, strings.Replace(llamaConfig(layers), `"llama"`, `"unheard_of"`, 1))
}

// bench is a warehouse, a folder of files, and what was warned of.
type bench struct {
	t        *testing.T
	w        *schema.Warehouse
	dir      string
	warnings []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &bench{t: t, w: w, dir: t.TempDir()}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

// file writes a file, packed where its name says so.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	data := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(data); err != nil {
			b.t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			b.t.Fatal(err)
		}
		data = packed.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return b.path(name)
}

// copied copies a capture into the folder.
func (b *bench) copied(from, name string) string {
	b.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return b.path(name)
}

// try ingests with options; their warnings go to b.warnings, without the folder's path.
func (b *bench) try(o ingest.Options, paths ...string) (*ingest.Result, error) {
	b.t.Helper()
	b.warnings = nil
	o.Now, o.Load.Threads = time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC), 2
	o.Warn = func(m string) {
		b.warnings = append(b.warnings, strings.ReplaceAll(m, b.dir+string(filepath.Separator), ""))
	}
	return ingest.Run(b.t.Context(), b.w, paths, o)
}

func (b *bench) ok(o ingest.Options, paths ...string) *ingest.Result {
	b.t.Helper()
	r, err := b.try(o, paths...)
	if err != nil {
		b.t.Fatalf("%+v %q: %v", o, paths, err)
	}
	return r
}

func (b *bench) warned(want ...string) {
	b.t.Helper()
	if !slices.Equal(b.warnings, want) {
		b.t.Errorf("warnings:\n %s\nwant\n %s", strings.Join(b.warnings, "\n "), strings.Join(want, "\n "))
	}
}

// rows gives a result: cells joined by blanks, NULL as ~, rows by bars.
func (b *bench) rows(query string) string {
	b.t.Helper()
	rows, err := b.w.DB.QueryContext(b.t.Context(), query)
	if err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		v, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range v {
			into[i] = &v[i]
		}
		if err := rows.Scan(into...); err != nil {
			b.t.Fatal(err)
		}
		cells := make([]string, len(cols))
		for i := range v {
			if cells[i] = fmt.Sprint(v[i]); v[i] == nil {
				cells[i] = "~"
			}
		}
		out = append(out, strings.Join(cells, " "))
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(out, "|")
}

func (b *bench) expect(query, want string) {
	b.t.Helper()
	if got := b.rows(query); got != want {
		b.t.Errorf("%s gives\n %s\nwant\n %s", query, got, want)
	}
}

// state tells any two contents of the warehouse apart.
func (b *bench) state() string {
	b.t.Helper()
	var parts []string
	for _, t := range strings.Split(b.rows(`SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL`), "|") {
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS t, count(*) AS n, coalesce(bit_xor(hash(x)), 0)::VARCHAR AS h FROM %s x", t, t))
	}
	return b.rows(strings.Join(parts, " UNION ALL ") + " ORDER BY t")
}

const (
	sources = `SELECT s.source_id, s.kind, s.form, parse_filename(s.path) FROM source s JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY s.source_id`
	models  = `SELECT m.model_id, m.source_id, m.name, m.layer_count FROM model m JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY m.model_id`
	works   = `SELECT w.source_id, w.model_id, w.warmup_count, w.capture, p.pass_id, p.prefill_count, p.decode_count FROM workload w JOIN run r USING (run_id)
		LEFT JOIN workload_pass p ON p.run_id = w.run_id AND p.source_id = w.source_id WHERE r.name = '%s' ORDER BY ALL`
)

func (b *bench) of(run, query, want string) {
	b.t.Helper()
	b.expect(fmt.Sprintf(query, run), want)
}

func (b *bench) remove(run string) {
	b.t.Helper()
	r, err := b.w.Resolve(b.t.Context(), run)
	if err == nil {
		err = b.w.Remove(b.t.Context(), r)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// whole holds that no row is of a run, source or model that is not there.
func (b *bench) whole() {
	b.t.Helper()
	for _, t := range []string{"model", "workload", "workload_pass", "source_part", "diagnostic"} {
		b.expect(`SELECT count(*) FROM `+t+` x WHERE x.source_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = x.run_id AND s.source_id = x.source_id)`, "0")
	}
	for _, t := range []string{"model_layer", "model_note"} {
		b.expect(`SELECT count(*) FROM `+t+` x WHERE NOT EXISTS (SELECT 1 FROM model m WHERE m.run_id = x.run_id AND m.model_id = x.model_id)`, "0")
	}
	b.expect(`SELECT count(*) FROM workload w WHERE w.model_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM model m WHERE m.run_id = w.run_id AND m.model_id = w.model_id)`, "0")
	b.expect(`SELECT count(*) FROM source s WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.run_id = s.run_id)`, "0")
	for table, key := range map[string]string{"source": "source_id", "model": "model_id", "workload": "source_id", "model_layer": "model_id, layer_id", "model_note": "model_id, note_id"} {
		b.expect(fmt.Sprintf(`SELECT count(*) - count(DISTINCT (run_id, %s)) FROM %s`, key, table), "0")
	}
}

// TestFactsBesideCapture: however facts are given, they become sources of the capture's run.
func TestFactsBesideCapture(t *testing.T) {
	b := newBench(t)
	config, facts := b.file("a/config.json", llamaConfig(2)), b.file("a/workload.json", passes(7))
	baseline, uncommon := b.file("baseline.json", llamaConfig(2)), b.file("of yesterday.txt", passes(7))
	b.copied(kernels, "folder/k.sqlite.gz")
	b.file("folder/model/config.json", llamaConfig(2))
	b.file("folder/k.workload.json", passes(7))
	b.file("folder/baseline.workload.json", passes(9)) // of a run without the profiler
	b.file("folder/tokenizer_config.json", `{"tokenizer_class": "LlamaTokenizer"}`)
	b.file("packed/config.json.gz", llamaConfig(2))
	b.file("packed/workload.json.gz", passes(7))
	if err := os.Symlink(config, b.path("link.json")); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		o              ingest.Options
		paths          []string
		sources, model string
	}{
		{ingest.Options{}, []string{kernels, config, facts}, "2 model hf-config config.json|3 workload workload workload.json", "a"},
		{ingest.Options{}, []string{facts, config, kernels}, "2 workload workload workload.json|3 model hf-config config.json", "a"},
		{ingest.Options{Models: []string{baseline}, Workloads: []string{uncommon}}, []string{kernels}, "2 model hf-config baseline.json|3 workload workload of yesterday.txt", "baseline"},
		{ingest.Options{Models: []string{b.path("a")}, Workloads: []string{facts}}, []string{kernels}, "2 model hf-config config.json|3 workload workload workload.json", "a"},
		{ingest.Options{}, []string{b.path("folder")}, "2 model hf-config config.json|3 workload workload k.workload.json", "model"},
		{ingest.Options{}, []string{kernels, b.path("packed")}, "2 model hf-config config.json.gz|3 workload workload workload.json.gz", "packed"},
		{ingest.Options{Models: []string{b.path("packed/config.json.gz")}, Workloads: []string{b.path("packed/workload.json.gz")}}, []string{kernels},
			"2 model hf-config config.json.gz|3 workload workload workload.json.gz", "packed"},
		// A file that is given twice is stored once, and as what it was said to be.
		{ingest.Options{Models: []string{config}, Workloads: []string{facts, facts}}, []string{kernels, b.path("a")}, "2 model hf-config config.json|3 workload workload workload.json", "a"},
		{ingest.Options{Models: []string{b.path("link.json")}}, []string{kernels, b.path("a")}, "2 workload workload workload.json|3 model hf-config link.json", "link"},
	} {
		run := fmt.Sprint("run", i)
		c.o.Name = run
		r := b.ok(c.o, c.paths...)
		b.warned()
		if !r.Made || r.Attached || len(r.Sources) != 3 || r.Run.Name != run {
			t.Errorf("%+v: %+v", c, r)
		}
		b.of(run, sources+" OFFSET 1", c.sources)
		b.of(run, `SELECT m.name, m.layer_count, (SELECT count(*) > 9 FROM model_layer l WHERE l.run_id = m.run_id) FROM model m JOIN run r USING (run_id) WHERE r.name = '%s'`, c.model+" 2 true")
		b.of(run, `SELECT w.warmup_count, w.capture, p.prefill_count, p.decode_count FROM workload w JOIN workload_pass p USING (run_id, source_id) JOIN run r USING (run_id) WHERE r.name = '%s'`, "1 ~ 7 4")
		b.whole()
		if _, err := b.w.DB.Exec(`UPDATE source SET sha256 = run_id::VARCHAR || source_id`); err != nil { // the next run is to be of the same capture
			t.Fatal(err)
		}
	}
}

// TestSameFactsTwice: of two files of one content, one is stored.
func TestSameFactsTwice(t *testing.T) {
	b := newBench(t)
	r := b.ok(ingest.Options{Name: "x", Models: []string{b.file("a.json", llamaConfig(2)), b.file("b.json.gz", llamaConfig(2))}}, kernels)
	if len(r.Sources) != 2 || len(r.Repeated) != 1 || r.Repeated[0] != (ingest.Repeat{Path: b.path("b.json.gz"), Run: "x"}) {
		t.Errorf("%+v", r)
	}
	b.of("x", models, "1 2 a 2")
}

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
			if f.Run != "x" || !f.Facts {
				t.Errorf("again: %+v", f)
			}
		}
		b.warned()
	}
	if b.state() != held {
		t.Error("the same again changed the warehouse")
	}

	b.ok(ingest.Options{Name: "x", Models: []string{two}})
	b.warned("in place of what run x had: one.json")
	b.of("x", sources, "1 nsys sqlite kernels.sqlite.gz|2 workload workload early.workload.json|4 model hf-config two.json")
	b.of("x", models, "1 2 unheard_of 3|3 4 two 2")
	b.whole()
	b.ok(ingest.Options{Name: "x"}, late)
	b.warned("in place of what run x had: early.workload.json")
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
	if len(r.Sources) != 1 || len(r.Repeated) != 1 || r.Repeated[0] != (ingest.Repeat{Path: two, Run: "x", Facts: true}) {
		t.Errorf("%+v", r)
	}
	b.of("x", works, "3 ~ 1 ~ 1 2 4|4 ~ 1 ~ 1 3 4")
	b.warned("in place of what run x had: 1.workload.json", "these say of the same captures what their passes did: the last one counts: 2.workload.json, 3.workload.json")
	b.whole()
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
		b.warned("there was no run " + run + ": this one holds facts and no capture; to store captures of that name, `prof rm " + run + "` and give them together")
		b.of(run, models, "1 1 m 2")
		b.of(run, `SELECT t.key, t.value FROM run_tag t JOIN run r USING (run_id) WHERE r.name = '%s'`, "k v")
	}
	// Any run of the same facts is as good where none was named.
	before := b.state()
	r := b.ok(ingest.Options{}, config)
	if r.Made || len(r.Repeated) != 1 || !r.Repeated[0].Facts || r.Repeated[0].Run != "x" && r.Repeated[0].Run != "y" || b.state() != before {
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

// TestFactsOfHeldCaptures: a repeat stores nothing, facts included, and says how to add what the run lacks.
func TestFactsOfHeldCaptures(t *testing.T) {
	b := newBench(t)
	config, facts, other := b.file("config.json", llamaConfig(2)), b.file("workload.json", passes(7)), b.file("other.json", llamaConfig(3))
	b.ok(ingest.Options{Name: "x"}, kernels)
	before := b.state()
	prefill := int64(3)
	pass := workload.Uniform(workload.Pass{Prefill: &prefill}, nil)
	r := b.ok(ingest.Options{Name: "y", Models: []string{config}, Workloads: []string{facts}, Pass: pass}, kernels)
	if r.Made || len(r.Repeated) != 1 || r.Repeated[0].Run != "x" || r.Repeated[0].Facts || b.state() != before {
		t.Errorf("%+v", r)
	}
	b.warned("config.json was not stored, since its captures are in run x; to add it: prof ingest --run x --model config.json",
		"workload.json was not stored, since its captures are in run x; to add it: prof ingest --run x --workload workload.json",
		"what the options say was not stored, since the captures are in run x; to add it, give the options with --run x alone")
	// What it says to do does it; then the whole is a repeat without more words.
	b.ok(ingest.Options{Name: "x", Models: []string{config}})
	b.ok(ingest.Options{Name: "x", Workloads: []string{facts}, Pass: pass})
	before = b.state()
	if r = b.ok(ingest.Options{Models: []string{config}, Workloads: []string{facts}, Pass: pass}, kernels); r.Made || len(r.Repeated) != 1 || b.state() != before {
		t.Errorf("%+v", r)
	}
	b.warned()
	b.ok(ingest.Options{Models: []string{other}}, kernels)
	b.warned("other.json was not stored, since its captures are in run x; to put it in place of what the run has: prof ingest --run x --model other.json")
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

// TestAimedFacts: facts are about the capture of their stem, else of their folder.
func TestAimedFacts(t *testing.T) {
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
		"one folder":     {"f/a.sqlite.gz", "f/b.trace.json.gz", "f/a.workload.json", "f/workload.json", "nsys ~", []string{"f/workload.json"}},
		"neither":        {"n/a.sqlite.gz", "t/b.trace.json.gz", "n/workload.json", "w/x.workload.json", "nsys ~", []string{"w/x.workload.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.copied(kernels, c.nsys)
			b.copied(cpuTrace, c.torch)
			b.file(c.a, passes(1))
			b.file(c.b, passes(2))
			var unclear []string
			for _, path := range c.unclear {
				unclear = append(unclear, path+": which capture it is about is not clear from its name or folder; it is taken for all of the run's")
			}
			aimed := `SELECT string_agg(coalesce(w.capture, '~'), ' ' ORDER BY p.prefill_count) FROM workload w JOIN workload_pass p USING (run_id, source_id)`
			b.ok(ingest.Options{Name: "x"}, b.dir)
			b.expect(aimed, c.want)
			b.warned(unclear...)
			// Given afterwards, the same.
			b.remove("x")
			b.ok(ingest.Options{Name: "x"}, b.path(c.nsys), b.path(c.torch))
			b.ok(ingest.Options{Name: "x", Workloads: []string{b.path(c.a), b.path(c.b)}})
			b.expect(aimed, c.want)
			b.warned(unclear...)
			// One alone is about all.
			b.ok(ingest.Options{Name: "x", Workloads: []string{b.file("one.json", passes(3))}})
			b.expect(aimed, "~")
		})
	}
}

// TestOptionFacts: what options say is one row for every pass, of the kind of a workload's facts.
func TestOptionFacts(t *testing.T) {
	b := newBench(t)
	number := func(n int64) *int64 { return &n }
	pass := workload.Uniform(workload.Pass{Prefill: number(681), Decode: number(16), Images: number(1), Crops: number(4), Batch: 2}, number(1))
	const row = `SELECT p.pass_id, p.is_warmup, p.prefill_count, p.decode_count, p.batch_count, p.image_count, p.crop_count, w.warmup_count FROM workload_pass p JOIN workload w USING (run_id, source_id)
		JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY p.source_id`
	b.ok(ingest.Options{Name: "x", Pass: pass}, kernels)
	b.of("x", sources, "1 nsys sqlite kernels.sqlite.gz|2 workload options (options)")
	b.of("x", row, "~ false 681 16 2 1 4 1")
	before := b.state()
	r := b.ok(ingest.Options{Name: "x", Pass: pass}) // nothing else is given
	if r.Made || len(r.Repeated) != 1 || r.Repeated[0] != (ingest.Repeat{Path: "what the options say", Run: "x", Facts: true}) || b.state() != before {
		t.Errorf("again: %+v", r)
	}
	b.ok(ingest.Options{Name: "x", Pass: workload.Uniform(workload.Pass{Decode: number(8)}, nil)})
	b.warned("in place of what run x had: (options)")
	b.of("x", row, "~ false ~ 8 1 ~ ~ ~")
	// Beside a file both stay.
	b.ok(ingest.Options{Name: "x", Workloads: []string{b.file("w.json", passes(7))}, Pass: pass})
	b.of("x", sources, "1 nsys sqlite kernels.sqlite.gz|4 workload workload w.json|5 workload options (options)")
	b.of("x", row, "1 false 7 4 1 ~ ~ 1|~ false 681 16 2 1 4 1")
	b.whole()
}

// TestRemovedFacts: removing a run removes its facts, and no other's.
func TestRemovedFacts(t *testing.T) {
	b := newBench(t)
	config, facts := b.file("config.json", llamaConfig(2)), b.file("workload.json", withModel(3))
	b.ok(ingest.Options{Name: "x", Models: []string{config}, Workloads: []string{facts}}, kernels)
	before := b.state()
	b.ok(ingest.Options{Name: "y", Models: []string{config}, Workloads: []string{facts}}, graphs)
	b.remove("y")
	if got := b.state(); got != before {
		t.Errorf("left\n%s\nof\n%s", got, before)
	}
	b.remove("x")
	for _, table := range []string{"model", "model_layer", "model_note", "workload", "workload_pass", "source", "source_part", "diagnostic"} {
		b.expect(`SELECT count(*) FROM `+table, "0")
	}
}
