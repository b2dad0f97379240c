package queries_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/trend"
	"prof/schema"
)

// trendRun is a made-up run of a workload with three measured passes of decode and one of prefill, and one pass to warm up. Kernels take so
// many ns of a pass of decode; between them the GPU is idle for idle ns.
type trendRun struct {
	name, key, command string // key: workload_key; "" of a run that prof did not capture
	commit, driver     string
	gpu                string
	tokens             int64 // decoded in each pass
	kernels            map[string]int64
	idle               int64
	noSpan             bool // passes of decode have no device work
	tag                string
}

// trendRuns are n runs of one workload, an hour apart, whose passes differ by 0.5 % at random; step changes them before that.
func trendRuns(n int, step func(i int, r *trendRun)) []trendRun {
	out := make([]trendRun, n)
	for i := range out {
		out[i] = trendRun{name: fmt.Sprintf("run-%02d", i), key: "aaaa1111", commit: fmt.Sprintf("commit-%02d", i/3), driver: "570.1", gpu: "NVIDIA H200", tokens: 16,
			kernels: map[string]int64{"gemm": 200_000, "attention": 300_000, "norm": 100_000}, idle: 400_000}
		if step != nil {
			step(i, &out[i])
		}
	}
	return out
}

// fillTrend puts runs into a warehouse as ingest leaves what comparisons read.
func fillTrend(t *testing.T, w *schema.Warehouse, runs []trendRun) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 11))
	noisy := func(ns int64) int64 { return int64(float64(ns) * (1 + 0.005*random.NormFloat64())) }
	into := map[string][]string{} // one statement for each table: planning takes most of the time
	add := func(table, values string, args ...any) {
		into[table] = append(into[table], fmt.Sprintf(values, args...))
	}
	for i, r := range runs {
		id := fmt.Sprintf("01890000-0000-7000-8000-%012d", i+1)
		command := "NULL"
		if r.command != "" {
			command = schema.Quote(r.command)
		}
		add("run", "('%s', '%s', TIMESTAMP '2026-01-01' + INTERVAL (%d) HOUR, NULL, %s, 'host', 'test')", id, r.name, i, command)
		add("source (run_id, source_id, kind, form, path, tool_version, size_bytes, sha256, row_count, status)", "('%[1]s', 1, 'nsys', 'sqlite', 'p', '2026.1', 1, '%[1]s', 1, 'ok')", id)
		add("device (run_id, source_id, device_id, name)", "('%s', 1, 0, '%s')", id, r.gpu)
		add("source_fact", "('%s', 1, 'driver.version', '%s')", id, r.driver)
		add("run_trait (run_id, gpu, driver)", "('%s', '%s', '%s')", id, r.gpu, r.driver)
		add("run_condition", "('%[1]s', 'driver', '%[2]s', 'clouds', 1), ('%[1]s', 'GPU', '%[3]s', 'decides', 1)", id, r.driver, r.gpu)
		if r.key != "" {
			add("run_condition", "('%s', 'commit', '%s', 'tells', 1)", id, r.commit)
			add("capture (run_id, source_id, mode, command, workload_key, folder, git_commit, git_branch, is_git_dirty, started_at, status)", "('%s', 1, 'light', 'c', '%s', '/f', '%s', 'main', false, TIMESTAMP '2026-01-01', 'ok')",
				id, r.key, r.commit)
		}
		if r.tag != "" {
			add("run_tag", "('%s', 'kind', %s)", id, schema.Quote(r.tag))
		}
		pass := func(rangeID int, stage string, warm bool, tokens int64) {
			sum, work := int64(0), []string{}
			for n, name := range []string{"attention", "gemm", "norm"} {
				ns := noisy(r.kernels[name])
				if warm {
					ns *= 5
				}
				if ns > 0 {
					sum += ns
					work = append(work, fmt.Sprintf("('%s', 1, true, %d, 1, 0, 'kernel', %d, NULL, 1, 1, 1, 1, 1, 1, 2, %d, 1, 1, 0)", id, rangeID, n, ns))
				}
			}
			span := fmt.Sprint(sum + noisy(r.idle))
			if r.noSpan && stage == "decode" {
				span, work = "NULL", nil
			}
			prompt, decoded := "100", "NULL"
			if stage == "decode" {
				prompt, decoded = "NULL", fmt.Sprint(tokens)
			}
			add("stage_pass (run_id, source_id, is_counted, range_id, stage, pass_id, repeat_id, pid, is_warmup, start_ns, prompt_token_count, decode_token_count, sequence_count, cpu_ns, gpu_span_ns, gpu_busy_ns, gpu_sum_ns, kernel_count)", "('%s', 1, true, %d, '%s', %d, 1, 1, %t, %d, %s, %s, 1, %d, %s, %d, %d, 6)", id, rangeID, stage, rangeID, warm, rangeID*1000, prompt, decoded, sum*2, span, sum, sum)
			if len(work) > 0 {
				add("work_sum", "%s", strings.Join(work, ", "))
			}
		}
		pass(1, "prefill", false, 0)
		pass(2, "decode", true, r.tokens)
		for n := range 3 {
			pass(3+n, "decode", false, r.tokens)
		}
		for n, name := range []string{"attention", "gemm", "norm"} {
			add("kernel_name", "('%[1]s', %[2]d, '%[3]s', '%[3]s', %[2]d)", id, n, name)
			add("kernel_class", "('%s', %d, '%s family', NULL, NULL, NULL, NULL)", id, n, name)
		}
	}
	stmts := []string{"BEGIN"}
	for table, values := range into {
		stmts = append(stmts, "INSERT INTO "+table+" VALUES "+strings.Join(values, ", "))
	}
	testkit.Exec(t, w, strings.Join(append(stmts, "COMMIT"), ";\n"))
}

