// Package rows is how the rows of a source leave its reader: a Sink takes them, table by table. What is behind one, a database or memory, no
// reader knows.
package rows

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Sink takes the rows of one source. It is for one goroutine, but the Rows given to Insert may be pulled by several. Numbers in columns of ids
// are those that a thing has within its run, 1, 2, ...; 0 and NULL are none.
type Sink interface {
	// Append takes whole rows, one by one, with the values of all columns in the table's order: for tables of moderate size. each calls add
	// once a row, which keeps none of the values. It returns the number of rows.
	Append(ctx context.Context, table string, each func(add Add) error) (int64, error)
	// Insert takes the rows, run_id and, where the table has it, source_id not among their columns, and returns their number. The order of
	// rows within the table is not defined.
	Insert(ctx context.Context, table string, rows Rows) (int64, error)
	// Lean bounds the memory in which the sink keeps what it took, beside what it needs anyway: so many MB for each thread that writes, see
	// RoomOfNumbers. It holds until restore is called.
	Lean(room int) (restore func() error)
}

// Add takes the values of one row.
type Add func(values ...any) error

// Room of a thread that writes, in MB; what is written beyond it goes to the file at once.
const (
	RoomOfNumbers = 24 // for the widest table of numbers
	RoomOfTexts   = 72 // for tables with texts that are all different, which are compressed together
)

// Type is the type of a column that a Worker fills.
type Type uint8

// The types of columns.
const (
	BigInt  Type = iota // Chunk.Int64
	Integer             // Chunk.Int32
	Double              // Chunk.Float64
	Varchar             // Chunk.SetText
)

// Column names a table's column and the type it is filled in.
type Column struct {
	Name string
	Type Type
}

// Rows is a source of rows that several threads pull in parallel.
type Rows interface {
	// Columns are the columns that its workers fill, in order. All other columns of the table are left NULL.
	Columns() []Column
	// Estimate is the expected number of rows, -1 when unknown.
	Estimate() int64
	// Worker returns one thread's state. Fill is called on it until it returns 0 rows.
	Worker() Worker
}

// Worker fills chunks for one thread.
type Worker interface {
	// Fill writes up to Chunk.Cap rows and returns their number; 0 ends the worker.
	Fill(c *Chunk) (int, error)
}

// Recovered makes an error of a panic; it is deferred.
func Recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error while reading: %v\n%s", p, debug.Stack())
	}
}
