package queries_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// capture is one real capture with NVIDIA's own summaries of it beside it.
type capture struct{ name, export, stats string }

var withShared = flag.Bool("shared", false, "compare the larger captures beside the repository with NVIDIA's numbers too")

// captures lists those in testdata and, where it is asked for, the larger set beside the repository, each once.
func captures(t *testing.T) []capture {
	t.Helper()
	var out []capture
	seen := map[string]bool{}
	roots := []string{testkit.Path("nsys")}
	if *withShared {
		roots = append(roots, testkit.Path("../../shared/captures/nsys"))
	}
	for _, root := range roots {
		found, err := filepath.Glob(root + "/*/*.sqlite*")
		if err != nil || len(found) == 0 {
			t.Fatalf("no captures in %s: %v", root, err)
		}
		for _, f := range found {
			if name := filepath.Base(filepath.Dir(f)); !seen[name] {
				seen[name] = true
				out = append(out, capture{name, f, filepath.Join(filepath.Dir(f), "stats", name)})
			}
		}
	}
	return out
}

// record is a row of NVIDIA's CSV or of a Frame, by column.
type record map[string]string

func readStats(t *testing.T, c capture, report string) []record {
	t.Helper()
	path := c.stats + "_" + report + ".csv"
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return nil // the capture has none of it
	}
	// nsys does not double the quotes of a name, which the captures hold just one of.
	in := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(text), `with "quotes", comma`, `with ""quotes"", comma`)))
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out []record
	for _, r := range rows[1:] {
		m := record{}
		for i, h := range rows[0] {
			m[h] = r[i]
		}
		out = append(out, m)
	}
	return out
}

// tally counts what was compared, so that a test which compares nothing fails.
type tally struct{ rows, cells int }

// match compares NVIDIA's rows with a Frame's, both keyed, cell by cell: cells maps NVIDIA's column to the Frame's.
func match(t *testing.T, n *tally, want map[string]record, f *frame.Frame, got map[string][]any, cells [][2]string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s gives %d rows, NVIDIA %d", f.Query, len(got), len(want))
	}
	for key, w := range want {
		row, ok := got[key]
		if !ok {
			t.Errorf("%s lacks %.120q", f.Query, key)
			continue
		}
		n.rows++
		for _, c := range cells {
			n.cells++
			compareCell(t, f, key, row, c, w[c[0]])
		}
	}
}

// compareCell holds integers exactly and fractions to the digits that NVIDIA prints. NVIDIA prints a deviation of one value as
// 0.0, prof leaves it NULL.
func compareCell(t *testing.T, f *frame.Frame, key string, row []any, c [2]string, want string) {
	t.Helper()
	at := f.Index(c[1])
	if at < 0 {
		t.Fatalf("%s has no column %s", f.Query, c[1])
	}
	switch v := row[at].(type) {
	case nil:
		if !strings.Contains(c[1], "std") || want != "0.0" && want != "0.000" {
			t.Errorf("%s %.120q: %s is NULL, NVIDIA says %s", f.Query, key, c[1], want)
		}
	case int64:
		if fmt.Sprint(v) != strings.TrimSuffix(want, ".0") {
			t.Errorf("%s %.120q: %s is %d, NVIDIA says %s", f.Query, key, c[1], v, want)
		}
	case float64:
		w, err := strconv.ParseFloat(want, 64)
		_, digits, _ := strings.Cut(want, ".")
		if err != nil || math.Abs(v-w) > 0.5001*math.Pow(10, -float64(len(digits))) {
			t.Errorf("%s %.120q: %s is %v, NVIDIA says %s", f.Query, key, c[1], v, want)
		}
	case string:
		if v != want {
			t.Errorf("%s %.120q: %s is %q, NVIDIA says %q", f.Query, key, c[1], v, want)
		}
	}
}

