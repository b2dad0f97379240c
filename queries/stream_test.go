package queries_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// TestStreamHoldsFewRows reads from a result that no machine could hold, and ends it.
func TestStreamHoldsFewRows(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Named(t, "kernels")...)
	enough := errors.New("enough")
	for name, c := range map[string]struct {
		sql  string
		held queries.Part
		want int
	}{
		"rows":  {"FROM range(1000000000000)", queries.Part{Rows: 100, Bytes: 1 << 20}, 100},
		"bytes": {"SELECT repeat('x', 1000) FROM range(1000000000000)", queries.Part{Rows: 100, Bytes: 5000}, 5},
		"one":   {"SELECT repeat('x', 1000) FROM range(1000000000000)", queries.Part{}, 1},
	} {
		err := queries.Stream(t.Context(), w, c.sql, c.held, func(f *frame.Frame) error {
			if len(f.Rows) != c.want || f.Rest == nil {
				t.Errorf("%s: %d rows in memory, want %d", name, len(f.Rows), c.want)
			}
			rows, before := 0, []any(nil)
			return f.Each(func(row []any) error {
				if rows > c.want && &row[0] != &before[0] {
					t.Fatalf("%s: row %d is in memory", name, rows)
				}
				if rows++; rows == 100_000 {
					return enough
				}
				before = row
				return nil
			})
		})
		if err != enough {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Named(t, "kernels")...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct{ name, sql, want string }{
		{"all rows", "FROM range(30000)", "<nil>"},
		{"as many as fit", "FROM range(10)", "<nil>"},
		{"none", "FROM range(0)", "<nil>"},
		{"an error at once", "SELECT error('broken')", "broken"},
		{"an error on the way", "SELECT CASE WHEN i = 900000 THEN error('broken') ELSE i::VARCHAR END FROM range(1000000) r(i)", "after "},
		{"cancelled", "FROM range(100000000000)", "context canceled"},
		{"begun too late", "FROM range(10)", "context canceled"},
	} {
		rows := 0
		err := queries.Stream(ctx, w, c.sql, queries.Part{Rows: 1, Bytes: 1}, func(f *frame.Frame) error {
			return f.Each(func([]any) error {
				if rows++; c.name == "cancelled" {
					cancel()
				}
				return nil
			})
		})
		if !strings.Contains(fmt.Sprint(err), c.want) || c.want == "<nil>" && err != nil {
			t.Errorf("%s: %v after %d rows", c.name, err, rows)
		}
		if c.name == "all rows" && rows != 30_000 {
			t.Errorf("%d rows of 30000", rows)
		}
	}
}

// TestStreamExact holds that no digit is lost in rows after those that decided the type of their column.
func TestStreamExact(t *testing.T) {
	t.Parallel()
	const large = "170141183460469231731687303715884105727"
	w := testkit.Warehouse(t, testkit.Named(t, "kernels")...)
	var got [][]any
	var notes []string
	err := queries.Stream(t.Context(), w, `SELECT a, b FROM (VALUES (0, 1::HUGEINT, `+large+`::HUGEINT), (1, 2, NULL), (2, `+large+`, 3), (3, `+large+`, 4)) x(i, a, b) ORDER BY i`,
		queries.Part{Rows: 1, Bytes: 1}, func(f *frame.Frame) error {
			if f.Columns[0].Type != frame.Int || f.Columns[1].Type != frame.Text {
				t.Errorf("the columns are %+v", f.Columns)
			}
			err := f.Each(func(row []any) error {
				got = append(got, append([]any{}, row...))
				return nil
			})
			notes = f.Notes
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]any{{int64(1), large}, {int64(2), nil}, {large, "3"}, {large, "4"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	if want := []string{"column a: numbers with too many digits, the first in row 3, are written as texts"}; !reflect.DeepEqual(notes, want) {
		t.Errorf("the notes are %q", notes)
	}
}
