package stats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	kernelHead = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
	callHead   = "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
	rangeHead  = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\n"
	projHead   = "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
	inHead     = "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Kernel Name\n"
	said       = "Processing [run.sqlite] with [/opt/nvidia/reports/%s.py]... \n\n"
)

// readText reads a file of a name and gives each row as one text.
func readText(t testing.TB, name, in string) (rows []string, cut string, err error) {
	t.Helper()
	cut, _, err = read(context.Background(), strings.NewReader(in), name, sink{begin: func(*table) error { return nil }, row: func(t *table, r row) error {
		units := timeUnits
		if t.what == memorySizes {
			units = sizeUnits
		}
		count, err := r.integer(r.columns[t.count].name)
		if err != nil {
			return err
		}
		f, err := r.figures(units)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s|%s|%s|%d", t.what, t.style, r.cells[t.label], *count)
		for _, v := range []*int64{f.total, f.min, f.max} {
			text += "|" + show(v)
		}
		for _, v := range []*float64{f.mean, f.median, f.std} {
			text += "|" + show(v)
		}
		if k := r.cell("kernel name"); k != "" {
			text += "|" + k
		}
		rows = append(rows, text)
		return nil
	}})
	return rows, cut, err
}

func show[T any](v *T) string {
	if v == nil {
		return "~"
	}
	return fmt.Sprint(*v)
}

var variants = []struct{ name, file, in, rows string }{
	{"kernels", "x.csv", kernelHead + "60.0,600,3,200.0,200.5,100,300,100.0,\"f(int, float)\"\n40.0,400,1,400.0,400.0,400,400,0.0,g\n", "kernel||f(int, float)|3|600|100|300|200|200.5|100\nkernel||g|1|400|400|400|400|400|0"},
	{"a byte order mark and CRLF", "x.csv", "\xef\xbb\xbf" + strings.ReplaceAll(kernelHead, "\n", "\r\n") + "60.0,600,3,200.0,200.0,100,300,100.0,f\r\n", "kernel||f|3|600|100|300|200|200|100"},
	{"columns of 2020", "x_gpukernsum.csv", "Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name\n60.0,600,3,200.0,100,300,f\n", "kernel||f|3|600|100|300|200|~|~"},
	{"columns without units", "x_gpukernsum.csv", "Time(%),Total Time,Instances,Average,Minimum,Maximum,Name\n60.0,600,3,200.0,100,300,f\n", "kernel||f|3|600|100|300|200|~|~"},
	{"microseconds", "x.csv", strings.ReplaceAll(kernelHead, "(ns)", "(us)") + "60.0,552.288,3,184.096,184.096,0.100,300.000,100.0001,f\n", "kernel||f|3|552288|100|300000|184096|184096|100000.1"},
	{"milliseconds, some rounded to nothing", "x.csv", strings.ReplaceAll(kernelHead, "(ns)", "(ms)") + "60.0,0.552,3,0.184,0.000,0.000,0.300,0.100,f\n", "kernel||f|3|552000|~|300000|184000|~|100000"},
	{"quotes and commas in a name", "x.csv", rangeHead + "100.0,600,3,200.0,200.0,100,300,100.0,PushPop,\":with \"quotes\", comma\"\n", "range||:with \"quotes\", comma|3|600|100|300|200|200|100"},
	{"doubled quotes, as other programs write", "x.csv", rangeHead + "100.0,600,3,200.0,200.0,100,300,100.0,PushPop,\":with \"\"quotes\"\", comma\"\n", "range||:with \"quotes\", comma|3|600|100|300|200|200|100"},
	{"a line end in a name", "x.csv", rangeHead + "100.0,600,3,200.0,200.0,100,300,100.0,PushPop,\":a\nb, c\"\n50.0,6,1,6.0,6.0,6,6,0.0,StartEnd,:d\n", "range||:a\nb, c|3|600|100|300|200|200|100\nrange||:d|1|6|6|6|6|6|0"},
	{"a name first", "x.csv", projHead + "\":with \"quotes\", 1,2\",PushPop,600,60,3,200.0,200.0,100,300,100.0,4,1.0,0.0,1.0\n", "range_gpu||:with \"quotes\", 1,2|3|600|100|300|200|200|100"},
	{"names at both ends", "x.csv", inHead + "\":a, b \"c\"\",PushPop,1,1,2,3,600,200.0,200.0,100,300,100.0,\"f(int, \"x\", 1)\"\n,,1,1,0,1,6,6.0,6.0,6,6,0.0,g\n", "range_kernel||:a, b \"c\"|3|600|100|300|200|200|100|f(int, \"x\", 1)\nrange_kernel|||1|6|6|6|6|6|0|g"},
	{"CUDA's functions by their names", "x.csv", callHead + "100.0,600,3,200.0,200.0,100,300,100.0,cudaLaunchKernel\n", "api_call||cudaLaunchKernel|3|600|100|300|200|200|100"},
	{"functions of the operating system by the file's name", "x_osrt_sum.csv", callHead + "100.0,600,3,200.0,200.0,100,300,100.0,poll\n", "osrt_call||poll|3|600|100|300|200|200|100"},
	{"functions of which nothing tells", "x.csv", callHead + "100.0,600,3,200.0,200.0,100,300,100.0,poll\n", ""},
	{"functions of another API", "x_vulkan_api_sum.csv", callHead + "100.0,600,3,200.0,200.0,100,300,100.0,vkQueueSubmit\n", ""},
	{"ranges of a style that the file's name says", "x_nvtxppsum.csv", strings.Replace(rangeHead, "Style,", "", 1) + "100.0,600,3,200.0,200.0,100,300,100.0,forward\n", "range|push_pop|forward|3|600|100|300|200|200|100"},
	{"sizes", "x.csv", "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n276.824,6,46.137,35.652,0.000,134.218,53.451,[CUDA memset]\n", "memory_size||[CUDA memset]|6|276824000|~|134218000|4.6137e+07|3.5652e+07|5.3451e+07"},
	{"several tables among what nsys prints", "x.csv", "Generating SQLite file run.sqlite\n" + fmt.Sprintf(said, "osrt_sum") + callHead + "100.0,600,3,200.0,200.0,100,300,100.0,poll\n\n" + fmt.Sprintf(said, "cuda_api_sum") + callHead + "100.0,6,1,6.0,6.0,6,6,0.0,cuInit\nSKIPPED: run.sqlite has none\n" +
		fmt.Sprintf(said, "nvtx_startend_sum") + strings.Replace(rangeHead, "Style,", "", 1) + "100.0,6,1,6.0,6.0,6,6,0.0,:r\n", "osrt_call||poll|3|600|100|300|200|200|100\napi_call||cuInit|1|6|6|6|6|6|0\nrange|start_end|:r|1|6|6|6|6|6|0"},
}

