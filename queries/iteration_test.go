package queries_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// engineStep is what the program engine.py says of one of its steps.
type engineStep struct {
	Kind             string `json:"kind"`
	ContextRequests  int64  `json:"context_requests"`
	ContextTokens    int64  `json:"context_tokens"`
	GenerationCount  int64  `json:"generation_requests"`
	GenerationTokens int64  `json:"generation_tokens"`
	Padded           int64  `json:"padded"`
}

// engineTruth is what it did, in order.
func engineTruth(t *testing.T) []engineStep {
	t.Helper()
	text, err := os.ReadFile("../testdata/engine/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []engineStep
	if err := json.Unmarshal(text, &steps); err != nil {
		t.Fatal(err)
	}
	return steps
}

// engineRuns are the captures of engine.py.
var engineRuns = []string{"engine-node", "engine-graph", "engine-trace"}

// TestIterations compares the iterations of an engine, captured in three ways, with what its program wrote down.
func TestIterations(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	truth := engineTruth(t)
	for _, run := range engineRuns {
		f := testkit.Query(t, w, "iterations", queries.Args{"run": run, "top": "0"})
		if len(f.Rows) != len(truth) {
			t.Fatalf("%s: %d iterations, want %d", run, len(f.Rows), len(truth))
		}
		var last int64
		for i, r := range f.Rows {
			want := truth[i]
			got := engineStep{r[f.Index("stage")].(string), number(f, r, "prompt_count"), number(f, r, "prompt_token_count"), number(f, r, "decode_count"), number(f, r, "decode_token_count"), want.Padded}
			if want.Kind == "decode" && run != "engine-trace" { // a graph of which a full batch was seen
				got.Padded = number(f, r, "graph_token_count")
			} else if r[f.Index("graph_token_count")] != nil {
				t.Errorf("%s, iteration %d: the size of the graph is known: %v", run, i+1, r)
			}
			if got != want || number(f, r, "token_count") != want.ContextTokens+want.GenerationTokens {
				t.Errorf("%s, iteration %d: %+v, want %+v", run, i+1, got, want)
			}
			replays, mode := int64(1), "graph"
			if want.GenerationCount == 0 {
				replays, mode = 0, "eager"
			}
			if number(f, r, "replay_count") != replays || r[f.Index("mode")] != mode {
				t.Errorf("%s, iteration %d: %v replays, %v", run, i+1, r[f.Index("replay_count")], r[f.Index("mode")])
			}
			start, busy, idle := number(f, r, "start_ns"), number(f, r, "busy_ns"), number(f, r, "idle_ns")
			if end := start + number(f, r, "gpu_span_ns"); busy+idle != end-start {
				t.Errorf("%s, iteration %d: busy %d and idle %d are not the span %d", run, i+1, busy, idle, end-start)
			} else if i > 0 && number(f, r, "before_ns") != start-last || i == 0 && r[f.Index("before_ns")] != nil {
				t.Errorf("%s, iteration %d: %v before it, want %d", run, i+1, r[f.Index("before_ns")], start-last)
			} else {
				last = end
			}
		}
	}
	if same := one(t, w, `SELECT count(*) FROM iterations('engine-graph', top := 0) w JOIN iterations('engine-node', top := 0) n ON n.nth = w.nth WHERE w.graph_id = n.graph_id`); same != 15 {
		t.Errorf("%d iterations have the same graph however graphs are traced, want 15", same)
	}
}

// TestIterationSummary adds up iterations by hand.
func TestIterationSummary(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range engineRuns {
		for _, by := range []string{"batch", "stage"} {
			f := testkit.Query(t, w, "iteration-summary", queries.Args{"run": run, "by": by})
			want := rowsOf(t, w, `SELECT * FROM (SELECT stage, CASE '%[2]s' WHEN 'batch' THEN prompt_count + decode_count END AS sequences, mode, count(*) FILTER (NOT is_warmup) AS n, count(*) FILTER (is_warmup),
				round(avg(time_ns) FILTER (NOT is_warmup)), round(1e9 * sum(CASE WHEN time_ns IS NOT NULL THEN token_count END) FILTER (NOT is_warmup) / sum(time_ns) FILTER (NOT is_warmup)), round(avg(before_ns) FILTER (NOT is_warmup))
				FROM iterations('%[1]s', top := 0) GROUP BY ALL HAVING n > 0) ORDER BY array_position(['prefill', 'mixed', 'decode'], stage), sequences, mode`, run, by)
			got := rowsOf(t, w, `SELECT stage, sequence_count, mode, iteration_count, warmup_count, round(time_mean_ns), round(tokens_per_s), round(before_mean_ns) FROM iteration_summary('%s', by := '%s')`, run, by)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s by %s:\n%v\nwant\n%v", run, by, got, want)
			}
			var share float64
			for _, r := range f.Rows {
				share += r[f.Index("share_ratio")].(float64)
			}
			if math.Abs(share-1) > 1e-9 {
				t.Errorf("%s by %s: shares add up to %v", run, by, share)
			}
		}
	}
	known := 0
	for _, run := range append(slices.Clone(engineRuns), "engine-contexts") { // the last is of another model: only the sums matter // a stage whose iterations are launched in one way is one of mfu
		for _, r := range rowsOf(t, w, `SELECT s.stage, m.mfu_ratio, s.mfu_ratio, m.mbu_ratio, s.mbu_ratio, s.is_least = m.is_least FROM iteration_summary('%[1]s', by := 'stage', peak := 1e12, bandwidth := 1e12) s JOIN (
				SELECT stage, sum(flop) / (1e12 * sum(device_ns) / 1e9) AS mfu_ratio, sum(moved_bytes) / (1e12 * sum(device_ns) / 1e9) AS mbu_ratio, bool_or(is_least) AS is_least
				FROM _pass_use('%[2]s'::UUID, peak := 1e12, bandwidth := 1e12) WHERE part_of IS NULL GROUP BY stage) m ON m.stage = s.stage`, run, testkit.RunID(run)) {
			if r[5] != true || run == "engine-contexts" && r[3] == nil {
				t.Errorf("%s: %v", run, r)
			}
			for i := 1; i < 5; i += 2 {
				mfu, there := r[i].(float64)
				own, here := r[i+1].(float64)
				if there != here || math.Abs(own-mfu) > 1e-12*mfu {
					t.Errorf("%s: %v: the utilisation is not that of all passes", run, r)
				}
				if here {
					known++
				}
			}
		}
	}
	if known != 11 {
		t.Errorf("%d figures of utilisation are known, want 11", known)
	}
}