// keyed indexes a Frame's rows by some columns.
func keyed(t *testing.T, f *frame.Frame, cols ...string) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	for _, r := range f.Rows {
		var k []string
		for _, c := range cols {
			k = append(k, fmt.Sprint(r[f.Index(c)]))
		}
		key := strings.Join(k, "\x00")
		if _, twice := out[key]; twice {
			t.Errorf("%s gives %q twice", f.Query, key)
		}
		out[key] = r
	}
	return out
}

func by(rows []record, key func(r record) string) map[string]record {
	out := map[string]record{}
	for _, r := range rows {
		out[key(r)] = r
	}
	return out
}

var timeCells = [][2]string{{"Total Time (ns)", "total_ns"}, {"Avg (ns)", "mean_ns"}, {"Med (ns)", "median_ns"}, {"Min (ns)", "min_ns"},
	{"Max (ns)", "max_ns"}, {"StdDev (ns)", "std_ns"}}

func cells(count string, more ...[2]string) [][2]string {
	return append(append([][2]string{{count, "calls"}}, timeCells...), more...)
}

// TestEqualsNVIDIA holds the queries to NVIDIA's own numbers on every capture at hand, and of some or all of them the sums that prof reads of NVIDIA's.
func TestEqualsNVIDIA(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	list := captures(t)
	for i, c := range list {
		if c.name != "stacks" {
			run := fmt.Sprintf("%s-%d", c.name, i)
			runs = append(runs, testkit.Run{Name: run, Files: []string{c.export}, Options: ingest.Options{Load: ingestload.Options{WithOSRT: true}}}, testkit.Run{Name: run + "-sums", Files: []string{filepath.Dir(c.stats)}})
		}
	}
	withSums := map[string]bool{}
	for _, c := range sample.Of(list, 3) {
		withSums[c.name] = true
	}
	w := testkit.Warehouse(t, runs...)
	for i, c := range list {
		run := fmt.Sprintf("%s-%d", c.name, i)
		t.Run(run, func(t *testing.T) {
			if c.name == "stacks" {
				t.Skip("testdata has no numbers of NVIDIA's for it")
			}
			n := &tally{}
			kernels := readStats(t, c, "cuda_gpu_kern_sum")
			f := testkit.Query(t, w, "top-kernels", queries.Args{"run": run, "top": "0", "warmup": "true"})
			match(t, n, by(kernels, func(r record) string { return r["Name"] }), f, keyed(t, f, "kernel"), cells("Instances"))
			if i := f.Index("kernel"); f.Rows[0][i] != kernels[0]["Name"] {
				t.Errorf("top-kernels begins with %q, NVIDIA with %q", f.Rows[0][i], kernels[0]["Name"])
			}
			f = testkit.Query(t, w, "kernel-grids", queries.Args{"run": run, "top": "0", "warmup": "true"})
			match(t, n, by(readStats(t, c, "cuda_gpu_kern_gb_sum"), func(r record) string {
				return r["Name"] + "\x00" + xyz(r["GridXYZ"]) + "\x00" + xyz(r["BlockXYZ"])
			}), f, keyed(t, f, "kernel", "grid", "block"), cells("Instances"))
			f = testkit.Query(t, w, "memops", queries.Args{"run": run, "warmup": "true"})
			op := func(r record) string { return strings.Trim(strings.TrimPrefix(r["Operation"], "[CUDA "), "]") }
			match(t, n, by(readStats(t, c, "cuda_gpu_mem_time_sum"), op), f, keyed(t, f, "operation"), cells("Count"))
			matchSizes(t, n, by(readStats(t, c, "cuda_gpu_mem_size_sum"), op), f)
			f = testkit.Query(t, w, "api-calls", queries.Args{"run": run, "top": "0"})
			match(t, n, by(readStats(t, c, "cuda_api_sum"), func(r record) string { return r["Name"] }), f, keyed(t, f, "api"), cells("Num Calls"))
			f = testkit.Query(t, w, "osrt-calls", queries.Args{"run": run, "top": "0"})
			if len(readStats(t, c, "osrt_sum")) == 0 {
				f.Rows = nil // NVIDIA's summary was not taken of this capture
			}
			match(t, n, by(readStats(t, c, "osrt_sum"), func(r record) string { return r["Name"] }), f, keyed(t, f, "call"), cells("Num Calls"))
			ranges := testkit.Query(t, w, "ranges", queries.Args{"run": run, "raw": "true"})
			matchRanges(t, n, c, ranges)
			matchRangeKernels(t, n, c, testkit.Query(t, w, "range-kernels", queries.Args{"run": run, "raw": "true"}), startEnd(ranges))
			matchLaunches(t, n, c, testkit.Query(t, w, "launches", queries.Args{"run": run, "top": "0"}))
			if withSums[c.name] {
				compareSums(t, w, n, run, c)
			}
			t.Logf("%d rows, %d cells equal", n.rows, n.cells)
			if n.rows < 20 {
				t.Errorf("only %d rows were compared", n.rows)
			}
		})
	}
}

