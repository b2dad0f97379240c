package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// historic makes runs of one workload, each of two measured passes of decode and one to warm up. A text tells a run: its name, commit,
// whether that is dirty, host, driver, content of its capture, and the time of a pass.
func historic(t *testing.T, w *schema.Warehouse, texts ...string) {
	t.Helper()
	for i, text := range texts {
		v := strings.Fields(text)
		id := fmt.Sprintf("01890000-0000-7000-8000-%012d", i+1)
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO run SELECT '%[1]s', '%[2]s', TIMESTAMP '2026-01-01', NULL, 'c', '%[5]s', 'test';
			INSERT INTO source SELECT '%[1]s', 1, 'nsys', 'sqlite', 'f', NULL, '2025.3', NULL, 1, '%[7]s', 1, 'ok', NULL, NULL, 1, NULL, NULL, NULL;
			INSERT INTO capture SELECT '%[1]s', 2, 'light', 'c', 'key', '/f', nullif('%[3]s', '-'), 'main', %[4]s, TIMESTAMP '2026-01-01', 1, 'ok', NULL, NULL;
			INSERT INTO device (run_id, source_id, device_id, name) SELECT '%[1]s', 1, 0, 'GPU';
			INSERT INTO source_fact SELECT '%[1]s', 1, 'driver.version', '%[6]s';
			INSERT INTO stage_pass (run_id, source_id, is_counted, range_id, stage, pass_id, repeat_id, pid, is_warmup, start_ns, cpu_ns, gpu_span_ns, gpu_busy_ns, gpu_sum_ns) SELECT '%[1]s', 1, true, n, 'decode', n, 1, 1, n = 0, n, 2 * %[8]s + n, %[8]s + n, %[8]s, %[8]s FROM range(3) x(n)`,
			id, v[0], v[1], v[2], v[3], v[4], v[5], v[6]))
	}
}

// TestRunNoise holds which runs are of the same thing, and what is told of each.
func TestRunNoise(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	historic(t, w, "a1 aaa false box 1 x1 100", "a2 aaa false box 1 x2 110", "copy aaa false box 1 x2 110", "dirty aaa true box 1 x4 500", "elsewhere aaa false far 1 x5 600", "driver aaa false box 2 x6 130",
		"b1 bbb false box 1 x7 200", "b2 bbb false box 1 x8 210", "bare - NULL box 1 x9 700", "lone ccc false box 1 x10 800")
	ask := func(run string, args ...string) []string {
		t.Helper()
		a := queries.Args{"run": run}
		for _, arg := range args {
			name, value, _ := strings.Cut(arg, "=")
			a[name] = value
		}
		f := testkit.Query(t, w, "run-noise", a)
		var out []string
		for _, r := range f.Rows {
			group, _, _ := strings.Cut(r[f.Index("group_name")].(string), ",")
			out = append(out, fmt.Sprint(group, " ", r[f.Index("run")], " ", r[f.Index("repeat")], " ", r[f.Index("stage")], " ", r[f.Index("passes")], " ", r[f.Index("gpu_span_ns")], " ", r[f.Index("gpu_busy_ns")], " ", r[f.Index("cpu_ns")]))
		}
		return out
	}
	only(t, w, "run_trait")
	want := "[commit aaa a1 1 decode 2 101.5 100 201.5 commit aaa a2 1 decode 2 111.5 110 221.5 commit bbb b1 1 decode 2 201.5 200 401.5 commit bbb b2 1 decode 2 211.5 210 421.5]"
	for _, run := range []string{"a1", "dirty", "bare", "driver", "lone"} { // the machine and the workload are asked for, not the code
		if got := fmt.Sprint(ask(run)); got != want {
			t.Errorf("%s:\n %s, want\n %s", run, got, want)
		}
	}
	if got := ask("elsewhere"); len(got) > 0 {
		t.Errorf("a machine with one run has the history %q", got)
	}
	if got := ask("a1", "stage=prefill"); len(got) > 0 {
		t.Errorf("a stage that no run has: %q", got)
	}
	if got := fmt.Sprint(ask("a1", "stage=decode")); got != want {
		t.Errorf("by stage:\n %s, want\n %s", got, want)
	}

	// Other inputs or packages are another thing; repeats within a run are rows of their own.
	testkit.Exec(t, w, `INSERT INTO capture_input (run_id, source_id, path, size_bytes, sha256) SELECT run_id, 2, 'p', 1, 'other' FROM run WHERE name = 'a2'; INSERT INTO source_fact SELECT run_id, 2, 'env.python.packages.torch', '9' FROM run WHERE name = 'b2';
		UPDATE stage_pass SET repeat_id = range_id WHERE run_id = (SELECT run_id FROM run WHERE name = 'lone')`)
	only(t, w, "run_trait")
	if got, want := fmt.Sprint(ask("a1")), "[commit ccc lone 1 decode 1 801 800 1601 commit ccc lone 2 decode 1 802 800 1602]"; got != want {
		t.Errorf("other inputs and packages:\n %s, want\n %s", got, want)
	}

	// Runs without any pass of a stage are compared by all their device work.
	testkit.Exec(t, w, `DELETE FROM stage_pass; DELETE FROM capture_input; INSERT INTO device_time SELECT run_id, 1, 0, NULL, 0, 50, 30, 1, 2, 0, 1 FROM run WHERE name IN ('a1', 'a2')`)
	only(t, w, "run_trait")
	if got, want := fmt.Sprint(ask("a1")), "[commit aaa a1 1 <nil> 1 50 33 <nil> commit aaa a2 1 <nil> 1 50 33 <nil>]"; got != want {
		t.Errorf("without stages:\n %s, want\n %s", got, want)
	}
	testkit.Exec(t, w, "UPDATE capture SET workload_key = run_id::VARCHAR")
	only(t, w, "run_trait")
	if got := ask("a1"); len(got) > 0 {
		t.Errorf("a workload of its own has the history %q", got)
	}
}

// TestServingNoise holds which benchmarks are of the same thing: those of runs of one workload, machine and state of the code, each once.
func TestServingNoise(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	historic(t, w, "a1 aaa false box 1 x1 100", "a2 aaa false box 1 x2 110", "a3 aaa false box 1 x3 110", "dirty aaa true box 1 x4 500", "elsewhere aaa false far 1 x5 600", "b1 bbb false box 1 x7 200", "bare - NULL box 1 x9 700")
	testkit.Exec(t, w, `INSERT INTO source (run_id, source_id, kind, form, path, size_bytes, sha256, row_count, status) SELECT run_id, 3, 'serving', 'vllm-bench', 'f.json', 1, CASE WHEN name = 'a3' THEN 'of a2' ELSE 'of ' || name END, 1, 'ok' FROM run;
		INSERT INTO serving_benchmark (run_id, source_id, benchmark_id, tool, concurrency_limit_count, output_tokens_per_s) SELECT run_id, 3, n, 'vllm-bench', 8 * n, 500 FROM run, range(1, 3) x(n);
		INSERT INTO serving_benchmark_latency (run_id, source_id, benchmark_id, metric, reported_as, mean_ns, p99_ns) SELECT run_id, 3, n, 'ttft', 'ttft', 10 * n, 20 * n FROM run, range(1, 3) x(n)`)
	only(t, w, "run_trait", "served")
	for run, want := range map[string]string{"a1": "a1 1 8 10 20 500; a1 2 16 20 40 500; a2 1 8 10 20 500; a2 2 16 20 40 500; b1 1 8 10 20 500; b1 2 16 20 40 500", "elsewhere": "elsewhere 1 8 10 20 500; elsewhere 2 16 20 40 500"} {
		f := testkit.Query(t, w, "serving-noise", queries.Args{"run": run})
		var got []string
		for _, r := range f.Rows {
			got = append(got, fmt.Sprint(r[f.Index("run")], " ", r[f.Index("benchmark")], " ", r[f.Index("concurrency_limit_count")], " ", r[f.Index("ttft_mean_ns")], " ", r[f.Index("ttft_p99_ns")], " ", r[f.Index("output_tokens_per_s")]))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %s, want %s", run, text, want)
		}
	}
}
