package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/queries/frame"
	"prof/schema"
)

// Part is how much of a result is in memory at once: rows, and bytes of their texts. It is at least one row.
type Part struct{ Rows, Bytes int }

// Everything is a whole result.
var Everything = Part{math.MaxInt, math.MaxInt}

// Stream runs SQL of the user's that only reads, one statement, and hands over its result while DuckDB still makes it: the first rows,
// and the others in Rest, which ends when to does. Which type a column has is decided by the rows in memory: a whole number or
// decimal after them that does not fit it is a text, and a note says so.
func Stream(ctx context.Context, w *schema.Warehouse, text string, most Part, to func(*frame.Frame) error) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return fmt.Errorf("%w: the SQL is empty", ErrBadArgument)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: the SQL is not UTF-8", ErrBadArgument)
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return errNotDuckDB
		}
		stmt, err := prepareReading(dc, text)
		if err != nil {
			return err
		}
		defer stmt.Close()
		r, err := startReading(ctx, dc, stmt)
		if err != nil {
			return err
		}
		defer r.close()
		f, err := r.frame(most)
		if err != nil {
			return err
		}
		f.SQL = text
		return to(f)
	})
}

var errNotDuckDB = errors.New("not a DuckDB connection")

// reading is a result that DuckDB makes as it is read. The driver always waits for a whole one, so that this goes past it, but leaves
// it the values.
type reading struct {
	ctx   context.Context
	res   *mapping.Result // of rows
	rows  driver.Rows
	names []string
	kinds []string
	given []driver.Value
	cells []any
	done  int64 // rows
	stop  func()
}

// startReading runs the statement that was looked at: planning it anew would often take longer than running it.
func startReading(ctx context.Context, dc driver.Conn, stmt *duckdb.Stmt) (r *reading, err error) {
	conn, err := kept[mapping.Connection](dc)
	if err != nil {
		return nil, err
	}
	prepared, err := kept[mapping.PreparedStatement](stmt)
	if err != nil {
		return nil, err
	}
	r = &reading{ctx: ctx}
	if err := r.borrowRows(dc); err != nil {
		return nil, err
	}
	mapping.DestroyResult(r.res)
	r.stop = interrupting(ctx, *conn)
	if bindings.ExecutePreparedStreaming(*prepared, r.res) == mapping.StateError {
		return nil, errors.Join(r.fault(), r.close())
	}
	for i := range mapping.ColumnCount(r.res) {
		kind := mapping.ColumnLogicalType(r.res, i)
		r.names, r.kinds = append(r.names, mapping.ColumnName(r.res, i)), append(r.kinds, kindName(mapping.GetTypeId(kind)))
		mapping.DestroyLogicalType(&kind)
	}
	r.given, r.cells = make([]driver.Value, len(r.names)), make([]any, len(r.names))
	return r, nil
}

// borrowRows takes the driver's rows of an empty result: they read values of every type, out of any result.
func (r *reading) borrowRows(dc driver.Conn) error {
	q, ok := dc.(driver.QueryerContext)
	if !ok {
		return errNotDuckDB
	}
	rows, err := q.QueryContext(r.ctx, "SELECT 1 LIMIT 0", nil)
	if err != nil {
		return err
	}
	if r.res, err = kept[mapping.Result](rows); err != nil {
		return errors.Join(err, rows.Close())
	}
	r.rows = rows
	return nil
}

// kindNames are the driver's names of the types that decide how a value is written; values of all others are texts.
var kindNames = []struct {
	kind duckdb.Type
	name string
}{
	{duckdb.TYPE_BOOLEAN, "BOOLEAN"}, {duckdb.TYPE_TINYINT, "TINYINT"}, {duckdb.TYPE_SMALLINT, "SMALLINT"}, {duckdb.TYPE_INTEGER, "INTEGER"}, {duckdb.TYPE_BIGINT, "BIGINT"},
	{duckdb.TYPE_UTINYINT, "UTINYINT"}, {duckdb.TYPE_USMALLINT, "USMALLINT"}, {duckdb.TYPE_UINTEGER, "UINTEGER"}, {duckdb.TYPE_UBIGINT, "UBIGINT"}, {duckdb.TYPE_HUGEINT, "HUGEINT"},
	{duckdb.TYPE_UHUGEINT, "UHUGEINT"}, {duckdb.TYPE_FLOAT, "FLOAT"}, {duckdb.TYPE_DOUBLE, "DOUBLE"}, {duckdb.TYPE_DECIMAL, "DECIMAL"}, {duckdb.TYPE_DATE, "DATE"},
	{duckdb.TYPE_TIME, "TIME"}, {duckdb.TYPE_TIME_TZ, "TIMETZ"}, {duckdb.TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"}, {duckdb.TYPE_UUID, "UUID"},
}

func kindName(kind duckdb.Type) string {
	for _, k := range kindNames {
		if k.kind == kind {
			return k.name
		}
	}
	return ""
}

// kept returns what the driver keeps in a struct of its own, found by its type and not by its place. The driver exports no way to it.
func kept[T any](in any) (*T, error) {
	v := reflect.ValueOf(in)
	if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		for i := range v.Elem().NumField() {
			switch f := v.Elem().Field(i); f.Type() {
			case reflect.TypeFor[T]():
				return (*T)(unsafe.Pointer(f.UnsafeAddr())), nil
			case reflect.TypeFor[*T]():
				return (*T)(f.UnsafePointer()), nil
			}
		}
	}
	return nil, fmt.Errorf("this version of duckdb-go keeps no %s in its %T", reflect.TypeFor[T](), in)
}

