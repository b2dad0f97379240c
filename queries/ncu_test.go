package queries_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

const (
	sharedNCU  = "../../shared/captures/ncu/"
	sharedNsys = "../../shared/captures/nsys/"
)

// sharedKernels are the launches of one program, with everything and with what rooflines need.
var sharedKernels = []testkit.Run{{Name: "full", Files: []string{"../../shared/captures/ncu/kernels-full.ncu-rep.gz"}}, {Name: "roofline", Files: []string{"../../shared/captures/ncu/kernels-roofline.ncu-rep.gz"}}}

// shared returns the path of a capture beside the repository; without it the test is skipped.
func shared(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is absent", path)
	}
	return path
}

// byFirst returns a query's rows by the text of its first column.
func byFirst(t *testing.T, w *schema.Warehouse, stmt string) map[string][]any {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, stmt)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	out := map[string][]any{}
	for _, r := range f.Rows {
		key := fmt.Sprint(r[0])
		if _, ok := out[key]; ok {
			t.Fatalf("%s: two rows of %s", stmt, key)
		}
		out[key] = r
	}
	return out
}

// TestProfiledRanges holds which launches lie in which ranges, as kernels.cu makes them: prefill has a matmul and, in an inner
// range, a transpose; decode_all has three times a saxpy and a sum; all of it twice.
func TestProfiledRanges(t *testing.T) {
	t.Parallel()
	shared(t, sharedNCU+"kernels-full.ncu-rep.gz")
	w := testkit.Warehouse(t, sharedKernels...)
	got := rows(t, w, `SELECT l.launch, regexp_extract(l.kernel, '^\w+') AS k, l.stage, string_agg(r.domain || ':' || r.name, ' ' ORDER BY r.depth)
		FROM kernel_sol('full') l JOIN ncu_range r ON r.run_id = _run_id('full') AND r.launch_id & 134217727 = l.launch + 1 GROUP BY ALL ORDER BY 1`)
	var want []string
	for launch := range 16 {
		switch launch % 8 {
		case 0:
			want = append(want, fmt.Sprintf("[%d tiled_matmul prefill LLM:prefill]", launch))
		case 1:
			want = append(want, fmt.Sprintf("[%d transpose_naive prefill LLM:prefill :inner]", launch))
		default:
			want = append(want, fmt.Sprintf("[%d %s decode LLM:decode_all]", launch, []string{"saxpy", "reduce_sum"}[launch%2]))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMatches holds that profiled launches find their kernels in the timeline.
func TestMatches(t *testing.T) {
	t.Parallel()
	runs := []testkit.Run{{Name: "its prefill", Files: []string{"nsys/kernels/kernels.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz"}}, {Name: "another program", Files: []string{"nsys/nccl2/nccl2.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz"}},
		{Name: "no timeline", Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}}}
	whole := testkit.Run{Name: "the whole program", Files: []string{"../../shared/captures/nsys/kernels/kernels.sqlite", "../../shared/captures/ncu/kernels-full.ncu-rep.gz"}}
	for _, c := range []struct {
		name string
		run  []testkit.Run
		want map[string]int64 // launches by how they match
	}{
		{"the whole program", []testkit.Run{whole}, map[string]int64{"occurrence": 16}},
		{"its prefill", runs, map[string]int64{"occurrence": 4}},
		{"ncu-llama", testkit.Captures, map[string]int64{"stage": 7}}, // of PyTorch
		{"another program", runs, map[string]int64{"": 4}},
		{"no timeline", runs, map[string]int64{"": 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == whole.Name {
				if _, err := os.Stat(testkit.Path(whole.Files[0])); err != nil {
					whole.Files[0] += ".gz"
				}
				shared(t, testkit.Path(whole.Files[0]))
			}
			w := testkit.Warehouse(t, c.run...)
			got := map[string]int64{}
			f := testkit.Query(t, w, "ncu-matches", queries.Args{"run": c.name})
			for _, r := range f.Rows {
				by, _ := r[f.Index("matched_by")].(string)
				got[by] += r[f.Index("launches")].(int64)
				if reason := r[f.Index("reason")]; (reason == nil) != (by != "") {
					t.Errorf("%v is matched by %q, and the reason why not is %v", r[0], by, reason)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("matched %v, want %v", got, c.want)
			}
		})
	}
	w := testkit.Warehouse(t, runs...)
	testOccurrences(t, w)
}

// testOccurrences holds that the n-th profiled launch of a kernel stands for its n-th execution.
func testOccurrences(t *testing.T, w *schema.Warehouse) {
	got := rows(t, w, `SELECT _id_number(m.launch_id) - 1, m.timeline_mean_ns::BIGINT FROM ncu_match m WHERE m.is_counted AND m.run_id = _run_id('its prefill') ORDER BY 1`)
	want := rows(t, w, `SELECT row_number() OVER (ORDER BY k.start_ns) - 1, k.duration_ns FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE k.run_id = _run_id('its prefill') AND regexp_matches(n.name, '^(tiled_matmul|transpose_naive)') ORDER BY 1`)
	if len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOperations holds operations counted by ncu against those of the program: a matmul of 1024³, y = ax + y over 2^24 numbers,
// and sums of 2^24 doubles, of which each block adds 255 and 1 more atomically.
func TestOperations(t *testing.T) {
	t.Parallel()
	shared(t, sharedNCU+"kernels-roofline.ncu-rep.gz")
	w := testkit.Warehouse(t, sharedKernels...)
	f := testkit.Query(t, w, "kernel-sol", queries.Args{"run": "roofline"})
	flop := func(r []any, column string) float64 { return r[f.Index(column)].(float64) }
	for _, r := range f.Rows {
		var want [2]float64 // FP32, FP64
		switch name := r[f.Index("kernel")].(string); {
		case strings.HasPrefix(name, "tiled_matmul"):
			want[0] = 2 << 30
		case strings.HasPrefix(name, "saxpy"):
			want[0] = 2 << 24
		case strings.HasPrefix(name, "reduce_sum"):
			want[1] = 1<<24 + 528*255
		}
		if math.Abs(flop(r, "fp32_flop")-want[0]) > 1e-6*want[0] || math.Abs(flop(r, "fp64_flop")-want[1]) > 1e-6*want[1] || flop(r, "tensor_flop") != 0 {
			t.Errorf("%v: %v FP32, %v FP64, %v tensor; want %v", r[1], flop(r, "fp32_flop"), flop(r, "fp64_flop"), flop(r, "tensor_flop"), want)
		}
		if want[0]+want[1] > 0 && flop(r, "intensity") <= 0 {
			t.Errorf("%v has no intensity", r[1])
		}
	}
	if len(f.Rows) != 12 {
		t.Errorf("%d launches", len(f.Rows))
	}
}

// TestAgainstNCUsRule holds the classification, with ncu's own thresholds, against what ncu's rule SOLBottleneck says of every
// launch. That rule names a unit only for memory.
func TestAgainstNCUsRule(t *testing.T) {
	t.Parallel()
	rules := []string{"ncu_measure", "ncu_shape"}
	runs := []testkit.Run{{Name: "llama", Files: []string{"ncu/llama.ncu-rep.gz"}, Facts: rules}, {Name: "variants", Files: []string{"ncu/variants-graph.ncu-rep.gz"}, Facts: rules}, {Name: "prefill", Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}, Facts: rules}}
	for _, p := range []string{"kernels-full", "dsocr-decode", "kernels-roofline"} {
		if _, err := os.Stat(sharedNCU + p + ".ncu-rep.gz"); err == nil {
			runs = append(runs, testkit.Run{Name: p, Files: []string{"../../shared/captures/ncu/" + p + ".ncu-rep.gz"}, Facts: rules})
		}
	}
	w := testkit.Warehouse(t, runs...)
	said := map[string]int{}
	for _, run := range runs {
		f, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT r.title, r.message, c.bound, c.limiter, c.kernel, c.sm_ratio, c.memory_ratio
			FROM ncu_rule r JOIN ncu_measure l ON l.launch_id = r.launch_id
			JOIN _ncu_class(_run_id('%[1]s'), waves := 1) c ON c.kernel_name_id = l.kernel_name_id AND c.grid = l.grid AND c.block = l.block
			WHERE r.run_id = _run_id('%[1]s') AND r.rule = 'SOLBottleneck' AND r.title <> 'NVLink-Centric Scheduling'`, run.Name))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Rows {
			title, message := r[0].(string), r[1].(string)
			bound, _ := r[2].(string)
			limiter, _ := r[3].(string)
			said[title]++
			unit := ""
			for _, u := range []string{"DRAM", "L2", "L1"} {
				if strings.Contains(message, "the "+u+" bottleneck") || strings.Contains(message, "analyzing "+u) {
					unit = strings.ToLower(u)
				}
			}
			ok := map[string]bool{
				"Small Grid":              bound == "latency" && limiter == "grid",
				"Latency Issue":           bound == "latency" && limiter != "grid",
				"High Memory Throughput":  bound == "memory" && limiter == unit,
				"High Compute Throughput": bound == "compute" && limiter != "",
				"Balanced Throughput":     bound == "memory" || bound == "compute",
				"High Throughput":         (bound == "memory" && limiter == unit && unit != "") || (bound == "compute" && unit == ""),
			}[title]
			if !ok {
				t.Errorf("%s: ncu says %q (%s), prof %s by %s: %v", run.Name, title, unit, bound, limiter, r[4:])
			}
		}
	}
	if said["Small Grid"] == 0 || said["High Throughput"]+said["High Memory Throughput"] == 0 {
		t.Errorf("ncu said %v", said)
	}
	t.Log(said)
}

// TestUnknownBound holds that a missing metric is named and not taken for 0.
func TestUnknownBound(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "r", Files: []string{"ncu/llama.ncu-rep.gz"}, Facts: []string{"ncu_shape", "caveat"}})
	drop := func(name string) {
		t.Helper()
		res, err := w.DB.Exec(`DELETE FROM ncu_metric WHERE metric_id IN (SELECT metric_id FROM ncu_metric_name WHERE name LIKE ?)`, name)
		if n, _ := res.RowsAffected(); err != nil || n == 0 {
			t.Fatalf("%s: %d rows, %v", name, n, err)
		}
	}
	ask := func() []string {
		return rows(t, w, `SELECT DISTINCT bound, missing, legacy_class = 'unknown' FROM bottlenecks('r') ORDER BY ALL`)
	}
	drop("launch__waves_per_multiprocessor")
	drop("smsp__average_warps_issue_stalled_%")
	testkit.DeriveOnly(t, w, "ncu_shape", "caveat")
	if got := rows(t, w, `SELECT count(*) FROM bottlenecks('r') WHERE bound = 'latency' AND limiter IS NULL AND starts_with(missing, 'launch__waves_per_multiprocessor, ')`); got[0] == "[0]" {
		t.Errorf("latency-bound without a cause: %q", ask())
	}
	drop("gpu__compute_memory_throughput.avg.%")
	testkit.DeriveOnly(t, w, "ncu_shape", "caveat")
	if got := ask(); len(got) != 1 || got[0] != "[unknown gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed false]" {
		t.Errorf("got %q", got)
	}
	drop("sm__throughput.avg.%")
	testkit.DeriveOnly(t, w, "ncu_shape", "caveat")
	if got := ask(); len(got) != 1 || !strings.Contains(got[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed, gpu__compute_memory_throughput") || !strings.HasSuffix(got[0], "true]") {
		t.Errorf("got %q", got)
	}
	drop("gpu__time_duration%")
	testkit.DeriveOnly(t, w, "ncu_shape", "caveat")
	if got := rows(t, w, `SELECT count(*) FROM kernel_sol('r') WHERE duration_ns IS NOT NULL OR flop_per_s IS NOT NULL OR sm_ratio IS NOT NULL`); got[0] != "[0]" {
		t.Error("what was not measured has values")
	}
}

// TestCeilings holds that tensor peaks are dense ones, and that the table of peaks serves where ncu measured none; a user's row
// comes before the built-in one.
func TestCeilings(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "r", Files: []string{"ncu/llama.ncu-rep.gz"}, Facts: []string{"ncu_shape", "caveat"}})
	got := byFirst(t, w, `SELECT c.resource, max(c.peak_flop_per_s) FILTER (c.basis = 'measured'), max(c.peak_flop_per_s) FILTER (c.basis = 'device_peak'),
		max(c.peak_bytes_per_s) FILTER (c.basis = 'measured'), max(c.peak_bytes_per_s) FILTER (c.basis = 'device_peak') FROM ceilings('r') c GROUP BY 1`)
	for _, resource := range []string{"tensor_bf16", "tensor_fp16", "tensor_tf32", "tensor_fp8", "tensor_int8", "tensor_fp64", "fp32", "fp64"} {
		r := got[resource]
		if r == nil || r[1] == nil || r[2] == nil {
			t.Errorf("%s: %v", resource, r)
		} else if ratio := r[1].(float64) / r[2].(float64); ratio < 0.85 || ratio > 1.15 { // the clocks differ
			t.Errorf("%s: measured %v of the table's %v", resource, r[1], r[2])
		}
	}
	if r := got["dram"]; r == nil || math.Abs(r[3].(float64)/r[4].(float64)-1) > 0.02 {
		t.Errorf("dram: %v", r)
	}
	testkit.Exec(t, w, `DELETE FROM ncu_metric WHERE metric_id IN (SELECT metric_id FROM ncu_metric_name WHERE name LIKE '%peak_sustained%');
		INSERT INTO device_peak VALUES ('user', 'NVIDIA H200', 'tensor_bf16', 'fp32', 5e14, NULL, 'power capped', 'our measurement', DATE '2026-01-01')`)
	testkit.DeriveOnly(t, w, "ncu_shape", "ncu_flop")
	for _, r := range rows(t, w, `SELECT DISTINCT basis, roof_flop_per_s FROM roofline('r') WHERE resource = 'tensor_bf16'`) {
		if r != "[device_peak, device_peak 5e+14]" {
			t.Errorf("got %s", r)
		}
	}
}

// TestWithNCU holds that what Nsight Compute measured stands beside the timeline's times and does not change them.
func TestWithNCU(t *testing.T) {
	t.Parallel()
	plain := testkit.Warehouse(t, testkit.Run{Name: "plain", Files: []string{"ncu/llama.sqlite.gz"}, Facts: []string{"work_sum", "caveat"}})
	with := testkit.Query(t, testkit.All(t), "top-kernels", queries.Args{"run": "ncu-llama", "top": "0", "with_ncu": "true"})
	without := testkit.Query(t, plain, "top-kernels", queries.Args{"run": "plain", "top": "0"})
	if with.Index("bound") < 0 || without.Index("bound") >= 0 || !strings.HasPrefix(without.SQL, "SELECT * EXCLUDE (bound, ") {
		t.Errorf("columns %v and %v: %s", with.Columns, without.Columns, without.SQL)
	}
	if len(with.Rows) != len(without.Rows) {
		t.Fatalf("%d rows and %d", len(with.Rows), len(without.Rows))
	}
	profiled := map[string]string{}
	for i, r := range with.Rows {
		for j, c := range without.Columns {
			if fmt.Sprint(r[with.Index(c.Name)]) != fmt.Sprint(without.Rows[i][j]) {
				t.Errorf("%v: %s is %v, without ncu %v", r[1], c.Name, r[with.Index(c.Name)], without.Rows[i][j])
			}
		}
		if b := r[with.Index("bound")]; b != nil {
			profiled[r[1].(string)] = fmt.Sprint(b, " ", r[with.Index("limiter")], " ", r[with.Index("profiled_count")])
			if share := r[with.Index("profiled_ratio")].(float64); share <= 0 || share > 1 {
				t.Errorf("%v: %v of its time is profiled", r[1], share)
			}
		}
	}
	if len(profiled) != 6 || profiled["nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT"] != "memory dram 2" || profiled["nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"] != "compute tensor 1" {
		t.Errorf("profiled: %v", profiled)
	}
}

// TestRegions holds metrics of replayed ranges by their names.
func TestRegions(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{"ncu/kernels-range.ncu-rep.gz"}}, testkit.Run{Name: "g", Files: []string{"ncu/variants-graph.ncu-rep.gz"}})
	got := rows(t, w, `SELECT launch, kind, "range", domain, value::BIGINT, unit FROM region_metrics('r', metric := 'gpu__time_duration.sum')`)
	if want := []string{"[0 range prefill LLM 641376 ns]", "[1 range decode_all LLM 500096 ns]", "[2 range prefill LLM 693984 ns]", "[3 range decode_all LLM 602592 ns]"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	got = rows(t, w, `SELECT launch, kind, "range", path FROM region_metrics('g', metric := 'gpu__time_duration.sum')`)
	if want := []string{"[2 graph decode_step[#] decode_all > decode_step[#]]", "[3 graph decode_step[#] decode_all > decode_step[#]]"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if n := len(testkit.Query(t, w, "kernel-sol", queries.Args{"run": "g"}).Rows); n != 4 {
		t.Errorf("%d kernel launches", n)
	}
	if f := testkit.Query(t, w, "kernel-metrics", queries.Args{"run": "g", "metric": "dram__*, gpu__time_duration.s?m", "launch": "0"}); len(f.Rows) < 2 {
		t.Errorf("globs find %d metrics", len(f.Rows))
	}
}

// TestMatchScope holds that a launch whose NVTX ranges were not captured is not taken for one outside every stage, and that a
// launch in one stage is not matched with the kernel in another.
func TestMatchScope(t *testing.T) {
	t.Parallel()
	files, facts := []string{"nsys/kernels/kernels.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz"}, []string{"ncu_match"}
	const less = `UPDATE kernel SET path_id = 0 WHERE run_id = $run AND start_ns = (SELECT min(start_ns) FROM kernel WHERE run_id = $run);` // a matmul outside every range
	w := testkit.Warehouse(t, testkit.Run{Name: "r", Files: files, Facts: []string{"ncu_match", "device_part"}}, testkit.Run{Name: "less", Files: files, Facts: facts, SQL: less},
		testkit.Run{Name: "without", Files: files, Facts: facts, SQL: less + "UPDATE ncu_launch SET path_id = NULL WHERE run_id = $run"},
		testkit.Run{Name: "other", Files: files, Facts: facts, SQL: less + "UPDATE ncu_launch SET path_id = (SELECT min(path_id) FROM path_stage WHERE stage = 'decode' AND run_id = $run) WHERE run_id = $run"})
	if got := fmt.Sprint(rows(t, w, `SELECT device, kernel_count > 0 FROM devices('r')`)); got != "[[0 true]]" { // not once more as Nsight Compute saw it
		t.Errorf("the GPU of both captures: %s", got)
	}
	ask := func(run string) string {
		return strings.Join(rows(t, w, `SELECT matched_by, sum(launches)::BIGINT, max(timeline_calls), concat_ws(' ', min(reason), min(elsewhere)) FROM ncu_matches('`+run+`') GROUP BY 1 ORDER BY 1`), " ")
	}
	if got := ask("less"); got != "[occurrence 2 2 ] [stage 2 1 ]" {
		t.Errorf("one call less in the stage: %s", got)
	}
	if got := ask("without"); got != "[occurrence 4 2 ]" {
		t.Errorf("without NVTX: %s", got)
	}
	if got := ask("other"); got != "[grid 2 1 ] [<nil> 2 <nil> other-stages prefill]" {
		t.Errorf("in another stage: %s", got)
	}
}
