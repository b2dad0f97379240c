package queries_test

import (
	"fmt"
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// launchedKernel is a kernel with where its launch was made.
type launchedKernel struct {
	pid, tid, device, launch, start, end int64
	collective                           bool
}

// during is how long collectives ran of some kernels, alone and beside others: every stretch between two ends of kernels is looked at.
func during(kernels []launchedKernel) (exposed, overlapped int64) {
	var times []int64
	for _, k := range kernels {
		times = append(times, k.start, k.end)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	for i := range len(times) - 1 {
		collective, other := false, false
		for _, k := range kernels {
			if k.start <= times[i] && times[i] < k.end {
				collective, other = collective || k.collective, other || !k.collective
			}
		}
		switch length := times[i+1] - times[i]; {
		case collective && other:
			overlapped += length
		case collective:
			exposed += length
		}
	}
	return exposed, overlapped
}

// TestCollectiveTime holds the time of collectives in each pass and on each GPU to one that is found kernel by kernel: of a capture in which they
// are exposed, and when its kernels are drawn longer so that they overlap.
func TestCollectiveTime(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "nccl2")...)
	exposed, overlapped := testCollectives(t, w)
	if exposed == 0 || overlapped != 0 {
		t.Errorf("as captured %d ns are exposed and %d overlapped", exposed, overlapped)
	}
	for _, longer := range []string{"7 * duration_ns", "duration_ns + 40_000 * (correlation_id % 3)", "duration_ns + 3_000"} {
		testkit.Exec(t, w, "UPDATE kernel SET duration_ns = "+longer)
		testkit.DeriveOnly(t, w, "device_part")
		if exposed, overlapped = testCollectives(t, w); exposed == 0 || overlapped == 0 {
			t.Errorf("%s: %d ns are exposed and %d overlapped", longer, exposed, overlapped)
		}
	}
	testkit.Exec(t, w, "DELETE FROM kernel WHERE kernel_name_id IN (SELECT kernel_name_id FROM kernel_class WHERE role = 'collective')")
	testkit.DeriveOnly(t, w, "device_part")
	if left := rows(t, w, "FROM device_part WHERE collective_count + collective_overlapped_ns + collective_exposed_ns > 0"); len(left) > 0 {
		t.Errorf("without collectives: %q", left)
	}
}

// testCollectives returns the sums over passes.
func testCollectives(t *testing.T, w *schema.Warehouse) (exposed, overlapped int64) {
	t.Helper()
	var all []launchedKernel
	for _, r := range rowsOf(t, w, `SELECT pid, tid, device_id, launch_start_ns, start_ns, start_ns + duration_ns, coalesce(role = 'collective', false)
		FROM kernel LEFT JOIN kernel_class USING (run_id, kernel_name_id)`) {
		all = append(all, launchedKernel{whole(r[0]), whole(r[1]), whole(r[2]), whole(r[3]), whole(r[4]), whole(r[5]), r[6].(bool)})
	}
	want := map[string]string{}
	for device := range int64(2) {
		for _, r := range rowsOf(t, w, `SELECT range_id, pid, tid, start_ns, start_ns + duration_ns FROM nvtx_range JOIN path_stage USING (run_id, path_id) WHERE stage_path_id = path_id
			UNION ALL SELECT NULL, NULL, NULL, 0, 0`) {
			var own []launchedKernel
			calls := 0
			for _, k := range all {
				if k.device == device && (r[0] == nil || k.pid == whole(r[1]) && k.tid == whole(r[2]) && k.launch >= whole(r[3]) && k.launch < whole(r[4])) {
					own = append(own, k)
					if k.collective {
						calls++
					}
				}
			}
			if calls == 0 {
				continue
			}
			alone, beside := during(own)
			key, value := fmt.Sprint(r[0], " ", device), fmt.Sprint(calls, " ", alone+beside, " ", alone, " ", beside)
			want[key] = value
			exposed, overlapped = exposed+alone, overlapped+beside
		}
	}
	got := map[string]string{}
	for _, r := range rowsOf(t, w, `SELECT range_id, device_id, collective_count, collective_overlapped_ns + collective_exposed_ns, collective_exposed_ns, collective_overlapped_ns
		FROM device_part WHERE collective_count > 0`) {
		got[fmt.Sprint(r[0], " ", r[1])] = fmt.Sprint(r[2], " ", r[3], " ", r[4], " ", r[5])
	}
	if len(want) < 20 || len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("range and GPU %s: %s, want %s", key, got[key], value)
		}
	}
	return exposed, overlapped
}

// whole is a cell that holds a whole number.
func whole(v any) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	}
	return -1
}

// TestCollectiveParts holds how accounting splits the time of kernels, on a run drawn by hand: a warm-up and two prefills on GPU 0 and one on GPU 1, of
// 50 ns each; in the first a collective and a kernel run at once, in the second one after the other.
func TestCollectiveParts(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "WPPp")
	account(t, w)
	testkit.Exec(t, w, `INSERT INTO range_context SELECT run_id, range_id, range_id, path_id, true FROM nvtx_range;
		INSERT INTO kernel_class SELECT run_id, 1, 'nccl', 'collective', NULL, 'user', 1 FROM run`)
	kernel := func(device, name, start, end, context int) {
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO kernel (run_id, source_id, pid, tid, device_id, stream_id, start_ns, duration_ns, kernel_name_id, range_context_id, path_id)
			SELECT run_id, 1, 1, 1, %d, 7, %d, %d, %d, %d, 0 FROM run`, device, start, end-start, name, context))
	}
	kernel(0, 1, 110, 140, 2) // a collective of the first prefill
	kernel(0, 2, 130, 150, 2)
	kernel(0, 2, 110, 135, 0) // of no range: beside a collective only in the whole
	kernel(0, 1, 210, 240, 3)
	kernel(0, 2, 240, 250, 3)
	kernel(1, 2, 310, 350, 4)
	testkit.DeriveOnly(t, w, "device_part", "stage_pass")
	want := map[string]string{
		"prefill 0 compute":               "20 10 2", // of 40 ns of kernels in each
		"prefill 0 collective-overlapped": "10 5 2",
		"prefill 0 collective-exposed":    "50 25 2",
		"prefill 0 launch-delay":          "20 10 2",
		"prefill 1 compute":               "40 40 1",
		"prefill 1 launch-delay":          "10 10 1",
		"(run) 0 compute":                 "60 60 1", // of 120, the warm-up's among them
		"(run) 0 collective-overlapped":   "30 30 1",
		"(run) 0 collective-exposed":      "30 30 1",
		"(run) 0 launch-delay":            "130 130 1",
		"(run) 1 compute":                 "40 40 1",
		"(run) 1 launch-delay":            "10 10 1",
	}
	f := testkit.Query(t, w, "accounting", queries.Args{"run": "drawn"})
	for key, r := range byKey(f, "stage", "device", "part") {
		if got := fmt.Sprint(r[f.Index("total_ns")], " ", r[f.Index("mean_ns")], " ", r[f.Index("passes")]); got != want[key] {
			t.Errorf("%s: %s, want %s", key, got, want[key])
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
