package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

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
