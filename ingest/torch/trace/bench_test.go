package trace

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"runtime"
	"testing"
)

// BenchmarkNext reads a real trace from memory, in one goroutine and in several.
func BenchmarkNext(b *testing.B) {
	f, err := os.Open("../../../../shared/captures/torch/dsocr-sdpa.trace.json.gz")
	if err != nil {
		b.Skipf("%v: this benchmark needs the captures beside the repository", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	readers := map[string]func() *Reader{
		"alone":    func() *Reader { return NewReader(bytes.NewReader(data)) },
		"parallel": func() *Reader { return NewParallel(bytes.NewReader(data), runtime.NumCPU(), BlockBytes) },
	}
	for name, reader := range readers {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r := reader()
				for {
					_, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				r.Close()
			}
		})
	}
}
