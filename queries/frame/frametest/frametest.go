// Package frametest makes answers of queries for tests.
package frametest

import (
	"slices"
	"strings"

	"prof/queries/frame"
)

// Answer makes an answer of a query from its columns, with those that a test says nothing of. The name of the query may go on: passes of GPU 0.
func Answer(query, columns string, rows ...[]any) *frame.Frame {
	f := &frame.Frame{Query: query, Version: 1, Rows: rows}
	for _, name := range strings.Fields(columns) {
		f.Columns = append(f.Columns, frame.Column{Name: name, Unit: frame.UnitOf(name)})
	}
	return Fill(Typed(f))
}

// read hands over the columns that types read of the query of an answer.
func read(f *frame.Frame, do func(c frame.Column, takesNull, isOptional bool)) {
	query, _, _ := strings.Cut(f.Query, " of ")
	for _, d := range frame.Declarations() {
		if d.Query == query {
			d.Columns(do)
		}
	}
}

// TakesNull reports whether every type that reads a column of the answer's query takes NULL.
func TakesNull(f *frame.Frame, column string) bool {
	takes := true
	read(f, func(c frame.Column, takesNull, _ bool) { takes = takes && (takesNull || c.Name != column) })
	return takes
}

// wholeOf returns the columns that some type reads as whole numbers, which others may read as numbers.
func wholeOf(f *frame.Frame) map[string]bool {
	isWhole := map[string]bool{}
	read(f, func(c frame.Column, _, _ bool) { isWhole[c.Name] = isWhole[c.Name] || c.Type == frame.Int })
	return isWhole
}

// Typed gives the columns of an answer the types that are read, and makes its numbers such numbers.
func Typed(f *frame.Frame) *frame.Frame {
	isWhole := wholeOf(f)
	read(f, func(c frame.Column, _, _ bool) {
		at := f.Index(c.Name)
		if at < 0 {
			return
		}
		has := func(is func(any) bool) bool {
			return slices.ContainsFunc(f.Rows, func(row []any) bool { return len(row) > at && is(row[at]) })
		}
		hasFloat, hasInt := has(func(v any) bool { _, is := v.(float64); return is }), has(func(v any) bool { _, is := v.(int64); return is })
		if isWhole[c.Name] || c.Type == frame.Float && hasInt && !hasFloat {
			c.Type = frame.Int
		}
		f.Columns[at].Type = c.Type
		for i, row := range f.Rows {
			if len(row) <= at {
				continue
			}
			switch v := row[at].(type) {
			case int64:
				if c.Type == frame.Float {
					f.Rows[i] = replaced(row, at, float64(v))
				}
			case float64:
				if c.Type == frame.Int {
					f.Rows[i] = replaced(row, at, int64(v))
				}
			}
		}
	})
	return f
}

// replaced returns a row with another value: others may hold the row too.
func replaced(row []any, at int, value any) []any {
	out := slices.Clone(row)
	out[at] = value
	return out
}

// ofAll are the columns that those of the median pass are, where an answer says nothing of it: of one pass they are the same.
var ofAll = map[string]string{"median_pass_ns": "total_ns", "median_pass_span_ns": "span_total_ns", "pass_saving_ns": "saving_ns", "pass_span_ns": "span_ns"}

// Fill gives an answer all columns that are read of its query: NULL, or zero where that is not taken.
func Fill(f *frame.Frame) *frame.Frame {
	isWhole := wholeOf(f)
	zero := map[frame.Type]any{frame.Text: "", frame.Int: int64(0), frame.Float: 0.0, frame.Bool: false}
	read(f, func(c frame.Column, _, isOptional bool) {
		if isOptional || f.Index(c.Name) >= 0 {
			return
		}
		if isWhole[c.Name] {
			c.Type = frame.Int
		}
		value := zero[c.Type]
		if TakesNull(f, c.Name) {
			value = nil
		}
		f.Columns = append(f.Columns, c)
		all := f.Index(ofAll[c.Name])
		for i, row := range f.Rows {
			value := value
			if all >= 0 && c.Type == frame.Float {
				switch v := row[all].(type) {
				case int64:
					value = float64(v)
				case float64:
					value = v
				}
			}
			f.Rows[i] = append(slices.Clone(row), value)
		}
	})
	return f
}
