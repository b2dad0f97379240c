package queries_test

import (
	"fmt"
	"math"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestStreamQueues holds the area under each queue's length against the time that its work waited, and its lengths against a count by hand.
func TestStreamQueues(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"kernels", "nccl2", "engine-trace", "engine-node", "engine-graph"} {
		f := testkit.Query(t, w, "stream-queues", queries.Args{"run": run})
		if len(f.Rows) == 0 {
			t.Errorf("%s has no streams", run)
		}
		for _, r := range f.Rows {
			work := rowsOf(t, w, `WITH work AS (
				SELECT launch_start_ns, start_ns, stream_id, device_id, pid, launch_name_id, graph_node_id, run_id FROM kernel UNION ALL SELECT launch_start_ns, start_ns, stream_id, device_id, pid, launch_name_id, graph_node_id, run_id FROM memop
				UNION ALL SELECT launch_start_ns, start_ns, stream_id, device_id, pid, -1, NULL, run_id FROM graph_launch WHERE mode = 'graph')
				SELECT least(launch_start_ns, start_ns), start_ns FROM work LEFT JOIN api_name a ON a.run_id = work.run_id AND a.api_name_id = work.launch_name_id
				WHERE work.run_id = _run_id('%s') AND launch_start_ns IS NOT NULL AND graph_node_id IS NULL AND coalesce(a.name NOT LIKE '%%GraphLaunch%%', true) AND stream_id = %d AND device_id = %d AND pid = %d`, run, r[f.Index("stream")], r[f.Index("device")], r[f.Index("pid")])
			if int64(len(work)) != number(f, r, "work_count") {
				t.Errorf("%s: %d pieces of work, want %d", run, number(f, r, "work_count"), len(work))
			}
			var area, most int64
			for _, a := range work {
				area += a[1].(int64) - a[0].(int64)
				length := int64(0)
				for _, b := range work { // queued when this one is launched
					if b[0].(int64) <= a[0].(int64) && b[1].(int64) >= a[0].(int64) {
						length++
					}
				}
				most = max(most, length)
			}
			got := r[f.Index("mean_count")].(float64) * float64(number(f, r, "time_ns"))
			if math.Abs(got-float64(area)) > 1e-6*float64(area) || number(f, r, "max_count") != most || number(f, r, "full_ns") != 0 {
				t.Errorf("%s, stream %v: %.0f ns of waiting, want %d; at most %d queued, want %d", run, r[f.Index("stream")], got, area, number(f, r, "max_count"), most)
			}
		}
		few := testkit.Query(t, w, "stream-queues", queries.Args{"run": run, "full_count": "1"})
		for _, r := range few.Rows {
			if full, empty, all := number(few, r, "full_ns"), number(few, r, "empty_ns"), number(few, r, "time_ns"); full+empty != all {
				t.Errorf("%s: %d ns with and %d without work queued are not %d", run, full, empty, all)
			}
		}
	}
}

// TestCopySizes holds the classes of copies against the sums of memops.
func TestCopySizes(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"variants-node", "engine-trace", "llama-graph-node"} {
		const sums = `SELECT operation, sum(calls)::BIGINT, sum(total_ns)::BIGINT, sum(total_bytes)::BIGINT FROM %s('%s') GROUP BY operation ORDER BY operation`
		got, want := rowsOf(t, w, sums, "copy_sizes", run), rowsOf(t, w, sums, "memops", run)
		if len(want) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, memops has %v", run, got, want)
		}
		for _, r := range rowsOf(t, w, `SELECT from_bytes, total_bytes, calls FROM copy_sizes('%s')`, run) {
			from, total, calls := r[0].(int64), r[1].(int64), r[2].(int64)
			power := from == 0 && total == 0
			for p := int64(1); p <= from; p *= 4 {
				power = power || p == from
			}
			if !power || from > 0 && (total < from*calls || total >= 4*from*calls) {
				t.Errorf("%s: %d copies of %d bytes are of the class from %d", run, calls, total, from)
			}
		}
	}
}

// TestCollectiveSizes holds the sums of message sizes against collectives, and their waits against rank-skew.
func TestCollectiveSizes(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"ranks", "nccl2"} {
		const sums = `SELECT operation, sum(calls)::BIGINT, sum(total_ns)::BIGINT FROM %s('%s'%s) GROUP BY operation ORDER BY operation`
		if got, want := rowsOf(t, w, sums, "collective_sizes", run, ""), rowsOf(t, w, sums, "collectives", run, ", warmup := true"); len(want) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, collectives has %v", run, got, want)
		}
		got := rowsOf(t, w, `SELECT operation, sum(wait_ns)::BIGINT, sum(matched_count)::BIGINT FROM collective_sizes('%s') WHERE matched_count > 0 GROUP BY operation ORDER BY operation`, run)
		want := rowsOf(t, w, `SELECT operation, sum(waited_ns)::BIGINT, sum(rank_count)::BIGINT FROM rank_skew('%s', top := 0) WHERE skew_ns IS NOT NULL GROUP BY operation ORDER BY operation`, run)
		if len(want) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: waits %v, rank-skew has %v", run, got, want)
		}
	}
	// all-gathers are of one size: their bandwidth with waiting is that of collectives, and without it that of rank-skew, over the same transfers
	got := rowsOf(t, w, `SELECT s.own_bus_bytes_per_s / c.bus, s.bus_bytes_per_s / k.bus FROM collective_sizes('ranks') s, (SELECT sum(total_bytes) / sum(total_ns) * 1e9 * 0.5 AS bus FROM collectives('ranks', warmup := true) WHERE operation = 'all-gather') c,
		(SELECT sum(total_bytes) / sum(transfer_ns) * 1e9 * 0.5 AS bus FROM rank_skew('ranks', top := 0) WHERE operation = 'all-gather') k WHERE s.operation = 'all-gather'`)
	for _, x := range got[0] {
		if math.Abs(x.(float64)-1) > 1e-9 {
			t.Errorf("all-gather: bandwidths differ by the factors %v", got[0])
		}
	}
	if sizes := rowsOf(t, w, `SELECT total_bytes, algorithm FROM collective_sizes('ranks') WHERE operation = 'all-reduce'`); fmt.Sprint(sizes) != "[[32768 RING_LL] [1048576 RING_LL]]" {
		t.Errorf("all-reduces of %v", sizes)
	}
}