// interruptEvery is how often a query is interrupted: DuckDB ignores an interrupt that comes before the query starts.
const interruptEvery = 50 * time.Millisecond

// interrupting ends what a connection does when the context ends, until stop is called.
func interrupting(ctx context.Context, conn mapping.Connection) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		again := time.NewTicker(interruptEvery)
		defer again.Stop()
		for {
			mapping.Interrupt(conn)
			select {
			case <-done:
				return
			case <-again.C:
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
	}
}

func (r *reading) close() error {
	r.stop()
	return r.rows.Close()
}

// fault is why the result ended; nil where it is at its end.
func (r *reading) fault() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	text := mapping.ResultError(r.res)
	if text != "" && mapping.ResultErrorType(r.res) == mapping.ErrorTypeInterrupt { // nobody did: another thread failed, and DuckDB reports this one
		text = "the query failed, and DuckDB kept no reason; its result is not complete"
	}
	switch {
	case text == "":
		return nil
	case r.done > 0:
		return fmt.Errorf("after %d rows: %s", r.done, text)
	}
	return errors.New(text)
}

func (r *reading) next() ([]any, error) {
	if err := r.rows.Next(r.given); errors.Is(err, io.EOF) {
		return nil, r.fault() // the driver takes an error for the end
	} else if err != nil {
		return nil, r.unreadable(err)
	}
	for i, v := range r.given {
		r.cells[i] = v
	}
	r.done++
	return r.cells, nil
}

// columnIn matches which column the driver's error is about.
var columnIn = regexp.MustCompile(`index: (\d+)$`)

// unreadable is an error of the driver, which reads fewer types than DuckDB has, for who wrote the SQL.
func (r *reading) unreadable(err error) error {
	name := "a column"
	if m := columnIn.FindStringSubmatch(err.Error()); m != nil {
		if i, wrong := strconv.Atoi(m[1]); wrong == nil && i < len(r.names) {
			name = "column " + r.names[i]
		}
	}
	return fmt.Errorf("%w: %s has a type that prof cannot read: write it as a text, with ::VARCHAR", ErrBadArgument, name)
}

// frame reads the first rows.
func (r *reading) frame(most Part) (*frame.Frame, error) {
	f := newFrame(r.names, r.kinds)
	size := 0
	isLast, err := take(f, r.kinds, r.next, func() bool {
		if len(f.Rows) > 0 {
			for _, v := range f.Rows[len(f.Rows)-1] {
				text, _ := v.(string)
				size += len(text)
			}
		}
		return len(f.Rows) == 0 || len(f.Rows) < most.Rows && size < most.Bytes
	})
	if err != nil {
		return nil, err
	}
	if !isLast {
		f.Rest = r.rest(f)
	}
	return f, nil
}

// rest returns the rows after the first ones.
func (r *reading) rest(f *frame.Frame) func() ([]any, error) {
	row, noted := make([]any, len(r.names)), make([]bool, len(r.names))
	return func() ([]any, error) {
		cells, err := r.next()
		if cells == nil || err != nil {
			return nil, err
		}
		for i, c := range cells {
			row[i] = value(c, r.kinds[i])
			if row[i] == nil || typeOf(r.kinds[i]) == frame.Text {
				continue
			}
			_, isText := row[i].(string)
			switch {
			case f.Columns[i].Type == frame.Text && !isText:
				row[i] = fmt.Sprint(row[i])
			case f.Columns[i].Type != frame.Text && isText && !noted[i]:
				noted[i] = true
				f.Notes = append(f.Notes, fmt.Sprintf("column %s: numbers with too many digits, the first in row %d, are written as texts", r.names[i], r.done))
			}
		}
		return row, nil
	}
}
