package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// TestAccounting holds, on every capture, that the parts of accounting add up to the span of each stage on each GPU, and that they are those of
// its passes.
func TestAccounting(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	p := newPlans(t, w)
	for _, run := range timelines {
		id := testkit.RunID(run)
		f := p.ask("FROM {accounting}(?::UUID)", id)
		if len(f.Rows) == 0 && run != "torch-cpu" {
			t.Errorf("%s: no rows", run)
		}
		sums, spans, shares := map[string]int64{}, map[string]int64{}, map[string]float64{}
		for _, r := range f.Rows {
			key := fmt.Sprint(r[f.Index("stage")], " ", r[f.Index("device")])
			if number(f, r, "total_ns") <= 0 || number(f, r, "min_ns") < 0 {
				t.Errorf("%s: %v", run, r)
			}
			sums[key] += number(f, r, "total_ns")
			spans[key] = number(f, r, "span_total_ns")
			shares[key] += r[f.Index("share_ratio")].(float64)
		}
		for key, span := range spans {
			if sums[key] != span || shares[key] < 0.999999 || shares[key] > 1.000001 {
				t.Errorf("%s %s: the parts are %d ns (%v) of %d", run, key, sums[key], shares[key], span)
			}
		}
		checkPassAccounting(p, run, id, spans)
		checkIdle(p, run, id, f)
	}
}

// checkPassAccounting holds the passes to the spans of their stages, and to the times of ranges.
func checkPassAccounting(p plans, run, id string, spans map[string]int64) {
	p.Helper()
	f := p.ask("FROM {pass-accounting}(?::UUID)", id)
	found := map[string]int64{}
	for _, r := range f.Rows {
		n := func(column string) int64 { return number(f, r, column) }
		if n("busy_ns")+n("other_ns")+n("idle_ns") != n("span_ns") || n("launch_ns")+n("launch_delay_ns")+n("launch_latency_ns") != n("launch_bound_ns") ||
			n("compute_ns")+n("collective_overlapped_ns")+n("collective_exposed_ns")+n("graph_ns")+n("copy_ns") != n("busy_ns") {
			p.Errorf("%s: the parts do not add up: %v", run, r)
		}
		if !r[f.Index("is_warmup")].(bool) {
			found[fmt.Sprint(r[f.Index("stage")], " ", r[f.Index("device")])] += n("span_ns")
		}
	}
	for key, span := range spans {
		if !strings.HasPrefix(key, "(run)") && found[key] != span {
			p.Errorf("%s: the spans of %s are %d ns together, those of its passes %d", run, key, span, found[key])
		}
	}
	if bad := p.ask(`SELECT p.stage, p.pass, p.device, p.busy_ns, d.busy_ns, p.span_ns FROM {pass-accounting}(?::UUID) p LEFT JOIN range_device d ON d.run_id = ?::UUID AND d.range_id = p.range_id AND d.device_id = p.device
		WHERE p.busy_ns IS DISTINCT FROM d.busy_ns OR p.span_ns IS DISTINCT FROM d.last_end_ns - d.first_start_ns`, id, id); len(bad.Rows) > 0 {
		p.Errorf("%s: passes contradict range_device: %q", run, asText(bad))
	}
	if bad := p.ask(`SELECT a.range_id, a.pass, p.pass FROM {pass-accounting}(?::UUID) a LEFT JOIN {passes}(?::UUID) p ON p.range_id = a.range_id AND p.stage = a.stage AND p.pass = a.pass AND p.is_warmup = a.is_warmup
		WHERE p.range_id IS NULL`, id, id); len(bad.Rows) > 0 {
		p.Errorf("%s: passes are numbered otherwise than in passes: %q", run, asText(bad))
	}
}

