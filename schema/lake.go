package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goccy/go-yaml"

	"prof/internal/file"
	"prof/internal/scratch"
)

// A lake is a warehouse that many machines write: a DuckLake, whose catalog is in PostgreSQL (or, for one machine, in a file of DuckDB) and whose rows are Parquet
// files in a folder or an object store (https://ducklake.select/docs/stable/specification/introduction). It has the tables of a warehouse's file. Views and
// macros are this program's own: they are in a small local file on top of it, so that members of a team may have different versions of queries.

// LakePrefix begins the address of a lake.
const LakePrefix = "ducklake:"

// Lake is where a lake is.
type Lake struct {
	Catalog  string // as DuckDB attaches it: ducklake:postgres:dbname=prof host=db, or ducklake:FILE
	DataPath string // of a lake that is made now, where its Parquet files go: a folder, s3://bucket/folder or gs://bucket/folder; "" of one that is there
	Secret   string // a file with what opens them, see ReadLakeAccess; "" for the environment alone
	Access   LakeAccess
}

// maxConfig bounds a config.yaml, which is some dozen lines.
const maxConfig = 1 << 20

// configured returns the lake that a config.yaml names under warehouse; nil where it names none.
func configured(path string) (*Lake, error) {
	text, err := file.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // who opens the home says what is wrong with it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all struct {
		Warehouse map[string]string `yaml:"warehouse"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		if strings.Contains(string(text), "warehouse:") { // else capture says it, with the line; a value may be a secret
			return nil, fmt.Errorf("%s: warehouse: want catalog, data_path and secret, each a text on a line of its own", path)
		}
		return nil, nil
	}
	if all.Warehouse == nil {
		return nil, nil
	}
	l := &Lake{}
	for key, value := range all.Warehouse {
		switch key {
		case "catalog":
			l.Catalog = value
		case "data_path":
			l.DataPath = value
		case "secret":
			l.Secret = value
		default:
			return nil, fmt.Errorf("%s: unknown option warehouse.%s: want catalog, data_path or secret", path, key)
		}
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("%s: warehouse.catalog: %w", path, err)
	}
	return l, l.settle(filepath.Dir(filepath.Dir(path)))
}

// settle makes paths of files whole: what is written in a folder goes from there, and ~/ is the user's home.
func (l *Lake) settle(dir string) error {
	whole := func(path string) (string, error) {
		if rest, is := strings.CutPrefix(path, "~/"); is {
			home, err := os.UserHomeDir()
			return filepath.Join(home, rest), err
		}
		if path == "" || filepath.IsAbs(path) || isRemote(path) {
			return path, nil
		}
		return filepath.Join(dir, path), nil
	}
	var errs [3]error
	l.DataPath, errs[0] = whole(l.DataPath)
	l.Secret, errs[1] = whole(l.Secret)
	if at, is := strings.CutPrefix(l.Catalog, LakePrefix); is && !l.usesPostgres() && at != "" {
		at, errs[2] = whole(at)
		l.Catalog = LakePrefix + at
	}
	return errors.Join(errs[:]...)
}

// The catalogs of a process that has a lake open.
const (
	lakeName = "lake"                            // the lake itself
	lakeMeta = "__ducklake_metadata_" + lakeName // its catalog's database, as DuckLake attaches it
)

// ErrNoLake is wrapped by Open's error where the catalog has no lake yet.
var ErrNoLake = errors.New("there is no lake yet")

// usesPostgres reports whether the catalog is in PostgreSQL.
func (l *Lake) usesPostgres() bool { return strings.HasPrefix(l.Catalog, LakePrefix+"postgres:") }

// String is the address without what may be a secret.
func (l *Lake) String() string { return l.Catalog }

// check returns what is wrong with an address.
func (l *Lake) check() error {
	rest, is := strings.CutPrefix(l.Catalog, LakePrefix)
	if !is || rest == "" || rest == "postgres:" {
		return fmt.Errorf("lake %q: write ducklake:postgres:dbname=NAME host=HOST, or ducklake:FILE", l.Catalog)
	}
	_, user, isURL := strings.Cut(rest, "://")
	user, _, hasUser := strings.Cut(user, "@")
	if strings.Contains(strings.ToLower(rest), "password") || isURL && hasUser && strings.Contains(user, ":") {
		return errors.New("the address of a lake must not have a password, which lists of processes would show: put it into PGPASSWORD, ~/.pgpass, or the file that `secret` in .prof/config.yaml names")
	}
	if kind, _, has := strings.Cut(rest, ":"); has && kind != "postgres" && !strings.Contains(kind, "/") {
		return fmt.Errorf("lake %q: its catalog is in %s, and prof takes postgres or a file of DuckDB", l.Catalog, kind)
	}
	return nil
}

// What a lake is attached for.
const (
	toRead   = "READ_ONLY, CREATE_IF_NOT_EXISTS false"
	toChange = "READ_ONLY false, CREATE_IF_NOT_EXISTS false"
)

// inlined is how many rows of a table a run may have so that they go into the catalog and not into a file of their own: most tables of most runs are this small, and a
// file for each would be some sixty requests to the object store, and as many for each reader, until the files are merged.
const inlined = 1000

// attach attaches a lake in a process; one is attached at a time. How says more than mode where the lake is made.
func (l *Lake) attach(ctx context.Context, q SQL, how string) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := l.loadCatalog(ctx, q); err != nil {
		return err
	}
	if _, err := q.ExecContext(ctx, "SET ducklake_max_retry_count = 100"); err != nil { // of commits that meet others
		return err
	}
	statement := fmt.Sprintf("ATTACH %s AS %s (%s, DATA_INLINING_ROW_LIMIT %d)", Quote(l.Catalog), lakeName, how, inlined)
	_, err := q.ExecContext(ctx, statement)
	for end := time.Now().Add(lakeWait); err != nil && strings.Contains(err.Error(), "Could not set lock on file") && time.Now().Before(end) && ctx.Err() == nil; { // a catalog in a file is open in one process at a time
		time.Sleep(100 * time.Millisecond)
		_, err = q.ExecContext(ctx, statement)
	}
	if err != nil && strings.Contains(err.Error(), "extension httpfs") { // where the rows are, only the lake itself says
		if err = l.Access.load(ctx, q, "httpfs"); err == nil {
			_, err = q.ExecContext(ctx, statement)
		}
	}
	if err != nil {
		return l.plainError(err)
	}
	where, err := texts(q.QueryContext(ctx, `SELECT value FROM ducklake_options(?) WHERE option_name = 'data_path'`, lakeName))
	if err != nil || len(where) == 0 {
		return errors.Join(err, l.plainError(err))
	}
	return l.loadData(ctx, q, where[0])
}

// plainError returns what most often keeps a lake from being attached.
func (l *Lake) plainError(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "creating a new DuckLake"), strings.Contains(text, "in read-only mode: database does not exist"):
		return fmt.Errorf("%w in %s: make it with `prof lake init`", ErrNoLake, l)
	case strings.Contains(text, "DATA_PATH parameter"):
		return fmt.Errorf("%s: it was made with another place for its rows: repeat with that one, or drop the database", l)
	case strings.Contains(text, "Unable to connect to Postgres"):
		_, said, _ := strings.Cut(text, "Unable to connect to Postgres at ")
		if at := strings.LastIndex(said, "\": "); at >= 0 {
			said = said[at+3:]
		}
		return fmt.Errorf("%s: PostgreSQL does not answer: %s", l, strings.Join(strings.Fields(strings.ReplaceAll(said, "\\n\\t", " ")), " "))
	case strings.Contains(text, "password authentication failed"), strings.Contains(text, "no password supplied"):
		return fmt.Errorf("%s: PostgreSQL wants another password: set PGPASSWORD, or ~/.pgpass: %w", l, err)
	}
	return fmt.Errorf("open the lake %s: %w", l, err)
}

// openLake opens a lake for reading, or to change what it has of runs. Readers see it as it was when they opened it.
func openLake(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	dir, err := scratch.Make("")
	if err != nil {
		return nil, err
	}
	w, err := openLakeIn(ctx, home, o, dir.Path)
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	w.release = dir.Remove
	return w, nil
}

func openLakeIn(ctx context.Context, home Home, o Options, dir string) (*Warehouse, error) {
	path := filepath.Join(dir, warehouseFile)
	views, err := image(ctx, lakeImage, o, dir)
	if err == nil {
		err = file.Write(path, views)
	}
	if err != nil {
		return nil, fmt.Errorf("views for the lake: %w", err)
	}
	var attached atomic.Bool
	o.Sandbox = false // the lake's files are outside; who runs others' SQL must not do so on a lake
	db, err := connectWith(ctx, path, "READ_WRITE", filepath.Join(dir, "spill"), o, func(e driver.ExecerContext) error {
		if !attached.Load() {
			return nil
		}
		_, err := e.ExecContext(ctx, lakeFirst, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	w := &Warehouse{DB: db, Home: home, Writable: o.Write, Facts: o.Facts, Budget: o.Budget}
	if err := w.attachLake(ctx, home.Lake, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	attached.Store(true)
	if err := checkLake(ctx, db, "", o); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", home.Lake, err), db.Close())
	}
	return w, nil
}

// lakeFirst is the statement that lets a connection find the tables of a lake, and then the views.
const lakeFirst = "SET search_path = '" + lakeName + ".main,warehouse.main'"

// attachLake attaches a lake to a warehouse that has views only: to change it, or as it is now.
func (w *Warehouse) attachLake(ctx context.Context, l *Lake, o Options) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, w.Budget.AllThreads()); err != nil { // the file is small, the lake may not be
		return err
	}
	if o.Write {
		err = l.attach(ctx, conn, toChange)
	} else {
		err = l.attachNow(ctx, conn)
	}
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, lakeFirst)
	return err
}

// attachNow attaches a lake as it is now: what others commit later is not seen.
func (l *Lake) attachNow(ctx context.Context, conn *sql.Conn) error {
	if err := l.attach(ctx, conn, toRead); err != nil {
		return err
	}
	now, err := texts(conn.QueryContext(ctx, "SELECT id::VARCHAR FROM "+lakeName+".current_snapshot()"))
	if err != nil || len(now) == 0 {
		return l.plainError(err)
	}
	if _, err := conn.ExecContext(ctx, "DETACH "+lakeName); err != nil {
		return err
	}
	return l.attach(ctx, conn, toRead+", SNAPSHOT_VERSION "+now[0])
}

// derivedVersion is what schema_version of a lake has of the facts of its runs: by what they were derived, see derivedBy.
const derivedVersion = -2

// ErrOtherLake is wrapped by errors about a lake whose tables or facts are those of another version of prof.
var ErrOtherLake = errors.New("another version of prof, or other rules, made what is in the lake")

// checkLake refuses a lake that this program does not know. in is its catalog, with a dot, where it is not the first.
func checkLake(ctx context.Context, q querier, in string, o Options) error {
	if o.unchecked {
		return nil
	}
	known, err := knownMigrations()
	if err != nil {
		return err
	}
	applied, err := appliedVersions(ctx, q, in)
	if err != nil {
		return err
	}
	if len(applied) == 0 {
		return fmt.Errorf("%w: it has no tables of prof: `prof lake init` makes them", ErrNoLake)
	}
	if err := checkApplied(applied, known); err != nil {
		return err
	}
	sum, err := o.Facts.Checksum()
	if err != nil {
		return err
	}
	by, err := derivedBy(ctx, q, in, sum)
	if err != nil {
		return err
	}
	for _, m := range known {
		if _, done := applied[m.version]; !done || applied[derivedVersion] != by {
			return fmt.Errorf("%w: `prof lake upgrade` brings it up to date, once for all", ErrOtherLake)
		}
	}
	return nil
}

// timelines are the tables whose rows are partitioned by run: those of a large run are files of their own, which go with it. Of the others, small as they are, the
// rows of many runs are in a file.
var timelines = []string{"api_call", "api_duration", "device_sample", "gap", "gap_part", "gap_sum_part", "gpu_metric", "idle_part", "kernel", "launch", "memop", "ncu_instance", "ncu_sample", "nvtx_range", "op", "op_kernel", "osrt_call", "python_call", "python_sample", "range_context", "range_device", "sync"}

// InitLake makes a lake with the tables of this program and its built-in rules. It is an error if there is one.
func InitLake(ctx context.Context, l *Lake, o Options) error {
	if l.DataPath == "" {
		return errors.New("a new lake needs a place for its rows: a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER")
	}
	dir, err := scratch.Make("")
	if err != nil {
		return err
	}
	defer dir.Remove()
	if err := l.settleData(); err != nil {
		return err
	}
	o.Write = true
	w, err := openWrite(ctx, Home{Dir: dir.Path}, o)
	if err != nil {
		return err
	}
	defer w.Close()
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := l.loadData(ctx, conn, l.DataPath); err != nil {
		return err
	}
	if isRemote(l.DataPath) { // before the catalog keeps it for good
		if _, err := texts(conn.QueryContext(ctx, "SELECT file FROM glob("+Quote(strings.TrimSuffix(l.DataPath, "/")+"/*")+") LIMIT 1")); err != nil {
			return fmt.Errorf("the place for the rows, %s, does not answer: %w", l.DataPath, err)
		}
	}
	if err := l.attach(ctx, conn, "DATA_PATH "+Quote(l.DataPath)); err != nil {
		return err
	}
	there, err := texts(conn.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = ? LIMIT 1`, lakeName))
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s: the lake is there already", l)
	}
	if err != nil {
		return err
	}
	return w.Transact(ctx, conn, func() error { return makeLake(ctx, conn, o) })
}

