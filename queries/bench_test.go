package queries_test

import (
	"os"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// BenchmarkQuery runs the core queries on the Llama capture, or on the export that PROF_BENCH_EXPORT names.
func BenchmarkQuery(b *testing.B) {
	path := os.Getenv("PROF_BENCH_EXPORT")
	if path == "" {
		path = "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"
	}
	benchmark(b, []string{path}, "runs", "top-kernels", "kernel-grids", "stages", "stage-kernels", "ranges", "range-kernels", "launches", "memops",
		"api-calls", "conservation")
}

// BenchmarkProfiled runs the queries over what Nsight Compute measured.
func BenchmarkProfiled(b *testing.B) {
	benchmark(b, []string{"../testdata/ncu/llama.sqlite.gz", "../testdata/ncu/llama.ncu-rep.gz"}, "bottlenecks", "kernel-sol", "roofline", "ceilings",
		"kernel-metrics", "ncu-rules", "ncu-matches")
}

func benchmark(b *testing.B, paths []string, names ...string) {
	home := schema.Home{Dir: b.TempDir()}
	w, err := schema.Open(b.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		b.Fatal(err)
	}
	id := load(b, w, "bench", paths...).Run.ID
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if w, err = schema.Open(b.Context(), home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}}); err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			q, err := queries.Find(name)
			if err != nil {
				b.Fatal(err)
			}
			args := queries.Args{}
			if q.TakesRun() {
				args["run"] = id
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := queries.Run(b.Context(), w, q, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
