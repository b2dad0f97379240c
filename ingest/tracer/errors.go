package tracer

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotTrace is wrapped by the error for a file that does not begin as a trace does.
var ErrNotTrace = errors.New("not a trace of prof")

// ErrNoWork is wrapped by Load's error for a recording in which no GPU was used.
var ErrNoWork = errors.New("no CUDA activity was recorded")

// Error says where in a file a fault is.
type Error struct {
	File  string
	At    int64  // byte of the file, where known
	Table string // "" where none is concerned
	Msg   string
	Err   error // the cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Table != "" {
		fmt.Fprintf(&b, ": table %s", e.Table)
	}
	if e.At > 0 {
		fmt.Fprintf(&b, ": byte %d", e.At)
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

func (t *trace) fault(o *blockTable, at int64, format string, args ...any) *Error {
	e := &Error{File: t.name, At: at, Msg: fmt.Sprintf(format, args...)}
	if o != nil {
		e.Table = o.name
	}
	return e
}
