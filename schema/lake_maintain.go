package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// LakeStatus is what a lake consists of.
type LakeStatus struct {
	Catalog, DataPath string
	Version           string // of DuckLake's format
	Runs              int64
	Tables            []LakeTable // those that have any rows, largest first
	Snapshots         int64
	OldestAt          time.Time // of the oldest snapshot that is kept
	UnusedFiles       int64     // that no kept snapshot has, and maintain will delete
}

// LakeTable is what a table of a lake takes.
type LakeTable struct {
	Name                     string
	Files, Bytes             int64
	DeleteFiles, DeleteBytes int64
	Inlined                  int64 // rows in the catalog, not in a file yet
}

// withAttached does something with a connection that has the lake of a home and no other warehouse.
func withAttached(ctx context.Context, l *Lake, how string, do func(w *Warehouse, conn *sql.Conn) error) error {
	db, err := connect(ctx, "", "READ_WRITE", "", Options{})
	if err != nil {
		return err
	}
	w := &Warehouse{DB: db, Home: Home{Lake: l}}
	defer db.Close()
	return w.withLake(ctx, l, how, func(conn *sql.Conn) error { return do(w, conn) })
}

// Status returns what the lake consists of.
func (l *Lake) Status(ctx context.Context) (s LakeStatus, err error) {
	s.Catalog = l.Catalog
	return s, withAttached(ctx, l, toRead, func(_ *Warehouse, conn *sql.Conn) error { return s.read(ctx, conn) })
}

