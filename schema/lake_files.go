package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// LakeFiles is a table of a lake as an engine reads it that is not DuckDB.
type LakeFiles struct {
	Name    string
	Columns [][2]string // name and type
	Files   []string    // the Parquet files with its rows
	Rows    int64       // that they have together
}

// ErrUnsettled is wrapped by the error that the Parquet files of a lake are not all of its rows, or more than them.
var ErrUnsettled = errors.New("the Parquet files alone are not the rows of the lake")

// LakeFiles says which Parquet files hold the rows of tables of the lake, as it was when it was opened. Rows that are still in the catalog, and files with deleted rows, are an error:
// DuckDB knows of both, other engines do not.
func (w *Warehouse) LakeFiles(ctx context.Context, names []string) ([]LakeFiles, error) {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	now, err := texts(conn.QueryContext(ctx, "SELECT id::VARCHAR FROM "+lakeName+".current_snapshot()"))
	if err != nil {
		return nil, err
	}
	stored, err := lakeStored(ctx, conn, now[0])
	if err != nil {
		return nil, err
	}
	var out []LakeFiles
	var unsettled []string
	for _, name := range names {
		t := LakeFiles{Name: name}
		columns, err := texts(conn.QueryContext(ctx, `SELECT column_name || ' ' || data_type FROM duckdb_columns() WHERE database_name = ? AND table_name = ? ORDER BY column_index`, lakeName, name))
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			column, kind, _ := strings.Cut(c, " ")
			t.Columns = append(t.Columns, [2]string{column, kind})
		}
		var deleted, locked int
		t.Files, err = texts(conn.QueryContext(ctx, `SELECT data_file FROM ducklake_list_files(?, ?) ORDER BY data_file`, lakeName, name))
		if err != nil {
			return nil, err
		}
		if err := conn.QueryRowContext(ctx, `SELECT count(delete_file), count(data_file_encryption_key) FROM ducklake_list_files(?, ?)`, lakeName, name).Scan(&deleted, &locked); err != nil {
			return nil, err
		}
		if locked > 0 {
			return nil, fmt.Errorf("the files of table %s are encrypted: other engines cannot read them", name)
		}
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM `+lakeName+`.main.`+name).Scan(&t.Rows); err != nil {
			return nil, err
		}
		kept, err := lakeInlined(ctx, conn, now[0], name)
		if err != nil {
			return nil, err
		}
		switch {
		case kept > 0:
			unsettled = append(unsettled, fmt.Sprintf("%s has %d rows in the catalog", name, kept))
		case deleted > 0 || t.Rows != stored[name]:
			unsettled = append(unsettled, fmt.Sprintf("%s has files with deleted rows", name))
		}
		out = append(out, t)
	}
	if len(unsettled) > 0 {
		more := ""
		if n := len(unsettled) - 3; n > 0 {
			unsettled, more = unsettled[:3], fmt.Sprintf(", and so it is with %d other tables", n)
		}
		return nil, fmt.Errorf("%w: %s%s; run `prof lake maintain` first", ErrUnsettled, strings.Join(unsettled, ", "), more)
	}
	return out, nil
}

// lakeSeen is the condition on a row of the catalog that a snapshot sees it.
func lakeSeen(alias, snapshot string) string {
	return fmt.Sprintf("%[1]s.begin_snapshot <= %[2]s AND (%[1]s.end_snapshot IS NULL OR %[1]s.end_snapshot > %[2]s)", alias, snapshot)
}

// lakeStored counts the rows that the files of each table have, deleted ones too.
func lakeStored(ctx context.Context, conn *sql.Conn, snapshot string) (map[string]int64, error) {
	found, err := texts(conn.QueryContext(ctx, fmt.Sprintf(`SELECT t.table_name || ' ' || sum(f.record_count)::BIGINT FROM %s.ducklake_data_file f JOIN %[1]s.ducklake_table t ON t.table_id = f.table_id WHERE %[2]s AND %[3]s GROUP BY t.table_name`,
		lakeMeta, lakeSeen("f", snapshot), lakeSeen("t", snapshot))))
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, f := range found {
		name, n, _ := strings.Cut(f, " ")
		if out[name], err = strconv.ParseInt(n, 10, 64); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lakeInlined counts the rows of a table that are in the catalog, in a table for each form that it had.
func lakeInlined(ctx context.Context, conn *sql.Conn, snapshot, table string) (n int64, err error) {
	kept, err := texts(conn.QueryContext(ctx, fmt.Sprintf(`SELECT DISTINCT i.table_name FROM %s.ducklake_inlined_data_tables i JOIN %[1]s.ducklake_table t ON t.table_id = i.table_id WHERE t.table_name = ? AND %[2]s`, lakeMeta, lakeSeen("t", snapshot)), table))
	if err != nil {
		return 0, err
	}
	slices.Sort(kept)
	for _, k := range kept {
		var rows int64
		if err := conn.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*) FROM %s.%s x WHERE %s`, lakeMeta, k, lakeSeen("x", snapshot))).Scan(&rows); err != nil {
			return 0, err
		}
		n += rows
	}
	return n, nil
}
