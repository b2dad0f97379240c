package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/ingest/nsys/table"
)

func TestInts(t *testing.T) {
	values := []int64{0, 1, -1, 2, 127, -128, 128, 32767, -32768, 32768, 1<<23 - 1, -1 << 23, 1 << 23, 1<<31 - 1,
		-1 << 31, 1 << 31, 1<<47 - 1, -1 << 47, 1 << 47, math.MaxInt64, math.MinInt64}
	f := open(t, "types.sqlite")
	var ints, floats []string
	for i, v := range values {
		ints = append(ints, fmt.Sprintf("%d|%d|%d|%s|%d", i, v, 10*i, strings.Repeat("p", i), v))
		floats = append(floats, fmt.Sprintf("%v|%v", float64(v), float64(10*i)))
	}
	n := len(values)
	ints = append(ints, fmt.Sprintf("%d|~|%d|%s|~", n, 10*n, strings.Repeat("p", n)))
	floats = append(floats, fmt.Sprintf("~|%v", float64(10*n)))
	same(t, mustRows(t, f, "ints", "w:i v:i id:i pad:t v:i"), ints)
	same(t, mustRows(t, f, "ints", "v:f id:f"), floats)
}

func TestFloats(t *testing.T) {
	f := open(t, "types.sqlite")
	same(t, mustRows(t, f, "reals", "v:f t:t w:f"), []string{"0.5|x|1.5", "-1e+300|x|1.5", "3|x|1.5", "0|x|1.5",
		"1|x|1.5", "1.152921504606847e+18|x|1.5", "+Inf|x|1.5", "~|x|1.5", "-7.25|x|1.5"})
}

func TestTexts(t *testing.T) {
	f := open(t, "types.sqlite")
	same(t, mustRows(t, f, "texts", "n:i v:t"), []string{"0|", "1|a", "2|" + strings.Repeat("x", 57),
		"3|" + strings.Repeat("y", 58), "4|" + strings.Repeat("z", 300), "5|\u00e9\u4e2d\U0001f600", "6|nul\x00in",
		"7|~", "8|A\uFFFDB"})
}

func TestKindMismatch(t *testing.T) {
	f := open(t, "types.sqlite")
	for _, c := range []struct {
		want string
		row  int64
		msg  string
	}{
		{"i:i", 2, "a real is stored where an integer is expected"},
		{"i:f", 3, "text is stored where a number is expected"},
		{"i:t", 1, "an integer is stored where text is expected"},
		{"f:i", 2, "text is stored where an integer is expected"},
		{"t:t", 2, "an integer is stored where text is expected"},
	} {
		_, err := rows(f, "mixed", wants(c.want))
		var e *Error
		if !errors.As(err, &e) || e.Row != c.row || !e.HasRow || e.Page == 0 || e.Table != "mixed" ||
			e.Column != c.want[:1] || e.File != "types.sqlite" || e.Msg != c.msg {
			t.Errorf("%s gives %v", c.want, err)
		}
	}
	_, err := rows(f, "ints", wants("id:t"))
	if err == nil || !strings.Contains(err.Error(), "column id: row 0") {
		t.Errorf("a rowid as text gives %v", err)
	}
}

// fixtureText is text() of make_fixtures.py.
func fixtureText(i int) string {
	n := i % 70
	if i%7 == 0 {
		n = 37 * i % 3000
	}
	return strings.Repeat(string(rune('a'+i%26)), n)
}

func TestOverflow(t *testing.T) {
	f := open(t, "overflow.sqlite")
	var all, ends, strs []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("%d|%s|%d|%s|%v", i, fixtureText(7*i), -i*1000003, fixtureText(i+1), float64(i)/4))
		ends = append(ends, fmt.Sprintf("%v|%d", float64(i)/4, -i*1000003))
	}
	for i := range 36 {
		strs = append(strs, fmt.Sprintf("%d|%s", 3*i+1, fixtureText(i)))
	}
	same(t, mustRows(t, f, "t", "a:i s:t b:i u:t r:f"), all)
	same(t, mustRows(t, f, "t", "r:f b:i"), ends)
	same(t, mustRows(t, f, "StringIds", "id:i value:t"), strs)
}

// TestBehindOverflow: NULL, 0 and 1 take no bytes, so they seem to lie where the record ends.
func TestBehindOverflow(t *testing.T) {
	f := open(t, "behind.sqlite")
	var want, floats []string
	for _, n := range []int{10, 476, 2000, 1000} {
		want = append(want, fmt.Sprintf("~|0|1|~|1|~||%d|%s", n*1000003, strings.Repeat("s", n)))
		floats = append(floats, fmt.Sprintf("~|0|1|%v", float64(n*1000003)))
	}
	same(t, mustRows(t, f, "t", "n:i z:i o:i r:f f:f u:t e:t l:i s:t"), want)
	same(t, mustRows(t, f, "t", "n:f z:f o:f l:f"), floats)
}

func TestWideHeader(t *testing.T) {
	f := open(t, "overflow.sqlite")
	same(t, mustRows(t, f, "wide", "c699:i c0:i c130:f c350:i"), []string{"699|0|130|350", "1398|0|260|700"})
}

func TestLevels(t *testing.T) {
	f := open(t, "levels.sqlite")
	if f.usable != 480 || f.pageSize != 512 {
		t.Fatalf("page size %d, usable %d", f.pageSize, f.usable)
	}
	if depth, err := f.depth(f.table("n")); depth != 2 || err != nil {
		t.Fatalf("depth %d, %v", depth, err)
	}
	same(t, mustRows(t, f, "n", "w:i id:i v:i"), levelRows())
}

