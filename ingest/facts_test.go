package ingest_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/workload"
	"prof/internal/testkit"
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

func newBench(t *testing.T) *bench { return newBenchWith(t, derive.Facts{Only: []string{}}) }

func newBenchWith(t *testing.T, facts schema.Facts) *bench {
	t.Helper()
	w := testkit.Copy(t)
	w.Facts = facts
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
	o.Now, o.Load.Threads = time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC), cmp.Or(o.Load.Threads, 2)
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

// rows returns a result: cells joined by blanks, NULL as ~, rows by bars.
func (b *bench) rows(query string) string {
	b.t.Helper()
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(testkit.Rows(b.t, b.w, query), "\n"), "|", " "), "\n", "|")
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
	models  = `SELECT m.model_id & 134217727, m.source_id, m.name, m.layer_count FROM model m JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY m.model_id`
	works   = `SELECT w.source_id, w.model_id & 134217727, w.warmup_count, w.capture, p.pass_id, p.prefill_count, p.decode_count FROM workload w JOIN run r USING (run_id)
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

// free lets the next run be of captures that are stored.
func (b *bench) free() {
	b.t.Helper()
	testkit.Exec(b.t, b.w, `UPDATE source SET sha256 = run_id::VARCHAR || source_id`)
}

// whole holds that no row is of a run, source or model that is not there.
func (b *bench) whole() {
	b.t.Helper()
	var parts []string
	none := func(query string) {
		parts = append(parts, fmt.Sprintf(`SELECT '%s' AS what, (%s) AS n`, strings.ReplaceAll(query, "'", "''"), query))
	}
	for _, t := range []string{"model", "workload", "workload_pass", "capture", "capture_node", "capture_pass", "capture_input", "capture_kept", "capture_device", "device_sample", "source_fact", "source_part", "diagnostic"} {
		none(`SELECT count(*) FROM ` + t + ` x WHERE x.source_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = x.run_id AND s.source_id = x.source_id)`)
	}
	for _, t := range []string{"model_layer", "model_note"} {
		none(`SELECT count(*) FROM ` + t + ` x WHERE NOT EXISTS (SELECT 1 FROM model m WHERE m.run_id = x.run_id AND m.model_id = x.model_id)`)
	}
	none(`SELECT count(*) FROM workload w WHERE w.model_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM model m WHERE m.run_id = w.run_id AND m.model_id = w.model_id)`)
	none(`SELECT count(*) FROM capture_source c WHERE NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = c.run_id AND s.source_id = c.captured_source_id)`)
	none(`SELECT count(*) FROM source s WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.run_id = s.run_id)`)
	for table, key := range map[string]string{"source": "source_id", "model": "model_id", "workload": "source_id", "model_layer": "model_id, layer_id", "model_note": "model_id, note_id"} {
		none(fmt.Sprintf(`SELECT count(*) - count(DISTINCT (run_id, %s)) FROM %s`, key, table))
	}
	b.expect(`SELECT what, n FROM (`+strings.Join(parts, " UNION ALL ")+`) WHERE n <> 0`, "")
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
		b.free()
	}
	b.whole()
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
	if r.Made || len(r.Repeated) != 1 || r.Repeated[0] != (ingest.Repeat{Path: "the facts in the options", Run: "x", Had: true}) || b.state() != before {
		t.Errorf("again: %+v", r)
	}
	b.ok(ingest.Options{Name: "x", Pass: workload.Uniform(workload.Pass{Decode: number(8)}, nil)})
	b.warned()
	b.of("x", row, "~ false 681 8 2 1 4 1") // what was said before stays
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
