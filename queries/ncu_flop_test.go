package queries_test

import (
	"strings"
	"testing"

	"prof/schema"
)

// counted opens a warehouse with one profiled launch that has these counters alone.
func counted(t *testing.T, prefix string, counters map[string]float64) *schema.Warehouse {
	t.Helper()
	w := copied(t, "one launch", func(w *schema.Warehouse) {
		load(t, w, "r", "../testdata/ncu/kernels-prefill.ncu-rep.gz")
		if _, err := w.DB.Exec(`DELETE FROM ncu_metric; DELETE FROM ncu_launch WHERE launch_id > (SELECT min(launch_id) FROM ncu_launch)`); err != nil {
			t.Fatal(err)
		}
	})
	id := 10_000
	for name, n := range counters {
		for _, form := range []string{".sum", ".sum.per_cycle_elapsed", ".sum.peak_sustained", ".avg"} {
			for _, stmt := range []string{"INSERT INTO ncu_metric_name SELECT run_id, ?1, ?2, '' FROM run WHERE ?3 >= 0",
				"INSERT INTO ncu_metric SELECT run_id, 1, launch_id, ?1, ?3, NULL FROM ncu_launch WHERE ?2 <> ''"} {
				if _, err := w.DB.Exec(stmt, id, prefix+name+form, n); err != nil {
					t.Fatal(err)
				}
			}
			id++
		}
	}
	wrote(w, "ncu_metric_name", "ncu_metric")
	return w
}

// TestScalarCounters holds that a part of the operations is not taken for the whole.
func TestScalarCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
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
	} {
		t.Run(c.name, func(t *testing.T) {
			named := map[string]float64{}
			for op, n := range c.counters {
				named[op+"_pred_on"] = n
			}
			w := counted(t, "smsp__sass_thread_inst_executed_op_", named)
			exec(t, w, "UPDATE device SET compute_capability = "+schema.Quote(c.capability))
			if got := strings.Join(rows(t, w, `SELECT resource, flop::BIGINT FROM ncu_flop ORDER BY 1`), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := rows(t, w, `SELECT flop FROM kernel_sol('r')`); got[0] != "[<nil>]" { // tensor cores were not measured
				t.Errorf("the total is %s", got)
			}
		})
	}
}

// TestTensorCounters holds that operations are counted whatever a chip calls its counters, from the names that ncu lists for each.
func TestTensorCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
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
	} {
		t.Run(c.name, func(t *testing.T) {
			w := counted(t, "sm__ops_path_tensor_", c.counters)
			if got := strings.Join(rows(t, w, `SELECT resource, flop::BIGINT FROM ncu_flop ORDER BY 1`), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
