package queries_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema"
)

// findingRun is a made-up run of two passes of decode on one GPU, each of 1 ms, in which nothing is idle and nothing runs but what a test puts there.
const findingRun = "01a20000-0000-7000-8000-000000000001"

// madeTables are the tables that the run may have rows in.
var madeTables = []string{"run", "source", "device", "range_path", "path_stage", "nvtx_range", "range_device", "range_context", "device_time", "idle_part", "gap_sum", "gap_sum_part", "gap", "gap_part", "graph_launch", "kernel", "kernel_shape", "api_sum", "api_duration", "kernel_name", "kernel_class",
	"kernel_spelling", "memop", "api_name", "api_call", "ncu_launch", "ncu_metric", "ncu_metric_name", "capture", "capture_pass", "capture_source", "capture_device", "device_sample", "thread", "cuda_allocation", "memory_event"}

// made makes the only run of a warehouse, as statements change it.
func made(t *testing.T, w *schema.Warehouse, changes ...string) {
	t.Helper()
	stmts := []string{"BEGIN"}
	for _, table := range madeTables {
		stmts = append(stmts, "DELETE FROM "+table)
	}
	into := func(table, format string, args ...any) {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO %s SELECT '%s', "+format, append([]any{table, findingRun}, args...)...))
	}
	into("run", "'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'")
	into("source", "1, 'nsys', 'sqlite', 'file', NULL, NULL, NULL, 1, 'sum', 1, 'ok', NULL, NULL, 1000, NULL, NULL, NULL")
	into("device", "1, 0, 'GPU', 'a', NULL, NULL, '9.0', 100, 2000000000, NULL, NULL, NULL, 64, 233472")
	into("range_path", "1, 1, '', 'decode', [1], 'decode'")
	into("path_stage", "1, 'decode', 1, NULL, NULL, false")
	for id, start := range []int{0, 2_000_000} {
		into("nvtx_range", "1, %d, NULL, 1, 1, 1, NULL, 'push_pop', '', 'decode', NULL, %d, 10", id+1, start)
		into("range_device", "%d, 0, %d, %d, 1000000, 1000000, 1000000, 1, 0, 0", id+1, start, start+1_000_000)
		into("range_context", "%d, %d, 1, true", id+1, id+1)
		into("device_time", "1, 0, %d, %d, %d, 1000000, 0, 0, 0, 0", id+1, start, start+1_000_000)
	}
	into("device_time", "1, 0, NULL, 0, 3000000, 2000000, 0, 0, 0, 1")
	into("idle_part", "1, 0, NULL, 'unknown', 1000000")
	for id, role := range []string{"gemm", "elementwise", "activation", "collective"} {
		into("kernel_name", "%[3]d, '%[4]s<1>', '%[4]s', %[3]d", id+1, role)
		into("kernel_class", "%d, 'family of %s', '%[4]s', NULL, 'builtin', 1", id+1, role)
		into("kernel_spelling", "%d, '%s<1>'", id+1, role)
	}
	for id, name := range []string{"cudaStreamSynchronize_v3020", "cudaMalloc", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaGraphInstantiate", "cuModuleLoadData", "cudaFree"} {
		into("api_name", "%d, '%s'", id+1, name)
	}
	testkit.Exec(t, w, strings.Join(append(append(stmts, changes...), "COMMIT"), ";\n"))
}

// ran puts an execution into a pass: name is the place of its role in made, grid its blocks.
func ran(pass, name, start, duration, grid int, more string) string {
	graph, stream := "NULL", 7
	for _, word := range strings.Fields(more) {
		switch word {
		case "graph":
			graph = "9"
		case "other":
			stream = 8
		}
	}
	return fmt.Sprintf(`INSERT INTO kernel_shape SELECT '%[1]s', %[2]d, %[2]d, 1, 1, 256, 1, 1, 32, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM kernel_shape WHERE kernel_shape_id = %[2]d);
		INSERT INTO kernel SELECT '%[1]s', 1, 1, 1, 0, 1, %[3]d, %[4]d, %[5]d, %[6]d, %[2]d, 1, %[7]s, NULL, NULL, NULL, %[8]d, %[9]d, NULL, NULL`,
		findingRun, grid, stream, start, duration, name, graph, pass, min(pass, 1))
}

