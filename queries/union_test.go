package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// union makes one run of many made-up ones, so that their facts are derived once: what is of a case has ids, processes and GPUs of its own, and its
// stages are called stage/case, from 0.
type union struct {
	t      *testing.T
	w      *schema.Warehouse
	tables []string
	into   string // statements that copy the only run of the warehouse; %[1]d is what its ids are moved by, %[2]d the case
	cases  int
}

// caseIDs is how many ids a case has.
const caseIDs = 10_000

// newUnion makes a union of runs that have rows in these tables.
func newUnion(t *testing.T, w *schema.Warehouse, tables ...string) *union {
	t.Helper()
	u := &union{t: t, w: w, tables: tables}
	testkit.Exec(t, w, "ATTACH ':memory:' AS kept")
	columns := map[string][]string{}
	for _, r := range rowsOf(t, w, "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() ORDER BY table_name, column_index") {
		table, column, kind := r[0].(string), r[1].(string), r[2].(string)
		cell := column
		isID := (strings.HasSuffix(column, "_id") && column != "stream_id" || column == "pid") && (kind == "BIGINT" || kind == "INTEGER")
		switch {
		case column == "stage":
			cell = "stage || '/%[2]d'"
		case column == "uuid":
			cell = "uuid || '/%[2]d'"
		case column == "lineage":
			cell = "list_transform(lineage, lambda x: x + %[1]d)"
		case slices.Contains([]string{"device_id", "source_id", "launch_id"}, column): // 0 is one
			cell = column + " + %[1]d"
		case isID: // 0 is none
			cell = fmt.Sprintf("CASE WHEN %[1]s > 0 THEN %[1]s + %%[1]d ELSE %[1]s END", column)
		}
		columns[table] = append(columns[table], cell)
	}
	for _, table := range tables {
		testkit.Exec(t, w, fmt.Sprintf("CREATE TABLE kept.%[1]s AS FROM %[1]s LIMIT 0", table))
		u.into += fmt.Sprintf("INSERT INTO kept.%s SELECT %s FROM %[1]s;\n", table, strings.Join(columns[table], ", "))
	}
	return u
}

// add takes the rows of the warehouse's only run as those of the next case.
func (u *union) add() {
	u.t.Helper()
	testkit.Exec(u.t, u.w, fmt.Sprintf(u.into, u.cases*caseIDs, u.cases))
	u.cases++
}

// store puts the cases in place of the warehouse's rows, as one run.
func (u *union) store() {
	u.t.Helper()
	stmts := []string{"BEGIN"}
	for _, table := range u.tables {
		from := "kept." + table
		if table == "run" {
			from += " LIMIT 1"
		}
		stmts = append(stmts, "DELETE FROM "+table, fmt.Sprintf("INSERT INTO %s FROM %s", table, from))
	}
	testkit.Exec(u.t, u.w, strings.Join(append(stmts, "COMMIT", "DETACH kept"), ";\n"))
}

// caseOf returns the case that a stage of a union is of.
func caseOf(t *testing.T, stage any) (n int) {
	t.Helper()
	text := fmt.Sprint(stage)
	if _, err := fmt.Sscan(text[strings.LastIndex(text, "/")+1:], &n); err != nil {
		t.Fatalf("the stage %s is of no case", text)
	}
	return n
}