func levelRows() (want []string) {
	for i := range 2500 {
		want = append(want, fmt.Sprintf("%d|%d|%d", i*i*1001-5, 5*i-2000, i))
	}
	return want
}

func TestLargePages(t *testing.T) {
	f := open(t, "page65536.sqlite.gz")
	var want []string
	for i := range 5600 {
		n := i % 5
		if i == 4000 {
			n = 70000
		}
		want = append(want, fmt.Sprintf("%d|%d|%s", i, 3*i, strings.Repeat("s", n)))
	}
	same(t, mustRows(t, f, "t", "id:i a:i s:t"), want)
}

func TestAddedColumns(t *testing.T) {
	f := open(t, "alter.sqlite")
	got := mustRows(t, f, "a", "x:i n:i seven:i neg:i nul:i hex:i two:f seven:f none:i?")
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("%d|~|7|-3|~|16|2|7|~", i))
	}
	same(t, got, append(want, "5|50|51|52|53|54|0.25|51|~"))
	for _, col := range []string{"word:t", "num:t", "real:f"} {
		_, err := rows(f, "a", wants(col))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, "DEFAULT") || e.Row != 1 || e.Column != col[:len(col)-2] {
			t.Errorf("%s gives %v", col, err)
		}
	}
}

// TestParallel reads every leaf as a morsel of its own from several goroutines.
func TestParallel(t *testing.T) {
	f := open(t, "levels.sqlite")
	s, err := f.scan(context.Background(), f.table("n"), wants("w:i id:i v:i"))
	if err != nil {
		t.Fatal(err)
	}
	s.bounds = nil
	for i := range len(s.leaves) + 1 {
		s.bounds = append(s.bounds, i)
	}
	parts := make([][]string, s.Morsels())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			c := s.Open()
			defer c.Close()
			for m := s.Morsels() - 1 - g; m >= 0; m -= 4 { // backwards: morsels may come in any order
				parts[m] = morsel(t, c, m)
			}
		})
	}
	wg.Wait()
	same(t, slices.Concat(parts...), levelRows())
}

func morsel(t *testing.T, c table.Cursor, m int) (out []string) {
	var b table.Batch
	if err := c.Seek(m); err != nil {
		t.Error(err)
	}
	for {
		more, err := c.Next(&b)
		if err != nil {
			t.Error(err)
		}
		if err != nil || !more {
			return out
		}
		for i := range b.N {
			out = append(out, rowText(&b, i))
		}
	}
}

func TestBatches(t *testing.T) {
	f := open(t, "levels.sqlite")
	s, err := f.Scan(context.Background(), "n", wants("v:i none:t?"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Morsels() != 1 || s.Rows() < 2000 || s.Rows() > 3000 {
		t.Errorf("%d morsels, about %d rows", s.Morsels(), s.Rows())
	}
	c := s.Open()
	if err := c.Seek(1); err == nil {
		t.Error("a morsel too many can be sought")
	}
	if err := c.Seek(0); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	var b table.Batch
	for {
		more, err := c.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		if len(b.Cols[0].Ints) != b.N || len(b.Cols[1].Texts) != b.N || !b.Cols[1].Missing || b.Cols[0].Missing {
			t.Error("the vectors do not fit the batch")
		}
		sizes = append(sizes, b.N)
	}
	if !slices.Equal(sizes, []int{2048, 452}) {
		t.Errorf("batches of %v", sizes)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		leaves  int
		perLeaf float64
		want    []int
	}{
		{1, 0, []int{0, 1}},
		{5, 0, []int{0, 5}},
		{100, 10, []int{0, 100}},
		{2, 60000, []int{0, 2}},
		{3, 60000, []int{0, 1, 3}},
		{3, 200000, []int{0, 1, 2, 3}},
		{5000, 50, []int{0, 1666, 3333, 5000}},
	} {
		if got := cut(c.leaves, c.perLeaf); !slices.Equal(got, c.want) {
			t.Errorf("cut(%d, %v) is %v", c.leaves, c.perLeaf, got)
		}
	}
}

func TestContext(t *testing.T) {
	f := open(t, "levels.sqlite")
	ctx, cancel := context.WithCancel(context.Background())
	s, err := f.Scan(ctx, "n", wants("v:i"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Open()
	var b table.Batch
	if err := c.Seek(0); err != nil {
		t.Fatal(err)
	}
	if more, err := c.Next(&b); !more || err != nil {
		t.Fatal(more, err)
	}
	cancel()
	if more, err := c.Next(&b); more || !errors.Is(err, context.Canceled) {
		t.Error(more, err)
	}
	if _, err := f.Scan(ctx, "n", wants("v:i")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAllocs holds the scan of numbers to no allocation per row, for rows of either way to locate them.
func TestAllocs(t *testing.T) {
	for file, c := range map[string]struct{ table, list string }{
		"levels.sqlite": {"n", "id:i v:i w:f"},
		"alter.sqlite":  {"a", "x:i seven:i two:f"},
	} {
		f := open(t, file)
		s, err := f.scan(context.Background(), f.table(c.table), wants(c.list))
		if err != nil {
			t.Fatal(err)
		}
		cur := newCursor(s)
		var b table.Batch
		read := func() {
			if err := cur.Seek(0); err != nil {
				t.Fatal(err)
			}
			for {
				if more, err := cur.Next(&b); err != nil {
					t.Fatal(err)
				} else if !more {
					return
				}
			}
		}
		read()
		if n := testing.AllocsPerRun(10, read); n > 0 {
			t.Errorf("%s: %v allocations a scan", file, n)
		}
	}
}