func TestRead(t *testing.T) {
	for _, v := range variants {
		rows, cut, err := readText(t, v.file, v.in)
		if got := strings.Join(rows, "\n"); got != v.rows || cut != "" || err != nil {
			t.Errorf("%s:\n%s\nwant\n%s\n(%q, %v)", v.name, got, v.rows, cut, err)
		}
		if v.rows != "" && !Sniff(strings.ToLower(v.file), []byte(v.in)) {
			t.Errorf("%s: it is not known", v.name)
		}
	}
}

// TestBad holds what is wrong in a file to an error that says where.
func TestBad(t *testing.T) {
	for in, want := range map[string]string{
		kernelHead + "60.0,x,3,200.0,200.0,100,300,100.0,f\n":                               "bad.csv: line 2: the row does not fit the header in line 1",
		kernelHead + "60.0,600,3,200.0\n60.0,600,3,200.0,200.0,100,300,100.0,f\n":           "bad.csv: line 2: the row does not fit",
		kernelHead + "60.0,600,3,200.0,200.0,100,300,100.0,f\n60.0,600\nx\n":                "bad.csv: line 3: the row does not fit",
		kernelHead + "60.0,-600,3,200.0,200.0,100,300,100.0,f\n":                            `Total Time (ns): "-600" is not a number`,
		kernelHead + "60.0,600,-3,200.0,200.0,100,300,100.0,f\n":                            `Instances is "-3", not a count`,
		kernelHead + "60.0,600,3.5,200.0,200.0,100,300,100.0,f\n":                           `Instances is "3.5", not a count`,
		kernelHead + "60.0,99999999999999999999,3,200.0,200.0,100,300,100.0,f\n":            "is out of range",
		kernelHead + "60.0,600,3,1e5,200.0,100,300,100.0,f\n":                               `Avg (ns): "1e5" is not a number`,
		strings.ReplaceAll(kernelHead, "(ns)", "(weeks)") + "60.0,600,3,2,2,1,3,1,f\n":      "has a unit that prof does not know",
		kernelHead + "60.0,600,3,200.0,200.0,100,300,100.0,\"" + strings.Repeat("x,\n", 70): "line 2: the row does not fit",
		kernelHead + strings.Repeat("x", maxRecord+1):                                       "line 2: it has more than 1048576 bytes",
	} {
		if rows, _, err := readText(t, "bad.csv", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200q: %v (%d rows), want %s", in, err, len(rows), want)
		}
	}
}

