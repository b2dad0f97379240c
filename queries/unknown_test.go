package queries_test

import (
	"fmt"
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// TestUnknownShapes holds that kernels whose grid, block or context, copies whose size, and waits whose context a capture does not
// say are counted, and that none of these is taken for a number.
func TestUnknownShapes(t *testing.T) {
	t.Parallel()
	known := testkit.Run{Name: "known", Files: []string{"nsys/kernels/kernels.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz", "nsys/nccl2/nccl2.sqlite.gz"}}
	unknown := testkit.Run{Name: "r", Files: known.Files, SQL: `UPDATE kernel SET kernel_shape_id = NULL, context_id = NULL
			WHERE run_id = $run AND kernel_name_id IN (SELECT kernel_name_id FROM kernel_name WHERE name LIKE 'tiled_matmul%');
		UPDATE memop SET size_bytes = NULL, context_id = NULL WHERE run_id = $run AND (source_id = 1 OR operation LIKE '%Device-to-Device');
		UPDATE sync SET context_id = NULL WHERE run_id = $run`}
	w := testkit.Warehouse(t, known, unknown)
	before, after := map[string]*frame.Frame{}, map[string]*frame.Frame{}
	for _, name := range []string{"top-kernels", "kernel-grids", "launches", "stage-kernels", "range-kernels", "memops", "streams", "syncs", "devices", "bottlenecks", "ncu-matches"} {
		args := func(run string) queries.Args {
			if slices.Contains([]string{"top-kernels", "kernel-grids", "stage-kernels", "memops"}, name) {
				return queries.Args{"run": run, "warmup": "true"}
			}
			return queries.Args{"run": run}
		}
		before[name], after[name] = testkit.Query(t, w, name, args("known")), testkit.Query(t, w, name, args("r"))
	}
	for _, name := range []string{"top-kernels", "launches", "stage-kernels", "range-kernels", "syncs", "devices"} {
		if a, b := fmt.Sprint(before[name].Rows), fmt.Sprint(after[name].Rows); a != b {
			t.Errorf("%s was %s and is %s", name, a, b)
		}
	}
	for name, sums := range map[string][]string{"kernel-grids": {"calls", "total_ns"}, "memops": {"calls", "total_ns"}, "streams": {"kernel_count", "kernel_sum_ns", "memop_count"},
		"bottlenecks": {"launches"}, "ncu-matches": {"launches"}} {
		for _, sum := range sums {
			if a, b := total(before[name], sum), total(after[name], sum); a != b || a == 0 {
				t.Errorf("%s: %s was %d and is %d", name, sum, a, b)
			}
		}
	}
	for _, c := range []struct{ stmt, want string }{
		{"SELECT calls, total_ns > 0 FROM kernel_grids('r', warmup := true) WHERE grid IS NULL AND block IS NULL", "[2 true]"},
		{"SELECT sum(kernel_count)::BIGINT, sum(memop_count)::BIGINT FROM streams('r') WHERE context IS NULL", "[2 18]"},
		{"SELECT calls, unsized_count, total_bytes, mean_bytes, rate_bytes_per_s FROM memops('r', warmup := true) WHERE operation LIKE '%Device-to-Device'", "[12 12 <nil> <nil> <nil>]"},
		{"SELECT calls, unsized_count FROM memops('r', warmup := true) WHERE operation = 'memset'", "[202 6]"},
		{"SELECT unsized_count FROM memops('r', warmup := true) WHERE operation LIKE '%Host-to-Device'", "[0]"},
		{"SELECT timeline_total_ns FROM bottlenecks('r') WHERE kernel LIKE 'tiled_matmul%'", "[<nil>]"},
		{"SELECT reason FROM ncu_matches('r') WHERE kernel LIKE 'tiled_matmul%'", "[no-grids]"},
	} {
		if got := fmt.Sprint(rows(t, w, c.stmt)); got != "["+c.want+"]" {
			t.Errorf("%s: %s, want %s", c.stmt, got, c.want)
		}
	}
	sized := byFirst(t, w, `SELECT operation, sum(size_bytes) / (sum(duration_ns) / 1e9) FROM memop WHERE size_bytes IS NOT NULL AND run_id = _run_id('r') GROUP BY 1`)
	for op, r := range byFirst(t, w, "SELECT operation, rate_bytes_per_s FROM memops('r', warmup := true) WHERE rate_bytes_per_s IS NOT NULL") {
		if r[1] != sized[op][1] {
			t.Errorf("%s: %v, want %v", op, r[1], sized[op][1])
		}
	}
}
