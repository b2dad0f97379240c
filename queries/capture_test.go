package queries_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// capturedRun is the run of a captured folder: two repeats of the timeline of a Llama and what the workload says of each.
func capturedRun(*testing.T) testkit.Run {
	return testkit.Run{Name: "repeats", Key: "captured Llama", Sources: []string{"testdata/capture/repeats", "testdata/nsys/llama-graph-node", "testdata/workload", "queries/capture_test.go"}, Make: func(dir string) ([]string, error) {
		dir = filepath.Join(dir, "run")
		return []string{dir}, writeCaptured(dir)
	}}
}

// capturedFolder makes that folder.
func capturedFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeCaptured(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeCaptured(dir string) error {
	reports, err := capturedReports()
	if err != nil {
		return err
	}
	facts, err := os.ReadFile(llamaWorkload)
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS("../testdata/capture/repeats")); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"report-1.sqlite": reports[0], "report-2.sqlite": reports[1], "workload.json": facts} {
		if err := os.WriteFile(filepath.Join(dir, "nsys", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// capturedReports are the timeline, and the same as of a session of its own.
var capturedReports = sync.OnceValues(func() ([2][]byte, error) {
	f, err := os.Open(llamaCapture)
	if err != nil {
		return [2][]byte{}, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return [2][]byte{}, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return [2][]byte{}, err
	}
	id := regexp.MustCompile(`PROFILING_SESSION_UUID([0-9a-f-]{36})`).FindSubmatch(data)
	if id == nil {
		return [2][]byte{}, errors.New("the timeline has no session")
	}
	return [2][]byte{data, bytes.ReplaceAll(data, id[1], []byte("00000000-1111-2222-3333-444444444444"))}, nil
})

// TestRepeats holds that repeats of the workload are measured together, and are no ranks of one job.
func TestRepeats(t *testing.T) {
	t.Parallel()
	runs := append(testkit.Named(t, utilised), capturedRun(t))
	// Two sources of one pass, and two of none, are ranks: which part of the model each ran is not known.
	for _, c := range [][2]string{{"of one pass", "UPDATE capture_source SET pass_id = 4 WHERE run_id = $run"}, {"of none", "DELETE FROM capture_source WHERE run_id = $run"}} {
		r := capturedRun(t)
		r.Name, r.SQL, r.Facts = c[0], c[1], []string{"model_size", "pass_cost", "stage_share", "caveat", "caveat_work", "caveat_pass", "kernel_precision"}
		runs = append(runs, r)
	}
	w := testkit.Warehouse(t, runs...)
	once, _ := utilisation(t, w, queries.Args{"run": utilised})
	twice, f := utilisation(t, w, queries.Args{"run": "repeats"})
	const repeats, ranks = "the run has 2 repeats of the workload", "2 processes ran"
	said := func(f *frame.Frame, note string) bool {
		return slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, note) })
	}
	for stage, u := range once {
		for _, column := range []string{"flop", "time_ns", "peak_flop_per_s", "mfu_ratio", "mbu_ratio", "device_count"} {
			if a, b := u.number(t, column), twice[stage].number(t, column); a != b || a != a {
				t.Errorf("%s: %s is %v once and %v of two repeats", stage, column, a, b)
			}
		}
		if a, b := u.number(t, "passes"), twice[stage].number(t, "passes"); 2*a != b {
			t.Errorf("%s: %v passes once, %v of two repeats", stage, a, b)
		}
	}
	if !said(f, repeats) || said(f, ranks) {
		t.Errorf("notes %q", f.Notes)
	}
	a, b := testkit.Query(t, w, "mbu", queries.Args{"run": utilised}), testkit.Query(t, w, "mbu", queries.Args{"run": "repeats"})
	if x, y := column(a, "mbu_ratio"), column(b, "mbu_ratio"); !slices.Equal(x, y) || x[0] == nil {
		t.Errorf("mbu: %v once, %v of two repeats", x, y)
	}
	single, both := testkit.Query(t, w, "top-kernels", queries.Args{"run": utilised, "top": "0"}), testkit.Query(t, w, "top-kernels", queries.Args{"run": "repeats", "top": "0"})
	if total(both, "total_ns") != 2*total(single, "total_ns") || !said(both, repeats) || said(single, repeats) {
		t.Errorf("top-kernels: %d and %d ns, notes %q", total(single, "total_ns"), total(both, "total_ns"), both.Notes)
	}
	stages := testkit.Query(t, w, "stages", queries.Args{"run": "repeats"})
	if p, q := column(testkit.Query(t, w, "stages", queries.Args{"run": utilised}), "gpu_span_mean_ns"), column(stages, "gpu_span_mean_ns"); !slices.Equal(p, q) {
		t.Errorf("stages: %v once, %v of two repeats", p, q)
	}
	for _, what := range []string{"of one pass", "of none"} {
		got, f := utilisation(t, w, queries.Args{"run": what})
		if v := got["prefill"].row[f.Index("mfu_ratio")]; v != nil || !said(f, ranks) || said(f, repeats) {
			t.Errorf("%s: mfu of prefill is %v, notes %q", what, v, f.Notes)
		}
		shared, _ := utilisation(t, w, queries.Args{"run": what, "ranks": "shared"})
		if v := shared["prefill"].number(t, "mfu_ratio"); v != once["prefill"].number(t, "mfu_ratio") { // of one GPU
			t.Errorf("%s: of two ranks on one GPU %v", what, v)
		}
	}
}

