package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/nsys/table"
)

// morselRows is how many rows one goroutine reads at a time, at most.
const morselRows = 32 * table.BatchRows

// maxTexts bounds the texts of one column of a Batch, in bytes.
const maxTexts = 64 << 20

// morsel is some rows of a batch.
type morsel struct {
	batch    int
	from, to int64
}

// scan implements table.Scan.
type scan struct {
	*stream
	ctx     context.Context
	table   string
	wants   []table.Want
	place   []int // column for each want, -1 when the table lacks it
	morsels []morsel
}

func (s *scan) Morsels() int       { return len(s.morsels) }
func (s *scan) Rows() int64        { return s.rows }
func (s *scan) Open() table.Cursor { return &cursor{scan: s, batch: -1} }

// cursor implements table.Cursor.
type cursor struct {
	*scan
	batch    int // whose buffers are known; -1 for none
	buffers  []buffer
	at, to   int64
	isOpen   bool
	raw, two []byte
}

var errClosed = errors.New("the cursor was not put on a morsel")

// Seek goes to some rows, and reads where their batch has the columns.
func (c *cursor) Seek(m int) error {
	if m < 0 || m >= len(c.morsels) {
		return fmt.Errorf("morsel %d of %d", m, len(c.morsels))
	}
	to := c.morsels[m]
	c.isOpen, c.at, c.to = true, to.from, to.to
	if c.batch == to.batch {
		return nil
	}
	b := c.batches[to.batch]
	r := &reader{f: c.f, name: c.name, at: b.at - 8, size: math.MaxInt64}
	message, _, _, err := r.message()
	if err == nil {
		_, c.buffers, err = c.layout(message, r.at-b.body)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.table, err)
	}
	c.batch = to.batch
	return nil
}

func (c *cursor) Close() error {
	c.isOpen, c.batch = false, -1
	return nil
}

// Next reads the next rows.
func (c *cursor) Next(b *table.Batch) (bool, error) {
	if !c.isOpen {
		return false, errClosed
	}
	if err := c.ctx.Err(); err != nil || c.at >= c.to {
		return false, err
	}
	n := int(min(table.BatchRows, c.to-c.at))
	b.N = n
	if len(b.Cols) != len(c.wants) {
		b.Cols = make([]table.Vector, len(c.wants))
	}
	for i, w := range c.wants {
		v := &b.Cols[i]
		v.Kind = w.Kind
		v.Reset(n)
		if c.place[i] < 0 {
			v.Missing = true
			clear(v.Ints)
			clear(v.Floats)
			clear(v.Texts)
			for row := range n {
				v.SetNull(row)
			}
			continue
		}
		if err := c.fill(v, c.place[i], n); err != nil {
			return false, fmt.Errorf("%s: %s: column %s: %w", c.name, c.table, w.Name, err)
		}
	}
	c.at += int64(n)
	return true, nil
}

// part reads a part of a buffer into memory that is kept.
func (c *cursor) part(into *[]byte, b buffer, from, n int64) ([]byte, error) {
	if from < 0 || n < 0 || from > b.size-n {
		return nil, errors.New("its values are not where the batch says")
	}
	*into = slices.Grow((*into)[:0], int(n))[:n]
	if n == 0 {
		return *into, nil
	}
	body := c.batches[c.batch].body
	if _, err := c.f.ReadAt(*into, body+b.at+from); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCut, err)
	}
	return *into, nil
}

