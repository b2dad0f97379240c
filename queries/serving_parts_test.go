package queries_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// servedStep is an iteration that takes the place of captured ones.
type servedStep struct {
	stage      string
	batch      int64
	time, busy int64
}

// replaceIterations gives the run "made" the iterations of some processes, by pid from 0.
func replaceIterations(t *testing.T, w *schema.Warehouse, processes ...[]servedStep) {
	t.Helper()
	testkit.Exec(t, w, `DELETE FROM iteration WHERE run_id = _run_id('made')`)
	rows := []string{"pid,nth,stage,prompts,batch,start_ns,time_ns,busy_ns"}
	for pid, steps := range processes {
		var start int64
		for i, s := range steps {
			rows = append(rows, fmt.Sprintf("%d,%d,%s,%d,%d,%d,%d,%d", pid, i+1, s.stage, map[string]int{"prefill": 1, "mixed": 1}[s.stage], s.batch, start, s.time, s.busy))
			start += s.time
		}
	}
	path := filepath.Join(t.TempDir(), "made.csv")
	if err := os.WriteFile(path, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO iteration BY NAME SELECT s.run_id, s.source_id, 'step' AS basis, m.pid, 0 AS device_id, m.nth, m.stage, m.prompts AS prompt_count, 100 * m.prompts AS prompt_token_count, m.batch AS decode_count, m.batch AS decode_token_count, 100 * m.prompts + m.batch AS token_count,
		m.start_ns, m.time_ns, m.busy_ns AS gpu_span_ns, m.busy_ns, 0 AS idle_ns, false AS is_warmup FROM read_csv('%s') m, source s WHERE s.run_id = _run_id('made')`, path))
	cutAgain(t, w)
}

// cutAgain derives the parts of the iterations anew.
func cutAgain(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	testkit.Exec(t, w, `DELETE FROM iteration_part WHERE run_id = _run_id('made')`)
	var id string
	if err := w.DB.QueryRow(`SELECT _run_id('made')::VARCHAR`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	c, err := w.DB.Conn(t.Context()) // steps are temporary tables of a connection
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := (derive.Facts{Only: []string{"iteration_part"}}).Derive(t.Context(), c, id); err != nil {
		t.Fatal(err)
	}
}

// servedLoad is load that does not change: batch and time vary by noise, the batch with this correlation from one iteration to the next. Of so many iterations (prompts) one has a prompt as well; a third as many have
// prompts alone.
func servedLoad(random *rand.Rand, n int, batch, time, noise, correlation float64, prompts int) []servedStep {
	out := make([]servedStep, n)
	state := random.NormFloat64()
	for i := range out {
		state = correlation*state + math.Sqrt(1-correlation*correlation)*random.NormFloat64()
		s := servedStep{stage: "decode", batch: max(1, int64(math.Round(batch*math.Exp(noise*state)))), time: int64(time * math.Exp(noise*random.NormFloat64()))}
		switch {
		case prompts > 0 && i%prompts == prompts-1:
			s.stage, s.time = "mixed", 3*s.time
		case prompts > 0 && i%(3*prompts) == 1:
			s.stage, s.batch, s.time = "prefill", 0, 5*s.time
		case random.IntN(50) == 0: // a step that stalls
			s.time *= 8
		}
		s.busy = s.time * 3 / 4
		out[i] = s
	}
	return out
}

// TestServingParts holds that load that does not change is one part, and that a change of load is found where it is.
func TestServingParts(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "made", Files: []string{"engine/vllm-decode.trace.json.gz"}, Facts: []string{"iteration_part", "iteration"}})
	random := rand.New(rand.NewPCG(29, 1))
	const series = 200
	var calm [][]servedStep
	for i := range series {
		calm = append(calm, servedLoad(random, []int{16, 40, 150, 600}[i%4], []float64{1, 8, 64, 200}[i/4%4], 2e7, []float64{0.02, 0.1, 0.2}[i%3], []float64{0, 0.5, 0.9, 0.95}[i/2%4], []int{0, 4, 10}[i/3%3]))
	}
	replaceIterations(t, w, calm...)
	f := testkit.Query(t, w, "serving-parts", queries.Args{"run": "made"})
	cut := map[int64]bool{}
	for _, r := range f.Rows {
		if number(f, r, "part") > 1 {
			cut[number(f, r, "pid")] = true
		}
	}
	t.Logf("%d of %d series without a change are cut", len(cut), series)
	if len(cut) >= series/20 {
		t.Errorf("%d of %d series without a change are cut", len(cut), series)
	}

	// a ramp-up, two loads and a drain; the same batch at half the speed; too few; no batch; no decode
	var changing [][]servedStep
	for range 50 {
		var s []servedStep
		for _, l := range [][3]float64{{40, 8, 1e7}, {200, 64, 2e7}, {120, 100, 3e7}, {30, 10, 1e7}} {
			s = append(s, servedLoad(random, int(l[0]), l[1], l[2], 0.05, 0, 10)...)
		}
		changing = append(changing, s)
	}
	steady := servedLoad(random, 100, 64, 2e7, 0.05, 0, 0)
	slower := append(steady[:100:100], servedLoad(random, 100, 64, 4e7, 0.05, 0, 0)...)
	replaceIterations(t, w, append(changing, slower, steady[:15], servedLoad(random, 40, 64, 2e7, 0.05, 0, 0), slices.Repeat([]servedStep{{stage: "prefill", time: 2e7, busy: 1.5e7}}, 40))...)
	testkit.Exec(t, w, `UPDATE iteration SET decode_count = NULL WHERE run_id = _run_id('made') AND pid = 52`)
	cutAgain(t, w)
	f = testkit.Query(t, w, "serving-parts", queries.Args{"run": "made"})
	found := map[int64]string{}
	ends := map[int64][]int64{}
	for _, r := range f.Rows {
		pid := number(f, r, "pid")
		found[pid] += fmt.Sprint(r[f.Index("label")], " ", r[f.Index("reason")], "; ")
		ends[pid] = append(ends[pid], number(f, r, "last_nth"))
	}
	for pid := range int64(50) {
		if want := "ramp-up <nil>; steady <nil>; steady <nil>; drain <nil>; "; found[pid] != want {
			t.Errorf("%d: parts %s at %v, want %s", pid, found[pid], ends[pid], want)
			continue
		}
		for i, want := range []int64{40, 240, 360, 390} {
			if d := ends[pid][i] - want; d < -2 || d > 2 {
				t.Errorf("%d: part %d ends with iteration %d, want %d", pid, i+1, ends[pid][i], want)
			}
		}
	}
	for pid, want := range map[int64]string{50: "steady <nil>; steady <nil>; ", 51: "<nil> few-iterations; ", 52: "<nil> no-batch; ", 53: "<nil> no-batch; "} {
		if found[pid] != want {
			t.Errorf("%d: parts %s, want %s", pid, found[pid], want)
		}
	}
	// the parts have all iterations, once, and the figures of theirs
	want := rowsOf(t, w, `SELECT p.pid, p.part, count(*), count(*) FILTER (i.stage = 'decode'), count(*) FILTER (i.stage = 'mixed'), count(*) FILTER (i.stage = 'prefill'), round(1e6 * avg(i.decode_count) FILTER (i.stage <> 'prefill')), round(1e6 * avg(i.token_count)), sum(i.time_ns)::BIGINT,
		round(1e9 * sum(i.decode_token_count) / sum(i.time_ns)), min(i.start_ns) FROM serving_parts('made') p JOIN iteration i ON i.run_id = _run_id('made') AND i.pid = p.pid AND i.nth BETWEEN p.first_nth AND p.last_nth GROUP BY ALL ORDER BY ALL`)
	got := rowsOf(t, w, `SELECT pid, part, iteration_count, decode_iteration_count, mixed_iteration_count, prefill_iteration_count, round(1e6 * decode_mean_count), round(1e6 * token_mean_count), time_ns, round(decode_tokens_per_s), start_ns FROM serving_parts('made') ORDER BY ALL`)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) == 0 {
		t.Errorf("parts\n%v\nwant\n%v", got, want)
	}
	if all := one(t, w, `SELECT sum(iteration_count)::BIGINT FROM serving_parts('made')`); all != int64(50*390+200+15+40+40) {
		t.Errorf("the parts have %d iterations", all)
	}
	for _, r := range f.Rows {
		if busy, between := r[f.Index("busy_ratio")].(float64), r[f.Index("between_ratio")].(float64); math.Abs(busy-0.75) > 1e-6 || math.Abs(between-0.25) > 1e-6 {
			t.Errorf("busy %v, between %v in %v", busy, between, r)
		}
	}
}

// TestServingPartsOfEngine compares an engine's parts with the summary of its iterations.
func TestServingPartsOfEngine(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range engineCaptures {
		got := rowsOf(t, w, `SELECT sum(iteration_count)::BIGINT, sum(time_ns)::BIGINT, sum(timed_count)::BIGINT, sum(decode_iteration_count)::BIGINT FROM serving_parts('%s')`, run)
		want := rowsOf(t, w, `SELECT sum(iteration_count)::BIGINT, sum(time_mean_ns * timed_count)::BIGINT, sum(timed_count)::BIGINT, (sum(iteration_count) FILTER (stage = 'decode'))::BIGINT FROM iteration_summary('%s', by := 'stage')`, run)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", run, got, want)
		}
		for _, r := range rowsOf(t, w, `SELECT part, label, reason FROM serving_parts('%s')`, run) {
			if run == "engine-trace" && fmt.Sprint(r) != "[1 <nil> few-iterations]" || run != "engine-trace" && fmt.Sprint(r) != "[1 steady <nil>]" {
				t.Errorf("%s: %v", run, r)
			}
		}
	}
	w = testkit.Warehouse(t, testkit.Run{Name: "contexts", Files: []string{"engine/vllm-decode.trace.json.gz", "engine/config.json"}})
	for _, r := range rowsOf(t, w, `SELECT p.mfu_ratio, s.mfu_ratio, p.mbu_ratio, s.mbu_ratio, p.reason, p.is_least = s.is_least FROM serving_parts('contexts', peak := 1e12, bandwidth := 1e12) p, iteration_summary('contexts', peak := 1e12, bandwidth := 1e12) s`) {
		if r[2] == nil || r[0] != r[1] || r[2] != r[3] || r[4] != "few-iterations" || r[5] != true {
			t.Errorf("one iteration: %v", r)
		}
	}
}
