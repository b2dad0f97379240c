package torch

import (
	"io"
	"path/filepath"
	"reflect"
	"testing"

	"prof/ingest/torch/trace"
)

// TestParallel: what is collected depends neither on how many goroutines parse nor on where the file is cut for them.
func TestParallel(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/torch/*.trace.json.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d captures, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, header, sum := collected(t, path, trace.NewReader)
			for _, size := range []int{300, 4001, 1 << 16} {
				got, h, s := collected(t, path, func(src io.Reader) *trace.Reader { return trace.NewParallel(src, 4, size) })
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(h, header) || s != sum {
					t.Errorf("blocks of %d bytes give other records", size)
				}
			}
		})
	}
}

func collected(t *testing.T, path string, reader func(io.Reader) *trace.Reader) (*collector, *trace.Header, string) {
	t.Helper()
	src, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := reader(src)
	defer r.Close()
	c := newCollector()
	if truncated, err := c.read(r, func(int64) error { return nil }); truncated != nil || err != nil {
		t.Fatal(truncated, err)
	}
	return c, r.Header(), src.sum()
}
