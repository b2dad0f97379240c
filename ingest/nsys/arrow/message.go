package arrow

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/ingest/nsys/table"
)

// Numbers of Arrow's Message.fbs and Schema.fbs.
const (
	mark        = 0xffffffff // begins a message
	maxMessage  = 16 << 20   // bytes of a message without its values
	schemaType  = 1
	recordBatch = 3

	intType       = 2
	floatType     = 3
	utf8Type      = 5
	boolType      = 6
	largeUtf8Type = 20
)

// kind is how the values of a column are stored.
type kind uint8

const (
	ints kind = iota
	floats
	bools
	texts
)

type column struct {
	name   string
	kind   kind
	width  int // bytes of a number, or of an offset of texts
	signed bool
}

// gives reports whether a column can be read as a kind: numbers as each, and texts as such.
func (c column) gives(k table.Kind) bool {
	switch k {
	case table.Int:
		return c.kind == ints || c.kind == bools
	case table.Float:
		return c.kind != texts
	}
	return true
}

// buffers is how many a column has in a batch: whether there is a value, offsets of texts, the values.
func (c column) buffers() int {
	if c.kind == texts {
		return 3
	}
	return 2
}

// reader reads the messages of a file.
type reader struct {
	f        *os.File
	name     string
	at, size int64
}

func (r *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %s", r.name, r.at, fmt.Sprintf(format, args...))
}

// message reads the next message, and goes behind its values. size is 0 at the end of a stream.
func (r *reader) message() (m object, kind byte, b batch, err error) {
	var head [8]byte
	if err := readAt(r.f, r.name, head[:], r.at); err != nil {
		return m, 0, b, err
	}
	if binary.LittleEndian.Uint32(head[:]) != mark {
		return m, 0, b, r.errorf("no Arrow message begins here: the file is damaged, or no export of nsys")
	}
	b.at, b.size = r.at+8, int(binary.LittleEndian.Uint32(head[4:]))
	if b.size == 0 {
		r.at += 8
		return m, 0, b, nil
	}
	if b.size > maxMessage {
		return m, 0, b, r.errorf("the message takes %d bytes", b.size)
	}
	text := make([]byte, b.size)
	if err := readAt(r.f, r.name, text, b.at); err != nil {
		return m, 0, b, err
	}
	m = (&flat{b: text}).object(0)
	kind, length := m.small(1), m.long(3)
	b.body = b.at + int64(b.size)
	if m.bad || length < 0 {
		return m, 0, b, r.errorf("the message is damaged")
	}
	if length > r.size-b.body {
		return m, 0, b, fmt.Errorf("%s: %w", r.name, ErrCut)
	}
	header := m.field(2)
	if header == 0 {
		return m, 0, b, r.errorf("the message is damaged")
	}
	m = m.object(header)
	r.at = b.body + length
	return m, kind, b, nil
}

// stream reads a table: its schema, where its batches are, and the mark of its end.
func (r *reader) stream() (*stream, string, error) {
	begin := r.at
	m, kind, b, err := r.message()
	if err != nil {
		return nil, "", err
	}
	if b.size == 0 || kind != schemaType {
		r.at = begin
		return nil, "", r.errorf("no table begins here")
	}
	s := &stream{f: r.f, name: r.name}
	name, err := s.schema(m)
	if err == nil && name == "" {
		name = strings.TrimSuffix(filepath.Base(r.name), suffix)
	}
	if err != nil {
		r.at = begin
		return nil, "", r.errorf("%v", err)
	}
	for {
		begin = r.at
		m, kind, b, err := r.message()
		if err != nil {
			return nil, "", err
		}
		if b.size == 0 {
			return s, name, nil
		}
		if kind != recordBatch {
			r.at = begin
			return nil, "", r.errorf("a message of %s is of kind %d, which nsys does not write", name, kind)
		}
		if b.rows, _, err = s.layout(m, r.at-b.body); err != nil {
			r.at = begin
			return nil, "", r.errorf("%s: %v", name, err)
		}
		s.batches, s.rows = append(s.batches, b), s.rows+b.rows
	}
}

