package queries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// withFields puts fields into a configuration.
func withFields(t *testing.T, config []byte, fields map[string]any) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(config, &all); err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, fields)
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBytesOfWeights holds bytes of weights and cache to published sizes and to sums by hand.
func TestBytesOfWeights(t *testing.T) {
	var published map[string]json.RawMessage
	readJSON(t, "../testdata/model/decoder_published.json", &published)
	fp8 := map[string]any{"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": []int{128, 128}}
	w := testkit.Warehouse(t, modelsRun(t,
		pictures(t, "deepseek ocr"),
		withFields(t, published["gpt-oss-20b"], map[string]any{"quantization_config": map[string]any{"quant_method": "mxfp4"}, "dtype": "bfloat16"}),
		withFields(t, published["deepseek-v3"], map[string]any{"quantization_config": fp8, "torch_dtype": "bfloat16"}),
		withFields(t, published["llama-3-8b"], map[string]any{"quantization_config": map[string]any{"quant_method": "awq", "bits": 4}}),
		withFields(t, published["llama-3-8b"], map[string]any{"torch_dtype": nil}),
		published["deepseek-v3.2"]))
	got := named(t, w, "models", queries.Args{"run": "models"}, "model")

	// DeepSeek-OCR: 12 layers of 10 heads of 128 for keys and for values, 2 bytes each: 61,440.
	if got["1"]["kv_token_bytes"] != int64(61_440) {
		t.Errorf("DeepSeek-OCR keeps %v bytes a token", got["1"]["kv_token_bytes"])
	}
	same(t, "active parameters of DeepSeek-OCR", float64(got["1"]["active_parameter_count"].(int64)), 570e6, 0.01)
	// gpt-oss-20b: 24 layers of 32 experts in blocks of 32 weights of 4 bits with a scale of 8; the rest takes 2 bytes a parameter.
	total, quantised := int64(20_914_757_184), int64(24*32*3*2880*2880)
	if want := (total-quantised)*2 + quantised/32*17; got["2"]["parameter_count"] != total || got["2"]["weight_bytes"] != want {
		t.Errorf("gpt-oss-20b: %v parameters in %v bytes, want %d in %d", got["2"]["parameter_count"], got["2"]["weight_bytes"], total, want)
	}
	same(t, "the checkpoint of gpt-oss-20b in GiB", float64(got["2"]["weight_bytes"].(int64))/(1<<30), 12.8, 0.005)
	// DeepSeek-V3: matrices of the layers but the router take a byte and their share of a scale for 128 x 128; the rest 2.
	const hidden, vocab, layers, sparse = 7168, 129280, 61, 58
	plain := int64(2*hidden*vocab + layers*(2*hidden+1536+512) + hidden + sparse*256*hidden)
	count := got["3"]["parameter_count"].(int64)
	if want := math.Round(float64(plain)*2 + float64(count-plain)*(1+4./(128*128))); math.Abs(float64(got["3"]["weight_bytes"].(int64))-want) > 1 {
		t.Errorf("DeepSeek-V3: %v bytes, want %.0f", got["3"]["weight_bytes"], want)
	}
	// A method that is not known leaves the bytes of the weights unknown, not those of the cache; a precision that is asked for tells them.
	if got["4"]["weight_bytes"] != nil || got["4"]["kv_token_bytes"] != int64(32*2*8*128*2) {
		t.Errorf("awq: %v", got["4"])
	}
	if got["5"]["weight_bytes"] != nil || got["5"]["kv_token_bytes"] != nil {
		t.Errorf("no precision: %v", got["5"])
	}
	// DeepSeek-V3.2 keeps the indexer's one key of 128 next to the latent and the rotary key.
	if want := int64(61 * (512 + 64 + 128) * 2); got["6"]["kv_token_bytes"] != want {
		t.Errorf("DeepSeek-V3.2 keeps %v bytes a token, want %d", got["6"]["kv_token_bytes"], want)
	}
	for _, r := range named(t, w, "models", queries.Args{"run": "models", "dtype": "fp32"}, "model") {
		if r["weight_bytes"] != 4*r["parameter_count"].(int64) || r["kv_token_bytes"] == nil {
			t.Errorf("in fp32: %v", r)
		}
	}
}

// TestTouchedExperts holds the expected number of experts that a forward pass goes through to draws at random.
func TestTouchedExperts(t *testing.T) {
	w := testkit.All(t)
	draw := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ experts, active, tokens int }{{64, 6, 1}, {64, 6, 2}, {64, 6, 20}, {8, 2, 3}, {256, 8, 100}, {5, 5, 4}, {7, 1, 1}, {64, 6, 10_000}} {
		const trials = 400
		var touched int
		for range trials {
			seen := map[int]bool{}
			for range min(c.tokens, 2000) {
				for _, e := range draw.Perm(c.experts)[:c.active] {
					seen[e] = true
				}
				if len(seen) == c.experts {
					break
				}
			}
			touched += len(seen)
		}
		got := rowsOf(t, w, "SELECT _distinct_copies(%d, %d, %d)::DOUBLE", c.experts, c.active, c.tokens)[0][0]
		same(t, fmt.Sprintf("experts of %d that %d tokens of %d touch", c.experts, c.tokens, c.active), got, float64(touched)/trials, 0.02)
		switch {
		case c.tokens == 1:
			same(t, "experts of one token", got, float64(c.active), 1e-12)
		case c.tokens >= 10_000:
			same(t, "experts of many tokens", got, float64(c.experts), 1e-12)
		}
	}
}