// TestEngineOverhead holds that the time of the engine's thread is divided among its ranges and what is outside them, and so is the GPU's idle time.
func TestEngineOverhead(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	all := testkit.Copy(t, testkit.Named(t, engineRuns...)...) // with every iteration selected
	testkit.Exec(t, all, `UPDATE iteration SET is_warmup = false`)
	steps := int64(len(engineTruth(t)))
	for _, run := range engineRuns {
		f := testkit.Query(t, w, "engine-overhead", queries.Args{"run": run, "top": "0"})
		var got []string
		for _, r := range f.Rows {
			place, name := r[f.Index("place")].(string), r[f.Index("range")].(string)
			got = append(got, place+" "+name)
			cold := one(t, w, fmt.Sprintf(`SELECT count(*) FROM iterations('%s', top := 0) WHERE is_warmup`, run))
			want := steps - cold
			if place == "between" {
				want-- // none before the first
			}
			if calls := r[f.Index("calls")]; name != "(no range)" && calls != want {
				t.Errorf("%s: %v of %s, want %d", run, calls, name, want)
			}
		}
		slices.Sort(got)
		if want := []string{"between (no range)", "between output_processor: detokenize", "between scheduler: schedule", "inside (no range)", "inside gpu_model_runner: bookkeep", "inside gpu_model_runner: forward", "inside gpu_model_runner: preprocess", "inside gpu_model_runner: sample"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q", run, got)
		}
		// With every iteration selected its time is that of the thread, and its idle time that of the GPU there.
		f = testkit.Query(t, all, "engine-overhead", queries.Args{"run": run, "top": "0"})
		thread := rowsOf(t, w, `SELECT min(n.start_ns), max(n.start_ns + n.duration_ns) FROM iteration i JOIN nvtx_range n USING (run_id, range_id) WHERE i.run_id = _run_id('%s')`, run)[0]
		if want := thread[1].(int64) - thread[0].(int64); total(f, "total_ns") != want {
			t.Errorf("%s: %d ns, the thread took %d", run, total(f, "total_ns"), want)
		}
		idle := one(t, w, fmt.Sprintf(`SELECT sum(least(start_ns + duration_ns, %d) - greatest(start_ns, %d))::BIGINT FROM gap WHERE run_id = _run_id('%s') AND start_ns < %[1]d AND start_ns + duration_ns > %[2]d`, thread[1], thread[0], run))
		edges := rowsOf(t, w, `SELECT start_ns, end_ns FROM device_time WHERE run_id = _run_id('%s') AND range_id IS NULL`, run)[0]
		idle += max(edges[0].(int64)-thread[0].(int64), 0) + max(thread[1].(int64)-edges[1].(int64), 0)
		if total(f, "idle_ns") != idle {
			t.Errorf("%s: idle %d ns, the gaps have %d", run, total(f, "idle_ns"), idle)
		}
		for _, r := range f.Rows {
			if n, all := number(f, r, "idle_ns"), number(f, r, "total_ns"); n < 0 || n > all || r[f.Index("is_least")] != false {
				t.Errorf("%s: idle %d of %d in %v", run, n, all, r)
			}
		}
	}
}

