package report

import (
	"fmt"
	"math"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// answered is a row of an answer as the files write it.
type answered struct{ frame.Record }

// answers gives the rows of a report's answer, none where it was not asked for or is empty; the error says which column it lacks.
func answers(r *judge.Report, key string, columns ...string) ([]answered, error) {
	f := r.Frame(key)
	if f == nil || len(f.Rows) == 0 {
		return nil, nil
	}
	rows, err := f.Records(columns...)
	if err != nil {
		return nil, err
	}
	out := make([]answered, len(rows))
	for i, row := range rows {
		out[i] = answered{row}
	}
	return out, nil
}

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

// hasColumn says whether an answer has a column, of those that a query shows on demand.
func hasColumn(f *frame.Frame, column string) bool { return f != nil && f.Index(column) >= 0 }

// sourceOf names the query behind a figure.
func sourceOf(f *frame.Frame) string { return fmt.Sprintf("%s v%d", f.Query, f.Version) }
