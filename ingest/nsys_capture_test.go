package ingest_test

import (
	"fmt"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// faults are queries over the whole warehouse that must give no rows on any capture.
var faults = []struct{ what, sql string }{
	{"a kernel's context has not one innermost range", `SELECT k.run_id, k.range_context_id FROM (SELECT DISTINCT run_id, range_context_id FROM kernel WHERE range_context_id > 0) k
		LEFT JOIN range_context c ON c.run_id = k.run_id AND c.range_context_id = k.range_context_id
		GROUP BY ALL HAVING count(*) FILTER (c.is_innermost) <> 1`},
	{"a kernel's path is not its context's", `SELECT k.run_id, k.range_context_id, k.path_id FROM (SELECT DISTINCT run_id, range_context_id, path_id FROM kernel WHERE range_context_id > 0) k
		LEFT JOIN (SELECT DISTINCT run_id, range_context_id, path_id FROM range_context) c USING (run_id, range_context_id) WHERE c.path_id IS DISTINCT FROM k.path_id`},
	{"a context has two paths", `SELECT run_id, range_context_id FROM range_context GROUP BY ALL HAVING count(DISTINCT path_id) > 1`},
	{"a context's depth is not its path's", `SELECT c.run_id, c.range_context_id FROM range_context c JOIN range_path p ON p.run_id = c.run_id AND p.path_id = c.path_id
		GROUP BY c.run_id, c.range_context_id, p.depth HAVING count(*) <> p.depth`},
	{"context and path do not go together", `SELECT run_id FROM kernel WHERE (range_context_id = 0) <> (path_id = 0) OR (range_context_id IS NULL) <> (path_id IS NULL) OR (tid IS NULL) <> (path_id IS NULL)`},
	{"a kernel was not launched within its context's ranges", `SELECT k.run_id, r.range_id, k.launch_start_ns, r.start_ns, r.duration_ns
		FROM (SELECT DISTINCT run_id, range_context_id, pid, tid, launch_start_ns FROM kernel WHERE range_context_id > 0) k
		JOIN range_context c ON c.run_id = k.run_id AND c.range_context_id = k.range_context_id
		JOIN nvtx_range r ON r.run_id = c.run_id AND r.range_id = c.range_id
		WHERE k.launch_start_ns < r.start_ns OR k.launch_start_ns >= r.start_ns + r.duration_ns OR k.pid <> r.pid OR r.style = 'push_pop' AND k.tid <> r.tid`},
	{"a range encloses its parent or lies beside it", `SELECT r.run_id, r.range_id FROM nvtx_range r JOIN nvtx_range p ON p.run_id = r.run_id AND p.range_id = r.parent_range_id
		WHERE p.pid <> r.pid OR r.start_ns < p.start_ns OR r.start_ns >= p.start_ns + p.duration_ns
		OR r.style = 'push_pop' AND p.style = 'push_pop' AND p.domain = r.domain AND (p.tid <> r.tid OR r.start_ns + r.duration_ns > p.start_ns + p.duration_ns)`},
	{"a parent is missing", `SELECT r.run_id, r.range_id FROM nvtx_range r ANTI JOIN nvtx_range p ON p.run_id = r.run_id AND p.range_id = r.parent_range_id WHERE r.parent_range_id IS NOT NULL`},
	{"a range's path is not under its parent's", `SELECT r.run_id, r.range_id FROM nvtx_range r LEFT JOIN nvtx_range p ON p.run_id = r.run_id AND p.range_id = r.parent_range_id
		JOIN range_path h ON h.run_id = r.run_id AND h.path_id = r.path_id WHERE h.depth = 1 AND p.range_id IS NOT NULL OR h.depth > 1 AND h.lineage[-2] IS DISTINCT FROM p.path_id`},
	{"a range's sums do not go together", `SELECT run_id, range_id FROM range_device WHERE busy_ns > sum_ns OR busy_ns > last_end_ns - first_start_ns OR kernel_sum_ns > sum_ns
		OR busy_ns < 0 OR kernel_count + memop_count + graph_count = 0`},
	{"a range's kernels are not those launched in it", `WITH k AS (SELECT run_id, range_context_id, device_id, count(*) AS n, sum(duration_ns) AS ns, min(start_ns) AS first, max(start_ns + duration_ns) AS last
			FROM kernel WHERE range_context_id > 0 GROUP BY ALL),
		r AS (SELECT k.run_id, c.range_id, k.device_id, sum(n) AS n, sum(ns) AS ns, min(first) AS first, max(last) AS last FROM k JOIN range_context c USING (run_id, range_context_id) GROUP BY ALL)
		SELECT run_id, range_id, d.kernel_count, r.n FROM range_device d FULL JOIN r USING (run_id, range_id, device_id)
		WHERE coalesce(d.kernel_count, 0) <> coalesce(r.n, 0) OR coalesce(d.kernel_sum_ns, 0) <> coalesce(r.ns, 0) OR r.first < d.first_start_ns OR r.last > d.last_end_ns`},
	{"a context holds a range that is not there", `SELECT c.run_id, c.range_id FROM range_context c ANTI JOIN nvtx_range r ON r.run_id = c.run_id AND r.range_id = c.range_id`},
	{"the time of a GPU does not add up", `SELECT t.run_id, t.device_id FROM device_time t LEFT JOIN (SELECT run_id, source_id, device_id, range_id, sum(ns) AS ns, min(ns) AS least FROM idle_part GROUP BY ALL) i
			ON i.run_id = t.run_id AND i.source_id = t.source_id AND i.device_id = t.device_id AND i.range_id IS NOT DISTINCT FROM t.range_id
		WHERE t.kernel_ns + t.graph_ns + t.copy_ns + t.other_ns + coalesce(i.ns, 0) <> t.end_ns - t.start_ns OR least(t.kernel_ns, t.graph_ns, t.copy_ns, t.other_ns, i.least - 1) < 0`},
	{"a gap is not its parts", `SELECT g.run_id, g.start_ns FROM gap g LEFT JOIN (SELECT run_id, source_id, device_id, start_ns, sum(ns) AS ns, max(ns) AS most, max(ns) FILTER (part NOT IN (SELECT s.part FROM stage_part s WHERE s.is_idle)) AS other FROM gap_part GROUP BY ALL) p
			USING (run_id, source_id, device_id, start_ns) LEFT JOIN gap_part m ON m.run_id = g.run_id AND m.source_id = g.source_id AND m.device_id = g.device_id AND m.start_ns = g.start_ns AND m.part = g.part
		WHERE p.ns IS DISTINCT FROM g.duration_ns OR m.ns IS DISTINCT FROM p.most OR p.other IS NOT NULL`},
	{"a pattern of gaps is not its parts", `SELECT g.run_id, g.pattern_id FROM gap_sum g FULL JOIN (SELECT run_id, source_id, pattern_id, sum(ns) AS ns FROM gap_sum_part GROUP BY ALL) p USING (run_id, source_id, pattern_id) WHERE p.ns IS DISTINCT FROM g.duration_ns`},
	{"gaps are not the idle time", `SELECT t.run_id, t.device_id FROM device_time t JOIN (SELECT run_id, source_id, device_id, sum(duration_ns) AS ns, sum(gap_count) AS n FROM gap_sum GROUP BY ALL) g USING (run_id, source_id, device_id)
		WHERE t.range_id IS NULL AND (g.ns <> t.end_ns - t.start_ns - t.kernel_ns - t.graph_ns - t.copy_ns OR g.n <> t.gap_count)`},
	{"a range's busy time is not that of its parts", `SELECT run_id, range_id FROM device_time t JOIN range_device d USING (run_id, range_id, device_id)
		WHERE t.kernel_ns + t.graph_ns + t.copy_ns <> d.busy_ns OR t.start_ns <> d.first_start_ns OR t.end_ns <> d.last_end_ns`},
	{"a range with sums is not there", `SELECT c.run_id, c.range_id FROM range_device c ANTI JOIN nvtx_range r ON r.run_id = c.run_id AND r.range_id = c.range_id`},
	{"a lineage is not its names", `SELECT p.run_id, p.path_id FROM range_path p WHERE len(p.lineage) <> p.depth OR p.lineage[-1] <> p.path_id`},
	{"a kernel's name is missing", `SELECT k.run_id, k.kernel_name_id FROM kernel k ANTI JOIN kernel_name n ON n.run_id = k.run_id AND n.kernel_name_id = k.kernel_name_id`},
	{"an API's name is missing", `SELECT k.run_id, k.api_name_id FROM (SELECT run_id, api_name_id FROM api_call UNION ALL SELECT run_id, launch_name_id FROM kernel WHERE launch_name_id IS NOT NULL
		UNION ALL SELECT run_id, api_name_id FROM osrt_call UNION ALL SELECT run_id, api_name_id FROM graph_node UNION ALL SELECT run_id, launch_name_id FROM memop WHERE launch_name_id IS NOT NULL) k
		ANTI JOIN api_name n ON n.run_id = k.run_id AND n.api_name_id = k.api_name_id`},
	{"a launch is no API call", `SELECT k.run_id, k.correlation_id FROM kernel k ANTI JOIN api_call a ON a.run_id = k.run_id AND a.source_id = k.source_id AND a.pid = k.pid AND a.tid = k.tid
		AND a.start_ns = k.launch_start_ns AND a.duration_ns = k.launch_duration_ns AND a.correlation_id = k.correlation_id AND a.api_name_id = k.launch_name_id
		AND a.range_context_id = k.range_context_id WHERE k.launch_start_ns IS NOT NULL`},
	{"a duration is negative", `SELECT 'kernel' FROM kernel WHERE duration_ns < 0 UNION ALL SELECT 'memop' FROM memop WHERE duration_ns < 0 UNION ALL SELECT 'api' FROM api_call WHERE duration_ns < 0
		UNION ALL SELECT 'range' FROM nvtx_range WHERE duration_ns < 0 UNION ALL SELECT 'graph' FROM graph_launch WHERE duration_ns < 0 OR busy_ns < 0 UNION ALL SELECT 'sync' FROM sync WHERE duration_ns < 0`},
	{"kernel_name repeats", `SELECT run_id, kernel_name_id FROM kernel_name GROUP BY ALL HAVING count(*) > 1`},
	{"a kernel's name repeats", `SELECT run_id, name FROM kernel_name GROUP BY ALL HAVING count(*) > 1`},
	{"api_name repeats", `SELECT run_id, api_name_id FROM api_name GROUP BY ALL HAVING count(*) > 1`},
	{"an API's name repeats", `SELECT run_id, name FROM api_name GROUP BY ALL HAVING count(*) > 1`},
	{"range_id repeats", `SELECT run_id, range_id FROM nvtx_range GROUP BY ALL HAVING count(*) > 1`},
	{"path_id repeats", `SELECT run_id, path_id FROM range_path GROUP BY ALL HAVING count(*) > 1`},
	{"a path repeats", `SELECT run_id, lineage[:-2], domain, name FROM range_path GROUP BY ALL HAVING count(*) > 1`},
	{"range_context repeats", `SELECT run_id, range_context_id, range_id FROM range_context GROUP BY ALL HAVING count(*) > 1`},
	{"range_device repeats", `SELECT run_id, range_id, device_id FROM range_device GROUP BY ALL HAVING count(*) > 1`},
	{"a source repeats", `SELECT run_id, source_id FROM source GROUP BY ALL HAVING count(*) > 1`},
	{"a source's content repeats", `SELECT run_id, sha256 FROM source GROUP BY ALL HAVING count(*) > 1`},
	{"a source's table repeats", `SELECT run_id, source_id, part FROM source_part GROUP BY ALL HAVING count(*) > 1`},
	{"a fact repeats", `SELECT run_id, source_id, key FROM source_fact GROUP BY ALL HAVING count(*) > 1`},
	{"path_stage repeats or lacks a path", `SELECT p.run_id, p.path_id FROM range_path p LEFT JOIN path_stage s USING (run_id, path_id) GROUP BY ALL HAVING count(s.path_id) <> 1`},
	{"a GPU is not known", `SELECT DISTINCT k.run_id, k.device_id FROM kernel k ANTI JOIN device d ON d.run_id = k.run_id AND d.source_id = k.source_id AND d.device_id = k.device_id
		WHERE EXISTS (SELECT 1 FROM device e WHERE e.run_id = k.run_id)`},
	{"a replay's kernels are not counted right", `SELECT g.run_id, g.correlation_id, g.kernel_count FROM graph_launch g LEFT JOIN (
		SELECT run_id, source_id, pid, device_id, correlation_id, count(*) AS n, sum(duration_ns) AS ns FROM kernel WHERE graph_node_id IS NOT NULL GROUP BY ALL) k
		ON k.run_id = g.run_id AND k.source_id = g.source_id AND k.pid = g.pid AND k.device_id = g.device_id AND k.correlation_id = g.correlation_id
		WHERE g.mode = 'node' AND (coalesce(k.n, 0) <> g.kernel_count OR coalesce(k.ns, 0) > g.busy_ns)`},
}

// TestCaptures holds every capture at hand to what must be so of any.
func TestCaptures(t *testing.T) {
	w, runs := sharedWarehouse(t)
	for _, f := range faults {
		expectNone(t, w, f.what, f.sql)
	}
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			f := testkit.Query(t, w, "conservation", queries.Args{"run": c.name})
			if exact := f.Rows[0][f.Index("is_exact")]; exact != true {
				t.Errorf("conservation: %v", f.Rows[0])
			}
			count, total := sumOf(f, "kernel_count"), sumOf(f, "kernel_sum_ns")
			for _, name := range []string{"stage-kernels", "top-kernels"} {
				f = testkit.Query(t, w, name, queries.Args{"run": c.name, "top": "0", "warmup": "true"})
				if n, ns := sumOf(f, "calls"), sumOf(f, "total_ns"); n != count || ns != total {
					t.Errorf("%s adds up to %d kernels and %d ns of %d and %d", name, n, ns, count, total)
				}
			}
			if c.name != "variants-graph" && count == 0 {
				t.Error("it has no kernels")
			}
			checkParts(t, w, c.name)
		})
	}
}