// only derives some facts of every run from the others as they are stored.
func only(t *testing.T, w *schema.Warehouse, names ...string) {
	t.Helper()
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		testkit.Exec(t, w, "DELETE FROM "+name)
	}
	for _, run := range runs {
		tx, err := w.DB.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := (derive.Facts{Only: names}).Derive(t.Context(), tx, run.ID); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

func trendOf(t *testing.T, w *schema.Warehouse, o trend.Options) *trend.Result {
	t.Helper()
	if o.Kernels == 0 {
		o.Kernels = trend.DefaultKernels
	}
	r, err := trend.New(t.Context(), queries.NewAsker(w), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said puts the changes of a trend in short: stage or item, first and last run, and how large the effect is in whole percent.
func said(r *trend.Result) []string {
	var out []string
	for _, c := range r.Changes {
		what := r.Series[c.Series].Stage
		if c.Item != nil {
			what += " " + c.Item.Name
		}
		text := fmt.Sprintf("%s: %s, %s before", what, r.Runs[c.First].Name, r.Runs[c.Last].Name)
		if c.Suspect {
			text += ", suspect"
		}
		for _, m := range c.Moved {
			text += ", " + m.Item.Name
		}
		out = append(out, text)
	}
	return out
}

// TestTrendStep holds that a stage that is 5 % slower from run 12 of 30 on is found there, with the kernel that it comes from and the
// commit between the two runs.
func TestTrendStep(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillTrend(t, w, trendRuns(30, func(i int, r *trendRun) {
		if i >= 12 {
			r.kernels["gemm"] += 50_000 // of 1,000,000 ns
		}
	}))
	r := trendOf(t, w, trend.Options{Stage: "decode"})
	if got, want := said(r), []string{"decode: run-12, run-11 before, gemm"}; !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	c := r.Changes[0]
	if *c.Effect < 0.04 || *c.Effect > 0.06 || c.Verdict != trend.Worse || *c.Moved[0].Effect < 0.24 || *c.Moved[0].Effect > 0.26 {
		t.Errorf("the effect is %v (%s), of gemm %v", *c.Effect, c.Verdict, *c.Moved[0].Effect)
	}
	if want := []trend.Difference{{Aspect: "commit", Before: "commit-03", After: "commit-04", Weight: "tells"}}; !slices.Equal(c.Provenance, want) || !c.Asked {
		t.Errorf("between the two runs %v differs, want %v", c.Provenance, want)
	}
	if r.Workload != "aaaa1111" || len(r.Runs) != 30 || len(r.Series) != 1 || len(r.Series[0].Levels) != 2 {
		t.Errorf("workload %s, %d runs, %d series", r.Workload, len(r.Runs), len(r.Series))
	}
	// Of a change before the runs whose kernels are searched, it is not said what moved.
	r = trendOf(t, w, trend.Options{Stage: "decode", KernelRuns: 15})
	if got, want := said(r), []string{"decode: run-12, run-11 before"}; !slices.Equal(got, want) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "latest 15 of 30 runs") {
		t.Errorf("found %q, want %q; notes %q", got, want, r.Notes)
	}
}

// TestTrendQuiet holds that noise, a single outlier and runs without a value are no changes, and that the last are gaps.
func TestTrendQuiet(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(i int, r *trendRun){
		"noise": nil,
		"outlier": func(i int, r *trendRun) {
			if i == 14 {
				r.kernels["gemm"] *= 3
				r.idle *= 2
			}
		},
		"gaps": func(i int, r *trendRun) { r.noSpan = i == 5 || i >= 11 && i < 15 },
	} {
		t.Run(name, func(t *testing.T) {
			w := testkit.Copy(t)
			runs := trendRuns(30, step)
			fillTrend(t, w, runs)
			r := trendOf(t, w, trend.Options{})
			if got := said(r); len(got) > 0 {
				t.Errorf("found %q", got)
			}
			stages := []string{}
			for _, s := range r.Series {
				stages = append(stages, s.Stage)
				for i, p := range s.Points {
					if gap := runs[i].noSpan && s.Stage == "decode"; (p.Value == nil) != gap || gap && p.Passes != 0 {
						t.Errorf("%s of run %d is %v of %d passes", s.Stage, i, p.Value, p.Passes)
					}
				}
			}
			if !slices.Equal(stages, []string{"prefill", "decode"}) {
				t.Errorf("the stages are %q", stages)
			}
			f := r.Frame()
			for _, cells := range f.Rows {
				if v := cells[f.Index("gpu_span_ns")]; v == 0.0 {
					t.Errorf("a value that is not known is 0: %v", cells)
				}
			}
		})
	}
}

// TestTrendSuspect holds that one last run that is off is told apart from a change.
func TestTrendSuspect(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillTrend(t, w, trendRuns(20, func(i int, r *trendRun) {
		if i == 19 {
			r.idle += 200_000
		}
	}))
	r := trendOf(t, w, trend.Options{Stage: "decode"})
	if got, want := said(r), []string{"decode: run-19, run-18 before, suspect, idle"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if n := len(r.Series[0].Levels); n != 1 {
		t.Errorf("a suspect makes %d levels", n)
	}
}

// TestTrendKernels holds that a kernel that moved without its stage is named by itself, and one that came or went with its first run.
func TestTrendKernels(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillTrend(t, w, trendRuns(24, func(i int, r *trendRun) {
		if i >= 8 { // the stage takes as long
			r.kernels["gemm"], r.idle = r.kernels["gemm"]+50_000, r.idle-50_000
		}
		if i >= 16 {
			r.kernels["norm"], r.kernels["attention"] = 0, r.kernels["attention"]-100_000
		}
	}))
	r := trendOf(t, w, trend.Options{Stage: "decode"})
	if got, want := said(r), []string{"decode gemm: run-08, run-07 before", "decode idle: run-08, run-07 before", "decode: run-16, run-15 before, norm, attention"}; !slices.Equal(got, want) &&
		!slices.Equal(got, []string{want[1], want[0], "decode: run-16, run-15 before, attention, norm"}) {
		t.Fatalf("found %q, want %q", got, want)
	}
	for _, m := range r.Changes[2].Moved {
		if m.Item.Name == "norm" && (m.After != 0 || *m.Effect != -1 || m.Verdict != trend.Better) {
			t.Errorf("norm is gone: %+v", m)
		}
	}
	if none := trendOf(t, w, trend.Options{Stage: "decode", Kernels: -1}); len(none.Changes) != 1 || none.Changes[0].Moved != nil {
		t.Errorf("without kernels: %q", said(none))
	}
}

// TestTrendSeries holds that runs with other tokens or on another GPU are no part of the series, and which runs a workload has.
func TestTrendSeries(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	runs := trendRuns(16, func(i int, r *trendRun) {
		if i < 4 {
			r.gpu, r.idle = "NVIDIA A100", 900_000
		}
		if i == 9 {
			r.tokens, r.idle = 32, 1_400_000
		}
		if i%2 == 0 {
			r.tag = "even, or so"
		}
	})
	runs = append(runs, trendRun{name: "other", key: "aaaa2222", gpu: "NVIDIA H200", kernels: map[string]int64{"gemm": 1000}, tokens: 1},
		trendRun{name: "typed", command: "python a.py", gpu: "NVIDIA H200", kernels: map[string]int64{"gemm": 1000}, tokens: 1},
		trendRun{name: "typed again", command: "python a.py", gpu: "NVIDIA H200", kernels: map[string]int64{"gemm": 1000}, tokens: 1},
		trendRun{name: "nameless", gpu: "NVIDIA H200", kernels: map[string]int64{"gemm": 1000}, tokens: 1})
	fillTrend(t, w, runs)
	r := trendOf(t, w, trend.Options{Workload: "run-03", Stage: "decode"})
	var got []string
	for _, s := range r.Series {
		got = append(got, fmt.Sprintf("%s %d: %d runs, latest %t", s.Same.GPU, *s.Same.Decode, len(s.Points), s.Latest))
	}
	if want := []string{"NVIDIA H200 16: 11 runs, latest true", "NVIDIA H200 32: 1 runs, latest false", "NVIDIA A100 16: 4 runs, latest false"}; !slices.Equal(got, want) || len(r.Changes) > 0 {
		t.Errorf("series %q, changes %q; want %q", got, said(r), want)
	}
	for _, c := range []struct {
		o    trend.Options
		want string // workload and number of runs, or what the error says
	}{
		{trend.Options{}, "python a.py 2"}, // of the latest run its workload is not known
		{trend.Options{Workload: "aaaa1"}, "aaaa1111 16"},
		{trend.Options{Workload: "aaaa1", Tags: []string{"kind=even, or so"}}, "aaaa1111 8"},
		{trend.Options{Tags: []string{"kind=even, or so"}}, "aaaa1111 8"},
		{trend.Options{Workload: "aaaa2222"}, "aaaa2222 1"},
		{trend.Options{Workload: "typed"}, "python a.py 2"},
		{trend.Options{Workload: "run-1"}, "could be"},
		{trend.Options{Workload: "aaaa"}, "2 workloads begin with aaaa"},
		{trend.Options{Workload: "nameless"}, "nameless was not made by prof capture"},
		{trend.Options{Workload: "zzzz"}, `begins with "zzzz"`},
		{trend.Options{Tags: []string{"kind=odd"}}, "with the tag kind=odd"},
	} {
		found, err := queries.FindWorkload(t.Context(), w, c.o.Workload, c.o.Tags, false)
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%s %d", found.Key, found.Count)
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s; want %s", c.o, got, c.want)
		}
	}
	if _, err := trend.New(t.Context(), queries.NewAsker(w), trend.Options{Metric: "speed"}); !errors.Is(err, queries.ErrBadArgument) {
		t.Errorf("a metric that is none: %v", err)
	}
}

// TestTrendRows holds the rows of the query to those of the tables: the median of measured passes, and figures where they were asked for.
func TestTrendRows(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	fillTrend(t, w, trendRuns(3, nil))
	testkit.Exec(t, w, `INSERT INTO stage_figure SELECT run_id, 'decode', 'GPU', 'bf16', 1e9, 25e13, 1e12, 3e14, NULL FROM run WHERE name = 'run-01';
		INSERT INTO device_peak SELECT 'user', 'GPU', unnest(['tensor_bf16', 'dram']), '', unnest([1e15, NULL]), unnest([NULL, 4e12]), '', '', DATE '2026-01-31';
		INSERT INTO run SELECT * REPLACE ('whole' AS name, '01890000-0000-7000-8000-00000000000a'::UUID AS run_id) FROM run WHERE name = 'run-02';
		INSERT INTO capture SELECT * REPLACE ('01890000-0000-7000-8000-00000000000a'::UUID AS run_id) FROM capture LIMIT 1;
		INSERT INTO work_sum SELECT * REPLACE ('01890000-0000-7000-8000-00000000000a'::UUID AS run_id, 0 AS range_id, 2 AS sum_ns) FROM work_sum WHERE range_id = 1 LIMIT 2;
		INSERT INTO device_time SELECT '01890000-0000-7000-8000-00000000000a', 1, 0, NULL, 100, 150, 4, 0, 0, 0, 1;
		UPDATE stage_pass SET cpu_ns = range_id * 10, prompt_token_count = 0 WHERE stage = 'decode'`)
	for stmt, want := range map[string]string{
		"SELECT run, value, mean, std, passes, commit, driver, gpu, tool, decode_token_count FROM trend(stage := 'decode', metric := 'cpu_ns') WHERE run = 'run-00'": "[run-00 40 40 10 3 commit-00 570.1 NVIDIA H200 nsys 16]",
		"SELECT list(run || ' ' || coalesce(value::VARCHAR, '-') || ' ' || passes) FROM trend(stage := 'decode', metric := 'mfu_ratio')":                             "[[\"run-00 - 0\",\"run-01 0.25 3\",\"run-02 - 0\"]]",
		"SELECT value FROM trend(stage := 'decode', metric := 'mbu_ratio') WHERE run = 'run-01'":                                                                     "[0.25]",
		`SELECT value = (SELECT min(prompt_token_count + decode_token_count) / (median(gpu_span_ns) / 1e9) FROM stage_pass p WHERE p.run_id = t.run_id AND p.stage = t.stage AND NOT p.is_warmup)
			FROM trend(stage := 'decode', metric := 'tokens_per_s') t WHERE run = 'run-01'`: "[true]",
		"SELECT count(*), bool_and(t.value = (SELECT median(p.gpu_span_ns) FROM stage_pass p WHERE p.run_id = t.run_id AND p.stage = t.stage AND NOT p.is_warmup)) FROM trend() t WHERE t.stage <> '(run)'": "[6 true]",
		"SELECT run, value, passes FROM trend(stage := '(run)')": "[whole 50 1]",
		// Kernels add up to the mean sum of passes, and with idle time to the mean span.
		`SELECT count(*), max(abs(x.work - y.sum)) < 1e-6, max(abs(x.work + x.idle - y.span)) < 1e-6
			FROM (SELECT run_id, stage, sum(pass_ns) FILTER (kind <> 'idle') AS work, sum(pass_ns) FILTER (kind = 'idle') AS idle FROM trend_work(top := 0) GROUP BY ALL) x
			JOIN (SELECT run_id, stage, avg(gpu_sum_ns) AS sum, avg(gpu_span_ns) AS span FROM stage_pass WHERE NOT is_warmup GROUP BY ALL) y ON y.run_id = x.run_id AND y.stage = x.stage`: "[6 true true]",
		"SELECT list(DISTINCT run) FROM trend_work(last := 1)":                                                                    "[[\"whole\"]]",
		"SELECT list(DISTINCT name ORDER BY name) FROM trend_work(stage := 'decode', top := 1)":                                   "[[\"attention\",\"idle\"]]",
		"SELECT list(DISTINCT name ORDER BY name), min(pass_launch_count) FROM trend_work(stage := 'decode', \"by\" := 'family')": "[[\"attention family\",\"gemm family\",\"idle\",\"norm family\"] 2]",
	} {
		if got := rows(t, w, stmt); len(got) != 1 || got[0] != want {
			t.Errorf("%s gives %s, want %s", stmt, got, want)
		}
	}
	// A kernel that another profiler writes in another way is the same kernel.
	testkit.Exec(t, w, `UPDATE kernel_name SET name = 'written otherwise', name_hash = 7 WHERE name = 'attention' AND run_id = (SELECT run_id FROM run WHERE name = 'run-02');
		DELETE FROM kernel_spelling; INSERT INTO kernel_spelling SELECT run_id, kernel_name_id, CASE name WHEN 'written otherwise' THEN 'attention' ELSE name END FROM kernel_name;
		INSERT INTO kernel_name SELECT run_id, 99, 'of a capture that is not counted', 'x', 8 FROM run; INSERT INTO kernel_spelling SELECT run_id, 99, 'attention' FROM run`)
	if got := rows(t, w, `SELECT count(DISTINCT name), count(*) FROM trend_work(stage := 'decode', top := 0) WHERE family = 'attention family'`); len(got) != 1 || got[0] != "[1 3]" {
		t.Errorf("a kernel of two names with one spelling: %s", got)
	}
	// Utilisation is by the peaks of today; a pass above the peak is an error in what was given.
	for peak, want := range map[string]string{"5e14": "[0.5]", "2e14": "[<nil>]"} {
		testkit.Exec(t, w, "UPDATE device_peak SET flop_per_s = "+peak+" WHERE device = 'GPU' AND resource = 'tensor_bf16'")
		if got := rows(t, w, "SELECT value FROM trend(stage := 'decode', metric := 'mfu_ratio') WHERE run = 'run-01'"); len(got) != 1 || got[0] != want {
			t.Errorf("with a peak of %s: %s, want %s", peak, got, want)
		}
	}
}
