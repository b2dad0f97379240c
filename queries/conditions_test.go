package queries_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// conditions returns what is stored of a run, from passes and work as they are, and its tags: by aspect the value, the weight and the source.
func conditions(t *testing.T, w *schema.Warehouse, run string) map[string]string {
	t.Helper()
	only(t, w, "run_condition")
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT c.aspect, c.value, c.weight, c.source_id FROM run_condition c JOIN run r USING (run_id) WHERE r.name = '%[1]s'
		UNION ALL SELECT 'tag ' || t.key, t.value, 'tells', NULL FROM run_tag t JOIN run r USING (run_id) WHERE r.name = '%[1]s'`, run))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range f.Rows {
		at := func(name string) any { return r[f.Index(name)] }
		if _, twice := out[fmt.Sprint(at("aspect"))]; twice {
			t.Errorf("%s: two rows of %v", run, at("aspect"))
		}
		out[fmt.Sprint(at("aspect"))] = fmt.Sprintf("%v|%v|%v", at("value"), at("weight"), at("source_id"))
	}
	return out
}

// sayConditions holds what is said of a run by aspect; <absent> stands for nothing.
func sayConditions(t *testing.T, what string, got map[string]string, want map[string]string) {
	t.Helper()
	for _, aspect := range slices.Sorted(maps.Keys(want)) {
		is, ok := got[aspect]
		if !ok {
			is = "<absent>"
		}
		if is != want[aspect] {
			t.Errorf("%s: %s is %q, want %q", what, aspect, is, want[aspect])
		}
	}
}

// TestConditions holds what is said of a run that prof captured, and of others.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, capturedRun(t))
	sayConditions(t, "captured", conditions(t, w, "repeats"), map[string]string{
		"GPU": "NVIDIA H200|decides|<nil>", "SMs": "132|decides|<nil>", "maximum SM clock": "1980 MHz|decides|<nil>", "MIG": "off|decides|<nil>", "power limit": "700 W|clouds|<nil>", "ECC": "on|clouds|<nil>",
		"GPU UUID": "e835296f-5e8e-aa0b-5f6c-4bf5e7a2ea39|tells|<nil>", "SM clock": "1980 MHz|clouds|4", "throttling": "12.5 % of samples: sw_power_cap|clouds|4", "other processes": "0.0 % of samples|clouds|4",
		"driver": "580.159|clouds|4", "CUDA of the driver": "13.0|clouds|<nil>", "CPU": "a CPU|clouds|4", "CPU cores": "8|clouds|4", "Python": "3.12.3|clouds|4", "variable CUDA_VISIBLE_DEVICES": "0|clouds|4",
		"host": "box|clouds|<nil>", "nsys version": "2025.3.2.0|clouds|<nil>", "nsys trace of CUDA graphs": "Node|clouds|<nil>", "nsys backtraces of OS calls": "on|clouds|<nil>", "CUDA graphs": "used|tells|<nil>",
		"capture mode": "deep|clouds|4", "profiler": "nsys|decides|<nil>", "processes": "1|decides|<nil>", "commit": "0123456789abcdef0123456789abcdef01234567|tells|4", "branch": "main|tells|4", "uncommitted changes": "yes|tells|4",
		"command": "python3 run.py --tokens 32|tells|4", "folder": "~/run|tells|4", "workload key": "6d61646520757020|tells|4", "input prompt.txt": "aaaaaaaaaaaaaaaa|decides|4", "input gone.txt": "not readable|decides|4",
		"completeness": "partial: recording ncu-1: failed: ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)|clouds|4", "prompt tokens": "512|decides|<nil>", "model": "llama|decides|3", "torch with_stack": "<absent>"})

	// Samples of a GPU that none of its kernels ran on say nothing of it, until no UUID tells which it is.
	testkit.Exec(t, w, "UPDATE device_sample SET sm_clock_hz = 1000000000, other_process_count = 1 WHERE device_id = 1; UPDATE device_sample SET sm_clock_hz = sm_clock_hz // 2, throttle_mask = 0 WHERE device_id = 0")
	sayConditions(t, "half the clock", conditions(t, w, "repeats"), map[string]string{"SM clock": "990 MHz|clouds|4", "throttling": "0.0 % of samples|clouds|4", "other processes": "0.0 % of samples|clouds|4"})
	testkit.Exec(t, w, "UPDATE device SET uuid = NULL; UPDATE device_sample SET sm_ratio = NULL WHERE device_id = 0")
	sayConditions(t, "no UUID", conditions(t, w, "repeats"), map[string]string{"SM clock": "1000 MHz|clouds|4", "other processes": "50.0 % of samples|clouds|4", "power limit": "<absent>", "GPU UUID": "<absent>", "GPU": "NVIDIA H200|decides|<nil>"})
	testkit.Exec(t, w, "UPDATE device_sample SET sm_ratio = NULL")
	sayConditions(t, "nothing of work", conditions(t, w, "repeats"), map[string]string{"SM clock": "<absent>"})

	// Facts as env.json has them.
	testkit.Exec(t, w, `INSERT INTO source_fact SELECT run_id, 4, k, v FROM run, (VALUES ('env.python.packages.torch', '2.11.0'), ('env.device_details.0.application_sm_clock_hz', '1500000000'),
		('env.device_details.1.application_sm_clock_hz', '1500000000'), ('env.memory.total_bytes', '1'), ('env.python.torch_cuda', '13.0')) x(k, v); INSERT INTO run_tag SELECT run_id, 'branch', 'main' FROM run`)
	sayConditions(t, "facts", conditions(t, w, "repeats"), map[string]string{"package torch": "2.11.0|clouds|4", "application clock": "1500 MHz|clouds|4", "CUDA of torch": "13.0|clouds|4", "tag branch": "main|tells|<nil>", "package env.memory.total_bytes": "<absent>"})
}

// TestConditionsOfWork holds what is said of tokens, precision and model.
func TestConditionsOfWork(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "llama-graph-node", "nccl2", "profiled", "train-stack", "torch-llama")...)
	const made = "llama-graph-node"
	const own = "FROM run WHERE name = '" + made + "'"
	testkit.Exec(t, w, `DELETE FROM stage_pass; DELETE FROM work_sum; INSERT INTO model (run_id, source_id, model_id, name, family, hidden_size, vocab_size, layer_count, dtype) SELECT run_id, 1, 1, 'a model', 'llama', 64, 100, 2, 'bf16' `+own+`;
		INSERT INTO workload_pass (run_id, source_id, pass_id, is_warmup, prefill_count, decode_count, batch_count, image_count) SELECT run_id, 1, 1, true, 1, 1, 1, 1 `+own+` UNION ALL SELECT run_id, 1, 2, false, 512, 16, 4, 3 `+own)
	sayConditions(t, "the workload alone", conditions(t, w, made), map[string]string{"prompt tokens": "2048|decides|<nil>", "decoded tokens": "64|decides|<nil>", "sequences": "4|decides|<nil>", "images": "3|decides|<nil>", "crops": "<absent>",
		"model": "a model|decides|1", "model configuration": "llama, 2 layers, hidden size 64, vocabulary 100|decides|1", "precision of the model": "bf16|decides|1", "precision of kernels": "<absent>", "CUDA graphs": "used|tells|<nil>"})
	passes := func(rows ...string) string {
		return "INSERT INTO stage_pass (run_id, is_counted, source_id, range_id, stage, pass_id, repeat_id, pid, is_warmup, start_ns, prompt_token_count, decode_token_count) SELECT run_id, true, x.* FROM (SELECT run_id " + own + "), (VALUES " + strings.Join(rows, ", ") + ") x"
	}
	testkit.Exec(t, w, passes("(1, 1, 'prefill', 1, 1, 7, true, 0, 9, NULL)", "(1, 2, 'prefill', 2, 1, 7, false, 0, 100, NULL)", "(1, 3, 'prefill', 3, 1, 7, false, 0, 100, NULL)", "(1, 4, 'prefill', 4, 1, 8, false, 0, 400, NULL)",
		"(1, 5, 'decode', 1, 1, 7, false, 0, NULL, 32)", "(1, 6, 'decode', 2, 1, 7, false, 0, NULL, 32)"))
	sayConditions(t, "passes", conditions(t, w, made), map[string]string{"prompt tokens": "100, 400; mean 200.0|decides|<nil>", "decoded tokens": "32|decides|<nil>", "processes": "2|decides|<nil>", "sequences": "4|decides|<nil>"})
	testkit.Exec(t, w, passes("(1, 7, 'prefill', 5, 1, 7, false, 0, 1, NULL)", "(1, 8, 'prefill', 6, 1, 7, false, 0, 2, NULL)", "(1, 9, 'prefill', 7, 1, 7, false, 0, 3, NULL)"))
	sayConditions(t, "many values", conditions(t, w, made), map[string]string{"prompt tokens": "1 to 400; mean 101.0|decides|<nil>"})

	// Matrix kernels tell the precision, other kernels do not, and less than a tenth of the time is too little. Most of it must tell.
	testkit.Exec(t, w, `DELETE FROM kernel_name; DELETE FROM kernel_class; INSERT INTO kernel_name SELECT run_id, i, n, n, i `+strings.Replace(own, "FROM run", "FROM run, (VALUES (1, 'a_bf16_gemm'), (2, 'cutlass_e4m3_gemm'), (3, 'copy__half'), (4, 'sgemm'), (5, 'nvjet_gemm')) x(i, n)", 1)+`;
		INSERT INTO kernel_class (run_id, kernel_name_id, family, role, rule_origin, rule_priority) SELECT run_id, kernel_name_id, 'gemm', 'gemm', 'built-in', 1 FROM kernel_name WHERE name LIKE '%gemm'`)
	work := func(id, ns int) string {
		return fmt.Sprintf("INSERT INTO work_sum (run_id, source_id, range_id, repeat_id, device_id, kind, kernel_name_id, launch_count, sum_ns, min_ns, max_ns, deviation_ns2) SELECT run_id, 1, 0, 1, 0, 'kernel', %d, 1, %[2]d, %[2]d, %[2]d, 0 %s", id, ns, own)
	}
	for _, c := range []struct{ stmt, want string }{{work(3, 5000), "<absent>"}, {work(1, 880), "bf16|decides|<nil>"}, {work(4, 40), "bf16|decides|<nil>"}, {work(2, 800), "bf16, fp8|decides|<nil>"}, {work(5, 2000), "<absent>"}} {
		testkit.Exec(t, w, c.stmt)
		sayConditions(t, c.stmt, conditions(t, w, made), map[string]string{"precision of kernels": c.want})
	}

	sayConditions(t, "two GPUs", conditions(t, w, "nccl2"), map[string]string{"GPU": "2 x NVIDIA H200|decides|<nil>", "processes": "2|decides|<nil>", "CUDA graphs": "not used|tells|<nil>", "commit": "<absent>", "SM clock": "<absent>"})
	testOthers(t, w, "nccl2", "torch-llama", made)
	testkit.Exec(t, w, "DELETE FROM source WHERE kind = 'nsys' AND run_id = (SELECT run_id FROM run WHERE name = 'profiled'); DELETE FROM source_fact WHERE key = 'torch.with_modules'")
	sayConditions(t, "ncu alone", conditions(t, w, "profiled"), map[string]string{"GPU": "NVIDIA H200|decides|<nil>", "profiler": "<absent>", "ncu clock control": "none|clouds|<nil>", "CUDA graphs": "<absent>"})
	sayConditions(t, "torch", conditions(t, w, "train-stack"), map[string]string{"profiler": "torch|decides|<nil>", "torch with_stack": "on|clouds|1", "torch with_modules": "<absent>", "CUDA runtime": "13.0|clouds|1", "CUDA graphs": "<absent>"})
}

// testOthers holds that several runs asked of together are told of as each alone.
func testOthers(t *testing.T, w *schema.Warehouse, runs ...string) {
	t.Helper()
	var ids, want []string
	for _, run := range runs {
		ids = append(ids, strings.Trim(rows(t, w, "SELECT run_id::VARCHAR FROM run WHERE name = '"+run+"'")[0], "[]"))
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		want = append(want, asText(testkit.Query(t, w, "run-conditions", queries.Args{"run": id}))...)
	}
	if got := asText(testkit.Query(t, w, "run-conditions", queries.Args{"run": ids[0], "others": strings.Join(ids[1:], ",")})); !slices.Equal(got, want) {
		t.Errorf("together\n%q, one by one\n%q", got, want)
	}
	q, err := queries.Find("run-conditions")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queries.Run(t.Context(), w, q, queries.Args{"run": ids[0], "others": runs[1]}); err == nil {
		t.Error("a name among the ids is taken")
	}
}
