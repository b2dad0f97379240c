package queries_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// twoSided is a fixture of testdata/model/encoder_decoder.json: what one forward reads of parameters, and what is cached, with the operations.
type twoSided struct {
	Name, Form string
	Config     json.RawMessage
	Runs       []struct {
		Prompt, New, Batch int64
		Prefill, Decode    countedFLOP
		Read               struct{ Prefill, Step float64 }
		Cache              struct{ Source, Prefill, Decode float64 }
	}
}

// twoSides returns the small fixtures with the run of a case, of each name one.
func twoSides(t *testing.T, batch, prompt, steps int64) []twoSided {
	t.Helper()
	var file struct{ Fixtures []twoSided }
	readJSON(t, "../testdata/model/encoder_decoder.json", &file)
	var out []twoSided
	for _, f := range file.Fixtures {
		for _, r := range f.Runs {
			if f.Form == "saved" && r.Batch == batch && r.Prompt == prompt && r.New == steps {
				f.Runs = append(f.Runs[:0:0], r)
				out = append(out, f)
			}
		}
	}
	if len(out) < 10 {
		t.Fatalf("only %d fixtures", len(out))
	}
	return out
}

// unlike returns configurations no two of which are the same file.
func unlike(t *testing.T, models []twoSided) (out [][]byte) {
	t.Helper()
	for i, f := range models {
		out = append(out, withFields(t, f.Config, map[string]any{"x": i}))
	}
	return out
}

// usedBy returns the rows of mfu by stage, and those of mbu: bytes of weights and of caches.
func usedBy(p plans, run string, model int) (map[string]use, map[string]map[string]any) {
	p.Helper()
	f := p.ask("FROM {mfu}(?::UUID, model := ?, dtype := 'fp32')", testkit.RunID(run), model)
	uses, bytes := map[string]use{}, map[string]map[string]any{}
	for _, r := range f.Rows {
		uses[r[0].(string)] = use{f, r}
	}
	for _, r := range p.ask("SELECT stage, weight_bytes, kv_bytes FROM {mbu}(?::UUID, model := ?, dtype := 'fp32')", testkit.RunID(run), model).Rows {
		bytes[r[0].(string)] = map[string]any{"weight_bytes": r[1], "kv_bytes": r[2]}
	}
	return uses, bytes
}

