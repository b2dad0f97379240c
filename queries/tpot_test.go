package queries_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// engineCaptures are the captures of engine.py in testkit.All.
var engineCaptures = []string{"engine-node", "engine-graph", "engine-trace"}

// TestTpotCauses holds the time of steps and its parts to the iterations that they are made of.
func TestTpotCauses(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range append(slices.Clone(engineCaptures), "torch-llama", "llama-graph-node", "variants-graph", "kernels") {
		it := testkit.Query(t, w, "iterations", queries.Args{"run": run, "top": "0"})
		want := map[string]int64{}
		steps, time := int64(0), int64(0)
		for i, r := range it.Rows[:len(it.Rows)-1] {
			next := it.Rows[i+1]
			if stage := r[it.Index("stage")].(string); stage != "prefill" && next[it.Index("stage")] != "prefill" && r[it.Index("time_ns")] != nil && r[it.Index("is_warmup")] == false && next[it.Index("is_warmup")] == false {
				steps++
				time += number(it, next, "start_ns") - number(it, r, "start_ns")
				want[stage+" busy"] += number(it, r, "busy_ns")
				want[stage+" idle"] += number(it, r, "idle_ns")
				want["between"] += number(it, next, "before_ns")
			}
		}
		f := testkit.Query(t, w, "tpot-causes", queries.Args{"run": run})
		got := map[string]int64{}
		for _, r := range f.Rows {
			kind, cause, part := r[f.Index("kind")].(string), r[f.Index("cause")].(string), number(f, r, "time_ns")
			switch {
			case part < 0:
				t.Errorf("%s: a part is negative: %v", run, r)
			case kind == "between":
				got[kind] += part
			case slices.Contains([]string{"kernel", "collective", "graph", "copy", "work"}, cause):
				got[kind+" busy"] += part
			default:
				got[kind+" idle"] += part
			}
			if number(f, r, "step_count") != steps || r[f.Index("step_mean_ns")] != float64(time)/float64(steps) || r[f.Index("per_step_ns")] != float64(part)/float64(steps) || r[f.Index("share_ratio")] != float64(part)/float64(time) {
				t.Errorf("%s: %v, want %d steps of %d ns in all", run, r, steps, time)
			}
		}
		if steps < 4 || total(f, "time_ns") != time || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d steps, %d ns %v, want %d ns %v", run, steps, total(f, "time_ns"), got, time, want)
		}
	}
	// without the shorter gaps the same time has fewer causes
	causes := func(w *schema.Warehouse) string {
		return fmt.Sprint(rowsOf(t, w, `SELECT kind, sum(time_ns)::BIGINT FROM tpot_causes('engine-node') GROUP BY kind ORDER BY kind`))
	}
	before, unknown := causes(w), `SELECT coalesce(sum(time_ns), 0)::BIGINT FROM tpot_causes('engine-node') WHERE kind = 'between' AND cause = 'unknown'`
	if n := one(t, w, unknown); n != 0 {
		t.Errorf("%d ns are unknown", n)
	}
	less := testkit.Named(t, "engine-node")[0]
	less.SQL, less.Facts = `DELETE FROM gap WHERE duration_ns < 500000`, []string{"iteration", "device_part", "served", "caveat"}
	w = testkit.Warehouse(t, less)
	if n := one(t, w, unknown); n <= 0 || causes(w) != before {
		t.Errorf("%d ns are unknown, %s, want %s", n, causes(w), before)
	}
}

