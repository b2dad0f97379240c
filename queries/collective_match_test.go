package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// madeCollective is a collective of a made-up run: which GPU ran it, of the process of its number plus 100, when, and with which function.
type madeCollective struct {
	device, start, end int
	name               string
}

// fillCollectives makes the only run of a warehouse, with these collectives, all of one source, in a decode that holds them all.
func fillCollectives(t *testing.T, w *schema.Warehouse, work []madeCollective) {
	t.Helper()
	stmts := []string{"BEGIN"}
	for _, table := range []string{"run", "source", "kernel", "kernel_name", "kernel_class", "collective_call", "nvtx_range", "range_path", "range_context", "path_stage"} {
		stmts = append(stmts, "DELETE FROM "+table)
	}
	stmts = append(stmts, "INSERT INTO run SELECT '"+timelineRun+"', 'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'", sourceRow(1, "nsys"))
	var names []string
	for _, k := range work {
		if !slices.Contains(names, k.name) {
			names = append(names, k.name)
			stmts = append(stmts, fmt.Sprintf("INSERT INTO kernel_name SELECT run_id, %[1]d, '%[2]s', '%[2]s', %[1]d FROM run", len(names), k.name),
				fmt.Sprintf("INSERT INTO kernel_class (run_id, kernel_name_id, family, role) SELECT run_id, %d, 'nccl %s', 'collective' FROM run", len(names), k.name))
		}
		stmts = append(stmts, fmt.Sprintf("INSERT INTO kernel (run_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, kernel_name_id, range_context_id, path_id) SELECT run_id, 1, %d, %d, 7, %d, %d, %d, %[2]d + 1, 1 FROM run",
			100+k.device, k.device, k.start, k.end-k.start, slices.Index(names, k.name)+1))
	}
	stmts = append(stmts, "INSERT INTO range_path (run_id, path_id, depth, domain, name, lineage, path) SELECT run_id, 1, 1, '', 'decode', [1], 'decode' FROM run",
		"INSERT INTO path_stage (run_id, path_id, stage, stage_path_id, is_warmup) SELECT run_id, 1, 'decode', 1, false FROM run",
		"INSERT INTO nvtx_range (run_id, source_id, range_id, path_id, pid, tid, style, domain, name, start_ns, duration_ns) SELECT run_id, 1, g, 1, 99 + g, 1, 'push_pop', '', 'decode', 0, 100000 FROM run, range(1, 4) r(g)",
		"INSERT INTO range_context (run_id, range_context_id, range_id, path_id, is_innermost) SELECT run_id, g, g, 1, true FROM run, range(1, 4) r(g)")
	testkit.Exec(t, w, strings.Join(append(stmts, "COMMIT"), ";\n"))
	testkit.DeriveOnly(t, w, rankFacts...)
}

// lateSecond returns an all-reduce of two GPUs: the second one comes 90 ns late.
func lateSecond(at int) []madeCollective {
	return []madeCollective{{0, at, at + 190, "all-reduce"}, {1, at + 90, at + 190, "all-reduce"}}
}

// TestUnevenRanks holds which collectives are one where ranks have different numbers of them: a capture of one began earlier or ended later.
func TestUnevenRanks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	three := slices.Concat(lateSecond(1000), lateSecond(2000), lateSecond(3000))
	extra := func(device, start int) []madeCollective {
		return []madeCollective{{device, start, start + 50, "all-reduce"}}
	}
	for name, c := range map[string]struct {
		work []madeCollective
		note string
	}{
		"as many":               {three, ""},
		"one first on GPU 1":    {slices.Concat(extra(1, 20), three), "GPU 0 (pid 100) has 3 of all-reduce, GPU 1 (pid 101) has 4"},
		"two first on GPU 1":    {slices.Concat(extra(1, 20), extra(1, 120), three), "GPU 0 (pid 100) has 3 of all-reduce, GPU 1 (pid 101) has 5"},
		"one first on GPU 0":    {slices.Concat(extra(0, 20), three), "GPU 1 (pid 101) has 3 of all-reduce, GPU 0 (pid 100) has 4"},
		"one last on GPU 1":     {slices.Concat(three, extra(1, 4000)), "GPU 0 (pid 100) has 3 of all-reduce, GPU 1 (pid 101) has 4"},
		"first and last, close": {slices.Concat(extra(1, 1030), three, extra(1, 3200)), "GPU 0 (pid 100) has 3 of all-reduce, GPU 1 (pid 101) has 5"},
	} {
		fillCollectives(t, w, c.work)
		f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "made"})
		var got []string
		for _, r := range f.Rows {
			got = append(got, fmt.Sprint(r[f.Index("start_ns")], " ", r[f.Index("skew_ns")], " ", r[f.Index("last")], " ", r[f.Index("waited_ns")], " ", r[f.Index("transfer_ns")], " ", r[f.Index("reason")]))
		}
		if want := []string{"1000 90 GPU 1 (pid 101) 90 100 <nil>", "2000 90 GPU 1 (pid 101) 90 100 <nil>", "3000 90 GPU 1 (pid 101) 90 100 <nil>"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		notes := strings.Join(f.Notes, "\n")
		if c.note == "" && strings.Contains(notes, "different numbers") || !strings.Contains(notes, c.note) || strings.Contains(notes, "never met") {
			t.Errorf("%s: the notes are %q", name, f.Notes)
		}
		if s := testkit.Query(t, w, "stragglers", queries.Args{"run": "made"}); fmt.Sprint(shownCells(s, "range", "slowest", "waited_ns", "blamed_ns", "share_ratio", "calls", "last_count")) != "[decode|GPU 1 (pid 101)|270|270|1|3|3]" {
			t.Errorf("%s: %v", name, s.Rows)
		}
	}
}

