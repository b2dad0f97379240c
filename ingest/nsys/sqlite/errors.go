package sqlite

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotSQLite means that the file is no SQLite 3 database.
	ErrNotSQLite = errors.New("not an SQLite database")
	// ErrBusy means that a write-ahead log or a rollback journal lies beside the file: its pages alone are no
	// consistent database.
	ErrBusy = errors.New("the database is still being written")
	// ErrTruncated means that the file ends before its last page.
	ErrTruncated = errors.New("the file is truncated")
	// ErrUTF16 means that the database has text in another encoding than UTF-8.
	ErrUTF16 = errors.New("text encoding UTF-16 is not supported, only UTF-8")
	// ErrNoTable means that the database has no such table.
	ErrNoTable = errors.New("no such table")
)

// Error says where in a file a fault was met. Zero fields are unknown.
type Error struct {
	File   string
	Table  string
	Column string
	Page   uint32 // counted from 1
	Row    int64  // the rowid, when HasRow
	HasRow bool
	Msg    string
	Err    error // the cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Table != "" {
		fmt.Fprintf(&b, ": table %s", e.Table)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %s", e.Column)
	}
	if e.HasRow {
		fmt.Fprintf(&b, ": row %d", e.Row)
	}
	if e.Page != 0 {
		fmt.Fprintf(&b, ": page %d", e.Page)
	}
	if e.Msg != "" {
		fmt.Fprintf(&b, ": %s", e.Msg)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault is an *Error for a malformed page of this file.
func (f *File) fault(t *tableInfo, page uint32, format string, args ...any) *Error {
	return &Error{File: f.name, Table: t.tableName(), Page: page, Msg: fmt.Sprintf(format, args...)}
}