// TestTpotCausesMade reads a trace of known steps: one over a prefill, one that begins while the one before is at work, one of prompts and decode with a collective, and a pause without requests.
func TestTpotCausesMade(t *testing.T) {
	t.Parallel()
	var events []string
	step := func(prompts, decoding, tokens int, from, dur int) {
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "user_annotation", "name": "execute_context_%d(%d)_generation_%d(%d)", "pid": 1, "tid": 1, "ts": %d, "dur": %d, "args": {}}`, prompts, 5*prompts, decoding, tokens, from, dur))
	}
	id := 0
	work := func(name string, stream, launch, start, end int) {
		id++
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": %d, "dur": 1, "args": {"correlation": %d}}`, launch, id),
			fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": %q, "pid": 0, "tid": %d, "ts": %d, "dur": %d, "args": {"correlation": %d, "device": 0, "context": 1, "stream": %[2]d}}`, name, stream, start, end-start, id))
	}
	write := func(speculated int) string {
		events = nil
		step(2, 0, 0, 0, 20)
		work("k", 7, 5, 30, 50)
		step(0, 2, 2, 60, 30)
		work("k", 7, 65, 70, 80)
		work("k", 7, 85, 90, 100)
		work("sample", 7, 105, 110, 115) // outside
		step(1, 0, 0, 120, 20)
		work("k", 7, 125, 130, 150)
		step(0, 3, 3, 160, 20) // one more than the two prompts since: of the three, two waited for the prefill
		work("k", 7, 165, 170, 200)
		step(0, 1, 1, 185, 10)
		work("k", 8, 186, 190, 210)
		step(1, 0, 0, 300, 20)
		work("k", 7, 305, 310, 330)
		step(0, 1, 1, 400, 20) // the new request alone: what was before is another's
		work("k", 7, 405, 410, 430)
		step(2, 1, speculated, 440, 20)
		work("k", 7, 445, 450, 470)
		work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 9, 452, 465, 480)
		step(0, 1, 1, 700, 20)
		work("k", 7, 705, 710, 715)
		path := filepath.Join(t.TempDir(), "made.json")
		if err := os.WriteFile(path, []byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	of := []string{"iteration", "device_part", "served", "caveat", "caveat_iteration", "caveat_pass", "caveat_serving"}
	w := testkit.Warehouse(t, testkit.Run{Name: "alone", Files: []string{write(1)}, Facts: of}, testkit.Run{Name: "served", Files: []string{write(1), "serving/own.json"}, Facts: of},
		testkit.Run{Name: "twice", Files: []string{write(1), "serving/own.json", "serving/vllm.json"}, Facts: of}, testkit.Run{Name: "speculated", Files: []string{write(3), "serving/own.json"}, Facts: of},
		testkit.Run{Name: "window", Files: []string{write(1), "serving/own.json"}, Facts: of, SQL: `INSERT INTO serving_window SELECT run_id, 9, 1, NULL, 0, true, NULL, 1, 10, 5, 90000, 0, NULL FROM run WHERE name = 'window';
			INSERT INTO capture_source SELECT run_id, 1, 1 FROM run WHERE name = 'window'`},
		testkit.Run{Name: "none", Files: []string{"torch/train.trace.json.gz"}, Facts: of})
	want := []string{"between|host|225000", "decode|kernel|70000", "between|launch-bound|70000", "mixed|kernel|20000", "prefill|kernel|20000", "decode|launch-bound|10000", "mixed|collective|10000", "between|other|5000", "between|overlap|-10000"}
	slices.Sort(want)
	const beyond = "[the client's TPOT is that of a whole benchmark, the steps are those captured, which a profiler slows: prof capture --baseline measures by how much]"
	for run, like := range map[string]struct{ step, client, outside, notes string }{
		"alone":      {"105000", "<nil>", "<nil>", "[]"},
		"served":     {"105000", "9.1e+06", "9.02e+06", beyond},
		"window":     {"105000", "9.1e+06", "10000", "[]"},
		"twice":      {"105000", "<nil>", "<nil>", "[the run has 2 benchmarks: which one was captured is unknown, so TPOT is not compared with the steps; see prof query serving]"},
		"speculated": {"105000", "9.1e+06", "<nil>", beyond[:len(beyond)-1] + " 1 iteration decodes several tokens of a sequence (speculative decoding): the time of a step is not that of a token, and TPOT is not compared with it]"},
		"none":       {notes: "[the capture has no two measured iterations that decode and follow each other (of 0 that decode): see prof query iterations]"},
	} {
		f := testkit.Query(t, w, "tpot-causes", queries.Args{"run": run})
		if run != "none" && f.Rows[0][f.Index("all_token_mean_ns")] != 80_000.0 {
			t.Errorf("%s: all GPUs: %v", run, f.Rows[0])
		}
		got := shownCells(f, "kind", "cause", "time_ns")
		slices.Sort(got)
		if run == "none" && len(got) > 0 || run != "none" && !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", run, got, want)
		}
		tokens := 0.0 // 100 us for two sequences, 20 for three, 40 and 260 for one: 560 us for seven tokens
		for _, r := range f.Rows {
			tokens += r[f.Index("per_token_ns")].(float64)
		}
		if run != "none" && (math.Abs(tokens-80_000) > 1e-6 || f.Rows[0][f.Index("token_mean_ns")] != 80_000.0) {
			t.Errorf("%s: %g ns a token, %v", run, tokens, f.Rows[0])
		}
		for _, r := range f.Rows {
			if number(f, r, "step_count") != 4 || fmt.Sprint(r[f.Index("step_mean_ns")], r[f.Index("client_tpot_ns")], r[f.Index("outside_ns")]) != like.step+" "+like.client+" "+like.outside {
				t.Errorf("%s: %v, want %v", run, r, like)
				break
			}
		}
		notes, err := queries.NewAsker(w).Notes(t.Context(), queries.Args{"run": runID(t, w, run)}, "tpot")
		if err != nil || fmt.Sprint(notes) != like.notes {
			t.Errorf("%s: %q, %v, want %s", run, notes, err, like.notes)
		}
	}
	// A second GPU, which had the first four iterations too: one step of 100 us, for two sequences. Together 760 us for nine tokens.
	w = testkit.Copy(t, testkit.Run{Name: "served", Files: []string{write(1), "serving/own.json"}, Facts: of})
	testkit.Exec(t, w, `INSERT INTO iteration SELECT * REPLACE (1 AS device_id) FROM iteration WHERE run_id = _run_id('served') AND start_ns <= 170000 + (SELECT min(start_ns) - 30000 FROM iteration WHERE run_id = _run_id('served'))`)
	for args, want := range map[string]string{"": "[[0 80000 84444.444 true] [1 100000 84444.444 true]]", ", device := 1": "[[1 100000 84444.444 true]]"} {
		if got := fmt.Sprint(rowsOf(t, w, `SELECT DISTINCT device, token_mean_ns, round(all_token_mean_ns, 3), client_tpot_ns - all_token_mean_ns = outside_ns FROM tpot_causes('served'%s) ORDER BY ALL`, args)); got != want {
			t.Errorf("of two GPUs%s: %s, want %s", args, got, want)
		}
	}
}
