package queries_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/stats"
	"prof/schema"
)

// TestAggregates holds, on every capture, that the figures of each stage are those of stages, and that what stages does not know has no row.
func TestAggregates(t *testing.T) {
	t.Parallel()
	p := newPlans(t, testkit.All(t))
	for _, run := range append(slices.Clone(timelines), utilised) {
		asked := []string{""}
		if run == "nccl2" {
			asked = append(asked, ", device := 1", ", source := 'torch'")
		}
		for _, args := range asked {
			found := p.ask(`WITH a AS (FROM {aggregates}(?::UUID`+args+`)), s AS (FROM {stages}(?::UUID`+args+`)), said AS (
					SELECT stage, stage || '_ns' AS metric, 'ns' AS unit, gpu_span_median_ns AS value, gpu_span_mean_ns AS mean, gpu_span_std_ns AS std, gpu_span_min_ns::DOUBLE AS min, gpu_span_max_ns::DOUBLE AS max, NULL AS passes FROM s WHERE gpu_span_mean_ns IS NOT NULL
					UNION ALL
					SELECT stage, stage || '_tokens', 'count', token_count / passes, token_count / passes, NULL, NULL, NULL, passes FROM s WHERE token_count IS NOT NULL
					UNION ALL
					SELECT stage, stage || '_tokens_per_s', 'tokens_per_s', gpu_span_tokens_per_s, NULL, NULL, NULL, NULL, passes FROM s WHERE gpu_span_tokens_per_s IS NOT NULL)
				SELECT a, said FROM (FROM a WHERE basis = 'gpu_span' AND unit || metric NOT LIKE 'ns%_per_token') a FULL JOIN said ON said.metric = a.metric AND said.stage = a.stage AND said.unit = a.unit
				WHERE a.metric IS NULL OR said.metric IS NULL OR abs(a.value - said.value) > 1e-9 * said.value OR a.mean <> said.mean OR (said.unit = 'ns' AND a.std IS DISTINCT FROM said.std) OR a.min <> said.min OR a.max <> said.max OR a.passes <> said.passes
					OR (a.passes > 1) <> (a.std IS NOT NULL)`, testkit.RunID(run), testkit.RunID(run))
			for _, bad := range asText(found) {
				t.Errorf("%s%s: %s", run, args, bad)
			}
		}
	}
	w := testkit.All(t)
	for _, bad := range rows(t, w, `WITH p AS (SELECT stage, count(*) AS n, sum(token_count) / (sum(gpu_span_ns) / 1e9) AS rate, stddev_samp(token_count / (gpu_span_ns / 1e9)) AS std, avg(gpu_span_ns / nullif(decode_count, 0)) AS each, stddev_samp(gpu_span_ns / nullif(decode_count, 0)) AS each_std
			FROM passes('`+utilised+`') WHERE NOT is_warmup GROUP BY stage)
		SELECT a, p FROM p LEFT JOIN aggregates('`+utilised+`') a ON a.stage = p.stage AND a.metric IN (p.stage || '_tokens_per_s', 'decode_ns_per_token')
		WHERE a.metric IS NULL OR a.passes <> p.n OR NOT (abs(a.mean - CASE a.unit WHEN 'ns' THEN p.each ELSE p.rate END) < 1e-9 * a.mean) OR NOT (abs(a.std - CASE a.unit WHEN 'ns' THEN p.each_std ELSE p.std END) < 1e-6 * a.std)`) {
		t.Errorf("a rate is not that of passes: %s", bad)
	}
	if got := rows(t, w, "SELECT metric FROM aggregates('"+utilised+"')"); fmt.Sprint(got) != "[[prefill_ns] [prefill_tokens] [prefill_tokens_per_s] [decode_ns] [decode_tokens] [decode_tokens_per_s] [decode_ns_per_token] [workload_prefill_ns] [workload_decode_ns]]" {
		t.Errorf("the metrics are %q", got)
	}
}