// settleData makes the place for the rows of a new lake whole, and a folder of it.
func (l *Lake) settleData() error {
	if isRemote(l.DataPath) {
		if scheme, _, _ := strings.Cut(l.DataPath, "://"); scheme != "s3" && scheme != "gs" {
			return fmt.Errorf("%s: rows go into a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER", l.DataPath)
		}
		return nil
	}
	dir, err := os.Getwd()
	if err == nil {
		err = l.settle(dir)
	}
	if err == nil {
		err = file.MakeDir(l.DataPath)
	}
	return err
}

// makeLake makes the tables in the attached lake, of a warehouse without runs, and fills those that all runs share.
func makeLake(ctx context.Context, q SQL, o Options) error {
	tables, err := texts(q.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal ORDER BY 1`))
	if err != nil {
		return err
	}
	for _, t := range tables {
		create, err := texts(q.QueryContext(ctx, `SELECT 'CREATE TABLE `+lakeName+`.main.' || table_name || ' (' || string_agg(column_name || ' ' || data_type || if(is_nullable, '', ' NOT NULL'), ', ' ORDER BY column_index) || ')'
			FROM duckdb_columns() WHERE database_name = current_database() AND table_name = ? GROUP BY table_name`, t))
		if err != nil {
			return err
		}
		docs, err := texts(q.QueryContext(ctx, `SELECT 'COMMENT ON TABLE `+lakeName+`.main.' || table_name || ' IS ''' || replace(comment, '''', '''''') || '''' FROM duckdb_tables() WHERE database_name = current_database() AND table_name = $1 AND comment IS NOT NULL
			UNION ALL SELECT 'COMMENT ON COLUMN `+lakeName+`.main.' || table_name || '.' || column_name || ' IS ''' || replace(comment, '''', '''''') || '''' FROM duckdb_columns() WHERE database_name = current_database() AND table_name = $1 AND comment IS NOT NULL`, t))
		if err != nil {
			return err
		}
		statements := slices.Concat(create, docs, []string{fmt.Sprintf("INSERT INTO %s.main.%s SELECT * FROM %[2]s", lakeName, t)})
		if slices.Contains(timelines, t) {
			statements = slices.Insert(statements, 1, fmt.Sprintf("ALTER TABLE %s.main.%s SET PARTITIONED BY (run_id)", lakeName, t))
		}
		for _, s := range statements {
			if _, err := q.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("table %s: %w", t, err)
			}
		}
	}
	sum, err := o.Facts.Checksum()
	if err != nil {
		return err
	}
	by, err := derivedBy(ctx, q, "", sum)
	if err != nil {
		return err
	}
	for _, s := range []string{
		pushedTable,
		fmt.Sprintf("INSERT INTO %s.main.schema_version VALUES (%d, 'derived', %s, now()::TIMESTAMP)", lakeName, derivedVersion, Quote(by)),
		"CALL " + lakeName + ".set_option('parquet_compression', 'zstd')",
	} {
		if _, err := q.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
