package diff

import (
	"fmt"

	"prof/queries/frame"
)

// table reads the rows of a frame one after the other. It keeps the first error: a column that is not there, or holds something else.
type table struct {
	f   *frame.Frame
	at  int // row, from 1
	col map[string]int
	err error
}

func (t *table) next() bool {
	if t.col == nil {
		t.col = make(map[string]int, len(t.f.Columns))
		for i, c := range t.f.Columns {
			t.col[c.Name] = i
		}
	}
	t.at++
	return t.err == nil && t.at <= len(t.f.Rows)
}

func (t *table) value(column string) any {
	i, ok := t.col[column]
	if !ok {
		if t.err == nil {
			t.err = fmt.Errorf("query %s has no column %s", t.f.Query, column)
		}
		return nil
	}
	return t.f.Rows[t.at-1][i]
}

func cell[T any](t *table, column string) (T, bool) {
	v := t.value(column)
	out, ok := v.(T)
	if !ok && v != nil && t.err == nil {
		t.err = fmt.Errorf("query %s, row %d: %s is %v, not %T", t.f.Query, t.at, column, v, out)
	}
	return out, ok
}

// text returns a text, "" for NULL.
func (t *table) text(column string) string {
	s, _ := cell[string](t, column)
	return s
}

func (t *table) flag(column string) bool {
	b, _ := cell[bool](t, column)
	return b
}

// whole returns a whole number, nil for NULL.
func (t *table) whole(column string) *int64 {
	if n, ok := cell[int64](t, column); ok {
		return &n
	}
	return nil
}

// count gives a whole number of something of which there is none where the column is NULL.
func (t *table) count(column string) int64 {
	n, _ := cell[int64](t, column)
	return n
}

// number returns a number, 0 for NULL.
func (t *table) number(column string) float64 {
	if n := t.amount(column); n != nil {
		return *n
	}
	return 0
}

// amount returns a number, nil for NULL.
func (t *table) amount(column string) *float64 {
	switch v := t.value(column).(type) {
	case float64:
		return &v
	case int64:
		f := float64(v)
		return &f
	case nil:
	default:
		if t.err == nil {
			t.err = fmt.Errorf("query %s, row %d: %s is %v, not a number", t.f.Query, t.at, column, v)
		}
	}
	return nil
}