// TestCut cuts a file at every byte: the rows that are whole are given, and a row that is not is never taken for one, but for the last name.
func TestCut(t *testing.T) {
	in := kernelHead + "60.0,600,3,200.0,200.0,100,300,100.0,\"f(int, float)\"\n40.0,400,1,400.0,400.0,400,400,0.0,\"g(int, long)\"\n"
	whole, _, err := readText(t, "x.csv", in)
	if err != nil || len(whole) != 2 {
		t.Fatal(whole, err)
	}
	cuts := 0
	for n := len(kernelHead); n < len(in); n++ {
		rows, cut, err := readText(t, "x.csv", in[:n])
		if err != nil && (len(rows) > 0 || !strings.Contains(err.Error(), "line 2")) {
			t.Errorf("%q: %v", in[:n], err)
		}
		for i, r := range rows {
			if r != whole[i] {
				t.Errorf("%q gives %q", in[:n], r)
			}
		}
		if cut != "" {
			cuts++
		}
	}
	if cuts < 40 {
		t.Errorf("%d cuts were noticed", cuts)
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string][3]string{
		"a/run1_cuda_gpu_kern_sum.csv":      {"cuda_gpu_kern_sum", "a/run1", "a/run1"},
		"a/run1_cuda_gpu_kern_sum_base.csv": {"cuda_gpu_kern_sum", "a/run1", "a/run1"},
		"a/Run1_GPUKERNSUM.csv.gz":          {"gpukernsum", "a/Run1", "a/Run1"},
		"a/cuda_api_sum.csv":                {"cuda_api_sum", "a/", "a/cuda_api_sum.csv"},
		"run_nvtx_kern_sum.csv":             {"nvtx_kern_sum", "run", "run"},
		"a/other.csv":                       {"", "a/other.csv", "a/other.csv"},
		"a/run1_*.csv":                      {"", "a/run1", "a/run1"},
	} {
		if got := [3]string{ofFile(path), Capture(path), Stem(path)}; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestSniff holds that other files are not taken for these.
func TestSniff(t *testing.T) {
	for name, head := range map[string]string{
		"a.csv": "name,value\n1,2\n", "b.csv": "Name,Self CPU time total (us),# of Calls\na,1,1\n", "c.csv": "Start (ns),Duration (ns),Name\n1,2,f\n", "empty.csv": "", "d_cuda_gpu_kern_sum.csv": "SQLite\x00",
		"e.csv": "Time (%),Total Time (ns),Instances,Name\n", "f.csv": kernelHead[:40] + "\x00",
	} {
		if Sniff(name, []byte(head)) {
			t.Errorf("%s is taken for a file of nsys stats", name)
		}
	}
	if !Sniff("run_osrt_sum.csv", nil) {
		t.Error("nsys leaves a file empty where a report has no rows")
	}
}

// TestCancelled: a reading ends with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := kernelHead + strings.Repeat("60.0,600,3,200.0,200.0,100,300,100.0,f\n", 5000)
	_, _, err := read(ctx, strings.NewReader(in), "x.csv", sink{begin: func(*table) error { cancel(); return nil }, row: func(*table, row) error { return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzRead holds the reader to what its callers rely on, whatever the bytes.
func FuzzRead(f *testing.F) {
	for _, v := range variants {
		f.Add(v.file, []byte(v.in))
		f.Add(v.file, []byte(v.in[:len(v.in)*2/3]))
	}
	files, err := filepath.Glob("../../../testdata/nsys/kernels/stats/*.csv")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(path), text)
	}
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		Sniff(strings.ToLower(name), in)
		Stem(name)
		began, last := 0, 0
		_, lines, err := read(context.Background(), io.LimitReader(strings.NewReader(string(in)), 1<<20), name, sink{
			begin: func(t *table) error { began++; return nil },
			row: func(tb *table, r row) error {
				if r.line <= last || len(r.cells) != len(tb.names) || tb.what == "" {
					t.Errorf("line %d after %d: %q of %q", r.line, last, r.cells, tb.names)
				}
				last = r.line
				for _, units := range []map[string]unit{timeUnits, sizeUnits} {
					v, err := r.figures(units)
					if err != nil {
						continue
					}
					for _, n := range []*int64{v.total, v.min, v.max} {
						if n != nil && (*n < 0 || *n > mostAmount) {
							t.Errorf("%d of %q", *n, r.cells)
						}
					}
				}
				return nil
			},
		})
		if err == nil && (last > 0 && began == 0 || lines < last) {
			t.Errorf("%d tables, %d lines, last row in %d", began, lines, last)
		}
	})
}
