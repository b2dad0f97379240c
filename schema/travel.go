package schema

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"prof/internal/file"
	"prof/schema/terms"
)

// Runs travel between warehouses as Parquet: of each table a file DIR/TABLE/run_id=ID/rows.parquet, the layout that other programs know from
// Hive. There is what was captured; what prof derives from it is derived again where the run arrives, so that both are of one program. Ids
// within a run come from the run's id, and stay what they are. The row of the table run is written last, with how many rows each table has: without it
// there is no run, and a folder that was copied in part is known by it.

// The files of a run say in their metadata which schema they are of, what the table holds, and what each column is.
const (
	schemaKey = "prof_schema"
	tableKey  = "prof_table"
	rowsKey   = "prof_rows" // of the table run: JSON of the rows that each table has
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
	derived, err := texts(q.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND starts_with(comment, ?)`, DocMark))
	return slices.DeleteFunc(all, func(t string) bool { return slices.Contains(derived, t) || slices.Contains(classified, t) }), err
}

// folded is the schema of which the last prof before the first release exports: its 38 migrations made the tables of the first one now.
const folded = "38"

// schemaNumber is the number of the last migration.
func schemaNumber() (string, error) {
	known, err := knownMigrations()
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
	counts := map[string]int64{}
	for _, t := range tables {
		about := map[string]string{schemaKey: number}
		if t == "run" {
			text, err := json.Marshal(counts)
			if err != nil {
				return 0, err
			}
			about[rowsKey] = string(text)
		}
		n, err := w.exportTable(ctx, t, run.ID, runFile(dir, t, run.ID), about)
		if err != nil {
			return 0, fmt.Errorf("export the table %s of run %s: %w", t, run.Name, err)
		}
		if n > 0 {
			counts[t] = n
		}
		rows += n
	}
	return rows, nil
}

// exportTable writes a run's rows of a table, in the order of their columns.
func (w *Warehouse) exportTable(ctx context.Context, table, runID, path string, about map[string]string) (rows int64, err error) {
	var some bool
	if err := w.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE run_id = ?::UUID)`, runID).Scan(&some); err != nil || !some {
		return 0, err
	}
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

// WriteParquet writes the rows of a SELECT into a file, or puts a new one in the place of an older one, with a text for each key as metadata. It
// gives the number of rows.
func (w *Warehouse) WriteParquet(ctx context.Context, stmt, path string, about map[string]string) (rows int64, err error) {
	if path, err = filepath.Abs(path); err != nil { // DuckDB takes s3://... for an address
		return 0, err
	}
	if err := file.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var meta []string
	for _, key := range slices.Sorted(maps.Keys(about)) {
		meta = append(meta, `"`+strings.ReplaceAll(key, `"`, `""`)+`": `+Quote(about[key]))
	}
	err = file.ReplaceNamed(path, func(name string) error {
		return w.DB.QueryRowContext(ctx, `COPY (`+stmt+`) TO `+Quote(name)+` (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, KV_METADATA {`+strings.Join(meta, ", ")+`})`).Scan(&rows)
	})
	return rows, err
}

// ImportOptions say how runs are imported.
type ImportOptions struct {
	As    string            // another name for the run where only one is stored; "" keeps the names
	Names map[string]string // under which runs came, by id; nil where nothing lists them
}

// ImportRuns stores the runs of a folder that the warehouse does not have, all or none of them. It gives those that it stored, and those that were
// there. Errors wrap ErrOtherSchema or ErrNameTaken.
func (w *Warehouse) ImportRuns(ctx context.Context, dir string, o ImportOptions) (made, there []Run, err error) {
	ids, err := RunsIn(dir)
	if err != nil {
		return nil, nil, err
	}
	before, err := w.Runs(ctx)
	if err != nil {
		return nil, nil, err
	}
	there = slices.DeleteFunc(slices.Clone(before), func(r Run) bool { return !slices.Contains(ids, r.ID) })
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.ContainsFunc(before, func(r Run) bool { return r.ID == id }) })
	switch {
	case len(ids) == 0:
		return nil, there, nil
	case o.As != "" && len(ids) > 1:
		return nil, nil, fmt.Errorf("%d runs are not here: one name cannot be that of all of them", len(ids))
	}
	tables, err := captured(ctx, w.DB)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		for _, r := range before {
			if err := checkNumbers(id, r.ID, r.Name); err != nil {
				return nil, nil, fmt.Errorf("import run %s: %w", id, err)
			}
		}
	}
	err = w.Again(ctx, func() error { return w.importRuns(ctx, tables, dir, ids, o) })
	if err != nil {
		return nil, nil, err
	}
	now, err := w.Runs(ctx)
	made = slices.DeleteFunc(now, func(r Run) bool { return !slices.Contains(ids, r.ID) })
	if err == nil {
		err = w.Publish(ctx, made...)
	}
	return made, there, err
}

