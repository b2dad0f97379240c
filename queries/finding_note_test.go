package queries_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/ingest/attribute"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// noteFacts are the findings, and all that is said of them.
var noteFacts = append(slices.Clone(findingFacts), "finding_span", "caveat", "caveat_pass", "caveat_work")

// madeRuns returns a stored warehouse with made runs side by side, by their statements, and their ids.
func madeRuns(t *testing.T, key string, runs ...[]string) (*schema.Warehouse, []string) {
	t.Helper()
	var ids []string
	for i := range runs {
		ids = append(ids, testkit.RunID(fmt.Sprint(key, i)))
	}
	return testkit.Warehouse(t, testkit.Run{Name: "made", Key: key, Sources: []string{"queries/finding_test.go", "queries/finding_note_test.go"}, Facts: []string{}, Then: func(_ context.Context, w *schema.Warehouse) error {
		var keep, store []string
		for _, table := range madeTables {
			testkit.Exec(t, w, "CREATE TEMP TABLE kept_"+table+" AS FROM "+table+" LIMIT 0")
			what := "'%[1]s' AS run_id"
			if table == "run" {
				what += ", '%[1]s' AS name"
			}
			keep = append(keep, fmt.Sprintf("INSERT INTO kept_%[1]s SELECT * REPLACE (%[2]s) FROM %[1]s", table, what))
			store = append(store, fmt.Sprintf("DELETE FROM %[1]s; INSERT INTO %[1]s FROM kept_%[1]s; DROP TABLE kept_%[1]s", table))
		}
		for i, stmts := range runs {
			made(t, w, stmts...)
			testkit.Exec(t, w, fmt.Sprintf(strings.Join(keep, ";\n"), ids[i]))
		}
		testkit.Exec(t, w, strings.Join(store, ";\n"))
		testkit.DeriveOnly(t, w, noteFacts...)
		testkit.Exec(t, w, "INSERT INTO derivation SELECT d.* REPLACE (r.run_id AS run_id) FROM derivation d, run r") // else the facts would be out of date
		return nil
	}}), ids
}

// testFindingNotes holds that rules which cannot be tried are named.
func testFindingNotes(t *testing.T) {
	cases := []struct{ stmt, want string }{
		{"DELETE FROM device_time", "ingest it again with --replace"},
		{"DELETE FROM path_stage", "no measured passes of a stage"},
		{"UPDATE device_time SET kernel_ns = 1000000000 WHERE range_id IS NULL", "measured passes of stages: 0.2 % of GPU busy time"},
		{"UPDATE device_time SET start_ns = end_ns WHERE range_id IS NULL; DELETE FROM path_stage; DELETE FROM idle_part WHERE part = 'profiler'", "findings cover all captured device work"},
		{strings.Join(sampled(1, 1, 1), ";") + "; UPDATE capture_device SET uuid = 'GPU-b'", "throttling could not be checked: the clocks were not sampled on the counted GPUs"},
		{strings.Join(sampled(1, 1, 1), ";") + "; UPDATE capture_source SET captured_source_id = 7", "throttling could not be checked: the clocks were not sampled on the counted GPUs"},
		{"DELETE FROM device_time WHERE range_id > 0", "no rule was tried: the measured passes have no device work"},
		{idle("profiler = 20000"), "in 1.0 % of these spans a GPU was idle while the profiler worked"},
		{idle("unknown = 30000"), "in 1.5 % of these spans a GPU was idle before work whose launch was not captured"},
		{"UPDATE device SET sm_count = NULL", "not checked on every GPU, since the capture lacks the number or the limits of its SMs: small-grids, wave-tail"},
		{"UPDATE device SET compute_capability = NULL", "not checked on every GPU, since the capture lacks the limits of its SMs: wave-tail"},
		{"INSERT INTO kernel SELECT * REPLACE (NULL AS kernel_shape_id) FROM kernel; " + ran(1, 1, 0, 10, 201, "") + "; UPDATE kernel_shape SET grid_x = NULL WHERE kernel_shape_id = 201", "not checked on 1 kernel, since the capture lacks the grid"},
		{hostCopy(1, "NULL", 7), "not checked on 1 copy to the GPU, since the capture lacks the kind of memory: pageable-copies"},
	}
	absent := map[string][]string{"throttling could not be checked": sampled(1, 1, 1), "not checked without Nsight Compute data": ncuOf(nil)}
	work := ran(1, 1, 0, 10, 200, "")
	runs := [][]string{{work}}
	for _, c := range cases {
		runs = append(runs, []string{c.stmt, work})
	}
	whats := slices.Sorted(maps.Keys(absent))
	for _, what := range whats {
		runs = append(runs, append(absent[what], work))
	}
	w, ids := madeRuns(t, "notes", runs...)
	notes := func(run int) string {
		t.Helper()
		all, err := queries.NewAsker(w).Notes(t.Context(), queries.Args{"run": ids[run]}, "finding-span", "accounting", "finding")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, "\n")
	}
	plain := notes(0)
	for i, c := range cases {
		if got := notes(i + 1); !strings.Contains(got, c.want) || strings.Contains(plain, c.want) || strings.Contains(got, "nan") {
			t.Errorf("%s: %q", c.stmt, got)
		}
	}
	for i, what := range whats {
		if got := notes(1 + len(cases) + i); strings.Contains(got, what) || !strings.Contains(plain, what) {
			t.Errorf("%s: %q, and %q without", what, got, plain)
		}
	}
}

