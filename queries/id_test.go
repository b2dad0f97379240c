package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/testkit"
	"prof/schema"
)

// dictionaries are the tables that ids are of.
var dictionaries = map[string]string{"kernel_shape_id": "kernel_shape", "kernel_name_id": "kernel_name", "api_name_id": "api_name", "launch_name_id": "api_name", "path_id": "range_path", "lineage": "range_path", "op_name_ids": "op_name",
	"range_id": "nvtx_range", "range_context_id": "(SELECT * FROM range_context WHERE is_innermost)", "op_id": "op", "op_name_id": "op_name", "op_input_id": "op_input",
	"stack_id": "python_stack", "launch_id": "ncu_launch", "metric_id": "ncu_metric_name", "model_id": "model"}

// testViews joins and adds up the views for SQL of one's own over three runs, of which two hold two timelines.
func testViews(t *testing.T, w *schema.Warehouse) {
	for view, table := range map[string]string{"kernels": "kernel", "memops": "memop", "ranges": "nvtx_range", "operators": "op"} {
		if got := rows(t, w, fmt.Sprintf(`SELECT r.name, (SELECT count(*) FROM %[1]s v WHERE v.run = r.name) - (SELECT count(*) FROM %[2]s x WHERE x.run_id = r.run_id),
				(SELECT sum(v.duration_ns) FROM %[1]s v WHERE v.run = r.name) IS DISTINCT FROM (SELECT sum(x.duration_ns) FROM %[2]s x WHERE x.run_id = r.run_id) FROM run r ORDER BY 1`, view, table)); !slices.Equal(got, []string{"[a 0 false]", "[b 0 false]", "[c 0 false]"}) {
			t.Errorf("%s has too many or too few rows: %q", view, got)
		}
	}
	for _, run := range []string{"a", "b", "c"} {
		none(t, w, run, "sums of kernels are not those of top-kernels", `SELECT * FROM (SELECT kernel, count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM kernels WHERE run = %[1]s AND is_counted GROUP BY kernel) a
			FULL JOIN top_kernels(%[1]s, top := 0, warmup := true) b USING (kernel) WHERE (a.n, a.ns) IS DISTINCT FROM (b.calls, b.total_ns)`)
		none(t, w, run, "stages of kernels are not those of stage-kernels", `SELECT * FROM (SELECT coalesce(stage, '(none)') AS stage, sum(duration_ns)::BIGINT AS ns FROM kernels WHERE run = %[1]s AND is_counted GROUP BY 1) a
			FULL JOIN (SELECT stage, sum(total_ns) AS ns FROM stage_kernels(%[1]s, top := 0, warmup := true) GROUP BY 1) b USING (stage) WHERE a.ns IS DISTINCT FROM b.ns`)
		none(t, w, run, "sums of copies are not those of memops", `SELECT * FROM (SELECT operation, count(*) AS n, sum(size_bytes)::BIGINT AS size FROM memops WHERE run = %[1]s AND is_counted GROUP BY 1) a
			FULL JOIN memops(%[1]s, warmup := true) b USING (operation) WHERE (a.n, a.size) IS DISTINCT FROM (b.calls, b.total_bytes)`)
		none(t, w, run, "passes are not those of passes", `SELECT * FROM (SELECT range_id, stage, duration_ns FROM ranges WHERE run = %[1]s AND is_counted AND is_pass) a
			FULL JOIN passes(%[1]s) b USING (range_id) WHERE (a.stage, a.duration_ns) IS DISTINCT FROM (b.stage, b.cpu_ns)`)
		none(t, w, run, "sums of operators are not those of top-operators", `SELECT * FROM (SELECT operator, sum(self_device_ns)::BIGINT AS ns, sum(self_cpu_ns)::BIGINT AS cpu FROM operators WHERE run = %[1]s AND is_counted GROUP BY 1) a
			FULL JOIN top_operators(%[1]s, top := 0) b USING (operator) WHERE (a.ns, a.cpu) IS DISTINCT FROM (b.self_device_ns, b.self_cpu_ns)`)
	}
}