// checkIdle holds that the gaps of each GPU are its idle time, and that the longest ones have a cause that is their largest part.
func checkIdle(p plans, run, id string, all *frame.Frame) {
	p.Helper()
	idle := map[int64]int64{}
	for _, r := range all.Rows {
		kind := r[all.Index("kind")].(string)
		if device := whole(r[all.Index("device")]); r[0] == "(run)" && kind != "busy" && kind != "other" {
			idle[device] += number(all, r, "total_ns")
		} else {
			idle[device] += 0
		}
	}
	for device, want := range idle {
		gaps, longest := p.ask("FROM {gaps}(?::UUID, top := 0, device := ?, warmup := true)", id, device), p.ask("FROM {longest-gaps}(?::UUID, top := 0, device := ?, warmup := true)", id, device)
		if got := total(gaps, "total_ns"); got != want {
			p.Errorf("%s: the gaps of GPU %d are %d ns, its idle time %d", run, device, got, want)
		}
		for _, f := range []*frame.Frame{gaps, longest} {
			for _, r := range f.Rows {
				var sum, most int64
				for _, part := range idleParts {
					ns := number(f, r, partColumn(part))
					sum, most = sum+ns, max(most, ns)
				}
				if cause := r[f.Index("cause")].(string); number(f, r, partColumn(cause)) != most || sum != r[1] { // the second column is their sum
					p.Errorf("%s: %v", run, r)
				}
			}
		}
		if n := total(gaps, "gap_count"); n < 10_000 && (int64(len(longest.Rows)) != n || total(longest, "duration_ns") != want) {
			p.Errorf("%s: GPU %d has %d gaps; longest-gaps gives %d", run, device, n, len(longest.Rows))
		}
	}
}

// partColumn is the column of a part of idle time.
func partColumn(part string) string { return strings.ReplaceAll(part, "-", "_") + "_ns" }

// idleParts are the parts of idle time.
var idleParts = []string{"launch", "launch-delay", "launch-latency", "wait", "call", "host", "profiler", "queued", "unknown"}

// accountFacts are where the time went, and what is said of it.
var accountFacts = []string{"stage_pass", "stage_share", "stage_overhead", "caveat", "caveat_overhead", "caveat_pass", "caveat_work", "device_part"}

// accounted changes a drawn run, and its facts follow.
func accounted(t *testing.T, w *schema.Warehouse, stmts ...string) {
	t.Helper()
	testkit.Exec(t, w, strings.Join(stmts, ";\n"))
	testkit.DeriveOnly(t, w, accountFacts...)
}

// account makes up where the time of a drawn run's GPUs went: the time in which a range's work did not run was late.
func account(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	accounted(t, w, `DELETE FROM device_time; DELETE FROM idle_part; INSERT INTO device_time
		SELECT n.run_id, n.source_id, d.device_id, n.range_id, d.first_start_ns, d.last_end_ns, d.busy_ns, 0, 0, 0, 1
		FROM nvtx_range n JOIN range_device d USING (run_id, range_id);
		INSERT INTO device_time SELECT run_id, source_id, device_id, NULL, min(start_ns), max(end_ns), sum(kernel_ns), 0, 0, 0, 1
		FROM device_time GROUP BY ALL;
		INSERT INTO idle_part SELECT run_id, source_id, device_id, range_id, 'launch-delay', end_ns - start_ns - kernel_ns FROM device_time WHERE end_ns - start_ns > kernel_ns`)
}

