package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/nsys/table"
)

func TestHeader(t *testing.T) {
	good := fixture(t, "types.sqlite")
	with := func(at int, b ...byte) []byte {
		data := slices.Clone(good)
		copy(data[at:], b)
		return data
	}
	for _, c := range []struct {
		name string
		data []byte
		is   error
		msg  string
	}{
		{"empty", nil, ErrNotSQLite, "empty"},
		{"text", []byte("no database at all"), ErrNotSQLite, "not an SQLite database"},
		{"magic only", good[:16], ErrTruncated, "16 bytes"},
		{"half", good[:2*512], ErrTruncated, "page 3 of 9 is missing"},
		{"part of a page", good[:8*512+511], ErrTruncated, "page 9 of 9 is missing"},
		{"less than a page, count unknown", with(24, 0, 0, 0, 99)[:200], ErrTruncated, "less than one page"},
		{"page size", with(16, 3, 0), nil, "page size 768"},
		{"reserved", with(20, 33), nil, "33 reserved bytes"},
		{"fractions", with(21, 63), nil, "payload fractions"},
		{"version", with(19, 3), nil, "read version 3"},
		{"schema format", with(44, 0, 0, 0, 5), nil, "schema format 5"},
		{"encoding", with(56, 0, 0, 0, 9), nil, "text encoding 9"},
		{"UTF-16", fixture(t, "utf16.sqlite"), nil, "UTF-16"},
	} {
		_, err := New(bytes.NewReader(c.data), int64(len(c.data)), "x.sqlite")
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "x.sqlite: ") ||
			c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s gives %v", c.name, err)
		}
	}
	if f := open(t, "empty.sqlite"); len(f.tables) != 0 {
		t.Error("an empty database has tables")
	}
	// A page count that is not valid does not matter: the file's size counts.
	if _, err := New(bytes.NewReader(with(24, 0, 0, 0, 99, 0, 0, 1, 0)), int64(len(good)), ""); err != nil {
		t.Error(err)
	}
}

