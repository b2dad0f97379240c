package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestRunDetails holds what a run says of itself and of the files that it was given.
func TestRunDetails(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "repeats", Files: []string{capturedFolder(t)}, Facts: passFacts, SQL: "INSERT INTO run_tag VALUES ($run, 'b', '2'), ($run, 'a', '1')"},
		testkit.Run{Name: "plain", Files: []string{"nsys/kernels/kernels.sqlite.gz"}, Facts: passFacts})
	for _, c := range []struct{ stmt, want string }{
		{"SELECT run, started_at, host, command, tags FROM run_details('repeats')", "[[repeats 2025-11-21 09:40:00 box python3 run.py --tokens 32 a=1 b=2]]"},
		{"SELECT run, d.run_id = r.run_id::VARCHAR, d.created_at = r.created_at, d.prof_version = r.prof_version, tags FROM run_details('plain') d JOIN run r ON r.name = d.run", "[[plain true true true <nil>]]"},
		{"SELECT path, size_bytes, left(sha256, 4) FROM inputs('repeats')", "[[gone.txt <nil> <nil>] [prompt.txt 12 aaaa]]"},
	} {
		if got := fmt.Sprint(rows(t, w, c.stmt)); got != c.want {
			t.Errorf("%s:\n %s, want\n %s", c.stmt, got, c.want)
		}
	}
	f := testkit.Query(t, w, "inputs", queries.Args{"run": "plain"})
	if len(f.Rows) != 0 || len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "the run was not made by prof capture") {
		t.Errorf("inputs of a run that prof did not capture: %v, %q", f.Rows, f.Notes)
	}
}

// TestRunGPUs holds that the list of runs counts the GPUs that devices says worked, and without a timeline those that it names.
func TestRunGPUs(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"kernels", "kernels-stats", "nccl2", "ranks", "profiled", "ncu-lines", "eager", "foreign-jax", "serving-own"} {
		testkit.Expect(t, w, fmt.Sprintf(`SELECT r.gpus, d.used, d.named FROM runs r, (SELECT count(DISTINCT device) FILTER (is_used) AS used, count(DISTINCT device) AS named FROM devices('%[1]s')) d
			WHERE r.run = '%[1]s' AND r.gpus IS DISTINCT FROM CASE WHEN r.run_id::UUID IN (SELECT t.run_id FROM timeline t) THEN nullif(d.used, 0) ELSE nullif(d.named, 0) END`, run))
	}
	testkit.Expect(t, w, "SELECT run, gpus, device FROM runs WHERE run IN ('kernels', 'nccl2', 'ranks', 'ncu-lines', 'model') ORDER BY 1",
		"kernels|1|NVIDIA H200", "model|~|~", "nccl2|2|NVIDIA H200", "ncu-lines|1|NVIDIA H200", "ranks|2|NVIDIA H200")
	testkit.Expect(t, w, "SELECT run FROM (SELECT run, gpus FROM run_list(top := 0) EXCEPT SELECT run, gpus FROM runs)")
	idle := testkit.Warehouse(t, testkit.Run{Name: "idle", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}, Facts: []string{"used_gpu"},
		SQL: "INSERT INTO device SELECT * REPLACE (device_id + 2 AS device_id, 'NVIDIA T400' AS name, NULL AS uuid) FROM device WHERE run_id = $run"})
	testkit.Expect(t, idle, "SELECT gpus, device, (SELECT count(*) FROM device) FROM runs", "2|NVIDIA H200|4")
	late := testkit.Warehouse(t, testkit.Run{Name: "late", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}, Facts: []string{"timeline"}})
	testkit.Expect(t, late, "SELECT gpus, device FROM runs", "~|NVIDIA H200") // its facts are not stored yet
}

// TestKernelDevices holds that the parts of a kernel on each GPU add up to the kernel, in its place.
func TestKernelDevices(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const both = `SELECT d.rank, d.kernel, sum(d.calls)::BIGINT, sum(d.total_ns)::BIGINT, abs(sum(d.share_ratio) - 1) < 1e-12 FROM kernel_devices('nccl2', top := %d) d GROUP BY ALL ORDER BY 1`
	for _, top := range []int{0, 3} {
		got := rows(t, w, fmt.Sprintf(both, top))
		want := rows(t, w, fmt.Sprintf("SELECT rank, kernel, calls, total_ns, true FROM top_kernels('nccl2', top := %d) ORDER BY 1", top))
		if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 3 {
			t.Errorf("top %d: %v, want %v", top, got, want)
		}
	}
	for _, device := range []string{"0", "1"} {
		got := rows(t, w, "SELECT kernel, calls, total_ns FROM kernel_devices('nccl2', top := 0) WHERE device = "+device+" ORDER BY 1")
		want := rows(t, w, "SELECT kernel, calls, total_ns FROM top_kernels('nccl2', top := 0, device := "+device+") ORDER BY 1")
		if fmt.Sprint(got) != fmt.Sprint(want) || len(want) < 3 {
			t.Errorf("GPU %s: %v, want %v", device, got, want)
		}
	}
}
