package queries_test

import (
	"fmt"
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// timelineRuns are captures of every kind that device work comes in: several GPUs and processes, graphs by node and as a whole, copies.
var timelineRuns = []string{"kernels", "nccl2", "variants-graph", "variants-node"}

// worked is one piece of device work.
type worked struct{ start, end int64 }

// laneWork returns the work of each lane of each GPU in the order of its start, read without the queries under test.
func laneWork(t *testing.T, w *schema.Warehouse, run string) map[string][]worked {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT * FROM (
		SELECT k.device_id, CASE WHEN c.role = 'collective' THEN 'collective' ELSE 'kernel' END AS lane, k.start_ns, k.start_ns + k.duration_ns AS end_ns
		FROM kernel k JOIN run r ON r.run_id = k.run_id LEFT JOIN kernel_class c ON c.run_id = k.run_id AND c.kernel_name_id = k.kernel_name_id WHERE r.name = '%[1]s'
		UNION ALL SELECT m.device_id, 'copy', m.start_ns, m.start_ns + m.duration_ns FROM memop m JOIN run r ON r.run_id = m.run_id WHERE r.name = '%[1]s'
		UNION ALL SELECT g.device_id, 'graph', g.start_ns, g.start_ns + g.duration_ns FROM graph_launch g JOIN run r ON r.run_id = g.run_id WHERE r.name = '%[1]s' AND g.mode = 'graph') ORDER BY start_ns`, run))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]worked{}
	for _, r := range f.Rows {
		key := fmt.Sprint(r[0], r[1])
		out[key] = append(out[key], worked{r[2].(int64), r[3].(int64)})
	}
	return out
}

// covered is the length of the union of spans in the order of their start.
func covered(spans []worked) int64 {
	var sum, until int64
	for i, s := range spans {
		if i == 0 {
			until = s.start
		}
		if s.end > until {
			sum += s.end - max(s.start, until)
			until = s.end
		}
	}
	return sum
}

// TestTimelineBlocks holds that blocks lose no work and no busy time, and that none hides a pause as long as a part.
func TestTimelineBlocks(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range timelineRuns {
		work := laneWork(t, w, run)
		var first, last int64
		for _, spans := range work {
			for _, s := range spans {
				if first == 0 || s.start < first {
					first = s.start
				}
				last = max(last, s.end)
			}
		}
		for _, parts := range []int64{1, 7, 4000, 1 << 40} {
			f := testkit.Query(t, w, "timeline-blocks", queries.Args{"run": run, "blocks": fmt.Sprint(parts)})
			byLane := map[string][][]any{}
			for _, r := range f.Rows {
				key := fmt.Sprint(r[f.Index("device")], r[f.Index("lane")])
				byLane[key] = append(byLane[key], r)
			}
			if len(byLane) != len(work) {
				t.Errorf("%s in %d parts: lanes %d of %d", run, parts, len(byLane), len(work))
			}
			part := (last-first)/parts + 1
			for key, spans := range work {
				checkLane(t, fmt.Sprintf("%s in %d parts: %s", run, parts, key), f, byLane[key], spans, part)
			}
		}
	}
}

func checkLane(t *testing.T, what string, f *frame.Frame, blocks [][]any, spans []worked, part int64) {
	t.Helper()
	var busy, works, until int64
	var pauses []worked // between work of the lane, as long as a part
	for i, s := range spans {
		if i > 0 && s.start-until >= part {
			pauses = append(pauses, worked{until, s.start})
		}
		until = max(until, s.end)
	}
	at := func(r []any, column string) int64 { return r[f.Index(column)].(int64) }
	for _, b := range blocks {
		busy, works = busy+at(b, "busy_ns"), works+at(b, "work_count")
		for _, p := range pauses {
			if at(b, "start_ns") < p.end && at(b, "end_ns") > p.start {
				t.Errorf("%s: the block at %d hides a pause of %d ns; a part is %d ns", what, at(b, "start_ns"), p.end-p.start, part)
			}
		}
		if b[f.Index("longest")] == nil || at(b, "longest_ns") > at(b, "end_ns")-at(b, "start_ns") {
			t.Errorf("%s: %v", what, b)
		}
	}
	if works != int64(len(spans)) || busy != covered(spans) {
		t.Errorf("%s: %d works of %d, busy %d ns of %d", what, works, len(spans), busy, covered(spans))
	}
}

// TestTimelinePasses holds that merged passes add up to those of pass-accounting, and that long ones stand alone.
func TestTimelinePasses(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range timelineRuns {
		whole := testkit.Query(t, w, "pass-accounting", queries.Args{"run": run})
		for _, parts := range []string{"1", "50", "4000"} {
			f := testkit.Query(t, w, "timeline-passes", queries.Args{"run": run, "blocks": parts})
			if total(f, "passes") != int64(len(whole.Rows)) || total(f, "span_ns") != total(whole, "span_ns") || total(f, "busy_ns") != total(whole, "busy_ns") || total(f, "launch_bound_ns") != total(whole, "launch_bound_ns") {
				t.Errorf("%s in %s parts: %d of %d passes, spans %d of %d", run, parts, total(f, "passes"), len(whole.Rows), total(f, "span_ns"), total(whole, "span_ns"))
			}
		}
		alone := testkit.Query(t, w, "timeline-passes", queries.Args{"run": run, "blocks": "1000000000"})
		if len(alone.Rows) != len(whole.Rows) {
			t.Errorf("%s: %d lines of %d passes that are all long", run, len(alone.Rows), len(whole.Rows))
		}
	}
}

// TestReportTimeline holds that a timeline is of the queries and the detail that it says.
func TestReportTimeline(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	r, err := queries.NewReport(t.Context(), queries.NewAsker(w), schema.Run{ID: "nccl2", Name: "nccl2"}, queries.ReportOptions{Page: true})
	if err != nil {
		t.Fatal(err)
	}
	tl := r.Timeline
	if tl.Parts != 4000 || tl.Blocks.SQL != "FROM timeline_blocks_v1('"+runID(t, w, "nccl2")+"', blocks := 4000)" || len(tl.Gaps.Rows) != 200 || len(tl.Passes.Rows) == 0 {
		t.Errorf("%d parts, %s, %d gaps, %d passes", tl.Parts, tl.Blocks.SQL, len(tl.Gaps.Rows), len(tl.Passes.Rows))
	}
	if devices := column(tl.Blocks, "device"); !slices.Contains(devices, any(int64(0))) || !slices.Contains(devices, any(int64(1))) {
		t.Error("a GPU is missing")
	}
}