func (w *Warehouse) importRuns(ctx context.Context, tables []string, dir string, ids []string, o ImportOptions) error {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, w.Budget.AllThreads()); err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.importRun(ctx, tx, tables, dir, id, o); err != nil {
			return fmt.Errorf("import run %s: %w", id, err)
		}
	}
	return w.Commit(ctx, tx.Commit)
}

// RunsIn lists the ids of the runs in a folder that ExportRun wrote; it is an error if there is none.
func RunsIn(dir string) (ids []string, err error) {
	found, err := os.ReadDir(filepath.Join(dir, "run"))
	for _, e := range found {
		id, is := strings.CutPrefix(e.Name(), "run_id=")
		known, bad := uuid.Parse(id)
		if _, missing := os.Lstat(runFile(dir, "run", id)); is && bad == nil && known.String() == id && missing == nil {
			ids = append(ids, id)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s has no runs: a file of `prof pack RUN`, or a folder of `prof export RUN --to parquet --out DIR`, is expected", dir)
	}
	return ids, nil
}

// checkNumbers reports whether the ids of a run that comes are others than those of a run that is here.
func checkNumbers(id, here, name string) error {
	if IDBase(id) == IDBase(here) {
		return fmt.Errorf("its numbers are those of run %s here; store one of the two anew with `prof ingest`", name)
	}
	return nil
}

// importRun stores a run and derives its facts.
func (w *Warehouse) importRun(ctx context.Context, tx *sql.Tx, tables []string, dir, id string, o ImportOptions) error {
	counts, isFolded, err := checkHead(ctx, tx, runFile(dir, "run", id))
	if err != nil {
		return err
	}
	columns, err := columnsOf(ctx, tx, tables)
	if err != nil {
		return err
	}
	if err := checkColumns(ctx, tx, dir, id, counts, columns, isFolded); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	from := arrival{id: id, tables: tables, columns: columns, counts: counts, rows: func(table string) (string, error) {
		path := runFile(dir, table, id)
		err := file.Check(path)
		if errors.Is(err, fs.ErrNotExist) && counts[table] == 0 {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("the folder is not whole: %w", err)
		}
		return `SELECT ` + Quote(id) + `::UUID AS run_id, * FROM read_parquet(` + Quote(globbed(path)) + `, hive_partitioning = false)`, nil
	}}
	if _, err := from.store(ctx, tx); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if o.Names != nil {
		names, err := texts(tx.QueryContext(ctx, `SELECT name FROM run WHERE run_id = ?::UUID`, id))
		if err != nil {
			return err
		}
		if is := strings.Join(names, ""); is != o.Names[id] {
			return fmt.Errorf("it is listed as run %q, and is run %q", o.Names[id], is)
		}
	}
	if o.As != "" {
		if _, err := tx.ExecContext(ctx, `UPDATE run SET name = ? WHERE run_id = ?::UUID`, o.As, id); err != nil {
			return err
		}
	}
	if err := checkImported(ctx, tx, id); err != nil {
		return err
	}
	if err := addFaults(ctx, tx, id); err != nil {
		return err
	}
	return Derive(ctx, tx, w.Facts, id)
}

// arrival is a run that comes into the warehouse, out of a folder or a lake.
type arrival struct {
	id      string
	tables  []string                                       // those that come
	facts   []string                                       // those of them that prof derives
	columns map[string][]column                            // of them
	counts  map[string]int64                               // rows that each is to have
	rows    func(table string) (selects string, err error) // selects is "" where a table is not there and has no rows
	masking *masking                                       // nil until it is known
}

// store writes the rows of each table, and gives how many they are. They must be such as an ingest stores, and texts are
// masked as an ingest does.
func (a arrival) store(ctx context.Context, q SQL) (rows int64, err error) {
	if a.masking == nil {
		if a.masking, err = a.findSecrets(ctx, q); err != nil {
			return 0, err
		}
	}
	s := sound{runID: a.id, columns: a.columns, facts: a.facts, most: map[[2]string]int64{}, owners: map[string][2]int64{}}
	for _, t := range a.tables {
		selects, err := a.rows(t)
		if err == nil && selects != "" {
			selects, err = a.masking.apply(ctx, q, a.columns[t], t, selects)
		}
		if err == nil && selects != "" {
			err = insertRows(ctx, q, t, selects, a.counts[t])
		}
		if err == nil && selects != "" {
			err = s.checkRows(ctx, q, t)
		}
		if err != nil {
			return 0, fmt.Errorf("table %s: %w", t, err)
		}
		rows += a.counts[t]
	}
	if err := a.masking.forget(ctx, q); err != nil {
		return 0, err
	}
	return rows, s.checkTies(ctx, q, a.tables, a.counts)
}

// insertRows writes what a statement selects into a table: so many rows, or it is an error.
func insertRows(ctx context.Context, q Execer, table, selects string, want int64) error {
	done, err := q.ExecContext(ctx, `INSERT INTO `+table+` BY NAME `+selects)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != want {
		return errors.Join(err, fmt.Errorf("it has %d rows, not the %d that were exported", n, want))
	}
	return nil
}

// checkImported reports whether a run's name can be one and is free, and whether its captures are in no other run.
func checkImported(ctx context.Context, tx SQL, id string) error {
	names, err := texts(tx.QueryContext(ctx, `SELECT o.name FROM run r JOIN run o ON o.name = r.name WHERE r.run_id = ?::UUID`, id))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return ErrUnknownRun
	}
	name := names[0]
	if err := CheckRunName(name); err != nil {
		return fmt.Errorf("%w; give it another one with --run", err)
	}
	if len(names) > 1 {
		return fmt.Errorf("%w: %q; give it another one with --run, by itself in a folder", ErrNameTaken, name)
	}
	others, err := texts(tx.QueryContext(ctx, `SELECT r.name FROM source s JOIN source o ON o.sha256 = s.sha256 AND o.kind = s.kind AND o.run_id <> s.run_id JOIN run r ON r.run_id = o.run_id
		WHERE s.run_id = ?::UUID AND s.kind IN (`+capturedKinds()+`) ORDER BY r.name LIMIT 1`, id))
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("captures of run %s are already in run %s", name, others[0])
	}
	return err
}