// TestJoinByID joins every column of ids of a warehouse of several runs with what the ids are of, by the id alone: each row finds one,
// and of its own run.
func TestJoinByID(t *testing.T) {
	t.Parallel()
	run := func(name string, files ...string) testkit.Run {
		return testkit.Run{Name: name, Files: files, Options: ingest.Options{Load: ingestload.Options{WithOSRT: true}}}
	}
	w := testkit.Warehouse(t, run("a", "nsys/kernels/kernels.sqlite.gz", "torch/llama-stack.trace.json.gz", "ncu/kernels-prefill.ncu-rep.gz"),
		run("b", "nsys/variants-graph/variants-graph.sqlite.gz", "torch/train-stack.trace.json.gz", "ncu/llama.ncu-rep.gz"),
		run("c", "nsys/emit-nvtx/emit-nvtx.sqlite.gz", "torch/llama.trace.json.gz", "ncu/variants-graph.ncu-rep.gz"))
	several := 0
	for _, row := range rows(t, w, `SELECT table_name, column_name FROM duckdb_columns() WHERE table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY ALL`) {
		table, column, _ := strings.Cut(strings.Trim(row, "[]"), " ")
		if !schema.IsID(table, column) {
			continue
		}
		key := column
		for key != "" && dictionaries[key] == "" { // parent_op_id is an op_id
			_, key, _ = strings.Cut(key, "_")
		}
		if key == "" {
			t.Errorf("nothing says what the ids of %s are of", row)
			continue
		}
		value, of := "x."+column, "d."+strings.Replace(key, "launch_name_id", "api_name_id", 1)
		if id, isList := map[string]string{"lineage": "d.path_id", "op_name_ids": "d.op_name_id"}[column]; isList {
			value, of = "unnest(x."+column+")", id
		}
		got := rows(t, w, fmt.Sprintf(`SELECT count(*) = (SELECT count(*) FROM (SELECT %[2]s AS id FROM %[1]s x) WHERE id <> 0) AND coalesce(bool_and(d.run_id = x.run_id), true), count(DISTINCT d.run_id)
			FROM (SELECT x.run_id, %[2]s AS id FROM %[1]s x) x JOIN %[3]s d ON %[4]s = x.id`, table, value, dictionaries[key], of))
		all, runs, _ := strings.Cut(strings.Trim(got[0], "[]"), " ")
		if all != "true" {
			t.Errorf("%s: not every id finds what it is of once", row)
		}
		if runs == "3" {
			several++
		}
	}
	testViews(t, w)
	if several < 30 {
		t.Errorf("only %d columns have ids of all three runs", several)
	}
	for name, query := range map[string]string{
		"kernels":  `SELECT (SELECT count(*) FROM kernel JOIN kernel_name USING (kernel_name_id)) - (SELECT count(*) FROM kernel)`,
		"calls":    `SELECT (SELECT count(*) FROM api_call JOIN api_name USING (api_name_id)) - (SELECT count(*) FROM api_call)`,
		"ranges":   `SELECT (SELECT count(*) FROM nvtx_range JOIN range_path USING (path_id)) - (SELECT count(*) FROM nvtx_range)`,
		"contexts": `SELECT (SELECT count(*) FROM kernel JOIN range_context USING (range_context_id) WHERE is_innermost) - (SELECT count(*) FROM kernel WHERE range_context_id > 0)`,
		"numbers":  `SELECT max(x.n) FROM (SELECT abs(max(_id_number(kernel_name_id)) - count(*)) AS n FROM kernel_name GROUP BY run_id) x`,
		"hashes":   `SELECT count(DISTINCT name) - count(DISTINCT name_hash) FROM kernel_name`,
	} {
		if got := rows(t, w, query); got[0] != "[0]" {
			t.Errorf("%s: %s too many", name, got[0])
		}
	}
}
