package rowstest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What migrations do to the columns of tables.
var (
	create       = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	column       = regexp.MustCompile(`^    (\w+) ([A-Z]+)`)
	drop         = regexp.MustCompile(`^DROP TABLE (\w+);`)
	rename       = regexp.MustCompile(`^ALTER TABLE (\w+) RENAME TO (\w+);`)
	addColumn    = regexp.MustCompile(`^ALTER TABLE (\w+) ADD COLUMN (\w+) `)
	renameColumn = regexp.MustCompile(`^ALTER TABLE (\w+) RENAME COLUMN (\w+) TO (\w+);`)
)

// booleans are the columns of that type, which readers fill as integers: table.column.
var booleans = map[string]bool{}

// columns reads the migrations once.
var columns = sync.OnceValues(func() (map[string][]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return nil, os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "schema", "sql", "*.sql"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		migrate(string(text), out)
	}
	return out, nil
})

func migrate(text string, tables map[string][]string) {
	table := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := create.FindStringSubmatch(line); m != nil {
			table = m[1]
			tables[table] = nil
		} else if m := column.FindStringSubmatch(line); m != nil && table != "" {
			tables[table] = append(tables[table], m[1])
			booleans[table+"."+m[1]] = m[2] == "BOOLEAN"
		} else if line == ");" {
			table = ""
		} else if m := drop.FindStringSubmatch(line); m != nil {
			delete(tables, m[1])
		} else if m := rename.FindStringSubmatch(line); m != nil {
			tables[m[2]] = tables[m[1]]
			delete(tables, m[1])
		} else if m := addColumn.FindStringSubmatch(line); m != nil {
			tables[m[1]] = append(tables[m[1]], m[2])
		} else if m := renameColumn.FindStringSubmatch(line); m != nil {
			tables[m[1]][slices.Index(tables[m[1]], m[2])] = m[3]
		}
	}
}

// Columns returns the columns of every table of the warehouse in their order, as its migrations make them.
func Columns(t testing.TB) map[string][]string {
	t.Helper()
	out, err := columns()
	if err != nil || len(out) < 50 {
		t.Fatalf("%d tables in schema/sql: %v", len(out), err)
	}
	return out
}