// checkParts holds what was stored to what source_part and source say was.
func checkParts(t *testing.T, w *schema.Warehouse, run string) {
	t.Helper()

	stored := func(table string) string {
		return fmt.Sprintf("(SELECT count(*) FROM %s WHERE run_id = (SELECT run_id FROM run WHERE name = '%s'))", table, run)
	}
	expectNone(t, w, "rows and parts differ", fmt.Sprintf(`WITH p AS (SELECT part, sum(stored_count) AS n FROM source_part WHERE run_id = (SELECT run_id FROM run WHERE name = '%s') GROUP BY ALL)
		SELECT part, n FROM p WHERE part = 'CUPTI_ACTIVITY_KIND_KERNEL' AND n <> %s OR part = 'CUPTI_ACTIVITY_KIND_RUNTIME' AND n <> %s
		OR part = 'NVTX_EVENTS' AND n <> %s + %s OR part = 'OSRT_API' AND n <> %s OR part = 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION' AND n <> %s`,
		run, stored("kernel"), stored("api_call"), stored("nvtx_range"), stored("nvtx_mark"), stored("osrt_call"), stored("sync")))
	expectNone(t, w, "source.row_count is not what its parts store", fmt.Sprintf(`SELECT row_count FROM source WHERE run_id = (SELECT run_id FROM run WHERE name = '%s')
		AND row_count <> (SELECT sum(stored_count) FROM source_part p WHERE p.run_id = source.run_id AND p.source_id = source.source_id)`, run))
}