// TestEncoderDecoderUse holds the operations and the bytes of measured passes to what PyTorch counts and reads: the encoder once in a
// prefill, the keys and values of the source made there and read at each step.
func TestEncoderDecoderUse(t *testing.T) {
	t.Parallel()
	workload := filepath.Join(t.TempDir(), "workload.json")
	if err := os.WriteFile(workload, []byte(`{"batch": 2, "runs": [{"prefill_len": 512, "new_tokens": 32}, {"prefill_len": 512, "new_tokens": 32}, {"prefill_len": 512, "new_tokens": 32}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	models := twoSides(t, 2, 512, 32)
	run := modelsRun(t, unlike(t, models)...)
	run.Files, run.Facts = []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", workload}, useFacts
	p := newPlans(t, testkit.Warehouse(t, run))
	for i, f := range models {
		r := f.Runs[0]
		own := (r.Cache.Decode - r.Cache.Prefill) / float64(r.New) // what a step adds
		context := r.Cache.Prefill * float64(r.New)
		for step := range r.New {
			context += own * float64(step+1)
		}
		use, bytes := usedBy(p, run.Name, i+1)
		for _, c := range []struct {
			stage             string
			flop, read, cache float64
		}{
			{"prefill", float64(r.Prefill.Model), r.Read.Prefill, 0},
			{"decode", float64(r.Decode.Model), r.Read.Step * float64(r.New), r.Cache.Source*float64(r.New) + context},
			{"model", float64(r.Prefill.Model + r.Decode.Model), r.Read.Prefill + r.Read.Step*float64(r.New), r.Cache.Source*float64(r.New) + context},
		} {
			if flop := use[c.stage].number(t, "flop"); flop != c.flop || bytes[c.stage]["weight_bytes"] != 4*c.read || bytes[c.stage]["kv_bytes"] != 4*c.cache {
				t.Errorf("%s, %s: %v operations, %v bytes of weights and %v of caches, want %v, %v and %v", f.Name, c.stage, flop, bytes[c.stage]["weight_bytes"], bytes[c.stage]["kv_bytes"], c.flop, 4*c.read, 4*c.cache)
			}
		}
		if _, ok := use["vision"]; ok {
			t.Errorf("%s sees", f.Name)
		}
	}
}

// TestEncoderDecoderActivations holds bytes of activations to numbers counted out: a source of 10 tokens, or of 37 positions of audio and a
// prompt of 10, of 2 sequences each, 2 bytes a number.
func TestEncoderDecoderActivations(t *testing.T) {
	t.Parallel()
	run := modelsRun(t,
		[]byte(`{"model_type": "t5", "d_model": 48, "d_kv": 10, "d_ff": 76, "num_layers": 3, "num_heads": 6, "vocab_size": 103, "feed_forward_proj": "gated-gelu", "dtype": "bfloat16"}`),
		[]byte(`{"model_type": "whisper", "vocab_size": 103, "d_model": 48, "num_mel_bins": 10, "max_source_positions": 37, "max_target_positions": 64, "encoder_layers": 3, "encoder_attention_heads": 6,
			"encoder_ffn_dim": 76, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 60, "dtype": "bfloat16"}`))
	w := testkit.Warehouse(t, run)
	p := newPlans(t, w)
	for _, c := range []struct {
		model              int
		stage, part, group string
		written, peak      float64 // numbers of one sequence
		component          string
	}{
		{1, "prefill", "encoder", "embedding", 10 * 48, 10 * (48 + 48), "embed_tokens"},
		// q, k, v and attention of 60, o of 48, gate and up of 76, down of 48.
		{1, "prefill", "encoder", "layers 0-2", 10 * (4*60 + 48 + 2*76 + 48), 10 * (48 + 4*60), "attention"},
		// One token of the decoder, but keys and values of 10: while it attends to them, they and the encoder's output are there.
		{1, "prefill", "decoder", "layers 0-2", 4*60 + 48 + 2*60 + 48 + 2*10*60 + 2*76 + 48, 10*(48+2*60) + 48 + 60 + 60, "cross_attention"},
		{1, "prefill", "decoder", "head", 103, 48 + 48 + 103, "lm_head"},
		{1, "decode", "decoder", "layers 0-2", 4*60 + 48 + 2*60 + 48 + 2*76 + 48, 48 + 4*60, "attention"},
		// The second convolution reads what the first wrote.
		{2, "prefill", "encoder", "embedding", 74*48 + 37*48, 74*48 + 37*48, "conv2"},
		{2, "prefill", "encoder", "layers 0-2", 37 * (4*48 + 48 + 76 + 48), 37 * (48 + 4*48), "attention"},
		{2, "prefill", "decoder", "layers 0-1", 10*(4*48+48+2*48+48+60+48) + 37*2*48, 37*(48+2*48) + 10*(48+48+48), "cross_attention"},
		{2, "decode", "decoder", "layers 0-1", 4*48 + 48 + 2*48 + 48 + 60 + 48, 48 + 4*48, "attention"},
	} {
		got := p.ask("SELECT written_bytes, peak_bytes, peak_component FROM {activations}(?::UUID, model := ?, prefill := 10, batch := 2) WHERE stage = ? AND part = ? AND layer_group = ?", testkit.RunID(run.Name), c.model, c.stage, c.part, c.group).Rows
		if len(got) != 1 || got[0][0] != 4*c.written || got[0][1] != 4*c.peak || got[0][2] != c.component {
			t.Errorf("model %d, %s, %s, %s: %v, want %v, %v, %s", c.model, c.stage, c.part, c.group, got, 4*c.written, 4*c.peak, c.component)
		}
	}
	if got := rowsOf(t, w, "SELECT DISTINCT stage, part FROM activations('models', model := 2, prefill := 10) ORDER BY ALL"); fmt.Sprint(got) != "[[decode decoder] [prefill decoder] [prefill encoder]]" {
		t.Error(got)
	}
}

// TestEncoderDecoderConventions: tokens of a source see each other under either convention; what is not known of the prompt is NULL, and
// what does not depend on it is known.
func TestEncoderDecoderConventions(t *testing.T) {
	t.Parallel()
	models := twoSides(t, 3, 5, 7)
	run := modelsRun(t, unlike(t, models)...)
	p := newPlans(t, testkit.Warehouse(t, run))
	for i, f := range models {
		ask := func(stmt string, args ...any) [][]any {
			return p.ask(strings.Replace(stmt, "{flops}(", "{flops}(?::UUID, model := ?, decode := 7, batch := 3", 1), append([]any{testkit.RunID(run.Name), i + 1}, args...)...).Rows
		}
		sum := func(stage, convention string, prefill int) int64 {
			n, _ := ask("SELECT sum(flop)::BIGINT FROM {flops}(, prefill := ?, convention := ?) WHERE stage = ?", prefill, convention, stage)[0][0].(int64)
			return n
		}
		full, causal, decode := sum("prefill", "full", 5), sum("prefill", "causal", 5), sum("decode", "causal", 5)
		var c struct { // of Whisper
			D      int64 `json:"d_model"`
			Layers int64 `json:"decoder_layers"`
		}
		if err := json.Unmarshal(f.Config, &c); err != nil {
			t.Fatal(err)
		}
		hidden := 3 * c.Layers * 4 * c.D * (5*5 - 5*6/2) // Whisper's prompt is its decoder's; that of T5 is one token
		if full != f.Runs[0].Prefill.Model || full-causal != hidden || decode != f.Runs[0].Decode.Model {
			t.Errorf("%s: full %d, causal %d, decode %d, want %d, %d less, %d", f.Name, full, causal, decode, f.Runs[0].Prefill.Model, hidden, f.Runs[0].Decode.Model)
		}
		for _, r := range ask("SELECT part, operator, flop IS NULL FROM {flops}() WHERE stage = 'decode'") {
			if r[0] != "decoder" || c.Layers == 0 && r[2] != (r[1] == "cross attention") {
				t.Errorf("%s without a prompt: %v", f.Name, r)
			}
		}
		if n := sum("prefill", "full", 0); n != 0 {
			t.Errorf("%s: a prefill of nothing takes %d", f.Name, n)
		}
	}
}

// TestEncoderDecoderSteps: each step that is a pass of its own has its own context, and of steps whose names count tokens nothing is known.
func TestEncoderDecoderSteps(t *testing.T) {
	t.Parallel()
	models := twoSides(t, 3, 5, 7)
	runs := []testkit.Run{modelsRun(t, unlike(t, models)...), modelsRun(t, unlike(t, models)...)}
	for i := range runs {
		r := &runs[i]
		r.Name, r.Facts = fmt.Sprint("drawn-", i), useFacts
		id := testkit.RunID(r.Name)
		stmts := append([]string{"DELETE FROM source WHERE run_id = $run", "UPDATE model SET source_id = 3 WHERE run_id = $run", sourceOf(id, 3, "model")}, drawnRun(id, 0, "PSSSSSSSPSSSSSSS")...)
		stmts = append(stmts, facts{passes: "5/7/3 5/7/3"}.of(id, 2)...)
		if i == 1 {
			stmts = append(stmts, "UPDATE nvtx_range SET name = 'step[DECODE bs=3 g_sqsq=3 g_sqsk=90 g_sk=90]' WHERE run_id = $run AND range_id > 8")
		}
		r.SQL = strings.Join(stmts, ";\n")
	}
	w := testkit.Warehouse(t, runs...)
	p := newPlans(t, w)
	for i, f := range models {
		r := f.Runs[0]
		use, all := usedBy(p, runs[0].Name, i+1)
		bytes := all["decode"]
		context := (r.Cache.Decode + r.Cache.Prefill + (r.Cache.Decode-r.Cache.Prefill)/7) / 2 // the mean of 7 steps
		if use["prefill"].number(t, "flop") != float64(r.Prefill.Model) || use["decode"].number(t, "passes") != 14 {
			t.Fatalf("%s: prefill %v, decode %v", f.Name, use["prefill"].row, use["decode"].row)
		}
		same(t, f.Name+": operations of a step", use["decode"].number(t, "flop"), float64(r.Decode.Model)/7, 1e-12)
		same(t, f.Name+": weights of a step", bytes["weight_bytes"], 4*r.Read.Step, 1e-12)
		same(t, f.Name+": caches of a step", bytes["kv_bytes"], 4*(r.Cache.Source+context), 1e-12)
	}
	use, f := utilisation(t, w, queries.Args{"run": runs[1].Name})
	if decode := use["decode"]; decode.row[decode.f.Index("flop")] != nil || decode.row[decode.f.Index("passes")] == int64(0) {
		t.Errorf("decode of annotated steps: %v", decode.row)
	}
	if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "do not separate encoder and decoder tokens") }) {
		t.Errorf("notes %q", f.Notes)
	}
}