// TestCapture holds what the queries say of a captured run, against the numbers that were made up for it.
func TestCapture(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, capturedRun(t))
	change := func(stmt string) {
		t.Helper()
		testkit.Exec(t, w, stmt)
		testkit.DeriveOnly(t, w, "process_overhead", "caveat_overhead")
	}
	for _, c := range []struct{ stmt, want string }{
		{"SELECT mode, status, git_commit[:4], is_git_dirty, pass_count, device_count, input_count, sample_count, duration_ns FROM captures('repeats')", "[[deep partial 0123 true 6 2 2 52 14000000000]]"},
		{"SELECT pass, tool, mode, repeat, status, workload_ns, duration_ns, exit_code, artifact_bytes, reason, source_count FROM capture_passes('repeats') WHERE pass_id > 2",
			"[[baseline-3 none baseline 3 ok 980000000 1480000000 0 <nil> <nil> 0] [nsys-1 nsys deep 1 ok 1300000000 1800000000 0 2000000 <nil> 1] [nsys-2 nsys deep 2 ok 1340000000 1840000000 0 2000000 <nil> 1] " +
				"[ncu-1 ncu kernels 1 failed 400000000 900000000 1 <nil> ncu may not read the GPU's counters (ERR_NVGPUCTRPERM) 0]]"},
		{"SELECT * REPLACE (round(overhead_ratio, 3) AS overhead_ratio, round(noise_ratio, 3) AS noise_ratio, round(low_ratio, 3) AS low_ratio, round(high_ratio, 3) AS high_ratio, round(baseline_std_ns) AS baseline_std_ns, round(workload_std_ns) AS workload_std_ns) FROM overhead('repeats')",
			"[[deep <nil> nsys 0.32 0.114 <nil> 1e+09 1.32e+09 2 2 1 0.185 0.471 process 2 1e+09 2.8284271e+07 2 1.32e+09 2.8284271e+07] [kernels <nil> ncu <nil> <nil> not-recorded 1e+09 <nil> 2 0 0 <nil> <nil> process 2 1e+09 2.8284271e+07 0 <nil> <nil>]]"},
		{"SELECT count(*), count(sm_ratio), min(time_ns), max(time_ns), count(throttle), count(DISTINCT throttle) FROM device_samples('repeats', pass := 'nsys-1', device := 0)", "[[13 13 -100000000 1100000000 13 3]]"},
		{"SELECT time_ns, throttle, power_w, other_process_count FROM device_samples('repeats', pass := 'nsys-1') WHERE time_ns = 400000000", "[[400000000 sw_power_cap 650.5 0] [400000000 <nil> <nil> <nil>]]"},
		{"SELECT pass, device, samples, sm_max_ratio, memory_used_max_bytes, sm_clock_max_hz, power_max_w, temperature_max_c, other_process_max_count, name FROM device_use('repeats')",
			"[[nsys-1 0 13 0.9 4294967296 1.98e+09 650.5 61 0 NVIDIA H200] [nsys-1 1 13 1 <nil> <nil> <nil> <nil> 2 NVIDIA H200] [nsys-2 0 13 0.9 4294967296 1.98e+09 650.5 61 0 NVIDIA H200] [nsys-2 1 13 1 <nil> <nil> <nil> <nil> 2 NVIDIA H200]]"},
		{"SELECT busy_sm_clock_mean_hz FROM device_use('repeats', pass := 'nsys-1', device := 0)", fmt.Sprintf("[[%v]]", (6*1.98e9+2*1.5e9)/8)},
		{"FROM throttling('repeats')", "[[nsys-1 0 gpu_idle false 5 0 0 1.98e+09] [nsys-1 0 sw_power_cap true 2 2 0.25 1.5e+09] [nsys-2 0 gpu_idle false 5 0 0 1.98e+09]]"},
	} {
		got := strings.ReplaceAll(fmt.Sprint(rows(t, w, c.stmt)), "1980000000", "1.98e+09")
		if got != c.want {
			t.Errorf("%s:\n %s, want\n %s", c.stmt, got, c.want)
		}
	}
	said := func(what string, notes []string, want ...string) {
		t.Helper()
		for _, n := range want {
			if !slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, n) }) {
				t.Errorf("%s: no note %q among %q", what, n, notes)
			}
		}
	}
	const slowed = "GPU 0 was throttled (sw_power_cap) in 12 % of its busy samples"
	said("stages", testkit.Query(t, w, "stages", queries.Args{"run": "repeats"}).Notes, slowed, "run.json is partial: recording ncu-1: failed")
	said("overhead", testkit.Query(t, w, "overhead", queries.Args{"run": "repeats"}).Notes, "Nsight Systems (deep) made the workload 32 % slower", "--mode light")
	for _, name := range []string{"captures", "capture-passes", "overhead", "device-samples", "device-use", "throttling"} {
		f := testkit.Query(t, testkit.All(t), name, queries.Args{"run": "kernels"})
		if len(f.Rows) != 0 || len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "the run was not made by prof capture") {
			t.Errorf("%s of another run: %v, %q", name, f.Rows, f.Notes)
		}
	}
	said("no such pass", testkit.Query(t, w, "throttling", queries.Args{"run": "repeats", "pass": "nsys-9"}).Notes, "nothing has --pass nsys-9; the run has the passes baseline-1")
	// Others on the workload's GPU count, others on another do not.
	if got := rows(t, w, throttled); fmt.Sprint(got) != "[[gpu-throttled 0 sw_power_cap 2 16]]" {
		t.Errorf("doubts %v", got)
	}
	change("UPDATE device_sample SET other_process_count = 3, throttle_mask = 512 WHERE device_id = 0 AND pass_id = 5 AND sm_ratio > 0")
	said("stages", testkit.Query(t, w, "stages", queries.Args{"run": "repeats"}).Notes, "other processes used GPU 0 in 31 % of the samples", slowed)
	if got := rows(t, w, "SELECT reason, is_slowdown, samples FROM throttling('repeats', pass := 'nsys-2')"); fmt.Sprint(got) != "[[gpu_idle false 5] [bit 9 <nil> 8]]" {
		t.Errorf("a reason that is not known: %v", got)
	}
	// One of the workload's that no sample saw at work is shared all the same.
	change("UPDATE device_sample SET sm_ratio = 0 WHERE device_id = 0")
	if got := rows(t, w, throttled); fmt.Sprint(got) != "[[gpu-shared 0 <nil> 8 26]]" {
		t.Errorf("doubts of a GPU that was idle %v", got)
	}
	change("UPDATE device_sample SET sm_ratio = 0.9 WHERE device_id = 0 AND memory_ratio > 0; UPDATE device SET uuid = NULL") // then every GPU at work may be the workload's
	if got := rows(t, w, throttled); fmt.Sprint(got) != "[[gpu-shared 0 <nil> 8 26] [gpu-shared 1 <nil> 14 26] [gpu-throttled 0 sw_power_cap 2 16]]" {
		t.Errorf("doubts without UUIDs %v", got)
	}
	change("UPDATE device_sample SET sm_ratio = 0 WHERE device_id = 1") // it is another's
	if got := rows(t, w, throttled); fmt.Sprint(got) != "[[gpu-shared 0 <nil> 8 26] [gpu-throttled 0 sw_power_cap 2 16]]" {
		t.Errorf("doubts without UUIDs of a GPU that was idle %v", got)
	}
	change("DELETE FROM device_sample")
	said("throttling", testkit.Query(t, w, "throttling", queries.Args{"run": "repeats"}).Notes, "NVML was not sampled")
	change("DELETE FROM capture_pass WHERE tool = 'none'")
	f := testkit.Query(t, w, "overhead", queries.Args{"run": "repeats"})
	if said("overhead", f.Notes, "profiling overhead is unknown: no recording without a profiler"); len(f.Rows) != 2 || f.Rows[0][f.Index("overhead_ratio")] != nil {
		t.Errorf("overhead without a baseline: %v", f.Rows)
	}
}

