package queries_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/queries"
	"prof/schema"
)

// rawWork is device work as captured.
type rawWork struct {
	pid, device, start, end, tid, launch int64
	isKernel                             bool
}

// rawStep is a step's range as captured, with what belongs to it by time on one GPU.
type rawStep struct {
	id, pid, tid, start, end int64
	first, bound             int64 // start of its first own work; of the last that its process launched while it was open
	until                    int64
	kernels, memops, ns      int64
	last                     int64
}

// rawSteps finds by themselves which work steps have by time: from the first work of a step's own thread to that of the next step, at most
// to the last that the process launched while the range was open.
func rawSteps(t *testing.T, w *schema.Warehouse, pattern string) (steps []*rawStep, work []rawWork) {
	t.Helper()
	for _, k := range rowsOf(t, w, `SELECT pid, device_id, start_ns, start_ns + duration_ns, coalesce(tid, -1), coalesce(launch_start_ns, -1), true FROM kernel
		UNION ALL SELECT pid, device_id, start_ns, start_ns + duration_ns, coalesce(tid, -1), coalesce(launch_start_ns, -1), false FROM memop ORDER BY 3`) {
		work = append(work, rawWork{k[0].(int64), k[1].(int64), k[2].(int64), k[3].(int64), k[4].(int64), k[5].(int64), k[6].(bool)})
	}
	for _, r := range rowsOf(t, w, "SELECT range_id, pid, tid, start_ns, start_ns + duration_ns FROM nvtx_range WHERE regexp_matches(name, '%s')", pattern) {
		s := &rawStep{id: r[0].(int64), pid: r[1].(int64), tid: r[2].(int64), start: r[3].(int64), end: r[4].(int64), first: math.MaxInt64, bound: -1}
		for _, k := range work {
			if k.pid == s.pid && s.start <= k.launch && k.launch < s.end {
				s.bound = max(s.bound, k.start)
				if k.tid == s.tid {
					s.first = min(s.first, k.start)
				}
			}
		}
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b *rawStep) int { return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.first, b.first)) })
	for i, s := range steps {
		s.until = s.bound + 1
		if i+1 < len(steps) && steps[i+1].pid == s.pid {
			s.until = min(s.until, steps[i+1].first)
		}
		for _, k := range work {
			if k.pid == s.pid && s.first <= k.start && k.start < s.until {
				s.last = max(s.last, k.end)
				if k.isKernel {
					s.kernels, s.ns = s.kernels+1, s.ns+k.end-k.start
				} else {
					s.memops++
				}
			}
		}
	}
	return steps, work
}

// TestStepsByTime holds steps to the work that ran in their time, counted from the raw rows: backward work and collectives that other
// threads launch are a training step's too, and no kernel is in two steps.
func TestStepsByTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, pattern string
		byDefault           string
		least               float64 // share of all kernels that are in steps by time
		launched            float64 // and by launch, at most
	}{
		{"train", "torch/train.trace.json.gz", "^ProfilerStep#", "time", 1, 0.41},
		{"emit-nvtx", "nsys/emit-nvtx/emit-nvtx.sqlite.gz", `^step\[`, "time", 0.9, 0.51},
		{"nccl2", "nsys/nccl2/nccl2.sqlite.gz", `^step\[`, "launch", 0.97, 0.98},
		{"hta-ns", "../../shared/captures/others/hta_ns_resolution_rank0.trace.json.gz", "^ProfilerStep#", "time", 1, 0.37},
		{"hta-nccl", "../../shared/captures/others/hta_nccl.trace.json.gz", "^ProfilerStep#", "time", 1, 0.35},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := oneRun(t, c.path)
			steps, work := rawSteps(t, w, c.pattern)
			kernels := 0.0
			for _, k := range work {
				if k.isKernel {
					kernels++
				}
			}
			share := func(by string) float64 {
				f := queryOf(t, w, "steps", queries.Args{"top": "0", "by": by})
				return float64(total(f, "kernel_count")) / kernels
			}
			if got := share("time"); got < c.least || got > 1 {
				t.Errorf("by time %.3f of all kernels are in steps, want %.2f to 1", got, c.least)
			}
			if got := share("launch"); got > c.launched || got == 0 {
				t.Errorf("by launch %.3f of all kernels are in steps, want %.2f at most", got, c.launched)
			}
			f := queryOf(t, w, "steps", queries.Args{"top": "0", "by": "time"})
			if len(f.Rows) != len(steps) {
				t.Fatalf("%d steps, want %d", len(f.Rows), len(steps))
			}
			for _, r := range f.Rows {
				s := steps[slices.IndexFunc(steps, func(s *rawStep) bool { return s.id == number(f, r, "range_id") })]
				if number(f, r, "kernel_count") != s.kernels || number(f, r, "memop_count") != s.memops || number(f, r, "start_ns") != s.first || number(f, r, "gpu_span_ns") != s.last-s.first {
					t.Errorf("%v: counted from the raw rows %+v", r, *s)
				}
			}
			testStepParts(t, f)
			way := fmt.Sprint(queryOf(t, w, "steps", queries.Args{"top": "0", "by": c.byDefault}).Rows)
			if got := fmt.Sprint(queryOf(t, w, "steps", queries.Args{"top": "0"}).Rows); got != way {
				t.Errorf("the default is not by %s", c.byDefault)
			}
			// What a slow step's kernels grew by is told of the same work.
			for _, by := range []string{"time", "launch"} {
				times, slow := queryOf(t, w, "step-times", queries.Args{"by": by}), queryOf(t, w, "slow-steps", queries.Args{"by": by, "top": "0"})
				if len(times.Rows) == 0 || len(slow.Rows) > len(steps) {
					t.Errorf("by %s: %d kinds, %d slow steps", by, len(times.Rows), len(slow.Rows))
				}
			}
			q, err := queries.Find("steps")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := queries.Run(t.Context(), w, q, queries.Args{"run": "r", "by": "luck"}); err == nil || !strings.Contains(err.Error(), "--by is launch or time") {
				t.Errorf("by luck: %v", err)
			}
		})
	}
}