// TestPublicIterations reads steps of vLLM and SGLang, on AMD GPUs, as their names and traces have them.
func TestPublicIterations(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for run, want := range map[string]string{ // sequences, tokens, context of prompts and decode; replays and kernels outside them, as counted in the JSON
		"vllm-decode":   "decode|0|0|0|32|32|55086|graph|1|425|4|false",
		"vllm-mixed":    "mixed|9|8155|8430|37|37|34489|piecewise|25|413|52|false",
		"sglang-decode": "decode|0|0|0|32|32|32785|graph|1|555|11|false",
	} {
		got := shownCells(testkit.Query(t, w, "iterations", queries.Args{"run": run}), "stage", "prompt_count", "prompt_token_count", "prompt_key_count", "decode_count", "decode_token_count", "decode_context_count", "mode", "replay_count", "kernel_count", "eager_count", "is_warmup")
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %s", run, got, want)
		}
	}
}

// TestIterationsEnd holds that the time of an iteration does not run across a stage pass after it: what comes then is not its own.
func TestIterationsEnd(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range append(slices.Clone(engineRuns), "nccl2-tokens", "ranks", "torch-llama") {
		if timed := one(t, w, `SELECT count(*) FROM iteration WHERE time_ns > 0 AND run_id = _run_id('`+run+`')`); timed == 0 {
			t.Errorf("%s has no iterations with a time", run)
		}
	}
	across := rowsOf(t, w, `SELECT r.name, i.stage, i.nth, p.stage FROM iteration i JOIN run r USING (run_id) JOIN stage_pass p ON p.run_id = i.run_id AND p.source_id = i.source_id AND p.pid = i.pid AND p.range_id <> i.range_id
		JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id AND d.device_id = i.device_id WHERE i.basis = 'pass' AND d.first_start_ns > i.start_ns AND d.first_start_ns < i.start_ns + i.time_ns`)
	if len(across) > 0 {
		t.Errorf("iterations run across passes: %v", across)
	}
	if alone := one(t, w, `SELECT count(*) FROM iteration WHERE basis = 'pass' AND time_ns IS NOT NULL AND stage <> 'prefill'`); alone > 0 {
		t.Errorf("%d passes that are no prefill have the time to the next request", alone)
	}
}
