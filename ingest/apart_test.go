package ingest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/queries"
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
	run := func(path string, records int, err error) map[string]string {
		t.Helper()
		w, e := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
		if e != nil {
			t.Fatal(e)
		}
		defer w.Close()
		w.Facts = failing{err: err}
		if _, got := ingest.Run(t.Context(), w, []string{path}, ingest.Options{Name: "a", Now: time.Now(), Load: load.Options{Threads: 2, RecordsInMemory: records}}); !errors.Is(got, err) {
			t.Fatalf("%v, want %v", got, err)
		}
		return contents(t, w)
	}
	const sized = "run source source_part run_trait" // hold the size of the file, or when it was read
	one, two, none := run(small, 0, nil), run(large, 1, nil), run(large, 0, errors.New("no facts"))
	for table, rows := range one {
		if !slices.Contains(strings.Fields(sized), table) && rows != two[table] {
			t.Errorf("%s: %s in one transaction, %s in two", table, rows, two[table])
		}
		if !strings.HasPrefix(none[table], "0 ") {
			t.Errorf("%s: %s after a failure", table, none[table])
		}
	}
}

// contents gives, for each table that holds rows of runs, their number and a hash of what does not differ from one run to another.
func contents(t *testing.T, w *schema.Warehouse) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range column(t, w, `SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY table_name`) {
		var plain []string
		for _, c := range column(t, w, `SELECT column_name FROM duckdb_columns() WHERE table_name = '`+table+`' ORDER BY column_index`) {
			if c != "run_id" && !schema.IsID(table, c) {
				plain = append(plain, `"`+c+`"`)
			}
		}
		hash := "0"
		if len(plain) > 0 {
			hash = "coalesce(sum(hash(" + strings.Join(plain, ", ") + ")), 0)"
		}
		out[table] = strings.Join(column(t, w, `SELECT count(*) || ' rows ' || `+hash+` FROM `+table), "")
	}
	return out
}

func column(t *testing.T, w *schema.Warehouse, query string) (out []string) {
	t.Helper()
	rows, err := w.DB.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}
