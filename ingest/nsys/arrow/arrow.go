// Package arrow reads Arrow exports of Nsight Systems: arrowdir, a folder with one stream a table, and arrow, a file with all of them one
// after another. It implements table.Export.
//
// nsys writes a table as one record batch, however long it is, so batches are read by positioned reads of the rows that are wanted. Only what nsys
// writes is read: numbers, truth values and texts, neither nested, nor in dictionaries, nor compressed.
package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"prof/ingest/nsys/table"
	"prof/internal/file"
)

const suffix = ".arrow"

// ErrCut is wrapped by the errors of files that end too early.
var ErrCut = errors.New("the file is cut short; export the report again")

// Export is an opened export. It implements table.Export.
type Export struct {
	path    string
	files   []*os.File
	tables  map[string]*stream
	strings func() (map[int64]string, error)
}

// stream is a table.
type stream struct {
	f       *os.File
	name    string // of the file, for messages
	columns []column
	batches []batch
	rows    int64
}

// batch is where a record batch is: its message, and the values that follow.
type batch struct {
	at, body int64
	size     int // of the message
	rows     int64
}

// Sniff reports whether a file begins as an Arrow stream of a table of nsys.
func Sniff(_ string, head []byte) bool {
	return len(head) > 8 && binary.LittleEndian.Uint32(head) == mark && strings.Contains(string(head[:min(len(head), 1<<16)]), "table_name")
}

// Is reports whether a folder looks like an arrowdir export.
func Is(path string) bool {
	for _, name := range []string{"META_DATA_EXPORT", "StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
		if _, err := os.Stat(filepath.Join(path, name+suffix)); err == nil {
			return true
		}
	}
	return false
}

// Open opens a folder or a file, and reads where each table is.
func Open(path string) (*Export, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	e := &Export{path: path, tables: map[string]*stream{}}
	e.strings = sync.OnceValues(func() (map[int64]string, error) { return table.Strings(e) })
	paths := []string{path}
	if st.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(escape(path), "*"+suffix)); err != nil {
			return nil, err
		}
	}
	for _, p := range paths {
		if err := e.add(p); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// escape makes a pattern of a path that only it fits.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// add reads the streams of a file.
func (e *Export) add(path string) error {
	f, err := file.Open(path)
	if err != nil {
		return err
	}
	e.files = append(e.files, f)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	r := &reader{f: f, name: path, size: st.Size()}
	for n := 0; r.at < r.size || n == 0; n++ {
		s, name, err := r.stream()
		if err != nil {
			return err
		}
		if e.tables[name] != nil {
			return fmt.Errorf("%s: the table %s is there twice", path, name)
		}
		e.tables[name] = s
	}
	return nil
}

// Close closes the files.
func (e *Export) Close() error {
	var err error
	for _, f := range e.files {
		err = errors.Join(err, f.Close())
	}
	e.files = nil
	return err
}

// Has reports whether the export holds the table.
func (e *Export) Has(name string) bool { return e.tables[name] != nil }

// Tables lists the tables by name.
func (e *Export) Tables() []string {
	var out []string
	for name := range e.tables {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Columns returns a table's columns.
func (e *Export) Columns(name string) []string {
	s := e.tables[name]
	if s == nil {
		return nil
	}
	out := make([]string, len(s.columns))
	for i, c := range s.columns {
		out[i] = c.name
	}
	return out
}

// String looks a string up. All strings are read at the first call, as in the other forms without an index.
func (e *Export) String(id int64) (string, bool, error) {
	all, err := e.strings()
	s, ok := all[id]
	return s, ok, err
}

// Scan prepares reading of some columns.
func (e *Export) Scan(ctx context.Context, name string, wants []table.Want) (table.Scan, error) {
	s := e.tables[name]
	if s == nil {
		return nil, fmt.Errorf("%s: no table %s", e.path, name)
	}
	out := &scan{ctx: ctx, stream: s, table: name, wants: wants, place: make([]int, len(wants))}
	for i, w := range wants {
		out.place[i] = slices.IndexFunc(s.columns, func(c column) bool { return c.name == w.Name })
		switch {
		case out.place[i] < 0 && !w.Optional:
			return nil, fmt.Errorf("%s: %s: %w: %s", s.name, name, table.ErrNoColumn, w.Name)
		case out.place[i] >= 0 && !s.columns[out.place[i]].gives(w.Kind):
			return nil, fmt.Errorf("%s: %s: the column %s has a type that no known export has", s.name, name, w.Name)
		}
	}
	for i, b := range s.batches {
		for from := int64(0); from < b.rows; from += morselRows {
			out.morsels = append(out.morsels, morsel{i, from, min(b.rows, from+morselRows)})
		}
	}
	return out, nil
}

// readAt reads some bytes of a file in full.
func readAt(f io.ReaderAt, name string, b []byte, at int64) error {
	if _, err := f.ReadAt(b, at); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, ErrCut)
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
