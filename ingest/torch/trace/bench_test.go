package trace

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func BenchmarkNext(b *testing.B) {
	data, err := os.ReadFile(os.Getenv("TRACE"))
	if err != nil {
		b.Skip(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(data))
		var e Event
		for {
			err := r.Next(&e)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
