package queries_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// rowsOf asks a statement and gives its rows.
func rowsOf(t *testing.T, w *schema.Warehouse, format string, args ...any) [][]any {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf(format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return f.Rows
}

// seen sums what steps with contexts of first, first + 1, ... tokens see of them; a window of 0 hides none.
func seen(first, steps, window int64) (n int64) {
	for i := range steps {
		context := first + i
		if window > 0 {
			context = min(context, window)
		}
		n += context
	}
	return n
}

// orNull reads a cell that may be NULL; -1 stands for NULL, which no count is.
func orNull(v any) int64 {
	if n, ok := v.(int64); ok {
		return n
	}
	return -1
}

// TestPairs holds the closed forms of queries and keys to sums taken token by token.
func TestPairs(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	pairs := rowsOf(t, w, `SELECT t, coalesce(w, 0), _prefill_pairs(t, w, 'full')::BIGINT, _prefill_pairs(t, w, 'causal')::BIGINT
		FROM range(0, 25) a(t), (SELECT nullif(range, 0) AS w FROM range(0, 28)) b`)
	if len(pairs) != 25*28 {
		t.Fatal(len(pairs))
	}
	for _, r := range pairs {
		tokens, window := r[0].(int64), r[1].(int64)
		if want := seen(1, tokens, window); r[2] != tokens*tokens || r[3] != want {
			t.Errorf("prompt of %d, window %d: full %v, causal %v; want %d, %d", tokens, window, r[2], r[3], tokens*tokens, want)
		}
	}
	// The largest numbers of tokens that the command line takes are summed without loss.
	const large = 1 << 31
	for _, r := range rowsOf(t, w, "SELECT _prefill_pairs(%[1]d, NULL, 'causal') = %[2]d, _prefill_pairs(%[1]d, 4096, 'causal') = %[3]d, _context_sum(%[1]d + 1, 2 * %[1]d, NULL) = %[4]d",
		int64(large), uint64(large)*(large+1)/2, uint64(4096)*4097/2+(large-4096)*4096, uint64(large)*large+uint64(large)*(large+1)/2) {
		if r[0] != true || r[1] != true || r[2] != true {
			t.Errorf("%d tokens: %v", int64(large), r)
		}
	}

	contexts := rowsOf(t, w, `SELECT p, d, coalesce(w, 0), _context_sum(p + 1, p + d, w)::BIGINT, _decode_pairs(p, d, w, 'auto', 9, 7)::BIGINT, _decode_pairs(p, d, w, 'max', 9, 7)::BIGINT,
		_decode_pairs(p, d, w, 'fixed', 9, 7)::BIGINT, _decode_pairs(p, d, w, 'max', NULL, 7)::BIGINT, _decode_pairs(p, d, w, 'fixed', 9, NULL)::BIGINT
		FROM range(0, 13) a(p), range(0, 13) b(d), (SELECT nullif(range, 0) AS w FROM range(0, 28)) c`)
	if len(contexts) != 13*13*28 {
		t.Fatal(len(contexts))
	}
	for _, r := range contexts {
		p, d, window := r[0].(int64), r[1].(int64), r[2].(int64)
		grows, nine, seven := seen(p+1, d, window), d*seen(9, 1, window), d*seen(7, 1, window)
		if r[3] != grows || r[4] != grows || r[5] != nine || r[6] != seven || r[7] != nil || r[8] != nil {
			t.Fatalf("%d steps after %d tokens, window %d: %v; want %d, %d, %d, %d, NULL, NULL", d, p, window, r[3:], grows, grows, nine, seven)
		}
	}
}

// formulaModels are configurations of each kind of attention and MLP, by what is told apart below.
var formulaModels = []string{"llama-gqa", "mistral-window", "gemma3-pattern", "gpt_oss-alternating", "qwen2_moe-mixed", "deepseek_v2-q-lora", "deepseek_v3-no-q-lora", "gpt2-default"}

// formulas ingests them as the models 1, 2, ... of the run "models", and DeepSeek-OCR, with pictures, as the last.
func formulas(t *testing.T) *schema.Warehouse {
	t.Helper()
	var file struct{ Fixtures []measured }
	readJSON(t, "../testdata/model/decoder.json", &file)
	var configs [][]byte
	for _, name := range formulaModels {
		i := slices.IndexFunc(file.Fixtures, func(f measured) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no fixture %s", name)
		}
		configs = append(configs, file.Fixtures[i].Config)
	}
	w := testkit.Copy(t)
	ofModels(t, w, "models", append(configs, pictures(t, "deepseek ocr small"))...)
	return w
}

// pictures returns a configuration of vision.json.
func pictures(t *testing.T, name string) []byte {
	t.Helper()
	var cases []struct {
		Name   string
		Config json.RawMessage
	}
	readJSON(t, "../testdata/model/vision.json", &cases)
	for _, c := range cases {
		if c.Name == name {
			return c.Config
		}
	}
	t.Fatalf("no case %s", name)
	return nil
}

// ask is one row of arguments of flops.
type ask struct {
	prefill, decode, batch, images, crops int64
	convention, mla, head, context        string
	fixed                                 int64 // 0: none
}

// plainAsk is what others are compared with.
var plainAsk = ask{prefill: 11, decode: 6, batch: 1, images: 1, crops: 1, convention: "full", mla: "expanded", head: "last", context: "auto"}

// stagesOf returns operations by stage for each model and row of arguments, in one statement: planning takes longer than the rest. Its
// names are long, since macros have the short ones.
func stagesOf(t *testing.T, w *schema.Warehouse, models int, asks []ask) [][]map[string]int64 {
	t.Helper()
	var list []string
	for i, a := range asks {
		list = append(list, fmt.Sprintf("(%d, %d, %d, %d, %d, %d, '%s', '%s', '%s', '%s', %d)", i, a.prefill, a.decode, a.batch, a.images, a.crops, a.convention, a.mla, a.head, a.context, a.fixed))
	}
	out := make([][]map[string]int64, models)
	for m := range out {
		out[m] = make([]map[string]int64, len(asks))
		for i := range asks {
			out[m][i] = map[string]int64{}
		}
	}
	for _, r := range rowsOf(t, w, `SELECT chosen.number, asked.i, f.stage, sum(f.flop)::BIGINT AS flop
		FROM range(1, %d) chosen(number), (VALUES %s) asked(i, p, d, b, n, crops, way, mla, logits, mode, fixed),
		LATERAL (SELECT stage, flop FROM flops('models', model := chosen.number, prefill := asked.p, decode := asked.d, batch := asked.b, images := asked.n, crops := asked.crops,
			convention := asked.way, mla := asked.mla, head := asked.logits, context := asked.mode, fixed_context := nullif(asked.fixed, 0))) f
		GROUP BY ALL`, models+1, strings.Join(list, ", ")) {
		out[r[0].(int64)-1][r[1].(int64)][r[2].(string)] = orNull(r[3])
	}
	return out
}

// TestFormulas holds the operations of models to each other.
func TestFormulas(t *testing.T) {
	t.Parallel()
	w := formulas(t)
	for name, test := range map[string]func(*testing.T, *schema.Warehouse){"properties": testFlopProperties, "layers": testFlopsOfLayers, "unknown tokens": testUnknownTokens, "wrong arguments": testWrongFlopArguments, "huge tokens": testHugeTokens} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// changed is plainAsk with a change.
func changed(change func(*ask)) ask {
	a := plainAsk
	change(&a)
	return a
}

// testFlopProperties holds what is true of the operations of every model: how they grow with each argument.
func testFlopProperties(t *testing.T, w *schema.Warehouse) {
	asks := []ask{plainAsk,
		changed(func(a *ask) { a.batch = 3 }),
		changed(func(a *ask) { a.images, a.crops = 2, 5 }),
		changed(func(a *ask) { a.images = 0 }),
		changed(func(a *ask) { a.convention = "causal" }),
		changed(func(a *ask) { a.head = "all" }),
		changed(func(a *ask) { a.mla = "absorbed" }),
		changed(func(a *ask) { a.context, a.fixed = "fixed", 9 }),
		changed(func(a *ask) { a.prefill, a.decode = 8, 1 }),
		changed(func(a *ask) { a.context = "max" }),
		changed(func(a *ask) { a.prefill, a.decode, a.batch = 0, 0, 7 }),
		changed(func(a *ask) { a.images, a.crops = 1, 0 })}
	const plain, batch, twice, none, causal, all, absorbed, fixed, one, most, nothing, whole = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	steps := len(asks)
	for i := range plainAsk.decode {
		asks = append(asks, changed(func(a *ask) { a.prefill, a.decode = plainAsk.prefill+i, 1 }))
	}
	last := len(formulaModels) // the model with pictures
	got := stagesOf(t, w, last+1, asks)
	sizes := rowsOf(t, w, "SELECT model, hidden_size, vocab_size, max_context_count FROM models('models') ORDER BY model")
	for m, g := range got {
		name := append(slices.Clone(formulaModels), "deepseek ocr small")[m]
		check := func(what string, got, want int64) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s: %d, want %d", name, what, got, want)
			}
		}
		for _, stage := range []string{"prefill", "decode"} {
			check(stage+" of 3 sequences", g[batch][stage], 3*g[plain][stage])
			check(stage+" of nothing", g[nothing][stage], 0)
		}
		check("decode under causal", g[causal]["decode"], g[plain]["decode"])
		if g[causal]["prefill"] >= g[plain]["prefill"] || g[causal]["prefill"] <= 0 {
			t.Errorf("%s: prefill causal %d, full %d", name, g[causal]["prefill"], g[plain]["prefill"])
		}
		check("decode with all logits", g[all]["decode"], g[plain]["decode"])
		check("logits of all but the last", g[all]["prefill"]-g[plain]["prefill"], 2*(plainAsk.prefill-1)*sizes[m][1].(int64)*sizes[m][2].(int64))
		var each int64
		for i := steps; i < len(asks); i++ {
			each += g[i]["decode"]
		}
		check("decode step by step", g[plain]["decode"], each)
		check("decode with a context of 9", g[fixed]["decode"], plainAsk.decode*g[one]["decode"])
		if sizes[m][3] == nil || g[most]["decode"] < g[plain]["decode"] { // windows may hide what the context grows by
			t.Errorf("%s: decode with the whole context %d, as it grows %d", name, g[most]["decode"], g[plain]["decode"])
		}
		check("prefill with absorbed matrices", g[absorbed]["prefill"], g[plain]["prefill"])
		if !strings.HasPrefix(name, "deepseek_v") {
			check("decode with absorbed matrices", g[absorbed]["decode"], g[plain]["decode"])
		} else if g[absorbed]["decode"] == g[plain]["decode"] {
			t.Errorf("%s: absorbed and expanded decode are the same", name)
		}
		if m != last {
			check("vision", int64(len(g[plain])), 2)
			continue
		}
		crop := g[plain]["vision"] - g[whole]["vision"]
		if crop <= 0 || g[whole]["vision"] <= 0 {
			t.Errorf("a crop takes %d, the whole picture %d", crop, g[whole]["vision"])
		}
		check("two images of five crops", g[twice]["vision"], 2*(g[whole]["vision"]+5*crop))
		check("no image", g[none]["vision"], 0)
		check("images of 3 sequences", g[batch]["vision"], 3*g[plain]["vision"])
		check("prefill beside images", g[twice]["prefill"], g[plain]["prefill"])
	}
}

