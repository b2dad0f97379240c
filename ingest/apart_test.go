package ingest_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/schema"
	"prof/testdata/exports"
)

// failing derives facts and then fails.
type failing struct {
	derive.Facts
	err error
}

func (f failing) Derive(ctx context.Context, q schema.SQL, runID string) error {
	return errors.Join(f.Facts.Derive(ctx, q, runID), f.err)
}

// TestPublishedApart: a capture that is stored in two transactions, with its records in a file, gives the rows of one that is stored in one,
// with its records in memory. Where the second transaction fails, nothing is left of the first.
func TestPublishedApart(t *testing.T) {
	const small = "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"
	tables, err := exports.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "llama-graph-node.sqlite")
	if err := exports.Repeat(large, append(tables, exports.Filler(65<<20)), 1); err != nil {
		t.Fatal(err)
	}
	run := func(path string, records int, fails error) map[string]string {
		t.Helper()
		b := newBenchWith(t, failing{err: fails})
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
	one, two, none, empty := run(small, 0, nil), run(large, 1, nil), run(large, 0, errors.New("no facts")), "|"+newBench(t).numbered()+"|"
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
