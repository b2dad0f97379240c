package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// Status says what the lake consists of.
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
