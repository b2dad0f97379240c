package queries_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// readOnly opens a warehouse with one small run as `prof sql` does.
func readOnly(t *testing.T) *schema.Warehouse {
	t.Helper()
	return testkit.Warehouse(t, testkit.Named(t, "kernels")...)
}

func TestRawReads(t *testing.T) {
	t.Parallel()
	w := readOnly(t)
	for _, text := range []string{
		"SELECT 1 AS x", "  SELECT 1 AS x;  ", "-- a remark\nSELECT 1 AS x", "/* a */ SELECT 1 AS x -- end", "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
		"FROM (SELECT 1 AS x)", "VALUES (1)", "(SELECT 1 AS x)", "SELECT 1 AS x UNION SELECT 1",
	} {
		f, err := queries.Raw(t.Context(), w, text)
		if err != nil || !reflect.DeepEqual(f.Rows, [][]any{{int64(1)}}) {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
	for _, text := range []string{"DESCRIBE kernel", "SHOW TABLES", "SUMMARIZE run", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1", "EXPLAIN (ANALYZE, FORMAT json) SELECT 1",
		"EXPLAIN (SELECT 1)", "EXPLAIN -- why\n/* b */ FROM run", "FROM top_kernels('kernels', top := 10)",
		"FROM runs", "SELECT table_name, comment FROM duckdb_tables()"} {
		if f, err := queries.Raw(t.Context(), w, text); err != nil || len(f.Rows) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestRawWritesNothing holds that SQL of the user's changes neither the warehouse nor anything else on the machine.
func TestRawWritesNothing(t *testing.T) {
	t.Parallel()
	w := readOnly(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	for _, text := range []string{
		"INSERT INTO run_tag SELECT run_id, 'a', 'b' FROM run", "UPDATE run SET name = 'x'", "DELETE FROM run", "DROP TABLE run", "CREATE TABLE a (x INTEGER)",
		"CREATE TEMP TABLE a AS SELECT 1", "CREATE OR REPLACE VIEW runs AS SELECT 1", "ALTER TABLE run ADD COLUMN x INTEGER", "TRUNCATE run",
		"COPY run TO '" + out + "'", "COPY (SELECT 1) TO '" + out + "' (FORMAT parquet)", "EXPORT DATABASE '" + out + "'", "ATTACH '" + out + "' AS other",
		"EXPLAIN ANALYZE COPY (SELECT 1) TO '" + out + "'", "explain /* x */ analyze copy (SELECT 1) TO '" + out + "'",
		"EXPLAIN (ANALYZE) COPY (SELECT 1) TO '" + out + "'", "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '" + out + "'",
		"COPY (SELECT 1) TO '" + out + "'; SELECT 1", "SELECT 1; COPY (SELECT 1) TO '" + out + "'", "SELECT 1; SELECT 2; ATTACH '" + out + "'",
		"INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "PRAGMA threads = 1", "CALL pragma_version()", "CHECKPOINT", "VACUUM", "BEGIN", "PREPARE p AS SELECT 1",
		"IMPORT DATABASE '" + dir + "'", "DETACH warehouse", "USE memory",
	} {
		f, err := queries.Raw(t.Context(), w, text)
		if err == nil {
			t.Errorf("%s: was run: %v", text, f.Rows)
		}
		if found, _ := os.ReadDir(dir); len(found) > 0 {
			t.Errorf("%s: wrote %s", text, found[0])
			os.RemoveAll(out)
		}
	}
	if _, err := queries.Raw(t.Context(), w, "DELETE FROM run"); !errors.Is(err, queries.ErrNotReadOnly) || !strings.Contains(err.Error(), "one SELECT") {
		t.Errorf("the error is %v", err)
	}
	for text, says := range map[string]string{
		"SELECT 1; SELECT 2":                             "prof sql takes one statement at a time",
		"PIVOT run ON name USING count(*)":               "PIVOT without IN is several: write the values",
		"FROM (PIVOT_WIDER run ON name USING count(*))":  "PIVOT without IN is several: write the values",
		"SELECT '\xff'":                                  "the SQL is not UTF-8",
		"SELECT * FROM test_all_types()":                 "column time_ns has a type that prof cannot read: write it as a text, with ::VARCHAR",
		"SELECT 1 AS a, ['12:00:00'::TIME_NS] AS b":      "column b has a type that prof cannot read",
		"SELECT 1 AS a, {'x': '12:00:00'::TIME_NS} AS b": "column b has a type that prof cannot read",
		"SELECT 1 AS a, 1::VARIANT AS b":                 "column b has a type that prof cannot read",
		"SELECT row(1, 2) AS a":                          "has a type that prof cannot read",
	} {
		if _, err := queries.Raw(t.Context(), w, text); !errors.Is(err, queries.ErrBadArgument) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "driver") {
			t.Errorf("%s: the error is %v, want %s", text, err, says)
		}
	}
	for _, text := range []string{"PIVOT run ON name IN ('a') USING count(*)", "SELECT x.time_ns::VARCHAR, '12:00:00'::TIME_NS::VARCHAR FROM test_all_types() x", "SELECT row(1, 2)::VARCHAR"} {
		if f, err := queries.Raw(t.Context(), w, text); err != nil || len(f.Rows) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "  \n ", "-- nothing", ";"} {
		if f, err := queries.Raw(t.Context(), w, text); err == nil {
			t.Errorf("%q gives %+v", text, f)
		}
	}
	if f, err := queries.Raw(t.Context(), w, "FROM run"); err != nil || len(f.Rows) != 1 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestRawExact holds that no digit of a number is lost, whatever its type.
func TestRawExact(t *testing.T) {
	t.Parallel()
	w := readOnly(t)
	f, err := queries.Raw(t.Context(), w, `SELECT x.h, x.u, x.d, x.s FROM (VALUES
		(9007199254740993::HUGEINT, 18446744073709551615::UBIGINT, 12345678901234567.89::DECIMAL(19,2), 0.10::DECIMAL(3,2)),
		(170141183460469231731687303715884105727::HUGEINT, 1::UBIGINT, 1.00::DECIMAL(19,2), 0.25::DECIMAL(3,2))) x(h, u, d, s)`)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]any{{"9007199254740993", "18446744073709551615", "12345678901234567.89", 0.1}, {"170141183460469231731687303715884105727", "1", "1", 0.25}}
	if !reflect.DeepEqual(f.Rows, want) {
		t.Errorf("got %#v\nwant %#v", f.Rows, want)
	}
	if f, err = queries.Raw(t.Context(), w, `SELECT sum(x) AS total_ns FROM (VALUES (9007199254740993), (0)) v(x)`); err != nil {
		t.Fatal(err)
	}
	if got := f.Rows[0][0]; got != int64(9007199254740993) || f.Columns[0].Type != frame.Int {
		t.Errorf("a sum of whole numbers is %#v", got)
	}
}

func TestRawTypes(t *testing.T) {
	t.Parallel()
	w := readOnly(t)
	f, err := queries.Raw(t.Context(), w, `SELECT 1::TINYINT AS a, 2::UBIGINT AS b, 3::HUGEINT AS c, 1.5::DECIMAL(4,1) AS d, 0.5::FLOAT AS e, true AS f, 'x' AS g,
		DATE '2025-01-02' AS h, TIMESTAMP '2025-01-02 03:04:05.5' AS i, [1, 2] AS j, {'k': 1} AS k, NULL AS l, 'ab'::BLOB AS m,
		'01900000-0000-7000-8000-00000000000a'::UUID AS n, 5 AS total_ns, INTERVAL 1 DAY AS o, MAP {'a': 1} AS p`)
	if err != nil {
		t.Fatal(err)
	}
	got := f.Rows[0]
	want := []any{int64(1), int64(2), int64(3), 1.5, 0.5, true, "x", "2025-01-02", "2025-01-02 03:04:05.5", "[1,2]", `{"k":1}`, nil, "ab",
		"01900000-0000-7000-8000-00000000000a", int64(5)}
	if !reflect.DeepEqual(got[:len(want)], want) {
		t.Errorf("got %#v\nwant %#v", got[:len(want)], want)
	}
	if c := f.Columns[f.Index("total_ns")]; c.Unit != frame.Ns || c.Type != frame.Int {
		t.Errorf("total_ns is %+v", c)
	}
}

// TestRawTimes holds times of all kinds to DuckDB's own texts, those that no calendar has too.
func TestRawTimes(t *testing.T) {
	t.Parallel()
	w := readOnly(t)
	var exprs []string
	for _, kind := range []string{"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"} {
		for _, text := range []string{"infinity", "-infinity", "2025-01-02 03:04:05", "1700-01-01"} {
			exprs = append(exprs, fmt.Sprintf("'%s'::%s", text, kind))
		}
	}
	exprs = append(exprs, "'infinity'::TIMESTAMPTZ::TIMESTAMP", "DATE '0044-03-15 (BC)'", "DATE '0001-12-31 (BC)'", "DATE '5877642-06-25 (BC)'", "DATE '5881580-07-10'", "DATE '99999-01-01'",
		"TIMESTAMP '0044-03-15 (BC) 01:02:03.5'", "TIMESTAMP '294247-01-10 04:00:54.775806'", "TIMESTAMP '290309-12-22 (BC) 00:00:00'", "TIMESTAMP_NS '2262-04-11 23:47:16.854775806'",
		"'12:00:00'::TIMETZ", "'12:00:00.5+02:30'::TIMETZ", "TIME '23:59:59.999999'")
	for _, e := range exprs {
		f, err := queries.Raw(t.Context(), w, fmt.Sprintf("SELECT (%s) AS x, (%s)::VARCHAR AS said", e, e))
		if err != nil {
			t.Fatal(e, err)
		}
		want := f.Rows[0][1].(string)
		if strings.HasSuffix(e, "TIMETZ") {
			want = strings.TrimSuffix(want, ":00")
		}
		if got := f.Rows[0][0]; got != want {
			t.Errorf("%s is %v, DuckDB writes %s", e, got, want)
		}
	}
	for e, want := range map[string]string{
		"['infinity'::TIMESTAMP, '-infinity'::TIMESTAMP, '0044-03-15 (BC)'::TIMESTAMP]": `["infinity","-infinity","0044-03-15 (BC) 00:00:00"]`,
		"['infinity'::TIMESTAMP_NS, '2025-01-02'::TIMESTAMP_NS]":                        `["infinity","2025-01-02T00:00:00Z"]`,
		"{'a': 'nan'::DOUBLE, 'b': ['inf'::FLOAT, 0.5::FLOAT]}":                         `{"a":null,"b":[null,0.5]}`,
		"MAP {'b': '-inf'::DOUBLE, 'a': 1.5}":                                           `{"a":1.5,"b":null}`,
	} {
		f, err := queries.Raw(t.Context(), w, "SELECT "+e+" AS x")
		if err != nil {
			t.Fatal(e, err)
		}
		if got := f.Rows[0][0]; got != want {
			t.Errorf("%s is %v, want %s", e, got, want)
		}
	}
}
