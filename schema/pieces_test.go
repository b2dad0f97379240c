package schema

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// TestDeletePieces: of a table that holds rows of several runs, those of one are deleted, whatever a commit does to the numbers of rows.
func TestDeletePieces(t *testing.T) {
	db, err := sql.Open("duckdb", filepath.Join(t.TempDir(), "a.duckdb")+"?checkpoint_threshold=1B")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const one, two = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
	if _, err := db.Exec(`CREATE TABLE t (run_id UUID, n BIGINT); INSERT INTO t SELECT CASE WHEN n // 200000 % 2 = 0 THEN '` + one + `' ELSE '` + two + `' END::UUID, n FROM range(1000000) r (n)`); err != nil {
		t.Fatal(err)
	}
	if err := (&Warehouse{DB: db}).deletePieces(t.Context(), "t", one, 30_000); err != nil {
		t.Fatal(err)
	}
	var count, sum, others int64
	if err := db.QueryRow(`SELECT count(*), sum(n), count(*) FILTER (run_id <> '`+two+`') FROM t`).Scan(&count, &sum, &others); err != nil {
		t.Fatal(err)
	}
	const want = 400_000
	if count != want || sum != 200_000*(200_000+399_999)/2+200_000*(600_000+799_999)/2 || others != 0 {
		t.Errorf("%d rows are left, %d of them of the other run, sum %d", count, others, sum)
	}
}
