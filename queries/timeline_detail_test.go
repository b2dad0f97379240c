package queries_test

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// piece is one piece of device work as the tables have it.
type piece struct {
	source, device, start, duration int64
	lane, name                      string
}

// pieces returns all device work of the counted timeline of a run, read without the queries under test, in the order of its start.
func pieces(t *testing.T, w *schema.Warehouse, run, kind string) []piece {
	t.Helper()
	var out []piece
	for _, r := range rowsOf(t, w, `WITH c AS (SELECT r.run_id, s.source_id FROM run r JOIN source s USING (run_id) WHERE r.name = '%s' AND s.kind = '%s')
		SELECT source_id, device_id, start_ns, duration_ns, CASE WHEN role = 'collective' THEN 'collective' ELSE 'kernel' END, name
		FROM kernel JOIN c USING (run_id, source_id) LEFT JOIN kernel_name USING (run_id, kernel_name_id) LEFT JOIN kernel_class USING (run_id, kernel_name_id)
		UNION ALL SELECT source_id, device_id, start_ns, duration_ns, 'copy', operation FROM memop JOIN c USING (run_id, source_id)
		UNION ALL SELECT source_id, device_id, start_ns, duration_ns, 'graph', 'graph replay' FROM graph_launch JOIN c USING (run_id, source_id) WHERE mode = 'graph' ORDER BY ALL`, run, kind) {
		out = append(out, piece{r[0].(int64), r[1].(int64), r[2].(int64), r[3].(int64), r[4].(string), r[5].(string)})
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
	return out
}

// shown returns what timeline-kernels shows in each window, in the order of its start.
func shown(t *testing.T, w *schema.Warehouse, args queries.Args) map[int64][]piece {
	t.Helper()
	f := testkit.Query(t, w, "timeline-kernels", args)
	out := map[int64][]piece{}
	for _, r := range f.Rows {
		n := func(c string) int64 { return number(f, r, c) }
		out[n("window")] = append(out[n("window")], piece{n("source_id"), n("device"), n("start_ns"), n("duration_ns"), r[f.Index("lane")].(string), r[f.Index("name")].(string)})
	}
	for _, s := range out {
		slices.SortFunc(s, comparePieces)
	}
	return out
}

func comparePieces(a, b piece) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.device, b.device), cmp.Compare(a.start, b.start), cmp.Compare(a.duration, b.duration), cmp.Compare(a.lane, b.lane), cmp.Compare(a.name, b.name))
}

// TestTimelineWhole holds that every kernel, copy, fill and graph replay is shown once where there is room for all.
func TestTimelineWhole(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range timelineRuns {
		want := pieces(t, w, run, "nsys")
		for _, top := range []int{0, len(want)} {
			var got []piece
			for _, s := range shown(t, w, queries.Args{"run": run, "top": fmt.Sprint(top)}) {
				got = append(got, s...)
			}
			slices.SortFunc(got, comparePieces)
			slices.SortFunc(want, comparePieces)
			if !slices.Equal(got, want) {
				t.Errorf("%s, top %d: %d pieces, want %d", run, top, len(got), len(want))
			}
			f := testkit.Query(t, w, "timeline-windows", queries.Args{"run": run, "top": fmt.Sprint(top)})
			if total(f, "shown_count") != int64(len(want)) || total(f, "work_count") != int64(len(want)) || slices.ContainsFunc(f.Rows, func(r []any) bool { return r[f.Index("stage")] != nil || r[f.Index("is_whole")] != true }) {
				t.Errorf("%s, top %d: windows %v of %d pieces", run, top, f.Rows, len(want))
			}
		}
		sum, kernels := int64(0), testkit.Query(t, w, "conservation", queries.Args{"run": run})
		for _, p := range want {
			if p.lane == "kernel" || p.lane == "collective" {
				sum += p.duration
			}
		}
		if sum != total(kernels, "kernel_sum_ns") {
			t.Errorf("%s: kernels shown take %d ns, all take %d", run, sum, total(kernels, "kernel_sum_ns"))
		}
	}
}

// window is a stretch as it should be shown.
type window struct {
	source, device int64
	stage          any
	pass           any
	start, until   int64 // what begins from start to until is the work of it
}

