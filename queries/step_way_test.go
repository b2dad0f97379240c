package queries_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

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
	for _, r := range rowsOf(t, w, fmt.Sprintf("SELECT range_id, pid, tid, start_ns, start_ns + duration_ns FROM nvtx_range WHERE regexp_matches(name, '%s')", pattern)) {
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
		{"train", torchData + "train.trace.json.gz", "^ProfilerStep#", "time", 1, 0.41},
		{"emit-nvtx", "../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz", `^step\[`, "time", 0.9, 0.51},
		{"nccl2", "../testdata/nsys/nccl2/nccl2.sqlite.gz", `^step\[`, "launch", 0.97, 0.98},
		{"hta-ns", "../../shared/captures/others/" + "hta_ns_resolution_rank0.trace.json.gz", "^ProfilerStep#", "time", 1, 0.37},
		{"hta-nccl", "../../shared/captures/others/" + "hta_nccl.trace.json.gz", "^ProfilerStep#", "time", 1, 0.35},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWarehouse(t)
			load(t, w, "r", shared(t, c.path))
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
			if _, err := runQuery(t, w, q, queries.Args{"run": "r", "by": "luck"}); err == nil || !strings.Contains(err.Error(), "--by is launch or time") {
				t.Errorf("by luck: %v", err)
			}
		})
	}
}
