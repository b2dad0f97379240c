package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/schema"
)

// TestMemoryPeaks: peaks of stages by PyTorch's allocator, timed or traced, and by NVML, each apart from the others, and what is only known within bounds.
func TestMemoryPeaks(t *testing.T) {
	t.Parallel()
	in := func(table, columns, rows string) string {
		return fmt.Sprintf("INSERT INTO %s (run_id, %s) SELECT $run, * FROM (VALUES %s)", table, columns, rows)
	}
	rowsOfAll := []string{
		"UPDATE source SET started_at = TIMESTAMP '2026-01-01 00:00:01' WHERE run_id = $run",
		in("capture_pass", "source_id, pass_id, name, tool, mode, repeat_id, command, started_at, status, is_marked",
			"(2, 1, 'baseline-1', 'none', 'baseline', 1, '', TIMESTAMP '2026-01-01', 'ok', true), (2, 2, 'nsys-1', 'nsys', 'deep', 1, '', TIMESTAMP '2026-01-01', 'ok', true)"),
		in("capture_source", "pass_id, captured_source_id", "(2, 1)"),
		in("device", "source_id, device_id, name, uuid", "(1, 0, 'H200', 'a')"),
		in("device_time", "source_id, device_id, start_ns, end_ns, kernel_ns, graph_ns, copy_ns, other_ns, gap_count", "(1, 0, 0, 0, 0, 0, 0, 0, 0)"),
		in("capture_device", "source_id, device_id, uuid", "(2, 0, 'GPU-b'), (2, 3, 'GPU-a')"),
		// Of the second pass of nsys-1: between the stages, in both prefills, in the last decode. Another GPU is not the workload's.
		in("device_sample", "source_id, pass_id, device_id, time_ns, memory_used_bytes",
			"(2, 2, 3, 1000000000 + 40, 70), (2, 2, 3, 1000000000 + 90, 99), (2, 2, 3, 1000000000 + 240, 80), (2, 2, 3, 1000000000 + 380, 60), (2, 2, 3, 1000000000 + 500, NULL), (2, 2, 0, 1000000000 + 40, 5000), (2, 1, 3, 7, 50), (2, 1, 0, 8, 4000)"),
		// Two executions of each stage. The first prefill raised both peaks; nothing later raised that of allocated, and the last decode that of reserved.
		in("stage_execution", "source_id, pass_id, pid, execution_id, path, is_warmup, cpu_ns", "(2, 1, 7, 1, 'prefill', false, 1), (2, 1, 7, 2, 'decode_all', false, 1), (2, 1, 7, 3, 'prefill', false, 1), (2, 1, 7, 4, 'decode_all', false, 1)"),
		in("execution_memory", "source_id, pass_id, pid, execution_id, device_id, allocated_before_bytes, allocated_after_bytes, allocated_peak_before_bytes, allocated_peak_after_bytes, reserved_before_bytes, reserved_after_bytes, reserved_peak_before_bytes, reserved_peak_after_bytes",
			"(2, 1, 7, 1, 0, 10, 12, 10, 30, 20, 40, 20, 40), (2, 1, 7, 2, 0, 12, 14, 30, 30, 40, 40, 40, 40), (2, 1, 7, 3, 0, 10, 12, 30, 30, 40, 40, 40, 40), (2, 1, 7, 4, 0, 12, 15, 30, 30, 40, 45, 40, 45)"),
	}
	last := func(before, after int) string {
		return fmt.Sprintf("UPDATE execution_memory SET allocated_peak_before_bytes = %d, allocated_peak_after_bytes = %d WHERE execution_id = 4 AND run_id = $run", before, after)
	}
	var runs []drawing
	for _, more := range [][]string{nil, {last(12, 22)}, {last(30, 22)}, {"DELETE FROM execution_memory WHERE execution_id = 2 AND run_id = $run", last(12, 22)}} {
		runs = append(runs, drawing{[]string{"PDPD"}, nil, slices.Concat(rowsOfAll, more)}) // prefill at 0 and 200, decode at 100 and 300, 80 ns each
	}
	w, drawn := drawAll(t, []string{"stage_memory"}, runs...)
	peaks := func(nth int, args string) string {
		return strings.Join(rows(t, w, "SELECT stage, basis, pass, device, peak_bytes, least_bytes, most_bytes, passes, samples FROM memory_peaks('"+drawn[nth]+"'"+args+") ORDER BY basis, pass, stage"), "\n")
	}
	if got, want := peaks(0, ""), `[(all) nvml used baseline-1 3 50 50 <nil> <nil> 1]
[(all) nvml used nsys-1 3 99 99 <nil> <nil> 4]
[decode nvml used nsys-1 3 60 60 <nil> 1 1]
[prefill nvml used nsys-1 3 80 80 <nil> 2 2]
[(all) torch allocated baseline-1 0 30 30 30 <nil> <nil>]
[decode torch allocated baseline-1 0 <nil> 15 30 2 <nil>]
[prefill torch allocated baseline-1 0 30 30 30 2 <nil>]
[(all) torch reserved baseline-1 0 45 45 45 <nil> <nil>]
[decode torch reserved baseline-1 0 45 45 45 2 <nil>]
[prefill torch reserved baseline-1 0 40 40 40 2 <nil>]`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// The program resets its peak before the second decode, and, where that is within it, the peak of that is not known.
	if got, want := peaks(1, ", stage := 'decode', basis := 'torch allocated'"), "[decode torch allocated baseline-1 0 <nil> 22 30 2 <nil>]"; got != want {
		t.Errorf("a reset before: %s, want %s", got, want)
	}
	if got, want := peaks(2, ", stage := 'decode', basis := 'torch allocated'"), "[decode torch allocated baseline-1 0 <nil> 15 <nil> 2 <nil>]"; got != want {
		t.Errorf("a reset within: %s, want %s", got, want)
	}
	if got, want := peaks(3, ", stage := 'decode', basis := 'torch allocated'"), "[decode torch allocated baseline-1 0 22 22 22 1 <nil>]"; got != want {
		t.Errorf("a reset before each: %s, want %s", got, want)
	}
}

// testMemoryPeaks: the peak of the trace of a PyTorch profiler is that of the query memory, and a stage's is not higher.
func testMemoryPeaks(t *testing.T, w *schema.Warehouse) {
	for _, run := range different {
		want := rows(t, w, "SELECT max(peak_bytes) FROM memory('"+run+"') WHERE device_type = 'cuda'")
		if got := rows(t, w, "SELECT max(peak_bytes) FROM memory_peaks('"+run+"', basis := 'torch allocated') WHERE stage = '(all)'"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", run, got, want)
		}
		if got := rows(t, w, "SELECT count(*) > 0 AS is_staged, coalesce(bool_and(s.peak_bytes <= a.peak_bytes AND s.peak_bytes >= m.allocated), true) FROM memory_peaks('"+run+`') s JOIN memory_peaks('`+run+`') a ON a.basis = s.basis AND a.pid = s.pid AND a.device = s.device
			JOIN (SELECT stage, max(allocated_bytes) AS allocated FROM memory_point WHERE device_type <> 'cpu' AND run_id = _run_id('`+run+`') GROUP BY stage) m ON m.stage = s.stage WHERE a.stage = '(all)' AND s.stage <> '(all)'`); fmt.Sprint(got) != fmt.Sprintf("[[%t true]]", slices.Contains([]string{"torch-graph", "torch-llama", "llama-stack"}, run)) {
			t.Errorf("%s: stages: %v", run, got)
		}
	}
}
