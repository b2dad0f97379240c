package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestTimeBreakdown holds, on captures of every kind, that the categories are the parts of accounting, that the executions behind them are those of
// the measured passes, and that they are ranked and cut in a total order.
func TestTimeBreakdown(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range sample.Of(append(slices.Clone(stackRuns), utilised), 2) {
		for _, bad := range rows(t, w, fmt.Sprintf(`WITH c AS (FROM time_breakdown('%[1]s', top := 0)), a AS (FROM accounting('%[1]s')),
			counted AS (SELECT nullif(a.stage, '(run)') AS stage, a.device, a.part, a.kind, a.total_ns, a.span_total_ns FROM a WHERE a.stage <> '(run)' OR NOT EXISTS (SELECT 1 FROM a x WHERE x.stage <> '(run)')),
			part AS (SELECT stage, CASE WHEN kind <> 'busy' THEN kind WHEN part = 'copy' THEN 'copies' WHEN part = 'graph' THEN 'graphs' ELSE 'kernels' END AS part, sum(total_ns) AS ns FROM counted GROUP BY ALL),
			category AS (SELECT stage, CASE WHEN kind = 'idle' THEN category WHEN category = '(graph replays)' THEN 'graphs' ELSE kind END AS part, sum(total_ns) AS ns FROM c GROUP BY ALL),
			span AS (SELECT stage, sum(ns) AS ns FROM (SELECT DISTINCT stage, device, span_total_ns AS ns FROM counted) GROUP BY ALL)
			SELECT 'part', p.stage, p.part, p.ns, x.ns FROM part p FULL JOIN category x ON x.stage IS NOT DISTINCT FROM p.stage AND x.part = p.part WHERE p.ns IS DISTINCT FROM x.ns AND coalesce(p.ns, x.ns) > 0
			UNION ALL
			SELECT 'span', s.stage, NULL, s.ns, c.stage_ns FROM c FULL JOIN span s ON s.stage IS NOT DISTINCT FROM c.stage WHERE s.ns IS DISTINCT FROM c.stage_ns
			UNION ALL
			SELECT 'sum', c.stage, NULL, any_value(c.stage_ns), sum(c.total_ns) FROM c GROUP BY ALL HAVING any_value(c.stage_ns) <> sum(c.total_ns)
			UNION ALL
			SELECT 'measured', NULL, NULL, c.measured_ns, (SELECT sum(ns) FROM span) FROM c WHERE c.measured_ns <> (SELECT sum(ns) FROM span) OR c.share_ratio <> c.total_ns / c.measured_ns`, run)) {
			t.Errorf("%s: the categories are not the parts of accounting: %s", run, bad)
		}
		for _, bad := range rows(t, w, fmt.Sprintf(`WITH d AS (
				SELECT p.stage, sum(d.kernel_count) AS kernels, sum(d.kernel_sum_ns) AS kernel_ns, sum(d.memop_count) AS copies, sum(d.graph_count) AS graphs
				FROM passes('%[1]s') p JOIN range_device d ON d.run_id = _run_id('%[1]s') AND d.range_id = p.range_id WHERE NOT p.is_warmup GROUP BY ALL
			), c AS (
				SELECT c.stage, sum(c.calls) FILTER (c.kind = 'kernels' AND c.category <> '(graph replays)') AS kernels, sum(c.sum_ns) FILTER (c.kind = 'kernels' AND c.category <> '(graph replays)') AS kernel_ns,
					sum(c.calls) FILTER (c.kind = 'copies') AS copies, sum(c.calls) FILTER (c.category = '(graph replays)') AS graphs
				FROM time_breakdown('%[1]s', top := 0) c GROUP BY ALL
			)
			SELECT d, c FROM d FULL JOIN c ON c.stage = d.stage
			WHERE coalesce(c.stage, d.stage) IS NOT NULL AND (coalesce(c.kernels, 0) <> d.kernels OR coalesce(c.kernel_ns, 0) <> d.kernel_ns OR coalesce(c.copies, 0) <> d.copies OR coalesce(c.graphs, 0) <> d.graphs OR d.kernels IS NULL)`, run)) {
			t.Errorf("%s: the executions are not those of the measured passes: %s", run, bad)
		}
		testBreakdownOrder(t, w, run)
	}
	if got := rows(t, w, "SELECT count(*) > 0 FROM time_breakdown('nccl2', top := 0) WHERE kind = 'kernels' AND sum_ns > total_ns"); got[0] != "[true]" {
		t.Error("no kernels of nccl2 ran side by side: what is held of them is not tested")
	}
}

