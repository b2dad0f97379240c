package stats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
)

// storeBy stores a text as a file.
func storeBy(t *testing.T, with func(path string, k *rowstest.Kept) (*load.SourceInfo, error), text string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	k := rowstest.New(t, load.Options{Threads: 2})
	info, err := with(path, k)
	if err == nil {
		err = k.StoreShared(t.Context())
	}
	return k, info, err
}

func traceText(t *testing.T, text string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	if !SniffTrace("r.csv", []byte(text)) {
		t.Errorf("it is not recognised: %.100s", text)
	}
	return storeBy(t, func(path string, k *rowstest.Kept) (*load.SourceInfo, error) {
		return LoadTrace(t.Context(), path, "r.csv", k.Target)
	}, text)
}

// TestGPUTrace reads the kernels and copies of cuda_gpu_trace: in other units and in older columns they are the same.
func TestGPUTrace(t *testing.T) {
	saved, err := os.ReadFile("../../../testdata/lost/r_cuda_gpu_trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	text := string(saved)
	inSeconds := func(text string) string {
		var out []string
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			cells := strings.Split(line, ",")
			if i == 0 {
				cells[0], cells[1] = "Start (s)", "Duration (s)"
			} else {
				cells[0], cells[1] = "0.00"+cells[0], "0."+strings.Repeat("0", 9-len(cells[1]))+cells[1]
			}
			out = append(out, strings.Join(cells, ","))
		}
		return strings.Join(out, "\n") + "\n"
	}
	for name, in := range map[string]string{
		"as saved":    text,
		"printed":     "NOTICE: Existing SQLite export found: r.sqlite\nProcessing [r.sqlite] with [/opt/nvidia/reports/cuda_gpu_trace.py]... \n\n" + text + "\n",
		"in seconds":  inSeconds(text),
		"older names": strings.NewReplacer("Start (ns),Duration (ns)", "Start(nsec),Duration(nsec)", "Bytes (MB)", "Bytes (KB)", ",0.001,", ",1.0,").Replace(text),
		"quoted":      strings.ReplaceAll(text, "gemm_kernel", `"gemm_kernel"`),
		"Windows":     "\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		k, info, err := traceText(t, in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kernels := k.Table("kernel").By("start_ns")
		kernels[:2].Expect(t, "start_ns duration_ns kernel_name_id.name device_id context_id stream_id correlation_id launch_start_ns pid", "0|80000|gemm_kernel|0|1|7|100|~|~", "100000|80000|gemm_kernel|0|1|7|101|~|~")
		k.Table("memop").By("start_ns")[:1].Expect(t, "start_ns duration_ns operation size_bytes src_memory dst_memory", "90000|5000|memcpy Host-to-Device|1000|Pinned|Device")
		k.Table("device").Expect(t, "device_id name", "0|NVIDIA H100 80GB HBM3")
		if len(kernels) != 5 || k.Count("memop") != 5 || k.Count("api_call") != 0 || info.Status != "" || info.CaptureID != "" {
			t.Errorf("%s: %d kernels, %+v", name, len(kernels), info)
		}
		if !slices.ContainsFunc(info.Warnings, func(w string) bool { return strings.Contains(w, "launches, stages and operators are unknown") }) {
			t.Errorf("%s: the warnings are %q", name, info.Warnings)
		}
	}
}

// TestGPUTraceOdd: what is odd in a file is said.
func TestGPUTraceOdd(t *testing.T) {
	const head = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
	const row = "1000,80,100,132,1,1,256,1,1,32,0.0,0.0,,,,,H100 (0),1,,7,void f<int, 3>(int, float*)\n"
	k, info, err := traceText(t, head+row+"2000,5,7,,,,,,,,,,0.000,,,Device,H100 (1),1,,7,[CUDA memset]\n"+row[:len(row)-60])
	if err != nil || info.Status != "partial" || !strings.Contains(info.Reason, "ends before it is complete") {
		t.Fatalf("%+v, %v", info, err)
	}
	k.Table("kernel").Expect(t, "kernel_name_id.name", "void f<int, 3>(int, float*)")
	k.Table("memop").Expect(t, "operation size_bytes dst_memory device_id", "memset|~|Device|1")
	for in, want := range map[string]string{
		head + strings.Replace(row, "1000", "soon", 1):                `line 2: start: "soon" is not a number`,
		head + strings.Replace(row, "H100 (0)", "H100", 1):            `line 2: the device is "H100", which has no number`,
		head + strings.Replace(row, ",7,", ",x,", 1):                  `line 2: strm is "x", not a whole number`,
		head + row + "a,b\n" + row:                                    `line 3: it has 2 cells, the header 21`,
		strings.Replace(head, "Start (ns)", "Start (weeks)", 1) + row: `line 2: start has no unit that prof knows`,
		head: "cuda_gpu_trace lists no kernel and no copy",
	} {
		if _, _, err := traceText(t, in); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "r.csv") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, info, err = traceText(t, strings.Replace(head, "(ns)", "(ms)", 2)+strings.Replace(row, "1000,80", "1.2,0.05", 1)+"\nProcessing [r.sqlite] with [cuda_api_sum.py]... \n"+callHead)
	if want := []string{"launches, stages and operators are unknown", "rounded", "what follows the table of cuda_gpu_trace is not read"}; err != nil || len(info.Warnings) != 3 {
		t.Errorf("%v, %+v, want %q", err, info, want)
	}
}