// schema reads the columns of a table, and its name.
func (s *stream) schema(m object) (name string, err error) {
	at, n := m.vector(1, 4)
	for i := range n {
		f := m.object(at + 4*i)
		c := column{name: f.text(0)}
		known := f.field(4) == 0 // no dictionary
		var t object
		if place := f.field(3); place > 0 {
			t = f.object(place)
		}
		switch f.small(2) {
		case intType:
			c.kind = ints
			if t.flat != nil && t.field(0) > 0 {
				c.width = t.u32(t.field(0)) / 8
			}
			c.signed = t.flat != nil && t.small(1) != 0
			known = known && (c.width == 1 || c.width == 2 || c.width == 4 || c.width == 8)
		case floatType:
			c.kind = floats
			if t.flat != nil {
				c.width = 2 << t.small(0)
			}
			known = known && (c.width == 4 || c.width == 8)
		case boolType:
			c.kind = bools
		case utf8Type:
			c.kind, c.width = texts, 4
		case largeUtf8Type:
			c.kind, c.width = texts, 8
		default:
			known = false
		}
		if m.bad {
			break
		}
		if !known {
			return "", fmt.Errorf("the column %q has a type that nsys does not write", c.name)
		}
		s.columns = append(s.columns, c)
	}
	at, n = m.vector(2, 4)
	for i := range n {
		if pair := m.object(at + 4*i); pair.text(0) == "table_name" {
			name = pair.text(1)
		}
	}
	if m.bad || m.field(0) > 0 && m.u16(m.field(0)) != 0 {
		return "", fmt.Errorf("the schema is damaged, or of big-endian numbers")
	}
	return name, nil
}

// buffer is a part of a batch's values, from their begin.
type buffer struct{ at, size int64 }

// layout returns the rows of a batch and its buffers, all of them inside of its values and long enough for the rows.
func (s *stream) layout(m object, body int64) (rows int64, out []buffer, err error) {
	rows = m.long(0)
	at, nodes := m.vector(1, 16)
	buffersAt, buffers := m.vector(2, 16)
	if m.bad || nodes != len(s.columns) || rows < 0 {
		return 0, nil, fmt.Errorf("a batch has %d columns, its table %d", nodes, len(s.columns))
	}
	if len(s.columns) == 0 {
		rows = 0
	}
	if rows > 8*min(body, 1<<56) { // a column has a bit for each at least
		return 0, nil, fmt.Errorf("a batch of %d bytes has %d rows", body, rows)
	}
	if m.field(3) > 0 {
		return 0, nil, fmt.Errorf("its values are compressed: export the report again, without compression")
	}
	n := 0
	for i, c := range s.columns {
		if m.i64(at+16*i) != rows || n+c.buffers() > buffers {
			return 0, nil, fmt.Errorf("the column %s has other rows than its batch", c.name)
		}
		for k := range c.buffers() {
			b := buffer{m.i64(buffersAt + 16*n), m.i64(buffersAt + 16*n + 8)}
			if m.bad || b.at < 0 || b.size < 0 || b.at > body || b.size > body-b.at || b.size < c.least(k, rows) && (k > 0 || b.size > 0) {
				return 0, nil, fmt.Errorf("the values of the column %s are not where the batch says", c.name)
			}
			out = append(out, b)
			n++
		}
	}
	return rows, out, nil
}

// least is how many bytes a buffer of a column has at least; all values are there where the first has none.
func (c column) least(buffer int, rows int64) int64 {
	switch {
	case rows == 0 || buffer == 2:
		return 0
	case buffer == 0 || c.kind == bools:
		return (rows + 7) / 8
	case c.kind == texts:
		return (rows + 1) * int64(c.width)
	}
	return rows * int64(c.width)
}
