package nsys_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/rows/rowstest"
)

// The exports here are written by testdata/make_exports.py; the numbers are its.

const (
	kernelColumns = "pid tid device_id stream_id start_ns duration_ns kernel_name_id.name kernel_shape_id.grid_x kernel_shape_id.grid_y kernel_shape_id.block_x correlation_id launch_start_ns launch_duration_ns launch_name_id.name path_id.path"
	memopColumns  = "stream_id start_ns duration_ns operation size_bytes src_memory dst_memory path_id.path"
	rangeColumns  = "start_ns duration_ns style domain name path_id.path tid end_tid category parent_range_id.name"
	sumColumns    = "range_id.name device_id first_start_ns last_end_ns busy_ns sum_ns kernel_sum_ns kernel_count memop_count graph_count"
	partColumns   = "part read_count stored_count reason"
	callColumns   = "pid tid start_ns duration_ns api_name_id.name return_value"
)

// expect compares the rows of a table in an order, both as columns, with texts.
func expect(t *testing.T, k *rowstest.Kept, table, order, columns string, want ...string) {
	t.Helper()
	k.Table(table).By(order).Expect(t, columns, want...)
}

// expectSource compares what a source says of itself.
func expectSource(t *testing.T, i *load.SourceInfo, tool, schema, started string, duration any, command, host string) {
	t.Helper()
	at := ""
	if i.StartedAt != nil {
		at = i.StartedAt.UTC().Format("2006-01-02 15:04:05.999999")
	}
	if i.ToolVersion != tool || i.SchemaVersion != schema || at != started || load.OrNull(i.DurationNs) != duration || i.Command != command || i.Host != host || i.Status != "" {
		t.Errorf("the source is %+v, from %s", i, at)
	}
}

// workload is what make_exports.workload holds.
func expectWorkload(t *testing.T, name string) {
	t.Helper()
	k, _ := stored(t, "testdata/"+name+".sqlite")
	prefill, step := "prefill", "decode_step[#]"
	if name == "no_nvtx" {
		prefill, step = "~", "~"
	}
	expect(t, k, "kernel", "start_ns", kernelColumns,
		"100|101|0|7|200|60|gemm<float>(float*)|2|1|64|1|120|10|cudaLaunchKernel|"+prefill,
		"100|101|0|7|700|100|attn<4>()|4|2|128|2|610|10|cudaLaunchKernel|"+step,
		"100|101|0|7|1000|10|attn<4>()|2|1|64|3|950|10|cudaLaunchKernel|~")
	expect(t, k, "memop", "start_ns", memopColumns, "8|240|100|memcpy Host-to-Device|4096|Pageable|Device|"+prefill, "7|350|5|memset|128|~|Device|"+prefill)
	expect(t, k, "kernel_name", "name", "name short_name", "attn<4>()|attn", "gemm<float>(float*)|gemm")
	expect(t, k, "api_call", "start_ns", callColumns, "100|102|20|10|cudaDeviceSynchronize|4", "100|101|120|10|cudaLaunchKernel|0", "100|101|140|10|cudaMemcpyAsync|0",
		"100|101|160|5|cudaMemsetAsync|0", "100|101|610|10|cudaLaunchKernel|0", "100|101|950|10|cudaLaunchKernel|0")
	within := map[bool]int{true: 4}[name != "no_nvtx"]
	if n := len(k.Table("api_call").Where(func(r rowstest.Row) bool { return r.Int("range_context_id") > 0 })); n != within {
		t.Errorf("%d calls are in ranges, not %d", n, within)
	}
	if faults := faultsOf(k); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	if name == "no_nvtx" {
		if n := k.Count("nvtx_range") + k.Count("range_device") + k.Count("range_context"); n > 0 {
			t.Errorf("%d rows of ranges", n)
		}
		return
	}
	expect(t, k, "nvtx_range", "range_id", rangeColumns, "100|400|push_pop||prefill|prefill|101|~|~|~", "600|300|push_pop||decode_step[0]|decode_step[#]|101|~|~|~")
	expect(t, k, "nvtx_mark", "time_ns", "time_ns name pid tid domain", "550|mark|100|101|")
	expect(t, k, "range_device", "range_id device_id", sumColumns, "prefill|0|200|355|145|165|60|1|2|0", "decode_step[0]|0|700|800|100|100|100|1|0|0")
}

