package rocprof_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rocprof"
	"prof/ingest/rows/rowstest"
)

const captures = "../../testdata/foreign/"

type loader func(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error)

// stored loads a file, or the CSV files of a process in a folder, in memory.
func stored(t *testing.T, read loader, path string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{APIRows: true})
	path = rowstest.Plain(t, path)
	info, err := read(t.Context(), path, path, k.Target)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range info.Warnings {
		t.Errorf("%s: %s", path, w)
	}
	return k, info, k.StoreShared(t.Context())
}

// store is stored of what is read without an error.
func store(t *testing.T, read loader, path string) (*rowstest.Kept, *load.SourceInfo) {
	t.Helper()
	k, info, err := stored(t, read, path)
	if err != nil {
		t.Fatal(err)
	}
	return k, info
}

// kernelSums are what jsonSums and csvSums add up.
func kernelSums(k *rowstest.Kept) string {
	names, items, kernels := map[string]bool{}, int64(0), k.Table("kernel")
	for _, r := range kernels {
		names[r.Text("kernel_name_id")] = true
		items += r.Int("kernel_shape_id.grid_x") * r.Int("kernel_shape_id.block_x")
	}
	return fmt.Sprintf("%d|%d|%d|%d", len(kernels), kernels.Sum("duration_ns"), len(names), items)
}

// TestRocprof holds kernels to sums over the files themselves.
func TestRocprof(t *testing.T) {
	k, _ := store(t, rocprof.LoadJSON, captures+"rocprofv3.json.gz")
	if got, want := kernelSums(k), jsonSums(t, captures+"rocprofv3.json.gz"); got != want {
		t.Errorf("kernels are %s, the JSON has %s", got, want)
	}
	k.Table("device").By("device_id").Expect(t, "device_id name", "0|AMD Instinct MI350X", "1|AMD Instinct MI350X")
	k, _ = store(t, rocprof.LoadCSV, captures+"rocprofv3_kernel_trace.csv")
	if got, want := kernelSums(k), csvSums(t, captures+"rocprofv3_kernel_trace.csv"); got != want {
		t.Errorf("kernels are %s, the CSV has %s", got, want)
	}
}

func jsonSums(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string][]struct {
		Buffer map[string][]struct {
			Start int64 `json:"start_timestamp"`
			End   int64 `json:"end_timestamp"`
			Info  struct {
				Kernel int64            `json:"kernel_id"`
				Grid   map[string]int64 `json:"grid_size"`
			} `json:"dispatch_info"`
		} `json:"buffer_records"`
	}
	if err := json.NewDecoder(z).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	n, ns, items, names := 0, int64(0), int64(0), map[int64]bool{}
	for _, k := range doc["rocprofiler-sdk-tool"][0].Buffer["kernel_dispatch"] {
		n, ns, items, names[k.Info.Kernel] = n+1, ns+k.End-k.Start, items+k.Info.Grid["x"], true
	}
	return fmt.Sprintf("%d|%d|%d|%d", n, ns, len(names), items)
}

