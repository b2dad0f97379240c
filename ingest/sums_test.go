package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/nsys/stats"
	"prof/internal/testkit"
)

// stats copies NVIDIA's summaries of a capture into a folder.
func (b *bench) stats(to string) string {
	b.t.Helper()
	files, err := filepath.Glob("../testdata/nsys/kernels/stats/*.csv")
	if err != nil || len(files) < 10 {
		b.t.Fatal(files, err)
	}
	for _, f := range files {
		b.copied(f, to+"/"+filepath.Base(f))
	}
	return b.path(to)
}

const (
	sumHead   = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
	osHead    = "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
	sumsOf    = `SELECT x.report, count(*), sum(x.item_count)::BIGINT, sum(x.total_ns)::BIGINT FROM reported_sum x JOIN run r USING (run_id) WHERE r.name = '%s' GROUP BY 1 ORDER BY 1`
	partsOf   = `SELECT x.part, x.read_count, x.stored_count, x.reason FROM source_part x JOIN run r USING (run_id) WHERE r.name = '%s' AND x.reason IS NOT NULL ORDER BY 1`
	namesOf   = `SELECT DISTINCT x.domain, x.name, x.normalised_name FROM reported_sum x JOIN run r USING (run_id) WHERE r.name = '%s' AND x.report = 'range' ORDER BY ALL`
	countedOf = `SELECT x.kind, x.is_counted FROM timeline x JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY ALL`
)

