package sqlite

import (
	"context"
	"errors"
	"sync"

	"prof/ingest/nsys/table"
)

// tableInfo is one table of the schema.
type tableInfo struct {
	name string
	root uint32
	sql  string    // the statement that made it, until once has parsed it
	once sync.Once // see File.table
	ddl
	err error // why it cannot be read
}

// table returns a table whose statement is parsed, nil when there is none: an export has some sixty, of which few are read.
func (f *File) table(name string) *tableInfo {
	t := f.tables[name]
	if t != nil {
		t.once.Do(t.parse)
	}
	return t
}

func (t *tableInfo) parse() {
	d, err := parseDDL(t.sql)
	t.ddl, t.sql = d, ""
	if t.err == nil {
		t.err = err
	}
}

// tableName is the table's name for errors; there is none before the schema is read.
func (t *tableInfo) tableName() string {
	if t == nil {
		return ""
	}
	return t.name
}

// schemaTable is the table that lists all others; its root is page 1 (section 2.6).
var schemaTable = &tableInfo{
	name: "sqlite_schema",
	root: 1,
	ddl: ddl{alias: -1, cols: []column{
		{name: "type"}, {name: "name"}, {name: "tbl_name"}, {name: "rootpage"}, {name: "sql"},
	}},
}

// readSchema sets the database's tables. Of two with one name, which only a damaged file holds, the first
// counts.
func (f *File) readSchema() error {
	s, err := f.scan(context.Background(), schemaTable, []table.Want{
		{Name: "type", Kind: table.Text}, {Name: "name", Kind: table.Text},
		{Name: "rootpage", Kind: table.Int}, {Name: "sql", Kind: table.Text},
	})
	if err != nil {
		return err
	}
	f.tables = map[string]*tableInfo{}
	return table.Each(s, func(b *table.Batch) error {
		for i := range b.N {
			if b.Cols[0].Texts[i] != "table" {
				continue
			}
			t := newTable(b.Cols[1].Texts[i], b.Cols[2].Ints[i], b.Cols[3].Texts[i])
			if f.tables[t.name] == nil {
				f.tables[t.name] = t
				f.order = append(f.order, t.name)
			}
		}
		return nil
	})
}

func newTable(name string, root int64, sql string) *tableInfo {
	t := &tableInfo{name: name, sql: sql}
	switch {
	case root == 0:
		t.err = errors.New("it is a virtual table")
	case root < 0 || root > 1<<32-1:
		t.err = errors.New("malformed: its root page is out of range")
	default:
		t.root = uint32(root)
	}
	return t
}

// readable returns why a table cannot be scanned, nil when it can.
func (f *File) readable(t *tableInfo) error {
	err := t.err
	switch {
	case err != nil:
	case t.withoutRowid:
		err = errors.New("a WITHOUT ROWID table is not supported")
	default:
		for i := range t.cols {
			if t.cols[i].generated {
				return &Error{File: f.name, Table: t.name, Column: t.cols[i].name,
					Msg: "a table with generated columns is not supported"}
			}
		}
	}
	if err != nil {
		return &Error{File: f.name, Table: t.name, Err: err}
	}
	return nil
}
