package arrow

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/ingest/nsys/table"
)

// written opens a file of these bytes.
func written(t testing.TB, data []byte) (*Export, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.arrows")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(path)
}

func open(t testing.TB, data []byte) *Export {
	t.Helper()
	e, err := written(t, data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// read returns a table's rows, values joined by bars; a NULL is ~.
func read(t testing.TB, e *Export, name string, wants []table.Want) (out []string, err error) {
	t.Helper()
	s, err := e.Scan(t.Context(), name, wants)
	if err != nil {
		return nil, err
	}
	err = table.Each(s, func(b *table.Batch) error {
		for i := range b.N {
			var cells []string
			for k := range b.Cols {
				v := &b.Cols[k]
				cell := map[table.Kind]func() string{
					table.Int: func() string { return fmt.Sprint(v.Ints[i]) }, table.Float: func() string { return fmt.Sprint(v.Floats[i]) }, table.Text: func() string { return v.Texts[i] },
				}[v.Kind]()
				if v.Null(i) {
					if cell != "" && cell != "0" {
						t.Errorf("a NULL with the value %q", cell)
					}
					cell = "~"
				}
				cells = append(cells, cell)
			}
			out = append(out, strings.Join(cells, "|"))
		}
		return nil
	})
	if err == nil && s.Rows() != int64(len(out)) {
		t.Errorf("%s announces %d rows and gives %d", name, s.Rows(), len(out))
	}
	return out, err
}

func expect(t *testing.T, e *Export, name string, wants []table.Want, want ...string) {
	t.Helper()
	if got, err := read(t, e, name, wants); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s gives %q, %v; want %q", name, got, err, want)
	}
}

var types = []madeColumn{
	intColumn("i8", 8, true, 1, nil, -128), intColumn("u8", 8, false, 255, nil, 0), intColumn("i16", 16, true, -2, 3, nil), intColumn("u16", 16, false, 65535, nil, 1),
	intColumn("i32", 32, true, -7, nil, 8), intColumn("u32", 32, false, math.MaxUint32, nil, 0), intColumn("i64", 64, true, math.MinInt64, nil, 5), intColumn("u64", 64, false, -144115188075855872, nil, 9),
	floatColumn("f", 4, 1.5, nil, -0.25), floatColumn("d", 8, 0.1, nil, 3.0), boolColumn("b", true, nil, false), textColumn("s", 4, "a", nil, "ünïcode"), textColumn("l", 8, "", "b", nil),
}

// TestTypes reads every type that nsys writes, as every kind.
func TestTypes(t *testing.T) {
	e := open(t, slices.Concat(madeStream("T", 2, types...), madeStream("EMPTY", 5, intColumn("a", 32, true), textColumn("s", 8)), madeStream("StringIds", 9, intColumn("id", 32, true, 4, 7), textColumn("value", 8, "four", "seven"))))
	ints := func(names ...string) (out []table.Want) {
		for _, n := range names {
			out = append(out, table.Want{Name: n})
		}
		return out
	}
	expect(t, e, "T", ints("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "b"),
		"1|255|-2|65535|-7|4294967295|-9223372036854775808|-144115188075855872|1", "~|~|3|~|~|~|~|~|~", "-128|0|~|1|8|0|5|9|0")
	expect(t, e, "T", []table.Want{{Name: "f", Kind: table.Float}, {Name: "d", Kind: table.Float}, {Name: "u64", Kind: table.Float}, {Name: "s", Kind: table.Text}, {Name: "l", Kind: table.Text}, {Name: "u64", Kind: table.Text}, {Name: "d", Kind: table.Text}},
		"1.5|0.1|1.8302628885633696e+19|a||18302628885633695744|0.1", "~|~|~|~|b|~|~", "-0.25|3|9|ünïcode|~|9|3")
	expect(t, e, "T", []table.Want{{Name: "absent", Optional: true}, {Name: "i8"}}, "~|1", "~|~", "~|-128")
	expect(t, e, "EMPTY", ints("a"))
	if _, err := read(t, e, "T", ints("absent")); !errors.Is(err, table.ErrNoColumn) {
		t.Error(err)
	}
	for _, w := range []table.Want{{Name: "s"}, {Name: "d"}, {Name: "s", Kind: table.Float}} {
		if _, err := read(t, e, "T", []table.Want{w}); err == nil || !strings.Contains(err.Error(), "has a type that no known export has") {
			t.Errorf("%v: %v", w, err)
		}
	}
	if got := e.Tables(); !slices.Equal(got, []string{"EMPTY", "StringIds", "T"}) || !e.Has("T") || e.Has("S") || len(e.Columns("T")) != len(types) || e.Columns("S") != nil {
		t.Error(got, e.Columns("T"))
	}
	for id, want := range map[int64]string{4: "four", 7: "seven", 5: ""} {
		if got, ok, err := e.String(id); got != want || ok != (want != "") || err != nil {
			t.Error(id, got, ok, err)
		}
	}
}

// TestManyRows reads more than a morsel, in file order, NULLs in their places, from several goroutines.
func TestManyRows(t *testing.T) {
	const n = 150_001
	ids, texts := make([]any, n), make([]any, n)
	for i := range n {
		if ids[i] = i; i%7 > 0 {
			texts[i] = fmt.Sprint("s", i)
		}
	}
	e := open(t, madeStream("T", 100_003, intColumn("i", 64, true, ids...), textColumn("s", 8, texts...)))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			got, err := read(t, e, "T", []table.Want{{Name: "i"}, {Name: "s", Kind: table.Text}})
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

// TestCut: a file that is cut anywhere gives an error that names it, and no panic.
func TestCut(t *testing.T) {
	whole := madeStream("T", 2, types...)
	if !Sniff("", whole) || Sniff("", whole[8:]) {
		t.Error("it is not known by its beginning")
	}
	for n := range whole {
		e, err := written(t, whole[:n])
		if err == nil {
			e.Close()
			t.Fatalf("%d of %d bytes were opened", n, len(whole))
		}
		if !errors.Is(err, ErrCut) || !strings.Contains(err.Error(), "x.arrows") {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if _, err := written(t, append(slices.Clone(whole), whole...)); err == nil || !strings.Contains(err.Error(), "the table T is there twice") {
		t.Error(err)
	}
	if _, err := written(t, []byte("no stream at all")); err == nil || !strings.Contains(err.Error(), "byte 0: no Arrow message begins here") {
		t.Error(err)
	}
}

// FuzzOpen opens arbitrary bytes and reads all columns as every kind: nothing may crash, and a table gives the rows that it announces or an error.
func FuzzOpen(f *testing.F) {
	whole := madeStream("T", 2, types...)
	f.Add(whole)
	f.Add(slices.Concat(madeStream("StringIds", 9, intColumn("id", 32, true, 4, 7), textColumn("value", 8, "four", "seven")), whole[:len(whole)/2]))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := written(t, data)
		if err != nil {
			return
		}
		defer e.Close()
		for _, name := range e.Tables() {
			for _, c := range e.Columns(name) {
				for _, kind := range []table.Kind{table.Int, table.Float, table.Text} {
					if _, err := read(t, e, name, []table.Want{{Name: c, Kind: kind}}); err != nil && !strings.Contains(err.Error(), "x.arrows: ") {
						t.Errorf("column %q: %v", c, err)
					}
				}
			}
		}
	})
}