// throttled are the caveats about the state of GPUs.
const throttled = "SELECT kind, subject, object, item_count, of_count FROM caveat WHERE topic = 'throttle' ORDER BY ALL"

// TestCaptureSilent holds what is said of a GPU of which NVML does not tell when it is at work.
func TestCaptureSilent(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, capturedRun(t))
	testkit.Exec(t, w, "UPDATE device_sample SET sm_ratio = NULL WHERE device_id = 0 AND pass_id = 4; UPDATE device_sample SET other_process_count = 1 WHERE device_id = 0 AND pass_id = 5 AND time_ns = 0")
	check := func(want map[string]string) {
		t.Helper()
		testkit.DeriveOnly(t, w, "caveat_overhead")
		for stmt, want := range want {
			if got := fmt.Sprint(rows(t, w, stmt)); got != want {
				t.Errorf("%s: %s, want %s", stmt, got, want)
			}
		}
	}
	const (
		throttling = "SELECT pass, reason, samples, busy_samples, busy_share_ratio FROM throttling('repeats')"
	)
	check(map[string]string{ // silent in one pass of two
		throttling: "[[nsys-1 gpu_idle 5 <nil> <nil>] [nsys-1 sw_power_cap 2 <nil> <nil>] [nsys-2 gpu_idle 5 0 0]]",
		throttled:  "[[gpu-shared 0 <nil> 1 26] [gpu-throttled-maybe-idle 0 sw_power_cap 2 26]]",
	})
	testkit.Exec(t, w, "UPDATE device_sample SET sm_ratio = NULL; UPDATE device SET uuid = NULL") // as of an instance, whose UUID is not its GPU's
	check(map[string]string{
		throttling: "[[nsys-1 gpu_idle 5 <nil> <nil>] [nsys-1 sw_power_cap 2 <nil> <nil>] [nsys-2 gpu_idle 5 <nil> <nil>]]",
		throttled:  "[[gpu-shared 0 <nil> 1 26] [gpu-shared 1 <nil> 14 26] [gpu-throttled-maybe-idle 0 sw_power_cap 2 26]]",
	})
	said := strings.Join(testkit.Query(t, w, "stages", queries.Args{"run": "repeats"}).Notes, "\n")
	for _, note := range []string{"GPU 0 was throttled (sw_power_cap) in 8 % of all samples", "other processes used GPU 0 in 4 %", "other processes used GPU 1 in 54 %"} {
		if !strings.Contains(said, note) {
			t.Errorf("no note %q in %s", note, said)
		}
	}
}