func (s *LakeStatus) read(ctx context.Context, conn *sql.Conn) error {
	var oldest sql.NullTime
	err := conn.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM lake.main.run), (SELECT value FROM ducklake_options('lake') WHERE option_name = 'data_path'),
		(SELECT value FROM ducklake_options('lake') WHERE option_name = 'version'), (SELECT count(*) FROM ducklake_snapshots('lake')), (SELECT min(snapshot_time) FROM ducklake_snapshots('lake')),
		(SELECT count(*) FROM `+lakeMeta+`.ducklake_files_scheduled_for_deletion)`).Scan(&s.Runs, &s.DataPath, &s.Version, &s.Snapshots, &oldest, &s.UnusedFiles)
	if err != nil && strings.Contains(err.Error(), "Table with name run does not exist") {
		err = fmt.Errorf("%w: it has no tables of prof: `prof lake init` makes them", ErrNoLake)
	}
	if err != nil {
		return err
	}
	s.OldestAt = oldest.Time
	rows, err := conn.QueryContext(ctx, `SELECT t.table_name, t.file_count, t.file_size_bytes, t.delete_file_count, t.delete_file_size_bytes, coalesce(i.tables, '')
		FROM ducklake_table_info('lake') t LEFT JOIN (SELECT table_id, string_agg(table_name, ' ' ORDER BY table_name) AS tables FROM `+lakeMeta+`.ducklake_inlined_data_tables GROUP BY table_id) i ON i.table_id = t.table_id
		ORDER BY t.file_size_bytes DESC, t.table_name`)
	if err != nil {
		return err
	}
	defer rows.Close()
	inlinedIn := map[int]string{}
	for rows.Next() {
		var t LakeTable
		var in string
		if err := rows.Scan(&t.Name, &t.Files, &t.Bytes, &t.DeleteFiles, &t.DeleteBytes, &in); err != nil {
			return err
		}
		inlinedIn[len(s.Tables)] = in
		s.Tables = append(s.Tables, t)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var parts []string
	for i, in := range inlinedIn {
		for name := range strings.FieldsSeq(in) {
			parts = append(parts, fmt.Sprintf("SELECT %d AS i, count(*) AS n FROM %s.%s WHERE end_snapshot IS NULL", i, lakeMeta, name))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	counts, err := conn.QueryContext(ctx, "SELECT i, sum(n)::BIGINT FROM ("+strings.Join(parts, " UNION ALL ")+") GROUP BY i")
	if err != nil {
		return err
	}
	defer counts.Close()
	for counts.Next() {
		var at int
		var n int64
		if err := counts.Scan(&at, &n); err != nil {
			return err
		}
		s.Tables[at].Inlined = n
	}
	return counts.Err()
}

// MaintainOptions say how a lake is maintained.
type MaintainOptions struct {
	Keep   time.Duration // how long snapshots, and files that no snapshot has, are kept: readers that began before may need them
	DryRun bool
	Talk   func(step string) // before each step; may be nil
}

// Maintained is what a step did, or would do.
type Maintained struct {
	Step  string
	Count int64
	Unit  string // of Count
}

// leastKeep is the shortest time that files are kept: a reader sees the lake as it was when it began.
const leastKeep = time.Hour

// Maintain turns many small files into few large ones, and deletes what no reader needs. Writers and readers need not wait for it.
func (l *Lake) Maintain(ctx context.Context, o MaintainOptions) (done []Maintained, err error) {
	if o.Keep < leastKeep {
		return nil, fmt.Errorf("keep %s: readers that began before need what they began with: want at least %s", o.Keep, leastKeep)
	}
	return done, withAttached(ctx, l, toChange, func(w *Warehouse, conn *sql.Conn) error {
		if o.DryRun {
			var s LakeStatus
			if err := s.read(ctx, conn); err != nil {
				return err
			}
			done = s.planned()
		} else {
			release, err := w.lockLake(ctx, l, 0, "maintain")
			if err != nil {
				return err
			}
			defer release()
			if done, err = rewrite(ctx, w, conn, o); err != nil {
				return err
			}
		}
		more, err := expire(ctx, conn, o)
		done = append(done, more...)
		return err
	})
}

// planned are the steps of rewrite, as far as they can be known before.
func (s LakeStatus) planned() []Maintained {
	var inlined, deletes, small int64
	for _, t := range s.Tables {
		inlined, deletes = inlined+t.Inlined, deletes+t.DeleteFiles
		if t.Files > 1 {
			small += t.Files
		}
	}
	return []Maintained{{"flush", inlined, "rows of the catalog go into files"}, {"rewrite", deletes, "files with deleted rows are written anew"}, {"merge", small, "files are looked at, and small ones merged"}}
}

// rewrite writes what is small or partly deleted anew.
//
// All tables are flushed as branches of one plan, and each branch appends to a list of DuckLake's transaction that no lock guards (MarkInlinedDataForDeletion in DuckLake 1.5.5):
// two threads crash there, now and then. What the catalog has of rows is small enough for one.
func rewrite(ctx context.Context, w *Warehouse, conn *sql.Conn, o MaintainOptions) (done []Maintained, err error) {
	for _, step := range []struct{ name, threads, unit, call, count string }{
		{"flush", "SET threads = 1", "rows of the catalog went into files", "ducklake_flush_inlined_data('lake')", "sum(rows_flushed)"},
		{"rewrite", w.Budget.AllThreads(), "files with deleted rows were written anew", "ducklake_rewrite_data_files('lake', delete_threshold => 0.0)", "sum(files_processed)"},
		{"merge", w.Budget.AllThreads(), "small files were merged", "ducklake_merge_adjacent_files('lake')", "sum(files_processed)"},
	} {
		if o.Talk != nil {
			o.Talk(step.name)
		}
		if _, err := conn.ExecContext(ctx, step.threads); err != nil {
			return done, fmt.Errorf("%s: %w", step.name, err)
		}
		var n sql.NullInt64
		err := again(ctx, func() error {
			return w.Transact(ctx, conn, func() error {
				return conn.QueryRowContext(ctx, "SELECT ("+step.count+")::BIGINT FROM "+step.call).Scan(&n)
			})
		})
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.name, err)
		}
		done = append(done, Maintained{step.name, n.Int64, step.unit})
	}
	return done, nil
}

// expire forgets old snapshots and deletes what only they had, and what writers that were killed left.
func expire(ctx context.Context, conn *sql.Conn, o MaintainOptions) (done []Maintained, err error) {
	older := fmt.Sprintf("older_than => now() - INTERVAL '%s seconds', dry_run => %t", strconv.FormatInt(int64(o.Keep/time.Second), 10), o.DryRun)
	for _, step := range []struct{ name, unit, call string }{
		{"expire", "snapshots forgotten", "ducklake_expire_snapshots('lake', " + older + ")"},
		{"clean", "unused files deleted", "ducklake_cleanup_old_files('lake', " + older + ")"},
		{"orphans", "files of writers that were killed deleted", "ducklake_delete_orphaned_files('lake', " + older + ")"},
	} {
		if o.Talk != nil {
			o.Talk(step.name)
		}
		var n int64
		err := again(ctx, func() error { return conn.QueryRowContext(ctx, "SELECT count(*) FROM "+step.call).Scan(&n) })
		if err != nil {
			return done, fmt.Errorf("%s: %w", step.name, err)
		}
		done = append(done, Maintained{step.name, n, step.unit})
	}
	return done, nil
}

// Probed is one thing that a lake needs.
type Probed struct {
	Name, Title, Detail string
	Err                 error
	Advice              string // where there is an error
}

// Probe tries what a lake needs, one thing after the other, up to the first that fails: DuckDB's extensions, the catalog, and the place of the rows.
func (l *Lake) Probe(ctx context.Context) (out []Probed) {
	db, err := connect(ctx, "", "READ_WRITE", "", Options{})
	if err != nil {
		return []Probed{{Name: "duckdb", Title: "DuckDB", Err: err}}
	}
	defer db.Close()
	try := func(p Probed, do func(conn *sql.Conn) (string, error)) bool {
		conn, err := db.Conn(ctx)
		if err == nil {
			p.Detail, err = do(conn)
			conn.Close()
		}
		p.Err = err
		out = append(out, p)
		return err == nil
	}
	for _, name := range []string{"ducklake", "postgres_scanner", "httpfs"} {
		if name == "postgres_scanner" && !l.usesPostgres() {
			continue
		}
		ok := try(Probed{Name: name, Title: "DuckDB's extension " + name, Advice: "without a network: name a folder with " + name + ".duckdb_extension of DuckDB " + DuckDBVersion() + " for " + platform() + " with PROF_EXTENSIONS"},
			func(conn *sql.Conn) (string, error) { return "loads", l.Access.load(ctx, conn, name) })
		if !ok {
			return out
		}
	}
	where := ""
	ok := try(Probed{Name: "catalog", Title: "Catalog " + l.String(), Advice: "make the lake with `prof lake init --data-path PLACE`, or see docs/lake.md for the rights in PostgreSQL"}, func(conn *sql.Conn) (string, error) {
		if err := l.attach(ctx, conn, toRead); err != nil {
			return "", err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "DETACH "+lakeName)
		s := LakeStatus{}
		err := s.read(ctx, conn)
		where = s.DataPath
		return fmt.Sprintf("DuckLake %s, runs: %d", s.Version, s.Runs), err
	})
	if !ok {
		return out
	}
	try(Probed{Name: "rows", Title: "Rows in " + where, Advice: "check the keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL) and the rights of the folder"}, func(conn *sql.Conn) (string, error) {
		if !isRemote(where) {
			_, err := os.ReadDir(where)
			return "a folder", err
		}
		name := Quote(where + "probe-" + uuid.NewString() + "*")
		_, err := texts(conn.QueryContext(ctx, "SELECT file FROM glob("+name+") LIMIT 1"))
		return "can be listed", err
	})
	return out
}

// LakeFiles is a table of a lake as an engine reads it that is not DuckDB.
type LakeFiles struct {
	Name    string
	Columns [][2]string // name and type
	Files   []string    // the Parquet files with its rows
	Rows    int64       // that they have together
}

// ErrUnsettled is wrapped by the error that the Parquet files of a lake are not all of its rows, or more than them.
var ErrUnsettled = errors.New("the Parquet files alone are not the rows of the lake")

// LakeFiles returns which Parquet files hold the rows of tables of the lake, as it was when it was opened. Rows that are still in the catalog, and files with deleted rows, are an error:
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
