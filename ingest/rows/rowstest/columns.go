package rowstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// What migrations do to the columns of tables.
var (
	create    = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	column    = regexp.MustCompile(`^    (\w+) ([A-Z]+)`)
	addColumn = regexp.MustCompile(`^ALTER TABLE (\w+) ADD COLUMN (\w+) `)
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
		} else if m := addColumn.FindStringSubmatch(line); m != nil {
			tables[m[1]] = append(tables[m[1]], m[2])
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