// TestSums holds which files of nsys stats become which sources, and what is stored of them.
func TestSums(t *testing.T) {
	b := newBenchWith(t, derive.Facts{Only: []string{"timeline"}})
	dir := b.stats("stats")
	b.ok(ingest.Options{Name: "folder"}, dir)
	b.warned()
	b.of("folder", sources, "1 nsys-stats nsys-stats kernels_*.csv")
	const whole = "api_call 8 53 104447136|kernel 4 16 1304830|kernel_grid 4 16 1304830|memory_size 1 6 ~|memory_time 1 6 69280|range 3 6 268490|range_gpu 3 6 1360382|range_kernel 5 18 1336542"
	b.of("folder", sumsOf, whole)
	b.of("folder", partsOf, "cuda_gpu_sum 5 0 not stored: the reports of kernels and of memory operations have all of its rows|cuda_kern_exec_sum 0 0 not stored: prof has no query for its rows|nvtx_pushpop_sum 3 0 not stored: nvtx_sum has all of its rows")
	b.of("folder", countedOf, "nsys-stats true")

	// The same files again, in whatever form, are a repeat.
	var files []string
	for _, f := range strings.Fields("cuda_api_sum cuda_gpu_kern_gb_sum cuda_gpu_kern_sum cuda_gpu_mem_size_sum cuda_gpu_mem_time_sum cuda_gpu_sum cuda_kern_exec_sum nvtx_gpu_proj_sum nvtx_kern_sum nvtx_pushpop_sum nvtx_sum") {
		text, err := os.ReadFile(b.path("stats/kernels_" + f + ".csv"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b.file("packed/kernels_"+f+".csv.gz", string(text)))
	}
	if r := b.ok(ingest.Options{}, files...); r.Made || len(r.Repeated) != 1 || r.Repeated[0].Run != "folder" {
		t.Errorf("packed files: %+v", r)
	}
	if r := b.ok(ingest.Options{}, b.path("stats/kernels_cuda_gpu_kern_sum.csv")); !strings.HasSuffix(r.Run.Name, "-kernels") {
		t.Errorf("the run of one file is called %q", r.Run.Name)
	}

	// A run with the timeline takes none of them, and one with another tool's trace does.
	b.copied("../testdata/nsys/kernels/kernels.sqlite.gz", "both/kernels.sqlite.gz")
	b.stats("both/stats")
	// but sums of OS calls, which that timeline lacks.
	b.file("both/stats/kernels_osrt_sum.csv", osHead+"Name\n100.0,600,3,200.0,200.0,100,300,100.0,poll\n")
	r := b.ok(ingest.Options{Name: "both"}, b.path("both"))
	if len(r.Sources) != 2 || len(b.warnings) != 1 || !strings.HasPrefix(b.warnings[0], "left out 11 files of nsys stats, whose work the timeline of the run has: both/stats") {
		t.Errorf("%+v, %q", r.Sources, b.warnings)
	}
	b.of("both", sumsOf, "osrt_call 1 3 600")
	b.of("both", countedOf, "nsys true")
	testkit.Exec(t, b.w, `INSERT INTO osrt_call SELECT run_id, 1, 1, 1, 0, 5, 1 FROM run WHERE name = 'both'`) // as of another export
	b.file("both/more/again_osrt_sum.csv", osHead+"Name\n100.0,700,3,200.0,200.0,100,300,100.0,poll\n")
	if r := b.ok(ingest.Options{Name: "both", Add: true}, b.path("both/more")); r.Made || len(b.warnings) != 1 || b.warnings[0] != "left out 1 file of nsys stats, whose work the timeline of the run has: both/more" {
		t.Errorf("OS calls that the run has: %+v %q", r, b.warnings)
	}

	// A run with sums and a timeline is made anew of the same files: the sums are left out then, and nothing is lost.
	b.remove("both")
	b.ok(ingest.Options{Name: "grown"}, b.path("both/stats"))
	b.ok(ingest.Options{Name: "grown", Add: true}, b.path("both/kernels.sqlite.gz"))
	b.of("grown", countedOf, "nsys true|nsys-stats false")
	if r := b.ok(ingest.Options{Name: "grown", Replace: true}, b.path("both/kernels.sqlite.gz"), b.path("both/stats")); len(r.Sources) != 2 {
		t.Errorf("replaced: %+v", r.Sources)
	}
	if r, err := b.try(ingest.Options{Name: "grown", Replace: true}, b.path("both/kernels.sqlite.gz")); !errors.Is(err, ingest.ErrLess) {
		t.Errorf("without the sums of OS calls: %+v, %v", r, err)
	}
	b.file("trace/run_cuda_gpu_kern_sum.csv", sumHead+"Name\n100.0,600,3,200.0,200.0,100,300,100.0,f\n")
	b.copied("../testdata/torch/cpu.trace.json.gz", "trace/cpu.trace.json.gz")
	b.ok(ingest.Options{Name: "trace"}, b.path("trace"))
	b.of("trace", countedOf, "nsys-stats true|torch false") // the trace has no GPU work
	b.copied("../testdata/torch/graph.trace.json.gz", "traced/graph.trace.json.gz")
	b.file("traced/run_cuda_gpu_kern_sum.csv", sumHead+"Name\n100.0,800,3,266.7,200.0,100,500,100.0,f\n")
	b.ok(ingest.Options{Name: "traced"}, b.path("traced"))
	b.of("traced", countedOf, "nsys-stats false|torch true")
	b.copied("../testdata/torch/cpu.key_averages.json.gz", "table/cpu.key_averages.json.gz")
	b.file("table/run_cuda_gpu_kern_sum.csv", sumHead+"Name\n100.0,700,3,233.3,200.0,100,400,100.0,f\n")
	b.ok(ingest.Options{Name: "table"}, b.path("table"))
	b.of("table", countedOf, "nsys-stats true|torch false")

	// Two captures of a folder are two sources; a report that is there twice counts once; secrets are masked.
	b.file("two/a_cuda_gpu_kern_sum.csv", sumHead+"Name\n100.0,600,3,200.0,200.0,100,300,100.0,void f<int>(int)\n")
	b.file("two/a_cuda_gpu_kern_sum_base.csv", sumHead+"Name\n100.0,600,3,200.0,200.0,100,300,100.0,f\n")
	b.file("two/a_nvtx_pushpop_sum.csv", sumHead+"Range\n100.0,600,3,200.0,200.0,100,300,100.0,LLM:step 12 HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\n")
	b.file("two/b_cuda_gpu_kern_gb_sum.csv", sumHead+"GridXYZ,BlockXYZ,Name\n100.0,60,3,20.0,20.0,10,30,10.0,   1    2    3,  32    1    1,g\n")
	b.file("two/c_osrt_sum.csv", "")
	b.ok(ingest.Options{Name: "two"}, b.path("two"))
	b.warned(b.path("two/c_osrt_sum.csv")[len(b.dir)+1:] + ": it has no sums that prof stores: osrt_sum: nsys found nothing to add up; skipped")
	b.of("two", sources, "1 nsys-stats nsys-stats a_*.csv|2 nsys-stats nsys-stats b_cuda_gpu_kern_gb_sum.csv")
	b.of("two", sumsOf, "kernel 1 3 600|kernel_grid 1 3 60|range 1 3 600")
	if got := b.rows(strings.ReplaceAll(namesOf, "%s", "two")); strings.Contains(got, "hf_abc") || !strings.Contains(got, "LLM step 12 HF_TOKEN=") || !strings.Contains(got, "step # HF_TOKEN=") {
		t.Errorf("the range is %q", got)
	}

	// What cannot be read is an error, and nothing of it is stored.
	b.refused(stats.ErrNoSums, "c_osrt_sum.csv: it has no sums that prof stores", b.path("two/c_osrt_sum.csv"))
	b.file("bad/a_cuda_gpu_kern_sum.csv", sumHead+"Name\n100.0,600,0,200.0,200.0,100,300,100.0,f\n")
	before := b.state()
	if _, err := b.try(ingest.Options{}, b.path("bad")); err == nil || !strings.Contains(err.Error(), "a_cuda_gpu_kern_sum.csv: line 2: Instances is 0") || errors.Is(err, stats.ErrNoSums) {
		t.Error(err)
	}
	if b.state() != before {
		t.Error("the warehouse has changed")
	}
	b.file("cut/a_cuda_gpu_kern_sum.csv", sumHead+"Name\n60.0,600,3,200.0,200.0,100,300,100.0,f\n40.0,400,2,20")
	b.ok(ingest.Options{Name: "cut"}, b.path("cut"))
	b.of("cut", `SELECT x.status, x.row_count FROM source x JOIN run r USING (run_id) WHERE r.name = '%s'`, "partial 1")

	// Of what a recipe made, the sums of its kernels are those of the export, by their short names.
	b.ok(ingest.Options{Name: "recipe"}, "../testdata/forms/llama_kern_sum")
	b.of("recipe", sumsOf, "kernel 23 1096 7936799")
	b.of("recipe", `SELECT x.item_count, x.total_ns, x.min_ns, x.max_ns, x.mean_ns, x.median_ns, x.std_ns FROM reported_sum x JOIN run r USING (run_id) JOIN kernel_name k USING (run_id, kernel_name_id) WHERE r.name = '%s' AND k.name = 'CatArrayBatchedCopy'`, "50 107013 1664 3104 2140.3 2112 391.7")
	if r := b.ok(ingest.Options{Name: "recipes"}, "../testdata/forms"); len(r.Sources) != 1 || r.Sources[0].Form != "sqlite" {
		t.Errorf("of a folder with the export: %+v", r.Sources)
	}
}
