package queries_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// madeKernel is a kernel of a made-up run: its name and length, and how long the GPU was idle before it.
type madeKernel struct {
	name           string
	duration, idle int64
}

// madeStep is a step of three alike layers, from an embedding to a head. Each layer takes 60 ns and has 3 ns of gaps.
func madeStep() []madeKernel {
	out := []madeKernel{{"embed", 20, 5}}
	for range 3 {
		out = append(out, madeKernel{"qkv", 20, 1}, madeKernel{"attention", 30, 1}, madeKernel{"mlp", 10, 1})
	}
	return append(out, madeKernel{"head", 40, 1})
}

// madePrompt is the work of a prompt of n layers, most of it of names of its own.
func madePrompt(n int) []madeKernel {
	out := []madeKernel{{"embed all", 50, 9}}
	for range n {
		out = append(out, madeKernel{"qkv all", 80, 1}, madeKernel{"attention all", 90, 1}, madeKernel{"mlp all", 70, 1}, madeKernel{"mlp", 9, 1})
	}
	return append(out, madeKernel{"head", 40, 1})
}

// kernelRun is a run with these kernels one after the other.
func kernelRun(name string, work []madeKernel) testkit.Run {
	run, base := testkit.RunID(name), schema.IDBase(testkit.RunID(name))
	stmts := []string{sourceOf(run, 1, "nsys")}
	var names, rows []string
	at := int64(1000)
	for _, k := range work {
		id := slices.Index(names, k.name)
		if id < 0 {
			id, names = len(names), append(names, k.name)
			stmts = append(stmts, fmt.Sprintf("INSERT INTO kernel_name SELECT $run, %[1]d, '%[2]s', '%[2]s', %[1]d", base+int64(id), k.name))
		}
		at += k.idle
		rows = append(rows, fmt.Sprintf("(%d, %d, %d)", at, k.duration, base+int64(id)))
		at += k.duration
	}
	stmts = append(stmts, "INSERT INTO kernel (run_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, kernel_name_id, path_id) SELECT $run, 1, 1, 0, 7, s, d, n, 0 FROM (VALUES "+strings.Join(rows, ", ")+") v(s, d, n)")
	return testkit.Run{Name: name, SQL: strings.Join(stmts, ";\n"), Facts: stepFacts}
}

// stepFacts are what is known of steps.
var stepFacts = []string{"step", "work_sum", "stage_pass", "caveat", "caveat_iteration", "caveat_pass", "caveat_work"}