// idle moves time of the first pass from busy to other parts, as `launch = 300000, launch-delay = 1`.
func idle(parts string) string { return spent("range_id = 1", parts+", gap_count = 10") }

// spent sets the time of the GPUs in ranges: columns of device_time by their names, parts of idle time by theirs.
func spent(where, parts string) string {
	var stmts []string
	for part := range strings.SplitSeq(parts, ", ") {
		name, value, _ := strings.Cut(part, " = ")
		if strings.Contains(name, "_") {
			stmts = append(stmts, fmt.Sprintf("UPDATE device_time SET %s WHERE %s", part, where))
		} else {
			stmts = append(stmts, fmt.Sprintf("DELETE FROM idle_part WHERE part = '%[1]s' AND %[3]s; INSERT INTO idle_part SELECT run_id, source_id, device_id, range_id, '%[1]s', %[2]s FROM device_time WHERE %[3]s", name, value, where))
		}
	}
	return strings.Join(stmts, "; ")
}

// sideBySide puts eight streams of the same kernels into the first pass, which lasts no longer than one of them.
func sideBySide(name, grid int) []string {
	stmts := []string{}
	for stream := range 8 {
		stmts = append(stmts, ran(1, name, 0, 900_000, grid, ""), fmt.Sprintf("UPDATE kernel SET stream_id = %d WHERE stream_id = 7", 20+stream))
	}
	return append(stmts, "UPDATE device_time SET kernel_ns = CASE range_id WHEN 1 THEN 900000 ELSE 0 END")
}

// replayed puts replays of graphs into the first pass, whose kernels were traced one by one.
func replayed(times int) string {
	return fmt.Sprintf("INSERT INTO graph_launch SELECT '%s', 1, 1, 1, 0, 1, NULL, 'node', NULL, x, 10, 10, 1, 0, x, 0, 1, 3, 1, 1, NULL, 0 FROM range(%d) r(x)", findingRun, times)
}

// waitedFor puts one of the longest gaps into the table of these, with its part outside CUDA and where the launch after it was made.
func waitedFor(start, ns, path int) string {
	return fmt.Sprintf("INSERT INTO gap SELECT '%[1]s', 1, 0, %[2]d, %[3]d, 'host', 1, 1, 1, %[4]d, 0, NULL, 'x', 1, NULL; INSERT INTO gap_part SELECT '%[1]s', 1, 0, %[2]d, 'host', %[3]d", findingRun, start, ns, path)
}

// inSteps has three steps in the first pass.
var inSteps = fmt.Sprintf(`INSERT INTO range_path SELECT '%[1]s', 2, 2, '', 'decode_step[#]', [1, 2], 'decode > decode_step[#]'; INSERT INTO path_stage SELECT '%[1]s', 2, 'decode', 1, NULL, NULL, false;
	INSERT INTO nvtx_range BY NAME SELECT '%[1]s'::UUID AS run_id, 1 AS source_id, 10 + x AS range_id, 1 AS parent_range_id, 2 AS path_id, 1 AS pid, 1 AS tid, 'push_pop' AS style, '' AS domain, 'decode_step[' || x || ']' AS name, 2 * x AS start_ns, 1 AS duration_ns FROM range(1, 4) r(x);
	INSERT INTO range_context SELECT '%[1]s', 10 + x, r, 2, r > 1 FROM range(1, 4) t(x), unnest([1, 10 + x]) u(r);
	INSERT INTO range_device SELECT '%[1]s', 10 + x, 0, 1000 * x, 1000 * x + 10, 10, 10, 10, 1, 0, 0 FROM range(1, 4) r(x)`, findingRun)

// pausedIn puts one of the longest gaps of the first thread into the table of these, with its parts outside CUDA, between calls, and in calls.
func pausedIn(start, host, late, call int) string {
	return fmt.Sprintf(`INSERT INTO gap BY NAME SELECT '%[1]s'::UUID AS run_id, 1 AS source_id, 0 AS device_id, %[2]d AS start_ns, %[3]d AS duration_ns, 'host' AS part, 1 AS pid, 1 AS tid, 1 AS range_context_id, 1 AS path_id, 0 AS opening_mask, 1 AS after_kernel_name_id;
		INSERT INTO gap_part SELECT '%[1]s', 1, 0, %[2]d, unnest(['launch-delay', 'call', 'host']), unnest([%[4]d, %[5]d, %[6]d])`, findingRun, start, host+late+call, late, call, host)
}

