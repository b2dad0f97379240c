package ingest_test

import (
	"os"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/queries"
	"prof/schema"
)

// BenchmarkIngest reads a capture into a fresh warehouse. PROF_BENCH_EXPORT names a larger one than the export in testdata, of any form;
// the figures in docs/performance.md are of a capture repeated 80 times to 1 GB.
func BenchmarkIngest(b *testing.B) {
	path := os.Getenv("PROF_BENCH_EXPORT")
	if path == "" {
		path = "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"
	}
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	b.ReportAllocs()
	var rows int64
	for b.Loop() {
		b.StopTimer() // making a home, which happens once
		w, err := schema.Open(b.Context(), schema.Home{Dir: b.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: "512MB"})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		res, err := ingest.Run(b.Context(), w, []string{path}, ingest.Options{Name: "bench", Now: time.Now(), Load: load.Options{Threads: 2}})
		if err != nil {
			b.Fatal(err)
		}
		rows += res.Sources[0].Rows
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