// TestOldExport reads an export as of 2021: few tables, fewer columns.
func TestOldExport(t *testing.T) {
	expectWorkload(t, "old")
	k, info := stored(t, "testdata/old.sqlite")
	expect(t, k, "device", "device_id", "device_id name bus_id chip compute_capability sm_count clock_hz memory_bytes memory_bytes_per_s uuid",
		"0|Tesla V100|0000:07:00.0|~|~|80|1380000000|16914055168|~|~")
	expectSource(t, info, "", "", "", nil, "", "")
	expect(t, k, "source_part", "part", partColumns, "CUPTI_ACTIVITY_KIND_KERNEL|3|3|~", "CUPTI_ACTIVITY_KIND_MEMCPY|1|1|~", "CUPTI_ACTIVITY_KIND_MEMSET|1|1|~",
		"CUPTI_ACTIVITY_KIND_RUNTIME|6|6|~", "NVTX_EVENTS|3|3|domain and category names are stored with the ranges", "StringIds|~|~|only strings that stored rows refer to")
}

// TestVersionedTables reads tables with _V2 and _V3 in their names, the highest of them.
func TestVersionedTables(t *testing.T) {
	expectWorkload(t, "versions")
	k, info := stored(t, "testdata/versions.sqlite")
	k.Table("source_part").Where(func(r rowstest.Row) bool { return strings.HasPrefix(r.Text("part"), "CUPTI") }).By("part").Expect(t, "part read_count", "CUPTI_ACTIVITY_KIND_KERNEL_V2|~", "CUPTI_ACTIVITY_KIND_KERNEL_V3|3",
		"CUPTI_ACTIVITY_KIND_MEMCPY_V3|1", "CUPTI_ACTIVITY_KIND_MEMSET_V3|1", "CUPTI_ACTIVITY_KIND_RUNTIME_V2|6")
	if info.Command != "python serve.py --hf-token '***'" {
		t.Errorf("the command is %s", info.Command)
	}
	expect(t, k, "source_fact", "key", "key value", "capture.id|uuid", "capture.working_dir|/srv/llm")
}

func TestNoNVTX(t *testing.T) { expectWorkload(t, "no_nvtx") }