func sumOf(f *frame.Frame, column string) int64 {
	var sum int64
	for _, r := range f.Rows {
		sum += r[f.Index(column)].(int64)
	}
	return sum
}

// TestClashingCorrelations: two processes use the same correlation ids; each kernel counts once, in its own process.
func TestClashingCorrelations(t *testing.T) {
	w, _ := sharedWarehouse(t)
	testkit.Expect(t, w, `SELECT count(*), sum(duration_ns)::BIGINT, count(DISTINCT correlation_id), count(DISTINCT (pid, correlation_id)), count(DISTINCT pid)
		FROM kernel WHERE run_id = (SELECT run_id FROM run WHERE name = 'nccl2')`, "1006|33723346|899|1006|2")
	f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "nccl2", "top": "0", "warmup": "true"})
	if n, ns := sumOf(f, "calls"), sumOf(f, "total_ns"); n != 1006 || ns != 33_723_346 {
		t.Errorf("%d kernels, %d ns", n, ns)
	}
	testkit.Expect(t, w, `SELECT pid = min(pid) OVER () AS first, device_id FROM kernel WHERE run_id = (SELECT run_id FROM run WHERE name = 'nccl2') GROUP BY pid, device_id ORDER BY device_id`,
		"true|0", "false|1")
}

// TestGraphNodes: kernels that a graph replays belong to the stage that its launch was made in.
func TestGraphNodes(t *testing.T) {
	w, _ := sharedWarehouse(t)
	testkit.Expect(t, w, `SELECT s.stage, count(*) FROM kernel k JOIN path_stage s USING (run_id, path_id)
		WHERE k.run_id = (SELECT run_id FROM run WHERE name = 'llama-graph-node') AND k.graph_node_id IS NOT NULL GROUP BY ALL`, "decode|82700")
}