// fill fills a vector with n values of a column.
func (c *cursor) fill(v *table.Vector, at, n int) error {
	col, first := c.columns[at], 0
	for _, before := range c.columns[:at] {
		first += before.buffers()
	}
	if valid := c.buffers[first]; valid.size > 0 {
		bits, err := c.bits(valid, n)
		if err != nil {
			return err
		}
		for row := range n {
			if !bits(row) {
				v.SetNull(row)
			}
		}
	}
	values := c.buffers[first+1]
	switch col.kind {
	case bools:
		bits, err := c.bits(values, n)
		if err != nil {
			return err
		}
		for row := range n {
			set(v, row, map[bool]int64{true: 1}[bits(row)], true)
		}
	case texts:
		return c.texts(v, col, values, c.buffers[first+2], n)
	default:
		raw, err := c.part(&c.raw, values, c.at*int64(col.width), int64(n*col.width))
		if err != nil {
			return err
		}
		for row := range n {
			switch cell := raw[row*col.width:]; {
			case col.kind == ints:
				set(v, row, col.integer(cell), col.signed || col.width < 8)
			case col.width == 4:
				setFloat(v, row, float64(math.Float32frombits(binary.LittleEndian.Uint32(cell))))
			default:
				setFloat(v, row, math.Float64frombits(binary.LittleEndian.Uint64(cell)))
			}
		}
	}
	return nil
}

// bits returns the truth values of n rows.
func (c *cursor) bits(b buffer, n int) (func(row int) bool, error) {
	from, to := c.at/8, (c.at+int64(n)+7)/8
	raw, err := c.part(&c.raw, b, from, to-from)
	shift := int(c.at - 8*from)
	return func(row int) bool { return raw[(shift+row)/8]>>((shift+row)%8)&1 == 1 }, err
}

func (c column) integer(b []byte) int64 {
	switch {
	case c.width == 1 && c.signed:
		return int64(int8(b[0]))
	case c.width == 1:
		return int64(b[0])
	case c.width == 2 && c.signed:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case c.width == 2:
		return int64(binary.LittleEndian.Uint16(b))
	case c.width == 4 && c.signed:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case c.width == 4:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b)) // ids beyond 2^63 read as negative ones, as SQLite stores them
}

// set sets a whole number, which is one of 64 bits without a sign where it does not fit.
func set(v *table.Vector, row int, n int64, fits bool) {
	if v.Null(row) {
		n = 0
	}
	switch v.Kind {
	case table.Int:
		v.Ints[row] = n
	case table.Float:
		if v.Floats[row] = float64(n); !fits {
			v.Floats[row] = float64(uint64(n))
		}
	case table.Text:
		if v.Texts[row] = strconv.FormatInt(n, 10); !fits {
			v.Texts[row] = strconv.FormatUint(uint64(n), 10)
		}
		if v.Null(row) {
			v.Texts[row] = ""
		}
	}
}

func setFloat(v *table.Vector, row int, f float64) {
	isNull := v.Null(row)
	if isNull {
		f = 0
	}
	if v.Kind == table.Float {
		v.Floats[row] = f
	} else if v.Texts[row] = strconv.FormatFloat(f, 'g', -1, 64); isNull {
		v.Texts[row] = ""
	}
}

// texts fills a vector with texts: each lies between two offsets.
func (c *cursor) texts(v *table.Vector, col column, offsets, chars buffer, n int) error {
	raw, err := c.part(&c.raw, offsets, c.at*int64(col.width), int64((n+1)*col.width))
	if err != nil {
		return err
	}
	at := column{width: col.width, signed: true}
	first, last := at.integer(raw), at.integer(raw[n*col.width:])
	if last < first || last-first > maxTexts {
		return fmt.Errorf("the texts of %d rows take %d bytes", n, last-first)
	}
	text, err := c.part(&c.two, chars, first, last-first)
	if err != nil {
		return err
	}
	all := string(text)
	for row := range n {
		from, to := at.integer(raw[row*col.width:])-first, at.integer(raw[(row+1)*col.width:])-first
		if from < 0 || to < from || to > int64(len(all)) {
			return errors.New("the texts are not in order")
		}
		if v.Texts[row] = ""; !v.Null(row) {
			v.Texts[row] = strings.ToValidUTF8(all[from:to], "\uFFFD")
		}
	}
	return nil
}
