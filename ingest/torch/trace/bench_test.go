package trace

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

// BenchmarkNext reads a real trace from memory.
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
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(data))
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
