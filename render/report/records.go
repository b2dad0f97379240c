package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// reader reads the answers of a report. It keeps the first error, a column that an answer lacks, and has no rows from then on: what is
// written of such a report is thrown away.
type reader struct {
	*judge.Report
	err error
}

// file returns the function that writes a file of a report, from one that reads the answers.
func file(write func(out *bytes.Buffer, r *reader)) func(io.Writer, *judge.Report) error {
	return func(w io.Writer, report *judge.Report) error {
		var out bytes.Buffer
		r := &reader{Report: report}
		write(&out, r)
		if r.err != nil {
			return r.err
		}
		_, err := w.Write(out.Bytes())
		return err
	}
}

// keep remembers the first error.
func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

// read returns the rows of an answer, none where it was not asked for or is empty.
func read[T any](r *reader, rows frame.Rows[T]) []T {
	if r.err != nil || !r.has(rows.Query) {
		return nil
	}
	list, err := rows.Of(r.Frame(rows.Query))
	r.keep(err)
	return list
}

// has reports whether an answer was asked for and has rows.
func (r *reader) has(key string) bool {
	f := r.Frame(key)
	return f != nil && len(f.Rows) > 0
}

// objects returns the rows of an answer as objects with the columns in their order, NULL left out.
func objects[T any](r *reader, rows frame.Rows[T]) []any {
	return typeset.List(read(r, rows), func(row T) *typeset.Object { return object(rows, row) })
}

// object returns a row as an object with the columns in their order, NULL left out.
func object[T any](rows frame.Rows[T], row T) *typeset.Object {
	o := new(typeset.Object)
	rows.Cells(row, func(column string, value any) {
		if value != nil {
			o.Put(column, value)
		}
	})
	return o
}

// per returns a number in a larger unit; nil where it is not known.
func per(x *float64, unit float64) *float64 {
	if x = typeset.Finite(x); x == nil {
		return nil
	}
	return new(*x / unit)
}

// fixed writes a number in a larger unit with so many decimals, as the original's tables do.
func fixed(x *float64, unit float64, decimals int) string {
	if x = per(x, unit); x == nil {
		return typeset.Null
	}
	return fmt.Sprintf("%.*f", decimals, *x)
}

// percent writes a share of 0 to 1.
func percent(x *float64) string {
	if x = typeset.Finite(x); x == nil {
		return typeset.Null
	}
	return typeset.Percent(*x)
}

// integer writes a whole number.
func integer(n *int64) string {
	if n == nil {
		return typeset.Null
	}
	return fmt.Sprint(*n)
}

// orUnknown is a text, or that it is not known.
func orUnknown(text string) string { return cmp.Or(text, "(not known)") }

// Nanoseconds and bytes in the units of the files.
const (
	nsPerMs     = 1e6
	bytesPerMiB = 1 << 20
)

// sourceOf names the query behind a figure.
func sourceOf(f *frame.Frame) string { return fmt.Sprintf("%s v%d", f.Query, f.Version) }
