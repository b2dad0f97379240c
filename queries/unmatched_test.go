package queries_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
)

// TestUnmatched holds that a filter which picks nothing says what it could have picked.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, append(testkit.Named(t, "nccl2", "kernels"), testkit.Run{Name: "launches", Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}}, testkit.Run{Name: "no rules", Files: []string{"cpu/tilt.csv.gz"}})...)
	for _, c := range []struct{ query, param, value, want string }{
		{"bottlenecks", "kernel", "transpose_nave", "nothing has --kernel transpose_nave; the run has the profiled kernels transpose_naive, tiled_matmul"},
		{"top-kernels", "stage", "Decode", "nothing has --stage Decode; the run has the stages decode, prefill, (none)"},
		{"stages", "device", "7", "nothing has --device 7; the run has the GPUs 0, 1"},
		{"range-kernels", "range", "step[0]", "nothing has --range step[0]; the run has the ranges, among others, decode, "},
		{"critical-path", "step", "99", "nothing has --step 99; the run has the steps with a critical path 1, 10"},
		{"diagnostics", "severity", "critical", "nothing has --severity critical; the run has the severities info, warning"},
	} {
		f := testkit.Query(t, w, c.query, queries.Args{"run": map[bool]string{true: "launches", false: "nccl2"}[c.param == "kernel"], c.param: c.value})
		if len(f.Rows) != 0 || len(f.Notes) == 0 || !strings.HasPrefix(f.Notes[0], c.want) {
			t.Errorf("%s --%s %s: %d rows, notes %q", c.query, c.param, c.value, len(f.Rows), f.Notes)
		}
	}
	if f := testkit.Query(t, w, "ncu-rules", queries.Args{"run": "no rules", "kernel": "Tilted"}); len(f.Rows) != 0 || slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, "nothing has") }) {
		t.Errorf("a kernel that is there, without rules: %d rows, notes %q", len(f.Rows), f.Notes)
	}
	if f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "nccl2", "stage": "decode"}); len(f.Rows) == 0 || !slices.Equal(f.Notes, []string{"left out: 120 kernels of warm-up, cold or unlike passes, 4.20 ms (43.7 %); --warmup counts all"}) {
		t.Errorf("a stage that is there: %d rows, notes %q", len(f.Rows), f.Notes)
	}
}

// TestStagesOfOneDevice holds that passes on another GPU do not thin out the means: each of the two processes of this capture
// runs its five steady passes of each stage on a GPU of its own.
func TestStagesOfOneDevice(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	sum := map[string]float64{}
	for _, args := range []queries.Args{{"run": "nccl2", "device": "0"}, {"run": "nccl2", "device": "1"}} {
		f := testkit.Query(t, w, "stages", args)
		for _, r := range f.Rows {
			at := func(col string) float64 { return r[f.Index(col)].(float64) }
			if r[f.Index("passes")] != int64(5) || at("gpu_busy_mean_ns") > at("gpu_span_mean_ns") || at("gpu_busy_mean_ns") > at("gpu_sum_mean_ns") {
				t.Errorf("%v: %v", args, r)
			}
			sum[r[0].(string)] += at("kernel_sum_mean_ns") * 5
		}
	}
	f, err := queries.Raw(t.Context(), w, "SELECT stage, sum(kernel_sum_ns)::BIGINT FROM stage_pass WHERE NOT is_warmup AND run_id = _run_id('nccl2') GROUP BY stage")
	if err != nil {
		t.Fatal(err)
	}
	total := map[string]float64{}
	for _, r := range f.Rows {
		total[r[0].(string)] = float64(r[1].(int64))
	}
	for _, stage := range []string{"prefill", "decode"} {
		if sum[stage] < total[stage]-1 || sum[stage] > total[stage]+1 {
			t.Errorf("%s: the passes of both GPUs hold %f ns of kernels, the stage %f", stage, sum[stage], total[stage])
		}
	}
}

// TestSourceArgument holds what the parameter takes: a kind of timeline, and one that the run has.
func TestSourceArgument(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, append(testkit.Named(t, "nccl2", "kernels"), testkit.Run{Name: "launches", Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}}, testkit.Run{Name: "no rules", Files: []string{"cpu/tilt.csv.gz"}})...)
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(q queries.Query) bool { return !takesSource(q) })
	noted, ids := queries.NewAsker(w), []string{runID(t, w, "kernels"), runID(t, w, "launches")}
	for _, q := range all {
		if last := q.Params[len(q.Params)-1]; last.Name != "source" || last.Default != "NULL" {
			t.Errorf("%s: source is not its last parameter", q.Name)
		}
		for _, run := range ids {
			if _, err := noted.Run(t.Context(), q, queries.Args{"run": run, "source": "foo"}); !errors.Is(err, queries.ErrBadArgument) || !strings.Contains(err.Error(), "--source is prof, nsys, rocprof, torch, xla, proton, nsys-stats or proton-tree") {
				t.Errorf("%s of %s: the error is %v", q.Name, run, err)
			}
		}
	}
	for _, q := range sample.Of(all, 3) {
		f, err := noted.Run(t.Context(), q, queries.Args{"run": ids[0], "source": "torch"})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Rows) != 0 || len(f.Notes) == 0 || f.Notes[0] != "nothing has --source torch; the run has the captures nsys" {
			t.Errorf("%s: %d rows, notes %q", q.Name, len(f.Rows), f.Notes)
		}
	}
	if f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "launches"}); len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "the run has no timeline from Nsight Systems or the PyTorch profiler") {
		t.Errorf("without a timeline: %q", f.Notes)
	}
	w = testkit.Warehouse(t, testkit.Run{Name: "traced", Files: []string{"nsys/kernels/kernels.sqlite.gz"}, SQL: "UPDATE source SET kind = 'torch' WHERE kind = 'nsys'", Facts: []string{"work_sum", "caveat", "caveat_pass"}})
	if f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "traced"}); len(f.Rows) != 4 || len(f.Notes) != 0 {
		t.Errorf("of the PyTorch profiler alone: %d rows, notes %q", len(f.Rows), f.Notes)
	}
}

// TestUnmatchedOfOneTimeline holds that the names a filter could have picked are those of the counted timeline.
func TestUnmatchedOfOneTimeline(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{"nsys/nccl2/nccl2.sqlite.gz", "nsys/kernels/kernels.sqlite.gz"}, Facts: []string{"work_sum", "device_part", "caveat"},
		SQL: "UPDATE source SET kind = 'torch' WHERE path LIKE '%kernels%'; UPDATE path_stage SET stage = 'other' WHERE path_id IN (SELECT path_id FROM nvtx_range JOIN source USING (run_id, source_id) WHERE kind = 'torch')"})
	for _, c := range []struct{ source, param, value, want string }{
		{"nsys", "stage", "other", "nothing has --stage other; the run has the stages decode, prefill, (none)"},
		{"torch", "stage", "decode", "nothing has --stage decode; the run has the stages other, (none)"},
		{"torch", "device", "1", "nothing has --device 1; the run has the GPUs 2"}, // the other capture's are 0 and 1
	} {
		f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "r", c.param: c.value, "source": c.source})
		if len(f.Rows) != 0 || len(f.Notes) == 0 || f.Notes[0] != c.want {
			t.Errorf("%v: %d rows, notes %q", c, len(f.Rows), f.Notes)
		}
	}
}