// testBreakdownOrder holds rank, top and stage.
func testBreakdownOrder(t *testing.T, w *schema.Warehouse, run string) {
	t.Helper()
	f := testkit.Query(t, w, "time-breakdown", queries.Args{"run": run, "top": "0"})
	if len(f.Rows) == 0 && run != "torch-cpu" {
		t.Errorf("%s: no rows: %q", run, f.Notes)
	}
	stages := map[string][]string{}
	for i, r := range f.Rows {
		if r[0] != int64(i+1) || i > 0 && number(f, r, "total_ns") > number(f, f.Rows[i-1], "total_ns") {
			t.Errorf("%s: row %d is %v", run, i+1, r)
		}
		stage, ok := r[f.Index("stage")].(string)
		if !ok {
			stage = "(none)"
		}
		stages[stage] = append(stages[stage], fmt.Sprint(r[1:]))
	}
	for stage, want := range stages {
		var got []string
		for _, r := range testkit.Query(t, w, "time-breakdown", queries.Args{"run": run, "top": "0", "stage": stage}).Rows {
			got = append(got, fmt.Sprint(r[1:]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: of %s alone %q, of all %q", run, stage, got, want)
		}
	}
	if few := testkit.Query(t, w, "time-breakdown", queries.Args{"run": run, "top": "2"}); !slices.Equal(asText(few), asText(f)[:min(2, len(f.Rows))]) {
		t.Errorf("%s: the first two are %q", run, asText(few))
	}
}

// breakdownFacts are what time-breakdown reads.
var breakdownFacts = []string{"time_category", "stage_pass", "stage_share", "caveat", "caveat_pass", "caveat_work"}

// breakdown is the time breakdown of the made run as text.
func breakdown(t *testing.T, w *schema.Warehouse, args string) []string {
	t.Helper()
	return rows(t, w, "SELECT stage, category, kind, total_ns, calls, sum_ns, stage_ns, measured_ns FROM time_breakdown('made', top := 0"+args+")")
}

// TestTimeBreakdownOf holds what counts, on runs made up for it: kernels side by side share their time to the nanosecond, warm-up is left
// out, GPUs add up, and of a run without passes all work counts.
func TestTimeBreakdownOf(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	made(t, w)
	testkit.Exec(t, w, strings.Join([]string{
		spent("range_id = 1", "kernel_ns = 200, copy_ns = 30, graph_ns = 40, other_ns = 999080, launch = 100, launch-delay = 50, wait = 60, call = 70, host = 80, profiler = 90, queued = 95, unknown = 105"),
		ran(1, 1, 0, 100, 1, ""), ran(1, 2, 0, 100, 1, "other"), ran(1, 3, 0, 100, 1, "other"), "UPDATE kernel_class SET family = NULL WHERE kernel_name_id = 3",
		spent("range_id = 2", "kernel_ns = 0, host = 1000000"), ran(0, 1, 0, 77, 1, ""), hostCopy(1, "'Pinned'", 45),
		strings.Replace(replayed(3), "'node'", "'graph'", 1)}, ";\n"))
	testkit.DeriveOnly(t, w, breakdownFacts...)
	want := []string{"[decode host idle 1000080 <nil> <nil> 2000000 2000000]", "[decode (work of others) other 999080 <nil> <nil> 2000000 2000000]", "[decode launch-bound idle 150 <nil> <nil> 2000000 2000000]",
		"[decode unknown idle 105 <nil> <nil> 2000000 2000000]", "[decode queued idle 95 <nil> <nil> 2000000 2000000]", "[decode profiler idle 90 <nil> <nil> 2000000 2000000]", "[decode call idle 70 <nil> <nil> 2000000 2000000]",
		"[decode activation<1> kernels 66 1 100 2000000 2000000]", "[decode family of gemm kernels 67 1 100 2000000 2000000]", "[decode family of elementwise kernels 67 1 100 2000000 2000000]",
		"[decode wait idle 60 <nil> <nil> 2000000 2000000]", "[decode (graph replays) kernels 40 3 30 2000000 2000000]", "[decode (copies and fills) copies 30 1 45 2000000 2000000]"}
	slices.Sort(want)
	got := breakdown(t, w, "")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	testkit.Exec(t, w, "INSERT INTO device_time SELECT * REPLACE (1 AS device_id) FROM device_time WHERE range_id = 2; INSERT INTO idle_part SELECT * REPLACE (1 AS device_id) FROM idle_part WHERE range_id = 2; UPDATE path_stage SET is_warmup = true")
	testkit.DeriveOnly(t, w, breakdownFacts...)
	if got := breakdown(t, w, ", stage := 'decode'"); len(got) != 0 {
		t.Errorf("of warm-up: %q", got)
	}
	testkit.Exec(t, w, "UPDATE path_stage SET is_warmup = false")
	testkit.DeriveOnly(t, w, breakdownFacts...)
	if got := breakdown(t, w, "")[0]; got != "[decode host idle 2000080 <nil> <nil> 3000000 3000000]" {
		t.Errorf("on two GPUs: %s", got)
	}

	testkit.Exec(t, w, "DELETE FROM path_stage; "+spent("range_id IS NULL", "kernel_ns = 377, host = 1999623"))
	testkit.DeriveOnly(t, w, breakdownFacts...)
	want = []string{"[<nil> host idle 1999623 <nil> <nil> 3000000 3000000]", "[<nil> unknown idle 1000000 <nil> <nil> 3000000 3000000]", "[<nil> family of gemm kernels 177 2 177 3000000 3000000]",
		"[<nil> activation<1> kernels 100 1 100 3000000 3000000]", "[<nil> family of elementwise kernels 100 1 100 3000000 3000000]", "[<nil> (copies and fills) copies 0 1 45 3000000 3000000]", "[<nil> (graph replays) kernels 0 3 30 3000000 3000000]"}
	for _, args := range []string{"", ", stage := '(none)'", ", source := 'nsys'"} {
		if got := breakdown(t, w, args); !slices.Equal(got, want) {
			t.Errorf("without passes%s: %q, want %q", args, got, want)
		}
	}
	testkit.Exec(t, w, "DELETE FROM device_time")
	testkit.DeriveOnly(t, w, breakdownFacts...)
	if f := testkit.Query(t, w, "time-breakdown", queries.Args{"run": "made"}); len(f.Rows) != 0 || !strings.Contains(strings.Join(f.Notes, "\n"), "did not account for GPU time") {
		t.Errorf("of a run stored without accounting: %v, %q", f.Rows, f.Notes)
	}
}
