package tracer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"prof/ingest/nsys/table"
	"prof/internal/file"
)

// scan implements table.Scan.
type scan struct {
	ctx     context.Context
	wants   []table.Want
	missing []bool // by want: no trace has the column
	morsels []morsel
	rows    int64
}

// part is a table of one trace, as far as it is wanted.
type part struct {
	trace  *trace
	table  *blockTable
	source []int // by want: the column, -1 where the table lacks it
	ids    []id
}

// morsel is a block of a part.
type morsel struct {
	*part
	block int
}

func (s *scan) Morsels() int       { return len(s.morsels) }
func (s *scan) Rows() int64        { return s.rows }
func (s *scan) Open() table.Cursor { return newCursor(s) }

// cursor implements table.Cursor. It keeps one file open.
type cursor struct {
	*scan
	cols  []table.Vector
	ints  table.Vector // of a column that is wanted as reals
	at    int          // the morsel to read; that many for none
	open  *os.File
	trace *trace // that is open
	buf   []byte
	cells [][]byte // of the block, by column
}

func newCursor(s *scan) *cursor {
	c := &cursor{scan: s, cols: make([]table.Vector, len(s.wants)), at: len(s.morsels)}
	for i, w := range s.wants {
		c.cols[i].Kind, c.cols[i].Missing = w.Kind, s.missing[i]
	}
	return c
}

// Seek goes to a block.
func (c *cursor) Seek(m int) error {
	if m < 0 || m >= len(c.morsels) {
		return fmt.Errorf("morsel %d of %d", m, len(c.morsels))
	}
	c.at = m
	return nil
}

// Close closes the file that was read last.
func (c *cursor) Close() error {
	c.at, c.buf, c.trace = len(c.morsels), nil, nil
	if c.open == nil {
		return nil
	}
	f := c.open
	c.open = nil
	return f.Close()
}

// Next returns the rows of the block, once.
func (c *cursor) Next(b *table.Batch) (bool, error) {
	if c.at == len(c.morsels) {
		return false, nil
	}
	if err := c.ctx.Err(); err != nil {
		return false, err
	}
	m := c.morsels[c.at]
	c.at = len(c.morsels)
	if err := c.use(m.trace); err != nil {
		return false, err
	}
	from := m.table.blocks[m.block]
	var err error
	if c.buf, c.cells, err = m.trace.cells(c.open, m.table, from, c.buf, c.cells); err != nil {
		return false, err
	}
	rows := int(from.rows)
	for i := range c.cols {
		v := &c.cols[i]
		v.Reset(rows)
		if err := c.decode(m, i, rows); err != nil {
			return false, m.trace.columnFault(m.table, from, c.wants[i].Name, err)
		}
	}
	if from.kind == snapshotBlock && m.table.dropped != nil {
		for i := range c.cols {
			dropRows(&c.cols[i], m.table.dropped)
		}
		rows -= count(m.table.dropped)
	}
	b.N, b.Cols = rows, c.cols
	return rows > 0, nil
}

// columnFault says in which column of a block a fault is.
func (t *trace) columnFault(o *blockTable, b block, column string, err error) error {
	e := t.fault(o, b.at, "column %s", column)
	e.Err = err
	return e
}

// use opens a trace in place of the one that was open.
func (c *cursor) use(t *trace) error {
	if c.trace == t {
		return nil
	}
	if c.open != nil {
		c.open.Close() // it was only read
		c.open, c.trace = nil, nil
	}
	f, err := file.Open(t.path)
	if err != nil {
		return err
	}
	c.open, c.trace = f, t
	return nil
}

// cells reads a block, in buf where that is large enough, and finds its columns.
func (t *trace) cells(r io.ReaderAt, o *blockTable, b block, buf []byte, into [][]byte) (whole []byte, cells [][]byte, err error) {
	if whole, err = t.readWhole(r, o, b, buf); err != nil {
		return nil, nil, err
	}
	if cells, err = cutCells(into[:0], whole[blockHead:], len(o.columns)); err != nil {
		return nil, nil, &Error{File: t.name, At: b.at, Table: o.name, Err: err}
	}
	return whole, cells, nil
}

// errCells means that a block's columns do not fill it.
var errCells = errors.New("malformed: the columns are not those of the table")

// cutCells finds the bytes of so many columns.
func cutCells(cells [][]byte, text []byte, columns int) ([][]byte, error) {
	for range columns {
		if len(text) < 4 {
			return nil, errCells
		}
		n := uint64(binary.LittleEndian.Uint32(text))
		if text = text[4:]; n > uint64(len(text)) {
			return nil, errCells
		}
		cells, text = append(cells, text[:n]), text[n:]
	}
	if len(text) > 0 {
		return nil, errCells
	}
	return cells, nil
}

// decode fills the vector of a want.
func (c *cursor) decode(m morsel, want, rows int) error {
	v, from := &c.cols[want], m.source[want]
	switch {
	case from >= 0 && (v.Kind == table.Text) != (m.table.columns[from].kind == textColumn) && (len(c.cells[from]) != 1 || c.cells[from][0] != noValues):
		return errType
	case from < 0 || len(c.cells[from]) == 1 && c.cells[from][0] == noValues:
		setAllNull(v, rows)
		clear(v.Ints)
		clear(v.Floats)
		clear(v.Texts)
		return nil
	case v.Kind == table.Text:
		return decodeTexts(c.cells[from], v, rows)
	case v.Kind == table.Float:
		return c.decodeFloats(c.cells[from], v, rows)
	}
	if err := decodeInts(c.cells[from], v, rows); err != nil {
		return err
	}
	return m.ids[want].spread(v, m.trace.index)
}

func (c *cursor) decodeFloats(data []byte, v *table.Vector, rows int) error {
	c.ints.Reset(rows)
	if err := decodeInts(data, &c.ints, rows); err != nil {
		return err
	}
	for i, n := range c.ints.Ints {
		v.Floats[i] = float64(n)
	}
	v.Nulls, v.HasNull = c.ints.Nulls, c.ints.HasNull
	return nil
}

// dropRows takes rows out of a vector.
func dropRows(v *table.Vector, dropped []bool) {
	n := 0
	for i, is := range dropped {
		if is {
			continue
		}
		isNull := v.Null(i)
		if v.Nulls[n>>6] &^= 1 << (n & 63); isNull {
			v.SetNull(n)
		}
		switch v.Kind {
		case table.Int:
			v.Ints[n] = v.Ints[i]
		case table.Float:
			v.Floats[n] = v.Floats[i]
		case table.Text:
			v.Texts[n] = v.Texts[i]
		}
		n++
	}
	switch v.Kind {
	case table.Int:
		v.Ints = v.Ints[:n]
	case table.Float:
		v.Floats = v.Floats[:n]
	case table.Text:
		v.Texts = v.Texts[:n]
	}
}
