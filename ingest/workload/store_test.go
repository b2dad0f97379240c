package workload_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/ingest/workload"
)

const samples = "../../testdata/workload/"

// store loads a file as the next source.
func store(t *testing.T, k *rowstest.Kept, path string) (*load.SourceInfo, error) {
	t.Helper()
	k.SourceID++
	if info, err := workload.Identify(t.Context(), path, path); err != nil || info.CaptureID != "" {
		t.Fatalf("%+v, %v", info, err)
	}
	return workload.Load(t.Context(), path, path, k.Target)
}

func newTarget(t *testing.T) *rowstest.Kept {
	k := rowstest.New(t, load.Options{})
	k.SourceID = 0
	return k
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// passColumns are all of workload_pass but the run.
const passColumns = "source_id pass_id is_warmup prefill_count decode_count batch_count image_count crop_count prefill_ns decode_ns vision_ns input process_id"

// TestStored: a file with its model, one of means, and one whose configuration cannot be read.
func TestStored(t *testing.T) {
	k := newTarget(t)
	for _, c := range []struct {
		path     string
		warnings int
	}{
		{samples + "dsocr-sdpa.workload.json", 0},
		{samples + "metrics.json", 1},
		{write(t, "workload.json", `{"model": "hf_examplesecret0123456789", "config": {"model_type": "llama", "hidden_size": "wide"}, "warmup": 2, "batch": 4,
			"runs": [{"warmup": true, "vision_ms": 0.5}, {"prefill_len": 7, "new_tokens": 0, "images": 1, "crops": 2, "input": "a.png"}]}`), 1},
	} {
		info, err := store(t, k, c.path)
		if err != nil || len(info.Warnings) != c.warnings || info.Status != "" {
			t.Fatalf("%s: %+v, %v", c.path, info, err)
		}
		n := int64(0)
		for _, table := range []string{"workload", "workload_pass", "model", "reported_value"} {
			n += int64(len(k.Table(table).Is("source_id", fmt.Sprint(k.SourceID))))
		}
		for _, table := range []string{"model_layer", "model_note"} {
			n += int64(len(k.Table(table).Is("model_id.source_id", fmt.Sprint(k.SourceID))))
		}
		if info.Rows != n {
			t.Errorf("%s: %d rows, want %d", c.path, info.Rows, n)
		}
	}
	k.Table("workload_pass").By("source_id pass_id").Expect(t, passColumns,
		"1|1|false|681|16|1|~|~|45750029|616769718|~|~|~", "1|2|false|681|16|1|~|~|46066456|291329758|~|~|~", "1|3|false|681|16|1|~|~|45993542|286869421|~|~|~",
		"2|~|false|~|16|1|~|~|~|~|~|~|~",
		"3|1|true|~|~|4|~|~|~|~|500000|~|~", "3|2|false|7|0|4|1|2|~|~|~|a.png|~")
	k.Table("workload").Expect(t, "source_id model_id warmup_count capture", "1|1|~|~", "2|~|~|~", "3|~|2|~")
	k.Table("model").Expect(t, "source_id model_id name family layer_count hidden_size", "1|1|dsocr|deepseek_v2|12|1280")
	if n := k.Count("model_layer"); n <= 20 {
		t.Errorf("%d layers", n)
	}
	k.Table("source_part").By("source_id part").Expect(t, "source_id part read_count stored_count",
		"1|config|1|1", "1|passes|3|3", "2|passes|1|1", "3|config|1|0", "3|passes|2|2")
	if got := k.Table("source_part").Where(func(r rowstest.Row) bool { return r.Get("reason") != nil }).Texts("source_id part"); fmt.Sprint(got) != "[3|config]" {
		t.Errorf("parts with a reason: %q", got)
	}
	said := k.Table("diagnostic").By("source_id")
	said.Expect(t, "source_id origin severity", "2|ingest|warning", "3|ingest|warning")
	if text := said[1].Text("message"); !strings.HasPrefix(text, "its config: the configuration lacks: ") || !strings.Contains(text, "num_hidden_layers") || !strings.HasSuffix(text, "; MFU needs a model: give one with --model CONFIG.json") {
		t.Errorf("it says %q", text)
	}
}

// TestImageSize: the model that facts carry sees pictures of the size that they say; an option goes before it.
func TestImageSize(t *testing.T) {
	k := newTarget(t)
	const facts = `{"image_size": [56, 112], "batch": 1, "config": {"model_type": "qwen2_vl", "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1,
		"vocab_size": 8, "vision_config": {"hidden_size": 16}}}`
	path := write(t, "workload.json", facts)
	for _, image := range []load.ImageSize{{}, {Width: 28, Height: 84}} {
		k.Options.Image = image
		if info, err := store(t, k, path); err != nil || len(info.Warnings) != 0 {
			t.Fatalf("%+v, %v", info, err)
		}
	}
	k.Table("model_note").Where(func(r rowstest.Row) bool { return strings.HasPrefix(r.Text("note"), "images") }).Expect(t, "model_id.source_id model_id.image_token_count note",
		"1|8|images of 112 x 56 pixels, resized to 112 x 56, multiples of 28; the configuration does not have the pixel limits of the processor",
		"2|3|images of 28 x 84 pixels, resized to 28 x 84, multiples of 28; the configuration does not have the pixel limits of the processor")
	k.Table("workload").Expect(t, "source_id model_id", "1|1", "2|2")
}

// TestModelName: what the facts call a model goes first, secrets masked; then what its configuration does, then the given name.
func TestModelName(t *testing.T) {
	k := newTarget(t)
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
		k.SourceID = i + 1
		if n, err := f.Store(t.Context(), k.Target, "given"); err != nil || n < 3 {
			t.Fatal(n, err)
		}
	}
	k.SourceID = 5
	if _, err := (&workload.Facts{Config: config()}).Store(t.Context(), k.Target, ""); err != nil {
		t.Fatal(err)
	}
	k.Table("workload").Expect(t, "source_id model_id.name",
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
	k := newTarget(t)
	k.SourceID = 9
	prefill, decode, warmup := int64(681), int64(16), int64(1)
	f := workload.Uniform(workload.Pass{Prefill: &prefill, Decode: &decode}, &warmup)
	f.Capture = "torch"
	n, err := f.Store(t.Context(), k.Target, "")
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	k.Table("workload_pass").By("source_id pass_id").Expect(t, passColumns, "9|~|false|681|16|~|~|~|~|~|~|~|~")
	k.Table("workload").Expect(t, "source_id model_id warmup_count capture", "9|~|1|torch")
}

// TestNotLoaded: an error names the file, and nothing is stored.
func TestNotLoaded(t *testing.T) {
	k := newTarget(t)
	path := write(t, "workload.json", `{"runs": [{"prefill_len": -5}]}`)
	if info, err := store(t, k, path); info != nil || err == nil || err.Error() != path+": runs[0].prefill_len is -5, want a whole number from 0 to 2147483648" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := store(t, k, path+".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := workload.Load(done, samples+"metrics.json", "metrics.json", k.Target); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if filled := k.Filled(); len(filled) > 0 {
		t.Errorf("stored are rows of %q", filled)
	}
}
