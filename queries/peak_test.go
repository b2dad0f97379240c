package queries_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// prefillRun has launches of a device that the table of peaks knows.
var prefillRun = testkit.Run{Name: "r", Files: []string{"ncu/kernels-prefill.ncu-rep.gz"}, Facts: []string{"ncu_measure"}}

// TestPeaks holds the figures of a known device, of the table and of the capture.
func TestPeaks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, prefillRun)
	got := named(t, w, "peaks", nil, "resource", "accumulate")
	// An H200 has 132 SMs of up to 1.98 GHz, and 4096 dense operations of BF16 in a cycle of each.
	bf16 := got["tensor_bf16 fp32"]
	if bf16 == nil || bf16["sm_count"] != int64(132) || bf16["clock_hz"] != int64(1_980_000_000) || bf16["origin"] != "builtin" || bf16["table_device"] != "NVIDIA H200" || bf16["compute_capability"] != "9.0" {
		t.Fatalf("%v", bf16)
	}
	const computed = 132 * 1.98e9 * 4096
	same(t, "the table's peak", bf16["peak_flop_per_s"], h200, 0)
	same(t, "the computed peak", bf16["computed_flop_per_s"], computed, 1e-15)
	same(t, "their difference", bf16["difference_ratio"], (computed-h200)/computed, 1e-12)
	same(t, "the clock of the table's peak", bf16["peak_clock_hz"], 1.83e9, 1e-3)
	same(t, "the clock of FP32", got["fp32 fp32"]["peak_clock_hz"], 1.98e9, 1e-3)
	dram := got["dram <nil>"]
	same(t, "the table's bandwidth", dram["peak_bytes_per_s"], 4.8e12, 0)
	same(t, "the capture's bandwidth", dram["computed_bytes_per_s"], 4.8e12, 0.01)
	if dram["peak_flop_per_s"] != nil || dram["peak_clock_hz"] != nil || dram["difference_ratio"].(float64) > 0.01 || bf16["computed_bytes_per_s"] != nil {
		t.Errorf("%v", dram)
	}
	if row := got["fp16 fp16"]; row == nil || row["peak_flop_per_s"] != nil || row["computed_flop_per_s"] == nil || row["table_device"] != nil || row["difference_ratio"] != nil {
		t.Errorf("of what the table does not have: %v", row)
	}
	if notes := queryOf(t, w, "peaks", nil).Notes; len(notes) > 0 {
		t.Errorf("notes of a known device: %q", notes)
	}
}

// TestPeaksOfOnesOwn holds that rows of one's own count before built-in ones, and which of them utilisation takes.
func TestPeaksOfOnesOwn(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "r", Files: []string{"ncu/kernels-prefill.ncu-rep.gz", "nsys/kernels/kernels.sqlite.gz"}})
	peak := func() any {
		return byFirst(t, w, `SELECT 'peak', peak_flop_per_s FROM _peak(_run_id('r'), compute := 'bf16')`)["peak"][1]
	}
	testkit.Exec(t, w, `INSERT INTO device_peak VALUES ('user', 'NVIDIA H200', 'sparse_bf16', 'fp32', 1979e12, NULL, 'with sparsity', 'mine', DATE '2026-11-21')`)
	got := named(t, w, "peaks", nil, "resource", "accumulate")
	same(t, "the figure with sparsity", got["sparse_bf16 fp32"]["peak_flop_per_s"], 1979e12, 0)
	same(t, "the peak in use beside it", peak(), h200, 0)
	testkit.Exec(t, w, `INSERT INTO device_peak VALUES ('user', 'NVIDIA H200', 'tensor_bf16', 'fp32', 8e14, NULL, 'capped', 'mine', DATE '2020-01-01')`)
	testkit.Exec(t, w, `INSERT INTO sm_rate VALUES ('user', '9.0', '', 'tensor_bf16', 'fp32', 1000, 'mine')`)
	testkit.Exec(t, w, `INSERT INTO sm_rate VALUES ('user', '9.0', '', 'tensor_tf32', 'fp32', 1, 'mine'), ('user', '9.0', 'NVIDIA H200', 'tensor_tf32', 'fp32', 2, 'of the very device')`)
	got = named(t, w, "peaks", nil, "resource", "accumulate")
	if row := got["tensor_tf32 fp32"]; row["sm_cycle_flop"] != 2. {
		t.Errorf("the rate of the very device: %v", row)
	}
	row := got["tensor_bf16 fp32"]
	if row["peak_flop_per_s"] != 8e14 || row["origin"] != "user" || row["reference"] != "mine" || row["checked_on"] != "2020-01-01" || row["sm_cycle_flop"] != 1000. || row["computed_reference"] != "mine" {
		t.Errorf("%v", row)
	}
	same(t, "the peak in use", peak(), 8e14, 0)
	// Another name of the device has its figures, but for those of its own.
	testkit.Exec(t, w, `UPDATE device SET name = 'NVIDIA H900'`)
	testkit.Exec(t, w, `INSERT INTO device_alias VALUES ('user', 'NVIDIA H900', 'NVIDIA H200', 'the same')`)
	testkit.Exec(t, w, `INSERT INTO device_peak VALUES ('user', 'NVIDIA H900', 'dram', '', NULL, 5e12, 'overclocked', 'mine', DATE '2026-11-21')`)
	got = named(t, w, "peaks", nil, "resource", "accumulate")
	if row := got["tensor_bf16 fp32"]; row["device"] != "NVIDIA H900" || row["table_device"] != "NVIDIA H200" || row["peak_flop_per_s"] != 8e14 || row["doc"] != "capped; the same" || row["sm_cycle_flop"] != 1000. {
		t.Errorf("by the alias: %v", row)
	}
	if row := got["tensor_fp8 fp32"]; row["sm_cycle_flop"] != 8192. {
		t.Errorf("the rate of the very device, by the alias: %v", row)
	}
	if row := got["dram <nil>"]; row["table_device"] != "NVIDIA H900" || row["peak_bytes_per_s"] != 5e12 {
		t.Errorf("its own: %v", row)
	}
}

