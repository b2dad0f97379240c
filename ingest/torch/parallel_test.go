package torch

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"prof/ingest/load"
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
	c := newCollector(base{})
	if truncated, err := c.read(r, func(int64) error { return nil }); truncated != nil || err != nil {
		t.Fatal(truncated, err)
	}
	return c, r.Header(), src.sum()
}

// TestManyThreads: memory goes with the number of calls, not with that of threads.
func TestManyThreads(t *testing.T) {
	const threads = 100_000
	var text bytes.Buffer
	text.WriteString(`[{}`)
	for i := range threads {
		fmt.Fprintf(&text, `,{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": %d, "ts": %[1]d.000, "dur": 5.000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": %[1]d, "ts": %[1]d.500, "dur": 1.000, "args": {"correlation": %[2]d}}`, i, i+1)
	}
	text.WriteString(`]`)
	c := newCollector(base{})
	if truncated, err := c.read(trace.NewReader(&text), func(int64) error { return nil }); truncated != nil || err != nil {
		t.Fatal(truncated, err)
	}
	linked, err := link(c, &load.Target{Run: &load.Run{}})
	if err != nil {
		t.Fatal(err)
	}
	l := &loader{linked: linked, name: "x", header: &trace.Header{}, info: &load.SourceInfo{}}
	l.prepare()
	checkSweep(t, l)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 300<<20 {
		t.Errorf("%d threads with an operator and a call each take %d MB", threads, m.HeapAlloc>>20)
	}
	runtime.KeepAlive(l)
}
