// Package sqlite reads SQLite 3 database files directly, without the SQLite library: only rowid tables, only whole
// scans and look-ups by rowid, but several times faster than a virtual machine that steps row by row. It implements
// table.Export for Nsight Systems exports. Section numbers in comments are those of
// https://www.sqlite.org/fileformat2.html.
//
// It refuses, with an error that says so, what it cannot read right: a file with a write-ahead log or a hot journal
// beside it, UTF-16 text, and scans of WITHOUT ROWID tables, virtual tables and tables with generated columns.
//
// The file is read with positioned reads and never mapped: a mapped file that another process truncates would kill
// this one. Whatever a page holds is checked before it is used, so a malformed file gives an *Error and no panic.
package sqlite

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"prof/ingest/nsys/table"
	"prof/internal/file"
)

// File is an opened database. All its methods are safe for concurrent use.
type File struct {
	header
	r      io.ReaderAt
	closer io.Closer
	name   string
	tables map[string]*tableInfo
	order  []string  // of the tables in the schema
	pool   sync.Pool // of *scratch

	stringsOnce sync.Once
	strings     stringIndex
}

var _ table.Export = (*File)(nil)

// Open opens a database file for reading. It refuses one that a writer has not finished (ErrBusy).
func Open(path string) (*File, error) {
	if err := checkQuiet(path); err != nil {
		return nil, err
	}
	r, err := file.Open(path)
	if errors.Is(err, file.ErrNotFile) {
		err = &Error{File: path, Msg: "not a regular file", Err: ErrNotSQLite}
	}
	if err != nil {
		return nil, err
	}
	st, err := r.Stat()
	if err != nil {
		r.Close()
		return nil, err
	}
	f, err := New(r, st.Size(), path)
	if err != nil {
		r.Close()
		return nil, err
	}
	f.closer = r
	return f, nil
}

// New reads a database of size bytes from r. The name is for errors. Close does not close r.
func New(r io.ReaderAt, size int64, name string) (*File, error) {
	h, err := readHeader(r, size, name)
	if err != nil {
		return nil, err
	}
	f := &File{header: h, r: r, name: name}
	if err := f.readSchema(); err != nil {
		return nil, err
	}
	return f, nil
}

// Has reports whether the database holds the table; names are case-sensitive.
func (f *File) Has(name string) bool { return f.tables[name] != nil }

// Tables lists the tables in the order of the schema.
func (f *File) Tables() []string { return slices.Clone(f.order) }

// Columns returns a table's column names in their order, nil when there is no such table.
func (f *File) Columns(name string) []string {
	t := f.table(name)
	if t == nil {
		return nil
	}
	names := make([]string, len(t.cols))
	for i := range t.cols {
		names[i] = t.cols[i].name
	}
	return names
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// readPages reads len(buf) bytes from the start of a page. The caller has checked the page numbers.
func (f *File) readPages(t *tableInfo, page uint32, buf []byte) error {
	n, err := f.r.ReadAt(buf, int64(page-1)*int64(f.pageSize))
	if n == len(buf) {
		return nil
	}
	page += uint32(n / f.pageSize)
	if err == nil || err == io.EOF {
		err = fmt.Errorf("%w: page %d of %d is missing", ErrTruncated, page, f.pages)
	}
	return &Error{File: f.name, Table: t.tableName(), Page: page, Err: err}
}

// checkPage reports whether a page number that the file names can be one.
func (f *File) checkPage(t *tableInfo, page, from uint32) error {
	if page == 0 || page > f.pages {
		return f.fault(t, from, "malformed: it refers to page %d of %d", page, f.pages)
	}
	return nil
}