// xyz reads NVIDIA's padded `  64   64    1`.
func xyz(s string) string { return strings.Join(strings.Fields(s), " x ") }

// matchSizes compares sizes, which NVIDIA prints in units of 1e6 bytes.
func matchSizes(t *testing.T, n *tally, want map[string]record, f *frame.Frame) {
	t.Helper()
	for key, row := range keyed(t, f, "operation") {
		for _, c := range [][2]string{{"Total (MB)", "total_bytes"}, {"Avg (MB)", "mean_bytes"}, {"Med (MB)", "median_bytes"},
			{"Min (MB)", "min_bytes"}, {"Max (MB)", "max_bytes"}, {"StdDev (MB)", "std_bytes"}} {
			scaled := make([]any, len(row))
			switch v := row[f.Index(c[1])].(type) {
			case int64:
				scaled[f.Index(c[1])] = float64(v) / 1e6
			case float64:
				scaled[f.Index(c[1])] = v / 1e6
			}
			n.cells++
			compareCell(t, f, key, scaled, c, want[key][c[0]])
		}
	}
}

func domainName(domain, name any) string { return fmt.Sprintf("%v:%v", domain, name) }

// matchRanges compares push/pop ranges with nvtx_pushpop_sum and their device work with nvtx_gpu_proj_sum.
func matchRanges(t *testing.T, n *tally, c capture, f *frame.Frame) {
	t.Helper()
	got := map[string][]any{}
	for _, r := range f.Rows {
		if r[f.Index("style")] == "push_pop" {
			got[domainName(r[f.Index("domain")], r[f.Index("range")])] = r
		}
	}
	unfinished := func(key string) bool { return got[key] != nil && got[key][f.Index("unfinished_count")].(int64) > 0 }
	want := by(readStats(t, c, "nvtx_pushpop_sum"), func(r record) string { return r["Range"] })
	for key := range want {
		if unfinished(key) { // NVIDIA counts them as long as the capture; prof knows no length for them
			delete(want, key)
			delete(got, key)
		}
	}
	match(t, n, want, f, got, [][2]string{{"Instances", "instances"}, {"Total Time (ns)", "cpu_total_ns"}, {"Avg (ns)", "cpu_mean_ns"},
		{"Med (ns)", "cpu_median_ns"}, {"Min (ns)", "cpu_min_ns"}, {"Max (ns)", "cpu_max_ns"}, {"StdDev (ns)", "cpu_std_ns"}})
	proj := map[string]record{}
	for _, r := range readStats(t, c, "nvtx_gpu_proj_sum") {
		if r["Style"] == "PushPop" && got[r["Range"]] != nil {
			proj[r["Range"]] = r
		}
	}
	for key, row := range got {
		if row[f.Index("gpu_instances")].(int64) == 0 || onlyGraphs(f, row) {
			delete(got, key) // NVIDIA leaves ranges without device work out, and does not see replays traced as a whole
			delete(proj, key)
		}
	}
	match(t, n, proj, f, got, [][2]string{{"Total Proj Time (ns)", "gpu_span_total_ns"}, {"Proj Avg (ns)", "gpu_span_mean_ns"},
		{"Proj Med (ns)", "gpu_span_median_ns"}, {"Proj Min (ns)", "gpu_span_min_ns"}, {"Proj Max (ns)", "gpu_span_max_ns"}, {"Proj StdDev (ns)", "gpu_span_std_ns"}})
}

