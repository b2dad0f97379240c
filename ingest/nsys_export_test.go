package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// The exports here are written by testdata/make_exports.py; the numbers are its.

const (
	kernelRows = `SELECT pid, tid, device_id, stream_id, start_ns, duration_ns, n.name, grid_x, grid_y, block_x, correlation_id, launch_start_ns, launch_duration_ns, a.name, range_context_id > 0, h.path
		FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape USING (run_id, kernel_shape_id) LEFT JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id
		LEFT JOIN range_path h ON h.run_id = k.run_id AND h.path_id = k.path_id ORDER BY start_ns, device_id, k.duration_ns`
	memopRows = `SELECT stream_id, start_ns, duration_ns, operation, size_bytes, src_memory, dst_memory, h.path FROM memop k
		LEFT JOIN range_path h ON h.run_id = k.run_id AND h.path_id = k.path_id ORDER BY start_ns`
	rangeRows = `SELECT r.start_ns, r.duration_ns, r.style, r.domain, r.name, h.path, r.tid, r.end_tid, r.category, p.name FROM nvtx_range r JOIN range_path h USING (run_id, path_id)
		LEFT JOIN nvtx_range p ON p.run_id = r.run_id AND p.range_id = r.parent_range_id ORDER BY r.range_id`
	sumRows = `SELECT r.name, device_id, first_start_ns, last_end_ns, busy_ns, sum_ns, kernel_sum_ns, kernel_count, memop_count, graph_count
		FROM range_device d JOIN nvtx_range r USING (run_id, range_id) ORDER BY r.range_id, device_id`
	partRows  = `SELECT part, read_count, stored_count, reason FROM source_part ORDER BY part`
	callsHere = `SELECT c.pid, c.tid, c.start_ns, c.duration_ns, a.name, return_value, range_context_id > 0 FROM api_call c JOIN api_name a USING (run_id, api_name_id) ORDER BY start_ns, c.pid, a.name`
)

// checkExact holds a run of the only capture in a warehouse to the conservation of time.
func checkExact(t *testing.T, run string) func(f *frame.Frame) {
	return func(f *frame.Frame) {
		t.Helper()
		if f.Rows[0][f.Index("is_exact")] != true {
			t.Errorf("%s: conservation: %v", run, f.Rows[0])
		}
	}
}

// workload is what make_exports.workload holds.
func expectWorkload(t *testing.T, name string) {
	t.Helper()
	w := warehouseWith(t, derive.Facts{})
	mustIngest(t, w, name, "nsys/testdata/"+name+".sqlite")
	inPrefill, inStep := "true|prefill", "true|decode_step[#]"
	if name == "no_nvtx" {
		inPrefill, inStep = "false|~", "false|~"
	}
	expect(t, w, kernelRows,
		"100|101|0|7|200|60|gemm<float>(float*)|2|1|64|1|120|10|cudaLaunchKernel|"+inPrefill,
		"100|101|0|7|700|100|attn<4>()|4|2|128|2|610|10|cudaLaunchKernel|"+inStep,
		"100|101|0|7|1000|10|attn<4>()|2|1|64|3|950|10|cudaLaunchKernel|false|~")
	_, path, _ := strings.Cut(inPrefill, "|")
	expect(t, w, memopRows, "8|240|100|memcpy Host-to-Device|4096|Pageable|Device|"+path, "7|350|5|memset|128|~|Device|"+path)
	expect(t, w, `SELECT name, short_name FROM kernel_name ORDER BY name`, "attn<4>()|attn", "gemm<float>(float*)|gemm")
	yes := map[bool]string{true: "true", false: "false"}[name != "no_nvtx"]
	expect(t, w, callsHere, "100|102|20|10|cudaDeviceSynchronize|4|false", "100|101|120|10|cudaLaunchKernel|0|"+yes, "100|101|140|10|cudaMemcpyAsync|0|"+yes,
		"100|101|160|5|cudaMemsetAsync|0|"+yes, "100|101|610|10|cudaLaunchKernel|0|"+yes, "100|101|950|10|cudaLaunchKernel|0|false")
	checkExact(t, name)(query(t, w, "conservation", queries.Args{"run": name}))
	if name == "no_nvtx" {
		expect(t, w, `SELECT (SELECT count(*) FROM nvtx_range), (SELECT count(*) FROM range_device), (SELECT count(*) FROM range_context)`, "0|0|0")
		return
	}
	expect(t, w, rangeRows, "100|400|push_pop||prefill|prefill|101|~|~|~", "600|300|push_pop||decode_step[0]|decode_step[#]|101|~|~|~")
	expect(t, w, `SELECT time_ns, name, pid, tid, domain FROM nvtx_mark`, "550|mark|100|101|")
	expect(t, w, sumRows, "prefill|0|200|355|145|165|60|1|2|0", "decode_step[0]|0|700|800|100|100|100|1|0|0")
	f := query(t, w, "stages", queries.Args{"run": name})
	if len(f.Rows) != 2 || f.Rows[0][0] != "prefill" || f.Rows[1][0] != "decode" {
		t.Errorf("stages: %v", f.Rows)
	}
}

