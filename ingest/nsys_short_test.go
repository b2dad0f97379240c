package ingest_test

import (
	"fmt"
	"slices"
	"testing"

	"prof/ingest/load"
	"prof/internal/testkit"
	"prof/schema"
)

// TestShortCalls ingests captures with a row for each API call and without: what has no row is in the sums, to the call and the nanosecond, and
// what has one is the same row.
func TestShortCalls(t *testing.T) {
	full, runs := sharedWarehouse(t)
	runs = slices.DeleteFunc(runs, func(c capture) bool {
		return !slices.Contains([]string{"llama-graph-node", "variants-node", "nccl2"}, c.name)
	})
	w := testkit.Warehouse(t, storedWith(runs, load.Options{WithOSRT: true})...)
	for _, c := range runs {
		const short = `duration_ns < 5000 AND coalesce(return_value, 0) = 0 AND NOT EXISTS (SELECT 1 FROM api_name c WHERE c.run_id = api_call.run_id AND c.api_name_id = api_call.api_name_id AND regexp_matches(c.name, 'Stream(Begin|End)Capture|EventRecord|StreamWaitEvent'))`
		of := func(w *schema.Warehouse, query string) []string {
			return testkit.Rows(t, w, fmt.Sprintf(`WITH q AS (%s) SELECT q.* EXCLUDE (run_id, api_name_id), n.name FROM q JOIN run r USING (run_id) JOIN api_name n USING (run_id, api_name_id) WHERE r.name = '%s' ORDER BY ALL`, query, c.name))
		}
		for _, k := range []struct{ what, all, sums string }{
			{"calls by ranges",
				`SELECT run_id, api_name_id, pid, tid, range_context_id & 134217727 AS context, count(*) AS calls, sum(duration_ns)::BIGINT AS ns FROM api_call WHERE ` + short + ` GROUP BY ALL`,
				`SELECT run_id, api_name_id, pid, tid, range_context_id & 134217727 AS context, call_count AS calls, sum_ns AS ns FROM api_sum`},
			{"calls by duration",
				`SELECT api_call.run_id, api_name_id, coalesce(any_value(p.path), '') AS path, duration_ns, return_value IS NOT NULL AS has_result, count(*) AS calls FROM api_call
				LEFT JOIN (SELECT DISTINCT run_id, range_context_id, path_id FROM range_context) c USING (run_id, range_context_id) LEFT JOIN range_path p USING (run_id, path_id)
				WHERE ` + short + ` GROUP BY api_call.run_id, api_name_id, p.path_id, duration_ns, has_result`,
				`SELECT run_id, api_name_id, coalesce(p.path, '') AS path, duration_ns, has_result, call_count AS calls FROM api_duration LEFT JOIN range_path p USING (run_id, path_id)`},
			{"rows",
				`SELECT run_id, api_name_id, pid, tid, start_ns, duration_ns, correlation_id, return_value, range_context_id & 134217727 AS context FROM api_call WHERE NOT (` + short + `)`,
				`SELECT run_id, api_name_id, pid, tid, start_ns, duration_ns, correlation_id, return_value, range_context_id & 134217727 AS context FROM api_call`},
		} {
			want, got := of(full, k.all), of(w, k.sums)
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s: %s: %d of them, want %d", c.name, k.what, len(got), len(want))
			}
		}
	}
	testkit.Expect(t, w, `SELECT count(*) FROM run`, "3")
}