// TestRecurringSteps holds which steps are found in made-up runs without ranges, and what made the slow ones slow.
func TestRecurringSteps(t *testing.T) {
	t.Parallel()
	var work []madeKernel
	var want []any // times of the steps
	nth := 0
	for _, layers := range []int{3, 3, 5} {
		work = append(work, madePrompt(layers)...)
		for i := range 10 {
			s := madeStep()
			time := int64(20 + 5 + 3*63 + 41)
			if nth++; nth == 13 {
				s[5].duration += 500 // attention of the second layer
				time += 500
			}
			if nth == 16 {
				s[8].idle += 900
				time += 900
			}
			if nth == 18 { // an expert more
				s = slices.Insert(s, 4, madeKernel{"mlp", 7, 0})
				time += 7
			}
			work = append(work, s...)
			if i == 9 {
				want = append(want, nil)
			} else {
				want = append(want, time)
			}
		}
	}
	w := testkit.Warehouse(t, kernelRun("made", work))
	ask := func(name string) *frame.Frame {
		return testkit.Query(t, w, name, queries.Args{"run": "made", "top": "0"})
	}
	f := ask("steps")
	if got := column(f, "time_ns"); !reflect.DeepEqual(got, want) {
		t.Fatalf("steps take\n%v, want\n%v: %q", got, want, f.Notes)
	}
	for i, r := range f.Rows {
		if r[f.Index("name")] != "embed" || r[f.Index("nth")] != int64(i+1) || r[f.Index("time_basis")] != "gpu_period" || r[f.Index("stage")] != "(none)" {
			t.Errorf("%v", r)
		}
		if k := r[f.Index("kernel_count")]; want[i] == nil && k != nil || want[i] != nil && k != int64(11) && (i != 17 || k != int64(12)) {
			t.Errorf("step %d has %v kernels", i+1, k)
		}
	}

	slow := ask("slow-steps")
	var got [][]any
	for _, r := range slow.Rows {
		got = append(got, []any{number(slow, r, "nth"), r[slow.Index("excess_ns")], r[slow.Index("cause")], r[slow.Index("cause_ns")], r[slow.Index("kernel")], r[slow.Index("kernel_excess_ns")]})
	}
	if want := [][]any{{int64(16), 900.0, "idle", 900.0, nil, nil}, {int64(13), 500.0, "busy", 500.0, "attention", 500.0}, {int64(18), 7.0, "busy", 7.0, "mlp", 7.0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("slow are\n%v, want\n%v", got, want)
	}
	testStepTimes(t, testkit.Query(t, w, "step-times", queries.Args{"run": "made"}), want)
}

// testStepTimes holds the summary to the steps' times.
func testStepTimes(t *testing.T, f *frame.Frame, times []any) {
	t.Helper()
	var sorted []float64
	sum := 0.0
	for _, v := range times {
		if v != nil {
			sorted = append(sorted, float64(v.(int64)))
			sum += float64(v.(int64))
		}
	}
	slices.Sort(sorted)
	n := float64(len(sorted))
	squares := 0.0
	for _, v := range sorted {
		squares += (v - sum/n) * (v - sum/n)
	}
	part := func(q float64) float64 {
		at := q * (n - 1)
		low := math.Floor(at)
		return sorted[int(low)] + (at-low)*(sorted[int(math.Min(low+1, n-1))]-sorted[int(low)])
	}
	if len(f.Rows) != 1 {
		t.Fatalf("%d kinds of steps", len(f.Rows))
	}
	for name, want := range map[string]float64{"mean_ns": sum / n, "std_ns": math.Sqrt(squares / (n - 1)), "p50_ns": part(0.5), "p90_ns": part(0.9), "p95_ns": part(0.95), "p99_ns": part(0.99),
		"kernel_mean_count": (11*n + 1) / n, "busy_ratio": (sum - 900 - 15*n) / sum, "between_ratio": 5 / (sum / n)} {
		same(t, name, f.Rows[0][f.Index(name)], want, 1e-9)
	}
	if r := f.Rows[0]; number(f, r, "step_count") != int64(len(times)) || number(f, r, "timed_count") != int64(len(sorted)) || r[f.Index("token_time_ns")] != nil || r[f.Index("launch_bound_ratio")] != nil {
		t.Errorf("%v", f.Rows[0])
	}
}

// TestNoSteps holds that nothing is found where nothing recurs: in kernels of random names, alone and with some that occur thrice, and in
// one pass of work that differs.
func TestNoSteps(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var work []madeKernel
		for i := range 1500 {
			name := fmt.Sprint("k", rng.IntN(30))
			if seed%2 == 1 && i%5 == 0 {
				name = fmt.Sprint("rare", rng.IntN(100))
			}
			work = append(work, madeKernel{name, 1 + rng.Int64N(50), rng.Int64N(9)})
		}
		if seed == 5 {
			work = append(madePrompt(1), madeStep()[:5]...)
		}
		runs = append(runs, kernelRun(fmt.Sprint("seed-", seed), work))
	}
	w := testkit.Warehouse(t, runs...)
	for seed, run := range runs {
		f := testkit.Query(t, w, "steps", queries.Args{"run": run.Name})
		if len(f.Rows) != 0 || len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "so steps are inferred") {
			t.Errorf("seed %d: %d steps of %v: %q", seed, len(f.Rows), column(f, "name"), f.Notes)
		}
	}
}

