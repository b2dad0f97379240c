package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// A transaction that holds much which it cannot let go, as one that deleted a run before it makes it anew, goes on under Lean and has
// room beyond that; in the end the limit is what it was.
func TestLean(t *testing.T) {
	db, err := sql.Open("duckdb", filepath.Join(t.TempDir(), "x.duckdb")+"?memory_limit=512MB&threads=2")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	limit := func() (is string) {
		t.Helper()
		if err := conn.QueryRowContext(t.Context(), `SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'`).Scan(&is); err != nil {
			t.Fatal(err)
		}
		return is
	}
	outside := func(ctx context.Context, statement string) error {
		_, err := db.ExecContext(ctx, statement)
		return err
	}
	exec(`CREATE TABLE big AS SELECT i, i * 7 AS j FROM range(4000000) r(i)`)
	exec(`CREATE TABLE next (i BIGINT, t VARCHAR)`)
	was := limit()
	for _, deleted := range []bool{false, true} {
		exec(`BEGIN`)
		if deleted {
			exec(`DELETE FROM big WHERE i % 3 <> 0`)
			if err := outside(t.Context(), `SET memory_limit = '16MB'`); err == nil {
				t.Fatal("the transaction holds nothing: the test shows nothing")
			}
			if err := outside(t.Context(), `SET memory_limit = '512MB'`); err != nil { // a limit that was refused is told as the limit
				t.Fatal(err)
			}
		}
		target, err := New(conn, testRun, &load.Run{}, load.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		target.Outside = outside
		restore := target.Lean(rows.RoomOfNumbers)
		if err := target.leanNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if limit() == was {
			t.Errorf("deleted %v: the limit is what it was", deleted)
		}
		exec(`INSERT INTO next SELECT i, 'text ' || i FROM range(1000000) r(i)`)
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		exec(`COMMIT`)
		if got := limit(); got[:3] != was[:3] { // it is told and read in tenths of MiB
			t.Errorf("the limit is %s, it was %s", got, was)
		}
	}
}
