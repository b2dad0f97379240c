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

// TestPublishedApart: a capture that is stored in two transactions, with its records in a file, gives the rows of one that is stored in one,
// with its records in memory. Where the second transaction fails, nothing is left of the first.
func TestPublishedApart(t *testing.T) {
	const small = "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"
	tables, err := exports.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	plain := b.path("llama-graph-node.sqlite")
	if err := exports.Repeat(plain, append(tables, exports.Filler(9<<20)), 1); err != nil {
		t.Fatal(err)
	}
	large := b.stuffed(plain, plain+".gz")
	some, err := derive.Behind("timeline", "work_sum")
	if err != nil {
		t.Fatal(err)
	}
	run := func(path string, records int, fails error) map[string]string {
		t.Helper()
		facts := failing{some, fails}
		b := newBenchWith(t, facts)
		if _, err := b.try(ingest.Options{Name: "r", Load: load.Options{RecordsInMemory: records}}, path); !errors.Is(err, fails) {
			t.Fatalf("%v, want %v", err, fails)
		}
		out := map[string]string{}
		for _, row := range strings.Split(b.numbered(), "|") {
			table, rows, _ := strings.Cut(row, " ")
			out[table] = rows
		}
		return out
	}
	one, two, none, empty := run(small, 0, nil), run(large, 1, nil), run(large, 0, errors.New("no facts")), "|"+b.numbered()+"|"
	for table, rows := range one {
		// What is left out holds the size of the file.
		if table != "source" && table != "source_part" && table != "run_trait" && rows != two[table] {
			t.Errorf("%s: %s in one transaction, %s in two", table, rows, two[table])
		}
		if !strings.Contains(empty, "|"+table+" "+none[table]+"|") {
			t.Errorf("%s: %s after a failure", table, none[table])
		}
	}
}
