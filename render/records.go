package render

import (
	"fmt"

	"prof/queries/frame"
)

// columnsOf gives the places of columns by name; the error says which one is not there.
func columnsOf(f *frame.Frame, names ...string) (map[string]int, error) {
	at := map[string]int{}
	for _, name := range names {
		if at[name] = f.Index(name); at[name] < 0 {
			return nil, fmt.Errorf("render %s: it has no column %s", f.Query, name)
		}
	}
	return at, nil
}

// record is a row with its columns by name.
type record struct {
	row []any
	at  map[string]int
}

func recordsOf(f *frame.Frame, columns ...string) ([]record, error) {
	at, err := columnsOf(f, columns...)
	if err != nil {
		return nil, err
	}
	out := make([]record, len(f.Rows))
	for i, row := range f.Rows {
		out[i] = record{row, at}
	}
	return out, nil
}

// value is nil where there is NULL. A column that recordsOf was not given is an error in the code: it would else read as the first one.
func (r record) value(column string) any {
	at, given := r.at[column]
	if !given {
		panic("render: recordsOf was not given the column " + column)
	}
	return r.row[at]
}

func (r record) int(column string) int64 {
	n, _ := r.value(column).(int64)
	return n
}

// float gives a number of either type; ok is false where there is NULL.
func (r record) float(column string) (v float64, ok bool) {
	switch v := r.value(column).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// text is "" where there is NULL.
func (r record) text(column string) string {
	s, _ := r.value(column).(string)
	return s
}

func (r record) flag(column string) int64 {
	if is, _ := r.value(column).(bool); is {
		return 1
	}
	return 0
}

// place is the source and GPU of a row.
func (r record) place() [2]int64 { return [2]int64{r.int("source_id"), r.int("device")} }