// did puts a range of a name on a thread.
func did(name string, start, ns, thread int) string {
	return fmt.Sprintf(`INSERT INTO range_path SELECT '%[1]s', p, p, '', '%[2]s', [p], '%[2]s' FROM (SELECT 10 + count(*) AS p FROM range_path) WHERE NOT EXISTS (SELECT 1 FROM range_path WHERE name = '%[2]s');
		INSERT INTO nvtx_range BY NAME SELECT '%[1]s'::UUID AS run_id, 1 AS source_id, 7000 AS range_id, path_id, 1 AS pid, %[5]d AS tid, 'push_pop' AS style, '' AS domain, name, %[3]d AS start_ns, %[4]d AS duration_ns FROM range_path WHERE name = '%[2]s'`,
		findingRun, name, start, ns, thread)
}

// loaded puts a call of the first pass on the first thread; name is its place in made.
func loaded(name, start, ns int) string {
	return fmt.Sprintf("INSERT INTO api_call SELECT '%s', 1, 1, 1, %d, %d, %d, NULL, 0, 1", findingRun, start, ns, name)
}

// starved marks a pass as the helper does, whose thread waited so long for a CPU. Marks are ranges from 7001 on.
func starved(pass, ns int) string {
	return fmt.Sprintf("INSERT INTO range_path SELECT run_id, 90, 90, '', 'CPU wait[ns=#]', [90], 'CPU wait[ns=#]' FROM range_path WHERE path_id = 1 AND NOT EXISTS (SELECT 1 FROM range_path WHERE path_id = 90); "+
		"INSERT INTO nvtx_range BY NAME SELECT '%s'::UUID AS run_id, 1 AS source_id, 7001 + (SELECT count(*) FROM nvtx_range) AS range_id, %d AS parent_range_id, 90 AS path_id, 1 AS pid, 1 AS tid, 'push_pop' AS style, '' AS domain, "+
		"'CPU wait[ns=%d, wall=1000000, run=100000, others=1500000, preempted=3, blocked=1, cpus=2, limit=1500, throttled=700000, threads=9, runnable=5]' AS name, 1 AS start_ns, 1 AS duration_ns", findingRun, pass, ns)
}

// gave is memory that CUDA gave, or took back, and served a block that PyTorch's allocator gave out.
func gave(at, bytes int) string {
	return fmt.Sprintf("INSERT INTO cuda_allocation BY NAME SELECT '%s'::UUID AS run_id, 1 AS source_id, 1 AS pid, 0 AS device_id, %d AS time_ns, 'Device' AS memory, 1 AS address, %d AS size_bytes", findingRun, at, bytes)
}

func served(at, bytes int) string {
	return fmt.Sprintf("INSERT INTO memory_event BY NAME SELECT '%s'::UUID AS run_id, 1 AS source_id, 1 AS pid, 1 AS tid, %d AS time_ns, 'cuda' AS device_type, 0 AS device_id, 1 AS address, %d AS size_bytes, 0 AS op_id, 0 AS range_context_id, 0 AS path_id", findingRun, at, bytes)
}

// secondGPU has the same passes as the first, and onBoth are executions of a kernel of the first pass on each, of so long on either.
var secondGPU = []string{"INSERT INTO device SELECT * REPLACE (1 AS device_id) FROM device", "INSERT INTO range_device SELECT * REPLACE (1 AS device_id) FROM range_device", "INSERT INTO device_time SELECT * REPLACE (1 AS device_id) FROM device_time", "INSERT INTO idle_part SELECT * REPLACE (1 AS device_id) FROM idle_part"}

func onBoth(name, ns, other, times int) []string {
	stmts := []string{}
	for i := range times {
		stmts = append(stmts, ran(1, name, i*5000, ns, 200, ""))
	}
	return append(stmts, fmt.Sprintf("INSERT INTO kernel SELECT * REPLACE (1 AS device_id, %d AS duration_ns) FROM kernel WHERE kernel_name_id = %d", other, name))
}

// bothIn has both GPUs in a collective that ends on both at the same time.
func bothIn(first, second int) []string {
	return slices.Concat(secondGPU, []string{ran(1, 4, first, 1000-first, 8, ""), fmt.Sprintf("INSERT INTO kernel SELECT * REPLACE (1 AS device_id, %d AS start_ns, %d AS duration_ns) FROM kernel", second, 1000-second)})
}