// TestOldExport reads an export as of 2021: few tables, fewer columns.
func TestOldExport(t *testing.T) {
	expectWorkload(t, "old")
	w := newWarehouse(t)
	mustIngest(t, w, "old", "nsys/testdata/old.sqlite")
	expect(t, w, `SELECT device_id, name, bus_id, chip, compute_capability, sm_count, clock_hz, memory_bytes, memory_bytes_per_s, uuid FROM device`,
		"0|Tesla V100|0000:07:00.0|~|~|80|1380000000|16914055168|~|~")
	expect(t, w, `SELECT tool_version, schema_version, started_at, duration_ns, status FROM source`, "~|~|~|~|ok")
	expect(t, w, `SELECT command, host, started_at FROM run`, "~|~|~")
	expect(t, w, partRows, "CUPTI_ACTIVITY_KIND_KERNEL|3|3|~", "CUPTI_ACTIVITY_KIND_MEMCPY|1|1|~", "CUPTI_ACTIVITY_KIND_MEMSET|1|1|~",
		"CUPTI_ACTIVITY_KIND_RUNTIME|6|6|~", "NVTX_EVENTS|3|3|domain and category names are stored with the ranges", "StringIds|~|~|only strings that stored rows refer to")
}

// TestVersionedTables reads tables with _V2 and _V3 in their names, the highest of them.
func TestVersionedTables(t *testing.T) {
	expectWorkload(t, "versions")
	w := newWarehouse(t)
	mustIngest(t, w, "versions", "nsys/testdata/versions.sqlite")
	expect(t, w, `SELECT part, read_count FROM source_part WHERE part LIKE 'CUPTI%' ORDER BY part`, "CUPTI_ACTIVITY_KIND_KERNEL_V2|~", "CUPTI_ACTIVITY_KIND_KERNEL_V3|3",
		"CUPTI_ACTIVITY_KIND_MEMCPY_V3|1", "CUPTI_ACTIVITY_KIND_MEMSET_V3|1", "CUPTI_ACTIVITY_KIND_RUNTIME_V2|6")
	expect(t, w, `SELECT command FROM run`, "python serve.py --hf-token '***'")
	expect(t, w, `SELECT key, value FROM source_fact ORDER BY key`, "capture.id|uuid", "capture.working_dir|/srv/llm")
}

func TestNoNVTX(t *testing.T) { expectWorkload(t, "no_nvtx") }

