package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/nsys"
)

// TestFolderOfLoads: a folder with results of several load generators is one run with each benchmark once, and what is not read has its reason.
func TestFolderOfLoads(t *testing.T) {
	b := newBenchWith(t, derive.Facts{Only: []string{"served"}})
	for _, of := range []string{"guidellm", "inference-perf", "genai-bench", "evalscope"} {
		files, err := os.ReadDir("../testdata/serving/" + of)
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, f := range files {
			b.copied(filepath.Join("../testdata/serving", of, f.Name()), "x/"+of+"/"+f.Name())
		}
	}
	part := b.file("x/inference-perf/inference-perf.partial.stage_0.yaml", "results:\n  request_performance:\n    aggregate:\n      throughput:\n        request_rate: {units: queries/s, mean: 3}\nversion: 0.2.1\n")
	b.file("x/notes.txt", "a note\n")
	b.file("x/evalscope/benchmark_data.db", "SQLite format 3\x00CREATE TABLE result(first_chunk_latency REAL)")
	r := b.ok(ingest.Options{Name: "loads"}, filepath.Dir(filepath.Dir(part)))
	var skipped []string
	for _, s := range r.Skipped {
		skipped = append(skipped, filepath.Base(s.Path))
		if s.Why == "" {
			t.Errorf("%s: without a reason", s.Path)
		}
	}
	slices.Sort(skipped)
	if want := []string{"benchmark_args.json", "benchmark_data.db", "benchmark_percentile.json", "experiment_metadata.json", "inference-perf.partial.stage_0.yaml", "notes.txt"}; !slices.Equal(skipped, want) {
		t.Errorf("not read %q, want %q", skipped, want)
	}
	b.expect(`SELECT b.tool, b.label, b.model,
		(SELECT count(*) FROM serving_request q WHERE q.source_id = d.request_source_id AND q.benchmark_id = d.request_benchmark_id) FROM served d JOIN serving_benchmark b USING (run_id, source_id, benchmark_id) ORDER BY ALL`,
		"evalscope ~ mock 0|genai-bench D(32,11) mock 24|guidellm concurrent mock 20|inference-perf all stages ~ 44|inference-perf ~ ~ 0")
}

// TestFactsBesideDatabases: a folder of facts and databases of other programs, whatever SQLite they are, is a run of the facts. By itself such a database
// is refused, and so is one that may be an export.
func TestFactsBesideDatabases(t *testing.T) {
	b := newBenchWith(t, derive.Facts{Only: []string{"served"}})
	b.copied("../testdata/serving/vllm.json", "x/vllm.json")
	others := []string{"alter", "behind", "empty", "levels", "names", "types", "utf16", "wal"}
	for i, name := range others {
		b.copied("nsys/sqlite/testdata/"+name+".sqlite", "x/"+name+[]string{".db", ".sqlite"}[i%2])
	}
	b.copied("nsys/sqlite/testdata/wal.sqlite-wal", "x/wal.sqlite-wal")
	folder := b.path("x")
	for _, made := range []bool{true, false} { // the second time, the facts are known for a run's
		r := b.ok(ingest.Options{OwnName: true}, folder)
		if r.Made != made || made && len(r.Sources) != 1 || len(r.Skipped) != len(others)+1 {
			t.Errorf("%+v", r)
		}
		for _, s := range r.Skipped {
			if !s.IsOther() && s.Why != "it has no table of Nsight Systems" {
				t.Errorf("%+v", s)
			}
		}
	}
	b.warned()
	b.copied("nsys/sqlite/testdata/types.sqlite", "y/types.sqlite")
	if _, err := b.try(ingest.Options{}, b.path("y")); !errors.Is(err, ingest.ErrNothing) || !strings.HasSuffix(err.Error(), "(files checked: 1); types.sqlite: it has no table of Nsight Systems") {
		t.Errorf("nothing else: %v", err)
	}
	if _, err := b.try(ingest.Options{}, b.path("x/types.sqlite")); !errors.Is(err, nsys.ErrNotExport) {
		t.Errorf("alone: %v", err)
	}
	b.copied("nsys/sqlite/testdata/noalias.sqlite", "x/noalias.sqlite") // has StringIds
	if _, err := b.try(ingest.Options{Name: "export"}, folder); !errors.Is(err, nsys.ErrNoCUDA) {
		t.Errorf("an export without CUDA: %v", err)
	}
}

// TestAllFailed: requests that all failed have no times; those of a stage of inference-perf are still the same benchmark as its summary.
func TestAllFailed(t *testing.T) {
	b := newBenchWith(t, derive.Facts{Only: []string{"served"}})
	const folder = "../testdata/serving/inference-perf-failed/"
	b.ok(ingest.Options{Name: "failed"}, folder+"stage_0_lifecycle_metrics.json", folder+"per_request_lifecycle_metrics.json")
	b.expect(`SELECT b.completed_count, b.failed_count,
		(SELECT count(*) FROM serving_request q WHERE q.source_id = d.request_source_id AND q.benchmark_id = d.request_benchmark_id) FROM served d JOIN serving_benchmark b USING (run_id, source_id, benchmark_id) ORDER BY ALL`,
		"0 6 6")
}
