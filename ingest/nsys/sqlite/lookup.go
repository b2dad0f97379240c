package sqlite

import (
	"context"
	"sort"

	"prof/ingest/nsys/table"
)

// stringsTable is the table of an Nsight Systems export that other tables' names refer to.
const stringsTable = "StringIds"

// stringIndex says where StringIds keeps its columns.
type stringIndex struct {
	t      *tableInfo      // nil when there is no such table
	value  int             // the record column of the text
	rowids map[int64]int64 // by id; nil when the id is the rowid
	err    error
}

// scratch is the working memory of one look-up.
type scratch struct {
	page []byte
	seen pageSet
}

// String looks up StringIds by id. It does not cache; each call descends the table's b-tree.
func (f *File) String(id int64) (string, bool, error) {
	f.stringsOnce.Do(func() { f.strings = f.indexStrings() })
	x := &f.strings
	if x.err != nil || x.t == nil {
		return "", false, x.err
	}
	if x.rowids != nil {
		rowid, ok := x.rowids[id]
		if !ok {
			return "", false, nil
		}
		id = rowid
	}
	w, _ := f.pool.Get().(*scratch)
	if w == nil {
		w = &scratch{page: make([]byte, f.pageSize)}
	}
	defer f.pool.Put(w)
	w.seen.reset()
	return f.lookup(x.t, id, x.value, w)
}

// indexStrings finds StringIds and its columns. Exports make the id an alias of the rowid; for a table that was
// rebuilt without that, the ids are read once.
func (f *File) indexStrings() stringIndex {
	t := f.table(stringsTable)
	if t == nil {
		return stringIndex{}
	}
	if err := f.readable(t); err != nil {
		return stringIndex{err: err}
	}
	x := stringIndex{t: t, value: t.find("value")}
	id := t.find("id")
	switch {
	case id == missingColumn:
		return stringIndex{err: &Error{File: f.name, Table: t.name, Column: "id", Err: table.ErrNoColumn}}
	case x.value == missingColumn:
		return stringIndex{err: &Error{File: f.name, Table: t.name, Column: "value", Err: table.ErrNoColumn}}
	case x.value == rowidColumn:
		return stringIndex{err: &Error{File: f.name, Table: t.name, Column: "value", Msg: "it is an integer"}}
	}
	if id != rowidColumn {
		x.rowids, x.err = f.readIDs(t)
	}
	return x
}

func (f *File) readIDs(t *tableInfo) (map[int64]int64, error) {
	s, err := f.scan(context.Background(), t, []table.Want{{Name: "id"}, {Name: rowidName}})
	if err != nil {
		return nil, err
	}
	rowids := map[int64]int64{}
	err = table.Each(s, func(b *table.Batch) error {
		for i, id := range b.Cols[0].Ints {
			if _, ok := rowids[id]; !ok && !b.Cols[0].Null(i) {
				rowids[id] = b.Cols[1].Ints[i]
			}
		}
		return nil
	})
	return rowids, err
}

// lookup returns the text in a column of the row with a rowid, with w for working memory.
func (f *File) lookup(t *tableInfo, rowid int64, col int, w *scratch) (string, bool, error) {
	page, from := t.root, uint32(1)
	for range maxDepth {
		if err := f.checkPage(t, page, from); err != nil {
			return "", false, err
		}
		n, err := f.readNode(t, page, w.page)
		if err != nil {
			return "", false, err
		}
		i, err := f.search(t, &n, rowid)
		if err != nil {
			return "", false, err
		}
		if n.kind == leafPage {
			return f.textOf(t, &n, i, rowid, col, &w.seen)
		}
		page, from = n.child(i), page
	}
	return "", false, f.fault(t, page, "malformed: the b-tree is deeper than %d levels", maxDepth)
}

// search returns the first cell of a page whose key is at least rowid. An interior cell's key is the greatest rowid
// below its child (section 1.6).
func (f *File) search(t *tableInfo, n *node, rowid int64) (int, error) {
	bad := false
	i := sort.Search(n.cells, func(i int) bool {
		key, ok := n.key(i)
		bad = bad || !ok
		return key >= rowid
	})
	if bad {
		return 0, f.fault(t, n.page, "malformed: a cell runs past the page's end")
	}
	return i, nil
}

// key returns the rowid of a page's i-th cell.
func (n *node) key(i int) (int64, bool) {
	c := n.cell(i)
	skip := 4 // the child page
	if n.kind == leafPage {
		_, skip = varint(c)
	}
	if skip == 0 || len(c) < skip {
		return 0, false
	}
	key, size := varint(c[skip:])
	return int64(key), size > 0
}

// textOf returns the text in a column of a leaf's i-th cell, when that holds rowid.
func (f *File) textOf(t *tableInfo, n *node, i int, rowid int64, col int, seen *pageSet) (string, bool, error) {
	if i == n.cells {
		return "", false, nil
	}
	if key, _ := n.key(i); key != rowid {
		return "", false, nil
	}
	var p payload
	if err := p.parse(f, t, n.page, n.cell(i), seen); err != nil {
		return "", false, err
	}
	rec, err := p.fields()
	if err != nil {
		return "", false, err
	}
	for at := 0; ; at++ {
		v, ok, err := rec.next()
		switch {
		case err != nil:
			return "", false, err
		case !ok || at == col && v.serial == 0:
			return "", true, nil
		case at < col:
			continue
		case v.serial < 13 || v.serial%2 == 0:
			e := p.fault("the value is not text")
			e.Column = t.cols[col].name
			return "", false, e
		}
		data, err := p.read(v.off, v.size)
		if err != nil {
			return "", false, err
		}
		return valid(string(data)), true, nil
	}
}