// capturedKinds are the kinds of sources that are captures, as a list of SQL.
func capturedKinds() string { return terms.Quoted(terms.Kinds(terms.Source.IsProfiler)) }

// checkColumns reports whether the files of a run have the columns of the tables. Those of before the first release may lack some.
func checkColumns(ctx context.Context, q querier, dir, id string, counts map[string]int64, columns map[string][]column, isFolded bool) error {
	var files []string
	of := map[string]string{} // tables of files
	for t, n := range counts {
		path := runFile(dir, t, id)
		if columns[t] != nil && n > 0 && file.Check(path) == nil {
			files, of[path] = append(files, Quote(globbed(path))), t
		}
	}
	rows, err := texts(q.QueryContext(ctx, `SELECT concat_ws(chr(0), file_name, coalesce(num_children, 0), name) FROM parquet_schema([`+strings.Join(files, ", ")+`])`))
	if err != nil {
		for path, t := range of {
			if strings.Contains(err.Error(), path) {
				err = fmt.Errorf("table %s: %w", t, err)
			}
		}
		return err
	}
	has := map[string][]string{}
	for i := 0; i < len(rows); {
		f := strings.SplitN(rows[i], "\x00", 3)
		columns, err := strconv.Atoi(f[1])
		if err != nil {
			return err
		}
		for i++; columns > 0 && i < len(rows); columns-- { // of the root of a file
			name := strings.SplitN(rows[i], "\x00", 3)
			has[of[f[0]]] = append(has[of[f[0]]], name[2])
			for below := 1; below > 0 && i < len(rows); i++ { // a list has what it consists of below it
				n, err := strconv.Atoi(strings.SplitN(rows[i], "\x00", 3)[1])
				if err != nil {
					return err
				}
				below += n - 1
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(has)) {
		for _, c := range columns[t] {
			if !slices.Contains(has[t], c.name) && c.name != "run_id" && !isFolded {
				return fmt.Errorf("table %s: it lacks the column %s"+changed, t, c.name)
			}
		}
		for _, name := range has[t] {
			if !slices.ContainsFunc(columns[t], func(c column) bool { return c.name == name }) {
				return fmt.Errorf("table %s: it has a column %q, which the table does not have"+changed, t, name)
			}
		}
	}
	return nil
}

// checkHead reads how many rows each table of a run has from the file of the table run, and reports whether the tables are as they are in this
// program, or were so before the first release.
func checkHead(ctx context.Context, q querier, path string) (counts map[string]int64, isFolded bool, err error) {
	if err := file.Check(path); err != nil {
		return nil, false, err
	}
	want, err := schemaNumber()
	if err != nil {
		return nil, false, err
	}
	meta, err := texts(q.QueryContext(ctx, `SELECT decode(key) || '=' || decode(value) FROM parquet_kv_metadata(`+Quote(globbed(path))+`) WHERE decode(key) IN (?, ?)`, schemaKey, rowsKey))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	got := "unknown"
	for _, m := range meta {
		switch key, value, _ := strings.Cut(m, "="); key {
		case schemaKey:
			got = value
		case rowsKey:
			if err := json.Unmarshal([]byte(value), &counts); err != nil {
				return nil, false, fmt.Errorf("%s: %s: %w", path, rowsKey, err)
			}
		}
	}
	if isFolded = got == folded && want == "1"; got != want && !isFolded {
		return nil, false, fmt.Errorf("%w: its tables are of schema %s, and those here of %s; export it again with the prof that you import with, or, if that refuses the warehouse, ingest the captures again", ErrOtherSchema, got, want)
	}
	if counts == nil {
		return nil, false, fmt.Errorf("%s does not say how many rows the tables have", path)
	}
	counts["run"] = 1
	return counts, isFolded, nil
}

// globbed is a path as a pattern of DuckDB that only the path itself matches.
func globbed(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}
