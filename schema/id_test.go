package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// TestIDs gives every column of ids a number within the run, as warehouses had before ids were the runs' own, and holds that the
// migration adds to each what IDBase tells.
func TestIDs(t *testing.T) {
	home := fresh(t)
	w := open(t, home, true, nil)
	for _, r := range [][2]string{{idA, "a"}, {idB, "b"}, {idC, "c"}} {
		testkit.Exec(t, w, `INSERT INTO run VALUES (?::UUID, ?, now()::TIMESTAMP, NULL, NULL, NULL, 'dev')`, r[0], r[1])
	}
	fill(t, w, idA, idB, idC)
	testkit.Exec(t, w, `UPDATE kernel_name SET kernel_name_id = -7; UPDATE kernel SET kernel_name_id = -7, op_id = 0, path_id = NULL`)
	testkit.Exec(t, w, `INSERT INTO kernel_name SELECT run_id, 5, 'another', 'another', 0 FROM kernel_name`)
	testkit.Exec(t, w, `UPDATE model SET dtype = NULL; ALTER TABLE kernel_name DROP COLUMN name_hash; DELETE FROM schema_version WHERE version = 12`)
	done(t, w)

	w = open(t, home, true, nil)
	defer done(t, w)
	columns, queries, wants := 0, []string(nil), map[string][]string{}
	for _, row := range testkit.Rows(t, w, `SELECT table_name, column_name FROM duckdb_columns() WHERE table_name IN (SELECT table_name FROM duckdb_tables() WHERE NOT starts_with(comment, 'prof: ')) ORDER BY ALL`) {
		table, column, _ := strings.Cut(row, "|")
		if !schema.IsID(table, column) || slices.Contains([]string{"kernel_class", "kernel_spelling", "path_stage", "kernel_shape", "api_sum", "api_duration", "reported_sum", "ncu_instance", "captured_launch", "python_sample", "unseen_work", "unmet_launch", "work_fault"}, table) || column == "kernel_shape_id" || column == "stack_id" && slices.Contains([]string{"kernel", "memop", "graph_launch"}, table) { // these are made anew, as facts are, or came later
			continue
		}
		columns++
		for _, run := range []string{idA, idB, idC} {
			base, number := schema.IDBase(run), 1
			if column == "launch_id" {
				number = 2 // they were counted from 0
			}
			want := []string{fmt.Sprint(base + int64(number))}
			switch {
			case column == "lineage":
				want[0] = "[" + want[0] + "]"
			case table == "kernel" && column == "op_id":
				want[0] = "0"
			case table == "kernel" && column == "path_id":
				want[0] = "~"
			case table == "kernel_name":
				want = append(want, fmt.Sprint(base+2))
			case strings.HasSuffix(column, "kernel_name_id") && table != "kernel":
				want[0] = "1" // of no name
			}
			of := fmt.Sprint(table, " ", column, " ", run)
			wants[of] = want
			queries = append(queries, fmt.Sprintf(`SELECT '%s' AS of, coalesce(%s::VARCHAR, '~') AS id FROM %s WHERE run_id = '%s'`, of, column, table, run))
		}
	}
	got := map[string][]string{}
	for _, row := range testkit.Rows(t, w, strings.Join(queries, " UNION ALL ")+` ORDER BY ALL`) {
		of, id, _ := strings.Cut(row, "|")
		got[of] = append(got[of], id)
	}
	for of, want := range wants {
		same(t, of, got[of], want)
	}
	if columns < 55 {
		t.Errorf("only %d columns hold ids", columns)
	}
	same(t, "names", testkit.Rows(t, w, `SELECT kernel_name_id & 134217727, name_hash FROM kernel_name ORDER BY ALL`), []string{"1|-7", "1|-7", "1|-7", "2|5", "2|5", "2|5"})
}

// TestIDBase pins bases: warehouses hold them.
func TestIDBase(t *testing.T) {
	if base := schema.IDBase("01900000-0000-7000-8000-00000000000a"); base != 3979256676485169152 {
		t.Errorf("the base is %d", base)
	}
	if n := schema.IDNumber(schema.IDBase(idB) + schema.MaxIDs); n != schema.MaxIDs {
		t.Errorf("the number is %d", n)
	}
}