// TestGraphMode reads graphs traced as a whole and everything else that an export may hold beside kernels.
func TestGraphMode(t *testing.T) {
	for _, osrt := range []bool{false, true} {
		w := newWarehouse(t)
		if _, err := tryIngest(t, w, load.Options{WithOSRT: osrt, APIRows: true}, "graphs", "nsys/testdata/graphs.sqlite"); err != nil {
			t.Fatal(err)
		}
		expect(t, w, `SELECT g.tid, device_id, stream_id, mode, graph_id, start_ns, duration_ns, busy_ns, kernel_count, memop_count, launch_start_ns, launch_duration_ns, a.name, h.path
			FROM graph_launch g JOIN api_name a ON a.run_id = g.run_id AND a.api_name_id = g.launch_name_id LEFT JOIN range_path h ON h.run_id = g.run_id AND h.path_id = g.path_id ORDER BY start_ns`,
			"101|0|7|graph|21|300|200|200|~|~|110|10|cudaGraphLaunch_v10000|decode > decode_step[#]",
			"101|0|7|graph|21|500|250|250|~|~|210|10|cudaGraphLaunch_v10000|decode > decode_step[#]",
			"101|0|7|graph|22|1100|300|300|~|~|1000|10|cudaGraphLaunch_v10000|~")
		expect(t, w, rangeRows, "100|860|push_pop|LLM|decode|decode|101|~|3|~", "105|20|push_pop|LLM|decode_step[0]|decode > decode_step[#]|101|~|~|decode",
			"205|745|push_pop||decode_step[1]|decode > decode_step[#]|101|~|~|decode", "10|10|push_pop|domain 9|orphan domain|orphan domain|101|~|~|~")
		expect(t, w, sumRows, "decode|0|300|750|450|510|60|1|0|2", "decode_step[0]|0|300|500|200|200|0|0|0|1", "decode_step[1]|0|400|750|310|310|60|1|0|1")
		expect(t, w, `SELECT start_ns, duration_ns, kind, event_id, correlation_id, pid, tid, h.path FROM sync s LEFT JOIN range_path h ON h.run_id = s.run_id AND h.path_id = s.path_id ORDER BY start_ns`,
			"231|668|Stream sync|~|3|100|101|decode > decode_step[#]", "2000|100|Event sync|6|99|100|~|~", "2200|50|Whole context|0|~|~|~|~")
		expect(t, w, `SELECT library, a.name, tid, start_ns, duration_ns, range_context_id > 0 FROM library_call c JOIN api_name a USING (run_id, api_name_id) ORDER BY start_ns`,
			"cuDNN|cudnnConvolutionForward|101|206|10|true", "cuBLAS|cublasSgemm_v2|101|1020|10|false")
		expect(t, w, `SELECT device_id, metric_id, name, unit FROM gpu_metric_name ORDER BY device_id, metric_id`, "0|0|GPC Clock Frequency [MHz]|hz", "0|1|SMs Active [Throughput %]|ratio",
			"0|2|DRAM Bytes|raw", "1|1|SMs Active [Throughput %]|ratio")
		expect(t, w, `SELECT type_id & 255, metric_id, time_ns, value FROM gpu_metric ORDER BY ALL`, "0|0|-5|1.98e+09", "0|1|10|0.5", "0|1|20|1", "0|2|10|7", "1|1|10|0.25", "77|1|10|3")
		f := query(t, w, "gpu-metrics", queries.Args{"run": "graphs"})
		if len(f.Rows) != 4 || f.Rows[1][f.Index("mean")] != 0.75 {
			t.Errorf("gpu-metrics: %v", f.Rows)
		}
		if osrt {
			expect(t, w, `SELECT c.tid, a.name, start_ns, duration_ns FROM osrt_call c JOIN api_name a USING (run_id, api_name_id) ORDER BY start_ns`, "101|poll|1|4", "102|poll|6|10")
			expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part = 'OSRT_API'`, "3|2|1 rows only mark the start or end of tracing")
		} else {
			expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part = 'OSRT_API'`, "~|~|stored only with --with-osrt")
			expect(t, w, `SELECT count(*) FROM osrt_call`, "0")
		}
		expect(t, w, `SELECT reason FROM source_part WHERE part IN ('CUBLAS_EVENTS', 'SCHED_EVENTS', 'BRAND_NEW') ORDER BY part`,
			"this version of prof does not know the table", "1 rows end before they start, or are years off", "CPU scheduling is not stored")
		expect(t, w, `SELECT origin, severity, time_ns, pid, message FROM diagnostic WHERE origin = 'capture' ORDER BY time_ns`,
			"capture|warning|5|100|Number of events: 12, HF_TOKEN=***", "capture|error|6|~|bad")
		expect(t, w, `SELECT host, command, started_at::VARCHAR FROM run`, "box|python serve.py --hf-token '***'|2023-11-14 22:13:20.123456")
		expect(t, w, `SELECT started_at::VARCHAR, duration_ns, tool_version, schema_version FROM source`, "2023-11-14 22:13:20.123456|5000|2025.3.1.90|3.20.0")
		expect(t, w, `SELECT key, value FROM source_fact ORDER BY key`, "capture.id|uuid", "capture.working_dir|/srv/llm", "driver.version|580.159", "host.name|box")
	}
}