// TestActivations holds the bytes of activations to numbers counted out for each kind of layer: in a prefill of 10 tokens of 2 sequences and
// in the step behind it, 2 bytes a number.
func TestActivations(t *testing.T) {
	w := testkit.Warehouse(t, modelsRun(t,
		[]byte(`{"model_type": "llama", "hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 103, "torch_dtype": "bfloat16", "architectures": ["LlamaForCausalLM"]}`),
		[]byte(`{"model_type": "mixtral", "hidden_size": 48, "intermediate_size": 36, "num_hidden_layers": 1, "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 103, "num_local_experts": 5, "num_experts_per_tok": 2, "torch_dtype": "bfloat16"}`),
		[]byte(`{"model_type": "mamba", "hidden_size": 48, "num_hidden_layers": 2, "state_size": 6, "vocab_size": 103, "torch_dtype": "float32"}`),
		[]byte(`{"model_type": "llama", "hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 3, "num_attention_heads": 6, "vocab_size": 103}`),
		[]byte(`{"model_type": "gemma3n_text", "hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 12, "vocab_size": 103, "torch_dtype": "bfloat16",
			"layer_types": ["full_attention", "full_attention"], "num_kv_shared_layers": 0, "altup_num_inputs": 3, "laurel_rank": 9, "hidden_size_per_layer_input": 14, "vocab_size_per_layer_input": 103}`)))
	const tokens, sequences = 20, 2
	for _, c := range []struct {
		model         int
		group         string
		rows, step    float64 // of the prefill and of the step
		numbers, peak float64 // for one row
		component     string
		bytes         float64
	}{
		{1, "embedding", tokens, sequences, 48, 48 + 48, "embed_tokens", 2},
		// q, k, v, attention, o, gate, up and down; most where gate waits for up.
		{1, "layers 0-2", tokens, sequences, 48 + 16 + 16 + 48 + 48 + 76 + 76 + 48, 48 + 48 + 76 + 76, "mlp.up_proj", 2},
		{1, "head", sequences, sequences, 103, 48 + 48 + 103, "lm_head", 2},
		// Of five experts a token passes two: both at once.
		{2, "layer 0", tokens, sequences, 48 + 16 + 16 + 48 + 48 + 5 + 2*72 + 2*48, 48 + 48 + 2*72, "experts.gate_up_proj", 2},
		// in_proj, convolution, x_proj (rank 3), dt_proj, recurrence, out_proj.
		{3, "layers 0-1", tokens, sequences, 192 + 96 + 15 + 96 + 96 + 48, 48 + 48 + 192, "in_proj", 4},
		// Three streams of 48 and what both layers take of each token, 28, go past a layer; before it the streams are being made.
		{5, "layers 0-1", tokens, sequences, 72 + 24 + 24 + 72 + 48 + 3*2 + 9 + 3*48 + 3 + 9 + 48 + 14 + 48 + 76 + 76 + 48, 3*48 + 28 + 48 + 76 + 76, "mlp.up_proj", 2},
		{5, "embedding", tokens, sequences, 48 + 28 + 28 + 2*48, 48 + 28 + 48 + 2*48, "altup_projections", 2},
	} {
		for stage, rows := range map[string]float64{"prefill": c.rows, "decode": c.step} {
			got := rowsOf(t, w, "SELECT written_bytes, peak_bytes, peak_component FROM activations('models', model := %d, prefill := 10, batch := 2) WHERE stage = '%s' AND layer_group = '%s'", c.model, stage, c.group)
			if len(got) != 1 || got[0][0] != rows*c.numbers*c.bytes || got[0][1] != rows*c.peak*c.bytes || got[0][2] != c.component {
				t.Errorf("model %d, %s, %s: %v, want %v, %v, %s", c.model, stage, c.group, got, rows*c.numbers*c.bytes, rows*c.peak*c.bytes, c.component)
			}
		}
	}
	// What is not known is NULL: a precision, a number of tokens.
	for _, r := range rowsOf(t, w, "SELECT written_bytes, peak_bytes FROM activations('models', model := 4, prefill := 10) UNION ALL SELECT written_bytes, peak_bytes FROM activations('models', model := 1) WHERE stage = 'prefill'") {
		if r[0] != nil || r[1] != nil {
			t.Errorf("unknown bytes: %v", r)
		}
	}
	// A state is kept by each sequence, whatever the tokens: 6 numbers of each of 96 channels, and 3 inputs of the convolution.
	state := rowsOf(t, w, "SELECT state_bytes, kv_token_bytes FROM models('models') ORDER BY model")
	if state[2][0] != int64(2*4*(96*6+96*3)) || state[2][1] != int64(0) || state[0][0] != nil {
		t.Errorf("states: %v", state)
	}
}