// TestGraphMode reads graphs traced as a whole and everything else that an export may hold beside kernels.
func TestGraphMode(t *testing.T) {
	for _, osrt := range []bool{false, true} {
		k, info, err := tryStored(t, nsys.SQLite, load.Options{WithOSRT: osrt, APIRows: true}, "testdata/graphs.sqlite")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, k, "graph_launch", "start_ns", "tid device_id stream_id mode graph_id start_ns duration_ns busy_ns kernel_count memop_count launch_start_ns launch_duration_ns launch_name_id.name path_id.path",
			"101|0|7|graph|21|300|200|200|~|~|110|10|cudaGraphLaunch_v10000|decode > decode_step[#]",
			"101|0|7|graph|21|500|250|250|~|~|210|10|cudaGraphLaunch_v10000|decode > decode_step[#]",
			"101|0|7|graph|22|1100|300|300|~|~|1000|10|cudaGraphLaunch_v10000|~")
		expect(t, k, "nvtx_range", "range_id", rangeColumns, "100|860|push_pop|LLM|decode|decode|101|~|3|~", "105|20|push_pop|LLM|decode_step[0]|decode > decode_step[#]|101|~|~|decode",
			"205|745|push_pop||decode_step[1]|decode > decode_step[#]|101|~|~|decode", "10|10|push_pop|domain 9|orphan domain|orphan domain|101|~|~|~")
		expect(t, k, "range_device", "range_id device_id", sumColumns, "decode|0|300|750|450|510|60|1|0|2", "decode_step[0]|0|300|500|200|200|0|0|0|1", "decode_step[1]|0|400|750|310|310|60|1|0|1")
		expect(t, k, "sync", "start_ns", "start_ns duration_ns kind event_id correlation_id pid tid path_id.path",
			"231|668|Stream sync|~|3|100|101|decode > decode_step[#]", "2000|100|Event sync|6|99|100|~|~", "2200|50|Whole context|0|~|~|~|~")
		expect(t, k, "library_call", "start_ns", "library api_name_id.name tid start_ns duration_ns", "cuDNN|cudnnConvolutionForward|101|206|10", "cuBLAS|cublasSgemm_v2|101|1020|10")
		if calls := k.Table("library_call").By("start_ns"); calls[0].Int("range_context_id") == 0 || calls[1].Int("range_context_id") != 0 {
			t.Errorf("the ranges of library calls are %q", calls.Texts("range_context_id"))
		}
		expect(t, k, "gpu_metric_name", "device_id metric_id", "device_id metric_id name unit", "0|0|GPC Clock Frequency [MHz]|hz", "0|1|SMs Active [Throughput %]|ratio",
			"0|2|DRAM Bytes|raw", "1|1|SMs Active [Throughput %]|ratio")
		var metrics []string
		for _, r := range k.Table("gpu_metric").By("metric_id time_ns value") {
			metrics = append(metrics, fmt.Sprint(r.Int("type_id")&255, "|", r.Text("metric_id"), "|", r.Text("time_ns"), "|", r.Text("value")))
		}
		if want := []string{"0|0|-5|1.98e+09", "1|1|10|0.25", "0|1|10|0.5", "77|1|10|3", "0|1|20|1", "0|2|10|7"}; !slices.Equal(metrics, want) {
			t.Errorf("the metrics are %q, want %q", metrics, want)
		}
		if osrt {
			expect(t, k, "osrt_call", "start_ns", "tid api_name_id.name start_ns duration_ns", "101|poll|1|4", "102|poll|6|10")
			k.Table("source_part").Is("part", "OSRT_API").Expect(t, "read_count stored_count reason", "3|2|1 rows only mark the start or end of tracing")
		} else {
			k.Table("source_part").Is("part", "OSRT_API").Expect(t, "read_count stored_count reason", "~|~|stored only with --with-osrt")
			expect(t, k, "osrt_call", "", "tid")
		}
		k.Table("source_part").Where(func(r rowstest.Row) bool {
			return slices.Contains([]string{"CUBLAS_EVENTS", "SCHED_EVENTS", "BRAND_NEW"}, r.Text("part"))
		}).By("part").Expect(t, "reason", "this version of prof does not know the table", "1 rows end before they start, or are years off", "CPU scheduling is not stored")
		k.Table("diagnostic").Is("origin", "capture").By("time_ns").Expect(t, "origin severity time_ns pid message",
			"capture|warning|5|100|Number of events: 12, HF_TOKEN=***", "capture|error|6|~|bad")
		expectSource(t, info, "2025.3.1.90", "3.20.0", "2023-11-14 22:13:20.123456", int64(5000), "python serve.py --hf-token '***'", "box")
		expect(t, k, "source_fact", "key", "key value", "capture.id|uuid", "capture.working_dir|/srv/llm", "driver.version|580.159", "host.name|box")
	}
}

// TestTwoProcesses: CUDA_VISIBLE_DEVICES gives both processes a GPU 0, and their correlation ids clash.
func TestTwoProcesses(t *testing.T) {
	k, _ := stored(t, "testdata/processes.sqlite")
	expect(t, k, "kernel", "start_ns device_id duration_ns", kernelColumns,
		"100|100|0|7|20|1|k()|2|1|64|1|10|5|cudaLaunchKernel|prefill", "200|200|1|7|20|2|k()|2|1|64|1|12|5|cudaLaunchKernel|~",
		"100|100|0|7|40|4|k()|2|1|64|2|30|5|cudaLaunchKernel|decode", "200|200|1|7|40|8|k()|2|1|64|2|32|5|cudaLaunchKernel|request",
		"100|~|0|7|60|32|k()|2|1|64|3|~|~|~|~", "200|201|1|7|60|16|k()|2|1|64|3|50|5|cudaLaunchKernel|request")
	expect(t, k, "nvtx_range", "range_id", rangeColumns, "5|20|push_pop||prefill|prefill|100|~|~|~", "31|25|start_end||request|request|200|201|~|~", "28|8|push_pop||decode|decode|100|~|~|~")
	expect(t, k, "range_device", "range_id device_id", sumColumns, "prefill|0|20|21|1|1|1|1|0|0", "request|1|40|76|24|24|24|2|0|0", "decode|0|40|44|4|4|4|1|0|0")
	expect(t, k, "device", "device_id", "device_id name uuid sm_count", "0|NVIDIA H200|GPU-0|132", "1|NVIDIA H200|GPU-1|132")
	expect(t, k, "process", "pid", "pid name", "100|rank0", "200|rank1")
	expect(t, k, "thread", "pid", "pid tid name", "100|100|main", "200|200|other")
	outside, unlaunched := k.Table("kernel").Is("range_context_id", "0").Sum("duration_ns"), k.Table("kernel").Is("range_context_id", "~").Sum("duration_ns")
	if faults := faultsOf(k); outside != 2 || unlaunched != 32 || k.Table("kernel").Sum("duration_ns") != 63 || len(faults) > 0 {
		t.Errorf("%d ns outside of ranges, %d without a launch: %q", outside, unlaunched, faults)
	}
}

