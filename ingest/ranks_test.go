package ingest_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"prof/ingest/derive"
	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestRankCopies: four copies of an export side by side are stored as four times that, on other GPUs and by other processes.
func TestRankCopies(t *testing.T) {
	const copies, gpus, from = 4, 2, "../testdata/nsys/nccl2/nccl2.sqlite.gz"
	one, all := newWarehouse(t), newWarehouse(t)
	mustIngest(t, one, "r", from)
	mustIngest(t, all, "r", ranksOf(t, from, copies))
	work := func(w *schema.Warehouse, k int) []string {
		return testkit.Rows(t, w, fmt.Sprintf(`SELECT x.device_id - %[1]d, count(DISTINCT x.pid), count(*), sum(x.duration_ns), min(x.start_ns), sum(x.launch_start_ns), count(x.path_id) FROM kernel x
			WHERE x.device_id >= %[1]d AND x.device_id < %[1]d + %[2]d GROUP BY ALL ORDER BY ALL`, k*gpus, gpus))
	}
	want := work(one, 0)
	for k := range copies {
		if got := work(all, k); !slices.Equal(got, want) || len(got) != gpus {
			t.Errorf("copy %d: kernels %v, want %v", k, got, want)
		}
	}
	for _, number := range []string{"count(DISTINCT x.device_id || x.uuid || x.bus_id) FROM device x", "count(DISTINCT x.pid) FROM kernel x", "count(*) FROM kernel x", "count(*) FROM memop x"} {
		if got, want := testkit.Rows(t, all, "SELECT "+number), testkit.Rows(t, one, fmt.Sprintf("SELECT %d * ", copies)+number); !slices.Equal(got, want) {
			t.Errorf("%s is %s, not %s", number, got, want)
		}
	}
}

// ranksOf is an export with the ranks of another, copies times.
func ranksOf(t *testing.T, from string, copies int) string {
	t.Helper()
	tables, err := exports.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "ranks.sqlite")
	if err := exports.Ranks(to, tables, copies); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestRankCommunicator: the ranks of copies are further ones of the same communicator; an export has no numbers for processes without end.
func TestRankCommunicator(t *testing.T) {
	const from = "../testdata/ranks/rank0.sqlite.gz"
	w := newWarehouse(t)
	mustIngest(t, w, "r", ranksOf(t, from, 4))
	testkit.Expect(t, w, `SELECT c.group_size, count(DISTINCT c.group_name), list(DISTINCT c.rank_id ORDER BY c.rank_id)::VARCHAR FROM collective_call c GROUP BY ALL`, "8|1|[0, 2, 4, 6]")
	tables, err := exports.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := exports.Ranks(filepath.Join(t.TempDir(), "a.sqlite"), tables, 17); err == nil {
		t.Error("17 copies are written")
	}
}

// TestEightTraces: traces of two ranks become those of eight on eight GPUs, whose all-reduce moves 2 (n - 1) / n of its bytes in the same time.
func TestEightTraces(t *testing.T) {
	dir, facts := t.TempDir(), derive.Facts{Only: []string{"collective", "rank_wait", "host_clock", "device_part", "stage_pass", "timeline", "source_host", "kernel_class", "path_stage", "caveat", "caveat_skew"}}
	one, all := warehouseWith(t, facts), warehouseWith(t, facts)
	var from []string
	for r := range 2 {
		path := fmt.Sprintf("../testdata/ranks/rank%d.trace.json.gz", r)
		from = append(from, path)
		if err := exports.RankTraceFiles(filepath.Join(dir, "rank*.json.gz"), path, 4); err != nil {
			t.Fatal(err)
		}
	}
	mustIngest(t, one, "r", from...)
	mustIngest(t, all, "r", dir)
	testkit.Expect(t, all, `SELECT count(*), count(DISTINCT s.rank_id), max(s.rank_id), count(DISTINCT k.device_id), count(DISTINCT k.pid) FROM source s JOIN kernel k USING (source_id)`, "1696|8|7|8|8")
	testkit.Expect(t, all, `SELECT DISTINCT c.group_size, c.group_ranks FROM collective_call c WHERE c.group_size > 1`, `8|[0, 1, 2, 3, 4, 5, 6, 7]`)
	const sums = `SELECT s.rank_id %% 2, s.rank_id = k.device_id, count(*), sum(k.duration_ns), count(DISTINCT k.stream_id) FROM kernel k JOIN source s USING (source_id) WHERE s.rank_id // 2 = %d GROUP BY ALL ORDER BY ALL`
	want := testkit.Rows(t, one, fmt.Sprintf(sums, 0))
	for k := range 4 {
		if got := testkit.Rows(t, all, fmt.Sprintf(sums, k)); !slices.Equal(got, want) || len(got) != 2 {
			t.Errorf("copy %d: kernels %v, want %v", k, got, want)
		}
	}
	of := func(w *schema.Warehouse, column string) (out []float64) {
		f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "r"})
		for _, r := range f.Rows {
			if r[f.Index("operation")] == "all-reduce" {
				switch v := r[f.Index(column)].(type) {
				case int64:
					out = append(out, float64(v))
				case float64:
					out = append(out, v)
				}
			}
		}
		return out
	}
	for column, factor := range map[string]float64{"skew_ns": 1, "transfer_ns": 1, "rank_count": 4, "waited_ns": 4, "bus_bytes_per_s": (2 * 7. / 8) / (2 * 1. / 2)} {
		before, now := of(one, column), of(all, column)
		if len(now) != len(before) || len(now) < 10 {
			t.Fatalf("%s: %d collectives, not %d", column, len(now), len(before))
		}
		for i := range now {
			if math.Abs(now[i]-factor*before[i]) > 1e-9*now[i] {
				t.Errorf("%s of collective %d is %v, want %v times %v", column, i, now[i], factor, before[i])
			}
		}
	}
}
