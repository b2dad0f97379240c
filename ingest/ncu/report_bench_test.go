package ncu_test

import (
	"bytes"
	"slices"
	"testing"

	"prof/ingest/ncu"
)

// bigReport repeats the blocks of llama that hold results: 7 launches of 1,381 metrics each become as many as are asked for.
func bigReport(t testing.TB, launches int) []byte {
	t.Helper()
	head, parts := takeApart(t, reportOf(t, "llama"))
	out := slices.Clone(head)
	var blocks [][]byte
	for _, p := range parts {
		header, _ := withoutField(p.header, 5)
		if p.results == 0 {
			out = append(out, blockWith(header, p.entries...)...)
			continue
		}
		first, _ := withoutField(header, 4)
		if len(first) != len(header) { // the names once
			_, names := withoutField(header, 4)
			out = append(out, blockWith(names)...)
		}
		blocks = append(blocks, blockWith(first, p.entries...))
	}
	for i := range launches {
		out = append(out, blocks[i%len(blocks)]...)
	}
	return out
}

// BenchmarkReport reads 1,000 launches of 1,381 metrics each.
func BenchmarkReport(b *testing.B) {
	data := bigReport(b, 1000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	metrics := 0
	for b.Loop() {
		r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "bench.ncu-rep")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if err := r.Each(b.Context(), func(x *ncu.Result) error { n, metrics = n+1, metrics+len(x.Metrics); return nil }); err != nil || n != 1000 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(metrics)/b.Elapsed().Seconds(), "metrics/s")
}

// BenchmarkOpenReport reads the headers alone.
func BenchmarkOpenReport(b *testing.B) {
	data := bigReport(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "bench.ncu-rep"); err != nil {
			b.Fatal(err)
		}
	}
}