// TestUnknownDevice holds that a device which the table does not have gets no peak, and a hint whose statement gives it one.
func TestUnknownDevice(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, prefillRun)
	testkit.Exec(t, w, `UPDATE device SET name = 'NVIDIA H20O'`)
	got := named(t, w, "peaks", nil, "resource", "accumulate")
	for key, row := range got {
		if row["peak_flop_per_s"] != nil || row["peak_bytes_per_s"] != nil || row["table_device"] != nil || row["reference"] != nil || row["difference_ratio"] != nil {
			t.Errorf("%s: %v", key, row)
		}
	}
	// What holds for all chips of the compute capability is still computed; tensor rates are of chips.
	same(t, "FP32", got["fp32 fp32"]["computed_flop_per_s"], 132*1.98e9*256, 1e-15)
	if len(got) != 2 || got["dram <nil>"]["computed_bytes_per_s"] == nil {
		t.Errorf("%v", got)
	}
	notes := queryOf(t, w, "peaks", nil).Notes
	if len(notes) != 1 || !strings.Contains(notes[0], "NVIDIA H20O is not in device_peak") || !regexp.MustCompile(`nearest names are .*NVIDIA H200`).MatchString(notes[0]) {
		t.Fatalf("the notes are %q", notes)
	}
	statements := regexp.MustCompile(`INSERT INTO \w+ VALUES \([^()]*\)`).FindAllString(notes[0], -1)
	if len(statements) != 2 {
		t.Fatalf("%d statements in %q", len(statements), notes[0])
	}
	for _, s := range statements {
		testkit.Exec(t, w, `DELETE FROM device_peak WHERE origin = 'user'`)
		testkit.Exec(t, w, strings.NewReplacer("FLOP_PER_S", "1e15", "ITS NAME", "NVIDIA H200").Replace(s))
		row := named(t, w, "peaks", nil, "resource", "accumulate")["tensor_bf16 fp32"]
		if v, _ := row["peak_flop_per_s"].(float64); math.Abs(v-1e15) > 0.011e15 {
			t.Errorf("after %s: %v", s, row)
		}
		if notes := queryOf(t, w, "peaks", nil).Notes; len(notes) > 0 {
			t.Errorf("after %s: %q", s, notes)
		}
	}
	testkit.Exec(t, w, `DELETE FROM device_alias WHERE origin = 'user'`)
	for _, name := range []string{"AMD Instinct MI300X", "Intel(R) Data Center GPU Max 1550", "NVIDIA Quadro P1"} { // no GPU of another maker or class stands in
		testkit.Exec(t, w, `UPDATE device SET name = '`+name+`'`)
		if notes := queryOf(t, w, "peaks", nil).Notes; len(notes) != 1 || strings.Contains(notes[0], "nearest") || !strings.Contains(notes[0], "INSERT INTO device_peak VALUES ('user', '"+name+"'") {
			t.Errorf("%s: %q", name, notes)
		}
	}
	testkit.Exec(t, w, `UPDATE device SET name = NULL, compute_capability = NULL, memory_bytes_per_s = NULL`)
	f := queryOf(t, w, "peaks", nil)
	if len(f.Rows) != 1 || f.Rows[0][f.Index("device")] != "(unknown)" || f.Rows[0][f.Index("resource")] != nil || f.Rows[0][f.Index("computed_flop_per_s")] != nil {
		t.Errorf("without a name: %v", f.Rows)
	}
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "does not name its GPU") {
		t.Errorf("without a name: %q", f.Notes)
	}
}

// TestSeveralDevices holds that GPUs of one name that differ are not computed from one of them.
func TestSeveralDevices(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, prefillRun)
	testkit.Exec(t, w, `INSERT INTO device SELECT * REPLACE (1 AS device_id, 60 AS sm_count) FROM device`)
	row := named(t, w, "peaks", nil, "resource", "accumulate")["tensor_bf16 fp32"]
	if row["sm_count"] != nil || row["computed_flop_per_s"] != nil || row["peak_flop_per_s"] == nil || row["clock_hz"] == nil {
		t.Errorf("%v", row)
	}
}