// TestAccountingOf holds what accounting counts, on runs drawn by hand: no warm-up, no part of another stage or GPU, but several processes and sources; and that a run
// stored without it says so.
func TestAccountingOf(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "WPDDp", "P")
	account(t, w)
	check := func(args queries.Args, want ...string) {
		t.Helper()
		args["run"] = "drawn"
		f := testkit.Query(t, w, "accounting", args)
		var got []string
		for _, r := range f.Rows {
			got = append(got, strings.Trim(fmt.Sprint(r[:len(r)-5]), "[]"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	run0 := []string{"(run) 0 compute busy 200 0.5714285714285714 200 1 350", "(run) 0 launch-delay launch-bound 150 0.42857142857142855 150 1 350"}
	run1 := []string{"(run) 1 compute busy 40 0.8 40 1 50", "(run) 1 launch-delay launch-bound 10 0.2 10 1 50"}
	prefill0 := []string{"prefill 0 compute busy 80 0.8 40 2 100", "prefill 0 launch-delay launch-bound 20 0.2 10 2 100"}
	prefill1 := []string{"prefill 1 compute busy 40 0.8 40 1 50", "prefill 1 launch-delay launch-bound 10 0.2 10 1 50"}
	decode := []string{"decode 0 compute busy 80 0.8 40 2 100", "decode 0 launch-delay launch-bound 20 0.2 10 2 100"}
	check(queries.Args{}, slices.Concat(run0, run1, prefill0, prefill1, decode)...)
	check(queries.Args{"stage": "(run)"}, slices.Concat(run0, run1)...)
	check(queries.Args{"stage": "prefill", "device": "1"}, prefill1...)
	check(queries.Args{"device": "0"}, slices.Concat(run0, prefill0, decode)...)
	check(queries.Args{"source": "nsys", "stage": "decode"}, decode...)
	check(queries.Args{"source": "torch"})
	passes := testkit.Query(t, w, "pass-accounting", queries.Args{"run": "drawn"})
	if len(passes.Rows) != 6 {
		t.Errorf("%d passes, want 6 with the warm-up", len(passes.Rows))
	}
	accounted(t, w, sourceRow(2, "nsys"), "INSERT INTO device_time SELECT * REPLACE (2 AS source_id, end_ns + 50 AS end_ns) FROM device_time WHERE range_id IS NULL AND device_id = 1",
		"INSERT INTO idle_part SELECT * REPLACE (2 AS source_id) FROM idle_part WHERE range_id IS NULL AND device_id = 1", "INSERT INTO idle_part SELECT run_id, 2, 1, NULL, 'host', 50 FROM run")
	check(queries.Args{"device": "1", "stage": "(run)"}, "(run) 1 compute busy 80 0.5333333333333333 40 2 150", "(run) 1 launch-delay launch-bound 20 0.13333333333333333 10 2 150", "(run) 1 host host 50 0.3333333333333333 25 2 150")
	accounted(t, w, "DELETE FROM device_time; INSERT INTO kernel (run_id, source_id, device_id, stream_id, start_ns, duration_ns, kernel_name_id) SELECT run_id, 1, 0, 7, 10, 50, 1 FROM run")
	for _, name := range []string{"accounting", "pass-accounting", "gaps", "longest-gaps"} {
		f := testkit.Query(t, w, name, queries.Args{"run": "drawn"})
		const want = "file-1 was ingested by prof test, which did not account for GPU time: ingest it again with --replace"
		if len(f.Rows) > 0 || !slices.Contains(f.Notes, want) {
			t.Errorf("%s of a run stored without: %v, %q", name, f.Rows, f.Notes)
		}
	}
}

// TestAccountingNotes holds what is said of a run stored without accounting whose only work are graph replays.
func TestAccountingNotes(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "D")
	account(t, w)
	accounted(t, w, sourceRow(2, "nsys"))
	said := func(name string) string {
		return strings.Join(testkit.Query(t, w, name, queries.Args{"run": "drawn"}).Notes, "\n")
	}
	accounted(t, w, "DELETE FROM device_time; DELETE FROM kernel; DELETE FROM memop")
	if notes := said("accounting"); strings.Contains(notes, "did not account") {
		t.Errorf("nothing is to account for: %s", notes)
	}
	accounted(t, w, "INSERT INTO graph_launch (run_id, source_id, device_id, mode, start_ns, duration_ns, busy_ns, kernel_count, memop_count) SELECT run_id, 2, 0, 'graph', 10, 20, 20, 0, 0 FROM run")
	if notes := said("accounting"); !strings.Contains(notes, "file-2 was ingested by prof test, which did not account for GPU time") || strings.Contains(notes, "file-1 was") {
		t.Errorf("of graph replays: %s", notes)
	}
}

// TestLeadingColumns holds what stands first: a narrow table loses columns from the right, but never the first text nor what is before it.
func TestLeadingColumns(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"accounting":   "stage device part kind total_ns share_ratio",
		"gaps":         "rank total_ns cause before after stage",
		"longest-gaps": "rank duration_ns start_ns cause",
		"slow-steps":   "rank nth time_ns excess_ns cause cause_ns",
		"stragglers":   "range pass slowest waited_ns blamed_ns share_ratio",
	}
	for _, q := range allQueries(t) {
		first, ok := want[q.Name]
		if !ok {
			continue
		}
		var names []string
		for _, c := range q.Columns {
			names = append(names, c[0])
		}
		if !strings.HasPrefix(strings.Join(names, " "), first+" ") {
			t.Errorf("%s begins with %v, not %s", q.Name, names[:6], first)
		}
		delete(want, q.Name)
	}
	if len(want) > 0 {
		t.Errorf("no such queries: %v", want)
	}
}
