package queries_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// countedRun makes a run with one profiled launch that has these counters alone.
func countedRun(name, prefix string, counters map[string]float64, more string) testkit.Run {
	stmts := []string{"DELETE FROM ncu_metric WHERE run_id = $run", "DELETE FROM ncu_launch WHERE run_id = $run AND launch_id > (SELECT min(launch_id) FROM ncu_launch WHERE run_id = $run)", more}
	id := 10_000
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		for _, form := range []string{".sum", ".sum.per_cycle_elapsed", ".sum.peak_sustained", ".avg"} {
			stmts = append(stmts, fmt.Sprintf("INSERT INTO ncu_metric_name SELECT $run, %d, '%s', ''", id, prefix+name+form),
				fmt.Sprintf("INSERT INTO ncu_metric SELECT run_id, 1, launch_id, %d, %v, NULL FROM ncu_launch WHERE run_id = $run", id, counters[name]))
			id++
		}
	}
	return testkit.Run{Name: name, Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}, SQL: strings.Join(stmts, ";\n"), Facts: []string{"ncu_measure"}}
}

// counted is a warehouse of the test's own with such a launch, of the run r.
func counted(t *testing.T, prefix string, counters map[string]float64) *schema.Warehouse {
	t.Helper()
	return testkit.Copy(t, countedRun("r", prefix, counters, "SELECT 1"))
}

// TestScalarCounters holds that a part of the operations is not taken for the whole.
func TestScalarCounters(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, capability string
		counters         map[string]float64
		want             string
	}{
		{"all", "9.0", map[string]float64{"fadd": 1, "fmul": 10, "ffma": 100, "dadd": 0, "dmul": 0, "dfma": 5}, "[fp32 211] [fp64 10]"},
		{"a part", "9.0", map[string]float64{"ffma": 100}, "[fp32 <nil>]"},
		{"halves in pairs", "9.0", map[string]float64{"hadd": 1, "hmul": 10, "hfma": 100}, "[fp16 422]"},
		{"packed ones not counted", "10.0", map[string]float64{"fadd": 1, "fmul": 10, "ffma": 100}, "[fp32 <nil>]"},
		{"packed ones", "10.0", map[string]float64{"fadd": 1, "fmul": 10, "ffma": 100, "fadd2": 1000, "fmul2": 10_000, "ffma2": 100_000}, "[fp32 422211]"},
		{"a chip without packed ones", "12.0", map[string]float64{"fadd": 1, "fmul": 10, "ffma": 100}, "[fp32 211]"},
	}
	var runs []testkit.Run
	for _, c := range cases {
		named := map[string]float64{}
		for op, n := range c.counters {
			named[op+"_pred_on"] = n
		}
		runs = append(runs, countedRun(c.name, "smsp__sass_thread_inst_executed_op_", named, "UPDATE device SET compute_capability = '"+c.capability+"' WHERE run_id = $run"))
	}
	w := testkit.Warehouse(t, runs...)
	for _, c := range cases {
		if got := strings.Join(rows(t, w, `SELECT resource, flop::BIGINT FROM ncu_flop WHERE run_id = _run_id('`+c.name+`') ORDER BY 1`), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if got := rows(t, w, `SELECT flop FROM kernel_sol('`+c.name+`')`); got[0] != "[<nil>]" { // tensor cores were not measured
			t.Errorf("%s: the total is %s", c.name, got)
		}
	}
}

// TestTensorCounters holds that operations are counted whatever a chip calls its counters, from the names that ncu lists for each.
func TestTensorCounters(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		counters map[string]float64
		want     string
	}{
		{"Hopper: sums and parts", map[string]float64{"src_bf16_dst_fp32": 10, "op_hgmma_src_bf16_dst_fp32_sparsity_off": 7, "op_hmma_src_bf16_dst_fp32_sparsity_off": 3, "src_fp16": 4,
			"op_hmma_src_fp16_dst_fp32_sparsity_off": 4, "src_fp8_sparsity_off": 5, "src_fp8_sparsity_on": 6}, "[tensor_bf16 10] [tensor_fp16 4] [tensor_fp8 11]"},
		{"Ada: both kinds of sums", map[string]float64{"src_fp16_dst_fp16": 3, "src_fp16_dst_fp32": 4, "src_fp16_dst_fp32_sparsity_off": 4, "src_int4": 2}, "[tensor_fp16 7] [tensor_int4 2]"},
		{"Blackwell: several types together", map[string]float64{"src_fp4_fp6_fp8_dst_fp32": 8, "src_fp4_fp6_fp8_dst_fp16": 1, "src_fp4_dst_fp32": 2,
			"op_utcqmma_src_fp4_fp6_fp8_dst_fp32_sparsity_off": 8}, "[tensor_fp4 2] [tensor_fp8 9]"},
		{"no sum at all", map[string]float64{"op_utcqmma_src_fp8_dst_fp32_sparsity_off": 5, "op_utcqmma_src_fp8_dst_fp32_sparsity_on": 6, "op_other_src_fp8_dst_fp32": 1}, "[tensor_fp8 12]"},
		{"Turing", map[string]float64{"src_fp16_bf16_tf32_dst_fp32": 6, "src_int1": 9}, "[tensor_fp16 6]"},
	}
	var runs []testkit.Run
	for _, c := range cases {
		runs = append(runs, countedRun(c.name, "sm__ops_path_tensor_", c.counters, "SELECT 1"))
	}
	w := testkit.Warehouse(t, runs...)
	for _, c := range cases {
		if got := strings.Join(rows(t, w, `SELECT resource, flop::BIGINT FROM ncu_flop WHERE run_id = _run_id('`+c.name+`') ORDER BY 1`), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
