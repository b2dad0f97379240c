package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// launchSum is what launches counts of a kernel, launching function, process, thread and GPU.
type launchSum struct{ calls, inSteps, short, own, apiNs int64 }

// TestLaunchesPerStep holds launches per decode step and per pass, and the kernels that are shorter than their launch, to what is counted kernel by
// kernel, with the ranges around each launch found by time.
func TestLaunchesPerStep(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	nested, short := 0, int64(0)
	for _, c := range [][2]string{{"llama-graph-node", ""}, {"llama-graph-node", "decode"}, {"llama-graph-node", "(none)"}, {"variants-graph", "decode"}, {"variants-node", ""}, {"nccl2", "prefill"}, {"kernels", ""}, {"torch-llama", "decode"}} {
		run, stage := c[0], c[1]
		type thread struct{ source, pid, tid int64 }
		type span struct{ start, end int64 }
		steps, stepsOf, passesOf := map[thread][]span{}, map[[2]int64]int64{}, map[[2]int64]int64{}
		for _, r := range rowsOf(t, w, `SELECT n.source_id, n.pid, n.tid, n.start_ns, coalesce(n.start_ns + n.duration_ns, 9000000000000000000), n.name, coalesce(s.stage_path_id = s.path_id AND s.stage = '%[2]s', false)
			FROM nvtx_range n JOIN path_stage s USING (run_id, path_id) WHERE n.run_id = _run_id('%[1]s')`, run, stage) {
			process := [2]int64{whole(r[0]), whole(r[1])}
			if r[6].(bool) {
				passesOf[process]++
			}
			if strings.HasPrefix(r[5].(string), "decode_step") {
				at := thread{process[0], process[1], whole(r[2])}
				steps[at], stepsOf[process] = append(steps[at], span{whole(r[3]), whole(r[4])}), stepsOf[process]+1
				nested++
			}
		}
		want := map[string]*launchSum{}
		for _, r := range rowsOf(t, w, `SELECT k.source_id, k.pid, k.tid, k.launch_start_ns, k.launch_duration_ns, k.duration_ns, k.graph_node_id, n.name || ' ' || coalesce(a.name, '<nil>') || ' ' || k.source_id || ' ' || k.pid || ' ' || k.tid || ' ' || k.device_id
			FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) LEFT JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
			WHERE k.run_id = _run_id('%[1]s') AND k.launch_start_ns IS NOT NULL AND '%[2]s' IN ('', coalesce(s.stage, '(none)'))`, run, stage) {
			key := r[7].(string)
			if want[key] == nil {
				want[key] = &launchSum{}
			}
			s := want[key]
			s.calls++
			for _, step := range steps[thread{whole(r[0]), whole(r[1]), whole(r[2])}] {
				if at := whole(r[3]); step.start <= at && at < step.end {
					s.inSteps++
				}
			}
			if r[6] == nil {
				s.own, s.apiNs = s.own+1, s.apiNs+whole(r[4])
				if whole(r[5]) < whole(r[4]) {
					s.short++
				}
			}
		}
		args := queries.Args{"run": run, "top": "0"}
		if stage != "" {
			args["stage"] = stage
		}
		f := testkit.Query(t, w, "launches", args)
		if len(f.Rows) != len(want) || len(want) == 0 {
			t.Errorf("%v: %d rows, want %d", c, len(f.Rows), len(want))
		}
		for key, r := range byKey(f, "kernel", "api", "source_id", "pid", "tid", "device") {
			s, process := want[key], [2]int64{whole(r[f.Index("source_id")]), whole(r[f.Index("pid")])}
			if s == nil {
				t.Fatalf("%v: %s is not there", c, key)
			}
			short += s.short
			shortCount, apiNs := any(s.short), any(s.apiNs)
			if s.own == 0 {
				shortCount, apiNs = nil, nil
			}
			if number(f, r, "calls") != s.calls || r[f.Index("short_count")] != shortCount || r[f.Index("api_sum_ns")] != apiNs || ratio(r[f.Index("short_ratio")]) != share(s.short, s.own) ||
				ratio(r[f.Index("per_step_count")]) != share(s.inSteps, stepsOf[process]) || ratio(r[f.Index("per_pass_count")]) != share(s.calls, passesOf[process]) {
				t.Errorf("%v: %s: %+v, want %+v, steps %d, passes %d", c, key, fmt.Sprint(r[f.Index("calls"):]), *s, stepsOf[process], passesOf[process])
			}
		}
	}
	if nested < 100 || short == 0 {
		t.Errorf("%d steps and %d short kernels were met", nested, short)
	}
}
