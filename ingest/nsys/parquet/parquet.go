// Package parquet reads parquetdir exports of Nsight Systems: a folder with one Parquet file a table. DuckDB decodes them.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/ingest/nsys/table"
	"prof/internal/file"
)

const suffix = ".parquet"

// Dir is an opened export folder. It implements table.Export.
type Dir struct {
	path    string
	db      mapping.Database
	conn    mapping.Connection // for short queries, under mu
	mu      sync.Mutex
	columns map[string][]string // by table
	big     map[column]bool     // those of unsigned 64-bit integers
	strings func() (map[int64]string, error)
}

type column struct{ table, name string }

// Is reports whether a folder looks like a parquetdir export.
func Is(path string) bool {
	for _, name := range []string{"META_DATA_EXPORT", "StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
		if _, err := os.Stat(filepath.Join(path, name+suffix)); err == nil {
			return true
		}
	}
	return false
}

// Open opens a folder. Every file's footer is read, so that a cut file is found before anything is loaded.
func Open(path string) (*Dir, error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, columns: map[string][]string{}, big: map[column]bool{}}
	if mapping.Open(":memory:", &d.db) == mapping.StateError {
		return nil, fmt.Errorf("%s: cannot start DuckDB to read it", path)
	}
	if mapping.Connect(d.db, &d.conn) == mapping.StateError {
		mapping.Close(&d.db)
		return nil, fmt.Errorf("%s: cannot start DuckDB to read it", path)
	}
	d.strings = sync.OnceValues(func() (map[int64]string, error) { return table.Strings(d) })
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || f.IsDir() {
			continue
		}
		cols, err := d.describe(name)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.columns[name] = cols
	}
	return d, nil
}

// Close ends reading.
func (d *Dir) Close() error {
	mapping.Disconnect(&d.conn)
	mapping.Close(&d.db)
	return nil
}

// Has reports whether the folder holds the table.
func (d *Dir) Has(name string) bool { return d.columns[name] != nil }

// Tables lists the tables by name.
func (d *Dir) Tables() []string {
	var out []string
	for name := range d.columns {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Columns returns a table's columns.
func (d *Dir) Columns(name string) []string { return d.columns[name] }

func (d *Dir) file(name string) string { return filepath.Join(d.path, name+suffix) }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (d *Dir) from(name string) string { return "read_parquet(" + quote(d.file(name)) + ")" }

func (d *Dir) describe(name string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := file.Check(d.file(name)); err != nil { // DuckDB opens it, and would wait for the writer of a pipe
		return nil, err
	}
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, "SELECT * FROM "+d.from(name)+" LIMIT 0", &res) == mapping.StateError {
		return nil, d.fault(name, mapping.ResultError(&res))
	}
	out := make([]string, mapping.ColumnCount(&res))
	for i := range out {
		out[i] = mapping.ColumnName(&res, mapping.IdxT(i))
		if mapping.ColumnType(&res, mapping.IdxT(i)) == mapping.TypeUBigInt {
			d.big[column{name, out[i]}] = true
		}
	}
	return out, nil
}

func (d *Dir) fault(name, text string) error {
	text, _, _ = strings.Cut(text, "\n")
	hint := "the file is cut short or not Parquet; export the report again"
	if strings.HasPrefix(text, "Conversion Error") {
		hint = "the column has a type that no known export has"
	}
	return fmt.Errorf("%s: %s: %s", d.file(name), text, hint)
}

// Scan prepares reading of some columns. DuckDB reads the file in parallel by itself, so there is one morsel.
func (d *Dir) Scan(ctx context.Context, name string, wants []table.Want) (table.Scan, error) {
	have := d.columns[name]
	if have == nil {
		return nil, fmt.Errorf("%s: no such table", d.file(name))
	}
	casts := map[table.Kind]string{table.Int: "BIGINT", table.Float: "DOUBLE", table.Text: "VARCHAR"}
	var list []string
	s := &scan{ctx: ctx, dir: d, name: name, wants: wants, place: make([]int, len(wants))}
	for i, w := range wants {
		if !slices.Contains(have, w.Name) {
			if !w.Optional {
				return nil, fmt.Errorf("%s: %w: %s", d.file(name), table.ErrNoColumn, w.Name)
			}
			s.place[i] = -1
			continue
		}
		s.place[i] = len(list)
		quoted := `"` + strings.ReplaceAll(w.Name, `"`, `""`) + `"`
		if w.Kind == table.Int && d.big[column{name, w.Name}] {
			list = append(list, quoted) // ids beyond 2^63 read as negative ones, as SQLite stores them
			continue
		}
		list = append(list, fmt.Sprintf("CAST(%s AS %s)", quoted, casts[w.Kind]))
	}
	if len(list) == 0 {
		list = []string{"1"}
	}
	s.sql = "SELECT " + strings.Join(list, ", ") + " FROM " + d.from(name)
	rows, err := d.count(name)
	s.rows = rows
	return s, err
}

func (d *Dir) count(name string) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var res mapping.Result
	defer mapping.DestroyResult(&res)
	if mapping.Query(d.conn, "SELECT count(*) FROM "+d.from(name), &res) == mapping.StateError {
		return 0, d.fault(name, mapping.ResultError(&res))
	}
	chunk := mapping.FetchChunk(res)
	defer mapping.DestroyDataChunk(&chunk)
	if chunk.Ptr == nil {
		return 0, d.fault(name, "no count")
	}
	return *(*int64)(mapping.VectorGetData(mapping.DataChunkGetVector(chunk, 0))), nil
}

// String looks a string up. All strings are read at the first call, since Parquet has no order to search by.
func (d *Dir) String(id int64) (string, bool, error) {
	all, err := d.strings()
	s, ok := all[id]
	return s, ok, err
}

var errClosed = errors.New("the cursor was not put on a morsel")
