package workload_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/workload"
	"prof/queries"
	"prof/schema"
)

const samples = "../../testdata/workload/"

// room is a warehouse with a run under way.
type room struct {
	conn   *sql.Conn
	target *load.Target
}

func newRoom(t *testing.T) *room {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	conn, err := w.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	id, err := schema.NewRunID()
	if err != nil {
		t.Fatal(err)
	}
	target, err := load.NewTarget(conn, id, &load.Run{}, load.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return &room{conn, target}
}

// load loads a file as the next source.
func (r *room) load(t *testing.T, path string) (*load.SourceInfo, error) {
	t.Helper()
	r.target.SourceID++
	if info, err := workload.Identify(t.Context(), path, path); err != nil || info.CaptureID != "" {
		t.Fatalf("%+v, %v", info, err)
	}
	return workload.Load(t.Context(), path, path, r.target)
}

// expect holds a result, rows joined by bars and NULL as ~, to what is wanted.
func (r *room) expect(t *testing.T, query string, want ...string) {
	t.Helper()
	rows, err := r.conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		v, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range v {
			into[i] = &v[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		parts := make([]string, len(cols))
		for i := range v {
			if parts[i] = fmt.Sprint(v[i]); v[i] == nil {
				parts[i] = "~"
			}
		}
		got = append(got, strings.Join(parts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s gives\n  %s\nwant\n  %s", query, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const passRows = `SELECT * EXCLUDE (run_id) FROM workload_pass ORDER BY source_id, pass_id`

// TestStored: a file with its model, one of means, and one whose configuration cannot be read.
func TestStored(t *testing.T) {
	r := newRoom(t)
	for _, c := range []struct {
		path     string
		warnings int
	}{
		{samples + "dsocr-sdpa.workload.json", 0},
		{samples + "metrics.json", 1},
		{write(t, "workload.json", `{"model": "hf_examplesecret0123456789", "config": {"model_type": "llama", "hidden_size": "wide"}, "warmup": 2, "batch": 4,
			"runs": [{"warmup": true, "vision_ms": 0.5}, {"prefill_len": 7, "new_tokens": 0, "images": 1, "crops": 2, "input": "a.png"}]}`), 1},
	} {
		info, err := r.load(t, c.path)
		if err != nil || len(info.Warnings) != c.warnings || info.Status != "" {
			t.Fatalf("%s: %+v, %v", c.path, info, err)
		}
		var n int64
		if err := r.conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM workload WHERE source_id = $1) + (SELECT count(*) FROM workload_pass WHERE source_id = $1)
			+ (SELECT count(*) FROM model WHERE source_id = $1) + (SELECT count(*) FROM model_layer JOIN model USING (run_id, model_id) WHERE source_id = $1)
			+ (SELECT count(*) FROM model_note JOIN model USING (run_id, model_id) WHERE source_id = $1) + (SELECT count(*) FROM reported_value WHERE source_id = $1)`, r.target.SourceID).Scan(&n); err != nil || info.Rows != n {
			t.Errorf("%s: %d rows, want %d, %v", c.path, info.Rows, n, err)
		}
	}
	r.expect(t, passRows,
		"1|1|false|681|16|1|~|~|45750029|616769718|~|~|~", "1|2|false|681|16|1|~|~|46066456|291329758|~|~|~", "1|3|false|681|16|1|~|~|45993542|286869421|~|~|~",
		"2|~|false|~|16|1|~|~|~|~|~|~|~",
		"3|1|true|~|~|4|~|~|~|~|500000|~|~", "3|2|false|7|0|4|1|2|~|~|~|a.png|~")
	r.expect(t, `SELECT source_id, model_id & 134217727, warmup_count, capture FROM workload ORDER BY source_id`, "1|1|~|~", "2|~|~|~", "3|~|2|~")
	r.expect(t, `SELECT source_id, model_id & 134217727, name, family, layer_count, hidden_size FROM model`, "1|1|dsocr|deepseek_v2|12|1280")
	r.expect(t, `SELECT count(*) > 20 FROM model_layer`, "true")
	r.expect(t, `SELECT source_id, part, read_count, stored_count, reason IS NULL FROM source_part ORDER BY source_id, part`,
		"1|config|1|1|true", "1|passes|3|3|true", "2|passes|1|1|true", "3|config|1|0|false", "3|passes|2|2|true")
	r.expect(t, `SELECT source_id, origin, severity, message LIKE 'its config: the configuration lacks: %num_hidden_layers%; MFU needs a model: give one with --model CONFIG.json' FROM diagnostic ORDER BY source_id`,
		"2|ingest|warning|false", "3|ingest|warning|true")
}

// TestImageSize: the model that facts carry sees pictures of the size that they say; an option goes before it.
func TestImageSize(t *testing.T) {
	r := newRoom(t)
	const facts = `{"image_size": [56, 112], "batch": 1, "config": {"model_type": "qwen2_vl", "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1,
		"vocab_size": 8, "vision_config": {"hidden_size": 16}}}`
	path := write(t, "workload.json", facts)
	for _, image := range []load.ImageSize{{}, {Width: 28, Height: 84}} {
		r.target.Options.Image = image
		if info, err := r.load(t, path); err != nil || len(info.Warnings) != 0 {
			t.Fatalf("%+v, %v", info, err)
		}
	}
	r.expect(t, `SELECT m.source_id, m.image_token_count, n.note FROM model m JOIN model_note n USING (run_id, model_id) WHERE starts_with(n.note, 'images') ORDER BY 1`,
		"1|8|images of 112 x 56 pixels, resized to 112 x 56, multiples of 28; the configuration does not have the pixel limits of the processor",
		"2|3|images of 28 x 84 pixels, resized to 28 x 84, multiples of 28; the configuration does not have the pixel limits of the processor")
	r.expect(t, `SELECT source_id, model_id & 134217727 FROM workload ORDER BY source_id`, "1|1", "2|2")
}

// TestModelName: what the facts call a model goes first, secrets masked; then what its configuration does, then the given name.
func TestModelName(t *testing.T) {
	r := newRoom(t)
	config := func() map[string]any {
		f, err := workload.Read(strings.NewReader(read(t, "llama-graph-node.workload.json")))
		if err != nil {
			t.Fatal(err)
		}
		return f.Config
	}
	named := config()
	named["_name_or_path"] = "meta/llama"
	for i, f := range []*workload.Facts{
		{Model: "hf_examplesecret0123456789", Config: named}, {Config: named}, {Config: config()}, {Model: "a\x00b", Config: config()},
	} {
		r.target.SourceID = i + 1
		if n, err := f.Store(t.Context(), r.target, "given"); err != nil || n < 3 {
			t.Fatal(n, err)
		}
	}
	r.target.SourceID = 5
	if _, err := (&workload.Facts{Config: config()}).Store(t.Context(), r.target, ""); err != nil {
		t.Fatal(err)
	}
	r.expect(t, `SELECT w.source_id, name FROM workload w JOIN model USING (run_id, model_id) ORDER BY w.source_id`,
		"1|***", "2|meta/llama", "3|given", "4|a\x00b", "5|llama")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(samples + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUniformStored: facts from options make a row that holds for every pass.
func TestUniformStored(t *testing.T) {
	r := newRoom(t)
	r.target.SourceID = 9
	prefill, decode, warmup := int64(681), int64(16), int64(1)
	f := workload.Uniform(workload.Pass{Prefill: &prefill, Decode: &decode}, &warmup)
	f.Capture = "torch"
	n, err := f.Store(t.Context(), r.target, "")
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	r.expect(t, passRows, "9|~|false|681|16|~|~|~|~|~|~|~|~")
	r.expect(t, `SELECT source_id, model_id & 134217727, warmup_count, capture FROM workload`, "9|~|1|torch")
}

// TestNotLoaded: an error names the file, and nothing is stored.
func TestNotLoaded(t *testing.T) {
	r := newRoom(t)
	path := write(t, "workload.json", `{"runs": [{"prefill_len": -5}]}`)
	if info, err := r.load(t, path); info != nil || err == nil || err.Error() != path+": runs[0].prefill_len is -5, want a whole number from 0 to 2147483648" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := r.load(t, path+".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := workload.Load(done, samples+"metrics.json", "metrics.json", r.target); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.expect(t, `SELECT (SELECT count(*) FROM workload) + (SELECT count(*) FROM workload_pass) + (SELECT count(*) FROM source_part)`, "0")
}