func csvSums(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	n, ns, items, names := 0, int64(0), int64(0), map[string]bool{}
	for _, r := range rows[1:] {
		value := func(name string) int64 {
			v, err := strconv.ParseInt(r[at[name]], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		n, ns, items, names[r[at["Kernel_Name"]]] = n+1, ns+value("End_Timestamp")-value("Start_Timestamp"), items+value("Grid_Size_X"), true
	}
	return fmt.Sprintf("%d|%d|%d|%d", n, ns, len(names), items)
}

// everything has a record of each kind, by the schema of rocprofv3's JSON.
const everything = `{"rocprofiler-sdk-tool": [{"metadata": {"pid": 40}, "agents": [{"id": {"handle": 7}, "type": 1, "name": "CPU"}, {"id": {"handle": 9}, "type": 2, "name": "gfx90a", "product_name": "AMD Instinct MI210", "logical_node_type_id": 1}],
"strings": {"buffer_records": [{"kind": "NONE", "operations": []}, {"kind": "HIP_RUNTIME_API", "operations": ["hipInit", "hipLaunchKernel"]}, {"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA"]},
 {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]}, {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "ENQUEUE", "COMPLETE"]}], "marker_api": [{"key": 3, "value": "prefill"}, {"key": 4, "value": "here"}]},
"kernel_symbols": [{"kernel_id": 5, "kernel_name": "gemm.kd", "formatted_kernel_name": "gemm"}], "other": [{}],
"buffer_records": {"names": {}, "hip_api": [{"kind": 1, "operation": 1, "correlation_id": {"internal": 2}, "start_timestamp": 110, "end_timestamp": 120, "thread_id": 41}],
 "marker_api": [{"kind": 2, "operation": 1, "correlation_id": {"internal": 3}, "start_timestamp": 100, "end_timestamp": 200, "thread_id": 41}, {"kind": 2, "operation": 0, "correlation_id": {"internal": 4}, "start_timestamp": 130, "end_timestamp": 130, "thread_id": 41}],
 "kernel_dispatch": [{"kind": 4, "operation": 2, "thread_id": 41, "correlation_id": {"internal": 2}, "start_timestamp": 150, "end_timestamp": 190, "dispatch_info": {"agent_id": {"handle": 9}, "queue_id": {"handle": 6}, "kernel_id": 5, "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 130, "y": 1, "z": 1}}}],
 "memory_copy": [{"kind": 3, "operation": 1, "correlation_id": {"internal": 8}, "start_timestamp": 210, "end_timestamp": 230, "thread_id": 41, "src_agent_id": {"handle": 7}, "dst_agent_id": {"handle": 9}, "bytes": 4096}]}}]}`

// roctracer is results.csv of rocprof 1.
const roctracer = `"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","vgpr","sgpr","fbar","sig","obj","BeginNs","EndNs"
0,"scale(float*) [clone .kd]",1,0,0,50,51,256,64,0,0,8,16,0,0x0,0x7f,1000,1040
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestForms reads what there is no public capture of, by AMD's schema.
func TestForms(t *testing.T) {
	const launched = "device_id stream_id start_ns duration_ns launch_start_ns launch_duration_ns kernel_name_id.name kernel_shape_id.grid_x kernel_shape_id.block_x path_id.name"
	k, _ := store(t, rocprof.LoadJSON, write(t, "x.json", everything))
	k.Table("kernel").Expect(t, launched, "1|6|50|40|10|10|gemm|3|64|prefill")
	k.Table("memop").Expect(t, "operation device_id duration_ns size_bytes", "memcpy Host-to-Device|1|20|4096")
	k.Table("nvtx_range").Expect(t, "style name start_ns duration_ns", "push_pop|prefill|0|100")
	k.Table("api_call").Expect(t, "api_name_id.name pid tid duration_ns", "hipLaunchKernel|40|41|10")
	k.Table("source_part").Is("part", "marker_api").Expect(t, "read_count stored_count", "2|1")
	k, _ = store(t, rocprof.LoadCSV, write(t, "results.csv", roctracer))
	k.Table("kernel").Expect(t, "device_id duration_ns kernel_name_id.name kernel_shape_id.grid_x kernel_shape_id.block_x", "1|40|scale(float*)|4|64")
	k, _ = store(t, rocprof.LoadCSV, write(t, "1_memory_copy_trace.csv", "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\",\"DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",0,10,25\n"))
	k.Table("memop").Expect(t, "operation device_id duration_ns size_bytes", "memcpy Device-to-Host|4|15|~")
	k, _ = store(t, rocprof.LoadCSV, write(t, "1_hip_api_trace.csv", "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"HIP_RUNTIME_API\",\"hipMalloc\",238,239,2,100,107\n\"MARKER_CORE_API\",\"decode\",238,239,3,90,120\n"))
	k.Table("api_call").Expect(t, "api_name_id.name pid tid duration_ns", "hipMalloc|238|239|7")
	k.Table("nvtx_range").Expect(t, "name duration_ns", "decode|30")
	for name, text := range map[string]string{
		"a kernel without a symbol": strings.Replace(everything, `"kernel_id": 5, "kernel_name"`, `"kernel_id": 6, "kernel_name"`, 1),
		"a text for a time":         strings.Replace(everything, `"start_timestamp": 150`, `"start_timestamp": "x"`, 1),
		"a cut file":                everything[:len(everything)-30],
	} {
		if _, _, err := stored(t, rocprof.LoadJSON, write(t, "x.json", text)); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "at byte ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	for name, text := range map[string]string{"a text for a time": strings.Replace(roctracer, "1040", "x", 1), "a short row": roctracer + "1,2\n", "a quote": roctracer + "1,\"2\n"} {
		if _, _, err := stored(t, rocprof.LoadCSV, write(t, "results.csv", text)); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// separate is everything as rocprofv3's CSV files, by name.
var separate = map[string]string{
	"40_hip_api_trace.csv":     `"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n" + `"HIP_RUNTIME_API","hipLaunchKernel",40,41,2,110,120` + "\n",
	"40_marker_api_trace.csv":  `"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n" + `"MARKER_CORE_API","prefill",40,41,3,100,200` + "\n" + `"MARKER_CORE_API","here",40,41,4,130,130` + "\n",
	"40_kernel_trace.csv":      `"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"` + "\n" + `"KERNEL_DISPATCH",1,6,41,1,5,"gemm",2,150,190,64,1,1,130,1,1` + "\n",
	"40_memory_copy_trace.csv": `"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n" + `"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",0,1,8,210,230` + "\n",
}

// TestTogether: the CSV files of one process are one source, in which kernels have their launches and ranges as in the JSON, and so have those of the database.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	for name, text := range separate {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of, info := map[string]*rowstest.Kept{}, map[string]*load.SourceInfo{}
	of["json"], _ = store(t, rocprof.LoadJSON, write(t, "x.json", everything))
	of["csv"], _ = store(t, rocprof.LoadCSV, dir)
	of["rocpd"], info["rocpd"] = store(t, rocprof.LoadRocpd, "testdata/rocpd.db")
	of["later"], _ = store(t, rocprof.LoadRocpd, "testdata/later.db")
	for _, c := range []struct {
		table, columns string
		runs           []string
	}{
		{"kernel", "device_id stream_id start_ns duration_ns pid launch_start_ns launch_duration_ns kernel_name_id.name kernel_shape_id.grid_x kernel_shape_id.block_x path_id.name", []string{"csv", "rocpd", "later"}},
		{"memop", "operation device_id start_ns duration_ns", []string{"csv", "rocpd", "later"}},
		{"api_call", "api_name_id.name pid tid start_ns duration_ns", []string{"csv", "rocpd", "later"}},
		{"nvtx_range", "style name start_ns duration_ns", []string{"csv", "rocpd", "later"}},
		{"device", "device_id name", []string{"rocpd", "later"}},
		{"memop", "size_bytes stream_id", []string{"rocpd", "later"}},
	} {
		for _, run := range c.runs {
			if got, want := of[run].Table(c.table).Texts(c.columns), of["json"].Table(c.table).Texts(c.columns); !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("%s of %s is %q, want %q", c.table, run, got, want)
			}
		}
	}
	if i := info["rocpd"]; !strings.HasPrefix(i.Command, "./app --token ") || i.Host != "gpuhost" {
		t.Errorf("command and host: %q, %q", i.Command, i.Host)
	}
	of["rocpd"].Table("device").Expect(t, "sm_count", "104")
	of["rocpd"].Table("source_part").Is("part", "MARKER_CORE_API").Expect(t, "read_count", "2")
	// Damage is named with its file.
	bad := t.TempDir()
	for name, text := range separate {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(strings.Replace(text, "150", "x", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := stored(t, rocprof.LoadCSV, bad); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "40_kernel_trace.csv: at line 2") {
		t.Errorf("the error is %v", err)
	}
}

// FuzzRocprof reads whatever is given: it is read or refused with the place.
func FuzzRocprof(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(everything[:700]))
	f.Add([]byte(roctracer))
	f.Add([]byte(`{""`))
	f.Add([]byte(strings.Replace(roctracer, "1000", "-9223372036854775808", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(io.Reader) (int, error){rocprof.CountJSON, rocprof.CountCSV} {
			if _, err := read(strings.NewReader(string(data))); err != nil && !errors.Is(err, rocprof.ErrSyntax) {
				t.Fatalf("the error is %v", err)
			}
		}
	})
}

// FuzzRocpd reads whatever database is given: it is read or refused.
func FuzzRocpd(f *testing.F) {
	for _, name := range []string{"testdata/rocpd.db", "testdata/later.db"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := rocprof.CountRocpd(path); ok && err != nil && !errors.Is(err, rocprof.ErrSyntax) {
			t.Fatalf("the error is %v", err)
		}
	})
}

// TestUndated: records without a time, which may come first, are no part of the timeline, in CSV and in the second reading of it.
func TestUndated(t *testing.T) {
	const head = `"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n"
	k := rowstest.New(t, load.Options{})
	path := write(t, "1_kernel_trace.csv", head+`"KERNEL_DISPATCH",1,6,41,1,5,"lost",1,0,0`+"\n"+`"KERNEL_DISPATCH",1,6,41,1,5,"gemm",2,8819330200067564,8819330200067664`+"\n")
	info, err := rocprof.LoadCSV(t.Context(), path, path, k.Target)
	if err != nil || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "1 events of kernel are not stored: they have no time") {
		t.Fatalf("%+v, %v", info, err)
	}
	if err := k.StoreShared(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Table("kernel").Expect(t, "start_ns duration_ns kernel_name_id.name", "0|100|gemm")
	before, err := rocprof.IdentifyCSV(t.Context(), path, path)
	if err != nil || before.CaptureID != info.CaptureID || !strings.Contains(info.CaptureID, "8819330200067564") {
		t.Errorf("the capture is %q, before %+v, %v", info.CaptureID, before, err)
	}
}
