package sqlite

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"prof/ingest/nsys/table"
)

// kernelWants are the columns of a kernel row that a profile keeps: 14 of 28.
func kernelWants() []table.Want {
	return wants("start:i end:i deviceId:i contextId:i streamId:i correlationId:i globalPid:i demangledName:i " +
		"shortName:i registersPerThread:i gridX:i blockX:i dynamicSharedMemory:i graphNodeId:i")
}

// BenchmarkScan reads tables of the export that PROF_BENCH_SQLITE names.
func BenchmarkScan(b *testing.B) {
	path := os.Getenv("PROF_BENCH_SQLITE")
	if path == "" {
		b.Skip("PROF_BENCH_SQLITE names no export")
	}
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		name, table string
		wants       []table.Want
		workers     int
	}{
		{"kernels", "CUPTI_ACTIVITY_KIND_KERNEL", kernelWants(), 1},
		{"kernels parallel", "CUPTI_ACTIVITY_KIND_KERNEL", kernelWants(), runtime.GOMAXPROCS(0)},
		{"calls", "CUPTI_ACTIVITY_KIND_RUNTIME", wants("start:i end:i globalTid:i correlationId:i nameId:i"), 1},
		{"ranges", "NVTX_EVENTS", wants("start:i end:i text:t globalTid:i"), 1},
		{"strings", "StringIds", wants("id:i value:t"), 1},
	} {
		if f.Has(c.table) {
			b.Run(c.name, func(b *testing.B) { benchmarkTable(b, f, c.table, c.wants, c.workers) })
		}
	}
}

func benchmarkTable(b *testing.B, f *File, name string, w []table.Want, workers int) {
	var rows atomic.Int64
	b.ReportAllocs()
	for b.Loop() {
		s, err := f.scan(context.Background(), f.table(name), w)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(s.leaves)) * int64(f.pageSize))
		var next atomic.Int64
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() { rows.Add(readMorsels(b, s, &next)) })
		}
		wg.Wait()
	}
	b.ReportMetric(float64(rows.Load())/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// readMorsels reads morsels until there are no more and gives their rows.
func readMorsels(b *testing.B, s *scan, next *atomic.Int64) (n int64) {
	c := s.Open()
	defer c.Close()
	var batch table.Batch
	for {
		m := int(next.Add(1)) - 1
		if m >= s.Morsels() {
			return n
		}
		if err := c.Seek(m); err != nil {
			b.Error(err)
			return n
		}
		for {
			more, err := c.Next(&batch)
			if err != nil {
				b.Error(err)
			}
			if err != nil || !more {
				break
			}
			n += int64(batch.N)
		}
	}
}

func BenchmarkString(b *testing.B) {
	f := open(b, "overflow.sqlite")
	b.ReportAllocs()
	id := int64(1)
	for b.Loop() {
		if _, _, err := f.String(id); err != nil {
			b.Fatal(err)
		}
		id = (id + 3) % 108
	}
}
