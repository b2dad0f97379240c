// Package table is what every reader of an Nsight Systems export gives: the tables of one export, read as batches
// of typed columns by any number of goroutines.
package table

import (
	"context"
	"errors"
)

// BatchRows is the most rows a Batch holds. It equals DuckDB's vector size, so that one batch becomes one chunk.
const BatchRows = 2048

// Kind is the type that a caller wants a column in.
type Kind uint8

// The kinds a column can be asked for as.
const (
	Int   Kind = iota // 64-bit signed integers; a stored real or text is an error
	Float             // 64-bit floats; a stored integer is converted, a text is an error
	Text              // UTF-8 text; a stored number is an error
)

// Want names a column to read. A column that the export lacks reads as all NULL when Optional, else Scan fails.
type Want struct {
	Name     string
	Kind     Kind
	Optional bool
}

// ErrNoColumn is wrapped by Scan's error when a column that is not optional is missing.
var ErrNoColumn = errors.New("no such column")

// Vector is one column of a Batch. Only the slice of its Kind is set; its length is the batch's row count.
// A NULL reads as 0 or "" in the slice, so callers that care ask Null.
type Vector struct {
	Kind   Kind
	Ints   []int64
	Floats []float64
	Texts  []string
	// Nulls has a bit a row (row%64 of word row/64), set where the value is NULL.
	Nulls [BatchRows / 64]uint64
	// HasNull reports whether any bit of Nulls is set.
	HasNull bool
	// Missing reports whether the export has no such column at all (every row is NULL).
	Missing bool
}

// Null reports whether row i is NULL.
func (v *Vector) Null(i int) bool { return v.HasNull && v.Nulls[i>>6]&(1<<(i&63)) != 0 }

// SetNull marks row i as NULL.
func (v *Vector) SetNull(i int) {
	v.Nulls[i>>6] |= 1 << (i & 63)
	v.HasNull = true
}

// Reset empties the vector for up to n rows without NULLs, keeping its memory.
func (v *Vector) Reset(n int) {
	if v.HasNull {
		clear(v.Nulls[:])
		v.HasNull = false
	}
	switch v.Kind {
	case Int:
		v.Ints = resize(v.Ints, n)
	case Float:
		v.Floats = resize(v.Floats, n)
	case Text:
		v.Texts = resize(v.Texts, n)
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	return s[:n]
}

// Batch is up to BatchRows consecutive rows: Cols in the order of the scan's wants.
type Batch struct {
	N    int
	Cols []Vector
}

// Export is an opened export. All its methods are safe for concurrent use.
type Export interface {
	// Has reports whether the export holds the table.
	Has(table string) bool
	// Tables lists the tables by name.
	Tables() []string
	// Columns returns a table's column names in file order, nil when there is no such table.
	Columns(table string) []string
	// Scan prepares reading of a table's columns. The table must exist.
	Scan(ctx context.Context, table string, wants []Want) (Scan, error)
	// String looks up StringIds by id; ok is false when there is no such id. It does not cache.
	String(id int64) (s string, ok bool, err error)
	Close() error
}

// Noted is an Export that has something to say of what it lacks.
type Noted interface {
	Notes() []string
}

// Scan is one prepared reading of a table, cut into morsels that can be read in any order and in parallel.
type Scan interface {
	// Morsels is how many pieces there are. Rows of one morsel precede the rows of the next in file order.
	Morsels() int
	// Rows is an estimate of the row count (exact where the format says), for progress and sizing; -1 if unknown.
	Rows() int64
	// Open returns a cursor; each goroutine uses its own.
	Open() Cursor
}

// Cursor reads morsels. It is for one goroutine.
type Cursor interface {
	// Seek goes to the start of a morsel.
	Seek(morsel int) error
	// Next fills b with the next rows of the morsel (at least 1, at most BatchRows). It gives false at the morsel's end.
	// The batch's slices belong to the cursor and hold until the next call.
	Next(b *Batch) (bool, error)
	Close() error
}

// Strings reads StringIds; it is empty where the export has none.
func Strings(e Export) (map[int64]string, error) {
	out := map[int64]string{}
	if !e.Has("StringIds") {
		return out, nil
	}
	s, err := e.Scan(context.Background(), "StringIds", []Want{{Name: "id"}, {Name: "value", Kind: Text}})
	if err != nil {
		return nil, err
	}
	return out, Each(s, func(b *Batch) error {
		for i := range b.N {
			out[b.Cols[0].Ints[i]] = b.Cols[1].Texts[i]
		}
		return nil
	})
}

// Each reads all rows of a scan in file order.
func Each(s Scan, f func(b *Batch) error) error {
	c := s.Open()
	defer c.Close()
	var b Batch
	for m := range s.Morsels() {
		if err := EachBatch(c, m, &b, f); err != nil {
			return err
		}
	}
	return nil
}

// EachBatch reads all rows of one morsel into b, batch after batch.
func EachBatch(c Cursor, morsel int, b *Batch, f func(b *Batch) error) error {
	if err := c.Seek(morsel); err != nil {
		return err
	}
	for {
		more, err := c.Next(b)
		if err != nil || !more {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}
