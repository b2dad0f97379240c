package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
)

// sameDevice finds where two tools say different things of one GPU.
const sameDevice = `SELECT a.device_id FROM device a JOIN device b ON a.source_id < b.source_id AND a.device_id = b.device_id
	WHERE a.name <> b.name OR a.compute_capability <> b.compute_capability OR a.sm_count <> b.sm_count OR a.clock_hz <> b.clock_hz
	OR a.memory_bytes <> b.memory_bytes OR a.memory_bytes_per_s <> b.memory_bytes_per_s OR a.l2_bytes <> b.l2_bytes
	OR a.max_warp_per_sm_count <> b.max_warp_per_sm_count OR a.shared_per_sm_bytes <> b.shared_per_sm_bytes`

// TestPathsOfTools: a launch in the same ranges has the same path, whether Nsight Systems or Nsight Compute saw it.
func TestPathsOfTools(t *testing.T) {
	b := newBench(t)
	b.ok(ingest.Options{Name: "kernels"}, "../testdata/nsys/kernels/kernels.sqlite.gz", "../testdata/ncu/kernels-prefill.ncu-rep.gz")
	b.expect(`SELECT DISTINCT short_name, path FROM ncu_launch JOIN kernel_name USING (run_id, kernel_name_id) JOIN range_path USING (run_id, path_id) ORDER BY ALL`,
		"tiled_matmul prefill|transpose_naive prefill > inner")
	b.expect(`SELECT count(*) FROM ncu_launch l JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE path_id NOT IN (SELECT path_id FROM kernel k JOIN kernel_name m USING (run_id, kernel_name_id) WHERE m.short_name = n.short_name)`, "0")
	b.expect(sameDevice, "")
	b = newBench(t)
	b.ok(ingest.Options{Name: "variants"}, "../testdata/nsys/variants-graph/variants-graph.sqlite.gz", "../testdata/ncu/variants-graph.ncu-rep.gz")
	b.expect(`SELECT short_name, path FROM ncu_launch l LEFT JOIN kernel_name USING (run_id, kernel_name_id) JOIN range_path USING (run_id, path_id) ORDER BY launch_id`,
		"k_warm init|k_ct_wrk_before se_cross_thread > wrk_push|~ decode_all > decode_step[#]|~ decode_all > decode_step[#]|"+
			"k_thr0 worker[#] > chunk|k_unend never_popped > never_popped_llm > never_ended > never_ended_llm")
	b.expect(`SELECT launch_id FROM ncu_launch l LEFT JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE path_id NOT IN (SELECT path_id FROM kernel k JOIN kernel_name m USING (run_id, kernel_name_id) WHERE m.short_name = n.short_name
			UNION SELECT path_id FROM graph_launch WHERE l.kind = 'graph')`, "")
}

// TestAveragesBesideCaptures: tables of key_averages beside a timeline are sources of their own, and add nothing to the timeline's sums.
func TestAveragesBesideCaptures(t *testing.T) {
	const sums = `SELECT count(*), sum(duration_ns)::BIGINT FROM kernel`
	alone, both := newBench(t), newBench(t)
	alone.ok(ingest.Options{Name: "alone"}, both.copied("../testdata/nsys/kernels/kernels.sqlite.gz", "kernels.sqlite.gz"))
	both.copied("../testdata/torch/train.key_averages.json.gz", "train.key_averages.json.gz")
	both.copied("../testdata/torch/train.shapes.key_averages.csv.gz", "train.shapes.key_averages.csv.gz")
	both.file("workload.json", `{"model": "x", "passes": [{"name": "prefill", "count": 1, "wall_ms": 5}]}`)
	if res := both.ok(ingest.Options{Name: "folder"}, both.dir); len(res.Sources) != 3 || len(res.Skipped) != 1 {
		t.Fatalf("%+v", res)
	}
	both.expect(sums, alone.rows(sums))
	both.expect(`SELECT count(*) FROM op`, "0")
	both.expect(`SELECT s.form, count(*), count(DISTINCT a.source_id) FROM op_average a JOIN source s USING (run_id, source_id) GROUP BY ALL`, "torch-averages 494 2")
	both.expect(`SELECT count(*) FROM op_average a JOIN source s USING (run_id, source_id) WHERE (s.path LIKE '%shapes%') <> (a.shapes IS NOT NULL)`, "0")
}

// TestRocprofFiles: the CSV files of one process are one source, and give way to its JSON; secrets in its command line are masked.
func TestRocprofFiles(t *testing.T) {
	const kernels = `"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",1,6,41,1,5,"gemm",2,150,190,64,1,1,130,1,1
`
	b := newBench(t)
	b.file("40_kernel_trace.csv", kernels)
	b.file("40_memory_copy_trace.csv", "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,1,8,210,230\n")
	b.ok(ingest.Options{Name: "csv"}, b.dir)
	b.of("csv", `SELECT s.kind, s.form, parse_filename(s.path) FROM source s JOIN run r USING (run_id) WHERE r.name = '%s'`, "rocprof rocprof-csv 40_*_trace.csv")
	b.ok(ingest.Options{Name: "rocpd"}, "rocprof/testdata/rocpd.db")
	if got := b.rows(`SELECT s.command, s.host FROM source s JOIN run r USING (run_id) WHERE r.name = 'rocpd'`); !strings.HasPrefix(got, "./app --token ") || !strings.HasSuffix(got, " gpuhost") || strings.Contains(got, "hf_example") {
		t.Errorf("command and host: %s", got)
	}
	packed, err := filepath.Abs("../testdata/foreign/rocprofv3.json.gz")
	if err == nil {
		err = os.Symlink(packed, b.path("40_results.json.gz"))
	}
	if err != nil {
		t.Fatal(err)
	}
	b.ok(ingest.Options{Name: "both"}, b.dir)
	b.of("both", `SELECT s.form FROM source s JOIN run r USING (run_id) WHERE r.name = '%s'`, "rocprof-json")
}
