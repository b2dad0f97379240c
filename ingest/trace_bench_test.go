package ingest_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// moved are what differs between two stretches of a longer trace: times, and ids that tie events together.
var moved = regexp.MustCompile(`("ts": |"External id": |"correlation": |"id": |"Ev Idx": )(\d+)`)

// scale writes a trace of at least size bytes: the events of a real one again and again, each time a second later.
func scale(tb testing.TB, from, to string, size int64) {
	tb.Helper()
	in, err := os.Open(from)
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	begin := bytes.Index(text, []byte(`"traceEvents": [`)) + len(`"traceEvents": [`)
	end := bytes.LastIndexByte(text[:bytes.LastIndex(text, []byte(`"Record Window End"`))], '{')
	body := text[begin:end]
	type piece struct {
		before []byte
		number int64
		step   int64
	}
	var pieces []piece
	last := 0
	for _, m := range moved.FindAllSubmatchIndex(body, -1) {
		n, err := strconv.ParseInt(string(body[m[4]:m[5]]), 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		step := int64(400_000) // more than the ids of the trace
		if body[m[2]+1] == 't' {
			step = 1_000_000 // microseconds
		}
		pieces = append(pieces, piece{body[last:m[4]], n, step})
		last = m[5]
	}
	f, err := os.Create(to)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(text[:begin])
	var number []byte
	for k, written := int64(0), int64(0); written < size; k++ {
		for _, p := range pieces {
			number = strconv.AppendInt(number[:0], p.number+k*p.step, 10)
			w.Write(p.before)
			w.Write(number)
			written += int64(len(p.before) + len(number))
		}
		w.Write(body[last:])
	}
	w.Write(text[end:])
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkTrace stores a trace of the PyTorch profiler, of 1 GB, made from a real one, plain and packed; MB/s are of JSON, and peak-MB what the process took at
// most, over all of the benchmark so far.
func BenchmarkTrace(b *testing.B) {
	from := "../../shared/captures/torch/dsocr-sdpa.trace.json.gz"
	if _, err := os.Stat(from); err != nil {
		b.Skipf("%v: this benchmark needs the captures beside the repository", err)
	}
	path := filepath.Join(b.TempDir(), "big.trace.json")
	scale(b, from, path, 1<<30)
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	pack(b, path)
	for _, end := range []string{"", ".gz"} {
		b.Run("json"+end, func(b *testing.B) {
			b.SetBytes(st.Size())
			for b.Loop() {
				ingestOnce(b, path+end)
			}
			b.ReportMetric(peakMB(b), "peak-MB")
		})
	}
}

func ingestOnce(b *testing.B, path string) {
	b.StopTimer() // making a warehouse is no part of it
	w, err := schema.Open(b.Context(), schema.Home{Dir: b.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: "512MB"})
	if err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	o := ingest.Options{Name: "big", Now: time.Now(), ProfVersion: "test"}
	o.Load.Threads = 2
	if _, err := ingest.Run(b.Context(), w, []string{path}, o); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// pack writes a gzip file beside a file.
func pack(b *testing.B, path string) {
	in, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(path + ".gz")
	if err != nil {
		b.Fatal(err)
	}
	z := gzip.NewWriter(out)
	if _, err := io.Copy(z, in); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(z.Close(), out.Close()); err != nil {
		b.Fatal(err)
	}
}

// peakMB is the most memory that this process has had, where Linux says so.
func peakMB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Logf("peak memory is unknown: %v", err)
		return 0
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		b.Fatal("no VmHWM in /proc/self/status")
	}
	kb, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb / 1000
}
