package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest/attribute"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// testFindingNotes holds that rules which cannot be tried are named.
func testFindingNotes(t *testing.T, w *schema.Warehouse) {
	notes := func(stmts ...string) string {
		t.Helper()
		made(t, w, append(stmts, ran(1, 1, 0, 10, 200, ""))...)
		testkit.DeriveOnly(t, w, "finding_span", "finding", "caveat", "caveat_finding", "caveat_work")
		all, err := queries.NewAsker(w).Notes(t.Context(), queries.Args{"run": runID(t, w, findingRun)}, "finding-span", "accounting", "finding")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, "\n")
	}
	plain := notes()
	for _, c := range []struct{ stmt, want string }{
		{"DELETE FROM device_time", "ingest it again with --replace"},
		{"DELETE FROM path_stage", "no measured passes of a stage"},
		{"UPDATE device_time SET kernel_ns = 1000000000 WHERE range_id IS NULL", "measured passes of stages: 0.2 % of GPU busy time"},
		{"UPDATE device_time SET start_ns = end_ns WHERE range_id IS NULL; DELETE FROM path_stage; UPDATE device_time SET profiler_ns = 0", "loading and warm-up included"},
		{strings.Join(sampled(1, 1, 1), ";") + "; UPDATE capture_device SET uuid = 'GPU-b'", "throttling could not be checked: the clocks were not sampled on the counted GPUs"},
		{strings.Join(sampled(1, 1, 1), ";") + "; UPDATE capture_source SET captured_source_id = 7", "throttling could not be checked: the clocks were not sampled on the counted GPUs"},
		{"DELETE FROM device_time WHERE range_id > 0", "no rule was tried: the measured passes have no device work"},
		{idle("profiler_ns = 20000"), "in 1.0 % of these spans a GPU was idle while the profiler worked"},
		{idle("unknown_ns = 30000"), "in 1.5 % of these spans a GPU was idle before work whose launch was not captured"},
		{"UPDATE device SET sm_count = NULL", "small-grids and wave-tail could not be tried on every GPU"},
		{"UPDATE device SET compute_capability = NULL", "wave-tail could not be tried on every GPU"},
		{"INSERT INTO kernel SELECT * REPLACE (NULL AS kernel_shape_id) FROM kernel; " + ran(1, 1, 0, 10, 201, "") + "; UPDATE kernel_shape SET grid_x = NULL WHERE kernel_shape_id = 201", "could not be tried on 1 kernel:"},
		{hostCopy(1, "NULL", 7), "pageable-copies could not be tried on 1 copy to the GPU"},
	} {
		if got := notes(c.stmt); !strings.Contains(got, c.want) || strings.Contains(plain, c.want) || strings.Contains(got, "nan") {
			t.Errorf("%s: %q", c.stmt, got)
		}
	}
	for what, stmts := range map[string][]string{"throttling could not be checked": sampled(1, 1, 1), "below-roof and low-occupancy could not be tried": ncuOf(nil)} {
		if got := notes(stmts...); strings.Contains(got, what) || !strings.Contains(plain, what) {
			t.Errorf("%s: %q, and %q without", what, got, plain)
		}
	}
}

// testNoPasses holds that all device work counts where there are no passes, and warm-up does not where there are.
func testNoPasses(t *testing.T, w *schema.Warehouse) {
	made(t, w, "DELETE FROM path_stage", "UPDATE device_time SET launch_ns = 300000 WHERE range_id IS NULL", ran(0, 1, 0, 20000, 50, ""), ran(1, 1, 0, 20000, 50, ""))
	testkit.DeriveOnly(t, w, findingFacts...)
	stmt := "SELECT finding, stage, saving_ns, span_ns, passes FROM findings('" + findingRun + "', min_share := 0, stage := '(none)')"
	if got := fmt.Sprint(rows(t, w, stmt)); got != "[[launch-bound <nil> 300000 3000000 1] [small-grids <nil> 20000 3000000 1]]" {
		t.Errorf("without passes: %s", got)
	}
	if list := explained(t, w, findingRun, queries.Args{}); len(list) != 2 || list[0].Query != "FROM accounting('"+findingRun+"', device := 0)" || list[1].Query != "FROM kernel_grids('"+findingRun+"', top := 0, device := 0)" {
		t.Errorf("without passes: %+v", list)
	}
	made(t, w, "UPDATE path_stage SET is_warmup = true", "UPDATE device_time SET launch_ns = 300000", ran(1, 1, 0, 20000, 50, ""))
	testkit.DeriveOnly(t, w, findingFacts...)
	if got := rows(t, w, "FROM findings('"+findingRun+"', stage := 'decode')"); len(got) != 0 {
		t.Errorf("of warm-up passes: %q", got)
	}
}

// testUntried holds that a stage of which there is nothing to judge is not said to be without fault.
func testUntried(t *testing.T, w *schema.Warehouse) {
	made(t, w, ran(1, 1, 0, 10, 200, ""))
	facts := append(slices.Clone(findingFacts), "caveat")
	testkit.DeriveOnly(t, w, facts...)
	said := func(args queries.Args) string {
		t.Helper()
		args["run"] = findingRun
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
		if got := said(args); !strings.Contains(got, want) || want == "" && strings.Contains(got, "no rule was tried") {
			t.Errorf("stage %q: %s", stage, got)
		}
	}
	testkit.Exec(t, w, "DELETE FROM path_stage")
	testkit.DeriveOnly(t, w, facts...)
	for stage, want := range map[string]bool{"decode": true, "(none)": false} {
		if got := said(queries.Args{"stage": stage}); strings.Contains(got, "no rule was tried") != want {
			t.Errorf("stage %q of a run without passes: %s", stage, got)
		}
	}
	testkit.Exec(t, w, "DELETE FROM device_time; DELETE FROM kernel")
	testkit.DeriveOnly(t, w, facts...)
	if got := said(queries.Args{}); !strings.Contains(got, "no rule was tried: there is no device work") {
		t.Errorf("without device work: %s", got)
	}
	made(t, w, "UPDATE range_device SET last_end_ns = first_start_ns + 3 * (last_end_ns - first_start_ns) WHERE range_id = 1")
	testkit.DeriveOnly(t, w, append(facts, "caveat_pass")...)
	if f := testkit.Query(t, w, "findings", queries.Args{"run": findingRun}); !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "the passes of decode differ 3.0-fold") }) {
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
