package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
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