// testNoPasses holds that all device work counts where there are no passes, and warm-up does not where there are.
func testNoPasses(t *testing.T) {
	w, ids := madeRuns(t, "no passes",
		[]string{"DELETE FROM path_stage", spent("range_id IS NULL", "launch = 300000"), ran(0, 1, 0, 20000, 50, ""), ran(1, 1, 0, 20000, 50, "")},
		[]string{"UPDATE path_stage SET is_warmup = true", spent("true", "launch = 300000"), ran(1, 1, 0, 20000, 50, "")})
	run := ids[0]
	stmt := "SELECT finding, stage, saving_ns, span_ns, passes FROM findings('" + run + "', min_share := 0, stage := '(none)')"
	if got := fmt.Sprint(rows(t, w, stmt)); got != "[[launch-bound <nil> 300000 3000000 1] [small-grids <nil> 20000 3000000 1]]" {
		t.Errorf("without passes: %s", got)
	}
	if list := explained(t, w, run, queries.Args{}); len(list) != 2 || list[0].Query != "FROM accounting('"+run+"', device := 0)" || list[1].Query != "FROM kernel_grids('"+run+"', top := 0, device := 0)" {
		t.Errorf("without passes: %+v", list)
	}
	if got := rows(t, w, "FROM findings('"+ids[1]+"', stage := 'decode')"); len(got) != 0 {
		t.Errorf("of warm-up passes: %q", got)
	}
}

// testUntried holds that a stage of which there is nothing to judge is not said to be without fault.
func testUntried(t *testing.T) {
	work, noPasses := ran(1, 1, 0, 10, 200, ""), "DELETE FROM path_stage"
	w, ids := madeRuns(t, "untried", []string{work}, []string{work, noPasses}, []string{work, noPasses, "DELETE FROM device_time; DELETE FROM kernel"},
		[]string{"UPDATE range_device SET last_end_ns = first_start_ns + 3 * (last_end_ns - first_start_ns) WHERE range_id = 1"})
	said := func(run int, args queries.Args) string {
		t.Helper()
		args["run"] = ids[run]
		f := testkit.Query(t, w, "findings", args)
		if len(f.Rows) > 0 {
			t.Errorf("%v: %v", args, f.Rows)
		}
		return strings.Join(f.Notes, "\n")
	}
	for stage, want := range map[string]string{"": "", "decode": "", "prefill": "no rule was tried: the stage has no device work in measured passes", "(none)": "no rule was tried: findings of a run with measured passes cover only these passes"} {
		args := queries.Args{}
		if stage != "" {
			args["stage"] = stage
		}
		if got := said(0, args); !strings.Contains(got, want) || want == "" && strings.Contains(got, "no rule was tried") {
			t.Errorf("stage %q: %s", stage, got)
		}
	}
	for stage, want := range map[string]bool{"decode": true, "(none)": false} {
		if got := said(1, queries.Args{"stage": stage}); strings.Contains(got, "no rule was tried") != want {
			t.Errorf("stage %q of a run without passes: %s", stage, got)
		}
	}
	if got := said(2, queries.Args{}); !strings.Contains(got, "no rule was tried: rules need a timeline with GPU work") {
		t.Errorf("without device work: %s", got)
	}
	if f := testkit.Query(t, w, "findings", queries.Args{"run": ids[3]}); !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "the passes of decode differ 3.0-fold") }) {
		t.Errorf("passes that differ: %q", f.Notes)
	}
}

// TestCallKinds holds the kinds of calls that findings name to those that idle time is told by.
func TestCallKinds(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	names := []string{"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaGraphLaunch_v10000", "cuGraphLaunch", "cudaGraphInstantiate", "cudaGraphExecUpdate", "cudaStreamBeginCapture", "cudaGraphAddMemcpyNode", "cudaGraphKernelNodeSetParams",
		"cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "cudaMemset", "cudaMemsetAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cuCtxSynchronize", "cudaEventQuery", "cudaStreamQuery", "cuEventQuery",
		"cudaMalloc", "cudaFree", "cuModuleLoadDataEx", "cudaEventRecord", "cudaStreamWaitEvent", "hipLaunchKernel", "hipMemcpyWithStream", "hipStreamSynchronize", "hipGraphLaunch", "cudaMemcpyAsyncLaunch", "cudaOccupancyMaxActiveBlocks"}
	stmts := []string{"DELETE FROM api_name"}
	for id, name := range names {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO api_name SELECT '%s', %d, '%s'", findingRun, id, name), called(1, id, 1, int(attribute.HostStretch)-1), called(1, id, 1, int(attribute.HostStretch)))
	}
	made(t, w, append(stmts, "UPDATE api_call SET return_value = 0")...)
	testkit.DeriveOnly(t, w, "finding_call")
	got := rows(t, w, "SELECT api, call_kind, call_count FROM finding_call ORDER BY api, call_kind")
	words := map[attribute.CallKind]string{attribute.OtherCall: "other", attribute.LaunchCall: "launch", attribute.GraphCall: "launch", attribute.CopyCall: "copy", attribute.WaitCall: "wait", attribute.QueryCall: "query"}
	var want []string
	for _, name := range names {
		if kind := attribute.KindOfCall(name); kind == attribute.LaunchCall { // the shorter one launches, the longer one loads
			want = append(want, fmt.Sprintf("[%s launch 1]", name), fmt.Sprintf("[%s load 1]", name))
		} else {
			want = append(want, fmt.Sprintf("[%s %s 2]", name, words[kind]))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
