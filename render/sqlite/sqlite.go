// Package sqlite writes frames as the tables of an SQLite database, row by row and page by page, in the order in which the rows come. Section numbers
// are those of https://www.sqlite.org/fileformat2.html.
package sqlite

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
)

// Writer writes a database. Tables come one after the other, Close last; without it the file is none.
type Writer struct {
	out    io.WriterAt
	size   int // of a page
	pages  uint32
	tables []tableEntry
}

type tableEntry struct {
	name, sql string
	root      uint32
}

const pageSize = 16 << 10

// New begins a database in an empty file.
func New(out io.WriterAt) *Writer { return newWriter(out, pageSize) }

func newWriter(out io.WriterAt, size int) *Writer {
	return &Writer{out: out, size: size, pages: 1} // the first is written last: it says what there is
}

// Table writes a frame as a table, with what each column means in the table's SQL. It gives the number of rows.
func (w *Writer) Table(name string, f *frame.Frame) (rows int64, err error) {
	t := &tree{w: w}
	var record []byte
	err = f.Each(func(row []any) error {
		rows++
		if record, err = appendRecord(record[:0], row); err != nil {
			return fmt.Errorf("row %d: %w", rows, err)
		}
		return t.add(rows, record)
	})
	if err != nil {
		return rows, fmt.Errorf("table %s: %w", name, err)
	}
	root, err := t.end()
	w.tables = append(w.tables, tableEntry{name, createSQL(name, f.Columns), root})
	return rows, err
}

// createSQL is the statement that a database keeps of a table.
func createSQL(name string, columns []frame.Column) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", quoted(name))
	for i, c := range columns {
		comma := ","
		if i == len(columns)-1 {
			comma = ""
		}
		kind := map[frame.Type]string{frame.Text: "TEXT", frame.Int: "INTEGER", frame.Float: "REAL", frame.Bool: "INTEGER"}[c.Type]
		fmt.Fprintf(&b, "\n  %s %s%s", quoted(c.Name), kind, comma)
		if doc := strings.Join(strings.Fields(c.Doc), " "); doc != "" {
			b.WriteString(" -- " + doc)
		}
	}
	return b.String() + "\n)"
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Close writes the first page: the header (1.3) and the schema (2.6).
func (w *Writer) Close() error {
	leaf := newPage(w.size, leafTable, headerSize)
	for i, t := range w.tables {
		record, err := appendRecord(nil, []any{"table", t.name, t.name, int64(t.root), t.sql})
		if err != nil {
			return err
		}
		cell, err := w.cell(int64(i+1), record)
		if err != nil {
			return err
		}
		if !leaf.fits(len(cell)) {
			return fmt.Errorf("the schema of %d tables does not fit into a page of %d bytes", len(w.tables), w.size)
		}
		leaf.put(cell)
	}
	page := leaf.bytes()
	copy(page, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(page[16:], uint16(w.size))
	copy(page[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, v := range map[int]uint32{24: 1, 28: w.pages, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3_046_000} { // 24 and 92: the change counter, which makes 28 valid
		binary.BigEndian.PutUint32(page[at:], v)
	}
	_, err := w.out.WriteAt(page, 0)
	return err
}

const headerSize = 100 // of the database, on the first page

// page gives the number of a new page.
func (w *Writer) page() (uint32, error) {
	if w.pages == 1<<32-2 { // 1.3
		return 0, fmt.Errorf("an SQLite database has no more than %d pages", w.pages)
	}
	w.pages++
	return w.pages, nil
}

func (w *Writer) write(number uint32, page []byte) error {
	_, err := w.out.WriteAt(page, int64(number-1)*int64(w.size))
	return err
}
