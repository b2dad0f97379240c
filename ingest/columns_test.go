package ingest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/rows/rowstest"
	"prof/schema"
)

// TestColumns: the columns that tests of readers know of a table are those that the warehouse has.
func TestColumns(t *testing.T) {
	b := newBench(t)
	known := rowstest.Columns(t)
	var want []string
	for _, table := range slices.Sorted(maps.Keys(known)) {
		want = append(want, table+" "+strings.Join(known[table], ","))
	}
	got := b.rows(`SELECT table_name, string_agg(column_name, ',' ORDER BY column_index) FROM duckdb_columns() JOIN duckdb_tables() USING (table_oid, table_name)
		WHERE NOT duckdb_tables.internal AND duckdb_tables.schema_name = 'main' AND table_name IN ('` + strings.Join(slices.Collect(maps.Keys(known)), "', '") + `') GROUP BY 1 ORDER BY 1`)
	if got != strings.Join(want, "|") {
		t.Errorf("the warehouse has\n%s\nand the migrations\n%s", strings.ReplaceAll(got, "|", "\n"), strings.Join(want, "\n"))
	}
}

// TestKinds: a run with a source of any format can travel.
func TestKinds(t *testing.T) {
	for _, f := range ingest.Formats() {
		if f.Kind == "" || !slices.Contains(schema.Words("source", "kind"), f.Kind) {
			t.Errorf("the schema has no kind of source %q, as the format %s says", f.Kind, f.Name)
		}
	}
}
