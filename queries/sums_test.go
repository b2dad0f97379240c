package queries_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// grain is a query that answers from sums too, and how its rows are known.
type grain struct {
	query string
	args  queries.Args
	key   []string
	// report is the one that has its rows; of a capture without it there is nothing to compare.
	report string
	cells  []string
}

var sumCells = []string{"calls", "total_ns", "mean_ns", "median_ns", "min_ns", "max_ns", "std_ns"}

var grains = []grain{
	{"top-kernels", queries.Args{"top": "0", "warmup": "true"}, []string{"kernel"}, "cuda_gpu_kern_sum", append([]string{"rank", "share_ratio", "family", "role"}, sumCells...)},
	{"kernel-grids", queries.Args{"top": "0", "warmup": "true"}, []string{"kernel", "grid", "block"}, "cuda_gpu_kern_gb_sum", append([]string{"share_ratio"}, sumCells...)},
	{"memops", queries.Args{"warmup": "true"}, []string{"operation"}, "cuda_gpu_mem_time_sum", append([]string{"share_ratio", "unsized_count"}, sumCells...)},
	{"api-calls", queries.Args{"top": "0"}, []string{"api"}, "cuda_api_sum", append([]string{"rank", "share_ratio"}, sumCells...)},
	{"osrt-calls", queries.Args{"top": "0"}, []string{"call"}, "osrt_sum", append([]string{"rank", "share_ratio"}, sumCells...)},
	{"ranges", queries.Args{"raw": "true"}, []string{"domain", "range", "style"}, "nvtx_sum", []string{"instances", "cpu_total_ns", "cpu_mean_ns", "cpu_median_ns", "cpu_min_ns", "cpu_max_ns", "cpu_std_ns",
		"gpu_instances", "gpu_span_total_ns", "gpu_span_mean_ns", "gpu_span_median_ns", "gpu_span_min_ns", "gpu_span_max_ns", "gpu_span_std_ns"}},
}

// sizeCells are rounded to thousands of bytes by nsys.
var sizeCells = []string{"total_bytes", "mean_bytes", "median_bytes", "min_bytes", "max_bytes", "std_bytes"}

// compareSums holds the answers of the run of NVIDIA's summaries of a capture to those of the capture itself.
func compareSums(t *testing.T, w *schema.Warehouse, n *tally, run string, c capture) {
	t.Helper()
	sums := run + "-sums"
	got := testkit.Query(t, w, "sources", queries.Args{"run": sums})
	kinds := map[any]int{}
	for _, row := range got.Rows {
		kinds[row[got.Index("form")]]++ // a trace of the GPU's work beside the sums is not counted
	}
	if kinds["nsys-stats"] != 1 || kinds["nsys-stats"]+kinds["nsys-gpu-trace"] != len(got.Rows) {
		t.Fatalf("the sources are %v, not one of sums", got.Rows)
	}
	for _, g := range grains {
		if len(readStats(t, c, g.report)) == 0 && !(g.query == "ranges" && len(readStats(t, c, "nvtx_pushpop_sum")) > 0) {
			continue
		}
		args := func(run string) queries.Args {
			a := queries.Args{"run": run}
			for k, v := range g.args {
				a[k] = v
			}
			return a
		}
		whole, f := testkit.Query(t, w, g.query, args(run)), testkit.Query(t, w, g.query, args(sums))
		want, got := keyed(t, whole, g.key...), keyed(t, f, g.key...)
		for key, row := range want {
			if g.query == "ranges" && skipRange(t, c, whole, row) {
				delete(got, key)
				continue
			}
			if got[key] == nil {
				t.Errorf("%s of sums lacks %.120q", g.query, key)
				continue
			}
			n.rows++
			for _, cell := range g.cells {
				n.cells++
				equalCell(t, f, key, cell, got[key][f.Index(cell)], row[whole.Index(cell)])
			}
			if g.query == "memops" {
				compareSizes(t, n, f, key, got[key], row)
			}
			delete(got, key)
		}
		for key := range got {
			t.Errorf("%s of sums has %.120q, which the capture has not", g.query, key)
		}
		if !slices.ContainsFunc(f.Caveats, func(c frame.Caveat) bool { return c.Kind == "sums-only" }) {
			t.Errorf("%s does not say that the run has sums only", g.query)
		}
	}
	compareRangeKernels(t, n, run, sums, c, w)
	for _, name := range []string{"stages", "steps", "launches", "accounting", "passes", "gaps", "streams"} {
		if f := testkit.Query(t, w, name, queries.Args{"run": sums}); len(f.Rows) > 0 {
			t.Errorf("%s has %d rows of a run without a timeline", name, len(f.Rows))
		}
	}
}

