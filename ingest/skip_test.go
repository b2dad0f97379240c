package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/golden"
)

// TestOtherForms: what prof knows and does not read is refused by name, with what to give in its place.
func TestOtherForms(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string][2]string{
		"r.h5":                      {"\x89HDF\r\n\x1a\n\x00", "it is HDF5, which prof does not read: nsys export --type sqlite"},
		"r.jsonl":                   {`{"data":["GpuMetrics","[NSys]"]}` + "\n" + `{"Type":49,"DiagnosticEvent":{}}`, "it is JSON of nsys export"},
		"r.json":                    {`{"Type":79,"CudaEvent":{"startNs":"1"}}`, "it is JSON of nsys export"},
		"r.txt":                     {"data: \"\"\ndata: \"[NSys]\"\n", "it is text of nsys export"},
		"r.duckdb":                  {"12345678DUCK....", "it is a DuckDB database"},
		"r.arrow":                   {"ARROW1\x00\x00", "it is Arrow, which prof does not read: nsys export --type parquetdir"},
		"r.arrows":                  {"\xff\xff\xff\xff\x00\x02\x00\x00table_name", "it is Arrow, which"},
		"r.parquet":                 {"PAR1....", "it is a Parquet file"},
		"r.pftrace":                 {"\x0a\x02ab", "it is a Perfetto trace, which prof does not read: rocprofv3 --output-format json"},
		"memory.pickle":             {"\x80\x04", "it is a pickle"},
		"p.ncu-proj":                {"<xml/>", "it is a project of Nsight"},
		"p.qdstrm":                  {"\x00\x01", "it is a raw stream of Nsight Systems"},
		"rank0.et.json":             {`{"schema": "1.1.1-chakra.0.0.4", "nodes": []}`, "it is an execution trace"},
		"results.json":              {`{ "traceEvents":[{}` + "\n" + `,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":0}` + "\n", "it is results.json of rocprof 1 or 2"},
		"n_kernel_stats.csv":        {`"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"`, "it has sums of rocprof"},
		"n_counters.csv":            {`"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"`, "it has counters of rocprofv3"},
		"r_api.csv":                 {"Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n1,2,cudaLaunchKernel,0,1,2,3,4,python\n", "it lists the API calls of nsys stats (cuda_api_trace) without the GPU's work: give"},
		"experiment_metadata.json":  {`{"cmd": "", "benchmark_version": "0.0.5", "experiment_folder_name": "x"}`, "it says how genai-bench made its results"},
		"benchmark_args.json":       {`{"model": "m", "api_key": null, "no_test_connection": true, "outputs_dir": "x"}`, "it says how EvalScope made its results"},
		"benchmark_percentile.json": {`[{"Percentiles": "min", "TTFT (ms)": 1}]`, "it has the percentiles of EvalScope"},
		"benchmark_data.db":         {"SQLite format 3\x00CREATE TABLE result(first_chunk_latency REAL)", "it is EvalScope's database"},
		"workload_throughput.json":  {`{"n_samples": 16, "warmup_frac": 0.2}`, "it has how EvalScope's throughput went"},
		"workload_timeline.json":    {`{"wall_start": 1, "points": [{"cum_completion": 1}]}`, "it has how EvalScope's throughput went"},
		"guidellm.csv":              {"Run Info,Run Info,Benchmark\n1,2,3\n", "it is GuideLLM's table"},
		"br.yaml":                   {"metrics:\n  latency:\n    units: ms\nversion: '0.1'\n", "it is a benchmark report of llm-d of version 0.1"},
		"n_agent_info.csv":          {`"Node_Id","Logical_Node_Id","Agent_Type","Cpu_Cores_Count"`, "it describes the machine of a rocprofv3 trace"},
	} {
		path := b.file("x/"+name, c[0])
		if _, err := b.try(ingest.Options{}, path); !errors.Is(err, ingest.ErrUnknownFormat) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

// TestOtherFolders: so are folders, and within one that is read they are one line each.
func TestOtherFolders(t *testing.T) {
	b := newBench(t)
	export := b.file("x/llama.sqlite", string(golden.Unpacked(t, "../testdata/forms/llama.sqlite.gz")))
	for want, files := range map[string][]string{
		"it is an arrowdir export, which prof does not read: nsys export --type parquetdir": {"x/r_arwdir/META_DATA_EXPORT.arrow", "x/r_arwdir/StringIds.arrow"},
		"it is what nsys-ai keeps of an export: give the export itself":                     {"x/r.nsys-cache/.cache_version", "x/r.nsys-cache/string_ids.parquet"},
	} {
		for _, name := range files {
			b.file(name, "x")
		}
		folder := filepath.Dir(filepath.Join(filepath.Dir(filepath.Dir(export)), files[0]))
		if _, err := b.try(ingest.Options{}, folder); !errors.Is(err, ingest.ErrUnknownFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", folder, err, want)
		}
	}
	if got, err := b.try(ingest.Options{}, filepath.Dir(export)); err != nil || len(got.Skipped) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnknown: a file of no known form is refused in few words: what it seems to be, and what to give in its place.
func TestUnknown(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string][2]string{
		"a.txt":       {"hello\nworld\n", `it seems to be text that begins "hello"`},
		"b.json":      {`{"alpha": 1, "beta": {"c": [1, 2]}, "gamma": "x"}`, "it seems to be JSON with the members alpha, beta, gamma"},
		"cut.json":    {`{"alpha": 1, "beta": {"c": [1, `, "it seems to be JSON with the members alpha, beta"},
		"brace.json":  {"{", "it begins as JSON does, and is none"},
		"list.json":   {"[1, 2]", "it seems to be JSON that is a list"},
		"c.csv":       {"time,loss,lr,epoch,step,wall\n1,2,3,4,5,6\n", "it seems to be a table with the columns time, loss, lr, epoch, step and 1 more"},
		"d.bin":       {"x\x00\xff\xfe", "it seems to be binary data"},
		"e.html":      {"<html>", "it seems to be XML or a web page"},
		"f.sqlite":    {"not SQLite", "its name is that of an SQLite export, but not its content; export the report again"},
		"g.json":      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "it is a pointer of Git LFS"},
		"h.proftrace": {"text", "its name is that of a trace of prof's tracer"},
		"blank.csv":   {" \n", "it has nothing but blanks"},
	} {
		_, err := b.try(ingest.Options{}, b.file("x/"+name, c[0]))
		if !errors.Is(err, ingest.ErrUnknownFormat) || !strings.Contains(err.Error(), c[1]) || !strings.HasSuffix(err.Error(), "; `prof help ingest` lists the formats") || strings.Count(err.Error(), "\n") > 2 || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

// TestNothingRead: where no file of a folder can be read, the error says why of the one that matters.
func TestNothingRead(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"benchmark_args.json", "benchmark_percentile.json"} {
		b.copied("../testdata/serving/evalscope/"+name, "folder/"+name)
	}
	summary, err := os.ReadFile("../testdata/serving/evalscope/benchmark_summary.json")
	if err != nil {
		t.Fatal(err)
	}
	b.file("folder/benchmark_summary.json", string(summary[:len(summary)-9]))
	if _, err := b.try(ingest.Options{}, b.path("folder")); !errors.Is(err, ingest.ErrNothing) || !strings.Contains(err.Error(), "benchmark_summary.json: ") {
		t.Errorf("%v", err)
	}
}

// TestCutToNothing: of a file that was cut before anything in it is whole there is no run, and among others it is left out.
func TestCutToNothing(t *testing.T) {
	b := newBench(t)
	whole := string(golden.Unpacked(t, "../testdata/ncu/kernels-range.ncu-rep.gz"))
	cut := b.file("all/cut.ncu-rep", whole[:4000])
	if _, err := b.try(ingest.Options{Name: "cut"}, cut); !errors.Is(err, load.ErrNothingWhole) || !strings.Contains(err.Error(), "cut.ncu-rep") {
		t.Errorf("%v", err)
	}
	b.expect("SELECT count(*) FROM run", "0")
	b.file("all/whole.ncu-rep", whole)
	b.ok(ingest.Options{Name: "both"}, b.path("all"))
	b.warned("all/cut.ncu-rep: it is cut off, and nothing before that is whole (was it copied completely?); skipped")
	b.of("both", `SELECT parse_filename(s.path) FROM source s JOIN run r USING (run_id) WHERE r.name = '%s'`, "whole.ncu-rep")
}