// TestTwoProcesses: CUDA_VISIBLE_DEVICES gives both processes a GPU 0, and their correlation ids clash.
func TestTwoProcesses(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "p", "nsys/testdata/processes.sqlite")
	expect(t, w, kernelRows,
		"100|100|0|7|20|1|k()|2|1|64|1|10|5|cudaLaunchKernel|true|prefill", "200|200|1|7|20|2|k()|2|1|64|1|12|5|cudaLaunchKernel|false|~",
		"100|100|0|7|40|4|k()|2|1|64|2|30|5|cudaLaunchKernel|true|decode", "200|200|1|7|40|8|k()|2|1|64|2|32|5|cudaLaunchKernel|true|request",
		"100|~|0|7|60|32|k()|2|1|64|3|~|~|~|~|~", "200|201|1|7|60|16|k()|2|1|64|3|50|5|cudaLaunchKernel|true|request")
	expect(t, w, rangeRows, "5|20|push_pop||prefill|prefill|100|~|~|~", "31|25|start_end||request|request|200|201|~|~", "28|8|push_pop||decode|decode|100|~|~|~")
	expect(t, w, sumRows, "prefill|0|20|21|1|1|1|1|0|0", "request|1|40|76|24|24|24|2|0|0", "decode|0|40|44|4|4|4|1|0|0")
	expect(t, w, `SELECT device_id, name, uuid, sm_count FROM device ORDER BY device_id`, "0|NVIDIA H200|GPU-0|132", "1|NVIDIA H200|GPU-1|132")
	expect(t, w, `SELECT pid, name FROM process ORDER BY pid`, "100|rank0", "200|rank1")
	expect(t, w, `SELECT pid, tid, name FROM thread ORDER BY pid`, "100|100|main", "200|200|other")
	f := query(t, w, "conservation", queries.Args{"run": "p"})
	checkExact(t, "p")(f)
	if f.Rows[0][f.Index("unlaunched_ns")] != int64(32) || f.Rows[0][f.Index("outside_ns")] != int64(2) || f.Rows[0][f.Index("attributed_ns")] != int64(29) {
		t.Errorf("conservation: %v", f.Rows[0])
	}
}

// TestOddRows: what lacks a time is left out and counted; what lacks its launch keeps its time.
func TestOddRows(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "odd", "nsys/testdata/odd.sqlite")
	open := "never popped > never ended"
	expect(t, w, kernelRows,
		"100|101|0|7|100|10|k()|2|1|64|1|10|10|cudaLaunchKernel|true|"+open+" > one", "100|~|0|7|200|20|k()|2|1|64|2|~|~|~|~|~", "100|~|0|7|300|30|k()|2|1|64|~|~|~|~|~|~",
		"~|~|0|7|400|40|k()|2|1|64|1|~|~|~|~|~", "100|~|0|7|500|50|k()|2|1|64|77|~|~|~|~|~",
		"100|101|0|7|600|60|k()|2|1|64|4|80|5000000000|cudaLaunchKernel|true|"+open, "100|101|0|7|700|0|k()|2|1|64|4|80|5000000000|cudaLaunchKernel|true|"+open)
	expect(t, w, memopRows, "7|800|5|memcpy 99|64|~|~|"+open+" > one")
	expect(t, w, rangeRows, "0|~|push_pop||never popped|never popped|101|~|~|~", "5|~|start_end||never ended|"+open+"|101|~|~|never popped",
		"15|0|push_pop||empty|"+open+" > one > empty|101|~|~|one", "3|1|push_pop|||never popped > |101|~|~|never popped", "10|10|push_pop||one|"+open+" > one|101|~|~|never ended")
	expect(t, w, partRows, "CUPTI_ACTIVITY_KIND_KERNEL|8|7|1 rows end before they start, or are years off", "CUPTI_ACTIVITY_KIND_MEMCPY|2|1|1 rows end before they start, or are years off",
		"CUPTI_ACTIVITY_KIND_RUNTIME|5|4|1 rows end before they start, or are years off", "META_DATA_CAPTURE|~|~|only selected facts; never the environment",
		"NVTX_EVENTS|7|5|1 ranges have no thread, 1 end before they start; the other rows create domains", "StringIds|~|~|only strings that stored rows refer to")
	expect(t, w, `SELECT count(*) FROM diagnostic WHERE origin = 'ingest' AND severity = 'warning'`, "4")
	expect(t, w, `SELECT correlation_id, return_value FROM api_call ORDER BY start_ns`, "1|0", "1|0", "~|0", "4|~")
	checkExact(t, "odd")(query(t, w, "conservation", queries.Args{"run": "odd"}))
}