// TestWorkloadTimes holds what the workload measured itself to the numbers in its file.
func TestWorkloadTimes(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for name, run := range map[string]string{"llama-graph-node": utilised, "dsocr-eager": "utilised-eager", "dsocr-sdpa": "utilised-sdpa"} {
		text, err := os.ReadFile(testkit.Path("workload/" + name + ".workload.json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Runs []map[string]float64 }
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, stage := range []string{"prefill", "decode"} {
			var mean, squares, least, most float64
			var all []float64
			n := float64(len(file.Runs))
			for i, r := range file.Runs {
				x := r[stage+"_ms"] * 1e6
				mean, all = mean+x/n, append(all, x)
				if least = min(least, x); i == 0 {
					least = x
				}
				most = max(most, x)
			}
			for _, r := range file.Runs {
				squares += (r[stage+"_ms"]*1e6 - mean) * (r[stage+"_ms"]*1e6 - mean)
			}
			f := rowsOf(t, w, "SELECT value, mean, std, min, max, passes, stage, unit FROM aggregates('%s') WHERE metric = 'workload_%s_ns' AND basis = 'workload'", run, stage)
			if len(f) != 1 || len(file.Runs) < 2 {
				t.Fatalf("%s %s: %v of %v", name, stage, f, file.Runs)
			}
			for i, want := range []float64{stats.Centre(all), mean, math.Sqrt(squares / (n - 1)), least, most} {
				if got := f[0][i].(float64); math.Abs(got-want) > 1 { // ns, which is what they are kept in
					t.Errorf("%s %s: %v, want %v as number %d", name, stage, f[0], want, i+1)
				}
			}
			if f[0][5] != int64(len(file.Runs)) || f[0][6] != stage || f[0][7] != "ns" {
				t.Errorf("%s %s: %v", name, stage, f[0])
			}
		}
	}
}

// figures are the aggregates of the drawn run, each as metric=value/passes.
func figures(t *testing.T, w *schema.Warehouse, args string) string {
	t.Helper()
	var out []string
	for _, r := range rowsOf(t, w, "SELECT metric, value, passes FROM aggregates('drawn'%s)", args) {
		out = append(out, fmt.Sprintf("%v=%.6g/%v", r...))
	}
	return strings.Join(out, " ")
}

// TestAggregatesOf holds, on runs drawn by hand whose passes have spans of 50 ns, what is counted and what is left out for want of facts.
func TestAggregatesOf(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	check := func(what, args, want string) {
		t.Helper()
		testkit.DeriveOnly(t, w, "stage_pass", "pass_alone", "workload_entry")
		if got := figures(t, w, args); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	draw(t, w, "PDPDPD")
	check("without facts", "", "prefill_ns=50/3 decode_ns=50/3")
	check("on a GPU without work", ", device := 1", "")
	addFacts(t, w, 2, facts{passes: "w10/2 100/3/2 200/4/2"}) // of two sequences: 6 and 8 tokens in 3 and 4 steps
	const wall = " workload_prefill_ns=1500/2 workload_decode_ns=2500/2"
	const spans = "prefill_ns=50/2 prefill_tokens=300/2 prefill_tokens_per_s=6e+09/2 decode_ns=50/2 decode_tokens=7/2 decode_tokens_per_s=1.4e+08/2 decode_ns_per_token=14.5833/2"
	check("a listed warm-up", "", spans+wall)
	addFacts(t, w, 3, facts{passes: "*?/?"})
	testkit.Exec(t, w, "UPDATE source SET form = 'options' WHERE source_id = 3; UPDATE workload_pass SET batch_count = NULL WHERE source_id = 3")
	check("options later", "", spans+wall)
	testkit.Exec(t, w, "UPDATE workload_pass SET vision_ns = 700 WHERE source_id = 2 AND pass_id = 2; UPDATE workload_pass SET decode_ns = NULL WHERE source_id = 2")
	check("a pass alone, and none", "", spans+" workload_prefill_ns=1500/2 workload_vision_ns=700/1")
	testkit.Exec(t, w, "UPDATE nvtx_range SET name = 'step[DECODE bs=2 g_sqsq=8 g_sqsk=90 g_sk=90]' WHERE range_id = 6; UPDATE range_device SET last_end_ns = last_end_ns + 50 WHERE range_id = 6")
	check("an annotated step", "", "prefill_ns=50/2 prefill_tokens=300/2 prefill_tokens_per_s=6e+09/2 decode_ns=75/2 decode_tokens=4/2 decode_tokens_per_s=5.33333e+07/2 decode_ns_per_token=58.3333/2 workload_prefill_ns=1500/2 workload_vision_ns=700/1")
	testkit.Exec(t, w, "DELETE FROM range_device WHERE range_id = 6; UPDATE workload SET capture = 'torch'")
	check("of another timeline, and a pass without work", "", "prefill_ns=50/3 decode_ns=50/2")
	testkit.Exec(t, w, sourceRow(4, "torch"))
	check("of this timeline", ", source := 'torch'", "workload_prefill_ns=1500/2 workload_vision_ns=700/1")
	testkit.Exec(t, w, "UPDATE workload SET capture = NULL; INSERT INTO range_device SELECT * REPLACE (6 AS range_id, 510 AS first_start_ns, 510 AS last_end_ns) FROM range_device LIMIT 1")
	check("a pass without time", "", "prefill_ns=50/2 prefill_tokens=300/2 prefill_tokens_per_s=6e+09/2 decode_ns=25/2 decode_tokens=4/2 workload_prefill_ns=1500/2 workload_vision_ns=700/1")
	draw(t, w, "ED")
	addFacts(t, w, 2, facts{passes: "*?/4"})
	check("another stage, and prompts unknown", "", "decode_ns=50/1 decode_tokens=4/1 decode_tokens_per_s=8e+07/1 decode_ns_per_token=12.5/1 encode_ns=50/1")
	if f := testkit.Query(t, w, "aggregates", queries.Args{"run": "drawn"}); fmt.Sprint(column(f, "std")) != "[<nil> <nil> <nil> <nil> <nil>]" {
		t.Errorf("of one pass: %v", f.Rows)
	}
}
