package report

import (
	"bytes"
	"fmt"
	"io"
	"math"

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

// rows returns the rows of an answer, none where it was not asked for or is empty.
func (r *reader) rows(key string, columns ...string) []answered {
	f := r.Frame(key)
	if r.err != nil || !r.has(key) {
		return nil
	}
	rows, err := f.Records(columns...)
	r.keep(err)
	out := make([]answered, len(rows))
	for i, row := range rows {
		out[i] = answered{row}
	}
	return out
}

// has reports whether an answer was asked for and has rows.
func (r *reader) has(key string) bool {
	f := r.Frame(key)
	return f != nil && len(f.Rows) > 0
}

// answered is a row of an answer as the files write it.
type answered struct{ frame.Record }

// value is nil where there is NULL, and for a number that JSON cannot hold.
func (r answered) value(column string) any {
	v := r.Record.Value(column)
	if x, is := v.(float64); is && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}

// per gives a number in a larger unit; nil for NULL.
func (r answered) per(column string, unit float64) any {
	if x, ok := r.Finite(column); ok {
		return x / unit
	}
	return nil
}

// fixed writes a number in a larger unit with so many decimals, as the original's tables do.
func (r answered) fixed(column string, unit float64, decimals int) string {
	x, ok := r.Finite(column)
	if !ok {
		return typeset.Null
	}
	return fmt.Sprintf("%.*f", decimals, x/unit)
}

// percent writes a share of 0 to 1.
func (r answered) percent(column string) string {
	if x, ok := r.Finite(column); ok {
		return typeset.Percent(x)
	}
	return typeset.Null
}

// word is a text, with - for NULL.
func (r answered) word(column string) string {
	if v := r.value(column); v != nil {
		return fmt.Sprint(v)
	}
	return typeset.Null
}

// Nanoseconds and bytes in the units of the files.
const (
	nsPerMs     = 1e6
	bytesPerMiB = 1 << 20
)

// sourceOf names the query behind a figure.
func sourceOf(f *frame.Frame) string { return fmt.Sprintf("%s v%d", f.Query, f.Version) }
