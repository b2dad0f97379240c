package queries_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// stepped are captures with ranges named as steps, and how many of these on each of how many GPUs.
var stepped = []struct {
	name, path   string
	steps, lasts int // lasts end a pass
}{
	{"llama-graph-node", "nsys/llama-graph-node/llama-graph-node.sqlite.gz", 100, 4},
	{"nccl2", "nsys/nccl2/nccl2.sqlite.gz", 12, 2},
	{"llama", "torch/llama.trace.json.gz", 8, 2},
	{"graph", "torch/graph.trace.json.gz", 3, 1},
	{"dsocr-sdpa", "../../shared/captures/nsys/dsocr-sdpa/dsocr-sdpa.sqlite.gz", 52, 4},
}

// oneRun is a capture alone in a warehouse, as the run r; without it the test is skipped.
func oneRun(t *testing.T, file string) *schema.Warehouse {
	t.Helper()
	shared(t, testkit.Path(file))
	return testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{file}})
}

// TestSteps holds the steps of captures to what is counted from the raw rows: kernels belong to the step that was open on the thread when
// they were launched. Without the ranges the same steps are found by what recurs.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, c := range sample.Of(stepped, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := oneRun(t, c.path)
			f := queryOf(t, w, "steps", queries.Args{"top": "0"})
			if len(f.Rows) != c.steps {
				t.Fatalf("%d steps, want %d", len(f.Rows), c.steps)
			}
			testRawSteps(t, w, f)
			known := testStepParts(t, f)
			if len(known) != c.steps-c.lasts {
				t.Errorf("%d steps have a time, want %d", len(known), c.steps-c.lasts)
			}

			without := testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{c.path}, Facts: stepFacts,
				SQL: "DELETE FROM nvtx_range; DELETE FROM range_context; DELETE FROM range_device; UPDATE kernel SET path_id = 0; UPDATE memop SET path_id = 0; UPDATE graph_launch SET path_id = 0"})
			found := queryOf(t, without, "steps", queries.Args{"top": "0"})
			if len(found.Rows) != c.steps {
				t.Fatalf("without ranges %d steps, want %d", len(found.Rows), c.steps)
			}
			recurring := testStepParts(t, found)
			if c.name == "nccl2" { // a step begins with its all-gather there, after the start of the first one
				return
			}
			if len(recurring) != len(known) {
				t.Fatalf("without ranges %d steps have a time, want %d", len(recurring), len(known))
			}
			for i := range known {
				if math.Abs(float64(recurring[i]-known[i])) > 0.03*float64(known[i]) {
					t.Errorf("step %d takes %d ns, by its range %d", i, recurring[i], known[i])
				}
			}
			if !slices.Equal(column(found, "kernel_count"), column(f, "kernel_count")) && !slices.Contains(column(found, "kernel_count"), nil) {
				t.Errorf("kernels: %v, by ranges %v", column(found, "kernel_count"), column(f, "kernel_count"))
			}
			if !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "so steps are inferred") }) {
				t.Errorf("the notes do not say so: %q", found.Notes)
			}
		})
	}
}

// testRawSteps counts the kernels of each step again.
func testRawSteps(t *testing.T, w *schema.Warehouse, f *frame.Frame) {
	t.Helper()
	type step struct{ pid, tid, start, end, kernels, first, last int64 }
	steps := map[int64]*step{}
	for _, r := range rowsOf(t, w, "SELECT range_id, pid, tid, start_ns, start_ns + duration_ns FROM nvtx_range WHERE regexp_matches(name, '^(decode_)?step\\[')") {
		steps[r[0].(int64)] = &step{pid: r[1].(int64), tid: r[2].(int64), start: r[3].(int64), end: r[4].(int64), first: math.MaxInt64}
	}
	for _, k := range rowsOf(t, w, "SELECT pid, tid, launch_start_ns, start_ns, duration_ns FROM kernel WHERE launch_start_ns IS NOT NULL UNION ALL SELECT pid, tid, launch_start_ns, start_ns, -1 - duration_ns FROM memop WHERE launch_start_ns IS NOT NULL") {
		for _, s := range steps {
			if at := k[2].(int64); k[0] == s.pid && k[1] == s.tid && s.start <= at && at < s.end {
				length := k[4].(int64)
				if length >= 0 {
					s.kernels++
				} else {
					length = -1 - length
				}
				s.first, s.last = min(s.first, k[3].(int64)), max(s.last, k[3].(int64)+length)
			}
		}
	}
	for _, r := range f.Rows {
		s := steps[number(f, r, "range_id")]
		if s == nil || number(f, r, "kernel_count") != s.kernels || s.kernels == 0 || number(f, r, "start_ns") != s.first || number(f, r, "gpu_span_ns") != s.last-s.first {
			t.Errorf("%v: counted from the raw rows %+v", r, s)
		}
	}
}

