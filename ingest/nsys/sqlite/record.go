package sqlite

import (
	"encoding/binary"
	"math"
)

// maxHeader bounds a record's header: SQLite's most columns, 32767, of three bytes each and the length itself.
const maxHeader = 98307

// serialSize returns the bytes of a value with a serial type (section 2.1).
func serialSize(serial uint64) uint64 {
	if serial < 12 {
		return uint64(sizes[serial])
	}
	return (serial - 12) / 2
}

// payload is a cell's record, whose tail may lie in a chain of overflow pages. It is read front to back.
type payload struct {
	f     *File
	t     *tableInfo
	page  uint32 // where the cell lies
	rowid int64
	size  int64
	head  int    // the bytes of the cell before local
	local []byte // the part that lies in the cell

	next  uint32   // the chain's next page, 0 at its end
	buf   []byte   // the chain's current page
	chunk []byte   // its content
	start int64    // the payload offset of chunk
	seen  *pageSet // the overflow pages read so far
}

// localSize returns how many of a payload's bytes lie in a table leaf cell (section 1.6).
func (h *header) localSize(size int64) int64 {
	usable := int64(h.usable)
	if size <= usable-35 {
		return size
	}
	least := (usable-12)*32/255 - 23
	if k := least + (size-least)%(usable-4); k <= usable-35 {
		return k
	}
	return least
}

// parse reads a table leaf cell: payload size, rowid, local content, first overflow page. The chain's pages go
// into seen: no page belongs to two chains or twice to one, so a caller that keeps the set over many rows also bounds
// the work that chains with common pages can cause. A payload can be used again for another cell of the same file.
func (p *payload) parse(f *File, t *tableInfo, page uint32, cell []byte, seen *pageSet) error {
	size, n := varint(cell)
	rowid, m := varint(cell[n:])
	*p = payload{f: f, t: t, page: page, rowid: int64(rowid), seen: seen, buf: p.buf}
	if n == 0 || m == 0 {
		return f.fault(t, page, "malformed: a cell runs past the page's end")
	}
	// Nothing longer than the whole file can be stored in it.
	if size > uint64(f.pages)*uint64(f.usable) || size > math.MaxInt32 {
		return p.fault("malformed: a payload of %d bytes in a file of %d pages", size, f.pages)
	}
	p.size, p.head = int64(size), n+m
	cell = cell[p.head:]
	local := f.localSize(p.size)
	stored := local
	if local < p.size {
		stored += 4 // the first overflow page
	}
	if stored > int64(len(cell)) {
		return p.fault("malformed: the cell runs past the page's end")
	}
	p.local, p.start = cell[:local], local
	if local < p.size {
		p.next = binary.BigEndian.Uint32(cell[local:])
	}
	return nil
}

// read returns n bytes from offset off, which the caller has checked to lie in the payload. Offsets never go back.
func (p *payload) read(off, n int64) ([]byte, error) {
	if off+n <= int64(len(p.local)) {
		return p.local[off : off+n : off+n], nil
	}
	out := make([]byte, 0, n)
	if off < int64(len(p.local)) {
		out = append(out, p.local[off:]...)
	}
	for int64(len(out)) < n {
		at := off + int64(len(out))
		for at >= p.start+int64(len(p.chunk)) {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		part := p.chunk[at-p.start:]
		out = append(out, part[:min(int64(len(part)), n-int64(len(out)))]...)
	}
	return out, nil
}

// advance reads the chain's next page: a four-byte page number, then content (section 1.7).
func (p *payload) advance() error {
	if p.next == 0 {
		return p.fault("malformed: the overflow chain ends before its payload of %d bytes", p.size)
	}
	if p.next > p.f.pages {
		return p.fault("malformed: overflow page %d of %d", p.next, p.f.pages)
	}
	if !p.seen.add(p.next, p.f.pages) {
		return p.fault("malformed: overflow page %d is used more than once", p.next)
	}
	if p.buf == nil {
		p.buf = make([]byte, p.f.pageSize)
	}
	if err := p.f.readPages(p.t, p.next, p.buf); err != nil {
		return err
	}
	p.start += int64(len(p.chunk))
	p.next, p.chunk = binary.BigEndian.Uint32(p.buf), p.buf[4:p.f.usable]
	return nil
}

// fields walks the values of a record (section 2.1): a header of its own size and serial types, then the values.
type fields struct {
	p   *payload
	hdr []byte // the serial types not yet read
	off int64  // the payload offset of the next value
}

func (p *payload) fields() (fields, error) {
	// The least local part holds more than nine bytes, so this never reads an overflow page.
	b, err := p.read(0, min(9, p.size))
	if err != nil {
		return fields{}, err
	}
	size, n := varint(b)
	if n == 0 || size < uint64(n) || size > uint64(p.size) || size > maxHeader {
		return fields{}, p.fault("malformed: a record header of %d bytes in a payload of %d", size, p.size)
	}
	hdr, err := p.read(0, int64(size))
	if err != nil {
		return fields{}, err
	}
	return fields{p: p, hdr: hdr[n:], off: int64(size)}, nil
}

// field is one value's place in a record.
type field struct {
	serial    uint64
	off, size int64
}

// next returns the next value's place; ok is false behind the last one.
func (r *fields) next() (v field, ok bool, err error) {
	if len(r.hdr) == 0 {
		return field{}, false, nil
	}
	serial, n := varint(r.hdr)
	if n == 0 {
		return field{}, false, r.p.fault("malformed: the record header ends inside a value's type")
	}
	size := serialSize(serial)
	if size > uint64(r.p.size-r.off) {
		return field{}, false, r.p.fault("malformed: a value of %d bytes runs past the record's end", size)
	}
	v = field{serial: serial, off: r.off, size: int64(size)}
	r.hdr, r.off = r.hdr[n:], r.off+v.size
	return v, true, nil
}

func (p *payload) fault(format string, args ...any) *Error {
	e := p.f.fault(p.t, p.page, format, args...)
	e.Row, e.HasRow = p.rowid, true
	return e
}
