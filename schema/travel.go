package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"prof/internal/file"
)

// Runs travel between warehouses as Parquet: of each table a file DIR/TABLE/run_id=ID/rows.parquet, the layout that other programs know from
// Hive. There is what was captured; what prof derives from it is derived again where the run arrives, so that both are of one program. Ids
// within a run come from the run's id, and stay what they are. The row of the table run is written last: without it there is no run.

// The files of a run say in their metadata which schema they are of, what the table holds, and what each column is.
const (
	schemaKey = "prof_schema"
	tableKey  = "prof_table"
)

// ParquetColumn and a column's name are the key of what the column holds.
const ParquetColumn = "prof_column_"

// ErrOtherSchema is wrapped by the error that a folder of runs is of another version's tables.
var ErrOtherSchema = errors.New("written by another version of prof")

// captured lists the tables that hold what was captured of runs, run last.
func captured(ctx context.Context, q querier) ([]string, error) {
	all, err := runTables(ctx, q)
	if err != nil {
		return nil, err
	}
	derived, err := texts(q.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE NOT internal AND starts_with(comment, ?)`, DocMark))
	return slices.DeleteFunc(all, func(t string) bool { return slices.Contains(derived, t) || slices.Contains(classified, t) }), err
}

// schemaNumber is the number of the last migration.
func schemaNumber() (string, error) {
	known, err := migrations(migrationFiles)
	if err != nil {
		return "", err
	}
	return strconv.Itoa(known[len(known)-1].version), nil
}

// runFile is where a folder has a run's rows of a table.
func runFile(dir, table, runID string) string {
	return filepath.Join(dir, table, "run_id="+runID, "rows.parquet")
}

// ExportRun writes what was captured of a run into a folder, in place of what the folder has of it. Tables without rows have no file. It gives
// the number of rows.
func (w *Warehouse) ExportRun(ctx context.Context, run Run, dir string) (rows int64, err error) {
	tables, err := captured(ctx, w.DB)
	if err != nil {
		return 0, err
	}
	number, err := schemaNumber()
	if err != nil {
		return 0, err
	}
	for _, t := range slices.Backward(tables) { // run first: an export that is killed leaves none
		if err := os.RemoveAll(filepath.Dir(runFile(dir, t, run.ID))); err != nil {
			return 0, err
		}
	}
	for _, t := range tables {
		n, err := w.exportTable(ctx, t, run.ID, runFile(dir, t, run.ID), number)
		if err != nil {
			return 0, fmt.Errorf("export the table %s of run %s: %w", t, run.Name, err)
		}
		rows += n
	}
	return rows, nil
}

// exportTable writes a run's rows of a table, in the order of their columns.
func (w *Warehouse) exportTable(ctx context.Context, table, runID, path, number string) (rows int64, err error) {
	var some bool
	if err := w.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE run_id = ?::UUID)`, runID).Scan(&some); err != nil || !some {
		return 0, err
	}
	about := map[string]string{schemaKey: number}
	docs, err := texts(w.DB.QueryContext(ctx, `SELECT ? || '=' || comment FROM duckdb_tables() WHERE table_name = ?
		UNION ALL SELECT ? || column_name || '=' || comment FROM duckdb_columns() WHERE table_name = ? AND column_name <> 'run_id' AND comment IS NOT NULL`, tableKey, table, ParquetColumn, table))
	if err != nil {
		return 0, err
	}
	for _, d := range docs {
		name, doc, _ := strings.Cut(d, "=")
		about[name] = doc
	}
	if err := file.MakeDir(filepath.Dir(path)); err != nil {
		return 0, err
	}
	return w.WriteParquet(ctx, `SELECT * EXCLUDE (run_id) FROM `+table+` WHERE run_id = `+Quote(runID)+`::UUID ORDER BY ALL`, path, about)
}

// WriteParquet writes the rows of a SELECT into a file, with a text for each key as metadata. It gives their number.
func (w *Warehouse) WriteParquet(ctx context.Context, stmt, path string, about map[string]string) (rows int64, err error) {
	var meta []string
	for _, key := range slices.Sorted(maps.Keys(about)) {
		meta = append(meta, `"`+strings.ReplaceAll(key, `"`, `""`)+`": `+Quote(about[key]))
	}
	err = w.DB.QueryRowContext(ctx, `COPY (`+stmt+`) TO `+Quote(path)+` (FORMAT parquet, COMPRESSION zstd, KV_METADATA {`+strings.Join(meta, ", ")+`})`).Scan(&rows)
	if err != nil {
		return 0, err
	}
	return rows, file.AdoptOne(path)
}