func TestOpenBusy(t *testing.T) {
	for name, c := range map[string]struct {
		suffix  string
		content []byte
		busy    bool
	}{
		"clean":           {},
		"log":             {"-wal", fixture(t, "wal.sqlite-wal"), true},
		"empty log":       {"-wal", []byte{}, false},
		"hot journal":     {"-journal", []byte("\xd9\xd5\x05\xf9 rest"), true},
		"zeroed journal":  {"-journal", make([]byte, 512), false},
		"emptied journal": {"-journal", []byte{}, false},
	} {
		path := filepath.Join(t.TempDir(), "x.sqlite")
		write(t, path, fixture(t, "wal.sqlite"))
		if c.content != nil {
			write(t, path+c.suffix, c.content)
		}
		link := path + ".link"
		if err := os.Symlink(path, link); err != nil {
			link = path
		}
		for _, p := range []string{path, link} {
			f, err := Open(p)
			if errors.Is(err, ErrBusy) != c.busy || (err == nil) == c.busy {
				t.Errorf("%s gives %v", name, err)
			}
			if f != nil {
				same(t, mustRows(t, f, "t", "a:i"), []string{"1"})
				f.Close()
			}
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNotSQLite) {
		t.Errorf("a folder gives %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file gives %v", err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamage patches a fixture and reads a table: the error must name the file, the table and the page.
func TestDamage(t *testing.T) {
	levels, overflow := fixture(t, "levels.sqlite"), fixture(t, "overflow.sqlite")
	f, o := open(t, "levels.sqlite"), open(t, "overflow.sqlite")
	root := f.tables["n"].root
	inner := node1(t, f, root).child(0) // an interior page above leaves
	leaf := node1(t, f, inner).child(0)
	big := overflowCell(t, o, "t")
	for _, c := range []struct {
		name  string
		data  []byte
		table string
		page  uint32
		at    int // in the page
		patch []byte
		msg   string
	}{
		{"page out of range", levels, "n", root, 8, []byte{0xff, 0xff, 0xff, 0xff}, "page 4294967295 of 96"},
		{"page 0", levels, "n", root, 8, []byte{0, 0, 0, 0}, "page 0 of 96"},
		{"cycle", levels, "n", root, 8, be32(root), "occurs twice"},
		{"leaf twice", levels, "n", inner, 8, be32(leaf), "occurs twice"},
		{"endless depth", levels, "n", root, 12, be32At(levels, f, root, root), "deeper than 20"},
		{"leaf too high", levels, "n", root, 8, be32(leaf + 1), "occurs twice|levels above"},
		{"wrong type", levels, "n", leaf, 0, []byte{10}, "10 is not the type"},
		{"interior for leaf", levels, "n", leaf, 0, []byte{5}, "malformed"},
		{"cell count", levels, "n", leaf, 3, []byte{0x40, 0}, "16384 cells"},
		{"cell in the header", levels, "n", leaf, 8, []byte{0, 4}, "a cell at offset 4"},
		{"cell behind the page", levels, "n", leaf, 8, []byte{0xff, 0xff}, "a cell at offset 65535"},
		{"cell in reserved bytes", levels, "n", leaf, 8, []byte{1, 0xe1}, "a cell at offset 481"},
		{"cell past the end", levels, "n", leaf, 8, []byte{1, 0xdf}, "past"},
		{"huge payload", levels, "n", leaf, cellAt(t, f, leaf), bytes.Repeat([]byte{0xff}, 9), "a payload of 18446744073709551615"},
		{"overflow cycle", overflow, "t", big.next, 0, be32(big.next), "used more than once"},
		{"overflow out of range", overflow, "t", big.next, 0, be32(9999), "overflow page 9999 of"},
		{"overflow ends", overflow, "t", big.next, 0, be32(0), "chain ends"},
	} {
		data := slices.Clone(c.data)
		copy(data[int(c.page-1)*512+c.at:], c.patch)
		f, err := New(bytes.NewReader(data), int64(len(data)), "bad.sqlite")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var list []table.Want
		for _, name := range f.Columns(c.table) {
			kind := table.Int
			switch name {
			case "s", "u":
				kind = table.Text
			case "r":
				kind = table.Float
			}
			list = append(list, table.Want{Name: name, Kind: kind})
		}
		_, err = rows(f, c.table, list)
		var e *Error
		if !errors.As(err, &e) || e.File != "bad.sqlite" || e.Table != c.table || e.Page == 0 {
			t.Errorf("%s gives %v", c.name, err)
			continue
		}
		if !slices.ContainsFunc(strings.Split(c.msg, "|"), func(m string) bool { return strings.Contains(e.Msg, m) }) {
			t.Errorf("%s gives %v", c.name, err)
		}
	}
}

func be32(x uint32) []byte { return binary.BigEndian.AppendUint32(nil, x) }

// be32At returns a cell pointer array and more of a root page with its first child set to another page.
func be32At(data []byte, f *File, root, child uint32) []byte {
	page := slices.Clone(data[int(root-1)*512 : int(root)*512])
	copy(page[binary.BigEndian.Uint16(page[12:]):], be32(child))
	return page[12:]
}

func node1(t *testing.T, f *File, page uint32) *node {
	t.Helper()
	n, err := f.readNode(nil, page, make([]byte, f.pageSize))
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

func cellAt(t *testing.T, f *File, page uint32) int {
	return f.usable - len(node1(t, f, page).cell(0))
}

// overflowCell returns a table's first cell whose payload takes at least two overflow pages.
func overflowCell(t *testing.T, f *File, name string) payload {
	t.Helper()
	leaves, err := f.leaves(context.Background(), f.tables[name])
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range leaves {
		n := node1(t, f, page)
		for i := range n.cells {
			var p payload
			if err := p.parse(f, nil, page, n.cell(i), new(pageSet)); err != nil {
				t.Fatal(err)
			}
			if p.size-int64(len(p.local)) > 2*508 {
				return p
			}
		}
	}
	t.Fatal("no overflow")
	return payload{}
}

// TestOverlap gives all cell pointers of a leaf one cell: the rows must not multiply.
func TestOverlap(t *testing.T) {
	data := fixture(t, "levels.sqlite")
	f := open(t, "levels.sqlite")
	leaves, err := f.leaves(context.Background(), f.tables["n"])
	if err != nil {
		t.Fatal(err)
	}
	page := data[int(leaves[1]-1)*512:][:512]
	ptr := binary.BigEndian.Uint16(page[8:])
	for i := range 60 {
		binary.BigEndian.PutUint16(page[8+2*i:], ptr)
	}
	binary.BigEndian.PutUint16(page[3:], 60)
	if f, err = New(bytes.NewReader(data), int64(len(data)), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := rows(f, "n", wants("v:i")); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Error(err)
	}
}

// TestTruncation cuts a file anywhere, once with a header that tells and once with one that does not: each table
// then gives all its rows or an error, never fewer rows.
func TestTruncation(t *testing.T) {
	for _, name := range []string{"types.sqlite", "overflow.sqlite", "levels.sqlite", "names.sqlite"} {
		whole := fixture(t, name)
		f := open(t, name)
		counts := map[string]int{}
		for table := range f.tables {
			n, err := countRows(f, table)
			if err == nil {
				counts[table] = n
			}
		}
		stale := slices.Clone(whole)
		stale[92] ^= 1
		for size := 0; size < len(whole); size += 97 {
			if _, err := New(bytes.NewReader(whole[:size]), int64(size), name); !errors.Is(err, ErrTruncated) && size > 15 {
				t.Fatalf("%s of %d bytes gives %v", name, size, err)
			}
			cut, err := New(bytes.NewReader(stale[:size]), int64(size), name)
			if err != nil {
				continue
			}
			failed := 0
			for table, want := range counts {
				n, err := countRows(cut, table)
				if err != nil {
					failed++
				} else if n != want && cut.Has(table) {
					t.Fatalf("%s of %d bytes: %s has %d rows, not %d", name, size, table, n, want)
				}
			}
			if failed == 0 && name == "levels.sqlite" {
				t.Fatalf("%s of %d bytes reads whole", name, size)
			}
		}
		// A file that shrinks after it was opened.
		r := bytes.NewReader(whole)
		if f, err := New(r, int64(len(whole)), name); err == nil {
			r.Reset(whole[:600])
			for table := range counts {
				if _, err := countRows(f, table); err == nil {
					t.Errorf("%s: %s reads from a file that shrank", name, table)
				} else if !errors.Is(err, ErrTruncated) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// countRows reads a table without any column.
func countRows(f *File, name string) (int, error) {
	s, err := f.Scan(context.Background(), name, nil)
	if err != nil {
		return 0, err
	}
	n := 0
	err = table.Each(s, func(b *table.Batch) error { n += b.N; return nil })
	return n, err
}
