package averages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// readText reads a table and gives each row as one text: name, kind, shapes and amounts in the order of op_average, NULL as ~.
func readText(t testing.TB, in string) (rows []string, res *result, err error) {
	t.Helper()
	res, err = read(context.Background(), strings.NewReader(in), "file", func(r *row) error {
		if r.number != len(rows)+1 {
			t.Errorf("row %d has the number %d", len(rows)+1, r.number)
		}
		rows = append(rows, r.String())
		return nil
	})
	return rows, res, err
}

func (r *row) String() string {
	parts := []string{r.name, r.kind, "~"}
	if r.shapes != nil {
		parts[2] = *r.shapes
	}
	for _, f := range stored {
		if r.amounts[f] == nil {
			parts = append(parts, "~")
		} else {
			parts = append(parts, fmt.Sprint(*r.amounts[f]))
		}
	}
	return strings.Join(parts, "|")
}

// The columns of the rows below are: name, kind, shapes; calls; self and total CPU time; self and total device time; self and total
// device memory; self and total CPU memory; operations.
var variants = []struct {
	name, in string
	rows     []string
	warnings []string // a part of each
}{
	{"PyTorch 2.4 and later", `[
		{"key": "aten::mm", "count": 3, "cpu_time_total": 30.5, "self_cpu_time_total": 20.25, "device_time_total": 12.001, "self_device_time_total": 12.001,
		 "cpu_memory_usage": 0, "self_cpu_memory_usage": -8, "device_memory_usage": 4096, "self_device_memory_usage": 1024, "flops": 6000000,
		 "input_shapes": "", "stack": [], "overload_name": "", "node_id": -1, "is_async": false, "is_user_annotation": false, "device_type": "DeviceType.CPU"},
		{"key": "sgemm", "count": 3, "cpu_time_total": 0, "self_cpu_time_total": 0, "device_time_total": 12.001, "self_device_time_total": 12.001,
		 "cpu_memory_usage": 0, "self_cpu_memory_usage": 0, "device_memory_usage": 0, "self_device_memory_usage": 0, "flops": 0,
		 "input_shapes": "", "stack": [], "overload_name": "", "node_id": -1, "is_async": false, "is_user_annotation": false, "device_type": "DeviceType.CUDA"}]`,
		[]string{"aten::mm|cpu|~|3|20250|30500|12001|12001|1024|4096|-8|0|6000000", "sgemm|device|~|3|0|0|12001|12001|0|0|0|0|0"}, nil},
	{"before 2.4", `[{"name": "aten::mm", "calls": 3, "cpu_time": 10.0, "cuda_time": 4.0, "cpu_time_total": 30.0, "self_cpu_time_total": 20.0, "cuda_time_total": 12.0,
		"self_cuda_time_total": 11.0, "cuda_memory_usage": 5, "self_cuda_memory_usage": 4, "cpu_time_total_str": "30.000us", "flops": null}]`,
		[]string{"aten::mm|cpu|~|3|20000|30000|11000|12000|4|5|~|~|~"}, nil},
	{"another device, 0 for CUDA", `[{"key": "a", "count": 1, "self_cpu_time_total": 1, "cuda_time_total": 0, "privateuse1_time_total": 5.5}]`,
		[]string{"a|cpu|~|1|1000|~|~|5500|~|~|~|~|~"}, nil},
	{"two devices", `[{"key": "a", "count": 1, "self_cpu_time_total": 1, "cuda_time_total": 2, "privateuse1_time_total": 5.5}]`,
		[]string{"a|cpu|~|1|1000|~|~|2000|~|~|~|~|~"}, []string{"cuda_time_total and privateuse1_time_total disagree in 1 rows, first in row 1 (byte 1): cuda_time_total is stored"}},
	{"XPU", `[{"key": "a", "count": 1, "self_xpu_time_total": 2, "xpu_time_total": 3, "xpu_memory_usage": 7, "self_cpu_time_total": 0}]`,
		[]string{"a|device|~|1|0|~|2000|3000|~|7|~|~|~"}, nil},
	{"both names", `[{"key": "a", "count": 2, "cpu_time_total": 1, "device_time_total": 7.5, "cuda_time_total": 7.5}, {"key": "b", "count": 2, "cpu_time_total": 1, "device_time_total": 7.5, "cuda_time_total": 9.5}]`,
		[]string{"a|cpu|~|2|~|1000|~|7500|~|~|~|~|~", "b|cpu|~|2|~|1000|~|7500|~|~|~|~|~"},
		[]string{"device_time_total and cuda_time_total disagree in 1 rows, first in row 2 (byte 98): device_time_total is stored"}},
	{"old name on a new PyTorch", `[{"key": "a", "count": 2, "cpu_time_total": 1, "cuda_time_total": 0, "self_cuda_time_total": 0, "cuda_memory_usage": 0}]`,
		[]string{"a|cpu|~|2|~|1000|~|~|~|~|~|~|~"}, []string{"self_cuda_time_total, cuda_time_total: 0 in every row, so stored as empty: PyTorch 2.4 and later call these times device_time_total", "cuda_memory_usage: 0 in every row, so stored as empty: memory was not recorded, or"}},
	{"new times and old memory", `[{"key": "a", "count": 2, "cpu_time_total": 1, "device_time_total": 3, "cuda_memory_usage": 0, "cpu_memory_usage": 0}]`,
		[]string{"a|cpu|~|2|~|1000|~|3000|~|~|~|0|~"}, []string{"cuda_memory_usage: 0 in every row"}},
	{"old name where nothing ran on a device", `[{"key": "a", "count": 2, "cpu_time_total": 1, "cuda_time_total": 0, "device_type": "CPU"}, {"key": "b", "count": 2, "cpu_time_total": 1, "cuda_time_total": 0, "device_type": "cpu"}]`,
		[]string{"a|cpu|~|2|~|1000|~|0|~|~|~|~|~", "b|cpu|~|2|~|1000|~|0|~|~|~|~|~"}, nil},
	{"new name where nothing ran on a device", `[{"key": "a", "count": 2, "cpu_time_total": 1, "device_time_total": 0}]`, []string{"a|cpu|~|2|~|1000|~|0|~|~|~|~|~"}, nil},
	{"0 for the new name on an old PyTorch", `[{"key": "a", "count": 2, "cpu_time_total": 1, "device_time_total": 0, "cuda_time_total": 6}]`,
		[]string{"a|cpu|~|2|~|1000|~|6000|~|~|~|~|~"}, []string{"cuda_time_total and device_time_total disagree"}},
	{"total by the old name, self by the new", `[{"key": "a", "count": 2, "cpu_time_total": 1, "self_device_time_total": 5, "cuda_time_total": 0}]`,
		[]string{"a|cpu|~|2|~|1000|5000|~|~|~|~|~|~"}, []string{"cuda_time_total: 0 in every row, so stored as empty: a total is at least the self time, and self_device_time_total is above 0"}},
	{"units in names", `[{"name": "a", "calls": 1, "cpu_total_us": 2.5, "self_cpu_us": 1.5, "device_total_us": 0.5, "self_device_us": 0.25, "self_device_mem": -16, "cpu_mem": 8}]`,
		[]string{"a|cpu|~|1|1500|2500|250|500|-16|~|~|8|~"}, nil},
	{"other units", `[{"op": "a", "calls": 1, "total_cpu_ms": 2.5, "self_cpu_time_ns": 1500, "self_cuda_time_s": 0.000002, "CUDA total (ms)": 0.003, "cuda_memory_bytes": 16, "self_cpu_mem_kib": 1.5}]`,
		[]string{"a|cpu|~|1|1500|2500000|2000|3000|~|16|1536|~|~"}, nil},
	{"a time that the values show to be a total", `[{"name": "mm", "calls": 2, "self_cuda_time_us": 8, "cuda_time_us": 8, "self_cpu_time_us": 1, "cpu_time_us": 4}, {"name": "add", "calls": 3, "self_cuda_time_us": 0, "cuda_time_us": 2, "self_cpu_time_us": 5, "cpu_time_us": 5}]`,
		[]string{"mm|cpu|~|2|1000|4000|8000|8000|~|~|~|~|~", "add|cpu|~|3|5000|5000|0|2000|~|~|~|~|~"}, nil},
	{"a time that the values show to be a mean", `[{"name": "mm", "calls": 2, "self_cuda_time_us": 8, "cuda_time_us": 4, "self_cpu_us": 1}, {"name": "add", "calls": 1, "self_cuda_time_us": 8, "cuda_time_us": 8, "self_cpu_us": 1}]`,
		[]string{"mm|cpu|~|2|1000|~|8000|~|~|~|~|~|~", "add|cpu|~|1|1000|~|8000|~|~|~|~|~|~"}, []string{`"cuda_time_us" is not stored: it may be the time of one call`}},
	{"a time that nothing tells", `[{"name": "mm", "calls": 2, "cuda_us": 8, "cpu_us": 4}]`,
		[]string{"mm|cpu|~|2|~|~|~|~|~|~|~|~|~"}, []string{`"cuda_us" is not stored`, `"cpu_us" is not stored`, "all rows are stored as kind cpu"}},
	{"PyTorch's mean alone", `[{"name": "mm", "count": 2, "self_cpu_time_total": 3, "cuda_time": 4}]`,
		[]string{"mm|cpu|~|2|3000|~|~|~|~|~|~|~|~"}, []string{`"cuda_time" is not stored: PyTorch's attribute of that name is the mean over calls`}},
	{"self and total CPU time added up", "op_name,total_time_ms,cuda_time_ms,calls,mean_ms\naten::mm,7.5,3.25,2,3.75\n",
		[]string{"aten::mm|cpu|~|2|~|~|~|3250000|~|~|~|~|~"}, []string{`"total_time_ms" is not stored: it does not say which processor's time; some programs add self and total CPU time up`, "kind cpu"}},
	{"the same on a new PyTorch", "op_name,total_time_ms,cuda_time_ms,calls,mean_ms\naten::mm,7.5,0,2,3.75\n",
		[]string{"aten::mm|cpu|~|2|~|~|~|~|~|~|~|~|~"}, []string{"cuda_time_ms: 0 in every row", `"total_time_ms" is not stored`, "kind cpu"}},
	{"unclear units", `[{"name": "mm", "calls": 2, "self_cpu": 3, "self_cpu_time": 3, "self_cuda_us": 1, "cuda_memory_mb": 1, "cpu_memory_usage": 0.5, "self_time_ms": 1, "gflops": 3, "cuda_pct": 7, "phase": "x"}]`,
		[]string{"mm|cpu|~|2|~|~|1000|~|~|~|~|~|~"}, []string{`"self_cpu" is not stored: neither`, `"self_cpu_time" is not stored: neither`, `"cuda_memory_mb" is not stored: its unit`,
			`"cpu_memory_usage" is not stored: neither`, `"self_time_ms" is not stored`, `"gflops" is not stored: it may be a rate`, `unknown columns are not stored: "phase"`, "kind cpu"}},
	{"in an object, after other members", `{"name": "x", "devices": [{"name": "H200"}], "steps": [1, 2], "events": [{"key": "a", "count": 1, "self_cpu_time_total": 1}, {"key": "b", "count": 1, "self_cpu_time_total": 2}], "text": "t"}`,
		[]string{"a|cpu|~|1|1000|~|~|~|~|~|~|~|~", "b|cpu|~|1|2000|~|~|~|~|~|~|~|~"}, nil},
	{"an object a line", "{\"key\": \"a\", \"kernels\": [{\"name\": \"k\"}], \"count\": 1, \"self_cpu_time_total\": 1}\n{\"key\": \"b\", \"count\": 1, \"self_cpu_time_total\": 2}\n",
		[]string{"a|cpu|~|1|1000|~|~|~|~|~|~|~|~", "b|cpu|~|1|2000|~|~|~|~|~|~|~|~"}, []string{`"kernels"`}},
	{"a byte order mark", "\xef\xbb\xbfkey,count,self_cpu_time_total\r\na,1,1\r\n", []string{"a|cpu|~|1|1000|~|~|~|~|~|~|~|~"}, nil},
	{"semicolons", "key;count;self_cpu_time_total\n\"a;b\";1;1\n", []string{"a;b|cpu|~|1|1000|~|~|~|~|~|~|~|~"}, nil},
	{"pandas", ",key,count,self_cpu_time_total,self_device_time_total\n0,a,1.0,1.5,\n1,\"f(int, float*)\",2.0,0.0,3.5\n",
		[]string{"a|cpu|~|1|1500|~|~|~|~|~|~|~|~", "f(int, float*)|device|~|2|0|~|3500|~|~|~|~|~|~"}, nil},
	{"no row", "key,count,self_cpu_time_total\n", nil, []string{"no rows"}},
	{"the last line without its end", "key,count,self_cpu_time_total\na,1,12", []string{"a|cpu|~|1|12000|~|~|~|~|~|~|~|~"}, []string{"no newline"}},
	{"shapes", `[{"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": [[1, 2],[], [[3],[4,5]]]}, {"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": "[(1,), torch.Size([2, 3])]"},
		{"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": []}, {"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": "None"}, {"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": "[[1, 2], [3"}]`,
		[]string{"a|cpu|[[1, 2], [], [[3], [4, 5]]]|1|1000|~|~|~|~|~|~|~|~", "a|cpu|[[1], [2, 3]]|1|1000|~|~|~|~|~|~|~|~", "a|cpu|[]|1|1000|~|~|~|~|~|~|~|~",
			"a|cpu|~|1|1000|~|~|~|~|~|~|~|~", "a|cpu|~|1|1000|~|~|~|~|~|~|~|~"}, []string{"shapes of 1 rows cannot be read and are stored as empty, first in row 5 (byte 343): \"[[1, 2], [3\""}},
	{"lists, but no shapes", `[{"key": "a", "count": 1, "self_cpu_time_total": 1, "input_shapes": []}]`, []string{"a|cpu|~|1|1000|~|~|~|~|~|~|~|~"}, nil},
	{"kinds", `[{"key": "a", "count": 1, "self_cpu_time_total": 1, "device_time_total": 1, "device_type": 1}, {"key": "b", "count": 1, "self_cpu_time_total": 0, "device_time_total": 1, "device_type": "<DeviceType.CPU: 0>"},
		{"key": "c", "count": 1, "self_cpu_time_total": 0, "device_time_total": 1, "device_type": "warp"}, {"key": "d", "count": 1, "self_cpu_time_total": 0, "device_time_total": 1}]`,
		[]string{"a|device|~|1|1000|~|~|1000|~|~|~|~|~", "b|cpu|~|1|0|~|~|1000|~|~|~|~|~", "c|device|~|1|0|~|~|1000|~|~|~|~|~", "d|device|~|1|0|~|~|1000|~|~|~|~|~"},
		[]string{`1 rows have a device type that prof does not know, first in row 3`}},
	{"what would be lost", `[{"key": "a", "count": 1, "self_cpu_time_total": -1, "cpu_time_total": -2, "stack": ["f.py(1): g"], "overload_name": "out"}]`,
		[]string{"a|cpu|~|1|-1000|-2000|~|~|~|~|~|~|~"}, []string{"not stored: stack, overload_name; rows with equal names may differ", "cpu_time_total: some totals are negative"}},
	{"several names", `[{"event": "profile", "operation_name": "a", "count": 1, "self_cpu_time_total": 1}]`, []string{"a|cpu|~|1|1000|~|~|~|~|~|~|~|~"},
		[]string{"operation_name and event disagree in 1 rows"}},
	{"rounding", `[{"key": "a", "count": 1, "self_cpu_time_total": 12857.672999999999, "cpu_time_total": 231.33199999999943, "device_time_total": 0.0004, "self_device_time_total": 360932193.0005}]`,
		[]string{"a|cpu|~|1|12857673|231332|360932193001|0|~|~|~|~|~"}, nil},
	{"large whole numbers", `[{"key": "a", "count": 9007199254740993, "self_cpu_time_ns": 9007199254740993, "flops": 3142153786128000001}]`,
		[]string{"a|cpu|~|9007199254740993|9007199254740993|~|~|~|~|~|~|~|3142153786128000001"}, nil},
	{"amounts out of range", "key,count,cpu_time_total,device_time_total,flops\na,1,2,1e16,99999999999999999999\nb,1,2,3,4\n",
		[]string{"a|cpu|~|1|~|2000|~|~|~|~|~|~|~", "b|cpu|~|1|~|2000|~|3000|~|~|~|~|4"}, []string{"2 amounts are out of range and are stored as empty, first in line 2: "}},
	{"printed", "Name,Self CPU %,Self CPU,CPU total,CPU time avg,Self CUDA,CPU Mem,Self CUDA Mem,# of Calls,Total KFLOPs\nProfilerStep*,1.28%,231.332us,12.858ms,6.429ms,1.5s,64 B,-385.00 KB,2,50331.648\nx,0%,1.000us,1.000us,1.000us,0.000us,0 B,0 B,1,--\n",
		[]string{"ProfilerStep*|cpu|~|2|231332|12858000|1500000000|~|-394240|~|~|64|50331648", "x|cpu|~|1|1000|1000|0|~|0|~|~|0|~"}, []string{"rounded as printed", "the rows have 1.3 % of the CPU time"}},
}

func TestVariants(t *testing.T) {
	for _, c := range variants {
		t.Run(c.name, func(t *testing.T) {
			if !Sniff("file", []byte(c.in)) {
				t.Error("it is not recognised")
			}
			rows, res, err := readText(t, c.in)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, c.rows) {
				t.Errorf("rows\n  %s\nwant\n  %s", strings.Join(rows, "\n  "), strings.Join(c.rows, "\n  "))
			}
			if len(res.warnings) != len(c.warnings) {
				t.Fatalf("warnings\n  %s\nwant\n  %s", strings.Join(res.warnings, "\n  "), strings.Join(c.warnings, "\n  "))
			}
			for i, w := range c.warnings {
				if !strings.Contains(res.warnings[i], w) {
					t.Errorf("warning %q, want %q", res.warnings[i], w)
				}
			}
			if res.cut != "" || res.rows != len(rows) {
				t.Errorf("%+v", res)
			}
		})
	}
}
