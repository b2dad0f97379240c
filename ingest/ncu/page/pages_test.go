package page

import (
	"context"
	"errors"
	"math"
	"os"
	"prof/ingest/ncu"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const pages = "../../../testdata/ncu/pages/"

func metricOf(t *testing.T, r *ncu.Result, name string) ncu.Metric {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("result %d has no %s", r.ID, name)
	return ncu.Metric{}
}

// TestConsole reads a page after what ncu and the program said: the first three launches of a program.
func TestConsole(t *testing.T) {
	results, info := readPage(t, pages+"console.csv")
	if len(results) != 3 || info.Form != RawForm || info.Rows != 3 || info.Facts["Process 2249"] != "/home/user/run/kernels" || len(info.Errors) > 0 {
		t.Fatalf("%d results, %+v", len(results), info)
	}
	r := &results[1]
	if r.Name != "transpose_naive(int, const float *, float *)" || r.Grid != [3]int32{32, 128, 1} || r.Block != [3]int32{32, 8, 1} ||
		r.PID != 2249 || r.Process != "kernels" || r.Host != "127.0.0.1" || r.Device != 0 || r.Context != 1 || r.Stream != 7 ||
		r.HasNVTX || r.TID != 0 || r.ClockLocked == nil || *r.ClockLocked {
		t.Errorf("%+v", r)
	}
	for _, want := range []ncu.Metric{
		{Name: "device__attribute_display_name", Text: "NVIDIA H200", IsText: true},
		{Name: "gpu__time_duration.sum", Value: 16800, Unit: "ns"},
		{Name: "launch__registers_per_thread", Value: 16, Unit: "register/thread"},
	} {
		if got := metricOf(t, r, want.Name); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if slices.ContainsFunc(r.Metrics, func(m ncu.Metric) bool { return m.Name == "launch__kernel_name" }) {
		t.Error("an empty cell gave a metric")
	}
}

// TestProcesses reads console output of two processes whose own output looks like rows and ends without a line end.
func TestProcesses(t *testing.T) {
	results, info := readPage(t, pages+"processes.csv")
	var of []int32
	for _, r := range results {
		of = append(of, r.PID)
	}
	if !slices.Equal(of, []int32{574, 574, 600, 600}) || info.Facts["Process 600"] != "/home/user/k" || results[2].ID != 13 {
		t.Errorf("processes %v, %+v", of, info)
	}
}

// TestNames reads ranges whose names ncu prints without escaping quotes, commas, colons and line ends.
func TestNames(t *testing.T) {
	odd := `my:dom, "q"`
	outer, named, wide := ncu.NVTXRange{Domain: odd}, ncu.NVTXRange{Domain: odd, Name: `m:1 "z"`}, ncu.NVTXRange{Domain: odd}
	started := []ncu.NVTXRange{{StartEnd: true, Name: `se:"1"`}, {StartEnd: true, Domain: odd}}
	plain := func(name string) []ncu.NVTXRange { return []ncu.NVTXRange{{Name: name}} }
	onThread := append(slices.Clone(started), ncu.NVTXRange{Name: "thr"}, ncu.NVTXRange{Name: "thr2"})
	open := append(slices.Clone(started), outer, named, wide)
	want := [][]ncu.NVTXRange{
		plain(`say "hi", a:b`), plain(`x""  ""y`), plain(`q","w`), plain(""), plain("café"), {outer}, {outer, named},
		{outer, named, wide}, open, onThread, open,
	}
	results, info := readPage(t, pages+"names.raw.csv")
	if len(results) != len(want) || len(info.Warnings) != 0 || len(info.Notes) != 2 { // unmodified clocks and ranges of several domains
		t.Fatalf("%d results, %q, %q", len(results), info.Warnings, info.Notes)
	}
	for i, r := range results {
		if tid := []int32{478, 497}[map[bool]int{i == 9: 1}[true]]; !r.HasNVTX || !slices.Equal(r.Ranges, want[i]) || r.TID != tid {
			t.Errorf("result %d: thread %d, %+v, want %+v", i, r.TID, r.Ranges, want[i])
		}
		if r.Name != "kern(float *)" || metricOf(t, &r, "gpu__time_duration.sum").Value < 1700 {
			t.Errorf("%+v", r)
		}
	}

	// The same program with ranges scoped by process: those of every thread are open, and no cell names the launching thread.
	results, _ = readPage(t, pages+"names.process-scope.csv")
	if len(results) != 11 || len(results[9].Ranges) != 7 || results[9].TID != 0 || results[9].Ranges[6].Name != "thr2" {
		t.Errorf("%d results, %+v", len(results), results[9])
	}

	// A name with a line end; and one that is no UTF-8, at which ncu gave up.
	results, info = readPage(t, pages+"names.cut.csv")
	want = [][]ncu.NVTXRange{plain(`say "hi", a:b`), plain("two\nlines"), plain(`x"  "y`), plain(`end"`), plain("a:none:none:none:none:none:none")}
	for i, r := range results {
		if !slices.Equal(r.Ranges, want[i]) {
			t.Errorf("result %d: %+v", i, r.Ranges)
		}
	}
	if len(results) != 5 || len(info.Errors) != 1 || info.Form != RawForm {
		t.Errorf("%d results, %+v", len(results), info)
	}
}

// TestKinds reads graphs, ranges and kernels; a kernel can be called graph.
func TestKinds(t *testing.T) {
	results, _ := readPage(t, pages+"graph.raw-base.csv")
	for _, r := range results {
		kernel := r.ID != 39 && r.ID != 48
		if kernel != (r.Kind == ncu.Kernel) || kernel != (r.Name != "") || kernel != (r.Grid[0] > 0) || !kernel && r.Kind != ncu.Graph {
			t.Errorf("%+v", r)
		}
	}
	if se := results[0].Ranges; !slices.Equal(se, []ncu.NVTXRange{{StartEnd: true, Name: "se_X"}, {StartEnd: true, Name: "se_Y"}}) || results[0].TID != 0 {
		t.Errorf("%+v", results[0])
	}
	for _, page := range []string{"range.raw.csv", "range.details.csv"} {
		results, _ := readPage(t, pages+page)
		if len(results) != 2 || results[0].Kind != ncu.Range || results[0].Stream != -1 || results[0].Device != 0 || results[0].Name != "" {
			t.Errorf("%s: %+v", page, results)
		}
		if v := metricOf(t, &results[0], "gpu__time_duration.sum"); math.Abs(v.Value-641376) > 5 || v.Unit != "ns" {
			t.Errorf("%s: %+v", page, v)
		}
	}
	columns := `"ID","Process ID","Kernel Name","Stream"`
	for text, want := range map[string]ncu.Kind{
		columns + ",\"launch__grid_size\"\n" + `"","","","",""` + "\n" + `"0","1","graph","7","4"`:          ncu.Kernel,
		columns + ",\"gpu__time_duration.sum\"\n" + `"","","","","ns"` + "\n" + `"0","1","graph","7","4"`:   ncu.Graph,
		columns + ",\"gpu__time_duration.sum\"\n" + `"","","","","ns"` + "\n" + `"0","1","range","7","4"`:   ncu.Kernel,
		columns + ",\"gpu__time_duration.sum\"\n" + `"","","","","ns"` + "\n" + `"0","1","range","n/a","4"`: ncu.Range,
	} {
		if results, _ := readPageText(t, "page", text); results[0].Kind != want {
			t.Errorf("%s: %v, want %v", text, results[0].Kind, want)
		}
	}
}

// TestBodies reads what --print-details all adds: breakdowns, tables with a column a suffix, tables of memory, instances.
func TestBodies(t *testing.T) {
	results, info := readPage(t, pages+"kernels.details-all.csv")
	if len(results) != 1 || strings.Contains(strings.Join(info.Warnings, " "), "left out") || strings.Contains(strings.Join(info.Warnings, " "), "label") {
		t.Fatalf("%d results, %q", len(results), info.Warnings)
	}
	r := &results[0]
	for _, want := range []ncu.Metric{
		{Name: "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", Value: 69.7, Unit: "%"},
		{Name: "l1tex__lsu_writeback_active.avg.pct_of_peak_sustained_elapsed", Value: 75.46, Unit: "%"},
		{Name: "dram__cycles_active.avg", Value: 5466.83, Unit: "cycle"},
		{Name: "dram__cycles_active.max", Value: 5656, Unit: "cycle"},
		{Name: "dram__cycles_active.min", Value: 2784, Unit: "cycle"},
		{Name: "dram__cycles_active.sum", Value: 262408, Unit: "cycle"},
		{Name: "sm__ops_path_tensor_op_igmma_src_int8_sparsity_on.sum.peak_sustained", Value: 2162688},
		{Name: "sm__ops_path_tensor_op_igmma_src_int8_sparsity_on.sum.peak_sustained_elapsed.per_second", Value: 4287237362342321.50},
		{Name: "lts__t_requests.sum", Value: 7003083, Unit: "request"},
		{Name: "dram__bytes_read.sum", Value: 8400000, Unit: "byte"},
		{Name: "sass__inst_executed_per_opcode", Value: 99483648},
		{Name: "numa__dev_display_name_all", Value: 1},
		{Name: "launch__shared_mem_per_block", Value: 3070, Unit: "byte/block"},
	} {
		if got := metricOf(t, r, want.Name); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if f := r.Findings; len(f) != 1 || f[0].Rule != "SOLBottleneck" || f[0].Section != "SpeedOfLight" || f[0].Severity != "ok" {
		t.Errorf("%+v", f)
	}
}

// TestFindings reads the rules of a details page.
func TestFindings(t *testing.T) {
	results, _ := readPage(t, pages+"kernels.details.csv")
	f := results[0].Findings
	i := slices.IndexFunc(f, func(g ncu.Finding) bool { return g.Rule == "CPIStall" && g.Scope != "" })
	if i < 0 || f[i].Severity != "optimization" || f[i].Scope != "global" || math.Abs(f[i].Speedup-0.1095) > 1e-9 ||
		f[i].Section != "WarpStateStats" || !strings.HasPrefix(f[i].Message, "On average, each warp") {
		t.Errorf("%+v", f)
	}
	console, _ := readPage(t, pages+"logfile.csv")
	if len(console) != 2 || len(console[0].Findings) == 0 || metricOf(t, &console[1], "gpc__cycles_elapsed.max").Unit != "cycle" {
		t.Errorf("%+v", console)
	}
}

// TestSessionPage reads how captures were made.
func TestSessionPage(t *testing.T) {
	_, info := readPage(t, pages+"kernels.session.csv")
	want := map[string]string{
		"Created": "2026-Nov-21 09:43:06", "CUDA Version": "13.0", "Nsight Compute Target": "2025.3.1.0 (build 36398880) (public-release)",
		"Process 476": "/home/user/run/kernels", "Device 0 display_name": "NVIDIA H200", "Device 0 total_memory": "150109880320",
	}
	for k, v := range want {
		if info.Facts[k] != v {
			t.Errorf("%s is %q, want %q", k, info.Facts[k], v)
		}
	}
	if info.Form != SessionForm || !strings.HasSuffix(info.Command, "-o ncu/kernels-full ./kernels") || info.Results != 0 {
		t.Errorf("%+v", info)
	}
	_, info = readPage(t, pages+"names.session.csv")
	if !strings.HasSuffix(info.Command, "./k 'say \"hi\", x' a\nb") || info.Facts["Device 0 display_name"] != "NVIDIA H200" {
		t.Errorf("%+v", info)
	}
}

// TestFailures reads runs that gave no results: they are no empty successes.
func TestFailures(t *testing.T) {
	for name, want := range map[string]string{
		"failed-program.csv": "does not exist or is not an executable",
		"failed-nvtx.log":    "No kernels were profiled",
		"failed-killed.log":  "its output ends before them",
		"failed-range.log":   "Unsupported API during capture",
	} {
		_, info := readPage(t, pages+name)
		if info.Form != FailedForm || !strings.Contains(strings.Join(info.Errors, " "), want) {
			t.Errorf("%s: %+v", name, info)
		}
	}
	if _, info := readPage(t, pages+"report.log"); info.Form != LogForm || info.Facts["Report"] != "/home/user/v/bad-metric.ncu-rep" {
		t.Errorf("%+v", info)
	}
	header := `"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n"
	if _, info := readPageText(t, "page", header); info.Form != FailedForm || len(info.Errors) != 1 {
		t.Errorf("%+v", info)
	}
	results, info := readPage(t, pages+"nometric.csv")
	if len(results) != 3 || len(results[0].Metrics) > 0 || !strings.Contains(strings.Join(info.Warnings, " "), "nonsense__x.sum") {
		t.Errorf("%d results, %+v", len(results), info)
	}
}

// TestRefused gives what is no page of launches.
func TestRefused(t *testing.T) {
	summary, err := os.ReadFile(pages + "summary.csv")
	if err != nil {
		t.Fatal(err)
	}
	each := func(*ncu.Result) error { t.Error("a result"); return nil }
	for text, want := range map[string]error{
		string(summary): ErrSummaryPage,
		`"Domain","Range:PL_Type:PL_Value","Kernel Name","Block Size","Invocations"` + "\n": ErrSummaryPage,
		"":                            ErrNotPage,
		"Time (%),Total Time (ns)\n1": ErrNotPage,
		"==PROF== x\n" + strings.Repeat("x", maxPageLine+1): ErrLongLine,
	} {
		if _, err := Read(context.Background(), strings.NewReader(text), "file", each); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
	}
	stop := errors.New("stop")
	f, err := os.Open(pages + "console.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Read(context.Background(), f, "file", func(*ncu.Result) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.Seek(0, 0)
	if _, err := Read(ctx, f, "file", each); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRepeatable reads a page twice over: nothing of the first page may leak into the second.
func TestRepeatable(t *testing.T) {
	text, err := os.ReadFile(pages + "kernels.details.csv")
	if err != nil {
		t.Fatal(err)
	}
	once, _ := readPageText(t, "once", string(text))
	twice, info := readPageText(t, "twice", string(text)+string(text))
	if !reflect.DeepEqual(twice[:len(once)], once) || !reflect.DeepEqual(twice[len(once):], once) {
		t.Error("the results of the second page differ")
	}
	if !strings.Contains(strings.Join(info.Warnings, " "), "several pages") {
		t.Errorf("%q", info.Warnings)
	}
}
