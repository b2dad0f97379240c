package render

import (
	"fmt"
	"math"
	"strings"

	"prof/queries"
)

// answered is a row of an answer as the files write it.
type answered struct{ record }

// answers gives the rows of a report's answer, none where it was not asked for or is empty; the error says which column it lacks.
func answers(r *queries.Report, key string, columns ...string) ([]answered, error) {
	f := r.Frame(key)
	if f == nil || len(f.Rows) == 0 {
		return nil, nil
	}
	rows, err := recordsOf(f, columns...)
	if err != nil {
		return nil, err
	}
	out := make([]answered, len(rows))
	for i, row := range rows {
		out[i] = answered{row}
	}
	return out, nil
}

// whyNone says why an answer has no rows.
func whyNone(r *queries.Report, key string) string {
	f := r.Frame(key)
	switch {
	case f == nil:
		return "the query " + key + " was not asked"
	case len(f.Notes) > 0:
		return strings.Join(f.Notes, "; ")
	}
	return "the query " + key + " has no rows for this run"
}

// value is nil where there is NULL.
func (r record) value(column string) any { return r.row[r.at[column]] }

// value is nil where there is NULL, and for a number that JSON cannot hold.
func (r answered) value(column string) any {
	v := r.record.value(column)
	if x, is := v.(float64); is && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return nil
	}
	return v
}

// number gives a whole or broken number; ok is false for NULL.
func (r answered) number(column string) (x float64, ok bool) {
	switch v := r.row[r.at[column]].(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// per gives a number in a larger unit; nil for NULL.
func (r answered) per(column string, unit float64) any {
	if x, ok := r.number(column); ok && r.value(column) != nil {
		return x / unit
	}
	return nil
}

// fixed writes a number in a larger unit with so many decimals, as the original's tables do.
func (r answered) fixed(column string, unit float64, decimals int) string {
	x, ok := r.number(column)
	if !ok {
		return null
	}
	return fmt.Sprintf("%.*f", decimals, x/unit)
}

// percent writes a share of 0 to 1.
func (r answered) percent(column string) string {
	if x, ok := r.number(column); ok {
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	return null
}

// word is a text, with - for NULL.
func (r answered) word(column string) string {
	if v := r.value(column); v != nil {
		return fmt.Sprint(v)
	}
	return null
}

// Nanoseconds and bytes in the units of the files.
const (
	nsPerMs     = 1e6
	bytesPerMiB = 1 << 20
)

// hasColumn says whether an answer has a column, of those that a query shows on demand.
func hasColumn(f *queries.Frame, column string) bool { return f != nil && f.Index(column) >= 0 }

// sourceOf names the query behind a figure.
func sourceOf(f *queries.Frame) string { return fmt.Sprintf("%s v%d", f.Query, f.Version) }
