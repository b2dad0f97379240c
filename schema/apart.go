package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// Apart is where a run is derived whose rows are committed: a catalog in memory, in which the tables that Derive fills are, empty, before those of the warehouse. Its connections see each other's
// rows, so that statements go on side by side; Beside puts all of it into the warehouse in one transaction.
type Apart struct {
	SQL    // of one of the connections
	db     *sql.DB
	conns  []*sql.Conn
	tables []string
}

// mostApart is how many statements go on side by side: each has memory of its own, and the longest chain of them takes a quarter of the time of all.
const mostApart = 4

// apartName is the catalog's.
const apartName = "prof_apart"

// Beside derives a run whose rows are committed: it fills tables of facts, and those that are named, in a catalog in memory, some statements side by side, and
// stores all of it in one transaction, which first does something else.
func (w *Warehouse) Beside(ctx context.Context, conn *sql.Conn, named []string, derive func(SQL) error, first func() error) error {
	if _, err := conn.ExecContext(ctx, `SET threads = 1`); err != nil { // each statement has a core; a second thread of DuckDB would poll for work on that of another
		return err
	}
	a, err := w.apart(ctx, named)
	if err != nil {
		return err
	}
	if err = derive(a); err == nil {
		err = w.TransactOnce(ctx, conn, func() error {
			if err := first(); err != nil {
				return err
			}
			return a.store(ctx, conn)
		})
	}
	return errors.Join(err, a.close())
}

// apart makes the place to derive a run in. Only one may be at a time.
func (w *Warehouse) apart(ctx context.Context, named []string) (_ *Apart, err error) {
	a := &Apart{db: w.DB, tables: slices.Concat(named, classified)}
	facts, err := w.Facts.Tables()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	var home string
	if err := w.DB.QueryRowContext(ctx, `SELECT current_database()`).Scan(&home); err != nil {
		return nil, err
	}
	all := "ATTACH ':memory:' AS " + apartName + ";\n"
	for _, t := range a.tables {
		all += fmt.Sprintf("CREATE TABLE %s.main.%s AS FROM %s.main.%s LIMIT 0;\n", apartName, t, quoted(home), t)
	}
	for _, t := range facts {
		a.tables = append(a.tables, t.Name)
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = c.Name + " " + c.Type
		}
		all += fmt.Sprintf("CREATE TABLE %s.main.%s (%s);\n", apartName, t.Name, strings.Join(columns, ", "))
	}
	if _, err := w.DB.ExecContext(ctx, all); err != nil {
		return nil, err
	}
	most := min(runtime.GOMAXPROCS(0), mostApart)
	if w.Budget.Threads > 0 {
		most = min(most, w.Budget.Threads)
	}
	for range most {
		conn, err := w.DB.Conn(ctx)
		if err != nil {
			return nil, err
		}
		a.conns = append(a.conns, conn)
		if _, err := conn.ExecContext(ctx, `SET search_path = `+Quote(apartName+".main,"+quoted(home)+".main")); err != nil {
			return nil, err
		}
	}
	a.SQL = a.conns[0]
	return a, nil
}

// quoted is a name as SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Connections are those that see what is derived, one to a statement at a time.
func (a *Apart) Connections() (out []SQL) {
	for _, c := range a.conns {
		out = append(out, c)
	}
	return out
}

// store puts what was derived into the warehouse, inside a transaction.
func (a *Apart) store(ctx context.Context, q SQL) error {
	var parts []string
	for _, t := range a.tables {
		parts = append(parts, fmt.Sprintf("(SELECT '%[1]s' FROM %[2]s.main.%[1]s LIMIT 1)", t, apartName))
	}
	has, err := texts(a.QueryContext(ctx, strings.Join(parts, "\nUNION ALL ")))
	if err != nil {
		return err
	}
	for _, t := range a.tables {
		if slices.Contains(has, t) {
			if _, err := q.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s.main.%s", t, apartName, t)); err != nil {
				return fmt.Errorf("store %s: %w", t, err)
			}
		}
	}
	return nil
}

// close forgets what was derived.
func (a *Apart) close() error {
	for _, c := range a.conns {
		c.Raw(func(any) error { return driver.ErrBadConn }) // closes it for good: nobody else is to find these tables
		c.Close()
	}
	_, err := a.db.ExecContext(context.Background(), `DETACH DATABASE IF EXISTS `+apartName) // whatever became of the caller's context
	return err
}

// OpenMemory makes an empty warehouse in memory with the given definitions and the tables that they read, for questions that need
// no run; and the others that are named. It has no rules, no peaks and no comments; Close forgets it.
func OpenMemory(ctx context.Context, defs []Definition, facts Facts, others ...string) (*Warehouse, error) {
	c, err := duckdb.NewConnector("?autoinstall_known_extensions=false&autoload_known_extensions=false", func(driver.ExecerContext) error { return nil })
	if err != nil {
		return nil, err
	}
	w := &Warehouse{DB: sql.OpenDB(c), Writable: true, Facts: facts}
	if err := w.fill(ctx, defs, facts, others); err != nil {
		w.DB.Close()
		return nil, err
	}
	return w, nil
}

func (w *Warehouse) fill(ctx context.Context, defs []Definition, facts Facts, others []string) error {
	steps, err := knownMigrations()
	if err != nil {
		return err
	}
	tables, err := facts.Tables()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, name := range others {
		used[name] = true
	}
	read := func(query string) {
		for _, word := range tableName.FindAllString(query, -1) {
			used[word] = true
		}
	}
	for _, d := range defs {
		read(d.Body)
	}
	for _, t := range tables {
		if used[t.Name] {
			read(t.Query)
		}
	}
	creates := map[string]string{} // a later migration may add columns
	for _, m := range steps {
		for _, stmt := range createTable.FindAllStringSubmatch(m.sql, -1) {
			if table := stmt[2]; table != "" {
				creates[table] += stmt[0]
			} else {
				creates[stmt[1]] = stmt[0]
			}
		}
	}
	var all strings.Builder
	all.WriteString("BEGIN;\n")
	for _, name := range slices.Sorted(maps.Keys(creates)) {
		if used[name] {
			all.WriteString(creates[name])
		}
	}
	for _, t := range tables {
		if used[t.Name] {
			all.WriteString(t.create())
		}
	}
	for _, d := range defs {
		all.WriteString(d.define() + "\n")
	}
	all.WriteString("COMMIT;\n")
	_, err = w.DB.ExecContext(ctx, all.String())
	return err
}

var (
	tableName   = regexp.MustCompile(`\w+`)
	createTable = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n.*?^\);\n|^ALTER TABLE (\w+) ADD COLUMN [^;\n]*;\n`)
)
