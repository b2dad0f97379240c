package schema

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

//go:embed sql/*.sql
var migrationFiles embed.FS

// migration is one forward step of the schema.
type migration struct {
	version  int
	name     string
	sql      string
	checksum string
}

// ErrNewer is wrapped by Open's error when a newer prof wrote the warehouse.
var ErrNewer = errors.New("the warehouse was written by a newer prof")

// ErrOlder is wrapped by Open's error when a prof of before the first release wrote the warehouse.
var ErrOlder = errors.New("a prof from before the first release wrote the warehouse, and nothing was changed")

// carryOver is what to do then.
const carryOver = "carry its runs over with `prof export RUN --to parquet --out DIR` of that prof and `prof import DIR` of this one in a new home, or ingest the captures again"

var migrationName = regexp.MustCompile(`^(\d{4})_(\w+)\.sql$`)

// migrations reads the numbered files; a gap, a repeat or a misnamed file is an error of the program.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "sql/*")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []migration
	for i, path := range names {
		m := migrationName.FindStringSubmatch(path[len("sql/"):])
		if m == nil {
			return nil, fmt.Errorf("%s: a migration is named 0001_name.sql", path)
		}
		v, err := strconv.Atoi(m[1])
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("%s: migrations are numbered 0001, 0002, ... without gaps", path)
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{version: v, name: m[2], sql: string(text), checksum: checksum(string(text))})
	}
	return out, nil
}

// knownMigrations are those of this program. Until the first release there is one, and what changes is changed there: TestReleasedMigrations.
var knownMigrations = sync.OnceValues(func() ([]migration, error) { return migrations(migrationFiles) })

func checksum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

const versionTable = `CREATE TABLE IF NOT EXISTS schema_version (
	version INTEGER NOT NULL, name VARCHAR NOT NULL, checksum VARCHAR NOT NULL, applied_at TIMESTAMP NOT NULL);
COMMENT ON TABLE schema_version IS 'Steps of the schema applied to this warehouse, and the definitions installed in it.';
COMMENT ON COLUMN schema_version.version IS 'Number of the migration; 0 for the installed set of views, macros and built-in rules, -1 for the tables of facts';
COMMENT ON COLUMN schema_version.name IS 'Name of the migration';
COMMENT ON COLUMN schema_version.checksum IS 'SHA-256 of the text applied';
COMMENT ON COLUMN schema_version.applied_at IS 'UTC time it was applied';`

// migrate brings the warehouse to this program's schema in one transaction: all of it or nothing.
func (w *Warehouse) migrate(ctx context.Context, o Options) error {
	known, err := knownMigrations()
	if err != nil {
		return err
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	applied, err := appliedVersions(ctx, tx, "")
	if err != nil {
		return err
	}
	if err := checkApplied(applied, known); err != nil {
		return err
	}
	facts, err := o.Facts.Checksum()
	if err != nil {
		return err
	}
	defs, err := installedSum(o.Defs)
	if err != nil || upToDate(applied, known, defs, facts) {
		return err
	}
	if _, err := tx.ExecContext(ctx, versionTable); err != nil {
		return err
	}
	for _, m := range known {
		if _, done := applied[m.version]; done {
			continue
		}
		if err := apply(ctx, tx, m); err != nil {
			return fmt.Errorf("migration %04d_%s: %w", m.version, m.name, err)
		}
	}
	if err := dropDefinitions(ctx, tx); err != nil {
		return err
	}
	if applied[factsVersion] != facts {
		if err := makeFacts(ctx, tx, o.Facts); err != nil {
			return err
		}
		if err := replaceRecord(ctx, tx, factsVersion, "facts", facts); err != nil {
			return err
		}
	}
	if err := install(ctx, tx, o.Defs, defs); err != nil {
		return err
	}
	return w.Commit(ctx, tx.Commit)
}

func apply(ctx context.Context, tx *sql.Tx, m migration) error {
	text, err := m.statements()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	return record(ctx, tx, m.version, m.name, m.checksum)
}

// statements are the file's, and the comments that it has for people.
func (m migration) statements() (string, error) {
	tables, err := parseDDL(m.sql)
	return m.sql + "\n" + comments(tables), err
}

func record(ctx context.Context, tx *sql.Tx, version int, name, sum string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO schema_version VALUES (?, ?, ?, now()::TIMESTAMP)`, version, name, sum)
	return err
}

// replaceRecord records one of the versions that are no migrations.
func replaceRecord(ctx context.Context, tx *sql.Tx, version int, name, sum string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM schema_version WHERE version = ?`, version); err != nil {
		return err
	}
	return record(ctx, tx, version, name, sum)
}