// testFlopsOfLayers holds that both queries tell the same operations and that parts add up to the whole.
func testFlopsOfLayers(t *testing.T, w *schema.Warehouse) {
	for m := range len(formulaModels) + 1 {
		args := queries.Args{"run": "models", "model": fmt.Sprint(m + 1), "prefill": "11", "decode": "6", "images": "2", "crops": "1", "convention": "causal"}
		fine, sums, shares := map[string]int64{}, map[string]int64{}, map[string]float64{}
		for key, row := range named(t, w, "layer-flops", args, "stage", "part", "operator", "layer") {
			fine[key[:strings.LastIndex(key, " ")]] += row["flop"].(int64)
		}
		for key, row := range named(t, w, "flops", args, "stage", "part", "operator") {
			sums[key] = row["flop"].(int64)
			shares[row["stage"].(string)] += row["share_ratio"].(float64)
		}
		if !maps.Equal(fine, sums) {
			t.Errorf("model %d: layer-flops %v, flops %v", m+1, fine, sums)
		}
		for stage, share := range shares {
			same(t, "shares of "+stage, share, 1, 1e-12)
		}
	}
}

// TestLatentAttentionByHand holds both ways of latent attention to operations counted out for the sizes of DeepSeek-V3.
func TestLatentAttentionByHand(t *testing.T) {
	t.Parallel()
	var published map[string]json.RawMessage
	readJSON(t, "../testdata/model/decoder_published.json", &published)
	w := testkit.Copy(t)
	ofModels(t, w, "models", published["deepseek-v3"])
	const layers, heads, hidden, vocab = 61, 128, 7168, 129280
	const qRank, kvRank, nope, rope, value = 1536, 512, 128, 64, 128
	const dense, sparse, wide, narrow, experts, chosen, shared = 3, 58, 18432, 2048, 256, 8, 1
	const p, d, b = 1000, 20, 4
	// Multiply-adds of one token that do not depend on the context: all but attention and the expansion of the latent.
	token := int64(layers * (hidden*qRank + qRank*heads*(nope+rope) + hidden*(kvRank+rope) + heads*value*hidden))
	token += dense*3*hidden*wide + sparse*(hidden*experts+(chosen+shared)*3*hidden*narrow)
	expand, head := int64(layers*kvRank*heads*(nope+value)), int64(hidden*vocab)
	contexts := seen(p+1, d, 0)
	prefill := 2 * b * (p*(token+expand) + head + p*p*layers*heads*(nope+rope+value))
	expanded := 2 * b * (d*(token+head) + contexts*(expand+layers*heads*(nope+rope+value)))
	// Queries are brought into the latent space and values out of it once a token; scores and sums are over latents.
	absorbed := 2 * b * (d*(token+head+layers*heads*(nope*kvRank+kvRank*value)) + contexts*layers*heads*(kvRank+rope+kvRank))

	a := changed(func(a *ask) { a.prefill, a.decode, a.batch = p, d, b })
	ab := a
	ab.mla = "absorbed"
	got := stagesOf(t, w, 1, []ask{a, ab})[0]
	if got[0]["prefill"] != prefill || got[1]["prefill"] != prefill || got[0]["decode"] != expanded || got[1]["decode"] != absorbed {
		t.Errorf("expanded %v, absorbed %v; want prefill %d, decode %d and %d", got[0], got[1], prefill, expanded, absorbed)
	}
	kv := rowsOf(t, w, "SELECT kv_token_bytes FROM models('models', dtype := 'bf16')")
	if want := int64(2 * layers * (kvRank + rope)); kv[0][0] != want {
		t.Errorf("a token keeps %v bytes, want %d", kv[0][0], want)
	}
}