// wantWindows returns the windows of a run too large to show whole: by the passes that pass-accounting lists.
func wantWindows(t *testing.T, w *schema.Warehouse, run string, all []piece) []window {
	t.Helper()
	f := testkit.Query(t, w, "pass-accounting", queries.Args{"run": run})
	passes := map[string][]window{}
	for _, r := range f.Rows {
		if r[f.Index("is_warmup")] != true {
			p := window{number(f, r, "source_id"), number(f, r, "device"), r[f.Index("stage")], r[f.Index("pass")], number(f, r, "start_ns"), number(f, r, "start_ns") + number(f, r, "span_ns")}
			key := fmt.Sprint(p.source, p.device, p.stage)
			passes[key] = append(passes[key], p)
		}
	}
	together := map[string][]int64{} // spans of a pass on GPUs
	on := func(p window) []int64 { return together[fmt.Sprint(p.source, p.stage, p.pass)] }
	for _, of := range passes {
		for _, p := range of {
			key := fmt.Sprint(p.source, p.stage, p.pass)
			together[key] = append(together[key], p.until-p.start)
		}
	}
	var out []window
	staged := map[[2]int64]bool{}
	for _, of := range passes {
		most := 0
		for _, p := range of {
			most = max(most, len(on(p)))
		}
		of = slices.DeleteFunc(of, func(p window) bool { return len(on(p)) < most })
		slices.SortFunc(of, func(a, b window) int {
			return cmp.Or(cmp.Compare(slices.Max(on(a)), slices.Max(on(b))), cmp.Compare(a.pass.(int64), b.pass.(int64)), cmp.Compare(a.start, b.start))
		})
		middle := of[(len(of)-1)/2]
		middle = of[slices.IndexFunc(of, func(p window) bool { return slices.Max(on(p)) == slices.Max(on(middle)) })]
		out, staged[[2]int64{middle.source, middle.device}] = append(out, middle), true
	}
	for _, p := range all {
		if at := [2]int64{p.source, p.device}; !staged[at] {
			out, staged[at] = append(out, window{p.source, p.device, nil, nil, p.start, math.MaxInt64}), true
		}
	}
	slices.SortFunc(out, func(a, b window) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.device, b.device), -cmp.Compare(fmt.Sprint(a.stage), fmt.Sprint(b.stage))) // prefill before decode
	})
	return out
}

// testWindows holds windows and what is shown in them to what the passes and the tables say, and gives how many of them are of passes.
func testWindows(t *testing.T, w *schema.Warehouse, run string, top int) (ofPasses int) {
	t.Helper()
	all := pieces(t, w, run, "nsys")
	if len(all) <= top {
		t.Fatalf("%s has no more than %d pieces", run, top)
	}
	args := queries.Args{"run": run, "top": fmt.Sprint(top)}
	f, got, windows := testkit.Query(t, w, "timeline-windows", args), shown(t, w, args), wantWindows(t, w, run, all)
	if len(f.Rows) != len(windows) || len(got) != len(windows) {
		t.Fatalf("%s, top %d: windows %v, shown in %d; want %v", run, top, f.Rows, len(got), windows)
	}
	for i, p := range windows {
		var work []piece
		for _, x := range all {
			if x.source == p.source && x.device == p.device && x.start >= p.start && x.start <= p.until {
				work = append(work, x)
			}
		}
		quota, end := min(len(work), max(1, top/len(windows))), int64(0)
		had := got[int64(i+1)]
		for _, x := range had {
			end = max(end, x.start+x.duration)
			if !slices.Contains(work, x) {
				t.Errorf("%s, top %d: %v is shown and is no work of %v", run, top, x, p)
			}
		}
		if len(had) != quota || had[quota-1].start != work[quota-1].start { // of those that begin at once any
			t.Errorf("%s, top %d: %d pieces in window %d, want %d", run, top, len(had), i+1, quota)
		}
		want := []any{int64(i + 1), p.source, p.device, p.stage, p.pass, p.start, end, int64(len(work)), int64(quota), p.stage == nil && quota == len(work)}
		if !reflect.DeepEqual(f.Rows[i], want) {
			t.Errorf("%s, top %d: window %v, want %v", run, top, f.Rows[i], want)
		}
		if p.stage != nil {
			ofPasses++
		}
	}
	return ofPasses
}

// TestTimelineWindows holds which passes are shown of captures that are too large, and how much of them.
func TestTimelineWindows(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	ofPasses := 0
	for _, top := range []int{1, 20} { // 7 follows
		ofPasses += testWindows(t, w, "nccl2", top)
	}
	for _, run := range timelineRuns {
		ofPasses += testWindows(t, w, run, 7)
	}
	ofPasses += testWindows(t, w, "llama-graph-node", 1000)
	if ofPasses < 10 {
		t.Errorf("only %d windows are passes", ofPasses)
	}
}

