package rocprof_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/rocprof"
	"prof/queries"
	"prof/schema"
)

const captures = "../../testdata/foreign/"

func newWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func store(t *testing.T, w *schema.Warehouse, run, path string) error {
	t.Helper()
	o := ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Warn: func(m string) { t.Errorf("%s: %s", run, m) }}
	o.Load.APIRows = true
	_, err := ingest.Run(t.Context(), w, []string{path}, o)
	return err
}

// row gives the one row of a query of a run, values joined by bars.
func row(t *testing.T, w *schema.Warehouse, run, sql string) string {
	t.Helper()
	var out string
	if err := w.DB.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(x::VARCHAR, ' '), '') FROM (`+sql+`) y(x)`, run).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

const kernelSums = `SELECT concat_ws('|', count(*), sum(duration_ns), count(DISTINCT kernel_name_id), sum(s.grid_x::HUGEINT * s.block_x)) FROM kernel k JOIN kernel_shape s USING (run_id, kernel_shape_id) JOIN run r USING (run_id) WHERE r.name = ?`

// TestRocprof holds kernels to sums over the files themselves.
func TestRocprof(t *testing.T) {
	w := newWarehouse(t)
	if err := store(t, w, "json", captures+"rocprofv3.json.gz"); err != nil {
		t.Fatal(err)
	}
	if got, want := row(t, w, "json", kernelSums), jsonSums(t, captures+"rocprofv3.json.gz"); got != want {
		t.Errorf("kernels are %s, the JSON has %s", got, want)
	}
	if got := row(t, w, "json", `SELECT device_id || ' ' || d.name FROM device d JOIN run r USING (run_id) WHERE r.name = ? ORDER BY 1`); got != "0 AMD Instinct MI350X 1 AMD Instinct MI350X" {
		t.Errorf("devices are %s", got)
	}
	if err := store(t, w, "csv", captures+"rocprofv3_kernel_trace.csv"); err != nil {
		t.Fatal(err)
	}
	if got, want := row(t, w, "csv", kernelSums), csvSums(t, captures+"rocprofv3_kernel_trace.csv"); got != want {
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
	w := newWarehouse(t)
	for run, path := range map[string]string{"all": write(t, "x.json", everything), "v1": write(t, "results.csv", roctracer),
		"copies": write(t, "1_memory_copy_trace.csv", "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"MEMORY_COPY\",\"DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",0,10,25\n"),
		"api":    write(t, "1_hip_api_trace.csv", "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\"HIP_RUNTIME_API\",\"hipMalloc\",238,239,2,100,107\n\"MARKER_CORE_API\",\"decode\",238,239,3,90,120\n")} {
		if err := store(t, w, run, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ run, sql, want string }{
		{"all", `SELECT concat_ws('|', k.device_id, k.stream_id, k.start_ns, k.duration_ns, k.launch_start_ns, k.launch_duration_ns, n.name, s.grid_x, s.block_x, p.name) FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape s USING (run_id, kernel_shape_id) JOIN range_path p USING (run_id, path_id) JOIN run r USING (run_id) WHERE r.name = ?`,
			"1|6|50|40|10|10|gemm|3|64|prefill"},
		{"all", `SELECT concat_ws('|', m.operation, m.device_id, m.duration_ns, m.size_bytes) FROM memop m JOIN run r USING (run_id) WHERE r.name = ?`, "memcpy Host-to-Device|1|20|4096"},
		{"all", `SELECT concat_ws('|', x.style, x.name, x.start_ns, x.duration_ns) FROM nvtx_range x JOIN run r USING (run_id) WHERE r.name = ?`, "push_pop|prefill|0|100"},
		{"all", `SELECT concat_ws('|', n.name, a.pid, a.tid, a.duration_ns) FROM api_call a JOIN api_name n USING (run_id, api_name_id) JOIN run r USING (run_id) WHERE r.name = ?`, "hipLaunchKernel|40|41|10"},
		{"all", `SELECT concat_ws('|', p.part, p.read_count, p.stored_count) FROM source_part p JOIN run r USING (run_id) WHERE r.name = ? AND p.part = 'marker_api'`, "marker_api|2|1"},
		{"v1", `SELECT concat_ws('|', k.device_id, k.duration_ns, n.name, s.grid_x, s.block_x) FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape s USING (run_id, kernel_shape_id) JOIN run r USING (run_id) WHERE r.name = ?`, "1|40|scale(float*)|4|64"},
		{"copies", `SELECT concat_ws('|', m.operation, m.device_id, m.duration_ns, m.size_bytes) FROM memop m JOIN run r USING (run_id) WHERE r.name = ?`, "memcpy Device-to-Host|4|15"},
		{"api", `SELECT concat_ws('|', n.name, a.pid, a.tid, a.duration_ns) FROM api_call a JOIN api_name n USING (run_id, api_name_id) JOIN run r USING (run_id) WHERE r.name = ?`, "hipMalloc|238|239|7"},
		{"api", `SELECT concat_ws('|', x.name, x.duration_ns) FROM nvtx_range x JOIN run r USING (run_id) WHERE r.name = ?`, "decode|30"},
	} {
		if got := row(t, w, c.run, c.sql); got != c.want {
			t.Errorf("%s: %s, want %s", c.run, got, c.want)
		}
	}
	for name, text := range map[string]string{
		"a kernel without a symbol": strings.Replace(everything, `"kernel_id": 5, "kernel_name"`, `"kernel_id": 6, "kernel_name"`, 1),
		"a text for a time":         strings.Replace(everything, `"start_timestamp": 150`, `"start_timestamp": "x"`, 1),
		"a cut file":                everything[:len(everything)-30],
	} {
		if err := store(t, w, "bad", write(t, "x.json", text)); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "at byte ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	for name, text := range map[string]string{"a text for a time": strings.Replace(roctracer, "1040", "x", 1), "a short row": roctracer + "1,2\n", "a quote": roctracer + "1,\"2\n"} {
		if err := store(t, w, "bad", write(t, "results.csv", text)); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "line ") {
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
	w := newWarehouse(t)
	dir := t.TempDir()
	for name, text := range separate {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for run, path := range map[string]string{"json": write(t, "x.json", everything), "csv": dir, "rocpd": "testdata/rocpd.db", "later": "testdata/later.db"} {
		if err := store(t, w, run, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		`SELECT concat_ws('|', k.device_id, k.stream_id, k.start_ns, k.duration_ns, k.pid, k.launch_start_ns, k.launch_duration_ns, n.name, s.grid_x, s.block_x, p.name) FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape s USING (run_id, kernel_shape_id) JOIN range_path p USING (run_id, path_id) JOIN run r USING (run_id) WHERE r.name = ?`,
		`SELECT concat_ws('|', m.operation, m.device_id, m.start_ns, m.duration_ns) FROM memop m JOIN run r USING (run_id) WHERE r.name = ?`,
		`SELECT concat_ws('|', n.name, a.pid, a.tid, a.start_ns, a.duration_ns) FROM api_call a JOIN api_name n USING (run_id, api_name_id) JOIN run r USING (run_id) WHERE r.name = ?`,
		`SELECT concat_ws('|', x.style, x.name, x.start_ns, x.duration_ns) FROM nvtx_range x JOIN run r USING (run_id) WHERE r.name = ?`,
	} {
		for _, run := range []string{"csv", "rocpd", "later"} {
			if got, want := row(t, w, run, sql), row(t, w, "json", sql); got != want || got == "" {
				t.Errorf("%s\ngives %s of %s, want %s", sql, got, run, want)
			}
		}
	}
	for _, sql := range []string{
		`SELECT concat_ws('|', d.device_id, d.name) FROM device d JOIN run r USING (run_id) WHERE r.name = ?`,
		`SELECT concat_ws('|', m.size_bytes, m.stream_id) FROM memop m JOIN run r USING (run_id) WHERE r.name = ?`,
	} {
		for _, run := range []string{"rocpd", "later"} {
			if got, want := row(t, w, run, sql), row(t, w, "json", sql); got != want || got == "" {
				t.Errorf("%s\ngives %s of %s, want %s", sql, got, run, want)
			}
		}
	}
	if got := row(t, w, "rocpd", `SELECT s.command || '|' || s.host FROM source s JOIN run r USING (run_id) WHERE r.name = ?`); !strings.HasPrefix(got, "./app --token ") || !strings.HasSuffix(got, "|gpuhost") || strings.Contains(got, "hf_example") {
		t.Errorf("command and host: %s", got)
	}
	if got := row(t, w, "rocpd", `SELECT d.sm_count || ' ' || (SELECT count(*) FROM source_part p WHERE p.run_id = d.run_id AND p.part = 'MARKER_CORE_API' AND p.read_count = 2) FROM device d JOIN run r USING (run_id) WHERE r.name = ?`); got != "104 1" {
		t.Errorf("compute units and marks: %s", got)
	}
	if got := row(t, w, "csv", `SELECT replace(s.path, '`+dir+`/', '') || ' ' || s.form FROM source s JOIN run r USING (run_id) WHERE r.name = ?`); got != "40_*_trace.csv rocprof-csv" {
		t.Errorf("the sources are %s", got)
	}
	// The JSON of the process has all of it.
	if err := os.WriteFile(filepath.Join(dir, "40_results.json"), []byte(strings.Replace(everything, "gemm", "gemv", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store(t, w, "both", dir); err != nil {
		t.Fatal(err)
	}
	if got := row(t, w, "both", `SELECT s.form FROM source s JOIN run r USING (run_id) WHERE r.name = ?`); got != "rocprof-json" {
		t.Errorf("the sources of both are %s", got)
	}
	// Damage is named with its file.
	bad := t.TempDir()
	for name, text := range separate {
		if err := os.WriteFile(filepath.Join(bad, name), []byte(strings.Replace(text, "150", "x", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := store(t, w, "bad", bad); !errors.Is(err, rocprof.ErrSyntax) || !strings.Contains(err.Error(), "40_kernel_trace.csv: at line 2") {
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
