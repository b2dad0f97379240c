package queries_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// h200 is the dense peak of an H200 in BF16 (see schema/seed).
const h200 = 989.4e12

// rawPage reads ncu's own page of a report in base units: values by column, for each launch.
func rawPage(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(text).ReadAll()
	if err != nil || len(all) < 3 {
		t.Fatal(len(all), err)
	}
	var out []map[string]string
	for _, r := range all[2:] { // below names and units
		launch := map[string]string{}
		for i, name := range all[0] {
			launch[name] = r[i]
		}
		out = append(out, launch)
	}
	return out
}

// named returns a query's rows by the text of some of its columns, each row by column.
func named(t *testing.T, w *schema.Warehouse, query string, args queries.Args, by ...string) map[string]map[string]any {
	t.Helper()
	f := queryOf(t, w, query, args)
	out := map[string]map[string]any{}
	for _, r := range f.Rows {
		row := map[string]any{}
		for i, c := range f.Columns {
			row[c.Name] = r[i]
		}
		var key []string
		for _, c := range by {
			key = append(key, fmt.Sprint(row[c]))
		}
		if k := strings.Join(key, " "); out[k] != nil {
			t.Fatalf("%s: two rows of %s", query, k)
		} else {
			out[k] = row
		}
	}
	return out
}

func queryOf(t *testing.T, w *schema.Warehouse, name string, args queries.Args) *frame.Frame {
	t.Helper()
	given := queries.Args{"run": "r"}
	for k, v := range args {
		given[k] = v
	}
	return testkit.Query(t, w, name, given)
}

// same holds that two numbers differ by no more than a share.
func same(t *testing.T, what string, got any, want, share float64) {
	t.Helper()
	if v, ok := got.(float64); !ok || math.Abs(v-want) > share*math.Abs(want) {
		t.Errorf("%s is %v, want %.10g", what, got, want)
	}
}

// TestKernelEfficiency holds the figures to ncu's own of the same launches, read from its page of the report.
func TestKernelEfficiency(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "r", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}})
	type sums struct{ launches, flop, ns, possible float64 }
	want := map[string]sums{}
	for _, launch := range rawPage(t, "../testdata/ncu/llama.raw-base.csv.gz") {
		number := func(column string) float64 {
			v, err := strconv.ParseFloat(strings.ReplaceAll(launch[column], ",", ""), 64)
			if err != nil {
				t.Fatalf("%s: %v", column, err)
			}
			return v
		}
		const dense = "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum"
		flop, ns := number(dense), number("gpu__time_duration.sum")
		if flop == 0 {
			continue
		}
		s := want[launch["Kernel Name"]]
		want[launch["Kernel Name"]] = sums{s.launches + 1, s.flop + flop, s.ns + ns, s.possible + number(dense+".peak_sustained_elapsed.per_second")*ns/1e9}
	}
	got := named(t, w, "kernel-efficiency", nil, "kernel")
	if len(want) != 4 || len(got) != len(want) {
		t.Errorf("%d kernels, ncu's page has %d", len(got), len(want))
	}
	for kernel, s := range want {
		row := got[kernel]
		if row == nil || row["resource"] != "tensor_bf16" || row["launches"] != int64(s.launches) || row["device"] != "NVIDIA H200" {
			t.Errorf("%s: %v", kernel, row)
			continue
		}
		same(t, kernel+": operations of a launch", row["launch_flop"], s.flop/s.launches, 0)
		same(t, kernel+": time of a launch", row["duration_ns"], s.ns/s.launches, 0)
		same(t, kernel+": rate", row["achieved_flop_per_s"], s.flop/s.ns*1e9, 1e-15)
		same(t, kernel+": of the table's peak", row["device_peak_ratio"], s.flop/s.ns*1e9/h200, 1e-15)
		// ncu makes this peak of cycles and time, and not of the clock.
		same(t, kernel+": of the measured peak", row["measured_ratio"], s.flop/s.possible, 1e-4)
		same(t, kernel+": measured peak", row["measured_peak_flop_per_s"], s.possible/s.ns*1e9, 1e-4)
	}
	// One row by hand, from that page: 17,179,869,184 operations in 25,696 ns.
	by := got["nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"]
	same(t, "the big matmul's rate", by["achieved_flop_per_s"], 668.5814595267746e12, 1e-15)
	same(t, "the big matmul's share of the peak", by["device_peak_ratio"], 0.6757443496328831, 1e-15)
	same(t, "the big matmul's share of the measured peak (72.02 %)", by["measured_ratio"], 0.7202, 1e-4)
	holdGolden(t, "kernel-efficiency", queryOf(t, w, "kernel-efficiency", nil))
	testEfficiencyTimes(t, w, got)
	testEfficiencyChoice(t, w, got)
}

// testEfficiencyTimes holds the shares of the timeline to those of top-kernels, in all stages and in one.
func testEfficiencyTimes(t *testing.T, w *schema.Warehouse, got map[string]map[string]any) {
	t.Helper()
	check := func(got map[string]map[string]any, args queries.Args) {
		t.Helper()
		top := named(t, w, "top-kernels", args, "kernel")
		if len(got) == 0 {
			t.Errorf("%v: no rows", args)
		}
		for kernel, row := range got {
			if k := top[kernel]; k == nil || row["timeline_share_ratio"] != k["share_ratio"] || row["profiled_ratio"] != k["profiled_ratio"] || row["family"] != k["family"] || row["role"] != k["role"] {
				t.Errorf("%v %s: %v; top-kernels: %v", args, kernel, row, k)
			}
		}
	}
	check(got, queries.Args{"top": "0", "with_ncu": "true"})
	check(named(t, w, "kernel-efficiency", queries.Args{"stage": "decode"}, "kernel"), queries.Args{"top": "0", "with_ncu": "true", "stage": "decode"})
}