// testStepParts holds that the parts of each step's time add up to it, and gives the times that are known.
func testStepParts(t *testing.T, f *frame.Frame) (known []int64) {
	t.Helper()
	for _, r := range f.Rows {
		if r[f.Index("gpu_span_ns")] == nil {
			continue
		}
		n := func(column string) int64 { return orNull(r[f.Index(column)]) }
		parts := n("launch_bound_ns") + n("wait_ns") + n("call_ns") + n("host_ns") + n("queued_ns") + n("profiler_ns") + n("unknown_ns")
		if r[f.Index("basis")] == "range" && parts != n("idle_ns") || n("busy_ns")+max(n("idle_ns"), 0)+max(n("other_ns"), 0) != n("gpu_span_ns") {
			t.Errorf("the parts do not add up: %v", r)
		}
		if p := r[f.Index("period_ns")]; p != nil {
			if n("period_ns") > n("gpu_span_ns") && n("gpu_span_ns")+n("between_ns") != n("period_ns") || r[f.Index("time_ns")] != p {
				t.Errorf("span and what is between are not the period: %v", r)
			}
			known = append(known, n("period_ns"))
		} else if r[f.Index("between_ns")] != nil {
			t.Errorf("no step follows, and yet there is time up to it: %v", r)
		}
	}
	return known
}

// TestTokenTimes holds the time per output token to what the workload measured itself.
func TestTokenTimes(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	var said struct {
		Runs []struct {
			DecodeMs  float64 `json:"decode_ms"`
			NewTokens float64 `json:"new_tokens"`
		}
	}
	readJSON(t, llamaWorkload, &said)
	want := 0.0
	for _, r := range said.Runs {
		want += r.DecodeMs * 1e6 / r.NewTokens / float64(len(said.Runs))
	}
	f := testkit.Query(t, w, "step-times", queries.Args{"run": utilised})
	if len(f.Rows) != 1 || number(f, f.Rows[0], "step_count") != 96 || number(f, f.Rows[0], "warmup_count") != 4 || number(f, f.Rows[0], "timed_count") != 93 {
		t.Fatalf("%v", f.Rows)
	}
	same(t, "time per token", f.Rows[0][f.Index("token_time_ns")], want, 0.01)
	if n := total(testkit.Query(t, w, "steps", queries.Args{"run": utilised, "top": "0"}), "token_count"); n != 96 {
		t.Errorf("%d tokens", n)
	}
}

// TestOverlappingSteps: where the work of a step lasts into the next one, times count in both, and shares of them mean nothing.
func TestOverlappingSteps(t *testing.T) {
	t.Parallel()
	shares := []string{"busy_ratio", "launch_bound_ratio", "wait_ratio", "host_ratio", "between_ratio"}
	for _, c := range []struct {
		longer  int // how many times its span a step's last work ends later, in thousandths
		unknown bool
	}{{0, false}, {20, false}, {530, true}} {
		w := oneRun(t, "torch/llama.trace.json.gz")
		if c.longer > 0 {
			w = testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{"torch/llama.trace.json.gz"}, Facts: stepFacts, SQL: fmt.Sprintf("UPDATE range_device SET last_end_ns = last_end_ns + (last_end_ns - first_start_ns) * %d // 1000", c.longer)})
		}
		over, whole := int64(0), int64(0)
		steps := queryOf(t, w, "steps", queries.Args{"top": "0"})
		for _, r := range steps.Rows {
			if r[steps.Index("period_ns")] != nil && r[steps.Index("is_warmup")] == false {
				span, period := number(steps, r, "gpu_span_ns"), number(steps, r, "period_ns")
				over, whole = over+max(span-period, 0), whole+max(span, period)
			}
		}
		f := queryOf(t, w, "step-times", nil)
		if len(f.Rows) != 1 {
			t.Fatalf("%v", f.Rows)
		}
		same(t, "overlap", f.Rows[0][f.Index("overlap_ratio")], float64(over)/float64(whole), 1e-9)
		if c.unknown != (over*100 > whole) || c.longer == 20 && over == 0 {
			t.Errorf("%d of %d ns overlap: another case is tried", over, whole)
		}
		for _, name := range shares {
			if (f.Rows[0][f.Index(name)] == nil) != c.unknown {
				t.Errorf("%d of %d ns overlap: %s is %v", over, whole, name, f.Rows[0][f.Index(name)])
			}
		}
	}
}
