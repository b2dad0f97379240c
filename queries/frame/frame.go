// Package frame is what a query answers: typed columns with their units and what they mean, rows in base units, and notes. It knows no
// warehouse and no rule.
package frame

import (
	"fmt"
	"strings"
)

// Type is the Go type of a column's values in a Frame.
type Type uint8

// The types of a Frame's values. A NULL is nil in a column of any type.
const (
	Text  Type = iota // string
	Int               // int64
	Float             // float64
	Bool              // bool
)

// Unit is the base unit of a column, as the last word of its name says. The empty unit is a plain value.
type Unit string

// The base units. A Ratio is 0 to 1; a Count has no unit but is a number of things.
const (
	None        Unit = ""
	Ns          Unit = "ns"
	Bytes       Unit = "bytes"
	Hz          Unit = "hz"
	Flop        Unit = "flop"
	Count       Unit = "count"
	Ratio       Unit = "ratio"
	BytesPerSec Unit = "bytes_per_s"
	FlopPerSec  Unit = "flop_per_s"
	Watt        Unit = "w"
	Celsius     Unit = "c"
)

var units = []Unit{BytesPerSec, FlopPerSec, Ns, Bytes, Hz, Flop, Count, Ratio, Watt, Celsius}

// UnitOf reads the unit from the last word (or words) of a column's name: total_ns is Ns, dram_bytes_per_s is BytesPerSec.
func UnitOf(column string) Unit {
	for _, u := range units {
		if strings.HasSuffix(column, "_"+string(u)) || column == string(u) && u != Celsius && u != Watt && u != Ratio && u != Count {
			return u
		}
	}
	return None
}

// Column describes one column of a Frame.
type Column struct {
	Name string // as in SQL, CSV and JSON
	Type Type
	Unit Unit
	Doc  string // one sentence: what the value means
}

// Frame is the result of a query: typed columns and rows in base units and full precision. Once Run gives it, nobody
// changes it; renderers scale, round and shorten copies.
type Frame struct {
	Query   string // the query's name, e.g. "top-kernels"; "" for raw SQL
	Version int    // the query's version; 0 for raw SQL
	SQL     string // the statement that gives these rows in any DuckDB client
	Columns []Column
	Rows    [][]any // each as long as Columns; string, int64, float64, bool or nil
	Caveats []Caveat
	Notes   []string // what a reader must know: the words of the caveats
	// Rest gives the rows after Rows, one a call, and nil after the last; the next call may write over them and add notes. Nil where Rows
	// has all of them.
	Rest func() ([]any, error)
}

// Each hands over one row after another, those of Rest too. They must not be kept.
func (f *Frame) Each(do func(row []any) error) error {
	for _, row := range f.Rows {
		if err := do(row); err != nil {
			return err
		}
	}
	for f.Rest != nil {
		row, err := f.Rest()
		if row == nil || err != nil {
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// Index returns the position of a column by name, or -1.
func (f *Frame) Index(column string) int {
	for i, c := range f.Columns {
		if c.Name == column {
			return i
		}
	}
	return -1
}

// Replace changes the texts of a column. It writes over rows, which must be nobody else's.
func (f *Frame) Replace(column string, change func(string) string) {
	at := f.Index(column)
	for _, row := range f.Rows {
		if text, ok := row[at].(string); ok {
			row[at] = change(text)
		}
	}
}

// Check refuses a frame whose rows are not as long as its columns, so that no reader has to guess.
func (f *Frame) Check() error {
	for i, row := range f.Rows {
		if len(row) != len(f.Columns) {
			return fmt.Errorf("query %s: row %d has %d values for %d columns", f.Query, i+1, len(row), len(f.Columns))
		}
	}
	return nil
}