func onlyGraphs(f *frame.Frame, row []any) bool { return row[f.Index("graph_count")].(int64) > 0 }

// matchRangeKernels compares kernels by enclosing range. NVIDIA splits by thread, so its rows are added up first.
// Start/end ranges are skipped: NVIDIA holds them to the thread that began them, and leaves out those that end on another,
// prof holds them to the process.
func matchRangeKernels(t *testing.T, n *tally, c capture, f *frame.Frame, skip map[string]bool) {
	t.Helper()
	type sum struct{ calls, ns int64 }
	want := map[string]sum{}
	for _, r := range readStats(t, c, "nvtx_kern_sum") {
		name := r["NVTX Range"]
		if r["Style"] == "StartEnd" {
			continue
		}
		calls, ns := integer(t, r["Kern Inst"]), integer(t, r["Total Time (ns)"])
		if r["NVTX Inst"] != "0" && strings.HasSuffix(name, ":rec") {
			skip[name] = true // NVIDIA counts the time of a kernel in a range within itself twice
			continue
		}
		key := name + "\x00" + r["Kernel Name"]
		want[key] = sum{want[key].calls + calls, want[key].ns + ns}
	}
	got := map[string]sum{}
	for _, r := range f.Rows {
		name := domainName(r[f.Index("domain")], r[f.Index("range")])
		if name == ":(none)" {
			name = ""
		}
		if !skip[name] {
			got[name+"\x00"+fmt.Sprint(r[f.Index("kernel")])] = sum{r[f.Index("calls")].(int64), r[f.Index("total_ns")].(int64)}
		}
	}
	for key, w := range want {
		n.rows++
		n.cells += 2
		if got[key] != w {
			t.Errorf("range-kernels %.160q: %v, NVIDIA says %v", key, got[key], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("range-kernels gives %d rows, NVIDIA %d", len(got), len(want))
		for key := range got {
			if _, ok := want[key]; !ok {
				t.Errorf("not in NVIDIA's: %.160q", key)
			}
		}
	}
}

// startEnd names the start/end ranges.
func startEnd(f *frame.Frame) map[string]bool {
	out := map[string]bool{}
	for _, r := range f.Rows {
		if r[f.Index("style")] == "start_end" {
			out[domainName(r[f.Index("domain")], r[f.Index("range")])] = true
		}
	}
	return out
}

func integer(t *testing.T, s string) int64 {
	t.Helper()
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// matchLaunches compares launches with cuda_kern_exec_sum.
func matchLaunches(t *testing.T, n *tally, c capture, f *frame.Frame) {
	t.Helper()
	want := by(readStats(t, c, "cuda_kern_exec_sum"), func(r record) string {
		return strings.Join([]string{r["PID"], r["TID"], r["DevId"], r["API Name"], r["Kernel Name"]}, "\x00")
	})
	for key, r := range want {
		if r["QCount"] == "0" { // NVIDIA leaves the cells empty
			delete(want, key)
		}
	}
	got := keyed(t, f, "pid", "tid", "device", "api", "kernel")
	for key, r := range got {
		if r[f.Index("queued")].(int64) == 0 {
			delete(got, key)
		}
	}
	match(t, n, want, f, got, [][2]string{{"Count", "calls"}, {"QCount", "queued"}, {"TAvg (ns)", "total_mean_ns"}, {"TMed (ns)", "total_median_ns"},
		{"AAvg (ns)", "api_mean_ns"}, {"AMed (ns)", "api_median_ns"}, {"QAvg (ns)", "queue_mean_ns"}, {"QMed (ns)", "queue_median_ns"},
		{"KAvg (ns)", "kernel_mean_ns"}, {"KMed (ns)", "kernel_median_ns"}})
}