// TestStepWork holds that the work of steps and of what is outside them adds up to all work, and that a step has the kernels that steps counts:
// no kernel is in two.
func TestStepWork(t *testing.T) {
	t.Parallel()
	for _, path := range sample.Of([]string{"torch/train.trace.json.gz", "nsys/emit-nvtx/emit-nvtx.sqlite.gz", "nsys/nccl2/nccl2.sqlite.gz", "windows/before.sqlite.gz"}, 3) {
		w := oneRun(t, path)
		none(t, w, "r", "work is lost or added", `SELECT a.*, b.* FROM (
				SELECT device_id, kind, sum(n) AS n, sum(ns) AS ns FROM (SELECT device_id, 'kernel' AS kind, 1 AS n, duration_ns AS ns FROM kernel UNION ALL SELECT device_id, 'copy', 1, duration_ns FROM memop UNION ALL SELECT device_id, 'graph', 1, duration_ns FROM graph_launch WHERE mode = 'graph') GROUP BY ALL) a
			FULL JOIN (SELECT device AS device_id, kind, sum(launch_count) AS n, sum(sum_ns) AS ns FROM step_work(%[1]s) GROUP BY ALL) b USING (device_id, kind) WHERE (a.n, a.ns) IS DISTINCT FROM (b.n, b.ns)`)
		none(t, w, "r", "steps have other kernels", `SELECT s.*, w.* FROM (SELECT source_id, pid, device, nth, kernel_count AS n FROM steps(%[1]s, top := 0, "by" := 'time') WHERE kernel_count > 0) s
			FULL JOIN (SELECT source_id, pid, device, nth, sum(launch_count) AS n FROM step_work(%[1]s) WHERE nth IS NOT NULL AND kind = 'kernel' GROUP BY ALL) w USING (source_id, pid, device, nth) WHERE s.n IS DISTINCT FROM w.n`)
		// By time all that one process does on a GPU in a step is its own: what is not busy is idle of a cause, whatever parts of idle time there are.
		none(t, w, "r", "time of nobody", `SELECT s.* FROM step s WHERE s.run_id = _run_id(%[1]s) AND s.attribution = 'time' AND s.launch_bound_ns IS NOT NULL AND s.other_ns <> 0
			AND s.device_id IN (SELECT device_id FROM kernel GROUP BY device_id HAVING count(DISTINCT pid) = 1)`)
		none(t, w, "r", "deviations", `SELECT x.* FROM step_work(%[1]s) x WHERE launch_count = 1 AND deviation_ns2 <> 0 OR deviation_ns2 < 0 OR min_ns * launch_count > sum_ns OR max_ns * launch_count < sum_ns`)
		if len(rows(t, w, "SELECT 1 FROM step_work('r') WHERE nth IS NOT NULL LIMIT 1")) == 0 {
			t.Errorf("%s: no step has work", path)
		}
	}
}