// TestHeld: the shares of rows tell where rows are missing.
func TestHeld(t *testing.T) {
	const rows = "60.0,600,6,100.0,100.0,90,110,1.0,a\n30.0,300,3,100.0,100.0,90,110,1.0,b\n10.0,100,1,100.0,100.0,100,100,0.0,c\n"
	for _, c := range []struct{ in, facts, warning string }{
		{kernelHead + rows, "printed.kernel_ns|1000 read.kernel_ns|1000", ""},
		{kernelHead + rows[:strings.Index(rows, "10.0,100,1")], "printed.kernel_ns|1000 read.kernel_ns|900", "a file: its rows have 90.0 % of the time of which they say that they are shares: rows are missing"},
		{kernelHead + strings.Replace(rows, "30.0,300", "30.0,900", 1), "printed.kernel_ns|1000 read.kernel_ns|1600", "some count twice"},
		{kernelHead + "1.0,600,6,100.0,100.0,90,110,1.0,a\n", "", ""}, // too small a share
		{kernelHead + "59.6,601,6,100.0,100.0,90,110,1.0,a\n40.4,407,3,100.0,100.0,90,110,1.0,b\n", "printed.kernel_ns|1008 read.kernel_ns|1008", ""},
	} {
		k, info, err := storeBy(t, func(path string, k *rowstest.Kept) (*load.SourceInfo, error) {
			return Load(t.Context(), path, "r.csv", k.Target)
		}, c.in)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(k.Table("source_fact").By("key").Texts("key value"), " ")
		warned := strings.Join(info.Warnings, "")
		if got != c.facts || (c.warning == "") != (warned == "") || !strings.HasSuffix(warned, strings.TrimPrefix(c.warning, "a file")) {
			t.Errorf("facts %q, want %q; warnings %q", got, c.facts, info.Warnings)
		}
	}
}

// TestGPUTraceOfNsys: what nsys itself listed adds up to its own sums of the same capture.
func TestGPUTraceOfNsys(t *testing.T) {
	for _, name := range []string{"variants-node", "variants-graph"} {
		stem := "../../../testdata/nsys/" + name + "/stats/" + name + "_"
		k := rowstest.New(t, load.Options{Threads: 2})
		if _, err := LoadTrace(t.Context(), stem+"cuda_gpu_trace.csv", name, k.Target); err != nil {
			t.Fatal(err)
		}
		for table, file := range map[string]string{"kernel": "cuda_gpu_kern_sum.csv", "memop": "cuda_gpu_mem_time_sum.csv"} {
			sums := rowstest.New(t, load.Options{})
			if _, err := Load(t.Context(), stem+file, file, sums.Target); err != nil {
				t.Fatal(err)
			}
			rows, want := k.Table(table), sums.Table("reported_sum")
			if len(rows) == 0 || rows.Sum("duration_ns") != want.Sum("total_ns") || int64(len(rows)) != want.Sum("item_count") {
				t.Errorf("%s: %d rows of %s, %d ns, nsys has %d of %d ns", name, len(rows), table, rows.Sum("duration_ns"), want.Sum("item_count"), want.Sum("total_ns"))
			}
		}
		for _, r := range k.Table("memop") {
			if r.Text("operation") == "memset" && r.Text("dst_memory") != "Device" {
				t.Errorf("%s: a fill of %s", name, r.Text("dst_memory"))
			}
		}
	}
}