// fillPasses makes a run with passes on two GPUs and a third without any. A pass is {GPU, start, work in it, 10 ns apart and 5 ns long}.
func fillPasses(t *testing.T, w *schema.Warehouse, source int, kind string, decode [][3]int) {
	t.Helper()
	stmts := []string{"BEGIN"}
	if source == 1 {
		stmts = append(stmts, "INSERT INTO run SELECT '"+timelineRun+"', 'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'",
			"INSERT INTO range_path SELECT run_id, 1, 1, '', 'decode', [1], '' FROM run", "INSERT INTO path_stage SELECT run_id, 1, 'decode', 1, NULL, NULL, false FROM run",
			"INSERT INTO range_path SELECT run_id, 2, 1, '', 'warmup decode', [2], '' FROM run", "INSERT INTO path_stage SELECT run_id, 2, 'decode', 2, NULL, NULL, true FROM run",
			"INSERT INTO kernel_name SELECT run_id, 1, 'gemm', 'gemm', 1 FROM run")
	}
	stmts = append(stmts, sourceRow(source, kind))
	put := func(format string, args ...any) { stmts = append(stmts, fmt.Sprintf(format, args...)) }
	for i, p := range decode {
		id, path := 100*source+i, 1+min(1, max(0, 1-i)) // the first is warm-up
		put("INSERT INTO nvtx_range SELECT run_id, %d, %d, NULL, %d, 1, 1, NULL, 'push_pop', '', 'decode', NULL, %d, %d FROM run", source, id, path, p[1], 10*p[2])
		put("INSERT INTO range_device SELECT run_id, %d, %d, %d, %d, %d, %[5]d, %[5]d, %d, 0, 0 FROM run", id, p[0], p[1], p[1]+10*p[2]-5, 5*p[2], p[2])
		put("INSERT INTO device_time SELECT run_id, %d, %d, %d, %d, %d, %d, 0, 0, 0, 0 FROM run", source, p[0], id, p[1], p[1]+10*p[2]-5, 5*p[2])
		put("INSERT INTO idle_part SELECT run_id, %d, %d, %d, 'unknown', %d FROM run", source, p[0], id, 5*p[2]-5)
		put("INSERT INTO kernel (run_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, kernel_name_id, path_id) SELECT run_id, %d, 1, %d, 7, %d + 10 * i, 5, 1, %d FROM run, range(%d) x(i)", source, p[0], p[1], path, p[2])
	}
	put("INSERT INTO memop (run_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, operation, size_bytes) SELECT run_id, %d, 1, 2, 7, 9000, 3, 'memset', i FROM run, range(6) x(i)", source) // all at once
	put(`INSERT INTO device_time SELECT run_id, source_id, device_id, NULL, min(start_ns), max(start_ns + duration_ns), 0, 0, 0, 0, 0 FROM (
		SELECT run_id, source_id, device_id, start_ns, duration_ns FROM kernel UNION ALL SELECT run_id, source_id, device_id, start_ns, duration_ns FROM memop) WHERE source_id = %d GROUP BY ALL`, source)
	testkit.Exec(t, w, strings.Join(append(stmts, "COMMIT"), ";\n"))
}

// windowFacts are what windows of timelines are chosen by.
var windowFacts = []string{"stage_pass", "stage_share", "device_part", "work_sum"}