// ImportRuns stores the runs of a folder that the warehouse does not have, all or none of them. as is another name for them where there is one
// run; "" keeps the names. It gives those that it stored, and those that were there. Errors wrap ErrOtherSchema or ErrNameTaken.
func (w *Warehouse) ImportRuns(ctx context.Context, dir, as string) (made, there []Run, err error) {
	ids, err := RunsIn(dir)
	if err != nil {
		return nil, nil, err
	}
	if as != "" && len(ids) > 1 {
		return nil, nil, fmt.Errorf("%s has %d runs: one name cannot be that of all of them", dir, len(ids))
	}
	before, err := w.Runs(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer tx.Rollback()
	var stored []string
	for _, id := range ids {
		if i := slices.IndexFunc(before, func(r Run) bool { return r.ID == id }); i >= 0 {
			there = append(there, before[i])
			continue
		}
		if i := slices.IndexFunc(before, func(r Run) bool { return IDBase(r.ID) == IDBase(id) }); i >= 0 {
			return nil, nil, fmt.Errorf("import run %s of %s: its numbers are those of run %s here; store one of the two anew with `prof ingest`", id, dir, before[i].Name)
		}
		if err := w.importRun(ctx, tx, dir, id, as); err != nil {
			return nil, nil, fmt.Errorf("import run %s of %s: %w", id, dir, err)
		}
		stored = append(stored, id)
	}
	if len(stored) == 0 {
		return nil, there, nil
	}
	if err := w.Commit(ctx, tx.Commit); err != nil {
		return nil, nil, err
	}
	now, err := w.Runs(ctx)
	made = slices.DeleteFunc(now, func(r Run) bool { return !slices.Contains(stored, r.ID) })
	return made, there, err
}

// RunsIn lists the ids of the runs in a folder that ExportRun wrote; it is an error if there is none.
func RunsIn(dir string) (ids []string, err error) {
	found, err := os.ReadDir(filepath.Join(dir, "run"))
	for _, e := range found {
		id, ok := strings.CutPrefix(e.Name(), "run_id=")
		if _, bad := uuid.Parse(id); ok && bad == nil {
			ids = append(ids, id)
		}
	}
	if err == nil && len(ids) == 0 || errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no runs: a folder of `prof export RUN --to parquet --out DIR` is expected", dir)
	}
	return ids, err
}

// importRun stores a run and derives its facts.
func (w *Warehouse) importRun(ctx context.Context, tx *sql.Tx, dir, id, as string) error {
	if err := checkSchema(ctx, tx, runFile(dir, "run", id)); err != nil {
		return err
	}
	tables, err := captured(ctx, tx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		path := runFile(dir, t, id)
		if err := file.Check(path); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO `+t+` BY NAME SELECT `+Quote(id)+`::UUID AS run_id, * FROM read_parquet(`+Quote(globbed(path))+`, hive_partitioning = false)`); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := checkIDs(ctx, tx, t, id); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if as != "" {
		if _, err := tx.ExecContext(ctx, `UPDATE run SET name = ? WHERE run_id = ?::UUID`, as, id); err != nil {
			return err
		}
	}
	var name string
	var namesakes int
	err = tx.QueryRowContext(ctx, `SELECT r.name, (SELECT count(*) FROM run o WHERE o.name = r.name) FROM run r WHERE r.run_id = ?::UUID`, id).Scan(&name, &namesakes)
	if err != nil {
		return fmt.Errorf("%s has no row: %w", runFile(dir, "run", id), err)
	}
	if namesakes > 1 {
		return fmt.Errorf("%w: %q; give it another one with --run", ErrNameTaken, name)
	}
	return Derive(ctx, tx, w.Facts, id)
}

// checkIDs says whether a run's ids in a table are its own: those of another run would change that one's answers.
func checkIDs(ctx context.Context, q *sql.Tx, table, runID string) error {
	rows, err := texts(q.QueryContext(ctx, `SELECT column_name || ' ' || data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index`, table))
	if err != nil {
		return err
	}
	var wrong []string
	for _, r := range rows {
		column, kind, _ := strings.Cut(r, " ")
		switch of := fmt.Sprintf(" NOT IN (0, %d)", IDBase(runID)>>idBits); {
		case !IsID(table, column):
		case strings.HasSuffix(kind, "[]"):
			wrong = append(wrong, fmt.Sprintf("len(list_filter(%s, lambda x: x >> %d%s)) > 0", column, idBits, of))
		default:
			wrong = append(wrong, fmt.Sprintf("%s >> %d%s", column, idBits, of))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	var n int64
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE run_id = ?::UUID AND (`+strings.Join(wrong, " OR ")+`)`, runID).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d rows have ids of other runs", n)
	}
	return err
}

// checkSchema says whether a file's table is as it is in this program.
func checkSchema(ctx context.Context, q querier, path string) error {
	want, err := schemaNumber()
	if err != nil {
		return err
	}
	got, err := texts(q.QueryContext(ctx, `SELECT decode(value) FROM parquet_kv_metadata(`+Quote(globbed(path))+`) WHERE decode(key) = ?`, schemaKey))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(got) != 1 || got[0] != want {
		return fmt.Errorf("%w: its tables are of schema %s, and those here of %s; export it again with the prof that you import with, which brings a warehouse up to date when it opens it",
			ErrOtherSchema, strings.Join(append(got, "unknown")[:1], ""), want)
	}
	return nil
}

// globbed is a path as a pattern of DuckDB that only the path itself matches.
func globbed(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}