// third is one more pass, in which nothing is idle.
const third = "INSERT INTO nvtx_range SELECT * REPLACE (3 AS range_id, 4000000 AS start_ns) FROM nvtx_range WHERE range_id = 2; INSERT INTO range_device SELECT * REPLACE (3 AS range_id) FROM range_device WHERE range_id = 2; " +
	"INSERT INTO range_context SELECT * REPLACE (3 AS range_context_id, 3 AS range_id) FROM range_context WHERE range_id = 2; INSERT INTO device_time SELECT * REPLACE (3 AS range_id) FROM device_time WHERE range_id = 2"

// inFP32 gives the kernel gemm<1> a name of single precision, and ofH200 the GPU a name whose peaks are known.
const (
	inFP32 = "UPDATE kernel_name SET name = 'sgemm<1>' WHERE name = 'gemm<1>'"
	ofH200 = "UPDATE device SET name = 'NVIDIA H200'"
)

// busyCPU makes the CPU return from the passes when they end, so that nothing on the GPU is on their critical path; partlyBusy
// 400 us before that, and says when work was launched.
const (
	busyCPU    = "UPDATE nvtx_range SET duration_ns = 1000000"
	partlyBusy = "UPDATE nvtx_range SET duration_ns = 600000; UPDATE kernel SET tid = 1, launch_name_id = 3, launch_start_ns = start_ns - 100, launch_duration_ns = 50"
)

// spare is a range outside of the passes.
const spare = "INSERT INTO range_path SELECT run_id, 2, 2, '', 'load', [2], 'load' FROM range_path"

func hostCopy(pass int, from string, duration int) string {
	return fmt.Sprintf(`INSERT INTO memop SELECT '%s', 1, 1, 1, 0, 1, 7, 100, %d, 'memcpy Host-to-Device', 4000000, %s, 'Device', 1, NULL, 90, 500, 4, %d, 1, NULL, NULL`, findingRun, duration, from, pass)
}

func called(pass, name, times, duration int) string {
	return fmt.Sprintf(`INSERT INTO api_call SELECT '%s', 1, 1, 1, x, %d, %d, NULL, 0, %d FROM range(%d) r(x)`, findingRun, duration, name, pass, times)
}

// profiled are statements of a launch that Nsight Compute profiled: the kernel gemm with a grid of 100 blocks, by metric.
func ncuOf(values map[string]float64) []string {
	stmts := []string{fmt.Sprintf("INSERT INTO ncu_launch SELECT '%s', 1, 0, 0, 'kernel', 1, 1, 0, 1, 7, 1, 'gemm', 100, 1, 1, 256, 1, 1, NULL, false, NULL", findingRun)}
	for i, name := range slices.Sorted(maps.Keys(values)) {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO ncu_metric_name SELECT '%s', %d, '%s', '%%'", findingRun, i+1, name),
			fmt.Sprintf("INSERT INTO ncu_metric SELECT '%s', 1, 0, %d, %g, NULL", findingRun, i+1, values[name]))
	}
	return stmts
}

const (
	smShare     = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
	memoryShare = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
	warpShare   = "sm__warps_active.avg.pct_of_peak_sustained_active"
	activeMean  = "sm__cycles_active.avg"
	activeMost  = "sm__cycles_active.max"
	elapsedMost = "sm__cycles_elapsed.max"
	wavesMetric = "launch__waves_per_multiprocessor"
)

// sampled are statements of samples of the clocks while the timeline was captured: slow of them at 1 GHz for want of power, the others at 2.
func sampled(slow, fast, idle int) []string {
	at := func(n int, clock, mask, ratio any) string {
		return fmt.Sprintf("INSERT INTO device_sample SELECT '%s', 2, 1, 3, x, %v, NULL, NULL, %v, NULL, NULL, NULL, %v, 0 FROM range(%d) r(x)", findingRun, ratio, clock, mask, n)
	}
	return []string{fmt.Sprintf("INSERT INTO capture_device SELECT '%s', 2, 3, 'GPU-a', 'GPU', NULL, NULL, NULL, 2000000000, NULL, NULL, NULL, 0", findingRun),
		fmt.Sprintf("INSERT INTO capture_source SELECT '%s', 1, 1", findingRun),
		at(slow, 1_000_000_000, 4, 0.5), at(fast, 2_000_000_000, 0, 0.5), at(idle, 500_000_000, 1, 0)}
}