// launched is a kernel as the plan counts it.
type launched struct {
	name, stage, shape string
	source, pid, ns    int64
	pass               int64 // range of the measured pass; 0: none
}

// TestPlan holds the launches that ncu is to profile to a count of all launches, one by one.
func TestPlan(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, capturedRun(t))
	f, err := queries.Raw(t.Context(), w, `SELECT n.name, coalesce(x.stage, '') AS stage, format('{} x {} x {}, {} x {} x {}', h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z), k.source_id, k.pid, k.duration_ns, coalesce(x.range_id, 0)
		FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape h USING (run_id, kernel_shape_id)
		LEFT JOIN (SELECT c.range_context_id, p.range_id, p.stage FROM range_context c JOIN passes('repeats') p ON p.range_id = c.range_id WHERE NOT p.is_warmup) x USING (range_context_id)
		ORDER BY k.source_id, k.pid, k.launch_start_ns, k.start_ns, k.correlation_id`)
	if err != nil {
		t.Fatal(err)
	}
	type combination struct{ name, stage, shape string }
	spent := map[string]int64{}
	calls, times, passes := map[combination]int64{}, map[combination]int64{}, map[combination][]int64{} // the first two
	var list []launched                                                                                 // of the first source
	for _, r := range f.Rows {
		k := launched{name: r[0].(string), stage: r[1].(string), shape: r[2].(string), source: r[3].(int64), pid: r[4].(int64), ns: r[5].(int64), pass: r[6].(int64)}
		if k.source == 1 {
			list = append(list, k)
		}
		if k.stage == "" {
			continue
		}
		c := combination{k.name, k.stage, k.shape}
		spent[k.name] += k.ns
		calls[c]++
		times[c] += k.ns
		if k.source == 1 && len(passes[c]) < 2 && !slices.Contains(passes[c], k.pass) {
			passes[c] = append(passes[c], k.pass)
		}
	}
	var names []string
	for name := range spent {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(spent[b], spent[a]), strings.Compare(a, b)) })
	var want []string
	var planned []combination
	for i, name := range names[:10] {
		var mine []combination
		for c := range calls {
			if c.name == name {
				mine = append(mine, c)
			}
		}
		slices.SortFunc(mine, func(a, b combination) int {
			return cmp.Or(cmp.Compare(times[b], times[a]), strings.Compare(a.stage, b.stage), strings.Compare(a.shape, b.shape))
		})
		for _, c := range mine[:min(2, len(mine))] {
			planned = append(planned, c)
			want = append(want, fmt.Sprint([]any{i + 1, c.name, c.stage, c.shape, calls[c], times[c], 1}))
		}
	}
	if got := rows(t, w, "SELECT rank, kernel, stage, grid || ', ' || block, calls, total_ns, source_id FROM ncu_plan('repeats')"); !slices.Equal(got, want) {
		t.Errorf("the plan is\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
	// All before the pass is skipped, replays of graphs too, node by node.
	for _, most := range sample.Of([]struct {
		args             string
		profiled, before int
	}{{"per_kernel := 2", 30, 10_000}, {"per_kernel := 1", 10, 10_000}, {"early := true", 45, 6000}, {"from_start := true", math.MaxInt, 50_000}}, 4) {
		args := most.args
		f, err := queries.Raw(t.Context(), w, "SELECT kernel, stage, grid || ', ' || block, invocation, skip_count, match_nth, before_count FROM ncu_plan('repeats', "+args+")")
		if err != nil {
			t.Fatal(err)
		}
		skip := int(f.Rows[0][4].(int64))
		if (skip == 0) != (args == "from_start := true") {
			t.Errorf("%s: %d launches are skipped", args, skip)
		}
		// After the skipped ones ncu counts each kernel from 1, and matches each chosen one at each chosen number.
		kernels, numbers := map[string]bool{}, map[int64]bool{}
		for _, r := range f.Rows {
			kernels[r[0].(string)], numbers[r[3].(int64)] = true, true
		}
		count, matches, at, last := map[string]int64{}, map[int]int64{}, map[string]int{}, 0
		for i, k := range list[skip:] {
			if count[k.name]++; kernels[k.name] && numbers[count[k.name]] {
				matches[i+skip] = int64(len(matches) + 1)
				at[fmt.Sprint(k.name, count[k.name])] = i + skip
			}
		}
		for _, r := range f.Rows {
			c := combination{r[0].(string), r[1].(string), r[2].(string)}
			i := at[fmt.Sprint(r[0], r[3])]
			k := list[i]
			if last = max(last, i); r[5] != matches[i] || r[6] != int64(i) {
				t.Errorf("%s: %v is match %d after %d launches, want %v and %v", args, k, matches[i], i, r[5], r[6])
			}
			if args != "early := true" && (combination{k.name, k.stage, k.shape} != c || !slices.Contains(passes[c], k.pass)) {
				t.Errorf("%s: the launch of %v is one of %v in pass %d, want one of %d", args, c, k, k.pass, passes[c])
			}
		}
		if n := int(matches[last]); n > most.profiled || last > most.before {
			t.Errorf("%s: %d launches are profiled for %d that are wanted, the last after %d", args, n, len(f.Rows), last)
		}
	}
	if got := rows(t, w, "SELECT count(*), count(DISTINCT stage), min(stage) FROM ncu_plan('repeats', top := 3, per_kernel := 1, stage := 'prefill')"); fmt.Sprint(got) != "[[3 1 prefill]]" {
		t.Errorf("of prefill: %v", got)
	}
	if got := rows(t, w, "WITH p AS MATERIALIZED (SELECT DISTINCT kernel, symbol FROM ncu_plan('repeats', top := 0, per_kernel := 1)) SELECT count(DISTINCT p.kernel) FROM p JOIN kernel_symbol s ON s.symbol = p.symbol JOIN kernel_name n ON n.kernel_name_id = s.kernel_name_id AND n.name = p.kernel"); fmt.Sprint(got) != fmt.Sprintf("[[%d]]", len(names)) {
		t.Errorf("symbols of %v of %d kernels", got, len(names))
	}
}

// TestPlanSkips holds that of kernels that no graph launches none is profiled in vain.
func TestPlanSkips(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Named(t, "eager")...)
	if got := rows(t, w, "SELECT count(*), max(match_nth), min(skip_count) > 0 FROM ncu_plan('eager', per_kernel := 1)"); fmt.Sprint(got) != "[[10 10 true]]" {
		t.Errorf("launches, those that ncu profiles, and whether any are skipped: %v", got)
	}
}