// TestTimelineMade holds the choice among passes of several GPUs, of one span, to warm up, and of two timelines; and of work that begins at once.
func TestTimelineMade(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillPasses(t, w, 1, "nsys", [][3]int{{0, 0, 3}, {0, 1000, 9}, {0, 2000, 4}, {0, 3000, 4}, {0, 4000, 4}, {0, 5000, 2}, {1, 1000, 8}, {1, 2000, 2}})
	testkit.DeriveOnly(t, w, windowFacts...)
	for _, top := range []int{1, 6, 9, 12, 30} {
		if n := testWindows(t, w, "made", top); n != 2 {
			t.Errorf("%d windows of passes", n)
		}
	}
	columns := "SELECT device, stage, pass, start_ns, end_ns, work_count, shown_count, is_whole FROM timeline_windows('made', top := %d, source := '%s')"
	ask := func(top int, source string) string { return fmt.Sprint(rows(t, w, fmt.Sprintf(columns, top, source))) }
	nsys := "[[0 decode 4 2000 2035 4 4 false] [1 decode 5 2000 2015 2 2 false] [2 <nil> <nil> 9000 9003 6 6 true]]"
	if got := ask(18, "nsys"); got != nsys {
		t.Errorf("windows %s, want %s", got, nsys)
	}
	fillPasses(t, w, 2, "torch", [][3]int{{0, 0, 3}, {0, 7000, 5}})
	testkit.DeriveOnly(t, w, windowFacts...)
	if got := ask(18, "nsys"); got != nsys || fmt.Sprint(rows(t, w, "SELECT device, stage, pass, start_ns, end_ns, work_count, shown_count, is_whole FROM timeline_windows('made', top := 18)")) != nsys {
		t.Errorf("with a second timeline the windows of the first are %s, want %s", got, nsys)
	}
	if got, want := ask(13, "torch"), "[[0 decode 2 7000 7045 5 5 false] [2 <nil> <nil> 9000 9003 6 6 true]]"; got != want {
		t.Errorf("windows of the second timeline are %s, want %s", got, want)
	}
	if got, want := ask(14, "torch"), "[[0 <nil> <nil> 0 7045 8 8 true] [2 <nil> <nil> 9000 9003 6 6 true]]"; got != want {
		t.Errorf("windows of the whole second timeline are %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(rows(t, w, `SELECT DISTINCT "window", lane, name, stage FROM timeline_kernels('made', top := 18) ORDER BY 1`)), "[[1 kernel gemm decode] [2 kernel gemm decode] [3 copy memset <nil>]]"; got != want {
		t.Errorf("shown are %s, want %s", got, want)
	}
	same := testkit.Copy(t) // two GPUs with the same passes, whose medians are not the same one, and one of its own on the first
	fillPasses(t, same, 1, "nsys", [][3]int{{0, 0, 3}, {0, 1000, 4}, {1, 1000, 6}, {0, 2000, 5}, {1, 2000, 5}, {0, 3000, 6}, {1, 3000, 7}, {0, 4000, 9}})
	testkit.Exec(t, same, "UPDATE range_device SET range_id = range_id - 1 WHERE device_id = 1; UPDATE device_time SET range_id = range_id - 1 WHERE device_id = 1; UPDATE idle_part SET range_id = range_id - 1 WHERE device_id = 1")
	testkit.DeriveOnly(t, same, windowFacts...)
	if got, want := fmt.Sprint(rows(t, same, "SELECT device, pass, start_ns, end_ns FROM timeline_windows('made', top := 45)")), "[[0 2 1000 1035] [1 2 1000 1055] [2 <nil> 9000 9003]]"; got != want {
		t.Errorf("of passes on both GPUs windows are %s, want %s", got, want)
	}
	testkit.Exec(t, w, "DELETE FROM path_stage; UPDATE memop SET path_id = 0")
	testkit.DeriveOnly(t, w, windowFacts...)
	if got, want := ask(9, "nsys"), "[[0 <nil> <nil> 0 25 26 3 false] [1 <nil> <nil> 1000 1025 10 3 false] [2 <nil> <nil> 9000 9003 6 3 false]]"; got != want {
		t.Errorf("windows without stages are %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(rows(t, w, `SELECT DISTINCT stage FROM timeline_kernels('made', top := 18)`)), "[[(none)]]"; got != want {
		t.Errorf("stages are %s, want %s", got, want)
	}
	if _, err := queries.Raw(t.Context(), w, "FROM timeline_windows('made', top := -1)"); err == nil || !strings.Contains(err.Error(), "--top is 0 or more") {
		t.Errorf("a negative top: %v", err)
	}
}

// TestTimelineRanges holds that the longest ranges are shown, at depths at which they do not hide each other.
func TestTimelineRanges(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range timelineRuns {
		var lengths []int64
		all := rowsOf(t, w, "SELECT n.duration_ns FROM nvtx_range n JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY 1 DESC NULLS LAST", run)
		for _, r := range all {
			if ns, ended := r[0].(int64); ended {
				lengths = append(lengths, ns)
			}
		}
		for _, top := range []int{0, 1, 5, len(lengths) + 1} {
			f := testkit.Query(t, w, "timeline-ranges", queries.Args{"run": run, "top": fmt.Sprint(top)})
			var got []int64
			for _, r := range f.Rows {
				got = append(got, number(f, r, "duration_ns"))
				if number(f, r, "range_count") != int64(len(all)) {
					t.Errorf("%s: %v of %d ranges", run, r, len(all))
				}
			}
			want := lengths
			if top > 0 {
				want = lengths[:min(top, len(lengths))]
			}
			slices.SortFunc(got, func(a, b int64) int { return cmp.Compare(b, a) })
			if !slices.Equal(got, want) {
				t.Errorf("%s, top %d: %d ranges, want %d, or others", run, top, len(got), len(want))
			}
			testDepths(t, f)
		}
		for _, bad := range rowsOf(t, w, "SELECT a.range_id FROM timeline_ranges('%[1]s', top := 0) a JOIN nvtx_range n ON n.run_id = _run_id('%[1]s') AND n.range_id = a.range_id LEFT JOIN timeline_ranges('%[1]s', top := 0) b ON b.range_id = n.parent_range_id WHERE n.parent_range_id IS NULL AND a.depth <> 0 OR a.depth <> b.depth + 1", run) {
			t.Errorf("%s: range %v is not one deeper than the one around it", run, bad)
		}
	}
}

// testDepths holds that ranges of one thread and depth follow each other.
func testDepths(t *testing.T, f *frame.Frame) {
	t.Helper()
	until := map[string]int64{}
	for _, r := range f.Rows {
		at := fmt.Sprint(r[f.Index("source_id")], r[f.Index("pid")], r[f.Index("tid")], r[f.Index("depth")])
		if start := number(f, r, "start_ns"); start < until[at] {
			t.Errorf("%v begins before %d", r, until[at])
		} else {
			until[at] = start + number(f, r, "duration_ns")
		}
	}
}

// TestTimelineRangesMade holds ranges that cross, that never ended, and the names of threads.
func TestTimelineRangesMade(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	stmts := []string{"INSERT INTO run SELECT '" + timelineRun + "', 'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'", sourceRow(1, "nsys"), sourceRow(2, "torch"), "INSERT INTO thread SELECT run_id, 1, 1, 10, 'main' FROM run"}
	for d := 1; d <= 3; d++ {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO range_path SELECT run_id, %[1]d, %[1]d, '', 'x', [%[1]d], '' FROM run", d))
	}
	for _, r := range [][]any{ // source, range, parent, path of that depth, thread, style, domain, start, length
		{1, 1, "NULL", 1, 10, "push_pop", "a", 0, 50}, {1, 2, "1", 2, 10, "push_pop", "b", 20, 60}, {1, 3, "2", 2, 10, "push_pop", "a", 60, 90}, // 3 begins when 2 alone is open
		{1, 4, "3", 2, 10, "start_end", "", 100, 300}, {1, 5, "4", 2, 11, "push_pop", "", 120, 10}, {1, 6, "NULL", 1, 12, "push_pop", "", 5, "NULL"}, {2, 7, "NULL", 1, 10, "record_function", "", 0, 9},
	} {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO nvtx_range SELECT run_id, %d, %d, %s, %d, 1, %d, NULL, '%s', '%s', 'r%[2]d', NULL, %[8]d, %[9]v FROM run", r...))
	}
	testkit.Exec(t, w, strings.Join(stmts, ";\n"))
	testkit.DeriveOnly(t, w, "stage_pass", "caveat", "caveat_pass")
	const all = "SELECT tid, thread, depth, start_ns, duration_ns, name, domain, range_count FROM timeline_ranges('made', top := %d)"
	for top, want := range map[int]string{
		0: "[[10 main 0 0 50 r1 a 6] [10 main 1 20 60 r2 b 6] [10 main 2 60 90 r3 a 6] [10 main 3 100 300 r4  6] [11 <nil> 4 120 10 r5  6]]",
		2: "[[10 main 2 60 90 r3 a 6] [10 main 3 100 300 r4  6]]",
	} {
		if got := fmt.Sprint(rows(t, w, fmt.Sprintf(all, top))); got != want {
			t.Errorf("top %d: %s, want %s", top, got, want)
		}
	}
	f := testkit.Query(t, w, "timeline-ranges", queries.Args{"run": "made"})
	testDepths(t, f)
	if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, "CPU time is unknown for 1 range without an end") }) {
		t.Errorf("notes %q", f.Notes)
	}
	if got, want := fmt.Sprint(rows(t, w, "SELECT name, range_count FROM timeline_ranges('made', source := 'torch')")), "[[r7 1]]"; got != want {
		t.Errorf("ranges of the other timeline: %s, want %s", got, want)
	}
}