// findingFacts are the findings, what they are made from, and what is said of them.
var findingFacts = []string{"finding", "finding_gain", "large_kernel", "finding_call", "caveat_finding", "stage_pass", "time_category"}

// stagesOfRun is how many stages a run has at most: critical paths are found for 128 steps, two a stage.
const stagesOfRun = 60

// TestFindings holds each rule to stages made up for it.
func TestFindings(t *testing.T) {
	t.Parallel()
	tried := map[string][2]bool{}
	for cases := range slices.Chunk(findingCases, stagesOfRun) {
		w := madeRun(t, fmt.Sprint(cases[0].rule, cases[0].what), func(w *schema.Warehouse) {
			u := newUnion(t, w, madeTables...)
			for _, c := range cases {
				made(t, w, c.stmts...)
				u.add()
			}
			u.store()
		})
		got := make([]map[string]int64, len(cases)) // savings by subject
		for _, r := range rowsOf(t, w, "SELECT stage, finding_id, coalesce(subject, ''), saving_ns, evidence, device_id::BIGINT FROM finding") {
			n := caseOf(t, r[0])
			if r[1] != cases[n].rule {
				continue
			}
			if r[5] != int64(n*caseIDs) || !strings.ContainsAny(r[4].(string), "0123456789") {
				t.Errorf("%s, %s: on GPU %v: %v", cases[n].rule, cases[n].what, r[5], r[4])
			}
			if got[n] == nil {
				got[n] = map[string]int64{}
			}
			got[n][r[2].(string)] = r[3].(int64)
		}
		for n, c := range cases {
			if !maps.Equal(got[n], c.want) {
				t.Errorf("%s, %s: %v, want %v", c.rule, c.what, got[n], c.want)
			}
			both := tried[c.rule]
			both[min(len(c.want), 1)] = true
			tried[c.rule] = both
		}
	}
	for _, r := range testkit.Query(t, testkit.All(t), "finding-rules", nil).Rows {
		if tried[r[0].(string)] != [2]bool{true, true} {
			t.Errorf("%v has no case in which it finds, or none in which it does not", r[0])
		}
	}
}

// madeRun returns a stored warehouse with findings of what a test of this file makes of an empty one.
func madeRun(t *testing.T, key string, fill func(w *schema.Warehouse)) *schema.Warehouse {
	t.Helper()
	return testkit.Warehouse(t, testkit.Run{Name: "made", Key: key, Sources: []string{"queries/finding_test.go", "queries/finding_case_test.go", "queries/union_test.go"}, Facts: []string{}, Then: func(_ context.Context, w *schema.Warehouse) error {
		fill(w)
		testkit.DeriveOnly(t, w, findingFacts...)
		testkit.Exec(t, w, "UPDATE derivation SET run_id = '"+findingRun+"'") // else its facts would be out of date
		return nil
	}})
}

// TestFindingsMade holds what is said of findings, and where nothing is found.
func TestFindingsMade(t *testing.T) {
	t.Parallel()
	testEvidence(t)
	testRanking(t)
	testTwoGPUs(t)
	testFindingNotes(t)
	testNoPasses(t)
	testUntried(t)
	testLarge(t)
}

// explained are the findings of the run in words.
func explained(t *testing.T, w *schema.Warehouse, run string, args queries.Args) []judge.Finding {
	t.Helper()
	args["run"], args["min_share"] = run, "0"
	r := &judge.Report{Name: run, Frames: map[string]*frame.Frame{"findings": testkit.Query(t, w, "findings", args), "finding-rules": testkit.Query(t, w, "finding-rules", nil)}}
	s, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return s.Findings
}

// testEvidence holds what evidence says.
func testEvidence(t *testing.T) {
	w := madeRun(t, "evidence", func(w *schema.Warehouse) {
		u := newUnion(t, w, madeTables...)
		for _, c := range evidenceCases {
			made(t, w, c.stmts...)
			u.add()
		}
		u.store()
	})
	list := explained(t, w, findingRun, queries.Args{"top": "0"})
	for n, c := range evidenceCases {
		at := slices.IndexFunc(list, func(x judge.Finding) bool { return x.ID == c.rule && caseOf(t, x.Stage) == n })
		if at < 0 {
			t.Errorf("no %s of case %d among %+v", c.rule, n, list)
		} else if text := list[at].Evidence; !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s: %q lacks %q or has %q", c.rule, text, c.want, c.not)
		}
	}
}