// querier is what *sql.DB and *sql.Tx share.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// appliedVersions reads schema_version as version -> checksum; empty for a new file. in is its catalog, with a dot, where it is not the first.
func appliedVersions(ctx context.Context, q querier, in string) (map[int]string, error) {
	out := map[int]string{}
	vs, err := q.QueryContext(ctx, `SELECT version, checksum FROM `+in+`schema_version`)
	if err != nil {
		if strings.Contains(err.Error(), "schema_version does not exist") {
			return out, nil
		}
		return nil, err
	}
	defer vs.Close()
	for vs.Next() {
		var v int
		var sum string
		if err := vs.Scan(&v, &sum); err != nil {
			return nil, err
		}
		out[v] = sum
	}
	return out, vs.Err()
}

// checkApplied refuses a warehouse that this program does not know.
func checkApplied(applied map[int]string, known []migration) error {
	for _, m := range known {
		if sum, ok := applied[m.version]; ok && sum != m.checksum {
			return fmt.Errorf("%w: %s", ErrOlder, carryOver)
		}
	}
	for v := range applied {
		if v > len(known) {
			return fmt.Errorf("%w (schema %d, this prof knows %d): update prof", ErrNewer, v, len(known))
		}
	}
	return nil
}

func upToDate(applied map[int]string, known []migration, defs, facts string) bool {
	for _, m := range known {
		if _, ok := applied[m.version]; !ok {
			return false
		}
	}
	return applied[definitionsVersion] == defs && applied[factsVersion] == facts
}

// isCurrent reports whether a warehouse opened for reading has this program's schema and definitions, and the facts of every run by them and
// by the rules.
func isCurrent(ctx context.Context, db *sql.DB, o Options) (bool, error) {
	known, err := knownMigrations()
	if err != nil {
		return false, err
	}
	applied, err := appliedVersions(ctx, db, "")
	if err != nil {
		return false, err
	}
	if err := checkApplied(applied, known); err != nil {
		return false, err
	}
	facts, err := o.Facts.Checksum()
	if err != nil {
		return false, err
	}
	defs, err := installedSum(o.Defs)
	if err != nil || !upToDate(applied, known, defs, facts) {
		return false, err
	}
	stale, err := staleRuns(ctx, db, facts, true)
	return len(stale) == 0, err
}

// Versions in schema_version that are no migrations.
const (
	definitionsVersion = 0
	factsVersion       = -1
)

// ddlTable is what a migration file says of one table: its comment and its columns' comments.
type ddlTable struct {
	name, doc string
	columns   [][2]string // name, doc
}

var (
	ddlCreate = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	ddlColumn = regexp.MustCompile(`^    (\w+) [A-Z][A-Z\[\] ]*,? -- (.+)$`)
	ddlMore   = regexp.MustCompile(`^        -- (.+)$`)
)

// parseDDL reads the comments of a migration file: the lines before CREATE TABLE are the table's, the rest of a column's
// line is the column's, with the lines of deeper comments below it. A column without a comment is an error, so that every one ends up documented in the warehouse.
func parseDDL(text string) ([]ddlTable, error) {
	var tables []ddlTable
	var doc []string
	open := false
	for n, line := range strings.Split(text, "\n") {
		switch {
		case open && line == ");":
			open = false
		case open:
			t := &tables[len(tables)-1]
			if m := ddlMore.FindStringSubmatch(line); m != nil && len(t.columns) > 0 {
				t.columns[len(t.columns)-1][1] += " " + m[1]
				continue
			}
			m := ddlColumn.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("line %d: a column is written `name TYPE, -- meaning`: %q", n+1, line)
			}
			t.columns = append(t.columns, [2]string{m[1], m[2]})
		case strings.HasPrefix(line, "-- "):
			doc = append(doc, strings.TrimPrefix(line, "-- "))
		case line == "":
			doc = nil
		default:
			if m := ddlCreate.FindStringSubmatch(line); m != nil {
				if len(doc) == 0 {
					return nil, fmt.Errorf("line %d: table %s has no comment", n+1, m[1])
				}
				tables = append(tables, ddlTable{name: m[1], doc: strings.Join(doc, " ")})
				open = true
			}
			doc = nil
		}
	}
	return tables, nil
}

// comments returns the COMMENT ON statements for the tables.
func comments(tables []ddlTable) string {
	var b strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&b, "COMMENT ON TABLE %s IS %s;\n", t.name, Quote(t.doc))
		for _, c := range t.columns {
			fmt.Fprintf(&b, "COMMENT ON COLUMN %s.%s IS %s;\n", t.name, c[0], Quote(c[1]))
		}
	}
	return b.String()
}

// Quote writes a text as a SQL string literal.
func Quote(s string) string {
	text := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\x00") { // which would end the statement
		text = "(" + strings.ReplaceAll(text, "\x00", "' || chr(0) || '") + ")"
	}
	return text
}
