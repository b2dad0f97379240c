package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/exports"
	"prof/schema"
)

// failing derives facts and then fails.
type failing struct {
	derive.Facts
	err error
}

func (f failing) Derive(ctx context.Context, q schema.SQL, runID string) error {
	return errors.Join(f.Facts.Derive(ctx, q, runID), f.err)
}

// stuffed packs a file without making it smaller: an ingest takes it for one of eight times its size.
func (b *bench) stuffed(from, to string) string {
	b.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err = errors.Join(err, z.Close(), os.WriteFile(to, out.Bytes(), 0o600)); err != nil {
		b.t.Fatal(err)
	}
	return to
}

// large is an export with so much more in it that it is stored as a large one.
func (b *bench) large(from string) string {
	b.t.Helper()
	tables, err := exports.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	plain := b.path("large.sqlite")
	if err := exports.Repeat(plain, append(tables, exports.Filler(9<<20)), 1); err != nil {
		b.t.Fatal(err)
	}
	return b.stuffed(plain, plain+".gz")
}

// TestPublishedApart: a capture that is stored in two transactions, with its records in a file, gives the rows of one that is stored in one,
// with its records in memory. Where the second transaction fails, nothing is left of the first.
func TestPublishedApart(t *testing.T) {
	const small = "../testdata/forms/llama.sqlite.gz"
	b := newBench(t)
	large := b.large(small)
	some, err := derive.Behind("timeline", "work_sum")
	if err != nil {
		t.Fatal(err)
	}
	run := func(path string, records int) map[string]string {
		t.Helper()
		b := newBenchWith(t, some)
		b.ok(ingest.Options{Name: "r", Load: load.Options{RecordsInMemory: records}}, path)
		out := map[string]string{}
		for _, row := range strings.Split(b.numbered(), "|") {
			table, rows, _ := strings.Cut(row, " ")
			out[table] = rows
		}
		return out
	}
	one, two := run(small, 0), run(large, 1)
	for table, rows := range one {
		// What is left out holds the size of the file.
		if table != "source" && table != "source_part" && table != "run_trait" && rows != two[table] {
			t.Errorf("%s: %s in one transaction, %s in two", table, rows, two[table])
		}
	}
	fails, before := errors.New("no facts"), b.state()
	b.w.Facts = failing{some, fails}
	if _, err := b.try(ingest.Options{Name: "r"}, large); !errors.Is(err, fails) {
		t.Errorf("%v, want %v", err, fails)
	}
	if after := b.state(); after != before {
		t.Errorf("after a failure\n%s\nwhere there was\n%s", after, before)
	}
}
