package queries_test

import (
	"testing"
	"time"
)

func TestZZScale(t *testing.T) {
	w := newWarehouse(t)
	draw(t, w, "PS")
	addFacts(t, w, 2, facts{passes: "100/100"})
	exec(t, w, "DELETE FROM workload_pass; INSERT INTO workload_pass SELECT '"+timelineRun+"', 2, i, false, 100+i, 100, 1, NULL, NULL, 1, 1, NULL FROM range(1, 2001) r(i)")
	for _, prefill := range []bool{true, false} {
		exec(t, w, "DELETE FROM nvtx_range; DELETE FROM range_device")
		exec(t, w, "INSERT INTO nvtx_range SELECT '"+timelineRun+"', 1, i, NULL, CASE WHEN i % 101 = 0 THEN 1 ELSE 2 END, 1, 1, NULL, 'push_pop', '', CASE WHEN i % 101 = 0 THEN 'prefill' ELSE 'decode_step' END, NULL, i*100, 80 FROM range(0, 202000) r(i)")
		if !prefill {
			exec(t, w, "DELETE FROM nvtx_range WHERE path_id = 1")
		}
		exec(t, w, "INSERT INTO range_device SELECT '"+timelineRun+"', range_id, 0, start_ns+10, start_ns+60, 40, 45, 40, 3, 1, 0 FROM nvtx_range")
		for _, q := range []string{"SELECT count(*), count(basis), count(*) FILTER (is_warmup), sum(before_count) FROM _stage_pass_v1('drawn')", "SELECT stage, passes FROM stages_v2('drawn')", "SELECT stage, passes, token_count FROM stages('drawn')", "FROM _note_workload_v1('drawn')", "SELECT count(*) FROM passes_v2('drawn')", "SELECT count(*) FROM passes('drawn')", "SELECT count(*) FROM stage_notes('drawn')"} {
			at := time.Now()
			got := rows(t, w, q)
			t.Log(prefill, q, got, time.Since(at))
		}
	}
}