// largeCases are what is said of a kernel that takes a tenth or more of the GPU time of a stage's median pass: of the one that takes most.
var largeCases = []struct {
	what, kernel, limit, why, without string
	stmts                             []string
}{
	{"too little of it", "", "", "", "", []string{ran(1, 1, 0, 199_999, 200, "")}},
	{"nothing known", "gemm<1>", "", "limit unknown: profile it with Nsight Compute", "", []string{ran(1, 1, 0, 200_000, 200, "")}},
	{"side by side", "elementwise<1>", "", "limit unknown: profile it with Nsight Compute", "", append(sideBySide(2, 200), ran(1, 1, 0, 900_000, 200, ""), "UPDATE kernel SET kernel_name_id = 1 WHERE stream_id = 20", "UPDATE device_time SET kernel_ns = 900000, graph_ns = 950000 WHERE range_id = 2")},
	{"a collective", "collective<1>", "ranks", "its time includes waiting for other ranks", "", []string{ran(1, 4, 0, 300_000, 8, "")}},
	{"a collective, while the CPU is busy until later", "collective<1>", "ranks", "its time includes waiting for other ranks", "", []string{ran(1, 4, 0, 300_000, 8, ""), busyCPU}},
	{"few blocks", "gemm<1>", "grid", "50 blocks on 100 SMs", "", []string{ran(1, 1, 0, 300_000, 50, "")}},
	{"grids of several sizes", "gemm<1>", "grid", "10 to 89 blocks on 100 SMs", "", []string{ran(1, 1, 0, 300_000, 10, ""), ran(1, 1, 500_000, 300_000, 89, "")}},
	{"blocks for nearly all SMs", "gemm<1>", "", "limit unknown: profile it with Nsight Compute", "", []string{ran(1, 1, 0, 300_000, 90, "")}},
	{"SMs not known", "gemm<1>", "", "limit unknown: profile it with Nsight Compute", "", []string{ran(1, 1, 0, 300_000, 1, ""), "UPDATE device SET sm_count = NULL"}},
	{"FP16 in FP32", "sgemm<__half>", "tensor-cores", "multiplies FP16 in FP32, outside tensor cores; 50 blocks on 100 SMs", "", []string{ran(1, 1, 0, 300_000, 50, ""), "UPDATE kernel_name SET name = 'sgemm<__half>' WHERE name = 'gemm<1>'"}},
	{"near the roof", "gemm<1>", "roof", "near its roof: 80.0 % of the memory peak, by Nsight Compute", "", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 80, warpShare: 90, wavesMetric: 2}), ran(1, 1, 0, 300_000, 100, ""))},
	{"below it", "gemm<1>", "below-roof", "reaches 40.0 % of its roof, by Nsight Compute; bound by latency", "", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 40, warpShare: 90, wavesMetric: 2}), ran(1, 1, 0, 300_000, 100, ""))},
	{"profiled a part", "gemm<1>", "", "limit unknown: profile it with Nsight Compute", "", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 80, warpShare: 90, wavesMetric: 2}), ran(1, 1, 0, 300_000, 100, ""), ran(1, 1, 0, 100_000, 101, ""))},
	{"while the CPU is busy until later", "gemm<1>", "grid", "50 blocks on 100 SMs", "as traced, the pass would take as long without it: by the critical path, launches, which tracing delays, or other work end later", []string{ran(1, 1, 0, 300_000, 50, ""), busyCPU}},
	{"while the CPU is busy for part of it", "gemm<1>", "grid", "10 blocks on 100 SMs", "as traced, the pass would be at most 400 us shorter without it, by the critical path", []string{ran(1, 1, 100, 999_900, 10, ""), ran(2, 1, 2_000_100, 999_900, 10, ""), partlyBusy}},
}