// TestRecordedEvents: waits for events name the recording that CUPTI's numbers name: counts and sums are those of a join of the export's own tables.
func TestRecordedEvents(t *testing.T) {
	w, _ := sharedWarehouse(t)
	testkit.Expect(t, w, `SELECT r.name, y.pid, y.kind, count(*), count(y.record_start_ns), sum(y.record_stream_id)::BIGINT, sum(y.record_start_ns)::BIGINT FROM sync y JOIN run r USING (run_id)
		WHERE y.event_id IS NOT NULL AND r.name IN ('variants-node', 'llama-graph-node', 'nccl2') GROUP BY ALL ORDER BY ALL`,
		"llama-graph-node|6253|Stream wait sync|2|2|36|15520161003", "nccl2|756|Event sync|309|309|2163|2216772137274", "nccl2|756|Stream wait sync|242|207|2178|1484976121373",
		"nccl2|757|Event sync|309|309|2163|2217520853043", "nccl2|757|Stream wait sync|242|207|2178|1485475327132",
		"variants-node|532|Event sync|2|1|14|512441413", "variants-node|532|Stream wait sync|1|1|13|512419769")
	expectNone(t, w, "an event was recorded by no call that records events, on another process's GPU, or after the wait", `SELECT y.run_id, y.start_ns FROM sync y
		LEFT JOIN (SELECT a.run_id, a.source_id, a.pid, a.start_ns FROM api_call a JOIN api_name n ON n.run_id = a.run_id AND n.api_name_id = a.api_name_id WHERE contains(n.name, 'EventRecord')) a
		ON a.run_id = y.run_id AND a.source_id = y.source_id AND a.pid = y.pid AND a.start_ns = y.record_start_ns
		WHERE y.record_stream_id IS NOT NULL AND (a.start_ns IS NULL OR y.record_device_id <> y.device_id OR y.record_start_ns > y.start_ns)`)
}
