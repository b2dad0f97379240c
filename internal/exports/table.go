// Package exports reads the tables of exports of Nsight Systems as SQLite, and writes such files, for tests and benchmarks that make theirs out
// of real ones.
package exports

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
)

// Table is one table of an export.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]any // nil, int64, float64 or string
}

// ReadFile reads the tables of a file, which may be packed as .gz.
func ReadFile(path string) ([]*Table, error) {
	data, err := Unpack(path)
	if err != nil {
		return nil, err
	}
	return Read(data, path)
}

// Unpack reads a file, which may be packed as .gz.
func Unpack(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if data, err = io.ReadAll(z); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// Read reads the tables of a SQLite file that errors call name, all but those of the names but.
func Read(data []byte, name string, but ...string) ([]*Table, error) {
	f, err := sqlite.New(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readTables(f, but...)
}

func readTables(f table.Export, but ...string) ([]*Table, error) {
	var out []*Table
	for _, name := range f.Tables() {
		if slices.Contains(but, name) {
			continue
		}
		t, err := readTable(f, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// readTable reads a table, each column as the first kind that it can be read as.
func readTable(f table.Export, name string) (*Table, error) {
	t := &Table{Name: name, Columns: f.Columns(name)}
	for at, column := range t.Columns {
		var err error
		for _, kind := range []table.Kind{table.Int, table.Float, table.Text} {
			if err = t.readColumn(f, at, column, kind); err == nil {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, column, err)
		}
	}
	return t, nil
}

func (t *Table) readColumn(f table.Export, at int, column string, kind table.Kind) error {
	scan, err := f.Scan(context.Background(), t.Name, []table.Want{{Name: column, Kind: kind}})
	if err != nil {
		return err
	}
	n := 0
	return table.Each(scan, func(b *table.Batch) error {
		for i := range b.N {
			if n == len(t.Rows) {
				t.Rows = append(t.Rows, make([]any, len(t.Columns)))
			}
			switch v := &b.Cols[0]; {
			case v.Null(i):
				t.Rows[n][at] = nil
			case kind == table.Int:
				t.Rows[n][at] = v.Ints[i]
			case kind == table.Float:
				t.Rows[n][at] = v.Floats[i]
			default:
				t.Rows[n][at] = v.Texts[i]
			}
			n++
		}
		return nil
	})
}

// Column is where a column is; -1 where the table lacks it.
func (t *Table) Column(name string) int { return slices.Index(t.Columns, name) }

// Int is a row's value of a column; 0 where it is NULL or the table lacks it.
func (t *Table) Int(row []any, name string) int64 {
	if at := t.Column(name); at >= 0 {
		n, _ := row[at].(int64)
		return n
	}
	return 0
}

// Filler is a table that no reader of exports knows, of so many bytes.
func Filler(size int) *Table {
	t := &Table{Name: "FILLER", Columns: []string{"text"}}
	const row = 1 << 20
	text := strings.Repeat("x", row)
	for range size/row + 1 {
		t.Rows = append(t.Rows, []any{text})
	}
	return t
}