// TestPlanWithout holds that a kernel whose symbol is not known, or that several have, leaves its place to the next ones, and that without
// a pass that is measured all launches count.
func TestPlanWithout(t *testing.T) {
	t.Parallel()
	const symbolOf = "(SELECT kernel_name_id FROM kernel_name WHERE run_id = $run AND name LIKE '%s(%%')"
	runs := testkit.Named(t, "variants-node", "variants-node", "variants-node", "kernels", "variants-node")
	for i, sql := range []string{
		fmt.Sprintf("DELETE FROM kernel_symbol WHERE run_id = $run AND kernel_name_id = "+symbolOf+"; INSERT INTO kernel_symbol SELECT $run, "+symbolOf+", 'another'", "k_g3", "k_g2"),
		"DELETE FROM kernel_symbol WHERE run_id = $run",
		"DELETE FROM path_stage WHERE run_id = $run",
		"UPDATE graph_launch SET body_count = 1 WHERE run_id = $run",
	} {
		runs[i+1].Name, runs[i+1].SQL, runs[i+1].Facts = []string{"some", "none", "no-stage", "conditional"}[i], sql, []string{"work_sum", "stage_pass", "caveat"}
	}
	w := testkit.Warehouse(t, runs...)
	plan := func(run string) (string, string) {
		f := testkit.Query(t, w, "ncu-plan", queries.Args{"run": run}) // notes are of the ten kernels of the most time, launches in no stage too
		return fmt.Sprint(rows(t, w, "SELECT rank FROM ncu_plan('"+run+"', top := 3)")), strings.Join(f.Notes, "\n")
	}
	if got, notes := plan("variants-node"); got != "[[1] [2] [3]]" || notes != "" {
		t.Errorf("ranks %v, notes %q", got, notes)
	}
	if got, notes := plan("some"); got != "[[2] [4] [5]]" || !strings.Contains(notes, "1 top kernel is excluded: its symbol is unknown") || !strings.Contains(notes, "1 top kernel is excluded: several functions share its name") {
		t.Errorf("ranks %v, notes %q", got, notes)
	}
	if got, notes := plan("none"); got != "[]" || !strings.HasPrefix(notes, "the capture has no kernel symbols") {
		t.Errorf("without symbols: %v, %q", got, notes)
	}
	if got := rows(t, w, "SELECT count(*) > 1, min(stage), max(stage), max(skip_count) > 0 FROM ncu_plan('no-stage')"); fmt.Sprint(got) != "[[true (none) (none) true]]" {
		t.Errorf("without stages: %v", got)
	}
	// Kernels that run in graphs with conditional nodes alone have no number, and those of graphs are no matches.
	if got := rows(t, w, `WITH p AS MATERIALIZED (FROM ncu_plan('conditional', top := 0, per_kernel := 0)), k AS (
			SELECT n.name, max(k.graph_node_id IS NULL) AS is_plain
			FROM run r JOIN kernel k USING (run_id) JOIN kernel_name n USING (run_id, kernel_name_id) WHERE r.name = 'conditional' GROUP BY n.name
		)
		SELECT count(*) FILTER (p.invocation IS NULL) > 0, count(p.invocation) > 0, bool_and((p.invocation IS NULL) = (p.match_nth IS NULL)), bool_and(k.is_plain OR p.invocation IS NULL)
		FROM p JOIN k ON k.name = p.kernel`); fmt.Sprint(got) != "[[true true true true]]" {
		t.Errorf("with conditional nodes: %v", got)
	}
}