// TestThreeUnevenRanks: each rank is held to the one with most collectives.
func TestThreeUnevenRanks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	var work []madeCollective
	for i := range 5 {
		at := 1000 * (i + 1)
		work = append(work, madeCollective{0, at + 30, at + 100, "all-reduce"})
		if i > 0 {
			work = append(work, madeCollective{1, at, at + 100, "all-reduce"})
		}
		if i > 1 {
			work = append(work, madeCollective{2, at + 10, at + 100, "all-reduce"})
		}
	}
	fillCollectives(t, w, work)
	f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "made"})
	if got, want := shownCells(f, "start_ns", "skew_ns", "last", "rank_count"), []string{"2000|30|GPU 0 (pid 100)|2", "3000|30|GPU 0 (pid 100)|3", "4000|30|GPU 0 (pid 100)|3", "5000|30|GPU 0 (pid 100)|3"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestApartRanks: of what did not run at the same time it is not known who was late, unless it may run so.
func TestApartRanks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillCollectives(t, w, append(lateSecond(1000), madeCollective{0, 2000, 2100, "all-reduce"}, madeCollective{1, 2500, 2600, "all-reduce"},
		madeCollective{0, 3000, 3010, "broadcast"}, madeCollective{1, 3500, 3520, "broadcast"}))
	f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "made"})
	want := []string{
		"broadcast|3000|500|GPU 1 (pid 101)|10|20|false|<nil>",
		"all-reduce|1000|90|GPU 1 (pid 101)|90|100|true|<nil>",
		"all-reduce|2000|<nil>|<nil>|<nil>|<nil>|false|apart",
	}
	if got := shownCells(f, "operation", "start_ns", "skew_ns", "last", "waited_ns", "transfer_ns", "is_joint", "reason"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !strings.Contains(strings.Join(f.Notes, "\n"), "in 1 of 3 matched collectives the ranks never overlapped") {
		t.Errorf("the notes are %q", f.Notes)
	}
	if s := testkit.Query(t, w, "stragglers", queries.Args{"run": "made"}); fmt.Sprint(shownCells(s, "waited_ns", "calls", "skew_max_ns", "total_ns")) != "[100|2|500|320]" {
		t.Errorf("%v", s.Rows)
	}
	// A broadcast more on one GPU: which are one is not known any more.
	testkit.Exec(t, w, "INSERT INTO kernel SELECT * REPLACE (start_ns + 700 AS start_ns) FROM kernel WHERE start_ns = 3500")
	testkit.DeriveOnly(t, w, rankFacts...)
	f = testkit.Query(t, w, "rank-skew", queries.Args{"run": "made"})
	if got := shownCells(f, "operation", "skew_ns", "last", "reason"); !slices.Contains(got, "broadcast|<nil>|<nil>|apart-uneven") {
		t.Errorf("%q", got)
	}
}

// TestRootBytes: of a gather only the root has all bytes, and captures do not say which rank that is.
func TestRootBytes(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillCollectives(t, w, []madeCollective{{0, 1000, 1100, "gather"}, {1, 1000, 1100, "gather"}})
	testkit.Exec(t, w, "INSERT INTO collective_call (run_id, source_id, operation, in_bytes, out_bytes, group_size, device_id, stream_id, kernel_start_ns) SELECT run_id, 1, 'gather', 64, NULL, 2, device_id, stream_id, start_ns FROM kernel")
	testkit.DeriveOnly(t, w, rankFacts...)
	f := testkit.Query(t, w, "collectives", queries.Args{"run": "made"})
	for _, r := range f.Rows {
		if r[f.Index("total_bytes")] != nil || r[f.Index("bus_bytes_per_s")] != nil || r[f.Index("reason")] != "no-bytes-or-root" {
			t.Errorf("%v", r)
		}
	}
	if len(f.Rows) != 2 {
		t.Errorf("%d rows", len(f.Rows))
	}
}

// TestUnevenSources: ranks of sources with clocks of their own, of which one capture lacks the first all-gather.
func TestUnevenSources(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "ranks")...)
	const ask = `SELECT member, is_joint, range_context_id FROM rank_wait WHERE operation = 'all-gather' AND is_last ORDER BY start_ns`
	whole := rows(t, w, ask)
	testkit.Exec(t, w, `DELETE FROM kernel WHERE source_id = 2 AND start_ns = (SELECT min(kernel_start_ns) FROM collective_call WHERE source_id = 2 AND operation = 'all-gather')`)
	testkit.DeriveOnly(t, w, rankFacts...)
	if got := rows(t, w, ask); len(whole) != 4 || !slices.Equal(got, whole[1:]) {
		t.Errorf("matched are %q, of %q", got, whole)
	}
	f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "ranks", "top": "0"})
	if len(f.Rows) != 39 || slices.ContainsFunc(column(f, "skew_ns"), func(v any) bool { return v == nil }) || !strings.Contains(strings.Join(f.Notes, "\n"), "rank 1 has 3 of all-gather, rank 0 has 4") {
		t.Errorf("%d rows, %q", len(f.Rows), f.Notes)
	}
}