// testUnknownTokens holds that operations are missing, and never 0, where a number of tokens or a context is.
func testUnknownTokens(t *testing.T, w *schema.Warehouse) {
	for _, c := range []struct {
		args            string
		prefill, decode bool // known
	}{
		{"", false, false},
		{", prefill := 5", true, false},
		{", decode := 5", false, false},
		{", decode := 5, context := 'fixed', fixed_context := 9", false, true},
		{", prefill := 5, decode := 5, context := 'fixed'", true, false},
		{", prefill := 5, decode := 5", true, true},
	} {
		for _, r := range rowsOf(t, w, "SELECT stage, bool_or(flop IS NULL), bool_and(coalesce(flop > 0, false)) FROM flops('models', model := 1%s) GROUP BY ALL", c.args) {
			known := c.prefill
			if r[0] == "decode" {
				known = c.decode
			}
			if r[1] != !known || r[2] != known {
				t.Errorf("flops(%s): %s: missing %v, counted %v; want known %v", c.args, r[0], r[1], r[2], known)
			}
		}
	}
}

// testWrongFlopArguments holds that a invalid argument is refused by its name.
func testWrongFlopArguments(t *testing.T, w *schema.Warehouse) {
	for _, name := range []string{"flops", "layer-flops"} {
		q, err := queries.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ arg, value string }{
			{"convention", "half"}, {"mla", "compressed"}, {"head", "first"}, {"context", "none"}, {"prefill", "-1"}, {"decode", "-3"}, {"batch", "-1"},
			{"images", "-1"}, {"crops", "-2"}, {"fixed_context", "-9"}, {"prefill", "some"}, {"prefill", "1.5"}, {"tokens", "5"},
		} {
			args := queries.Args{"run": "models", "model": "1", "prefill": "5", "decode": "2"}
			args[c.arg] = c.value
			_, err := queries.Run(t.Context(), w, q, args)
			if want := "--" + strings.ReplaceAll(c.arg, "_", "-"); !errors.Is(err, queries.ErrBadArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s %q: %v, want an error that names %s", name, c.arg, c.value, err, want)
			}
		}
	}
	// In SQL, where nothing looks at arguments before.
	for _, arg := range []string{"prefill := -5, decode := 1", "prefill := 5, decode := -1", "prefill := 5, decode := 1, batch := -1", "prefill := 5, decode := 1, fixed_context := -1"} {
		if f, err := queries.Raw(t.Context(), w, "SELECT sum(flop) FROM flops('models', model := 1, "+arg+")"); err == nil || !strings.Contains(err.Error(), "--prefill") {
			t.Errorf("flops(%s): %v, %v", arg, f, err)
		}
	}
}

// testHugeTokens holds that numbers too large to count give an error, never one that wrapped.
func testHugeTokens(t *testing.T, w *schema.Warehouse) {
	failed := 0
	for _, arg := range []string{"prefill := ?, decode := 1", "prefill := 1, decode := ?", "prefill := 9, decode := 9, batch := ?", "prefill := 1, decode := 1, images := ?"} {
		stmt, err := w.DB.PrepareContext(t.Context(), "SELECT min(flop) FROM flops('models', model := ?, "+arg+")")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{2147483648, 3037000500, 4611686018427387904, 9223372036854775807} {
			for _, model := range []int{1, len(formulaModels) + 1} {
				var flop sql.NullInt64
				if err := stmt.QueryRowContext(t.Context(), model, n).Scan(&flop); err != nil {
					failed++
				} else if flop.Int64 < 0 {
					t.Errorf("%s of model %d, %d: %d", arg, model, n, flop.Int64)
				}
			}
		}
		if err := stmt.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if failed < 16 {
		t.Errorf("only %d were refused", failed)
	}
}
