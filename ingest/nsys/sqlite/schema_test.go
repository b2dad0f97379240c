package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"prof/ingest/nsys/table"
)

func TestTables(t *testing.T) {
	want := []string{"types.sqlite", "ints", "reals", "texts", "mixed"}
	if got := open(t, want[0]).Tables(); !slices.Equal(got, want[1:]) {
		t.Errorf("tables %q", got)
	}
	if got := open(t, "empty.sqlite").Tables(); len(got) != 0 {
		t.Errorf("tables %q", got)
	}
}

func TestColumns(t *testing.T) {
	f := open(t, "names.sqlite")
	for name, want := range map[string]string{
		"comments":    "start end text",
		"asc_key":     "v k",
		"gen":         "a b c",
		"no_rowid":    "k v",
		"absent":      "",
		"Comments":    "",
		"a_view":      "",
		"zero":        "a",
		"like_select": "one,the two",
	} {
		sep := " "
		if strings.Contains(want, ",") {
			sep = ","
		}
		if got := strings.Join(f.Columns(name), sep); got != want || f.Has(name) != (want != "") {
			t.Errorf("%s has the columns %q", name, got)
		}
	}
	want := []string{`a "b`, "c d", "e`f", "g'h", "primary", "i", "j", "k,l"}
	if got := f.Columns(`quo"ted`); !slices.Equal(got, want) {
		t.Errorf("columns %q", got)
	}
}

func TestNamedRows(t *testing.T) {
	f := open(t, "names.sqlite")
	same(t, mustRows(t, f, "comments", "end:i text:t start:i"), []string{"2|x|1", "~|y|3"})
	same(t, mustRows(t, f, "like_select", "one:i"), []string{"1"})
	same(t, mustRows(t, f, "zero", "a:i"), nil)
	got, err := rows(f, `quo"ted`, []table.Want{{Name: `a "b`}, {Name: "c d", Kind: table.Text},
		{Name: "e`f", Kind: table.Float}, {Name: "g'h"}, {Name: "primary"}, {Name: "k,l"}, {Name: "i"}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, []string{"1|c|2.5|4|5|7|6"})
}

// TestRowidAlias tells tables whose key is the rowid, which come in key order, from those that only store it.
func TestRowidAlias(t *testing.T) {
	f := open(t, "names.sqlite")
	for name, alias := range map[string]bool{"asc_key": true, "desc_key": false, "table_key": true, "two_key": false,
		"int_key": false, "quoted_type": true, "strict_table": true} {
		want := []string{"70|seventy", "30|thirty"}
		if alias {
			slices.Reverse(want)
		}
		t.Run(name, func(t *testing.T) { same(t, mustRows(t, f, name, "k:i v:t"), want) })
	}
}

func TestScanRefuses(t *testing.T) {
	f := open(t, "names.sqlite")
	for _, c := range []struct {
		table, list, msg string
		is               error
	}{
		{"no_rowid", "k:i", "WITHOUT ROWID", nil},
		{"gen", "a:i", "generated columns", nil},
		{"absent", "a:i", "no such table", ErrNoTable},
		{"zero", "A:i", "no such column", table.ErrNoColumn},
	} {
		_, err := f.Scan(context.Background(), c.table, wants(c.list))
		if err == nil || !strings.Contains(err.Error(), c.msg) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s gives %v", c.table, err)
		}
	}
}

func TestParseDDL(t *testing.T) {
	for _, c := range []struct {
		sql   string
		cols  string // name=decl, then * for an alias, g for generated
		fails bool
	}{
		{sql: "CREATE TABLE t(a)", cols: "a="},
		{sql: "create temp table if not exists main.t(a int, b)", cols: "a=int,b="},
		{sql: "CREATE TABLE t(a integer constraint x primary key, b unsigned big int not null)", cols: "a=integer*,b=unsigned big int"},
		{sql: "CREATE TABLE t(a INTEGER(8) PRIMARY KEY)", cols: "a=INTEGER(8)"},
		{sql: "CREATE TABLE t(a INTEGER REFERENCES x(y) ON DELETE SET DEFAULT, b GENERATED)", cols: "a=INTEGER,b=GENERATED"},
		{sql: "CREATE TABLE t(a, b TEXT GENERATED ALWAYS AS (a || ',)') STORED)", cols: "a=,b=TEXTg"},
		{sql: "CREATE TABLE t(a INTEGER, PRIMARY KEY(a COLLATE binary ASC) ON CONFLICT FAIL)", cols: "a=INTEGER*"},
		{sql: "CREATE TABLE t(a INTEGER, CONSTRAINT [primary] UNIQUE (a) PRIMARY KEY(\"A\"))", cols: "a=INTEGER*"},
		{sql: "CREATE TABLE t(a DEFAULT 'x,y)', b COLLATE nocase -- primary key\n)", cols: "a=,b="},
		{sql: "CREATE TABLE t(\u00e9t\u00e9 INTEGER)", cols: "\u00e9t\u00e9=INTEGER"},
		{sql: "CREATE TABLE t(a, b", fails: true},
		{sql: "CREATE TABLE t(a, )", fails: true},
		{sql: "CREATE TABLE t(a, 5)", fails: true},
		{sql: "CREATE TABLE t(a 'unclosed)", fails: true},
		{sql: "CREATE TABLE t(a, PRIMARY KEY(b))", fails: true},
		{sql: "CREATE VIRTUAL TABLE t USING fts5(a)", fails: true},
		{sql: "", fails: true},
	} {
		d, err := parseDDL(c.sql)
		if c.fails {
			if !errors.Is(err, errDDL) {
				t.Errorf("%s gives %v", c.sql, err)
			}
			continue
		}
		var cols []string
		for i, col := range d.cols {
			text := col.name + "=" + col.decl
			if i == d.alias {
				text += "*"
			}
			if col.generated {
				text += "g"
			}
			cols = append(cols, text)
		}
		if got := strings.Join(cols, ","); err != nil || got != c.cols {
			t.Errorf("%s gives %s, %v", c.sql, got, err)
		}
	}
}
