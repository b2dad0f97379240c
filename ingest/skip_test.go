package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"prof/ingest"
)

// TestOtherForms: what prof knows and does not read is refused by name, with what to give in its place.
func TestOtherForms(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string][2]string{
		"r.h5":               {"\x89HDF\r\n\x1a\n\x00", "it is HDF5, which prof does not read: nsys export --type sqlite"},
		"r.jsonl":            {`{"data":["GpuMetrics","[NSys]"]}` + "\n" + `{"Type":49,"DiagnosticEvent":{}}`, "it is JSON of nsys export"},
		"r.json":             {`{"Type":79,"CudaEvent":{"startNs":"1"}}`, "it is JSON of nsys export"},
		"r.txt":              {"data: \"\"\ndata: \"[NSys]\"\n", "it is text of nsys export"},
		"r.duckdb":           {"12345678DUCK....", "it is a DuckDB database"},
		"r.arrow":            {"ARROW1\x00\x00", "it is an Arrow file"},
		"r.parquet":          {"PAR1....", "it is a Parquet file"},
		"r.pftrace":          {"\x0a\x02ab", "it is a Perfetto trace, which prof does not read: rocprofv3 --output-format json"},
		"memory.pickle":      {"\x80\x04", "it is a pickle"},
		"p.ncu-proj":         {"<xml/>", "it is a project of Nsight"},
		"p.qdstrm":           {"\x00\x01", "it is a raw stream of Nsight Systems"},
		"rank0.et.json":      {`{"schema": "1.1.1-chakra.0.0.4", "nodes": []}`, "it is an execution trace"},
		"results.json":       {`{ "traceEvents":[{}` + "\n" + `,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":0}` + "\n", "it is results.json of rocprof 1 or 2"},
		"n_kernel_stats.csv": {`"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"`, "it has sums of rocprof"},
		"n_counters.csv":     {`"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"`, "it has counters of rocprofv3"},
		"n_agent_info.csv":   {`"Node_Id","Logical_Node_Id","Agent_Type","Cpu_Cores_Count"`, "it describes the machine of a rocprofv3 trace"},
	} {
		path := b.file("x/"+name, c[0])
		if _, err := b.try(ingest.Options{}, path); !errors.Is(err, ingest.ErrUnknownFormat) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}
