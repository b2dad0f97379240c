package exports_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/internal/exports"
)

// TestRepeat: a copy is later, with correlation ids of its own; the rest stays as it was. Texts of any length come back.
func TestRepeat(t *testing.T) {
	for _, long := range []int{0, 32_000, 65_000, 65_501, 65_502, 70_000, 131_000, 1_000_000} {
		tables := []*exports.Table{
			{Name: "StringIds", Columns: []string{"id", "value"}, Rows: [][]any{{int64(3), "short"}, {int64(9), strings.Repeat("x", long)}, {int64(10), "after"}}},
			{Name: "EMPTY", Columns: []string{"start", "end"}},
			{Name: "CALLS", Columns: []string{"start", "end", "correlationId", "ratio"}, Rows: [][]any{{int64(100), int64(400), int64(7), 0.5}, {int64(50), nil, nil, nil}}},
		}
		path := filepath.Join(t.TempDir(), "a.sqlite")
		if err := exports.Repeat(path, tables, 3); err != nil {
			t.Fatal(err)
		}
		const span, ids = 350 + 1_000_000, 8
		calls := [][]any{{int64(100), int64(400), int64(7), 0.5}, {int64(50), nil, nil, nil},
			{int64(100 + span), int64(400 + span), int64(7 + ids), 0.5}, {int64(50 + span), nil, nil, nil},
			{int64(100 + 2*span), int64(400 + 2*span), int64(7 + 2*ids), 0.5}, {int64(50 + 2*span), nil, nil, nil}}
		got := read(t, path)
		if !reflect.DeepEqual(got[0].Rows, tables[0].Rows) || len(got[1].Rows) != 0 || !reflect.DeepEqual(got[2].Rows, calls) {
			t.Errorf("a text of %d characters: %v, %v", long, got[1].Rows, got[2].Rows)
		}
	}
}

// TestIntegers: integers of every length come back.
func TestIntegers(t *testing.T) {
	table := &exports.Table{Name: "T", Columns: []string{"a"}}
	for bits := range 64 {
		for _, n := range []int64{1<<bits - 1, 1 << bits, -(1 << bits), -(1 << bits) - 1} {
			table.Rows = append(table.Rows, []any{n})
		}
	}
	path := filepath.Join(t.TempDir(), "a.sqlite")
	if err := exports.Repeat(path, []*exports.Table{table}, 1); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); !reflect.DeepEqual(got[0].Rows, table.Rows) {
		t.Errorf("%v, not %v", got[0].Rows, table.Rows)
	}
}

// TestManyPages: rows of many pages come back, under one level of pages or several.
func TestManyPages(t *testing.T) {
	table := &exports.Table{Name: "T", Columns: []string{"a", "b"}}
	for i := range int64(50_000) {
		table.Rows = append(table.Rows, []any{i, strings.Repeat("y", int(i%97))})
	}
	for _, fan := range []int{0, 2, 3} {
		path := filepath.Join(t.TempDir(), "a.sqlite")
		w, err := exports.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w.Fan = cmp.Or(fan, w.Fan)
		if err := errors.Join(w.Add(table, slices.Values(table.Rows)), w.Close()); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); !reflect.DeepEqual(got[0].Rows, table.Rows) {
			t.Errorf("%d pages under one: %d rows, not %d", fan, len(got[0].Rows), len(table.Rows))
		}
	}
}

func read(t *testing.T, path string) []*exports.Table {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := exports.Read(data, path)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
