package sqlite_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
	"prof/internal/exports"
)

// TestLongTexts: a batch of long texts has fewer rows, and none is lost.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.sqlite")
	w, err := exports.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const count, long, most = 200, 100_000, 16 << 20
	text := strings.Repeat("x", long)
	if err := w.Add(&exports.Table{Name: "T", Columns: []string{"n", "text"}}, func(yield func([]any) bool) {
		for i := range int64(count) {
			if !yield([]any{i, text}) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan, err := f.Scan(context.Background(), "T", []table.Want{{Name: "n"}, {Name: "text", Kind: table.Text}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	if err := table.Each(scan, func(b *table.Batch) error {
		if b.N*long > most {
			t.Errorf("a batch has %d texts of %d bytes", b.N, long)
		}
		got = append(got, b.Cols[0].Ints...)
		if slices.ContainsFunc(b.Cols[1].Texts, func(s string) bool { return s != text }) {
			t.Errorf("a text is another one")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if len(got) != count || len(slices.Compact(got)) != count {
		t.Errorf("%d rows", len(got))
	}
}
