package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
)

// check has SQLite read a database, say whether the file is whole, and compare each cell.
const check = `
import json, sqlite3, sys
def compare(path):
    db = sqlite3.connect(path + ".sqlite")
    whole = db.execute("PRAGMA integrity_check").fetchall()
    assert whole == [("ok",)], whole
    wanted = json.load(open(path + ".json"))
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master ORDER BY rowid")]
    assert names == [t["Name"] for t in wanted], names
    for t in wanted:
        name = '"%s"' % t["Name"].replace('"', '""')
        assert [list(c[1:3]) for c in db.execute("PRAGMA table_info(%s)" % name)] == t["Columns"]
        got, want = db.execute("SELECT rowid, * FROM %s ORDER BY rowid" % name).fetchall(), t["Rows"] or []
        assert len(got) == len(want), (len(got), len(want))
        for i, row in enumerate(got):
            assert list(row) == [i + 1] + want[i], (i, row, want[i])
        for i in range(1, len(want) + 1, 97):
            assert db.execute("SELECT count(*) FROM %s WHERE rowid = ?" % name, [i]).fetchone() == (1,)
for path in sys.argv[1:]:
    try:
        compare(path)
    except Exception as e:
        sys.exit("%s: %s: %s" % (path, type(e).__name__, e))
`

type wanted struct {
	Name    string
	Columns [][2]string
	Rows    [][]any
}

// someRows are values of every kind and size.
func someRows(n, longest int, r *rand.Rand) (out [][]any) {
	wholes := []int64{0, 1, -1, 127, 128, -128, -129, 1<<15 - 1, 1 << 15, 1<<31 - 1, -1 << 31, 1 << 31, math.MaxInt64 - 1e6, math.MinInt64}
	for i := range n {
		row := []any{strings.Repeat("é", r.IntN(longest+1)/2), wholes[i%len(wholes)] + int64(i/len(wholes)), r.NormFloat64(), i%2 == 0}
		if i%7 == 3 {
			row[i%4] = nil
		}
		out = append(out, row)
	}
	return out
}

// TestSQLite has SQLite read what is written: trees of one to four levels, rows over several pages, tables without rows.
func TestSQLite(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(program, "-c", "import sqlite3").Run()
	}
	if err != nil {
		t.Skip("python3 with sqlite3 is not installed")
	}
	columns := []frame.Column{{Name: "name", Type: frame.Text, Doc: "the name,\nof \"it\""}, {Name: "total_ns", Type: frame.Int, Doc: "sum"}, {Name: `a "real"`, Type: frame.Float}, {Name: "is_x", Type: frame.Bool}}
	r := rand.New(rand.NewPCG(1, 2))
	var paths []string
	for _, size := range []int{512, 4096, pageSize} {
		for _, n := range []int{0, 1, 2, 3, 30, 31, 32, 33, 900, 6000} {
			longest := []int{10, size, 5 * size}[n%3]
			if n > 500 {
				longest = 40
			}
			path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-rows-in-pages-of-%d", n, size))
			paths = append(paths, path)
			f, err := os.Create(path + ".sqlite")
			if err != nil {
				t.Fatal(err)
			}
			w := newWriter(f, size)
			var all []wanted
			for i, name := range []string{"kernels", `the "ranges"`} {
				rows := someRows(n/(i+1), longest, r)
				all = append(all, wanted{name, [][2]string{{"name", "TEXT"}, {"total_ns", "INTEGER"}, {`a "real"`, "REAL"}, {"is_x", "INTEGER"}}, rows})
				if got, err := w.Table(name, &frame.Frame{Columns: columns, Rows: rows}); err != nil || got != int64(len(rows)) {
					t.Fatalf("%d rows, %v", got, err)
				}
			}
			text, err := json.Marshal(all)
			if err := errors.Join(err, w.Close(), f.Close(), os.WriteFile(path+".json", text, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if said, err := exec.Command(program, append([]string{"-c", check}, paths...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// TestLimits refuses what a database cannot hold, and makes NULL of what it has no value for.
func TestLimits(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "x.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := newWriter(f, 512)
	if _, err := w.Table("a", &frame.Frame{Columns: []frame.Column{{Name: "x"}}, Rows: [][]any{{"a"}, {[]int{1}}}}); err == nil || err.Error() != "table a: row 2: column 1: []int is no value of SQLite" {
		t.Errorf("a list: %v", err)
	}
	for i := range 20 {
		if _, err := w.Table(fmt.Sprint("t", i), &frame.Frame{Columns: []frame.Column{{Name: "x"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "does not fit into a page of 512 bytes") {
		t.Errorf("20 tables in one page: %v", err)
	}
	if got, err := appendRecord(nil, []any{math.NaN(), math.Inf(1)}); err != nil || string(got[:3]) != "\x03\x00\x07" || len(got) != 11 {
		t.Errorf("NaN and infinity: %q, %v", got, err)
	}
}