// TestRefusedExports: an error names the file and says what is wrong, and nothing is stored.
func TestRefusedExports(t *testing.T) {
	w := newWarehouse(t)
	for _, c := range []struct {
		file  string
		is    error
		wants []string
	}{
		{"nsys/testdata/strings.sqlite", nil, []string{"nsys/testdata/strings.sqlite", "string 4711", "StringIds lacks"}},
		{"nsys/testdata/no_cuda.sqlite", nsys.ErrNoCUDA, []string{"nsys/testdata/no_cuda.sqlite", "no CUDA activity", "--trace=cuda,nvtx"}},
	} {
		_, err := tryIngest(t, w, load.Options{APIRows: true}, "refused", "nsys/testdata/old.sqlite", c.file)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error %q lacks %q", err, want)
			}
		}
		for _, table := range tables(t, w) {
			expect(t, w, "SELECT count(*) FROM "+table, "0")
		}
	}
	mustIngest(t, w, "refused", "nsys/testdata/old.sqlite")
}

// TestAllocations: what the program got from CUDA and gave back, with the peak of each stage by what was live when it began and in it.
func TestAllocations(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "m", "nsys/testdata/memory.sqlite")
	expect(t, w, `SELECT pid, device_id, time_ns, memory, address, size_bytes FROM cuda_allocation ORDER BY time_ns, size_bytes`, "100|0|10|Device|4096|1000", "100|0|15|Pinned|9000|64",
		"100|0|150|Device|8192|500", "100|0|160|Device|8192|-500", "100|0|160|Device|8192|700", "100|0|250|Device|8192|-700")
	expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part LIKE '%MEMORY_USAGE%'`, "7|6|1 rows are neither an allocation nor a release, or have a size or time that cannot be")
	anew := func() {
		var run string
		if err := w.DB.QueryRow(`SELECT run_id::VARCHAR FROM run`).Scan(&run); err != nil {
			t.Fatal(err)
		}
		if err := schema.DeriveAnew(t.Context(), w.DB, derive.Facts{}, run); err != nil {
			t.Fatal(err)
		}
	}
	anew()
	const peaks = `SELECT stage, basis, pass, device, peak_bytes, least_bytes, most_bytes, passes, samples, pid, source_id FROM memory_peaks('m')`
	expect(t, w, peaks, "(all)|nsys device|~|0|1700|1700|1700|~|~|100|1", "(all)|nsys pinned|~|0|64|64|64|~|~|100|1",
		"prefill|nsys device|~|0|1700|1700|1700|1|~|100|1", "prefill|nsys pinned|~|0|64|64|64|1|~|100|1",
		"decode|nsys device|~|0|1000|1000|1000|1|~|100|1", "decode|nsys pinned|~|0|64|64|64|1|~|100|1")
	expect(t, w, peaks[:len(peaks)-1]+`, stage := 'decode', basis := 'nsys device')`, "decode|nsys device|~|0|1000|1000|1000|1|~|100|1")
	if _, err := w.DB.Exec(`DELETE FROM cuda_allocation WHERE time_ns = 10`); err != nil { // the record began too late: a release goes below zero
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(`UPDATE cuda_allocation SET size_bytes = -1200 WHERE time_ns = 250`); err != nil {
		t.Fatal(err)
	}
	anew()
	expect(t, w, peaks[:len(peaks)-1]+`, basis := 'nsys device')`, "(all)|nsys device|~|0|~|1200|~|~|~|100|1", "prefill|nsys device|~|0|~|1200|~|1|~|100|1",
		"decode|nsys device|~|0|~|0|~|1|~|100|1")
}