// testLarge holds what is said of large kernels.
func testLarge(t *testing.T) {
	w := madeRun(t, "large", func(w *schema.Warehouse) {
		u := newUnion(t, w, madeTables...)
		for _, c := range largeCases {
			made(t, w, c.stmts...)
			u.add()
		}
		u.store()
	})
	r := &judge.Report{Name: "made", Frames: map[string]*frame.Frame{"large-kernels": testkit.Query(t, w, "large-kernels", queries.Args{"run": findingRun})}}
	s, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range largeCases {
		at := slices.IndexFunc(s.Large, func(k judge.LargeKernel) bool { return caseOf(t, k.Stage) == n })
		if at < 0 {
			if c.kernel != "" {
				t.Errorf("%s: nothing is said", c.what)
			}
			continue
		}
		if k := s.Large[at]; k.Name != c.kernel || k.Limit != c.limit || k.Why != c.why || k.Without != c.without || (k.Limit == "") != strings.HasPrefix(k.Command, "prof capture --run made-2 --tools nsys,ncu ") {
			t.Errorf("%s: %+v", c.what, k)
		}
	}
}

// testTwoGPUs holds that one finding is not two for want of the same subject, that kernels of several streams save no more than there is,
// and that ranks are pointed to.
func testTwoGPUs(t *testing.T) {
	w := madeRun(t, "two GPUs", func(w *schema.Warehouse) {
		made(t, w, append(sideBySide(1, 5), idle("call = 100000"), called(1, 2, 3, 1000), ran(1, 4, 950_000, 20000, 8, ""), "INSERT INTO kernel SELECT * REPLACE (1 AS device_id, 2 AS pid) FROM kernel", "INSERT INTO device SELECT * REPLACE (1 AS device_id) FROM device",
			"INSERT INTO range_device SELECT * REPLACE (1 AS device_id) FROM range_device", "INSERT INTO device_time SELECT * REPLACE (1 AS device_id) FROM device_time", "INSERT INTO idle_part SELECT * REPLACE (1 AS device_id, ns // 2 AS ns) FROM idle_part WHERE part = 'call'",
			"UPDATE api_call SET pid = 1", "UPDATE nvtx_range SET pid = 2 WHERE range_id = 2")...)
	})
	got := rows(t, w, "SELECT finding, device, device_count, run_device_count, subject, share_ratio <= 1 FROM findings('"+findingRun+"', min_share := 0)")
	want := []string{"[small-grids 0 2 2 gemm<1> true]", "[call 0 2 2 cudaMalloc true]", "[exposed-collectives 0 2 2 <nil> true]"}
	for i, x := range explained(t, w, findingRun, queries.Args{}) {
		got[i], want[i] = got[i]+x.Detail, want[i]+[]string{"", "prof query api-calls --run " + findingRun + " --stage decode", "prof query stragglers --run " + findingRun}[i]
	}
	if !slices.Equal(got, want) {
		t.Errorf("on two GPUs:\n%q\nwant\n%q", got, want)
	}
}