// TestPlanRanks holds that kernels which wait for other ranks are never planned.
func TestPlanRanks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "nccl2")...)
	f := testkit.Query(t, w, "ncu-plan", queries.Args{"run": "nccl2", "top": "0", "per_kernel": "0"})
	if len(f.Rows) == 0 {
		t.Fatal("nothing is planned")
	}
	if many := testkit.Query(t, w, "ncu-plan", queries.Args{"run": "nccl2", "top": "5000000", "per_kernel": "0"}); !reflect.DeepEqual(many.Rows, f.Rows) { // DuckDB makes a filter on a rank an arg_min of at most a million
		t.Errorf("of at most 5,000,000 kernels %d launches, of all %d", len(many.Rows), len(f.Rows))
	}
	for _, r := range f.Rows {
		if name := r[f.Index("kernel")].(string); strings.Contains(name, "nccl") || r[f.Index("process_count")] != int64(2) || r[f.Index("device_count")] != int64(2) || r[f.Index("rank_id")] != nil {
			t.Errorf("planned: %v", r)
		}
	}
	// Of one process, all launches are its own. Early ones are the first ones of their stage and grid that ncu comes to.
	for _, pid := range []string{"756", "757"} {
		const plan = "ncu_plan('nccl2', top := 0, per_kernel := 0, process := %s, early := %s)"
		late, early := fmt.Sprintf(plan, pid, "false"), fmt.Sprintf(plan, pid, "true")
		if got := rows(t, w, "SELECT DISTINCT pid FROM "+late); fmt.Sprint(got) != "[["+pid+"]]" {
			t.Errorf("of process %s: %v", pid, got)
		}
		if got := rows(t, w, "SELECT e.min < l.min AND e.max <= l.max FROM (SELECT min(before_count) AS min, max(before_count) AS max FROM "+early+") e, (SELECT min(before_count) AS min, max(before_count) AS max FROM "+late+") l"); fmt.Sprint(got) != "[[true]]" {
			t.Errorf("process %s: early launches come no earlier", pid)
		}
	}
	// The rank of a process is that of the trace, or else that of the workload's facts.
	for _, c := range []struct{ said, less string }{
		{"INSERT INTO workload_process (run_id, source_id, process_id, pid, rank_id) SELECT run_id, 9, row_number() OVER (), pid, min(device_id) + 4 FROM kernel GROUP BY run_id, pid", "[[4]]"},
		{"UPDATE process SET rank_id = (SELECT min(k.device_id) + 6 FROM kernel k WHERE k.pid = process.pid)", "[[6]]"},
	} {
		testkit.Exec(t, w, c.said)
		testkit.DeriveOnly(t, w, "work_sum", "stage_pass")
		if got := rows(t, w, "SELECT DISTINCT rank_id - device FROM ncu_plan('nccl2', top := 0, per_kernel := 0)"); fmt.Sprint(got) != c.less {
			t.Errorf("%s: ranks less GPUs %v, want %s", c.said, got, c.less)
		}
	}
	if got := strings.Join(f.Notes, "\n"); !strings.Contains(got, "top kernels are excluded: each waits for other ranks") || !strings.Contains(got, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL") {
		t.Errorf("notes %q", got)
	}
}