// TestOddRows: what lacks a time is left out and counted; what lacks its launch keeps its time.
func TestOddRows(t *testing.T) {
	k, _ := stored(t, "testdata/odd.sqlite")
	open := "never popped > never ended"
	expect(t, k, "kernel", "start_ns device_id duration_ns", kernelColumns,
		"100|101|0|7|100|10|k()|2|1|64|1|10|10|cudaLaunchKernel|"+open+" > one", "100|~|0|7|200|20|k()|2|1|64|2|~|~|~|~", "100|~|0|7|300|30|k()|2|1|64|~|~|~|~|~",
		"~|~|0|7|400|40|k()|2|1|64|1|~|~|~|~", "100|~|0|7|500|50|k()|2|1|64|77|~|~|~|~",
		"100|101|0|7|600|60|k()|2|1|64|4|80|5000000000|cudaLaunchKernel|"+open, "100|101|0|7|700|0|k()|2|1|64|4|80|5000000000|cudaLaunchKernel|"+open)
	expect(t, k, "memop", "start_ns", memopColumns, "7|800|5|memcpy 99|64|~|~|"+open+" > one")
	expect(t, k, "nvtx_range", "range_id", rangeColumns, "0|~|push_pop||never popped|never popped|101|~|~|~", "5|~|start_end||never ended|"+open+"|101|~|~|never popped",
		"15|0|push_pop||empty|"+open+" > one > empty|101|~|~|one", "3|1|push_pop|||never popped > |101|~|~|never popped", "10|10|push_pop||one|"+open+" > one|101|~|~|never ended")
	expect(t, k, "source_part", "part", partColumns, "CUPTI_ACTIVITY_KIND_KERNEL|8|7|1 rows end before they start, or are years off", "CUPTI_ACTIVITY_KIND_MEMCPY|2|1|1 rows end before they start, or are years off",
		"CUPTI_ACTIVITY_KIND_RUNTIME|5|4|1 rows end before they start, or are years off", "META_DATA_CAPTURE|~|~|only selected facts; never the environment",
		"NVTX_EVENTS|7|5|1 ranges have no thread, 1 end before they start; the other rows create domains", "StringIds|~|~|only strings that stored rows refer to")
	if n := len(k.Table("diagnostic").Is("origin", "ingest").Is("severity", "warning")); n != 4 {
		t.Errorf("%d warnings", n)
	}
	expect(t, k, "api_call", "start_ns", "correlation_id return_value", "1|0", "1|0", "~|0", "4|~")
	if faults := faultsOf(k); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// TestAllocations: what the program got from CUDA and gave back.
func TestAllocations(t *testing.T) {
	k, _ := stored(t, "testdata/memory.sqlite")
	expect(t, k, "cuda_allocation", "time_ns size_bytes", "pid device_id time_ns memory address size_bytes", "100|0|10|Device|4096|1000", "100|0|15|Pinned|9000|64",
		"100|0|150|Device|8192|500", "100|0|160|Device|8192|-500", "100|0|160|Device|8192|700", "100|0|250|Device|8192|-700")
	k.Table("source_part").Where(func(r rowstest.Row) bool { return strings.Contains(r.Text("part"), "MEMORY_USAGE") }).Expect(t, "read_count stored_count reason",
		"7|6|1 rows are neither an allocation nor a release, or have a size or time that cannot be")
}