// skipRange reports whether nsys' reports lack a range, or count it otherwise: one without an end is as long as the capture for NVIDIA, and
// start/end ranges, which prof holds to the process, it holds to a thread; replays of graphs traced as a whole it does not see.
func skipRange(t *testing.T, c capture, f *frame.Frame, row []any) bool {
	t.Helper()
	if row[f.Index("style")] != "push_pop" && len(readStats(t, c, "nvtx_sum")) == 0 {
		return true
	}
	return row[f.Index("unfinished_count")].(int64) > 0 || row[f.Index("style")] == "start_end" || onlyGraphs(f, row)
}

// equalCell holds a cell to another one: whole numbers exactly, and others to the digit that nsys prints.
func equalCell(t *testing.T, f *frame.Frame, key, cell string, got, want any) {
	t.Helper()
	if got == want {
		return
	}
	if a, isFloat := got.(float64); isFloat {
		if b, ok := want.(float64); ok && (math.Abs(a-b) <= 0.0501 || strings.HasSuffix(cell, "_ratio") && math.Abs(a-b) < 1e-12) {
			return
		}
	}
	if got == nil && cell == "gpu_instances" && want == int64(0) { // nsys leaves such ranges out
		return
	}
	t.Errorf("%s %.120q: %s is %v of the sums and %v of the capture", f.Query, key, cell, got, want)
}

// compareSizes holds sizes to nsys' rounding; what is rounded to nothing is not known.
func compareSizes(t *testing.T, n *tally, f *frame.Frame, key string, got, want []any) {
	t.Helper()
	number := func(v any) (float64, bool) {
		switch x := v.(type) {
		case int64:
			return float64(x), true
		case float64:
			return x, true
		}
		return 0, false
	}
	for _, cell := range sizeCells {
		a, known := number(got[f.Index(cell)])
		b, has := number(want[f.Index(cell)])
		n.cells++
		switch {
		case known && has && math.Abs(a-b) <= 500:
		case !known && b <= 500:
		default:
			t.Errorf("memops %.120q: %s is %v of the sums and %v of the capture", key, cell, got[f.Index(cell)], want[f.Index(cell)])
		}
	}
}

// compareRangeKernels holds kernels by range to the sums of nvtx_kern_sum, which matchRangeKernels holds the capture to.
func compareRangeKernels(t *testing.T, n *tally, run, sums string, c capture, w *schema.Warehouse) {
	t.Helper()
	if len(readStats(t, c, "nvtx_kern_sum")) == 0 {
		return
	}
	whole := testkit.Query(t, w, "range-kernels", queries.Args{"run": run, "raw": "true"})
	f := testkit.Query(t, w, "range-kernels", queries.Args{"run": sums, "raw": "true"})
	skip := startEnd(testkit.Query(t, w, "ranges", queries.Args{"run": run, "raw": "true"}))
	got := keyed(t, f, "domain", "range", "kernel")
	for key, row := range keyed(t, whole, "domain", "range", "kernel") {
		if name := fmt.Sprint(row[whole.Index("range")]); skip[domainName(row[whole.Index("domain")], name)] || name == "rec" {
			continue
		}
		if got[key] == nil {
			t.Errorf("range-kernels of sums lacks %.120q", key)
			continue
		}
		n.rows++
		for _, cell := range []string{"calls", "total_ns", "min_ns", "max_ns", "mean_ns"} {
			n.cells++
			equalCell(t, f, key, cell, got[key][f.Index(cell)], row[whole.Index(cell)])
		}
	}
}