// TestStepNames holds which names of ranges are steps, nested ones by the outermost.
func TestStepNames(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	testkit.Exec(t, w, "INSERT INTO run SELECT '"+timelineRun+"', 'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'; "+sourceRow(1, "nsys"))
	id := 0
	put := func(names ...string) {
		lineage := ""
		for _, name := range names {
			id++
			lineage = strings.TrimPrefix(fmt.Sprintf("%s, %d", lineage, id), ", ")
			testkit.Exec(t, w, fmt.Sprintf("INSERT INTO range_path SELECT run_id, %[1]d, 1, '', '%[2]s', [%[3]s], '' FROM run; INSERT INTO nvtx_range SELECT run_id, 1, %[1]d, NULL, %[1]d, 1, 1, NULL, 'push_pop', '', '%[2]s', NULL, %[1]d, 1 FROM run", id, name, lineage))
		}
	}
	want := map[string]bool{"decode_step[#]": true, "step[#]": true, "step #": true, "Step: #": true, "iteration #/#": true, "ProfilerStep##": true, "LLM@decode_step": true, "train_step": true, "iter_#": true,
		"[Executor] _forward_step #: 0 ctx reqs, # gen reqs": true, "step[DECODE bs=# toks=#]": true, "execute_#_context_0(0)_generation_#(#)": true, "execute_new_0_cached_#": true, "execute_new_model": false, "denoising step #": true, "forward_step(mb=#)": true,
		"Optimizer.step#AdamW.step": false, "step_time": false, "decode": false, "LLM@decode_all": false, "stepwise": false, "lr_scheduler.step": false, "prefill": false, "first steps": false, "footstep #": false}
	for name := range want {
		put(name)
	}
	put("ProfilerStep##", "eval step #", "generate_step[#]")
	testkit.DeriveOnly(t, w, stepFacts...)
	var got []string
	for _, r := range rowsOf(t, w, "SELECT p.name FROM step s JOIN range_path p ON p.path_id = s.name_path_id") {
		got = append(got, r[0].(string))
	}
	for name, is := range want {
		if slices.Contains(got, name) != is {
			t.Errorf("%q is a step: %v, want %v", name, !is, is)
		}
	}
	if slices.Contains(got, "generate_step[#]") || !slices.Contains(got, "eval step #") || len(rowsOf(t, w, "SELECT 1 FROM step s JOIN range_path p ON p.path_id = s.name_path_id WHERE p.name = 'ProfilerStep##'")) != 1 {
		t.Errorf("of nested ones the outermost within a ProfilerStep is taken: %q", got)
	}
}

