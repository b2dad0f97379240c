package queries_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// drawnCall names a call as its rows do.
func drawnCall(source, pid, tid, start any) string { return fmt.Sprint(source, pid, tid, start) }

// countedBy counts rows by a column.
func countedBy(f *frame.Frame, of string) map[string]int64 {
	out := map[string]int64{}
	for _, v := range column(f, of) {
		out[v.(string)]++
	}
	return out
}

// TestTimelineCalls holds that the calls of a timeline are the launches and all calls with rows that its threads made in its windows, read without the query under test; that of
// a capture shown whole every launch is there as often as launches and api-calls count it; and that each piece of work has its call.
func TestTimelineCalls(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	type drawn struct {
		run string
		top int
	}
	for _, x := range sample.Of([]drawn{{"nccl2", 0}, {"nccl2", 7}, {"variants-graph", 7}, {"variants-graph", 0}, {"llama-graph-node", 1000}, {"llama-graph-node", 7}, {"variants-node", 0}, {"variants-node", 7}, {"kernels", 7}, {"kernels", 0}}, 2) {
		run, top := x.run, x.top
		args := queries.Args{"run": run, "top": fmt.Sprint(top)}
		works := testkit.Query(t, w, "timeline-kernels", args)
		windows := testkit.Query(t, w, "timeline-windows", args)
		args["others"] = "0"
		calls := testkit.Query(t, w, "timeline-calls", args)

		// Every call that begins from the first launch of a window on a thread to the end of the window's work.
		until := map[any]int64{}
		for _, r := range windows.Rows {
			until[r[windows.Index("window")]] = number(windows, r, "end_ns")
		}
		type stretch struct{ window, source, pid, tid any }
		from, launched := map[stretch]int64{}, map[string]bool{}
		for _, r := range works.Rows {
			at := func(c string) any { return r[works.Index(c)] }
			if at("launch_start_ns") == nil {
				continue
			}
			s, start := stretch{at("window"), at("source_id"), at("pid"), at("tid")}, number(works, r, "launch_start_ns")
			if first, known := from[s]; !known || start < first {
				from[s] = start
			}
			launched[drawnCall(s.source, s.pid, s.tid, start)] = true
		}
		want := map[string]bool{}
		for _, r := range rowsOf(t, w, "SELECT a.source_id, a.pid, a.tid, a.start_ns FROM api_call a JOIN run r USING (run_id) WHERE r.name = '%s'", run) {
			for s, first := range from {
				if start := r[3].(int64); r[0] == s.source && r[1] == s.pid && r[2] == s.tid && start >= first && start <= until[s.window] {
					want[drawnCall(r[0], r[1], r[2], start)] = true
				}
			}
		}
		maps.Copy(want, launched)
		got := map[string]bool{}
		for _, r := range calls.Rows {
			at := func(c string) any { return r[calls.Index(c)] }
			key := drawnCall(at("source_id"), at("pid"), at("tid"), at("start_ns"))
			if got[key] || !want[key] || at("is_launch") != launched[key] || at("call_count") != int64(len(want)) {
				t.Fatalf("%s, top %d: %v is there twice, of no window, or marked as it should not be", run, top, r)
			}
			got[key] = true
		}
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s, top %d: %d calls of %d", run, top, len(got), len(want))
		}
		for key := range launched {
			if !got[key] {
				t.Errorf("%s, top %d: the call %s is not there, which launched something", run, top, key)
			}
		}
		if top == 0 {
			all := countedBy(calls, "api")
			f := testkit.Query(t, w, "api-calls", queries.Args{"run": run, "top": "0"})
			for _, r := range f.Rows {
				api := r[f.Index("api")].(string)
				if calls := number(f, r, "calls"); all[api] > calls {
					t.Errorf("%s: %d calls of %s are drawn, api-calls counts %d", run, all[api], api, calls)
				}
			}
			if n, kernels := total(testkit.Query(t, w, "launches", queries.Args{"run": run, "top": "0"}), "calls"), launchedKernels(works); n != kernels {
				t.Errorf("%s: the work drawn has %d kernels with a launch, launches counts %d", run, kernels, n)
			}
		}
	}
}

// launchedKernels counts the kernels whose launch is known.
func launchedKernels(works *frame.Frame) (n int64) {
	for _, r := range works.Rows {
		lane := r[works.Index("lane")]
		if (lane == "kernel" || lane == "collective") && r[works.Index("launch_start_ns")] != nil {
			n++
		}
	}
	return n
}

// TestTimelineCallsFew holds that, of calls that launched nothing which is drawn, the longest are left, and that no launch is lost.
func TestTimelineCallsFew(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	args := queries.Args{"run": "nccl2", "others": "0"}
	all := testkit.Query(t, w, "timeline-calls", args)
	args["others"] = "20"
	few := testkit.Query(t, w, "timeline-calls", args)
	var lengths, left []int64
	kept := map[bool]int{}
	for _, r := range all.Rows {
		if r[all.Index("is_launch")] == false {
			lengths = append(lengths, number(all, r, "duration_ns"))
		}
		kept[r[all.Index("is_launch")].(bool)]++
	}
	for _, r := range few.Rows {
		if r[few.Index("is_launch")] == false {
			left = append(left, number(few, r, "duration_ns"))
		}
	}
	slices.Sort(lengths)
	slices.Sort(left)
	if len(left) != 20 || !slices.Equal(left, lengths[len(lengths)-20:]) || len(few.Rows) != 20+kept[true] || number(few, few.Rows[0], "call_count") != int64(len(all.Rows)) {
		t.Errorf("of %d calls %d are left, %v", len(all.Rows), len(few.Rows), left)
	}
}

// TestAPIKind holds what functions do by their names.
func TestAPIKind(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	want := map[string]string{"cudaLaunchKernel": "launch", "cuLaunchKernelEx": "launch", "cudaLaunchKernelExC_v11060": "launch", "hipExtModuleLaunchKernel": "launch", "cudaGraphLaunch_v10000": "launch",
		"cudaMemcpyAsync": "copy", "cuMemcpyHtoDAsync_v2": "copy", "cudaMemset": "copy", "hipMemcpyWithStream": "copy", "cudaStreamSynchronize": "sync", "cuEventSynchronize": "sync", "cudaDeviceSynchronize": "sync",
		"cudaGraphAddMemcpyNode": "other", "cudaStreamWaitEvent": "other", "cudaEventQuery": "other", "cudaMalloc": "other", "cuKernelGetName": "other"}
	for _, api := range slices.Sorted(maps.Keys(want)) {
		if got := rowsOf(t, w, "SELECT _api_kind('%s')", api)[0][0]; got != want[api] {
			t.Errorf("%s is %v, not %s", api, got, want[api])
		}
	}
}
