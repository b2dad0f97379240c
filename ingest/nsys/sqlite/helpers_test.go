package sqlite

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/nsys/table"
)

// fixture returns a fixture's bytes.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil && strings.HasSuffix(name, ".gz") {
		data, err = gunzip(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func gunzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// open opens a fixture.
func open(t testing.TB, name string) *File {
	t.Helper()
	data := fixture(t, name)
	f, err := New(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wants makes a list of wants of "name:kind", where kind is i, f or t, and a question mark makes it optional.
func wants(list string) []table.Want {
	var out []table.Want
	for _, item := range strings.Fields(list) {
		at := strings.LastIndexByte(item, ':')
		kind := map[byte]table.Kind{'i': table.Int, 'f': table.Float, 't': table.Text}[item[at+1]]
		out = append(out, table.Want{Name: item[:at], Kind: kind, Optional: strings.HasSuffix(item, "?")})
	}
	return out
}

// rows scans a table and gives each row's values joined by bars; a NULL is ~.
func rows(f *File, name string, w []table.Want) ([]string, error) {
	s, err := f.Scan(context.Background(), name, w)
	if err != nil {
		return nil, err
	}
	var out []string
	err = table.Each(s, func(b *table.Batch) error {
		for i := range b.N {
			out = append(out, rowText(b, i))
		}
		return nil
	})
	return out, err
}

func rowText(b *table.Batch, i int) string {
	var parts []string
	for c := range b.Cols {
		v := &b.Cols[c]
		switch {
		case v.Null(i):
			if v.Kind == table.Int && v.Ints[i] != 0 || v.Kind == table.Float && v.Floats[i] != 0 ||
				v.Kind == table.Text && v.Texts[i] != "" {
				return "a NULL with a value"
			}
			parts = append(parts, "~")
		case v.Kind == table.Int:
			parts = append(parts, fmt.Sprint(v.Ints[i]))
		case v.Kind == table.Float:
			parts = append(parts, fmt.Sprint(v.Floats[i]))
		default:
			parts = append(parts, v.Texts[i])
		}
	}
	return strings.Join(parts, "|")
}

// mustRows is rows that fails the test.
func mustRows(t *testing.T, f *File, name, list string) []string {
	t.Helper()
	out, err := rows(f, name, wants(list))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// same compares rows.
func same(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("row %d is missing: %s", i, want[i])
		case i >= len(want):
			t.Fatalf("row %d is too many: %s", i, got[i])
		case got[i] != want[i]:
			t.Fatalf("row %d is\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}