// testEfficiencyChoice holds what the parameters choose, and that without a peak of the device the ratio is not known.
func testEfficiencyChoice(t *testing.T, w *schema.Warehouse, all map[string]map[string]any) {
	t.Helper()
	for _, c := range []struct {
		args queries.Args
		want string
	}{
		{queries.Args{"stage": "decode"}, "nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT:1 nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT:1"},
		{queries.Args{"kernel": "COOPA"}, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT:1"},
		{queries.Args{"stage": "(none)"}, ""},
		{queries.Args{"device": "1"}, ""},
	} {
		var got []string
		for kernel, row := range named(t, w, "kernel-efficiency", c.args, "kernel") {
			got = append(got, fmt.Sprintf("%s:%d", kernel, row["launches"]))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q, want %s", c.args, got, c.want)
		}
	}
	testkit.Exec(t, w, `UPDATE device SET name = 'NVIDIA H900'`)
	testkit.DeriveOnly(t, w, "ncu_measure", "caveat_ncu")
	for kernel, row := range named(t, w, "kernel-efficiency", nil, "kernel") {
		if row["device_peak_ratio"] != nil || row["device_peak_flop_per_s"] != nil || row["measured_ratio"] != all[kernel]["measured_ratio"] {
			t.Errorf("of an unknown device: %v", row)
		}
	}
	testkit.Exec(t, w, `INSERT INTO device_alias VALUES ('user', 'NVIDIA H900', 'NVIDIA H200', 'the same')`)
	testkit.DeriveOnly(t, w, "ncu_measure", "caveat_ncu")
	for kernel, row := range named(t, w, "kernel-efficiency", nil, "kernel") {
		if row["device_peak_ratio"] != all[kernel]["device_peak_ratio"] || row["device"] != "NVIDIA H900" {
			t.Errorf("of another name: %v", row)
		}
	}
}

// TestEfficiencyByPrecision holds which operations of a kernel count: those of tensor cores, where it has none those outside, of a
// kernel that was not counted none.
func TestEfficiencyByPrecision(t *testing.T) {
	t.Parallel()
	w := counted(t, "smsp__sass_thread_inst_executed_op_", map[string]float64{"fadd_pred_on": 0, "fmul_pred_on": 0, "ffma_pred_on": 1e9, "hadd_pred_on": 0, "hmul_pred_on": 0, "hfma_pred_on": 1e6})
	testkit.Exec(t, w, `INSERT INTO ncu_metric_name SELECT run_id, 1, 'gpu__time_duration.sum', 'ns' FROM run`)
	testkit.Exec(t, w, `INSERT INTO ncu_metric SELECT run_id, 1, launch_id, 1, 250000, NULL FROM ncu_launch`)
	testkit.DeriveOnly(t, w, "ncu_measure", "caveat_ncu")
	got := named(t, w, "kernel-efficiency", nil, "resource")
	if row := got["fp32"]; len(got) != 1 || row == nil || row["launch_flop"] != 2e9 || row["achieved_flop_per_s"] != 8e12 || row["measured_ratio"] != nil || row["timeline_share_ratio"] != nil || row["role"] != "gemm" {
		t.Errorf("%v", got)
	} else {
		same(t, "of the peak in FP32", row["device_peak_ratio"], 8./66.9, 1e-15)
	}
	if got = named(t, w, "kernel-efficiency", queries.Args{"fp16": "true"}, "resource"); len(got) != 2 || got["fp16"]["launch_flop"] != 4e6 {
		t.Errorf("with FP16: %v", got)
	}
	testkit.Exec(t, w, `INSERT INTO ncu_metric_name SELECT run_id, 2, 'sm__ops_path_tensor_src_bf16_dst_fp32.sum', '' FROM run`)
	testkit.Exec(t, w, `INSERT INTO ncu_metric SELECT run_id, 1, launch_id, 2, 5e9, NULL FROM ncu_launch`)
	testkit.DeriveOnly(t, w, "ncu_measure", "caveat_ncu")
	if got = named(t, w, "kernel-efficiency", queries.Args{"fp16": "true"}, "resource"); len(got) != 1 || got["tensor_bf16"]["launch_flop"] != 5e9 {
		t.Errorf("with tensor operations, beside which the others are no matrix multiplication: %v", got)
	}
	testkit.Exec(t, w, `DELETE FROM ncu_metric WHERE metric_id <> 1`)
	testkit.DeriveOnly(t, w, "ncu_measure", "caveat_ncu")
	got = named(t, w, "kernel-efficiency", nil, "resource")
	if row := got["<nil>"]; len(got) != 1 || row == nil || row["launches"] != int64(1) || row["duration_ns"] != 250000. || row["launch_flop"] != nil || row["achieved_flop_per_s"] != nil || row["device_peak_ratio"] != nil {
		t.Errorf("not counted: %v", got)
	}
	if notes := strings.Join(queryOf(t, w, "kernel-efficiency", nil).Notes, "\n"); !strings.Contains(notes, "no operations were measured") {
		t.Errorf("not counted: the notes are %q", notes)
	}
}