// TestSlowSteps holds what is named as the cause of a slow step, for each part of a step's time.
func TestSlowSteps(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	causes := []string{"kernel", "graph", "copy", "other", "launch-bound", "launch-bound", "wait", "call", "host", "profiler", "queued", "unknown", "launch-bound", "between"}
	of := []string{"launch", "launch-delay", "wait", "call", "host", "profiler", "queued", "unknown", "launch-latency"} // parts of idle time
	stmts := []string{"BEGIN", "INSERT INTO run SELECT '" + timelineRun + "', 'made', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'", sourceRow(1, "nsys"),
		"INSERT INTO range_path SELECT run_id, 1, 1, '', 'decode_step[#]', [1], '' FROM run", "INSERT INTO path_stage SELECT run_id, 1, 'decode', 1, NULL, NULL, false FROM run",
		"INSERT INTO kernel_name SELECT run_id, 1, 'gemm', 'gemm', 1 FROM run", "INSERT INTO kernel_name SELECT run_id, 2, 'rare', 'rare', 2 FROM run"}
	put := func(format string, args ...any) { stmts = append(stmts, fmt.Sprintf(format, args...)) }
	ran := func(step int, at, duration int64, name int) {
		put("INSERT INTO kernel (run_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, kernel_name_id, range_context_id, path_id) SELECT run_id, 1, 1, 0, 7, %d, %d, %d, %d, 1 FROM run", at, duration, name, step)
	}
	at := int64(0)
	var want [][]any
	for step := 1; step <= 60; step++ {
		parts := []int64{600, 10, 20, 30, 100, 60, 50, 40, 30, 20, 10, 5, 15, 100}
		if slow := (step - 2) / 4; step%4 == 2 && slow < len(parts) {
			more := int64(1000 + 10*slow)
			parts[slow] += more
			row := []any{int64(step), float64(more), causes[slow], float64(more), nil, nil}
			if slow == 0 {
				row[4], row[5] = "rare", 990.0
				ran(step, at, 990, 2)
			}
			want = append([][]any{row}, want...)
		}
		ran(step, at, 600, 1)
		if step == 2 {
			ran(step, at, 10, 1)
		}
		span := int64(0)
		for i, ns := range parts[:13] {
			if span += ns; i >= 4 {
				put("INSERT INTO idle_part SELECT run_id, 1, 0, %d, '%s', %d FROM run", step, of[i-4], ns)
			}
		}
		put("INSERT INTO nvtx_range SELECT run_id, 1, %d, NULL, 1, 1, 1, NULL, 'push_pop', '', 'decode_step[%d]', NULL, %d, 10 FROM run", step, step, at)
		put("INSERT INTO range_context SELECT run_id, %d, %d, 1, true FROM run", step, step)
		put("INSERT INTO range_device SELECT run_id, %d, 0, %d, %d, %d, 640, 600, 1, 1, 0 FROM run", step, at, at+span, parts[0]+parts[1]+parts[2])
		put("INSERT INTO device_time SELECT run_id, 1, 0, %d, %d, %d, %d, %d, %d, %d, 7 FROM run", step, at, at+span, parts[0], parts[1], parts[2], parts[3])
		at += span + parts[13]
	}
	testkit.Exec(t, w, strings.Join(append(stmts, "COMMIT"), ";\n"))
	testkit.DeriveOnly(t, w, stepFacts...)
	f := testkit.Query(t, w, "slow-steps", queries.Args{"run": "made", "top": "0"})
	var got [][]any
	for _, r := range f.Rows {
		got = append(got, []any{number(f, r, "nth"), r[f.Index("excess_ns")], r[f.Index("cause")], r[f.Index("cause_ns")], r[f.Index("kernel")], r[f.Index("kernel_excess_ns")]})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("slow are\n%v, want\n%v", got, want)
	}
}

// TestColdSteps: first steps that wait for something are set apart where there are no stages, and those that compute longer are not.
func TestColdSteps(t *testing.T) {
	t.Parallel()
	cases := []struct {
		what   string
		change func(nth int, s []madeKernel)
		cold   int64
	}{
		{"nothing", func(int, []madeKernel) {}, 0},
		{"two that wait", func(nth int, s []madeKernel) {
			if nth < 2 {
				s[3].idle += 2000
			}
		}, 2},
		{"a late one that waits", func(nth int, s []madeKernel) {
			if nth == 2 {
				s[3].idle += 2000
			}
		}, 0},
		{"one that computes", func(nth int, s []madeKernel) {
			if nth == 0 {
				s[3].duration += 2000
			}
		}, 0},
	}
	var runs []testkit.Run
	for _, c := range cases {
		var work []madeKernel
		for nth := range 12 {
			s := madeStep()
			c.change(nth, s)
			work = append(work, s...)
		}
		runs = append(runs, kernelRun(c.what, work))
	}
	w := testkit.Warehouse(t, runs...)
	for _, c := range cases {
		f := testkit.Query(t, w, "step-times", queries.Args{"run": c.what})
		if len(f.Rows) != 1 || number(f, f.Rows[0], "warmup_count") != c.cold {
			t.Errorf("%s: %v, want %d cold", c.what, f.Rows, c.cold)
		}
	}
}
