package parquet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"prof/ingest/nsys/table"
)

// write makes a folder with a Parquet file for each query, by table name.
func write(t testing.TB, queries map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's a \"folder\"_pqtdir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, q := range queries {
		if _, err := db.Exec("COPY (" + q + ") TO " + quote(filepath.Join(dir, name+".parquet")) + " (FORMAT parquet)"); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, dir string) *Dir {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// read returns a table's rows, values joined by bars; a NULL is ~.
func read(t testing.TB, d *Dir, name string, wants []table.Want) ([]string, error) {
	t.Helper()
	s, err := d.Scan(t.Context(), name, wants)
	if err != nil {
		return nil, err
	}
	c := s.Open()
	defer c.Close()
	var out []string
	var b table.Batch
	for m := range s.Morsels() {
		if err := c.Seek(m); err != nil {
			return nil, err
		}
		for {
			more, err := c.Next(&b)
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			if b.N < 1 || b.N > table.BatchRows {
				t.Fatalf("a batch of %d", b.N)
			}
			for i := range b.N {
				out = append(out, rowText(t, &b, i))
			}
		}
	}
	if s.Rows() != int64(len(out)) {
		t.Errorf("%s announces %d rows and gives %d", name, s.Rows(), len(out))
	}
	return out, nil
}

func rowText(t testing.TB, b *table.Batch, i int) string {
	var parts []string
	for c := range b.Cols {
		v := &b.Cols[c]
		var text string
		switch v.Kind {
		case table.Int:
			text = fmt.Sprint(v.Ints[i])
		case table.Float:
			text = fmt.Sprint(v.Floats[i])
		case table.Text:
			text = v.Texts[i]
		}
		if v.Null(i) {
			if text != "" && text != "0" {
				t.Errorf("a NULL with the value %q", text)
			}
			text = "~"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "|")
}

func expect(t *testing.T, d *Dir, name string, wants []table.Want, want ...string) {
	t.Helper()
	got, err := read(t, d, name, wants)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s gives %q, %v; want %q", name, got, err, want)
	}
}

func TestTypes(t *testing.T) {
	d := open(t, write(t, map[string]string{
		"T": `SELECT * FROM (VALUES (1::TINYINT, 2::USMALLINT, 3::UINTEGER, 4::BIGINT, 5::UBIGINT, 1.5::FLOAT, 'a'),
			(NULL, NULL, NULL, NULL, NULL, NULL, NULL),
			(-128, 65535, 4294967295, -9223372036854775808, 18302628885633695744, -0.25, 'ünïcode'),
			(0, 0, 0, 9223372036854775807, 18446744073709551615, 0, '')) t(i8, u16, u32, i64, u64, f, s)`,
		"EMPTY": `SELECT 1 AS a, 'x' AS s WHERE false`,
	}))
	expect(t, d, "T", []table.Want{{Name: "i8"}, {Name: "u16"}, {Name: "u32"}, {Name: "i64"}, {Name: "u64"}, {Name: "f", Kind: table.Float}, {Name: "s", Kind: table.Text}},
		"1|2|3|4|5|1.5|a", "~|~|~|~|~|~|~", "-128|65535|4294967295|-9223372036854775808|-144115188075855872|-0.25|ünïcode", "0|0|0|9223372036854775807|-1|0|")
	expect(t, d, "T", []table.Want{{Name: "i8", Kind: table.Float}, {Name: "u64", Kind: table.Text}}, "1|5", "~|~", "-128|18302628885633695744", "0|18446744073709551615")
	expect(t, d, "T", []table.Want{{Name: "s", Kind: table.Text}, {Name: "absent", Optional: true}, {Name: "gone", Kind: table.Text, Optional: true}, {Name: "i8"}},
		"a|~|~|1", "~|~|~|~", "ünïcode|~|~|-128", "|~|~|0")
	expect(t, d, "T", []table.Want{{Name: "absent", Optional: true}}, "~", "~", "~", "~")
	expect(t, d, "EMPTY", []table.Want{{Name: "a"}, {Name: "s", Kind: table.Text}})
	if _, err := read(t, d, "T", []table.Want{{Name: "absent"}}); !errors.Is(err, table.ErrNoColumn) || !strings.Contains(err.Error(), "absent") {
		t.Error(err)
	}
	if _, err := read(t, d, "absent", nil); err == nil {
		t.Error("a table that is not there was read")
	}
	if _, err := read(t, d, "T", []table.Want{{Name: "s"}}); err == nil || !strings.Contains(err.Error(), "T.parquet") || strings.Contains(err.Error(), "cut short") {
		t.Error("a text was read as a number:", err)
	}
	if got := d.Tables(); !slices.Equal(got, []string{"EMPTY", "T"}) || !d.Has("T") || d.Has("S") || len(d.Columns("T")) != 7 || d.Columns("S") != nil {
		t.Error(got, d.Columns("T"))
	}
}

// TestManyRows reads more than a batch, in file order, NULLs in their places, from several goroutines.
func TestManyRows(t *testing.T) {
	const n = 150_000
	d := open(t, write(t, map[string]string{
		"T": fmt.Sprintf(`SELECT i, CASE WHEN i %% 7 = 0 THEN NULL ELSE 's' || i END AS s FROM range(%d) r(i)`, n)}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := read(t, d, "T", []table.Want{{Name: "i"}, {Name: "s", Kind: table.Text}})
			if err != nil || len(got) != n {
				t.Error(len(got), err)
				return
			}
			for i, r := range got {
				want := fmt.Sprintf("%d|s%d", i, i)
				if i%7 == 0 {
					want = fmt.Sprintf("%d|~", i)
				}
				if r != want {
					t.Errorf("row %d is %q", i, r)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestStrings(t *testing.T) {
	d := open(t, write(t, map[string]string{"StringIds": `SELECT i AS id, 'value ' || i AS value FROM range(5000) r(i)`}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, id := range []int64{0, 4999, 7} {
				if s, ok, err := d.String(id); err != nil || !ok || s != fmt.Sprint("value ", id) {
					t.Error(s, ok, err)
				}
			}
			if _, ok, err := d.String(5000); ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	wg.Wait()
	none := open(t, write(t, map[string]string{"T": "SELECT 1 AS a"}))
	if _, ok, err := none.String(1); ok || err != nil {
		t.Error(ok, err)
	}
}

func TestCursor(t *testing.T) {
	d := open(t, write(t, map[string]string{"T": `SELECT i FROM range(10000) r(i)`}))
	ctx, cancel := context.WithCancel(t.Context())
	s, err := d.Scan(ctx, "T", []table.Want{{Name: "i"}})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Open()
	var b table.Batch
	if _, err := c.Next(&b); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	for range 3 { // it can be put back, and closed twice
		if err := c.Seek(0); err != nil {
			t.Fatal(err)
		}
		if more, err := c.Next(&b); !more || err != nil || b.Cols[0].Ints[0] != 0 {
			t.Fatal(more, err)
		}
	}
	cancel()
	if _, err := c.Next(&b); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestIs(t *testing.T) {
	for name, want := range map[string]bool{"META_DATA_EXPORT": true, "StringIds": true, "CUPTI_ACTIVITY_KIND_KERNEL": true, "OTHER": false} {
		if got := Is(write(t, map[string]string{name: "SELECT 1 AS a"})); got != want {
			t.Errorf("a folder with %s: %v", name, got)
		}
	}
	if Is(t.TempDir()) || Is("absent") {
		t.Error("a folder without a file, or none")
	}
}

func TestDamage(t *testing.T) {
	dir := write(t, map[string]string{"StringIds": `SELECT i AS id, 'v' || i AS value FROM range(100000) r(i)`, "T": "SELECT 1 AS a"})
	path := filepath.Join(dir, "StringIds.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 3, 4, 12, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := Open(dir)
		if err == nil {
			d.Close()
			t.Fatalf("%d of %d bytes were opened", n, len(whole))
		}
		if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	damaged := slices.Clone(whole)
	for i := len(whole) / 3; i < len(whole)/2; i++ {
		damaged[i] ^= 0x55
	}
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	if _, _, err := d.String(1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the damage was not found: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// FuzzRead opens arbitrary bytes as a table and reads its columns as every type. Nothing may crash, and a table gives the rows that it
// announces or an error.
func FuzzRead(f *testing.F) {
	for _, q := range []string{"SELECT 1 AS id, 'one' AS value", "SELECT i::UBIGINT AS id, CASE WHEN i % 3 > 0 THEN 'text ' || i % 5 END AS value, i / 7 AS f FROM range(40) t(i)"} {
		data, err := os.ReadFile(filepath.Join(write(f, map[string]string{"T": q}), "T.parquet"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[len(data)/2:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "T.parquet"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := Open(dir)
		if err != nil {
			return
		}
		defer d.Close()
		for _, name := range d.Columns("T") {
			for _, kind := range []table.Kind{table.Int, table.Float, table.Text} {
				_, err := read(t, d, "T", []table.Want{{Name: name, Kind: kind}})
				if err != nil && !strings.Contains(err.Error(), "T.parquet: ") {
					t.Errorf("column %q: %v", name, err)
				}
			}
		}
	})
}
