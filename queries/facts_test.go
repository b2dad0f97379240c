package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

const ranks = "ranks"

func runID(t *testing.T, w *schema.Warehouse, name string) string {
	t.Helper()
	r, err := w.Resolve(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// none holds that a statement about a run, which stands for %[1]s, gives no rows.
func none(t *testing.T, w *schema.Warehouse, run, what, stmt string) {
	t.Helper()
	if got := rows(t, w, strings.ReplaceAll(stmt, "%[1]s", schema.Quote(run))); len(got) > 0 {
		t.Errorf("%s: %s: %d rows, first %s", run, what, len(got), got[0])
	}
}

// truth is the device work of the counted sources of a run with its passes, read without the queries under test.
const truth = `WITH r AS (SELECT $1::UUID AS run_id), counted AS (
	SELECT s.source_id FROM source s JOIN r USING (run_id) WHERE s.kind = (SELECT min(x.kind) FROM source x JOIN r USING (run_id) WHERE x.kind IN ('nsys', 'torch'))
), work AS (
	SELECT source_id, device_id, range_context_id, duration_ns, 'kernel' AS kind, n.name, grid_x || ' x ' || grid_y || ' x ' || grid_z AS grid, block_x || ' x ' || block_y || ' x ' || block_z AS block FROM kernel JOIN r USING (run_id) JOIN kernel_name n USING (run_id, kernel_name_id) LEFT JOIN kernel_shape USING (run_id, kernel_shape_id)
	UNION ALL SELECT source_id, device_id, range_context_id, duration_ns, 'copy', operation, NULL, NULL FROM memop JOIN r USING (run_id)
	UNION ALL SELECT source_id, device_id, range_context_id, duration_ns, 'graph', 'graph replay', NULL, NULL FROM graph_launch JOIN r USING (run_id) WHERE mode = 'graph'
), pass AS (
	SELECT n.source_id, n.range_id, c.range_context_id FROM nvtx_range n JOIN r USING (run_id) JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
	JOIN range_context c ON c.run_id = n.run_id AND c.range_id = n.range_id
), of_pass AS (
	SELECT w.source_id, coalesce(p.range_id, 0) AS range_id, w.kind, w.name, w.grid, w.block, w.duration_ns FROM work w JOIN counted USING (source_id) LEFT JOIN pass p USING (range_context_id)
) `

// TestFacts holds the facts of every capture to the device work itself, and its queries to those that read the timeline.
func TestFacts(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	p := newPlans(t, w)
	for _, run := range append(slices.Clone(timelines), utilised, ranks) {
		none := func(what, stmt string) {
			t.Helper()
			if got := p.ask(stmt, testkit.RunID(run)); len(got.Rows) > 0 {
				t.Errorf("%s: %s: %d rows, first %v", run, what, len(got.Rows), got.Rows[0])
			}
		}
		none("work is lost or added", truth+`SELECT a.*, b.* FROM (
				SELECT source_id, kind, count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM of_pass GROUP BY ALL) a
			FULL JOIN (SELECT source_id, kind, sum(launch_count)::BIGINT AS n, sum(sum_ns)::BIGINT AS ns FROM work_sum JOIN r USING (run_id) WHERE is_counted GROUP BY ALL) b USING (source_id, kind)
			WHERE (a.n, a.ns) IS DISTINCT FROM (b.n, b.ns)`)
		none("passes do not hold their work", `SELECT s.range_id, s.gpu_sum_ns, w.ns, s.kernel_count, w.kernels FROM stage_pass s JOIN run r USING (run_id)
			LEFT JOIN (SELECT run_id, range_id, sum(sum_ns) AS ns, coalesce(sum(launch_count) FILTER (kind = 'kernel'), 0) AS kernels FROM work_sum GROUP BY ALL) w USING (run_id, range_id)
			WHERE r.run_id = $1::UUID AND (s.gpu_sum_ns <> coalesce(w.ns, 0) OR s.kernel_count <> coalesce(w.kernels, 0))`)
		none("values of work", truth+`SELECT a.*, b.* FROM (
				SELECT source_id, range_id, kind, name, grid, block, count(*) AS n, sum(duration_ns)::BIGINT AS ns, min(duration_ns) AS least, max(duration_ns) AS most, count(*) * var_pop(duration_ns) AS squares FROM of_pass GROUP BY ALL) a
			FULL JOIN {pass-work}($1::UUID) b ON a.source_id = b.source_id AND a.range_id = b.range_id AND a.kind = b.kind AND a.name = b.name AND a.grid IS NOT DISTINCT FROM b.grid AND a.block IS NOT DISTINCT FROM b.block
			WHERE (a.n, a.ns, a.least, a.most) IS DISTINCT FROM (b.launch_count, b.sum_ns, b.min_ns, b.max_ns) OR abs(a.squares - b.deviation_ns2) > 1e-6 * (1 + a.squares)`)
		none("samples are not the passes", `SELECT p.*, s.* FROM (FROM {stage-samples}($1::UUID) WHERE stage IS NOT NULL) s FULL JOIN {passes}($1::UUID) p ON p.range_id = s.range_id AND p.source_id = s.source_id
			WHERE (p.stage, p.pass, p.pid, p.is_warmup, p.cpu_ns, p.gpu_span_ns, p.gpu_busy_ns, p.gpu_sum_ns, p.kernel_count, p.token_count, p.batch_count, p.decode_count)
				IS DISTINCT FROM (s.stage, s.pass, s.pid, s.is_warmup, s.cpu_ns, s.gpu_span_ns, s.gpu_busy_ns, s.gpu_sum_ns, s.kernel_count, s.prompt_token_count + s.decode_token_count, s.sequence_count, s.step_count)`)
		none("passes that follow each other", `SELECT p.*, s.interval_ns FROM (SELECT *, lead(row(stage, is_warmup, repeat, start_ns)) OVER (PARTITION BY source_id, pid ORDER BY start_ns, range_id) AS next FROM {passes}($1::UUID)) p
			JOIN {stage-samples}($1::UUID) s ON s.range_id = p.range_id AND s.source_id = p.source_id
			WHERE p.interval_ns IS DISTINCT FROM s.interval_ns OR p.interval_ns IS DISTINCT FROM CASE WHEN row(next[1], next[2], next[3]) = row(p.stage, p.is_warmup, p.repeat) THEN next[4] - p.start_ns END`)
		none("parts of time", `SELECT s.* FROM {stage-samples}($1::UUID) s WHERE kernel_ns + graph_ns + copy_ns + other_ns + launch_ns + launch_delay_ns + launch_latency_ns + wait_ns + call_ns + host_ns + profiler_ns + queued_ns + unknown_ns IS DISTINCT FROM time_ns
			OR gpu_busy_ns IS DISTINCT FROM coalesce(kernel_ns + graph_ns + copy_ns, 0) OR gpu_span_ns > time_ns OR device_count = 1 AND gpu_span_ns <> time_ns OR (device_count = 0) <> (time_ns IS NULL) OR (device_count = 0) <> (gpu_sum_ns = 0)`)
		none("work and samples name other passes", `SELECT s.range_id, w.range_id, w.stage FROM (SELECT DISTINCT source_id, range_id, stage, pass, repeat, pid, is_warmup FROM {pass-work}($1::UUID) WHERE stage IS DISTINCT FROM '(none)') w
			FULL JOIN (FROM {stage-samples}($1::UUID) WHERE device_count > 0) s ON s.source_id = w.source_id AND s.range_id = w.range_id
			WHERE (s.stage, s.pass, s.repeat, s.pid, s.is_warmup) IS DISTINCT FROM (w.stage, w.pass, w.repeat, w.pid, w.is_warmup)`)
		none("work outside passes", `SELECT w.* FROM {pass-work}($1::UUID) w WHERE (w.range_id = 0) <> coalesce(w.stage = '(none)', true) OR w.stage = '(none)' AND (w.pass IS NOT NULL OR w.pid IS NOT NULL OR w.is_warmup)
			OR w.stage IS NULL AND EXISTS (SELECT 1 FROM {passes}($1::UUID))`)
	}
	none(t, w, utilised, "figures", `SELECT f.*, m.* FROM (
			SELECT f.stage, f.flop / (c.flop_per_s * f.device_ns / 1e9) AS mfu_ratio, f.moved_bytes / (b.bytes_per_s * f.device_ns / 1e9) AS mbu_ratio
			FROM stage_figure f JOIN run r USING (run_id) JOIN _device_roof c ON c.name = f.gpu AND c.resource = 'tensor_' || f.precision JOIN _device_roof b ON b.name = f.gpu AND b.resource = 'dram' WHERE r.name = %[1]s) f
		FULL JOIN mfu(%[1]s) m ON m.stage = f.stage WHERE (f.mfu_ratio, f.mbu_ratio) IS DISTINCT FROM (m.mfu_ratio, m.mbu_ratio)`)
	for run, want := range map[string][4]int{ // rows of stage-samples, those of whole sources, rows of work outside passes, figures
		"kernels": {4, 0, 1, 0}, "variants-graph": {2, 0, 32, 0}, "nccl2": {24, 0, 7, 0}, "train": {1, 1, 0, 0}, "torch-cpu": {0, 0, 0, 0}, ranks: {16, 0, 10, 0}, utilised: {8, 0, 84, 3},
	} {
		var got [4]int
		for i, stmt := range []string{"stage_samples('%s')", "stage_samples('%s') WHERE stage IS NULL", "pass_work('%s', stage := '(none)')", "stage_figure JOIN run USING (run_id) WHERE name = '%s'"} {
			got[i] = len(rows(t, w, fmt.Sprintf("SELECT 1 FROM "+stmt, run)))
		}
		if got != want {
			t.Errorf("%s: %v, want %v", run, got, want)
		}
	}
	for _, stage := range []string{"decode", "(none)"} {
		for _, name := range []string{"stage_samples", "pass_work"} {
			none(t, w, utilised, name+" of one stage", fmt.Sprintf(`SELECT x.stage FROM %s(%%[1]s, stage := '%[2]s') x WHERE x.stage <> '%[2]s'
				UNION ALL SELECT 'fewer' WHERE (SELECT count(*) FROM %[1]s(%%[1]s, stage := '%[2]s')) <> (SELECT count(*) FROM %[1]s(%%[1]s) y WHERE y.stage = '%[2]s')`, name, stage))
		}
	}
}

// TestSourceRepeats holds that sources of several passes of prof capture are repeats, and of one pass are not.
func TestSourceRepeats(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, ranks)...)
	id := testkit.RunID(ranks)
	repeats := func(want ...string) {
		t.Helper()
		testkit.DeriveOnly(t, w, "stage_pass", "work_sum")
		for _, name := range []string{"stage_samples", "pass_work"} {
			if got := rows(t, w, fmt.Sprintf("SELECT DISTINCT source_id, repeat FROM %s('%s') ORDER BY ALL", name, id)); !slices.Equal(got, want) {
				t.Errorf("%s: source and repeat are %q, want %q", name, got, want)
			}
		}
	}
	repeats("[1 1]", "[2 1]")
	capture := func(pass, source int) {
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO capture_source VALUES ('%[1]s', %[2]d, %[3]d); INSERT INTO capture_pass (run_id, source_id, pass_id, name, tool, mode, repeat_id, command, started_at, status, is_marked)
			SELECT '%[1]s', 9, %[2]d, 'torch', 'torch', 'light', %[2]d, '', TIMESTAMP '2026-01-01', 'ok', false WHERE NOT EXISTS (SELECT 1 FROM capture_pass WHERE pass_id = %[2]d)`, id, pass, source))
	}
	capture(1, 1)
	capture(2, 2)
	repeats("[1 1]", "[2 2]")
	testkit.Exec(t, w, "DELETE FROM capture_source; DELETE FROM capture_pass")
	capture(2, 1)
	capture(2, 2)
	repeats("[1 2]", "[2 2]")
}

// TestOverlap holds which pass has work that was launched in several at once: the one that its path names, else the first.
func TestOverlap(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "DP", "W")
	paths := rows(t, w, "SELECT range_id, path_id FROM nvtx_range ORDER BY 1")
	if !slices.Equal(paths, []string{"[1 1]", "[2 2]", "[3 3]"}) {
		t.Fatalf("the ranges have the paths %q", paths)
	}
	for i, path := range []int{1, 2, 99} {
		for _, r := range []int{1, 2} {
			testkit.Exec(t, w, fmt.Sprintf("INSERT INTO range_context VALUES ('%s', %d, %d, %d, false)", timelineRun, i+1, r, path))
		}
	}
	for i, context := range []string{"1", "2", "3", "0", "NULL", "1"} {
		testkit.Exec(t, w, fmt.Sprintf("INSERT INTO kernel (run_id, source_id, device_id, stream_id, start_ns, duration_ns, kernel_name_id, range_context_id) SELECT '%s', 1, 0, 7, 10, %d, 1, %s", timelineRun, 1<<i, context))
	}
	testkit.Exec(t, w, fmt.Sprintf("INSERT INTO kernel_name VALUES ('%s', 1, 'k', 'k', 1)", timelineRun))
	testkit.DeriveOnly(t, w, "stage_pass", "work_sum")
	got := rows(t, w, "SELECT stage, range_id, launch_count, sum_ns, min_ns, max_ns, deviation_ns2, grid FROM pass_work('drawn')")
	if want := []string{"[prefill 2 1 2 2 2 0 <nil>]", "[decode 1 3 37 1 32 584.6666666666666 <nil>]", "[(none) 0 2 24 8 16 32 <nil>]"}; !slices.Equal(got, want) { // the mean of 1, 4 and 32 is 37/3
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStale holds that facts are derived anew when a rule or a definition changes, and that they go with their run.
func TestStale(t *testing.T) {
	t.Parallel()
	const figured = "nccl2-tokens" // a small one that has facts of all these kinds
	home := schema.Home{Dir: t.TempDir()}
	testkit.CopyHome(t, home.Dir, testkit.Named(t, figured, "torch-cpu")...)
	options := schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}}
	w, err := schema.Open(t.Context(), home, options)
	if err != nil {
		t.Fatal(err)
	}
	count := func() []string {
		t.Helper()
		return rows(t, w, `SELECT (SELECT count(*) FROM derivation), (SELECT count(*) FROM stage_pass), (SELECT count(*) FROM work_sum), (SELECT count(*) FROM stage_figure)`)
	}
	before := count()
	reopen := func(stmt string) (derived int) {
		t.Helper()
		if _, err := w.DB.Exec(stmt); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		options.Progress = func(_, all int) { derived = all }
		if w, err = schema.Open(t.Context(), home, options); err != nil {
			t.Fatal(err)
		}
		return derived
	}
	for _, c := range []struct {
		what, stmt string
		want       int
	}{
		{"nothing", "SELECT 1", 0},
		{"a rule", `INSERT INTO stage_rule (origin, priority, kind, stage, domain, pattern, doc) VALUES ('user', 1, 'stage', 'none', '', '^no such range$', '')`, 2},
		{"what one run follows from", "UPDATE derivation SET checksum = '' WHERE run_id = (SELECT min(run_id) FROM run)", 1},
		{"the tables of facts", "UPDATE schema_version SET checksum = '' WHERE version = -1", 2},
	} {
		if got := reopen(c.stmt); got != c.want {
			t.Errorf("after a change of %s %d runs are derived anew, want %d", c.what, got, c.want)
		}
		if after := count(); !slices.Equal(after, before) {
			t.Errorf("after a change of %s there are %q rows, want %q", c.what, after, before)
		}
	}
	run, err := w.Resolve(t.Context(), figured)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	none(t, w, run.ID, "rows of a run that was removed", `SELECT 1 FROM derivation WHERE run_id = %[1]s UNION ALL SELECT 2 FROM stage_pass WHERE run_id = %[1]s UNION ALL SELECT 3 FROM work_sum WHERE run_id = %[1]s UNION ALL SELECT 4 FROM stage_figure WHERE run_id = %[1]s`)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