// testRanking holds the order, the shares, the least share, the choice of a GPU and the text of evidence.
func testRanking(t *testing.T) {
	w := madeRun(t, "ranking", func(w *schema.Warehouse) {
		made(t, w, "UPDATE run SET name = 'it''s'", idle("launch = 200000, queued = 20000, host = 19999"), ran(1, 1, 0, 400000, 50, ""),
			"INSERT INTO device_time SELECT * REPLACE (1 AS device_id) FROM device_time WHERE range_id = 1", "INSERT INTO idle_part SELECT * REPLACE (1 AS device_id, CASE part WHEN 'launch' THEN 300000 ELSE ns END AS ns) FROM idle_part WHERE range_id = 1")
	})
	ask := func(args queries.Args) *frame.Frame {
		args["run"] = findingRun
		return testkit.Query(t, w, "findings", args)
	}
	f := ask(queries.Args{})
	var got []string
	for _, r := range f.Rows {
		at := func(c string) any { return r[f.Index(c)] }
		got = append(got, fmt.Sprint(at("rank"), " ", at("finding"), " ", at("saving_ns"), at("share_ratio"), at("device"), at("device_count"), at("passes"), at("span_ns")))
	}
	// Of 1 ms on GPU 1, where there is one pass only, and 2 ms on GPU 0. 20 us of GPU 1 are 2 % there, 19,999 ns less than 1 % of GPU 0 and more of GPU 1.
	want := []string{"1 launch-bound 300000 0.3 1 2 1 1000000", "2 small-grids 200000 0.1 0 1 2 2000000", "3 queued 20000 0.01 0 2 2 2000000", "4 host 19999 0.019999 1 1 1 1000000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r := &judge.Report{Name: "it's", Frames: map[string]*frame.Frame{"findings": f, "finding-rules": testkit.Query(t, w, "finding-rules", nil)}}
	worded, err := r.FindingsTable()
	if err != nil {
		t.Fatal(err)
	}
	if sql, command := worded.Rows[0][worded.Index("evidence_query")], worded.Rows[0][worded.Index("command")]; sql != "FROM pass_accounting('it''s', stage := 'decode', device := 1)" || command != `prof query pass-accounting --run 'it'\''s' --stage decode --device 1` {
		t.Errorf("evidence: %v, %v", sql, command)
	}
	for _, c := range []struct {
		args queries.Args
		rows int
	}{{queries.Args{"top": "2"}, 2}, {queries.Args{"top": "0"}, 4}, {queries.Args{"min_share": "0.2"}, 1}, {queries.Args{"min_share": "0"}, 4}, {queries.Args{"stage": "prefill"}, 0}, {queries.Args{"source": "nsys"}, 4}} {
		if got := len(ask(c.args).Rows); got != c.rows {
			t.Errorf("%v: %d findings, want %d", c.args, got, c.rows)
		}
	}
	if _, err := queries.Raw(t.Context(), w, "FROM findings('"+findingRun+"', min_share := 2)"); err == nil || !strings.Contains(err.Error(), "--min-share is a share") {
		t.Errorf("a share of 2: %v", err)
	}
}

// TestFindingsOfCaptures holds that every finding of the captures has rows behind it, and that none is of more time than there is.
func TestFindingsOfCaptures(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for run, want := range map[string]string{"llama-graph-node": "elementwise-chains decode", "nccl2": "exposed-collectives decode", "profiled": "launch-bound prefill"} {
		f := testkit.Query(t, w, "findings", queries.Args{"run": run, "top": "0", "min_share": "0"})
		at := func(r []any, c string) any { return r[f.Index(c)] }
		behind := explained(t, w, run, queries.Args{"top": "0"})
		names, last := []string{}, math.Inf(1)
		for i, r := range f.Rows {
			saving := at(r, "saving_ns").(int64)
			usual, pass := at(r, "pass_saving_ns").(float64), at(r, "pass_span_ns").(float64)
			if saving <= 0 || saving > at(r, "span_ns").(int64) || usual < 0 || usual > pass || usual*float64(at(r, "passes").(int64)) > last {
				t.Errorf("%s: %v", run, r)
			}
			last = usual * float64(at(r, "passes").(int64))
			names = append(names, fmt.Sprint(at(r, "finding"), " ", at(r, "stage")))
			if got := rows(t, w, behind[i].Query); len(got) == 0 || behind[i].Evidence == "" {
				t.Errorf("%s: no rows of %s: %+v", run, behind[i].Query, behind[i])
			}
		}
		if !slices.Contains(names, want) {
			t.Errorf("%s: no %s among %q", run, want, names)
		}
	}
	if got := rows(t, w, "SELECT finding FROM findings('llama-graph-node', stage := 'decode', min_share := 0) WHERE finding = 'launch-bound'"); len(got) > 0 {
		t.Error("decode by graphs is launch-bound")
	}
}

// TestResidentBlocks holds the calculation of occupancy to Nsight Compute's limits of the same launches.
func TestResidentBlocks(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, c := range []struct{ threads, registers, shared, want int }{ // ncu 2025.3.1 on an H200: the least of its four limits
		{384, 168, 164308, 1}, {384, 168, 225524, 1}, {128, 159, 86336, 2}, {256, 32, 2048, 8}, {256, 16, 0, 8}, {32, 16, 0, 32}, {1024, 64, 0, 1},
	} {
		stmt := fmt.Sprintf("SELECT _resident_block('9.0', 64, 233472, %d, %d, %d)::BIGINT", c.threads, c.registers, c.shared)
		if got := rows(t, w, stmt); got[0] != fmt.Sprintf("[%d]", c.want) {
			t.Errorf("%+v: %s", c, got[0])
		}
	}
	for _, stmt := range []string{"_resident_block('6.1', 64, 233472, 256, 32, 0)", "_resident_block('9.0', NULL, 233472, 256, 32, 0)", "_resident_block('9.0', 64, 233472, 256, NULL, 0)", "_resident_block('9.0', 64, 233472, 256, 32, 300000)"} {
		if got := rows(t, w, "SELECT "+stmt); got[0] != "[<nil>]" {
			t.Errorf("%s: %s", stmt, got[0])
		}
	}
}
